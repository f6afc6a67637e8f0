// SPDX-License-Identifier: Apache-2.0
#include "sim/ledger.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cta.h"
#include "sim/ptx/ptx_uses.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

constexpr size_t kParitiesShown = 6;

using Kind = models::MbarrierEventKind;

std::string completer_of(const models::MbarrierEvent& e) {
  switch (e.source.kind) {
    case models::ActorKind::umma: return "tcgen05.commit";
    case models::ActorKind::clc: return "clusterlaunchcontrol.try_cancel";
    case models::ActorKind::tma: return "cp.async.bulk";
    case models::ActorKind::warp: break;
  }
  if (e.kind == Kind::init) return "mbarrier.init";
  if (e.kind == Kind::complete_tx) return "mbarrier.complete_tx";
  return e.kind == Kind::expect_tx ? (e.arrives ? "mbarrier.arrive.expect_tx" : "mbarrier.expect_tx")
                                   : "mbarrier.arrive";
}

/// The instruction as the PTX has it, where it is PTX.
std::string written(const Kernel& kernel, const Loc& loc, const std::string& otherwise) {
  const PtxUses* uses = ptx_uses_of(kernel);
  const CompiledPlace place = place_of(loc);
  if (!uses || place.ptx.line == 0) return otherwise;
  for (const PtxUse& use : uses->all)
    if (unsigned(use.line) == place.ptx.line) return use.instruction;
  return otherwise;
}

const char* role_of(const Kernel& kernel, int warp) { return warp < 0 ? "" : kernel.role(warp).c_str(); }

}  // namespace

void LedgerKeeper::count(Lines& lines, const Kernel& kernel, const models::Source& by,
                         const std::string& instruction) {
  Counted& line = lines[{role_of(kernel, by.warp), written(kernel, by.loc, instruction), line_of(by.loc)}];
  ++line.times, line.loc = by.loc;
}

void LedgerKeeper::mbarrier_event(const Kernel& kernel, const models::MbarrierEvent& e) {
  Seen& seen = seen_[{kernel.index, e.offset}];
  uint32_t& life = lives_[{e.slot, e.offset}];
  if (e.kind == Kind::init) ++life;
  InCta& cta = ctas_[{kernel.index, e.offset, e.slot, life}];
  switch (e.kind) {
    case Kind::init: seen.count = e.pending; return count(seen.inits, kernel, e.source, completer_of(e));
    case Kind::expect_tx:
      cta.expected += e.amount;
      return count(seen.arrivals, kernel, e.source, completer_of(e));
    case Kind::complete_tx: return count(seen.copies, kernel, e.source, completer_of(e));
    case Kind::phase_complete:
      ++cta.phases;
      if (cta.expected > 0) seen.bytes.insert(std::exchange(cta.expected, 0));
      return;
    case Kind::arrive:
      // An arrive.expect_tx is both events.
      for (const auto& [line, counted] : seen.arrivals)
        if (line.instruction.ends_with(".expect_tx") && line.location == line_of(e.source.loc)) return;
      return count(seen.arrivals, kernel, e.source, completer_of(e));
  }
}

void LedgerKeeper::mbarrier_wait(const Warp& warp, uint32_t offset, uint32_t parity, int64_t, bool tests,
                                 const Loc& loc) {
  const Kernel& kernel = warp.cta.kernel();
  const std::string otherwise = tests ? "mbarrier.test_wait" : "mbarrier.try_wait";
  Counted& line =
      seen_[{kernel.index, offset}].waits[{kernel.role(warp.index), written(kernel, loc, otherwise), line_of(loc)}];
  ++line.times, line.loc = loc, line.tests |= tests;
  const auto cta = warp.cta.linear_id();
  const auto tiles = uint64_t(
      std::count_if(warp.tiles.begin(), warp.tiles.end(), [&](const Warp::Tile& tile) { return tile.cta == cta; }));
  if (tiles > 0) tiles_[{kernel.index, cta}] = std::max(tiles_[{kernel.index, cta}], tiles);
  std::vector<uint32_t>& parities = line.parities[{warp.cta.linear_id(), warp.index, offset}];
  if (parities.size() < kParitiesShown) parities.push_back(parity);
}

Ledger LedgerKeeper::ledger(const Kernel& kernel) const {
  Ledger ledger;
  const PtxUses* uses = ptx_uses_of(kernel);
  for (const BarrierArray& array : kernel.barriers) {
    LedgerRow row{
        .barrier = array.name, .offset = array.base.offset(), .stages = array.stages, .count = array.count};
    std::set<uint64_t> bytes;
    std::map<std::pair<int, uint32_t>, uint64_t> phases;  // by slot and life
    const auto add = [&](std::vector<LedgerEntry>& to, const Lines& lines) {
      for (const auto& [line, counted] : lines) {
        const auto same = [&, &at = line](const LedgerEntry& e) {
          return e.role == at.role && e.instruction == at.instruction && e.location == at.location;
        };
        auto entry = std::find_if(to.begin(), to.end(), same);
        if (entry == to.end()) {
          entry =
              to.insert(to.end(), {.role = line.role, .instruction = line.instruction, .location = line.location});
          entry->place = place_of(counted.loc), entry->tests = counted.tests;
          if (!counted.parities.empty()) entry->parities = counted.parities.begin()->second;
        }
        entry->times += counted.times;
      }
    };
    for (int stage = 0; stage < array.stages; ++stage) {
      const uint32_t offset = row.offset + 8u * uint32_t(stage);
      const auto found = seen_.find({kernel.index, offset});
      if (found == seen_.end()) continue;
      const Seen& seen = found->second;
      bytes.insert(seen.bytes.begin(), seen.bytes.end());
      add(row.inits, seen.inits), add(row.arrivals, seen.arrivals), add(row.copies, seen.copies),
          add(row.waits, seen.waits);
      for (const auto& [key, cta] : ctas_)
        if (std::get<0>(key) == kernel.index && std::get<1>(key) == offset && std::get<3>(key) > 0)
          phases[{std::get<2>(key), std::get<3>(key)}] += cta.phases;
    }
    row.bytes.assign(bytes.begin(), bytes.end());
    row.ctas = phases.size();
    if (!phases.empty()) row.least_phases = UINT64_MAX;
    for (const auto& [cta, n] : phases)
      row.least_phases = std::min(row.least_phases, n), row.most_phases = std::max(row.most_phases, n);
    for (const PtxUse* use : uses ? uses->of(array) : std::vector<const PtxUse*>{}) {
      const std::string location = line_of(use->loc);
      const auto executed = [&](const std::vector<LedgerEntry>& entries) {
        return std::any_of(entries.begin(), entries.end(),
                           [&](const LedgerEntry& e) { return e.location == location; });
      };
      if (executed(row.inits) || executed(row.arrivals) || executed(row.copies) || executed(row.waits)) continue;
      std::vector<LedgerEntry>& to = use->use.waits()                                ? row.waits
                                     : use->use.does == ptx::BarrierUse::Does::init  ? row.inits
                                     : use->use.does == ptx::BarrierUse::Does::bytes ? row.copies
                                                                                     : row.arrivals;
      for (int warp = 0; warp < kernel.warps; ++warp)
        if (use->warps >> warp & 1) {
          to.push_back({.role = kernel.role(warp),
                        .instruction = use->instruction,
                        .location = location,
                        .place = place_of(use->loc)});
          break;
        }
    }
    ledger.rows.push_back(std::move(row));
  }
  for (const auto& [cta, n] : tiles_) {
    if (cta.first != kernel.index) continue;
    ledger.least_tiles = ledger.most_tiles == 0 ? n : std::min(ledger.least_tiles, n);
    ledger.most_tiles = std::max(ledger.most_tiles, n);
  }
  return ledger;
}

}  // namespace sm100::sim
