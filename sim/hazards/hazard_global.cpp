// SPDX-License-Identifier: Apache-2.0
// Global memory under the hazard checker: loads, stores and atomics of warps, ordered by words that are released
// and acquired.
#include <algorithm>
#include <bit>
#include <utility>

#include "models/time.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/instructions/lane_stores.h"

namespace sm100::sim {

void HazardChecker::global(const Thread& t, GlobalAddr address, bool write, bool strong) {
  at_once(t.slot);
  if (write) {
    LaneArray<GlobalAddr, 1> word{};
    word(0) = address;
    return global_stores(
        t, {.addresses = word, .lanes = 1, .bytes = 4}, false, [](int) { return false; }, strong);
  }
  access_global(t, address, AccessKind::global, write, {.strong = strong});
  bulk_writes_.for_each(address.value, address.value + 1, [&](uint32_t number, uint64_t at) {
    return early_read(t, AccessKind::global, number, at);
  });
}

void HazardChecker::bulk_write(const Thread& t, const models::TensorCopy& copy) {
  at_once(t.slot);
  BulkGroups& groups = bulk_groups(t);
  if (groups.visible == ~0u)
    groups.visible = lanes_component(rank(t.slot), t.by.warp, kWritten, 1u << std::max<int>(t.by.lane, 0));
  const auto number = uint32_t(bulk_writers_.size());
  bulk_writers_.push_back(global_access(t, AccessKind::tensor_store, true, {groups.visible, groups.open}));
  bulk_writers_.back().access.linear = copy.linear;
  bulk_writes_.add(copy, number);
}

void HazardChecker::bulk_read(const Thread& t, const models::TensorCopy& copy) {
  if (!bulk_writes_.may_meet(copy)) return;
  at_once(t.slot);
  bulk_writes_.for_each(copy, [&](uint32_t number, uint64_t at) {
    return early_read(t, AccessKind::tensor_load, number, at, copy.linear);
  });
}

bool HazardChecker::early_read(const Thread& t, AccessKind kind, uint32_t write, uint64_t address, bool linear) {
  const GlobalAccess& earlier = bulk_writers_[write];
  if (earlier.launch != cluster(t.slot).launch || ordered_in_global(t, earlier)) return false;
  GlobalAccess read = global_access(t, kind, false, now(t));
  read.access.linear = linear;
  if (!new_pair(earlier.access.by.loc, read.access.by.loc)) return true;
  const Kernel& first = *launches_[earlier.launch].kernel;
  const HazardText text = unfinished_store_text(first, earlier.access, kernel(t.slot), read.access, {address});
  report_.violation({.id = text.id,
                     .message = text.message,
                     .time = time(),
                     .slot = t.slot,
                     .source = t.by,
                     .details = text.details,
                     .places = {hazard_place(first, earlier.access), hazard_place(kernel(t.slot), read.access)},
                     .global_address = address});
  return true;
}

bool HazardChecker::made_by(const Thread& t, const GlobalAccess& access) {
  return access.cluster == cluster(t.slot).id &&
         access.access.over.component == component(rank(t.slot), t.by.warp, kWarp);
}

/// A plain load races with atomics: harmless if a compare-and-swap of the same warp finds out whether the word has
/// changed since, as in loops that make an atomic of one.
void HazardChecker::doubt(const GlobalAccess& read, GlobalAddr address, models::Violation violation) {
  for (const DoubtedRead& known : doubted_)
    if (known.address == address.value && known.read.cluster == read.cluster &&
        known.read.access.over.component == read.access.over.component)
      return;
  doubted_.push_back({address.value, read, std::move(violation)});
}

void HazardChecker::compare_and_swap(const Thread& t, GlobalAddr address) {
  if (const auto cell = global_.find(address.value); cell != global_.end())
    std::erase_if(cell->second.reads, [&](const GlobalAccess& read) {
      return read.access.kind == AccessKind::global && made_by(t, read);
    });
  std::erase_if(doubted_, [&](DoubtedRead& doubted) {
    if (doubted.address != address.value || !made_by(t, doubted.read)) return false;
    models::Violation& v = doubted.violation;
    v.warning = true;
    v.message +=
        "; works on hardware as far as known, because a compare-and-swap behind the load finds out whether the "
        "word "
        "has changed";
    if (told_loads_.insert({v.source.loc.line(), v.source.loc.file_name()}).second) report_.violation(v);
    return true;
  });
}

void HazardChecker::report_doubted(const Thread& t) {
  for (const DoubtedRead& doubted : std::exchange(doubted_, {}))
    if (made_by(t, doubted.read))
      report_.violation(doubted.violation);
    else
      doubted_.push_back(doubted);
}

void HazardChecker::access_global(const Thread& t, GlobalAddr address, AccessKind kind, bool write,
                                  const Access& traits, bool stores_compared) {
  GlobalCell& cell = global_[address.value];
  // The atomics of a word are in one order: what follows from the value that an own one has found comes behind
  // those before it.
  const auto own_atomic = std::find_if(cell.reads.rbegin(), cell.reads.rend(), [&](const GlobalAccess& a) {
    return a.access.kind == AccessKind::atomic && !a.access.reduces && made_by(t, a);
  });
  const auto before_own_atomic = [&](const GlobalAccess& earlier) {
    if (earlier.access.kind != AccessKind::atomic || own_atomic == cell.reads.rend()) return false;
    if (made_by(t, earlier)) return true;
    return std::any_of(own_atomic, cell.reads.rend(), [&](const GlobalAccess& a) {
      return a.cluster == earlier.cluster && a.access.over.component == earlier.access.over.component &&
             a.access.over.clock == earlier.access.over.clock;
    });
  };
  const auto ordered = [&](const GlobalAccess& earlier) {
    if (traits.strong && earlier.access.strong) return true;
    return ordered_in_global(t, earlier) || before_own_atomic(earlier);
  };
  GlobalAccess now_accessed = global_access(t, kind, write, now(t));
  now_accessed.access.reduces = traits.reduces, now_accessed.access.strong = traits.strong;
  const auto conflict = [&](const GlobalAccess& earlier) {
    models::Violation race = race_in_global(t, earlier, now_accessed, address);
    const auto is_plain_load = [](const GlobalAccess& a) {
      return a.access.kind == AccessKind::global && !a.access.write;
    };
    if (is_plain_load(earlier) && kind == AccessKind::atomic) {
      race.source = earlier.access.by.source();
      return doubt(earlier, address, std::move(race));
    }
    if (is_plain_load(now_accessed) && earlier.access.kind == AccessKind::atomic)
      return doubt(now_accessed, address, std::move(race));
    report_race(t, earlier, now_accessed, std::move(race));
  };
  const bool compared = stores_compared && cell.write && cell.write->access.kind == AccessKind::global;
  if (cell.write && !compared && !ordered(*cell.write)) conflict(*cell.write);
  if (!write) return cell.reads.push_back(now_accessed);
  for (const GlobalAccess& read : cell.reads)
    if (!ordered(read)) conflict(read);
  cell.write = now_accessed;
  if (kind != AccessKind::atomic) return cell.reads.clear();
  // Atomics do not follow each other: a plain store comes after all of them, not after the last alone.
  std::erase_if(cell.reads, [&](const GlobalAccess& earlier) {
    return earlier.cluster == now_accessed.cluster &&
           earlier.access.over.component == now_accessed.access.over.component;
  });
  cell.reads.push_back(now_accessed);
}

models::Violation HazardChecker::race_in_global(const Thread& t, const GlobalAccess& earlier,
                                                const GlobalAccess& later, GlobalAddr address) const {
  const Kernel &first = *launches_[earlier.launch].kernel, &second = *launches_[later.launch].kernel;
  const HazardText text = global_hazard_text(first, earlier.access, second, later.access, address,
                                             place_name_ ? place_name_(address) : "");
  return {.id = text.id,
          .message = text.message,
          .time = time(),
          .slot = t.slot,
          .source = t.by,
          .details = text.details,
          .places = {hazard_place(first, earlier.access), hazard_place(second, later.access)},
          .global_address = address.value};
}

void HazardChecker::report_race(const Thread& t, const GlobalAccess& earlier, const GlobalAccess& later,
                                models::Violation race) {
  if (later.access.repeats && earlier.access.kind == AccessKind::global && earlier.access.write) {
    race.warning = true;
    race.message +=
        "; works on hardware as far as known, because the second writes the bytes that are there already";
  } else if (ordered_but_for_a_fence(t, earlier)) {
    race.warning = true;
    race.message +=
        " but a relaxed atomic; works on hardware as far as known, because the writer has fenced ahead of it: PTX "
        "wants a fence behind the atomic that has read it, too";
  }
  if (race.warning && !told_loads_.insert({race.source.loc.line(), race.source.loc.file_name()}).second) return;
  report_.violation(race);
}

GlobalStores::Number HazardChecker::number_of_store(const Thread& t, bool strong) {
  GlobalStores::Number& last = warp(t).last_store;
  const GlobalAccess store = global_access(t, AccessKind::global, true, now(t));
  const auto is_last = [&](const Access& a) {
    return a.over.clock == store.access.over.clock && a.strong == strong && a.by.loc.line() == t.by.loc.line() &&
           a.by.loc.column() == t.by.loc.column() && std::string_view(a.by.loc.file_name()) == t.by.loc.file_name();
  };
  if (last != 0 && is_last(stores_[last - 1].access)) return last;
  stores_.push_back(store);
  stores_.back().access.strong = strong;
  return last = GlobalStores::Number(stores_.size());
}

void HazardChecker::global_stores(const Thread& t, const instructions::LaneStores& stores, bool predicated,
                                  const std::function<bool(int lane)>& repeats, bool strong) {
  at_once(t.slot);
  if (stores.lanes == 0) return;
  const GlobalStores::Number number = number_of_store(t, strong);
  GlobalStores::Number in_order = 0, race = 0;  // of the earlier ones: the last that was found to be so
  GlobalAddr place{};
  bool only_repeats = true;
  for (uint32_t left = stores.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t first = stores.addresses[lane][0].value + uint64_t(stores.offset);
    stored_.store(first, stores.bytes, number, [&](GlobalStores::Number before, uint64_t address) {
      if (before == in_order) return;
      const GlobalAccess& earlier = stores_[before - 1];
      if ((strong && earlier.access.strong) || ordered_in_global(t, earlier)) return void(in_order = before);
      const bool repeated = repeats(lane);
      if (race == 0 || (only_repeats && !repeated)) race = before, place = {address};
      only_repeats &= repeated;
    });
  }
  if (race != 0) {
    GlobalAccess later = stores_[number - 1];
    later.access.cycle = time(), later.access.repeats = only_repeats;
    report_race(t, stores_[race - 1], later, race_in_global(t, stores_[race - 1], later, place));
  }
  if (!predicated)
    access_global(t, stores.addresses[std::countr_zero(stores.lanes)][0] + uint64_t(stores.offset),
                  AccessKind::global, true, {.strong = strong}, /*stores_compared=*/true);
}

bool HazardChecker::fenced_in_global(const Thread& t, const GlobalAccess& earlier) {
  const WarpState& self = warp(t);
  const Stamp over = earlier.access.over;
  if (earlier.cluster == cluster(t.slot).id) return self.known.fenced.knows(over);
  const auto of_writer = [&](uint32_t r) { return releases_[r - 1].cluster == earlier.cluster; };
  return std::any_of(self.fenced_releases.begin(), self.fenced_releases.end(),
                     [&](uint32_t r) { return of_writer(r) && releases_[r - 1].happened.knows(over); }) ||
         std::any_of(self.known.releases.begin(), self.known.releases.end(),
                     [&](uint32_t r) { return of_writer(r) && releases_[r - 1].fenced.knows(over); });
}

void HazardChecker::bulk_source(const Thread& t, GlobalAddr from, uint32_t bytes) {
  at_once(t.slot);
  constexpr uint32_t kWord = 4;
  const auto look = [&](uint64_t address, const GlobalCell& cell) {
    if (!cell.write || cell.write->access.kind != AccessKind::global) return false;
    const GlobalAccess& write = *cell.write;
    if (launches_.order().before(write.launch, cluster(t.slot).launch)) return false;
    if (!ordered_in_global(t, write) || fenced_in_global(t, write)) return false;
    GlobalAccess read = global_access(t, AccessKind::tensor_load, false, now(t));
    read.access.linear = true;
    const HazardText text =
        unfenced_source_text(*launches_[write.launch].kernel, write.access, kernel(t.slot), read.access, {address});
    report_.violation({.id = text.id,
                       .message = text.message,
                       .time = time(),
                       .slot = t.slot,
                       .source = t.by,
                       .warning = true,
                       .details = text.details,
                       .places = {hazard_place(*launches_[write.launch].kernel, write.access),
                                  hazard_place(kernel(t.slot), read.access)}});
    return true;
  };
  // Whichever is shorter; a cell stands at the first address of an instruction.
  if (global_.size() < bytes / kWord) {
    for (const auto& [address, cell] : global_)
      if (address >= from.value && address < from.value + bytes && look(address, cell)) return;
    return;
  }
  for (uint32_t at = 0; at < bytes; at += kWord)
    if (const auto cell = global_.find(from.value + at); cell != global_.end())
      if (look(cell->first, cell->second)) return;
}

uint32_t HazardChecker::release_word(const Thread& t, uint32_t before) {
  at_once(t.slot);
  Knowledge handed_on;
  handed_on.releases = warp(t).known.releases;
  if (before != 0) handed_on.add_releases(releases_[before - 1].releases), handed_on.add_releases({before});
  releases_.push_back(
      {cluster(t.slot).id, warp(t).known.happened, warp(t).known.fenced, std::move(handed_on.releases)});
  step(t);
  return uint32_t(releases_.size());
}

void HazardChecker::acquire_word(const Thread& t, uint32_t release) {
  at_once(t.slot);
  if (release == 0) return;
  Knowledge& known = warp(t).known;
  known.add_releases(releases_[release - 1].releases);
  known.add_releases({release});
  for (const uint32_t r : known.releases)  // of the own cluster they are clocks like any others
    if (releases_[r - 1].cluster == cluster(t.slot).id) known.happened.join(releases_[r - 1].happened);
}

}  // namespace sm100::sim
