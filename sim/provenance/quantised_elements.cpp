// SPDX-License-Identifier: Apache-2.0
// Elements of a quantised output that are wrong though their scales are right: what they were multiplied by.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/provenance/output_scale_guesses.h"

namespace sm100::sim::provenance {
namespace {

/// The numbers of a type that is quantised to.
class Quantised {
 public:
  explicit Quantised(DataType type) {
    const uint32_t codes = type == DataType::e2m1 ? 8 : 128;  // without those that have a sign
    for (uint32_t code = 0; code < codes; ++code)
      if (const double value = double(decode(type, code)); std::isfinite(value)) magnitudes_.push_back(value);
  }
  double largest() const { return magnitudes_.back(); }

  /// A number that is stored may be that, rounded.
  bool is_rounded(double stored, double value) const {
    constexpr double kInFactor = 4e-6;  // of approximate reciprocals
    if (!std::isfinite(value)) return false;
    return stored == rounded(value * (1 - kInFactor)) || stored == rounded(value * (1 + kInFactor));
  }

  /// The magnitudes that are rounded to this one.
  std::pair<double, double> range_of(double magnitude) const {
    const auto at = std::lower_bound(magnitudes_.begin(), magnitudes_.end(), magnitude);
    if (at == magnitudes_.end()) return {1, 0};
    return {at == magnitudes_.begin() ? 0 : (*(at - 1) + *at) / 2,
            at + 1 == magnitudes_.end() ? std::numeric_limits<double>::max() : (*at + *(at + 1)) / 2};
  }

 private:
  /// The nearest, of two the one with an even code.
  double rounded(double value) const {
    const double x = std::abs(value);
    const auto above = std::lower_bound(magnitudes_.begin(), magnitudes_.end(), x);
    auto nearest = above;
    if (above == magnitudes_.end())
      nearest = above - 1;
    else if (above != magnitudes_.begin()) {
      const double up = *above - x, down = x - *(above - 1);
      if (down < up || (down == up && (above - magnitudes_.begin()) % 2 != 0)) nearest = above - 1;
    }
    return std::copysign(*nearest, value);
  }

  std::vector<double> magnitudes_;  ///< by code
};

/// What an element may have become; nothing: nobody knows.
struct ElementGuess {
  std::string text;
  std::function<std::optional<double>(const WrongValue&)> value;
  int half = 0;  ///< of elements that change places: how far apart they are
};

class ElementGuesses {
 public:
  ElementGuesses(const OutputBlocks& blocks, const Quantised& quantised)
      : blocks_(blocks), scales_(blocks.scales()), quantised_(quantised) {
    add_factors();
    add_other_factors();
    add_other_elements();
  }
  const std::vector<ElementGuess>& all() const { return all_; }

  std::optional<double> right(const WrongValue& w) const {
    const OutputBlock* block = blocks_.of(w.row, w.column);
    return block ? std::optional(*blocks_.value(w.row, w.column) * double(scales_.factor(block->code)))
                 : std::nullopt;
  }

 private:
  /// @param made  of the number ahead of its conversion, what it should be multiplied by, and its block
  template <class F>
  void add(std::string text, F made) {
    all_.push_back({std::move(text), [this, made](const WrongValue& w) -> std::optional<double> {
                      const OutputBlock* block = blocks_.of(w.row, w.column);
                      if (!block) return std::nullopt;
                      return made(*blocks_.value(w.row, w.column), double(scales_.factor(block->code)), *block);
                    }});
  }

  void add_factors() {
    const double norm = scales_.norm, alpha = scales_.alpha, largest = quantised_.largest();
    const auto times = [&](std::string text, double by) {
      if (by != 1 && std::isfinite(by))
        add(std::move(text), [by](double x, double factor, const OutputBlock&) { return x * factor * by; });
    };
    times(fmt::format("they are 1 / {0:g} of what they should be: norm ({0:g}) is missing from what they are "
                      "multiplied by",
                      norm),
          1 / norm);
    times(fmt::format("they are {0:g} times what they should be: they were multiplied by norm ({0:g}) twice", norm),
          norm);
    times(fmt::format("they were divided by norm ({:g}), and must be multiplied by it", norm), 1 / (norm * norm));
    times(fmt::format("alpha ({:g}) is missing from them, and is in the scales", alpha), 1 / alpha);
    times(fmt::format("they were multiplied by alpha ({:g}) twice", alpha), alpha);
    times(fmt::format("they were multiplied by the type's largest number ({:g}) too", largest), largest);
    times(fmt::format("they were divided by the type's largest number ({:g}) too", largest), 1 / largest);
    add("they are not multiplied by what belongs to their block's scale",
        [](double x, double, const OutputBlock&) { return x; });
    if (norm != 1)
      add(fmt::format("they were multiplied by norm ({:g}) alone, without their block's scale", norm),
          [norm](double x, double, const OutputBlock&) { return x * norm; });
    add("they were multiplied by their block's scale, where they must be divided by it",
        [norm](double x, double factor, const OutputBlock&) { return x * norm * norm / factor; });
    if (norm != 1)
      add("they were multiplied by their block's scale, where they must be divided by it, and norm is missing",
          [norm](double x, double factor, const OutputBlock&) { return x * norm / factor; });
    add("they were divided by the scale before it was rounded, which no reader knows",
        [largest](double x, double, const OutputBlock& b) { return x * largest / double(b.largest); });
    add("their sign is lost", [](double x, double factor, const OutputBlock&) { return std::abs(x * factor); });
    add("their sign is wrong", [](double x, double factor, const OutputBlock&) { return -x * factor; });
    add("they are zero", [](double, double, const OutputBlock&) { return 0.0; });
  }

  /// Of other blocks.
  void add_other_factors() {
    const auto of_block = [&](std::string text, auto row, auto block) {
      all_.push_back({std::move(text), [this, row, block](const WrongValue& w) -> std::optional<double> {
                        const OutputBlock* own = blocks_.of(w.row, w.column);
                        const OutputBlock* other = own ? blocks_.at(row(*own), block(*own)) : nullptr;
                        if (!other) return std::nullopt;
                        return *blocks_.value(w.row, w.column) * double(scales_.factor(other->code));
                      }});
    };
    const auto own_row = [](const OutputBlock& b) { return b.row; };
    const auto own_block = [](const OutputBlock& b) { return b.block; };
    const char* const unit = scales_.along_columns ? "column" : "row";
    for (const int by : {1, -1, 2, -2})
      of_block(fmt::format("they were divided by the scale of the block {} {}", std::abs(by),
                           by < 0 ? "before" : "behind"),
               own_row, [by](const OutputBlock& b) { return b.block + by; });
    for (const int count : {2, 4, 8}) {
      of_block(fmt::format("all of each {} blocks were divided by the scale of the first", count), own_row,
               [count](const OutputBlock& b) { return b.block - b.block % count; });
      of_block(fmt::format("all of each {} blocks were divided by the scale of the last", count), own_row,
               [count](const OutputBlock& b) { return b.block - b.block % count + count - 1; });
    }
    of_block("of each two blocks the scales have changed places where elements are divided by them", own_row,
             [](const OutputBlock& b) { return b.block ^ 1; });
    for (const int by : {1, 2, 4, 8, 16, 32, 64, 128})
      of_block(
          fmt::format("they were divided by the scale of the {0} that changes places with theirs, {1} apart", unit,
                      by),
          [by](const OutputBlock& b) { return b.row ^ by; }, own_block);
    for (const int width : {2, 4, 8, 16, 32})
      of_block(
          fmt::format("each {} {}s were divided by the scale of their first", width, unit),
          [width](const OutputBlock& b) { return b.row - b.row % width; }, own_block);
  }

  /// Right numbers in other places.
  void add_other_elements() {
    for (const int by : {1, 2, 4, 8, 16, 32})
      all_.push_back({fmt::format("of each {} elements of a row the first {} and the last have changed places",
                                  2 * by, by == 1 ? "one" : fmt::format("{}", by)),
                      [this, by](const WrongValue& w) -> std::optional<double> {
                        const OutputBlock* block = blocks_.of(w.row, w.column ^ by);
                        const std::optional<double> x = blocks_.value(w.row, w.column ^ by);
                        return block && x ? std::optional(*x * double(scales_.factor(block->code))) : std::nullopt;
                      },
                      by});
  }

  const OutputBlocks& blocks_;
  const host::ExpectedOutputScales& scales_;
  const Quantised& quantised_;
  std::vector<ElementGuess> all_;
};

}  // namespace

std::vector<WrongValue> find_wrong_elements(const OutputBlocks& blocks, const ElementSums& sums,
                                            const std::function<double(const ElementSums::Element&)>& stored) {
  std::vector<WrongValue> wrong;
  if (!blocks.scales().factor) return wrong;
  const Quantised quantised(blocks.scales().output);
  const ElementGuesses guesses(blocks, quantised);
  for (size_t i = 0; i < sums.elements.size(); ++i) {
    const ElementSums::Element& e = sums.elements[i];
    const WrongValue w{e.row, e.column, stored(e), i};
    if (const std::optional<double> right = guesses.right(w);
        right && std::isfinite(*right) && !quantised.is_rounded(w.stored, *right))
      wrong.push_back(w);
  }
  return wrong;
}

bool elements_follow_scales(const StoredScales& scales, const ElementSums& sums,
                            const std::function<double(const ElementSums::Element&)>& element) {
  const OutputBlocks& blocks = scales.blocks;
  if (!blocks.scales().factor) return false;
  const Quantised quantised(blocks.scales().output);
  int64_t fits = 0, misses = 0;
  for (const ElementSums::Element& e : sums.elements) {
    const OutputBlock* const block = blocks.of(e.row, e.column);
    if (!block || !scales.is_wrong(*block) || !scales.is_delivered(scales.place_of(*block))) continue;
    const double x = *blocks.value(e.row, e.column), stored = element(e);
    const double by_stored = x * double(blocks.scales().factor(scales.stored(*block))),
                 by_right = x * double(blocks.scales().factor(block->code));
    if (!std::isfinite(by_stored) ||
        quantised.is_rounded(stored, by_stored) == quantised.is_rounded(stored, by_right))
      continue;
    ++(quantised.is_rounded(stored, by_stored) ? fits : misses);
  }
  return are_nearly_all(fits, fits + misses);
}

std::optional<ScaleClaim> wrong_quantised_elements(const OutputBlocks& blocks,
                                                   const std::vector<WrongValue>& wrong) {
  const host::ExpectedOutputScales& scales = blocks.scales();
  const Quantised quantised(scales.output);
  const ElementGuesses guesses(blocks, quantised);
  const auto fitting = [&](auto value) {
    int64_t fits = 0, misses = 0, unknown = 0;
    for (const WrongValue& w : wrong) {
      const std::optional<double> x = value(w);
      if (!x) {
        ++unknown;
        continue;
      }
      const bool same = quantised.is_rounded(w.stored, *x);
      fits += same, misses += !same;
      if (misses > 8 && misses * 8 > fits) return int64_t{0};
    }
    return unknown * 4 <= int64_t(wrong.size()) && are_nearly_all(fits, fits + misses) ? fits : 0;
  };
  for (const ElementGuess& guess : guesses.all())
    if (const int64_t fits = fitting(guess.value)) {
      // Only the last of each: nobody has changed places with them.
      const auto of_last = [&](int half) {
        return std::all_of(wrong.begin(), wrong.end(), [&](const WrongValue& w) { return (w.column & half) != 0; });
      };
      if (guess.half > 0 && of_last(guess.half))
        return ScaleClaim{fmt::format("of each {} elements of a row the last {} hold those of the first {}",
                                      2 * guess.half, guess.half, guess.half),
                          fits, int64_t(wrong.size())};
      return ScaleClaim{guess.text, fits, int64_t(wrong.size())};
    }
  constexpr size_t kAsked = 8192;
  std::vector<std::pair<double, double>> ranges;
  for (size_t i = 0; i < wrong.size(); i += wrong.size() / kAsked + 1) {
    const WrongValue& w = wrong[i];
    const std::optional<double> right = guesses.right(w);
    if (!right || *right == 0 || !std::isfinite(*right) || !std::isfinite(w.stored)) continue;
    const auto [low, high] = quantised.range_of(std::abs(w.stored));
    const bool same_sign = w.stored == 0 || (w.stored < 0) == (*right < 0);
    ranges.emplace_back(same_sign ? low / std::abs(*right) : 1, same_sign ? high / std::abs(*right) : 0);
  }
  if (const std::optional<double> factor = common_number(ranges))
    if (const int64_t fits = fitting([&](const WrongValue& w) -> std::optional<double> {
          const std::optional<double> right = guesses.right(w);
          return right ? std::optional(*right * *factor) : std::nullopt;
        }))
      return ScaleClaim{
          fmt::format("they are {:.4g} times what they should be: what they are multiplied by is wrong", *factor),
          fits, int64_t(wrong.size())};
  return std::nullopt;
}

}  // namespace sm100::sim::provenance
