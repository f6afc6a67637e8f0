#include "kernels/host/matmul_problem.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <cstring>
#include <random>

#include "kernels/host/comparison.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/isa/number_formats.h"
#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100::host {

namespace {

void fill_random(uint8_t* data, size_t elements, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t i = 0; i < elements; ++i) {
    const float value = float(int64_t(random() >> 40) - (1 << 23)) / float(1 << 23);
    const uint16_t bits = cvt_rn_bf16_f32(value);
    std::memcpy(data + 2 * i, &bits, 2);
  }
}

/// Above this many multiply-adds only some rows are compared.
constexpr double kFullCheckLimit = 2.2e9;

}  // namespace

double error_limit(DataType output) { return output == DataType::f32 ? 1e-5 : 1e-2; }

LaunchShape MatmulProblem::launch() const {
  return {.grid = {uint32_t(grid_m(config_, m_)), uint32_t(grid_n(config_, n_)), 1},
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

std::vector<Tensor> MatmulProblem::tensors() const {
  const uint64_t m = uint64_t(m_), n = uint64_t(n_), k = uint64_t(k_), in = uint64_t(operand_bytes(config_));
  return {{"A", m * k * in}, {"B", n * k * in}, {"C", m * n * uint64_t(output_bytes(config_))}};
}

void MatmulProblem::fill(size_t i, uint8_t* bytes) const {
  const uint64_t count = tensors()[i].bytes;
  if (i == 2) {
    std::memset(bytes, 0xff, count);
  } else {
    fill_random(bytes, count / 2, seed_ + i * 0x9e3779b97f4a7c15u);
  }
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
  params.a = encode(matrix_fields({.address = addresses[0],
                                   .rows = s.m,
                                   .columns = s.k,
                                   .box_rows = a_slice_rows(c),
                                   .box_columns = block_k(c),
                                   .swizzle = c.swizzle}));
  params.b = encode(matrix_fields({.address = addresses[1],
                                   .rows = s.n,
                                   .columns = s.k,
                                   .box_rows = b_slice_rows(c),
                                   .box_columns = block_k(c),
                                   .swizzle = c.swizzle}));
  params.c = encode(
      matrix_fields({.address = addresses[2],
                     .type = c.output == DataType::f32 ? TensorMapDataType::float32 : TensorMapDataType::bfloat16,
                     .rows = s.m,
                     .columns = s.n,
                     .box_rows = store_rows(c),
                     .box_columns = strip_columns(c),
                     .swizzle = strip_swizzle(c)}));
  params.m = s.m, params.n = s.n, params.k = s.k;
  return params;
}

Check MatmulProblem::check(const std::vector<const uint8_t*>& tensors) const {
  using Eigen::MatrixXd;
  const int m = m_, n = n_, k = k_;
  const uint8_t *a = tensors[0], *b = tensors[1], *c = tensors[2];
  const size_t out = size_t(output_bytes(config_));
  auto bf16 = [](const uint8_t* base, size_t i) {
    uint16_t bits;
    std::memcpy(&bits, base + 2 * i, 2);
    return double(decode_bf16(bits));
  };
  // A large product is compared on evenly spread rows: every tile row and epilogue warp is hit.
  const double work = double(m) * n * k;
  const int rows = work <= kFullCheckLimit ? m : std::max(1, int(double(m) * kFullCheckLimit / work));
  MatrixXd b_matrix(n, k), a_rows(rows, k);
  for (int j = 0; j < n; ++j)
    for (int l = 0; l < k; ++l) b_matrix(j, l) = bf16(b, size_t(j) * size_t(k) + size_t(l));
  auto row_of = [&](int i) { return rows == m ? i : int(int64_t(i) * m / rows); };
  for (int i = 0; i < rows; ++i)
    for (int l = 0; l < k; ++l) a_rows(i, l) = bf16(a, size_t(row_of(i)) * size_t(k) + size_t(l));
  const MatrixXd reference = a_rows * b_matrix.transpose();

  Comparison comparison(error_limit(config_.output));
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < n; ++j) {
      const size_t at = size_t(row_of(i)) * size_t(n) + size_t(j);
      double value;
      if (out == 4) {
        float f;
        std::memcpy(&f, c + 4 * at, 4);
        value = f;
      } else {
        value = bf16(c, at);
      }
      comparison.add(value, reference(i, j), row_of(i), j);
    }
  return comparison.result(rows);
}

}  // namespace sm100::host
