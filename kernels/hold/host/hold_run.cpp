// SPDX-License-Identifier: Apache-2.0
#include "kernels/hold/host/hold_run.h"

#include <fmt/format.h>

#include <cstring>

#include "kernels/host/comparison.h"

namespace sm100::host {

LaunchShape HoldRun::launch() const {
  return {.grid = {uint32_t(problem_.ctas), 1, 1}, .warps = kHoldWarps, .smem_bytes = problem_.config.smem_bytes};
}

/// There are none; a row without stages says so, and that nothing has to be learned.
std::vector<BarrierArray> HoldRun::barriers() const { return {BarrierArray{"none", {}, 0, 1, "", "", ""}}; }

std::vector<Tensor> HoldRun::tensors() const {
  return {{.name = "R",
           .bytes = uint64_t(problem_.ctas) * kHoldThreads * 4,
           .type = "u32",
           .rows = problem_.ctas,
           .columns = kHoldThreads}};
}

void HoldRun::fill(size_t, uint8_t* bytes) const { std::memset(bytes, 0xff, tensors()[0].bytes); }

Check HoldRun::check(const std::vector<const uint8_t*>& tensors) const {
  const int threads = problem_.ctas * kHoldThreads;
  int different = 0;
  for (int thread = 0; thread < threads; ++thread) {
    uint32_t expected = uint32_t(thread) + 1, found;
    for (int step = 0; step < problem_.blocks * kHoldBlockSteps; ++step) expected = xorshift(expected);
    std::memcpy(&found, tensors[0] + 4 * thread, 4);
    different += found != expected;
  }
  Check check{.ok = different == 0,
              .relative_error = double(different) / threads,
              .limit = 0,
              .reference = "the same steps on the host",
              .rows = problem_.ctas,
              .of_rows = problem_.ctas};
  if (!check.ok) check.unwritten = unwritten_elements(tensors[0], problem_.ctas, kHoldThreads, 4);
  return check;
}

std::string HoldRun::title() const {
  return fmt::format("{} CTA{} for {} us", problem_.ctas, problem_.ctas == 1 ? "" : "s", problem_.microseconds);
}

}  // namespace sm100::host
