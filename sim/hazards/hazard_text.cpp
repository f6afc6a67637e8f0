// SPDX-License-Identifier: Apache-2.0
// Words for two accesses that nothing orders: what each was, what is missing between them, and what would be it.
#include <fmt/format.h>

#include <algorithm>

#include "sim/cta.h"
#include "sim/hazards/barriers_meant.h"
#include "sim/text.h"
#include "sim/warp.h"

namespace sm100::sim {
namespace {

const char* noun(const Access& a) {
  switch (a.kind) {
    case AccessKind::generic: return a.write ? "store of a warp" : "load of a warp";
    case AccessKind::cp_async: return "cp.async, writing shared memory";
    case AccessKind::alloc_result: return "tcgen05.alloc, writing the address";
    case AccessKind::tensor_load: return a.linear ? "bulk copy into shared memory" : "tensor load";
    case AccessKind::tensor_store: return a.linear ? "bulk copy to global memory" : "tensor store";
    case AccessKind::bulk_source: return "bulk copy to another CTA";
    case AccessKind::async_store: return "st.async";
    case AccessKind::clc_response: return "CLC response";
    case AccessKind::mma_operand: return "tcgen05.mma, reading an operand";
    case AccessKind::wgmma_operand: return "wgmma.mma_async, reading an operand";
    case AccessKind::accumulator: return "tcgen05.mma, writing its accumulator";
    case AccessKind::mma_scale: return "tcgen05.mma, reading scale factors";
    case AccessKind::copy_source: return "tcgen05.cp, reading shared memory";
    case AccessKind::copied: return "tcgen05.cp, writing tensor memory";
    case AccessKind::tmem_load: return "tcgen05.ld";
    case AccessKind::tmem_store: return "tcgen05.st";
    case AccessKind::tmem_dealloc: return "tcgen05.dealloc";
    case AccessKind::map_edit: return "edit of a tensor map";
    case AccessKind::global: return a.write ? "st.global" : "ld.global";
    case AccessKind::atomic: return "atomic";
  }
  return "?";
}

/// ", for input_full[2] phase 3": the barrier that a copy or a response signals.
std::string barrier_phase_text(const Kernel& kernel, const Access& a) {
  const std::string barrier = barrier_text(kernel, a.barrier);
  if (barrier.empty()) return {};
  return fmt::format(", for {}{}", barrier, a.phase < 0 ? ", not landed yet" : fmt::format(" phase {}", a.phase));
}

std::string line(const Kernel& kernel, const char* which, const Access& a) {
  std::string text =
      fmt::format("{} {} by {} (warp {}) of CTA {} at cycle {}{}", which, noun(a), kernel.role(a.by.warp),
                  a.by.warp, a.by.cta, grouped(int64_t(a.cycle)), barrier_phase_text(kernel, a));
  if (const std::string place = line_of(a.by.loc); !place.empty()) text += "  " + place;
  return text;
}

struct Verdict {
  const char* id;
  std::string message, missing;
  const char* works = "";  ///< "because ...": hardware is known to do what is meant; such a verdict is a warning
  bool address = false;    ///< no wait is missing: `missing` says which address is wrong
};

bool one_warp(const Access& a, const Access& b) { return a.by.cta == b.by.cta && a.by.warp == b.by.warp; }

/// Two tensor loads that no wait could part: into other stages of a ring, or of one fill by other lines.
bool never_touch(const Kernel& kernel, const Access& e, const Access& l) {
  if (e.kind != AccessKind::tensor_load || l.kind != AccessKind::tensor_load || !e.barrier || !l.barrier)
    return false;
  const BarrierName first = barrier_name(kernel, e.barrier), second = barrier_name(kernel, l.barrier);
  if (!first.array || first.array != second.array) return false;
  const bool other_lines = e.by.loc.line() > 0 && l.by.loc.line() > 0 && e.by.loc.line() != l.by.loc.line();
  return first.stage != second.stage || (other_lines && e.by.cta == l.by.cta && e.by.warp == l.by.warp);
}

/// A copy's or response's bytes, then anything else.
Verdict after_copy(const Kernel& kernel, const Access& e, const Access& l) {
  const bool response = e.kind == AccessKind::clc_response, registers = e.kind == AccessKind::async_store;
  const std::string barrier = barrier_text(kernel, e.barrier), role = kernel.role(l.by.warp);
  const bool flying = e.phase < 0;
  const std::string wait =
      fmt::format("a wait of {} for {} {}", role, barrier.empty() ? "the copy's mbarrier" : barrier,
                  flying ? "until these bytes are there" : fmt::format("phase {}", e.phase));
  const char* what = response ? "the response" : registers ? "the st.async" : "the copy";
  // One instruction at one cycle makes two copies where several lanes execute it.
  const bool one_line = e.kind == AccessKind::tensor_load && l.kind == AccessKind::tensor_load && one_warp(e, l) &&
                        e.op != l.op && e.by.loc.line() > 0 && e.by.loc.line() == l.by.loc.line() &&
                        e.by.loc.column() == l.by.loc.column();
  if (one_line && e.by.lane == l.by.lane && e.barrier == l.barrier && flying) {
    Verdict v{"TM5", fmt::format("{} makes two copies to the same bytes, for one fill of {}", role, barrier), {}};
    v.missing = "the destination of the copy, which does not go on from one box to the next";
    v.address = true;
    return v;
  }
  if (one_line && e.cycle == l.cycle)
    return {"TM5",
            fmt::format("several lanes of {} execute one copy, and each of them copies to the same bytes", role),
            "one lane alone (elect.sync) for the copy and its expect_tx"};
  if (!l.write)
    return {response                           ? "CL6"
            : registers                        ? "SM3"
            : is_tensor_core(l.kind) && flying ? "TC7"
                                               : "TM5",
            flying ? fmt::format("{} reads bytes of {} that have not landed", role, what)
                   : fmt::format("{} reads bytes without having waited for {} that writes them", role, what),
            wait + " before it reads"};
  if (never_touch(kernel, e, l)) {
    const BarrierName first = barrier_name(kernel, e.barrier), second = barrier_name(kernel, l.barrier);
    Verdict v{
        "TM5", fmt::format("two copies of {} overlap that should never touch: an address is wrong", role), {}};
    v.missing = first.stage != second.stage
                    ? fmt::format(
                          "the copies are for different stages, {} and {}: their addresses, or the "
                          "size of a stage",
                          barrier, barrier_text(kernel, l.barrier))
                    : fmt::format("both copies are for {}: their addresses, or the size of the boxes", barrier);
    v.address = true;
    return v;
  }
  if (e.kind == AccessKind::tensor_load && l.kind == AccessKind::tensor_load && e.by.cta != l.by.cta && flying &&
      l.barrier == e.barrier) {
    Verdict v{"TM5",
              fmt::format("copies of CTA {} and CTA {} bring the same bytes of one fill of {}", e.by.cta, l.by.cta,
                          barrier),
              {}};
    v.missing =
        "the multicast mask of one of the two, or where its part of the tile begins: its address, or how it "
        "follows "
        "from the CTA's rank";
    v.address = true;
    return v;
  }
  return {response    ? "CL6"
          : registers ? "SM3"
                      : "TM5",
          fmt::format("{} overwrites bytes of {} that may still be on their way", role, what),
          wait + ", or for what follows from it, before it writes there again"};
}

/// Why hardware keeps an order that PTX does not promise; nullptr: nothing is known of it.
const char* why_it_works(Missing missing) {
  switch (missing) {
    case Missing::promise:
      return "because the first access was over before the tcgen05.commit or cluster barrier that lies between";
    case Missing::completion:
      return "because published kernels do it: tensor memory seems to carry out the accesses of warps in order";
    case Missing::change: return "because the second writes the bytes that are there already";
    default: return nullptr;
  }
}

Verdict smem_verdict(const Kernel& kernel, const Access& e, const Access& l, Missing missing) {
  const bool fence_only = missing == Missing::fence;
  const std::string first = kernel.role(e.by.warp), second = kernel.role(l.by.warp);
  const std::string empty = release_text(kernel, l.barrier);
  const std::string by_release = fmt::format("a wait of {} for {}", second,
                                             empty.empty() ? "the barrier by which the stage comes back" : empty);
  if (e.kind == AccessKind::tensor_load || e.kind == AccessKind::clc_response) return after_copy(kernel, e, l);
  if (e.kind == AccessKind::async_store && !fence_only) return after_copy(kernel, e, l);
  if (e.kind == AccessKind::bulk_source)
    return {"TM8", fmt::format("{} overwrites bytes that a bulk copy to another CTA may still read", second),
            fmt::format("a wait of that CTA for {}, then its arrive, and a wait of {} for it",
                        barrier_text(kernel, e.barrier).empty() ? "the mbarrier that gets the copy's bytes"
                                                                : barrier_text(kernel, e.barrier),
                        second)};
  if (e.kind == AccessKind::mma_operand)
    return {"TM7", fmt::format("{} overwrites operands that MMAs may still read", second),
            by_release + ", completed by a tcgen05.commit that follows these MMAs in their thread"};
  if (e.kind == AccessKind::wgmma_operand)
    return {"TM7", fmt::format("{} overwrites operands that wgmma of {} may still read", second, first),
            one_warp(e, l)
                ? "wgmma.wait_group that covers it, between the two"
                : fmt::format("wgmma.wait_group of {} that covers it, then its arrive, and {}", first, by_release)};
  if (e.kind == AccessKind::copy_source)
    return {"TM7", fmt::format("{} overwrites what tcgen05.cp may still read", second),
            by_release + ", completed by a tcgen05.commit that follows the copy in its thread"};
  if (e.kind == AccessKind::tensor_store)
    return {
        "TM8", fmt::format("{} overwrites bytes that {} may still read", second, unit_text(e)),
        fmt::format("cp.async.bulk.wait_group(.read) by the thread of {} that issued the store, few enough groups "
                    "pending{}",
                    first, one_warp(e, l) ? "" : fmt::format(", then a barrier with {}", second))};
  if (e.kind == AccessKind::cp_async && is_generic(l.kind))
    return {
        "SM3",
        fmt::format("{} {} bytes that cp.async of {} may still write", second, l.write ? "overwrites" : "reads",
                    first),
        one_warp(e, l)
            ? std::string("cp.async.commit_group and .wait_group by every lane that has copied, between the two")
            : fmt::format("cp.async.commit_group and .wait_group by every lane of {} that has copied, then a "
                          "barrier with {}; or cp.async.mbarrier.arrive by these lanes, and a wait of {} for it",
                          first, second, second)};
  if (is_generic(l.kind)) {
    const bool one_line = e.write && l.write && e.by.loc.line() > 0 && e.by.loc.line() == l.by.loc.line() &&
                          e.by.cta == l.by.cta && first == second && e.by.warp != l.by.warp;
    return {"SM3",
            one_line ? fmt::format("warps {} and {} of {} write the same shared memory with one line, and nothing "
                                   "orders them",
                                   e.by.warp, l.by.warp, first)
                     : fmt::format("{} and {} access the same shared memory, one writes, and nothing orders them",
                                   first, second),
            fmt::format("a barrier, or an mbarrier arrive of {} and wait of {}, between the two{}", first, second,
                        one_line ? "; or the addresses are wrong, which give two warps the same bytes" : "")};
  }
  if (!e.write) {  // read by threads, then written by a unit
    if (l.kind == AccessKind::clc_response)
      return fence_only
                 ? Verdict{"CL8", "a CLC response is requested into a slot that was read without a proxy fence",
                           fmt::format("fence.proxy.async of {} between its load and its arrive", first)}
                 : Verdict{"CL6",
                           fmt::format("a CLC response is requested into a slot that {} may still read", first),
                           fmt::format("an arrive of {} after its load, and {}", first, by_release)};
    if (fence_only)
      return {"TM11", fmt::format("a copy of {} overwrites what {} has read without a proxy fence", second, first),
              fmt::format("fence.proxy.async of {} between its loads and its arrive", first)};
    return {"TM7", fmt::format("{} overwrites bytes that {} may still read", second, first),
            fmt::format("an arrive of {} after its loads, and {}", first, by_release)};
  }
  const bool copied = e.kind == AccessKind::cp_async;
  const char* const does = l.write ? "overwrites" : "reads";
  if (copied && fence_only)
    return {"TM6", fmt::format("{} {} what cp.async of {} wrote, without a proxy fence", unit_text(l), does, first),
            fmt::format("fence.proxy.async by {} after cp.async.wait_group, or by {} (warp {}) after its wait",
                        first, second, l.by.warp),
            "because published kernels (CUTLASS's mixture of experts) do it"};
  if (copied)
    return {"TM6", fmt::format("{} {} what cp.async of {} may still write", unit_text(l), does, first),
            fmt::format("cp.async.wait_group of {}, fence.proxy.async, then a barrier with {}; or "
                        "cp.async.mbarrier.arrive, a wait of {} for it, and the fence",
                        first, second, second)};
  if (e.kind == AccessKind::async_store)
    return {"TM6", fmt::format("{} {} what st.async of {} wrote, without a proxy fence", unit_text(l), does, first),
            fmt::format("fence.proxy.async by {} (warp {}) after its wait for the st.async", second, l.by.warp)};
  const char* reader = l.kind == AccessKind::mma_operand ? "an asynchronous unit" : unit_text(l);
  if (fence_only && e.kind == AccessKind::alloc_result && l.write)
    return {"TM6",
            fmt::format("{} overwrites the address that tcgen05.alloc of {} wrote, without a proxy fence",
                        unit_text(l), first),
            fmt::format("fence.proxy.async.shared::cta by {} (warp {}) after the address has been read", second,
                        l.by.warp),
            "because published kernels (Triton's) do it, behind a barrier at which all have read it"};
  if (fence_only)
    return {"TM6", fmt::format("{} {} what threads of {} wrote without a proxy fence", reader, does, first),
            fmt::format("fence.proxy.async.shared::cta by {} (warp {}) after its stores, before the barrier", first,
                        e.by.warp)};
  return {"TM6", fmt::format("{} {} what threads of {} may still write", reader, does, first),
          fmt::format("fence.proxy.async by {}, then a barrier with {} before the instruction", first, second)};
}

/// "a tcgen05.commit after these MMAs, and a wait of epilogue for accum_full".
std::string commit_and_wait(const Kernel& kernel, const Access& e, const Access& l, const char* what) {
  const BarrierArray* array = commit_array(kernel, e.by.warp, l.by.warp);
  return fmt::format("a tcgen05.commit{} after {}, and a wait of {} for {}",
                     array ? fmt::format(" to {}", array->name) : "", what, kernel.role(l.by.warp),
                     array ? "it" : "its mbarrier");
}

Verdict tmem_verdict(const Kernel& kernel, const Access& e, const Access& l, Missing missing,
                     AccessProgress progress) {
  const std::string first = kernel.role(e.by.warp), second = kernel.role(l.by.warp);
  if (missing == Missing::fence)
    return {
        "TC16", fmt::format("tensor memory goes from {} to {} without tcgen05.fence on both sides", first, second),
        fmt::format("tcgen05.fence::before_thread_sync by {} before it arrives, ::after_thread_sync by {} after it "
                    "has waited",
                    first, second)};
  if (l.kind == AccessKind::tmem_dealloc)
    return {"TC9", fmt::format("{} frees tensor memory that {} may still use", second, first),
            fmt::format("an arrive of {} after its last access, and a wait of {} for it", first, second)};
  switch (e.kind) {
    case AccessKind::accumulator:
      if (l.kind == AccessKind::tmem_load)
        return {"TC3", fmt::format("{} reads an accumulator whose MMAs may still run", second),
                commit_and_wait(kernel, e, l, "these MMAs")};
      return {"TC17", fmt::format("{} overwrites an accumulator whose MMAs may still run", second),
              commit_and_wait(kernel, e, l, "these MMAs")};
    case AccessKind::copied: {
      const std::string missing = commit_and_wait(kernel, e, l, "the copy");
      if (l.kind == AccessKind::tmem_load)
        return {"TC3", fmt::format("{} reads tensor memory that tcgen05.cp may still write", second), missing};
      return {
          "TC17",
          fmt::format("{} {} tensor memory that tcgen05.cp of {} may still write", second,
                      l.write ? "overwrites" : "reads", first),
          is_tensor_core(l.kind) && l.kind != AccessKind::copied
              ? fmt::format("an arrive of {} after the copy and a wait of {} for it, tcgen05.fence on both sides",
                            first, second)
              : missing};
    }
    case AccessKind::mma_scale:
      return {"TC17", fmt::format("{} overwrites scale factors that MMAs may still read", second),
              commit_and_wait(kernel, e, l, "these MMAs")};
    case AccessKind::mma_operand:
      return {"TC17", fmt::format("{} overwrites operand A in tensor memory that MMAs may still read", second),
              commit_and_wait(kernel, e, l, "these MMAs")};
    case AccessKind::tmem_load:
      return {
          "TC15",
          fmt::format("{} overwrites {} that {} may still read", second,
                      l.kind == AccessKind::copied ? "tensor memory" : "an accumulator", first),
          progress == AccessProgress::waited
              ? fmt::format("an arrive of {} after its tcgen05.wait::ld, and a wait of {} for it", first, second)
              : fmt::format("tcgen05.wait::ld of {} after its last load, then its arrive, and a wait of {}", first,
                            second)};
    default:
      if (one_warp(e, l))
        return {"TC4", fmt::format("{} uses tensor memory that its own tcgen05.st may still write", second),
                fmt::format("tcgen05.wait::st of {} (warp {}) between the two", first, e.by.warp)};
      return {"TC4", fmt::format("{} uses tensor memory that tcgen05.st of {} may still write", second, first),
              progress == AccessProgress::waited
                  ? fmt::format("a barrier of {} and {} after the tcgen05.wait::st", first, second)
                  : fmt::format("tcgen05.wait::st of {} after its stores, then a barrier with {}", first, second)};
  }
}

std::string bytes_text(bool tmem, Footprints::Interval bytes, int rank) {
  const std::string where = rank < 0 ? "" : fmt::format(" of CTA rank {} of the cluster", rank);
  if (!tmem)
    return fmt::format("both touch shared memory from {:#x} to {:#x}{}", bytes.begin, bytes.end - 1, where);
  // Of several groups of 16 lanes the bounds say nothing about the columns but where they start.
  const uint32_t last = bytes.end - 1, column = bytes.begin % kTmemColumns;
  const bool one_group = bytes.begin / kTmemColumns == last / kTmemColumns;
  return fmt::format("both touch tensor memory, columns from {}{}, lanes from {} to {}{}", column,
                     one_group ? fmt::format(" to {}", last % kTmemColumns) : " on",
                     bytes.begin / kTmemColumns * 16, last / kTmemColumns * 16 + 15, where);
}

/// The barriers whose phases say that what `fill` brings is there; nullptr: it is not known.
const BarrierArray* full_array(const Kernel& kernel, const Access& read, const Access& fill, const Warp* reader) {
  if (fill.barrier) return barrier_name(kernel, fill.barrier).array;
  return commit_array(kernel, fill.by.warp, read.by.warp, reader);
}

/// "epilogue has last waited on accum_full[0], until cycle 3,094  epilogue_warp.h:26".
std::string last_wait_text(const Kernel& kernel, const Warp& warp, const Warp::Use& use) {
  return fmt::format("{} has last waited on {}, until cycle {}  {}", kernel.role(warp.index),
                     barrier_text(kernel, use.waited_on), grouped(int64_t(use.waited_at)), line_of(use.waited));
}
/// Of a wait that a consumer should not have passed.
std::string fresh_wait_text(const Kernel& kernel, const Warp& warp, const Warp::Use& use) {
  return fmt::format(
      "the wait of {} for {} passed at once on phase -1 at cycle {}: with parity 1, before any phase had completed "
      " {}",
      kernel.role(warp.index), barrier_text(kernel, use.fresh.on), grouped(int64_t(use.fresh.at)),
      line_of(use.fresh.loc));
}

/// Of a wait that named a phase which its warp had seen before; empty: the last wait on these barriers was none.
std::string stale_wait_text(const Kernel& kernel, const Warp& warp, const Warp::Use& use) {
  const Warp::StaleWait& stale = warp.stale_wait;
  if (stale.on == 0 || stale.on != use.waited_on || stale.at != use.waited_at) return {};
  return fmt::format(
      "the wait of {} for {} passed at once at cycle {} on phase {}, which it had seen before: a stage or parity "
      "of "
      "the lap before  {}",
      kernel.role(warp.index), barrier_text(kernel, stale.on), grouped(int64_t(stale.at)), stale.phase,
      line_of(stale.loc));
}

}  // namespace

HazardText unfilled_text(const Kernel& kernel, int rank, const Access& read, const Access& fill, const Warp* reader,
                         bool tmem, Footprints::Interval bytes) {
  const std::string who = kernel.role(read.by.warp);
  const BarrierArray* full = full_array(kernel, read, fill, reader);
  std::string full_text = full ? full->name : "the mbarrier that its fill completes";
  if (fill.barrier && full) full_text = barrier_text(kernel, fill.barrier);
  std::vector<std::string> lines = {line(kernel, "first: ", read), line(kernel, "second:", fill),
                                    bytes_text(tmem, bytes, rank)};
  std::string fate = "is missing or passed at once";
  if (full && reader) {
    const Warp::Use& use = reader->use[size_t(full - kernel.barriers.data())];
    if (use.waits == 0) {
      fate = "is missing";
      lines.push_back(fmt::format("{} has never waited on {}", who, full->name));
    } else if (use.fresh.on != 0) {
      fate = "passed at once";
      lines.push_back(fresh_wait_text(kernel, *reader, use));
    } else if (std::string stale = stale_wait_text(kernel, *reader, use); !stale.empty()) {
      fate = "names another stage or lap";
      lines.insert(lines.begin(), std::move(stale));
    } else {
      lines.push_back(last_wait_text(kernel, *reader, use));
    }
  }
  lines.push_back(
      fmt::format("missing: a wait of {} for {} phase 0 before it reads{}", who, full_text,
                  tmem && is_tensor_core(read.kind) ? "; or it reads other columns than are filled" : ""));
  return {tmem && is_tensor_core(read.kind) ? "TC17"
          : tmem                            ? "TC3"
          : is_tensor_core(read.kind)       ? "TC7"
                                            : "TM5",
          tmem && is_tensor_core(read.kind) && !full
              ? fmt::format(
                    "{} reads columns {}-{} of tensor memory, which {} fills later for the first time: it reads "
                    "other columns than have been filled, or nothing tells it of that fill",
                    who, bytes.begin % kTmemColumns, (bytes.end - 1) % kTmemColumns, kernel.role(fill.by.warp))
              : fmt::format("{} reads {} before the first fill: its wait for {} {}", who,
                            tmem ? "tensor memory" : "shared memory", full_text, fate),
          std::move(lines)};
}

models::Place hazard_place(const Kernel& kernel, const Access& a) {
  return {.source = a.by.source(), .time = a.cycle, .text = noun(a) + barrier_phase_text(kernel, a)};
}

namespace {
/// The warp's use of the barriers that would have ordered the two; nullptr: none of the kernel's table.
const Warp::Use* use_between(const Kernel& kernel, const Warp& warp, const Access& earlier, const Access& later,
                             std::string& array) {
  const bool after_copy = earlier.kind == AccessKind::tensor_load || earlier.kind == AccessKind::clc_response;
  const std::string wanted = later.barrier ? release_text(kernel, later.barrier)
                             : after_copy  ? barrier_text(kernel, earlier.barrier)
                                           : "";
  if (wanted.empty()) return nullptr;
  array = wanted.substr(0, wanted.find('['));
  for (size_t i = 0; i < kernel.barriers.size() && i < warp.use.size(); ++i)
    if (array == kernel.barriers[i].name) return &warp.use[i];
  return nullptr;
}
}  // namespace

std::string hazard_wait_line(const Kernel& kernel, const Warp& warp, const Access& earlier, const Access& later) {
  std::string array;
  const Warp::Use* use = use_between(kernel, warp, earlier, later, array);
  if (!use) return {};
  if (use->waits == 0) return fmt::format("{} has never waited on {}", kernel.role(warp.index), array);
  if (use->fresh.on != 0 && use->fresh.at == use->waited_at && !later.barrier)
    return fresh_wait_text(kernel, warp, *use);
  return last_wait_text(kernel, warp, *use);
}

std::string hazard_completion_line(const Kernel& kernel, const Warp& warp, const Access& earlier,
                                   const Access& later) {
  std::string array;
  const Warp::Use* use = use_between(kernel, warp, earlier, later, array);
  const models::Mbarrier::State* const state =
      use && use->waits > 0 ? warp.cta.context().mbarrier.find(use->waited_on) : nullptr;
  if (!state) return {};
  const models::MbarrierEvent* last = nullptr;
  const uint64_t kept = std::min<uint64_t>(state->events, models::Mbarrier::State::kHistory);
  for (uint64_t i = state->events - kept; i < state->events; ++i) {
    const models::MbarrierEvent& e = state->history[i % models::Mbarrier::State::kHistory];
    if (e.arrives && e.amount > 0 && e.phase == use->waited_phase && e.source.warp >= 0) last = &e;
  }
  if (!last || last->source.loc.line() == 0) return {};
  return fmt::format("phase {} of it had its last arrival from {} (warp {}) of CTA {} at cycle {}  {}",
                     use->waited_phase, kernel.role(last->source.warp), last->source.warp, last->source.cta,
                     grouped(int64_t(last->time)), line_of(last->source.loc));
}

std::string hazard_stale_line(const Kernel& kernel, const Warp& warp, const Access& earlier, const Access& later) {
  std::string array;
  const Warp::Use* use = use_between(kernel, warp, earlier, later, array);
  return use ? stale_wait_text(kernel, warp, *use) : std::string();
}

std::string expected_bytes_line(const Kernel& kernel, const models::Source& by, uint64_t expected,
                                uint64_t on_the_way) {
  std::string text = fmt::format(
      "counted: {} bytes by expect_tx, the last of {} (warp {}) of CTA {}; copies of {} "
      "bytes are on their way",
      grouped(int64_t(expected)), kernel.role(by.warp), by.warp, by.cta, grouped(int64_t(on_the_way)));
  if (const std::string place = line_of(by.loc); !place.empty()) text += "  " + place;
  return text;
}

std::vector<std::string> hazard_copy_lines(const Kernel& kernel, const Access& copy) {
  return {line(kernel, "copy:  ", copy),
          "missing: an expect_tx of the bytes of all copies of the phase: A and B, every k tile of a group, both "
          "CTAs of a pair"};
}

HazardText global_hazard_text(const Kernel& first_kernel, const Access& earlier, const Kernel& second_kernel,
                              const Access& later, GlobalAddr address, const std::string& place) {
  const std::string first = first_kernel.role(earlier.by.warp), second = second_kernel.role(later.by.warp);
  const bool both_write = earlier.write && later.write;
  const std::string at = place.empty() ? "" : fmt::format(" ({})", place);
  const std::string at_first = line_of(earlier.by.loc), at_second = line_of(later.by.loc);
  const bool two_lines = both_write && at_first != at_second && !at_first.empty() && !at_second.empty();
  HazardText text{
      "GM3",
      fmt::format("{} of CTA {} and {} of CTA {} {} the same global memory{}{}{}, and nothing orders them", first,
                  earlier.by.cta, second, later.by.cta, both_write ? "write" : "access", at,
                  two_lines ? fmt::format(", at {} and at {}", at_first, at_second) : "",
                  both_write ? "" : ", one writes"),
      {line(first_kernel, "first: ", earlier), line(second_kernel, "second:", later),
       fmt::format("both touch global memory at {:#x}{}{}", address.value, place.empty() ? "" : ": ", place)}};
  // Who reads wants what the other has written; two that only write seldom mean the same element.
  if (both_write && !one_warp(earlier, later))
    text.details.push_back(fmt::format(
        "two {} store the same element: a coordinate, a pitch or an offset is wrong, or both compute the "
        "tile",
        earlier.by.cta != later.by.cta ? "CTAs" : "warps"));
  text.details.push_back(
      fmt::format("missing{}: a barrier of the warps of {}, then st.release of a word; ld.acquire of it and a "
                  "barrier before {} "
                  "goes on",
                  both_write ? ", if the second is to replace what the first has stored" : "", first, second));
  return text;
}

HazardText unfinished_store_text(const Kernel& first_kernel, const Access& store, const Kernel& second_kernel,
                                 const Access& read, GlobalAddr address) {
  const std::string first = first_kernel.role(store.by.warp), second = second_kernel.role(read.by.warp);
  const bool same_warp = one_warp(store, read);
  return {
      "GM7",
      fmt::format("{} reads global memory that {} of {} may still write", second, unit_text(store), first),
      {line(first_kernel, "first: ", store), line(second_kernel, "second:", read),
       fmt::format("both touch global memory at {:#x}", address.value),
       fmt::format(
           "missing: cp.async.bulk.wait_group 0 (without .read) by the thread of {} that issued the store{}", first,
           same_warp                     ? ", before the read"
           : store.by.cta == read.by.cta ? fmt::format(", then a barrier with {}", second)
                                         : fmt::format(", then its release, and an acquire of {}", second))}};
}

HazardText unfenced_source_text(const Kernel& first_kernel, const Access& write, const Kernel& second_kernel,
                                const Access& copy, GlobalAddr address) {
  const std::string first = first_kernel.role(write.by.warp), second = second_kernel.role(copy.by.warp);
  return {
      "GM6",
      fmt::format("a bulk copy of {} reads global memory that threads of {} have written, without a proxy fence",
                  second, first),
      {line(first_kernel, "first: ", write), line(second_kernel, "second:", copy),
       fmt::format("both touch global memory at {:#x}", address.value),
       fmt::format("missing: fence.proxy.async by {} (warp {}) after its acquire and before the copy", second,
                   copy.by.warp)},
      true};
}

HazardText map_hazard_text(const char* id, const Kernel& first_kernel, const Access& earlier,
                           const Kernel& second_kernel, const Access& later, GlobalAddr map) {
  const std::string first = first_kernel.role(earlier.by.warp), second = second_kernel.role(later.by.warp);
  std::vector<std::string> lines = {line(first_kernel, "first: ", earlier), line(second_kernel, "second:", later),
                                    fmt::format("the tensor map lies at {:#x}", map.value)};
  const std::string_view which = id;
  if (which == "TP1" && later.kind == AccessKind::map_edit) {
    lines.push_back(
        earlier.kind == AccessKind::tensor_load
            ? "missing: a wait for what the load has filled, or for what comes behind it, before the edit; "
              "or another map of a ring"
            : "missing: cp.async.bulk.wait_group.read by the thread that stores, before the edit; or "
              "another map of a ring");
    return {id,
            fmt::format("{} edits a tensor map that a {} of {} may still read: nothing orders the two", second,
                        noun(earlier), first),
            std::move(lines)};
  }
  if (which == "TP1") {
    lines.push_back("missing: a barrier of the two between the edit and the copy, and the acquire behind it");
    return {id,
            fmt::format("a {} of {} uses a tensor map that {} edits: nothing orders the two", noun(later), second,
                        first),
            std::move(lines)};
  }
  if (which == "TP2") {
    lines.push_back("missing: fence.proxy.tensormap::generic.acquire of the map in this CTA, behind the release");
    return {
        id,
        fmt::format("a {} of {} uses a tensor map that {} has edited, and this CTA has not acquired the edit: it "
                    "may see the map as it was",
                    noun(later), second, first),
        std::move(lines)};
  }
  lines.push_back("missing: fence.proxy.tensormap::generic.release behind the edit, then the acquire");
  return {id,
          fmt::format("a {} of {} uses a tensor map whose edit by {} has not been released", noun(later), second,
                      first),
          std::move(lines)};
}

HazardText stored_beside_copies(HazardText text) {
  if (std::string_view(text.id) != "TM6") return text;
  text.message +=
      "; works on hardware as far as known: CUTLASS's kernels whose operands come by cp.async clear the edge of a "
      "tile "
      "so, ahead of cp.async.mbarrier.arrive";
  text.warning = true;
  return text;
}

HazardText groups_do_not_hold_loads(HazardText text) {
  text.message +=
      "; works on hardware as far as known: CUTLASS's kernels with arrays of pointers wait so, with "
      "cp.async.bulk.wait_group of the thread that has issued the load, but a load that signals an mbarrier "
      "belongs to "
      "no bulk group";
  text.warning = true;
  return text;
}

const char* unit_text(const Access& a) {
  switch (a.kind) {
    case AccessKind::tensor_store: return a.linear ? "a bulk copy" : "a tensor store";
    case AccessKind::bulk_source: return "a bulk copy";
    case AccessKind::mma_operand: return "tcgen05.mma";
    case AccessKind::wgmma_operand: return "wgmma.mma_async";
    case AccessKind::copy_source: return "tcgen05.cp";
    default: return "an asynchronous unit";
  }
}

HazardText hazard_text(const Kernel& kernel, int rank, const Access& earlier, const Access& later, bool tmem,
                       Footprints::Interval bytes, Missing missing, AccessProgress progress) {
  Verdict v = tmem ? tmem_verdict(kernel, earlier, later, missing, progress)
                   : smem_verdict(kernel, earlier, later, missing);
  if (const char* why = why_it_works(missing)) v.works = why;
  std::vector<std::string> lines = {line(kernel, "first: ", earlier), line(kernel, "second:", later),
                                    bytes_text(tmem, bytes, rank)};
  if (progress == AccessProgress::uncommitted)
    lines.push_back(earlier.kind == AccessKind::tensor_store
                        ? "no cp.async.bulk.commit_group has followed the first: no wait_group covers it"
                        : "no tcgen05.commit has followed the first: no mbarrier says when it is over");
  lines.push_back((v.address ? "wrong: " : "missing: ") + std::move(v.missing));
  const std::string_view id = v.id;
  const bool works = *v.works != '\0', lint = id == "TC16" || id == "CL8" || id == "TM11";
  if (works) v.message += fmt::format("; works on hardware as far as known, {}", v.works);
  return {v.id, std::move(v.message), std::move(lines), works || lint};
}

HazardText issue_order_text(const Kernel& kernel, const Access& mma, const Access& copy) {
  return {
      "TC17",
      fmt::format("tcgen05.cp of {} overwrites what MMAs of the same thread {} before it, in the order of issue "
                  "alone: PTX does not list the two as ordered, CUTLASS and DeepGEMM rely on it",
                  kernel.role(copy.by.warp), mma.write ? "write" : "read"),
      {line(kernel, "first: ", mma), line(kernel, "second:", copy)}};
}

HazardText register_read_text(const Kernel& kernel, const Access& load, std::string_view seen) {
  return {"TC18",
          fmt::format("{} {} a register of tcgen05.ld before tcgen05.wait::ld; works on hardware as far as known, "
                      "because an instruction waits for the registers that it reads",
                      kernel.role(load.by.warp), seen),
          {line(kernel, "load:  ", load), "missing: tcgen05.wait::ld between the load and the first use"},
          true};
}

}  // namespace sm100::sim
