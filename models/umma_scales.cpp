// SPDX-License-Identifier: Apache-2.0
#include "models/umma_scales.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>

#include "kernels/isa/number_formats.h"
#include "kernels/isa/tmem_layout.h"

namespace sm100::models {
namespace {

ScaleFactors scale_factors(const InstrDescriptorFields& idesc, ScaleVec vec, TmemAddr address, int rows,
                           uint32_t id) {
  return {.address = address, .rows = rows, .first_byte = int(id), .per_row = int(vec), .ue8m0 = idesc.scale_ue8m0};
}

constexpr float kUndefined = std::bit_cast<float>(detail::kF32Nan);

}  // namespace

ScaleFactors scale_factors_a(const InstrDescriptorFields& idesc, int cta_group, ScaleVec vec, TmemAddr address) {
  ScaleFactors where = scale_factors(idesc, vec, address, int(idesc.m) / cta_group, idesc.sfa_id);
  where.columns = scale_columns_a(int(idesc.m), cta_group);
  return where;
}

ScaleFactors scale_factors_b(const InstrDescriptorFields& idesc, int cta_group, ScaleVec vec, TmemAddr address) {
  ScaleFactors where = scale_factors(idesc, vec, address, int(idesc.n), idesc.sfb_id);
  where.halves = cta_group == 2 && idesc.m == 128;
  where.columns = scale_columns_b(int(idesc.m), int(idesc.n), cta_group);
  return where;
}

std::optional<std::string> read_scales(TensorMemory& tmem, const ScaleFactors& where, float* out, int stride) {
  std::optional<std::string> differ;
  const int half = where.rows / 2, copies = where.halves ? 2 : 4;
  const uint32_t mask = uint32_t((uint64_t{1} << (8 * where.per_row)) - 1);
  for (int r = 0; r < where.rows; ++r) {
    const bool upper = where.halves && r >= half;
    const int row = upper ? r - half : r;
    const uint32_t lane = uint32_t(row % 32 + (upper ? 64 : 0)),
                   column = where.address.column() + uint32_t(row / 32);
    const auto bits = [&](int copy) { return tmem.cell(lane + uint32_t(32 * copy), column); };
    const auto bytes = [&](uint32_t cell) { return cell >> (8 * where.first_byte) & mask; };
    const uint32_t first = bits(0);
    bool undefined = first == kTmemPoison;
    for (int copy = 1; copy < copies; ++copy) {
      const uint32_t other = bits(copy);
      undefined |= other == kTmemPoison;
      if (bytes(other) == bytes(first)) continue;
      if (!undefined && !differ)
        differ = fmt::format("column {}: {:#x} in lane {} and {:#x} in lane {}", column, bytes(first), lane,
                             bytes(other), lane + uint32_t(32 * copy));
      undefined = true;
    }
    for (int i = 0; i < where.per_row; ++i) {
      const uint8_t code = uint8_t(bytes(first) >> (8 * i));
      out[ptrdiff_t(r) * stride + i] = undefined     ? kUndefined
                                       : where.ue8m0 ? decode_ue8m0(code)
                                                     : decode_ue4m3(code);
    }
  }
  return differ;
}

}  // namespace sm100::models
