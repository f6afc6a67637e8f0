// SPDX-License-Identifier: Apache-2.0
// Scales of the output that were stored where others belong.
#include <fmt/format.h>

#include <algorithm>

#include "kernels/isa/scale_layout.h"
#include "sim/provenance/output_scale_guesses.h"

namespace sm100::sim::provenance {
namespace {

/// Where a kernel may have stored scales: offset of a row's block; -1: nowhere.
struct OtherStore {
  std::string text;
  std::function<int64_t(int row, int block)> offset;
  bool overwrites = false;  ///< several are stored in one place
};

/// The scale tensor's shape, in the words of guesses.
struct Shape {
  int rows, blocks, block, atoms;
  std::string unit;

  /// Too large to try hundreds of guesses that put several scales in one place.
  bool is_large() const { return int64_t{rows} * blocks > int64_t{1} << 18; }
  int64_t at(int row, int j) const {
    return row < 0 || row >= rows || j < 0 || j >= blocks ? -1 : int64_t(scale_offset(row, j, atoms));
  }
};

/// The rest of each row's last four, which a store that begins inside fills with zeros.
std::vector<OutputBlock> with_padding(std::vector<OutputBlock> scales, int blocks) {
  const size_t count = scales.size();
  for (size_t i = 0; i < count; ++i)
    for (int block = blocks; scales[i].block == blocks - 1 && block % kScaleAtomScales != 0; ++block)
      scales.push_back({.row = scales[i].row, .block = block});
  return scales;
}

/// Which scales a guess puts where.
class ScalesAt {
 public:
  ScalesAt(const std::vector<OutputBlock>& scales, const OtherStore& other, uint64_t bytes)
      : scales_(scales), first_(bytes, -1), next_(scales.size(), -1) {
    for (size_t i = 0; i < scales.size(); ++i)
      if (const int64_t to = other.offset(scales[i].row, scales[i].block); to >= 0 && to < int64_t(bytes))
        next_[i] = first_[size_t(to)], first_[size_t(to)] = int(i);
  }
  bool any(uint64_t at) const { return first_[at] >= 0; }
  bool has(uint64_t at, uint8_t code) const {
    for (int i = first_[at]; i >= 0; i = next_[size_t(i)])
      if (scales_[size_t(i)].code == code) return true;
    return false;
  }

 private:
  const std::vector<OutputBlock>& scales_;
  std::vector<int> first_, next_;  ///< by offset, and by scale: of a list
};

/// Whether most of the wrong scales lie there, where no others are stored over them.
bool may_be(const OtherStore& other, const StoredScales& stored, const std::vector<const OutputBlock*>& wrong) {
  if (other.overwrites) return true;
  const size_t step = wrong.size() / 256 + 1;
  int there = 0, asked = 0;
  for (size_t i = 0; i < wrong.size(); i += step) {
    const int64_t to = other.offset(wrong[i]->row, wrong[i]->block);
    if (to < 0 || to >= int64_t(stored.blocks.scales().bytes)) continue;
    ++asked, there += stored.bytes[to] == wrong[i]->code;
  }
  return there * 2 > asked;
}

void add_rows(const Shape& shape, std::vector<OtherStore>& all) {
  const std::string& unit = shape.unit;
  for (int width = 32; width < 2 * shape.rows; width *= 2)  // rows of a warp, a CTA, a tile
    for (int kept = width / 2; kept >= 1; kept /= 2)
      all.push_back(
          {fmt::format("those of {0}s {1}-{2} of each {3} were stored over those of its {4}", unit, kept, width - 1,
                       width, kept == 1 ? fmt::format("first {}", unit) : fmt::format("{}s 0-{}", unit, kept - 1)),
           [=](int row, int block) { return shape.at(row - row % width + row % kept, block); }, true});
  for (int width = 32; width < shape.rows; width *= 2)
    all.push_back({fmt::format("that of {0} r was stored where that of {0} r mod {1} belongs", unit, width),
                   [=](int row, int block) { return shape.at(row % width, block); }, true});
  for (int distance = 1; distance <= std::min(shape.rows, 512); ++distance)
    for (const int by : {-distance, distance})
      all.push_back({fmt::format("that of {0} r was stored where that of {0} r {1} {2} belongs", unit,
                                 by < 0 ? '-' : '+', distance),
                     [=](int row, int block) { return shape.at(row + by, block); }});
  for (int width = 1; width < shape.rows && width <= 256; width *= 2)
    all.push_back({fmt::format("those of the first {1} and the last {1} of each {2} {0}s have changed places", unit,
                               width, 2 * width),
                   [=](int row, int block) { return shape.at(row ^ width, block); }});
  for (int width = 32; width <= 256 && width < shape.rows; width *= 2)
    for (int pitch = 16; pitch <= 512; pitch += 16)
      if (pitch != width)
        all.push_back({fmt::format("those of tile t of {1} {0}s begin at {0} t * {2}", unit, width, pitch),
                       [=](int row, int block) { return shape.at(row / width * pitch + row % width, block); },
                       pitch < width});
}

void add_blocks_of_rows(const Shape& shape, std::vector<OtherStore>& all) {
  for (int distance = 1; distance < std::min(shape.blocks, 64); ++distance)
    for (const int by : {-distance, distance})
      all.push_back({fmt::format("those of a block were stored {} {} where they belong", distance,
                                 by < 0 ? "ahead of" : "behind"),
                     [=](int row, int block) { return shape.at(row, block + by); }});
  constexpr int kMostBlocks = 32;  // of a tile
  for (int width = 1; width < std::min(shape.blocks, kMostBlocks + 1); ++width)
    for (int pitch = shape.is_large() ? width : 0; pitch <= 4 * width; ++pitch)
      if (pitch != width)
        all.push_back({fmt::format("those of tile t begin at block t * {} of a {}, and a tile has {} blocks", pitch,
                                   shape.unit, width),
                       [=](int row, int block) { return shape.at(row, block / width * pitch + block % width); },
                       pitch < width});
  for (int width = 1; width < shape.blocks && width <= kMostBlocks; width *= 2)
    all.push_back({fmt::format("those of the first {0} and the last {0} of each {1} blocks have changed places",
                               width, 2 * width),
                   [=](int row, int block) { return shape.at(row, block ^ width); }});
}

/// Rows and blocks have changed places, one by one or in pieces that a warp stores.
void add_turned(const Shape& shape, std::vector<OtherStore>& all) {
  constexpr int kLanes = 32;
  const int size = shape.block;
  const std::string text = fmt::format("{} and block have changed places: ", shape.unit);
  const auto add = [&](const std::string& what, auto offset) { all.push_back({text + what, offset, true}); };
  add(fmt::format("that of {0} r and block b was stored at {0} b, block r", shape.unit),
      [=](int row, int block) { return shape.at(block, row); });
  add(fmt::format("that of {0} r and block b was stored at {0} b * {1}, block r / {1}", shape.unit, size),
      [=](int row, int block) { return shape.at(block * size, row / size); });
  add(fmt::format("that of {0} r and block b was stored at {0} b * {1} + r mod {1}, block r / {1}", shape.unit,
                  size),
      [=](int row, int block) { return shape.at(block * size + row % size, row / size); });
  add(fmt::format(
          "that of {0} r and block b was stored at {0} b * {1}, and its block is r / {1}, in warps of {2} {0}s",
          shape.unit, size, kLanes),
      [=](int row, int block) {
        const int first = block * size / kLanes * kLanes;
        return shape.at(first + row % kLanes, (row - row % kLanes) / size + block % std::max(1, kLanes / size));
      });
  for (const int count : {1, 2, 4})
    add(fmt::format("those of {0} r and {2}, b on, were stored at {0} b, block r, in warps of {1} {0}s", shape.unit,
                    kLanes, count == 1 ? "block" : fmt::format("{} blocks", count)),
        [=](int row, int block) {
          return shape.at(block - block % count + row % kLanes, row - row % kLanes + block % count);
        });
}

/// Layouts that are not the one of atoms, or have others between.
void add_layouts(const Shape& shape, std::vector<OtherStore>& all) {
  const int atoms = shape.atoms, atom_rows = (shape.rows + kScaleAtomRows - 1) / kScaleAtomRows;
  for (int pitch = 1; pitch <= 2 * atoms; ++pitch)
    if (pitch != atoms)
      all.push_back(
          {fmt::format("a pitch of {} atoms was assumed for each {} {}s, where {} scales need {} atoms of {}",
                       pitch, kScaleAtomRows, shape.unit, shape.blocks, atoms, kScaleAtomScales),
           [=](int row, int block) { return int64_t(scale_offset(row, block, pitch)); }});
  for (const int pitch : {shape.blocks, atoms * kScaleAtomScales})
    all.push_back(
        {fmt::format("those of a {0} were stored side by side, {0} after {0}, {1} bytes apart: they must lie "
                     "in atoms of {2} {0}s x {3}",
                     shape.unit, pitch, kScaleAtomRows, kScaleAtomScales),
         [=](int row, int block) { return int64_t{row} * pitch + block; }});
  all.push_back(
      {fmt::format("those of a block were stored side by side, block after block: they must lie in atoms of "
                   "{1} {0}s x {2}",
                   shape.unit, kScaleAtomRows, kScaleAtomScales),
       [=](int row, int block) { return int64_t{block} * shape.rows + row; }});
  const auto in_atom = [=](int row, int block) {
    return int64_t(scale_offset(row % kScaleAtomRows, block % kScaleAtomScales, 1));
  };
  all.push_back({"atoms lie in another order: those below each other follow, where those beside each other must",
                 [=](int row, int block) {
                   return int64_t{block / kScaleAtomScales * atom_rows + row / kScaleAtomRows} * kScaleAtomBytes +
                          in_atom(row, block);
                 }});
  all.push_back(
      {fmt::format("{}s of an atom lie one after the other, 4 bytes apart, where {}s r, r + 32, r + 64 and "
                   "r + 96 must be neighbours",
                   shape.unit, shape.unit),
       [=](int row, int block) {
         return int64_t{row / kScaleAtomRows * atoms + block / kScaleAtomScales} * kScaleAtomBytes +
                row % kScaleAtomRows * kScaleAtomScales + block % kScaleAtomScales;
       }});
}

std::vector<OtherStore> other_stores(const Shape& shape) {
  std::vector<OtherStore> all;
  add_rows(shape, all);
  add_blocks_of_rows(shape, all);
  add_turned(shape, all);
  add_layouts(shape, all);
  return all;
}

}  // namespace

std::optional<ScaleClaim> misplaced_scales(const StoredScales& stored) {
  const host::ExpectedOutputScales& scales = stored.blocks.scales();
  const std::vector<OutputBlock>& right = stored.blocks.all();
  std::vector<const OutputBlock*> wrong;
  for (const OutputBlock& s : right)
    if (stored.is_wrong(s)) wrong.push_back(&s);
  const std::vector<OutputBlock> stored_scales = with_padding(right, scales.blocks);
  const Shape shape{scales.rows, scales.blocks, scales.block, scale_atoms(scales),
                    scales.along_columns ? "column" : "row"};
  const std::vector<OtherStore> others = other_stores(shape);
  constexpr int64_t kFewestSeen = 8;
  // Everywhere, or in some tiles only.
  for (const bool everywhere : {true, false})
    for (const OtherStore& other : others) {
      if ((!everywhere && other.overwrites) || !may_be(other, stored, wrong)) continue;
      const ScalesAt at_other(stored_scales, other, scales.bytes);
      // What lies where it belongs is stored there too, or the guess is wrong about it.
      int64_t fits = 0, misses = 0, seen = 0;  // seen: wrong scales that lie where the guess has put them
      for (const OutputBlock& s : right) {
        const bool is_wrong = stored.is_wrong(s);
        if (!everywhere && !is_wrong) continue;
        const uint64_t at = stored.place_of(s);
        const bool delivered = stored.is_delivered(at);
        const bool as_guessed = delivered ? at_other.has(at, stored.bytes[at]) : !at_other.any(at);
        fits += as_guessed && is_wrong, misses += !as_guessed, seen += as_guessed && is_wrong && delivered;
        if (misses > 8 && misses * 8 > fits) break;
      }
      if (seen >= (everywhere ? kFewestSeen : kFewestScales / 2) && misses * 50 <= fits &&
          are_nearly_all(fits, int64_t(wrong.size())))
        return ScaleClaim{"in the wrong places: " + other.text, fits, int64_t(wrong.size())};
    }
  return std::nullopt;
}

std::optional<ScaleClaim> scales_not_stored(const StoredScales& stored) {
  const host::ExpectedOutputScales& scales = stored.blocks.scales();
  int64_t wrong = 0, untouched = 0;
  std::set<int64_t> rows, blocks, stored_blocks;
  for (const OutputBlock& s : stored.blocks.all()) {
    if (stored.is_delivered(stored.place_of(s))) stored_blocks.insert(s.block);
    if (!stored.is_wrong(s)) continue;
    ++wrong;
    if (stored.is_delivered(stored.place_of(s))) continue;
    ++untouched, rows.insert(s.row), blocks.insert(s.block);
  }
  if (!are_nearly_all(untouched, wrong)) return std::nullopt;
  std::string what = fmt::format("missing: nobody has stored those of {}", numbers_text(blocks, "block"));
  // Tiles whose scales would begin twice as far along as they belong, beyond the end.
  const int64_t first = *blocks.begin();
  if (!stored_blocks.contains(first) && *blocks.rbegin() == scales.blocks - 1 && 2 * first >= scales.blocks)
    what += fmt::format(
        " (they would lie beyond the end if those of tile t began at block t * {}, where they begin at t * {})",
        2 * first, first);
  return ScaleClaim{std::move(what), untouched, wrong};
}

}  // namespace sm100::sim::provenance
