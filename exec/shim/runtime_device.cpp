// SPDX-License-Identifier: Apache-2.0
// The device and errors of the runtime library.
#include <cstring>
#include <iterator>
#include <string>

#include "exec/shim/device.h"
#include "exec/shim/facts.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

int nothing(const char* name = __builtin_FUNCTION()) {
  return call([](Device&) { return success; }, name);
}

/// cudaLimit: stack of a thread, printf's buffer, heap, depth and launches of device-side launches, L2's
/// granularity and persisting part. Nothing follows from them here.
size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};

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
SM100_EXEC_API int cudaDeviceSynchronize() {
  return call([](Device& d) { return d.wait_for_all(); });
}
SM100_EXEC_API int cudaDeviceReset() { return nothing(); }
SM100_EXEC_API int cudaDeviceSetCacheConfig(int) { return nothing(); }
SM100_EXEC_API int cudaDeviceSetLimit(int limit, size_t value) {
  return call([&](Device&) {
    if (limit < 0 || size_t(limit) >= std::size(limits)) return invalid_value;
    limits[limit] = value;
    return success;
  });
}
SM100_EXEC_API int cudaDeviceGetLimit(size_t* value, int limit) {
  return call([&](Device&) {
    if (!value || limit < 0 || size_t(limit) >= std::size(limits)) return invalid_value;
    *value = limits[limit];
    return success;
  });
}
SM100_EXEC_API int cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return call([&](Device&) {
    if (!can) return invalid_value;
    *can = 0;  // there is one device
    return device == 0 && peer == 0 ? success : invalid_device;
  });
}
SM100_EXEC_API int cudaDeviceGetPCIBusId(char* text, int bytes, int device) {
  return call([&](Device&) {
    constexpr char kNowhere[] = "0000:00:00.0";
    if (!text || bytes < int(sizeof kNowhere)) return invalid_value;
    if (device != 0) return invalid_device;
    std::memcpy(text, kNowhere, sizeof kNowhere);
    return success;
  });
}
SM100_EXEC_API int cudaGetDeviceFlags(unsigned* flags) {
  return call([&](Device&) { return flags ? (*flags = 0, success) : invalid_value; });
}
SM100_EXEC_API int cudaChooseDevice(int* device, const void*) { return cudaGetDevice(device); }
SM100_EXEC_API int cudaCtxResetPersistingL2Cache() { return nothing(); }
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
    if (!properties) return invalid_value;
    fill_properties(d.facts(), static_cast<unsigned char*>(properties));
    return success;
  });
}
SM100_EXEC_API int cudaDeviceGetAttribute(int* value, int id, int device) {
  return call([&](Device& d) {
    if (device != 0) return invalid_device;
    if (!value) return invalid_value;
    if (device_attribute(d.facts(), id, *value)) return success;
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
SM100_EXEC_API const char* cudaGetErrorString(int error) {
  const ErrorText* const known = find_error(error);
  return known ? known->text : "unrecognized error code";
}
SM100_EXEC_API const char* cudaGetErrorName(int error) {
  const ErrorText* const known = find_error(error);
  return known ? known->runtime_name : "unrecognized error code";
}
