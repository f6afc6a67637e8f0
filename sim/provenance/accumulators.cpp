// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/accumulators.h"

#include <algorithm>

namespace sm100::sim::provenance {
namespace {

/// What one row of one MMA is.
struct RowAndK {
  RowOf row;
  int64_t k = -1, count = 0;
  bool scrambled = false;
};

RowAndK resolve(const Matrices& matrices, const Mma& mma, bool a, const Origin& first, const Origin& second) {
  RowAndK r;
  if (first.kind == OriginKind::nobody || second.kind == OriginKind::nobody)
    return r.row.matrix = RowOf::kNobody, r;
  if (first.kind == OriginKind::store || second.kind == OriginKind::store) return r.row.matrix = RowOf::kStored, r;
  if (first.kind == OriginKind::fill) return r;  // zeros
  const bool along_k = a ? mma.a_along_k : mma.b_along_k;
  const auto place = matrices.at(first.address, along_k);
  if (!place) return r.row.matrix = RowOf::kElsewhere, r;
  const int bits = matrices[place->matrix].bits;
  r.row = {place->matrix, place->row};
  r.k = place->k;
  if (!along_k) {
    r.count = std::min<int64_t>(mma.k, matrices.k_of(place->matrix) - place->k);
    if (second.kind == OriginKind::fill) return r;
    const auto last = matrices.at(second.address, along_k);
    r.scrambled =
        !last || last->matrix != place->matrix || last->row != place->row || last->k != place->k + mma.k - 1;
    return r;
  }
  r.count = int64_t(first.bytes) * 8 / bits;
  if (second.kind == OriginKind::fill) return r;
  if (second.address == first.address + first.bytes)
    r.count += int64_t(second.bytes) * 8 / bits;
  else
    r.scrambled = true;
  return r;
}

}  // namespace

OperandRows rows_over(const Record& record, const Matrices& matrices, const std::vector<uint32_t>& mmas, bool a) {
  OperandRows all;
  const auto rows_of = [&](const Mma& mma) { return size_t(a ? mma.m : mma.n); };
  size_t rows = 0;
  for (const uint32_t number : mmas) rows = std::max(rows, rows_of(record.mmas()[number]));
  all.rows.resize(rows);
  std::vector<int> votes(rows, 0);
  // Twice: first whose rows they are, by majority, then which MMAs differ.
  for (const bool judge : {false, true})
    for (size_t step = 0; step < mmas.size(); ++step) {
      const Mma& mma = record.mmas()[mmas[step]];
      int64_t k = -1, count = 0, other = -1;
      int scrambled = -1;
      for (const RowRun& run : a ? mma.a : mma.b)
        for (int i = run.first; i < run.first + run.count; ++i) {
          const RowAndK r = resolve(matrices, mma, a, run.of(i, 0), run.of(i, 1));
          if (!judge) {
            int& vote = votes[size_t(i)];
            if (r.row.matrix == -1) continue;
            if (vote == 0) all.rows[size_t(i)] = r.row;
            vote += r.row == all.rows[size_t(i)] ? 1 : -1;
            continue;
          }
          if (r.scrambled && scrambled < 0) scrambled = i;
          if (r.k >= 0 && k < 0) k = r.k, count = r.count;
          if (r.k >= 0 && (r.k != k || r.count != count) && other < 0) other = r.k;
          if (r.row.matrix == -1 || r.row == all.rows[size_t(i)]) continue;
          Deviation* const last = all.deviations.empty() ? nullptr : &all.deviations.back();
          if (last && last->step == int(step) && last->first + last->count == i &&
              last->is.matrix == r.row.matrix && (r.row.matrix < 0 || r.row.row == last->is.row + last->count))
            ++last->count;
          else
            all.deviations.push_back({int(step), i, 1, r.row});
        }
      if (!judge) continue;
      all.k.push_back(k), all.k_count.push_back(count);
      all.scrambled.push_back(scrambled), all.other_k.push_back(other);
    }
  return all;
}

CellOfD cell_of_d(const Mma& mma, int sm, uint32_t lane, uint32_t column) {
  const int cta = mma.by.sms[0] == sm ? 0 : 1;
  if (lane < mma.lane || column < mma.column) return {};
  const int l = int(lane - mma.lane), c = int(column - mma.column);
  CellOfD at;
  switch (mma.layout) {
    case DataPathLayout::a: at = {cta * 128 + l, c}; break;
    case DataPathLayout::b: at = {cta * 64 + l % 64, c + l / 64 * (mma.n / 2)}; break;
    case DataPathLayout::e: at = {l % 64, c + l / 64 * (mma.n / 2)}; break;
    case DataPathLayout::g: at = {l % 32, c + l / 32 * (mma.n / 4)}; break;
    case DataPathLayout::f: at = {l % 32 < 16 ? l / 32 * 16 + l % 32 : -1, c}; break;
    default: at = {l, c};
  }
  return at.row >= 0 && at.row < mma.m && at.column < mma.n ? at : CellOfD{};
}

}  // namespace sm100::sim::provenance
