// SPDX-License-Identifier: Apache-2.0
// Instruction descriptors against those that CuTe makes, and the shape tables of PTX 9.7.16.
#include "kernels/isa/instr_descriptor.h"

#include <string>

#include "catch.h"

using namespace sm100;

namespace {

InstrDescriptorError verdict(InstrDescriptor d, MmaKind kind, int cta_group) {
  return validate(decode(d, kind), kind, cta_group);
}

/// bf16 → f32 of a shape.
InstrDescriptorError shape(int m, int n, int cta_group) {
  return verdict(make_instr_descriptor(MmaKind::f16, DataType::bf16, DataType::bf16, DataType::f32, m, n),
                 MmaKind::f16, cta_group);
}

InstrDescriptorError i8_shape(int m, int n, int cta_group) {
  return verdict(make_instr_descriptor(MmaKind::i8, DataType::s8, DataType::s8, DataType::f32, m, n), MmaKind::i8,
                 cta_group);
}

}  // namespace

TEST_CASE("Are the instruction descriptors those that CuTe makes? (PTX 9.7.16)", "[instr_descriptor]") {
  using enum DataType;
  const auto f16k = [](DataType a, DataType b, DataType d, int m, int n, bool mn_a = false, bool mn_b = false,
                       bool neg_a = false) {
    return make_instr_descriptor(MmaKind::f16, a, b, d, m, n, mn_a, mn_b, neg_a).bits;
  };
  CHECK(f16k(bf16, bf16, f32, 128, 128) == 0x08200490);
  CHECK(f16k(bf16, bf16, f32, 128, 256) == 0x08400490);
  CHECK(f16k(f16, f16, f16, 64, 8) == 0x04020000);
  CHECK(f16k(f16, f16, f32, 256, 256, true) == 0x10408010);
  CHECK(f16k(bf16, bf16, f32, 256, 256, false, true) == 0x10410490);
  CHECK(f16k(bf16, bf16, f32, 128, 128, false, false, true) == 0x08202490);
  CHECK(make_instr_descriptor(MmaKind::tf32, tf32, tf32, f32, 128, 64).bits == 0x08100910);
  CHECK(make_instr_descriptor(MmaKind::f8f6f4, e4m3, e5m2, f32, 128, 128).bits == 0x08200410);
  CHECK(make_instr_descriptor(MmaKind::f8f6f4, e2m1, e3m2, f32, 128, 128).bits == 0x08201290);
  CHECK(make_instr_descriptor(MmaKind::i8, s8, u8, f32, 128, 128).bits == 0x082000a0);
  CHECK(make_instr_descriptor(MmaKind::mxf8f6f4, e4m3, e4m3, f32, 128, 128).bits == 0x08a00000);
  CHECK(make_instr_descriptor(MmaKind::mxf8f6f4, e4m3, e4m3, f32, 256, 256).bits == 0x10c00000);
  CHECK(make_instr_descriptor(MmaKind::mxf4nvf4, e2m1, e2m1, f32, 128, 128).bits == 0x08200480);
  CHECK(make_instr_descriptor(MmaKind::mxf4, e2m1, e2m1, f32, 256, 128).bits == 0x10a00480);
}

TEST_CASE("Does decode read every field of a dense descriptor? (PTX 9.7.16)", "[instr_descriptor]") {
  const InstrDescriptorFields f = decode(InstrDescriptor{0x10410490});  // bf16, 256x256, B MN-major
  CHECK(f.d_type == kDTypeF32);
  CHECK(f.a_type == 1);
  CHECK(f.b_type == 1);
  CHECK(f.m == 256);
  CHECK(f.n == 256);
  CHECK_FALSE(f.transpose_a);
  CHECK(f.transpose_b);
  CHECK_FALSE(f.negate_a);
  CHECK_FALSE(f.sparse);
  CHECK(f.reserved == 0);
  const InstrDescriptorFields g = decode(InstrDescriptor{0xc820a49c});  // every flag of the first half by hand
  CHECK(g.sparse);
  CHECK(g.saturate);
  CHECK(g.negate_a);
  CHECK(g.transpose_a);
  CHECK(g.max_shift == 3);
  CHECK(g.m == 128);
}

TEST_CASE("Does decode read the block-scaled format by kind? (PTX 9.7.16)", "[instr_descriptor]") {
  const InstrDescriptor d = make_block_scaled_instr_descriptor(MmaKind::mxf8f6f4, DataType::e4m3, DataType::e5m2,
                                                               true, 128, 96, false, true, false, false, 3, 2);
  // M>>7 = 1 at 27, SFA 3 at 29, ue8m0 at 23, N>>3 = 12 at 17, transpose B at 16, B type 1 at 10, SFB 2 at 4.
  CHECK(d.bits == 0x68990420);
  const InstrDescriptorFields f = decode(d, MmaKind::mxf8f6f4);
  CHECK(f.m == 128);
  CHECK(f.n == 96);
  CHECK(f.sfa_id == 3);
  CHECK(f.sfb_id == 2);
  CHECK(f.scale_ue8m0);
  CHECK(f.b_type == 1);
  CHECK(f.transpose_b);
  CHECK(f.d_type == kDTypeF32);
  CHECK(f.max_shift == 0);
  CHECK(f.reserved == 0);
}

TEST_CASE("What is K of one instruction? (PTX 9.7.16)", "[instr_descriptor]") {
  CHECK(mma_k(MmaKind::f16) == 16);
  CHECK(mma_k(MmaKind::tf32) == 8);
  CHECK(mma_k(MmaKind::f8f6f4) == 32);
  CHECK(mma_k(MmaKind::i8) == 32);
  CHECK(mma_k(MmaKind::mxf8f6f4) == 32);
  CHECK(mma_k(MmaKind::mxf4) == 64);
  CHECK(mma_k(MmaKind::mxf4nvf4) == 64);
}

TEST_CASE("Which type codes does each kind have? (PTX 9.7.16)", "[instr_descriptor]") {
  const auto codes = [](MmaKind kind) {
    std::string s;
    for (uint32_t code = 0; code < 8; ++code) {
      const OperandType t = a_data_type(kind, code);
      s += t.ok ? name(t.type) : "-";
      s += ' ';
    }
    return s;
  };
  CHECK(codes(MmaKind::f16) == "f16 bf16 - - - - - - ");
  CHECK(codes(MmaKind::tf32) == "- - tf32 - - - - - ");
  CHECK(codes(MmaKind::f8f6f4) == "e4m3 e5m2 - e2m3 e3m2 e2m1 - - ");
  CHECK(codes(MmaKind::mxf8f6f4) == "e4m3 e5m2 - e2m3 e3m2 e2m1 - - ");
  CHECK(codes(MmaKind::i8) == "u8 s8 - - - - - - ");
  CHECK(codes(MmaKind::mxf4) == "- e2m1 - - - - - - ");
  CHECK(codes(MmaKind::mxf4nvf4) == "- e2m1 - - - - - - ");
}

TEST_CASE("Which shapes may an instruction have? (PTX 9.7.16)", "[instr_descriptor]") {
  const auto ok = InstrDescriptorError::none, bad_m = InstrDescriptorError::m_of_cta_group,
             bad_n = InstrDescriptorError::n_of_shape;
  CHECK(shape(64, 8, 1) == ok);
  CHECK(shape(128, 256, 1) == ok);
  CHECK(shape(64, 72, 1) == ok);
  CHECK(shape(256, 128, 1) == bad_m);
  CHECK(shape(32, 64, 1) == bad_m);  // .ws only
  CHECK(shape(96, 64, 1) == bad_m);
  CHECK(shape(128, 0, 1) == bad_n);
  CHECK(shape(128, 264, 1) == bad_n);
  CHECK(shape(128, 16, 2) == ok);
  CHECK(shape(256, 256, 2) == ok);
  CHECK(shape(64, 64, 2) == bad_m);
  CHECK(shape(256, 24, 2) == bad_n);
  CHECK(shape(128, 128, 3) == bad_m);

  for (int n : {8, 16, 24, 32, 48, 240, 256}) CHECK(i8_shape(128, n, 1) == ok);
  for (int n : {40, 56, 248}) CHECK(i8_shape(128, n, 1) == bad_n);
  CHECK(i8_shape(256, 32, 2) == ok);
  CHECK(i8_shape(256, 48, 2) == bad_n);

  const auto mx = [](int m, int n, int cta_group) {
    return verdict(make_instr_descriptor(MmaKind::mxf4nvf4, DataType::e2m1, DataType::e2m1, DataType::f32, m, n),
                   MmaKind::mxf4nvf4, cta_group);
  };
  CHECK(mx(128, 8, 1) == ok);
  CHECK(mx(64, 64, 1) == bad_m);
  CHECK(mx(128, 256, 2) == ok);
  CHECK(mx(256, 16, 2) == ok);
  CHECK(mx(256, 8, 2) == bad_n);
}

TEST_CASE("Is N of an MN-major 8-bit B a multiple of 16? (PTX 9.7.16)", "[instr_descriptor]") {
  const auto fp8 = [](int m, int n, bool mn_b, int cta_group) {
    return verdict(
        make_instr_descriptor(MmaKind::f8f6f4, DataType::e4m3, DataType::e4m3, DataType::f32, m, n, false, mn_b),
        MmaKind::f8f6f4, cta_group);
  };
  CHECK(fp8(128, 24, false, 1) == InstrDescriptorError::none);
  CHECK(fp8(128, 24, true, 1) == InstrDescriptorError::n_of_shape);
  CHECK(fp8(128, 48, true, 1) == InstrDescriptorError::none);
  CHECK(fp8(256, 48, false, 2) == InstrDescriptorError::none);
  CHECK(fp8(256, 48, true, 2) == InstrDescriptorError::n_of_shape);
  CHECK(fp8(256, 64, true, 2) == InstrDescriptorError::none);
}

TEST_CASE("Which accumulator types does each kind take? (PTX 9.7.16)", "[instr_descriptor]") {
  using enum DataType;
  const auto d = [](MmaKind kind, DataType ab, uint32_t d_type) {
    InstrDescriptor i = make_instr_descriptor(kind, ab, ab, f32, 128, 128);
    i.bits = (i.bits & ~0x30u) | d_type << 4;
    return verdict(i, kind, 1) == InstrDescriptorError::none;
  };
  CHECK(d(MmaKind::f16, f16, kDTypeF16));
  CHECK_FALSE(d(MmaKind::f16, bf16, kDTypeF16));
  CHECK_FALSE(d(MmaKind::f16, f16, kDTypeS32));
  CHECK_FALSE(d(MmaKind::tf32, tf32, kDTypeF16));
  CHECK(d(MmaKind::f8f6f4, e2m1, kDTypeF16));
  CHECK(d(MmaKind::i8, u8, kDTypeS32));
  CHECK_FALSE(d(MmaKind::i8, u8, kDTypeF32));
  CHECK_FALSE(d(MmaKind::f8f6f4, e4m3, 3));
}

TEST_CASE("Which other descriptors are refused? (TC5)", "[instr_descriptor]") {
  const uint32_t bf16 = 0x08200490;
  const auto with = [&](uint32_t bits, MmaKind kind = MmaKind::f16) {
    return verdict(InstrDescriptor{bf16 | bits}, kind, 1);
  };
  CHECK(with(0) == InstrDescriptorError::none);
  for (int bit : {0, 1, 3, 6, 23, 29, 30, 31}) {
    CAPTURE(bit);
    CHECK(with(1u << bit) == InstrDescriptorError::reserved_bits);
  }
  CHECK(with(1u << 2) == InstrDescriptorError::sparse);
  CHECK(with(0, MmaKind::tf32) == InstrDescriptorError::type_of_kind);
  // A type that the kind does not have, at construction.
  CHECK(verdict(make_instr_descriptor(MmaKind::f16, DataType::e4m3, DataType::bf16, DataType::f32, 128, 128),
                MmaKind::f16, 1) == InstrDescriptorError::type_of_kind);

  const uint32_t s8 = 0x082000a0;
  CHECK(verdict({s8 | 1u << 3}, MmaKind::i8, 1) == InstrDescriptorError::none);  // saturate
  CHECK(verdict({s8 | 1u << 13}, MmaKind::i8, 1) == InstrDescriptorError::negate);
  CHECK(verdict({s8 | 1u << 14}, MmaKind::i8, 1) == InstrDescriptorError::negate);

  const uint32_t nvf4 = 0x08200480, mxf8 = 0x08a00000;
  for (int bit : {0, 1, 3, 6, 24, 25, 26, 31}) {
    CAPTURE(bit);
    CHECK(verdict({nvf4 | 1u << bit}, MmaKind::mxf4nvf4, 1) == InstrDescriptorError::reserved_bits);
  }
  CHECK(verdict({nvf4 | 1u << 16}, MmaKind::mxf4nvf4, 1) == InstrDescriptorError::transpose);
  CHECK(verdict({mxf8 | 1u << 16}, MmaKind::mxf8f6f4, 1) == InstrDescriptorError::none);
  // Scale factors: ue4m3 has no ids and belongs to mxf4nvf4; mxf8f6f4 may name any byte.
  CHECK(verdict({nvf4 | 2u << 29}, MmaKind::mxf4nvf4, 1) == InstrDescriptorError::scale_type);
  CHECK(verdict({nvf4 | 1u << 23 | 2u << 29}, MmaKind::mxf4nvf4, 1) == InstrDescriptorError::none);
  CHECK(verdict({nvf4 | 1u << 23 | 1u << 29}, MmaKind::mxf4, 1) == InstrDescriptorError::scale_type);
  CHECK(verdict({nvf4}, MmaKind::mxf4, 1) == InstrDescriptorError::scale_type);
  CHECK(verdict({mxf8 | 3u << 29 | 1u << 4}, MmaKind::mxf8f6f4, 1) == InstrDescriptorError::none);
}

TEST_CASE("Which scale_vec does a kind have, and which scale factors does it take? (PTX 9.7.16)",
          "[instr_descriptor]") {
  const uint32_t ue8m0 = 1u << 23;
  const auto verdict = [](uint32_t bits, MmaKind kind, ScaleVec v) {
    return validate(decode(InstrDescriptor{bits}, kind), kind, 1, v);
  };
  using enum InstrDescriptorError;
  constexpr ScaleVec x1 = ScaleVec::x1, x2 = ScaleVec::x2, x4 = ScaleVec::x4;
  const uint32_t fp4 = 0x08200480, fp8 = 0x08200000, bf16 = 0x08200490;
  const struct {
    MmaKind kind;
    uint32_t bits;
    ScaleVec allowed[2];
  } kinds[] = {{MmaKind::f16, bf16, {ScaleVec::none, ScaleVec::none}},
               {MmaKind::mxf8f6f4, fp8 | ue8m0, {x1, x1}},
               {MmaKind::mxf4, fp4 | ue8m0, {x2, x2}},
               {MmaKind::mxf4nvf4, fp4 | ue8m0, {x2, x4}}};
  for (const auto& k : kinds)
    for (const ScaleVec v : {ScaleVec::none, x1, x2, x4}) {
      CAPTURE(name(k.kind), name(v));
      const bool allowed = v == k.allowed[0] || v == k.allowed[1];
      CHECK(verdict(k.bits, k.kind, v) == (allowed ? none : scale_vec));
    }
  // ue4m3 with 4X alone.
  CHECK(verdict(fp4, MmaKind::mxf4nvf4, x4) == none);
  CHECK(verdict(fp4, MmaKind::mxf4nvf4, x2) == scale_type);
  CHECK(verdict(fp4, MmaKind::mxf4, x2) == scale_type);
  CHECK(verdict(fp8, MmaKind::mxf8f6f4, x1) == scale_type);
  // The ids name a byte, a half, or nothing.
  for (const uint32_t id : {0u, 1u, 2u, 3u})
    for (const int field : {4, 29}) {
      CAPTURE(id, field);
      const uint32_t bits = ue8m0 | id << field;
      CHECK(verdict(fp8 | bits, MmaKind::mxf8f6f4, x1) == none);
      CHECK(verdict(fp4 | bits, MmaKind::mxf4, x2) == (id % 2 == 0 ? none : scale_type));
      CHECK(verdict(fp4 | bits, MmaKind::mxf4nvf4, x4) == (id == 0 ? none : scale_type));
    }
  CHECK(scale_block(MmaKind::mxf8f6f4, x1) == 32);
  CHECK(scale_block(MmaKind::mxf4nvf4, x2) == 32);
  CHECK(scale_block(MmaKind::mxf4nvf4, x4) == 16);
}
