// SPDX-License-Identifier: Apache-2.0
#include "kernels/direct/host/direct_run.h"

#include <algorithm>

#include "kernels/direct/shared_storage.h"
#include "kernels/host/tensor_maps.h"

namespace sm100::host {
namespace {

ProductShape product_of(const Scenario& s) {
  const DirectProblem& p = s.problem_as<DirectProblem>();
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .output = DataType::bf16,
          .seed = s.seed,
          .truncated_mma_k = s.numerics == Numerics::b200 ? mma_k(MmaKind::f16) : 0};
}

}  // namespace

DirectRun::DirectRun(const Scenario& s)
    : Product(product_of(s)), problem_(s.problem_as<DirectProblem>()), resident_ctas_(s.persistent_ctas()) {}

LaunchShape DirectRun::launch() const {
  const auto group = uint32_t(config_.cta_group);
  uint32_t ctas = uint32_t(problem_.m / kDirectBlockM) * uint32_t(problem_.n / config_.block_n);
  if (is_persistent(config_)) {
    const uint32_t most = uint32_t(problem_.ctas > 0 ? problem_.ctas : resident_ctas_) / group * group;
    ctas = std::min(ctas, std::max(most, group));
  }
  return {.grid = {ctas, 1, 1},
          .cluster = {group, 1, 1},
          .warps = direct_warps(config_),
          .smem_bytes = storage_bytes<DirectStorage>(config_)};
}

std::vector<BarrierArray> DirectRun::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config_, storage_at<DirectStorage>(config_),
                         [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

std::vector<std::string_view> DirectRun::roles() const {
  if (config_.roles == DirectRoles::one_thread) return {"main", "epilogue"};
  return {"load", "mma", "epilogue"};
}

std::vector<NamedBarrier> DirectRun::named_barriers() const {
  return {{kDirectBarrier, "block",
           config_.roles == DirectRoles::one_thread ? "main, epilogue" : "load, mma, epilogue"}};
}

DirectParams DirectRun::params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const {
  const DirectConfig& c = config_;
  const DirectProblem& s = problem_;
  const TileShape tile = direct_a_tile(c);  // slabs are as wide in both operands
  const auto operand = [&](GlobalAddr address, int rows, int box_rows) {
    const SlabMap map{.address = address,
                      .rows = rows,
                      .columns = s.k,
                      .box_rows = box_rows,
                      .slab_columns = tile.slab_columns(),
                      .box_slabs = c.tma_rank == 3 ? tile.slabs() : 0,
                      .swizzle = c.swizzle};
    return encode(slab_fields(map));
  };
  return {.a = operand(addresses[0], s.m, kDirectBlockM),
          .b = operand(addresses[1], s.n, direct_b_rows(c)),
          .c = addresses[2],
          .m = s.m,
          .n = s.n,
          .k = s.k};
}

}  // namespace sm100::host
