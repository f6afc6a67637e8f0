// SPDX-License-Identifier: Apache-2.0
/// Loads and stores of warps in global memory (PTX 9.7.9.8, .11), and words that CTAs synchronise with (PTX 8.8).
#pragma once

#include "kernels/isa/instructions/instruction.h"

namespace sm100::instructions {

/// `bytes` from each lane's address to its registers: 2 or 4 to one, 8 to two, 16 to four; zeros where the
/// predicate is false (nullptr: true everywhere).
struct LdGlobal {
  static constexpr Description kIs{
      .function = "ld_global", .opcode = "ld.global", .faults = Alterable::poll, .add = {"address"}};
  static constexpr SupportLine kSupport[] = {{"ld.global.b16, .b32, .v2.b32, .v4.b32", Support::approximated,
                                              "an L2 hit each; the next store waits for it"}};
  uint32_t bytes;
  const LaneArray<GlobalAddr, 1>* addresses;
  const LaneArray<bool, 1>* predicates;
  uint32_t* registers;
  int offset = 0;  ///< bytes from each address, the same in all lanes
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.offset);
  }
  void execute(sim::WarpContext&) const;
};

/// Posted: the warp goes on at once.  `bytes` 1 and 2 are the lower part of a register.
struct StGlobal {
  static constexpr Description kIs{
      .function = "st_global", .opcode = "st.global", .faults = Alterable::step, .add = {"offset", "predicate"}};
  static constexpr SupportLine kSupport[] = {
      {"st.global.b8, .b16, .b32", Support::approximated,
       "posted; lanes in one sector, or in sectors that follow each other, are one piece for L2"},
      {"st.global.v2.b32, .v4.b32, .v8.b32", Support::approximated,
       "posted; a v4 or v8 takes the load-store path for each line that it touches"}};
  uint32_t bytes;
  const LaneArray<GlobalAddr, 1>* addresses;
  const LaneArray<bool, 1>* predicates;
  const uint32_t* registers;
  int offset = 0;          ///< PTX's [address + immediate]
  bool predicate = false;  ///< true: whatever the lanes' predicates say
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("offset", i.offset), visit("predicate", i.predicate);
  }
  void execute(sim::WarpContext&) const;
};

/// Of one address for all lanes: a word that the warp's control flow follows from.  Loads of one line after
/// another, with nothing between, are on their way together; a line that comes again has used its word before.
struct LdGlobalU32 {
  static constexpr Description kIs{.function = "ld_global_u32",
                                   .opcode = "ld.global.u32",
                                   .faults = Alterable::read,
                                   .add = {"value", "address"}};
  static constexpr SupportLine kSupport[] = {
      {"ld.global.u32", Support::approximated, "of one address for all lanes: an L2 hit, waited for"}};
  GlobalAddr address;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address);
  }
  uint32_t execute(sim::WarpContext&) const;  ///< the "value"
};

/// Of one address for all lanes.  The read-only cache may answer.
struct LdGlobalNcV4 {
  static constexpr Description kIs{.function = "ld_global_nc_v4",
                                   .opcode = "ld.global.nc.v4.b32",
                                   .faults = Alterable::read,
                                   .add = {"address"}};
  static constexpr SupportLine kSupport[] = {
      {"ld.global.nc.b64, .v4.b32", Support::approximated,
       "one address; the warp waits: an L2 hit, or, of the line of its last one, a load of shared memory"}};
  GlobalAddr address;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address);
  }
  UniformWords<4> execute(sim::WarpContext&) const;
};

struct LdGlobalNcB64 {
  static constexpr Description kIs{
      .function = "ld_global_nc_b64", .opcode = "ld.global.nc.b64", .faults = Alterable::read, .add = {"address"}};
  static constexpr auto& kSupport = LdGlobalNcV4::kSupport;
  GlobalAddr address;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address);
  }
  UniformWords<2> execute(sim::WarpContext&) const;
};

/// Polls of a word that stays the same from one code line do not run one by one: the warp sleeps until the word is
/// written, and goes on when its next poll would have seen it.
struct LdAcquireGpuGlobalU32 {
  static constexpr Description kIs{.function = "ld_acquire_gpu_global_u32",
                                   .opcode = "ld.acquire.gpu.global.u32",
                                   .faults = Alterable::poll,
                                   .add = {"value", "address"}};
  static constexpr SupportLine kSupport[] = {
      {"ld.acquire.gpu.global.u32", Support::modelled, "a loop that polls sleeps until the word is stored to"}};
  GlobalAddr address;
  bool relaxed = false;  ///< of PTX: ld.relaxed, ld.volatile
  bool polls = true;     ///< a loop that sees the same value again waits for another one
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address);
  }
  uint32_t execute(sim::WarpContext&) const;  ///< the "value"
};

struct StReleaseGpuGlobalU32 {
  static constexpr Description kIs{.function = "st_release_gpu_global_u32",
                                   .opcode = "st.release.gpu.global.u32",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"value", "address"}};
  static constexpr SupportLine kSupport[] = {
      {"st.release.gpu.global.u32", Support::modelled, "visible after all stores of the CTA before it"}};
  GlobalAddr address;
  uint32_t value;
  bool relaxed = false;  ///< of PTX: st.relaxed, st.volatile
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address), visit("value", i.value);
  }
  void execute(sim::WarpContext&) const;
};

using GlobalMemoryGroup = List<StGlobal, LdGlobal, LdGlobalU32, LdGlobalNcV4, LdGlobalNcB64, LdAcquireGpuGlobalU32,
                               StReleaseGpuGlobalU32>;

}  // namespace sm100::instructions
