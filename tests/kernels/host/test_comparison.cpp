// When a computed matrix counts as right.

#include "kernels/host/comparison.h"

#include <cmath>
#include <limits>

#include "catch.h"

namespace sm100::host {
namespace {

/// A 10 x 10 matrix of 3 and 4 (root mean square 3.54) with one element off by `d`.
Check with_one_off(double d, double off_everywhere = 0) {
  Comparison comparison(0.01);
  for (int i = 0; i < 10; ++i)
    for (int j = 0; j < 10; ++j) {
      const double expected = (i + j) % 2 ? 3 : 4;
      comparison.add(expected + off_everywhere + (i == 7 && j == 2 ? d : 0), expected, i, j);
    }
  return comparison.result(10);
}

}  // namespace

TEST_CASE("comparison: rounding passes, and says how much there was") {
  const Check check = with_one_off(0.02, 0.01);
  CHECK(check.ok);
  CHECK_FALSE(check.wrong_element);
  // sqrt((99 * 0.01^2 + 0.03^2) / (50 * 9 + 50 * 16))
  CHECK(check.relative_error == Approx(std::sqrt((99 * 1e-4 + 9e-4) / 1250)));
  CHECK(check.rows == 10);
}

TEST_CASE("comparison: one wrong element is found although the norm hides it") {
  // Allowed is 0.01 * 3 + 0.01 * sqrt(12.5) = 0.0654; over the whole matrix 0.1 is 0.3 % of the norm.
  CHECK(with_one_off(0.065).ok);
  const Check check = with_one_off(0.1);
  CHECK_FALSE(check.ok);
  CHECK(check.relative_error < check.limit);
  REQUIRE(check.wrong_element);
  CHECK(check.text() == "relative error 2.8e-03 against float64 (limit 1e-02); element (7, 2) is 3.1, expected 3");
}

TEST_CASE("comparison: slightly wrong everywhere is wrong") {
  const Check check = with_one_off(0, 0.04);
  CHECK_FALSE(check.ok);
  CHECK_FALSE(check.wrong_element);
}

TEST_CASE("comparison: what is no number is wrong") {
  const Check check = with_one_off(std::numeric_limits<double>::quiet_NaN());
  CHECK_FALSE(check.ok);
  CHECK(std::isinf(check.relative_error));
  REQUIRE(check.wrong_element);
  CHECK(check.wrong_element->row == 7);
}

}  // namespace sm100::host
