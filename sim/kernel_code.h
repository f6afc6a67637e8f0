// SPDX-License-Identifier: Apache-2.0
/// Kernels on the model: the role code behind a kernel's name, and a scenario's tensors in modelled memory.
///
/// A kernel registers its code with one line, a function NAME_code() in kernels/NAME/sim:
///   KernelCode matmul_code() {
///     return code_of<host::MatmulRun>(host::matmul_definition(),
///                                     [](auto& isa, const auto& config, const auto& params) { ... });
///   }
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "kernels/host/run_plan.h"
#include "models/memory_system.h"
#include "sim/fault_interceptor.h"
#include "sim/kernel.h"
#include "sim/sim_isa.h"

namespace sm100::sim {

/// What a kernel's code is bound to, by its launches.
struct Binding {
  const host::KernelRun& run;
  const host::Scenario& scenario;
  const std::vector<std::vector<GlobalAddr>>& tensors;  ///< by launch, in the order of KernelRun::tensors()
  std::vector<uint64_t>& altered;                       ///< per [[fault]]: counts the instructions that it altered
  int first_launch = 0;                                 ///< of the run: that of tensors[0]
};

/// A kernel's role code.
struct KernelCode {
  const host::KernelDefinition* kernel = nullptr;
  /// The code of one warp, from start to exit; `binding`'s references must outlive it.
  std::function<std::function<void(Warp&)>(const Binding& binding)> bind;
  /// The parameter window of each launch, as the compiled kernel takes it (its first parameter is the kernel's
  /// Params).
  std::function<std::vector<std::vector<uint8_t>>(const Binding& binding)> parameters{};
};

/// Of the kernels of this program; CMake writes the list.
std::vector<KernelCode> built_in_code();
/// Code of a kernel that lives outside this repository; host::add_kernel is called too.
void add_kernel(KernelCode code);
/// Throws std::logic_error for a kernel without code.
const KernelCode& code_of_kernel(const host::KernelDefinition& kernel);

/// `code(isa, launch)` runs one warp.
template <class Code>
std::function<void(Warp&)> warp_runner(const Binding& binding, Code code) {
  const host::Scenario& scenario = binding.scenario;
  return [&scenario, &altered = binding.altered, first = binding.first_launch, code](Warp& warp) {
    FaultInterceptor faults(scenario.faults, altered);
    SimIsa isa(warp, scenario.device, faults.needed() ? &faults : nullptr);
    if (scenario.recorder) isa.charge_recorder(scenario.recorder_first_cycles);
    code(isa, warp.cta.launch() - first);
  };
}

/// Role code `roles(isa, config, params)` of a kernel whose KernelRun is a `Run`.
template <class Run, class Roles>
KernelCode code_of(const host::KernelDefinition& kernel, Roles roles) {
  const auto params_of = [](const Binding& binding) {
    const Run& run = dynamic_cast<const Run&>(binding.run);
    const auto encode = [](const TensorMapFields& fields) { return sm100::encode(fields); };
    using Params = decltype(run.params(binding.tensors[0], encode));
    const auto params = std::make_shared<std::vector<Params>>();
    for (const auto& addresses : binding.tensors) params->push_back(run.params(addresses, encode));
    return params;
  };
  const auto bind = [roles, params_of](const Binding& binding) {
    const Run& run = dynamic_cast<const Run&>(binding.run);
    // The parameters live as long as the code: tensor copies take their addresses.
    return warp_runner(binding, [&run, params = params_of(binding), roles](auto& isa, int launch) {
      roles(isa, run.config(), (*params)[size_t(launch)]);
    });
  };
  const auto parameters = [params_of](const Binding& binding) {
    std::vector<std::vector<uint8_t>> windows;
    const auto all = params_of(binding);
    for (const auto& params : *all) {
      const auto* bytes = reinterpret_cast<const uint8_t*>(&params);
      windows.emplace_back(bytes, bytes + sizeof params);
    }
    return windows;
  };
  return {&kernel, bind, parameters};
}

/// Grid, resources and barrier names; run_warp comes from KernelCode::bind.
Kernel kernel_of(const host::KernelRun& run);

/// Allocates the kernels' tensors and, with data, fills them.  Every launch has an output of its own, and reads
/// outputs of earlier ones where the plan feeds it.
/// @param filled  bytes of the tensors, where they have been computed before; nullptr or empty: nowhere
/// @returns  by launch, in the order of KernelRun::tensors()
std::vector<std::vector<GlobalAddr>> allocate_tensors(const host::RunPlan& plan, const host::Scenario& scenario,
                                                      models::MemorySystem& memory,
                                                      const std::vector<std::vector<uint8_t>>* filled = nullptr);

}  // namespace sm100::sim
