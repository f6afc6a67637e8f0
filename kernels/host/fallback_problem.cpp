// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/fallback_problem.h"

#include "kernels/fallback/shared_storage.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/isa/arithmetic.h"

namespace sm100::host {
namespace {

/// A matmul scenario of the same product.
Scenario product_of(Scenario s) {
  s.config = {.dtype = DataType::bf16, .output = s.fallback.output};
  return s;
}

}  // namespace

FallbackProblem::FallbackProblem(const Scenario& s)
    : MatmulProblem(product_of(s)), config_(s.fallback), m_(s.m), n_(s.n) {}

LaunchShape FallbackProblem::launch() const {
  return {.grid = {uint32_t(ceil_div(n_, config_.block_n)), uint32_t(ceil_div(m_, config_.block_m)), 1},
          .warps = kFallbackWarps,
          .smem_bytes = fallback_storage_bytes(config_)};
}

std::vector<BarrierArray> FallbackProblem::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(fallback_storage(config_), [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

std::vector<NamedBarrier> FallbackProblem::named_barriers() const { return {{kFallbackBarrier, "step", "warp"}}; }

FallbackParams fallback_params(const Scenario& s, const std::vector<GlobalAddr>& addresses,
                               const TensorMapEncoder& encode) {
  const FallbackConfig& c = s.fallback;
  const auto operand = [&](GlobalAddr address, int rows, int box_rows) {
    return encode(matrix_fields({.address = address,
                                 .rows = rows,
                                 .columns = s.k,
                                 .box_rows = box_rows,
                                 .box_columns = kFallbackBlockK,
                                 .swizzle = c.swizzle}));
  };
  return {.a = operand(addresses[0], s.m, c.block_m),
          .b = operand(addresses[1], s.n, c.block_n),
          .c = addresses[2],
          .m = s.m,
          .n = s.n,
          .k = s.k};
}

}  // namespace sm100::host
