// SPDX-License-Identifier: Apache-2.0
// The device, errors, streams and events of the runtime library.  Launches are carried out in the order of the
// calls, so everything is over when a call returns; streams and events only keep simulated time.
#include <cstring>

#include "exec/shim/device.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

constexpr int kRuntimeVersion = 13000;
/// A driver may be newer than the runtime.  Up to 13010 CUTLASS mends small tensors' maps behind the driver's back:
/// it clears a bit of their second word, where our maps have the tensor's address.
constexpr int kDriverVersion = 13020;

struct ErrorText {
  int error;
  const char *name, *text;
};
constexpr ErrorText kErrors[] = {
    {success, "cudaSuccess", "no error"},
    {invalid_value, "cudaErrorInvalidValue", "invalid argument"},
    {memory_allocation, "cudaErrorMemoryAllocation", "out of memory"},
    {initialization_error, "cudaErrorInitializationError",
     "initialization error: run the program with sm100sim exec"},
    {invalid_configuration, "cudaErrorInvalidConfiguration", "invalid configuration argument"},
    {invalid_symbol, "cudaErrorInvalidSymbol", "invalid device symbol"},
    {invalid_memcpy_direction, "cudaErrorInvalidMemcpyDirection", "invalid copy direction for memcpy"},
    {invalid_device_function, "cudaErrorInvalidDeviceFunction", "invalid device function"},
    {invalid_device, "cudaErrorInvalidDevice", "invalid device ordinal"},
    {no_kernel_image_for_device, "cudaErrorNoKernelImageForDevice", "no PTX that this device can run"},
    {invalid_ptx, "cudaErrorInvalidPtx", "PTX that cannot be read"},
    {invalid_resource_handle, "cudaErrorInvalidResourceHandle", "invalid resource handle"},
    {symbol_not_found, "cudaErrorSymbolNotFound", "named symbol not found"},
    {not_ready, "cudaErrorNotReady", "not ready"},
    {launch_out_of_resources, "cudaErrorLaunchOutOfResources", "too many resources requested for launch"},
    {launch_failure, "cudaErrorLaunchFailure", "a launch was not carried out to its end (sm100sim exec)"},
    {not_supported, "cudaErrorNotSupported", "not implemented by sm100sim exec"},
    {invalid_cluster_size, "cudaErrorInvalidClusterSize", "invalid cluster size"},
};
const ErrorText& text_of(int error) {
  for (const ErrorText& known : kErrors)
    if (known.error == error) return known;
  static const ErrorText unknown{-1, "unrecognized error code", "unrecognized error code"};
  return unknown;
}

// cudaDeviceAttr
bool attribute(const DeviceFacts& facts, int id, int& value) {
  switch (id) {
    case 1: value = 1024; return true;  // MaxThreadsPerBlock
    case 2:
    case 3: value = 1024; return true;       // MaxBlockDimX, Y
    case 4: value = 64; return true;         // MaxBlockDimZ
    case 5: value = INT32_MAX; return true;  // MaxGridDimX
    case 6:
    case 7: value = 65535; return true;                           // MaxGridDimY, Z
    case 8: value = 48 * 1024; return true;                       // MaxSharedMemoryPerBlock
    case 9: value = 64 * 1024; return true;                       // TotalConstantMemory
    case 10: value = 32; return true;                             // WarpSize
    case 11: value = INT32_MAX; return true;                      // MaxPitch
    case 12: value = int(facts.registers_per_sm); return true;    // MaxRegistersPerBlock
    case 13: value = int(facts.clock_khz); return true;           // ClockRate
    case 14: value = 512; return true;                            // TextureAlignment
    case 15: value = 1; return true;                              // GpuOverlap
    case 16: value = int(facts.sms); return true;                 // MultiProcessorCount
    case 19: value = 0; return true;                              // CanMapHostMemory
    case 31: value = 1; return true;                              // ConcurrentKernels
    case 37: value = 8192; return true;                           // GlobalMemoryBusWidth
    case 38: value = int(facts.l2_bytes); return true;            // L2CacheSize
    case 39: value = int(facts.threads_per_sm); return true;      // MaxThreadsPerMultiProcessor
    case 40: value = 1; return true;                              // AsyncEngineCount
    case 41: value = 1; return true;                              // UnifiedAddressing
    case 75: value = 10; return true;                             // ComputeCapabilityMajor
    case 76: value = 0; return true;                              // ComputeCapabilityMinor
    case 81: value = int(facts.smem_bytes_per_sm); return true;   // MaxSharedMemoryPerMultiprocessor
    case 82: value = int(facts.registers_per_sm); return true;    // MaxRegistersPerMultiprocessor
    case 97: value = int(facts.smem_bytes_per_cta); return true;  // MaxSharedMemoryPerBlockOptin
    case 106: value = int(facts.ctas_per_sm); return true;        // MaxBlocksPerMultiprocessor
    case 111: value = 1024; return true;                          // ReservedSharedMemoryPerBlock
    case 120: value = 1; return true;                             // ClusterLaunch
    case 17:
    case 18:
    case 20:
    case 32:
    case 33:
    case 34:
    case 35:
    case 50:
    case 77:
    case 78:
    case 79:
    case 80:
    case 83:
    case 84:
    case 85:
    case 86:
    case 88:
    case 89:
    case 90:
    case 91:
    case 95:
    case 99:
    case 100:
    case 101:
    case 108:
    case 109:
    case 112:
    case 113:
    case 114:
    case 115:
    case 116:
    case 117:
    case 118:
    case 119:
    case 121:
    case 125:
    case 126:
    case 130: value = 0; return true;  // identities, and what there is not
    default: return false;
  }
}

void fill(const DeviceFacts& facts, unsigned char* to) {
  const auto put = [&](size_t offset, auto value) { std::memcpy(to + offset, &value, sizeof value); };
  std::memset(to, 0, kDevicePropBytes);
  std::memcpy(to + prop_name, facts.name, sizeof facts.name);
  put(prop_total_global_mem, size_t(facts.memory_bytes));
  put(prop_shared_mem_per_block, size_t(48 * 1024));
  put(prop_regs_per_block, int(facts.registers_per_sm));
  put(prop_warp_size, 32);
  put(prop_mem_pitch, size_t(INT32_MAX));
  put(prop_max_threads_per_block, 1024);
  const int threads[3] = {1024, 1024, 64}, grid[3] = {INT32_MAX, 65535, 65535};
  std::memcpy(to + prop_max_threads_dim, threads, sizeof threads);
  std::memcpy(to + prop_max_grid_size, grid, sizeof grid);
  put(prop_total_const_mem, size_t(64 * 1024));
  put(prop_major, 10);
  put(prop_minor, 0);
  put(prop_texture_alignment, size_t(512));
  put(prop_multi_processor_count, int(facts.sms));
  put(prop_concurrent_kernels, 1);
  put(prop_async_engine_count, 1);
  put(prop_unified_addressing, 1);
  put(prop_memory_bus_width, 8192);
  put(prop_l2_cache_size, int(facts.l2_bytes));
  put(prop_max_threads_per_multi_processor, int(facts.threads_per_sm));
  put(prop_shared_mem_per_multiprocessor, size_t(facts.smem_bytes_per_sm));
  put(prop_regs_per_multiprocessor, int(facts.registers_per_sm));
  put(prop_shared_mem_per_block_optin, size_t(facts.smem_bytes_per_cta));
  put(prop_max_blocks_per_multi_processor, int(facts.ctas_per_sm));
  put(prop_reserved_shared_mem_per_block, size_t(1024));
  put(prop_cluster_launch, 1);
}

struct Event {
  double nanoseconds = -1;  ///< -1: not recorded
};

int nothing() {
  return call([](Device&) { return success; });
}

}  // namespace

// ---- device

SM100_EXEC_API int cudaGetDeviceCount(int* count) {
  return call([&](Device&) {
    *count = 1;
    return success;
  });
}
SM100_EXEC_API int cudaGetDevice(int* device) {
  return call([&](Device&) {
    *device = 0;
    return success;
  });
}
SM100_EXEC_API int cudaSetDevice(int device) {
  return call([&](Device&) { return device == 0 ? success : invalid_device; });
}
SM100_EXEC_API int cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
SM100_EXEC_API int cudaSetDeviceFlags(unsigned) { return nothing(); }
SM100_EXEC_API int cudaDeviceSynchronize() { return nothing(); }
SM100_EXEC_API int cudaDeviceReset() { return nothing(); }
SM100_EXEC_API int cudaDeviceSetCacheConfig(int) { return nothing(); }
SM100_EXEC_API int cudaDeviceSetLimit(int, size_t) { return nothing(); }
SM100_EXEC_API int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Device&) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return success;
  });
}
SM100_EXEC_API int cudaGetDeviceProperties(void* properties, int device) {
  return call([&](Device& d) {
    if (device != 0) return invalid_device;
    fill(d.facts(), static_cast<unsigned char*>(properties));
    return success;
  });
}
SM100_EXEC_API int cudaDeviceGetAttribute(int* value, int id, int device) {
  return call([&](Device& d) {
    if (device != 0) return invalid_device;
    if (attribute(d.facts(), id, *value)) return success;
    d.note("not implemented: cudaDeviceGetAttribute of attribute " + std::to_string(id));
    return not_supported;
  });
}
SM100_EXEC_API int cudaDriverGetVersion(int* version) {
  return call([&](Device&) {
    *version = kDriverVersion;
    return success;
  });
}
SM100_EXEC_API int cudaRuntimeGetVersion(int* version) {
  return call([&](Device&) {
    *version = kRuntimeVersion;
    return success;
  });
}
SM100_EXEC_API int cudaProfilerStart() { return nothing(); }
SM100_EXEC_API int cudaProfilerStop() { return nothing(); }

// ---- errors

SM100_EXEC_API int cudaGetLastError() {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  const Error last = Device::last;
  Device::last = device.sticky;
  return last;
}
SM100_EXEC_API int cudaPeekAtLastError() { return Device::last; }
SM100_EXEC_API const char* cudaGetErrorString(int error) { return text_of(error).text; }
SM100_EXEC_API const char* cudaGetErrorName(int error) { return text_of(error).name; }

// ---- streams

SM100_EXEC_API int cudaStreamCreate(void** stream) {
  return call([&](Device&) {
    *stream = new char;
    return success;
  });
}
SM100_EXEC_API int cudaStreamCreateWithFlags(void** stream, unsigned) { return cudaStreamCreate(stream); }
SM100_EXEC_API int cudaStreamCreateWithPriority(void** stream, unsigned, int) { return cudaStreamCreate(stream); }
SM100_EXEC_API int cudaStreamDestroy(void* stream) {
  return call([&](Device&) {
    delete static_cast<char*>(stream);
    return success;
  });
}
SM100_EXEC_API int cudaStreamSynchronize(void*) { return nothing(); }
SM100_EXEC_API int cudaStreamQuery(void*) { return nothing(); }
SM100_EXEC_API int cudaStreamWaitEvent(void*, void*, unsigned) { return nothing(); }
SM100_EXEC_API int cudaStreamIsCapturing(void*, int* status) {
  return call([&](Device&) {
    *status = 0;
    return success;
  });
}
SM100_EXEC_API int cudaLaunchHostFunc(void*, void (*function)(void*), void* data) {
  const int error = nothing();
  if (error == success) function(data);
  return error;
}

// ---- events

SM100_EXEC_API int cudaEventCreate(void** event) {
  return call([&](Device&) {
    *event = new Event;
    return success;
  });
}
SM100_EXEC_API int cudaEventCreateWithFlags(void** event, unsigned) { return cudaEventCreate(event); }
SM100_EXEC_API int cudaEventDestroy(void* event) {
  return call([&](Device&) {
    delete static_cast<Event*>(event);
    return success;
  });
}
SM100_EXEC_API int cudaEventRecord(void* event, void*) {
  return call([&](Device& d) {
    if (!event) return invalid_resource_handle;
    static_cast<Event*>(event)->nanoseconds = d.nanoseconds;
    return success;
  });
}
SM100_EXEC_API int cudaEventRecordWithFlags(void* event, void* stream, unsigned) {
  return cudaEventRecord(event, stream);
}
SM100_EXEC_API int cudaEventSynchronize(void*) { return nothing(); }
SM100_EXEC_API int cudaEventQuery(void*) { return nothing(); }
SM100_EXEC_API int cudaEventElapsedTime(float* milliseconds, void* from, void* to) {
  return call([&](Device&) {
    if (!milliseconds || !from || !to) return invalid_resource_handle;
    const double begin = static_cast<Event*>(from)->nanoseconds, end = static_cast<Event*>(to)->nanoseconds;
    if (begin < 0 || end < 0) return invalid_resource_handle;
    *milliseconds = float((end - begin) * 1e-6);
    return success;
  });
}
