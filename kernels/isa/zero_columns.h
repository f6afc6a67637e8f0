// SPDX-License-Identifier: Apache-2.0
/// The zero-column mask of tcgen05.mma.ws: columns of B that count as zeros (PTX 9.7.16.10.10).
///
///   31:0 sc0 ... sc3, how many bits of the pattern to skip   35:32 fs0 ... fs3, set: it begins with zeroed columns
///   39 there is a mask   47:40 zeroed columns in a row, less one   55:48 used ones, less one   61:56 column shift
/// One sub-mask of N bits for M = 128, two of N / 2 for 64, four of N / 4 for 32.  PTX's table of the fields has
/// the two spans the other way round than its examples; the examples hold here.
#pragma once

#include "kernels/isa/address.h"

namespace sm100 {

struct ZeroColumnMask {
  uint64_t bits = 0;
  constexpr bool operator==(const ZeroColumnMask&) const = default;
};

SM100_HD constexpr bool any_zero_column(ZeroColumnMask mask) { return mask.bits >> 39 & 1; }

/// By how many columns B is read further on; not modelled.
SM100_HD constexpr uint32_t column_shift(ZeroColumnMask mask) { return mask.bits >> 56 & 0x3f; }

/// Column n of B counts as zero in an instruction of M x N.
SM100_HD constexpr bool is_zero_column(ZeroColumnMask mask, int m, int n, int N) {
  if (!any_zero_column(mask)) return false;
  const int parts = m == 32 ? 4 : m == 64 ? 2 : 1, part = n / (N / parts);
  const uint32_t zeroed = uint32_t(mask.bits >> 40 & 0xff) + 1, used = uint32_t(mask.bits >> 48 & 0xff) + 1;
  const uint32_t at = uint32_t(n % (N / parts)) + uint32_t(mask.bits >> (8 * part) & 0xff);
  const uint32_t in_pattern = at % (used + zeroed);
  return mask.bits >> (32 + part) & 1 ? in_pattern < zeroed : in_pattern >= used;
}

}  // namespace sm100
