// SPDX-License-Identifier: Apache-2.0
/// What roles say by their trace points that they work on: tiles in their order, the steps along K of each, and
/// with what a stage of a ring was filled and as what it was consumed.  Roles of a CTA are compared with each
/// other: where they consume (WK1), at the CTA's exit (WK2, WK3) and where it hangs (sim/hang/work_causes.h).  Code
/// without trace points says nothing.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/isa/portability.h"
#include "kernels/isa/trace.h"

namespace sm100::sim {

class Cta;
class Warp;
struct Kernel;

/// A tile that a warp has worked on.
struct TileWork {
  int cta, m, n;
  int steps = 0;            ///< stages of a ring that it has filled or consumed for it
  int steps_inside = 0;     ///< of fills: those with a copy that touches its tensor
  bool to_the_end = false;  ///< a copy reached the end of its tensor in the direction in which the steps go
  int k = -1;               ///< label of the last step
  Loc loc{};                ///< line of the wait before the last step
  uint64_t begun = 0;       ///< cycle

  bool same_place(const TileWork& other) const { return m == other.m && n == other.n; }
};

/// The steps of one warp.
class WarpSteps {
 public:
  bool fills = false, consumes = false;  ///< some step did

  void begin(TileWork* tile, int k, Loc loc);
  /// A tensor copy within a step.
  void copies(TileWork* tile, const int32_t* coords, const uint32_t* box, const uint64_t* dims, uint32_t rank);

 private:
  static constexpr uint32_t kMostDimensions = 5;
  bool any_box_ = false, inside_ = false;      ///< of this step
  std::array<int32_t, kMostDimensions> at_{};  ///< where its first copy begins
  bool has_before_ = false;                    ///< at_ is of this tile
  int along_ = -1;                             ///< dimension in which the steps go; -1: not known
};

/// With what the stages of a CTA's rings are filled: the barrier arrays "x_full" and "x_empty" are a ring.
class RingLabels {
 public:
  struct Label {
    int m = -1, n = -1, k = -1;
    bool operator==(const Label&) const = default;
  };
  struct Fill {
    int stage;
    int64_t phase;  ///< of the array that says that the stage is full
    Label label;
    int warp;
    Loc loc;
    bool consumed = false;
  };

  void start(const Kernel& kernel);
  /// The ring whose array says that a stage is empty, or that it is full; -1: the array belongs to none.
  int ring_of_empty(size_t array) const { return of_empty_[array]; }
  int ring_of_full(size_t array) const { return of_full_[array]; }
  void filled(int ring, const Fill& fill);
  /// The fill of that phase, which counts as consumed; nullptr: none was seen.
  const Fill* consumed(int ring, int stage, int64_t phase);
  /// Index of the "full" array of a ring from which this CTA consumes, and a fill that nobody has consumed.
  std::vector<std::pair<int, Fill>> left_over() const;

 private:
  struct Ring {
    int full;  ///< index of the array
    bool consumes = false;
    std::vector<Fill> fills;
  };
  const Kernel* kernel_ = nullptr;
  std::vector<int> of_empty_, of_full_;
  std::vector<Ring> rings_;
};

/// What one role of a CTA does differently from the others.
struct WorkDifference {
  const Warp* warp = nullptr;  ///< of the role
  TileWork tile{};             ///< the one where they differ, as the role or the others have it
  bool order = false;  ///< another tile than the others, though more followed; not a number of steps, nor an end
  std::string text;
};

/// @param ended  no role does anything any more
std::optional<WorkDifference> work_difference(const Cta& cta, bool ended);

/// "tile (1, 0) k step 4".
std::string text_of(const RingLabels::Label& label);

}  // namespace sm100::sim
