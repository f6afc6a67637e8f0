// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/output_blocks.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sm100::sim::provenance {

OutputBlocks::OutputBlocks(const ElementSums& sums, const host::ExpectedOutputScales& scales)
    : scales_(scales), index_(size_t(scales.rows) * size_t(scales.blocks), -1) {
  const auto place_of = [&](const ElementSums::Element& e) {
    const int64_t row = scales.along_columns ? e.column : e.row, along = scales.along_columns ? e.row : e.column;
    return std::pair(size_t(row * scales.blocks + along / scales.block), size_t(along % scales.block));
  };
  std::vector<int> counts(index_.size());
  for (const ElementSums::Element& e : sums.elements)
    if (const size_t block = place_of(e).first; block < counts.size()) ++counts[block];
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] != scales.block) continue;
    index_[i] = int32_t(all_.size());
    all_.push_back({.row = int(i / size_t(scales.blocks)),
                    .block = int(i % size_t(scales.blocks)),
                    .first_value = all_.size() * size_t(scales.block)});
  }
  values_.resize(all_.size() * size_t(scales.block));
  for (size_t i = 0; i < sums.elements.size(); ++i) {
    const auto [block, place] = place_of(sums.elements[i]);
    if (block >= index_.size() || index_[block] < 0) continue;
    values_[size_t(index_[block]) * size_t(scales.block) + place] = float(double(*sums.of(i)) * scales.alpha);
  }
  for (OutputBlock& block : all_) {
    for (int i = 0; i < scales.block; ++i) {
      const float x = std::abs(values(block)[i]);
      block.largest = std::isnan(x) || std::isnan(block.largest) ? std::numeric_limits<float>::quiet_NaN()
                                                                 : std::max(block.largest, x);
    }
    block.code = scales.code(block.largest);
  }
}

const OutputBlock* OutputBlocks::at(int64_t row, int64_t block) const {
  if (row < 0 || row >= scales_.rows || block < 0 || block >= scales_.blocks) return nullptr;
  const int32_t i = index_[size_t(row * scales_.blocks + block)];
  return i >= 0 ? &all_[size_t(i)] : nullptr;
}

const OutputBlock* OutputBlocks::of(int64_t row, int64_t column) const {
  if (row < 0 || column < 0) return nullptr;
  return scales_.along_columns ? at(column, row / scales_.block) : at(row, column / scales_.block);
}

std::optional<double> OutputBlocks::value(int64_t row, int64_t column) const {
  const OutputBlock* block = of(row, column);
  if (!block) return std::nullopt;
  return double(values(*block)[(scales_.along_columns ? row : column) % scales_.block]);
}

}  // namespace sm100::sim::provenance
