// SPDX-License-Identifier: Apache-2.0
/// An array of bytes that are all 0xff until something is written to them.
///
/// A sparse one takes memory for pages that are written only: all of them show one page of poison, which the system
/// copies at the first write.  A run without data writes its barriers and little else.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sm100::models {

class PoisonedBytes {
 public:
  /// @param dense  most of it will be written
  PoisonedBytes(size_t size, bool dense);
  ~PoisonedBytes();
  PoisonedBytes(const PoisonedBytes&) = delete;
  PoisonedBytes& operator=(const PoisonedBytes&) = delete;

  uint8_t& operator[](size_t at) { return bytes_[at]; }
  const uint8_t& operator[](size_t at) const { return bytes_[at]; }
  size_t size() const { return size_; }

 private:
  uint8_t* bytes_;
  size_t size_;
  bool mapped_ = false;
};

}  // namespace sm100::models
