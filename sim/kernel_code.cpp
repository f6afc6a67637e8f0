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
  kernel.barriers = run.barriers();
  kernel.named_barriers = run.named_barriers();
  for (int warp = 0; warp < launch.warps; ++warp) kernel.roles.emplace_back(run.role(warp));
  return kernel;
}

std::vector<std::vector<GlobalAddr>> allocate_tensors(const host::RunPlan& plan, const host::Scenario& scenario,
                                                      models::MemorySystem& memory,
                                                      const std::vector<std::vector<uint8_t>>* filled) {
  const bool with_data = scenario.data == host::DataMode::full;
  const auto allocate = [&](const host::PlannedKernel& kernel, size_t i, const std::string& of_launch) {
    const host::Tensor tensor = kernel.run->tensors()[i];
    const bool bytes = with_data || tensor.locks || tensor.metadata;
    const std::string name = kernel.qualified(tensor.name) + of_launch;
    if (tensor.address) memory.place(name, {*tensor.address}, tensor.bytes, bytes, tensor.bytes_there);
    const GlobalAddr address =
        tensor.address ? GlobalAddr{*tensor.address} : memory.allocate(name, tensor.bytes, bytes);
    memory.describe(address, tensor.type, tensor.rows, tensor.columns);
    if (!bytes || tensor.bytes_there) return address;
    uint8_t* data = memory.data(address, tensor.bytes);
    if (filled && !filled->empty())
      std::copy((*filled)[i].begin(), (*filled)[i].end(), data);
    else
      kernel.run->fill(i, data);
    return address;
  };
  std::vector<std::vector<GlobalAddr>> launches;
  std::vector<int> first_of_kernel(plan.kernels.size(), -1);
  for (size_t launch = 0; launch < plan.launches.size(); ++launch) {
    const host::PlannedLaunch& planned = plan.launches[launch];
    const host::PlannedKernel& kernel = plan.kernels[planned.kernel];
    const std::vector<host::Tensor> tensors = kernel.run->tensors();
    const auto fed = [&](size_t i) {
      return std::any_of(planned.inputs.begin(), planned.inputs.end(),
                         [&](const auto& input) { return input.tensor == i; });
    };
    int& first = first_of_kernel[planned.kernel];
    std::vector<GlobalAddr> addresses(tensors.size());
    if (first < 0) {
      for (size_t i = 0; i < tensors.size(); ++i)
        if (!fed(i)) addresses[i] = allocate(kernel, i, "");
      first = int(launch);
    } else {
      addresses = launches[size_t(first)];
      const std::string of_launch = fmt::format(" of launch {}", launch);
      addresses.back() = allocate(kernel, tensors.size() - 1, of_launch);
      for (size_t i = 0; i < tensors.size(); ++i)
        if (tensors[i].locks || tensors[i].written) addresses[i] = allocate(kernel, i, of_launch);
    }
    for (const auto& input : planned.inputs) addresses[input.tensor] = launches[size_t(input.launch)].back();
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].locks)
        kernel.run->fill_addresses(
            i, addresses, [](const TensorMapFields& fields) { return sm100::encode(fields); },
            memory.data(addresses[i], tensors[i].bytes));
    launches.push_back(std::move(addresses));
  }
  return launches;
}

}  // namespace sm100::sim
