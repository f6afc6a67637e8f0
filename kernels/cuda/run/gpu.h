// SPDX-License-Identifier: Apache-2.0
/// The GPU that the kernels are launched on: memory, tensor maps, launches, time.  CUDA runtime calls, with errors
/// as exceptions that a person can read.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"

namespace sm100::cuda {

/// A CUDA call failed; what() names the call and CUDA's reason.
struct CudaError : std::runtime_error {
  CudaError(const char* call, cudaError_t code);
  cudaError_t code;
};
/// The kernel has not finished in time.
struct HangError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws CudaError.
void check(cudaError_t code, const char* call);
#define SM100_CUDA(call) ::sm100::cuda::check((call), #call)

/// Bytes in device memory.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(uint64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  GlobalAddr address() const { return {reinterpret_cast<uint64_t>(data_)}; }
  uint64_t bytes() const { return bytes_; }
  void upload(const void* from, uint64_t bytes);
  void download(void* to, uint64_t bytes) const;
  /// Does not wait for kernels: `stream` was made with cudaStreamNonBlocking.
  void download(void* to, uint64_t bytes, cudaStream_t stream) const;
  void clear();

 private:
  void* data_ = nullptr;
  uint64_t bytes_ = 0;
};

class Gpu {
 public:
  /// The first device.  Throws host::InputError in one line if there is none.
  Gpu();

  const std::string& name() const { return name_; }
  int sms() const { return sms_; }
  /// Compute capability, 90 for sm_90.
  int architecture() const { return architecture_; }

  /// cuTensorMapEncodeTiled, obtained from the driver.  Throws host::InputError with the fields' error.
  TensorMap encode(const TensorMapFields& fields) const;

  /// Prepares a kernel for `shape` (dynamic shared memory beyond 48 KiB, clusters of more than 8 CTAs).
  void prepare(const void* kernel, const host::LaunchShape& shape) const;
  /// Launches without waiting.  `arguments` as for cudaLaunchKernel.
  void launch(const void* kernel, const host::LaunchShape& shape, void** arguments) const;
  /// Waits for everything launched; throws CudaError, or HangError after `seconds`.
  void wait(double seconds) const;

  /// Microseconds of each of `repeat` launches, by CUDA events; `before` runs ahead of each and is not counted.
  std::vector<double> time(const void* kernel, const host::LaunchShape& shape, void** arguments, int repeat,
                           bool flush_l2, double seconds, const std::function<void()>& before);
  /// Microseconds per launch of `repeat` launches with nothing between them: where kernels may overlap, they do.
  double time_back_to_back(const void* kernel, const host::LaunchShape& shape, void** arguments, int repeat,
                           double seconds);
  /// Writes more bytes than L2 holds, so that what lay in it is gone.
  void flush_l2();

 private:
  std::string name_;
  int sms_ = 0, architecture_ = 0;
  uint64_t l2_bytes_ = 0;
  void* encode_tiled_ = nullptr;
  std::vector<DeviceBuffer> flush_buffer_;
};

}  // namespace sm100::cuda
