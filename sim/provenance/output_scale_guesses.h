// SPDX-License-Identifier: Apache-2.0
/// What an epilogue that quantises may have got wrong: where it stores scales, what they are, and what it
/// multiplies elements by.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/provenance/output_blocks.h"

namespace sm100::sim::provenance {

/// Scales as they are stored.
struct StoredScales {
  const OutputBlocks& blocks;
  const uint8_t* bytes;                        ///< of the scale tensor
  std::function<bool(uint64_t)> is_delivered;  ///< somebody has stored this byte

  uint64_t place_of(const OutputBlock& b) const {
    return scale_offset(b.row, b.block, scale_atoms(blocks.scales()));
  }
  uint8_t stored(const OutputBlock& b) const { return bytes[place_of(b)]; }
  bool is_wrong(const OutputBlock& b) const { return stored(b) != b.code; }
};

/// A guess that explains nearly all of what is wrong.
struct ScaleClaim {
  std::string what;
  int64_t explained = 0, wrong = 0;
};
/// Scales that are too few to say anything of.
inline constexpr int64_t kFewestScales = 64;

/// Scales that are right and lie elsewhere (output_scale_places.cpp).
std::optional<ScaleClaim> misplaced_scales(const StoredScales& stored);
/// Scales that nobody has stored (there, too).
std::optional<ScaleClaim> scales_not_stored(const StoredScales& stored);
/// Scales that lie in other bytes of their words (output_scale_words.cpp).
std::optional<ScaleClaim> misplaced_bytes(const StoredScales& stored);
/// Scales that are wrong numbers (output_scale_values.cpp).
std::optional<ScaleClaim> wrong_scale_values(const StoredScales& stored);
/// Elements that are wrong though their scales are right (quantised_elements.cpp).
/// @param wrong  the value that is stored of each
std::optional<ScaleClaim> wrong_quantised_elements(const OutputBlocks& blocks,
                                                   const std::vector<WrongValue>& wrong);
/// Elements whose scales are wrong are divided by these scales: they were made so, and not put elsewhere.
/// @param element  the value that is stored of an element of `sums`
bool elements_follow_scales(const StoredScales& stored, const ElementSums& sums,
                            const std::function<double(const ElementSums::Element&)>& element);
/// Elements that do not hold what belongs there.
/// @param stored  of an element of `sums`
std::vector<WrongValue> find_wrong_elements(const OutputBlocks& blocks, const ElementSums& sums,
                                            const std::function<double(const ElementSums::Element&)>& stored);

/// A number that lies in nearly all of these ranges; nothing: there is none.
std::optional<double> common_number(const std::vector<std::pair<double, double>>& ranges);

/// Whether so many of all are nearly all of them.
inline bool are_nearly_all(int64_t fits, int64_t all) { return fits >= kFewestScales && fits * 50 >= all * 49; }

}  // namespace sm100::sim::provenance
