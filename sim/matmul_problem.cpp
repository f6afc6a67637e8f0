#include "sim/matmul_problem.h"

#include <Eigen/Core>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "kernels/isa/number_formats.h"
#include "kernels/matmul/matmul_kernel.h"

namespace sm100::sim {

namespace {

TensorMapSwizzle tensor_map_swizzle(Swizzle swizzle) {
  switch (swizzle) {
    case Swizzle::b32: return TensorMapSwizzle::b32;
    case Swizzle::b64: return TensorMapSwizzle::b64;
    case Swizzle::b128: return TensorMapSwizzle::b128;
    default: return TensorMapSwizzle::none;
  }
}

TensorMap encode_matrix(GlobalAddr address, TensorMapDataType type, int rows, int columns, int box_rows,
                        int box_columns, Swizzle swizzle) {
  TensorMapFields f{};
  f.data_type = type;
  f.rank = 2;
  f.global_address = address.value;
  f.global_dim[0] = uint64_t(columns);
  f.global_dim[1] = uint64_t(rows);
  f.global_stride[0] = uint64_t(columns) * element_bytes(type);
  f.box_dim[0] = uint32_t(box_columns);
  f.box_dim[1] = uint32_t(box_rows);
  f.element_stride[0] = f.element_stride[1] = 1;
  f.swizzle = tensor_map_swizzle(swizzle);
  if (const TensorMapError error = validate(f); error != TensorMapError::none)
    throw InputError(std::string("the problem has no valid tensor map: ") + message(error));
  return encode(f);
}

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

MatmulProblem::MatmulProblem(const Scenario& scenario, models::MemorySystem& memory)
    : scenario_(scenario), memory_(memory) {
  const MatmulConfig& cfg = scenario.config;
  const bool data = scenario.data == DataMode::full;
  const size_t m = size_t(scenario.m), n = size_t(scenario.n), k = size_t(scenario.k);
  const size_t in = size_t(operand_bytes(cfg)), out = size_t(output_bytes(cfg));
  a_ = memory.allocate("A", m * k * in, data);
  b_ = memory.allocate("B", n * k * in, data);
  c_ = memory.allocate("C", m * n * out, data);
  if (data) {
    fill_random(memory.data(a_, m * k * in), m * k, scenario.seed);
    fill_random(memory.data(b_, n * k * in), n * k, scenario.seed + 0x9e3779b97f4a7c15u);
    std::memset(memory.data(c_, m * n * out), 0xff, m * n * out);
  }
  const TensorMapDataType c_type =
      cfg.output == DataType::f32 ? TensorMapDataType::float32 : TensorMapDataType::bfloat16;
  params_.a = encode_matrix(a_, TensorMapDataType::bfloat16, scenario.m, scenario.k, block_m(cfg), block_k(cfg),
                            cfg.swizzle);
  params_.b = encode_matrix(b_, TensorMapDataType::bfloat16, scenario.n, scenario.k, block_n(cfg), block_k(cfg),
                            cfg.swizzle);
  params_.c =
      encode_matrix(c_, c_type, scenario.m, scenario.n, strip_rows(cfg), strip_columns(cfg), strip_swizzle(cfg));
  params_.m = scenario.m;
  params_.n = scenario.n;
  params_.k = scenario.k;
}

Kernel MatmulProblem::describe(const Scenario& scenario) {
  const MatmulConfig& cfg = scenario.config;
  Kernel kernel;
  kernel.grid = {uint32_t(grid_m(cfg, scenario.m)), uint32_t(grid_n(cfg, scenario.n)), 1};
  kernel.warps = kMatmulWarps;
  kernel.smem_bytes = shared_storage_bytes(cfg);
  kernel.role = [](int warp) { return std::string(matmul_role(warp)); };
  for_each_barrier_array(cfg, shared_storage(cfg),
                         [&](const BarrierArray& array) { kernel.barriers.push_back(array); });
  return kernel;
}

MatmulProblem::Check MatmulProblem::check() const {
  using Eigen::MatrixXd;
  const int m = scenario_.m, n = scenario_.n, k = scenario_.k;
  const uint8_t* a = memory_.data(a_, uint64_t(m) * uint64_t(k) * 2);
  const uint8_t* b = memory_.data(b_, uint64_t(n) * uint64_t(k) * 2);
  const size_t out = size_t(output_bytes(scenario_.config));
  const uint8_t* c = memory_.data(c_, uint64_t(m) * uint64_t(n) * out);
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

  double difference = 0, norm = 0;
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
      const double d = value - reference(i, j);
      difference += d * d;
      norm += reference(i, j) * reference(i, j);
    }
  const double error = norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
  return {std::isnan(error) ? std::numeric_limits<double>::infinity() : error, rows};
}

uint64_t MatmulProblem::output_hash() const {
  const uint64_t bytes = uint64_t(scenario_.m) * uint64_t(scenario_.n) * uint64_t(output_bytes(scenario_.config));
  const uint8_t* c = memory_.data(c_, bytes);
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint64_t i = 0; i < bytes; ++i) hash = (hash ^ c[i]) * 0x100000001b3u;
  return hash;
}

}  // namespace sm100::sim
