// SPDX-License-Identifier: Apache-2.0
/// Shared memory: a CTA's window of it, and the paths of the SM that lead there.
/// A CTA may use the bytes of its window from 0x400 on (PTX "State Spaces"; the first KiB is the system's).
/// Addresses are offsets in the window, rank bits already removed.  How many windows an SM has room for:
/// models/occupancy.h. Modelled: the bytes, in runs without data which of them are known, and the data port that
/// the warps of an SM share (models/shared_memory_port.h).  Approximated: banks (accesses count as free of
/// conflicts).  TMA and UMMA have paths of their own that hinder each other a little (docs/measurements.md, law
/// 4.3).  Every access is bounds-checked by the caller's unit through `contains`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "kernels/isa/address.h"
#include "models/poisoned_bytes.h"
#include "models/shared_memory_port.h"

namespace sm100::models {

/// The window of one CTA.
class SharedMemory {
 public:
  /// @param with_data  false: few bytes will ever be written, and only these take memory
  explicit SharedMemory(bool with_data = true) : bytes_(kDescriptorWindowBytes, with_data) {}

  /// A new CTA owns [0x400, 0x400 + bytes): nothing in it is initialised.  Poisoned with 0xFF, which is NaN
  /// in every operand format that has one (not in those of 4 and 6 bits) and no valid mbarrier.
  void start_cta(uint32_t bytes, bool poison_all) {
    end_ = kSmemUserBase + bytes;
    std::fill(forgotten_.begin(), forgotten_.end(), 0);
    // Without data nothing reads tiles; only the barriers behind them must not look valid.
    const uint32_t from =
        poison_all ? kSmemUserBase : (end_ > kBarrierBytes ? end_ - kBarrierBytes : kSmemUserBase);
    std::memset(&bytes_[from], 0xff, end_ - from);
  }
  bool contains(uint32_t offset, uint64_t size) const { return offset >= kSmemUserBase && offset + size <= end_; }
  uint32_t end() const { return end_; }

  uint8_t* data(uint32_t offset) { return &bytes_[offset]; }
  const uint8_t* data(uint32_t offset) const { return &bytes_[offset]; }

  /// Of runs without data, for front ends that ask: bytes that follow from a tensor's contents, which nobody knows,
  /// until others are stored there.
  void keep_track() { forgotten_.resize(bytes_.size() / 64); }
  void forget(uint32_t offset, uint64_t bytes) {
    if (!forgotten_.empty()) mark(offset, bytes, true);
  }
  void learn(uint32_t offset, uint64_t bytes) {
    if (!forgotten_.empty()) mark(offset, bytes, false);
  }
  bool forgotten(uint32_t offset, uint64_t bytes) const {
    if (forgotten_.empty()) return false;
    for (uint64_t at = offset; at < offset + bytes && at < bytes_.size(); ++at)
      if (forgotten_[at / 64] >> at % 64 & 1) return true;
    return false;
  }

  template <class T>
  T load(uint32_t offset) const {
    T value;
    std::memcpy(&value, &bytes_[offset], sizeof value);
    return value;
  }
  template <class T>
  void store(uint32_t offset, const T& value) {
    learn(offset, sizeof value);
    std::memcpy(&bytes_[offset], &value, sizeof value);
  }

 private:
  void mark(uint64_t at, uint64_t bytes, bool forgotten) {
    for (const uint64_t end = std::min<uint64_t>(at + bytes, bytes_.size()); at < end;) {
      const uint64_t n = std::min(end - at, 64 - at % 64);
      const uint64_t bits = (n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1) << at % 64;
      forgotten ? forgotten_[at / 64] |= bits : forgotten_[at / 64] &= ~bits;
      at += n;
    }
  }
  static constexpr uint32_t kBarrierBytes = 16384;
  /// Matrix descriptors see a window of 256 KiB, more than there is memory (docs/instructions.md); Umma
  /// reports what lies outside, and this keeps the model inside its own array.
  static constexpr uint32_t kDescriptorWindowBytes = 1u << 18;
  PoisonedBytes bytes_;
  std::vector<uint64_t> forgotten_;  ///< a bit of each byte; empty: nobody asks
  uint32_t end_ = kSmemUserBase;
};

}  // namespace sm100::models
