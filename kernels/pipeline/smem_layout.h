// SPDX-License-Identifier: Apache-2.0
/// Places a kernel's arrays in its dynamic shared memory, one after the other.
#pragma once

#include "kernels/isa/address.h"

namespace sm100 {

inline constexpr int kSmemBudgetBytes = 232448;  ///< 227 KiB: the most dynamic shared memory a CTA can have

/// `next` carries the CTA's rank in its upper bits, as the addresses that it hands out do.
struct SmemLayout {
  uint32_t next;

  /// @param alignment  bytes, a power of two
  SM100_HD constexpr SmemAddr take(uint32_t bytes, uint32_t alignment) {
    next = (next + alignment - 1) / alignment * alignment;
    const SmemAddr address{next};
    next += bytes;
    return address;
  }
  SM100_HD constexpr SmemAddr take_barriers(int n) { return take(8u * uint32_t(n), 8); }
};

}  // namespace sm100
