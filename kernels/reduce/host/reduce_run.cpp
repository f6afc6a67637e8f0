// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/host/reduce_run.h"

#include <fmt/format.h>

#include <cstring>
#include <random>

#include "kernels/host/comparison.h"
#include "kernels/host/product.h"
#include "kernels/isa/arithmetic.h"
#include "kernels/isa/lane_array.h"

namespace sm100::host {
namespace {

float f32_at(const uint8_t* bytes, int64_t i) {
  float value;
  std::memcpy(&value, bytes + 4 * i, 4);
  return value;
}

}  // namespace

ReduceRun::ReduceRun(const Scenario& s) : problem_(s.problem_as<ReduceProblem>()), seed_(s.seed) {}

LaunchShape ReduceRun::launch() const {
  return {.grid = {uint32_t(ceil_div(elements(), int64_t{kReduceCtaElements})), 1, 1},
          .warps = kReduceWarps,
          .pdl = problem_.config.pdl};
}

/// There are none; a row without stages says so, and that nothing has to be learned.
std::vector<BarrierArray> ReduceRun::barriers() const { return {BarrierArray{"none", {}, 0, 1, "", "", ""}}; }

std::vector<Tensor> ReduceRun::tensors() const {
  std::vector<Tensor> all;
  for (int slice = 0; slice < problem_.config.slices; ++slice)
    all.push_back(matrix(fmt::format("P{}", slice), DataType::f32, problem_.m, problem_.n));
  all.push_back(matrix("D", problem_.config.output, problem_.m, problem_.n));
  return all;
}

void ReduceRun::fill(size_t i, uint8_t* bytes) const {
  if (i == size_t(problem_.config.slices)) {
    std::memset(bytes, 0xff, tensors()[i].bytes);
    return;
  }
  std::mt19937_64 random(seed_ + i * 0x9e3779b97f4a7c15u);
  for (int64_t e = 0; e < elements(); ++e) {
    const float value = float(int64_t(random() >> 40) - (1 << 23)) / float(1 << 23);
    std::memcpy(bytes + 4 * e, &value, 4);
  }
}

Check ReduceRun::check(const std::vector<const uint8_t*>& tensors) const {
  const int element_bytes = element_bits(problem_.config.output) / 8;
  const uint8_t* sum = tensors.back();
  int64_t different = 0;
  for (int64_t e = 0; e < elements(); ++e) {
    float expected = f32_at(tensors[0], e);
    for (int slice = 1; slice < problem_.config.slices; ++slice) expected += f32_at(tensors[size_t(slice)], e);
    const uint32_t bits = problem_.config.output == DataType::f32 ? as_bits(expected) : cvt_rn_bf16_f32(expected);
    different += std::memcmp(&bits, sum + e * element_bytes, size_t(element_bytes)) != 0;
  }
  Check check{.ok = different == 0,
              .relative_error = double(different) / double(elements()),
              .limit = 0,
              .reference = "the sum in f32",
              .rows = problem_.m,
              .of_rows = problem_.m};
  if (!check.ok) check.unwritten = unwritten_elements(sum, problem_.m, problem_.n, element_bytes);
  return check;
}

double ReduceRun::bytes() const {
  double sum = 0;
  for (const Tensor& tensor : tensors()) sum += double(tensor.bytes);
  return sum;
}

std::string ReduceRun::title() const {
  return fmt::format("{} partial sums of {} x {} f32", problem_.config.slices, problem_.m, problem_.n);
}

ReduceParams ReduceRun::params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder&) const {
  ReduceParams params;
  for (int slice = 0; slice < problem_.config.slices; ++slice) params.partial[slice] = addresses[size_t(slice)];
  params.sum = addresses.back();
  params.elements = elements();
  return params;
}

}  // namespace sm100::host
