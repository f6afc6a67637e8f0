// SPDX-License-Identifier: Apache-2.0
// The sums of elements of C, as they were loaded from tensor memory: what an epilogue begins with.
#include <algorithm>

#include "sim/provenance/explainer.h"

namespace sm100::sim::provenance {
namespace {

/// Sums beyond which some rows are looked at only.
constexpr int64_t kMostSums = int64_t{1} << 22;

/// True of one row in `one_in`, whatever their pattern.
bool is_chosen(int64_t row, int64_t one_in) {
  return one_in <= 1 || (uint64_t(row) * 0x9e3779b97f4a7c15u >> 33) % uint64_t(one_in) == 0;
}

/// Of an accumulator: how many elements of K it has, and which part of K they are of; -1: of several, or not known.
struct PartOfK {
  int64_t count = 0, part = -1;
};
PartOfK part_of_k(const Accumulator& acc, int64_t k, int64_t part_k) {
  PartOfK of;
  for (size_t s = 0; s < acc.a.k.size(); ++s) {
    const int64_t first = acc.a.k[s];
    if (first < 0 || first >= k) continue;  // zeros beyond the end
    const int64_t part = first / part_k;
    const int64_t count = std::min(k - first, acc.a.k_count[s]);
    if ((of.count > 0 && part != of.part) || (first + count - 1) / part_k != part) return {};
    of.part = part, of.count += count;
  }
  return of;
}

}  // namespace

ElementSums Explainer::sums_of(size_t p, const Watched& output, int64_t part_k) const {
  const host::ExpectedProduct& product = expected_.products[p];
  const int64_t rows = product.c.rows, columns = int64_t(product.c.pitch) * 8 / product.c.bits;
  const uint64_t per_row = product.c.pitch / output.grain;
  const int64_t packed = product.c.bits < 8 ? 8 / product.c.bits : 1;
  ElementSums all;
  all.parts = int((product.k + part_k - 1) / part_k);
  const int64_t one_in = (rows * columns * all.parts + kMostSums - 1) / kMostSums;
  all.all = one_in <= 1;
  std::vector<int64_t> slots(size_t(rows), -1);
  int64_t kept = 0;
  for (int64_t row = 0; row < rows; ++row)
    if (is_chosen(row, one_in)) slots[size_t(row)] = kept++;
  std::vector<float> sums(size_t(kept * columns * all.parts));
  std::vector<int64_t> known(size_t(kept * columns));  // elements of K

  for (const auto& watched : accumulators_) {
    const auto& history = watched.first;
    const auto& acc = watched.second;             // not a structured binding: clang 14 captures none
    if (record_.rewritten_by(history)) continue;  // its sums were those of others before
    const bool turned = swapped(acc);
    const PartOfK of = part_of_k(acc, product.k, part_k);
    if (of.part < 0) continue;
    const int row_matrix = turned ? matrices_.b_of(p) : matrices_.a_of(p),
              column_matrix = turned ? matrices_.a_of(p) : matrices_.b_of(p);
    const Mma& mma = record_.mmas()[acc.mmas.back()];
    std::vector<bool> seen(acc.a.rows.size() * acc.b.rows.size());
    const auto add = [&](const CellOfD& at, uint32_t bits) {
      const RowOf &a = acc.a.rows[size_t(at.row)], &b = acc.b.rows[size_t(at.column)];
      if (a.matrix != row_matrix || b.matrix != column_matrix) return;
      const int64_t row = turned ? b.row : a.row, column = turned ? a.row : b.row;
      const size_t cell = size_t(at.row) * acc.b.rows.size() + size_t(at.column);
      if (row >= rows || column >= columns || slots[size_t(row)] < 0 || seen[cell]) return;
      seen[cell] = true;
      const int64_t element = slots[size_t(row)] * columns + column;
      sums[size_t(element * all.parts + of.part)] += as_float(bits);
      known[size_t(element)] += of.count;
    };
    for (const uint32_t set : acc.sets)
      for (const uint32_t number : record_.fragment_sets()[set]) {
        const Fragment& f = record_.fragments()[number];
        if (f.cells.empty()) continue;
        for (const LoadedCells& part : f.parts)
          for (uint32_t lane = part.lane; part.history == history && lane < part.lane + part.lanes; ++lane)
            for (uint32_t column = part.column; column < part.column + part.columns; ++column)
              if (const CellOfD at = cell_of_d(mma, f.sm, lane, column); at.row >= 0)
                add(at, f.cells[(lane - f.lane) * f.columns + (column - f.column)]);
      }
  }
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; slots[size_t(row)] >= 0 && column < columns; ++column) {
      const int64_t element = slots[size_t(row)] * columns + column;
      const uint32_t delivery = output.delivered[uint64_t(row) * per_row + uint64_t(column / packed)];
      if (known[size_t(element)] != product.k || delivery == 0) continue;
      all.elements.push_back({row, column, delivery});
      const float* const parts = sums.data() + element * all.parts;
      all.sums.insert(all.sums.end(), parts, parts + all.parts);
    }
  return all;
}

}  // namespace sm100::sim::provenance
