// SPDX-License-Identifier: Apache-2.0
#include "kernels/matmul/host/matmul_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/host/comparison.h"
#include "kernels/host/tensor_maps.h"
#include "kernels/isa/number_formats.h"
#include "kernels/matmul/cluster_share.h"
#include "kernels/matmul/host/matmul_launch.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100::host {

MatmulRun::MatmulRun(const Scenario& s)
    : Product({.m = s.problem_as<MatmulProblem>().m,
               .n = s.problem_as<MatmulProblem>().n,
               .k = s.problem_as<MatmulProblem>().k,
               .operands = s.problem_as<MatmulProblem>().config.dtype,
               .output = s.problem_as<MatmulProblem>().config.output,
               .seed = s.seed,
               .truncated_mma_k = s.numerics == Numerics::b200 ? s.problem_as<MatmulProblem>().config.mma_k : 0}),
      problem_(s.problem_as<MatmulProblem>()),
      sms_(s.sms_in_run()),
      gpc_sms_(s.device.device.gpc_sms) {}

int MatmulRun::tiles_m() const { return grid_m(config_, config_.ab_swapped ? problem_.n : problem_.m); }
int MatmulRun::tiles_n() const { return grid_n(config_, config_.ab_swapped ? problem_.m : problem_.n); }

LaunchShape MatmulRun::launch() const {
  return matmul_launch(config_, {uint32_t(tiles_m()), uint32_t(tiles_n()), uint32_t(config_.num_split_k)},
                       storage_bytes<SharedStorage>(config_), sms_, gpc_sms_);
}

std::vector<BarrierArray> MatmulRun::barriers() const { return barriers_of<SharedStorage>(config_); }

std::vector<NamedBarrier> MatmulRun::named_barriers() const { return matmul_named_barriers(config_); }

std::vector<Tensor> MatmulRun::tensors() const {
  std::vector<Tensor> all = {a(), b()};
  if (config_.bias) all.push_back({"bias", uint64_t(problem_.n) * 4});
  if (config_.residual) all.push_back({"residual", c().bytes});
  if (config_.num_split_k > 1) {
    const uint64_t tiles = uint64_t(tiles_m()) * uint64_t(tiles_n());
    all.push_back({"workspace", tiles * uint64_t(block_m(config_) * config_.mma_n) * 4});
    all.push_back({"locks", tiles * 4, /*locks=*/true});
  }
  all.push_back(c());
  return all;
}

std::vector<FeedInput> MatmulRun::feed_inputs() const {
  const bool same = problem_.n == problem_.k && config_.output == config_.dtype;
  return {
      {"a", 0,
       same ? "" : "\"a\" needs C to have the shape and the type of A: n = k and config.output = config.dtype"},
      {"residual", config_.bias ? 3u : 2u, config_.residual ? "" : "\"residual\" needs config.residual = true"}};
}

void MatmulRun::fill(size_t i, uint8_t* bytes) const {
  const Tensor tensor = tensors()[i];
  if (tensor.locks) {
    std::memset(bytes, 0, tensor.bytes);
  } else if (tensor.name == "workspace") {
    std::memset(bytes, 0xff, tensor.bytes);
  } else if (tensor.name == "bias") {
    fill_random(i, DataType::f32, bytes);
  } else if (tensor.name == "residual") {
    fill_random(i, config_.output, bytes);
  } else {
    Product::fill(i, bytes);
  }
}

ExpectedResult MatmulRun::expected_result(const std::vector<GlobalAddr>& addresses) const {
  const MatmulConfig& c = config_;
  ExpectedResult result = Product::expected_result(addresses);
  if (!has_functor(c)) return result;
  ExpectedTerms terms{.output = c.output, .of_rounded_sums = !c.register_epilogue};
  if (c.scaled) terms.alpha = double(problem_.alpha);
  if (c.bias)
    terms.bias = {.name = "bias",
                  .address = addresses[2].value,
                  .rows = 1,
                  .pitch = uint64_t(problem_.n) * 4,
                  .bits = 32,
                  .type = DataType::f32};
  if (c.residual) {
    terms.beta = double(problem_.beta);
    terms.residual = {.name = "residual",
                      .address = addresses[c.bias ? 3 : 2].value,
                      .rows = problem_.m,
                      .pitch = uint64_t(problem_.n) * uint64_t(output_bytes(c)),
                      .bits = 8 * output_bytes(c),
                      .type = c.output};
  }
  if (c.activation == Activation::relu) terms.activation = "relu";
  if (c.activation == Activation::silu) terms.activation = "silu";
  for (ExpectedProduct& product : result.products)
    product.terms = terms, product.by_other_warps = !c.register_epilogue;
  return result;
}

/// What the epilogue makes of an accumulator, before the conversion to C's type.
double MatmulRun::finished(double x, int row, int column, const std::vector<const uint8_t*>& tensors) const {
  const MatmulConfig& c = config_;
  if (has_functor(c) && !c.register_epilogue) x = converted_range(c.output, x);  // the strip holds C's type
  if (c.scaled) x *= double(problem_.alpha);
  if (c.bias) {
    float bias;
    std::memcpy(&bias, tensors[2] + 4 * size_t(column), 4);
    x += double(bias);
  }
  if (c.residual) {
    const size_t bytes = size_t(output_bytes(c));
    uint32_t bits = 0;
    std::memcpy(&bits, tensors[c.bias ? 3 : 2] + bytes * (size_t(row) * size_t(problem_.n) + size_t(column)),
                bytes);
    x += double(problem_.beta) * double(decode(c.output, bits));
  }
  if (c.activation == Activation::relu) x = std::max(x, 0.0);
  if (c.activation == Activation::silu) x /= 1 + std::exp(-x);
  return x;
}

/// The functor on the strip gets accumulators that have been rounded: alpha times that error, steepened at most by
/// SiLU's slope, is in C before its own rounding.
double MatmulRun::added_error(double accumulators, double results) const {
  constexpr double kSteepest = 1.1;
  const double slope = config_.activation == Activation::silu ? kSteepest : 1.0;
  const double error = slope * std::abs(double(problem_.alpha)) * unit_roundoff(config_.output) * accumulators;
  return results > 0 ? error / results : 0;
}

std::string MatmulRun::chosen_configuration() const {
  if (!problem_.auto_config) return {};
  return fmt::format("mma [{}, {}, {}], cta_group {}", config_.mma_m, config_.mma_n, config_.mma_k,
                     config_.cta_group);
}

MatmulParams MatmulRun::params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const {
  const MatmulConfig& c = config_;
  const MatmulProblem& s = problem_;
  MatmulParams params;
  // Swapped, the kernel's A is the user's B and its output the transpose of the user's C.
  const bool swapped = c.ab_swapped;
  params.a = encode(matrix_fields({.address = addresses[swapped ? 1 : 0],
                                   .type = tensor_map_type(c.dtype),
                                   .rows = swapped ? s.n : s.m,
                                   .columns = s.k,
                                   .box_rows = a_slice_rows(c),
                                   .box_columns = block_k(c),
                                   .swizzle = c.swizzle}));
  params.b = encode(matrix_fields({.address = addresses[swapped ? 0 : 1],
                                   .type = tensor_map_type(c.dtype),
                                   .rows = swapped ? s.m : s.n,
                                   .columns = s.k,
                                   .box_rows = b_slice_rows(c),
                                   .box_columns = block_k(c),
                                   .swizzle = c.swizzle}));
  params.c = encode(matrix_fields({.address = addresses.back(),
                                   .type = tensor_map_type(c.output),
                                   .rows = s.m,
                                   .columns = s.n,
                                   .box_rows = swapped ? strip_columns(c) : store_rows(c),
                                   .box_columns = swapped ? block_columns(c) : strip_columns(c),
                                   .swizzle = strip_swizzle(c)}));
  params.functor.alpha = s.alpha, params.functor.beta = s.beta;
  params.functor.rows = s.m, params.functor.columns = s.n;
  if (c.bias) params.functor.bias = addresses[2];
  if (c.residual) params.functor.residual = addresses[c.bias ? 3 : 2];
  if (c.num_split_k > 1) {
    params.split.workspace = addresses[addresses.size() - 3];
    params.split.locks = addresses[addresses.size() - 2];
    params.split.tiles_n = grid_n(c, swapped ? s.m : s.n);
  }
  params.m = s.m, params.n = s.n, params.k = s.k;
  return params;
}

}  // namespace sm100::host
