// SPDX-License-Identifier: Apache-2.0
/// Scale factors of block-scaled MMAs: where they lie in global, shared and tensor memory (PTX 9.7.16, "Block
/// scaling").
///
/// A scale is a byte, for 16 or 32 neighbours along K of one row of A or B.  They come in atoms of 128 rows x 4
/// scales: 512 bytes, in which rows r, r + 32, r + 64 and r + 96 are neighbours.  So one tcgen05.cp of 32 rows of
/// 16 bytes, .32x128b.warpx4, brings an atom to four columns of tensor memory, with a row of four scales in each
/// 32-bit cell.
#pragma once

#include "kernels/isa/smem_descriptor.h"

namespace sm100 {

inline constexpr int kScaleAtomRows = 128;
inline constexpr int kScaleAtomScales = 4;  ///< along K
inline constexpr uint32_t kScaleAtomBytes = 512;
inline constexpr int kScaleAtomColumns = 4;  ///< of tensor memory
inline constexpr int kScaleColumnRows = 32;  ///< rows whose scales one column of tensor memory holds

/// The type of a scale: a power of two, or an e4m3 without sign.
enum class ScaleType : uint8_t { ue8m0, ue4m3 };

SM100_HD constexpr const char* name(ScaleType type) { return type == ScaleType::ue8m0 ? "ue8m0" : "ue4m3"; }

/// Byte of scale `j` (along K) of row `row` in an array of atoms: `k_atoms` of them along K, which are neighbours,
/// then the next 128 rows.
SM100_HD constexpr uint64_t scale_offset(int row, int j, int k_atoms) {
  const int in_atom = row % 32 * 16 + row / 32 % 4 * 4 + j % kScaleAtomScales;
  const int64_t atom = int64_t{row / kScaleAtomRows} * k_atoms + j / kScaleAtomScales;
  return uint64_t(atom) * kScaleAtomBytes + uint64_t(in_atom);
}

/// Of the first scale of a row in its atom.
SM100_HD constexpr uint32_t scale_offset_in_atom(uint32_t row) { return row % 32 * 16 + row / 32 % 4 * 4; }

/// Of tcgen05.cp: an atom that begins at `start`.  Its 8-row groups of 16 bytes follow one another.
SM100_HD constexpr SmemDescriptor scale_atom_descriptor(SmemAddr start) {
  return make_smem_descriptor(start, 0, 8 * 16, Swizzle::none);
}

}  // namespace sm100
