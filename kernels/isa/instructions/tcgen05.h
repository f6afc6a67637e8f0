// SPDX-License-Identifier: Apache-2.0
/// Tensor memory and tensor core (PTX 9.7.16).
#pragma once

#include <algorithm>

#include "kernels/isa/instructions/instruction.h"
#include "kernels/isa/tmem_layout.h"
#include "kernels/isa/zero_columns.h"

namespace sm100::instructions {

/// Writes the address that it is granted to shared memory.
struct Tcgen05Alloc {
  static constexpr Description kIs{.function = "tcgen05_alloc",
                                   .opcode = "tcgen05.alloc",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"columns", "address", "cta_group"}};
  static constexpr SupportLine kSupport[] = {{"tcgen05.alloc, .dealloc, .relinquish_alloc_permit",
                                              Support::modelled, "a pair's alloc and dealloc meet the peer's"}};
  SmemAddr address;
  uint32_t columns;
  int cta_group;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address), visit("columns", i.columns), visit("cta_group", i.cta_group);
  }
  void execute(sim::WarpContext&) const;
};

struct Tcgen05Dealloc {
  static constexpr Description kIs{.function = "tcgen05_dealloc",
                                   .opcode = "tcgen05.dealloc",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"columns", "column", "cta_group"}};
  static constexpr auto& kSupport = Tcgen05Alloc::kSupport;
  TmemAddr address;
  uint32_t columns;
  int cta_group;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("column", i.address), visit("columns", i.columns), visit("cta_group", i.cta_group);
  }
  void execute(sim::WarpContext&) const;
};

struct Tcgen05RelinquishAllocPermit {
  static constexpr Description kIs{.function = "tcgen05_relinquish_alloc_permit",
                                   .opcode = "tcgen05.relinquish_alloc_permit",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"cta_group"}};
  static constexpr auto& kSupport = Tcgen05Alloc::kSupport;
  int cta_group;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("cta_group", i.cta_group);
  }
  void execute(sim::WarpContext&) const;
};

/// A of an MMA: a tile in shared memory, or columns of tensor memory.
struct OperandA {
  SmemDescriptor tile{};
  TmemAddr tmem{};
  bool in_tmem = false;
  constexpr OperandA() = default;
  constexpr OperandA(SmemDescriptor tile) : tile(tile) {}           // NOLINT: either of the two
  constexpr OperandA(TmemAddr tmem) : tmem(tmem), in_tmem(true) {}  // NOLINT
};

/// By one thread; every active lane issues the whole MMA (PTX 9.7.16).
struct Tcgen05Mma {
  static constexpr Description kIs{.function = "tcgen05_mma",
                                   .opcode = "tcgen05.mma",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"column", "a", "b", "enable_input_d", "idesc"}};
  static constexpr SupportLine kSupport[] = {
      {"tcgen05.mma.kind::f16", Support::modelled, "cta_group::1 and ::2, A and B from shared memory"},
      {"tcgen05.mma.kind::tf32, ::f8f6f4 (8-bit types)", Support::modelled, "as f16"},
      {"tcgen05.mma [a] (A in tensor memory)", Support::modelled, "as from shared memory"},
      {"tcgen05.mma.kind::f8f6f4 (6- and 4-bit types), ::i8", Support::modelled,
       "as f16; where the saturating forms of i8 saturate is an assumption"}};
  MmaKind kind;
  int cta_group;
  TmemAddr d;
  OperandA a;
  SmemDescriptor b;
  InstrDescriptor idesc;
  bool enable_input_d;
  int scale_input_d = 0;  ///< the old D times 2^-n, of kinds f16 and tf32
  MmaModifiers modifiers{};
  TmemAddr metadata{};  ///< of .sp
  std::array<uint32_t, 8>
      disabled_lanes{};           ///< disable-output-lane: a bit for each lane of D, of a pair's odd CTA last
  ZeroColumnMask zero_columns{};  ///< of .ws
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("column", i.d), visit("a", i.a.tile), visit("b", i.b), visit("enable_input_d", i.enable_input_d),
        visit("idesc", i.idesc);
  }
  void execute(sim::WarpContext&) const;
};

/// The same with scale factors in tensor memory (`.block_scale`).
struct Tcgen05MmaBlockScale {
  static constexpr Description kIs{.function = "tcgen05_mma_block_scale",
                                   .opcode = "tcgen05.mma",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"column", "a", "b", "enable_input_d", "sfa", "sfb", "idesc"}};
  static constexpr SupportLine kSupport[] = {
      {"tcgen05.mma.kind::mxf8f6f4.block_scale", Support::modelled, "scale_vec::1X; as f16"},
      {"tcgen05.mma.kind::mxf4, ::mxf4nvf4.block_scale", Support::modelled,
       "scale_vec::2X, 4X; K = 64 takes the time of mxf8f6f4's K = 32, an assumption"}};
  Tcgen05Mma mma;
  ScaleVec scale_vec;
  TmemAddr sfa, sfb;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    Tcgen05Mma::operands(i.mma, visit);
    visit("sfa", i.sfa), visit("sfb", i.sfb);
  }
  void execute(sim::WarpContext&) const;
};

/// Shared to tensor memory, by one thread; every active lane issues the whole copy (PTX 9.7.16.9).
struct Tcgen05Cp {
  static constexpr Description kIs{.function = "tcgen05_cp",
                                   .opcode = "tcgen05.cp",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"column", "source"}};
  static constexpr SupportLine kSupport[] = {
      {"tcgen05.cp", Support::modelled, "every shape, cta_group::1 and ::2; time is an assumption"},
      {"tcgen05.cp.b8x16.b6x16_p32, .b4x16_p64", Support::modelled,
       "where elements lie in their bytes is an assumption"}};
  TmemCopyShape shape;
  int cta_group;
  TmemAddr to;
  SmemDescriptor source;
  TmemDecompression decompression;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("column", i.to), visit("source", i.source);
  }
  void execute(sim::WarpContext&) const;
};

/// An arrival once all MMAs and copies that this thread has issued are complete.
struct Tcgen05Commit {
  static constexpr Description kIs{.function = "tcgen05_commit",
                                   .opcode = "tcgen05.commit",
                                   .each_lane = true,
                                   .faults = Alterable::step,
                                   .add = {"barrier", "cta_group"}};
  static constexpr SupportLine kSupport[] = {{"tcgen05.commit", Support::modelled, ""}};
  int cta_group;
  SmemAddr barrier;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("cta_group", i.cta_group), visit("barrier", i.barrier);
  }
  void execute(sim::WarpContext&) const;
};

/// The same on the barrier in each CTA of a mask.
struct Tcgen05CommitMulticast {
  static constexpr Description kIs{.function = "tcgen05_commit_multicast",
                                   .opcode = "tcgen05.commit",
                                   .each_lane = true,
                                   .other_ctas = true,
                                   .faults = Alterable::step,
                                   .add = {"barrier", "cta_group", "mask"}};
  static constexpr SupportLine kSupport[] = {
      {"tcgen05.commit.multicast::cluster", Support::modelled, "one path latency to every other CTA"}};
  int cta_group;
  SmemAddr barrier;
  CtaMask mask;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("cta_group", i.cta_group), visit("barrier", i.barrier), visit("mask", i.mask);
  }
  void execute(sim::WarpContext&) const;
};

/// The warp's quarter of tensor memory to registers, `registers_per_thread(kShape, repeat)` of each lane.
template <TmemShape kShape>
struct Tcgen05Ld {
  static constexpr bool kSlim = kShape == TmemShape::s32x32b;
  static constexpr Description kIs{.function = kSlim ? "tcgen05_ld_32x32b" : "tcgen05_ld_16x256b",
                                   .opcode = "tcgen05.ld",
                                   .aligned = true,
                                   .faults = Alterable::read,
                                   .add = {"column"}};
  static constexpr SupportLine kSupport[] = {
      {kSlim ? "tcgen05.ld.32x32b" : "tcgen05.ld.16x256b", Support::modelled,
       kSlim ? "x1 to x128; bandwidth is an assumption" : "x1 to x32; bandwidth is an assumption"}};
  int repeat;
  TmemAddr address;
  uint32_t* registers;
  int split = 0;  ///< columns from the first half's to the second's, of 16x32bx2 alone
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("column", i.address);
  }
  void dropped() const { std::fill_n(registers, kWarpLanes * registers_per_thread(kShape, repeat), 0u); }
  void execute(sim::WarpContext&) const;
};
using Tcgen05Ld16x256b = Tcgen05Ld<TmemShape::s16x256b>;
using Tcgen05Ld32x32b = Tcgen05Ld<TmemShape::s32x32b>;

struct Tcgen05WaitLd {
  static constexpr Description kIs{
      .function = "tcgen05_wait_ld", .opcode = "tcgen05.wait::ld", .aligned = true, .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {{"tcgen05.wait::ld", Support::modelled, ""}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

template <TmemShape kShape>
struct Tcgen05St {
  static constexpr bool kSlim = kShape == TmemShape::s32x32b;
  static constexpr Description kIs{.function = kSlim ? "tcgen05_st_32x32b" : "tcgen05_st_16x256b",
                                   .opcode = "tcgen05.st",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"column"}};
  static constexpr SupportLine kSupport[] = {
      {kSlim ? "tcgen05.st.32x32b" : "tcgen05.st.16x256b", Support::modelled,
       kSlim ? "x1 to x128; time taken to be that of ld" : "x1 to x32; time taken to be that of ld"}};
  int repeat;
  TmemAddr address;
  const uint32_t* registers;
  int split = 0;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("column", i.address);
  }
  void execute(sim::WarpContext&) const;
};
using Tcgen05St16x256b = Tcgen05St<TmemShape::s16x256b>;
using Tcgen05St32x32b = Tcgen05St<TmemShape::s32x32b>;

struct Tcgen05WaitSt {
  static constexpr Description kIs{
      .function = "tcgen05_wait_st", .opcode = "tcgen05.wait::st", .aligned = true, .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {{"tcgen05.wait::st", Support::modelled, ""}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct Tcgen05FenceBeforeThreadSync {
  static constexpr Description kIs{.function = "tcgen05_fence_before_thread_sync",
                                   .opcode = "tcgen05.fence::before_thread_sync",
                                   .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {{"tcgen05.fence::before_thread_sync, ::after_thread_sync",
                                              Support::approximated,
                                              "their order is what TC16 asks for; no time but their issue"}};
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

struct Tcgen05FenceAfterThreadSync {
  static constexpr Description kIs{.function = "tcgen05_fence_after_thread_sync",
                                   .opcode = "tcgen05.fence::after_thread_sync",
                                   .faults = Alterable::step};
  static constexpr auto& kSupport = Tcgen05FenceBeforeThreadSync::kSupport;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

using Tcgen05Group =
    List<Tcgen05Alloc, Tcgen05Dealloc, Tcgen05RelinquishAllocPermit, Tcgen05Mma, Tcgen05MmaBlockScale, Tcgen05Cp,
         Tcgen05Commit, Tcgen05CommitMulticast, Tcgen05Ld16x256b, Tcgen05Ld32x32b, Tcgen05WaitLd, Tcgen05St16x256b,
         Tcgen05St32x32b, Tcgen05WaitSt, Tcgen05FenceBeforeThreadSync, Tcgen05FenceAfterThreadSync>;

inline constexpr SupportLine kTcgen05Rejected[] = {
    {"tcgen05.mma scale-input-d", Support::rejected, "not implemented in the Isa; the unit has it, for PTX"},
    {"tcgen05.mma.sp, .ws, disable-output-lane", Support::rejected,
     "not implemented in the Isa; the unit has them, for PTX"},
    {"tcgen05.ld.16x64b, .16x128b, .16x32bx2", Support::rejected, "not implemented in the Isa; the unit has them"},
    {"tcgen05.st.32x32b, .16x64b, .16x128b, .16x32bx2", Support::rejected,
     "not implemented in the Isa; the unit has them"},
    {"tcgen05.shift", Support::rejected, "not implemented"},
};

}  // namespace sm100::instructions
