// SPDX-License-Identifier: Apache-2.0
// Holds exec/shim/abi.h against CUDA's own headers, where they are there: it compiles or not.
#include <cuda.h>
#include <cuda_runtime.h>

#include "exec/shim/abi.h"

namespace abi = sm100::exec::abi;

static_assert(int(abi::success) == int(cudaSuccess));
#define ERROR(ours, runtime, driver) static_assert(int(abi::ours) == int(runtime) && int(abi::ours) == int(driver))
ERROR(invalid_value, cudaErrorInvalidValue, CUDA_ERROR_INVALID_VALUE);
ERROR(memory_allocation, cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY);
ERROR(initialization_error, cudaErrorInitializationError, CUDA_ERROR_NOT_INITIALIZED);
ERROR(invalid_device, cudaErrorInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
ERROR(invalid_kernel_image, cudaErrorInvalidKernelImage, CUDA_ERROR_INVALID_IMAGE);
ERROR(invalid_context, cudaErrorDeviceUninitialized, CUDA_ERROR_INVALID_CONTEXT);
ERROR(no_kernel_image_for_device, cudaErrorNoKernelImageForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU);
ERROR(invalid_ptx, cudaErrorInvalidPtx, CUDA_ERROR_INVALID_PTX);
ERROR(file_not_found, cudaErrorFileNotFound, CUDA_ERROR_FILE_NOT_FOUND);
ERROR(invalid_resource_handle, cudaErrorInvalidResourceHandle, CUDA_ERROR_INVALID_HANDLE);
ERROR(illegal_state, cudaErrorIllegalState, CUDA_ERROR_ILLEGAL_STATE);
ERROR(symbol_not_found, cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND);
ERROR(not_ready, cudaErrorNotReady, CUDA_ERROR_NOT_READY);
ERROR(launch_out_of_resources, cudaErrorLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
ERROR(launch_failure, cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED);
ERROR(illegal_address, cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
ERROR(assertion_failed, cudaErrorAssert, CUDA_ERROR_ASSERT);
ERROR(misaligned_address, cudaErrorMisalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
ERROR(cooperative_launch_too_large, cudaErrorCooperativeLaunchTooLarge, CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
ERROR(not_supported, cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED);
ERROR(capture_unsupported, cudaErrorStreamCaptureUnsupported, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
ERROR(capture_invalidated, cudaErrorStreamCaptureInvalidated, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
ERROR(capture_unmatched, cudaErrorStreamCaptureUnmatched, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
ERROR(capture_unjoined, cudaErrorStreamCaptureUnjoined, CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
ERROR(capture_implicit, cudaErrorStreamCaptureImplicit, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
ERROR(host_memory_already_registered, cudaErrorHostMemoryAlreadyRegistered,
      CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
ERROR(host_memory_not_registered, cudaErrorHostMemoryNotRegistered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
ERROR(captured_event, cudaErrorCapturedEvent, CUDA_ERROR_CAPTURED_EVENT);
ERROR(invalid_cluster_size, cudaErrorInvalidClusterSize, CUDA_ERROR_INVALID_CLUSTER_SIZE);
static_assert(int(abi::invalid_configuration) == int(cudaErrorInvalidConfiguration));
static_assert(int(abi::invalid_pitch) == int(cudaErrorInvalidPitchValue));
static_assert(int(abi::invalid_symbol) == int(cudaErrorInvalidSymbol));
static_assert(int(abi::invalid_memcpy_direction) == int(cudaErrorInvalidMemcpyDirection));
static_assert(int(abi::invalid_device_function) == int(cudaErrorInvalidDeviceFunction));

static_assert(sizeof(abi::LaunchAttribute) == sizeof(cudaLaunchAttribute) &&
              offsetof(abi::LaunchAttribute, value) == offsetof(cudaLaunchAttribute, val));
static_assert(sizeof(abi::LaunchConfig) == sizeof(cudaLaunchConfig_t) &&
              offsetof(abi::LaunchConfig, attributes) == offsetof(cudaLaunchConfig_t, attrs));
static_assert(sizeof(abi::DriverLaunchConfig) == sizeof(CUlaunchConfig) &&
              offsetof(abi::DriverLaunchConfig, stream) == offsetof(CUlaunchConfig, hStream) &&
              offsetof(abi::DriverLaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs));
static_assert(sizeof(abi::DriverCopy2D) == sizeof(CUDA_MEMCPY2D) &&
              offsetof(abi::DriverCopy2D, to) == offsetof(CUDA_MEMCPY2D, dstXInBytes) &&
              offsetof(abi::DriverCopy2D, width) == offsetof(CUDA_MEMCPY2D, WidthInBytes));
static_assert(sizeof(abi::FunctionAttributes) == sizeof(cudaFuncAttributes));
static_assert(sizeof(abi::PointerAttributes) == sizeof(cudaPointerAttributes));
static_assert(abi::kDevicePropBytes == sizeof(cudaDeviceProp));
#define PROPERTY(ours, theirs) static_assert(size_t(abi::ours) == offsetof(cudaDeviceProp, theirs))
PROPERTY(prop_total_global_mem, totalGlobalMem);
PROPERTY(prop_shared_mem_per_block, sharedMemPerBlock);
PROPERTY(prop_regs_per_block, regsPerBlock);
PROPERTY(prop_warp_size, warpSize);
PROPERTY(prop_max_threads_per_block, maxThreadsPerBlock);
PROPERTY(prop_max_threads_dim, maxThreadsDim);
PROPERTY(prop_max_grid_size, maxGridSize);
PROPERTY(prop_total_const_mem, totalConstMem);
PROPERTY(prop_major, major);
PROPERTY(prop_minor, minor);
PROPERTY(prop_multi_processor_count, multiProcessorCount);
PROPERTY(prop_concurrent_kernels, concurrentKernels);
PROPERTY(prop_async_engine_count, asyncEngineCount);
PROPERTY(prop_unified_addressing, unifiedAddressing);
PROPERTY(prop_memory_bus_width, memoryBusWidth);
PROPERTY(prop_l2_cache_size, l2CacheSize);
PROPERTY(prop_max_threads_per_multi_processor, maxThreadsPerMultiProcessor);
PROPERTY(prop_shared_mem_per_multiprocessor, sharedMemPerMultiprocessor);
PROPERTY(prop_regs_per_multiprocessor, regsPerMultiprocessor);
PROPERTY(prop_managed_memory, managedMemory);
PROPERTY(prop_cooperative_launch, cooperativeLaunch);
PROPERTY(prop_shared_mem_per_block_optin, sharedMemPerBlockOptin);
PROPERTY(prop_max_blocks_per_multi_processor, maxBlocksPerMultiProcessor);
PROPERTY(prop_reserved_shared_mem_per_block, reservedSharedMemPerBlock);
PROPERTY(prop_memory_pools_supported, memoryPoolsSupported);
PROPERTY(prop_cluster_launch, clusterLaunch);
