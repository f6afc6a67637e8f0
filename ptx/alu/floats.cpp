// SPDX-License-Identifier: Apache-2.0
/// f32, f64 and f32x2 arithmetic (PTX 9.7.3) with exact rounding.  NaN results of f32 are 0x7fffffff; those of f64
/// keep a payload, as the processor's own do.  `.approx` and `.full` divisions are rounded correctly here.

#include "ptx/alu/form_table.h"
#include "ptx/alu/modifiers.h"
#include "ptx/alu/rounding.h"
#include "ptx/alu/side_by_side.h"

namespace sm100::ptx {

namespace {

/// An operation with its modifiers: operands flushed, the result flushed and saturated.
template <class Op, Rounding kMode, bool kFlush, bool kSat>
struct Rounded {
  template <class T, class... Rest>
  T operator()(T a, Rest... rest) const {
    const T d = Op{}(How{kMode, kFlush}, flush_if<kFlush>(a), flush_if<kFlush>(rest)...);
    if constexpr (kSat)
      return saturate(d);
    else
      return d;
  }
};
template <class Op>
struct BothHalves {
  template <class... S>
  Pair<float> operator()(S... s) const {
    return {Op{}(s.low...), Op{}(s.high...)};
  }
};

struct Add {
  template <class T>
  T operator()(How how, T a, T b) const {
    return float_add(a, b, how);
  }
};
struct Sub {
  template <class T>
  T operator()(How how, T a, T b) const {
    return float_sub(a, b, how);
  }
};
struct Mul {
  template <class T>
  T operator()(How how, T a, T b) const {
    return float_mul(a, b, how);
  }
};
struct Fma {
  template <class T>
  T operator()(How how, T a, T b, T c) const {
    return float_fma(a, b, c, how);
  }
};
struct Div {
  template <class T>
  T operator()(How how, T a, T b) const {
    return float_div(a, b, how);
  }
};
struct Rcp {
  template <class T>
  T operator()(How how, T a) const {
    return float_div(T{1}, a, how);
  }
};
struct Sqrt {
  template <class T>
  T operator()(How how, T a) const {
    return float_sqrt(a, how);
  }
};

// ---- min, max ----

template <bool kMin, bool kFlush, bool kNan, bool kXorSign, bool kAbs>
struct Extreme {
  template <class T>
  static T two(T a, T b) {
    if (kNan && (is_nan(a) || is_nan(b))) return canonical_nan<T>();
    return kMin ? float_min(a, b) : float_max(a, b);
  }
  template <class T>
  T operator()(T a, T b) const {
    a = flush_if<kFlush>(a), b = flush_if<kFlush>(b);
    const auto sign = static_cast<Bits<T>>((bits_of(a) ^ bits_of(b)) & kSignBit<T>);
    if (kAbs || kXorSign) a = float_magnitude(a), b = float_magnitude(b);
    const T d = two(a, b);
    if (!kXorSign || is_nan(d)) return d;
    return from_bits<T>(static_cast<Bits<T>>(bits_of(d) | sign));
  }
  template <class T>
  T operator()(T a, T b, T c) const {
    a = flush_if<kFlush>(a), b = flush_if<kFlush>(b), c = flush_if<kFlush>(c);
    if (kAbs) a = float_magnitude(a), b = float_magnitude(b), c = float_magnitude(c);
    return two(two(a, b), c);
  }
};

// ---- signs and classes ----

template <bool kFlush>
struct Abs {
  template <class T>
  T operator()(T a) const {
    return float_abs(flush_if<kFlush>(a));
  }
};
template <bool kFlush>
struct Neg {
  template <class T>
  T operator()(T a) const {
    return float_neg(flush_if<kFlush>(a));
  }
};
/// The sign of the first operand, the magnitude of the second.
struct CopySign {
  template <class T>
  T operator()(T a, T b) const {
    return from_bits<T>((bits_of(b) & ~kSignBit<T>) | (bits_of(a) & kSignBit<T>));
  }
};

enum class Class { finite, infinite, number, notanumber, normal, subnormal };
template <Class kClass>
struct Testp {
  template <class T>
  bool operator()(T a) const {
    switch (kClass) {
      case Class::finite: return std::isfinite(a);
      case Class::infinite: return std::isinf(a);
      case Class::number: return !std::isnan(a);
      case Class::notanumber: return std::isnan(a);
      case Class::normal: return std::isnormal(a) || a == 0;  // an H100 calls zeros normal
      case Class::subnormal: return std::fpclassify(a) == FP_SUBNORMAL;
    }
    return false;
  }
};

// ---- the table ----

/// opcode[.mode][.ftz][.sat].type with every mode; `bare`: also without a mode, which means .rn.
template <class Op, class T, class... S>
void add_rounded(FormTable& table, const std::string& opcode, bool bare) {
  constexpr bool kSingle = std::is_same_v<T, float>;
  const std::string t = "." + std::string(name(TypeOf<T>::value));
  for_each_mode(bare, [&](const std::string& text, auto mode) {
    constexpr Rounding kMode = mode.value;
    table.add<Rounded<Op, kMode, false, false>, T, S...>(opcode + text + t);
    if constexpr (kSingle) {
      table.add<Rounded<Op, kMode, true, false>, T, S...>(opcode + text + ".ftz" + t);
      if (opcode == "div" || opcode == "rcp" || opcode == "sqrt") return;
      table.add<Rounded<Op, kMode, false, true>, T, S...>(opcode + text + ".sat" + t);
      table.add<Rounded<Op, kMode, true, true>, T, S...>(opcode + text + ".ftz.sat" + t);
    }
  });
}
template <class T>
void add_arithmetic(FormTable& table) {
  add_rounded<Add, T, T, T>(table, "add", true);
  add_rounded<Sub, T, T, T>(table, "sub", true);
  add_rounded<Mul, T, T, T>(table, "mul", true);
  add_rounded<Fma, T, T, T, T>(table, "fma", false);
  add_rounded<Fma, T, T, T, T>(table, "mad", false);
  const size_t first = table.forms.size();
  add_rounded<Div, T, T, T>(table, "div", false);
  add_rounded<Rcp, T, T>(table, "rcp", false);
  add_rounded<Sqrt, T, T>(table, "sqrt", false);
  for (size_t i = first; i < table.forms.size(); ++i) table.forms[i].cost = Cost::division;
}

template <class Op, class... S>
void add_packed(FormTable& table, const std::string& opcode, bool bare) {
  for_each_mode(bare, [&](const std::string& text, auto mode) {
    constexpr Rounding kMode = mode.value;
    table.add<BothHalves<Rounded<Op, kMode, false, false>>, Pair<float>, S...>(opcode + text + ".f32x2");
    table.add<BothHalves<Rounded<Op, kMode, true, false>>, Pair<float>, S...>(opcode + text + ".ftz.f32x2");
  });
}

template <bool kMin, class T>
void add_extremes(FormTable& table) {
  const std::string opcode = kMin ? "min" : "max", t = "." + std::string(name(TypeOf<T>::value));
  if constexpr (std::is_same_v<T, float>)
    table.add_wide<side_by_side::Extreme<kMin, false, false>, T, T, T>(opcode + t);
  else
    table.add<Extreme<kMin, false, false, false, false>, T, T, T>(opcode + t);
  if constexpr (std::is_same_v<T, float>) {
    for_each_flag<3>([&](auto ftz, auto nan, auto sign) {
      constexpr bool kFlush = ftz.value, kNan = nan.value, kXor = sign.value;
      const std::string text = opcode + (kFlush ? ".ftz" : "") + (kNan ? ".NaN" : "");
      if constexpr ((kFlush || kNan) && !kXor)
        table.add_wide<side_by_side::Extreme<kMin, kFlush, kNan>, T, T, T>(text + t);
      if constexpr (kXor) table.add<Extreme<kMin, kFlush, kNan, kXor, kXor>, T, T, T>(text + ".xorsign.abs" + t);
      table.add<Extreme<kMin, kFlush, kNan, false, kXor>, T, T, T, T>(text + (kXor ? ".abs" : "") + ".three" + t);
    });
  }
}

template <class T>
void add_signs(FormTable& table) {
  const std::string t = "." + std::string(name(TypeOf<T>::value));
  table.add_wide<Abs<false>, T, T>("abs" + t);
  table.add_wide<Neg<false>, T, T>("neg" + t);
  table.add_wide<CopySign, T, T, T>("copysign" + t);
  table.add<Testp<Class::finite>, bool, T>("testp.finite" + t);
  table.add<Testp<Class::infinite>, bool, T>("testp.infinite" + t);
  table.add<Testp<Class::number>, bool, T>("testp.number" + t);
  table.add<Testp<Class::notanumber>, bool, T>("testp.notanumber" + t);
  table.add<Testp<Class::normal>, bool, T>("testp.normal" + t);
  table.add<Testp<Class::subnormal>, bool, T>("testp.subnormal" + t);
}

/// div.approx.ftz multiplies with a reciprocal, which is zero where it would be subnormal.
struct DivByReciprocal {
  float operator()(float a, float b) const {
    a = flush(a), b = flush(b);
    if (std::abs(b) > 0x1p126f && std::isfinite(b))
      return float_mul(a, std::copysign(0.0f, b), {Rounding::nearest, true});
    return float_div(a, b, {Rounding::nearest, true});
  }
};

/// Divisions whose result hardware only approximates: within 2 ulp where the quotient is in range (PTX 9.7.3, div).
template <bool kFlush>
void add_approximate_division(FormTable& table) {
  const std::string ftz = kFlush ? ".ftz" : "";
  using Op = Rounded<Div, Rounding::nearest, kFlush, false>;
  table.add<Op, float, float, float>("div.full" + ftz + ".f32").max_ulps = 2;
  using Approximate = std::conditional_t<kFlush, DivByReciprocal, Op>;
  table.add<Approximate, float, float, float>("div.approx" + ftz + ".f32").max_ulps = 2;
}

}  // namespace

void add_float_forms(FormTable& table) {
  using F2 = Pair<float>;
  add_arithmetic<float>(table), add_arithmetic<double>(table);
  add_packed<Add, F2, F2>(table, "add", true), add_packed<Sub, F2, F2>(table, "sub", true);
  add_packed<Mul, F2, F2>(table, "mul", true), add_packed<Fma, F2, F2, F2>(table, "fma", false);
  add_extremes<true, float>(table), add_extremes<false, float>(table);
  add_extremes<true, double>(table), add_extremes<false, double>(table);
  add_signs<float>(table), add_signs<double>(table);
  table.add<Abs<true>, float, float>("abs.ftz.f32");
  table.add<Neg<true>, float, float>("neg.ftz.f32");
  add_approximate_division<false>(table), add_approximate_division<true>(table);
}

}  // namespace sm100::ptx
