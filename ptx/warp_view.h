// SPDX-License-Identifier: Apache-2.0
/// What the warps of a program may do, by its text: their roles, and which mbarriers their instructions name.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/reach.h"

namespace sm100::ptx {

/// An instruction that names an mbarrier.
struct BarrierUse {
  enum class Does : uint8_t {
    init,
    arrive,         ///< mbarrier.arrive, also of cp.async
    arrive_expect,  ///< mbarrier.arrive.expect_tx
    expect,         ///< mbarrier.expect_tx
    bytes,          ///< a copy or st.async completes bytes on it
    commit,         ///< tcgen05.commit
    answer,         ///< clusterlaunchcontrol.try_cancel
    wait,           ///< a try_wait that its loop asks until it succeeds
    test,           ///< one that may be false
  };
  Does does = Does::init;
  uint32_t instruction = 0;                ///< of the program
  std::optional<SharedAddress> barrier{};  ///< absent: the text does not say which
  std::optional<uint32_t> amount{};        ///< init: count; expect: bytes; where the text says it
  std::optional<uint32_t> parity{};        ///< wait, test

  bool arrives() const {
    return does == Does::arrive || does == Does::arrive_expect || does == Does::commit || does == Does::answer;
  }
  bool signals() const { return arrives() || does == Does::bytes; }
  bool waits() const { return does == Does::wait || does == Does::test; }
};

/// The instruction as tables of barriers call it: "mbarrier.arrive.expect_tx".
std::string instruction_name(const Program& program, const BarrierUse& use);

/// What a warp may come to do.
struct WarpView {
  enum Action : unsigned { schedules = 1, loads = 2, multiplies = 4, reads_tmem = 8 };
  unsigned actions = 0;
  bool calls = false;  ///< functions, which may do more
  std::vector<BarrierUse> uses;
};
WarpView view_of(const Program& program, const Reach& reach);

/// Of each warp the first that it does and not all others do: "scheduler", "load", "mma", "epilogue"; empty: it
/// does none of them, or what all do and more than one of them.
std::vector<std::string> roles_of(const std::vector<WarpView>& warps);

}  // namespace sm100::ptx
