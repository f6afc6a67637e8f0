// SPDX-License-Identifier: Apache-2.0
/// What per-lane arithmetic of the epilogues costs: instructions of one lane, as `for_each_lane` charges them.
///
/// Addresses that follow from one another by a constant cost what the device compiler leaves of them.
#pragma once

namespace sm100::lane_cost {

// Registers to shared memory (smem_writer.h).
inline constexpr int kStmatrixX2 = 6;     ///< address of a matrix row, two conversions
inline constexpr int kStmatrixX4 = 10;    ///< the same with four
inline constexpr int kSharedPair = 3;     ///< two neighbouring columns, f32
inline constexpr int kSharedBytes = 2;    ///< the same, fp8
inline constexpr int kSharedElement = 4;  ///< one element, f32
// Registers to global memory (global_writer.h; kernels/direct).
inline constexpr int kGlobalPair = 8;     ///< two neighbouring columns as BF16, with their guards
inline constexpr int kGlobalElement = 4;  ///< one f32 element, with its guard
inline constexpr int kGlobalRow = 4;      ///< eight columns as BF16
// The functor on fragments (fragment_functor.h).
inline constexpr int kBiasAddress = 3;    ///< with its guard
inline constexpr int kFirstResidual = 6;  ///< address of the fragment's first element
inline constexpr int kNextResidual = 3;   ///< of another, with its guard
inline constexpr int kResidualApart = 2;  ///< where operands are swapped: rows of C lie between them
// The functor on the strip (strip_functor.h).
inline constexpr int kVectorPlace = 10;    ///< place in C of a vector, with its guards
inline constexpr int kVectorHalf = 5;      ///< which half of the tile it is of, where a strip has both
inline constexpr int kVectorResidual = 5;  ///< address of its residual
inline constexpr int kVectorBias = 2;      ///< and of its bias
inline constexpr int kVectorAddress = 1;
// Quantised output (scaled_output.h).
inline constexpr int kLargerMagnitude = 2;  ///< of each element: magnitude, maximum
inline constexpr int kBlockScale = 8;       ///< scale and factor of a block
inline constexpr int kSelectScale = 4;      ///< a lane's own of all columns
inline constexpr int kScaleAddress = 12;    ///< of a lane's scales, with their guard
inline constexpr int kPackedRow = 32;       ///< 16 bytes of FP4: conversions and their place in the strip
inline constexpr int kPackedRowFp8 = 16;    ///< 16 bytes of FP8
// Scales to tensor memory (kernels/block_scaled/scaled_mmas.h).
inline constexpr int kScaleAtom = 5;  ///< an atom's place in shared and in tensor memory, its descriptor
// Scales of B by warps (kernels/block_scaled/sfb_warps.h).
inline constexpr int kScaleCell = 6;  ///< address of a row's cell
// Split-K (kernels/matmul/split_reduction.h).
inline constexpr int kWorkspaceAddress = 2;
inline constexpr int kAddPartial = 1;  ///< of each register
// Scaled sums (kernels/blockwise/tile_sums.h).
inline constexpr int kRowScale = 1;      ///< address of a row's scale, one base for all
inline constexpr int kColumnScale = 2;   ///< address of a block's scale, with its guard
inline constexpr int kWidenScale = 1;    ///< of a row or a block, BF16 to f32
inline constexpr int kScaleProduct = 1;  ///< of a row and a block
inline constexpr int kAddScaled = 1;     ///< of each register
inline constexpr int kClearSum = 1;      ///< of each register
// pipeline_copy.
inline constexpr int kChunkAddress = 1;

}  // namespace sm100::lane_cost
