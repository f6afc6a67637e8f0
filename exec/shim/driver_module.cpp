// SPDX-License-Identifier: Apache-2.0
// The driver library: modules and libraries, functions and kernels, launches, occupancy.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "exec/shim/driver.h"
#include "exec/shim/graphs.h"
#include "exec/shim/launches.h"
#include "exec/shim/libraries.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

// What the last element of `extra` is, and what comes ahead of it.
void* const kEnd = nullptr;
void* const kBuffer = reinterpret_cast<void*>(1);
void* const kBufferBytes = reinterpret_cast<void*>(2);

/// The parameters of a launch: one address each, or all bytes in a buffer.
Error window_of(Device& device, Function& function, void** parameters, void** extra, std::vector<uint8_t>& window) {
  if (const Error error = device.describe(function)) return error;
  if (parameters && extra) return invalid_value;
  if (!extra) {
    if (!parameters && !function.parameters.empty()) return invalid_value;
    window = device.parameter_window(function, parameters);
    return success;
  }
  const void* buffer = nullptr;
  size_t bytes = 0;
  for (; *extra != kEnd; extra += 2) {
    if (*extra == kBuffer) buffer = extra[1];
    if (*extra == kBufferBytes) bytes = *static_cast<const size_t*>(extra[1]);
  }
  window.assign(function.facts->parameter_bytes, 0);
  if (!buffer || bytes < window.size()) return invalid_value;
  std::memcpy(window.data(), buffer, window.size());
  return success;
}

Error launch(Device& device, const void* handle, const Shape& shape, void** parameters, void** extra) {
  Function* const function = device.function(handle);
  if (!function) return invalid_resource_handle;
  std::vector<uint8_t> window;
  if (const Error error = window_of(device, *function, parameters, extra, window)) return error;
  return sm100::exec::launch(device, *function, shape, window);
}

/// Runs `f` on the function of a handle.
template <class F>
int with_function(void* handle, const F& f, const char* name = __builtin_FUNCTION()) {
  return driver_call(
      [&](Device& d) {
        Function* const function = d.function(handle);
        if (!function) return invalid_resource_handle;
        const Error error = d.describe(*function);
        return error ? error : f(d, *function);
      },
      name);
}

/// CUfunction_attribute
Error attribute_of(Device& device, const Function& function, int attribute, int& value) {
  const EntryFacts& facts = *function.facts;
  switch (attribute) {
    case 0: value = int(facts.threads); return success;
    case 1: value = int(facts.static_smem_bytes); return success;
    case 2: value = int(facts.constant_bytes); return success;
    case 3: value = int(facts.local_bytes); return success;
    case 4: value = 32; return success;  // registers: ptxas would know; see docs/exec.md
    case 5:
    case 6: value = 100; return success;  // versions of PTX and code
    case 7: value = 0; return success;
    case 8: value = most_dynamic_smem(function); return success;
    case 9: value = -1; return success;
    case 10: value = facts.cluster_stated; return success;
    case 11:
    case 12:
    case 13: value = facts.cluster_stated ? int(facts.cluster[attribute - 11]) : 0; return success;
    case 14: value = function.non_portable_cluster; return success;
    case 15: value = 0; return success;
    default:
      device.note("not implemented: attribute " + std::to_string(attribute) + " of a function");
      return not_supported;
  }
}

}  // namespace

// ---- modules, libraries

SM100_EXEC_API int cuModuleLoadData(void** module, const void* image) {
  return driver_call([&](Device& d) { return load_library(d, module, image); });
}
SM100_EXEC_API int cuModuleLoadDataEx(void** module, const void* image, unsigned, int*, void**) {
  return cuModuleLoadData(module, image);
}
SM100_EXEC_API int cuModuleLoadFatBinary(void** module, const void* image) {
  return cuModuleLoadData(module, image);
}
SM100_EXEC_API int cuModuleLoad(void** module, const char* file) {
  return driver_call([&](Device& d) { return load_file(d, module, file); });
}
SM100_EXEC_API int cuModuleUnload(void* module) {
  return driver_call([&](Device& d) { return d.unload(module) ? success : invalid_resource_handle; });
}
SM100_EXEC_API int cuModuleGetFunction(void** function, void* module, const char* name) {
  return driver_call([&](Device& d) { return find_function(d, function, module, name); });
}
SM100_EXEC_API int cuModuleGetGlobal_v2(void** pointer, size_t* bytes, void* module, const char* name) {
  return driver_call([&](Device& d) { return find_variable(d, pointer, bytes, module, name); });
}
SM100_EXEC_API int cuModuleGetFunctionCount(unsigned* count, void* module) {
  return driver_call([&](Device& d) { return count_functions(d, count, module); });
}
SM100_EXEC_API int cuModuleEnumerateFunctions(void** functions, unsigned count, void* module) {
  return driver_call([&](Device& d) { return list_functions(d, functions, count, module); });
}
SM100_EXEC_API int cuModuleGetLoadingMode(int* mode) {
  return driver_call_without_context([&](Device&) { return mode ? (*mode = 1, success) : invalid_value; });
}

SM100_EXEC_API int cuLibraryLoadData(void** library, const void* code, int*, void**, unsigned, int*, void**,
                                     unsigned) {
  return driver_call_without_context([&](Device& d) { return load_library(d, library, code); });
}
SM100_EXEC_API int cuLibraryLoadFromFile(void** library, const char* file, int*, void**, unsigned, int*, void**,
                                         unsigned) {
  return driver_call_without_context([&](Device& d) { return load_file(d, library, file); });
}
SM100_EXEC_API int cuLibraryUnload(void* library) {
  return driver_call_without_context(
      [&](Device& d) { return d.unload(library) ? success : invalid_resource_handle; });
}
SM100_EXEC_API int cuLibraryGetKernel(void** kernel, void* library, const char* name) {
  return driver_call_without_context([&](Device& d) { return find_function(d, kernel, library, name); });
}
SM100_EXEC_API int cuLibraryGetKernelCount(unsigned* count, void* library) {
  return driver_call_without_context([&](Device& d) { return count_functions(d, count, library); });
}
SM100_EXEC_API int cuLibraryEnumerateKernels(void** kernels, unsigned count, void* library) {
  return driver_call_without_context([&](Device& d) { return list_functions(d, kernels, count, library); });
}
SM100_EXEC_API int cuLibraryGetModule(void** module, void* library) {
  return driver_call([&](Device& d) {
    if (!module) return invalid_value;
    *module = d.module(library);
    return *module ? success : invalid_resource_handle;
  });
}
SM100_EXEC_API int cuLibraryGetGlobal(void** pointer, size_t* bytes, void* library, const char* name) {
  return driver_call([&](Device& d) { return find_variable(d, pointer, bytes, library, name); });
}

// ---- functions, kernels

SM100_EXEC_API int cuKernelGetFunction(void** function, void* kernel) {
  return with_function(kernel,
                       [&](Device&, Function& f) { return function ? (*function = &f, success) : invalid_value; });
}
SM100_EXEC_API int cuKernelGetLibrary(void** library, void* kernel) {
  return with_function(
      kernel, [&](Device&, Function& f) { return library ? (*library = f.module, success) : invalid_value; });
}
SM100_EXEC_API int cuFuncGetModule(void** module, void* function) { return cuKernelGetLibrary(module, function); }
SM100_EXEC_API int cuFuncGetName(const char** name, void* function) {
  return with_function(
      function, [&](Device&, Function& f) { return name ? (*name = f.name.c_str(), success) : invalid_value; });
}
SM100_EXEC_API int cuKernelGetName(const char** name, void* kernel) { return cuFuncGetName(name, kernel); }
SM100_EXEC_API int cuFuncGetParamInfo(void* function, size_t index, size_t* offset, size_t* bytes) {
  return with_function(function, [&](Device&, Function& f) {
    if (index >= f.parameters.size()) return invalid_value;
    if (offset) *offset = f.parameters[index].offset;
    if (bytes) *bytes = f.parameters[index].bytes;
    return success;
  });
}
SM100_EXEC_API int cuKernelGetParamInfo(void* kernel, size_t index, size_t* offset, size_t* bytes) {
  return cuFuncGetParamInfo(kernel, index, offset, bytes);
}
SM100_EXEC_API int cuFuncGetAttribute(int* value, int attribute, void* function) {
  return with_function(function, [&](Device& d, Function& f) {
    return value ? attribute_of(d, f, attribute, *value) : invalid_value;
  });
}
SM100_EXEC_API int cuKernelGetAttribute(int* value, int attribute, void* kernel, int) {
  return cuFuncGetAttribute(value, attribute, kernel);
}
SM100_EXEC_API int cuFuncSetAttribute(void* function, int attribute, int value) {
  return with_function(function, [&](Device& d, Function& f) { return set_attribute(d, f, attribute, value); });
}
SM100_EXEC_API int cuKernelSetAttribute(int attribute, int value, void* kernel, int) {
  return cuFuncSetAttribute(kernel, attribute, value);
}
SM100_EXEC_API int cuFuncSetCacheConfig(void* function, int) {
  return with_function(function, [](Device&, Function&) { return success; });
}
SM100_EXEC_API int cuKernelSetCacheConfig(void* kernel, int config, int) {
  return cuFuncSetCacheConfig(kernel, config);
}
SM100_EXEC_API int cuFuncIsLoaded(int* state, void* function) {
  return with_function(function, [&](Device&, Function&) { return state ? (*state = 1, success) : invalid_value; });
}
SM100_EXEC_API int cuFuncLoad(void* function) { return cuFuncSetCacheConfig(function, 0); }

// ---- launches

SM100_EXEC_API int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                  unsigned block_x, unsigned block_y, unsigned block_z, unsigned dynamic_smem_bytes,
                                  void* stream, void** parameters, void** extra) {
  return driver_call([&](Device& d) {
    return launch(d, function,
                  shape_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_smem_bytes, stream),
                  parameters, extra);
  });
}
SM100_EXEC_API int cuLaunchCooperativeKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                             unsigned block_x, unsigned block_y, unsigned block_z,
                                             unsigned dynamic_smem_bytes, void* stream, void** parameters) {
  return driver_call([&](Device& d) {
    Shape shape = shape_of({grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, dynamic_smem_bytes, stream);
    shape.cooperative = 1;
    return launch(d, function, shape, parameters, nullptr);
  });
}
SM100_EXEC_API int cuLaunchKernelEx(const DriverLaunchConfig* config, void* function, void** parameters,
                                    void** extra) {
  return driver_call([&](Device& d) {
    if (!config) return invalid_value;
    Shape shape = shape_of(config->grid, config->block, config->dynamic_smem_bytes, config->stream);
    if (const Error error = read_attributes(d, config->attributes, config->attribute_count, shape)) return error;
    return launch(d, function, shape, parameters, extra);
  });
}
SM100_EXEC_API int cuLaunchHostFunc(void* stream, void (*function)(void*), void* data) {
  return driver_call([&](Device& d) { return call_host(d, stream, [=] { function(data); }); });
}

// ---- occupancy

SM100_EXEC_API int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* ctas, void* function, int threads,
                                                                        size_t dynamic_smem_bytes, unsigned) {
  return with_function(function, [&](Device& d, Function& f) {
    if (!ctas || threads <= 0) return invalid_value;
    int clusters = 0;
    return d.occupancy(f, shape_of({1, 1, 1}, {unsigned(threads), 1, 1}, dynamic_smem_bytes, nullptr), *ctas,
                       clusters);
  });
}
SM100_EXEC_API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* ctas, void* function, int threads,
                                                               size_t dynamic_smem_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(ctas, function, threads, dynamic_smem_bytes, 0);
}
SM100_EXEC_API int cuOccupancyMaxActiveClusters(int* clusters, void* function, const DriverLaunchConfig* config) {
  return with_function(function, [&](Device& d, Function& f) {
    if (!clusters || !config) return invalid_value;
    Shape shape = shape_of(config->grid, config->block, config->dynamic_smem_bytes, nullptr);
    if (const Error error = read_attributes(d, config->attributes, config->attribute_count, shape)) return error;
    int ctas = 0;
    return d.occupancy(f, shape, ctas, *clusters);
  });
}
SM100_EXEC_API int cuOccupancyMaxPotentialClusterSize(int* ctas, void* function, const DriverLaunchConfig*) {
  return with_function(function, [&](Device&, Function& f) {
    return ctas ? (*ctas = most_ctas_of_cluster(f), success) : invalid_value;
  });
}
