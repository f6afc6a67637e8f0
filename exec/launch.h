// SPDX-License-Identifier: Apache-2.0
/// A launch of a program: what its runtime library has asked for, and what came of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "exec/protocol.h"
#include "exec/stream_history.h"
#include "kernels/host/scenario.h"
#include "kernels/ptx_launch/host/ptx_launch.h"
#include "sim/run_result.h"
#include "traces/format/schema.h"

namespace sm100::exec {

struct Launch {
  int number = 0;     ///< of the program, from 1
  std::string ahead;  ///< the launch ahead in its stream, if this one need not wait for its end; else empty
  std::shared_ptr<const ptx::Module> module;
  size_t entry = 0;
  Shape shape;
  int registers = 0;  ///< of a thread, by its machine code; 0: the program has none
  std::vector<uint8_t> parameters;
  std::vector<Block> memory;  ///< all allocations
  WorkOrder order;
  std::vector<Block> variables;  ///< of the module's scope, those that have an address, in their order

  const ptx::Entry& code() const { return module->entries[entry]; }
  std::string name() const;  ///< "launch 3"
  /// "device_kernel<...>, grid 4 x 4 of 192 threads, clusters of 2 x 1"
  std::string title() const;
};

/// What came of it.
struct LaunchOutcome {
  sim::RunResult result;
  std::string error;         ///< why there is no result; empty: there is one
  bool bad_launch = false;   ///< the error is one that CUDA reports, too: a shape that the device does not take
  bool functional = false;   ///< without models: its cycles are a rough figure
  bool carried_out = false;  ///< every CTA has run to its end, without a finding
  Footprint footprint;       ///< where the order of its work is watched
  std::shared_ptr<const traces::Trace> trace;  ///< of a launch on the models, if it was recorded
};

}  // namespace sm100::exec
