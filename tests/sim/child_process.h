// SPDX-License-Identifier: Apache-2.0
/// Runs one simulation in a child process, because SystemC elaborates once per process, and brings back what
/// matters.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "sim/simulation.h"
#include "sim/verdict.h"

namespace sm100::sim {

using namespace host;

struct ChildResult {
  bool ran = false;  ///< the child came back with a result
  int outcome = -1;  ///< Outcome
  bool verified = false;
  double relative_error = 0;
  uint64_t cycles = 0, barrier_events = 0, barrier_hash = 0, output_hash = 0;
  char id[16] = {}, barrier[24] = {}, role[16] = {}, fault_role[16] = {};
  int stage = -1, phase = -1, fault_cta = -1;
  char warnings[64] = {};  ///< ids, one space behind each
  char verdict[16] = {};
  char text[12000] = {};          ///< report, or the error; of wrong numbers, how wrong they are
  char warning_lines[4000] = {};  ///< as the summary has them, without the label

  Outcome result() const { return Outcome(outcome); }
};

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

inline ChildResult run_child(const Scenario& scenario, bool record = false) {
  int pipe_ends[2];
  ChildResult result;
  if (pipe(pipe_ends) != 0) return result;
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[0]);
    auto copy = [](char* to, size_t size, const std::string& from) { std::strncpy(to, from.c_str(), size - 1); };
    try {
      traces::Recorder recorder;
      const RunResult run = run_simulation(scenario, {.recorder = record ? &recorder : nullptr});
      result.ran = true;
      result.outcome = int(run.outcome);
      result.verified = run.verified;
      result.relative_error = run.check.relative_error;
      result.cycles = run.cycles;
      result.output_hash = run.output_hash;
      result.barrier_events = recorder.trace().barrier_events.size();
      result.barrier_hash = hash_of(recorder.trace().barrier_events);
      copy(result.verdict, sizeof result.verdict, std::string(name(verdict_of(run))));
      copy(result.text, sizeof result.text,
           run.outcome == Outcome::mismatch && run.report.empty() ? "MISMATCH: " + run.check.text() + "\n"
                                                                  : run.report);
      std::string warnings, lines;
      for (const Finding& w : run.warnings) {
        warnings += w.id + " ";
        lines += w.id + ": " + w.message + (w.location.empty() ? "" : "  " + w.location) + "\n";
      }
      copy(result.warning_lines, sizeof result.warning_lines, lines);
      copy(result.warnings, sizeof result.warnings, warnings);
      if (!run.findings.empty()) {
        const Finding& f = run.findings.front();
        copy(result.id, sizeof result.id, f.id);
        copy(result.barrier, sizeof result.barrier, f.barrier);
        copy(result.role, sizeof result.role, f.role);
        copy(result.fault_role, sizeof result.fault_role, f.fault_role);
        result.fault_cta = f.fault_cta;
        result.stage = f.stage;
        result.phase = f.phase;
      }
    } catch (const std::exception& e) { copy(result.text, sizeof result.text, e.what()); }
    const char* at = reinterpret_cast<const char*>(&result);
    for (size_t left = sizeof result; left > 0;) {
      const ssize_t n = write(pipe_ends[1], at, left);
      if (n <= 0) break;
      at += n;
      left -= size_t(n);
    }
    _exit(0);
  }
  close(pipe_ends[1]);
  char* at = reinterpret_cast<char*>(&result);
  for (size_t left = sizeof result; left > 0;) {
    const ssize_t n = read(pipe_ends[0], at, left);
    if (n <= 0) break;
    at += n;
    left -= size_t(n);
  }
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) result.ran = false;
  return result;
}

}  // namespace sm100::sim
