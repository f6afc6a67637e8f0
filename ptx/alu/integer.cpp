// SPDX-License-Identifier: Apache-2.0
/// Integer arithmetic (PTX 9.7.1): add to rem, without carries.
/// What PTX leaves open: a division by zero gives all ones, quotient and remainder, as hardware's own routines do.

#include <algorithm>
#include <limits>

#include "ptx/alu/form_table.h"
#include "ptx/alu/integers.h"

namespace sm100::ptx {

namespace {

template <class T>
constexpr T most = std::numeric_limits<T>::max();
template <class T>
constexpr T least = std::numeric_limits<T>::min();

int32_t saturate(int64_t x) { return static_cast<int32_t>(std::clamp<int64_t>(x, least<int32_t>, most<int32_t>)); }

struct Add {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Unsigned<T>(a) + Unsigned<T>(b));
  }
};
struct Sub {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(Unsigned<T>(a) - Unsigned<T>(b));
  }
};
struct AddSat {
  int32_t operator()(int32_t a, int32_t b) const { return saturate(int64_t{a} + b); }
};
struct SubSat {
  int32_t operator()(int32_t a, int32_t b) const { return saturate(int64_t{a} - b); }
};
struct Min {
  template <class T>
  T operator()(T a, T b) const {
    return std::min(a, b);
  }
};
struct Max {
  template <class T>
  T operator()(T a, T b) const {
    return std::max(a, b);
  }
};
struct MinRelu {
  template <class T>
  T operator()(T a, T b) const {
    return std::max<T>(std::min(a, b), 0);
  }
};
struct MaxRelu {
  template <class T>
  T operator()(T a, T b) const {
    return std::max<T>(std::max(a, b), 0);
  }
};
/// The same in both halves of a packed operand.
template <class Op>
struct Both {
  template <class T>
  Pair<T> operator()(Pair<T> a, Pair<T> b) const {
    return {Op{}(a.low, b.low), Op{}(a.high, b.high)};
  }
};

struct MulLo {
  template <class T>
  T operator()(T a, T b) const {
    return mul_lo(a, b);
  }
};
struct MulHi {
  template <class T>
  T operator()(T a, T b) const {
    return mul_hi(a, b);
  }
};
struct MulWide {
  template <class T>
  Double<T> operator()(T a, T b) const {
    return static_cast<Double<T>>(static_cast<Double<T>>(a) * static_cast<Double<T>>(b));
  }
};
struct MadLo {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(mul_lo(a, b), c);
  }
};
struct MadHi {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(mul_hi(a, b), c);
  }
};
struct MadWide {
  template <class T>
  Double<T> operator()(T a, T b, Double<T> c) const {
    return Add{}(MulWide{}(a, b), c);
  }
};
struct MadHiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const { return saturate(int64_t{mul_hi(a, b)} + c); }
};

/// 48 bits of the product of the low 24 bits.
int64_t product24(int32_t a, int32_t b) {
  const auto low = [](int32_t x) { return int64_t{static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8}; };
  return low(a) * low(b);
}
uint64_t product24(uint32_t a, uint32_t b) { return uint64_t{a & 0xffffff} * (b & 0xffffff); }
struct Mul24Lo {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b));
  }
};
struct Mul24Hi {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(product24(a, b) >> 16);
  }
};
struct Mad24Lo {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(Mul24Lo{}(a, b), c);
  }
};
struct Mad24Hi {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(Mul24Hi{}(a, b), c);
  }
};
struct Mad24HiSat {
  int32_t operator()(int32_t a, int32_t b, int32_t c) const { return saturate(int64_t{Mul24Hi{}(a, b)} + c); }
};

struct Sad {
  template <class T>
  T operator()(T a, T b, T c) const {
    return Add{}(c, a < b ? Sub{}(b, a) : Sub{}(a, b));
  }
};
struct Div {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return Sub{}(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T>
  T operator()(T a, T b) const {
    if (b == 0) return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Neg {
  template <class T>
  T operator()(T a) const {
    return Sub{}(T{0}, a);
  }
};
struct Abs {
  template <class T>
  T operator()(T a) const {
    return a < 0 ? Neg{}(a) : a;
  }
};

template <class T>
void add_of(FormTable& table) {
  const std::string t = "." + std::string(name(TypeOf<T>::value));
  table.add_wide<Add, T, T, T>("add" + t);
  table.add_wide<Sub, T, T, T>("sub" + t);
  table.add_wide<Min, T, T, T>("min" + t);
  table.add_wide<Max, T, T, T>("max" + t);
  table.add_wide<MulLo, T, T, T>("mul.lo" + t);
  table.add_wide<MulHi, T, T, T>("mul.hi" + t);
  table.add_wide<MadLo, T, T, T, T>("mad.lo" + t);
  table.add_wide<MadHi, T, T, T, T>("mad.hi" + t);
  table.add<Sad, T, T, T, T>("sad" + t);
  constexpr Cost kCost = sizeof(T) == 8 ? Cost::wide_division : Cost::division;
  table.add<Div, T, T, T>("div" + t).cost = kCost;
  table.add<Rem, T, T, T>("rem" + t).cost = kCost;
  if constexpr (sizeof(T) < 8) {
    table.add_wide<MulWide, Double<T>, T, T>("mul.wide" + t);
    table.add_wide<MadWide, Double<T>, T, T, Double<T>>("mad.wide" + t);
  }
  if constexpr (std::is_signed_v<T>) {
    table.add_wide<Neg, T, T>("neg" + t);
    table.add_wide<Abs, T, T>("abs" + t);
  }
}

template <class T>
void add_24_of(FormTable& table) {
  const std::string t = "." + std::string(name(TypeOf<T>::value));
  table.add<Mul24Lo, T, T, T>("mul24.lo" + t);
  table.add<Mul24Hi, T, T, T>("mul24.hi" + t);
  table.add<Mad24Lo, T, T, T, T>("mad24.lo" + t);
  table.add<Mad24Hi, T, T, T, T>("mad24.hi" + t);
}

template <class T>
void add_packed_of(FormTable& table) {
  const std::string t = "." + std::string(name(TypeOf<Pair<T>>::value));
  using P = Pair<T>;
  table.add<Both<Add>, P, P, P>("add" + t);
  table.add<Both<Sub>, P, P, P>("sub" + t);
  table.add<Both<Min>, P, P, P>("min" + t);
  table.add<Both<Max>, P, P, P>("max" + t);
}

}  // namespace

void add_integer_forms(FormTable& table) {
  add_of<uint16_t>(table), add_of<int16_t>(table);
  add_of<uint32_t>(table), add_of<int32_t>(table);
  add_of<uint64_t>(table), add_of<int64_t>(table);
  add_24_of<uint32_t>(table), add_24_of<int32_t>(table);
  add_packed_of<uint16_t>(table), add_packed_of<int16_t>(table);
  using S = int32_t;
  using P = Pair<int16_t>;
  table.add<AddSat, S, S, S>("add.sat.s32");
  table.add<SubSat, S, S, S>("sub.sat.s32");
  table.add<MadHiSat, S, S, S, S>("mad.hi.sat.s32");
  table.add<Mad24HiSat, S, S, S, S>("mad24.hi.sat.s32");
  table.add<MinRelu, S, S, S>("min.relu.s32");
  table.add<MaxRelu, S, S, S>("max.relu.s32");
  table.add<Both<MinRelu>, P, P, P>("min.relu.s16x2");
  table.add<Both<MaxRelu>, P, P, P>("max.relu.s16x2");
}

}  // namespace sm100::ptx
