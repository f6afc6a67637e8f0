// SPDX-License-Identifier: Apache-2.0
/// A kernel's compiled configurations on the device.  A kernel registers them with one line, a function
/// FOLDER_device() in kernels/FOLDER/cuda:
///   DeviceKernel matmul_device() { return device_kernel<host::MatmulRun>(host::matmul_definition(),
///   matmul_kernels(), {100}); }
#pragma once

#include <fmt/format.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"

namespace sm100::cuda {

/// A kernel of one configuration, without and with trace points.
struct CompiledKernel {
  const void* plain;
  const void* traced;
};

struct DeviceKernel {
  const host::KernelDefinition* kernel = nullptr;
  std::vector<int> architectures;  ///< 90: sm_90a, 100: sm_100a
  /// The compiled kernel of the scenario's configuration; throws InputError with a list of what there is.
  std::function<CompiledKernel(const host::Scenario&)> find;
  /// The kernel's first argument.
  std::function<std::shared_ptr<void>(const host::KernelRun&, const std::vector<GlobalAddr>& addresses,
                                      const host::TensorMapEncoder&)>
      params;
};

/// Of the kernels of this program; CMake writes the list.
std::vector<DeviceKernel> built_in_device_kernels();

/// @param table  entries with name, config, plain and traced
template <class Run, class Table>
DeviceKernel device_kernel(const host::KernelDefinition& kernel, Table table, std::vector<int> architectures) {
  using Problem = typename Run::Problem;
  const auto find = [table](host::Scenario scenario) -> CompiledKernel {
    std::string compiled;
    const auto wanted = scenario.problem_as<Problem>().config;
    for (const auto& entry : table) {
      if (entry.config == wanted) return {entry.plain, entry.traced};
      scenario.problem_as<Problem>().config = entry.config;
      auto json = nlohmann::ordered_json::parse(scenario.configuration_json());
      for (const char* key : {"kernel", "m", "n", "k", "groups"}) json.erase(key);
      compiled += fmt::format("\n  {:<22}{}", entry.name, json.dump());
    }
    throw host::InputError(fmt::format("{}: this configuration of {} is not compiled; compiled are:{}",
                                       scenario.path.string(), scenario.kernel->name, compiled));
  };
  const auto params = [](const host::KernelRun& run, const std::vector<GlobalAddr>& addresses,
                         const host::TensorMapEncoder& encode) -> std::shared_ptr<void> {
    auto made = dynamic_cast<const Run&>(run).params(addresses, encode);
    return std::make_shared<decltype(made)>(std::move(made));
  };
  return {&kernel, std::move(architectures), find, params};
}

}  // namespace sm100::cuda
