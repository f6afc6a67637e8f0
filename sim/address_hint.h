// SPDX-License-Identifier: Apache-2.0
/// What an address that no allocation holds may be, for messages.
#pragma once

#include <cstdint>
#include <string_view>

namespace sm100::sim {

/// "; it looks like an address of the host, ..." or nothing.  Programs of x86-64 Linux have their heap from
/// 0x55..., libraries and stacks from 0x7e... on; our own tensors lie from 0x7f0000000000 on.
inline std::string_view address_hint(uint64_t address) {
  constexpr uint64_t kHeap = 0x5500'0000'0000, kHeapEnd = 0x5700'0000'0000, kMapped = 0x7e00'0000'0000,
                     kEnd = 0x8000'0000'0000, kOwn = 0x7f00'0000'0000, kOwnEnd = 0x7f10'0000'0000;
  if (address >= kOwn && address < kOwnEnd) return "";
  if (address < 4096) return "; it is a null pointer, or little more";
  const bool host = (address >= kHeap && address < kHeapEnd) || (address >= kMapped && address < kEnd);
  return host ? "; it looks like an address of the host, which kernels do not reach" : "";
}

}  // namespace sm100::sim
