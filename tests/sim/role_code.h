// SPDX-License-Identifier: Apache-2.0
/// Small kernels of role code under the hazard checker, each run in a process of its own: what is said of them.
#pragma once

#include <unistd.h>

#include <exception>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/child_process.h"
#include "sim/device.h"
#include "sim/hang_report.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/sim_isa.h"

namespace sm100::sim {

/// For expectations in role code, whose process is not the test's: the run "died".
inline void must(bool true_here) {
  if (!true_here) _exit(3);
}

/// SimIsa with lanes of our choice.
struct RoleIsa : SimIsa {
  using SimIsa::SimIsa;
  template <class F>
  void lanes(uint32_t mask, F&& f) {
    with_active(mask, f);
  }
};

/// Clusters of CTAs, one unless told otherwise; all warps run the same program.
struct RoleCode {
  std::function<void(RoleIsa&)> program;
  int warps = 2;
  uint32_t ctas = 1;
  bool with_data = false;
  uint32_t clusters = 1;  ///< on the SMs of one
  int ctas_per_sm = 1;
  bool explained = false;  ///< a hang with its report
  bool checked = true;     ///< for hazards
  std::vector<BarrierArray> barriers{};
  std::vector<host::FaultSpec> faults{};
  std::string profile = "b200";
  std::function<void(Device&)> before{};  ///< once the device is there
  std::function<void(Device&)> after{};   ///< at the end of the run
};

/// "finding TC15: ..." and "warning TC18: ...", a line each, in the order in which they came; then details; "hang"
/// if warps are left.
inline std::string diagnosis_here(const RoleCode& code) {
  const models::DeviceProfile profile = host::load_profile(code.profile);
  Kernel kernel;
  kernel.cluster = {code.ctas, 1, 1};
  kernel.grid = {code.ctas * code.clusters, 1, 1};
  kernel.warps = code.warps;
  kernel.smem_bytes = 64 * 1024;
  kernel.barriers = code.barriers;
  for (int w = 0; w < code.warps; ++w) kernel.roles.push_back("w" + std::to_string(w));
  std::vector<uint64_t> altered(code.faults.size());
  kernel.run_warp = [&](Warp& warp) {
    FaultInterceptor faults(code.faults, altered);
    RoleIsa isa(warp, profile, code.faults.empty() ? nullptr : &faults);
    code.program(isa);
  };
  const models::Gpu::Options options{.sms = int(code.ctas),
                                     .with_data = code.with_data,
                                     .accumulation = models::Accumulation::fast,
                                     .jitter_seed = {},
                                     .ctas_per_sm = code.ctas_per_sm};
  Device device(profile, kernel, options, nullptr);
  HazardChecker hazards(kernel, device.gpu.slots(), device.observer);
  if (code.checked) device.observer.set_hazards(&hazards);
  if (code.before) code.before(device);
  device.launch();
  constexpr models::Cycles kStep = 100'000;  // the clock stops at the last event before it
  for (models::Cycles until = kStep; device.run_until(until) && device.observer.violations().empty();
       until += kStep) {}
  if (code.after) code.after(device);
  std::string text;
  const auto add = [&](const char* what, const std::vector<models::Violation>& all) {
    for (const models::Violation& v : all) {
      text += std::string(what) + " " + v.id + ": " + v.message + "\n";
      for (const std::string& detail : v.details) text += "  " + detail + "\n";
    }
  };
  add("finding", device.observer.violations());
  add("warning", device.observer.warnings());
  add("note", device.observer.notes());
  if (device.observer.violations().empty() && device.gpu.ctas_running() > 0)
    text += code.explained ? explain_hang(device.slots(), models::now(), 0, "").text : "hang\n";
  return text;
}

inline std::string diagnosis(const RoleCode& code) {
  const ProcessPool::Finished finished = in_child([&]() -> std::string {
    try {
      return diagnosis_here(code);
    } catch (const std::exception& e) { return std::string("error: ") + e.what(); }
  });
  return finished.died.empty() ? finished.bytes : "died";
}

/// "finding TC15", "warning MB14, warning TC16", "clean".
inline std::string ids_of(const std::string& text) {
  std::set<std::string> ids;
  for (size_t at = 0, end; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    const std::string id = text.substr(at, std::min(text.find(':', at), end) - at);
    if (text[at] != ' ') ids.insert(id);
  }
  std::string all;
  for (const std::string& id : ids) all += (all.empty() ? "" : ", ") + id;
  return all.empty() ? "clean" : all;
}

}  // namespace sm100::sim
