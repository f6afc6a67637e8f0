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

template <class D, class S, Rounding kMode, bool kFlush>
struct FloatToInt {
  D operator()(S a) const {
    constexpr int kWidth = 8 * sizeof(D);
    if (is_nan(a))
      return sizeof(S) == 8 || sizeof(D) == 8 ? static_cast<D>(std::make_unsigned_t<D>{1} << (kWidth - 1)) : D{0};
    const double x = round_to_integer(to_double(flush_if<kFlush>(a)), kMode);
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
        table.add<FloatToInt<D, S, mode.value, false>, D, S>("cvt" + text + sat + t);
        if constexpr (std::is_same_v<S, float>)
          table.add<FloatToInt<D, S, mode.value, true>, D, S>("cvt" + text + ".ftz" + sat + t);
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
template <class D, class S, Rounding kMode, bool kSat>
struct IntToFloat {
  D operator()(S x) const {
    const D d = round_to<D>(integer_as_double(x, kMode, !std::is_same_v<D, double>), kMode);
    return kSat ? saturate(d) : d;
  }
};
template <class D, class S>
void add_int_to_float(FormTable& table) {
  const std::string t = dotted(TypeOf<D>::value) + dotted(TypeOf<S>::value);
  for_each_mode(false, [&](const std::string& text, auto mode) {
    if constexpr (mode.value == Rounding::nearest && (std::is_same_v<D, float> || std::is_same_v<D, double>))
      table.add_wide<side_by_side::FloatFromInteger<D, S>, D, S>("cvt" + text + t);
    else
      table.add<IntToFloat<D, S, mode.value, false>, D, S>("cvt" + text + t);
    table.add<IntToFloat<D, S, mode.value, true>, D, S>("cvt" + text + ".sat" + t);
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
template <class D, class S, Rounding kMode, bool kFlush, bool kSat>
struct FloatToFloat {
  /// What becomes an f16 is not flushed.
  static constexpr bool kFlushSource = kFlush && std::is_same_v<S, float> && !std::is_same_v<D, F16>;
  static constexpr bool kFlushResult = kFlush && std::is_same_v<D, float>;
  D operator()(S a) const {
    if (is_nan(a)) return kSat ? D{} : nan_from<D, S, kFlush>(a);
    const D d = round_result<D>(to_double(flush_if<kFlushSource>(a)), {kMode, kFlushResult});
    return kSat ? saturate(d) : d;
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
      table.add<FloatToFloat<D, S, kMode, false, false>, D, S>("cvt" + text + t);
    table.add<FloatToFloat<D, S, kMode, false, true>, D, S>("cvt" + text + ".sat" + t);
    if constexpr (kSingle) {
      table.add<FloatToFloat<D, S, kMode, true, false>, D, S>("cvt" + text + ".ftz" + t);
      table.add<FloatToFloat<D, S, kMode, true, true>, D, S>("cvt" + text + ".ftz.sat" + t);
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
template <class T, Rounding kMode, bool kFlush, bool kSat>
struct ToInteger {
  T operator()(T a) const {
    const double x = to_double(flush_if<kFlush>(a));
    if (std::is_same_v<T, double> && is_nan(a) && !kSat) return quiet(a);
    const T d = round_to<T>(std::copysign(round_to_integer(x, kMode), x), Rounding::nearest);
    return kSat ? saturate(d) : d;
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
      table.add<ToInteger<T, kMode, false, false>, T, T>("cvt" + text + t);
    table.add<ToInteger<T, kMode, false, true>, T, T>("cvt" + text + ".sat" + t);
    if constexpr (std::is_same_v<T, float>) {
      table.add<ToInteger<T, kMode, true, false>, T, T>("cvt" + text + ".ftz" + t);
      table.add<ToInteger<T, kMode, true, true>, T, T>("cvt" + text + ".ftz.sat" + t);
    }
  });
}

// ---- the matrix ----

template <class D, class S>
void add_pair(FormTable& table) {
  if constexpr (std::is_integral_v<D> && std::is_integral_v<S>) {
    add_int_to_int<D, S, false>(table), add_int_to_int<D, S, true>(table);
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
