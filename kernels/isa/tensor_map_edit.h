// SPDX-License-Identifier: Apache-2.0
/// tensormap.replace on our encoding of a tensor map: one field of the object changes, nothing is validated (PTX
/// 9.7.9.27.4; a copy with the map finds what is wrong).
///
/// PTX numbers element types and swizzles in its own way; the enumerators below are its immediates.
#pragma once

#include "kernels/isa/tensor_map.h"

namespace sm100 {

/// The fields, in the order of the PTX text.
enum class TensorMapField : uint8_t {
  global_address,
  rank,     ///< the value is the rank less one
  box_dim,  ///< of a dimension, as the three below
  global_dim,
  global_stride,  ///< bytes; ordinal i belongs to dimension i + 1
  element_stride,
  elemtype,
  interleave_layout,
  swizzle_mode,
  swizzle_atomicity,
  fill_mode,
};

SM100_HD constexpr const char* name(TensorMapField field) {
  constexpr const char* kNames[] = {
      "global_address", "rank",     "box_dim",           "global_dim",   "global_stride",
      "element_stride", "elemtype", "interleave_layout", "swizzle_mode", "swizzle_atomicity",
      "fill_mode"};
  return kNames[int(field)];
}

/// .elemtype
enum class TensorMapElemtype : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f32_ftz,
  f64,
  bf16,
  tf32,
  tf32_ftz,
  b4x16,
  b4x16_p64,
  b6x16_p32,
};
/// .swizzle_mode; the 96-byte mode is sm_103a's.
enum class TensorMapSwizzleMode : uint8_t { none, b32, b64, b128, b96 };
/// .swizzle_atomicity
enum class TensorMapSwizzleAtomicity : uint8_t { b16, b32, b32_flip_8b, b64 };

SM100_HD constexpr TensorMapDataType data_type(TensorMapElemtype type) {
  using T = TensorMapDataType;
  constexpr T kTypes[] = {T::uint8,
                          T::uint16,
                          T::uint32,
                          T::int32,
                          T::uint64,
                          T::int64,
                          T::float16,
                          T::float32,
                          T::float32_ftz,
                          T::float64,
                          T::bfloat16,
                          T::tfloat32,
                          T::tfloat32_ftz,
                          T::packed_16u4_align8b,
                          T::packed_16u4_align16b,
                          T::packed_16u6_align16b};
  return kTypes[int(type)];
}

namespace detail {

// Our byte of the swizzle is the driver's value where the pair of mode and atomicity has one; else, as between two
// replaces, it holds the pair and is no driver's value.
inline constexpr uint8_t kSwizzlePair = 0x80;

SM100_HD constexpr uint32_t swizzle_mode_of(uint8_t code) {
  if (code & kSwizzlePair) return code & 7u;
  return code < 3 ? code : 3u;
}
SM100_HD constexpr uint32_t swizzle_atomicity_of(uint8_t code) {
  if (code & kSwizzlePair) return code >> 3 & 3u;
  return code < 3 ? 0 : code - 3u;
}
SM100_HD constexpr uint8_t swizzle_code(uint32_t mode, uint32_t atomicity) {
  if (mode < 3 && atomicity == 0) return uint8_t(mode);
  if (mode == 3) return uint8_t(3 + atomicity);
  return uint8_t(kSwizzlePair | mode | atomicity << 3);
}

}  // namespace detail

/// False: these bytes are no tensor map, or the ordinal is none; the object is untouched.
/// @param ordinal  of the fields that have a value for each dimension
SM100_HD constexpr bool replace(TensorMap& map, TensorMapField field, uint32_t ordinal, uint64_t value) {
  TensorMapFields f;
  if (!decode(map, f)) return false;
  const bool of_dimension = field >= TensorMapField::box_dim && field <= TensorMapField::element_stride;
  if (of_dimension && ordinal >= kTensorMapMaxRank - uint32_t(field == TensorMapField::global_stride)) return false;
  const uint8_t swizzle = uint8_t(f.swizzle);
  switch (field) {
    case TensorMapField::global_address: f.global_address = value; break;
    case TensorMapField::rank: f.rank = uint32_t(value) + 1; break;
    case TensorMapField::box_dim: f.box_dim[ordinal] = uint32_t(value); break;
    case TensorMapField::global_dim: f.global_dim[ordinal] = uint32_t(value); break;
    case TensorMapField::global_stride: f.global_stride[ordinal] = value; break;
    case TensorMapField::element_stride: f.element_stride[ordinal] = uint32_t(value); break;
    case TensorMapField::elemtype: f.data_type = data_type(TensorMapElemtype(value & 15)); break;
    case TensorMapField::interleave_layout: f.interleave = TensorMapInterleave(value); break;
    case TensorMapField::swizzle_mode:
      f.swizzle = TensorMapSwizzle(detail::swizzle_code(uint32_t(value), detail::swizzle_atomicity_of(swizzle)));
      break;
    case TensorMapField::swizzle_atomicity:
      f.swizzle = TensorMapSwizzle(detail::swizzle_code(detail::swizzle_mode_of(swizzle), uint32_t(value)));
      break;
    case TensorMapField::fill_mode: f.oob_fill = TensorMapOobFill(value); break;
  }
  map = encode(f);
  return true;
}

}  // namespace sm100
