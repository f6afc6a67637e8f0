// SPDX-License-Identifier: Apache-2.0
/// The GPU that the kernels are launched on: memory, tensor maps, launches, time.  CUDA runtime calls, with errors
/// as exceptions that a person can read.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>
#include <memory>
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

/// A kernel ended with an error of its own: an illegal instruction, an address that is none, an assertion.
struct TrapError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Throws CudaError.
void check(cudaError_t code, const char* call);
#define SM100_CUDA(call) ::sm100::cuda::check((call), #call)

/// False once a kernel has not finished in time: whatever waits for the device would wait for ever.  The process
/// ends soon.
bool device_answers();

/// Bytes in device memory.
class DeviceBuffer {
 public:
  explicit DeviceBuffer(uint64_t bytes);
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  /// A part of memory that something else owns.
  static DeviceBuffer view(GlobalAddr address, uint64_t bytes) {
    DeviceBuffer buffer;
    buffer.data_ = reinterpret_cast<void*>(address.value), buffer.bytes_ = bytes, buffer.owns_ = false;
    return buffer;
  }

  GlobalAddr address() const { return {reinterpret_cast<uint64_t>(data_)}; }
  uint64_t bytes() const { return bytes_; }
  void upload(const void* from, uint64_t bytes);
  void download(void* to, uint64_t bytes) const;
  /// Does not wait for kernels: `stream` was made with cudaStreamNonBlocking.
  void download(void* to, uint64_t bytes, cudaStream_t stream) const;
  void clear();

 private:
  DeviceBuffer() = default;
  void* data_ = nullptr;
  uint64_t bytes_ = 0;
  bool owns_ = true;
};

/// Device memory at addresses that a launch file states.
class FixedMemory {
 public:
  /// Throws host::InputError if they are taken.
  FixedMemory(uint64_t from, uint64_t to);
  ~FixedMemory();
  FixedMemory(const FixedMemory&) = delete;
  FixedMemory& operator=(const FixedMemory&) = delete;

 private:
  uint64_t base_ = 0, bytes_ = 0, reserved_ = 0;
  unsigned long long allocation_ = 0;
};

/// Grid, block and what else a launch says beside its arguments.
struct DeviceLaunch {
  Dim3 grid{1, 1, 1}, cluster{1, 1, 1}, block{1, 1, 1};
  uint32_t dynamic_smem_bytes = 0;
  bool pdl = false;  ///< programmatic stream serialization
};
DeviceLaunch device_launch(const host::LaunchShape& shape);

/// A kernel on the device and what it is launched with.
struct Launch {
  const void* kernel = nullptr;  ///< a __global__ function or a cudaKernel_t
  DeviceLaunch how;
  std::vector<void*> arguments;  ///< one for each parameter
};

/// Clocks of an SM, read one after the other.
struct ClockReading {
  uint64_t cycles = 0;          ///< %clock64
  uint64_t globaltimer_ns = 0;  ///< 0: no CTA ran there
};
/// SM clock between two readings of all SMs; 0 where no SM is in both.
double mean_clock_ghz(const std::vector<ClockReading>& before, const std::vector<ClockReading>& after);

class PtxLibrary;

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

  /// Prepares a kernel for its launch (dynamic shared memory beyond 48 KiB, clusters of more than 8 CTAs).
  void prepare(const Launch& launch) const;
  /// Launches without waiting.
  void launch(const Launch& launch) const;
  /// Waits for everything launched; throws TrapError, or HangError after `seconds`.
  void wait(double seconds) const;

  /// Microseconds and SM clock of launches.
  struct Times {
    std::vector<double> microseconds;  ///< of each, by CUDA events; back to back: the mean of all
    double sm_clock_ghz = 0;           ///< the mean from before the first to behind the last
  };
  /// Of each of `repeat` launches; `before` runs ahead of each and is not counted.
  Times time(const std::function<void()>& launch, int repeat, bool flush_l2, double seconds,
             const std::function<void()>& before);
  /// Of `repeat` launches with nothing between them: where kernels may overlap, they do.
  Times time_back_to_back(const std::function<void()>& launch, int repeat, double seconds);
  /// Writes more bytes than L2 holds, so that what lay in it is gone.
  void flush_l2();

 private:
  std::vector<ClockReading> read_clocks();

  std::string name_;
  int sms_ = 0, architecture_ = 0;
  uint64_t l2_bytes_ = 0;
  void *encode_tiled_ = nullptr, *encode_im2col_ = nullptr;
  std::vector<DeviceBuffer> flush_buffer_;
  std::shared_ptr<PtxLibrary> probe_;  ///< reads the clocks
};

}  // namespace sm100::cuda
