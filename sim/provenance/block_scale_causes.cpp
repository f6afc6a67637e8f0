// SPDX-License-Identifier: Apache-2.0
// Scales of blocks that an epilogue multiplies sums with: which of them are wrong, and how.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/provenance/block_scale_guesses.h"
#include "sim/provenance/explainer.h"

namespace sm100::sim::provenance {
namespace {

/// What the scales of all products take of the tensor that `own` is in.
ScaleValues::Range range_of_tensor(const std::vector<host::ExpectedProduct>& products,
                                   const host::ExpectedMatrix& own,
                                   host::ExpectedMatrix host::ExpectedBlockScales::*matrix, int64_t blocks) {
  ScaleValues::Range all = ScaleValues::range_of(own, blocks);
  for (const host::ExpectedProduct& product : products) {
    if (!product.block_scales) continue;
    const host::ExpectedMatrix& other = (*product.block_scales).*matrix;
    if (other.name != own.name || other.bits != own.bits || other.k_pitch != own.k_pitch) continue;
    const ScaleValues::Range range = ScaleValues::range_of(other, blocks);
    all.begin = std::min(all.begin, range.begin), all.end = std::max(all.end, range.end);
  }
  return all;
}

std::vector<OtherScales> scales_of_others(const std::vector<host::ExpectedProduct>& products, size_t but) {
  const host::ExpectedBlockScales& own = *products[but].block_scales;
  const auto apart = [](const host::ExpectedMatrix& from, const host::ExpectedMatrix& to) {
    return (int64_t(to.address) - int64_t(from.address)) * 8 / from.bits;
  };
  std::vector<OtherScales> all;
  for (size_t p = 0; p < products.size(); ++p)
    if (const auto& other = products[p].block_scales; p != but && other)
      all.push_back({products[p].name, apart(own.a, other->a), apart(own.b, other->b), other->factor});
  return all;
}

}  // namespace

std::optional<Cause> Explainer::explain_block_scales(size_t p, const Watched& output,
                                                     const models::Source& by) const {
  const host::ExpectedProduct& product = expected_.products[p];
  if (!product.block_scales) return std::nullopt;
  const host::ExpectedBlockScales& scales = *product.block_scales;
  const int64_t columns = int64_t(product.c.pitch) * 8 / product.c.bits, size = scales.size;
  const int64_t blocks = (product.k + size - 1) / size;
  const auto values_of =
      [&](host::ExpectedMatrix host::ExpectedBlockScales::*matrix) -> std::optional<ScaleValues> {
    const host::ExpectedMatrix& m = scales.*matrix;
    ScaleValues::Range range = range_of_tensor(expected_.products, m, matrix, blocks);
    const uint8_t* bytes = bytes_(range.begin, range.end - range.begin);
    if (!bytes) range = ScaleValues::range_of(m, blocks), bytes = bytes_(range.begin, range.end - range.begin);
    return bytes && m.type ? std::optional(ScaleValues(m, blocks, range, bytes)) : std::nullopt;
  };
  const uint8_t* const c = bytes_(output.address, output.bytes);
  const std::optional<ScaleValues> a = values_of(&host::ExpectedBlockScales::a),
                                   b = values_of(&host::ExpectedBlockScales::b);
  if (!c || !a || !b) return std::nullopt;

  // Accumulators may have pieces of a block.
  ElementSums sums;
  int64_t per_block = 4;
  for (; per_block >= 1; per_block /= 2)
    if (size % per_block == 0)
      if (sums = sums_of(p, output, size / per_block); !sums.elements.empty()) break;
  if (sums.elements.empty()) return std::nullopt;
  const ScaledSums scaled(scales, sums, per_block, *a, *b);
  std::vector<WrongValue> found;
  for (size_t i = 0; i < sums.elements.size(); ++i) {
    const ElementSums::Element& e = sums.elements[i];
    const WrongValue w{e.row, e.column, decoded_at(scales.output, c, e.row * columns + e.column), i};
    const std::optional<Guessed> right = scaled.right(w);
    if (right && !WrongElements::is_rounded(scales.output, w.stored, *right, 3)) found.push_back(w);
  }
  const WrongElements wrong(scales.output, std::move(found));
  constexpr size_t kFewestRows = 8;  // one scale may be found anywhere
  if (!wrong.are_enough() || wrong.rows().size() < kFewestRows) return std::nullopt;

  std::optional<Cause> cause;
  const BlockScaleGuesses guesses(scaled, scales.factor_name, scales_of_others(expected_.products, p));
  guesses.any(wrong, [&](const Guess& guess) {
    const int64_t explained = wrong.explained(guess);
    if (explained == 0) return false;
    cause = cause_of(guess, wrong, explained, sums.all, by);
    return true;
  });
  // A copy of them that begins behind the last block of K: its coordinate is wrong, whoever reads what it brings.
  if (cause && cause->what.find("of other blocks of K") != std::string::npos)
    for (const Box& box : record_.boxes()) {
      if (box.by != Box::By::tensor_copy || !in_launch_(box.source.cta) || beyond_text(box).empty()) continue;
      for (const host::ExpectedProduct& other : expected_.products) {
        if (!other.block_scales || (box.map.global_address != other.block_scales->a.address &&
                                    box.map.global_address != other.block_scales->b.address))
          continue;
        cause->details.insert(
            cause->details.begin(),
            fmt::format("loaded by {}, {}: its coordinate along K is wrong", who_(box.source), place_of(box)));
        cause->at = box.source;
        return cause;
      }
    }
  return cause;
}

}  // namespace sm100::sim::provenance
