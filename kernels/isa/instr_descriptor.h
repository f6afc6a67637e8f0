// SPDX-License-Identifier: Apache-2.0
/// The 32-bit instruction descriptor of tcgen05.mma.
/// Source: PTX 9.7.16 "Instruction descriptor" and the shape tables (checked against CuTe).
///
/// Dense
///   1:0 sparsity selector  2 sparse  3 saturate  5:4 D type  9:7 A type  12:10 B type  13, 14 negate A, B
///   15, 16 transpose A, B  22:17 N>>3  28:24 M>>4  31:30 .ws column shift   (6, 23, 29 reserved)
/// Block-scaled
///   2 sparse  5:4 SFB id  9:7 A type  12:10 B type  13…16 as above  22:17 N>>3  23 scale type
///   28:27 M>>7  30:29 SFA id   (1:0, 3, 6, 26:24 reserved; 31 is K = 96, sm_103a only)
/// M and N are the whole instruction's.  K and cta_group are not in it.  Not modelled: .ws column shift.
#pragma once

#include "kernels/isa/number_formats.h"

namespace sm100 {

/// `.kind::` of the instruction.
enum class MmaKind : uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };

SM100_HD constexpr const char* name(MmaKind kind) {
  switch (kind) {
    case MmaKind::f16: return "f16";
    case MmaKind::tf32: return "tf32";
    case MmaKind::f8f6f4: return "f8f6f4";
    case MmaKind::i8: return "i8";
    case MmaKind::mxf8f6f4: return "mxf8f6f4";
    case MmaKind::mxf4: return "mxf4";
    case MmaKind::mxf4nvf4: return "mxf4nvf4";
  }
  return "?";
}

SM100_HD constexpr bool is_block_scaled(MmaKind kind) {
  return kind == MmaKind::mxf8f6f4 || kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4;
}

/// K of one instruction: 32 bytes of each operand row; of a sparse one (.sp) 32 bytes of A stand for twice the K.
SM100_HD constexpr int mma_k(MmaKind kind, bool sparse = false) {
  const int twice = sparse ? 2 : 1;
  switch (kind) {
    case MmaKind::f16: return 16 * twice;
    case MmaKind::tf32: return 8 * twice;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4: return 64 * twice;
    default: return 32 * twice;
  }
}

/// Modifiers of the opcode that change what an MMA is.
struct MmaModifiers {
  bool sp = false;  ///< .sp: A has every second element, metadata say which (PTX 9.7.16.10.8)
  bool ws = false;  ///< .ws: B stays in the tensor core ("weight stationary"), A streams
  constexpr bool operator==(const MmaModifiers&) const = default;
};

/// `.scale_vec::` of a block-scaled instruction: how many scale factors the K of a row has.
enum class ScaleVec : uint8_t {
  none = 0,  ///< not block-scaled
  x1 = 1,    ///< .scale_vec::1X
  x2 = 2,
  x4 = 4,
};

SM100_HD constexpr const char* name(ScaleVec v) {
  switch (v) {
    case ScaleVec::none: return "none";
    case ScaleVec::x1: return "1X";
    case ScaleVec::x2: return "2X";
    case ScaleVec::x4: return "4X";
  }
  return "?";
}

/// What most kernels use; for mxf8f6f4 and mxf4 the only one, and what PTX takes where the qualifier is left out.
SM100_HD constexpr ScaleVec usual_scale_vec(MmaKind kind) {
  switch (kind) {
    case MmaKind::mxf8f6f4: return ScaleVec::x1;
    case MmaKind::mxf4: return ScaleVec::x2;
    case MmaKind::mxf4nvf4: return ScaleVec::x4;
    default: return ScaleVec::none;
  }
}

SM100_HD constexpr bool scale_vec_allowed(MmaKind kind, ScaleVec v) {
  return v == usual_scale_vec(kind) || (kind == MmaKind::mxf4nvf4 && v == ScaleVec::x2);
}

/// Elements along K that share a scale factor: 32, or 16 for mxf4nvf4 with 4X.
SM100_HD constexpr int scale_block(MmaKind kind, ScaleVec v) { return mma_k(kind) / int(v); }

struct InstrDescriptor {
  uint32_t bits = 0;
  constexpr bool operator==(const InstrDescriptor&) const = default;
};

/// Codes of the D type field.
inline constexpr uint32_t kDTypeF16 = 0, kDTypeF32 = 1, kDTypeS32 = 2;

struct InstrDescriptorFields {
  uint32_t d_type = 0, a_type = 0, b_type = 0;  ///< codes; their meaning depends on the kind
  bool negate_a = false, negate_b = false;
  bool transpose_a = false, transpose_b = false;  ///< set: MN-major
  uint32_t n = 0, m = 0;
  bool sparse = false, saturate = false;
  uint32_t sparsity_selector = 0;  ///< .sp only: which column of the metadata; 0 of the block-scaled kinds
  uint32_t reserved = 0;           ///< the reserved bits that are set, in place
  uint32_t max_shift = 0;          ///< .ws only
  // Block-scaled kinds only.
  bool scale_ue8m0 = false;  ///< else ue4m3
  uint32_t sfa_id = 0, sfb_id = 0;
};

// ---- type codes ----

struct OperandType {
  DataType type = DataType::f16;
  bool ok = false;  ///< false: this kind has no such code
};

SM100_HD constexpr OperandType a_data_type(MmaKind kind, uint32_t code) {
  switch (kind) {
    case MmaKind::f16:
      if (code == 0) return {DataType::f16, true};
      if (code == 1) return {DataType::bf16, true};
      break;
    case MmaKind::tf32:
      if (code == 2) return {DataType::tf32, true};
      break;
    case MmaKind::f8f6f4:
    case MmaKind::mxf8f6f4:
      if (code == 0) return {DataType::e4m3, true};
      if (code == 1) return {DataType::e5m2, true};
      if (code == 3) return {DataType::e2m3, true};
      if (code == 4) return {DataType::e3m2, true};
      if (code == 5) return {DataType::e2m1, true};
      break;
    case MmaKind::i8:
      if (code == 0) return {DataType::u8, true};
      if (code == 1) return {DataType::s8, true};
      break;
    case MmaKind::mxf4:
    case MmaKind::mxf4nvf4:
      if (code == 1) return {DataType::e2m1, true};
      break;
  }
  return {};
}

SM100_HD constexpr OperandType b_data_type(MmaKind kind, uint32_t code) { return a_data_type(kind, code); }

struct TypeCode {
  uint32_t code = 7;  ///< no kind uses 7, so a descriptor made from a wrong type does not validate
  bool ok = false;
};

/// The inverse of a_data_type.
SM100_HD constexpr TypeCode type_code(MmaKind kind, DataType type) {
  for (uint32_t code = 0; code < 8; ++code) {
    const OperandType candidate = a_data_type(kind, code);
    if (candidate.ok && candidate.type == type) return {code, true};
  }
  return {};
}

// ---- construction ----

namespace detail {
SM100_HD constexpr uint32_t instr_common_bits(MmaKind kind, DataType a, DataType b, int n, bool a_mn_major,
                                              bool b_mn_major, bool negate_a, bool negate_b) {
  return type_code(kind, a).code << 7 | type_code(kind, b).code << 10 | uint32_t{negate_a} << 13 |
         uint32_t{negate_b} << 14 | uint32_t{a_mn_major} << 15 | uint32_t{b_mn_major} << 16 |
         (static_cast<uint32_t>(n) >> 3 & 0x3f) << 17;
}
}  // namespace detail

/// Block-scaled kinds: D is always f32.
SM100_HD constexpr InstrDescriptor make_block_scaled_instr_descriptor(MmaKind kind, DataType a, DataType b,
                                                                      bool scale_ue8m0, int m, int n,
                                                                      bool a_mn_major = false,
                                                                      bool b_mn_major = false,
                                                                      bool negate_a = false, bool negate_b = false,
                                                                      uint32_t sfa_id = 0, uint32_t sfb_id = 0) {
  return {detail::instr_common_bits(kind, a, b, n, a_mn_major, b_mn_major, negate_a, negate_b) | (sfb_id & 3) << 4 |
          uint32_t{scale_ue8m0} << 23 | (static_cast<uint32_t>(m) >> 7 & 3) << 27 | (sfa_id & 3) << 29};
}

/// `d` is f16 or f32; kind::i8 always accumulates s32.  A block-scaled kind gets the usual scale type: ue4m3
/// for mxf4nvf4, ue8m0 for the others.
SM100_HD constexpr InstrDescriptor make_instr_descriptor(MmaKind kind, DataType a, DataType b, DataType d, int m,
                                                         int n, bool a_mn_major = false, bool b_mn_major = false,
                                                         bool negate_a = false, bool negate_b = false) {
  if (is_block_scaled(kind))
    return make_block_scaled_instr_descriptor(kind, a, b, kind != MmaKind::mxf4nvf4, m, n, a_mn_major, b_mn_major,
                                              negate_a, negate_b);
  const uint32_t d_type = kind == MmaKind::i8 ? kDTypeS32 : d == DataType::f16 ? kDTypeF16 : kDTypeF32;
  return {detail::instr_common_bits(kind, a, b, n, a_mn_major, b_mn_major, negate_a, negate_b) | d_type << 4 |
          (static_cast<uint32_t>(m) >> 4 & 0x1f) << 24};
}

/// The bits do not say which of the two formats they are in: the opcode's kind does.
SM100_HD constexpr InstrDescriptorFields decode(InstrDescriptor descriptor, MmaKind kind = MmaKind::f16) {
  const uint32_t b = descriptor.bits;
  InstrDescriptorFields f;
  f.sparse = b >> 2 & 1;
  f.a_type = b >> 7 & 7;
  f.b_type = b >> 10 & 7;
  f.negate_a = b >> 13 & 1;
  f.negate_b = b >> 14 & 1;
  f.transpose_a = b >> 15 & 1;
  f.transpose_b = b >> 16 & 1;
  f.n = (b >> 17 & 0x3f) << 3;
  if (is_block_scaled(kind)) {
    f.d_type = kDTypeF32;
    f.m = (b >> 27 & 3) << 7;
    f.scale_ue8m0 = b >> 23 & 1;
    f.sfb_id = b >> 4 & 3;
    f.sfa_id = b >> 29 & 3;
    f.reserved = b & 0x8700004bu;
  } else {
    f.d_type = b >> 4 & 3;
    f.m = (b >> 24 & 0x1f) << 4;
    f.saturate = b >> 3 & 1;
    f.max_shift = b >> 30;
    f.sparsity_selector = f.sparse ? b & 3 : 0;
    // The sparsity selector means something only with the sparse bit, saturate only for integers.
    f.reserved = b & (0x20800040u | (f.sparse ? 0u : 3u) | (kind == MmaKind::i8 ? 0u : 8u));
  }
  return f;
}

// ---- validation: the shape tables of PTX 9.7.16 ----

enum class InstrDescriptorError : uint8_t {
  none,
  reserved_bits,
  type_of_kind,
  m_of_cta_group,
  n_of_shape,
  d_type,
  transpose,
  negate,
  sparse,      ///< the descriptor says so and the opcode does not, or the reverse
  selector,    ///< of sparsity
  ws,          ///< a group or kind that .ws does not have
  shift,       ///< not modelled
  scale_vec,   ///< .scale_vec:: that the kind does not have
  scale_type,  ///< block-scaled: scale format or scale-factor id
};

SM100_HD constexpr const char* message(InstrDescriptorError error) {
  switch (error) {
    case InstrDescriptorError::none: return "ok";
    case InstrDescriptorError::reserved_bits:
      return "reserved bits must be 0 (dense: 6, 23, 29, saturate except for i8, 31:30 except for .ws; "
             "block-scaled: "
             "1:0, 3, 6, 26:24, 31)";
    case InstrDescriptorError::type_of_kind:
      return "A and B type codes: f16 0 f16, 1 bf16; tf32 2; f8f6f4 and mxf8f6f4 0 e4m3, 1 e5m2, 3 e2m3, 4 "
             "e3m2, "
             "5 e2m1; i8 0 u8, 1 s8; mxf4 and mxf4nvf4 1 e2m1";
    case InstrDescriptorError::m_of_cta_group:
      return "M must be 64 or 128 with cta_group::1 (block-scaled: 128; .ws: 32, 64 or 128), 128 or 256 with "
             "cta_group::2 (block-scaled .sp: 256)";
    case InstrDescriptorError::n_of_shape:
      return "N must be 8 ... 256 step 8 with cta_group::1, 16 ... 256 step 16 with cta_group::2; kind::i8: "
             "8, 16, 24 "
             "or 32 ... 256 step 16, and 32 ... 256 step 32; 8-bit MN-major B: a multiple of 16, and of 32; .ws: "
             "64, "
             "128 or 256 (.ws.sp: 64 or 128)";
    case InstrDescriptorError::d_type:
      return "D must be f32, or f16 for kind::f8f6f4 and for kind::f16 with f16 A and B; kind::i8: s32";
    case InstrDescriptorError::transpose: return "kind::mxf4 and kind::mxf4nvf4 take K-major A and B only";
    case InstrDescriptorError::negate: return "kind::i8 cannot negate A or B";
    case InstrDescriptorError::sparse: return "bit 2 (sparse) must be set with .sp, and only with it";
    case InstrDescriptorError::selector:
      return "the sparsity selector (bits 1:0) must be 0, with kind::f16 and kind::tf32 0 or 1";
    case InstrDescriptorError::ws: return ".ws is of cta_group::1 and of kinds without scale factors";
    case InstrDescriptorError::shift: return "not implemented: .ws with a column shift";
    case InstrDescriptorError::scale_vec:
      return "scale_vec: mxf8f6f4 has 1X (block32), mxf4 2X (block32), mxf4nvf4 2X (block32) or 4X (block16); the "
             "other kinds have no scale factors";
    case InstrDescriptorError::scale_type:
      return "scale factors: 1X ue8m0, ids 0 ... 3; 2X ue8m0, ids 0 and 2; 4X ue8m0 or ue4m3, id 0";
  }
  return "?";
}

namespace detail {

SM100_HD constexpr bool d_type_ok(const InstrDescriptorFields& f, MmaKind kind) {
  switch (kind) {
    case MmaKind::f16:  // f16 accumulation only for f16 inputs: bf16 values would not fit
      return f.d_type == kDTypeF32 || (f.d_type == kDTypeF16 && f.a_type == 0 && f.b_type == 0);
    case MmaKind::f8f6f4: return f.d_type == kDTypeF32 || f.d_type == kDTypeF16;
    case MmaKind::i8: return f.d_type == kDTypeS32;
    default: return f.d_type == kDTypeF32;
  }
}

SM100_HD constexpr bool m_ok(uint32_t m, MmaKind kind, int cta_group, MmaModifiers modifiers) {
  if (modifiers.ws) return m == 32 || m == 64 || m == 128;
  if (cta_group == 2) return (m == 128 && !(modifiers.sp && is_block_scaled(kind))) || m == 256;
  return cta_group == 1 && (m == 128 || (m == 64 && !is_block_scaled(kind)));
}

SM100_HD constexpr bool n_ok(const InstrDescriptorFields& f, MmaKind kind, int cta_group, MmaModifiers modifiers) {
  const uint32_t n = f.n;
  if (n == 0 || n > 256) return false;
  if (modifiers.ws) return n == 64 || n == 128 || (n == 256 && !modifiers.sp);
  const uint32_t group = static_cast<uint32_t>(cta_group);
  const bool bytes = kind == MmaKind::f8f6f4 || kind == MmaKind::i8 || kind == MmaKind::mxf8f6f4;
  if (bytes && f.transpose_b && n % (16 * group) != 0) return false;
  if (kind == MmaKind::i8) return group == 2 ? n % 32 == 0 : n % 16 == 0 || n == 8 || n == 24;
  return n % (8 * group) == 0;
}

SM100_HD constexpr bool scale_ok(const InstrDescriptorFields& f, ScaleVec v) {
  switch (v) {
    case ScaleVec::none: return true;
    case ScaleVec::x1: return f.scale_ue8m0;                                            // a byte of the cell
    case ScaleVec::x2: return f.scale_ue8m0 && f.sfa_id % 2 == 0 && f.sfb_id % 2 == 0;  // a half of it
    case ScaleVec::x4: return f.sfa_id == 0 && f.sfb_id == 0;
  }
  return false;
}

}  // namespace detail

/// kind::i8 over a pair with N a multiple of 16: PTX allows multiples of 32, and a B200 has been seen to execute
/// the others in the time of its neighbours (docs/measurements.md, law 4.1); what they compute nobody has
/// published.
SM100_HD constexpr bool executes_all_the_same(const InstrDescriptorFields& f, MmaKind kind, int cta_group) {
  return kind == MmaKind::i8 && cta_group == 2 && f.n % 16 == 0 && f.n > 0 && f.n <= 256;
}

/// First rule that the descriptor breaks.  `f` must come from decode(descriptor, kind).
SM100_HD constexpr InstrDescriptorError validate(const InstrDescriptorFields& f, MmaKind kind, int cta_group,
                                                 ScaleVec scale_vec, MmaModifiers modifiers = {}) {
  if (f.reserved != 0 || (f.max_shift != 0 && !modifiers.ws)) return InstrDescriptorError::reserved_bits;
  if (f.sparse != modifiers.sp) return InstrDescriptorError::sparse;
  const bool selects = kind == MmaKind::f16 || kind == MmaKind::tf32;
  if (f.sparsity_selector > (selects ? 1u : 0u)) return InstrDescriptorError::selector;
  if (modifiers.ws && (cta_group != 1 || is_block_scaled(kind))) return InstrDescriptorError::ws;
  if (f.max_shift != 0) return InstrDescriptorError::shift;
  if (!a_data_type(kind, f.a_type).ok || !b_data_type(kind, f.b_type).ok) return InstrDescriptorError::type_of_kind;
  if (!detail::d_type_ok(f, kind)) return InstrDescriptorError::d_type;
  const bool fp4_only = kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4;
  if (fp4_only && (f.transpose_a || f.transpose_b)) return InstrDescriptorError::transpose;
  if (kind == MmaKind::i8 && (f.negate_a || f.negate_b)) return InstrDescriptorError::negate;
  if (!detail::m_ok(f.m, kind, cta_group, modifiers)) return InstrDescriptorError::m_of_cta_group;
  if (!detail::n_ok(f, kind, cta_group, modifiers)) return InstrDescriptorError::n_of_shape;
  if (!scale_vec_allowed(kind, scale_vec)) return InstrDescriptorError::scale_vec;
  if (!detail::scale_ok(f, scale_vec)) return InstrDescriptorError::scale_type;
  return InstrDescriptorError::none;
}
/// With the scale_vec that the kind and the type of its scale factors usually go with.
SM100_HD constexpr InstrDescriptorError validate(const InstrDescriptorFields& f, MmaKind kind, int cta_group) {
  const bool both = kind == MmaKind::mxf4nvf4 && f.scale_ue8m0 && (f.sfa_id != 0 || f.sfb_id != 0);
  return validate(f, kind, cta_group, both ? ScaleVec::x2 : usual_scale_vec(kind));
}

}  // namespace sm100
