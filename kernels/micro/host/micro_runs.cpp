// SPDX-License-Identifier: Apache-2.0
#include "kernels/micro/host/micro_runs.h"

#include <fmt/format.h>

#include "kernels/host/tensor_maps.h"
#include "kernels/isa/arithmetic.h"

namespace sm100::host {

// ---- umma_batches

LaunchShape UmmaBatchesRun::launch() const {
  const uint32_t ctas = uint32_t(config_.cta_group);
  return {.grid = {ctas, 1, 1},
          .cluster = {ctas, 1, 1},
          .warps = kUmmaBatchesWarps,
          .smem_bytes = storage_bytes<UmmaBatchesStorage>(config_)};
}

std::vector<BarrierArray> UmmaBatchesRun::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config_, storage_at<UmmaBatchesStorage>(config_),
                         [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

std::vector<NamedBarrier> UmmaBatchesRun::named_barriers() const {
  return {{kUmmaBatchesBarrier, "set-up", "mma, waiter"}};
}

double UmmaBatchesRun::flops() const {
  return 2.0 * config_.m * config_.n * mma_k(config_.kind) * config_.depth * config_.batches;
}

std::string UmmaBatchesRun::title() const {
  return fmt::format("{} batches of {} MMAs, {} x {} x {} kind::{}", config_.batches, config_.depth, config_.m,
                     config_.n, mma_k(config_.kind), name(config_.kind));
}

// ---- tma_tiles

LaunchShape TmaTilesRun::launch() const {
  return {.grid = {uint32_t(ctas()), 1, 1},
          .cluster = {uint32_t(config_.cluster), 1, 1},
          .warps = config_.warps,
          .smem_bytes = storage_bytes<TmaTilesStorage>(config_)};
}

std::vector<BarrierArray> TmaTilesRun::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config_, storage_at<TmaTilesStorage>(config_),
                         [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

int TmaTilesRun::rows() const {
  return ceil_div(ctas(), config_.sharers) * distinct_tiles(config_) * config_.warps * config_.box_height;
}

std::vector<Tensor> TmaTilesRun::tensors() const {
  const uint64_t bytes = uint64_t(rows()) * uint64_t(config_.box_width) * 4;
  return {{"source", bytes}, {"target", config_.writes > 0 ? bytes : 256}};
}

double TmaTilesRun::bytes() const { return double(rows()) * config_.box_width * 4; }

std::string TmaTilesRun::title() const {
  return fmt::format("{} tiles of {} x {} f32 for each of {} warps on {} CTAs", config_.tiles, config_.box_height,
                     config_.box_width, config_.warps, ctas());
}

TmaTilesParams TmaTilesRun::params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const {
  const TmaTilesConfig& c = config_;
  const auto tiles = [&](GlobalAddr address, int box_rows) {
    return encode(matrix_fields({.address = address,
                                 .type = TensorMapDataType::float32,
                                 .rows = rows(),
                                 .columns = c.box_width,
                                 .box_rows = box_rows,
                                 .box_columns = c.box_width,
                                 .swizzle = Swizzle::none}));
  };
  return {.source = tiles(addresses[0], c.box_height),
          .target = c.writes > 0 ? tiles(addresses[1], c.box_height) : TensorMap{},
          .observed = c.observer_rows > 0 ? tiles(addresses[0], c.observer_rows) : TensorMap{}};
}

}  // namespace sm100::host
