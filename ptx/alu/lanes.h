// SPDX-License-Identifier: Apache-2.0
/// An operation on values of one lane becomes a function on rows: `map_lanes<Op, D, S...>` applies Op{}(S...) -> D
/// in all lanes of a mask.  16-bit and narrower values lie in 4 bytes, and what is above them is not looked at.
#pragma once

#include <bit>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include <tuple>
#include <type_traits>
#include <utility>

#include "ptx/alu.h"

namespace sm100::ptx {

/// Bits of a half: what an operation makes of them is in alu/half.h.
struct F16 {
  uint16_t bits;
};
struct Bf16 {
  uint16_t bits;
};
/// Two halves in a register, or two f32 in 64 bits: low one first.
template <class T>
struct Pair {
  T low, high;
};
struct B128 {
  uint64_t low, high;
};
/// A predicate as an operand: read with its negation, written as a bit of the row.
using Predicate = bool;

template <class T>
struct TypeOf;
template <>
struct TypeOf<bool> {
  static constexpr Type value = Type::pred;
};
template <>
struct TypeOf<uint8_t> {
  static constexpr Type value = Type::u8;
};
template <>
struct TypeOf<int8_t> {
  static constexpr Type value = Type::s8;
};
template <>
struct TypeOf<uint16_t> {
  static constexpr Type value = Type::u16;
};
template <>
struct TypeOf<int16_t> {
  static constexpr Type value = Type::s16;
};
template <>
struct TypeOf<uint32_t> {
  static constexpr Type value = Type::u32;
};
template <>
struct TypeOf<int32_t> {
  static constexpr Type value = Type::s32;
};
template <>
struct TypeOf<uint64_t> {
  static constexpr Type value = Type::u64;
};
template <>
struct TypeOf<int64_t> {
  static constexpr Type value = Type::s64;
};
template <>
struct TypeOf<F16> {
  static constexpr Type value = Type::f16;
};
template <>
struct TypeOf<Bf16> {
  static constexpr Type value = Type::bf16;
};
template <>
struct TypeOf<float> {
  static constexpr Type value = Type::f32;
};
template <>
struct TypeOf<double> {
  static constexpr Type value = Type::f64;
};
template <>
struct TypeOf<Pair<F16>> {
  static constexpr Type value = Type::f16x2;
};
template <>
struct TypeOf<Pair<Bf16>> {
  static constexpr Type value = Type::bf16x2;
};
template <>
struct TypeOf<Pair<uint16_t>> {
  static constexpr Type value = Type::u16x2;
};
template <>
struct TypeOf<Pair<int16_t>> {
  static constexpr Type value = Type::s16x2;
};
template <>
struct TypeOf<Pair<float>> {
  static constexpr Type value = Type::f32x2;
};
template <>
struct TypeOf<B128> {
  static constexpr Type value = Type::b128;
};

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
template <class T>
using Container = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

/// A bit of each lane, kept as bytes, which compilers store side by side.
class LaneFlags {
 public:
  void set(int lane, bool value) { bytes_[lane] = value; }
  LaneMask mask() const {
#if defined(__SSE2__)
    LaneMask halves[2];
    for (int i = 0; i < 2; ++i)  // the lowest bit of each byte becomes the highest, of which the host makes a mask
      halves[i] = static_cast<LaneMask>(
          _mm_movemask_epi8(_mm_slli_epi16(_mm_load_si128(reinterpret_cast<const __m128i*>(bytes_) + i), 7)));
    return halves[0] | halves[1] << 16;
#else
    LaneMask all = 0;
    for (int first = 0; first < kLanes; first += 8) {
      uint64_t eight;
      std::memcpy(&eight, bytes_ + first, sizeof eight);
      all |= static_cast<LaneMask>(eight * 0x0102040810204080u >> 56) << first;  // byte i to bit i
    }
    return all;
#endif
  }

 private:
  alignas(kLanes) uint8_t bytes_[kLanes] = {};
};

/// Where an operand's values lie while an instruction runs.
template <class T>
struct Source {
  const Container<T>* values;
  Source(const RegisterFile& file, const Instr& in, int i)
      : values(file.read<Container<T>>(in.rows[static_cast<size_t>(i)])) {}
  T operator[](int lane) const { return std::bit_cast<T>(static_cast<Bits<T>>(values[lane])); }
};
template <>
struct Source<bool> {
  LaneMask mask;
  Source(const RegisterFile& file, const Instr& in, int i) : mask(in.predicate(file, i)) {}
  bool operator[](int lane) const { return mask >> lane & 1; }
};
template <>
struct Source<B128> {
  const uint64_t *low, *high;
  Source(const RegisterFile& file, const Instr& in, int i)
      : low(file.read<uint64_t>(in.rows[static_cast<size_t>(i)])),
        high(file.read<uint64_t>(in.rows[static_cast<size_t>(i)].next_half())) {}
  B128 operator[](int lane) const { return {low[lane], high[lane]}; }
};

template <class T>
struct Destination {
  Container<T>* values;
  Destination(RegisterFile& file, const Instr& in, int i)
      : values(file.write<Container<T>>(in.rows[static_cast<size_t>(i)])) {}
  /// A narrow signed integer fills the register with its sign, as cvt has it.
  void set(int lane, T value) {
    if constexpr (std::is_signed_v<T> && std::is_integral_v<T>)
      values[lane] = static_cast<Container<T>>(value);
    else
      values[lane] = std::bit_cast<Bits<T>>(value);
  }
  void finish(LaneMask) {}
};
template <>
struct Destination<bool> {
  RegisterFile& file;
  Row row;
  LaneFlags flags;
  Destination(RegisterFile& f, const Instr& in, int i) : file(f), row(in.rows[static_cast<size_t>(i)]) {}
  void set(int lane, bool value) { flags.set(lane, value); }
  void finish(LaneMask lanes) { file.set_predicate(row, flags.mask(), lanes); }
};
template <>
struct Destination<B128> {
  uint64_t *low, *high;
  Destination(RegisterFile& file, const Instr& in, int i)
      : low(file.write<uint64_t>(in.rows[static_cast<size_t>(i)])),
        high(file.write<uint64_t>(in.rows[static_cast<size_t>(i)].next_half())) {}
  void set(int lane, B128 value) { low[lane] = value.low, high[lane] = value.high; }
  void finish(LaneMask) {}
};

/// f(lane) for each lane of the mask; all 32 in a loop that compilers vectorise.  A row may be source and
/// destination, but lanes do not depend on each other.
template <class F>
inline void for_each_lane(LaneMask mask, F&& f) {
  if (mask == kAllLanes) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#elif defined(__GNUC__)
#pragma GCC ivdep
#endif
    for (int lane = 0; lane < kLanes; ++lane) f(lane);
  } else {
    for (; mask != 0; mask &= mask - 1) f(std::countr_zero(mask));
  }
}

/// So few lanes that each is computed alone.
inline bool is_few(LaneMask mask) {
  for (int lane = 0; lane < 4; ++lane) mask &= mask - 1;
  return mask == 0;
}

/// Lanes outside of the mask get back what they held before.
template <class T>
inline void keep_lanes(T* to, const T* before, LaneMask mask) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const T taken = T{0} - static_cast<T>(mask >> lane & 1);
    to[lane] = static_cast<T>((to[lane] & taken) | (before[lane] & ~taken));
  }
}

/// The operation: of the instruction's `aux` where it has members, which are then made from it.
template <class Op>
Op operation_of(const Instr& in) {
  if constexpr (std::is_empty_v<Op>)
    return {};
  else
    return Op(in.aux);
}
template <class Op, class D, class... S, size_t... I>
void map_rows(RegisterFile& file, const Instr& in, LaneMask mask, std::index_sequence<I...>) {
  Destination<D> d(file, in, 0);
  const std::tuple<Source<S>...> s{Source<S>(file, in, static_cast<int>(I) + 1)...};
  const Op op = operation_of<Op>(in);
  for_each_lane(mask, [&](int lane) { d.set(lane, op(std::get<I>(s)[lane]...)); });
  d.finish(mask);
}
template <class Op, class D, class... S>
void map_lanes(RegisterFile& file, const Instr& in, LaneMask mask) {
  map_rows<Op, D, S...>(file, in, mask, std::index_sequence_for<S...>{});
}

/// The same, of an operation that compilers vectorise: where some lanes are asked for, but not few, all are
/// computed and those are taken.
template <class Op, class D, class... S>
void map_many_lanes(RegisterFile& file, const Instr& in, LaneMask mask) {
  constexpr bool kTaken = std::is_same_v<D, bool> || sizeof(D) <= 8;
  if (!kTaken || mask == kAllLanes || is_few(mask)) return map_lanes<Op, D, S...>(file, in, mask);
  if constexpr (std::is_same_v<D, bool>) {
    const LaneMask before = file.predicate(in.rows[0]);
    map_lanes<Op, D, S...>(file, in, kAllLanes);
    file.set_predicate(in.rows[0], before, ~mask);
  } else if constexpr (kTaken) {
    Container<D> before[kLanes];
    Container<D>* const to = file.write<Container<D>>(in.rows[0]);
    std::memcpy(before, to, sizeof before);
    map_lanes<Op, D, S...>(file, in, kAllLanes);
    keep_lanes(to, before, mask);
  }
}

}  // namespace sm100::ptx
