// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

namespace sm100::exec {

using namespace abi;

namespace {

/// Whether the pointers are where the kind says; cudaMemcpyDefault goes by the addresses.  Managed memory is both.
bool fits(const Device& device, int kind, const void* to, const void* from) {
  const auto on_device = [](const void* p) { return Device::in_device_range(p); };
  const auto on_host = [&](const void* p) { return !on_device(p) || device.is_managed(p); };
  switch (kind) {
    case host_to_host: return on_host(to) && on_host(from);
    case host_to_device: return on_device(to) && on_host(from);
    case device_to_host: return on_host(to) && on_device(from);
    case device_to_device: return on_device(to) && on_device(from);
    default: return true;
  }
}

Error copy_row(Device& device, void* to, const void* from, size_t bytes, int kind) {
  if (bytes == 0) return success;
  if (!to || !from || !fits(device, kind, to, from)) return invalid_value;
  uint8_t* const written = device.bytes_at(to, bytes);
  const uint8_t* const read = device.bytes_at(from, bytes);
  if (!written || !read) return invalid_value;
  std::memmove(written, read, bytes);
  return success;
}

/// One for each row that lies in device memory.
std::vector<Block> device_rows(const void* begin, size_t pitch, size_t width, size_t height) {
  std::vector<Block> rows;
  if (width == 0 || !Device::in_device_range(begin)) return rows;
  for (size_t row = 0; row < height; ++row)
    rows.push_back({reinterpret_cast<uint64_t>(begin) + row * pitch, width});
  return rows;
}

Error copy(Device& device, const Rows& rows) {
  for (size_t row = 0; row < rows.height; ++row)
    if (const Error error =
            copy_row(device, static_cast<char*>(rows.to) + row * rows.to_pitch,
                     static_cast<const char*>(rows.from) + row * rows.from_pitch, rows.width, rows.kind))
      return error;
  const bool to_device = Device::in_device_range(rows.to), from_device = Device::in_device_range(rows.from);
  device.moved(to_device && from_device ? "a copy in device memory"
               : to_device              ? "a copy to the device"
                                        : "a copy to the host",
               device_rows(rows.from, rows.from_pitch, rows.width, rows.height),
               device_rows(rows.to, rows.to_pitch, rows.width, rows.height));
  return success;
}

/// What is wrong before anything is copied, so that a captured copy fails at its call.
Error check(const Rows& rows) {
  if (rows.kind < host_to_host || rows.kind > by_address) return invalid_memcpy_direction;
  return rows.height > 1 && (rows.width > rows.to_pitch || rows.width > rows.from_pitch) ? invalid_pitch : success;
}

Error carry_out(Device& device, const Fill& fill) {
  for (size_t row = 0; row < fill.height; ++row) {
    char* const to = static_cast<char*>(fill.to) + row * fill.pitch;
    const size_t bytes = fill.count * fill.size;
    if (bytes == 0) continue;
    uint8_t* const written = Device::in_device_range(to) ? device.bytes_at(to, bytes) : nullptr;
    if (!written) return invalid_value;
    if (fill.size == 1) std::memset(written, int(fill.value), bytes);
    for (size_t i = 0; fill.size > 1 && i < fill.count; ++i)
      std::memcpy(written + i * fill.size, &fill.value, fill.size);
  }
  device.moved("a memset", {}, device_rows(fill.to, fill.pitch, fill.count * fill.size, fill.height));
  return success;
}

Error check(const Fill& fill) {
  if (reinterpret_cast<uintptr_t>(fill.to) % fill.size != 0) return invalid_value;
  return fill.height > 1 && fill.count * fill.size > fill.pitch ? invalid_value : success;
}

std::map<const void*, std::unique_ptr<Pool>>& pools() {
  static auto* const all = new std::map<const void*, std::unique_ptr<Pool>>;  // lives as long as the process
  return *all;
}

}  // namespace

Error allocate(Device& device, void** pointer, size_t bytes, bool managed) {
  if (!pointer) return invalid_value;
  *pointer = nullptr;
  if (bytes == 0) return success;
  const auto address = device.allocate(bytes, managed);
  if (!address) {
    device.note("an allocation of " + std::to_string(bytes) + " bytes finds no room: device memory has " +
                std::to_string(device.facts().memory_bytes) + " bytes here, " +
                std::to_string(device.free_bytes()) + " of them free");
    return memory_allocation;
  }
  *pointer = reinterpret_cast<void*>(*address);
  device.moved("an allocation", {}, {{*address, bytes}});
  return success;
}

Error allocate_rows(Device& device, void** pointer, size_t* pitch, size_t width, size_t height) {
  if (!pitch) return invalid_value;
  *pitch = (width + 511) / 512 * 512;
  return allocate(device, pointer, *pitch * height);
}

Error release(Device& device, void* pointer) {
  const auto address = reinterpret_cast<uint64_t>(pointer);
  if (const auto block = device.block_at(address); block && block->address == address)
    device.moved("a free", {}, {*block});
  return !pointer || device.free(reinterpret_cast<uint64_t>(pointer)) ? success : invalid_value;
}

namespace {

struct Pinned {
  size_t bytes;
  bool registered;  ///< the program's own memory
};
/// By address; under the device's mutex, as all calls are.
std::map<uintptr_t, Pinned>& pinned() {
  static std::map<uintptr_t, Pinned> all;
  return all;
}

}  // namespace

Error allocate_host(void** pointer, size_t bytes) {
  if (!pointer) return invalid_value;
  *pointer = bytes == 0 ? nullptr : std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (*pointer) pinned()[reinterpret_cast<uintptr_t>(*pointer)] = {bytes, false};
  return *pointer || bytes == 0 ? success : memory_allocation;
}

Error free_host(void* pointer) {
  if (!pointer) return success;
  const auto found = pinned().find(reinterpret_cast<uintptr_t>(pointer));
  if (found == pinned().end() || found->second.registered) return invalid_value;
  pinned().erase(found);
  std::free(pointer);
  return success;
}

Error register_host(void* pointer, size_t bytes) {
  if (!pointer || bytes == 0) return invalid_value;
  const auto begin = reinterpret_cast<uintptr_t>(pointer);
  const auto behind = pinned().lower_bound(begin + bytes);  // the first that this one does not reach
  if (behind != pinned().begin() && std::prev(behind)->first + std::prev(behind)->second.bytes > begin)
    return host_memory_already_registered;
  pinned()[begin] = {bytes, true};
  return success;
}

Error unregister_host(void* pointer) {
  const auto found = pinned().find(reinterpret_cast<uintptr_t>(pointer));
  if (found == pinned().end() || !found->second.registered) return host_memory_not_registered;
  pinned().erase(found);
  return success;
}

bool is_pinned(const void* pointer) {
  const auto at = reinterpret_cast<uintptr_t>(pointer);
  const auto behind = pinned().upper_bound(at);
  return behind != pinned().begin() && at - std::prev(behind)->first < std::prev(behind)->second.bytes;
}

Error copy_later(Device& device, void* stream, const Rows& rows) {
  if (const Error error = check(rows)) return error;
  return device.enqueue(stream, [rows](Device& d) { return copy(d, rows); });
}

Error copy_now(Device& device, const Rows& rows) {
  if (const Error error = check(rows)) return error;
  if (const Error error = device.streams.legacy_call()) return error;
  if (const Error error = device.streams.unsafe_call()) return error;
  if (const Error error = device.enqueue(nullptr, [rows](Device& d) { return copy(d, rows); })) return error;
  // "For transfers from device memory to device memory, no host-side synchronization is performed."
  const auto only_device = [&](const void* p) { return Device::in_device_range(p) && !device.is_managed(p); };
  if (only_device(rows.to) && only_device(rows.from)) return success;
  return device.wait_for_stream(nullptr);
}

Error fill_later(Device& device, void* stream, const Fill& fill) {
  if (const Error error = check(fill)) return error;
  return device.enqueue(stream, [fill](Device& d) { return carry_out(d, fill); });
}

Error fill_now(Device& device, const Fill& fill) {
  if (const Error error = device.streams.legacy_call()) return error;
  if (const Error error = device.streams.unsafe_call()) return error;
  return fill_later(device, nullptr, fill);
}

// ---- pools

Pool* default_pool() {
  static Pool* const pool = create_pool();
  return pool;
}

Pool* create_pool() {
  auto pool = std::make_unique<Pool>();
  Pool* const handle = pool.get();
  pools()[handle] = std::move(pool);
  return handle;
}

bool destroy_pool(void* handle) { return handle != default_pool() && pools().erase(handle) == 1; }

Pool* find_pool(void* handle) {
  const auto found = pools().find(handle);
  return found == pools().end() ? nullptr : found->second.get();
}

Error pool_attribute(Device& device, Pool& pool, int attribute, void* value, bool set) {
  constexpr int kReleaseThreshold = 4,
                kMostAttribute = 8;  // 1 to 3: how memory is reused; 5 to 8: how much there is
  if (!value || attribute < 1 || attribute > kMostAttribute) return invalid_value;
  if (attribute < kReleaseThreshold) {
    int& own = pool.reuse[attribute - 1];
    set ? std::memcpy(&own, value, sizeof own) : std::memcpy(value, &own, sizeof own);
    return success;
  }
  if (attribute == kReleaseThreshold) {
    uint64_t& own = pool.release_threshold;
    set ? std::memcpy(&own, value, sizeof own) : std::memcpy(value, &own, sizeof own);
    return success;
  }
  if (set) return success;  // resets a high-water mark
  const uint64_t used = device.facts().memory_bytes - device.free_bytes();
  std::memcpy(value, &used, sizeof used);
  return success;
}

}  // namespace sm100::exec
