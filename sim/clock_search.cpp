// SPDX-License-Identifier: Apache-2.0
#include "sim/clock_search.h"

#include <cmath>

#include "models/sm_clock.h"
#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"

namespace sm100::sim {
namespace {

using host::ClockMode;
using host::Scenario;

constexpr int kMostRuns = 6;
constexpr double kNear = 0.002;  // of the clock

/// For timing only.  PTX may branch on what it reads.
Scenario for_timing(const Scenario& scenario) {
  Scenario timed = scenario;
  timed.clock = ClockMode::fixed;
  timed.hazards = false;
  timed.provenance = host::ProvenanceMode::off;
  const bool roles =
      !scenario.ptx && scenario.launch_list.empty() && scenario.kernel && scenario.kernel->arithmetic;
  if (roles) timed.data = host::DataMode::none;
  return timed;
}

models::Activity activity_of(const RunResult& run) {
  return {.cycles = double(run.cycles),
          .sms = run.sms_used,
          .tensor_cycles = run.tensor_utilization * double(run.cycles) * run.sms_used,
          .l2_read_bytes = double(run.l2_read_bytes),
          .written_bytes = double(run.written_bytes),
          .dram_bytes = double(run.dram_bytes)};
}

ClockResult result_of(const models::ClockEstimate& estimate, const Scenario& scenario) {
  const models::PowerParts& watts = estimate.watts;
  return {.mode = scenario.clock == ClockMode::power ? "power" : "single",
          .ghz = estimate.ghz,
          .low_ghz = estimate.low_ghz,
          .high_ghz = estimate.high_ghz,
          .full_ghz = scenario.device.power.full_ghz,
          .nominal_ghz = estimate.nominal_ghz,
          .watts = watts.all(),
          .limit_watts = scenario.device.power.limit_watts,
          .idle_watts = watts.idle,
          .sm_watts = watts.sms,
          .tensor_watts = watts.tensor,
          .l2_watts = watts.l2,
          .store_watts = watts.stores,
          .dram_watts = watts.dram,
          .lost_watts = watts.lost};
}

}  // namespace

Scenario at_clock(const Scenario& scenario, const ClockResult& clock) {
  Scenario there = scenario;
  there.clock = ClockMode::fixed;
  there.device.device.sm_clock_ghz = clock.ghz;
  return there;
}

ClockResult find_clock(const Scenario& scenario, const Prepared* prepared) {
  const auto of = scenario.clock == ClockMode::power ? models::sustained_clock : models::single_clock;
  ClockResult clock = result_of(of(scenario.device, {}), scenario);
  const Scenario timed = for_timing(scenario);
  double before = 0;
  for (int runs = 1; runs <= kMostRuns; ++runs) {
    ProcessPool process(1);
    process.start(0, [&] {
      return bytes_of_run([&](Json&) { return run_simulation(at_clock(timed, clock), {.prepared = prepared}); });
    });
    const RunReply reply = reply_of(*process.wait());
    const RunResult& run = reply.result;
    if (!reply.error("").empty() || run.outcome != Outcome::pass || run.cycles == 0)
      return result_of(of(scenario.device, {}), scenario);
    const double last = clock.ghz;
    clock = result_of(of(scenario.device, activity_of(run)), scenario);
    clock.runs = runs;
    if (std::abs(clock.ghz - last) <= kNear * last) break;
    if (std::abs(clock.ghz - before) <= kNear * clock.ghz) {  // to and fro
      const double part = (clock.ghz + last) / 2 / clock.ghz;
      for (double* ghz : {&clock.ghz, &clock.low_ghz, &clock.high_ghz, &clock.nominal_ghz}) *ghz *= part;
    }
    before = last;
  }
  return clock;
}

}  // namespace sm100::sim
