// SPDX-License-Identifier: Apache-2.0
// Scales of blocks that an epilogue multiplies sums with: whose scales were taken.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/provenance/explainer.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

/// Scales as f64, by row and block of K, or as one likes to read them.
struct ScaleValues {
  std::vector<double> of;  ///< in the order of memory
  int64_t row_pitch = 1, block_pitch = 1;

  std::optional<double> at(int64_t i) const {
    return i >= 0 && i < int64_t(of.size()) ? std::optional(of[size_t(i)]) : std::nullopt;
  }
  int64_t index(int64_t row, int64_t block) const { return row * row_pitch + block * block_pitch; }
};

ScaleValues values_of(const host::ExpectedMatrix& m, const uint8_t* bytes, int64_t count) {
  ScaleValues values;
  const size_t size = size_t(m.bits) / 8;
  values.row_pitch = int64_t(m.pitch) / int64_t(size);
  values.block_pitch = m.along_k() ? 1 : int64_t(m.k_pitch) / int64_t(size);
  for (int64_t i = 0; i < count; ++i) {
    uint32_t bits = 0;
    std::memcpy(&bits, bytes + size_t(i) * size, size);
    values.of.push_back(double(decode(*m.type, bits)));
  }
  return values;
}

using IndexOf = std::function<int64_t(const WrongValue&, int64_t block)>;

/// An element of scaled sums.
/// @param a, b  which of the scales was taken; empty: none was
std::optional<Guessed> scaled_sum(const ElementSums& sums, const WrongValue& w, const ScaleValues& a,
                                  const IndexOf& a_index, const ScaleValues& b, const IndexOf& b_index) {
  Guessed sum;
  for (int block = 0; block < sums.parts; ++block) {
    const std::optional<double> of_a = a_index ? a.at(a_index(w, block)) : std::optional(1.0),
                                of_b = b_index ? b.at(b_index(w, block)) : std::optional(1.0);
    if (!of_a || !of_b) return std::nullopt;
    const double part = double(sums.of(w.element)[block]) * *of_a * *of_b;
    sum.value += part, sum.size += std::abs(part);
  }
  return sum;
}

}  // namespace

std::optional<Cause> Explainer::explain_block_scales(size_t p, const Watched& output,
                                                     const models::Source& by) const {
  const host::ExpectedProduct& product = expected_.products[p];
  if (!product.block_scales) return std::nullopt;
  const host::ExpectedBlockScales& scales = *product.block_scales;
  const int64_t columns = int64_t(product.c.pitch) * 8 / product.c.bits, rows = product.c.rows, size = scales.size;
  const int64_t k_blocks = (product.k + size - 1) / size;
  const uint64_t a_bytes = uint64_t(k_blocks) * scales.a.k_pitch,
                 b_bytes = uint64_t(scales.b.rows) * scales.b.pitch;
  const uint8_t *c = bytes_(output.address, output.bytes), *a_at = bytes_(scales.a.address, a_bytes),
                *b_at = bytes_(scales.b.address, b_bytes);
  if (!c || !a_at || !b_at || !scales.a.type || !scales.b.type) return std::nullopt;
  const ScaleValues a = values_of(scales.a, a_at, int64_t(a_bytes) * 8 / scales.a.bits),
                    b = values_of(scales.b, b_at, int64_t(b_bytes) * 8 / scales.b.bits);
  const IndexOf right_a = [&](const WrongValue&w, int64_t k) { return a.index(w.row, k); },
                right_b = [&](const WrongValue&w, int64_t k) { return b.index(w.column / size, k); };

  const ElementSums sums = sums_of(p, output, size);
  std::vector<WrongValue> found;
  for (size_t i = 0; i < sums.elements.size(); ++i) {
    const ElementSums::Element& e = sums.elements[i];
    uint32_t bits = 0;
    std::memcpy(&bits, c + uint64_t(e.row * columns + e.column) * output.grain, output.grain);
    const WrongValue w{e.row, e.column, double(decode(scales.output, bits)), i};
    const std::optional<Guessed> right = scaled_sum(sums, w, a, right_a, b, right_b);
    if (right && !WrongElements::is_rounded(scales.output, w.stored, *right, 3)) found.push_back(w);
  }
  const WrongElements wrong(scales.output, std::move(found));
  constexpr size_t kFewestRows = 8;  // one scale may be found anywhere
  if (!wrong.are_enough() || wrong.rows().size() < kFewestRows) return std::nullopt;

  std::optional<Cause> cause;
  const auto told = [&](const std::string& what, const IndexOf& of_a, const IndexOf& of_b, uint64_t reads) {
    const Guess guess{what, [&](const WrongValue& w) { return scaled_sum(sums, w, a, of_a, b, of_b); }, reads};
    const int64_t explained = wrong.explained(guess);
    if (explained > 0) cause = cause_of(guess, wrong, explained, sums.all, by);
    return explained > 0;
  };
  const auto told_a = [&](const std::string& what, const IndexOf& of) {
    return told(what, of, right_b, scales.a.address);
  };
  const auto told_b = [&](const std::string& what, const IndexOf& of) {
    return told(what, right_a, of, scales.b.address);
  };
  if (told("the sums are not multiplied by the scales of A", {}, right_b, 0) ||
      told("the sums are not multiplied by the scales of B", right_a, {}, 0) ||
      told("the sums are not multiplied by scales", {}, {}, 0))
    return cause;

  const std::string rows_text = numbers_text(wrong.rows(), "row");
  constexpr int64_t kFarthest = 1024;
  for (int64_t distance = 1; distance < std::min(rows, kFarthest); ++distance)
    for (const int64_t by : {-distance, distance})
      if (told_a(fmt::format("{} take A's scales of other rows: row r takes those of row r {} {}", rows_text,
                             by < 0 ? '-' : '+', distance),
                 [&, by](const WrongValue& w, int64_t k) {
                   const int64_t row = w.row + by;
                   return row < 0 || row >= rows ? -1 : a.index(row, k);
                 }))
        return cause;
  for (int64_t width = 8; width < rows; width *= 2)
    if (told_a(fmt::format("{} take A's scales of other rows: row r takes those of row r mod {}", rows_text, width),
               [&, width](const WrongValue& w, int64_t k) { return a.index(w.row % width, k); }) ||
        told_a(fmt::format("each {} rows take the scales of A of their first row", width),
               [&, width](const WrongValue& w, int64_t k) { return a.index(w.row - w.row % width, k); }))
      return cause;

  const auto block_text = [&](const std::string& taken) {
    return fmt::format(
        "B's scales of another block of columns were taken: {}, where that of the column "
        "(column / {}) belongs",
        taken, size);
  };
  for (int64_t distance = 1; distance < scales.b.rows; ++distance)
    for (const int64_t by : {-distance, distance})
      if (told_b(block_text(fmt::format("the block {} {}", distance, by < 0 ? "before" : "behind")),
                 [&, by](const WrongValue& w, int64_t k) {
                   const int64_t block = w.column / size + by;
                   return block < 0 || block >= scales.b.rows ? -1 : b.index(block, k);
                 }))
        return cause;
  if (told_b(block_text(fmt::format("that of the row (row / {})", size)),
             [&](const WrongValue& w, int64_t k) { return b.index(w.row / size, k); }))
    return cause;
  for (const int64_t other : {2, 4, 8})
    if (told_b(block_text(fmt::format("block column / {}", size * other)),
               [&, other](const WrongValue& w, int64_t k) { return b.index(w.column / (size * other), k); }) ||
        (size % other == 0 && told_b(block_text(fmt::format("block column / {}", size / other)),
                                     [&, other](const WrongValue& w, int64_t k) {
                                       const int64_t block = w.column / (size / other);
                                       return block >= scales.b.rows ? -1 : b.index(block, k);
                                     })))
      return cause;
  for (int64_t block = 0; block < std::min<int64_t>(scales.b.rows, kFarthest); ++block)
    if (told_b(block_text(fmt::format("block {} for all", block)),
               [&, block](const WrongValue&, int64_t k) { return b.index(block, k); }))
      return cause;

  for (int64_t pitch = 1; pitch <= 2 * a.block_pitch && pitch <= 2 * kFarthest; ++pitch)
    if (pitch != a.block_pitch &&
        told_a(fmt::format(
                   "A's scales of other blocks of K were taken: blocks lie {} scales apart, and {} were assumed",
                   grouped(a.block_pitch), grouped(pitch)),
               [pitch](const WrongValue& w, int64_t k) { return w.row + k * pitch; }))
      return cause;
  for (int64_t pitch = 1; pitch <= 2 * std::max<int64_t>(b.row_pitch, scales.b.rows) && pitch <= 2 * kFarthest;
       ++pitch)
    if ((pitch != b.row_pitch &&
         told_b(fmt::format(
                    "B's scales of other blocks were taken: the pitch of a row of them is {}, and {} was assumed",
                    grouped(b.row_pitch), grouped(pitch)),
                [pitch, size](const WrongValue& w, int64_t k) { return w.column / size * pitch + k; })) ||
        told_b(fmt::format("B's scales were taken from their transpose, with a pitch of {}", grouped(pitch)),
               [pitch, size](const WrongValue& w, int64_t k) { return k * pitch + w.column / size; }))
      return cause;
  return std::nullopt;
}

}  // namespace sm100::sim::provenance
