// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/direct_problem.h"

#include "kernels/direct/operand_slabs.h"
#include "kernels/direct/shared_storage.h"
#include "kernels/host/tensor_maps.h"

namespace sm100::host {
namespace {

/// A matmul scenario of the same product.
Scenario product_of(Scenario s) {
  s.config = {.dtype = DataType::bf16, .output = DataType::bf16};
  return s;
}

}  // namespace

DirectProblem::DirectProblem(const Scenario& s)
    : MatmulProblem(product_of(s)), config_(s.direct), m_(s.m), n_(s.n) {}

LaunchShape DirectProblem::launch() const {
  return {.grid = {uint32_t(m_ / kDirectBlockM) * uint32_t(n_ / config_.block_n), 1, 1},
          .cluster = {uint32_t(config_.cta_group), 1, 1},
          .warps = kDirectWarps,
          .smem_bytes = direct_storage_bytes(config_)};
}

std::vector<BarrierArray> DirectProblem::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config_, direct_storage(config_), [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

std::vector<std::string_view> DirectProblem::roles() const {
  if (config_.roles == DirectRoles::one_thread) return {"main", "epilogue"};
  return {"load", "mma", "epilogue"};
}

std::vector<NamedBarrier> DirectProblem::named_barriers() const {
  return {{kDirectBarrier, "block",
           config_.roles == DirectRoles::one_thread ? "main, epilogue" : "load, mma, epilogue"}};
}

DirectParams direct_params(const Scenario& s, const std::vector<GlobalAddr>& addresses,
                           const TensorMapEncoder& encode) {
  const DirectConfig& c = s.direct;
  const auto operand = [&](GlobalAddr address, int rows, int box_rows) {
    const SlabMap map{.address = address,
                      .rows = rows,
                      .columns = s.k,
                      .box_rows = box_rows,
                      .slab_columns = slab_elements(c),
                      .box_slabs = c.tma_rank == 3 ? slabs(c) : 0,
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
