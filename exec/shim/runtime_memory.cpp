// SPDX-License-Identifier: Apache-2.0
// Memory of the runtime library: allocations, copies, fills, symbols, pools.
#include <cstdlib>
#include <string>

#include "exec/shim/memory.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

/// Where a variable of the program lies; nullptr: it has none of that name.
const Module::Variable* variable_of(Device& device, const void* host_pointer, Error& error) {
  Symbol* const symbol = device.symbol(host_pointer);
  error = symbol ? device.load(*symbol->module) : invalid_symbol;
  if (error != success) return nullptr;
  for (const Module::Variable& variable : symbol->module->variables)
    if (variable.name == symbol->name) return &variable;
  error = invalid_symbol;
  return nullptr;
}

/// What a copy to or from a variable copies.
Error rows_of_symbol(Device& device, const void* symbol, void* other, size_t bytes, size_t offset, bool to_symbol,
                     int kind, Rows& rows) {
  Error error = success;
  const Module::Variable* const variable = variable_of(device, symbol, error);
  if (!variable) return error;
  if (offset > variable->bytes || bytes > variable->bytes - offset) return invalid_value;
  void* const own = reinterpret_cast<void*>(variable->address + offset);
  rows.to = to_symbol ? own : other, rows.from = to_symbol ? other : own, rows.width = bytes, rows.kind = kind;
  return success;
}

int copy_symbol(const void* symbol, const void* other, size_t bytes, size_t offset, bool to_symbol, int kind,
                const char* name = __builtin_FUNCTION()) {
  return call(
      [&](Device& d) {
        Rows rows;
        const Error error =
            rows_of_symbol(d, symbol, const_cast<void*>(other), bytes, offset, to_symbol, kind, rows);
        return error ? error : copy_now(d, rows);
      },
      name);
}
int copy_symbol_later(const void* symbol, const void* other, size_t bytes, size_t offset, bool to_symbol, int kind,
                      void* stream, const char* name = __builtin_FUNCTION()) {
  return call(
      [&](Device& d) {
        Rows rows;
        const Error error =
            rows_of_symbol(d, symbol, const_cast<void*>(other), bytes, offset, to_symbol, kind, rows);
        return error ? error : copy_later(d, stream, rows);
      },
      name);
}

/// Allocations and frees of the host must not come while a stream is captured.
template <class F>
int outside_captures(const F& f, const char* name = __builtin_FUNCTION()) {
  return call(
      [&](Device& d) {
        const Error error = d.streams.unsafe_call();
        return error ? error : f(d);
      },
      name);
}

template <class F>
int on_stream(void* stream, const F& f, const char* name = __builtin_FUNCTION()) {
  return call([&](Device& d) { return at_once(d, stream, f); }, name);
}

constexpr int kDeviceToDevice = 3;  ///< cudaMemcpyKind

/// cudaPitchedPtr, cudaExtent, cudaPos, cudaMemcpy3DParms
struct PitchedPointer {
  void* pointer;
  size_t pitch, width, rows;
};
struct Extent {
  size_t width, height, depth;
};
struct Position {
  size_t x, y, z;
};
struct Copy3D {
  void* from_array;
  Position from_position;
  PitchedPointer from;
  void* to_array;
  Position to_position;
  PitchedPointer to;
  Extent extent;
  int kind;
};
struct Slice {
  void* to;
  size_t to_pitch;
  const void* from;
  size_t from_pitch, width, height;
  int kind;
};

/// Calls copy(slice) for each of the copy's depth.
template <class F>
int for_each_slice(const Copy3D* copy, F&& f) {
  if (!copy) return call([](Device&) { return invalid_value; }, "cudaMemcpy3D");
  if (copy->from_array || copy->to_array)
    return call(
        [](Device& d) {
          d.note("not implemented: cudaMemcpy3D of CUDA arrays");
          return not_supported;
        },
        "cudaMemcpy3D");
  const auto at = [](const PitchedPointer& p, const Position& first, size_t z) {
    return static_cast<char*>(p.pointer) + ((first.z + z) * p.rows + first.y) * p.pitch + first.x;
  };
  int error = success;
  for (size_t z = 0; z < copy->extent.depth && error == success; ++z)
    error = f(Slice{at(copy->to, copy->to_position, z), copy->to.pitch, at(copy->from, copy->from_position, z),
                    copy->from.pitch, copy->extent.width, copy->extent.height, copy->kind});
  return error;
}

}  // namespace

SM100_EXEC_API int cudaMalloc(void** pointer, size_t bytes) {
  return outside_captures([&](Device& d) { return allocate(d, pointer, bytes); });
}
SM100_EXEC_API int cudaMallocManaged(void** pointer, size_t bytes, unsigned) {
  return outside_captures(
      [&](Device& d) { return bytes == 0 ? invalid_value : allocate(d, pointer, bytes, true); });
}
SM100_EXEC_API int cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return outside_captures([&](Device& d) { return allocate_rows(d, pointer, pitch, width, height); });
}
SM100_EXEC_API int cudaMalloc3D(PitchedPointer* pointer, Extent extent) {
  return outside_captures([&](Device& d) {
    if (!pointer) return invalid_value;
    *pointer = {nullptr, 0, extent.width, extent.height};
    return allocate_rows(d, &pointer->pointer, &pointer->pitch, extent.width, extent.height * extent.depth);
  });
}
SM100_EXEC_API int cudaHostGetDevicePointer(void**, void*, unsigned) {
  return call([](Device& d) {
    d.note("not implemented: cudaHostGetDevicePointer: kernels do not reach the host's memory (zero-copy)");
    return not_supported;
  });
}
SM100_EXEC_API int cudaFree(void* pointer) {
  return outside_captures([&](Device& d) {
    const Error error = pointer ? d.wait_for_all() : success;
    return error ? error : release(d, pointer);
  });
}
SM100_EXEC_API int cudaMallocHost(void** pointer, size_t bytes) {
  return call([&](Device&) { return allocate_host(pointer, bytes); });
}
SM100_EXEC_API int cudaHostAlloc(void** pointer, size_t bytes, unsigned) { return cudaMallocHost(pointer, bytes); }
SM100_EXEC_API int cudaFreeHost(void* pointer) {
  return call([&](Device&) { return free_host(pointer); });
}
SM100_EXEC_API int cudaHostRegister(void* pointer, size_t bytes, unsigned) {
  return call([&](Device&) { return register_host(pointer, bytes); });
}
SM100_EXEC_API int cudaHostUnregister(void* pointer) {
  return call([&](Device&) { return unregister_host(pointer); });
}
SM100_EXEC_API int cudaMemGetInfo(size_t* free, size_t* total) {
  return call([&](Device& d) {
    if (free) *free = d.free_bytes();
    if (total) *total = d.facts().memory_bytes;
    return success;
  });
}
SM100_EXEC_API int cudaPointerGetAttributes(PointerAttributes* attributes, const void* pointer) {
  return call([&](Device& d) {
    if (!attributes) return invalid_value;
    *attributes = {};
    void* const plain = const_cast<void*>(pointer);
    if (Device::in_device_range(pointer)) {
      if (!d.bytes_at(pointer, 1)) return attributes->device = -2, success;  // freed, or never allocated
      attributes->type = d.is_managed(pointer) ? 3 : 2, attributes->device_pointer = plain;
      if (attributes->type == 3) attributes->host_pointer = plain;
    } else if (is_pinned(pointer)) {  // no device pointer: kernels do not reach it
      attributes->type = 1, attributes->host_pointer = plain;
    } else {
      attributes->device = -2, attributes->host_pointer = plain;
    }
    return success;
  });
}
/// Where managed memory lies is of no account to a device whose memory is the host's.
SM100_EXEC_API int cudaMemPrefetchAsync(const void* pointer, size_t bytes, uint64_t, unsigned, void* stream) {
  return call([&](Device& d) {
    if (!d.is_managed(pointer) || !d.bytes_at(pointer, bytes)) return invalid_value;
    return d.enqueue(stream, [](Device&) { return success; });
  });
}
SM100_EXEC_API int cudaMemAdvise(const void* pointer, size_t bytes, int, uint64_t) {
  return call(
      [&](Device& d) { return d.is_managed(pointer) && d.bytes_at(pointer, bytes) ? success : invalid_value; });
}

// ---- memory of streams, pools

SM100_EXEC_API int cudaMallocAsync(void** pointer, size_t bytes, void* stream) {
  return on_stream(stream, [&](Device& d) { return allocate(d, pointer, bytes); });
}
SM100_EXEC_API int cudaFreeAsync(void* pointer, void* stream) {
  return on_stream(stream, [&](Device& d) { return pointer ? release(d, pointer) : success; });
}
SM100_EXEC_API int cudaMallocFromPoolAsync(void** pointer, size_t bytes, void* pool, void* stream) {
  return on_stream(stream,
                   [&](Device& d) { return find_pool(pool) ? allocate(d, pointer, bytes) : invalid_value; });
}
SM100_EXEC_API int cudaDeviceGetDefaultMemPool(void** pool, int device) {
  return call([&](Device&) {
    if (!pool) return invalid_value;
    *pool = default_pool();
    return device == 0 ? success : invalid_device;
  });
}
SM100_EXEC_API int cudaDeviceGetMemPool(void** pool, int device) {
  return cudaDeviceGetDefaultMemPool(pool, device);
}
SM100_EXEC_API int cudaDeviceSetMemPool(int device, void* pool) {
  return call([&](Device&) { return device != 0 ? invalid_device : find_pool(pool) ? success : invalid_value; });
}
SM100_EXEC_API int cudaMemPoolCreate(void** pool, const void* properties) {
  return call([&](Device&) {
    if (!pool || !properties) return invalid_value;
    *pool = create_pool();
    return success;
  });
}
SM100_EXEC_API int cudaMemPoolDestroy(void* pool) {
  return call([&](Device&) { return destroy_pool(pool) ? success : invalid_value; });
}
SM100_EXEC_API int cudaMemPoolSetAttribute(void* handle, int attribute, void* value) {
  return call([&](Device& d) {
    Pool* const pool = find_pool(handle);
    return pool ? pool_attribute(d, *pool, attribute, value, true) : invalid_value;
  });
}
SM100_EXEC_API int cudaMemPoolGetAttribute(void* handle, int attribute, void* value) {
  return call([&](Device& d) {
    Pool* const pool = find_pool(handle);
    return pool ? pool_attribute(d, *pool, attribute, value, false) : invalid_value;
  });
}
SM100_EXEC_API int cudaMemPoolTrimTo(void* pool, size_t) {
  return call([&](Device&) { return find_pool(pool) ? success : invalid_value; });
}
SM100_EXEC_API int cudaMemPoolSetAccess(void* pool, const void*, size_t) {
  return call([&](Device&) { return find_pool(pool) ? success : invalid_value; });
}

// ---- copies, fills

SM100_EXEC_API int cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return call([&](Device& d) { return copy_now(d, {to, 0, from, 0, bytes, 1, kind}); });
}
SM100_EXEC_API int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
  return call([&](Device& d) { return copy_later(d, stream, {to, 0, from, 0, bytes, 1, kind}); });
}
SM100_EXEC_API int cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, int kind) {
  return call([&](Device& d) { return copy_now(d, {to, to_pitch, from, from_pitch, width, height, kind}); });
}
SM100_EXEC_API int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                     size_t height, int kind, void* stream) {
  return call([&](Device& d) {
    return copy_later(d, stream, {to, to_pitch, from, from_pitch, width, height, kind});
  });
}
SM100_EXEC_API int cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  if (to_device != 0 || from_device != 0) return call([](Device&) { return invalid_device; });
  return cudaMemcpy(to, from, bytes, kDeviceToDevice);
}
SM100_EXEC_API int cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes,
                                       void* stream) {
  if (to_device != 0 || from_device != 0) return call([](Device&) { return invalid_device; });
  return cudaMemcpyAsync(to, from, bytes, kDeviceToDevice, stream);
}
SM100_EXEC_API int cudaMemcpy3D(const Copy3D* copy) {
  return for_each_slice(copy, [](const Slice& s) {
    return cudaMemcpy2D(s.to, s.to_pitch, s.from, s.from_pitch, s.width, s.height, s.kind);
  });
}
SM100_EXEC_API int cudaMemcpy3DAsync(const Copy3D* copy, void* stream) {
  return for_each_slice(copy, [&](const Slice& s) {
    return cudaMemcpy2DAsync(s.to, s.to_pitch, s.from, s.from_pitch, s.width, s.height, s.kind, stream);
  });
}
SM100_EXEC_API int cudaMemset(void* to, int value, size_t bytes) {
  return call([&](Device& d) { return fill_now(d, {to, 0, uint32_t(value), 1, bytes, 1}); });
}
SM100_EXEC_API int cudaMemsetAsync(void* to, int value, size_t bytes, void* stream) {
  return call([&](Device& d) { return fill_later(d, stream, {to, 0, uint32_t(value), 1, bytes, 1}); });
}
SM100_EXEC_API int cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return call([&](Device& d) { return fill_now(d, {to, pitch, uint32_t(value), 1, width, height}); });
}
SM100_EXEC_API int cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, void* stream) {
  return call([&](Device& d) { return fill_later(d, stream, {to, pitch, uint32_t(value), 1, width, height}); });
}

SM100_EXEC_API int cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  int error = success;
  for (size_t z = 0; z < extent.depth && error == success; ++z)
    error = cudaMemset2D(static_cast<char*>(to.pointer) + z * to.pitch * to.rows, to.pitch, value, extent.width,
                         extent.height);
  return error;
}
SM100_EXEC_API int cudaMemset3DAsync(PitchedPointer to, int value, Extent extent, void* stream) {
  int error = success;
  for (size_t z = 0; z < extent.depth && error == success; ++z)
    error = cudaMemset2DAsync(static_cast<char*>(to.pointer) + z * to.pitch * to.rows, to.pitch, value,
                              extent.width, extent.height, stream);
  return error;
}

// ---- symbols

SM100_EXEC_API int cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  return copy_symbol(symbol, from, bytes, offset, true, kind);
}
SM100_EXEC_API int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                           int kind, void* stream) {
  return copy_symbol_later(symbol, from, bytes, offset, true, kind, stream);
}
SM100_EXEC_API int cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  return copy_symbol(symbol, to, bytes, offset, false, kind);
}
SM100_EXEC_API int cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, int kind,
                                             void* stream) {
  return copy_symbol_later(symbol, to, bytes, offset, false, kind, stream);
}
SM100_EXEC_API int cudaGetSymbolAddress(void** pointer, const void* symbol) {
  return call([&](Device& d) {
    Error error = success;
    const Module::Variable* const variable = variable_of(d, symbol, error);
    if (variable) *pointer = reinterpret_cast<void*>(variable->address);
    return error;
  });
}
SM100_EXEC_API int cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return call([&](Device& d) {
    Error error = success;
    const Module::Variable* const variable = variable_of(d, symbol, error);
    if (variable) *bytes = variable->bytes;
    return error;
  });
}
