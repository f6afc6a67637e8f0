// SPDX-License-Identifier: Apache-2.0
/// Loads and stores of warps in shared memory (PTX 9.7.9.8, .11, 9.7.14.5.16).
#pragma once

#include "kernels/isa/instructions/instruction.h"

namespace sm100::instructions {

/// Of one address for all lanes.
struct LdSharedU32 {
  static constexpr Description kIs{
      .function = "ld_shared_u32", .opcode = "ld.shared::cta.u32", .faults = Alterable::read, .add = {"address"}};
  static constexpr SupportLine kSupport[] = {
      {"ld.shared, st.shared", Support::modelled, "the widths the kernels use"}};
  SmemAddr address;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address);
  }
  uint32_t execute(sim::WarpContext&) const;
};

/// Of one address for all lanes: a CLC response.
struct LdSharedB128 {
  static constexpr Description kIs{.function = "ld_shared_b128",
                                   .opcode = "ld.shared::cta.v2.b64",
                                   .faults = Alterable::read,
                                   .add = {"address"}};
  static constexpr auto& kSupport = LdSharedU32::kSupport;
  SmemAddr address;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address);
  }
  ClcResponse execute(sim::WarpContext&) const;
};

/// 16 bytes of the same value, by every active lane: what ld_shared_b128 reads.
struct StSharedB128 {
  static constexpr Description kIs{.function = "st_shared_b128",
                                   .opcode = "st.shared::cta.v2.b64",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"address"}};
  static constexpr auto& kSupport = LdSharedU32::kSupport;
  SmemAddr address;
  ClcResponse value;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address);
  }
  void execute(sim::WarpContext&) const;
};

/// 16 bytes from each lane's address to its four registers.
struct LdSharedV4 {
  static constexpr Description kIs{.function = "ld_shared_v4", .opcode = "ld.shared::cta.v4.b32"};
  static constexpr auto& kSupport = LdSharedU32::kSupport;
  const LaneArray<SmemAddr, 1>* addresses;
  uint32_t* registers;  ///< four of each lane
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// A word from each lane's address.
struct LdSharedB32 {
  static constexpr Description kIs{
      .function = "ld_shared_b32", .opcode = "ld.shared::cta.b32", .faults = Alterable::poll, .add = {"address"}};
  static constexpr auto& kSupport = LdSharedU32::kSupport;
  const LaneArray<SmemAddr, 1>* addresses;
  uint32_t* registers;  ///< one of each lane
  int offset = 0;       ///< bytes from each address, the same in all lanes
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.offset);
  }
  void execute(sim::WarpContext&) const;
};

/// Half a word from each lane's address; the register's upper half is 0.
struct LdSharedB16 {
  static constexpr Description kIs{
      .function = "ld_shared_b16", .opcode = "ld.shared::cta.b16", .faults = Alterable::poll, .add = {"address"}};
  static constexpr auto& kSupport = LdSharedU32::kSupport;
  const LaneArray<SmemAddr, 1>* addresses;
  uint32_t* registers;  ///< one of each lane
  int offset = 0;       ///< bytes from each address, the same in all lanes
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.offset);
  }
  void execute(sim::WarpContext&) const;
};

/// `bytes` of each lane's registers: 2 or 4 of one, 8 of two, 16 of four.
struct StShared {
  static constexpr Description kIs{.function = "st_shared", .opcode = "st.shared::cta"};
  static constexpr auto& kSupport = LdSharedU32::kSupport;
  uint32_t bytes;
  const LaneArray<SmemAddr, 1>* addresses;
  const uint32_t* registers;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// 16 bytes at one address, from registers that are alike in all lanes.
struct StSharedUniform {
  static constexpr Description kIs{.function = "st_shared", .opcode = "st.shared::cta.v4.b32"};
  static constexpr auto& kSupport = LdSharedU32::kSupport;
  SmemAddr address;
  UniformWords<4> words;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// stmatrix.m8n8: lane 8q + r addresses row r of matrix q; register q of lane t holds row t/4, elements 2(t%4) and
/// 2(t%4)+1, with .trans column t/4 instead of the row (PTX 9.7.14.5.16).
struct Stmatrix {
  static constexpr Description kIs{.function = "stmatrix", .opcode = "stmatrix", .aligned = true};
  static constexpr SupportLine kSupport[] = {{"stmatrix.m8n8.x2, .x4, .trans", Support::modelled, "b16"}};
  const LaneArray<SmemAddr, 1>* rows;
  const uint32_t* registers;  ///< `matrices` of each lane
  int matrices;               ///< 2 or 4
  bool transposed;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

using SharedMemoryGroup = List<Stmatrix, LdSharedU32, LdSharedB128, LdSharedV4, LdSharedB32, LdSharedB16, StShared,
                               StSharedB128, StSharedUniform>;

}  // namespace sm100::instructions
