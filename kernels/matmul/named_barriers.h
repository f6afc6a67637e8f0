// SPDX-License-Identifier: Apache-2.0
/// The named barriers of the matmul: one id for each group of warps, and the table of them.
#pragma once

#include "kernels/matmul/config.h"
#include "kernels/pipeline/barrier_array.h"

namespace sm100 {

inline constexpr int kTmemAddressBarrier = 1;  ///< the tensor-memory address has been published
template <class C>
SM100_HD constexpr int tmem_address_threads(const C& c) {
  return kWarpLanes + epilogue_group().threads() + other_tmem_threads(c);
}
inline constexpr int kReductionBarrier = 4;  ///< the four epilogue warps around the lock of split-K

/// Calls f(NamedBarrier) for each.
template <class C, class F>
SM100_HD constexpr void for_each_named_barrier(const C& c, F&& f) {
  f(NamedBarrier{epilogue_group().barrier, "strip", "epilogue"});
  f(NamedBarrier{kTmemAddressBarrier, "tmem address", tmem_roles(c)});
  if (c.num_split_k > 1) f(NamedBarrier{kReductionBarrier, "reduction", "epilogue"});
}

}  // namespace sm100
