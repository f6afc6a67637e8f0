// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d1d/host/token_product.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/host/comparison.h"
#include "models/vector/kernels.h"

namespace sm100::host {
namespace {

using MatrixXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Above this many multiply-adds only some rows are compared.
constexpr double kFullCheckLimit = 2.2e9;

double output_value(DataType type, const uint8_t* c, size_t i) {
  const size_t bytes = size_t(element_bits(type)) / 8;
  uint32_t bits = 0;
  std::memcpy(&bits, c + bytes * i, bytes);
  return double(decode(type, bits));
}

std::string grouped_digits(int64_t value) {
  std::string digits = std::to_string(value);
  for (int at = int(digits.size()) - 3; at > 0; at -= 3) digits.insert(size_t(at), ",");
  return digits;
}

}  // namespace

TokenProduct::TokenProduct(const ProductShape& shape, Tokens tokens)
    : Product(shape),
      tokens_(std::move(tokens)),
      rows_(token_rows(tokens_.problem, tokens_.schedule.layout, tokens_.scale_granule)) {}

std::vector<TokenProduct::Words> TokenProduct::words() const {
  Words offsets{"offsets", {}}, scale_offsets{"scale_offsets", {}}, experts{"experts", {}}, counts{"counts", {}};
  Words row_experts{"experts", std::vector<int>(size_t(rows_.rows), -1)};
  for (const TokenGroup& group : rows_.groups) {
    const int without_padding = group.first_row / tokens_.rows_per_scale_group;
    offsets.values.push_back(group.first_row);
    scale_offsets.values.push_back(group.first_scale_row / tokens_.rows_per_scale_group - without_padding);
    experts.values.push_back(group.expert);
    counts.values.push_back(group.rows);
    std::fill_n(row_experts.values.begin() + group.first_row, group.rows, group.expert);
  }
  offsets.values.push_back(int(rows_.rows));
  if (tokens_.schedule.layout == TokenLayout::contiguous) return {row_experts};
  if (tokens_.schedule.layout == TokenLayout::masked) return {counts};
  return {offsets, scale_offsets, experts};
}

std::vector<float> TokenProduct::expert_scales() const {
  std::mt19937_64 random(shape().seed + 0x65787065u);
  std::vector<float> scales;
  for (int e = 0; e < tokens_.problem.num_experts; ++e)
    scales.push_back(0.25f + float(random() >> 40) / float(1 << 24));
  return scales;
}

std::vector<Tensor> TokenProduct::tables() const {
  std::vector<Tensor> all;
  for (const Words& w : words())
    all.push_back({.name = w.name, .bytes = w.values.size() * sizeof(int), .metadata = true});
  if (tokens_.scaled)
    all.push_back({.name = "expert_scales",
                   .bytes = uint64_t(tokens_.problem.num_experts) * sizeof(float),
                   .metadata = true});
  return all;
}

void TokenProduct::fill(size_t i, uint8_t* bytes) const {
  const std::vector<Words> about_groups = words();
  const size_t factors = kFirstTable + about_groups.size();
  if (i >= kFirstTable && i < factors) {
    const std::vector<int>& values = about_groups[i - kFirstTable].values;
    std::memcpy(bytes, values.data(), values.size() * sizeof(int));
  } else if (i == factors && tokens_.scaled) {
    const std::vector<float> values = expert_scales();
    std::memcpy(bytes, values.data(), values.size() * sizeof(float));
  } else {
    Product::fill(i, bytes);
  }
}

GroupParams TokenProduct::group_params(const std::vector<GlobalAddr>& addresses) const {
  GroupParams groups;
  size_t next = kFirstTable;
  switch (tokens_.schedule.layout) {
    case TokenLayout::contiguous: groups.experts = addresses[next++]; break;
    case TokenLayout::masked: groups.counts = addresses[next++]; break;
    default:
      groups.offsets = addresses[next++];
      groups.scale_offsets = addresses[next++];
      groups.experts = addresses[next++];
  }
  if (tokens_.scaled) groups.expert_scales = addresses[next++];
  groups.c = addresses.back();
  groups.groups = tokens_.schedule.layout == TokenLayout::contiguous ? 1 : int(tokens_.problem.tokens.size());
  groups.slot_rows = tokens_.problem.slot_rows;
  return groups;
}

/// Every `step`-th row of the group.
void TokenProduct::compare_group(const TokenGroup& group, const std::vector<const uint8_t*>& tensors, int64_t step,
                                 Comparison& comparison, int& compared) const {
  const int n = shape().n, k = shape().k;
  const int count = int((group.rows + step - 1) / step);
  MatrixXd a(count, k), b(n, k), reference(count, n);
  for (int i = 0; i < count; ++i) read_token(tensors, group, int(i * step), &a(i, 0));
  for (int j = 0; j < n; ++j) read_weights(tensors, group.expert, j, &b(j, 0));
  vector::kernels().product_f64({.m = count,
                                 .n = n,
                                 .k = k,
                                 .a = a.data(),
                                 .a_stride = k,
                                 .b = b.data(),
                                 .b_stride = k,
                                 .d = reference.data(),
                                 .d_stride = n,
                                 .accumulate = false});
  const double factor = tokens_.scaled ? double(expert_scales()[size_t(group.expert)]) : 1;
  for (int i = 0; i < count; ++i) {
    const int row = group.first_row + int(i * step);
    for (int j = 0; j < n; ++j)
      comparison.add_converted(shape().output,
                               output_value(shape().output, tensors.back(), size_t(row) * size_t(n) + size_t(j)),
                               factor * reference(i, j), row, j);
  }
  compared += count;
}

void TokenProduct::look_for_marks(const uint8_t* c, Check& check) const {
  const int n = shape().n, element_bytes = element_bits(shape().output) / 8;
  // Whether a row is a result, must stay as it was, or may be either.
  enum class Row : uint8_t { untouched, result, any };
  std::vector<Row> rows(size_t(rows_.rows), Row::untouched);
  for (const TokenGroup& group : rows_.groups) {
    if (!group.has_work()) continue;
    std::fill_n(rows.begin() + group.first_row, group.rows, Row::result);
    if (tokens_.schedule.whole_tiles && tokens_.schedule.layout == TokenLayout::contiguous)
      std::fill_n(rows.begin() + group.first_row + group.rows,
                  std::min(align_up(group.rows, tokens_.tile_rows), group.reserved_rows) - group.rows, Row::any);
  }
  const std::vector<uint8_t> mark(size_t(element_bytes), 0xff);
  const auto count = [&](Row kind, bool marked) {
    Unwritten all{.first_row = int(rows_.rows), .first_column = n};
    for (int row = 0; row < int(rows_.rows); ++row) {
      if (rows[size_t(row)] != kind) continue;
      all.of += n;
      const uint8_t* at = c + size_t(row) * size_t(n) * size_t(element_bytes);
      for (int column = 0; column < n; ++column, at += element_bytes) {
        if ((std::memcmp(at, mark.data(), size_t(element_bytes)) == 0) != marked) continue;
        ++all.elements;
        all.first_row = std::min(all.first_row, row), all.last_row = row;
        all.first_column = std::min(all.first_column, column), all.last_column = std::max(all.last_column, column);
      }
    }
    return all.elements > 0 ? std::optional(all) : std::nullopt;
  };
  check.unwritten = count(Row::result, true);
  check.foreign = count(Row::untouched, false);
  if (check.unwritten || check.foreign) check.ok = false;
}

Check TokenProduct::check(const std::vector<const uint8_t*>& tensors) const {
  const double work = flops() / 2;
  const int64_t step = std::max<int64_t>(1, int64_t(std::ceil(work / kFullCheckLimit)));
  const double limit = error_limit(shape().output);
  const CutOff cut = cut_off(shape());
  Comparison comparison(limit + cut.whole, limit + cut.element);
  int compared = 0;
  for (const TokenGroup& group : rows_.groups)
    if (group.has_work()) compare_group(group, tensors, step, comparison, compared);
  Check check = comparison.result(compared);
  for (const TokenGroup& group : rows_.groups) check.of_rows += group.has_work() ? group.rows : 0;
  look_for_marks(tensors.back(), check);
  return check;
}

ExpectedResult TokenProduct::expected_result(const std::vector<GlobalAddr>& addresses) const {
  const std::vector<Tensor> all = tensors();
  const auto rows_of = [&](size_t i, int64_t rows_of_all, int columns, int64_t first,
                           int64_t rows) -> ExpectedMatrix {
    const uint64_t pitch = all[i].bytes / uint64_t(rows_of_all);
    return {all[i].name, addresses[i].value + uint64_t(first) * pitch, rows, pitch,
            int(pitch * 8 / uint64_t(columns))};
  };
  ExpectedResult result;
  const int n = shape().n, k = shape().k;
  for (size_t g = 0; g < rows_.groups.size(); ++g) {
    const TokenGroup& group = rows_.groups[g];
    if (!group.has_work()) continue;
    result.products.push_back(
        {.name = fmt::format("group {}", g),
         .a = rows_of(0, rows_.rows, k, group.first_row, group.rows),
         .b = rows_of(1, int64_t{tokens_.problem.num_experts} * n, k, int64_t{group.expert} * n, n),
         .c = rows_of(all.size() - 1, rows_.rows, n, group.first_row, group.rows),
         .k = k});
  }
  return result;
}

double TokenProduct::flops() const {
  int64_t rows = 0;
  for (const TokenGroup& group : rows_.groups) rows += group.has_work() ? group.rows : 0;
  return 2.0 * double(rows) * shape().n * shape().k;
}

std::string TokenProduct::groups_text() const {
  int64_t tokens = 0;
  for (int t : tokens_.problem.tokens) tokens += t;
  const size_t groups = tokens_.problem.tokens.size();
  return fmt::format("{} tokens in {} group{} x {} x {}", grouped_digits(tokens), groups, groups == 1 ? "" : "s",
                     shape().n, shape().k);
}

}  // namespace sm100::host
