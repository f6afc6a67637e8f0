// SPDX-License-Identifier: Apache-2.0
// Tensor maps in global memory: an edit while a copy may still read the map (TP1), a copy without an acquire of the
// last edit (TP2), an edit that nobody released (TP3).
#include <algorithm>
#include <utility>

#include "models/time.h"
#include "sim/hazards/hazard_checker.h"

namespace sm100::sim {

bool HazardChecker::ordered_in_global(const Thread& t, const GlobalAccess& earlier) {
  const Knowledge& known = warp(t).known;
  // A stream and its events order launches; what a programmatic one reads too early is GD1.
  if (launches_.order().before(earlier.launch, cluster(t.slot).launch)) return true;
  if (earlier.cluster == cluster(t.slot).id) return known.happened.knows(earlier.access.over);
  return std::any_of(known.releases.begin(), known.releases.end(), [&](uint32_t r) {
    return releases_[r - 1].cluster == earlier.cluster && releases_[r - 1].happened.knows(earlier.access.over);
  });
}

bool HazardChecker::ordered_but_for_a_fence(const Thread& t, const GlobalAccess& earlier) {
  const auto covers = [&](uint32_t r) {
    return releases_[r - 1].cluster == earlier.cluster && releases_[r - 1].happened.knows(earlier.access.over);
  };
  const std::vector<uint32_t>& read = warp(t).known.unfenced;
  return std::any_of(read.begin(), read.end(), [&](uint32_t r) {
    const std::vector<uint32_t>& before = releases_[r - 1].releases;
    return covers(r) || std::any_of(before.begin(), before.end(), covers);
  });
}

HazardChecker::GlobalAccess HazardChecker::global_access(const Thread& t, AccessKind kind, bool write, Stamp over) {
  return {cluster(t.slot).id, cluster(t.slot).launch, access(t, kind, write, over)};
}

bool HazardChecker::groups_waited_behind(const Thread& t, const Access& load) {
  const WarpState& self = warp(t);
  return load.kind == AccessKind::tensor_load && load.by.cta == t.by.cta && load.by.warp == t.by.warp &&
         (self.groups_waited_by >> load.by.lane & 1) && load.issued <= self.groups_waited;
}

void HazardChecker::report_map(const Thread& t, const char* id, const GlobalAccess& earlier,
                               const GlobalAccess& later, GlobalAddr map) {
  const Kernel& first = *launches_[earlier.launch].kernel;
  HazardText text = map_hazard_text(id, first, earlier.access, kernel(t.slot), later.access, map);
  if (groups_waited_behind(t, earlier.access)) text = groups_do_not_hold_loads(std::move(text));
  models::Violation v{.id = text.id,
                      .message = text.message,
                      .time = time(),
                      .slot = t.slot,
                      .source = t.by,
                      .warning = text.warning};
  v.details = text.details;
  v.places = {hazard_place(first, earlier.access), hazard_place(kernel(t.slot), later.access)};
  report_.violation(v);
}

void HazardChecker::map_edit(const Thread& t, GlobalAddr address, bool released) {
  at_once(t.slot);
  EditedMap& map = maps_[address.value];
  const GlobalAccess edit = global_access(t, AccessKind::map_edit, true, now(t));
  for (const GlobalAccess& use : map.uses)
    if (!ordered_in_global(t, use)) {
      report_map(t, "TP1", use, edit, address);
      break;
    }
  map.uses.clear();
  // A map that is edited field by field is one edit, as long as nobody has released it.
  const bool goes_on =
      map.edit && !map.release && map.edit->access.by.cta == t.by.cta && map.edit->access.by.warp == t.by.warp;
  if (!goes_on) map.acquires.clear(), ++map.edits;
  map.edit = edit;
  map.release.reset();
  std::erase(unreleased_maps_, address.value);
  if (released)
    map.release = edit;
  else
    unreleased_maps_.push_back(address.value);
}

void HazardChecker::map_release(const Thread& t) {
  at_once(t.slot);
  std::erase_if(unreleased_maps_, [&](uint64_t address) {
    EditedMap& map = maps_[address];
    if (!ordered_in_global(t, *map.edit)) return false;
    map.release = global_access(t, AccessKind::map_edit, true, now(t));
    return true;
  });
}

void HazardChecker::map_acquire(const Thread& t, GlobalAddr address) {
  at_once(t.slot);
  const auto at = maps_.find(address.value);
  if (at == maps_.end() || !at->second.edit) return;
  EditedMap& map = at->second;
  if (!map.release || !ordered_in_global(t, *map.release)) return;  // it may see the map from before
  const GlobalAccess acquire = global_access(t, AccessKind::map_edit, false, now(t));
  const auto same = [&](const MapAcquire& known) {
    return known.slot == t.slot && known.access.access.by.warp == t.by.warp;
  };
  std::erase_if(map.acquires, same);
  map.acquires.push_back({t.slot, acquire});
}

void HazardChecker::map_use(const Thread& t, GlobalAddr address, bool load, uint32_t barrier, uint32_t op) {
  at_once(t.slot);
  EditedMap& map = maps_[address.value];
  // Over: a load with the phase that counts its bytes, a store with its bulk group.
  const Stamp over = load ? Stamp{} : bulk_group(t);
  GlobalAccess use = global_access(t, load ? AccessKind::tensor_load : AccessKind::tensor_store, false, over);
  use.access.op = op, use.access.barrier = barrier;
  if (map.edit) {
    const auto acquired = [&](const MapAcquire& a) { return a.slot == t.slot && ordered_in_global(t, a.access); };
    if (!ordered_in_global(t, *map.edit))
      report_map(t, "TP1", *map.edit, use, address);
    else if (!map.release)
      report_map(t, "TP3", *map.edit, use, address);
    else if (std::none_of(map.acquires.begin(), map.acquires.end(), acquired))
      report_map(t, "TP2", *map.edit, use, address);
  }
  if (load) {
    map_loads_.insert_or_assign(op, address.value);
  } else {  // the last store of a thread's groups stands for all
    std::erase_if(map.uses, [&](const GlobalAccess& u) {
      return u.cluster == use.cluster && u.access.over.component == over.component;
    });
  }
  map.uses.push_back(use);
}

void HazardChecker::map_load_landed(uint32_t op, Stamp over, int64_t phase) {
  const auto load = map_loads_.find(op);
  if (load == map_loads_.end()) return;
  std::vector<GlobalAccess>& uses = maps_[load->second].uses;
  map_loads_.erase(load);
  const auto use = std::find_if(uses.begin(), uses.end(), [=](const GlobalAccess& u) { return u.access.op == op; });
  if (use == uses.end()) return;
  use->access.over = over, use->access.phase = int32_t(phase);
  // Phases of a barrier follow each other: the last load of it stands for those before.
  const GlobalAccess landed = *use;
  std::erase_if(uses, [&](const GlobalAccess& u) {
    return u.cluster == landed.cluster && u.access.op != op && u.access.over.component == over.component &&
           u.access.over.clock <= over.clock && u.access.kind == AccessKind::tensor_load;
  });
}

}  // namespace sm100::sim
