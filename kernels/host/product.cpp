// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/product.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/host/comparison.h"
#include "kernels/isa/lane_array.h"
#include "models/vector/kernels.h"

namespace sm100::host {
namespace {

uint32_t encode_element(DataType type, float x) {
  switch (type) {
    case DataType::f16: return cvt_rn_f16_f32(x);
    case DataType::bf16: return cvt_rn_bf16_f32(x);
    case DataType::tf32: return cvt_rn_tf32_f32(x);
    case DataType::f32: return as_bits(x);
    case DataType::e4m3: return cvt_rn_satfinite_e4m3_f32(x);
    default: return cvt_rn_satfinite_e5m2_f32(x);
  }
}

/// Above this many multiply-adds only some rows are compared.
constexpr double kFullCheckLimit = 2.2e9;
/// Columns of a large C whose reference is computed at a time.
constexpr int kPanelColumns = 256;

uint64_t element_bytes_of(DataType type) { return uint64_t(element_bits(type)) / 8; }

double element_of(const uint8_t* base, DataType type, size_t i) {
  uint32_t bits = 0;
  const size_t bytes = size_t(element_bytes_of(type));
  std::memcpy(&bits, base + bytes * i, bytes);
  return double(decode(type, bits));
}

}  // namespace

double unit_roundoff(DataType type) {
  switch (type) {
    case DataType::f32: return std::ldexp(1, -24);
    case DataType::f16: return std::ldexp(1, -11);
    case DataType::e4m3: return std::ldexp(1, -4);
    case DataType::e5m2: return std::ldexp(1, -3);
    default: return std::ldexp(1, -8);
  }
}

TensorMapDataType tensor_map_type(DataType type) {
  switch (type) {
    case DataType::bf16: return TensorMapDataType::bfloat16;
    case DataType::f16: return TensorMapDataType::float16;
    case DataType::tf32: return TensorMapDataType::tfloat32;
    case DataType::f32: return TensorMapDataType::float32;
    default: return TensorMapDataType::uint8;
  }
}

double error_limit(DataType output) {
  switch (output) {
    case DataType::f32: return 1e-5;
    case DataType::f16: return 1e-3;
    case DataType::e4m3: return 0.0625;
    case DataType::e5m2: return 0.125;
    default: return 1e-2;
  }
}

CutOff cut_off(const ProductShape& shape) {
  if (shape.truncated_mma_k <= 0) return {};
  constexpr double kTerms = 33;                    // 32 products, or fewer, and the old D
  constexpr double kStandardDeviation = 0.288675;  // of a number between 0 and 1
  const double mmas = std::ceil(double(shape.k) / shape.truncated_mma_k);
  const double unit = std::ldexp(1.0, -shape.truncated_bits);
  const double whole = mmas * unit;
  return {.whole = whole, .element = whole + 6 * kStandardDeviation * std::sqrt(kTerms * mmas) * unit};
}

Tensor matrix(std::string name, DataType type, int64_t rows, int64_t columns) {
  return {.name = std::move(name),
          .bytes = uint64_t(rows) * uint64_t(columns) * element_bytes_of(type),
          .type = sm100::name(type),
          .rows = rows,
          .columns = columns};
}

Tensor Product::a() const { return matrix("A", shape_.operands, shape_.m, shape_.k); }
Tensor Product::b() const { return matrix("B", shape_.operands, shape_.n, shape_.k); }
Tensor Product::c() const { return matrix("C", shape_.output, shape_.m, shape_.n); }

void Product::fill_random(size_t i, DataType type, uint8_t* data) const {
  const size_t bytes = size_t(element_bytes_of(type)), elements = size_t(tensors()[i].bytes) / bytes;
  std::mt19937_64 random(shape_.seed + i * 0x9e3779b97f4a7c15u);
  for (size_t e = 0; e < elements; ++e) {
    const uint32_t bits = encode_element(type, float(int64_t(random() >> 40) - (1 << 23)) / float(1 << 23));
    std::memcpy(data + bytes * e, &bits, bytes);
  }
}

void Product::fill(size_t i, uint8_t* bytes) const {
  const std::vector<Tensor> all = tensors();
  if (i + 1 == all.size())
    std::memset(bytes, 0xff, all[i].bytes);
  else
    fill_random(i, shape_.operands, bytes);
}

void Product::read_row(int operand, const std::vector<const uint8_t*>& tensors, int row, double* values) const {
  const size_t k = size_t(shape_.k);
  for (size_t l = 0; l < k; ++l)
    values[l] = element_of(tensors[size_t(operand)], shape_.operands, size_t(row) * k + l);
}

ExpectedResult Product::expected_result(const std::vector<GlobalAddr>& addresses) const {
  const std::vector<Tensor> all = tensors();
  const auto matrix_of = [&](size_t i, int rows, int columns) -> ExpectedMatrix {
    const uint64_t pitch = all[i].bytes / uint64_t(rows);
    return {all[i].name, addresses[i].value, rows, pitch, int(pitch * 8 / uint64_t(columns))};
  };
  ExpectedProduct product{.a = matrix_of(0, shape_.m, shape_.k),
                          .b = matrix_of(1, shape_.n, shape_.k),
                          .c = matrix_of(all.size() - 1, shape_.m, shape_.n),
                          .k = shape_.k};
  product.a.type = product.b.type = shape_.operands;
  if (is_plain()) product.plain = shape_.output;
  return {.products = {product}, .copies = {}};
}

double Product::bytes() const {
  double sum = 0;
  for (const Tensor& tensor : tensors()) sum += double(tensor.bytes);
  return sum;
}

std::string Product::title() const {
  return fmt::format("{} x {} x {} {}", shape_.m, shape_.n, shape_.k, name(shape_.operands));
}

Check Product::check(const std::vector<const uint8_t*>& tensors) const {
  using MatrixXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int m = shape_.m, n = shape_.n, k = shape_.k;
  const uint8_t* c = tensors.back();
  // A large product is compared on evenly spread rows: every tile row and epilogue warp is hit.
  const double work = double(m) * n * k;
  const int rows = work <= kFullCheckLimit ? m : std::max(1, int(double(m) * kFullCheckLimit / work));
  MatrixXd a_rows(rows, k);
  auto row_of = [&](int i) { return rows == m ? i : int(int64_t(i) * m / rows); };
  for (int i = 0; i < rows; ++i) read_row(0, tensors, row_of(i), &a_rows(i, 0));
  // All of B in float64 would be the largest matrix of a large run.
  const int panel = rows == m ? n : kPanelColumns;
  MatrixXd reference(rows, n), b_panel;
  for (int first = 0; first < n; first += panel) {
    const int columns = std::min(panel, n - first);
    b_panel.resize(columns, k);
    for (int j = 0; j < columns; ++j) read_row(1, tensors, first + j, &b_panel(j, 0));
    vector::kernels().product_f64({.m = rows,
                                   .n = columns,
                                   .k = k,
                                   .a = a_rows.data(),
                                   .a_stride = k,
                                   .b = b_panel.data(),
                                   .b_stride = k,
                                   .d = reference.data() + first,
                                   .d_stride = n,
                                   .accumulate = false});
  }

  double added = 0;
  if (needs_norms()) {
    double norm = 0;  // of C; its root is zero only where ReLU leaves nothing
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < n; ++j) norm += std::pow(finished(reference(i, j), row_of(i), j, tensors), 2);
    added = added_error(reference.norm(), std::sqrt(norm));
  }
  const double limit = error_limit(shape_.output) + added;
  const CutOff cut = cut_off(shape_);
  Comparison comparison(limit + cut.whole, limit + cut.element);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n; ++j) {
      const size_t at = size_t(row_of(i)) * size_t(n) + size_t(j);
      comparison.add_converted(shape_.output, element_of(c, shape_.output, at),
                               finished(reference(i, j), row_of(i), j, tensors), row_of(i), j);
    }
  Check check = comparison.result(rows);
  check.of_rows = m;
  check.unwritten = unwritten_elements(c, m, n, element_bits(shape_.output) / 8);
  if (check.unwritten) check.ok = false;
  return check;
}

}  // namespace sm100::host
