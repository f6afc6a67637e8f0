// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_scaled/host/block_scaled_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "kernels/block_scaled/block_scaled_kernel.h"
#include "kernels/block_scaled/host/quantized_reference.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/matmul/host/matmul_launch.h"

namespace sm100::host {
namespace {

constexpr uint8_t kNoScale = 0xff;  // what SFD holds before: NaN

/// Element `i` of a row; nibbles lie with the lower one first.
float element(const BlockScaledConfig& c, const uint8_t* row, int i) {
  if (operand_bits(c) == 8) return decode(c.dtype, row[i]);
  return decode(c.dtype, row[i / 2] >> 4 * (i % 2) & 0xf);
}

ProductShape shape_of(const Scenario& s, const BlockScaledProblem& p, uint64_t seed) {
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .operands = p.config.dtype,
          .output = p.config.output,
          .seed = seed,
          .truncated_mma_k = s.numerics == Numerics::b200 ? p.config.mma_k : 0};
}

}  // namespace

BlockScaledRun::BlockScaledRun(const Scenario& s) : BlockScaledRun(s, s.problem_as<BlockScaledProblem>(), s.seed) {}

BlockScaledRun::BlockScaledRun(const Scenario& s, const BlockScaledProblem& problem, uint64_t seed)
    : Product(shape_of(s, problem, seed)),
      problem_(problem),
      numerics_(s.numerics),
      sms_(s.sms_in_run()),
      gpc_sms_(s.device.device.gpc_sms) {}

ScaleTensor BlockScaledRun::scales_of(int operand) const {
  return {.rows = operand == 0 ? problem_.m : problem_.n,
          .scales = ceil_div(problem_.k, scale_block(config_)),
          .type = config_.scale_type};
}

ScaleTensor BlockScaledRun::output_scales() const {
  const OutputScaling& how = config_.scaled_output;
  const bool rows = how.direction == ScaleDirection::rows;
  return {.rows = rows ? problem_.m : problem_.n,
          .scales = ceil_div(rows ? problem_.n : problem_.m, how.block),
          .type = how.type};
}

LaunchShape BlockScaledRun::launch() const {
  const bool swapped = config_.ab_swapped;
  const Dim3 tiles{uint32_t(grid_m(config_, swapped ? problem_.n : problem_.m)),
                   uint32_t(grid_n(config_, swapped ? problem_.m : problem_.n)), 1};
  LaunchShape shape = matmul_launch(config_, tiles, storage_bytes<BlockScaledStorage>(config_), sms_, gpc_sms_);
  shape.warps = warps(config_);
  return shape;
}

std::vector<std::string_view> BlockScaledRun::roles() const {
  std::vector<std::string_view> all = {"scheduler", "load", "mma", "epilogue"};
  if (stores_sfb(config_)) all.insert(all.end(), {"sfb_load", "sfb_store"});
  return all;
}

std::vector<BarrierArray> BlockScaledRun::barriers() const { return barriers_of<BlockScaledStorage>(config_); }
std::vector<NamedBarrier> BlockScaledRun::named_barriers() const {
  std::vector<NamedBarrier> all;
  for_each_named_barrier(config_, [&](const NamedBarrier& b) { all.push_back(b); });
  return all;
}

std::vector<Tensor> BlockScaledRun::tensors() const {
  const auto operand = [&](const char* name, int rows) {
    return Tensor{.name = name,
                  .bytes = uint64_t(rows) * uint64_t(row_bytes()),
                  .type = operand_bits(config_) == 8 ? sm100::name(config_.dtype) : "e2m1x2",
                  .rows = rows,
                  .columns = problem_.k};
  };
  std::vector<Tensor> all = {operand("A", problem_.m),
                             operand("B", problem_.n),
                             {.name = "SFA", .bytes = scales_of(0).bytes()},
                             {.name = "SFB", .bytes = scales_of(1).bytes()}};
  Tensor output = c();
  if (quantises(config_)) {
    all.push_back({.name = "SFD", .bytes = output_scales().bytes(), .written = true});
    if (config_.output == DataType::e2m1) output.type = "e2m1x2";
    output.bytes = uint64_t(problem_.m) * uint64_t(output_row_bytes());
  }
  all.push_back(output);
  return all;
}

void BlockScaledRun::fill(size_t i, uint8_t* bytes) const {
  if (quantises(config_) && i == kSfd) {
    output_scales().clear(kNoScale, bytes);
  } else if (i == kSfa || i == kSfb) {
    const uint8_t padding = problem_.scale_padding == ScalePadding::nan ? nan_scale(config_.scale_type) : 0;
    scales_of(int(i - kSfa)).fill(shape().seed + i, padding, bytes);
  } else if (i < kSfa && operand_bits(config_) == 4) {  // every code is a number
    std::mt19937_64 random(shape().seed + i);
    const uint64_t count = tensors()[i].bytes;
    for (uint64_t byte = 0; byte < count; ++byte) bytes[byte] = uint8_t(random() >> 32);
  } else {
    Product::fill(i, bytes);
  }
}

void BlockScaledRun::read_row(int operand, const std::vector<const uint8_t*>& tensors, int row,
                              double* values) const {
  const uint8_t* elements = tensors[size_t(operand)] + size_t(row) * size_t(row_bytes());
  const ScaleTensor scales = scales_of(operand);
  const int block = scale_block(config_);
  for (int first = 0; first < problem_.k; first += block) {
    const double scale = scales.value(tensors[kSfa + size_t(operand)], row, first / block);
    for (int i = first; i < std::min(first + block, problem_.k); ++i)
      values[i] = scale * double(element(config_, elements, i));
  }
}

ExpectedResult BlockScaledRun::expected_result(const std::vector<GlobalAddr>& addresses) const {
  ExpectedResult result = Product::expected_result(addresses);
  const auto scales = [&](int operand) -> ExpectedMatrix {
    const ScaleTensor tensor = scales_of(operand);
    return {operand == 0 ? "SFA" : "SFB", addresses[kSfa + size_t(operand)].value, tensor.rows,
            tensor.bytes() / uint64_t(tensor.row_groups()), 8};
  };
  for (ExpectedProduct& product : result.products)
    product.sfa = scales(0), product.sfb = scales(1), product.scale_block = scale_block(config_),
    product.scale_type = config_.scale_type;
  if (!quantises(config_) && config_.scaled && !config_.residual)
    for (ExpectedProduct& product : result.products)
      product.terms = ExpectedTerms{.output = config_.output, .alpha = double(problem_.alpha)};
  if (!quantises(config_) || !config_.scaled_output.amax_of_results || addresses.size() <= kSfd + 1) return result;
  const OutputScaling how = config_.scaled_output;
  const float norm_over_max = problem_.norm / largest_element(config_.output);
  for (ExpectedProduct& product : result.products)
    product.output_scales = {
        .name = "SFD",
        .address = addresses[kSfd].value,
        .bytes = output_scales().bytes(),
        .rows = output_scales().rows,
        .blocks = output_scales().scales,
        .block = how.block,
        .along_columns = how.direction == ScaleDirection::columns,
        .alpha = config_.scaled ? double(problem_.alpha) : 1,
        .code = [=](float largest) { return nearest_scale(how.type, largest * norm_over_max); },
        .output = config_.output,
        .norm = double(problem_.norm),
        .factor =
            [how, norm = problem_.norm](uint8_t code) {
              return std::min(norm / float(value_of_scale(how.type, code)), kLargestF32);
            }};
  return result;
}

double BlockScaledRun::finished(double x, int, int, const std::vector<const uint8_t*>&) const {
  return config_.scaled ? x * double(problem_.alpha) : x;
}

std::string BlockScaledRun::title() const {
  return fmt::format("{} x {} x {} {}", problem_.m, problem_.n, problem_.k, operand_name(config_));
}

std::string BlockScaledRun::chosen_configuration() const {
  if (!problem_.auto_config) return {};
  return fmt::format("mma [{}, {}, {}], cta_group {}", config_.mma_m, config_.mma_n, config_.mma_k,
                     config_.cta_group);
}

BlockScaledParams BlockScaledRun::params(const std::vector<GlobalAddr>& addresses,
                                         const TensorMapEncoder& encode) const {
  const BlockScaledConfig& c = config_;
  const BlockScaledProblem& s = problem_;
  // Swapped, the kernel's A is the user's B and its output the transpose of the user's C.
  const bool swapped = c.ab_swapped;
  const int a = swapped ? 1 : 0, b = 1 - a;
  const auto operand_map = [&](int operand, int slice_rows) {
    return encode(matrix_fields({.address = addresses[size_t(operand)],
                                 .type = TensorMapDataType::uint8,
                                 .rows = operand == 0 ? s.m : s.n,
                                 .columns = row_bytes(),
                                 .box_rows = slice_rows,
                                 .box_columns = kTileRowBytes,
                                 .swizzle = c.swizzle}));
  };
  const auto scale_map = [&](int operand, const ScaleShape& box) {
    return encode(scales_of(operand).map_fields(addresses[kSfa + size_t(operand)], box));
  };
  BlockScaledParams params;
  params.a = operand_map(a, a_slice_rows(c)), params.b = operand_map(b, b_slice_rows(c));
  params.sfa = scale_map(a, sfa_tile(c)), params.sfb = scale_map(b, sfb_tile(c));
  params.c = encode(matrix_fields({.address = addresses.back(),
                                   .type = quantises(c) ? TensorMapDataType::uint8 : tensor_map_type(c.output),
                                   .rows = s.m,
                                   .columns = quantises(c) ? output_row_bytes() : s.n,
                                   .box_rows = swapped ? strip_columns(c) : store_rows(c),
                                   .box_columns = quantises(c) ? int(strip_row_bytes(c))
                                                  : swapped    ? block_columns(c)
                                                               : strip_columns(c),
                                   .swizzle = strip_swizzle(c)}));
  if (quantises(c))
    params.scaled_output = {.scales = addresses[kSfd],
                            .rows = output_scales().rows,
                            .blocks = output_scales().scales,
                            .norm = s.norm,
                            .norm_over_max = s.norm / largest_element(c.output)};
  params.functor.alpha = s.alpha;
  params.functor.rows = s.m, params.functor.columns = s.n;
  params.m = s.m, params.n = s.n, params.k = s.k;
  return params;
}

}  // namespace sm100::host
