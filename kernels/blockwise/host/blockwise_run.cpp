// SPDX-License-Identifier: Apache-2.0
#include "kernels/blockwise/host/blockwise_run.h"

#include <fmt/format.h>

#include "kernels/blockwise/blockwise_kernel.h"
#include "kernels/blockwise/host/block_scales.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/matmul/host/matmul_launch.h"

namespace sm100::host {
namespace {

constexpr size_t kScaleA = 2, kScaleB = 3;  // of tensors()
constexpr int kBlock = BlockwiseConfig::scale_block;

ProductShape shape_of(const Scenario& s) {
  const BlockwiseProblem& p = s.problem_as<BlockwiseProblem>();
  return {.m = p.m,
          .n = p.n,
          .k = p.k,
          .operands = p.config.dtype,
          .output = p.config.output,
          .seed = s.seed,
          .truncated_mma_k = s.numerics == Numerics::b200 ? p.config.mma_k : 0};
}

}  // namespace

BlockwiseRun::BlockwiseRun(const Scenario& s)
    : Product(shape_of(s)),
      problem_(s.problem_as<BlockwiseProblem>()),
      sms_(s.sms_in_run()),
      gpc_sms_(s.device.device.gpc_sms) {}

int BlockwiseRun::k_blocks() const { return ceil_div(problem_.k, kBlock); }
int BlockwiseRun::n_blocks() const { return ceil_div(problem_.n, kBlock); }
int BlockwiseRun::a_scale_pitch() const { return align_up(problem_.m, scales_of_16_bytes(config_)); }

LaunchShape BlockwiseRun::launch() const {
  const Dim3 tiles{uint32_t(grid_m(config_, problem_.m)), uint32_t(grid_n(config_, problem_.n)), 1};
  return matmul_launch(config_, tiles, storage_bytes<BlockwiseStorage>(config_), sms_, gpc_sms_);
}

std::vector<BarrierArray> BlockwiseRun::barriers() const { return barriers_of<BlockwiseStorage>(config_); }
std::vector<NamedBarrier> BlockwiseRun::named_barriers() const { return matmul_named_barriers(config_); }

std::vector<Tensor> BlockwiseRun::tensors() const {
  return {a(), b(), matrix("scale A", config_.scale_dtype, k_blocks(), a_scale_pitch()),
          matrix("scale B", config_.scale_dtype, n_blocks(), k_blocks()), c()};
}

void BlockwiseRun::fill(size_t i, uint8_t* bytes) const {
  if (i == kScaleA || i == kScaleB)
    BlockScales(config_.scale_dtype, bytes).fill(shape().seed + i, tensors()[i].bytes);
  else
    Product::fill(i, bytes);
}

void BlockwiseRun::read_row(int operand, const std::vector<const uint8_t*>& tensors, int row,
                            double* values) const {
  Product::read_row(operand, tensors, row, values);
  for (int k = 0; k < problem_.k; ++k) {
    const int64_t block = k / kBlock;
    values[k] *=
        block_scale(config_.scale_dtype, tensors[operand == 0 ? kScaleA : kScaleB],
                    operand == 0 ? block * a_scale_pitch() + row : int64_t(row / kBlock) * k_blocks() + block);
  }
}

ExpectedResult BlockwiseRun::expected_result(const std::vector<GlobalAddr>& addresses) const {
  ExpectedResult result = Product::expected_result(addresses);
  const int bits = element_bits(config_.scale_dtype);
  const uint64_t bytes = uint64_t(bits) / 8;
  ExpectedBlockScales scales{.output = config_.output, .size = kBlock};
  scales.a = {.name = "scale A",
              .address = addresses[kScaleA].value,
              .rows = problem_.m,
              .pitch = bytes,
              .bits = bits,
              .k_pitch = uint64_t(a_scale_pitch()) * bytes,
              .type = config_.scale_dtype};
  scales.b = {.name = "scale B",
              .address = addresses[kScaleB].value,
              .rows = n_blocks(),
              .pitch = uint64_t(k_blocks()) * bytes,
              .bits = bits,
              .type = config_.scale_dtype};
  for (ExpectedProduct& product : result.products) product.block_scales = scales;
  return result;
}

std::string BlockwiseRun::title() const {
  return Product::title() + " blockwise" + (config_.scale_dtype == DataType::bf16 ? ", bf16 scales" : "");
}

std::string BlockwiseRun::chosen_configuration() const {
  if (!problem_.auto_config) return {};
  return fmt::format("mma [{}, {}, {}], cta_group {}", config_.mma_m, config_.mma_n, config_.mma_k,
                     config_.cta_group);
}

BlockwiseParams BlockwiseRun::params(const std::vector<GlobalAddr>& addresses,
                                     const TensorMapEncoder& encode) const {
  const BlockwiseConfig& c = config_;
  const BlockwiseProblem& s = problem_;
  const auto operand_map = [&](int operand, int rows, int slice_rows) {
    return encode(matrix_fields({.address = addresses[size_t(operand)],
                                 .type = tensor_map_type(c.dtype),
                                 .rows = rows,
                                 .columns = s.k,
                                 .box_rows = slice_rows,
                                 .box_columns = block_k(c),
                                 .swizzle = c.swizzle}));
  };
  BlockwiseParams params;
  params.a = operand_map(0, s.m, a_slice_rows(c)), params.b = operand_map(1, s.n, b_slice_rows(c));
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
                                   .rows = s.m,
                                   .columns = s.n,
                                   .box_rows = store_rows(c),
                                   .box_columns = strip_columns(c),
                                   .swizzle = strip_swizzle(c)}));
  params.functor.rows = s.m, params.functor.columns = s.n;
  params.m = s.m, params.n = s.n, params.k = s.k;
  return params;
}

}  // namespace sm100::host
