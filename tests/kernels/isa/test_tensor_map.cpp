// SPDX-License-Identifier: Apache-2.0
// Tensor-map rules (cuTensorMapEncodeTiled), the bytes of a box (PTX 5.5), pitches (PTX 5.5.6) and sizes worked by
// hand.
#include "kernels/isa/tensor_map.h"

#include <cstring>

#include "catch.h"

using namespace sm100;

namespace {

/// Row-major matrix of `rows` x `columns`, box `box_rows` x `box_columns`.
TensorMapFields matrix(TensorMapDataType type, uint64_t columns, uint64_t rows, uint32_t box_columns,
                       uint32_t box_rows, TensorMapSwizzle swizzle = TensorMapSwizzle::none) {
  TensorMapFields f;
  f.data_type = type;
  f.rank = 2;
  f.global_address = 0x7f0000001000;
  f.global_dim[0] = columns;
  f.global_dim[1] = rows;
  f.global_stride[0] = columns * element_bits(type) / 8;
  f.box_dim[0] = box_columns;
  f.box_dim[1] = box_rows;
  f.element_stride[0] = f.element_stride[1] = 1;
  f.swizzle = swizzle;
  return f;
}

TensorMapFields bf16_tile() {
  return matrix(TensorMapDataType::bfloat16, 1024, 512, 64, 128, TensorMapSwizzle::b128);
}

}  // namespace

TEST_CASE("Is the numbering of the enums the driver's? (cuTensorMapEncodeTiled)", "[tensor_map]") {
  CHECK(static_cast<int>(TensorMapDataType::uint8) == 0);
  CHECK(static_cast<int>(TensorMapDataType::float16) == 6);
  CHECK(static_cast<int>(TensorMapDataType::float32) == 7);
  CHECK(static_cast<int>(TensorMapDataType::float64) == 8);
  CHECK(static_cast<int>(TensorMapDataType::bfloat16) == 9);
  CHECK(static_cast<int>(TensorMapDataType::float32_ftz) == 10);
  CHECK(static_cast<int>(TensorMapDataType::tfloat32) == 11);
  CHECK(static_cast<int>(TensorMapDataType::tfloat32_ftz) == 12);
  CHECK(static_cast<int>(TensorMapDataType::packed_16u6_align16b) == 15);
  CHECK(static_cast<int>(TensorMapSwizzle::b128) == 3);
  CHECK(static_cast<int>(TensorMapSwizzle::b128_atom_64b) == 6);
  CHECK(static_cast<int>(TensorMapL2Promotion::b256) == 3);
}

TEST_CASE("How many bytes does a stage of each tile take? (worked by hand)", "[tensor_map]") {
  CHECK(transfer_bytes(bf16_tile()) == 16384);
  CHECK(smem_footprint(bf16_tile()) == 16384);
  CHECK(box_lines(bf16_tile()) == 128);
  CHECK(smem_pitch(bf16_tile()) == 128);
  // 128 x 256 e2m1 as bytes: one 128-byte row per 256 elements.
  CHECK(transfer_bytes(matrix(TensorMapDataType::uint8, 512, 128, 128, 128, TensorMapSwizzle::b128)) == 16384);
  CHECK(transfer_bytes(matrix(TensorMapDataType::float32, 100, 60, 64, 32)) == 8192);
}

TEST_CASE("Where does tile (kt mt) of a row-major matrix come from? (PTX 5.5)", "[tensor_map]") {
  const TensorMapFields f = bf16_tile();
  const int32_t coords[] = {64 * 3, 128 * 2};
  const BoxLine row = box_line(f, coords, 5);
  CHECK(row.in_bounds);
  CHECK(row.global_address == 0x7f0000001000 + 192 * 2 + 261 * 2048);
  CHECK(row.first == 0);
  CHECK(row.count == 64);
  CHECK(row.smem_offset == 640);
}

TEST_CASE("Which elements of an overhanging box exist? (worked by hand)", "[tensor_map]") {
  const TensorMapFields f = matrix(TensorMapDataType::float32, 100, 60, 64, 32);
  REQUIRE(validate(f) == TensorMapError::none);
  const int32_t coords[] = {96, 40};
  int64_t copied = 0;
  for (uint32_t line = 0; line < box_lines(f); ++line) {
    const BoxLine row = box_line(f, coords, line);
    CHECK(row.in_bounds == (line < 20));
    CHECK(row.count == (line < 20 ? 4 : 0));
    CHECK(row.smem_offset == line * 256);
    copied += row.count;
  }
  CHECK(copied == 80);
  CHECK(transfer_bytes(f) / 4 - 80 == 1968);  // the fill; complete_tx counts it too
  CHECK(box_line(f, coords, 0).global_address == 0x7f0000001000 + 384 + 40 * 400);
}

TEST_CASE("What does a box load from before the tensor? (PTX 5.5)", "[tensor_map]") {
  const TensorMapFields f = matrix(TensorMapDataType::bfloat16, 128, 16, 64, 8);
  const int32_t coords[] = {-8, -2};
  CHECK_FALSE(box_line(f, coords, 0).in_bounds);
  CHECK_FALSE(box_line(f, coords, 1).in_bounds);
  const BoxLine row = box_line(f, coords, 2);  // tensor row 0
  CHECK(row.in_bounds);
  CHECK(row.global_address == 0x7f0000001000 - 16);  // of x0 = -8, before the row
  CHECK(row.first == 8);
  CHECK(row.count == 56);

  const int32_t left[] = {-64, 0}, right[] = {128, 0};  // wholly outside along the inner dimension
  CHECK(box_line(f, left, 0).count == 0);
  CHECK(box_line(f, right, 0).count == 0);
}

TEST_CASE("Are box edges counted on a tensor narrower than the box? (PTX 5.5)", "[tensor_map]") {
  const TensorMapFields f = matrix(TensorMapDataType::float32, 4, 4, 16, 4);
  const int32_t coords[] = {-4, 0};
  CHECK(box_line(f, coords, 0).first == 4);
  CHECK(box_line(f, coords, 0).count == 4);
}

TEST_CASE("In which order do the rows of a higher-rank box come? (PTX 5.5)", "[tensor_map]") {
  TensorMapFields f;
  f.data_type = TensorMapDataType::uint8;
  f.rank = 3;
  f.global_address = 0x1000;
  for (int i = 0; i < 3; ++i) f.global_dim[i] = 64, f.element_stride[i] = 1;
  f.global_stride[0] = 64, f.global_stride[1] = 4096;
  f.box_dim[0] = 16, f.box_dim[1] = 2, f.box_dim[2] = 3;
  REQUIRE(validate(f) == TensorMapError::none);
  const int32_t coords[] = {0, 10, 20};
  const uint64_t rows[] = {10 * 64 + 20 * 4096, 11 * 64 + 20 * 4096, 10 * 64 + 21 * 4096,
                           11 * 64 + 21 * 4096, 10 * 64 + 22 * 4096, 11 * 64 + 22 * 4096};
  REQUIRE(box_lines(f) == 6);
  for (uint32_t line = 0; line < 6; ++line) {
    CHECK(box_line(f, coords, line).global_address == 0x1000 + rows[line]);
    CHECK(box_line(f, coords, line).smem_offset == line * 16);
  }
}

TEST_CASE("Do element strides thin the outer dimensions only? (cuTensorMapEncodeTiled and PTX 5.5)",
          "[tensor_map]") {
  TensorMapFields f = matrix(TensorMapDataType::uint8, 64, 64, 16, 7);
  f.element_stride[0] = 2;  // ignored without interleave
  f.element_stride[1] = 3;
  CHECK(box_extent(f, 0) == 16);
  CHECK(box_extent(f, 1) == 3);  // ceil(7 / 3): rows 0, 3, 6
  CHECK(transfer_bytes(f) == 48);
  const int32_t coords[] = {0, 59};
  CHECK(box_line(f, coords, 1).global_address == 0x7f0000001000 + 62 * 64);
  CHECK(box_line(f, coords, 1).in_bounds);
  CHECK_FALSE(box_line(f, coords, 2).in_bounds);  // row 65
}

TEST_CASE("Is the pitch the span when the box is narrower? (PTX 5.5.6)", "[tensor_map]") {
  const TensorMapFields f = matrix(TensorMapDataType::bfloat16, 1024, 512, 32, 16, TensorMapSwizzle::b128);
  CHECK(smem_pitch(f) == 128);
  CHECK(smem_footprint(f) == 2048);
  CHECK(transfer_bytes(f) == 1024);  // data bytes, not the pitch
  CHECK(smem_pitch(matrix(TensorMapDataType::bfloat16, 1024, 512, 32, 16)) == 64);
}

TEST_CASE("Which coordinates may a copy start at? (PTX 5.5 and TM10)", "[tensor_map]") {
  const TensorMapFields bf16 = bf16_tile();
  for (int32_t c0 : {1, 2, 4, -4}) CHECK_FALSE(inner_start_aligned(bf16, c0));
  for (int32_t c0 : {0, 8, -8, 64}) CHECK(inner_start_aligned(bf16, c0));
  const TensorMapFields u8 = matrix(TensorMapDataType::uint8, 64, 64, 16, 8);
  for (int32_t c0 : {3, 8}) CHECK_FALSE(inner_start_aligned(u8, c0));

  const int32_t inside[] = {8, 3}, before[] = {0, -1}, odd[] = {4, 0};
  CHECK(validate_load(bf16, inside) == CopyError::none);
  CHECK(validate_load(bf16, before) == CopyError::none);
  CHECK(validate_store(bf16, before) == CopyError::negative_store_start);
  CHECK(validate_load(bf16, odd) == CopyError::inner_start_alignment);
  CHECK(validate_store(bf16, odd) == CopyError::inner_start_alignment);
}

TEST_CASE("With what are elements outside the tensor filled? (PTX 5.5)", "[tensor_map]") {
  TensorMapFields f = bf16_tile();
  CHECK(oob_fill_pattern(f) == 0);
  f.oob_fill = TensorMapOobFill::nan_request_zero_fma;
  CHECK(validate(f) == TensorMapError::none);
  CHECK(oob_fill_pattern(f) == 0x7ff77ff7);
}

TEST_CASE("Does the object survive a byte copy? (cuTensorMapEncodeTiled)", "[tensor_map]") {
  TensorMapFields f;
  f.data_type = TensorMapDataType::float32_ftz;
  f.rank = 5;
  f.global_address = 0xfedcba9876543210;
  for (uint32_t i = 0; i < 5; ++i) {
    f.global_dim[i] = (uint64_t{1} << 32) - i;
    if (i < 4) f.global_stride[i] = (uint64_t{1} << 40) - 16 * (i + 1);
    f.box_dim[i] = 256 - i;
    f.element_stride[i] = 8 - i;
  }
  f.interleave = TensorMapInterleave::b16;
  f.swizzle = TensorMapSwizzle::b128_atom_64b;
  f.l2_promotion = TensorMapL2Promotion::b256;
  f.oob_fill = TensorMapOobFill::nan_request_zero_fma;

  STATIC_REQUIRE(sizeof(TensorMap) == 128);
  STATIC_REQUIRE(alignof(TensorMap) == 64);
  const TensorMap original = encode(f);
  TensorMap copy;
  std::memcpy(&copy, &original, 128);
  TensorMapFields g;
  REQUIRE(decode(copy, g));
  CHECK(g.data_type == f.data_type);
  CHECK(g.rank == 5);
  CHECK(g.global_address == f.global_address);
  for (uint32_t i = 0; i < 5; ++i) {
    CHECK(g.global_dim[i] == f.global_dim[i]);
    CHECK(g.global_stride[i] == f.global_stride[i]);
    CHECK(g.box_dim[i] == f.box_dim[i]);
    CHECK(g.element_stride[i] == f.element_stride[i]);
  }
  CHECK(g.interleave == f.interleave);
  CHECK(g.swizzle == f.swizzle);
  CHECK(g.l2_promotion == f.l2_promotion);
  CHECK(g.oob_fill == f.oob_fill);
}

TEST_CASE("Are bytes that hold no tensor map refused? (TM1)", "[tensor_map]") {
  TensorMapFields f = bf16_tile();
  TensorMap map;
  CHECK_FALSE(decode(map, f));
  CHECK(f.rank == 2);  // untouched
  map = encode(f);
  map.bytes[0] ^= 1;
  CHECK_FALSE(decode(map, f));
}

TEST_CASE("Does a wrong map stay wrong in the object? (TM1)", "[tensor_map]") {
  TensorMapFields f = bf16_tile(), g;
  f.element_stride[1] = 0x10001;  // would read as 1 if cut off
  REQUIRE(decode(encode(f), g));
  CHECK(validate(g) == TensorMapError::element_stride_range);
  f = bf16_tile();
  f.rank = 0x102;
  REQUIRE(decode(encode(f), g));
  CHECK(validate(g) == TensorMapError::rank);
}

TEST_CASE("Which strides does the driver take? (cuTensorMapEncodeTiled)", "[tensor_map]") {
  TensorMapFields f = matrix(TensorMapDataType::uint8, 64, 4, 16, 1);
  f.rank = 3;
  f.global_dim[2] = 4, f.box_dim[2] = 1, f.element_stride[2] = 1;
  const uint64_t accepted[][2] = {{1024, 128}, {128, 16}, {144, 400}};
  for (const auto& strides : accepted) {
    f.global_stride[0] = strides[0], f.global_stride[1] = strides[1];
    CHECK(validate(f) == TensorMapError::none);
  }
}

TEST_CASE("Which encode rule does each wrong map break? (cuTensorMapEncodeTiled)", "[tensor_map]") {
  const auto with = [](auto change) {
    TensorMapFields f = bf16_tile();
    change(f);
    return validate(f);
  };
  using F = TensorMapFields;
  using E = TensorMapError;
  CHECK(with([](F&) {}) == E::none);
  CHECK(with([](F& f) { f.rank = 0; }) == E::rank);
  CHECK(with([](F& f) { f.rank = 6; }) == E::rank);
  CHECK(with([](F& f) { f.interleave = TensorMapInterleave::b16; }) == E::rank);
  CHECK(with([](F& f) { f.data_type = static_cast<TensorMapDataType>(16); }) == E::data_type);
  CHECK(with([](F& f) { f.global_address += 8; }) == E::global_address_alignment);
  CHECK(with([](F& f) { f.global_dim[1] = 0; }) == E::global_dim_range);
  CHECK(with([](F& f) { f.global_dim[0] = uint64_t{1} << 32; }) == E::none);
  CHECK(with([](F& f) { f.global_dim[0] = (uint64_t{1} << 32) + 1; }) == E::global_dim_range);
  CHECK(with([](F& f) { f.global_stride[0] = 2056; }) == E::global_stride_alignment);
  CHECK(with([](F& f) { f.global_stride[0] = uint64_t{1} << 40; }) == E::global_stride_range);
  CHECK(with([](F& f) { f.box_dim[1] = 0; }) == E::box_dim_range);
  CHECK(with([](F& f) { f.box_dim[1] = 256; }) == E::none);
  CHECK(with([](F& f) { f.box_dim[1] = 257; }) == E::box_dim_range);
  CHECK(with([](F& f) { f.box_dim[0] = 60; }) == E::box_inner_bytes);
  CHECK(with([](F& f) { f.element_stride[1] = 0; }) == E::element_stride_range);
  CHECK(with([](F& f) { f.element_stride[1] = 9; }) == E::element_stride_range);
  // Its value is ignored, its range is not.
  CHECK(with([](F& f) { f.element_stride[0] = 8; }) == E::none);
  CHECK(with([](F& f) { f.element_stride[0] = 9; }) == E::element_stride_range);
  CHECK(with([](F& f) { f.element_stride[0] = 0; }) == E::element_stride_range);
  CHECK(with([](F& f) { f.box_dim[0] = 72; }) == E::swizzle_span);
  CHECK(with([](F& f) { f.swizzle = TensorMapSwizzle::b64; }) == E::swizzle_span);
  CHECK(with([](F& f) { f.box_dim[0] = 16, f.swizzle = TensorMapSwizzle::b32; }) == E::none);
  CHECK(with([](F& f) {
          f.data_type = TensorMapDataType::uint16;
          f.oob_fill = TensorMapOobFill::nan_request_zero_fma;
        }) == E::oob_fill_type);
  CHECK(with([](F& f) { f.global_dim[4] = 0, f.box_dim[4] = 999; }) == E::none);  // beyond the rank
}

TEST_CASE("Which rules have the packed types? (cuTensorMapEncodeTiled)", "[tensor_map]") {
  using E = TensorMapError;
  const auto packed = [](TensorMapDataType type, TensorMapSwizzle swizzle) {
    return matrix(type, 256, 128, 128, 128, swizzle);
  };
  const auto fp4 = TensorMapDataType::packed_16u4_align16b, fp6 = TensorMapDataType::packed_16u6_align16b;
  for (const auto type : {fp4, fp6}) {
    CHECK(validate(packed(type, TensorMapSwizzle::none)) == E::none);
    CHECK(validate(packed(type, TensorMapSwizzle::b128)) == E::none);
    CHECK(validate(packed(type, TensorMapSwizzle::b128_atom_32b)) == E::none);
    CHECK(validate(packed(type, TensorMapSwizzle::b32)) == E::interleave_swizzle);
    CHECK(modelled(packed(type, TensorMapSwizzle::b128)));
  }
  CHECK(validate(packed(fp4, TensorMapSwizzle::b128_atom_64b)) == E::interleave_swizzle);
  CHECK(validate(packed(fp6, TensorMapSwizzle::b128_atom_64b)) == E::none);
  // PTX: .b4x16_p64 is loaded only, .b6p2x16 with 64-byte atoms stored only.
  CHECK(validate_direction(packed(fp4, TensorMapSwizzle::none), true) == E::none);
  CHECK(validate_direction(packed(fp4, TensorMapSwizzle::none), false) == E::load_only);
  CHECK(validate_direction(packed(fp6, TensorMapSwizzle::b128), true) == E::none);
  CHECK(validate_direction(packed(fp6, TensorMapSwizzle::b128), false) == E::none);
  CHECK(validate_direction(packed(fp6, TensorMapSwizzle::b128_atom_64b), true) == E::store_only);
  CHECK(validate_direction(packed(fp6, TensorMapSwizzle::b128_atom_64b), false) == E::none);
  // Dense nibbles: any swizzle whose span holds the row; the row is a multiple of 16 bytes.
  const auto dense = TensorMapDataType::packed_16u4_align8b;
  CHECK(validate(matrix(dense, 256, 128, 64, 8, TensorMapSwizzle::b32)) == E::none);
  CHECK(validate(matrix(dense, 256, 128, 128, 8, TensorMapSwizzle::b32)) == E::swizzle_span);
  CHECK(validate(matrix(dense, 256, 128, 48, 8)) == E::box_inner_bytes);
  CHECK(validate_direction(matrix(dense, 256, 128, 64, 8), false) == E::none);
  TensorMapFields odd = matrix(dense, 256, 128, 64, 8);
  odd.global_dim[0] = 255;
  CHECK(validate(odd) == E::global_dim_packed);
}

TEST_CASE("How many bytes do packed boxes move and take? (PTX 5.5.1.1)", "[tensor_map]") {
  const TensorMapFields fp4 = matrix(TensorMapDataType::packed_16u4_align16b, 256, 128, 128, 128);
  CHECK(transfer_bytes(fp4) == 8192);  // complete_tx: data, not padding
  CHECK(smem_pitch(fp4) == 128);
  CHECK(smem_footprint(fp4) == 16384);
  const TensorMapFields fp6 = matrix(TensorMapDataType::packed_16u6_align16b, 256, 128, 128, 128);
  CHECK(transfer_bytes(fp6) == 12288);
  CHECK(smem_footprint(fp6) == 16384);
  const TensorMapFields dense = matrix(TensorMapDataType::packed_16u4_align8b, 512, 128, 256, 128);
  CHECK(transfer_bytes(dense) == 16384);
  CHECK(smem_pitch(dense) == 128);

  const int32_t coords[] = {128, 3};
  CHECK(box_line(fp4, coords, 1).global_address == fp4.global_address + 4 * 128 + 64);
  CHECK(box_line(fp6, coords, 1).global_address == fp6.global_address + 4 * 192 + 96);
  CHECK(box_line(fp6, coords, 1).count == 128);
  const int32_t beyond[] = {256, 3}, before[] = {-32, 0};
  CHECK(box_line(fp6, beyond, 0).count == 0);
  CHECK(box_line(dense, before, 0).first == 32);
  CHECK(box_line(dense, before, 0).global_address == dense.global_address - 16);

  const int32_t c64[] = {64, 0}, c16[] = {16, 0}, c32[] = {32, 0};
  CHECK(validate_load(fp4, c64) == CopyError::inner_start_packed);
  CHECK(validate_load(fp6, coords) == CopyError::none);
  CHECK(validate_load(dense, c16) == CopyError::inner_start_alignment);
  CHECK(validate_load(dense, c32) == CopyError::none);
}

TEST_CASE("Are interleaved maps decoded but not modelled? (cuTensorMapEncodeTiled)", "[tensor_map]") {
  TensorMapFields f = bf16_tile();
  CHECK(modelled(f));
  f.swizzle = TensorMapSwizzle::b128_atom_32b_flip_8b;
  CHECK(validate(f) == TensorMapError::none);
  CHECK_FALSE(modelled(f));

  TensorMapFields fp4 = matrix(TensorMapDataType::packed_16u4_align16b, 256, 128, 128, 128, TensorMapSwizzle::b128);
  CHECK(validate(fp4) == TensorMapError::none);
  fp4.swizzle = TensorMapSwizzle::b64;
  CHECK(validate(fp4) == TensorMapError::interleave_swizzle);
  fp4.swizzle = TensorMapSwizzle::b128;
  fp4.box_dim[0] = 64;
  CHECK(validate(fp4) == TensorMapError::box_dim_range);
  fp4.box_dim[0] = 128, fp4.global_dim[0] = 192;
  CHECK(validate(fp4) == TensorMapError::global_dim_packed);
  fp4.global_dim[0] = 256, fp4.global_stride[0] = 144;  // 32-byte rule
  CHECK(validate(fp4) == TensorMapError::global_stride_alignment);

  TensorMapFields i32b = bf16_tile();
  i32b.rank = 3;
  i32b.global_dim[2] = 4, i32b.box_dim[2] = 1, i32b.element_stride[2] = 1, i32b.global_stride[1] = 1 << 20;
  i32b.interleave = TensorMapInterleave::b32;
  CHECK(validate(i32b) == TensorMapError::interleave_swizzle);
  i32b.swizzle = TensorMapSwizzle::b32;
  CHECK(validate(i32b) == TensorMapError::none);
  CHECK_FALSE(modelled(i32b));
}
