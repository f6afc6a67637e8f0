// SPDX-License-Identifier: Apache-2.0
// Code of the runtime library: what nvcc's start-up code registers, launches, attributes of functions, occupancy.
#include <algorithm>
#include <cstring>
#include <string>

#include "exec/shim/device.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

// cudaFuncAttribute
enum FunctionAttribute : int {
  most_dynamic_smem = 8,
  preferred_carveout = 9,
  cluster_must_be_set = 10,
  required_width = 11,
  required_depth = 13,
  non_portable_cluster = 14,
  scheduling_policy = 15,
};

// cudaLaunchAttributeID
enum LaunchAttributeId : int {
  ignore = 0,
  cluster_dimension = 4,
  cluster_scheduling_policy = 5,
  programmatic_stream_serialization = 6,
  priority = 8,
  memory_sync_domain_map = 9,
  memory_sync_domain = 10,
  preferred_cluster_dimension = 11,
  preferred_smem_carveout = 14,
};

const char* name_of_attribute(int id) {
  switch (id) {
    case 1: return "cudaLaunchAttributeAccessPolicyWindow";
    case 2: return "cudaLaunchAttributeCooperative";
    case 3: return "cudaLaunchAttributeSynchronizationPolicy";
    case 7: return "cudaLaunchAttributeProgrammaticEvent";
    case 12: return "cudaLaunchAttributeLaunchCompletionEvent";
    case 13: return "cudaLaunchAttributeDeviceUpdatableKernelNode";
    case 16: return "cudaLaunchAttributeNvlinkUtilCentricScheduling";
    default: return "";
  }
}

constexpr uint32_t kSmemWithoutAsking = 48 * 1024, kPortableCluster = 8;

/// What the kernel's next launch has between <<< and >>>.
struct Configuration {
  Dim3 grid, block;
  size_t dynamic_smem_bytes;
  void* stream;
};
thread_local std::vector<Configuration> configurations;

void set(uint32_t (&to)[3], const Dim3& from) { to[0] = from.x, to[1] = from.y, to[2] = from.z; }

Shape shape_of(const Dim3& grid, const Dim3& block, size_t dynamic_smem_bytes, const void* stream) {
  Shape shape;
  set(shape.grid, grid), set(shape.block, block);
  shape.dynamic_smem_bytes = uint32_t(std::min<size_t>(dynamic_smem_bytes, UINT32_MAX));
  shape.stream = reinterpret_cast<uint64_t>(stream);
  return shape;
}

/// What CUDA refuses before the device sees it.
Error check(Device& device, Function& function, const Shape& shape) {
  if (const Error error = device.describe(function)) return error;
  const EntryFacts& facts = *function.facts;
  const int64_t allowed = function.most_dynamic_smem >= 0
                              ? function.most_dynamic_smem
                              : int64_t{kSmemWithoutAsking} - int64_t{facts.static_smem_bytes};
  if (shape.dynamic_smem_bytes > std::max<int64_t>(allowed, 0)) {
    device.note(function.name + ": " + std::to_string(shape.dynamic_smem_bytes) +
                " bytes of dynamic shared memory, and cudaFuncSetAttribute has allowed " +
                std::to_string(std::max<int64_t>(allowed, 0)));
    return invalid_value;
  }
  const uint32_t ctas = shape.cluster[0] * shape.cluster[1] * shape.cluster[2];
  if (ctas > kPortableCluster && !function.non_portable_cluster) {
    device.note(function.name + ": a cluster of " + std::to_string(ctas) +
                " CTAs needs cudaFuncAttributeNonPortableClusterSizeAllowed");
    return invalid_cluster_size;
  }
  return success;
}

Error launch(Device& device, const void* host, Shape shape, void** arguments) {
  Function* const function = device.function(host);
  if (!function) return invalid_device_function;
  if (const Error error = device.describe(*function)) return error;
  if (!shape.cluster_stated && function->facts->cluster_stated)
    std::copy_n(function->facts->cluster, 3, shape.cluster);
  if (const Error error = check(device, *function, shape)) return error;
  return device.launch(*function, shape, arguments);
}

/// What the attributes change.  Hints change nothing.
Error read_attributes(Device& device, const LaunchConfig& config, Shape& shape) {
  for (unsigned i = 0; i < config.attribute_count; ++i) {
    const LaunchAttribute& attribute = config.attributes[i];
    switch (attribute.id) {
      case cluster_dimension: {
        Dim3 cluster;
        std::memcpy(&cluster, attribute.value, sizeof cluster);
        set(shape.cluster, cluster), shape.cluster_stated = 1;
        break;
      }
      case ignore:
      case cluster_scheduling_policy:
      case programmatic_stream_serialization:  // launches of a stream are run one after the other
      case priority:
      case memory_sync_domain_map:
      case memory_sync_domain:
      case preferred_cluster_dimension:
      case preferred_smem_carveout: break;
      case 2: {  // cudaLaunchAttributeCooperative
        int on = 0;
        std::memcpy(&on, attribute.value, sizeof on);
        if (!on) break;
        [[fallthrough]];
      }
      default:
        device.note("not implemented: launch attribute " + std::to_string(attribute.id) + " " +
                    name_of_attribute(attribute.id));
        return not_supported;
    }
  }
  return success;
}

}  // namespace

// ---- registration

SM100_EXEC_API void** __cudaRegisterFatBinary(void* wrapper) {
  struct Wrapper {
    uint32_t magic, version;
    const void* container;
    void* other;
  };
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  auto& module = device.modules.emplace_back(std::make_unique<Module>());
  const auto* const from = static_cast<const Wrapper*>(wrapper);
  if (from && from->magic == 0x466243b1) module->container = from->container;
  return reinterpret_cast<void**>(module.get());
}
SM100_EXEC_API void __cudaRegisterFatBinaryEnd(void**) {}
SM100_EXEC_API void __cudaUnregisterFatBinary(void**) {}
SM100_EXEC_API char __cudaInitModule(void**) { return 1; }

SM100_EXEC_API void __cudaRegisterFunction(void** module, const char* host, char*, const char* name, int, void*,
                                           void*, void*, void*, int*) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  auto function = std::make_unique<Function>();
  function->module = reinterpret_cast<Module*>(module), function->name = name;
  device.functions[host] = std::move(function);
}
SM100_EXEC_API void __cudaRegisterVar(void** module, char* host, char*, const char* name, int, size_t bytes, int,
                                      int) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.symbols[host] = {reinterpret_cast<Module*>(module), name, bytes};
}

// ---- launches

SM100_EXEC_API unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, size_t dynamic_smem_bytes,
                                                    void* stream) {
  configurations.push_back({grid, block, dynamic_smem_bytes, stream});
  return 0;
}
SM100_EXEC_API int __cudaPopCallConfiguration(Dim3* grid, Dim3* block, size_t* dynamic_smem_bytes, void* stream) {
  if (configurations.empty()) return invalid_configuration;
  const Configuration& top = configurations.back();
  *grid = top.grid, *block = top.block, *dynamic_smem_bytes = top.dynamic_smem_bytes;
  *static_cast<void**>(stream) = top.stream;
  configurations.pop_back();
  return success;
}
SM100_EXEC_API int __cudaGetKernel(void** kernel, const void* host) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  *kernel = device.function(host);
  return *kernel ? success : invalid_device_function;
}
SM100_EXEC_API int cudaGetKernel(void** kernel, const void* host) { return __cudaGetKernel(kernel, host); }
SM100_EXEC_API int cudaGetFuncBySymbol(void** function, const void* host) {
  return __cudaGetKernel(function, host);
}

SM100_EXEC_API int cudaLaunchKernel(const void* host, Dim3 grid, Dim3 block, void** arguments,
                                    size_t dynamic_smem_bytes, void* stream) {
  return call(
      [&](Device& d) { return launch(d, host, shape_of(grid, block, dynamic_smem_bytes, stream), arguments); });
}
SM100_EXEC_API int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                      size_t dynamic_smem_bytes, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, dynamic_smem_bytes, stream);
}
SM100_EXEC_API int cudaLaunchKernelExC(const LaunchConfig* config, const void* host, void** arguments) {
  return call([&](Device& d) {
    if (!config) return invalid_value;
    Shape shape = shape_of(config->grid, config->block, config->dynamic_smem_bytes, config->stream);
    if (const Error error = read_attributes(d, *config, shape)) return error;
    return launch(d, host, shape, arguments);
  });
}

// ---- functions

SM100_EXEC_API int cudaFuncSetAttribute(const void* host, int attribute, int value) {
  return call([&](Device& d) {
    Function* const function = d.function(host);
    if (!function) return invalid_device_function;
    if (const Error error = d.describe(*function)) return error;
    switch (attribute) {
      case most_dynamic_smem:
        if (value < 0 || uint64_t(value) + function->facts->static_smem_bytes > d.facts().smem_bytes_per_cta)
          return invalid_value;
        function->most_dynamic_smem = value;
        return success;
      case non_portable_cluster: function->non_portable_cluster = value != 0; return success;
      case preferred_carveout:
      case scheduling_policy: return success;
      default:
        if (attribute < cluster_must_be_set || attribute > required_depth) return invalid_value;
        d.note("not implemented: cudaFuncSetAttribute of attribute " + std::to_string(attribute));
        return not_supported;
    }
  });
}
SM100_EXEC_API int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* host) {
  return call([&](Device& d) {
    Function* const function = d.function(host);
    if (!function) return invalid_device_function;
    if (const Error error = d.describe(*function)) return error;
    const EntryFacts& facts = *function->facts;
    *attributes = {};
    attributes->shared_bytes = facts.static_smem_bytes, attributes->local_bytes = facts.local_bytes;
    attributes->constant_bytes = facts.constant_bytes;
    attributes->threads = int(facts.threads), attributes->registers = 32;  // ptxas would know; see docs/exec.md
    attributes->ptx_version = attributes->binary_version = 100;
    attributes->dynamic_shared_bytes = function->most_dynamic_smem >= 0
                                           ? function->most_dynamic_smem
                                           : int(kSmemWithoutAsking) - int(facts.static_smem_bytes);
    attributes->carveout = -1;
    attributes->non_portable_cluster = function->non_portable_cluster;
    if (facts.cluster_stated) {
      attributes->cluster_width = int(facts.cluster[0]), attributes->cluster_height = int(facts.cluster[1]);
      attributes->cluster_depth = int(facts.cluster[2]), attributes->cluster_must_be_set = 1;
    }
    return success;
  });
}
SM100_EXEC_API int cudaFuncSetCacheConfig(const void*, int) {
  return call([](Device&) { return success; });
}
SM100_EXEC_API int cudaFuncGetName(const char** name, const void* host) {
  return call([&](Device& d) {
    Function* const function = d.function(host);
    if (!function) return invalid_device_function;
    *name = function->name.c_str();
    return success;
  });
}
SM100_EXEC_API int cudaFuncGetParamInfo(const void* host, size_t index, size_t* offset, size_t* bytes) {
  return call([&](Device& d) {
    Function* const function = d.function(host);
    if (!function) return invalid_device_function;
    if (const Error error = d.describe(*function)) return error;
    if (index >= function->parameters.size()) return invalid_value;
    if (offset) *offset = function->parameters[index].offset;
    if (bytes) *bytes = function->parameters[index].bytes;
    return success;
  });
}

// ---- occupancy

SM100_EXEC_API int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* ctas, const void* host, int threads,
                                                                          size_t dynamic_smem_bytes, unsigned) {
  return call([&](Device& d) {
    Function* const function = d.function(host);
    if (!function) return invalid_device_function;
    if (!ctas || threads <= 0) return invalid_value;
    int clusters = 0;
    const Dim3 one{1, 1, 1}, block{unsigned(threads), 1, 1};
    return d.occupancy(*function, shape_of(one, block, dynamic_smem_bytes, nullptr), *ctas, clusters);
  });
}
SM100_EXEC_API int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, const void* host, int threads,
                                                                 size_t dynamic_smem_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, host, threads, dynamic_smem_bytes, 0);
}
SM100_EXEC_API int cudaOccupancyMaxActiveClusters(int* clusters, const void* host, const LaunchConfig* config) {
  return call([&](Device& d) {
    Function* const function = d.function(host);
    if (!function) return invalid_device_function;
    if (!clusters || !config) return invalid_value;
    Shape shape = shape_of(config->grid, config->block, config->dynamic_smem_bytes, nullptr);
    if (const Error error = read_attributes(d, *config, shape)) return error;
    int ctas = 0;
    return d.occupancy(*function, shape, ctas, *clusters);
  });
}
SM100_EXEC_API int cudaOccupancyMaxPotentialClusterSize(int* ctas, const void* host, const LaunchConfig*) {
  return call([&](Device& d) {
    Function* const function = d.function(host);
    if (!function) return invalid_device_function;
    *ctas = function->non_portable_cluster ? 16 : int(kPortableCluster);
    return success;
  });
}
