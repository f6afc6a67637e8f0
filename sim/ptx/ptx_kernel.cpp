// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/ptx_kernel.h"

#include <cstring>
#include <memory>

#include "kernels/isa/tensor_map.h"
#include "sim/ptx/ptx_warp.h"

namespace sm100::sim {
namespace {

/// Parameters as tensor copies need them: maps in a window are aligned as the window is.
class Parameters {
 public:
  explicit Parameters(const std::vector<uint8_t>& bytes)
      : bytes_(bytes.size()), maps_((bytes.size() + sizeof(TensorMap) - 1) / sizeof(TensorMap) + 1) {
    std::memcpy(maps_.data(), bytes.data(), bytes.size());
  }
  std::span<const uint8_t> window() const { return {maps_[0].bytes, bytes_}; }

 private:
  size_t bytes_;
  std::vector<TensorMap> maps_;
};

}  // namespace

std::function<void(Warp&)> ptx_runner(const Binding& binding, const ptx::Module& module, const ptx::Entry& entry,
                                      const PtxLaunch& launch, const std::vector<std::vector<uint8_t>>& windows) {
  const auto code = std::make_shared<const PtxCode>(module, entry, launch);
  const auto parameters = std::make_shared<std::vector<Parameters>>();
  for (const std::vector<uint8_t>& window : windows) parameters->emplace_back(window);
  const host::Scenario& scenario = binding.scenario;
  return [&scenario, &altered = binding.altered, first = binding.first_launch, code, parameters](Warp& warp) {
    FaultInterceptor faults(scenario.faults, altered);
    PtxWarp program(*code, (*parameters)[size_t(warp.cta.launch() - first)].window(), warp, scenario.device,
                    scenario.faults.empty() ? nullptr : &faults);
    program.run();
  };
}

}  // namespace sm100::sim
