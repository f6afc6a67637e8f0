// SPDX-License-Identifier: Apache-2.0
/// Scale factors of a block-scaled MMA, as it finds them in tensor memory (PTX 9.7.16.10, scale factor layouts).
///
/// A row of A, or of B, has 1, 2 or 4 scale factors of a byte, side by side in one cell from the byte on that the
/// scale-factor id of the instruction descriptor names.  Row r has its cell in lane r % 32, r / 32 columns behind
/// the address, and copies of it in the same place of the other quarters of the lanes.  A CTA of a pair has the
/// factors of its own rows of A and of all rows of B.  With M = 128 of a pair the upper half of N has its own
/// lanes: SFB of the lower half lies in lanes 0 to 31 and 32 to 63, of the upper half in lanes 64 to 95 and 96 to
/// 127, at the same columns.
///
/// Assumed: a factor whose copies differ is undefined, as is one whose cell nobody has written; here it is NaN, so
/// that it shows where it is used.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/isa/instr_descriptor.h"
#include "models/tensor_memory.h"

namespace sm100::models {

/// Where the scale factors of one operand are.
struct ScaleFactors {
  TmemAddr address;
  int rows = 0;         ///< in each CTA
  int first_byte = 0;   ///< the scale-factor id
  int per_row = 1;      ///< 1, 2 or 4
  bool ue8m0 = true;    ///< else ue4m3
  bool halves = false;  ///< SFB of M = 128 over a pair
  uint32_t columns = 0;
};

ScaleFactors scale_factors_a(const InstrDescriptorFields& idesc, int cta_group, ScaleVec vec, TmemAddr address);
ScaleFactors scale_factors_b(const InstrDescriptorFields& idesc, int cta_group, ScaleVec vec, TmemAddr address);

/// The factors of row r to out[r * stride], ..., as f32, which holds them exactly.
/// @return what is wrong with the copies of the first factor whose copies differ, though all have been written
std::optional<std::string> read_scales(TensorMemory& tmem, const ScaleFactors& where, float* out, int stride);

}  // namespace sm100::models
