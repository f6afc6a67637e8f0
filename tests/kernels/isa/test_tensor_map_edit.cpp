// SPDX-License-Identifier: Apache-2.0
// tensormap.replace: every field of a map changes and nothing else does; PTX's numbers of types and swizzles.
#include "kernels/isa/tensor_map_edit.h"

#include <cstring>

#include "catch.h"

using namespace sm100;

namespace {

TensorMapFields fields() {
  TensorMapFields f;
  f.data_type = TensorMapDataType::uint16;
  f.rank = 3;
  f.global_address = 0x1000;
  for (uint32_t i = 0; i < 3; ++i) f.global_dim[i] = 64 + i, f.box_dim[i] = 8 + i, f.element_stride[i] = 1;
  f.global_stride[0] = 256, f.global_stride[1] = 4096;
  f.swizzle = TensorMapSwizzle::b128;
  return f;
}

/// The map after one replace.
TensorMapFields replaced(TensorMapField field, uint32_t ordinal, uint64_t value, TensorMapFields from = fields()) {
  TensorMap map = encode(from);
  REQUIRE(replace(map, field, ordinal, value));
  TensorMapFields f;
  REQUIRE(decode(map, f));
  return f;
}

bool same(const TensorMapFields& a, const TensorMapFields& b) {
  const TensorMap x = encode(a), y = encode(b);
  return std::memcmp(x.bytes, y.bytes, sizeof x.bytes) == 0;
}

}  // namespace

TEST_CASE("tensormap.replace changes its field and no other", "[tensor_map]") {
  using F = TensorMapField;
  TensorMapFields f = fields();
  f.global_address = 0xabcdef0;
  CHECK(same(replaced(F::global_address, 0, 0xabcdef0), f));
  f = fields(), f.rank = 5;
  CHECK(same(replaced(F::rank, 0, 4), f));  // the operand is the rank less one
  f = fields(), f.box_dim[2] = 77;
  CHECK(same(replaced(F::box_dim, 2, 77), f));
  f = fields(), f.global_dim[1] = 0xffffffff;
  CHECK(same(replaced(F::global_dim, 1, 0xffffffff), f));
  f = fields(), f.global_stride[1] = 0x123456780;
  CHECK(same(replaced(F::global_stride, 1, 0x123456780), f));
  f = fields(), f.element_stride[0] = 8;
  CHECK(same(replaced(F::element_stride, 0, 8), f));
  f = fields(), f.interleave = TensorMapInterleave::b32;
  CHECK(same(replaced(F::interleave_layout, 0, 2), f));
  f = fields(), f.oob_fill = TensorMapOobFill::nan_request_zero_fma;
  CHECK(same(replaced(F::fill_mode, 0, 1), f));
}

TEST_CASE("tensormap.replace numbers element types as PTX does, not as the driver", "[tensor_map]") {
  const auto type = [](uint64_t value) { return replaced(TensorMapField::elemtype, 0, value).data_type; };
  CHECK(type(0) == TensorMapDataType::uint8);
  CHECK(type(6) == TensorMapDataType::float16);
  CHECK(type(7) == TensorMapDataType::float32);
  CHECK(type(8) == TensorMapDataType::float32_ftz);
  CHECK(type(9) == TensorMapDataType::float64);
  CHECK(type(10) == TensorMapDataType::bfloat16);
  CHECK(type(12) == TensorMapDataType::tfloat32_ftz);
  CHECK(type(15) == TensorMapDataType::packed_16u6_align16b);
}

TEST_CASE("tensormap.replace: mode and atomicity of the swizzle come in any order", "[tensor_map]") {
  using F = TensorMapField;
  TensorMapFields f = fields();
  f.swizzle = TensorMapSwizzle::none;
  CHECK(replaced(F::swizzle_mode, 0, 2, f).swizzle == TensorMapSwizzle::b64);
  const TensorMapFields between = replaced(F::swizzle_atomicity, 0, 1, f);  // no swizzle has atoms of 32 bytes
  CHECK(validate(between) == TensorMapError::data_type);
  CHECK(replaced(F::swizzle_mode, 0, 3, between).swizzle == TensorMapSwizzle::b128_atom_32b);
  CHECK(replaced(F::swizzle_atomicity, 0, 3).swizzle == TensorMapSwizzle::b128_atom_64b);
  CHECK(replaced(F::swizzle_atomicity, 0, 0, replaced(F::swizzle_atomicity, 0, 3)).swizzle ==
        TensorMapSwizzle::b128);
  const TensorMapFields s96 = replaced(F::swizzle_mode, 0, 4);  // sm_103a's
  CHECK(validate(s96) == TensorMapError::data_type);
  CHECK(replaced(F::swizzle_mode, 0, 1, s96).swizzle == TensorMapSwizzle::b32);
}

TEST_CASE("tensormap.replace leaves alone what is no map, and has no sixth dimension", "[tensor_map]") {
  TensorMap map;
  CHECK_FALSE(replace(map, TensorMapField::rank, 0, 1));
  map = encode(fields());
  CHECK_FALSE(replace(map, TensorMapField::global_dim, 5, 1));
  CHECK_FALSE(replace(map, TensorMapField::global_stride, 4, 16));
  CHECK(replace(map, TensorMapField::global_dim, 4, 1));
}
