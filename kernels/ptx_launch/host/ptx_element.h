// SPDX-License-Identifier: Apache-2.0
/// Types of tensors that a launch file names: how many bits an element has, what its codes mean, what is drawn for
/// it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/isa/number_formats.h"
#include "kernels/isa/scale_layout.h"

namespace sm100::host {

struct PtxElement {
  std::string_view name;  ///< "bf16", "s32"
  int bits = 0;           ///< 4: two in a byte, the lower one first
  /// Of what a tensor core multiplies or a cvt makes; integers wider than 8 bits have none.
  std::optional<DataType> format;
  std::optional<ScaleType> scale{};  ///< a scale factor, which has no sign

  bool is_integer() const { return !scale && (!format || *format == DataType::s8 || *format == DataType::u8); }
  bool has_values() const { return scale || format; }
};

/// All that [[problem.tensor]] may name.
std::span<const PtxElement> ptx_elements();

/// The code of a number, rounded to the type; of integers towards zero.
uint64_t encoded(const PtxElement& element, float value);
/// The number that element `i` of a tensor is.  Of types that have values.
double element_value(const PtxElement& element, const uint8_t* tensor, size_t i);
/// Values in [-1, 1), all integers, all codes of 4 bits; scale factors of 1/4 to 2.
void fill_random(const PtxElement& element, uint64_t seed, uint8_t* to, uint64_t elements);
/// Every element the same number.
void fill_with(const PtxElement& element, float value, uint8_t* to, uint64_t elements);

}  // namespace sm100::host
