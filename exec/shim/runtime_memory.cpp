// SPDX-License-Identifier: Apache-2.0
// Memory of the runtime library: allocations, copies, fills, symbols.
#include <cstdlib>
#include <cstring>

#include "exec/shim/device.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

namespace {

Error allocate(Device& device, void** pointer, size_t bytes) {
  if (!pointer) return invalid_value;
  *pointer = nullptr;
  if (bytes == 0) return success;
  const auto address = device.allocate(bytes);
  if (!address) return memory_allocation;
  *pointer = reinterpret_cast<void*>(*address);
  return success;
}

/// Whether the pointers are where the kind says; cudaMemcpyDefault goes by the addresses.
bool fits(int kind, const void* to, const void* from) {
  const bool to_device = Device::in_device_range(to), from_device = Device::in_device_range(from);
  switch (kind) {
    case host_to_host: return !to_device && !from_device;
    case host_to_device: return to_device && !from_device;
    case device_to_host: return !to_device && from_device;
    case device_to_device: return to_device && from_device;
    case by_address: return true;
    default: return false;
  }
}

Error copy(Device& device, void* to, const void* from, size_t bytes, int kind) {
  if (bytes == 0) return success;
  if (kind < host_to_host || kind > by_address) return invalid_memcpy_direction;
  if (!to || !from || !fits(kind, to, from)) return invalid_value;
  uint8_t* const written = device.bytes_at(to, bytes);
  const uint8_t* const read = device.bytes_at(from, bytes);
  if (!written || !read) return invalid_value;
  std::memmove(written, read, bytes);
  return success;
}

Error copy_rows(Device& device, void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                size_t height, int kind) {
  if (width > to_pitch || width > from_pitch) return invalid_value;
  for (size_t row = 0; row < height; ++row)
    if (const Error error = copy(device, static_cast<char*>(to) + row * to_pitch,
                                 static_cast<const char*>(from) + row * from_pitch, width, kind))
      return error;
  return success;
}

Error fill(Device& device, void* to, int value, size_t bytes) {
  if (bytes == 0) return success;
  uint8_t* const written = Device::in_device_range(to) ? device.bytes_at(to, bytes) : nullptr;
  if (!written) return invalid_value;
  std::memset(written, value, bytes);
  return success;
}

Error fill_rows(Device& device, void* to, size_t pitch, int value, size_t width, size_t height) {
  if (width > pitch) return invalid_value;
  for (size_t row = 0; row < height; ++row)
    if (const Error error = fill(device, static_cast<char*>(to) + row * pitch, value, width)) return error;
  return success;
}

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

Error copy_symbol(Device& device, const void* symbol, void* other, size_t bytes, size_t offset, bool to_symbol,
                  int kind) {
  Error error = success;
  const Module::Variable* const variable = variable_of(device, symbol, error);
  if (!variable) return error;
  if (offset > variable->bytes || bytes > variable->bytes - offset) return invalid_value;
  void* const own = reinterpret_cast<void*>(variable->address + offset);
  return to_symbol ? copy(device, own, other, bytes, kind) : copy(device, other, own, bytes, kind);
}

Error allocate_host(void** pointer, size_t bytes) {
  if (!pointer) return invalid_value;
  *pointer = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  return *pointer || bytes == 0 ? success : memory_allocation;
}

}  // namespace

SM100_EXEC_API int cudaMalloc(void** pointer, size_t bytes) {
  return call([&](Device& d) { return allocate(d, pointer, bytes); });
}
SM100_EXEC_API int cudaMallocAsync(void** pointer, size_t bytes, void*) { return cudaMalloc(pointer, bytes); }
SM100_EXEC_API int cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return call([&](Device& d) {
    if (!pitch) return invalid_value;
    *pitch = (width + 511) / 512 * 512;
    return allocate(d, pointer, *pitch * height);
  });
}
SM100_EXEC_API int cudaFree(void* pointer) {
  return call(
      [&](Device& d) { return !pointer || d.free(reinterpret_cast<uint64_t>(pointer)) ? success : invalid_value; });
}
SM100_EXEC_API int cudaFreeAsync(void* pointer, void*) { return cudaFree(pointer); }
SM100_EXEC_API int cudaMallocHost(void** pointer, size_t bytes) {
  return call([&](Device&) { return allocate_host(pointer, bytes); });
}
SM100_EXEC_API int cudaHostAlloc(void** pointer, size_t bytes, unsigned) { return cudaMallocHost(pointer, bytes); }
SM100_EXEC_API int cudaFreeHost(void* pointer) {
  return call([&](Device&) {
    std::free(pointer);
    return success;
  });
}
SM100_EXEC_API int cudaHostRegister(void*, size_t, unsigned) {
  return call([](Device&) { return success; });
}
SM100_EXEC_API int cudaHostUnregister(void*) {
  return call([](Device&) { return success; });
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
      if (!d.bytes_at(pointer, 1)) return invalid_value;
      attributes->type = 2, attributes->device_pointer = plain;
    } else {
      attributes->device = -2, attributes->host_pointer = plain;
    }
    return success;
  });
}

SM100_EXEC_API int cudaMemcpy(void* to, const void* from, size_t bytes, int kind) {
  return call([&](Device& d) { return copy(d, to, from, bytes, kind); });
}
SM100_EXEC_API int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void*) {
  return cudaMemcpy(to, from, bytes, kind);
}
SM100_EXEC_API int cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                size_t height, int kind) {
  return call([&](Device& d) { return copy_rows(d, to, to_pitch, from, from_pitch, width, height, kind); });
}
SM100_EXEC_API int cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                                     size_t height, int kind, void*) {
  return cudaMemcpy2D(to, to_pitch, from, from_pitch, width, height, kind);
}
SM100_EXEC_API int cudaMemset(void* to, int value, size_t bytes) {
  return call([&](Device& d) { return fill(d, to, value, bytes); });
}
SM100_EXEC_API int cudaMemsetAsync(void* to, int value, size_t bytes, void*) {
  return cudaMemset(to, value, bytes);
}
SM100_EXEC_API int cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  return call([&](Device& d) { return fill_rows(d, to, pitch, value, width, height); });
}
SM100_EXEC_API int cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, void*) {
  return cudaMemset2D(to, pitch, value, width, height);
}

SM100_EXEC_API int cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, int kind) {
  return call(
      [&](Device& d) { return copy_symbol(d, symbol, const_cast<void*>(from), bytes, offset, true, kind); });
}
SM100_EXEC_API int cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                           int kind, void*) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
SM100_EXEC_API int cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, int kind) {
  return call([&](Device& d) { return copy_symbol(d, symbol, to, bytes, offset, false, kind); });
}
SM100_EXEC_API int cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, int kind,
                                             void*) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
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
