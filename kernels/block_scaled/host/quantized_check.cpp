// SPDX-License-Identifier: Apache-2.0
// A quantised output against its reference: elements and scales, byte for byte.
#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/block_scaled/host/block_scaled_run.h"
#include "kernels/block_scaled/host/quantized_reference.h"

namespace sm100::host {
namespace {

/// Above this many multiply-adds only some rows are compared.
constexpr double kFullCheckLimit = 2.2e9, kFullCheckLimitB200 = 3e8;
constexpr int kRowsAtATime = 128;  // whole blocks, whatever their direction

/// Elements of C in memory.
uint8_t element_code(DataType type, const uint8_t* row, int column) {
  return type == DataType::e2m1 ? uint8_t(row[column / 2] >> 4 * (column % 2) & 0xf) : row[column];
}

/// Counts bytes, and remembers the first wrong one as what it stands for.
class ByteComparison {
 public:
  void add(bool same, int row, int column, double value, double expected) {
    ++compared_;
    if (same) return;
    if (wrong_++ == 0) first_ = {row, column, value, expected};
  }
  Check result(int rows, int of_rows) const {
    Check check{.ok = wrong_ == 0,
                .relative_error = compared_ > 0 ? double(wrong_) / double(compared_) : 0,
                .reference = "the quantised product",
                .rows = rows,
                .of_rows = of_rows};
    if (wrong_ > 0) check.wrong_element = first_;
    return check;
  }

 private:
  int64_t compared_ = 0, wrong_ = 0;
  WrongElement first_;
};

/// The output of one run.
struct QuantizedOutput {
  const BlockScaledConfig& config;
  ScaleTensor scales;
  float norm;
  int n;
  const uint8_t *c, *sfd;
  int row_bytes;

  uint8_t scale_at(int row, int block) const { return sfd[scale_offset(row, block, scales.k_atoms())]; }
  /// What a reader takes an element for.
  double value(uint8_t element, uint8_t scale) const {
    return value_of_element(config.output, element) * value_of_scale(config.scaled_output.type, scale) /
           double(norm);
  }

  /// A block whose first element is C[row][column]; its results begin at `results`.
  void compare(int row, int column, const float* results, ByteComparison& bytes) const {
    const int block = config.scaled_output.block;
    const bool along_rows = config.scaled_output.direction == ScaleDirection::rows;
    const QuantizedBlock expected =
        quantized_block(config.output, config.scaled_output.type, norm, results, block, along_rows ? 1 : n);
    const uint8_t scale = along_rows ? scale_at(row, column / block) : scale_at(column, row / block);
    const auto place = [&](int i) { return std::pair{row + (along_rows ? 0 : i), column + (along_rows ? i : 0)}; };
    const auto element = [&](int i) {
      return element_code(config.output, c + int64_t{place(i).first} * row_bytes, place(i).second);
    };
    const auto add = [&](bool same, int i) {
      bytes.add(same, place(i).first, place(i).second, value(element(i), scale),
                value(expected.elements[i], expected.scale));
    };
    int largest = 0;  // shows a wrong scale best
    for (int i = 1; i < block; ++i)
      if (std::abs(results[i * (along_rows ? 1 : n)]) > std::abs(results[largest * (along_rows ? 1 : n)]))
        largest = i;
    add(scale == expected.scale, largest);
    for (int i = 0; i < block; ++i) add(element(i) == expected.elements[i], i);
  }

  /// Whoever reads the tensor multiplies its padding, too.
  void compare_padding(ByteComparison& bytes) const {
    for (int row = 0; row < scales.row_groups() * kScaleAtomRows; ++row)
      for (int j = row < scales.rows ? scales.scales : 0; j < scales.k_atoms() * kScaleAtomScales; ++j)
        bytes.add(scale_at(row, j) == 0, row, j, value_of_scale(scales.type, scale_at(row, j)), 0);
  }
};

float decoded(ScaleType type, uint8_t code) {
  return type == ScaleType::ue8m0 ? decode_ue8m0(code) : decode_ue4m3(code);
}

}  // namespace

ScaledRows BlockScaledRun::scaled_rows(int operand, const std::vector<const uint8_t*>& tensors, int first,
                                       int count) const {
  const BlockScaledConfig& c = config_;
  const int block = scale_block(c), k = align_up(problem_.k, block_k(c));
  const ScaleTensor scales = scales_of(operand);
  const uint8_t *elements = tensors[size_t(operand)], *factors = tensors[kSfa + size_t(operand)];
  ScaledRows all{.rows = count, .k = k, .scales = k / block};
  all.elements.resize(size_t(count) * size_t(k));
  all.factors.resize(size_t(count) * size_t(all.scales));
  for (int i = 0; i < count; ++i) {
    const uint8_t* row = elements + int64_t{first + i} * row_bytes();
    for (int l = 0; l < problem_.k; ++l)
      all.elements[size_t(i) * size_t(k) + size_t(l)] =
          operand_bits(c) == 8 ? decode(c.dtype, row[l]) : decode(c.dtype, row[l / 2] >> 4 * (l % 2) & 0xf);
    for (int j = 0; j < all.scales; ++j) {  // padding included; behind the last atom TMA fills in zeros
      const bool there = j < scales.k_atoms() * kScaleAtomScales;
      all.factors[size_t(i) * size_t(all.scales) + size_t(j)] =
          decoded(c.scale_type, there ? factors[scale_offset(first + i, j, scales.k_atoms())] : uint8_t(0));
    }
  }
  return all;
}

std::vector<float> BlockScaledRun::sums(const std::vector<const uint8_t*>& tensors, int first_row, int rows) const {
  return mma_sums(config_, numerics_, scaled_rows(0, tensors, first_row, rows),
                  scaled_rows(1, tensors, 0, problem_.n));
}

Check BlockScaledRun::check(const std::vector<const uint8_t*>& tensors) const {
  if (!quantises(config_)) return Product::check(tensors);
  const int m = problem_.m, n = problem_.n;
  const QuantizedOutput output{config_,        output_scales(), problem_.norm,     n,
                               tensors.back(), tensors[kSfd],   output_row_bytes()};
  // A large product is compared on evenly spread groups of rows.
  const double limit = numerics_ == Numerics::b200 ? kFullCheckLimitB200 : kFullCheckLimit;
  const int groups = ceil_div(m, kRowsAtATime);
  const int compared = std::clamp(int(groups * (limit / (double(m) * n * problem_.k))), 1, groups);
  ByteComparison bytes;
  int rows = 0;
  for (int group = 0; group < compared; ++group) {
    const int first = int(int64_t{group} * groups / compared) * kRowsAtATime;
    const int count = std::min(kRowsAtATime, m - first);
    std::vector<float> results = sums(tensors, first, count);
    if (config_.scaled)
      for (float& x : results) x *= problem_.alpha;
    const int block = config_.scaled_output.block;
    const bool along_rows = config_.scaled_output.direction == ScaleDirection::rows;
    for (int i = 0; i < count; i += along_rows ? 1 : block)
      for (int j = 0; j < n; j += along_rows ? block : 1)
        output.compare(first + i, j, results.data() + int64_t{i} * n + j, bytes);
    rows += count;
  }
  output.compare_padding(bytes);
  return bytes.result(rows, m);
}

}  // namespace sm100::host
