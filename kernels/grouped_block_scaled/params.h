// SPDX-License-Identifier: Apache-2.0
/// Parameters of the grouped block-scaled matmul, and its tables in global memory.
#pragma once

#include "kernels/block_scaled/params.h"

namespace sm100 {

/// C_g[m][n] = alpha * sum over k of A_g[m][k] SFA_g[m][k / block] * B_g[n][k] SFB_g[n][k / block] for each group
/// g, with a size and tensors of its own.
struct GroupProblem {
  int m = 0, n = 0, k = 0;
};

/// Rows of the tables; 32-bit and 64-bit words.
inline constexpr uint64_t kProblemRowBytes = 16;  ///< m, n, k, 0
inline constexpr uint64_t kPointerRowBytes = 64;  ///< A, B, SFA, SFB, C, 0, 0, 0
enum class GroupPointer : uint8_t { a, b, sfa, sfb, c };
inline constexpr int kGroupPointers = 5;

inline constexpr uint32_t kTensorMapBytes = sizeof(TensorMap);
inline constexpr int kInputMaps = 4;  ///< A, B, SFA, SFB: a set of the ring
inline constexpr int kSfbMap = 3;     ///< the last of a set, which a warp of its own may make

/// The maps of the base are templates: type, rank, boxes and swizzle are theirs, addresses, dimensions and strides
/// the groups'.
struct GroupedBlockScaledParams : BlockScaledParams {
  GlobalAddr problems;  ///< a row for each group
  GlobalAddr pointers;  ///< the same
  GlobalAddr maps;      ///< of each CTA: a ring of sets of input maps, then the map of C
  int groups = 0;
};

/// Where a CTA's maps lie in global memory.
struct CtaMaps {
  GlobalAddr base;
  int slots;

  SM100_HD constexpr GlobalAddr input(int slot, int which) const {
    return base + uint64_t(slot * kInputMaps + which) * kTensorMapBytes;
  }
  SM100_HD constexpr GlobalAddr output() const { return input(slots, 0); }
};

/// Bytes of the maps of a CTA.
SM100_HD constexpr uint64_t cta_map_bytes(int slots) { return uint64_t(slots * kInputMaps + 1) * kTensorMapBytes; }

}  // namespace sm100
