// SPDX-License-Identifier: Apache-2.0
#include "exec/functional.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ptx/program.h"
#include "sim/ptx/functional_grid.h"

namespace sm100::exec {
namespace {

/// The program's allocations.
class Allocations : public sim::DeviceMemory {
 public:
  /// @param blocks  by address
  Allocations(const std::vector<Block>& blocks, models::AccessMap* accesses)
      : blocks_(blocks), accesses_(accesses) {}

  Range range_of(uint64_t address) const override {
    const auto after = std::upper_bound(blocks_.begin(), blocks_.end(), address,
                                        [](uint64_t a, const Block& block) { return a < block.address; });
    if (after == blocks_.begin()) return {};
    const Block& block = *(after - 1);
    if (address - block.address >= block.bytes) return {};
    return {block.address, block.bytes, reinterpret_cast<uint8_t*>(block.address)};
  }

  models::AccessMap* accesses() const override { return accesses_; }

 private:
  const std::vector<Block>& blocks_;
  models::AccessMap* const accesses_;
};

sim::Finding finding_of(const sim::FunctionalResult& result) {
  sim::Finding finding;
  finding.id = !result.check.empty()                               ? result.check
               : result.end == sim::FunctionalEnd::deadlock        ? "hang"
               : result.end == sim::FunctionalEnd::not_implemented ? "not-implemented"
               : result.end == sim::FunctionalEnd::limit           ? "cycle-budget"
                                                                   : "functional";
  finding.location = result.place, finding.message = result.text;
  return finding;
}

/// Of run.max_cycles; 0: any number.
uint64_t issue_slots(const host::Scenario& scenario) {
  constexpr uint64_t kSchedulers = 4;  // of an SM
  return scenario.max_cycles * uint64_t(scenario.sms_in_run()) * kSchedulers;
}

}  // namespace

bool runs_without_models(const Launch& launch) {
  if (launch.shape.cooperative) return false;  // CTAs wait for each other, and there they run one after the other
  return !sim::functional_obstacle(ptx::decode(*launch.module, launch.code()));
}

sim::RunResult run_without_models(const Launch& launch, const host::Scenario& scenario,
                                  models::AccessMap* accesses) {
  const auto begin = std::chrono::steady_clock::now();
  const auto dim3 = [](const uint32_t(&d)[3]) { return Dim3{d[0], d[1], d[2]}; };
  const Allocations allocations(launch.memory, accesses);
  std::vector<uint64_t> variables;
  for (const Block& variable : launch.variables) variables.push_back(variable.address);
  std::string printed;
  const double ghz = scenario.device.device.sm_clock_ghz;
  const sim::FunctionalResult functional =
      sim::run_functional({.module = launch.module.get(),
                           .entry = &launch.code(),
                           .grid = dim3(launch.shape.grid),
                           .block = dim3(launch.shape.block),
                           .cluster = dim3(launch.shape.cluster),
                           .dynamic_smem_bytes = launch.shape.dynamic_smem_bytes,
                           .parameters = launch.parameters,
                           .memory = &allocations,
                           .variables = variables,
                           .grid_id = uint64_t(launch.number),
                           .sms = scenario.sms_in_run(),
                           .sm_clock_ghz = ghz,
                           .max_warp_instructions = issue_slots(scenario),
                           .print = [&](std::string_view text) { printed += text; }});
  sim::RunResult result;
  result.title = launch.title(), result.sms_used = scenario.sms_in_run();
  result.cycles = functional.cycles, result.sm_clock_ghz = ghz;
  result.microseconds = double(functional.cycles) / ghz * 1e-3;
  result.printed = std::move(printed);
  if (functional.end != sim::FunctionalEnd::finished) {
    const bool endless =
        functional.end == sim::FunctionalEnd::deadlock || functional.end == sim::FunctionalEnd::limit;
    result.outcome = endless ? sim::Outcome::hang : sim::Outcome::findings;
    result.findings.push_back(finding_of(functional));
    result.report = fmt::format("{}  {}\n", result.findings.front().id, functional.text);
  }
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace sm100::exec
