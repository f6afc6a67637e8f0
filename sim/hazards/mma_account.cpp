// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/mma_account.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/hang/debts.h"
#include "sim/hazards/barriers_meant.h"
#include "sim/text.h"

namespace sm100::sim {

Columns columns_of(const Footprints& sets, Footprints::Id set) {
  const Footprints::Interval all = sets.bounds(set);
  return {all.begin % kTmemColumns, (all.end - 1) % kTmemColumns + 1};
}

void MmaAccount::commit(const Commit& c) {
  constexpr size_t kRemembered = 32;
  Committed& to = committed[c.barrier];
  if (mmas > to.mmas || to.tiles == 0)
    ++to.tiles, to.mmas = mmas;
  else
    to.is_doubled = true, to.doubled = c.loc;
  commits.push_back(c);
  if (commits.size() > kRemembered) commits.pop_front();
}

const MmaAccount::Commit* MmaAccount::last_to(uint32_t barrier, Clock ahead_of) const {
  const auto found = std::find_if(commits.rbegin(), commits.rend(),
                                  [&](const Commit& c) { return c.barrier == barrier && c.clock < ahead_of; });
  return found == commits.rend() ? nullptr : &*found;
}

namespace {

std::string text_of(Columns columns) { return fmt::format("{}-{}", columns.begin, columns.end - 1); }

const Warp::Use* use_of(const Kernel& kernel, const Warp& warp, const BarrierArray* array) {
  if (!array) return nullptr;
  const auto at = size_t(array - kernel.barriers.data());
  return at < warp.use.size() && warp.use[at].waits > 0 ? &warp.use[at] : nullptr;
}

/// The commit behind the MMAs and the wait that should be for it name different stages of a ring.
std::optional<MmaFault> other_stage(const Kernel& kernel, const MmaAccount::Commit& commit, const Access& mma,
                                    const Warp& by, const Access& later) {
  const BarrierName committed = barrier_name(kernel, commit.barrier);
  const Warp::Use* const use = use_of(kernel, by, committed.array);
  if (!use || use->waited_on == commit.barrier) return std::nullopt;
  // It has waited since for what other commits complete.
  if (later.kind == AccessKind::tmem_load)
    for (const BarrierArray& array : kernel.barriers)
      if (const Warp::Use* const other = use_of(kernel, by, &array); other && other != use &&
                                                                     other->waited_at >= use->waited_at &&
                                                                     lists(array.arrives_with, "tcgen05.commit"))
        return std::nullopt;
  const std::string issuer = kernel.role(mma.by.warp), other = kernel.role(by.index);
  const std::string to = barrier_text(kernel, commit.barrier), awaited = barrier_text(kernel, use->waited_on);
  // Who fills a stage has waited for the release of the same.
  const bool fills = later.barrier && release_text(kernel, later.barrier) == awaited;
  const char* const does = mma.kind == AccessKind::accumulator ? "write" : "read";
  MmaFault fault;
  fault.of_issuer = fills;
  fault.message = fmt::format("; these MMAs are committed to {}, and {} has waited for {}", to, other, awaited);
  fault.detail =
      fills ? fmt::format(
                  "wrong: {} {}s another stage than it waits for and hands back: the stage index of the MMA's "
                  "descriptor or address, or of its tcgen05.commit  {}",
                  issuer, does, line_of(commit.loc))
            : fmt::format(
                  "wrong: the stage index of the MMA's descriptor or address, of its tcgen05.commit ({}), or of "
                  "the wait of {} ({})",
                  line_of(commit.loc), other, line_of(use->waited));
  return fault;
}

/// Columns that are not committed to the same barrier as those of `commit`: accumulators that share one barrier may
/// share columns, too, as CUTLASS's overlapping ones do.
bool of_another_barrier(const Kernel& kernel, const MmaAccount& account, const MmaAccount::Commit& commit,
                        Columns columns) {
  const BarrierName name = barrier_name(kernel, commit.barrier);
  return name.array && name.array->stages > 1 &&
         std::none_of(account.commits.begin(), account.commits.end(), [&](const MmaAccount::Commit& c) {
           return c.columns == columns && c.barrier == commit.barrier;
         });
}

/// No MMA has begun these columns anew since a commit: this one still adds to what was committed.
std::optional<MmaFault> committed_early(const Kernel& kernel, const MmaAccount& account,
                                        const MmaAccount::Commit& commit, const Access& mma, Columns written) {
  const auto begun = account.begun.find(written.begin);
  if (written != commit.columns || begun == account.begun.end() || begun->second > commit.clock)
    return std::nullopt;
  // A ring that is committed to at every step says nothing of a tile.
  const BarrierArray* const array = barrier_name(kernel, commit.barrier).array;
  const auto of_tile =
      std::count_if(account.commits.begin(), account.commits.end(), [&](const MmaAccount::Commit& c) {
        return c.clock >= begun->second && c.clock <= commit.clock &&
               barrier_name(kernel, c.barrier).array == array;
      });
  if (of_tile != 1) return std::nullopt;
  return MmaFault{
      .message = fmt::format("; {} has committed to {} before its last MMAs of the tile", kernel.role(mma.by.warp),
                             barrier_text(kernel, commit.barrier)),
      .detail = fmt::format("wrong: the place of the tcgen05.commit, which covers what comes before it  {}",
                            line_of(commit.loc)),
      .of_issuer = true};
}

/// "accum_empty[0]": the warp has arrived on the other side of the ring since it waited there; empty: it has not.
std::string released_before(const Kernel& kernel, const Warp& by, const Warp::Use& full) {
  const BarrierName waited = barrier_name(kernel, full.waited_on);
  const BarrierArray* const empty = waited.array ? partner(kernel, *waited.array) : nullptr;
  if (!empty) return {};
  const Warp::Use& use = by.use[size_t(empty - kernel.barriers.data())];
  return use.arrivals >= full.waits ? fmt::format("{}[{}]", empty->name, waited.stage) : "";
}

/// The reader has waited, for MMAs that an earlier commit covers; those that write now are of another tile.
std::optional<MmaFault> ran_ahead(const Kernel& kernel, const MmaAccount& account, const Access& mma,
                                  const Warp& by, Columns written, Columns read) {
  const Warp::Use* use = use_of(kernel, by, commit_array(kernel, mma.by.warp, by.index, &by));
  for (size_t i = 0; !use && i < kernel.barriers.size(); ++i)
    if (const Warp::Use* const other = use_of(kernel, by, &kernel.barriers[i]);
        other && account.committed.count(other->waited_on) > 0)
      use = other;
  if (!use || use->waited_phase < 0) return std::nullopt;
  const MmaAccount::Commit* const awaited = account.last_to(use->waited_on, mma.over.clock);
  if (!awaited) return std::nullopt;
  const std::string issuer = kernel.role(mma.by.warp), reader = kernel.role(by.index);
  MmaFault fault;
  const std::string barrier = barrier_text(kernel, use->waited_on);
  if (by.stale_wait.on == use->waited_on && by.stale_wait.at == use->waited_at) {
    fault.message = fmt::format("; the wait of {} for {} passed at once on phase {}, which it had seen before",
                                reader, barrier, by.stale_wait.phase);
    fault.detail = fmt::format("wrong: the stage or the parity of that wait, which is of the lap before  {}",
                               line_of(by.stale_wait.loc));
    return fault;
  }
  if (const auto to = account.committed.find(use->waited_on);
      to != account.committed.end() && use->waited_phase + 1 > to->second.tiles) {
    if (!to->second.is_doubled) return std::nullopt;
    fault.of_issuer = true;
    fault.message =
        fmt::format("; {} has committed to {} twice without an MMA in between, and {} took it for the next tile",
                    issuer, barrier, reader);
    fault.detail = fmt::format("wrong: the second tcgen05.commit  {}", line_of(to->second.doubled));
    return fault;
  }
  if (!awaited->columns.holds(read)) {
    fault.message = fmt::format("; {} has waited for {}, whose MMAs write columns {}, and reads columns {}", reader,
                                barrier, text_of(awaited->columns), text_of(read));
    // In the first tile of all, whoever does not keep to the lowest columns has gone astray.
    const bool first_tile = use->waited_phase == 0 && use->waited_on == use->first_waited_on && use->waits == 1;
    fault.detail = first_tile && read.end <= awaited->columns.begin
                       ? fmt::format(
                             "wrong: the columns of D of the first tile, which leave out the lowest  {}; or the "
                             "columns that {} reads",
                             line_of(mma.by.loc), reader)
                       : fmt::format("wrong: the columns that {} reads, or the stage of its wait  {}", reader,
                                     line_of(use->waited));
    return fault;
  }
  if (written != awaited->columns) {
    if (!of_another_barrier(kernel, account, *awaited, written)) {
      // Accumulators that share a barrier, and columns with it: these are handed back before the others.
      if (!read.meets(written)) return std::nullopt;
      fault.of_issuer = true;
      fault.id = "TC15";
      fault.message = fmt::format(
          "{} overwrites columns of an accumulator that {} still reads: that of {} has columns {}, these MMAs "
          "write "
          "columns {}, and {} reads columns {}",
          issuer, reader, barrier, text_of(awaited->columns), text_of(written), reader, text_of(read));
      fault.detail = fmt::format(
          "wrong: the columns of D, by how much two accumulators overlap; or {} hands them back "
          "before it has read those that both have",
          reader);
      if (const std::string released = released_before(kernel, by, *use); !released.empty()) {
        fault.message += fmt::format("; {} has released {} before it reads these, which both accumulators have",
                                     reader, released);
        fault.detail = fmt::format(
            "wrong: the order in which {} reads its strips, or the columns of a strip, which "
            "leave those that both have to the end; or the place of its release",
            reader);
        fault.of_issuer = false;
      }
      return fault;
    }
    fault.of_issuer = true;
    fault.message = fmt::format(
        "; two accumulators overlap: that of {}, which {} has waited for, has columns {}, "
        "and these MMAs write columns {}",
        barrier, reader, text_of(awaited->columns), text_of(written));
    fault.detail = "wrong: the columns of D, or the distance from one accumulator to the next";
    return fault;
  }
  if (std::optional<MmaFault> early = committed_early(kernel, account, *awaited, mma, written)) return early;
  fault.of_issuer = true;
  fault.id = "TC15";
  fault.message = fmt::format("{} overwrites an accumulator that {} has waited for ({}) and still reads", issuer,
                              reader, barrier_text(kernel, use->waited_on));
  fault.detail = fmt::format(
      "missing: an arrive of {} after its tcgen05.wait::ld, and a wait of {} for it before the next "
      "tile's first MMA; or other columns for D",
      reader, issuer);
  return fault;
}

}  // namespace

std::optional<MmaFault> fault_of_mma(const Kernel& kernel, const MmaAccount& account, const Access& mma,
                                     const Warp& by, const Access& later, Columns written, Columns used) {
  if (account.lanes > 1)
    return MmaFault{
        .message = fmt::format(": the tcgen05.mma is executed by {} lanes of {}, and each of them issues it",
                               account.lanes, kernel.role(mma.by.warp)),
        .detail = fmt::format("missing: one lane alone (elect.sync) for the MMAs and their tcgen05.commit  {}",
                              line_of(mma.by.loc)),
        .of_issuer = true};
  const auto awaited = [&](const MmaAccount::Commit& c) {
    return use_of(kernel, by, barrier_name(kernel, c.barrier).array) != nullptr;
  };
  const bool read = mma.kind == AccessKind::accumulator && later.kind == AccessKind::tmem_load;
  if (const MmaAccount::Commit* const commit = account.covering(mma.over.clock, awaited)) {
    std::optional<MmaFault> fault = other_stage(kernel, *commit, mma, by, later);
    const MmaAccount::Commit* const before = account.last_to(commit->barrier, mma.over.clock);
    if (!fault && read && before) fault = committed_early(kernel, account, *before, mma, written);
    // It is still in the tile for which it has waited, and reads columns of that: the next tile's MMAs have come.
    const Warp::Use* const use = use_of(kernel, by, barrier_name(kernel, commit->barrier).array);
    if (!fault && read && before && use && written != before->columns && before->columns.holds(used) &&
        by.in_tile() && by.tiles.back().begun <= use->waited_at)
      fault = ran_ahead(kernel, account, mma, by, written, used);
    return fault;
  }
  if (read) return ran_ahead(kernel, account, mma, by, written, used);
  return std::nullopt;
}

std::optional<MmaFault> read_ahead_of_fill(const Kernel& kernel, const Warp* reader, const Access& read,
                                           const Access& fill) {
  if (!reader || reader->stale_wait.on == 0 || reader->stale_wait.on != fill.barrier) return std::nullopt;
  const Warp::StaleWait& stale = reader->stale_wait;
  if (stale.at > read.cycle) return std::nullopt;
  const std::string who = kernel.role(read.by.warp), barrier = barrier_text(kernel, stale.on);
  return MmaFault{
      .message = fmt::format("{} reads the stage of {} before its next fill: its wait passed at once on phase {}, "
                             "which it had seen before",
                             who, barrier, stale.phase),
      .detail = fmt::format("wrong: the stage or the parity of that wait, which is of the lap before  {}",
                            line_of(stale.loc)),
      .of_issuer = true,
      .id = is_tensor_core(read.kind) || read.kind == AccessKind::wgmma_operand ? "TC7" : "TM5"};
}

std::optional<MmaFault> fault_of_reader(const Kernel& kernel, const MmaAccount& account, const Access& load,
                                        Columns read, const Access& later, Columns written) {
  if (load.awaited == 0) return std::nullopt;
  const MmaAccount::Commit* const awaited = account.last_to(load.awaited, later.over.clock);
  if (!awaited || awaited->columns == Columns{}) return std::nullopt;
  const std::string reader = kernel.role(load.by.warp), barrier = barrier_text(kernel, load.awaited);
  if (barrier.empty()) return std::nullopt;
  if (!awaited->columns.meets(read))
    return MmaFault{
        .message = fmt::format("; {} had waited for {}, whose MMAs write columns {}, and reads columns {}", reader,
                               barrier, text_of(awaited->columns), text_of(read)),
        .detail = fmt::format(
            "wrong: the columns that {} reads, the stage of its wait, or the columns of D of these MMAs", reader)};
  if (written == awaited->columns || !awaited->columns.holds(read)) return std::nullopt;
  if (later.kind != AccessKind::copied && !of_another_barrier(kernel, account, *awaited, written))
    return std::nullopt;
  if (later.kind == AccessKind::copied)
    return MmaFault{.message = fmt::format("; the accumulator of {}, which {} had waited for, has columns {}, and "
                                           "the tcgen05.cp writes columns {}: the two overlap",
                                           barrier, reader, text_of(awaited->columns), text_of(written)),
                    .detail = "wrong: the columns of what is copied, or those of the accumulators"};
  return MmaFault{.message = fmt::format("; two accumulators overlap: that of {}, which {} had waited for, has "
                                         "columns {}, and these MMAs write columns {}",
                                         barrier, reader, text_of(awaited->columns), text_of(written)),
                  .detail = "wrong: the columns of D, or the distance from one accumulator to the next"};
}

}  // namespace sm100::sim
