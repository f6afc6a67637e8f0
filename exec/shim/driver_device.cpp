// SPDX-License-Identifier: Apache-2.0
// The driver library: the device, contexts, errors, and functions by name.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "exec/shim/driver.h"
#include "exec/shim/facts.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

/// A context that the program has created: a handle, and its flags.
struct Context {
  unsigned flags = 0;
};

void make_current(void* context) {
  std::vector<void*>& stack = Device::contexts;
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(context);
}

Error on_device_0(int device) { return device == 0 ? success : invalid_device; }

}  // namespace

// ---- the device

SM100_EXEC_API int cuInit(unsigned flags) {
  return driver_error(guarded(
      [&](Device& d) {
        if (flags != 0) return invalid_value;
        d.initialized = true;
        return success;
      },
      "cuInit"));
}
SM100_EXEC_API int cuDriverGetVersion(int* version) {
  if (!version) return invalid_value;
  *version = kDriverVersion;
  return success;
}
SM100_EXEC_API int cuDeviceGet(int* device, int ordinal) {
  return driver_call_without_context([&](Device&) {
    if (!device) return invalid_value;
    *device = 0;
    return on_device_0(ordinal);
  });
}
SM100_EXEC_API int cuDeviceGetCount(int* count) {
  return driver_call_without_context([&](Device&) { return count ? (*count = 1, success) : invalid_value; });
}
SM100_EXEC_API int cuDeviceGetName(char* name, int bytes, int device) {
  return driver_call_without_context([&](Device& d) {
    if (!name || bytes <= 0) return invalid_value;
    std::strncpy(name, d.facts().name, size_t(bytes));
    name[bytes - 1] = '\0';
    return on_device_0(device);
  });
}
SM100_EXEC_API int cuDeviceGetUuid_v2(void* uuid, int device) {
  return driver_call_without_context([&](Device&) {
    if (!uuid) return invalid_value;
    std::memcpy(uuid, "sm100sim device", 16);
    return on_device_0(device);
  });
}
SM100_EXEC_API int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return driver_call_without_context([&](Device& d) {
    if (!bytes) return invalid_value;
    *bytes = d.facts().memory_bytes;
    return on_device_0(device);
  });
}
SM100_EXEC_API int cuDeviceGetAttribute(int* value, int id, int device) {
  return driver_call_without_context([&](Device& d) {
    if (!value) return invalid_value;
    if (device != 0) return invalid_device;
    if (device_attribute(d.facts(), id, *value)) return success;
    d.note("not implemented: cuDeviceGetAttribute of attribute " + std::to_string(id));
    return not_supported;
  });
}
SM100_EXEC_API int cuDeviceComputeCapability(int* major, int* minor, int device) {
  return driver_call_without_context([&](Device& d) {
    if (!major || !minor) return invalid_value;
    *major = int(d.facts().compute_capability / 10), *minor = int(d.facts().compute_capability % 10);
    return on_device_0(device);
  });
}

// ---- contexts

SM100_EXEC_API int cuDevicePrimaryCtxRetain(void** context, int device) {
  return driver_call_without_context([&](Device& d) {
    if (!context) return invalid_value;
    *context = d.primary_context();
    return on_device_0(device);
  });
}
SM100_EXEC_API int cuDevicePrimaryCtxRelease_v2(int device) {
  return driver_call_without_context([&](Device&) { return on_device_0(device); });
}
SM100_EXEC_API int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned) {
  return cuDevicePrimaryCtxRelease_v2(device);
}
SM100_EXEC_API int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  return driver_call_without_context([&](Device&) {
    if (flags) *flags = 0;
    if (active) *active = 1;
    return on_device_0(device);
  });
}
SM100_EXEC_API int cuCtxCreate_v2(void** context, unsigned flags, int device) {
  return driver_call_without_context([&](Device&) {
    if (!context) return invalid_value;
    *context = new Context{flags};  // handles of destroyed contexts are never used again
    Device::contexts.push_back(*context);
    return on_device_0(device);
  });
}
SM100_EXEC_API int cuCtxCreate_v4(void** context, void* parameters, unsigned flags, int device) {
  if (parameters)
    return driver_call_without_context([&](Device& d) {
      d.note("not implemented: cuCtxCreate with parameters");
      return not_supported;
    });
  return cuCtxCreate_v2(context, flags, device);
}
SM100_EXEC_API int cuCtxDestroy_v2(void* context) {
  return driver_call_without_context([&](Device& d) {
    if (!context || context == d.primary_context()) return invalid_context;
    std::vector<void*>& stack = Device::contexts;
    stack.erase(std::remove(stack.begin(), stack.end(), context), stack.end());
    return success;
  });
}
SM100_EXEC_API int cuCtxPushCurrent_v2(void* context) {
  return driver_call_without_context([&](Device&) {
    if (!context) return invalid_context;
    Device::contexts.push_back(context);
    return success;
  });
}
SM100_EXEC_API int cuCtxPopCurrent_v2(void** context) {
  return driver_call([&](Device&) {
    if (context) *context = Device::contexts.back();
    Device::contexts.pop_back();
    return success;
  });
}
SM100_EXEC_API int cuCtxSetCurrent(void* context) {
  return driver_call_without_context([&](Device&) { return make_current(context), success; });
}
SM100_EXEC_API int cuCtxGetCurrent(void** context) {
  return driver_call_without_context([&](Device&) {
    if (!context) return invalid_value;
    *context = Device::contexts.empty() ? nullptr : Device::contexts.back();
    return success;
  });
}
SM100_EXEC_API int cuCtxGetDevice(int* device) {
  return driver_call([&](Device&) { return device ? (*device = 0, success) : invalid_value; });
}
SM100_EXEC_API int cuCtxGetFlags(unsigned* flags) {
  return driver_call([&](Device&) { return flags ? (*flags = 0, success) : invalid_value; });
}
SM100_EXEC_API int cuCtxGetApiVersion(void*, unsigned* version) {
  return driver_call([&](Device&) { return version ? (*version = 3020, success) : invalid_value; });
}
SM100_EXEC_API int cuCtxSynchronize() {
  return driver_call([](Device& d) { return d.wait_for_all(); });
}
SM100_EXEC_API int cuCtxSetLimit(int, size_t) { return driver_nothing(); }
SM100_EXEC_API int cuCtxSetCacheConfig(int) { return driver_nothing(); }
SM100_EXEC_API int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return driver_call([&](Device&) {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return success;
  });
}
SM100_EXEC_API int cuProfilerStart() { return driver_nothing(); }
SM100_EXEC_API int cuProfilerStop() { return driver_nothing(); }

// ---- errors

SM100_EXEC_API int cuGetErrorString(int error, const char** text) {
  const ErrorText* const known = find_error(error);
  if (!text) return invalid_value;
  *text = known ? known->text : nullptr;
  return known ? success : invalid_value;
}
SM100_EXEC_API int cuGetErrorName(int error, const char** text) {
  const ErrorText* const known = find_error(error);
  if (!text) return invalid_value;
  *text = known && *known->driver_name ? known->driver_name : nullptr;
  return *text ? success : invalid_value;
}
