// SPDX-License-Identifier: Apache-2.0
/// The kernel that holds SMs: how its [problem] and [config] are read.

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/hold/host/hold_run.h"
#include "kernels/host/read_config.h"

namespace sm100::host {
namespace {

constexpr double kLongest = 1000;  // microseconds; the check repeats every step of every thread

int blocks_for(double microseconds, const models::DeviceProfile& device) {
  const double cycles = microseconds * device.device.sm_clock_ghz * 1e3;
  return std::max(1, int(std::lround(cycles / (kHoldBlockSteps * kHoldStepInstructions * device.issue.alu))));
}

std::any read(const TomlDocument&, const TomlTable& root, Scenario& scenario) {
  HoldProblem s;
  const TomlTable problem = root.table("problem", {"ctas", "microseconds"});
  s.ctas = problem.has("ctas") ? read_int(problem, "ctas", 1, 1 << 16) : scenario.sms_in_run();
  s.microseconds = problem.number("microseconds", 0.1, kLongest);
  s.blocks = blocks_for(s.microseconds, scenario.device);
  const int most = scenario.device.device.smem_bytes_per_cta_max;
  s.config.smem_bytes = uint32_t(most);
  if (root.has("config")) {
    const TomlTable table = root.table("config", {"smem_bytes"});
    if (table.has("smem_bytes")) s.config.smem_bytes = uint32_t(read_int(table, "smem_bytes", 0, most));
  }
  return s;
}

}  // namespace

const KernelDefinition& hold_definition() {
  static const KernelDefinition definition = {
      .name = "hold",
      .description =
          "holds SMs: a CTA that takes all shared memory, computes for a given time and exits (SM90 and SM100)",
      .tensor_core = false,
      .arithmetic = false,
      .read = read,
      .run = run_of<HoldRun>};
  return definition;
}

std::string HoldRun::configuration_json() const {
  const nlohmann::ordered_json json = {{"kernel", hold_definition().name},
                                       {"ctas", problem_.ctas},
                                       {"microseconds", problem_.microseconds},
                                       {"smem_bytes", problem_.config.smem_bytes}};
  return json.dump();
}

}  // namespace sm100::host
