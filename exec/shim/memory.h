// SPDX-License-Identifier: Apache-2.0
/// Copies, fills and allocations, as the runtime and the driver have them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exec/shim/device.h"

namespace sm100::exec {

/// `bytes` of 0 give a null pointer.
abi::Error allocate(Device& device, void** pointer, size_t bytes, bool managed = false);
/// With a pitch that suits rows of `width` bytes.
abi::Error allocate_rows(Device& device, void** pointer, size_t* pitch, size_t width, size_t height);
abi::Error release(Device& device, void* pointer);
/// Memory of the host, page-aligned: what the program calls pinned.  Kernels do not reach it.
abi::Error allocate_host(void** pointer, size_t bytes);
/// nullptr is nothing to free; another address must be one that allocate_host has given.
abi::Error free_host(void* pointer);
abi::Error register_host(void* pointer, size_t bytes);
abi::Error unregister_host(void* pointer);
/// In pinned memory: allocated or registered.
bool is_pinned(const void* pointer);

/// An allocation or a free in a stream: `f` has its place at once, so in a captured stream it is refused.  Others
/// may use the memory behind the one, and no more behind the other: it is work of the stream, which writes all of
/// it.
template <class F>
abi::Error at_once(Device& device, void* stream, const F& f) {
  const Stream* const found = device.streams.find(stream);
  if (!found) return abi::invalid_resource_handle;
  if (!found->capture) return device.enqueue(stream, f, /*allocation=*/true);
  device.note("not implemented: an allocation or a free of memory in a captured stream");
  return abi::not_supported;
}

/// Rows of bytes on each side; one row is a plain copy.
struct Rows {
  void* to = nullptr;
  size_t to_pitch = 0;
  const void* from = nullptr;
  size_t from_pitch = 0;
  size_t width = 0, height = 1;
  int kind = abi::by_address;
};
/// As work of a stream.
abi::Error copy_later(Device& device, void* stream, const Rows& rows);
/// The host waits for it.
abi::Error copy_now(Device& device, const Rows& rows);

/// `value` has `size` bytes: 1, 2 or 4; `count` of them in each row.
struct Fill {
  void* to = nullptr;
  size_t pitch = 0;
  uint32_t value = 0;
  unsigned size = 1;
  size_t count = 0, height = 1;
};
abi::Error fill_later(Device& device, void* stream, const Fill& fill);
abi::Error fill_now(Device& device, const Fill& fill);

/// A pool is a handle: its memory is the device's.
struct Pool {
  uint64_t release_threshold = 0;
  int reuse[3] = {1, 1, 1};
};
/// The device's own pool.
Pool* default_pool();
Pool* create_pool();
bool destroy_pool(void* handle);
/// nullptr: there is no such pool.
Pool* find_pool(void* handle);
/// cudaMemPoolAttr: an int or a uint64_t at `value`.
abi::Error pool_attribute(Device& device, Pool& pool, int attribute, void* value, bool set);

}  // namespace sm100::exec
