// SPDX-License-Identifier: Apache-2.0
/// Which bytes of global memory a launch reads and which it writes, to the byte: what another launch that may run
/// beside it must leave alone.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

namespace sm100::models {

/// [begin, end)
struct ByteRange {
  uint64_t begin = 0, end = 0;
  bool operator==(const ByteRange&) const = default;
};

/// Strong ones (atomics, volatile, relaxed, acquire and release) may meet strong ones of others.
enum class AccessClass : uint8_t { read, write, strong_read, strong_write };
inline constexpr int kAccessClasses = 4;

class AccessMap {
  struct Page;

 public:
  /// Where a thread has added last, so that it finds its way sooner.
  struct Cursor {
    uint64_t number = ~uint64_t{0};
    Page* page = nullptr;
  };
  /// Of several threads at once, each with cursors of its own.
  void add(uint64_t address, uint64_t bytes, AccessClass kind, Cursor& at);
  void add(uint64_t address, uint64_t bytes, AccessClass kind) {
    Cursor anywhere;
    add(address, bytes, kind, anywhere);
  }
  /// A read of one of these kinds, a write, or, of an atomic, both.
  void add(uint64_t address, uint64_t bytes, bool reads, bool writes, bool strong, Cursor& at) {
    if (reads) add(address, bytes, strong ? AccessClass::strong_read : AccessClass::read, at);
    if (writes) add(address, bytes, strong ? AccessClass::strong_write : AccessClass::write, at);
  }
  void add(uint64_t address, uint64_t bytes, bool reads, bool writes, bool strong) {
    Cursor anywhere;
    add(address, bytes, reads, writes, strong, anywhere);
  }

  /// Ascending; none touches another.  Nothing is added meanwhile.
  std::vector<ByteRange> ranges(AccessClass kind) const;

 private:
  static constexpr uint64_t kPageBytes = 64 << 10, kWordBits = 64;
  /// A bit for each byte.
  struct Page {
    std::array<std::atomic<uint64_t>, kPageBytes / kWordBits> bits[kAccessClasses]{};
  };
  Page& page(uint64_t number);

  std::shared_mutex mutex_;
  std::map<uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace sm100::models
