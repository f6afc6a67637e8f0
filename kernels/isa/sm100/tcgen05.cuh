// SPDX-License-Identifier: Apache-2.0
/// tcgen05 (PTX 9.7.16): tensor-memory allocation, MMA, copy, commit, load, fences.  sm_100a only.
///
/// cta_group and the MMA kind are part of the opcode, and ptxas refuses a function that holds both groups.  The
/// seam passes them as values, which role code gets from its constexpr configuration: after inlining the branch
/// is decided and one opcode reaches PTX.  Were it not decided, the last branch would reach PTX too: its
/// "instruction" is a sentence that no assembler accepts.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/target.cuh"
#include "kernels/isa/sm100/tcgen05_cp.cuh"
#include "kernels/isa/sm100/tcgen05_ld.cuh"
#include "kernels/isa/sm100/tcgen05_st.cuh"

namespace sm100::device {

template <bool kAvailable = kTargetHasTcgen05>
class Tcgen05 {
 public:
  // ---- allocation (9.7.16.7): one whole warp, of each CTA of the group; columns a power of two from 32 to 512

  /// Writes the address of the columns to shared memory; blocks until they are free.
  SM100_KERNEL void tcgen05_alloc(SmemAddr dst, uint32_t columns, int cta_group, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1) {
      asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(dst.value),
                   "r"(columns)
                   : "memory");
    } else if (cta_group == 2) {
      asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(dst.value),
                   "r"(columns)
                   : "memory");
    } else {
      reject_cta_group();
    }
  }
  SM100_KERNEL void tcgen05_dealloc(TmemAddr address, uint32_t columns, int cta_group, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1) {
      asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(address.value), "r"(columns)
                   : "memory");
    } else if (cta_group == 2) {
      asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(address.value), "r"(columns)
                   : "memory");
    } else {
      reject_cta_group();
    }
  }
  SM100_KERNEL void tcgen05_relinquish_alloc_permit(int cta_group, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1) {
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;" ::: "memory");
    } else if (cta_group == 2) {
      asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
    } else {
      reject_cta_group();
    }
  }

  // ---- MMA (9.7.16.10): one lane, of the leader CTA; operands A and B in shared memory

#define SM100_MMA(group, kind_name, a_text, a_register, a_value)                                                   \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %4, 0;\n\ttcgen05.mma.cta_group::" #group ".kind::" kind_name \
               " [%0], " a_text ", %2, %3, p;\n\t}" ::"r"(d.value),                                                \
               a_register(a_value), "l"(b.bits), "r"(idesc.bits), "r"(uint32_t(enable_input_d))                    \
               : "memory")
#define SM100_MMA_OF_KIND(group, a_text, a_register, a_value)                             \
  switch (kind) {                                                                         \
    case MmaKind::f16: SM100_MMA(group, "f16", a_text, a_register, a_value); break;       \
    case MmaKind::tf32: SM100_MMA(group, "tf32", a_text, a_register, a_value); break;     \
    case MmaKind::f8f6f4: SM100_MMA(group, "f8f6f4", a_text, a_register, a_value); break; \
    case MmaKind::i8: SM100_MMA(group, "i8", a_text, a_register, a_value); break;         \
    default: reject_kind();                                                               \
  }
#define SM100_MMA_SCALED(group, kind_name, vec, a_text, a_register, a_value)                                       \
  asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %6, 0;\n\ttcgen05.mma.cta_group::" #group ".kind::" kind_name \
               ".block_scale.scale_vec::" vec " [%0], " a_text ", %2, %3, [%4], [%5], p;\n\t}" ::"r"(d.value),     \
               a_register(a_value), "l"(b.bits), "r"(idesc.bits), "r"(sfa.value), "r"(sfb.value),                  \
               "r"(uint32_t(enable_input_d))                                                                       \
               : "memory")
#define SM100_MMA_SCALED_OF_KIND(group, a_text, a_register, a_value)        \
  if (kind == MmaKind::mxf8f6f4 && scale_vec == ScaleVec::x1)               \
    SM100_MMA_SCALED(group, "mxf8f6f4", "1X", a_text, a_register, a_value); \
  else if (kind == MmaKind::mxf4 && scale_vec == ScaleVec::x2)              \
    SM100_MMA_SCALED(group, "mxf4", "2X", a_text, a_register, a_value);     \
  else if (kind == MmaKind::mxf4nvf4 && scale_vec == ScaleVec::x2)          \
    SM100_MMA_SCALED(group, "mxf4nvf4", "2X", a_text, a_register, a_value); \
  else if (kind == MmaKind::mxf4nvf4 && scale_vec == ScaleVec::x4)          \
    SM100_MMA_SCALED(group, "mxf4nvf4", "4X", a_text, a_register, a_value); \
  else                                                                      \
    reject_kind();

  /// The block-scaled kinds take scale operands that this form does not have.
  SM100_KERNEL void tcgen05_mma(MmaKind kind, int cta_group, TmemAddr d, SmemDescriptor a, SmemDescriptor b,
                                InstrDescriptor idesc, bool enable_input_d, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1) {
      SM100_MMA_OF_KIND(1, "%1", "l", a.bits)
    } else if (cta_group == 2) {
      SM100_MMA_OF_KIND(2, "%1", "l", a.bits)
    } else {
      reject_cta_group();
    }
  }
  /// The same with A in tensor memory.
  SM100_KERNEL void tcgen05_mma(MmaKind kind, int cta_group, TmemAddr d, TmemAddr a, SmemDescriptor b,
                                InstrDescriptor idesc, bool enable_input_d, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1) {
      SM100_MMA_OF_KIND(1, "[%1]", "r", a.value)
    } else if (cta_group == 2) {
      SM100_MMA_OF_KIND(2, "[%1]", "r", a.value)
    } else {
      reject_cta_group();
    }
  }
  /// Block-scaled: scale factors of A and B in tensor memory.  scale_vec is what the kind has: mxf8f6f4 1X, mxf4
  /// 2X, mxf4nvf4 2X or 4X.
  SM100_KERNEL void tcgen05_mma_block_scale(MmaKind kind, int cta_group, ScaleVec scale_vec, TmemAddr d,
                                            SmemDescriptor a, SmemDescriptor b, InstrDescriptor idesc, TmemAddr sfa,
                                            TmemAddr sfb, bool enable_input_d, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1) {
      SM100_MMA_SCALED_OF_KIND(1, "%1", "l", a.bits)
    } else if (cta_group == 2) {
      SM100_MMA_SCALED_OF_KIND(2, "%1", "l", a.bits)
    } else {
      reject_cta_group();
    }
  }
  /// The same with A in tensor memory.
  SM100_KERNEL void tcgen05_mma_block_scale(MmaKind kind, int cta_group, ScaleVec scale_vec, TmemAddr d, TmemAddr a,
                                            SmemDescriptor b, InstrDescriptor idesc, TmemAddr sfa, TmemAddr sfb,
                                            bool enable_input_d, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1) {
      SM100_MMA_SCALED_OF_KIND(1, "[%1]", "r", a.value)
    } else if (cta_group == 2) {
      SM100_MMA_SCALED_OF_KIND(2, "[%1]", "r", a.value)
    } else {
      reject_cta_group();
    }
  }
#undef SM100_MMA
#undef SM100_MMA_OF_KIND
#undef SM100_MMA_SCALED
#undef SM100_MMA_SCALED_OF_KIND

  // ---- copy from shared memory (9.7.16.9): one lane; with cta_group 2 in each CTA of the pair, from its own
  // memory

  SM100_KERNEL void tcgen05_cp(TmemCopyShape shape, int cta_group, TmemAddr to, SmemDescriptor source,
                               TmemDecompression decompression = TmemDecompression::none,
                               Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1)
      cp_cta_group_1(shape, decompression, to.value, source.bits);
    else if (cta_group == 2)
      cp_cta_group_2(shape, decompression, to.value, source.bits);
    else
      reject_cta_group();
  }

  /// One arrive on `barrier` when all MMAs and copies issued so far by this thread have finished (9.7.16.12).
  SM100_KERNEL void tcgen05_commit(int cta_group, SmemAddr barrier, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1) {
      asm volatile(
          "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier.value)
          : "memory");
    } else if (cta_group == 2) {
      asm volatile(
          "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier.value)
          : "memory");
    } else {
      reject_cta_group();
    }
  }

  /// The same on the barrier at this offset in every CTA of the mask.
  SM100_KERNEL void tcgen05_commit_multicast(int cta_group, SmemAddr barrier, CtaMask mask,
                                             Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    if (cta_group == 1) {
      asm volatile(
          "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::
              "r"(barrier.value),
          "h"(mask.bits)
          : "memory");
    } else if (cta_group == 2) {
      asm volatile(
          "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;" ::
              "r"(barrier.value),
          "h"(mask.bits)
          : "memory");
    } else {
      reject_cta_group();
    }
  }

  // ---- load (9.7.16.8): whole warp, its own quarter of the lanes

  /// 4R registers per lane, defined only after tcgen05_wait_ld: see there.
  /// @tparam R  repetitions of 8 columns: 1, 2, 4, ... 32
  template <int R>
  SM100_KERNEL LaneArray<uint32_t, 4 * R> tcgen05_ld_16x256b(TmemAddr address, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    LaneArray<uint32_t, 4 * R> values;
    ld_16x256b(values[0], address.value);
    return values;
  }
  /// R registers per lane: columns 0 ... R - 1 of the thread's own lane of tensor memory.
  /// @tparam R  columns: 1, 2, 4, ... 128
  template <int R>
  SM100_KERNEL LaneArray<uint32_t, R> tcgen05_ld_32x32b(TmemAddr address, Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    LaneArray<uint32_t, R> values;
    ld_32x32b(values[0], address.value);
    return values;
  }
  /// Ends every load of this thread.  The instruction has no operand for the registers that the loads write.  So
  /// the form that names them passes each through an empty `asm volatile` behind the wait: whatever uses them comes
  /// later, plain arithmetic too.  tests/kernels/cuda checks the order in the PTX of every entry point.
  SM100_KERNEL void tcgen05_wait_ld(Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
  }
  template <int N>
  SM100_KERNEL void tcgen05_wait_ld(LaneArray<uint32_t, N>& loaded, Loc loc = Loc::current()) const {
    tcgen05_wait_ld(loc);
    for (int i = 0; i < N; ++i) asm volatile("" : "+r"(loaded[0][i]));
  }
  template <int N>
  SM100_KERNEL void tcgen05_wait_ld(LaneArray<uint32_t, N>& a, LaneArray<uint32_t, N>& b,
                                    Loc loc = Loc::current()) const {
    tcgen05_wait_ld(a, loc);
    for (int i = 0; i < N; ++i) asm volatile("" : "+r"(b[0][i]));
  }

  // ---- store (9.7.16.8): whole warp, its own quarter of the lanes; done after tcgen05_wait_st
  template <int N>
  SM100_KERNEL void tcgen05_st_16x256b(TmemAddr address, const LaneArray<uint32_t, N>& values,
                                       Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    st_16x256b(address.value, values[0]);
  }
  template <int N>
  SM100_KERNEL void tcgen05_st_32x32b(TmemAddr address, const LaneArray<uint32_t, N>& values,
                                      Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    st_32x32b(address.value, values[0]);
  }
  SM100_KERNEL void tcgen05_wait_st(Loc = Loc::current()) const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
  }

  // ---- fences around hand-offs of tensor memory between threads (9.7.16.6)
  SM100_KERNEL void tcgen05_fence_before_thread_sync() const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
  }
  SM100_KERNEL void tcgen05_fence_after_thread_sync() const {
    SM100_REQUIRE_TCGEN05(kAvailable);
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
  }

 private:
  SM100_KERNEL static void reject_cta_group() {
    asm volatile("error_cta_group_must_be_1_or_2_and_known_at_compile_time;");
  }
  SM100_KERNEL static void reject_kind() {
    asm volatile("error_mma_kind_not_implemented_or_not_known_at_compile_time;");
  }
};

}  // namespace sm100::device
