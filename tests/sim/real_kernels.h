// SPDX-License-Identifier: Apache-2.0
/// Parts of the small kernels in test_real_*.cpp: barriers, tensor memory, an MMA, and what is said of a kernel.
#pragma once

#include <string>
#include <vector>

#include "catch.h"
#include "sim/role_code.h"

namespace sm100::sim::real_kernels {

constexpr uint32_t kFull = 0x400, kEmpty = 0x408, kFilled = 0x430, kAddress = 0x440, kTile = 0x1000,
                   kOther = 0x3000;
constexpr int kAll = 0;  // a named barrier

inline std::vector<BarrierArray> full_and_empty() {
  return {{"full", {kFull}, 1, 1, "any", "", ""}, {"empty", {kEmpty}, 1, 1, "any", "", ""}};
}
inline SmemAddr own(SimIsa& isa, uint32_t offset) { return {isa.cluster_ctarank() << kClusterRankShift | offset}; }
inline void idle(SimIsa& isa, int cycles = 2000) {
  isa.for_each_lane(cycles, [](int) {});
}
inline void arrive(SimIsa& isa, uint32_t barrier) {
  isa.elected([&] { isa.mbarrier_arrive(own(isa, barrier), Scope::cta); });
}
inline void wait_for(SimIsa& isa, uint32_t barrier, uint32_t parity = 0) {
  isa.mbarrier_try_wait_parity(own(isa, barrier), parity, Scope::cta);
}
inline void init_both(SimIsa& isa, bool fence = true) {
  isa.elected([&] {
    isa.mbarrier_init(own(isa, kFull), 1);
    isa.mbarrier_init(own(isa, kEmpty), 1);
  });
  if (fence) isa.fence_mbarrier_init();
}
inline const InstrDescriptor kIdesc =
    make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, 128, 64);
inline SmemDescriptor tile(uint32_t offset = kTile) {
  return make_smem_descriptor({offset}, 16, 1024, Swizzle::b128);
}
/// One lane: D in columns from 0.
inline void multiply(SimIsa& isa, SmemDescriptor a = tile()) {
  isa.tcgen05_mma(MmaKind::f16, 1, TmemAddr::at(0, 0), a, tile(kOther), kIdesc, false);
}
/// All warps: barriers, and all of tensor memory, with something in columns from 0 to 63.
inline void set_up(SimIsa& isa, int warps) {
  if (isa.warpid() == 0) {
    init_both(isa);
    isa.elected([&] { isa.mbarrier_init(own(isa, kFilled), 1); });
    isa.fence_mbarrier_init();
    isa.tcgen05_alloc(own(isa, kAddress), 512, 1);
    isa.elected([&] {
      multiply(isa);
      isa.tcgen05_commit(1, own(isa, kFilled));
    });
    wait_for(isa, kFilled);
    isa.tcgen05_fence_before_thread_sync();
  }
  isa.bar_sync(kAll, 32 * warps);
  isa.tcgen05_fence_after_thread_sync();
}
/// All warps, each of which has waited for its accesses: warp 0 frees tensor memory.
inline void tear_down(SimIsa& isa, int warps) {
  isa.tcgen05_fence_before_thread_sync();
  isa.bar_sync(kAll, 32 * warps);
  isa.tcgen05_fence_after_thread_sync();
  if (isa.warpid() == 0) isa.tcgen05_dealloc(TmemAddr::at(0, 0), 512, 1);
}
/// The same with A in tensor memory, at columns from 256.
constexpr TmemAddr kA = TmemAddr::at(0, 256);
inline void multiply_from_tmem(SimIsa& isa) {
  isa.tcgen05_mma(MmaKind::f16, 1, TmemAddr::at(0, 0), kA, tile(kOther), kIdesc, false);
}
inline TmemAddr quarter(SimIsa& isa, uint32_t column = 0) {
  return TmemAddr::at(uint32_t(isa.warpid() % 4) * 32, column);
}

inline TensorMap row_of_words(GlobalAddr address) {
  TensorMapFields f;
  f.data_type = TensorMapDataType::uint32;
  f.rank = 1;
  f.global_address = address.value;
  f.global_dim[0] = f.box_dim[0] = 32;
  f.element_stride[0] = 1;
  return encode(f);
}

/// What the simulator says of the code: "clean", "warning SM3", "finding TM6".
#define CHECK_DIAGNOSIS(code, expected)       \
  do {                                        \
    const std::string text = diagnosis(code); \
    CAPTURE(text);                            \
    CHECK(ids_of(text) == expected);          \
  } while (false)

inline bool contains(const std::string& text, const char* what) { return text.find(what) != std::string::npos; }

}  // namespace sm100::sim::real_kernels
