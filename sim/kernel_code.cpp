#include "sim/kernel_code.h"

#include "kernels/copy/copy_kernel.h"
#include "kernels/fallback/fallback_kernel.h"
#include "kernels/matmul/matmul_kernel.h"
#include "sim/fault_isa.h"

namespace sm100::sim {
namespace {

/// `code(isa)` runs one warp; with faults the Isa is the one that alters instructions.
template <class Code>
auto warp_runner(const host::Scenario& scenario, std::vector<uint64_t>& altered, Code code) {
  return [&scenario, &altered, code](Warp& warp) {
    if (scenario.faults.empty()) {
      SimIsa isa(warp, scenario.device);
      if (scenario.recorder) isa.charge_recorder();
      code(isa);
    } else {
      FaultIsa isa(warp, scenario.device, scenario.faults, altered);
      if (scenario.recorder) isa.charge_recorder();
      code(isa);
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
  kernel.barriers = problem.barriers();
  for (int warp = 0; warp < launch.warps; ++warp) kernel.roles.emplace_back(problem.role(warp));
  return kernel;
}

std::vector<GlobalAddr> allocate_tensors(const host::Problem& problem, models::MemorySystem& memory,
                                         bool with_data) {
  std::vector<GlobalAddr> addresses;
  for (const host::Tensor& tensor : problem.tensors()) {
    const bool bytes = with_data || tensor.locks;
    addresses.push_back(memory.allocate(tensor.name, tensor.bytes, bytes));
    if (bytes) problem.fill(addresses.size() - 1, memory.data(addresses.back(), tensor.bytes));
  }
  return addresses;
}

void bind_code(Kernel& kernel, const host::Scenario& scenario, const std::vector<GlobalAddr>& tensors,
               std::vector<uint64_t>& altered) {
  const auto encode = [](const TensorMapFields& fields) { return sm100::encode(fields); };
  if (scenario.kernel == host::kPipelineCopy) {
    const CopyParams params = host::copy_params(scenario, tensors, encode);
    // The parameters live as long as the code: tensor copies take their addresses.
    kernel.run_warp = warp_runner(
        scenario, altered,
        [&scenario, p = std::make_shared<CopyParams>(params)](auto& isa) { copy_kernel(isa, scenario.copy, *p); });
  } else if (scenario.kernel == host::kFallback) {
    const FallbackParams params = host::fallback_params(scenario, tensors, encode);
    kernel.run_warp =
        warp_runner(scenario, altered, [&scenario, p = std::make_shared<FallbackParams>(params)](auto& isa) {
          fallback_kernel(isa, scenario.fallback, *p);
        });
  } else {
    const MatmulParams params = host::matmul_params(scenario, tensors, encode);
    kernel.run_warp =
        warp_runner(scenario, altered, [&scenario, p = std::make_shared<MatmulParams>(params)](auto& isa) {
          matmul_kernel(isa, scenario.config, *p);
        });
  }
}

}  // namespace sm100::sim
