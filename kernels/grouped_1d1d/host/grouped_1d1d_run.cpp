// SPDX-License-Identifier: Apache-2.0
#include "kernels/grouped_1d1d/host/grouped_1d1d_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "kernels/grouped_1d1d/grouped_1d1d_kernel.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/matmul/host/matmul_launch.h"

namespace sm100::host {
namespace {

constexpr size_t kSfa = 2, kSfb = 3;  // of tensors()

/// Element `i` of a row; nibbles lie with the lower one first.
float element(const BlockScaledConfig& c, const uint8_t* row, int i) {
  if (operand_bits(c) == 8) return decode(c.dtype, row[i]);
  return decode(c.dtype, row[i / 2] >> 4 * (i % 2) & 0xf);
}

ProductShape shape_of(const Scenario& s) {
  const Grouped1d1dProblem& p = s.problem_as<Grouped1d1dProblem>();
  return {.m = int(token_rows(p).rows),
          .n = p.n,
          .k = p.k,
          .operands = p.config.dtype,
          .output = p.config.output,
          .seed = s.seed,
          .truncated_mma_k = s.numerics == Numerics::b200 ? p.config.mma_k : 0};
}

Grouped1d1dRun::Tokens tokens_of(const Grouped1d1dProblem& p) {
  return {.problem = p,
          .schedule = p.config,
          .tile_rows = token_rows(p.config),
          .scaled = p.config.scaled,
          .scale_granule = scale_granule_rows(p.config),
          .rows_per_scale_group = rows_per_scale_group(p.config)};
}

}  // namespace

Grouped1d1dRun::Grouped1d1dRun(const Scenario& s)
    : TokenProduct(shape_of(s), tokens_of(s.problem_as<Grouped1d1dProblem>())),
      problem_(s.problem_as<Grouped1d1dProblem>()),
      sms_(s.sms_in_run()),
      gpc_sms_(s.device.device.gpc_sms) {}

/// The products of TokenProduct, in its order, with their scales.
ExpectedResult Grouped1d1dRun::expected_result(const std::vector<GlobalAddr>& addresses) const {
  ExpectedResult result = TokenProduct::expected_result(addresses);
  const auto scales = [&](int operand, int first_row, int rows) -> ExpectedMatrix {
    const ScaleTensor tensor = scales_of(operand);
    const uint64_t pitch = tensor.bytes() / uint64_t(tensor.row_groups());
    return {operand == 0 ? "SFA" : "SFB",
            addresses[kSfa + size_t(operand)].value + uint64_t(first_row / kScaleAtomRows) * pitch, rows, pitch, 8};
  };
  size_t next = 0;
  for (const TokenGroup& group : rows().groups) {
    if (!group.has_work()) continue;
    ExpectedProduct& product = result.products[next++];
    product.sfa = scales(0, int(group.first_scale_row), int(group.rows));
    product.sfb = scales(1, group.expert * expert_scale_rows(), problem_.n);
    product.scale_block = scale_block(config_);
    product.scale_type = config_.scale_type;
    if (config_.scaled)
      product.terms = ExpectedTerms{.output = config_.output,
                                    .alpha = double(expert_scale(group.expert)),
                                    .alpha_name = expert_scale_name(group.expert)};
  }
  return result;
}

ScaleTensor Grouped1d1dRun::scales_of(int operand) const {
  return {.rows = operand == 0 ? int(rows().scale_rows) : problem_.num_experts * expert_scale_rows(),
          .scales = ceil_div(problem_.k, scale_block(config_)),
          .type = config_.scale_type};
}

/// A pair or a CTA for every place on the device, at most one for each tile.
LaunchShape Grouped1d1dRun::launch() const {
  Grouped1d1dConfig persistent = config_;
  persistent.static_scheduler = true;
  const auto tiles = uint32_t(std::clamp<int64_t>(group_tiles(problem_, config_), 1, 1 << 20));
  return matmul_launch(persistent, {tiles * uint32_t(config_.cta_group), 1, 1},
                       storage_bytes<Grouped1d1dStorage>(config_), sms_, gpc_sms_);
}

std::vector<BarrierArray> Grouped1d1dRun::barriers() const { return barriers_of<Grouped1d1dStorage>(config_); }
std::vector<NamedBarrier> Grouped1d1dRun::named_barriers() const { return matmul_named_barriers(config_); }

std::vector<Tensor> Grouped1d1dRun::tensors() const {
  const auto operand = [&](const char* name, int rows) {
    return Tensor{.name = name,
                  .bytes = uint64_t(rows) * uint64_t(row_bytes()),
                  .type = operand_bits(config_) == 8 ? sm100::name(config_.dtype) : "e2m1x2",
                  .rows = rows,
                  .columns = problem_.k};
  };
  std::vector<Tensor> all = {operand("A", int(rows().rows)),
                             operand("B", problem_.num_experts * problem_.n),
                             {.name = "SFA", .bytes = scales_of(0).bytes()},
                             {.name = "SFB", .bytes = scales_of(1).bytes()}};
  for (const Tensor& table : tables()) all.push_back(table);
  all.push_back(c());
  return all;
}

void Grouped1d1dRun::fill(size_t i, uint8_t* bytes) const {
  if (i == kSfa || i == kSfb) {
    scales_of(int(i - kSfa)).fill(shape().seed + i, 0, bytes);
    fill_scale_padding(int(i - kSfa), bytes);
  } else if (i < kSfa && operand_bits(config_) == 4) {  // every code is a number
    std::mt19937_64 random(shape().seed + i);
    const uint64_t count = tensors()[i].bytes;
    for (uint64_t byte = 0; byte < count; ++byte) bytes[byte] = uint8_t(random() >> 32);
  } else {
    TokenProduct::fill(i, bytes);
  }
}

/// Rows of whole atoms that no token, or no row of an expert, has.
void Grouped1d1dRun::fill_scale_padding(int operand, uint8_t* bytes) const {
  const ScaleTensor scales = scales_of(operand);
  const uint8_t padding = problem_.scale_padding == ScalePadding::nan ? nan_scale(config_.scale_type) : 0;
  const auto pad = [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row)
      for (int j = 0; j < scales.k_atoms() * kScaleAtomScales; ++j)
        bytes[scale_offset(int(row), j, scales.k_atoms())] = padding;
  };
  if (operand == 1) {
    for (int e = 0; e < problem_.num_experts; ++e)
      pad(int64_t{e} * expert_scale_rows() + problem_.n, int64_t{e + 1} * expert_scale_rows());
  } else {
    for (size_t g = 0; g < rows().groups.size(); ++g) {
      const bool last = g + 1 == rows().groups.size();
      pad(rows().groups[g].first_scale_row + rows().groups[g].rows,
          last ? rows().scale_rows : rows().groups[g + 1].first_scale_row);
    }
  }
  for (int row = 0; row < scales.rows; ++row)  // along K
    for (int j = scales.scales; j < scales.k_atoms() * kScaleAtomScales; ++j)
      bytes[scale_offset(row, j, scales.k_atoms())] = padding;
}

void Grouped1d1dRun::read_values(int operand, const std::vector<const uint8_t*>& tensors, int row, int scale_row,
                                 double* values) const {
  const uint8_t* elements = tensors[size_t(operand)] + size_t(row) * size_t(row_bytes());
  const ScaleTensor scales = scales_of(operand);
  const int block = scale_block(config_);
  for (int first = 0; first < problem_.k; first += block) {
    const double scale = scales.value(tensors[kSfa + size_t(operand)], scale_row, first / block);
    for (int i = first; i < std::min(first + block, problem_.k); ++i)
      values[i] = scale * double(element(config_, elements, i));
  }
}

void Grouped1d1dRun::read_token(const std::vector<const uint8_t*>& tensors, const TokenGroup& group, int token,
                                double* values) const {
  read_values(0, tensors, group.first_row + token, group.first_scale_row + token, values);
}

void Grouped1d1dRun::read_weights(const std::vector<const uint8_t*>& tensors, int expert, int row,
                                  double* values) const {
  read_values(1, tensors, expert * problem_.n + row, expert * expert_scale_rows() + row, values);
}

std::string Grouped1d1dRun::title() const { return groups_text() + " " + operand_name(config_); }

std::string Grouped1d1dRun::chosen_configuration() const {
  if (!problem_.auto_config) return {};
  return fmt::format("mma [{}, {}, {}], cta_group {}{}", config_.mma_m, config_.mma_n, config_.mma_k,
                     config_.cta_group, config_.ab_swapped ? ", swapped" : "");
}

Grouped1d1dParams Grouped1d1dRun::params(const std::vector<GlobalAddr>& addresses,
                                         const TensorMapEncoder& encode) const {
  const Grouped1d1dConfig& c = config_;
  const Grouped1d1dProblem& s = problem_;
  // Swapped, the kernel's A is the experts' B and its output the transpose of C.
  const bool swapped = c.ab_swapped;
  const int a = swapped ? 1 : 0, b = 1 - a;
  const auto operand_map = [&](int operand, int box_rows) {
    return encode(matrix_fields({.address = addresses[size_t(operand)],
                                 .type = TensorMapDataType::uint8,
                                 .rows = operand == 0 ? int(rows().rows) : s.num_experts * s.n,
                                 .columns = row_bytes(),
                                 .box_rows = box_rows,
                                 .box_columns = kTileRowBytes,
                                 .swizzle = c.swizzle}));
  };
  const auto scale_map = [&](int operand, const ScaleShape& box) {
    return encode(scales_of(operand).map_fields(addresses[kSfa + size_t(operand)], box));
  };
  Grouped1d1dParams params;
  params.a = operand_map(a, a_slice_rows(c)), params.b = operand_map(b, b_slice_rows(c));
  params.sfa = scale_map(a, sfa_tile(c)), params.sfb = scale_map(b, sfb_tile(c));
  params.c = encode(matrix_fields({.address = addresses.back(),
                                   .type = tensor_map_type(c.output),
                                   .rows = int(rows().rows),
                                   .columns = s.n,
                                   .box_rows = swapped ? strip_columns(c) : store_rows(c),
                                   .box_columns = swapped ? block_columns(c) : strip_columns(c),
                                   .swizzle = strip_swizzle(c)}));
  params.functor.rows = int(rows().rows), params.functor.columns = s.n;
  params.m = int(rows().rows), params.n = s.n, params.k = s.k;

  params.groups = group_params(addresses);
  return params;
}

}  // namespace sm100::host
