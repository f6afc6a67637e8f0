// SPDX-License-Identifier: Apache-2.0
/// One scenario on the GPU: its kernel launched, the result checked, launches timed, one launch recorded.
#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/run/device_kernel.h"
#include "kernels/cuda/run/gpu.h"
#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"

namespace sm100::cuda {

struct RunOptions {
  int repeat = 5;                  ///< timed launches
  std::string trace;               ///< file; empty: none is recorded
  uint32_t trace_capacity = 8192;  ///< records per warp
  double hang_seconds = 20;        ///< after which a launch counts as hung
  int trials = 0;                  ///< launches whose results are all looked at
  bool cublas = false;             ///< time cuBLAS on the same operands
};

struct RunOutcome {
  host::Check check;
  uint64_t output_hash = 0;          ///< of the checked launch, as a run of the model has it
  int trials = 0, wrong_trials = 0;  ///< of RunOptions::trials
  std::vector<double> microseconds;
  double back_to_back_microseconds = 0;                    ///< per launch; 0: not measured
  double timed_clock_ghz = 0, back_to_back_clock_ghz = 0;  ///< SM clock meanwhile
  Gpu::Times cublas, cublas_back_to_back;                  ///< of RunOptions::cublas
  // Of the recorded launch; 0 without a trace.
  uint64_t dropped_events = 0;
  bool traced_bytes_differ = false;               ///< it wrote other bytes than the launches before
  double sm_clock_ghz = 0, traced_clock_ghz = 0;  ///< of the recorded launch; of those that were timed
  std::vector<double> traced_microseconds;
  uint64_t events_of_a_warp = 0;  ///< the most that one warp recorded

  /// What recording costs: cycles by which an event prolongs the kernel, if the warp with most events is the
  /// slowest.
  double cycles_per_event() const;
};

/// Middle one; 0 of none.
double median(std::vector<double> values);

/// Throws host::InputError for what the scenario asks in vain, CudaError, and HangError.  With `options.trace` the
/// first launch is recorded, so that one which hangs leaves its trace up to there.
/// @param kernel  null: kernel = "ptx"
RunOutcome run_on_gpu(const host::Scenario& scenario, const DeviceKernel* kernel, const RunOptions& options,
                      Gpu& gpu);

}  // namespace sm100::cuda
