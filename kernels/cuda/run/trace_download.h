// SPDX-License-Identifier: Apache-2.0
/// From the records of the device recorder to a trace: downloads them, fits each SM's clock, pairs begins and ends.
///
/// A tick of the trace is one SM clock cycle.  Records carry %clock64, exact but per SM, and %globaltimer, common
/// but coarse (32 ns on an H200): the clock's rate comes from both over the whole run, and each SM's offset is the
/// middle of what its records allow.
#pragma once

#include "kernels/cuda/run/gpu.h"
#include "kernels/cuda/run/warp_tracks.h"
#include "kernels/host/kernel_run.h"
#include "kernels/isa/device_trace.h"

namespace sm100::cuda {

/// Device memory for the records of one launch.
class TraceBuffers {
 public:
  /// @param capacity  records per warp; what does not fit is counted
  TraceBuffers(const host::LaunchShape& shape, uint32_t capacity);
  ~TraceBuffers();
  TraceBuffers(const TraceBuffers&) = delete;
  TraceBuffers& operator=(const TraceBuffers&) = delete;

  DeviceTrace device_trace() const;
  void clear();
  /// What has been recorded so far; also while a kernel that hangs is still there.  Throws CudaError, and
  /// std::invalid_argument if no warp has recorded anything.
  DownloadedTrace download(const host::KernelRun& run) const;

 private:
  uint32_t warps_, warps_per_cta_, capacity_;
  DeviceBuffer records_, headers_;
  cudaStream_t stream_ = nullptr;
};

}  // namespace sm100::cuda
