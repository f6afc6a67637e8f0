// SPDX-License-Identifier: Apache-2.0
/// A launch that records itself: compiled kernels with trace points (kernels/isa/device_recorder.cuh), and PTX that
/// `ptx::instrument` has given points.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kernels/cuda/run/gpu.h"
#include "kernels/cuda/run/trace_download.h"
#include "kernels/host/kernel_run.h"
#include "kernels/isa/device_trace.h"

namespace sm100::cuda {

class Recording {
 public:
  virtual ~Recording() = default;
  virtual const Launch& launch() const = 0;
  /// Forgets what has been recorded.
  virtual void clear() = 0;
  /// What has been recorded so far; also while a kernel that hangs is still there.  Throws CudaError, and
  /// std::invalid_argument if no warp has recorded anything.
  virtual DownloadedTrace download(const host::KernelRun& run) const = 0;
};

/// Of a compiled kernel.
/// @param traced  the launch that records into those buffers
std::unique_ptr<Recording> record_compiled(const host::LaunchShape& shape, uint32_t capacity,
                                           const std::function<Launch(const DeviceTrace&)>& traced);

/// Of the entry of a PTX text, which is given points.  Throws host::InputError: what the driver refuses, or a text
/// that cannot be given points.
/// @param plain  the launch of the text as it is
std::unique_ptr<Recording> record_ptx(const std::string& text, const std::string& name, const std::string& entry,
                                      const Launch& plain, uint32_t capacity);

}  // namespace sm100::cuda
