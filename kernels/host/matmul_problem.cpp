// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/matmul_problem.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "kernels/host/comparison.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/number_formats.h"
#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/named_barriers.h"
#include "kernels/matmul/shared_storage.h"
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

/// Values in [-1, 1).
void fill_random(uint8_t* data, size_t elements, DataType type, uint64_t seed) {
  const size_t bytes = size_t(element_bits(type)) / 8;
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < elements; ++i) {
    const uint32_t bits = encode_element(type, float(int64_t(random() >> 40) - (1 << 23)) / float(1 << 23));
    std::memcpy(data + bytes * i, &bits, bytes);
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

/// Largest relative error of rounding to a type.
double unit_roundoff(DataType type) {
  switch (type) {
    case DataType::f32: return std::ldexp(1, -24);
    case DataType::f16: return std::ldexp(1, -11);
    case DataType::e4m3: return std::ldexp(1, -4);
    case DataType::e5m2: return std::ldexp(1, -3);
    default: return std::ldexp(1, -8);
  }
}

/// Above this many multiply-adds only some rows are compared.
constexpr double kFullCheckLimit = 2.2e9;
/// Columns of a large C whose reference is computed at a time.
constexpr int kPanelColumns = 256;

}  // namespace

double error_limit(DataType output) {
  switch (output) {
    case DataType::f32: return 1e-5;
    case DataType::f16: return 1e-3;
    case DataType::e4m3: return 0.0625;
    case DataType::e5m2: return 0.125;
    default: return 1e-2;
  }
}

int MatmulProblem::tiles_m() const { return grid_m(config_, config_.ab_swapped ? n_ : m_); }
int MatmulProblem::tiles_n() const { return grid_n(config_, config_.ab_swapped ? m_ : n_); }

LaunchShape MatmulProblem::launch() const {
  Dim3 grid{uint32_t(tiles_m()), uint32_t(tiles_n()), uint32_t(config_.num_split_k)};
  if (config_.static_scheduler) {  // a cluster for every place on the device, at most one for each tile
    const uint32_t ctas = uint32_t(cluster_size(config_)), clusters = grid.x * grid.y * grid.z / ctas;
    // Clusters lie inside GPCs.  All that are launched must fit at once: splits wait for each other.
    const uint32_t gpc = std::max(1u, uint32_t(gpc_sms_)), sms = uint32_t(sms_);
    const uint32_t places = sms / gpc * (gpc / ctas) + sms % gpc / ctas;
    const uint32_t launched = std::min(clusters, std::max(1u, places));
    grid = {launched * uint32_t(config_.cluster_m), uint32_t(config_.cluster_n), 1};
  }
  return {.grid = grid,
          .cluster = {uint32_t(config_.cluster_m), uint32_t(config_.cluster_n), 1},
          .warps = kMatmulWarps,
          .smem_bytes = shared_storage_bytes(config_),
          .pdl = config_.pdl};
}

std::vector<BarrierArray> MatmulProblem::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config_, shared_storage(config_), [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

std::vector<NamedBarrier> MatmulProblem::named_barriers() const {
  std::vector<NamedBarrier> all;
  for_each_named_barrier(config_, [&](const NamedBarrier& b) { all.push_back(b); });
  return all;
}

std::vector<Tensor> MatmulProblem::tensors() const {
  const uint64_t m = uint64_t(m_), n = uint64_t(n_), k = uint64_t(k_), in = uint64_t(operand_bytes(config_));
  std::vector<Tensor> all = {{"A", m * k * in}, {"B", n * k * in}};
  const uint64_t output = m * n * uint64_t(output_bytes(config_));
  if (config_.bias) all.push_back({"bias", n * 4});
  if (config_.residual) all.push_back({"residual", output});
  if (config_.num_split_k > 1) {
    const uint64_t tiles = uint64_t(tiles_m()) * uint64_t(tiles_n());
    all.push_back({"workspace", tiles * uint64_t(block_m(config_) * config_.mma_n) * 4});
    all.push_back({"locks", tiles * 4, /*locks=*/true});
  }
  all.push_back({"C", output});
  return all;
}

void MatmulProblem::fill(size_t i, uint8_t* bytes) const {
  const Tensor tensor = tensors()[i];
  if (tensor.name == "C" || tensor.name == "workspace") {
    std::memset(bytes, 0xff, tensor.bytes);
    return;
  }
  if (tensor.locks) {
    std::memset(bytes, 0, tensor.bytes);
    return;
  }
  const DataType type = tensor.name == "bias"       ? DataType::f32
                        : tensor.name == "residual" ? config_.output
                                                    : config_.dtype;
  fill_random(bytes, tensor.bytes / (uint64_t(element_bits(type)) / 8), type, seed_ + i * 0x9e3779b97f4a7c15u);
}

/// What the epilogue makes of an accumulator, before the conversion to C's type.
double MatmulProblem::finished(double x, int row, int column, const std::vector<const uint8_t*>& tensors) const {
  const MatmulConfig& c = config_;
  if (has_functor(c) && !c.register_epilogue) x = converted_range(c.output, x);  // the strip holds C's type
  if (c.scaled) x *= double(alpha_);
  if (c.bias) {
    float bias;
    std::memcpy(&bias, tensors[2] + 4 * size_t(column), 4);
    x += double(bias);
  }
  if (c.residual) {
    const size_t bytes = size_t(output_bytes(c));
    uint32_t bits = 0;
    std::memcpy(&bits, tensors[c.bias ? 3 : 2] + bytes * (size_t(row) * size_t(n_) + size_t(column)), bytes);
    x += double(beta_) * double(decode(c.output, bits));
  }
  if (c.activation == Activation::relu) x = std::max(x, 0.0);
  if (c.activation == Activation::silu) x /= 1 + std::exp(-x);
  return x;
}

double MatmulProblem::bytes() const {
  double sum = 0;
  for (const Tensor& tensor : tensors()) sum += double(tensor.bytes);
  return sum;
}

std::string MatmulProblem::title() const { return fmt::format("{} x {} x {} {}", m_, n_, k_, name(config_.dtype)); }

MatmulParams matmul_params(const Scenario& s, const std::vector<GlobalAddr>& addresses,
                           const TensorMapEncoder& encode) {
  const MatmulConfig& c = s.config;
  MatmulParams params;
  // Swapped, the kernel's A is the user's B and its output the transpose of the user's C.
  const bool swapped = c.ab_swapped;
  params.a = encode(matrix_fields({.address = addresses[swapped ? 1 : 0],
                                   .type = tensor_map_type(c.dtype),
                                   .rows = swapped ? s.n : s.m,
                                   .columns = s.k,
                                   .box_rows = a_slice_rows(c),
                                   .box_columns = block_k(c),
                                   .swizzle = c.swizzle}));
  params.b = encode(matrix_fields({.address = addresses[swapped ? 0 : 1],
                                   .type = tensor_map_type(c.dtype),
                                   .rows = swapped ? s.m : s.n,
                                   .columns = s.k,
                                   .box_rows = b_slice_rows(c),
                                   .box_columns = block_k(c),
                                   .swizzle = c.swizzle}));
  params.c = encode(matrix_fields({.address = addresses.back(),
                                   .type = tensor_map_type(c.output),
                                   .rows = s.m,
                                   .columns = s.n,
                                   .box_rows = swapped ? strip_columns(c) : store_rows(c),
                                   .box_columns = swapped ? block_columns(c) : strip_columns(c),
                                   .swizzle = strip_swizzle(c)}));
  params.functor.alpha = s.alpha, params.functor.beta = s.beta;
  params.functor.rows = s.m, params.functor.columns = s.n;
  if (c.bias) params.functor.bias = addresses[2];
  if (c.residual) params.functor.residual = addresses[c.bias ? 3 : 2];
  if (c.num_split_k > 1) {
    params.split.workspace = addresses[addresses.size() - 3];
    params.split.locks = addresses[addresses.size() - 2];
    params.split.tiles_n = grid_n(c, swapped ? s.m : s.n);
  }
  params.m = s.m, params.n = s.n, params.k = s.k;
  return params;
}

Check MatmulProblem::check(const std::vector<const uint8_t*>& tensors) const {
  using MatrixXd = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const int m = m_, n = n_, k = k_;
  const uint8_t *a = tensors[0], *b = tensors[1], *c = tensors.back();
  const auto element = [](const uint8_t* base, DataType type, size_t i) {
    uint32_t bits = 0;
    const size_t bytes = size_t(element_bits(type)) / 8;
    std::memcpy(&bits, base + bytes * i, bytes);
    return double(decode(type, bits));
  };
  // A large product is compared on evenly spread rows: every tile row and epilogue warp is hit.
  const double work = double(m) * n * k;
  const int rows = work <= kFullCheckLimit ? m : std::max(1, int(double(m) * kFullCheckLimit / work));
  MatrixXd a_rows(rows, k);
  auto row_of = [&](int i) { return rows == m ? i : int(int64_t(i) * m / rows); };
  for (int i = 0; i < rows; ++i)
    for (int l = 0; l < k; ++l) a_rows(i, l) = element(a, config_.dtype, size_t(row_of(i)) * size_t(k) + size_t(l));
  // All of B in float64 would be the largest matrix of a large run.
  const int panel = rows == m ? n : kPanelColumns;
  MatrixXd reference(rows, n), b_panel;
  for (int first = 0; first < n; first += panel) {
    const int columns = std::min(panel, n - first);
    b_panel.resize(columns, k);
    for (int j = 0; j < columns; ++j)
      for (int l = 0; l < k; ++l)
        b_panel(j, l) = element(b, config_.dtype, size_t(first + j) * size_t(k) + size_t(l));
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

  // The bit model truncates at every MMA: its error grows with their number.
  const double truncation = bit_model_ ? std::ldexp(double(k_) / config_.mma_k, -24) : 0;
  // The functor on the strip gets accumulators that have been rounded: alpha times that error, steepened at most by
  // SiLU's slope, is in C before its own rounding.
  double first_rounding = 0;
  if (has_functor(config_) && !config_.register_epilogue) {
    constexpr double kSteepest = 1.1;
    double norm = 0;  // of C; its root is zero only where ReLU leaves nothing
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < n; ++j) norm += std::pow(finished(reference(i, j), row_of(i), j, tensors), 2);
    const double slope = config_.activation == Activation::silu ? kSteepest : 1.0;
    const double error = slope * std::abs(double(alpha_)) * unit_roundoff(config_.output) * reference.norm();
    if (norm > 0) first_rounding = error / std::sqrt(norm);
  }
  Comparison comparison(error_limit(config_.output) + truncation + first_rounding);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n; ++j) {
      const size_t at = size_t(row_of(i)) * size_t(n) + size_t(j);
      comparison.add_converted(config_.output, element(c, config_.output, at),
                               finished(reference(i, j), row_of(i), j, tensors), row_of(i), j);
    }
  Check check = comparison.result(rows);
  check.unwritten = unwritten_elements(c, m, n, output_bytes(config_));
  if (check.unwritten) check.ok = false;
  return check;
}

}  // namespace sm100::host
