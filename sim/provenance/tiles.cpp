// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/tiles.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "sim/cta.h"
#include "sim/text.h"
#include "sim/warp.h"

namespace sm100::sim::provenance {
namespace {

/// Places and lines that a text lists; of more it says how many.
constexpr size_t kListed = 4;

std::string m_and_n(const Tiles::Place& tile) { return fmt::format("({}, {})", tile.first, tile.second); }

/// "a, b and 3 more"
std::string list_text(const std::vector<std::string>& all) {
  const size_t listed = all.size() <= kListed + 1 ? all.size() : kListed;
  std::string text = fmt::format("{}", fmt::join(all.begin(), all.begin() + long(listed), ", "));
  return listed < all.size() ? text + fmt::format(" and {} more", all.size() - listed) : text;
}

std::string times_text(size_t times) {
  return times == 1 ? "once" : times == 2 ? "twice" : fmt::format("{} times", times);
}

/// Number of the CTA's cluster in its launch.
int cluster_of(const Kernel& kernel, int in_launch) {
  const Dim3 grid = kernel.grid, cluster = kernel.cluster;
  const auto linear = uint32_t(in_launch);
  const uint32_t x = linear % grid.x / cluster.x, y = linear / grid.x % grid.y / cluster.y,
                 z = linear / (grid.x * grid.y) / cluster.z;
  return int(x + grid.x / cluster.x * (y + grid.y / cluster.y * z));
}

}  // namespace

std::vector<TileTaken> tiles_taken(const std::vector<Cta*>& slots, const LaunchList& launches, int launch) {
  std::map<int, std::vector<TileTaken>> of_cta;
  for (const Cta* slot : slots)
    for (const auto& warp : slot->warps()) {
      std::map<int, std::vector<TileTaken>> own;
      for (const TileWork& t : warp->tiles)
        if (launches.of_cta(t.cta) == launch)
          own[t.cta].push_back(
              {.m = t.m,
               .n = t.n,
               .by = {.warp = int8_t(warp->index), .cta = t.cta},
               .begun = t.begun,
               .cluster = cluster_of(launches.kernel_of_cta(t.cta), t.cta - launches[launch].first_cta)});
      for (auto& [cta, tiles] : own)
        if (std::vector<TileTaken>& known = of_cta[cta]; tiles.size() > known.size()) known = std::move(tiles);
    }
  std::vector<TileTaken> all;
  for (const auto& [cta, tiles] : of_cta) all.insert(all.end(), tiles.begin(), tiles.end());
  std::stable_sort(all.begin(), all.end(),
                   [](const TileTaken& a, const TileTaken& b) { return a.begun < b.begun; });
  return all;
}

void Tiles::set_outputs(std::vector<Size> outputs) {
  outputs_ = std::move(outputs);
  had_.clear();
  for (const TileTaken& t : taken_) ++had_[{t.m, t.n}];
}

Tiles::Place Tiles::at(int64_t row, int64_t column) const {
  const int64_t m = tiles_->turned ? column / tiles_->rows : row / tiles_->rows,
                n = tiles_->turned ? row / tiles_->columns : column / tiles_->columns;
  return {int(m), int(n)};
}

int Tiles::along(int64_t size, int tile, int round) const {
  const int64_t tiles = (size + tile - 1) / tile;
  return int((tiles + round - 1) / round * round);
}

/// In how many outputs the tile lies, or in how many of those rounded up to clusters.
int Tiles::wanted(Place tile, bool rounded) const {
  int wanted = 0;
  for (const Size& c : outputs_) {
    const int64_t along_m = tiles_->turned ? c.columns : c.rows, along_n = tiles_->turned ? c.rows : c.columns;
    wanted += tile.first >= 0 && tile.second >= 0 &&
              tile.first < along(along_m, tiles_->rows, rounded ? tiles_->round_m : 1) &&
              tile.second < along(along_n, tiles_->columns, rounded ? tiles_->round_n : 1);
  }
  return wanted * tiles_->times;
}

int Tiles::had(Place tile) const {
  const auto found = had_.find(tile);
  return found == had_.end() ? 0 : found->second;
}

std::vector<const TileTaken*> Tiles::of(Place tile) const {
  std::vector<const TileTaken*> all;
  for (const TileTaken& t : taken_)
    if (t.m == tile.first && t.n == tile.second) all.push_back(&t);
  return all;
}

std::string Tiles::lacking_text() const {
  int last_m = 0, last_n = 0;
  for (const Size& c : outputs_) {
    const auto [m, n] = at(c.rows - 1, c.columns - 1);
    last_m = std::max(last_m, m), last_n = std::max(last_n, n);
  }
  std::vector<std::string> never, seldom;
  for (int m = 0; m <= last_m; ++m)
    for (int n = 0; n <= last_n; ++n) {
      const Place tile{m, n};
      const int has = had(tile), all = wanted(tile, false);
      if (has == 0 && all > 0)
        never.push_back(m_and_n(tile));
      else if (has < all)
        seldom.push_back(fmt::format("tile {} was had {} for {} {}", m_and_n(tile), times_text(size_t(has)), all,
                                     tiles_->times > 1 ? "splits of K" : "groups"));
    }
  std::string text;
  if (!never.empty())
    text = fmt::format("no CTA has had tile{} {}", never.size() == 1 ? "" : "s", list_text(never));
  if (!seldom.empty()) text += (text.empty() ? "" : "; ") + list_text(seldom);
  return text;
}

std::string Tiles::repeated_text(Place tile, const Who& who) const {
  const std::vector<const TileTaken*> all = of(tile);
  std::set<int> ctas, clusters;
  for (const TileTaken* t : all) clusters.insert(t->cluster), ctas.insert(t->by.cta);
  std::vector<std::string> names;
  for (const int cta : ctas) names.push_back(who({.cta = cta}));
  if (clusters.size() == 1 && int(ctas.size()) == cluster_ctas_ && cluster_ctas_ > 1)
    return fmt::format("{} CTAs of a cluster have had tile {}: {}",
                       cluster_ctas_ == 2 ? "both" : fmt::format("all {}", cluster_ctas_), m_and_n(tile),
                       list_text(names));
  if (ctas.size() == 1)
    return fmt::format("tile {} was had by {} {}, the last time from cycle {} on", m_and_n(tile), names.front(),
                       times_text(all.size()), grouped(int64_t(all.back()->begun)));
  return fmt::format("tile {} was had {}: by {}", m_and_n(tile), times_text(all.size()), list_text(names));
}

bool Tiles::has_had(int cta, Place tile) const {
  return std::any_of(taken_.begin(), taken_.end(), [&](const TileTaken& t) {
    return t.by.cta == cta && t.m == tile.first && t.n == tile.second;
  });
}

std::vector<Tiles::Place> Tiles::of_cta(int cta) const {
  std::vector<Place> all;
  for (const TileTaken& t : taken_)
    if (t.by.cta == cta) all.push_back({t.m, t.n});
  return all;
}

std::string Tiles::text(const std::vector<Place>& tiles) {
  std::vector<std::string> names;
  for (const Place& tile : tiles) names.push_back(m_and_n(tile));
  return list_text(names);
}

bool Tiles::has_strayed(int cta) const {
  return std::any_of(taken_.begin(), taken_.end(), [&](const TileTaken& t) {
    return t.by.cta == cta && wanted({t.m, t.n}, true) == 0;
  });
}

std::vector<std::string> Tiles::details(const Who& who, models::Source& by) const {
  std::vector<std::string> lines = strays(who, by);
  if (!lines.empty()) return lines;
  // Only the walk can tell: whose was the first step?
  const TileTaken& first = taken_.front();
  std::vector<std::string> walk;
  for (const TileTaken& t : taken_)
    if (t.by.cta == first.by.cta) walk.push_back(m_and_n({t.m, t.n}));
  by = first.by;
  return {fmt::format("{} has had {}", who({.cta = first.by.cta}), list_text(walk))};
}

std::vector<std::string> Tiles::strays(const Who& who, models::Source& by) const {
  std::vector<std::string> lines, outside;
  size_t repeats = 0;
  std::set<Place> told;
  for (const TileTaken& t : taken_) {
    const Place tile{t.m, t.n};
    if (!repeated(tile) || !told.insert(tile).second) continue;
    if (wanted(tile, true) == 0) {
      if (by.cta < 0) by = t.by;
      outside.push_back(fmt::format("{} by {}", m_and_n(tile), who({.cta = t.by.cta})));
    } else if (repeats++ < kListed) {
      if (by.cta < 0) by = of(tile).back()->by;
      lines.push_back(repeated_text(tile, who));
    }
  }
  if (repeats > kListed) lines.push_back(fmt::format("so were {} more tiles", repeats - kListed));
  if (!outside.empty())
    lines.push_back(fmt::format("{} outside of C {} computed: {}",
                                outside.size() == 1 ? "a tile that lies" : "tiles that lie",
                                outside.size() == 1 ? "was" : "were", list_text(outside)));
  return lines;
}

}  // namespace sm100::sim::provenance
