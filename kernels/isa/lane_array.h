// SPDX-License-Identifier: Apache-2.0
/// N registers in each of the 32 lanes of a warp.  `a[lane][i]` reads the same on both sides: on the device a
/// thread holds only its own N registers and `lane` is ignored; on the host all 32 rows exist.  `a(lane)` is a
/// lane's only register.
#pragma once

#include <bit>

#include "kernels/isa/portability.h"

namespace sm100 {

inline constexpr int kWarpLanes = 32;

#if defined(__CUDA_ARCH__)
template <class T, int N>
struct LaneArray {
  T registers[N];
  __device__ T (&operator[](int))[N] { return registers; }
  __device__ const T (&operator[](int) const)[N] { return registers; }
  __device__ T& operator()(int) requires(N == 1) { return registers[0]; }
  __device__ const T& operator()(int) const requires(N == 1) { return registers[0]; }
};
#else
template <class T, int N>
struct LaneArray {
  T registers[kWarpLanes][N];
  T (&operator[](int lane))[N] { return registers[lane]; }
  const T (&operator[](int lane) const)[N] { return registers[lane]; }
  T& operator()(int lane) requires(N == 1) { return registers[lane][0]; }
  const T& operator()(int lane) const requires(N == 1) { return registers[lane][0]; }
};
#endif

/// Which lanes hold what a warp-uniform variable of role code holds.  Role code keeps one variable for the warp; on
/// hardware each lane has a register, and those of lanes that are not active keep the old value.  Nothing on the
/// device.
struct LaneAgreement {
#if !defined(__CUDACC__)
  uint32_t lanes = 0xffffffffu;
  Loc written{};  ///< where some lanes alone have last changed it
#endif
};

/// A register holds 32 bits; these name what the bits mean.
SM100_HD constexpr float as_float(uint32_t bits) { return std::bit_cast<float>(bits); }
SM100_HD constexpr uint32_t as_bits(float value) { return std::bit_cast<uint32_t>(value); }

}  // namespace sm100
