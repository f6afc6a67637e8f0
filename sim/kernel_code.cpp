// SPDX-License-Identifier: Apache-2.0
#include "sim/kernel_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace sm100::sim {
namespace {

std::vector<KernelCode>& registry() {
  static std::vector<KernelCode> all = built_in_code();
  return all;
}

}  // namespace

void add_kernel(KernelCode code) {
  host::add_kernel(*code.kernel);
  registry().push_back(std::move(code));
}

const KernelCode& code_of_kernel(const host::KernelDefinition& kernel) {
  for (const KernelCode& code : registry())
    if (code.kernel == &kernel) return code;
  throw std::logic_error(fmt::format("kernel {} has no role code here", kernel.name));
}

Kernel kernel_of(const host::KernelRun& run) {
  const host::LaunchShape launch = run.launch();
  Kernel kernel;
  kernel.grid = launch.grid;
  kernel.cluster = launch.cluster;
  kernel.warps = launch.warps;
  kernel.smem_bytes = launch.smem_bytes;
  kernel.pdl = launch.pdl;
  kernel.barriers = run.barriers();
  kernel.named_barriers = run.named_barriers();
  for (int warp = 0; warp < launch.warps; ++warp) kernel.roles.emplace_back(run.role(warp));
  return kernel;
}

std::vector<std::vector<GlobalAddr>> allocate_tensors(const host::KernelRun& run, const host::Scenario& scenario,
                                                      models::MemorySystem& memory,
                                                      const std::vector<std::vector<uint8_t>>* filled) {
  const bool with_data = scenario.data == host::DataMode::full;
  const std::vector<host::Tensor> tensors = run.tensors();
  const auto allocate = [&](size_t i, const std::string& name) {
    const bool bytes = with_data || tensors[i].locks;
    const GlobalAddr address = memory.allocate(name, tensors[i].bytes, bytes);
    if (!bytes) return address;
    uint8_t* data = memory.data(address, tensors[i].bytes);
    if (filled)
      std::copy((*filled)[i].begin(), (*filled)[i].end(), data);
    else
      run.fill(i, data);
    return address;
  };
  std::vector<std::vector<GlobalAddr>> launches(1);
  for (size_t i = 0; i < tensors.size(); ++i) launches[0].push_back(allocate(i, tensors[i].name));
  for (int launch = 1; launch < scenario.launches; ++launch) {
    std::vector<GlobalAddr> addresses = launches[0];
    addresses.back() = allocate(tensors.size() - 1, fmt::format("{} of launch {}", tensors.back().name, launch));
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].locks) addresses[i] = allocate(i, fmt::format("{} of launch {}", tensors[i].name, launch));
    for (const host::FeedInput& input : run.feed_inputs())
      if (input.word == scenario.feed) addresses[input.tensor] = launches.back().back();
    launches.push_back(std::move(addresses));
  }
  return launches;
}

}  // namespace sm100::sim
