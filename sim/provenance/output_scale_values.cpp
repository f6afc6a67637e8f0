// SPDX-License-Identifier: Apache-2.0
// Scales of the output that are wrong numbers: of other elements, or times a factor.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/provenance/output_scale_guesses.h"

namespace sm100::sim::provenance {
namespace {

/// Another idea of a block's largest magnitude.
struct OtherLargest {
  std::string text;
  std::function<float(const OutputBlock&)> of;
};

/// The largest of some of a block's elements.
/// @param is_asked  an element's place in the block
template <class F>
float largest_of(const OutputBlocks& blocks, const OutputBlock& block, F is_asked) {
  float largest = 0;
  for (int i = 0; i < blocks.scales().block; ++i)
    if (is_asked(i)) largest = std::max(largest, std::abs(blocks.values(block)[i]));
  return largest;
}

std::vector<OtherLargest> other_largest(const OutputBlocks& blocks) {
  std::vector<OtherLargest> all;
  const int size = blocks.scales().block;
  const double alpha = blocks.scales().alpha;
  for (int part = size / 2; part >= 1; part /= 2) {
    const int parts = size / part;
    for (int which = 0; which < parts; which += std::max(1, parts - 1))
      all.push_back(
          {fmt::format("that of the {} {} elements of each block of {}", which == 0 ? "first" : "last", part, size),
           [&blocks, part, which](const OutputBlock& b) {
             return largest_of(blocks, b, [=](int i) { return i / part == which; });
           }});
    all.push_back(
        {fmt::format("that of {0} of the {1} elements of each block, of those at i - i mod {0} on in {2} i", part,
                     size, blocks.scales().along_columns ? "column" : "row"),
         [&blocks, part, size](const OutputBlock& b) {
           return largest_of(blocks, b, [=, at = b.row % size / part](int i) { return i / part == at; });
         }});
    all.push_back(
        {fmt::format("that of each {}th element of a block", parts), [&blocks, parts](const OutputBlock& b) {
           return largest_of(blocks, b, [=](int i) { return i % parts == 0; });
         }});
  }
  all.push_back({"the largest number, where the magnitude belongs: negative ones do not count",
                 [&blocks, size](const OutputBlock& b) {
                   return std::max(0.f, *std::max_element(blocks.values(b), blocks.values(b) + size));
                 }});
  all.push_back({"that of the smallest magnitude", [&blocks, size](const OutputBlock& b) {
                   float least = std::numeric_limits<float>::max();
                   for (int i = 0; i < size; ++i) least = std::min(least, std::abs(blocks.values(b)[i]));
                   return least;
                 }});
  const auto of_block = [&](std::string text, auto row, auto block, bool with_own) {
    all.push_back({std::move(text), [&blocks, row, block, with_own](const OutputBlock& b) {
                     const OutputBlock* const other = blocks.at(row(b), block(b));
                     if (!other) return with_own ? b.largest : std::numeric_limits<float>::quiet_NaN();
                     return with_own ? std::max(b.largest, other->largest) : other->largest;
                   }});
  };
  of_block(
      "that of the block before", [](const OutputBlock& b) { return b.row; },
      [](const OutputBlock& b) { return b.block - 1; }, false);
  for (const int by : {1, 2, 4}) {
    of_block(
        fmt::format("that of two blocks, {} apart", by), [](const OutputBlock& b) { return b.row; },
        [by](const OutputBlock& b) { return b.block ^ by; }, true);
    of_block(
        fmt::format("that of the block that changes places with it, {} apart", by),
        [](const OutputBlock& b) { return b.row; }, [by](const OutputBlock& b) { return b.block ^ by; }, false);
  }
  // Lanes that ask one another for the scales of a block.
  const char* const unit = blocks.scales().along_columns ? "column" : "row";
  for (int high = 1; high <= 16; high *= 2)
    for (int low = 0; low < high; low = low == 0 ? 1 : 2 * low)
      of_block(
          low == 0 ? fmt::format("that of the {} whose number differs in the bit of {}", unit, high)
                   : fmt::format("that of the {} whose number differs in the bits of {} and {}", unit, low, high),
          [by = low | high](const OutputBlock& b) { return b.row ^ by; },
          [](const OutputBlock& b) { return b.block; }, false);
  if (alpha != 1 && alpha != 0)
    all.push_back({fmt::format("that of the sums before they are multiplied by alpha ({:g})", alpha),
                   [alpha](const OutputBlock& b) { return float(double(b.largest) / std::abs(alpha)); }});
  return all;
}

/// Factors of a block's largest magnitude that give this code.
std::pair<double, double> factors_of(const host::ExpectedOutputScales& scales, float largest, uint8_t code) {
  constexpr int kSteps = 40;
  constexpr double kMost = 24;  // powers of two either way
  /// The smallest power for which the code is as large.
  const auto power_of = [&](int wanted) {
    double low = -kMost, high = kMost;
    for (int i = 0; i < kSteps; ++i) {
      const double middle = (low + high) / 2;
      (scales.code(float(double(largest) * std::exp2(middle))) >= wanted ? high : low) = middle;
    }
    return high;
  };
  return {std::exp2(power_of(code)), std::exp2(power_of(code + 1))};
}

}  // namespace

std::optional<double> common_number(const std::vector<std::pair<double, double>>& ranges) {
  std::vector<std::pair<double, int>> ends;
  for (const auto& [low, high] : ranges)
    if (low < high) ends.emplace_back(low, 1), ends.emplace_back(high, -1);
  std::sort(ends.begin(), ends.end());
  int64_t inside = 0, most = 0;
  double best = 0;
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    inside += ends[i].second;
    if (inside > most && ends[i + 1].first > ends[i].first)
      most = inside, best = (ends[i].first + ends[i + 1].first) / 2;
  }
  return are_nearly_all(most, int64_t(ranges.size())) ? std::optional(best) : std::nullopt;
}

std::optional<ScaleClaim> wrong_scale_values(const StoredScales& stored) {
  const OutputBlocks& blocks = stored.blocks;
  const host::ExpectedOutputScales& scales = blocks.scales();
  std::vector<const OutputBlock*> wrong;
  for (const OutputBlock& b : blocks.all())
    if (stored.is_wrong(b)) wrong.push_back(&b);
  const auto fitting = [&](auto code) {
    int64_t fits = 0, misses = 0;
    for (const OutputBlock* b : wrong) {
      const bool same = stored.is_delivered(stored.place_of(*b)) && code(*b) == stored.stored(*b);
      fits += same, misses += !same;
      if (misses > 8 && misses * 8 > fits) return int64_t{0};
    }
    return are_nearly_all(fits, int64_t(wrong.size())) ? fits : 0;
  };
  for (const OtherLargest& other : other_largest(blocks))
    if (const int64_t fits = fitting([&](const OutputBlock& b) { return scales.code(other.of(b)); }))
      return ScaleClaim{"wrong: what they are made of is " + other.text, fits, int64_t(wrong.size())};
  constexpr size_t kAsked = 512;
  std::vector<std::pair<double, double>> ranges;
  for (size_t i = 0; i < wrong.size(); i += wrong.size() / kAsked + 1)
    if (const OutputBlock& b = *wrong[i]; b.largest > 0 && std::isfinite(b.largest) && stored.stored(b) > 0)
      ranges.push_back(factors_of(scales, b.largest, stored.stored(b)));
  if (const std::optional<double> factor = common_number(ranges))
    if (const int64_t fits =
            fitting([&](const OutputBlock& b) { return scales.code(float(double(b.largest) * *factor)); }))
      return ScaleClaim{
          fmt::format("wrong: they are those of about {:.2g} times the largest magnitude of each block", *factor),
          fits, int64_t(wrong.size())};
  return std::nullopt;
}

}  // namespace sm100::sim::provenance
