// SPDX-License-Identifier: Apache-2.0
/// Functions that hardware approximates (PTX 9.7.3, 9.7.4): here the result is rounded correctly from f64.
/// `max_ulps` is how far hardware's may be by the PTX text; bounds there that are absolute errors are given as ulps
/// of results near 1.

#include <cmath>

#include "ptx/alu/form_table.h"
#include "ptx/alu/rounding.h"

namespace sm100::ptx {

namespace {

double rcp(double x) { return 1.0 / x; }
double rsqrt(double x) { return x == 0 ? std::copysign(HUGE_VAL, x) : 1.0 / std::sqrt(x); }
double square_root(double x) { return std::sqrt(x); }
double sine(double x) { return std::sin(x); }
double cosine(double x) { return std::cos(x); }
double log_2(double x) { return std::log2(x); }
double exp_2(double x) { return std::exp2(x); }
double tangent(double x) { return std::tanh(x); }

template <double (*kFunction)(double), bool kFlush>
struct Approximate {
  template <class T>
  T operator()(T a) const {
    return round_result<T>(kFunction(to_double(flush_if<kFlush>(a))), {Rounding::nearest, kFlush});
  }
};
template <class Op>
struct Both {
  template <class T>
  Pair<T> operator()(Pair<T> a) const {
    return {Op{}(a.low), Op{}(a.high)};
  }
};

template <double (*kFunction)(double)>
void add_single(FormTable& table, const std::string& opcode, double ulps) {
  table.add<Approximate<kFunction, false>, float, float>(opcode + ".f32").max_ulps = ulps;
  table.add<Approximate<kFunction, true>, float, float>(opcode + ".ftz.f32").max_ulps = ulps;
}
template <double (*kFunction)(double), class T, bool kFlush>
void add_halves(FormTable& table, const std::string& opcode, double ulps) {
  using Op = Approximate<kFunction, kFlush>;
  table.add<Op, T, T>(opcode + "." + std::string(name(TypeOf<T>::value))).max_ulps = ulps;
  table.add<Both<Op>, Pair<T>, Pair<T>>(opcode + "." + std::string(name(TypeOf<Pair<T>>::value))).max_ulps = ulps;
}

/// The upper 32 bits of an f64 alone are looked at and computed.
template <double (*kFunction)(double)>
struct UpperHalf {
  double operator()(double a) const {
    const auto upper = [](double x) {
      return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0xffffffff00000000u);
    };
    const double y = kFunction(flush(upper(a)));
    if (std::isnan(y)) return std::bit_cast<double>(uint64_t{0x7fffffff} << 32);
    return flush(upper(y));
  }
};

}  // namespace

void add_approximate_forms(FormTable& table) {
  add_single<rcp>(table, "rcp.approx", 1);
  add_single<square_root>(table, "sqrt.approx", 2);
  add_single<rsqrt>(table, "rsqrt.approx", 2);
  add_single<sine>(table, "sin.approx", 16);  // 2^-20.5 absolute in [-pi, pi]
  add_single<cosine>(table, "cos.approx", 16);
  add_single<log_2>(table, "lg2.approx", 4);  // 2^-22 absolute in (0.5, 2)
  add_single<exp_2>(table, "ex2.approx", 2);
  table.add<Approximate<tangent, false>, float, float>("tanh.approx.f32").max_ulps = 8192;  // 2^-11 relative
  add_halves<tangent, F16, false>(table, "tanh.approx", 2);
  add_halves<tangent, Bf16, false>(table, "tanh.approx", 2);
  add_halves<exp_2, F16, false>(table, "ex2.approx", 2);
  add_halves<exp_2, Bf16, true>(table, "ex2.approx.ftz", 2);
  table.add<Approximate<rsqrt, false>, double, double>("rsqrt.approx.f64").max_ulps = 2;
  table.add<UpperHalf<rcp>, double, double>("rcp.approx.ftz.f64").max_ulps = 4294967296.0;
  table.add<UpperHalf<rsqrt>, double, double>("rsqrt.approx.ftz.f64").max_ulps = 4294967296.0;
}

}  // namespace sm100::ptx
