// SPDX-License-Identifier: Apache-2.0
/// Configuration of warpgroup_registers, and its barriers.
///
/// The frame of a warp-specialised kernel and nothing in it: warpgroup 0 hands out tokens through a ring of two
/// stages, the others wait for each and give it back.  Before that each warpgroup executes one setmaxnreg, or none.
/// It shows whether the registers that the warpgroups ask for are there.
#pragma once

#include <array>

#include "kernels/isa/wgmma.h"
#include "kernels/pipeline/barrier_array.h"
#include "kernels/pipeline/smem_layout.h"

namespace sm100 {

/// What a warpgroup executes before its work.
struct RegisterChange {
  enum class Action : uint8_t { none, inc, dec } action = Action::none;
  int registers = 0;
  constexpr bool operator==(const RegisterChange&) const = default;
};

inline constexpr int kMaxWarpgroups = 8;

struct WarpgroupRegistersConfig {
  int warpgroups = 3;
  std::array<RegisterChange, kMaxWarpgroups> changes{};  ///< by warpgroup
  int tokens = 8;

  constexpr bool operator==(const WarpgroupRegistersConfig&) const = default;
};

inline constexpr int kTokenStages = 2;

/// Role of a warp, for reports and traces.
constexpr const char* warpgroup_registers_role(int warp) {
  return warp < kWarpgroupWarps ? "producer" : "consumer";
}

struct WarpgroupRegistersStorage {
  SmemAddr full, empty;
  uint32_t end = 0;  ///< first address past the storage
};

/// @param base  start of the CTA's dynamic shared memory
SM100_HD constexpr WarpgroupRegistersStorage warpgroup_registers_storage(SmemAddr base = {kSmemUserBase}) {
  SmemLayout layout{base.value};
  WarpgroupRegistersStorage s;
  s.full = layout.take_barriers(kTokenStages);
  s.empty = layout.take_barriers(kTokenStages);
  s.end = layout.next;
  return s;
}

/// Calls f(BarrierArray) for every array, in the order of their initialisation.
template <class C, class F>
SM100_HD constexpr void for_each_barrier_array(const C& c, const WarpgroupRegistersStorage& s, F&& f) {
  const auto consumers = uint32_t((c.warpgroups - 1) * kWarpgroupWarps);
  f(BarrierArray{"token_full", s.full, kTokenStages, 1, "producer", "mbarrier.arrive", "consumer"});
  f(BarrierArray{"token_empty", s.empty, kTokenStages, consumers, "consumer", "mbarrier.arrive", "producer"});
}

}  // namespace sm100
