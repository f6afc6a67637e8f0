// SPDX-License-Identifier: Apache-2.0
/// What of the binary interfaces of the CUDA runtime and the driver these libraries need, from NVIDIA's public
/// documentation (version 13).  Enumerations are integers here: their functions are extern "C", so names and sizes
/// are all that links.  Errors have the runtime's numbers; the driver's are the same but for a few (driver.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace sm100::exec::abi {

enum Error : int {
  success = 0,
  invalid_value = 1,
  memory_allocation = 2,
  initialization_error = 3,
  invalid_configuration = 9,
  invalid_pitch = 12,
  invalid_symbol = 13,
  invalid_memcpy_direction = 21,
  invalid_device_function = 98,
  invalid_device = 101,
  invalid_kernel_image = 200,
  invalid_context = 201,
  no_kernel_image_for_device = 209,
  invalid_ptx = 218,
  file_not_found = 301,
  invalid_resource_handle = 400,
  illegal_state = 401,
  symbol_not_found = 500,
  not_ready = 600,
  illegal_address = 700,
  launch_out_of_resources = 701,
  assertion_failed = 710,
  host_memory_already_registered = 712,
  host_memory_not_registered = 713,
  misaligned_address = 716,
  launch_failure = 719,
  cooperative_launch_too_large = 720,
  not_supported = 801,
  capture_unsupported = 900,
  capture_invalidated = 901,
  capture_unmatched = 903,
  capture_unjoined = 904,
  capture_implicit = 906,
  captured_event = 907,
  invalid_cluster_size = 912,
};

enum MemcpyKind : int {
  host_to_host = 0,
  host_to_device = 1,
  device_to_host = 2,
  device_to_device = 3,
  by_address = 4
};

struct Dim3 {
  unsigned x, y, z;
};

/// cudaLaunchAttribute: an ID, then 64 bytes that depend on it.
struct LaunchAttribute {
  int id;
  alignas(8) unsigned char value[64];
};
static_assert(sizeof(LaunchAttribute) == 72);

/// cudaLaunchConfig_t
struct LaunchConfig {
  Dim3 grid, block;
  size_t dynamic_smem_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56);

/// CUlaunchConfig; its attributes are the runtime's.
struct DriverLaunchConfig {
  Dim3 grid, block;
  unsigned dynamic_smem_bytes;
  void* stream;
  const LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(DriverLaunchConfig) == 56 && offsetof(DriverLaunchConfig, stream) == 32);

/// CUDA_MEMCPY2D: of each side the row pitch and where it begins; `kind` 1 host, 2 device, 4 by address.
struct DriverCopy2D {
  struct Side {
    size_t x_bytes, y;
    int kind;
    const void* host;
    uint64_t device;
    void* array;
    size_t pitch;
  } from, to;
  size_t width, height;
};
static_assert(sizeof(DriverCopy2D) == 128);

/// cudaFuncAttributes
struct FunctionAttributes {
  size_t shared_bytes, constant_bytes, local_bytes;
  int threads, registers, ptx_version, binary_version, cache_mode, dynamic_shared_bytes, carveout;
  int cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy, non_portable_cluster;
  unsigned char reserved[68];
};
static_assert(sizeof(FunctionAttributes) == 144 && offsetof(FunctionAttributes, non_portable_cluster) == 72);

/// cudaPointerAttributes
struct PointerAttributes {
  int type, device;  ///< type 0 unregistered, 1 host, 2 device, 3 managed
  void *device_pointer, *host_pointer;
  long reserved[8];
};
static_assert(sizeof(PointerAttributes) == 88);

/// cudaDeviceProp has 1,008 bytes; of its members those that are filled in, by offset.
inline constexpr size_t kDevicePropBytes = 1008;
enum DevicePropOffset : size_t {
  prop_name = 0,
  prop_total_global_mem = 288,
  prop_shared_mem_per_block = 296,
  prop_regs_per_block = 304,
  prop_warp_size = 308,
  prop_mem_pitch = 312,
  prop_max_threads_per_block = 320,
  prop_max_threads_dim = 324,
  prop_max_grid_size = 336,
  prop_total_const_mem = 352,
  prop_major = 360,
  prop_minor = 364,
  prop_texture_alignment = 368,
  prop_multi_processor_count = 384,
  prop_concurrent_kernels = 560,
  prop_async_engine_count = 584,
  prop_unified_addressing = 588,
  prop_memory_bus_width = 592,
  prop_l2_cache_size = 596,
  prop_max_threads_per_multi_processor = 604,
  prop_stream_priorities_supported = 608,
  prop_shared_mem_per_multiprocessor = 624,
  prop_regs_per_multiprocessor = 632,
  prop_managed_memory = 636,
  prop_cooperative_launch = 668,
  prop_shared_mem_per_block_optin = 672,
  prop_max_blocks_per_multi_processor = 688,
  prop_reserved_shared_mem_per_block = 696,
  prop_memory_pools_supported = 720,
  prop_cluster_launch = 748,
};

}  // namespace sm100::exec::abi

/// A function of the library.
#define SM100_EXEC_API extern "C" __attribute__((visibility("default")))
