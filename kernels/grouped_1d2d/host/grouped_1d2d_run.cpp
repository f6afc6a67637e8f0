// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d2d/host/grouped_1d2d_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/blockwise/host/block_scales.h"
#include "kernels/grouped_1d2d/grouped_1d2d_kernel.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/matmul/host/matmul_launch.h"

namespace sm100::host {
namespace {

constexpr size_t kScaleA = 2, kScaleB = 3;  // of tensors()
constexpr int kBlock = BlockwiseConfig::scale_block;

ProductShape shape_of(const Scenario& s) {
  const Grouped1d2dProblem& p = s.problem_as<Grouped1d2dProblem>();
  return {.m = int(token_rows(p, p.config.layout, 1).rows),
          .n = p.n,
          .k = p.k,
          .operands = p.config.dtype,
          .output = p.config.output,
          .seed = s.seed,
          .truncated_mma_k = s.numerics == Numerics::b200 ? p.config.mma_k : 0};
}

TokenProduct::Tokens tokens_of(const Grouped1d2dProblem& p) {
  return {.problem = p,
          .schedule = p.config,
          .tile_rows = token_rows(p.config),
          .scaled = p.config.scaled,
          .scale_granule = scale_granule_rows(p.config),
          .rows_per_scale_group = rows_per_scale_group(p.config)};
}

}  // namespace

Grouped1d2dRun::Grouped1d2dRun(const Scenario& s)
    : TokenProduct(shape_of(s), tokens_of(s.problem_as<Grouped1d2dProblem>())),
      problem_(s.problem_as<Grouped1d2dProblem>()),
      sms_(s.sms_in_run()),
      gpc_sms_(s.device.device.gpc_sms) {}

int Grouped1d2dRun::k_blocks() const { return ceil_div(problem_.k, kBlock); }
int Grouped1d2dRun::n_blocks() const { return ceil_div(problem_.n, kBlock); }
int Grouped1d2dRun::a_scale_pitch() const { return int(rows().scale_rows); }

/// A pair or a CTA for every place on the device, at most one for each tile.
LaunchShape Grouped1d2dRun::launch() const {
  Grouped1d2dConfig persistent = config_;
  persistent.static_scheduler = true;
  const auto tiles = uint32_t(std::clamp<int64_t>(group_tiles(problem_, config_), 1, 1 << 20));
  return matmul_launch(persistent, {tiles * uint32_t(config_.cta_group), 1, 1},
                       storage_bytes<Grouped1d2dStorage>(config_), sms_, gpc_sms_);
}

std::vector<BarrierArray> Grouped1d2dRun::barriers() const { return barriers_of<Grouped1d2dStorage>(config_); }
std::vector<NamedBarrier> Grouped1d2dRun::named_barriers() const { return matmul_named_barriers(config_); }

std::vector<Tensor> Grouped1d2dRun::tensors() const {
  std::vector<Tensor> all = {
      a(), matrix("B", config_.dtype, int64_t{problem_.num_experts} * problem_.n, problem_.k),
      matrix("scale A", config_.scale_dtype, k_blocks(), a_scale_pitch()),
      matrix("scale B", config_.scale_dtype, int64_t{problem_.num_experts} * n_blocks(), k_blocks())};
  for (const Tensor& table : tables()) all.push_back(table);
  all.push_back(c());
  return all;
}

/// Rows that no token has get scales that no product survives.
void Grouped1d2dRun::fill(size_t i, uint8_t* bytes) const {
  if (i != kScaleA && i != kScaleB) return TokenProduct::fill(i, bytes);
  BlockScales scales(config_.scale_dtype, bytes);
  scales.fill(shape().seed + i, tensors()[i].bytes);
  if (i != kScaleA) return;
  std::vector<bool> tokens(size_t(a_scale_pitch()), false);
  for (const TokenGroup& group : rows().groups)
    std::fill_n(tokens.begin() + group.first_scale_row, group.rows, true);
  for (int block = 0; block < k_blocks(); ++block)
    for (int row = 0; row < a_scale_pitch(); ++row)
      if (!tokens[size_t(row)])
        scales.set(int64_t{block} * a_scale_pitch() + row, std::numeric_limits<float>::quiet_NaN());
}

void Grouped1d2dRun::read_token(const std::vector<const uint8_t*>& tensors, const TokenGroup& group, int token,
                                double* values) const {
  read_row(0, tensors, group.first_row + token, values);
  const int scale_row = group.first_scale_row + token;
  for (int k = 0; k < problem_.k; ++k)
    values[k] *=
        block_scale(config_.scale_dtype, tensors[kScaleA], int64_t{k / kBlock} * a_scale_pitch() + scale_row);
}

void Grouped1d2dRun::read_weights(const std::vector<const uint8_t*>& tensors, int expert, int row,
                                  double* values) const {
  read_row(1, tensors, expert * problem_.n + row, values);
  const int64_t block = int64_t{expert} * n_blocks() + row / kBlock;
  for (int k = 0; k < problem_.k; ++k)
    values[k] *= block_scale(config_.scale_dtype, tensors[kScaleB], block * k_blocks() + k / kBlock);
}

/// The products of TokenProduct, in its order, with their scales and factors.
ExpectedResult Grouped1d2dRun::expected_result(const std::vector<GlobalAddr>& addresses) const {
  ExpectedResult result = TokenProduct::expected_result(addresses);
  const int bits = element_bits(config_.scale_dtype);
  const uint64_t bytes = uint64_t(bits) / 8, expert_bytes = uint64_t(n_blocks()) * uint64_t(k_blocks()) * bytes;
  size_t next = 0;
  for (const TokenGroup& group : rows().groups) {
    if (!group.has_work()) continue;
    ExpectedBlockScales scales{.output = config_.output, .size = kBlock};
    scales.a = {.name = "scale A",
                .address = addresses[kScaleA].value + uint64_t(group.first_scale_row) * bytes,
                .rows = group.rows,
                .pitch = bytes,
                .bits = bits,
                .k_pitch = uint64_t(a_scale_pitch()) * bytes,
                .type = config_.scale_dtype};
    scales.b = {.name = "scale B",
                .address = addresses[kScaleB].value + uint64_t(group.expert) * expert_bytes,
                .rows = n_blocks(),
                .pitch = uint64_t(k_blocks()) * bytes,
                .bits = bits,
                .type = config_.scale_dtype};
    if (config_.scaled)
      scales.factor = double(expert_scale(group.expert)), scales.factor_name = expert_scale_name(group.expert);
    result.products[next++].block_scales = std::move(scales);
  }
  return result;
}

std::string Grouped1d2dRun::title() const {
  return fmt::format("{} {} blockwise{}", groups_text(), name(config_.dtype),
                     config_.scale_dtype == DataType::bf16 ? ", bf16 scales" : "");
}

std::string Grouped1d2dRun::chosen_configuration() const {
  if (!problem_.auto_config) return {};
  return fmt::format("mma [{}, {}, {}], cta_group {}", config_.mma_m, config_.mma_n, config_.mma_k,
                     config_.cta_group);
}

Grouped1d2dParams Grouped1d2dRun::params(const std::vector<GlobalAddr>& addresses,
                                         const TensorMapEncoder& encode) const {
  const Grouped1d2dConfig& c = config_;
  const Grouped1d2dProblem& s = problem_;
  const auto operand_map = [&](size_t operand, int rows, int box_rows) {
    return encode(matrix_fields({.address = addresses[operand],
                                 .type = tensor_map_type(c.dtype),
                                 .rows = rows,
                                 .columns = s.k,
                                 .box_rows = box_rows,
                                 .box_columns = block_k(c),
                                 .swizzle = c.swizzle}));
  };
  Grouped1d2dParams params;
  params.a = operand_map(0, shape().m, a_slice_rows(c));
  params.b = operand_map(1, s.num_experts * s.n, b_slice_rows(c));
  params.a_scales = encode(matrix_fields({.address = addresses[kScaleA],
                                          .type = tensor_map_type(c.scale_dtype),
                                          .rows = k_blocks(),
                                          .columns = a_scale_pitch(),
                                          .box_rows = 1,
                                          .box_columns = block_m(c)}));
  params.b_scales = addresses[kScaleB];
  params.n_blocks = n_blocks(), params.k_blocks = k_blocks();
  params.c = encode(matrix_fields({.address = addresses.back(),
                                   .type = tensor_map_type(c.output),
                                   .rows = shape().m,
                                   .columns = s.n,
                                   .box_rows = store_rows(c),
                                   .box_columns = strip_columns(c),
                                   .swizzle = strip_swizzle(c)}));
  params.functor.rows = shape().m, params.functor.columns = s.n;
  params.m = shape().m, params.n = s.n, params.k = s.k;
  params.groups = group_params(addresses);
  return params;
}

}  // namespace sm100::host
