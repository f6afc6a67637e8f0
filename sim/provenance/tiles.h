// SPDX-License-Identifier: Apache-2.0
/// The work tiles that CTAs have had, by the trace points of their roles, against those that the output has.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/host/kernel_run.h"
#include "models/observer.h"
#include "sim/launch_list.h"

namespace sm100::sim {
class Cta;
}

namespace sm100::sim::provenance {

/// That a CTA has had a tile.
struct TileTaken {
  int m, n;
  models::Source by;         ///< a warp of it, without a line
  models::Cycles begun = 0;  ///< the CTA's first role began with it
  int cluster = 0;           ///< number of the CTA's cluster in the launch
};

/// Of a CTA's roles, the one that names most tiles speaks for it.
std::vector<TileTaken> tiles_taken(const std::vector<Cta*>& slots, const LaunchList& launches, int launch);

class Tiles {
 public:
  using Place = std::pair<int, int>;  ///< m and n
  /// The size of an output: of a group, where there are several.
  struct Size {
    int64_t rows = 0, columns = 0;
  };
  using Who = std::function<std::string(const models::Source&)>;

  Tiles() = default;
  /// @param cluster_ctas  of the launch
  Tiles(const std::optional<host::WorkTiles>& tiles, std::vector<TileTaken> taken, int cluster_ctas)
      : tiles_(tiles), taken_(std::move(taken)), cluster_ctas_(cluster_ctas) {}
  void set_outputs(std::vector<Size> outputs);

  /// The kernel says what its tiles are, and CTAs have named some.
  bool known() const { return tiles_ && !taken_.empty() && !outputs_.empty(); }
  /// The tile of an element of an output.
  Place at(int64_t row, int64_t column) const;
  /// Fewer CTAs have had it than outputs have it.
  bool lacking(Place tile) const { return had(tile) < wanted(tile, false); }
  /// More CTAs have had it than should.
  bool repeated(Place tile) const { return had(tile) > wanted(tile, true); }
  /// @param cta  linear id
  bool has_had(int cta, Place tile) const;
  /// Those that it has had, in their order.
  std::vector<Place> of_cta(int cta) const;
  /// "(0, 1), (0, 2) and 3 more"
  static std::string text(const std::vector<Place>& tiles);
  /// The CTA has had a tile that lies outside of every output.
  bool has_strayed(int cta) const;
  /// "no CTA has had tiles (0, 1), (0, 2), (0, 3) and 3 more"
  std::string lacking_text() const;
  /// "tile (1, 0) was had by CTA 1 twice, the second time at cycle 7,812"; "all 4 CTAs of a cluster have had tile
  /// (0, 0): CTA 0, CTA 1, CTA 2, CTA 3"
  std::string repeated_text(Place tile, const Who& who) const;
  /// What is known of tiles that were had too often, or lie outside of the output, a line each.
  std::vector<std::string> strays(const Who& who, models::Source& at) const;
  /// The same; where there are none, which tiles the first CTA has had.
  /// @param at  who has had the first of them
  std::vector<std::string> details(const Who& who, models::Source& at) const;

 private:
  int along(int64_t size, int tile, int round) const;
  int wanted(Place tile, bool rounded) const;
  int had(Place tile) const;
  std::vector<const TileTaken*> of(Place tile) const;

  std::optional<host::WorkTiles> tiles_{};
  std::vector<TileTaken> taken_{};
  int cluster_ctas_ = 1;
  std::vector<Size> outputs_{};
  std::map<Place, int> had_{};
};

}  // namespace sm100::sim::provenance
