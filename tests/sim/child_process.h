// SPDX-License-Identifier: Apache-2.0
/// Runs in processes of their own, because SystemC elaborates once per process.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"
#include "sim/verdict.h"
#include "traces/format/recorder.h"

namespace sm100::sim {

using namespace host;

inline ProcessPool::Finished in_child(const std::function<std::string()>& work) {
  ProcessPool pool(1);
  pool.start(0, work);
  return *pool.wait();
}

/// Throws std::runtime_error when there is no result: the scenario was refused, or the process died.
inline RunReply reply_in_child(const std::function<std::string()>& work) {
  RunReply reply = reply_of(in_child(work));
  const std::string error = reply.error("the run's process");
  if (!error.empty()) throw std::runtime_error(error);
  return reply;
}

inline RunResult run_in_child(const Scenario& scenario) {
  return reply_in_child([&] { return bytes_of_run([&](Json&) { return run_simulation(scenario); }); }).result;
}

/// FNV-1a over everything a barrier event says but its flow: ids of flows may differ, order and time may not.
inline uint64_t hash_of(const std::vector<traces::BarrierEvent>& events) {
  uint64_t h = 0xcbf29ce484222325u;
  auto mix = [&](uint64_t v) {
    for (int i = 0; i < 8; ++i) h = (h ^ (v >> (8 * i) & 0xff)) * 0x100000001b3u;
  };
  for (const auto& e : events) {
    mix(e.time);
    mix(uint64_t(e.track) << 32 | uint64_t(uint8_t(e.kind)) << 16 | uint16_t(e.actor));
    mix(uint64_t(uint32_t(e.phase)) << 32 | uint32_t(e.pending));
    mix(uint64_t(uint32_t(e.tx)) << 32 | uint32_t(e.amount));
  }
  return h;
}

struct RecordedRun : RunResult {
  uint64_t recorded_events = 0, barrier_hash = 0;  ///< of the trace's barrier events
};

/// The same with a trace, which stays in the child.
inline RecordedRun record_in_child(const Scenario& scenario) {
  const RunReply reply = reply_in_child([&] {
    return bytes_of_run([&](Json& beside) {
      traces::Recorder recorder;
      const RunResult result = run_simulation(scenario, {.recorder = &recorder});
      const auto& events = recorder.trace().barrier_events;
      beside = {events.size(), hash_of(events)};
      return result;
    });
  });
  return {reply.result, reply.beside[0], reply.beside[1]};
}

/// The report; of wrong numbers that nothing explains, how wrong they are; empty: the run passed.
inline std::string said(const RunResult& r) {
  if (!r.report.empty() || r.outcome != Outcome::mismatch) return r.report;
  return "MISMATCH: " + r.check.text() + "\n";
}

/// The first finding; one that says nothing where there is none.
inline Finding finding_of(const RunResult& r) { return r.findings.empty() ? Finding{} : r.findings.front(); }

}  // namespace sm100::sim
