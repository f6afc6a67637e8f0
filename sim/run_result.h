// SPDX-License-Identifier: Apache-2.0
/// What one simulated run found: the object behind the summary and `--json`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/host/kernel_run.h"
#include "models/profiles/jitter_point.h"
#include "sim/compiled_place.h"

namespace sm100::sim {

enum class Outcome { pass, mismatch, hang, findings };

/// One thing that is wrong, named the way an engineer would name it.
struct Finding {
  std::string id;        ///< check id, e.g. "hang", "MB5", "TM10"
  std::string barrier;   ///< "input_full", empty if none
  int stage = -1;        ///< -1: none
  int phase = -1;        ///< phase the barrier is in
  std::string role;      ///< "mma", "load", "epilogue 2"
  int cta = -1;          ///< linear CTA id
  std::string location;  ///< "mma_warp.h:57"
  /// Hangs: whose fault the wait of `role` is, and the line where it should have acted; empty, -1: not known.
  std::string fault_role;
  int fault_cta = -1;
  std::string fault_location;
  std::string cause;    ///< likely cause, one sentence
  std::string message;  ///< one line
  /// Of a kernel that is given as PTX: what `location` and `fault_location` say, in parts.
  CompiledPlace place{}, fault_place{};
};

/// Where the warps of one role spent their time, in SM cycles summed over `warps` warps.
struct RoleTime {
  std::string role;
  int warps = 0;
  uint64_t total_cycles = 0;
  std::vector<std::pair<std::string, uint64_t>> waiting;  ///< for what, cycles; largest first
};

/// When a launch of several was on the device, in SM cycles.
struct LaunchTime {
  uint64_t begin = 0;  ///< first instruction of its first CTA
  uint64_t end = 0;    ///< its CTAs have exited and what they wrote is visible
  // Of launches with names, the [[launch]] tables:
  std::string name{}, kernel{};
  int stream = 0;
  /// "pass", "mismatch"; "completed": not compared; "findings" and "hang": the run's first finding is in it;
  /// "unfinished", "not started".
  std::string outcome{};
  bool started() const { return outcome != "not started"; }
};

/// A `[[delay]]` that occurred.
struct DelayUse {
  models::Delay delay;
  std::string text;  ///< "+412 cycles: tma load 17 of load (warp 5) of CTA 0 for input_full[3] ..."
};

/// What is known of where the numbers come from (run.provenance).
struct ProvenanceResult {
  bool kept = false;            ///< by this run, or by its repetition
  bool repeated = false;        ///< the run was repeated to find out
  int tiles = 0;                ///< accumulators that were compared
  std::vector<Finding> causes;  ///< they are among the findings and warnings too
  std::vector<std::string> not_looked_at;
  std::string report;  ///< human text of the causes
};

/// The SM clock that follows from what a run does (run.sm_clock_ghz = "power" or "single"), models/sm_clock.h.
struct ClockResult {
  std::string mode;  ///< "power", "single"; empty: the clock was given, and nothing else holds
  double ghz = 0, low_ghz = 0, high_ghz = 0;
  double full_ghz = 0;     ///< of a chip that does nothing
  double nominal_ghz = 0;  ///< what the driver reports
  double watts = 0, limit_watts = 0;
  double idle_watts = 0, sm_watts = 0, tensor_watts = 0, l2_watts = 0, store_watts = 0, dram_watts = 0,
         lost_watts = 0;
  int runs = 0;  ///< simulated to find it, without this one
  bool limited() const { return watts > 0.995 * limit_watts; }
};

struct RunResult {
  Outcome outcome = Outcome::pass;
  bool verified = false;     ///< results were compared with a float64 product
  host::Check check;         ///< of the output, the first wrong one or the last; as initialised when not compared
  int checked_launch = 0;    ///< whose output `check` is about
  uint64_t output_hash = 0;  ///< of the bytes of all launches' outputs; 0 without data
  /// The length of the run: from the launch, at cycle 0, until the last CTA has exited and the last store is
  /// visible; of a run that did not pass, until it ended.  The trace has it as Metadata::run_ticks.
  uint64_t cycles = 0;
  double sm_clock_ghz = 0;
  ClockResult clock;
  double microseconds = 0;
  double tflops = 0;                 ///< of all launches; 0 for a kernel that moves data
  double gb_per_s = 0;               ///< bytes of the problem's tensors, each once per launch, over the time
  std::string title;                 ///< of the problem
  std::string chosen_configuration;  ///< KernelRun::chosen_configuration()
  double tensor_utilization = 0;     ///< busy tensor-pipe cycles / (cycles x SMs used)
  int sms_used = 0;
  // What loads moved, in bytes: into shared memory, out of L2, out of HBM.
  uint64_t filled_bytes = 0, l2_read_bytes = 0, dram_bytes = 0;
  uint64_t written_bytes = 0;        ///< that SMs wrote to L2
  uint64_t ctas_launched = 0;        ///< CTAs the hardware started
  uint64_t ctas_by_clc = 0;          ///< CTAs that never started: running ones took their work over through CLC
  std::vector<LaunchTime> launches;  ///< in the order of the host's calls; those without names if they have started
  std::vector<RoleTime> roles;
  std::vector<Finding> findings;
  std::vector<Finding> warnings;  ///< legal, but hardly meant; they do not change the outcome
  std::vector<std::string>
      notes;  ///< what the model leaves out and this run would show on hardware; common practice
  /// Reads of what nobody had written or PTX does not define, a line each, where nothing says whether the results
  /// are right: of runs whose output is not compared.
  std::vector<std::string> suspects;
  ProvenanceResult provenance;
  std::string printed;                   ///< by printf of the kernel, in the order of CTAs; UTF-8
  std::vector<std::string> not_checked;  ///< what the run did not look at, one phrase each; sim/verdict.h
  std::vector<uint64_t> fault_matches;   ///< per [[fault]]: instructions altered
  std::vector<std::string>
      unmatched_faults;              ///< [[fault]] entries that altered nothing and should have: a line for each
  std::string unexpected;            ///< how the run differs from [expect], one line; empty: it does not
  std::vector<DelayUse> delays;      ///< of the [[delay]] entries, in order of time
  std::vector<models::Delay> drawn;  ///< what the jitter seed delayed, if asked for
  /// The order in which barrier phases completed, whatever the times: a hash of the sequence, and which completion
  /// came next after which on an SM.
  uint64_t completion_order = 0;
  std::vector<uint64_t> completion_pairs;
  std::string report;           ///< human text of a hang or of findings; empty when clean
  uint64_t barrier_events = 0;  ///< of mbarriers: what a trace would hold of them, waits apart
  double wall_seconds = 0;
  uint64_t peak_rss_bytes = 0;
};

struct RunCallbacks {
  /// Called now and then with the fraction of work tiles finished (0..1) and the current cycle.
  std::function<void(double, uint64_t)> progress;
};

}  // namespace sm100::sim
