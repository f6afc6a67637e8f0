// SPDX-License-Identifier: Apache-2.0
#include "kernels/cutlass_block_scaled/host/cutlass_block_scaled_run.h"

#include <fmt/format.h>

#include <cstring>

#include "kernels/cutlass_block_scaled/cutlass_block_scaled_kernel.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/matmul/host/matmul_launch.h"

namespace sm100::host {
namespace {

constexpr size_t kResidual = 4;  // of tensors()

BlockScaledProblem product_of(const CutlassBlockScaledProblem& s) {
  BlockScaledProblem product;
  product.m = s.m, product.n = s.n, product.k = s.k;
  product.config = s.config;
  product.alpha = s.alpha;
  product.scale_padding = s.scale_padding;
  return product;
}

}  // namespace

CutlassBlockScaledRun::CutlassBlockScaledRun(const Scenario& s)
    : BlockScaledRun(s, product_of(s.problem_as<CutlassBlockScaledProblem>()), s.seed),
      problem_(s.problem_as<CutlassBlockScaledProblem>()),
      sms_(s.sms_in_run()),
      gpc_sms_(s.device.device.gpc_sms) {}

LaunchShape CutlassBlockScaledRun::launch() const {
  const Dim3 tiles{uint32_t(grid_m(config_, problem_.m)), uint32_t(grid_n(config_, problem_.n)), 1};
  LaunchShape shape = matmul_launch(config_, tiles, storage_bytes<CutlassStorage>(config_), sms_, gpc_sms_);
  shape.warps = warps(config_);
  return shape;
}

std::vector<std::string_view> CutlassBlockScaledRun::roles() const {
  return {"mma", "scheduler", "load", "epilogue_load", "epilogue"};
}

std::vector<BarrierArray> CutlassBlockScaledRun::barriers() const { return barriers_of<CutlassStorage>(config_); }
std::vector<NamedBarrier> CutlassBlockScaledRun::named_barriers() const { return matmul_named_barriers(config_); }

std::vector<Tensor> CutlassBlockScaledRun::tensors() const {
  std::vector<Tensor> all = BlockScaledRun::tensors();
  if (config_.residual) all.insert(all.end() - 1, Tensor{.name = "residual", .bytes = c().bytes});
  return all;
}

void CutlassBlockScaledRun::fill(size_t i, uint8_t* bytes) const {
  if (config_.residual && i == kResidual)
    fill_random(i, config_.output, bytes);
  else
    BlockScaledRun::fill(i, bytes);
}

double CutlassBlockScaledRun::finished(double x, int row, int column,
                                       const std::vector<const uint8_t*>& tensors) const {
  if (config_.scaled) x *= double(problem_.alpha);
  if (!config_.residual) return x;
  const size_t bytes = size_t(output_bytes(config_));
  uint32_t bits = 0;
  std::memcpy(&bits, tensors[kResidual] + bytes * (size_t(row) * size_t(problem_.n) + size_t(column)), bytes);
  return x + double(problem_.beta) * double(decode(config_.output, bits));
}

/// The block-scaled product's, and the residual.
ExpectedResult CutlassBlockScaledRun::expected_result(const std::vector<GlobalAddr>& addresses) const {
  ExpectedResult result = BlockScaledRun::expected_result(addresses);
  if (!config_.residual) return result;
  ExpectedTerms terms{.output = config_.output, .beta = double(problem_.beta)};
  if (config_.scaled) terms.alpha = double(problem_.alpha);
  terms.residual = {.name = "residual",
                    .address = addresses[kResidual].value,
                    .rows = problem_.m,
                    .pitch = uint64_t(problem_.n) * uint64_t(output_bytes(config_)),
                    .bits = 8 * output_bytes(config_),
                    .type = config_.output};
  for (ExpectedProduct& product : result.products) product.terms = terms;
  return result;
}

std::string CutlassBlockScaledRun::chosen_configuration() const {
  if (!problem_.auto_config) return {};
  return fmt::format("mma [{}, {}, {}], cta_group {}", config_.mma_m, config_.mma_n, config_.mma_k,
                     config_.cta_group);
}

CutlassBlockScaledParams CutlassBlockScaledRun::params(const std::vector<GlobalAddr>& addresses,
                                                       const TensorMapEncoder& encode) const {
  CutlassBlockScaledParams params;
  static_cast<BlockScaledParams&>(params) = BlockScaledRun::params(addresses, encode);
  params.functor.beta = problem_.beta;
  if (config_.residual)  // boxes as those of C
    params.residual = encode(matrix_fields({.address = addresses[kResidual],
                                            .type = tensor_map_type(config_.output),
                                            .rows = problem_.m,
                                            .columns = problem_.n,
                                            .box_rows = store_rows(config_),
                                            .box_columns = strip_columns(config_),
                                            .swizzle = strip_swizzle(config_)}));
  return params;
}

}  // namespace sm100::host
