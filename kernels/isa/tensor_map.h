// SPDX-License-Identifier: Apache-2.0
/// The tensor map of TMA tensor copies: fields, encode rules, and which bytes a box moves.
/// Source: `cuda.h` cuTensorMapEncodeTiled; PTX 5.5 *Tensors*, 5.5.6 (pitch); docs/instructions.md.
///
/// The driver's 128 bytes are not public.  `TensorMap` holds an encoding of ours, for the host model only,
/// that survives byte copies; on hardware the driver makes the object and nothing here reads it.
/// Modelled: tile mode and im2col mode (PTX 5.5.4; cuTensorMapEncodeIm2col), interleave NONE; the packed types
/// (PTX 5.5.1.1: .b4x16, .b4x16_p64, .b6x16_p32, .b6p2x16). Rejected (`modelled`): interleave 16B/32B,
/// 128B_ATOM_32B_FLIP_8B.  Not in it: im2col::w, im2col::w::128.
///
/// Packed types lie densely in global memory, the first element lowest.  In shared memory 16 elements of
/// 16U4_ALIGN8B take 8 bytes.  Those of an ALIGN16B type take 16: a load puts their 8 or 12 bytes first and leaves
/// the padding as it was; a store of 16U6_ALIGN16B takes the lower 6 bits of 16 bytes; 16U4_ALIGN16B cannot be
/// stored.
#pragma once

#include "kernels/isa/address.h"
#include "kernels/isa/swizzle.h"

namespace sm100 {

// Enumerators in the driver's order: values are CU_TENSOR_MAP_*'s.
// clang-format off
enum class TensorMapDataType : uint8_t {
  uint8, uint16, uint32, int32, uint64, int64, float16, float32, float64, bfloat16, float32_ftz, tfloat32,
  tfloat32_ftz, packed_16u4_align8b, packed_16u4_align16b, packed_16u6_align16b,
};
// clang-format on
enum class TensorMapInterleave : uint8_t { none, b16, b32 };
enum class TensorMapSwizzle : uint8_t { none, b32, b64, b128, b128_atom_32b, b128_atom_32b_flip_8b, b128_atom_64b };
enum class TensorMapL2Promotion : uint8_t { none, b64, b128, b256 };
enum class TensorMapOobFill : uint8_t { none, nan_request_zero_fma };  ///< none fills with zero

inline constexpr uint32_t kTensorMapMaxRank = 5;
/// W, H and D of an image: dimensions 1 to 3 of an im2col map.
inline constexpr uint32_t kImageMaxRank = kTensorMapMaxRank - 2;

struct TensorMapFields {
  TensorMapDataType data_type = TensorMapDataType::uint8;
  uint32_t rank = 0;
  uint64_t global_address = 0;
  uint64_t global_dim[kTensorMapMaxRank] = {};      ///< elements, contiguous dimension first
  uint64_t global_stride[kTensorMapMaxRank] = {};   ///< bytes; [i] belongs to dimension i + 1, i < rank - 1
  uint32_t box_dim[kTensorMapMaxRank] = {};         ///< elements traversed
  uint32_t element_stride[kTensorMapMaxRank] = {};  ///< 1 to 8; without interleave [0] has no effect
  TensorMapInterleave interleave = TensorMapInterleave::none;
  TensorMapSwizzle swizzle = TensorMapSwizzle::none;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;
  TensorMapOobFill oob_fill = TensorMapOobFill::none;
  /// Of a copy, in no map: .tile::gather4 or ::scatter4.  box_dim[1] is 4 then, and coordinate 0 is followed by
  /// those of the four rows, which lie anywhere (PTX 5.5.3.4).
  bool four_rows = false;
  /// An im2col map: dimensions are C, then W, H and D as far as it has them, then N.  box_dim[0] is
  /// channelsPerPixel and box_dim[1] pixelsPerColumn; the others are 1.
  bool im2col = false;
  int32_t pixel_box_lower[kImageMaxRank] = {};  ///< of W, H, D: where the bounding box begins
  int32_t pixel_box_upper[kImageMaxRank] = {};  ///< and, from the tensor's last pixel on, where it ends
  uint16_t im2col_offset[kImageMaxRank] = {};   ///< of a copy, in no map: added to W, H and D of each pixel
};

/// How many of W, H and D an im2col map has.
SM100_HD constexpr uint32_t image_rank(const TensorMapFields& f) { return f.rank - 2; }

/// The rows that one .tile::gather4 or ::scatter4 copies.
inline constexpr uint32_t kGatheredRows = 4;

/// How many coordinates a copy has.
SM100_HD constexpr uint32_t coordinate_count(const TensorMapFields& f) {
  return f.four_rows ? 1 + kGatheredRows : f.rank;
}

/// The opaque object that kernels pass around and copy bytewise.
struct alignas(64) TensorMap {
  uint8_t bytes[128] = {};
};

/// Generic address of a tensor map: of a kernel parameter, or of 128 bytes of global memory that the kernel may
/// edit.
struct TensorMapAddr {
  uint64_t value = 0;
  bool in_global = false;  ///< for the model; on hardware the address says it by itself

  constexpr TensorMapAddr() = default;
  SM100_HD TensorMapAddr(const TensorMap* parameter)  // NOLINT: its generic address
      : value(reinterpret_cast<uint64_t>(parameter)) {}
  SM100_HD constexpr TensorMapAddr(GlobalAddr address)  // NOLINT: global addresses are generic ones
      : value(address.value), in_global(true) {}
  SM100_HD const TensorMap* parameter() const { return reinterpret_cast<const TensorMap*>(value); }
  SM100_HD constexpr GlobalAddr global() const { return {value}; }
};

// ---- properties of the enums ----

/// Of the unpacked types; the packed ones have no whole number of bytes: see element_bits().
SM100_HD constexpr uint32_t element_bytes(TensorMapDataType type) {
  switch (type) {
    case TensorMapDataType::uint16:
    case TensorMapDataType::float16:
    case TensorMapDataType::bfloat16: return 2;
    case TensorMapDataType::uint32:
    case TensorMapDataType::int32:
    case TensorMapDataType::float32:
    case TensorMapDataType::float32_ftz:
    case TensorMapDataType::tfloat32:
    case TensorMapDataType::tfloat32_ftz: return 4;
    case TensorMapDataType::uint64:
    case TensorMapDataType::int64:
    case TensorMapDataType::float64: return 8;
    default: return 1;
  }
}

SM100_HD constexpr bool is_packed(TensorMapDataType type) { return type >= TensorMapDataType::packed_16u4_align8b; }

/// The packed types whose 16 elements take 16 bytes of shared memory.
SM100_HD constexpr bool is_align16b(TensorMapDataType type) {
  return type == TensorMapDataType::packed_16u4_align16b || type == TensorMapDataType::packed_16u6_align16b;
}

/// In global memory.
SM100_HD constexpr uint32_t element_bits(TensorMapDataType type) {
  if (type == TensorMapDataType::packed_16u6_align16b) return 6;
  return is_packed(type) ? 4 : 8 * element_bytes(type);
}

/// Of so many elements in global memory, a whole number wherever the rules hold.
SM100_HD constexpr uint64_t global_bytes(TensorMapDataType type, uint64_t elements) {
  return elements * element_bits(type) / 8;
}

SM100_HD constexpr bool is_floating(TensorMapDataType type) {
  return !is_packed(type) && type >= TensorMapDataType::float16;
}

/// FLIP_8B reads as its unflipped sibling; `modelled` rejects it.
SM100_HD constexpr Swizzle smem_swizzle(TensorMapSwizzle swizzle) {
  switch (swizzle) {
    case TensorMapSwizzle::none: return Swizzle::none;
    case TensorMapSwizzle::b32: return Swizzle::b32;
    case TensorMapSwizzle::b64: return Swizzle::b64;
    case TensorMapSwizzle::b128: return Swizzle::b128;
    case TensorMapSwizzle::b128_atom_32b:
    case TensorMapSwizzle::b128_atom_32b_flip_8b: return Swizzle::b128_atom_32b;
    case TensorMapSwizzle::b128_atom_64b: return Swizzle::b128_atom_64b;
  }
  return Swizzle::none;
}

SM100_HD constexpr bool modelled(const TensorMapFields& f) {
  return f.interleave == TensorMapInterleave::none && f.swizzle != TensorMapSwizzle::b128_atom_32b_flip_8b;
}

// ---- the encode rules ----

enum class TensorMapError : uint8_t {
  none,
  data_type,
  rank,
  global_address_alignment,
  global_dim_range,
  global_dim_packed,
  global_stride_alignment,
  global_stride_range,
  box_dim_range,
  box_inner_bytes,
  element_stride_range,
  interleave_swizzle,
  swizzle_span,
  oob_fill_type,
  load_only,
  store_only,
  im2col_rank,
  pixel_box_range,
  pixel_box_empty,
  pixel_count_range,
};

SM100_HD constexpr const char* message(TensorMapError error) {
  switch (error) {
    case TensorMapError::none: return "ok";
    case TensorMapError::data_type:
      return "data type, interleave, swizzle, L2 promotion or fill is no driver value";
    case TensorMapError::rank: return "rank must be 1 ... 5, and at least 3 with interleave";
    case TensorMapError::global_address_alignment:
      return "global address must be a multiple of 16 (32 for INTERLEAVE_32B and the ALIGN16B types)";
    case TensorMapError::global_dim_range: return "global dimensions must be 1 ... 2^32 elements";
    case TensorMapError::global_dim_packed:
      return "global dimension 0 must be a multiple of 128 for the ALIGN16B types, of 2 for 16U4_ALIGN8B";
    case TensorMapError::global_stride_alignment:
      return "global strides must be multiples of 16 bytes (32 for INTERLEAVE_32B and the ALIGN16B types)";
    case TensorMapError::global_stride_range: return "global strides must be below 2^40 bytes";
    case TensorMapError::box_dim_range:
      return "box dimensions must be 1 ... 256 (ALIGN16B types: box dimension 0 is 128)";
    case TensorMapError::box_inner_bytes: return "box dimension 0 must span a multiple of 16 bytes";
    case TensorMapError::element_stride_range: return "element strides must be 1 ... 8";
    case TensorMapError::interleave_swizzle:
      return "INTERLEAVE_32B requires SWIZZLE_32B; 16U6_ALIGN16B requires no interleave; ALIGN16B types "
             "allow no "
             "swizzle, 128B, 128B_ATOM_32B (16U6 also 128B_ATOM_64B)";
    case TensorMapError::swizzle_span:
      return "inner box bytes must not exceed the swizzle span (32, 64 or 128 bytes)";
    case TensorMapError::oob_fill_type: return "NaN fill requires an unpacked floating-point type";
    case TensorMapError::load_only: return "16U4_ALIGN16B is for loads only";
    case TensorMapError::store_only: return "16U6_ALIGN16B with 128B_ATOM_64B is for stores only";
    case TensorMapError::im2col_rank: return "rank of an im2col map must be 3 ... 5";
    case TensorMapError::pixel_box_range:
      return "corners of the pixel box must be -2^15 ... 2^15 - 1 (rank 3), -2^7 ... 2^7 - 1 (rank 4), -2^4 ... "
             "2^4 - 1 (rank 5)";
    case TensorMapError::pixel_box_empty: return "the pixel box must have a pixel: lower <= dimension - 1 + upper";
    case TensorMapError::pixel_count_range: return "channels per pixel must be 1 ... 256, pixels 1 ... 1024";
  }
  return "?";
}

/// Bytes that elements of the inner dimension take in shared memory.
SM100_HD constexpr uint32_t smem_bytes(TensorMapDataType type, uint32_t elements) {
  return is_align16b(type) ? elements : static_cast<uint32_t>(global_bytes(type, elements));
}

namespace detail {

SM100_HD constexpr bool packed_swizzle_ok(TensorMapDataType type, TensorMapSwizzle swizzle) {
  if (!is_align16b(type)) return true;
  return swizzle == TensorMapSwizzle::none || swizzle == TensorMapSwizzle::b128 ||
         swizzle == TensorMapSwizzle::b128_atom_32b ||
         (type == TensorMapDataType::packed_16u6_align16b && swizzle == TensorMapSwizzle::b128_atom_64b);
}

SM100_HD constexpr TensorMapError validate_dimensions(const TensorMapFields& f, uint32_t alignment) {
  const bool align16b = is_align16b(f.data_type);
  const uint32_t dim0_multiple = align16b ? 128 : f.data_type == TensorMapDataType::packed_16u4_align8b ? 2 : 1;
  for (uint32_t i = 0; i < f.rank; ++i) {
    if (f.global_dim[i] == 0 || f.global_dim[i] > uint64_t{1} << 32) return TensorMapError::global_dim_range;
    if (!f.im2col && (f.box_dim[i] == 0 || f.box_dim[i] > 256)) return TensorMapError::box_dim_range;
    // Without interleave the value of [0] means nothing; the driver looks at its range all the same (H200).
    if (f.element_stride[i] == 0 || f.element_stride[i] > 8) return TensorMapError::element_stride_range;
  }
  if (f.global_dim[0] % dim0_multiple != 0) return TensorMapError::global_dim_packed;
  if (align16b && f.box_dim[0] != 128) return TensorMapError::box_dim_range;
  // The driver accepts unordered, overlapping and non-nested strides (H200), whatever cuda.h's formula
  // suggests.
  for (uint32_t i = 0; i + 1 < f.rank; ++i) {
    if (f.global_stride[i] % alignment != 0) return TensorMapError::global_stride_alignment;
    if (f.global_stride[i] >= uint64_t{1} << 40) return TensorMapError::global_stride_range;
  }
  return TensorMapError::none;
}

/// What cuTensorMapEncodeIm2col has beyond the tiled map's rules.
SM100_HD constexpr TensorMapError validate_im2col(const TensorMapFields& f) {
  constexpr uint32_t kMostChannels = 256, kMostPixels = 1024;
  if (f.rank < 3) return TensorMapError::im2col_rank;
  if (f.box_dim[0] == 0 || f.box_dim[0] > kMostChannels || f.box_dim[1] == 0 || f.box_dim[1] > kMostPixels)
    return TensorMapError::pixel_count_range;
  const int32_t limit = int32_t{1} << (f.rank == 3 ? 15 : f.rank == 4 ? 7 : 4);
  const auto in_range = [=](int32_t corner) { return corner >= -limit && corner < limit; };
  for (uint32_t i = 0; i < image_rank(f); ++i)
    if (!in_range(f.pixel_box_lower[i]) || !in_range(f.pixel_box_upper[i])) return TensorMapError::pixel_box_range;
  for (uint32_t i = 0; i < image_rank(f); ++i)
    if (static_cast<int64_t>(f.global_dim[i + 1]) - 1 + f.pixel_box_upper[i] < f.pixel_box_lower[i])
      return TensorMapError::pixel_box_empty;
  return TensorMapError::none;
}

}  // namespace detail

/// First rule of cuTensorMapEncodeTiled, or of cuTensorMapEncodeIm2col, that the fields break.
SM100_HD constexpr TensorMapError validate(const TensorMapFields& f) {
  if (f.data_type > TensorMapDataType::packed_16u6_align16b || f.interleave > TensorMapInterleave::b32 ||
      f.swizzle > TensorMapSwizzle::b128_atom_64b || f.l2_promotion > TensorMapL2Promotion::b256 ||
      f.oob_fill > TensorMapOobFill::nan_request_zero_fma)
    return TensorMapError::data_type;
  const bool interleaved = f.interleave != TensorMapInterleave::none;
  if (f.rank < 1 || f.rank > kTensorMapMaxRank || (interleaved && f.rank < 3)) return TensorMapError::rank;
  const bool wide = f.interleave == TensorMapInterleave::b32 || is_align16b(f.data_type);
  const uint32_t alignment = wide ? 32 : 16;
  if (f.global_address % alignment != 0) return TensorMapError::global_address_alignment;
  const TensorMapError dimensions = detail::validate_dimensions(f, alignment);
  if (dimensions != TensorMapError::none) return dimensions;
  if (f.im2col)
    if (const TensorMapError error = detail::validate_im2col(f); error != TensorMapError::none) return error;
  if ((f.interleave == TensorMapInterleave::b32 && f.swizzle != TensorMapSwizzle::b32) ||
      (interleaved && f.data_type == TensorMapDataType::packed_16u6_align16b) ||
      !detail::packed_swizzle_ok(f.data_type, f.swizzle))
    return TensorMapError::interleave_swizzle;
  if (!interleaved) {
    const uint32_t inner = smem_bytes(f.data_type, f.box_dim[0]);
    if (inner % 16 != 0) return TensorMapError::box_inner_bytes;
    if (f.swizzle != TensorMapSwizzle::none && inner > swizzle_span_bytes(smem_swizzle(f.swizzle)))
      return TensorMapError::swizzle_span;
  }
  if (f.oob_fill != TensorMapOobFill::none && !is_floating(f.data_type)) return TensorMapError::oob_fill_type;
  return TensorMapError::none;
}

/// May a copy in this direction use the map (PTX 5.5.1.1.1, table of swizzle modes)?  The fields must be valid.
SM100_HD constexpr TensorMapError validate_direction(const TensorMapFields& f, bool load) {
  if (!load && f.data_type == TensorMapDataType::packed_16u4_align16b) return TensorMapError::load_only;
  if (load && is_align16b(f.data_type) && f.swizzle == TensorMapSwizzle::b128_atom_64b)
    return TensorMapError::store_only;
  return TensorMapError::none;
}

// ---- the object: magic, address, dims, strides, boxes, element strides, rank, enums; little-endian ----

namespace detail {

inline constexpr uint64_t kTensorMapMagic = 0x3150414d54303031;  // "100TMAP1"

struct ByteWriter {
  TensorMap& map;
  uint32_t at = 0;
  SM100_HD constexpr void put(uint64_t value, uint32_t size) {
    for (uint32_t i = 0; i < size; ++i) map.bytes[at++] = static_cast<uint8_t>(value >> (8 * i));
  }
};

struct ByteReader {
  const TensorMap& map;
  uint32_t at = 0;
  SM100_HD constexpr uint64_t get(uint32_t size) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < size; ++i) value |= uint64_t{map.bytes[at++]} << (8 * i);
    return value;
  }
};

/// Both corners of the pixel box in a dimension of the image.
SM100_HD constexpr uint32_t corners(const TensorMapFields& f, uint32_t i) {
  return static_cast<uint16_t>(f.pixel_box_lower[i]) | uint32_t{static_cast<uint16_t>(f.pixel_box_upper[i])} << 16;
}

/// Too large for its field stays too large for its rule: validate() after decode() still finds it.
SM100_HD constexpr uint64_t saturate(uint32_t value, uint32_t maximum) { return value < maximum ? value : maximum; }

}  // namespace detail

/// Does not validate: a wrong map is found where it is used, as a byte-edited one would be.
SM100_HD constexpr TensorMap encode(const TensorMapFields& f) {
  TensorMap map;
  detail::ByteWriter w{map};
  w.put(detail::kTensorMapMagic, 8);
  w.put(f.global_address, 8);
  for (uint64_t dim : f.global_dim) w.put(dim, 8);
  for (uint32_t i = 0; i + 1 < kTensorMapMaxRank; ++i) w.put(f.global_stride[i], 8);
  for (uint32_t i = 0; i < kTensorMapMaxRank; ++i)
    w.put(f.im2col && i >= 2 ? detail::corners(f, i - 2) : f.box_dim[i], 4);
  for (uint32_t stride : f.element_stride) w.put(detail::saturate(stride, 0xffff), 2);
  w.put(detail::saturate(f.rank, 0xff), 1);
  w.put(static_cast<uint8_t>(f.data_type), 1);
  w.put(static_cast<uint8_t>(f.interleave), 1);
  w.put(static_cast<uint8_t>(f.swizzle), 1);
  w.put(static_cast<uint8_t>(f.l2_promotion), 1);
  w.put(static_cast<uint8_t>(f.oob_fill), 1);
  w.put(f.im2col, 1);
  return map;
}

/// False: these bytes are no tensor map, and `f` is untouched.
SM100_HD constexpr bool decode(const TensorMap& map, TensorMapFields& f) {
  detail::ByteReader r{map};
  if (r.get(8) != detail::kTensorMapMagic) return false;
  f = {};
  f.global_address = r.get(8);
  for (uint64_t& dim : f.global_dim) dim = r.get(8);
  for (uint32_t i = 0; i + 1 < kTensorMapMaxRank; ++i) f.global_stride[i] = r.get(8);
  for (uint32_t& box : f.box_dim) box = static_cast<uint32_t>(r.get(4));
  for (uint32_t& stride : f.element_stride) stride = static_cast<uint32_t>(r.get(2));
  f.rank = static_cast<uint32_t>(r.get(1));
  f.data_type = static_cast<TensorMapDataType>(r.get(1));
  f.interleave = static_cast<TensorMapInterleave>(r.get(1));
  f.swizzle = static_cast<TensorMapSwizzle>(r.get(1));
  f.l2_promotion = static_cast<TensorMapL2Promotion>(r.get(1));
  f.oob_fill = static_cast<TensorMapOobFill>(r.get(1));
  f.im2col = r.get(1) != 0;
  for (uint32_t i = 0; f.im2col && i < kImageMaxRank; ++i) {
    const uint32_t corners = f.box_dim[i + 2];
    f.pixel_box_lower[i] = static_cast<int16_t>(corners),
    f.pixel_box_upper[i] = static_cast<int16_t>(corners >> 16);
    f.box_dim[i + 2] = 1;
  }
  return true;
}

// ---- which bytes a box moves; the fields must be valid and modelled ----

/// Elements that dimension i delivers.  An im2col map's rows are pixels: dimension 1 delivers them all, and the
/// traversal strides take nothing away (PTX 5.5.4.2).
SM100_HD constexpr uint32_t box_extent(const TensorMapFields& f, uint32_t i) {
  if (f.im2col) return i < 2 ? f.box_dim[i] : 1;
  if (i == 0 && f.interleave == TensorMapInterleave::none) return f.box_dim[0];
  return (f.box_dim[i] + f.element_stride[i] - 1) / f.element_stride[i];
}

/// Inner rows of the box.
SM100_HD constexpr uint64_t box_lines(const TensorMapFields& f) {
  uint64_t lines = 1;  // 256^4 of them pass the encode rules
  for (uint32_t i = 1; i < f.rank; ++i) lines *= box_extent(f, i);
  return lines;
}

/// What complete_tx counts: the data bytes of the full box, out-of-bounds elements included, padding not.
SM100_HD constexpr uint64_t transfer_bytes(const TensorMapFields& f) {
  return box_lines(f) * global_bytes(f.data_type, box_extent(f, 0));
}

/// Distance of inner rows in shared memory: with a swizzle the span, even if the box is narrower.
SM100_HD constexpr uint32_t smem_pitch(const TensorMapFields& f) {
  const uint32_t span = swizzle_span_bytes(smem_swizzle(f.swizzle));
  return span != 0 ? span : smem_bytes(f.data_type, box_extent(f, 0));
}

/// Bytes to allocate for the box.
SM100_HD constexpr uint64_t smem_footprint(const TensorMapFields& f) { return box_lines(f) * smem_pitch(f); }

/// One inner row of a box.
struct BoxLine {
  bool in_bounds = false;        ///< by the outer coordinates; false: the whole row is fill
  uint64_t global_address = 0;   ///< of the box's first element, x0 = c0, which may lie before the row
  int64_t first = 0, count = 0;  ///< box elements [first, first + count) exist in the tensor; count 0 if none
  uint32_t smem_offset = 0;      ///< of the row's first element from the box, before the swizzle
};

namespace detail {

/// Coordinates of a copy's pixel number `pixel`: from the first on along W through the bounding box, then along H
/// and D, then the next image (PTX 5.5.4), of which an H200 leaves out as many as N's traversal stride says.
/// `x`: of W, H and D as far as there are, then N.
SM100_HD constexpr void pixel_at(const TensorMapFields& f, const int32_t* coords, uint32_t pixel, int64_t* x) {
  uint32_t left = pixel;  // steps along the dimension
  for (uint32_t i = 1; i + 1 < f.rank; ++i) {
    const int64_t step = f.element_stride[i], begin = coords[i], lower = f.pixel_box_lower[i - 1];
    const int64_t last = static_cast<int64_t>(f.global_dim[i]) - 1 + f.pixel_box_upper[i - 1];
    const int64_t first_run = begin > last ? 1 : (last - begin) / step + 1;
    const int64_t run = lower > last ? 1 : (last - lower) / step + 1;
    if (left < first_run) {
      x[i - 1] = begin + left * step;
      left = 0;
    } else {
      const int64_t beyond = left - first_run;
      x[i - 1] = lower + beyond % run * step;
      left = static_cast<uint32_t>(1 + beyond / run);
    }
    x[i - 1] += f.im2col_offset[i - 1];
  }
  x[image_rank(f)] = int64_t{coords[f.rank - 1]} + int64_t{left} * f.element_stride[f.rank - 1];
}

}  // namespace detail

/// `coords`: element coordinates of the box origin, coordinate_count() of them, contiguous dimension first; of an
/// im2col copy those of its first pixel, before the offsets.
SM100_HD constexpr BoxLine box_line(const TensorMapFields& f, const int32_t* coords, uint32_t line) {
  BoxLine row;
  row.in_bounds = true;
  row.smem_offset = line * smem_pitch(f);
  uint64_t offset = static_cast<uint64_t>(int64_t{coords[0]} * element_bits(f.data_type) / 8);  // modulo 2^64
  int64_t pixel[kTensorMapMaxRank - 1] = {};
  if (f.im2col) detail::pixel_at(f, coords, line, pixel);
  for (uint32_t i = 1; i < f.rank; ++i) {  // dimension 1 is the fastest among the rows
    const uint32_t extent = box_extent(f, i);
    const int64_t x = f.im2col      ? pixel[i - 1]
                      : f.four_rows ? int64_t{coords[1 + line % kGatheredRows]}
                                    : int64_t{coords[i]} + int64_t{line % extent} * f.element_stride[i];
    line /= extent;
    if (x < 0 || static_cast<uint64_t>(x) >= f.global_dim[i]) row.in_bounds = false;
    offset += static_cast<uint64_t>(x) * f.global_stride[i - 1];
  }
  row.global_address = f.global_address + offset;
  if (!row.in_bounds) return row;
  const int64_t extent = box_extent(f, 0);
  const int64_t until = static_cast<int64_t>(f.global_dim[0]) - coords[0];
  row.first = coords[0] < 0 ? -int64_t{coords[0]} : 0;
  row.count = (until < extent ? until : extent) - row.first;
  if (row.count <= 0) row.first = row.count = 0;
  return row;
}

/// 32 bits of what a load writes for out-of-bounds elements, to be repeated (narrower elements take the low
/// part). The NaN is 0x7ff7 in each 16 bits (measured on H200, docs/instructions.md).
SM100_HD constexpr uint32_t oob_fill_pattern(const TensorMapFields& f) {
  return f.oob_fill == TensorMapOobFill::nan_request_zero_fma ? 0x7ff77ff7u : 0;
}

// ---- coordinate rules of a copy (PTX 5.5, TM10); H200 faults on a violation ----

enum class CopyError : uint8_t {
  none,
  inner_start_alignment,
  inner_start_packed,
  negative_store_start,
  outside_pixel_box,
  im2col_offset_range,
  store_beyond_tensor,
};

SM100_HD constexpr const char* message(CopyError error) {
  switch (error) {
    case CopyError::none: return "ok";
    case CopyError::inner_start_alignment:
      return "coordinate 0 times the element size must be a multiple of 16 bytes";
    case CopyError::inner_start_packed: return "coordinate 0 must be a multiple of 128 for the ALIGN16B types";
    case CopyError::negative_store_start: return "a store's start coordinates must not be negative";
    case CopyError::outside_pixel_box:
      return "the first pixel of an im2col copy must be inside the map's bounding box";
    case CopyError::store_beyond_tensor: return "the pixel box of an im2col store must not reach beyond the tensor";
    case CopyError::im2col_offset_range: return "im2col offsets must be below 2^8 (rank 4) or 2^5 (rank 5)";
  }
  return "?";
}

SM100_HD constexpr bool inner_start_aligned(const TensorMapFields& f, int32_t c0) {
  return int64_t{c0} * element_bits(f.data_type) % 128 == 0;
}

SM100_HD constexpr CopyError validate_im2col(const TensorMapFields& f, const int32_t* coords) {
  for (uint32_t i = 0; i < image_rank(f); ++i) {
    const int64_t x = coords[i + 1], last = static_cast<int64_t>(f.global_dim[i + 1]) - 1 + f.pixel_box_upper[i];
    if (x < f.pixel_box_lower[i] || x > last) return CopyError::outside_pixel_box;
    if (f.rank > 3 && f.im2col_offset[i] >> (f.rank == 4 ? 8 : 5) != 0) return CopyError::im2col_offset_range;
  }
  return CopyError::none;
}

SM100_HD constexpr CopyError validate_load(const TensorMapFields& f, const int32_t* coords) {
  if (f.im2col)
    if (const CopyError error = validate_im2col(f, coords); error != CopyError::none) return error;
  if (is_align16b(f.data_type)) return coords[0] % 128 == 0 ? CopyError::none : CopyError::inner_start_packed;
  return inner_start_aligned(f, coords[0]) ? CopyError::none : CopyError::inner_start_alignment;
}

SM100_HD constexpr CopyError validate_store(const TensorMapFields& f, const int32_t* coords) {
  for (uint32_t i = 0; i < coordinate_count(f); ++i)
    if (coords[i] < 0) return CopyError::negative_store_start;
  for (uint32_t i = 0; f.im2col && i < image_rank(f); ++i)
    if (f.pixel_box_lower[i] < 0 || f.pixel_box_upper[i] > 0) return CopyError::store_beyond_tensor;
  return validate_load(f, coords);
}

}  // namespace sm100
