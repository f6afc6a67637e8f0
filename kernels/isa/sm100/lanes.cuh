// SPDX-License-Identifier: Apache-2.0
/// Special registers, per-lane work and branches (PTX chapter 10; elect.sync: 9.7.14).
#pragma once

#include "kernels/isa/address.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

inline constexpr uint32_t kAllLanes = 0xffffffffu;

class Lanes {
 public:
  /// The shuffle tells the compiler that the index is the same in all lanes: role branches become uniform.
  /// Here and not in warpid(), because role code may ask while some lanes are inactive.
  SM100_KERNEL Lanes() : warpid_(int(__shfl_sync(kAllLanes, threadIdx.x / kWarpLanes, 0))) {}

  SM100_KERNEL int warpid() const { return warpid_; }
  SM100_KERNEL Dim3 ctaid() const { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  SM100_KERNEL Dim3 nctaid() const { return {gridDim.x, gridDim.y, gridDim.z}; }
  SM100_KERNEL uint32_t cluster_ctarank() const {
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
  }
  SM100_KERNEL LaneArray<uint32_t, 1> laneid() const {
    LaneArray<uint32_t, 1> lanes;
    lanes[0][0] = lane();
    return lanes;
  }

  /// Every lane runs the body once, for itself; the cost is the simulator's business.
  template <class F>
  SM100_KERNEL void for_each_lane(int, F&& f) const {
    f(int(lane()));
  }
  template <class F>
  SM100_KERNEL void for_each_lane_address(int, F&& f) const {
    f(int(lane()));
  }
  /// Runs f in one lane, always the same one: what it commits covers what it issued in an earlier `elected`
  /// (H200 elects the lowest lane).  The warp must be converged.
  template <class F>
  SM100_KERNEL void elected(F&& f) const {
    uint32_t leader;
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        "elect.sync _|p, %1;\n\t"
        "selp.b32 %0, 1, 0, p;\n\t"
        "}"
        : "=r"(leader)
        : "r"(kAllLanes));
    if (leader != 0) f();
  }
  template <class F>
  SM100_KERNEL void lanes_below(int n, F&& f) const {
    if (int(lane()) < n) f();
  }
  SM100_KERNEL void bar_warp_sync() const { asm volatile("bar.warp.sync %0;" ::"r"(kAllLanes) : "memory"); }

  SM100_KERNEL void lanes_write(LaneAgreement&, Loc = Loc::current()) const {}
  SM100_KERNEL void lanes_read(const LaneAgreement&, Loc = Loc::current()) const {}

  /// cvt (9.7.9.21): a goes to the upper half.  volatile keeps it behind the tcgen05.wait::ld that its operands
  /// need (see tcgen05.cuh).
  SM100_KERNEL static uint32_t cvt_rn_bf16x2_f32(float a, float b) {
    uint32_t packed;
    asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(a), "f"(b));
    return packed;
  }
  SM100_KERNEL static float ex2_approx_ftz_f32(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
  SM100_KERNEL static float rcp_approx_ftz_f32(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
  }
  SM100_KERNEL static float fma_rn_f32(float a, float b, float c) {  // 9.7.3.6
    float d;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(d) : "f"(a), "f"(b), "f"(c));
    return d;
  }
  /// a * b + c (9.7.1.4): addresses that are `b` bytes apart.
  SM100_KERNEL LaneArray<GlobalAddr, 1> mad_wide_u32(const LaneArray<uint32_t, 1>& a, uint32_t b,
                                                     GlobalAddr c) const {
    LaneArray<GlobalAddr, 1> sum;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(sum[0][0].value) : "r"(a[0][0]), "r"(b), "l"(c.value));
    return sum;
  }
  /// Quotient (9.7.1.8), by a divisor that the compiler does not know.
  SM100_KERNEL static uint32_t div_u32(uint32_t a, uint32_t b) { return a / b; }
  SM100_KERNEL static uint32_t cvt_rn_f16x2_f32(float a, float b) {
    uint32_t packed;
    asm volatile("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(a), "f"(b));
    return packed;
  }
  SM100_KERNEL static uint32_t cvt_rn_satfinite_e4m3x2_f32(float a, float b) {
    uint16_t packed;
    asm volatile("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(a), "f"(b));
    return packed;
  }
  SM100_KERNEL static uint32_t cvt_rn_satfinite_e5m2x2_f32(float a, float b) {
    uint16_t packed;
    asm volatile("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(a), "f"(b));
    return packed;
  }
  /// The other way: exact.
  SM100_KERNEL static float cvt_f32_f16(uint32_t half) {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(uint16_t(half)));
    return x;
  }
  SM100_KERNEL static uint32_t cvt_rn_f16x2_e4m3x2(uint32_t pair) {
    uint32_t halves;
    asm("cvt.rn.f16x2.e4m3x2 %0, %1;" : "=r"(halves) : "h"(uint16_t(pair)));
    return halves;
  }
  SM100_KERNEL static uint32_t cvt_rn_f16x2_e5m2x2(uint32_t pair) {
    uint32_t halves;
    asm("cvt.rn.f16x2.e5m2x2 %0, %1;" : "=r"(halves) : "h"(uint16_t(pair)));
    return halves;
  }
  /// max and min with .NaN (9.7.3.11, .12).
  SM100_KERNEL static float max_nan_f32(float a, float b) {
    float d;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
  }
  SM100_KERNEL static float min_nan_f32(float a, float b) {
    float d;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(d) : "f"(a), "f"(b));
    return d;
  }
  /// The register of the lane whose number differs in the bits of `lane_mask` (9.7.9.6); the warp is converged.
  SM100_KERNEL LaneArray<uint32_t, 1> shfl_sync_bfly_b32(const LaneArray<uint32_t, 1>& values, int lane_mask,
                                                         Loc = Loc::current()) const {
    LaneArray<uint32_t, 1> result;
    asm volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, %3;"
                 : "=r"(result[0][0])
                 : "r"(values[0][0]), "r"(lane_mask), "r"(kAllLanes));
    return result;
  }

 private:
  SM100_KERNEL static uint32_t lane() {
    uint32_t id;
    asm("mov.u32 %0, %%laneid;" : "=r"(id));
    return id;
  }

  int warpid_;
};

}  // namespace sm100::device
