// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/copy/copy_kernel.h"
#include "kernels/direct/direct_kernel.h"
#include "kernels/fallback/fallback_kernel.h"
#include "kernels/matmul/matmul_kernel.h"
#include "kernels/micro/tma_tiles.h"
#include "kernels/micro/umma_batches.h"
#include "sim/fault_isa.h"

namespace sm100::sim {
namespace {

/// `code(isa, launch)` runs one warp; with faults the Isa is the one that alters instructions.
template <class Code>
auto warp_runner(const host::Scenario& scenario, std::vector<uint64_t>& altered, Code code) {
  return [&scenario, &altered, code](Warp& warp) {
    if (scenario.faults.empty()) {
      SimIsa isa(warp, scenario.device);
      if (scenario.recorder) isa.charge_recorder(scenario.recorder_first_cycles);
      code(isa, warp.cta.launch());
    } else {
      FaultIsa isa(warp, scenario.device, scenario.faults, altered);
      if (scenario.recorder) isa.charge_recorder(scenario.recorder_first_cycles);
      code(isa, warp.cta.launch());
    }
  };
}

}  // namespace

Kernel kernel_of(const host::Problem& problem) {
  const host::LaunchShape launch = problem.launch();
  Kernel kernel;
  kernel.grid = launch.grid;
  kernel.cluster = launch.cluster;
  kernel.warps = launch.warps;
  kernel.smem_bytes = launch.smem_bytes;
  kernel.pdl = launch.pdl;
  kernel.barriers = problem.barriers();
  kernel.named_barriers = problem.named_barriers();
  for (int warp = 0; warp < launch.warps; ++warp) kernel.roles.emplace_back(problem.role(warp));
  return kernel;
}

std::vector<std::vector<GlobalAddr>> allocate_tensors(const host::Problem& problem, const host::Scenario& scenario,
                                                      models::MemorySystem& memory,
                                                      const std::vector<std::vector<uint8_t>>* filled) {
  const bool with_data = scenario.data == host::DataMode::full;
  const std::vector<host::Tensor> tensors = problem.tensors();
  const auto allocate = [&](size_t i, const std::string& name) {
    const bool bytes = with_data || tensors[i].locks;
    const GlobalAddr address = memory.allocate(name, tensors[i].bytes, bytes);
    if (!bytes) return address;
    uint8_t* data = memory.data(address, tensors[i].bytes);
    if (filled)
      std::copy((*filled)[i].begin(), (*filled)[i].end(), data);
    else
      problem.fill(i, data);
    return address;
  };
  std::vector<std::vector<GlobalAddr>> launches(1);
  for (size_t i = 0; i < tensors.size(); ++i) launches[0].push_back(allocate(i, tensors[i].name));
  for (int launch = 1; launch < scenario.launches; ++launch) {
    std::vector<GlobalAddr> addresses = launches[0];
    addresses.back() = allocate(tensors.size() - 1, fmt::format("{} of launch {}", tensors.back().name, launch));
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].locks) addresses[i] = allocate(i, fmt::format("{} of launch {}", tensors[i].name, launch));
    if (scenario.feed != host::Feed::nothing) addresses[problem.fed_tensor(scenario.feed)] = launches.back().back();
    launches.push_back(std::move(addresses));
  }
  return launches;
}

void bind_code(Kernel& kernel, const host::Scenario& scenario, const std::vector<std::vector<GlobalAddr>>& tensors,
               std::vector<uint64_t>& altered) {
  const auto encode = [](const TensorMapFields& fields) { return sm100::encode(fields); };
  // The parameters live as long as the code: tensor copies take their addresses.
  const auto of_each_launch = [&](auto params_of) {
    std::vector<decltype(params_of(tensors[0]))> params;
    for (const auto& addresses : tensors) params.push_back(params_of(addresses));
    return std::make_shared<decltype(params)>(std::move(params));
  };
  if (scenario.kernel == host::kPipelineCopy) {
    const auto params = of_each_launch([&](const auto& at) { return host::copy_params(scenario, at, encode); });
    kernel.run_warp = warp_runner(scenario, altered, [&scenario, params](auto& isa, int launch) {
      copy_kernel(isa, scenario.copy, (*params)[size_t(launch)]);
    });
  } else if (scenario.kernel == host::kFallback) {
    const auto params = of_each_launch([&](const auto& at) { return host::fallback_params(scenario, at, encode); });
    kernel.run_warp = warp_runner(scenario, altered, [&scenario, params](auto& isa, int launch) {
      fallback_kernel(isa, scenario.fallback, (*params)[size_t(launch)]);
    });
  } else if (scenario.kernel == host::kDirect) {
    const auto params = of_each_launch([&](const auto& at) { return host::direct_params(scenario, at, encode); });
    kernel.run_warp = warp_runner(scenario, altered, [&scenario, params](auto& isa, int launch) {
      direct_kernel(isa, scenario.direct, (*params)[size_t(launch)]);
    });
  } else if (scenario.kernel == host::kUmmaBatches) {
    kernel.run_warp = warp_runner(scenario, altered,
                                  [&scenario](auto& isa, int) { umma_batches_kernel(isa, scenario.umma_batches); });
  } else if (scenario.kernel == host::kTmaTiles) {
    const auto params =
        of_each_launch([&](const auto& at) { return host::tma_tiles_params(scenario, at, encode); });
    kernel.run_warp = warp_runner(scenario, altered, [&scenario, params](auto& isa, int launch) {
      tma_tiles_kernel(isa, scenario.tma_tiles, (*params)[size_t(launch)]);
    });
  } else {
    const auto params = of_each_launch([&](const auto& at) { return host::matmul_params(scenario, at, encode); });
    kernel.run_warp = warp_runner(scenario, altered, [&scenario, params](auto& isa, int launch) {
      matmul_kernel(isa, scenario.config, (*params)[size_t(launch)]);
    });
  }
}

}  // namespace sm100::sim
