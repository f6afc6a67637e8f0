// SPDX-License-Identifier: Apache-2.0
/// Which of the seam's instructions the target of this device compilation has.  The one place that looks at
/// the architecture.
///
/// sm_90a has everything but cluster launch control and tcgen05, and wgmma besides.  Role code that uses none of
/// them compiles for both targets; a call that the target lacks fails with the text below.  The host pass of nvcc
/// sees every template too and must not complain, so there everything "exists".
#pragma once

#include "kernels/isa/portability.h"

#if !defined(__CUDACC__)
#error "kernels/isa/sm100.cuh and what it includes is device code: compile it with nvcc"
#endif

namespace sm100::device {

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
inline constexpr bool kTargetHasTcgen05 = true;
#else
inline constexpr bool kTargetHasTcgen05 = false;
#endif

/// cvt of e2m1 and ue8m0, redux.sync of f32.
inline constexpr bool kTargetHasNarrowFormats = kTargetHasTcgen05;

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 1000
inline constexpr bool kTargetHasClusterLaunchControl = true;
#else
inline constexpr bool kTargetHasClusterLaunchControl = false;
#endif

#if !defined(__CUDA_ARCH__) || defined(__CUDA_ARCH_FEAT_SM90_ALL)
inline constexpr bool kTargetHasWgmma = true;
#else
inline constexpr bool kTargetHasWgmma = false;
#endif

/// Opens the body of an instruction that not every target has.  `available` is a template parameter of the
/// class, so the assertion looks only at functions that are called.
#define SM100_REQUIRE_TCGEN05(available) \
  static_assert(available, "tcgen05 (tensor memory and its MMA) needs sm_100a; this target does not have it")
#define SM100_REQUIRE_NARROW_FORMATS(available) \
  static_assert(available, "e2m1, ue8m0 and redux.sync of f32 need sm_100a; this target does not have them")
#define SM100_REQUIRE_CLC(available) \
  static_assert(available, "clusterlaunchcontrol needs sm_100 or newer; this target does not have it")
#define SM100_REQUIRE_WGMMA(available) static_assert(available, "wgmma needs sm_90a; this target does not have it")
#define SM100_REQUIRE_MASKED_COPY(available) \
  static_assert(available, "cp.async.bulk with .cp_mask needs sm_100 or newer; this target does not have it")

}  // namespace sm100::device
