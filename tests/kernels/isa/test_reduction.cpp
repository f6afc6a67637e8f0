// SPDX-License-Identifier: Apache-2.0
// What an atomic or a reduction makes of one element, worked by hand from PTX 9.7.13.3 and 9.7.9.25, and which
// pairs of operation and type each instruction has (as ptxas 13.0 accepts them).
#include "kernels/isa/reduction.h"

#include <string>

#include "catch.h"

using namespace sm100;
using Op = ReduceOp;
using T = ReduceType;

namespace {

/// "u32 s32 u64": the types that an instruction has for the operation.
template <class Has>
std::string types(Op op, Has&& has) {
  std::string all;
  for (int t = 1; t <= int(T::bf16x2); ++t)
    if (has(op, T(t))) all += (all.empty() ? "" : " ") + std::string(name(T(t)));
  return all;
}

}  // namespace

static_assert(reduce(Op::add, T::u32, 0xffffffff, 2) == 1);
static_assert(reduce(Op::add, T::u64, 0xffffffffffffffff, 2) == 1);

TEST_CASE("integers wrap around, and their order is that of their type", "[reduction]") {
  CHECK(reduce(Op::add, T::s32, 0x7fffffff, 1) == 0x80000000);
  CHECK(reduce(Op::min, T::u32, 0x80000000, 1) == 1);
  CHECK(reduce(Op::min, T::s32, 0x80000000, 1) == 0x80000000);
  CHECK(reduce(Op::max, T::s32, 0xffffffff, 0) == 0);
  CHECK(reduce(Op::max, T::u64, 0x8000000000000000, 1) == 0x8000000000000000);
  CHECK(reduce(Op::max, T::s64, 0x8000000000000000, 1) == 1);
}

TEST_CASE("inc and dec wrap at their operand", "[reduction]") {
  CHECK(reduce(Op::inc, T::u32, 4, 5) == 5);
  CHECK(reduce(Op::inc, T::u32, 5, 5) == 0);
  CHECK(reduce(Op::inc, T::u32, 9, 5) == 0);
  CHECK(reduce(Op::dec, T::u32, 4, 5) == 3);
  CHECK(reduce(Op::dec, T::u32, 0, 5) == 5);
  CHECK(reduce(Op::dec, T::u32, 9, 5) == 5);
}

TEST_CASE("bits combine, and an exchange takes the value", "[reduction]") {
  CHECK(reduce(Op::bit_and, T::b32, 0xff00ff00, 0x0ff00ff0) == 0x0f000f00);
  CHECK(reduce(Op::bit_or, T::b64, 0xff00000000000000, 1) == 0xff00000000000001);
  CHECK(reduce(Op::bit_xor, T::b32, 0xffffffff, 0x0f0f0f0f) == 0xf0f0f0f0);
  CHECK(reduce(Op::exch, T::b64, 7, 0x123456789abcdef0) == 0x123456789abcdef0);
}

TEST_CASE("16-bit floats round once, keep subnormals, and have one NaN", "[reduction]") {
  CHECK(reduce(Op::add, T::f16, 0x3c00, 0x3c00) == 0x4000);  // 1 + 1
  CHECK(reduce(Op::add, T::f16, 0x0001, 0x0001) == 0x0002);  // subnormals
  CHECK(reduce(Op::add, T::f16, 0x6400, 0x3800) == 0x6400);  // 1024 + 0.5: a tie, to even
  CHECK(reduce(Op::add, T::f16, 0x6401, 0x3800) == 0x6402);  // 1025 + 0.5: a tie, to even
  CHECK(reduce(Op::add, T::f16, 0x7bff, 0x7bff) == 0x7c00);  // overflow
  CHECK(reduce(Op::add, T::f16, 0x7c00, 0xfc00) == 0x7fff);
  CHECK(reduce(Op::add, T::bf16, 0x3f80, 0x3f80) == 0x4000);
  CHECK(reduce(Op::add, T::bf16, 0x7f80, 0xff80) == 0x7fff);
  CHECK(reduce(Op::add, T::f16x2, 0x3c000001, 0x3c000001) == 0x40000002);
  CHECK(reduce(Op::add, T::bf16x2, 0x3f804000, 0x3f804000) == 0x40004080);
}

TEST_CASE("min and max of floats: the number beats a NaN, -0 is below +0", "[reduction]") {
  CHECK(reduce(Op::min, T::f16, 0xbc00, 0x3c00) == 0xbc00);
  CHECK(reduce(Op::max, T::f16, 0xbc00, 0xc000) == 0xbc00);
  CHECK(reduce(Op::min, T::f16, 0x0000, 0x8000) == 0x8000);
  CHECK(reduce(Op::max, T::f16, 0x8000, 0x0000) == 0x0000);
  CHECK(reduce(Op::max, T::f16, 0x7e00, 0xfc00) == 0xfc00);
  CHECK(reduce(Op::min, T::bf16, 0x3f80, 0x7fc0) == 0x3f80);
  CHECK(reduce(Op::max, T::bf16, 0x7fc0, 0xffc0) == 0x7fff);
}

TEST_CASE("f32 keeps subnormals, f32_ftz flushes operands and results", "[reduction]") {
  CHECK(reduce(Op::add, T::f32, 5, 3) == 8);
  CHECK(reduce(Op::add, T::f32_ftz, 5, 3) == 0);
  CHECK(reduce(Op::add, T::f32_ftz, 0x00800000, 0x00000001) == 0x00800000);  // the subnormal counts as 0
  CHECK(reduce(Op::add, T::f32_ftz, 0x00800000, 0x80800001) == 0x80000000);  // the result is subnormal
  CHECK(reduce(Op::add, T::f32, 0x3f800000, 0x33800000) == 0x3f800000);      // 1 + 2^-24: a tie
  CHECK(reduce(Op::add, T::f32, 0x7f800000, 0xff800000) == 0x7fffffff);
  CHECK(reduce(Op::add, T::f64, 0x3ff0000000000000, 0x3ff0000000000000) == 0x4000000000000000);
  CHECK(reduce(Op::add, T::f64, 0x3ff0000000000000, 0x7ff8000000000001) == 0x7ff8000000000001);  // H200
  CHECK(reduce(Op::add, T::f64, 0x7ff0000000000000, 0xfff0000000000000) == 0xfff8000000000000);  // H200
}

TEST_CASE("each instruction has its pairs of operation and type", "[reduction]") {
  CHECK(types(Op::add, reduces_shared) == "u32 s32 u64");
  CHECK(types(Op::min, reduces_shared) == "u32 s32");
  CHECK(types(Op::inc, reduces_shared) == "u32");
  CHECK(types(Op::bit_or, reduces_shared) == "b32");
  CHECK(types(Op::exch, reduces_shared).empty());
  CHECK(types(Op::add, reduces_global) == "u32 s32 u64 f16 bf16 f32 f64");
  CHECK(types(Op::max, reduces_global) == "u32 s32 u64 s64 f16 bf16");
  CHECK(types(Op::dec, reduces_global) == "u32");
  CHECK(types(Op::bit_xor, reduces_global) == "b32 b64");
  CHECK(types(Op::add, atomic_global) == "u32 s32 u64 f16 bf16 f32 f64 f16x2 bf16x2");
  CHECK(types(Op::min, atomic_global) == "u32 s32 u64 s64");
  CHECK(types(Op::exch, atomic_global) == "b32 b64");
}

TEST_CASE("a tensor reduction has the type of its map", "[reduction]") {
  using M = TensorMapDataType;
  CHECK(tensor_reduction(Op::add, M::float32) == T::f32);
  CHECK(tensor_reduction(Op::add, M::float32_ftz) == T::f32_ftz);
  CHECK(tensor_reduction(Op::add, M::bfloat16) == T::bf16);
  CHECK(tensor_reduction(Op::min, M::int64) == T::s64);
  CHECK(tensor_reduction(Op::bit_and, M::int32) == T::b32);
  CHECK(tensor_reduction(Op::bit_xor, M::uint64) == T::b64);
  for (const M none : {M::uint8, M::uint16, M::float64, M::tfloat32, M::packed_16u4_align8b})
    CHECK(tensor_reduction(Op::add, none) == T::none);
  CHECK(tensor_reduction(Op::add, M::int64) == T::none);
  CHECK(tensor_reduction(Op::min, M::float32) == T::none);
  CHECK(tensor_reduction(Op::inc, M::int32) == T::none);
}
