// SPDX-License-Identifier: Apache-2.0
// The driver library: memory.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "exec/shim/driver.h"
#include "exec/shim/memory.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

using Pointer = uint64_t;  // CUdeviceptr
void* plain(Pointer pointer) { return reinterpret_cast<void*>(pointer); }

template <class F>
int outside_captures(const F& f, const char* name = __builtin_FUNCTION()) {
  return driver_call(
      [&](Device& d) {
        const Error error = d.streams.unsafe_call();
        return error ? error : f(d);
      },
      name);
}

int copy(void* to, const void* from, size_t bytes, int kind, const char* name = __builtin_FUNCTION()) {
  return driver_call([&](Device& d) { return copy_now(d, {to, 0, from, 0, bytes, 1, kind}); }, name);
}
int copy_async(void* to, const void* from, size_t bytes, int kind, void* stream,
               const char* name = __builtin_FUNCTION()) {
  return driver_call([&](Device& d) { return copy_later(d, stream, {to, 0, from, 0, bytes, 1, kind}); }, name);
}

/// Rows between host and device memory; false: arrays.
bool rows_of(const DriverCopy2D& copy, Rows& rows) {
  constexpr int kHost = 1, kArray = 3;
  if (copy.from.kind == kArray || copy.to.kind == kArray) return false;
  const auto begin = [](const DriverCopy2D::Side& side) {
    const char* const base =
        side.kind == kHost ? static_cast<const char*>(side.host) : reinterpret_cast<const char*>(side.device);
    return const_cast<char*>(base) + side.y * side.pitch + side.x_bytes;
  };
  const auto pitch = [&](const DriverCopy2D::Side& side) { return side.pitch == 0 ? copy.width : side.pitch; };
  rows = {begin(copy.to), pitch(copy.to), begin(copy.from), pitch(copy.from), copy.width, copy.height, by_address};
  return true;
}

template <class F>
int copy_2d(const DriverCopy2D* copy, const F& f, const char* name = __builtin_FUNCTION()) {
  return driver_call(
      [&](Device& d) {
        Rows rows;
        if (!copy) return invalid_value;
        if (rows_of(*copy, rows)) {
          const Error error = f(d, rows);
          return error == invalid_pitch ? invalid_value : error;  // the driver has no error of its own for it
        }
        d.note("not implemented: cuMemcpy2D of an array");
        return not_supported;
      },
      name);
}

int fill(Pointer to, size_t pitch, uint32_t value, unsigned size, size_t count, size_t height,
         const char* name = __builtin_FUNCTION()) {
  return driver_call([&](Device& d) { return fill_now(d, {plain(to), pitch, value, size, count, height}); }, name);
}
int fill_async(Pointer to, size_t pitch, uint32_t value, unsigned size, size_t count, size_t height, void* stream,
               const char* name = __builtin_FUNCTION()) {
  return driver_call(
      [&](Device& d) {
        return fill_later(d, stream, {plain(to), pitch, value, size, count, height});
      },
      name);
}

template <class F>
int on_stream(void* stream, const F& f, const char* name = __builtin_FUNCTION()) {
  return driver_call([&](Device& d) { return at_once(d, stream, f); }, name);
}

/// CUpointer_attribute
Error attribute_of(Device& device, void* value, int attribute, const void* pointer) {
  const auto block = device.block_at(reinterpret_cast<uint64_t>(pointer));
  if (!block) return invalid_value;  // memory of the host that the driver does not know, too
  const auto put = [&](auto what) {
    std::memcpy(value, &what, sizeof what);
    return success;
  };
  constexpr int kContext = 1, kMemoryType = 2, kDevicePointer = 3, kHostPointer = 4, kManaged = 8, kDevice = 9,
                kStart = 11, kSize = 12, kMapped = 13;
  switch (attribute) {
    case kContext: return put(device.primary_context());
    case kMemoryType: return put(2u);
    case kDevicePointer: return put(reinterpret_cast<uint64_t>(pointer));
    case kHostPointer: return device.is_managed(pointer) ? put(pointer) : invalid_value;
    case kManaged: return put(unsigned(device.is_managed(pointer)));
    case kDevice: return put(0);
    case kStart: return put(block->address);
    case kSize: return put(size_t(block->bytes));
    case kMapped: return put(1u);
    default: device.note("not implemented: cuPointerGetAttribute of attribute " + std::to_string(attribute));
  }
  return not_supported;
}

}  // namespace

// ---- allocations

SM100_EXEC_API int cuMemAlloc_v2(void** pointer, size_t bytes) {
  return outside_captures([&](Device& d) { return bytes == 0 ? invalid_value : allocate(d, pointer, bytes); });
}
SM100_EXEC_API int cuMemAllocManaged(void** pointer, size_t bytes, unsigned) {
  return outside_captures(
      [&](Device& d) { return bytes == 0 ? invalid_value : allocate(d, pointer, bytes, true); });
}
SM100_EXEC_API int cuMemAllocPitch_v2(void** pointer, size_t* pitch, size_t width, size_t height, unsigned) {
  return outside_captures([&](Device& d) { return allocate_rows(d, pointer, pitch, width, height); });
}
SM100_EXEC_API int cuMemFree_v2(Pointer pointer) {
  return outside_captures([&](Device& d) {
    const Error error = pointer ? d.wait_for_all() : success;
    return error ? error : release(d, plain(pointer));
  });
}
SM100_EXEC_API int cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return driver_call([&](Device&) { return allocate_host(pointer, bytes); });
}
SM100_EXEC_API int cuMemHostAlloc(void** pointer, size_t bytes, unsigned) {
  return cuMemAllocHost_v2(pointer, bytes);
}
SM100_EXEC_API int cuMemFreeHost(void* pointer) {
  return driver_call([&](Device&) { return free_host(pointer); });
}
SM100_EXEC_API int cuMemHostRegister_v2(void* pointer, size_t bytes, unsigned) {
  return driver_call([&](Device&) { return register_host(pointer, bytes); });
}
SM100_EXEC_API int cuMemHostUnregister(void* pointer) {
  return driver_call([&](Device&) { return unregister_host(pointer); });
}
SM100_EXEC_API int cuMemGetInfo_v2(size_t* free, size_t* total) {
  return driver_call([&](Device& d) {
    if (free) *free = d.free_bytes();
    if (total) *total = d.facts().memory_bytes;
    return success;
  });
}
SM100_EXEC_API int cuMemGetAddressRange_v2(Pointer* base, size_t* bytes, Pointer pointer) {
  return driver_call([&](Device& d) {
    const auto block = d.block_at(pointer);
    if (!block) return symbol_not_found;
    if (base) *base = block->address;
    if (bytes) *bytes = block->bytes;
    return success;
  });
}
SM100_EXEC_API int cuPointerGetAttribute(void* value, int attribute, Pointer pointer) {
  return driver_call(
      [&](Device& d) { return value ? attribute_of(d, value, attribute, plain(pointer)) : invalid_value; });
}
SM100_EXEC_API int cuPointerGetAttributes(unsigned count, int* attributes, void** values, Pointer pointer) {
  return driver_call([&](Device& d) {
    for (unsigned i = 0; i < count; ++i)
      if (const Error error = attribute_of(d, values[i], attributes[i], plain(pointer))) return error;
    return success;
  });
}

// ---- memory of streams, pools

SM100_EXEC_API int cuMemAllocAsync(void** pointer, size_t bytes, void* stream) {
  return on_stream(stream, [&](Device& d) { return allocate(d, pointer, bytes); });
}
SM100_EXEC_API int cuMemFreeAsync(Pointer pointer, void* stream) {
  return on_stream(stream, [&](Device& d) { return pointer ? release(d, plain(pointer)) : invalid_value; });
}
SM100_EXEC_API int cuMemAllocFromPoolAsync(void** pointer, size_t bytes, void* pool, void* stream) {
  return on_stream(stream,
                   [&](Device& d) { return find_pool(pool) ? allocate(d, pointer, bytes) : invalid_value; });
}
SM100_EXEC_API int cuDeviceGetDefaultMemPool(void** pool, int device) {
  return driver_call_without_context([&](Device&) {
    if (!pool) return invalid_value;
    *pool = default_pool();
    return device == 0 ? success : invalid_device;
  });
}
SM100_EXEC_API int cuDeviceGetMemPool(void** pool, int device) { return cuDeviceGetDefaultMemPool(pool, device); }
SM100_EXEC_API int cuMemPoolSetAttribute(void* handle, int attribute, void* value) {
  return driver_call_without_context([&](Device& d) {
    Pool* const pool = find_pool(handle);
    return pool ? pool_attribute(d, *pool, attribute, value, true) : invalid_value;
  });
}
SM100_EXEC_API int cuMemPoolGetAttribute(void* handle, int attribute, void* value) {
  return driver_call_without_context([&](Device& d) {
    Pool* const pool = find_pool(handle);
    return pool ? pool_attribute(d, *pool, attribute, value, false) : invalid_value;
  });
}
SM100_EXEC_API int cuMemPoolTrimTo(void* pool, size_t) {
  return driver_call_without_context([&](Device&) { return find_pool(pool) ? success : invalid_value; });
}

// ---- copies

SM100_EXEC_API int cuMemcpy(Pointer to, Pointer from, size_t bytes) {
  return copy(plain(to), plain(from), bytes, by_address);
}
SM100_EXEC_API int cuMemcpyAsync(Pointer to, Pointer from, size_t bytes, void* stream) {
  return copy_async(plain(to), plain(from), bytes, by_address, stream);
}
SM100_EXEC_API int cuMemcpyHtoD_v2(Pointer to, const void* from, size_t bytes) {
  return copy(plain(to), from, bytes, host_to_device);
}
SM100_EXEC_API int cuMemcpyHtoDAsync_v2(Pointer to, const void* from, size_t bytes, void* stream) {
  return copy_async(plain(to), from, bytes, host_to_device, stream);
}
SM100_EXEC_API int cuMemcpyDtoH_v2(void* to, Pointer from, size_t bytes) {
  return copy(to, plain(from), bytes, device_to_host);
}
SM100_EXEC_API int cuMemcpyDtoHAsync_v2(void* to, Pointer from, size_t bytes, void* stream) {
  return copy_async(to, plain(from), bytes, device_to_host, stream);
}
SM100_EXEC_API int cuMemcpyDtoD_v2(Pointer to, Pointer from, size_t bytes) {
  return copy(plain(to), plain(from), bytes, device_to_device);
}
SM100_EXEC_API int cuMemcpyDtoDAsync_v2(Pointer to, Pointer from, size_t bytes, void* stream) {
  return copy_async(plain(to), plain(from), bytes, device_to_device, stream);
}
SM100_EXEC_API int cuMemcpy2D_v2(const DriverCopy2D* copy) {
  return copy_2d(copy, [](Device& d, const Rows& rows) { return copy_now(d, rows); });
}
SM100_EXEC_API int cuMemcpy2DUnaligned_v2(const DriverCopy2D* copy) { return cuMemcpy2D_v2(copy); }
SM100_EXEC_API int cuMemcpy2DAsync_v2(const DriverCopy2D* copy, void* stream) {
  return copy_2d(copy, [&](Device& d, const Rows& rows) { return copy_later(d, stream, rows); });
}

// ---- fills

SM100_EXEC_API int cuMemsetD8_v2(Pointer to, unsigned char value, size_t count) {
  return fill(to, 0, value, 1, count, 1);
}
SM100_EXEC_API int cuMemsetD16_v2(Pointer to, unsigned short value, size_t count) {
  return fill(to, 0, value, 2, count, 1);
}
SM100_EXEC_API int cuMemsetD32_v2(Pointer to, unsigned value, size_t count) {
  return fill(to, 0, value, 4, count, 1);
}
SM100_EXEC_API int cuMemsetD8Async(Pointer to, unsigned char value, size_t count, void* stream) {
  return fill_async(to, 0, value, 1, count, 1, stream);
}
SM100_EXEC_API int cuMemsetD16Async(Pointer to, unsigned short value, size_t count, void* stream) {
  return fill_async(to, 0, value, 2, count, 1, stream);
}
SM100_EXEC_API int cuMemsetD32Async(Pointer to, unsigned value, size_t count, void* stream) {
  return fill_async(to, 0, value, 4, count, 1, stream);
}
SM100_EXEC_API int cuMemsetD2D8_v2(Pointer to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return fill(to, pitch, value, 1, width, height);
}
SM100_EXEC_API int cuMemsetD2D16_v2(Pointer to, size_t pitch, unsigned short value, size_t width, size_t height) {
  return fill(to, pitch, value, 2, width, height);
}
SM100_EXEC_API int cuMemsetD2D32_v2(Pointer to, size_t pitch, unsigned value, size_t width, size_t height) {
  return fill(to, pitch, value, 4, width, height);
}
