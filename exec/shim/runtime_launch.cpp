// SPDX-License-Identifier: Apache-2.0
// Code of the runtime library: what nvcc's start-up code registers, launches, libraries, attributes of functions,
// occupancy.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "exec/shim/launches.h"
#include "exec/shim/libraries.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

/// What the kernel's next launch has between <<< and >>>.
struct Configuration {
  Dim3 grid, block;
  size_t dynamic_smem_bytes;
  void* stream;
};
thread_local std::vector<Configuration> configurations;

Error launch_stub(Device& device, const void* host, const Shape& shape, void** arguments) {
  Function* const function = device.function(host);
  return function ? launch(device, *function, shape, arguments) : invalid_device_function;
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
  auto module = std::make_unique<Module>();
  const auto* const from = static_cast<const Wrapper*>(wrapper);
  if (from && from->magic == 0x466243b1) module->container = from->container;
  Module* const handle = module.get();
  device.modules[handle] = std::move(module);
  return reinterpret_cast<void**>(handle);
}
SM100_EXEC_API void __cudaRegisterFatBinaryEnd(void**) {}
SM100_EXEC_API void __cudaUnregisterFatBinary(void**) {}
SM100_EXEC_API char __cudaInitModule(void**) { return 1; }

SM100_EXEC_API void __cudaRegisterFunction(void** module, const char* host, char*, const char* name, int, void*,
                                           void*, void*, void*, int*) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.stubs[host] = &device.add_function(*reinterpret_cast<Module*>(module), name);
}
SM100_EXEC_API void __cudaRegisterVar(void** module, char* host, char*, const char* name, int, size_t bytes, int,
                                      int) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.symbols[host] = {reinterpret_cast<Module*>(module), name, bytes};
}
SM100_EXEC_API void __cudaRegisterManagedVar(void**, void**, char*, const char* name, int, size_t, int, int) {
  Device& device = Device::get();
  const std::lock_guard lock(device.mutex);
  device.refuse("the program has a __managed__ variable (" + std::string(name) +
                "), and these are not implemented: allocate it with cudaMallocManaged");
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
  return call([&](Device& d) {
    return launch_stub(d, host, shape_of(grid, block, dynamic_smem_bytes, stream), arguments);
  });
}
SM100_EXEC_API int __cudaLaunchKernel(void* kernel, Dim3 grid, Dim3 block, void** arguments,
                                      size_t dynamic_smem_bytes, void* stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, dynamic_smem_bytes, stream);
}
SM100_EXEC_API int cudaLaunchCooperativeKernel(const void* host, Dim3 grid, Dim3 block, void** arguments,
                                               size_t dynamic_smem_bytes, void* stream) {
  return call([&](Device& d) {
    Shape shape = shape_of(grid, block, dynamic_smem_bytes, stream);
    shape.cooperative = 1;
    return launch_stub(d, host, shape, arguments);
  });
}
SM100_EXEC_API int cudaLaunchKernelExC(const LaunchConfig* config, const void* host, void** arguments) {
  return call([&](Device& d) {
    if (!config) return invalid_value;
    Shape shape = shape_of(config->grid, config->block, config->dynamic_smem_bytes, config->stream);
    if (const Error error = read_attributes(d, config->attributes, config->attribute_count, shape)) return error;
    return launch_stub(d, host, shape, arguments);
  });
}

// ---- libraries

SM100_EXEC_API int cudaLibraryLoadData(void** library, const void* code, int*, void**, unsigned, int*, void**,
                                       unsigned) {
  return call([&](Device& d) { return load_library(d, library, code); });
}
SM100_EXEC_API int cudaLibraryLoadFromFile(void** library, const char* file, int*, void**, unsigned, int*, void**,
                                           unsigned) {
  return call([&](Device& d) { return load_file(d, library, file); });
}
SM100_EXEC_API int cudaLibraryUnload(void* library) {
  return call([&](Device& d) { return d.unload(library) ? success : invalid_resource_handle; });
}
SM100_EXEC_API int cudaLibraryGetKernel(void** kernel, void* library, const char* name) {
  return call([&](Device& d) { return find_function(d, kernel, library, name); });
}
SM100_EXEC_API int cudaLibraryGetGlobal(void** pointer, size_t* bytes, void* library, const char* name) {
  return call([&](Device& d) { return find_variable(d, pointer, bytes, library, name); });
}
SM100_EXEC_API int cudaLibraryGetKernelCount(unsigned* count, void* library) {
  return call([&](Device& d) { return count_functions(d, count, library); });
}
SM100_EXEC_API int cudaLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
  return call([&](Device& d) { return list_functions(d, kernels, count, library); });
}

// ---- functions

SM100_EXEC_API int cudaFuncSetAttribute(const void* host, int attribute, int value) {
  return call([&](Device& d) {
    Function* const function = d.function(host);
    return function ? set_attribute(d, *function, attribute, value) : invalid_device_function;
  });
}
SM100_EXEC_API int cudaKernelSetAttributeForDevice(void* kernel, int attribute, int value, int) {
  return cudaFuncSetAttribute(kernel, attribute, value);
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
    attributes->threads = int(facts.threads),
    attributes->registers = facts.registers > 0 ? int(facts.registers) : 32;
    attributes->ptx_version = attributes->binary_version = 100;
    attributes->dynamic_shared_bytes = most_dynamic_smem(*function);
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
    if (const Error error = read_attributes(d, config->attributes, config->attribute_count, shape)) return error;
    int ctas = 0;
    return d.occupancy(*function, shape, ctas, *clusters);
  });
}
SM100_EXEC_API int cudaOccupancyMaxPotentialClusterSize(int* ctas, const void* host, const LaunchConfig*) {
  return call([&](Device& d) {
    Function* const function = d.function(host);
    if (!function) return invalid_device_function;
    *ctas = most_ctas_of_cluster(*function);
    return success;
  });
}
