// SPDX-License-Identifier: Apache-2.0
// Scales of blocks that were taken from another place.
#include "sim/provenance/block_scale_guesses.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/provenance/moved_elements.h"
#include "sim/provenance/other_numbers.h"
#include "sim/text.h"

namespace sm100::sim::provenance {

namespace {

using ScaleIndex = std::optional<int64_t>;
constexpr int64_t kFarthestScale = 1024;

}  // namespace

const char* BlockScaleGuesses::name(Whose whose) {
  return whose == Whose::a ? "A's scales" : whose == Whose::b ? "B's scales" : "the scales of A and B";
}

bool BlockScaleGuesses::tell(const Told& told, std::string what, ScaleOf a, ScaleOf b, uint64_t reads) const {
  return told({std::move(what),
               [this, a = std::move(a), b = std::move(b)](const WrongValue& w) { return sums_.of(w, a, b); },
               reads});
}

template <class F>
bool BlockScaleGuesses::tell_a(const Told& told, std::string what, F index) const {
  return tell(
      told, std::move(what),
      [this, index](const WrongValue& w, int64_t part) -> std::optional<double> {
        const ScaleIndex i = index(w, part);
        return i ? sums_.a().at(*i) : std::nullopt;
      },
      sums_.right_b(), sums_.a().address());
}

template <class F>
bool BlockScaleGuesses::tell_b(const Told& told, std::string what, F index) const {
  return tell(
      told, std::move(what), sums_.right_a(),
      [this, index](const WrongValue& w, int64_t part) -> std::optional<double> {
        const ScaleIndex i = index(w, part);
        return i ? sums_.b().at(*i) : std::nullopt;
      },
      sums_.b().address());
}

bool BlockScaleGuesses::any(const WrongElements& wrong, const Told& told) const {
  return other_sums(told) || other_order(told) || parts_of_k(told) || other_types(told) || other_products(told) ||
         tell_moved(
             sums_.sums(), wrong, [this](const WrongValue& w) { return sums_.right(w); }, told) ||
         other_rows(wrong, told) || other_columns(told) || other_blocks_of_k(told) || other_pitches(told) ||
         other_factor(wrong, told) || tell_fitted_scales(sums_, wrong, others_, told);
}

bool BlockScaleGuesses::other_products(const Told& told) const {
  for (const OtherScales& other : others_)
    if ((other.b != 0 && tell_b(told, fmt::format("B's scales are those of {}", other.of),
                                [&](const WrongValue& w, int64_t part) -> ScaleIndex {
                                  return sums_.index_of_b(w, part) + other.b;
                                })) ||
        (other.a != 0 && tell_a(told, fmt::format("A's scales are those of {}", other.of),
                                [&](const WrongValue& w, int64_t part) -> ScaleIndex {
                                  return sums_.index_of_a(w, part) + other.a;
                                })))
      return true;
  return false;
}

bool BlockScaleGuesses::other_rows(const WrongElements& wrong, const Told& told) const {
  const int64_t rows = sums_.a().rows();
  const std::string rows_text = numbers_text(wrong.rows(), "row");
  const auto of_row = [&](std::string what, auto row) {
    return tell_a(told, std::move(what), [this, row](const WrongValue& w, int64_t part) -> ScaleIndex {
      return sums_.a().index(row(w), sums_.block_of(part));
    });
  };
  // Beyond the product's rows lie those of others, or of nobody.
  for (int64_t distance = 1; distance < std::max<int64_t>(std::min(rows, kFarthestScale), 256); ++distance)
    for (const int64_t by : {-distance, distance})
      if (of_row(fmt::format("{} take A's scales of other rows: row r takes those of row r {} {}", rows_text,
                             by < 0 ? '-' : '+', distance),
                 [by](const WrongValue& w) { return w.row + by; }))
        return true;
  for (int64_t width = 8; width < rows; width *= 2)
    if (of_row(fmt::format("{} take A's scales of other rows: row r takes those of row r mod {}", rows_text, width),
               [width](const WrongValue& w) { return w.row % width; }) ||
        of_row(fmt::format("each {} rows take the scales of A of their first row", width),
               [width](const WrongValue& w) { return w.row - w.row % width; }))
      return true;
  for (const OtherNumber& place : other_numbers(wrong.rows(), NumbersOf::rows(rows)))
    if (of_row(with_term(place.text, {"the scales of A", true, "taken"}), place.of)) return true;
  return of_row("A's scales were taken by the column's number, where the row's belongs",
                [](const WrongValue& w) { return w.column; });
}

bool BlockScaleGuesses::other_columns(const Told& told) const {
  const int64_t size = sums_.size(), blocks = sums_.b().rows();
  const auto of_block = [&](const std::string& taken, auto block) {
    const std::string what = fmt::format(
        "B's scales of another block of columns were taken: {}, where that of the column (column / {}) belongs",
        taken, size);
    // Blocks that there are not lie beyond the table, or a guard leaves zeros.
    for (const bool zeros : {false, true})
      if (tell(
              told, what + (zeros ? ", and zeros for blocks that there are not" : ""), sums_.right_a(),
              [this, block, blocks, zeros](const WrongValue& w, int64_t part) -> std::optional<double> {
                const int64_t j = block(w);
                if (j < 0 || j >= blocks) return zeros ? std::optional(0.0) : std::nullopt;
                return sums_.b().at(sums_.b().index(j, sums_.block_of(part)));
              },
              sums_.b().address()))
        return true;
    return false;
  };
  for (int64_t distance = 1; distance < blocks; ++distance)
    for (const int64_t by : {-distance, distance})
      if (of_block(fmt::format("the block {} {}", distance, by < 0 ? "before" : "behind"),
                   [=](const WrongValue& w) { return w.column / size + by; }))
        return true;
  if (of_block(fmt::format("that of the row (row / {})", size), [=](const WrongValue& w) { return w.row / size; }))
    return true;
  for (const int64_t other : {2, 4, 8})
    if (of_block(fmt::format("block column / {}", size * other),
                 [=](const WrongValue& w) { return w.column / (size * other); }) ||
        (size % other == 0 && of_block(fmt::format("block column / {}", size / other),
                                       [=](const WrongValue& w) { return w.column / (size / other); })))
      return true;
  for (int64_t block = 0; block < std::min(blocks, kFarthestScale); ++block)
    if (of_block(fmt::format("block {} for all", block), [=](const WrongValue&) { return block; })) return true;
  // The tile's number for the block's, and the other way round.
  for (int64_t width = 8; width <= 4 * size; width += 8)
    if (width != size &&
        of_block(fmt::format("block column / {}", width), [=](const WrongValue& w) { return w.column / width; }))
      return true;
  return of_block("the block in the reverse order",
                  [=](const WrongValue& w) { return blocks - 1 - w.column / size; });
}

bool BlockScaleGuesses::other_pitches(const Told& told) const {
  const ScaleValues &a = sums_.a(), &b = sums_.b();
  const int64_t size = sums_.size();
  for (int64_t pitch = 1; pitch <= 2 * a.block_pitch() && pitch <= 2 * kFarthestScale; ++pitch)
    if (pitch != a.block_pitch() &&
        tell_a(told,
               fmt::format(
                   "A's scales of other blocks of K were taken: blocks lie {} scales apart, and {} were assumed",
                   grouped(a.block_pitch()), grouped(pitch)),
               [&, pitch](const WrongValue& w, int64_t part) -> ScaleIndex {
                 return w.row + sums_.block_of(part) * pitch;
               }))
      return true;
  for (int64_t pitch = 1; pitch <= 2 * std::max(b.row_pitch(), b.rows()) && pitch <= 2 * kFarthestScale; ++pitch)
    if ((pitch != b.row_pitch() &&
         tell_b(told,
                fmt::format("B's scales of other blocks were taken: the pitch of a row of them is {}, and {}{} was "
                            "assumed",
                            grouped(b.row_pitch()), grouped(pitch),
                            pitch == b.rows() ? ", the number of blocks of columns," : ""),
                [&, pitch](const WrongValue& w, int64_t part) -> ScaleIndex {
                  return w.column / size * pitch + sums_.block_of(part);
                })) ||
        tell_b(told, fmt::format("B's scales were taken from their transpose, with a pitch of {}", grouped(pitch)),
               [&, pitch](const WrongValue& w, int64_t part) -> ScaleIndex {
                 return sums_.block_of(part) * pitch + w.column / size;
               }))
      return true;
  return false;
}

template <class F>
bool BlockScaleGuesses::of_blocks(const Told& told, const std::string& what, F block) const {
  const ScaleValues &a = sums_.a(), &b = sums_.b();
  const int64_t blocks = b.blocks();
  /// What comes of a block that K does not have.
  enum class End : uint8_t { memory, zeros, last };
  const auto taken = [blocks](const ScaleValues& values, int64_t row, int64_t k, End end) -> std::optional<double> {
    const bool outside = k < 0 || k >= blocks;
    if (outside && end == End::zeros) return 0.0;
    if (end == End::last) k = std::clamp<int64_t>(k, 0, blocks - 1);
    return values.at(values.index(row, k));
  };
  bool leaves = false;
  for (int64_t part = 0; part < sums_.parts(); ++part) {
    const int64_t k = block(part);
    leaves = leaves || k < 0 || k >= blocks;
  }
  for (const End end : {End::memory, End::zeros, End::last}) {
    if (end != End::memory && !leaves) break;
    const char* const at_end = !leaves             ? ""
                               : end == End::zeros ? ", zeros beyond the end"
                               : end == End::last  ? ", the last or first again beyond the end"
                                                   : ", what lies there in memory beyond the end";
    const ScaleOf of_a = [=, &a](const WrongValue& w, int64_t part) { return taken(a, w.row, block(part), end); };
    const ScaleOf of_b = [=, &b, size = sums_.size()](const WrongValue& w, int64_t part) {
      return taken(b, w.column / size, block(part), end);
    };
    for (const Whose whose : {Whose::a, Whose::b, Whose::both})
      if (tell(told,
               fmt::format("{} of other blocks of K were taken: {} where those of block k belong{}", name(whose),
                           what, at_end),
               whose == Whose::b ? sums_.right_a() : of_a, whose == Whose::a ? sums_.right_b() : of_b,
               whose == Whose::b ? b.address() : a.address()))
        return true;
  }
  return false;
}

bool BlockScaleGuesses::other_blocks_of_k(const Told& told) const {
  const int64_t blocks = sums_.b().blocks(), per_block = sums_.parts_per_block();
  const auto of = [&](const std::string& what, auto other) {
    return of_blocks(told, what, [=](int64_t part) { return other(part / per_block); });
  };
  if (per_block > 1 &&
      of_blocks(told, fmt::format("those of block t for piece t of K, of {} pieces in a block", per_block),
                [](int64_t part) { return part; }))
    return true;
  if (blocks > 1)
    for (int64_t block = 0; block < blocks; ++block)
      if (of(fmt::format("those of block {} for all", block), [=](int64_t) { return block; })) return true;
  for (int64_t distance = 1; distance < blocks; ++distance)
    for (const int64_t by : {-distance, distance})
      if (of(fmt::format("those of block k {} {}", by < 0 ? '-' : '+', distance),
             [=](int64_t k) { return k + by; }) ||
          (distance * 2 <= blocks &&
           of(fmt::format("those of block k {} {}, round the end,", by < 0 ? '-' : '+', distance),
              [=](int64_t k) { return (k + by + blocks) % blocks; })))
        return true;
  for (int64_t stages = 2; stages < std::min<int64_t>(blocks, 16); ++stages)
    if (of(fmt::format("those of block k mod {}", stages), [=](int64_t k) { return k % stages; })) return true;
  for (const int64_t by : {2, 4})
    if (of(fmt::format("those of block k / {}", by), [=](int64_t k) { return k / by; }) ||
        of(fmt::format("those of block {} * k", by), [=](int64_t k) { return k * by; }))
      return true;
  return of("those of the neighbour (k xor 1)", [](int64_t k) { return k ^ 1; }) ||
         of("those in the reverse order", [=](int64_t k) { return blocks - 1 - k; });
}

}  // namespace sm100::sim::provenance
