// SPDX-License-Identifier: Apache-2.0
/// f16, bf16 and packed arithmetic (PTX 9.7.4), and sums of f32 with them.  NaN results are 0x7fff.

#include "ptx/alu/form_table.h"
#include "ptx/alu/modifiers.h"
#include "ptx/alu/rounding.h"

namespace sm100::ptx {

namespace {

enum class Then { nothing, sat, relu };

template <class Op, bool kFlush, Then kThen>
struct Half {
  template <class T, class... Rest>
  T operator()(T a, Rest... rest) const {
    const T d = Op{}(How{Rounding::nearest, kFlush}, flush_if<kFlush>(a), flush_if<kFlush>(rest)...);
    if constexpr (kThen == Then::sat)
      return saturate(d);
    else if constexpr (kThen == Then::relu)
      return relu(d);
    else
      return d;
  }
};
template <class Op>
struct Both {
  template <class T, class... Rest>
  Pair<T> operator()(Pair<T> a, Rest... rest) const {
    return {Op{}(a.low, rest.low...), Op{}(a.high, rest.high...)};
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
struct Neg {
  template <class T>
  T operator()(How, T a) const {
    return float_neg(a);
  }
};
struct Abs {
  template <class T>
  T operator()(How, T a) const {
    return float_abs(a);
  }
};

template <bool kMin, bool kFlush, bool kNan, bool kXorSign>
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
    if (kXorSign) a = float_magnitude(a), b = float_magnitude(b);
    const T d = two(a, b);
    return !kXorSign || is_nan(d) ? d : from_bits<T>(static_cast<Bits<T>>(bits_of(d) | sign));
  }
};

/// The scalar form and the packed one.
template <class Op, class T, class... S>
void add_both(FormTable& table, const std::string& opcode) {
  table.add<Op, T, S...>(opcode + "." + std::string(name(TypeOf<T>::value)));
  table.add<Both<Op>, Pair<T>, Pair<S>...>(opcode + "." + std::string(name(TypeOf<Pair<T>>::value)));
}

template <class Op, class T, class... S>
void add_sum(FormTable& table, const std::string& opcode) {
  for (const char* mode : {"", ".rn"}) {
    const std::string start = opcode + mode;
    add_both<Half<Op, false, Then::nothing>, T, S...>(table, start);
    if constexpr (std::is_same_v<T, F16>) {
      add_both<Half<Op, true, Then::nothing>, T, S...>(table, start + ".ftz");
      add_both<Half<Op, false, Then::sat>, T, S...>(table, start + ".sat");
      add_both<Half<Op, true, Then::sat>, T, S...>(table, start + ".ftz.sat");
    }
  }
}

template <class T>
void add_fma(FormTable& table) {
  add_both<Half<Fma, false, Then::nothing>, T, T, T, T>(table, "fma.rn");
  add_both<Half<Fma, false, Then::relu>, T, T, T, T>(table, "fma.rn.relu");
  if constexpr (std::is_same_v<T, F16>) {
    add_both<Half<Fma, true, Then::nothing>, T, T, T, T>(table, "fma.rn.ftz");
    add_both<Half<Fma, true, Then::relu>, T, T, T, T>(table, "fma.rn.ftz.relu");
    add_both<Half<Fma, false, Then::sat>, T, T, T, T>(table, "fma.rn.sat");
    add_both<Half<Fma, true, Then::sat>, T, T, T, T>(table, "fma.rn.ftz.sat");
  }
}

template <class T, bool kMin, bool kFlush>
void add_extreme(FormTable& table) {
  for_each_flag<2>([&](auto nan, auto sign) {
    const std::string text = std::string(kMin ? "min" : "max") + (kFlush ? ".ftz" : "") +
                             (nan.value ? ".NaN" : "") + (sign.value ? ".xorsign.abs" : "");
    add_both<Extreme<kMin, kFlush, nan.value, sign.value>, T, T, T>(table, text);
  });
}

template <class T>
void add_of(FormTable& table) {
  add_sum<Add, T, T, T>(table, "add"), add_sum<Sub, T, T, T>(table, "sub"), add_sum<Mul, T, T, T>(table, "mul");
  add_fma<T>(table);
  add_extreme<T, true, false>(table), add_extreme<T, false, false>(table);
  add_both<Half<Neg, false, Then::nothing>, T, T>(table, "neg");
  add_both<Half<Abs, false, Then::nothing>, T, T>(table, "abs");
}

// ---- f32 sums with a half: add.f32.f16 (PTX 9.7.5) ----

template <class H, Rounding kMode, bool kSat, bool kNegative>
struct MixedSum {
  float operator()(H a, float c) const {
    const double b = kNegative ? -static_cast<double>(c) : static_cast<double>(c);
    const auto d = round_to<float>(sum_to_odd(to_double(a), b, kMode), kMode);
    return kSat ? saturate(d) : d;
  }
};
template <class H, Rounding kMode, bool kSat>
struct MixedFma {
  float operator()(H a, H b, float c) const {
    const auto d = round_to<float>(sum_to_odd(to_double(a) * to_double(b), c, kMode), kMode);
    return kSat ? saturate(d) : d;
  }
};
template <class H, bool kSat>
void add_mixed(FormTable& table) {
  const std::string t = std::string(kSat ? ".sat" : "") + ".f32." + std::string(name(TypeOf<H>::value));
  for_each_mode(true, [&](const std::string& text, auto mode) {
    constexpr Rounding kMode = mode.value;
    table.add<MixedSum<H, kMode, kSat, false>, float, H, float>("add" + text + t);
    table.add<MixedSum<H, kMode, kSat, true>, float, H, float>("sub" + text + t);
    if (!text.empty()) table.add<MixedFma<H, kMode, kSat>, float, H, H, float>("fma" + text + t);
  });
}

}  // namespace

void add_half_forms(FormTable& table) {
  add_of<F16>(table), add_of<Bf16>(table);
  add_extreme<F16, true, true>(table), add_extreme<F16, false, true>(table);
  add_both<Half<Neg, true, Then::nothing>, F16, F16>(table, "neg.ftz");
  add_both<Half<Abs, true, Then::nothing>, F16, F16>(table, "abs.ftz");
  add_mixed<F16, false>(table), add_mixed<F16, true>(table);
  add_mixed<Bf16, false>(table), add_mixed<Bf16, true>(table);
}

}  // namespace sm100::ptx
