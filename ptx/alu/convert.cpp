// SPDX-License-Identifier: Apache-2.0
/// cvt among integers, f16, bf16, f32, f64 and tf32 (PTX 9.7.9, cvt).
/// A float out of an integer's range gives the nearest end of it; NaN gives 0, or with 64 bits on either side the
/// integer whose highest bit alone is set.

#include <algorithm>
#include <cmath>
#include <limits>

#include "ptx/alu/form_table.h"
#include "ptx/alu/modifiers.h"
#include "ptx/alu/rounding.h"
#include "ptx/alu/side_by_side.h"

namespace sm100::ptx {

namespace {

std::string dotted(Type type) { return "." + std::string(name(type)); }

/// How a conversion that is not common does it: kept in AluForm::aux, so that one function does for all of them.
struct ConversionHow {
  Rounding mode = Rounding::nearest;
  bool flush = false, saturate = false;
  static ConversionHow of(uint32_t aux) {
    return {static_cast<Rounding>(aux & 0xff), (aux >> 8 & 1) != 0, (aux >> 9 & 1) != 0};
  }
  uint32_t aux() const {
    return static_cast<uint32_t>(mode) | static_cast<uint32_t>(flush) << 8 | static_cast<uint32_t>(saturate) << 9;
  }
};
template <class T>
T flush_where(bool flush, T x) {
  return flush ? flush_if<true>(x) : x;
}
template <class Op, class D, class S>
void add_form(FormTable& table, std::string opcode, ConversionHow how) {
  table.add<Op, D, S>(std::move(opcode)).aux = how.aux();
}

// ---- integer to integer ----

template <class D, class S, bool kSat>
D convert(S x) {
  if constexpr (kSat) {
    using Wide = __int128_t;
    const Wide least = std::numeric_limits<D>::min(), most = std::numeric_limits<D>::max();
    return static_cast<D>(std::clamp<Wide>(Wide{x}, least, most));
  } else {
    return static_cast<D>(x);
  }
}
/// Source and result lie in registers of these types, which may be wider than the conversion's.
template <class D, class S, bool kSat>
struct IntToInt {
  D operator()(S x) const { return convert<D, S, kSat>(x); }
};
template <class D, class S, bool kSat>
struct IntToWide {
  uint64_t operator()(S x) const { return static_cast<uint64_t>(convert<D, S, kSat>(x)); }
};
template <class D, class S, bool kSat>
struct WideToInt {
  D operator()(uint64_t x) const { return convert<D, S, kSat>(static_cast<S>(x)); }
};
template <class D, class S, bool kSat>
struct WideToWide {
  uint64_t operator()(uint64_t x) const { return static_cast<uint64_t>(convert<D, S, kSat>(static_cast<S>(x))); }
};

template <class D, class S, bool kSat>
void add_int_to_int(FormTable& table) {
  const std::string text =
      std::string(kSat ? "cvt.sat" : "cvt") + dotted(TypeOf<D>::value) + dotted(TypeOf<S>::value);
  if constexpr (!kSat)
    table.add_wide<IntToInt<D, S, kSat>, D, S>(text);
  else
    table.add<IntToInt<D, S, kSat>, D, S>(text);
  if constexpr (sizeof(D) < 8) table.add<IntToWide<D, S, kSat>, uint64_t, S>(text + ".wide_result");
  if constexpr (sizeof(S) < 8) table.add<WideToInt<D, S, kSat>, D, uint64_t>(text + ".wide_source");
  if constexpr (sizeof(D) < 8 && sizeof(S) < 8)
    table.add<WideToWide<D, S, kSat>, uint64_t, uint64_t>(text + ".wide_result.wide_source");
}

// ---- float to integer ----

double round_to_integer(double x, Rounding mode) {
  switch (mode) {
    case Rounding::zero: return std::trunc(x);
    case Rounding::down: return std::floor(x);
    case Rounding::up: return std::ceil(x);
    default: return std::nearbyint(x);
  }
}

template <class D, class S>
struct FloatToInt {
  explicit FloatToInt(uint32_t aux) : how(ConversionHow::of(aux)) {}
  ConversionHow how;
  D operator()(S a) const {
    constexpr int kWidth = 8 * sizeof(D);
    if (is_nan(a))
      return sizeof(S) == 8 || sizeof(D) == 8 ? static_cast<D>(std::make_unsigned_t<D>{1} << (kWidth - 1)) : D{0};
    const double x = round_to_integer(to_double(flush_where(how.flush, a)), how.mode);
    const double above = std::ldexp(1.0, std::is_signed_v<D> ? kWidth - 1 : kWidth),
                 least = std::is_signed_v<D> ? -above : 0.0;
    if (x >= above) return std::numeric_limits<D>::max();
    return x <= least ? std::numeric_limits<D>::min() : static_cast<D>(x);
  }
};

template <class F>
void for_each_integer_mode(F&& f) {
  f(std::string(".rni"), Mode<Rounding::nearest>{});
  f(std::string(".rzi"), Mode<Rounding::zero>{});
  f(std::string(".rmi"), Mode<Rounding::down>{});
  f(std::string(".rpi"), Mode<Rounding::up>{});
}

template <class D, class S>
void add_float_to_int(FormTable& table) {
  const std::string t = dotted(TypeOf<D>::value) + dotted(TypeOf<S>::value);
  for_each_integer_mode([&](const std::string& text, auto mode) {
    for (const char* sat : {"", ".sat"}) {  // it clamps without, too
      if constexpr (std::is_same_v<S, float> && sizeof(D) == 4) {
        table.add_wide<side_by_side::IntegerFromSingle<D, mode.value, false>, D, S>("cvt" + text + sat + t);
        table.add_wide<side_by_side::IntegerFromSingle<D, mode.value, true>, D, S>("cvt" + text + ".ftz" + sat + t);
      } else {
        add_form<FloatToInt<D, S>, D, S>(table, "cvt" + text + sat + t, {mode.value, false, false});
        if constexpr (std::is_same_v<S, float>)
          add_form<FloatToInt<D, S>, D, S>(table, "cvt" + text + ".ftz" + sat + t, {mode.value, true, false});
      }
    }
  });
}

// ---- integer to float ----

/// An integer as an f64 that is rounded to odd, or to that mode where the result is an f64.
template <class S>
double integer_as_double(S x, Rounding mode, bool to_odd) {
  const bool negative = x < 0;
  const uint64_t magnitude = negative ? 0 - static_cast<uint64_t>(x) : static_cast<uint64_t>(x);
  const int shift = std::max(0, 11 - std::countl_zero(magnitude));
  uint64_t kept = magnitude >> shift;
  const uint64_t rest = magnitude & ((uint64_t{1} << shift) - 1);
  if (rest != 0) {
    const uint64_t half = uint64_t{1} << (shift - 1);
    if (to_odd)
      kept |= 1;
    else if (mode == Rounding::nearest)
      kept += rest > half || (rest == half && (kept & 1));
    else
      kept += mode == (negative ? Rounding::down : Rounding::up);
  }
  const double value = std::ldexp(static_cast<double>(kept), shift);
  return negative ? -value : value;
}
template <class D, class S>
struct IntToFloat {
  explicit IntToFloat(uint32_t aux) : how(ConversionHow::of(aux)) {}
  ConversionHow how;
  D operator()(S x) const {
    const D d = round_to<D>(integer_as_double(x, how.mode, !std::is_same_v<D, double>), how.mode);
    return how.saturate ? saturate(d) : d;
  }
};
template <class D, class S>
void add_int_to_float(FormTable& table) {
  const std::string t = dotted(TypeOf<D>::value) + dotted(TypeOf<S>::value);
  for_each_mode(false, [&](const std::string& text, auto mode) {
    if constexpr (mode.value == Rounding::nearest && (std::is_same_v<D, float> || std::is_same_v<D, double>))
      table.add_wide<side_by_side::FloatFromInteger<D, S>, D, S>("cvt" + text + t);
    else
      add_form<IntToFloat<D, S>, D, S>(table, "cvt" + text + t, {mode.value, false, false});
    add_form<IntToFloat<D, S>, D, S>(table, "cvt" + text + ".sat" + t, {mode.value, false, true});
  });
}

// ---- float to float ----

/// A NaN of one format in another: canonical where the conversion computes, else its sign and the upper part of its
/// payload, as an H100 has it: from f64 always, from bf16 to f32, and between equal formats, where nothing is done.
template <class D, class S, bool kFlush>
D nan_from(S a) {
  if constexpr (std::is_same_v<S, double> && !std::is_same_v<D, double>) {
    constexpr int kLost = 52 - kFractionBits<D>;
    const uint64_t kept = bits_of(quiet(a)) >> kLost & ((uint64_t{1} << kFractionBits<D>)-1);
    const D infinity = round_to<D>(std::copysign(HUGE_VAL, std::signbit(a) ? -1.0 : 1.0), Rounding::nearest);
    return from_bits<D>(static_cast<Bits<D>>(bits_of(infinity) | kept));
  } else if constexpr (!kFlush && std::is_same_v<D, float> && std::is_same_v<S, Bf16>) {
    return from_bits<float>(uint32_t{a.bits} << 16);
  } else if constexpr (!kFlush && std::is_same_v<D, float> && std::is_same_v<S, float>) {
    return a;
  } else if constexpr (kFlush && std::is_same_v<D, double>) {
    return to_double(canonical_nan<float>());
  } else {
    return round_to<D>(to_double(a), Rounding::nearest);
  }
}
template <class D, class S>
struct FloatToFloat {
  explicit FloatToFloat(uint32_t aux) : how(ConversionHow::of(aux)) {}
  ConversionHow how;
  /// What becomes an f16 is not flushed.
  static constexpr bool kMayFlushSource = std::is_same_v<S, float> && !std::is_same_v<D, F16>;
  static constexpr bool kMayFlushResult = std::is_same_v<D, float>;
  D operator()(S a) const {
    if (is_nan(a)) return how.saturate ? D{} : how.flush ? nan_from<D, S, true>(a) : nan_from<D, S, false>(a);
    const D d = round_result<D>(to_double(flush_where(kMayFlushSource && how.flush, a)),
                                {how.mode, kMayFlushResult && how.flush});
    return how.saturate ? saturate(d) : d;
  }
};
template <class D, class S>
void add_float_to_float(FormTable& table) {
  const std::string t = dotted(TypeOf<D>::value) + dotted(TypeOf<S>::value);
  constexpr bool kSingle = std::is_same_v<D, float> || std::is_same_v<S, float>;
  const auto add = [&](const std::string& text, auto mode) {
    constexpr Rounding kMode = mode.value;
    constexpr bool kFromHalf = std::is_same_v<D, float> && (std::is_same_v<S, F16> || std::is_same_v<S, Bf16>);
    constexpr bool kToHalf = std::is_same_v<S, float> && (std::is_same_v<D, F16> || std::is_same_v<D, Bf16>);
    if constexpr (kFromHalf)
      table.add_wide<side_by_side::SingleFromHalf<S>, D, S>("cvt" + text + t);
    else if constexpr (kToHalf && kMode == Rounding::nearest)
      table.add_wide<side_by_side::HalfFromSingle<D>, D, S>("cvt" + text + t);
    else
      add_form<FloatToFloat<D, S>, D, S>(table, "cvt" + text + t, {kMode, false, false});
    add_form<FloatToFloat<D, S>, D, S>(table, "cvt" + text + ".sat" + t, {kMode, false, true});
    if constexpr (kSingle) {
      add_form<FloatToFloat<D, S>, D, S>(table, "cvt" + text + ".ftz" + t, {kMode, true, false});
      add_form<FloatToFloat<D, S>, D, S>(table, "cvt" + text + ".ftz.sat" + t, {kMode, true, true});
    }
  };
  constexpr bool kNarrows =
      kFractionBits<D> < kFractionBits<S> || (std::is_same_v<D, F16> && std::is_same_v<S, Bf16>);
  if constexpr (kNarrows)
    for_each_mode(false, add);
  else
    add("", Mode<Rounding::nearest>{});
}

/// cvt.rni.f32.f32: to an integer of the same type.
template <class T>
struct ToInteger {
  explicit ToInteger(uint32_t aux) : how(ConversionHow::of(aux)) {}
  ConversionHow how;
  T operator()(T a) const {
    const double x = to_double(flush_where(how.flush, a));
    if (std::is_same_v<T, double> && is_nan(a) && !how.saturate) return quiet(a);
    const T d = round_to<T>(std::copysign(round_to_integer(x, how.mode), x), Rounding::nearest);
    return how.saturate ? saturate(d) : d;
  }
};
template <class T>
void add_to_integer(FormTable& table) {
  const std::string t = dotted(TypeOf<T>::value) + dotted(TypeOf<T>::value);
  for_each_integer_mode([&](const std::string& text, auto mode) {
    constexpr Rounding kMode = mode.value;
    if constexpr (std::is_same_v<T, float>)
      table.add_wide<side_by_side::IntegralSingle<kMode, false>, T, T>("cvt" + text + t);
    else
      add_form<ToInteger<T>, T, T>(table, "cvt" + text + t, {kMode, false, false});
    add_form<ToInteger<T>, T, T>(table, "cvt" + text + ".sat" + t, {kMode, false, true});
    if constexpr (std::is_same_v<T, float>) {
      add_form<ToInteger<T>, T, T>(table, "cvt" + text + ".ftz" + t, {kMode, true, false});
      add_form<ToInteger<T>, T, T>(table, "cvt" + text + ".ftz.sat" + t, {kMode, true, true});
    }
  });
}

// ---- the matrix ----

template <class D, class S>
void add_pair(FormTable& table) {
  if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
    add_int_to_int<D, S, false>(table);
    if constexpr (std::is_signed_v<D> == std::is_signed_v<S> ? sizeof(D) < sizeof(S)
                                                             : !std::is_signed_v<D> || sizeof(D) <= sizeof(S))
      add_int_to_int<D, S, true>(table);  // PTX has none where D holds all numbers of S
  } else if constexpr (std::is_integral_v<D>) {
    add_float_to_int<D, S>(table);
  } else if constexpr (std::is_integral_v<S>) {
    add_int_to_float<D, S>(table);
  } else {
    add_float_to_float<D, S>(table);
    if constexpr (std::is_same_v<D, S>) add_to_integer<D>(table);
  }
}
template <class D, class... S>
void add_row(FormTable& table) {
  (add_pair<D, S>(table), ...);
}
template <class... T>
void add_matrix(FormTable& table) {
  (add_row<T, T...>(table), ...);
}

}  // namespace

void add_conversion_forms(FormTable& table) {
  add_matrix<uint8_t, int8_t, uint16_t, int16_t, uint32_t, int32_t, uint64_t, int64_t, F16, Bf16, float, double>(
      table);
}

}  // namespace sm100::ptx
