// SPDX-License-Identifier: Apache-2.0
/// What atomics and asynchronous reductions do to one element, and which pairs of operation and type each
/// instruction has (PTX 9.7.13.3 atom, .4 red, .7 red.async, 9.7.9.25 cp.reduce.async.bulk{.tensor}).
///
/// Sums round to nearest even.  A NaN result is PTX's canonical one of its type, of f64 the operand that is a NaN
/// or else 0xfff8000000000000 (an H200 does all of this, bench/hardware; of two NaNs the first is taken); min and
/// max of a NaN and a number are the number, and -0 is below +0.  f32 keeps subnormals, f32_ftz flushes those of
/// both operands and of the result to zero with their sign.
#pragma once

#include "kernels/isa/number_formats.h"
#include "kernels/isa/tensor_map.h"

namespace sm100 {

enum class ReduceOp : uint8_t { add, min, max, inc, dec, bit_and, bit_or, bit_xor, exch };
/// `none`: the instruction has no such reduction.
enum class ReduceType : uint8_t { none, u32, s32, u64, s64, b32, b64, f16, bf16, f32, f32_ftz, f64, f16x2, bf16x2 };

SM100_HD constexpr uint32_t bytes_of(ReduceType type) {
  switch (type) {
    case ReduceType::none: return 0;
    case ReduceType::f16:
    case ReduceType::bf16: return 2;
    case ReduceType::u64:
    case ReduceType::s64:
    case ReduceType::b64:
    case ReduceType::f64: return 8;
    default: return 4;
  }
}

/// Of the register that holds such an operand: a 16-bit one lies in the lower half.
SM100_HD constexpr uint32_t register_bytes(ReduceType type) { return bytes_of(type) == 8 ? 8 : 4; }

SM100_HD constexpr const char* name(ReduceOp op) {
  constexpr const char* kNames[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch"};
  return kNames[uint8_t(op)];
}
SM100_HD constexpr const char* name(ReduceType type) {
  constexpr const char* kNames[] = {"none", "u32",  "s32", "u64",     "s64", "b32",   "b64",
                                    "f16",  "bf16", "f32", "f32.ftz", "f64", "f16x2", "bf16x2"};
  return kNames[uint8_t(type)];
}

namespace detail {

SM100_HD constexpr bool is_logic(ReduceOp op) {
  return op == ReduceOp::bit_and || op == ReduceOp::bit_or || op == ReduceOp::bit_xor;
}
SM100_HD constexpr bool is_extremum(ReduceOp op) { return op == ReduceOp::min || op == ReduceOp::max; }
SM100_HD constexpr bool is_wrapping(ReduceOp op) { return op == ReduceOp::inc || op == ReduceOp::dec; }
/// What all of these instructions have.
SM100_HD constexpr bool common_reduction(ReduceOp op, ReduceType type) {
  if (op == ReduceOp::add) return type == ReduceType::u32 || type == ReduceType::s32 || type == ReduceType::u64;
  if (is_extremum(op)) return type == ReduceType::u32 || type == ReduceType::s32;
  if (is_wrapping(op)) return type == ReduceType::u32;
  return is_logic(op) && type == ReduceType::b32;
}
SM100_HD constexpr bool is_wide_integer(ReduceType type) {
  return type == ReduceType::u64 || type == ReduceType::s64;
}
SM100_HD constexpr bool is_half(ReduceType type) { return type == ReduceType::f16 || type == ReduceType::bf16; }

}  // namespace detail

/// cp.reduce.async.bulk.shared::cluster.shared::cta, and red.async.
SM100_HD constexpr bool reduces_shared(ReduceOp op, ReduceType type) { return detail::common_reduction(op, type); }

/// cp.reduce.async.bulk.global.shared::cta.
SM100_HD constexpr bool reduces_global(ReduceOp op, ReduceType type) {
  using T = ReduceType;
  if (detail::common_reduction(op, type)) return true;
  if (op == ReduceOp::add) return detail::is_half(type) || type == T::f32 || type == T::f64;
  if (detail::is_extremum(op)) return detail::is_wide_integer(type) || detail::is_half(type);
  return detail::is_logic(op) && type == T::b64;
}

/// cp.reduce.async.bulk.tensor: the type comes from the map.  `none`: no such reduction.
SM100_HD constexpr ReduceType tensor_reduction(ReduceOp op, TensorMapDataType type) {
  using M = TensorMapDataType;
  using T = ReduceType;
  if (detail::is_logic(op)) {
    if (type == M::uint32 || type == M::int32) return T::b32;
    return type == M::uint64 || type == M::int64 ? T::b64 : T::none;
  }
  const T as = type == M::uint32        ? T::u32
               : type == M::int32       ? T::s32
               : type == M::uint64      ? T::u64
               : type == M::int64       ? T::s64
               : type == M::float16     ? T::f16
               : type == M::bfloat16    ? T::bf16
               : type == M::float32     ? T::f32
               : type == M::float32_ftz ? T::f32_ftz
                                        : T::none;
  if (as == T::f32_ftz) return op == ReduceOp::add ? as : T::none;
  return as != T::none && reduces_global(op, as) ? as : T::none;
}

/// atom.global and red.global; atom.cas has b32 and b64 besides.
SM100_HD constexpr bool atomic_global(ReduceOp op, ReduceType type) {
  using T = ReduceType;
  if (op == ReduceOp::exch) return type == T::b32 || type == T::b64;
  if (detail::common_reduction(op, type)) return true;
  if (op == ReduceOp::add)
    return detail::is_half(type) || type == T::f32 || type == T::f64 || type == T::f16x2 || type == T::bf16x2;
  if (detail::is_extremum(op)) return detail::is_wide_integer(type);
  return detail::is_logic(op) && type == T::b64;
}

namespace detail {

SM100_HD constexpr uint32_t flushed(uint32_t f32_bits) {
  return (f32_bits & kF32Infinity) == 0 ? f32_bits & kF32Sign : f32_bits;
}
SM100_HD constexpr uint32_t add_f32(uint32_t a, uint32_t b) {
  const uint32_t sum = std::bit_cast<uint32_t>(std::bit_cast<float>(a) + std::bit_cast<float>(b));
  return is_nan_bits(sum) ? kF32Nan : sum;
}
SM100_HD constexpr uint64_t add_f64(uint64_t a, uint64_t b) {
  constexpr uint64_t kInfinity = 0x7ff0000000000000, kQuiet = 0x0008000000000000, kSign = uint64_t{1} << 63;
  if ((a & ~kSign) > kInfinity) return a | kQuiet;
  if ((b & ~kSign) > kInfinity) return b | kQuiet;
  const uint64_t sum = std::bit_cast<uint64_t>(std::bit_cast<double>(a) + std::bit_cast<double>(b));
  return (sum & ~kSign) > kInfinity ? kSign | kInfinity | kQuiet : sum;
}
/// f32 holds the sum of two 16-bit floats with bits to spare, so that rounding it once more changes nothing.
SM100_HD constexpr uint16_t add_half(bool bf16, uint16_t a, uint16_t b) {
  if (bf16) return cvt_rn_bf16_f32(decode_bf16(a) + decode_bf16(b));
  return cvt_rn_f16_f32(decode_f16(a) + decode_f16(b));
}
/// @param infinity  its bits; NaNs are above
SM100_HD constexpr uint16_t extremum_half(bool max, uint16_t infinity, uint16_t a, uint16_t b) {
  const bool a_nan = (a & 0x7fff) > infinity, b_nan = (b & 0x7fff) > infinity;
  if (a_nan && b_nan) return 0x7fff;
  if (a_nan || b_nan) return a_nan ? b : a;
  // In this order the codes ascend as the numbers do, -0 below +0.
  const auto order = [](uint16_t x) { return x & 0x8000 ? -int(x & 0x7fff) - 1 : int(x); };
  return (order(a) < order(b)) == max ? b : a;
}
template <class T>
SM100_HD constexpr uint64_t extremum(bool max, uint64_t a, uint64_t b) {
  return (static_cast<T>(a) < static_cast<T>(b)) == max ? b : a;
}
SM100_HD constexpr uint64_t extremum_of(bool max, ReduceType type, uint64_t a, uint64_t b) {
  switch (type) {
    case ReduceType::u32: return extremum<uint32_t>(max, a, b);
    case ReduceType::s32: return extremum<int32_t>(max, a, b);
    case ReduceType::s64: return extremum<int64_t>(max, a, b);
    case ReduceType::f16: return extremum_half(max, 0x7c00, uint16_t(a), uint16_t(b));
    case ReduceType::bf16: return extremum_half(max, 0x7f80, uint16_t(a), uint16_t(b));
    default: return extremum<uint64_t>(max, a, b);
  }
}
SM100_HD constexpr uint64_t sum_of(ReduceType type, uint64_t a, uint64_t b) {
  const auto low = [](uint64_t x) { return uint16_t(x); };
  const auto high = [](uint64_t x) { return uint16_t(x >> 16); };
  const bool bf16 = type == ReduceType::bf16 || type == ReduceType::bf16x2;
  switch (type) {
    case ReduceType::f16:
    case ReduceType::bf16: return add_half(bf16, low(a), low(b));
    case ReduceType::f16x2:
    case ReduceType::bf16x2:
      return add_half(bf16, low(a), low(b)) | uint32_t{add_half(bf16, high(a), high(b))} << 16;
    case ReduceType::f32: return add_f32(uint32_t(a), uint32_t(b));
    case ReduceType::f32_ftz: return flushed(add_f32(flushed(uint32_t(a)), flushed(uint32_t(b))));
    case ReduceType::f64: return add_f64(a, b);
    default: return a + b;
  }
}

}  // namespace detail

/// What memory holds after `op` with `value`, where it held `old`: the lower bytes_of(type) bytes.
SM100_HD constexpr uint64_t reduce(ReduceOp op, ReduceType type, uint64_t old, uint64_t value) {
  uint64_t result = value;
  switch (op) {
    case ReduceOp::add: result = detail::sum_of(type, old, value); break;
    case ReduceOp::min: result = detail::extremum_of(false, type, old, value); break;
    case ReduceOp::max: result = detail::extremum_of(true, type, old, value); break;
    case ReduceOp::inc: result = old >= value ? 0 : old + 1; break;
    case ReduceOp::dec: result = old == 0 || old > value ? value : old - 1; break;
    case ReduceOp::bit_and: result = old & value; break;
    case ReduceOp::bit_or: result = old | value; break;
    case ReduceOp::bit_xor: result = old ^ value; break;
    case ReduceOp::exch: break;
  }
  return bytes_of(type) == 8 ? result : result & ((uint64_t{1} << 8 * bytes_of(type)) - 1);
}

}  // namespace sm100
