// SPDX-License-Identifier: Apache-2.0
/// What a scenario launches on the device: a compiled kernel of this program, or PTX that the driver compiles.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/run/device_kernel.h"
#include "kernels/cuda/run/gpu.h"
#include "kernels/cuda/run/recording.h"
#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"
#include "kernels/isa/device_trace.h"
#include "ptx/module.h"

namespace sm100::cuda {

/// A launch and its recording twin.
struct Executable {
  Launch plain;
  /// Its twin that records, with room for so many records of a warp.
  std::function<std::unique_ptr<Recording>(uint32_t capacity)> record;
  std::shared_ptr<void> keeps;  ///< what the arguments point into
};

/// Compiled kernels run on their own architecture; of PTX `.target` says: sm_90a nowhere else, sm_90 on later ones,
/// too.
bool ptx_runs_on(const ptx::Module& module, int architecture);

/// Throws host::InputError for what a launch file asks and a GPU cannot give, and what the driver refuses.
/// @param kernel  null: kernel = "ptx"
Executable load(const host::Scenario& scenario, const DeviceKernel* kernel, const host::KernelRun& run,
                const std::vector<GlobalAddr>& addresses, const host::TensorMapEncoder& encode);

}  // namespace sm100::cuda
