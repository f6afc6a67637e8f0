// SPDX-License-Identifier: Apache-2.0
#include "kernels/fallback/host/fallback_run.h"

#include "kernels/fallback/shared_storage.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/isa/arithmetic.h"

namespace sm100::host {
namespace {

ProductShape product_of(const Scenario& s) {
  const FallbackProblem& p = s.problem_as<FallbackProblem>();
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .output = p.config.output,
          .seed = s.seed,
          .truncated_mma_k = s.numerics == Numerics::b200 ? mma_k(MmaKind::f16) : 0};
}

}  // namespace

FallbackRun::FallbackRun(const Scenario& s) : Product(product_of(s)), problem_(s.problem_as<FallbackProblem>()) {}

LaunchShape FallbackRun::launch() const {
  return {
      .grid = {uint32_t(ceil_div(problem_.n, config_.block_n)), uint32_t(ceil_div(problem_.m, config_.block_m)), 1},
      .warps = kFallbackWarps,
      .smem_bytes = storage_bytes<FallbackStorage>(config_)};
}

std::vector<BarrierArray> FallbackRun::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config_, storage_at<FallbackStorage>(config_),
                         [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

std::vector<NamedBarrier> FallbackRun::named_barriers() const { return {{kFallbackBarrier, "step", "warp"}}; }

FallbackParams FallbackRun::params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const {
  const FallbackConfig& c = config_;
  const FallbackProblem& s = problem_;
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
