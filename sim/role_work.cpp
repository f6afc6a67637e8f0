// SPDX-License-Identifier: Apache-2.0
#include "sim/role_work.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/cta.h"
#include "sim/kernel.h"
#include "sim/warp.h"

namespace sm100::sim {

// ---------------------------------------------------------------- steps

void WarpSteps::begin(TileWork* tile, int k, Loc loc) {
  has_before_ = tile && tile->steps > 0 && any_box_;
  any_box_ = inside_ = false;
  if (!tile) return;
  ++tile->steps, tile->k = k, tile->loc = loc;
}

void WarpSteps::copies(TileWork* tile, const int32_t* coords, const uint32_t* box, const uint64_t* dims,
                       uint32_t rank) {
  if (!tile || tile->steps == 0 || rank > kMostDimensions) return;
  if (!any_box_) {
    if (has_before_)
      for (uint32_t d = 0; d < rank; ++d)
        if (coords[d] != at_[d]) along_ = int(d);
    std::copy_n(coords, rank, at_.begin());
  }
  any_box_ = true;
  bool touches = true;
  for (uint32_t d = 0; d < rank; ++d) touches &= coords[d] < int64_t(dims[d]) && coords[d] + int64_t(box[d]) > 0;
  if (touches && !inside_) inside_ = true, ++tile->steps_inside;
  if (touches && along_ >= 0 && uint32_t(along_) < rank)
    tile->to_the_end |= coords[along_] + int64_t(box[along_]) >= int64_t(dims[along_]);
}

// ---------------------------------------------------------------- labels

std::string text_of(const RingLabels::Label& label) {
  return label.m < 0 ? fmt::format("k step {}", label.k)
                     : fmt::format("tile ({}, {}) k step {}", label.m, label.n, label.k);
}

void RingLabels::start(const Kernel& kernel) {
  if (kernel_ == &kernel) {
    for (Ring& ring : rings_) ring.fills.clear(), ring.consumes = false;
    return;
  }
  kernel_ = &kernel;
  rings_.clear();
  of_empty_.assign(kernel.barriers.size(), -1), of_full_.assign(kernel.barriers.size(), -1);
  for (size_t full = 0; full < kernel.barriers.size(); ++full) {
    const std::string name = kernel.barriers[full].name;
    if (!name.ends_with("_full")) continue;
    const std::string other = name.substr(0, name.size() - 4) + "empty";
    for (size_t empty = 0; empty < kernel.barriers.size(); ++empty)
      if (kernel.barriers[empty].name == other) {
        of_full_[full] = of_empty_[empty] = int(rings_.size());
        rings_.push_back({.full = int(full), .fills = {}});
      }
  }
}

void RingLabels::filled(int ring, const Fill& fill) {
  std::vector<Fill>& fills = rings_[size_t(ring)].fills;
  const bool consumes = rings_[size_t(ring)].consumes;
  std::erase_if(fills, [&](const Fill& f) {
    return f.stage == fill.stage && f.warp == fill.warp && (f.consumed || !consumes);
  });
  fills.push_back(fill);
}

const RingLabels::Fill* RingLabels::consumed(int ring, int stage, int64_t phase) {
  rings_[size_t(ring)].consumes = true;
  for (Fill& f : rings_[size_t(ring)].fills)
    if (f.stage == stage && f.phase == phase) {
      f.consumed = true;
      return &f;
    }
  return nullptr;
}

std::vector<std::pair<int, RingLabels::Fill>> RingLabels::left_over() const {
  std::vector<std::pair<int, Fill>> all;
  for (const Ring& ring : rings_)
    for (const Fill& f : ring.fills)
      if (ring.consumes && !f.consumed) all.push_back({ring.full, f});
  return all;
}

// ---------------------------------------------------------------- comparison

namespace {

/// What a role of a CTA has done.
struct RoleWork {
  std::string name;
  const Warp* warp;  ///< of its warps the one that is furthest
  std::vector<TileWork> tiles;
  bool in_last = false;  ///< it is still in the last of its tiles
  bool over = false;     ///< it takes no tile any more
  bool asks = false;     ///< it waits for the next stage of the last of its tiles

  bool has_steps() const { return warp->steps.fills || warp->steps.consumes; }
  bool done(size_t i) const { return i + 1 < tiles.size() || !in_last; }
};

std::vector<TileWork> tiles_of(const Warp& warp, int cta) {
  auto first = warp.tiles.end();
  while (first != warp.tiles.begin() && (first - 1)->cta == cta) --first;
  return {first, warp.tiles.end()};
}

bool begins_with(const std::vector<TileWork>& all, const std::vector<TileWork>& some) {
  return some.size() <= all.size() &&
         std::equal(some.begin(), some.end(), all.begin(),
                    [](const TileWork& a, const TileWork& b) { return a.same_place(b); });
}

/// Roles whose warps all go through the same tiles.
std::vector<RoleWork> roles_of(const Cta& cta) {
  std::vector<RoleWork> all;
  std::set<std::string> apart;
  for (const auto& warp : cta.warps()) {
    std::vector<TileWork> tiles = tiles_of(*warp, cta.linear_id());
    if (tiles.empty()) continue;
    const std::string& name = cta.kernel().role(warp->index);
    const auto known = std::find_if(all.begin(), all.end(), [&](const RoleWork& r) { return r.name == name; });
    if (known == all.end()) {
      all.push_back({name, warp.get(), std::move(tiles)});
    } else if (begins_with(tiles, known->tiles)) {
      if (tiles.size() > known->tiles.size()) known->warp = warp.get(), known->tiles = std::move(tiles);
    } else if (!begins_with(known->tiles, tiles)) {
      apart.insert(name);
    }
  }
  std::erase_if(all, [&](const RoleWork& r) { return apart.count(r.name) > 0; });
  return all;
}

/// Tiles without K are nothing for those who load and multiply, and roles without steps do not say which they are.
void drop_tiles_without_steps(std::vector<RoleWork>& roles) {
  bool dropped = false;
  for (RoleWork& r : roles) {
    if (!r.has_steps()) continue;
    const bool in_last = r.in_last;
    const size_t before = r.tiles.size();
    for (size_t i = before; i-- > 0;)
      if (r.tiles[i].steps == 0 && !(in_last && i + 1 == before)) r.tiles.erase(r.tiles.begin() + long(i));
    dropped |= r.tiles.size() < before;
  }
  if (dropped) std::erase_if(roles, [](const RoleWork& r) { return !r.has_steps(); });
  std::erase_if(roles, [](const RoleWork& r) { return r.tiles.empty(); });
}

std::set<std::pair<int, int>> places_of(const RoleWork& role) {
  std::set<std::pair<int, int>> places;
  for (const TileWork& t : role.tiles) places.insert({t.m, t.n});
  return places;
}

/// Two roles that take turns with the tiles of a third.
void drop_alternating(std::vector<RoleWork>& roles) {
  std::vector<std::set<std::pair<int, int>>> places;
  for (const RoleWork& r : roles) places.push_back(places_of(r));
  std::set<std::string> turns;
  for (size_t a = 0; a < roles.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      std::vector<std::pair<int, int>> both;
      std::set_intersection(places[a].begin(), places[a].end(), places[b].begin(), places[b].end(),
                            std::back_inserter(both));
      const bool shared = std::any_of(places.begin(), places.end(), [&](const auto& all) {
        return std::includes(all.begin(), all.end(), places[a].begin(), places[a].end()) &&
               std::includes(all.begin(), all.end(), places[b].begin(), places[b].end());
      });
      if (both.empty() && shared) turns.insert(roles[a].name), turns.insert(roles[b].name);
    }
  std::erase_if(roles, [&](const RoleWork& r) { return turns.count(r.name) > 0; });
}

void see_where_they_are(std::vector<RoleWork>& roles, const Cta& cta, bool ended) {
  for (RoleWork& r : roles) {
    const Warp& warp = *r.warp;
    const bool blocked = warp.running && warp.blocked.on == Blocked::On::mbarrier;
    const BarrierName awaited = blocked ? barrier_name(cta.kernel(), warp.blocked.offset) : BarrierName{};
    const size_t index = awaited.array ? size_t(awaited.array - cta.kernel().barriers.data()) : 0;
    r.in_last = !ended && warp.running && warp.in_tile();
    r.asks = r.in_last && awaited.array &&
             (warp.steps.fills ? cta.labels.ring_of_empty(index) : cta.labels.ring_of_full(index)) >= 0 &&
             (warp.steps.fills || warp.steps.consumes) && r.tiles.back().loc.line() == warp.blocked.loc.line();
    // Several roles wait for the next tile at one barrier.
    const auto waiters = std::count_if(roles.begin(), roles.end(), [&](const RoleWork& other) {
      return awaited.array && lists(awaited.array->waits, other.name);
    });
    r.over = ended || !warp.running || (!r.in_last && awaited.array && waiters < 2);
  }
}

std::string names_of(const std::vector<const RoleWork*>& roles) {
  std::vector<std::string> names;
  for (const RoleWork* r : roles) names.push_back(r->name);
  if (names.size() == 1) return names.front();
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

std::string tile_text(const TileWork& t) { return fmt::format("tile ({}, {})", t.m, t.n); }
const char* have(const std::vector<const RoleWork*>& roles) { return roles.size() == 1 ? "has" : "have"; }

/// Where one role has a tile for each step, as with sums in registers, tiles that follow each other in one place
/// are one.
void join_tiles_of_one_step(std::vector<RoleWork>& roles) {
  bool one_step = false, several = false;
  for (const RoleWork& r : roles)
    if (r.has_steps()) {
      const bool single =
          std::all_of(r.tiles.begin(), r.tiles.end(), [](const TileWork& t) { return t.steps <= 1; });
      (single ? one_step : several) = true;
    }
  if (!one_step || !several) return;
  for (RoleWork& r : roles) {
    std::vector<TileWork> joined;
    for (const TileWork& t : r.tiles) {
      if (joined.empty() || !joined.back().same_place(t)) {
        joined.push_back(t);
        continue;
      }
      joined.back().steps += t.steps, joined.back().steps_inside += t.steps_inside;
      joined.back().to_the_end = false, joined.back().k = t.k, joined.back().loc = t.loc;
    }
    r.tiles = std::move(joined);
  }
}

/// How many tiles of `a` from `i` on are those of `b` from `j` on.
size_t alike_from(const RoleWork& a, size_t i, const RoleWork& b, size_t j) {
  size_t n = 0;
  while (i + n < a.tiles.size() && j + n < b.tiles.size() && a.tiles[i + n].same_place(b.tiles[j + n])) ++n;
  return n;
}

WorkDifference of_order(const RoleWork& odd, const std::vector<const RoleWork*>& others, size_t i) {
  const RoleWork& like = *others.front();
  // By how many tiles the rest of the one lies behind that of the other.
  size_t skipped = 1, skips = 0, added = 1, adds = 0;
  for (size_t by = 1; i + by < std::max(odd.tiles.size(), like.tiles.size()); ++by) {
    if (const size_t n = alike_from(odd, i, like, i + by); n > skips) skips = n, skipped = by;
    if (const size_t n = alike_from(odd, i + by, like, i); n > adds) adds = n, added = by;
  }
  const size_t replaced = alike_from(odd, i + 1, like, i + 1);
  WorkDifference d{.warp = odd.warp, .tile = odd.tiles[i], .order = true, .text = {}};
  if (replaced >= std::max({skips, adds, size_t{1}})) skips = adds = 0;
  if (skips > adds || (skips > 0 && skips == adds && skipped <= added)) {
    d.tile = like.tiles[i], d.tile.loc = odd.tiles[i].loc;
    const std::string more = skipped == 1 ? "" : fmt::format(" and {} more", skipped - 1);
    d.text = fmt::format("{} has skipped {}{}, which {} {}: it went on to {}", odd.name, tile_text(like.tiles[i]),
                         more, names_of(others), have(others), tile_text(odd.tiles[i]));
  } else if (adds > 0) {
    const std::string more = added == 1 ? "" : fmt::format(" and {} more", added - 1);
    d.text = fmt::format("{} works on {}{}, which {} {} not: {} on to {}", odd.name, tile_text(odd.tiles[i]), more,
                         names_of(others), have(others), others.size() == 1 ? "it goes" : "they go",
                         tile_text(like.tiles[i]));
  } else {
    d.text = fmt::format("{} works on {} where {} {} {}, tile {} of the CTA", odd.name, tile_text(odd.tiles[i]),
                         names_of(others), have(others), tile_text(like.tiles[i]), i + 1);
  }
  return d;
}

WorkDifference of_end(const RoleWork& odd, bool lacks, const std::vector<const RoleWork*>& others,
                      const TileWork& tile) {
  const size_t n = lacks ? odd.tiles.size() : others.front()->tiles.size();
  WorkDifference d{.warp = odd.warp, .tile = tile, .text = {}};
  const std::string tiles = fmt::format("{} tile{}", n, n == 1 ? "" : "s");
  d.text = lacks ? fmt::format("{} has ended after {}; {} {} one more, {}", odd.name, tiles, names_of(others),
                               have(others), tile_text(tile))
                 : fmt::format("{} takes one tile too many, {}: {} {} ended after {}", odd.name, tile_text(tile),
                               names_of(others), have(others), tiles);
  return d;
}

/// Of the i-th tile of all roles, whose tiles before are the same.
std::optional<WorkDifference> compare_tiles(const std::vector<RoleWork>& roles, size_t i) {
  std::vector<const RoleWork*> lack;
  std::map<std::pair<int, int>, std::vector<const RoleWork*>> by_place;
  size_t with = 0;
  for (const RoleWork& r : roles) {
    if (i < r.tiles.size())
      by_place[{r.tiles[i].m, r.tiles[i].n}].push_back(&r), ++with;
    else if (r.over)
      lack.push_back(&r);
  }
  if (by_place.empty()) return {};
  if (by_place.size() == 1) {
    const std::vector<const RoleWork*>& all = by_place.begin()->second;
    const TileWork& tile = all.front()->tiles[i];
    if (lack.empty()) return {};
    if (lack.size() > all.size())
      return all.size() == 1 ? std::optional(of_end(*all.front(), false, lack, tile)) : std::nullopt;
    return lack.size() == 1 && all.size() >= 2 ? std::optional(of_end(*lack.front(), true, all, tile))
                                               : std::nullopt;
  }
  if (by_place.size() > 2) return {};
  const std::vector<const RoleWork*>*one = &by_place.begin()->second, *rest = &by_place.rbegin()->second;
  if (one->size() > rest->size()) std::swap(one, rest);
  if (one->size() > 1) return {};
  // Of two the one that lacks a tile of the other.
  if (rest->size() == 1 && alike_from(*one->front(), i, *rest->front(), i + 1) == 0) std::swap(one, rest);
  return of_order(*one->front(), *rest, i);
}

/// Steps that tiles have on which load and MMA agree, all over the GPU; 0: they have different numbers.
int usual_steps(const Cta& cta, const RoleWork& filler, const RoleWork& consumer) {
  std::set<int> counts;
  const auto& fills = cta.warps()[size_t(filler.warp->index)]->tiles;
  const auto& consumes = cta.warps()[size_t(consumer.warp->index)]->tiles;
  for (size_t i = 0; i + 1 < std::min(fills.size(), consumes.size()); ++i)
    if (fills[i].steps == consumes[i].steps) counts.insert(fills[i].steps);
  return counts.size() == 1 ? *counts.begin() : 0;
}

/// Of the tiles that the role has left, here and elsewhere in the cluster.  Where K is split not every tile ends
/// there.
bool nobody_reaches_the_end(const Cta& cta, const RoleWork& filler) {
  if (cta.kernel().grid.z > 1) return false;
  return std::none_of(filler.warp->tiles.begin(), filler.warp->tiles.end(),
                      [](const TileWork& t) { return t.to_the_end; });
}

std::string steps_text(int n) { return fmt::format("{} k step{}", n, n == 1 ? "" : "s"); }

std::string last_text(const TileWork& tile, bool asks) {
  return tile.k < 0 ? "" : fmt::format(" ({} k {})", asks ? "behind" : "the last", tile.k);
}

/// Of the i-th tile of a role that fills and one that consumes.
std::optional<WorkDifference> compare_steps(const Cta& cta, const RoleWork& filler, const RoleWork& consumer,
                                            size_t i) {
  const TileWork &fill = filler.tiles[i], &use = consumer.tiles[i];
  const bool filled = filler.done(i), used = consumer.done(i);
  const bool fill_asks = !filled && filler.asks, use_asks = !used && consumer.asks;
  const bool differ = (filled && used && fill.steps != use.steps) ||
                      (fill_asks && used && fill.steps >= use.steps) ||
                      (use_asks && filled && use.steps >= fill.steps);
  if (!differ) return {};
  const int fills = fill.steps + fill_asks, uses = use.steps + use_asks;
  const int outside = fill.steps - fill.steps_inside;
  const bool has_copies = fill.steps_inside > 0;
  const int usual = usual_steps(cta, filler, consumer);
  enum class Wrong : uint8_t { fills, uses, unclear } wrong = Wrong::unclear;
  std::string why;
  if (has_copies && outside > 0 && fills > uses) {
    wrong = Wrong::fills, why = fmt::format(": the copies of {} lie outside of their tensors", steps_text(outside));
  } else if (has_copies && outside == 0 && fill.to_the_end && (!fill_asks || fill.steps == uses)) {
    wrong = fill_asks ? Wrong::fills : Wrong::uses,
    why = ": the copies of those that are filled reach the end of K";
  } else if (has_copies && outside == 0 && filled && fills < uses && fills > 1 && usual != fills &&
             nobody_reaches_the_end(cta, filler)) {
    wrong = Wrong::fills, why = fmt::format(": no copy of {} reaches the end of K", filler.name);
  } else if (usual > 0 && (usual == fills) != (usual == uses)) {
    wrong = usual == uses ? Wrong::fills : Wrong::uses;
    why = fmt::format(": other tiles have {}", usual);
  }
  const RoleWork& odd = wrong == Wrong::uses ? consumer : filler;
  const auto done = [](bool asks, const char* has, const char* wants) { return asks ? wants : has; };
  WorkDifference d{.warp = odd.warp, .tile = wrong == Wrong::uses ? use : fill, .text = {}};
  const std::string filler_does =
      fmt::format("{} {} {} of {}{}", filler.name, done(fill_asks, "has filled", "goes on to fill"),
                  steps_text(fills), tile_text(fill), last_text(fill, fill_asks));
  const std::string consumer_does =
      fmt::format("{} {} {} of {}{}", consumer.name, done(use_asks, "has consumed", "waits for"), steps_text(uses),
                  tile_text(use), last_text(use, use_asks));
  const int by = std::abs(fills - uses);
  const char* many = (wrong == Wrong::fills) == (fills > uses) ? "too many" : "too few";
  if (wrong == Wrong::unclear)
    d.text = fmt::format("{}, {}", filler_does, consumer_does);
  else if (wrong == Wrong::fills)
    d.text = fmt::format("{}, {} {}{}; {} {}", filler_does, by, many, why, consumer.name,
                         use_asks ? fmt::format("waits for {}", uses) : fmt::format("has consumed {}", uses));
  else
    d.text = fmt::format("{}, {} {}; {} has filled {}{}", consumer_does, by, many, filler.name, fills, why);
  return d;
}

}  // namespace

std::optional<WorkDifference> work_difference(const Cta& cta, bool ended) {
  std::vector<RoleWork> roles = roles_of(cta);
  if (roles.size() < 2) return {};
  see_where_they_are(roles, cta, ended);
  drop_tiles_without_steps(roles);
  drop_alternating(roles);
  join_tiles_of_one_step(roles);
  size_t most = 0;
  for (const RoleWork& r : roles) most = std::max(most, r.tiles.size());
  for (size_t i = 0; i < most; ++i)
    if (auto d = compare_tiles(roles, i)) return d;
  for (size_t i = 0; i < most; ++i) {
    for (const RoleWork& filler : roles)
      for (const RoleWork& consumer : roles)
        if (filler.warp->steps.fills && consumer.warp->steps.consumes && i < filler.tiles.size() &&
            i < consumer.tiles.size() && filler.tiles[i].same_place(consumer.tiles[i]))
          if (auto d = compare_steps(cta, filler, consumer, i)) return d;
    // What is not the same any more cannot be compared.
    const auto has =
        std::find_if(roles.begin(), roles.end(), [&](const RoleWork& r) { return i < r.tiles.size(); });
    if (std::any_of(roles.begin(), roles.end(),
                    [&](const RoleWork& r) { return i < r.tiles.size() && !r.tiles[i].same_place(has->tiles[i]); }))
      return {};
  }
  return {};
}

}  // namespace sm100::sim
