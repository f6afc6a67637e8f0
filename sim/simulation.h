// SPDX-License-Identifier: Apache-2.0
/// One run of a scenario on the model, in three steps: build, run, result.
///
///     Simulation simulation(scenario);
///     simulation.run();
///     RunResult result = simulation.result();
///
/// SystemC elaborates once per process, so a process makes one Simulation.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "kernels/host/scenario.h"
#include "models/access_map.h"
#include "sim/kernel.h"
#include "sim/prepared.h"
#include "sim/run_result.h"
#include "sim/verdict.h"
#include "traces/format/recorder.h"

namespace sm100::sim {

class BarrierLearner;

/// When the hazard checker looks at what a run does (sim/hazards/).
enum class HazardLooks {
  automatic,  ///< run_simulation() chooses; else at_once
  at_once,    ///< as it happens
  postponed,  ///< some cycles later, which is cheaper; a run that finds something must be repeated to say what
};

struct SimulationOptions {
  traces::Recorder* recorder =
      nullptr;                         ///< receives role spans, unit spans and barrier events; nullptr: nobody does
  const Prepared* prepared = nullptr;  ///< what runs before this one have computed; nullptr: nothing
  bool record_delays = false;          ///< RunResult::drawn
  BarrierLearner* learner =
      nullptr;  ///< hears of barriers; nullptr: nobody does, and a table that leaves something open is learned
  models::AccessMap* accesses = nullptr;  ///< hears what the run reads and writes in global memory
  std::string
      launch_ahead{};  ///< name of a launch that is not of the run, whose end this one need not have waited
                       ///< for: what is read before griddepcontrol.wait was not looked at; empty: there is none
  HazardLooks hazards = HazardLooks::automatic;
};

class Simulation {
 public:
  /// Builds the device and loads the kernel: its tensors, its parameters, the code of its warps.  `scenario` and
  /// what the options point to must outlive the simulation. Throws InputError when the scenario cannot run (for
  /// example a CTA that needs more shared memory than an SM has).
  explicit Simulation(const host::Scenario& scenario, const SimulationOptions& options = {});
  ~Simulation();

  /// Launches the kernel and runs it to its end, a hang, a violation, or the end of its cycle budget.  Called once.
  RunEnd run(const RunCallbacks& callbacks = {});

  /// Judges what has been run and compares its numbers with their reference; the recorder's trace is complete then,
  /// but for Recorder::finish.  Called once, after run().
  RunResult result();

  /// With HazardLooks::postponed, after run(): something was found, and result() is of no use.
  bool must_be_repeated() const;

  /// Those of the run, with their code.
  const std::deque<Kernel>& kernels() const;

 private:
  class Machine;
  const std::unique_ptr<Machine> machine_;
};

/// Build, run and result at once.  On many SMs, and where nobody records, hazards are looked at later
/// (HazardLooks::postponed), and another process repeats the run if there are any: the result is the same.
RunResult run_simulation(const host::Scenario& scenario, const SimulationOptions& options = {},
                         const RunCallbacks& callbacks = {});

}  // namespace sm100::sim
