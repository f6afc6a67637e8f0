// SPDX-License-Identifier: Apache-2.0
#include "kernels/hopper_matmul/host/hopper_matmul_run.h"

#include <algorithm>

#include "kernels/hopper_matmul/shared_storage.h"
#include "kernels/host/tensor_maps.h"

namespace sm100::host {
namespace {

ProductShape product_of(const Scenario& s) {
  const HopperMatmulProblem& p = s.problem_as<HopperMatmulProblem>();
  const bool bytes = element_bits(p.config.dtype) == 8;
  ProductShape shape{
      .m = p.m, .n = p.n, .k = p.k, .operands = p.config.dtype, .output = p.config.output, .seed = s.seed};
  if (s.numerics == Numerics::b200) {
    shape.truncated_mma_k = wgmma_k({.a = p.config.dtype});
    if (bytes) shape.truncated_bits = kTruncatedBitsOfWgmma8;
  }
  return shape;
}

}  // namespace

HopperMatmulRun::HopperMatmulRun(const Scenario& s)
    : Product(product_of(s)),
      problem_(s.problem_as<HopperMatmulProblem>()),
      persistent_ctas_(s.persistent_ctas()) {}

StaticGrid HopperMatmulRun::grid() const {
  return {.tiles_m = ceil_div(problem_.m, hopper_block_m(config_) * config_.cluster),
          .tiles_n = ceil_div(problem_.n, config_.block_n),
          .k_tiles = ceil_div(problem_.k, hopper_block_k(config_))};
}

/// Persistent: as many clusters as run at once, but no more than there is work for.
LaunchShape HopperMatmulRun::launch() const {
  const StaticGrid tiles = grid();
  const int64_t work = int64_t(tiles.tiles_m) * tiles.tiles_n;
  const int64_t clusters = std::clamp<int64_t>(persistent_ctas_ / config_.cluster, 1, work);
  return {.grid = {uint32_t(clusters * config_.cluster), 1, 1},
          .cluster = {uint32_t(config_.cluster), 1, 1},
          .warps = kHopperWarps,
          .smem_bytes = storage_bytes<HopperStorage>(config_)};
}

std::vector<BarrierArray> HopperMatmulRun::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config_, storage_at<HopperStorage>(config_),
                         [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

std::vector<NamedBarrier> HopperMatmulRun::named_barriers() const {
  std::vector<NamedBarrier> all = {{kHopperStripBarrier, "strip of consumer 0", "consumer"},
                                   {kHopperStripBarrier + 1, "strip of consumer 1", "consumer"}};
  if (is_pingpong(config_)) {
    all.push_back({kHopperTurnBarrier, "turn of consumer 0", "consumer"});
    all.push_back({kHopperTurnBarrier + 1, "turn of consumer 1", "consumer"});
  }
  return all;
}

HopperMatmulParams HopperMatmulRun::params(const std::vector<GlobalAddr>& addresses,
                                           const TensorMapEncoder& encode) const {
  const HopperMatmulConfig& c = config_;
  const HopperMatmulProblem& s = problem_;
  const auto operand = [&](GlobalAddr address, int rows, int box_rows) {
    return encode(matrix_fields({.address = address,
                                 .type = tensor_map_type(c.dtype),
                                 .rows = rows,
                                 .columns = s.k,
                                 .box_rows = box_rows,
                                 .box_columns = hopper_block_k(c),
                                 .swizzle = Swizzle::b128}));
  };
  HopperMatmulParams params;
  params.a = operand(addresses[0], s.m, hopper_block_m(c));
  params.b = operand(addresses[1], s.n, c.block_n / c.cluster);
  params.c = encode(matrix_fields({.address = addresses[2],
                                   .type = tensor_map_type(c.output),
                                   .rows = s.m,
                                   .columns = s.n,
                                   .box_rows = kWgmmaM,
                                   .box_columns = strip_columns(c),
                                   .swizzle = strip_swizzle(c)}));
  params.grid = grid();
  return params;
}

}  // namespace sm100::host
