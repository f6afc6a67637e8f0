// SPDX-License-Identifier: Apache-2.0
// Partial sums of parts of K that an epilogue adds up: which of them is missing, was added twice, or is another
// element's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/provenance/explainer.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

/// Elements by their place.
class ByPlace {
 public:
  ByPlace(const ElementSums& sums, int64_t rows, int64_t columns)
      : rows_(rows), columns_(columns), index_(size_t(rows * columns), -1) {
    for (size_t i = 0; i < sums.elements.size(); ++i)
      index_[size_t(sums.elements[i].row * columns + sums.elements[i].column)] = int64_t(i);
  }
  std::optional<size_t> at(int64_t row, int64_t column) const {
    if (row < 0 || row >= rows_ || column < 0 || column >= columns_) return std::nullopt;
    const int64_t i = index_[size_t(row * columns_ + column)];
    return i < 0 ? std::nullopt : std::optional(size_t(i));
  }

 private:
  int64_t rows_, columns_;
  std::vector<int64_t> index_;
};

}  // namespace

std::optional<int64_t> Explainer::length_of_parts(size_t p) const {
  std::set<int64_t> begins;
  for (const auto& [history, acc] : accumulators_)
    if (!record_.rewritten_by(history) && product_of(acc) == int(p) && acc.a.k.front() >= 0)
      begins.insert(acc.a.k.front());
  if (begins.size() < 2 || *begins.begin() != 0) return std::nullopt;
  const int64_t length = *std::next(begins.begin());
  const bool alike = std::all_of(begins.begin(), begins.end(), [&](int64_t k) { return k % length == 0; });
  return alike ? std::optional(length) : std::nullopt;
}

std::optional<Cause> Explainer::explain_partials(size_t p, const Watched& output, const models::Source& by) const {
  const host::ExpectedProduct& product = expected_.products[p];
  const std::optional<int64_t> length = length_of_parts(p);
  if (!length || !product.plain || product.block_scales) return std::nullopt;
  const int64_t columns = int64_t(product.c.pitch) * 8 / product.c.bits;
  const uint8_t* const c = bytes_(output.address, output.bytes);
  const DataType type = *product.plain;
  if (!c || output.grain > sizeof(uint32_t)) return std::nullopt;
  const ElementSums sums = sums_of(p, output, *length);
  const auto stored_at = [&](const ElementSums::Element& e) {
    uint32_t bits = 0;
    std::memcpy(&bits, c + uint64_t(e.row * columns + e.column) * output.grain, output.grain);
    return double(decode(type, bits));
  };
  std::vector<WrongValue> found;
  for (size_t i = 0; i < sums.elements.size(); ++i) {
    Guessed all;
    for (int part = 0; part < sums.parts; ++part)
      all.value += double(sums.of(i)[part]), all.size += std::abs(double(sums.of(i)[part]));
    const WrongValue w{sums.elements[i].row, sums.elements[i].column, stored_at(sums.elements[i]), i};
    if (!WrongElements::is_rounded(type, w.stored, all, 3)) found.push_back(w);
  }
  if (found.empty()) return std::nullopt;
  const WrongValue first = found.front();
  const WrongElements wrong(type, std::move(found));
  if (!wrong.are_enough()) return std::nullopt;

  const auto part_text = [&](int part) {
    return "k " + range_text(part * *length, std::min(product.k, (part + 1) * *length) - 1);
  };
  // An element with other parts: `times` its own part, or that of an element so far away.
  const auto with_part = [&](const WrongValue& w, int part, double other) {
    Guessed all{other, std::abs(other)};
    for (int q = 0; q < sums.parts; ++q)
      if (q != part)
        all.value += double(sums.of(w.element)[q]), all.size += std::abs(double(sums.of(w.element)[q]));
    return all;
  };
  for (int part = 0; part < sums.parts; ++part)
    for (const int times : {0, 2, -1}) {
      const char* const what = times == 0 ? "is missing" : times == 2 ? "was added twice" : "was subtracted";
      const Guess guess{fmt::format("the partial sum of {} {}", part_text(part), what),
                        [&](const WrongValue& w) -> std::optional<Guessed> {
                          return with_part(w, part, times * double(sums.of(w.element)[part]));
                        }};
      if (const int64_t explained = wrong.explained(guess); explained > 0)
        return cause_of(guess, wrong, explained, sums.all, by);
    }

  // Places may have been exchanged piece by piece: whose part it is, is asked of the wrong elements of one small
  // piece.
  constexpr int64_t kPiece = 8, kFarthest = 256;
  const ByPlace places(sums, product.c.rows, columns);
  const int64_t row0 = first.row / kPiece * kPiece, column0 = first.column / kPiece * kPiece;
  std::vector<WrongValue> piece;
  for (const WrongValue& w : wrong.values())
    if (w.row >= row0 && w.row < row0 + kPiece && w.column >= column0 && w.column < column0 + kPiece)
      piece.push_back(w);
  if (int64_t(piece.size()) * 4 < kPiece * kPiece) return std::nullopt;
  for (int part = 0; part < sums.parts; ++part)
    for (int64_t distance = 1; distance <= 2 * kFarthest; ++distance)
      for (int64_t down = -std::min(distance, kFarthest); down <= std::min(distance, kFarthest); ++down) {
        const int64_t aside = distance - std::abs(down);
        if (aside > kFarthest) continue;
        for (const int64_t right : {-aside, aside}) {
          const bool fits = std::all_of(piece.begin(), piece.end(), [&](const WrongValue& w) {
            const std::optional<size_t> other = places.at(w.row + down, w.column + right);
            return other &&
                   WrongElements::is_rounded(type, w.stored, with_part(w, part, double(sums.of(*other)[part])), 3);
          });
          if (!fits) continue;
          Cause cause{.id = "PV2", .at = by, .details = {}};
          cause.what = fmt::format(
              "the partial sums of {} are those of other elements: where those of rows {} and columns {} belong, "
              "those "
              "of rows {} and columns {} were added (the workspace's addresses, or the order of the registers), in "
              "a "
              "piece of {} wrong elements",
              part_text(part), range_text(row0, row0 + kPiece - 1), range_text(column0, column0 + kPiece - 1),
              range_text(row0 + down, row0 + down + kPiece - 1),
              range_text(column0 + right, column0 + right + kPiece - 1), grouped(wrong.count()));
          cause.details.push_back("what was multiplied is right, and so are the partial sums");
          return cause;
        }
      }
  return std::nullopt;
}

}  // namespace sm100::sim::provenance
