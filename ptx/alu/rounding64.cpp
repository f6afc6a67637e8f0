// SPDX-License-Identifier: Apache-2.0
/// f64 in the modes .rz, .rm and .rp, by the processor's own.  This file is compiled so that nothing moves across a
/// change of mode (-frounding-math), and operands pass through volatile variables.

#include <cfenv>
#include <cmath>

#include "ptx/alu/rounding.h"

namespace sm100::ptx {

namespace {

class ScopedMode {
 public:
  explicit ScopedMode(Rounding mode) : before_(std::fegetround()) {
    std::fesetround(mode == Rounding::zero   ? FE_TOWARDZERO
                    : mode == Rounding::down ? FE_DOWNWARD
                    : mode == Rounding::up   ? FE_UPWARD
                                             : FE_TONEAREST);
  }
  ~ScopedMode() { std::fesetround(before_); }

 private:
  int before_;
};

}  // namespace

double add64(double a, double b, Rounding mode) {
  volatile double x = a, y = b, result;
  const ScopedMode scoped(mode);
  result = x + y;
  return result;
}
double mul64(double a, double b, Rounding mode) {
  volatile double x = a, y = b, result;
  const ScopedMode scoped(mode);
  result = x * y;
  return result;
}
double fma64(double a, double b, double c, Rounding mode) {
  volatile double x = a, y = b, z = c, result;
  const ScopedMode scoped(mode);
  result = std::fma(x, y, z);
  return result;
}
double div64(double a, double b, Rounding mode) {
  volatile double x = a, y = b, result;
  const ScopedMode scoped(mode);
  result = x / y;
  return result;
}
double sqrt64(double a, Rounding mode) {
  volatile double x = a, result;
  const ScopedMode scoped(mode);
  result = std::sqrt(x);
  return result;
}

}  // namespace sm100::ptx
