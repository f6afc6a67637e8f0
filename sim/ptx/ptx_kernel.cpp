// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/ptx_kernel.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "kernels/isa/tensor_map.h"
#include "sim/ptx/module_image.h"
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

/// An entry that names a `.global` variable may write it: all of the module's variables then lie in global memory.
bool writes_variables(const PtxCode& code) {
  const auto& symbols = code.program().symbols;
  return std::any_of(symbols.begin(), symbols.end(),
                     [](const ptx::Symbol& s) { return s.used && s.space == ptx::Space::global; });
}

/// Gives each variable of the module its bytes.  @return their addresses
std::vector<uint64_t> allocate_variables(const ptx::Module& module, models::MemorySystem& memory) {
  std::vector<uint64_t> addresses;
  const std::vector<const ptx::Variable*> all = variables_with_address(module);
  for (const ptx::Variable* v : all)
    addresses.push_back(memory.allocate(std::string(v->name), std::max<uint64_t>(1, v->bytes), true).value);
  for (size_t i = 0; i < all.size(); ++i) {
    const std::vector<uint8_t> bytes = initial_bytes(module, *all[i], addresses);
    if (!bytes.empty()) std::memcpy(memory.data({addresses[i]}, bytes.size()), bytes.data(), bytes.size());
  }
  return addresses;
}

/// The code of a run's launches.  Variables come into being with the first warp, and last for the run.
class RunCode {
 public:
  RunCode(const ptx::Module& module, const ptx::Entry& entry, const PtxLaunch& launch)
      : module_(module),
        entry_(entry),
        launch_(launch),
        code_(std::make_shared<const PtxCode>(module, entry, launch)) {}

  const std::shared_ptr<const PtxCode>& now() const { return code_; }

  const PtxCode& at(models::MemorySystem& memory) {
    if (!placed_ && launch_.variables.empty() && writes_variables(*code_)) {
      launch_.variables = allocate_variables(module_, memory);
      code_ = std::make_shared<const PtxCode>(module_, entry_, launch_);
    }
    placed_ = true;
    return *code_;
  }

 private:
  const ptx::Module& module_;
  const ptx::Entry& entry_;
  PtxLaunch launch_;
  std::shared_ptr<const PtxCode> code_;
  bool placed_ = false;
};

}  // namespace

std::function<void(Warp&)> ptx_runner(const Binding& binding, const ptx::Module& module, const ptx::Entry& entry,
                                      const PtxLaunch& launch, const std::vector<std::vector<uint8_t>>& windows) {
  const auto code = std::make_shared<RunCode>(module, entry, launch);
  const auto parameters = std::make_shared<std::vector<Parameters>>();
  for (const std::vector<uint8_t>& window : windows) parameters->emplace_back(window);
  const host::Scenario& scenario = binding.scenario;
  const auto run = [&scenario, &altered = binding.altered, first = binding.first_launch, code,
                    parameters](Warp& warp) {
    FaultInterceptor faults(scenario.faults, altered);
    PtxWarp program(code->at(warp.cta.gpu().memory()), (*parameters)[size_t(warp.cta.launch() - first)].window(),
                    warp, scenario.device, faults.needed() ? &faults : nullptr);
    program.run();
  };
  return PtxRunner{[code] { return code->now(); }, run};
}

}  // namespace sm100::sim
