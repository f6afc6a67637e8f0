// SPDX-License-Identifier: Apache-2.0
// Scales that an epilogue gives the elements of C: where they were stored.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "kernels/isa/scale_layout.h"
#include "sim/provenance/explainer.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

/// A scale as it should be: of a row (or column) of C, and a block of it.
struct RightScale {
  int row = 0, block = 0;
  uint8_t code = 0;
};

/// Where a kernel may have stored scales: offset of a row's block; -1: nowhere.
struct OtherStore {
  std::string text;
  std::function<int64_t(int row, int block)> offset;
  bool overwrites = false;  ///< several are stored in one place
};

/// The scales of all blocks of which every element was loaded.
std::vector<RightScale> right_scales(const ElementSums& sums, const host::ExpectedOutputScales& scales) {
  std::unordered_map<int64_t, std::pair<float, int>> largest;  // and elements
  for (size_t i = 0; i < sums.elements.size(); ++i) {
    const ElementSums::Element& e = sums.elements[i];
    const int64_t row = scales.along_columns ? e.column : e.row, at = scales.along_columns ? e.row : e.column;
    auto& [most, count] = largest[row * scales.blocks + at / scales.block];
    const float x = std::abs(float(double(*sums.of(i)) * scales.alpha));
    most = std::isnan(x) || std::isnan(most) ? std::numeric_limits<float>::quiet_NaN() : std::max(most, x);
    ++count;
  }
  std::vector<RightScale> all;
  for (const auto& [key, of] : largest)
    if (of.second == scales.block)
      all.push_back({int(key / scales.blocks), int(key % scales.blocks), scales.code(of.first)});
  std::sort(all.begin(), all.end(), [](const RightScale& x, const RightScale& y) {
    return std::pair(x.row, x.block) < std::pair(y.row, y.block);
  });
  return all;
}

/// The rest of each row's last four, which a store that begins inside fills with zeros.
std::vector<RightScale> with_padding(std::vector<RightScale> scales, int blocks) {
  const size_t count = scales.size();
  for (size_t i = 0; i < count; ++i)
    for (int block = blocks; scales[i].block == blocks - 1 && block % kScaleAtomScales != 0; ++block)
      scales.push_back({scales[i].row, block, 0});
  return scales;
}

/// Which scales a guess puts where.
class ScalesAt {
 public:
  ScalesAt(const std::vector<RightScale>& scales, const OtherStore& other, uint64_t bytes)
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
  const std::vector<RightScale>& scales_;
  std::vector<int> first_, next_;  ///< by offset, and by scale: of a list
};

/// Whether most scales lie there, where no others are stored over them.
bool may_be(const OtherStore& other, const std::vector<RightScale>& right, const uint8_t* stored, uint64_t bytes) {
  if (other.overwrites) return true;
  const size_t step = right.size() / 256 + 1;
  int there = 0, asked = 0;
  for (size_t i = 0; i < right.size(); i += step) {
    const int64_t to = other.offset(right[i].row, right[i].block);
    if (to < 0 || to >= int64_t(bytes)) continue;
    ++asked, there += stored[to] == right[i].code;
  }
  return there * 2 > asked;
}

std::vector<OtherStore> other_stores(const host::ExpectedOutputScales& scales, const std::string& unit) {
  const int atoms = (scales.blocks + kScaleAtomScales - 1) / kScaleAtomScales;
  const auto at = [=, rows = scales.rows, blocks = scales.blocks](int row, int block) -> int64_t {
    return row < 0 || row >= rows || block < 0 || block >= blocks ? -1 : int64_t(scale_offset(row, block, atoms));
  };
  std::vector<OtherStore> all;
  for (int width = 32; width < 2 * scales.rows; width *= 2)  // rows of a warp, a CTA, a tile
    for (int kept = width / 2; kept >= 8; kept /= 2)
      all.push_back({fmt::format("those of {0}s {1}-{2} of each {3} were stored over those of its {0}s 0-{4}", unit,
                                 kept, width - 1, width, kept - 1),
                     [=](int row, int block) { return at(row - row % width + row % kept, block); }, true});
  for (int width = 32; width < scales.rows; width *= 2)
    all.push_back({fmt::format("that of {0} r was stored where that of {0} r mod {1} belongs", unit, width),
                   [=](int row, int block) { return at(row % width, block); }, true});
  for (int distance = 1; distance <= std::min(scales.rows, 512); ++distance)
    for (const int by : {-distance, distance})
      all.push_back({fmt::format("that of {0} r was stored where that of {0} r {1} {2} belongs", unit,
                                 by < 0 ? '-' : '+', distance),
                     [=](int row, int block) { return at(row + by, block); }});
  for (int distance = 1; distance < std::min(scales.blocks, 64); ++distance)
    for (const int by : {-distance, distance})
      all.push_back({fmt::format("those of a block were stored {} {} where they belong", distance,
                                 by < 0 ? "ahead of" : "behind"),
                     [=](int row, int block) { return at(row, block + by); }});
  for (int pitch = 1; pitch <= 2 * atoms; ++pitch)
    if (pitch != atoms)
      all.push_back(
          {fmt::format("a pitch of {} atoms was assumed for each {} {}s, where {} scales need {} atoms of {}",
                       pitch, kScaleAtomRows, unit, scales.blocks, atoms, kScaleAtomScales),
           [=](int row, int block) { return int64_t(scale_offset(row, block, pitch)); }});
  return all;
}

}  // namespace

std::optional<Cause> Explainer::explain_output_scales(size_t p, const Watched& output) const {
  const host::ExpectedProduct& product = expected_.products[p];
  if (!product.output_scales) return std::nullopt;
  const host::ExpectedOutputScales& scales = *product.output_scales;
  const uint8_t* const stored = bytes_(scales.address, scales.bytes);
  const Watched* watched = nullptr;
  for (const Watched& w : record_.watched())
    if (w.address == scales.address) watched = &w;
  const ElementSums sums = sums_of(p, output, product.k);
  if (!stored || !watched || !sums.all || sums.parts != 1) return std::nullopt;
  const std::vector<RightScale> right = right_scales(sums, scales);
  const int atoms = (scales.blocks + kScaleAtomScales - 1) / kScaleAtomScales;

  const auto right_at = [&](const RightScale& s) { return scale_offset(s.row, s.block, atoms); };
  int64_t wrong = 0, untouched = 0;
  std::set<int64_t> wrong_rows;
  uint32_t delivery = 0;  // of one that is wrong
  for (const RightScale& s : right) {
    const uint64_t at = right_at(s);
    if (stored[at] == s.code) continue;
    ++wrong, untouched += watched->delivered[at] == 0;
    wrong_rows.insert(s.row);
    if (delivery == 0) delivery = watched->delivered[at];
  }
  constexpr int64_t kFewestWrong = 64;
  if (wrong < kFewestWrong) return std::nullopt;

  const std::string unit = scales.along_columns ? "column" : "row";
  const std::vector<RightScale> stored_scales = with_padding(right, scales.blocks);
  for (const OtherStore& other : other_stores(scales, unit)) {
    if (!may_be(other, right, stored, scales.bytes)) continue;
    const ScalesAt at_other(stored_scales, other, scales.bytes);
    // What lies where it belongs is stored there too, or the guess is wrong about it.
    int64_t fits = 0, misses = 0;
    for (const RightScale& s : right) {
      const uint64_t at = right_at(s);
      const bool as_guessed = watched->delivered[at] == 0 ? !at_other.any(at) : at_other.has(at, stored[at]);
      fits += as_guessed && stored[at] != s.code, misses += !as_guessed;
      if (misses > 8 && misses * 8 > fits) break;
    }
    if (fits < kFewestWrong || misses * 50 > fits || fits * 50 < wrong * 49) continue;
    if (delivery == 0)
      for (const uint32_t d : watched->delivered)
        if (d != 0) delivery = d;
    if (delivery == 0) return std::nullopt;
    const Store& store = record_.stores()[record_.deliveries()[delivery - 1].store - 1];
    Cause cause{.id = "PV2", .at = store.source, .details = {}};
    cause.what =
        fmt::format("the scales of the output ({}) are in the wrong places: {}, in {} of {} wrong scales ({}{})",
                    scales.name, other.text, grouped(fits), grouped(wrong), numbers_text(wrong_rows, unit),
                    untouched > 0 ? fmt::format("; nobody has stored {} of them", grouped(untouched)) : "");
    cause.details = {"there they are stored; what was multiplied is right, and so are its sums"};
    return cause;
  }
  return std::nullopt;
}

}  // namespace sm100::sim::provenance
