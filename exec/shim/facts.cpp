// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/facts.h"

#include <cstring>

namespace sm100::exec {

using namespace abi;

namespace {

constexpr ErrorText kErrors[] = {
    {success, "cudaSuccess", "CUDA_SUCCESS", "no error"},
    {invalid_value, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {memory_allocation, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {initialization_error, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED",
     "initialization error: run the program with sm100sim exec, and call cuInit first"},
    {invalid_configuration, "cudaErrorInvalidConfiguration", "", "invalid configuration argument"},
    {invalid_pitch, "cudaErrorInvalidPitchValue", "", "invalid pitch argument"},
    {invalid_symbol, "cudaErrorInvalidSymbol", "", "invalid device symbol"},
    {invalid_memcpy_direction, "cudaErrorInvalidMemcpyDirection", "", "invalid copy direction for memcpy"},
    {invalid_device_function, "cudaErrorInvalidDeviceFunction", "", "invalid device function"},
    {invalid_device, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {invalid_kernel_image, "cudaErrorInvalidKernelImage", "CUDA_ERROR_INVALID_IMAGE", "invalid kernel image"},
    {invalid_context, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {no_kernel_image_for_device, "cudaErrorNoKernelImageForDevice", "CUDA_ERROR_NO_BINARY_FOR_GPU",
     "no PTX that this device can run"},
    {invalid_ptx, "cudaErrorInvalidPtx", "CUDA_ERROR_INVALID_PTX", "PTX that cannot be read"},
    {file_not_found, "cudaErrorFileNotFound", "CUDA_ERROR_FILE_NOT_FOUND", "file not found"},
    {invalid_resource_handle, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE",
     "invalid resource handle"},
    {illegal_state, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE", "the operation cannot be performed now"},
    {symbol_not_found, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {not_ready, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY", "not ready"},
    {launch_out_of_resources, "cudaErrorLaunchOutOfResources", "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
     "too many resources requested for launch"},
    {host_memory_already_registered, "cudaErrorHostMemoryAlreadyRegistered",
     "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped"},
    {host_memory_not_registered, "cudaErrorHostMemoryNotRegistered", "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {illegal_address, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS",
     "an illegal memory access was encountered"},
    {assertion_failed, "cudaErrorAssert", "CUDA_ERROR_ASSERT", "device-side assert triggered"},
    {misaligned_address, "cudaErrorMisalignedAddress", "CUDA_ERROR_MISALIGNED_ADDRESS", "misaligned address"},
    {launch_failure, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED",
     "a launch was not carried out to its end (sm100sim exec)"},
    {cooperative_launch_too_large, "cudaErrorCooperativeLaunchTooLarge", "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
     "too many CTAs in a cooperative launch"},
    {not_supported, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED", "not implemented by sm100sim exec"},
    {capture_unsupported, "cudaErrorStreamCaptureUnsupported", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted while a stream is captured"},
    {capture_invalidated, "cudaErrorStreamCaptureInvalidated", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "an earlier error has invalidated the capture"},
    {capture_unmatched, "cudaErrorStreamCaptureUnmatched", "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "the capture was begun on another stream"},
    {capture_unjoined, "cudaErrorStreamCaptureUnjoined", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED",
     "the capture has forked to a stream that has not joined it again"},
    {capture_implicit, "cudaErrorStreamCaptureImplicit", "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {captured_event, "cudaErrorCapturedEvent", "CUDA_ERROR_CAPTURED_EVENT", "the event was recorded in a capture"},
    {invalid_cluster_size, "cudaErrorInvalidClusterSize", "CUDA_ERROR_INVALID_CLUSTER_SIZE",
     "invalid cluster size"},
};

}  // namespace

const ErrorText* find_error(int error) {
  for (const ErrorText& known : kErrors)
    if (known.error == error) return &known;
  return nullptr;
}

bool device_attribute(const DeviceFacts& facts, int id, int& value) {
  switch (id) {
    case 1: value = 1024; return true;  // MaxThreadsPerBlock
    case 2:
    case 3: value = 1024; return true;       // MaxBlockDimX, Y
    case 4: value = 64; return true;         // MaxBlockDimZ
    case 5: value = INT32_MAX; return true;  // MaxGridDimX
    case 6:
    case 7: value = 65535; return true;                                // MaxGridDimY, Z
    case 8: value = 48 * 1024; return true;                            // MaxSharedMemoryPerBlock
    case 9: value = 64 * 1024; return true;                            // TotalConstantMemory
    case 10: value = 32; return true;                                  // WarpSize
    case 11: value = INT32_MAX; return true;                           // MaxPitch
    case 12: value = int(facts.registers_per_sm); return true;         // MaxRegistersPerBlock
    case 13: value = int(facts.clock_khz); return true;                // ClockRate
    case 14: value = 512; return true;                                 // TextureAlignment
    case 15: value = 1; return true;                                   // GpuOverlap
    case 16: value = int(facts.sms); return true;                      // MultiProcessorCount
    case 19: value = 0; return true;                                   // CanMapHostMemory
    case 31: value = 1; return true;                                   // ConcurrentKernels
    case 36: value = 3'996'000; return true;                           // MemoryClockRate, in kHz: 8.2 TB/s
    case 37: value = 8192; return true;                                // GlobalMemoryBusWidth
    case 38: value = int(facts.l2_bytes); return true;                 // L2CacheSize
    case 39: value = int(facts.threads_per_sm); return true;           // MaxThreadsPerMultiProcessor
    case 40: value = 1; return true;                                   // AsyncEngineCount
    case 41: value = 1; return true;                                   // UnifiedAddressing
    case 75: value = int(facts.compute_capability / 10); return true;  // ComputeCapabilityMajor
    case 76: value = 0; return true;                                   // ComputeCapabilityMinor
    case 81: value = int(facts.smem_bytes_per_sm); return true;        // MaxSharedMemoryPerMultiprocessor
    case 82: value = int(facts.registers_per_sm); return true;         // MaxRegistersPerMultiprocessor
    case 83:                                                           // ManagedMemory
    case 95:                                                           // CooperativeLaunch
    case 115:                                                          // MemoryPoolsSupported
    case 127: value = 1; return true;                                  // TensorMapAccessSupported (the driver's)
    case 97: value = int(facts.smem_bytes_per_cta); return true;       // MaxSharedMemoryPerBlockOptin
    case 106: value = int(facts.ctas_per_sm); return true;             // MaxBlocksPerMultiprocessor
    case 111: value = 1024; return true;                               // ReservedSharedMemoryPerBlock
    case 120: value = 1; return true;                                  // ClusterLaunch
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
    case 84:
    case 85:
    case 86:
    case 88:
    case 89:
    case 90:
    case 91:
    case 99:
    case 100:
    case 101:
    case 108:
    case 109:
    case 112:
    case 113:
    case 114:
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

void fill_properties(const DeviceFacts& facts, unsigned char* to) {
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
  put(prop_major, int(facts.compute_capability / 10));
  put(prop_minor, int(facts.compute_capability % 10));
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
  put(prop_managed_memory, 1);
  put(prop_cooperative_launch, 1);
  put(prop_memory_pools_supported, 1);
  put(prop_cluster_launch, 1);
}

}  // namespace sm100::exec
