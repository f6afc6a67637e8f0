// SPDX-License-Identifier: Apache-2.0
// When a computed matrix counts as right.

#include "kernels/host/comparison.h"

#include <cmath>
#include <limits>

#include "catch.h"
#include "kernels/host/product.h"

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

TEST_CASE("comparison: what is too large saturates in FP8 and becomes infinite in wider types, as cvt does") {
  CHECK(converted_range(DataType::e4m3, 449) == 448);
  CHECK(converted_range(DataType::e4m3, -1e9) == -448);
  CHECK(converted_range(DataType::e5m2, 1e9) == 57344);
  CHECK(std::isinf(converted_range(DataType::f16, 7e4)));
  CHECK(converted_range(DataType::f16, 65504) == 65504);
  CHECK(converted_range(DataType::f32, 1e38) == 1e38);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const auto ok = [](DataType type, double value, double expected) {
    Comparison comparison(error_limit(type));
    comparison.add_converted(type, value, expected, 0, 0);
    comparison.add_converted(type, 1, 1, 0, 1);
    return comparison.result(1).ok;
  };
  CHECK(ok(DataType::e4m3, 448, 700));
  CHECK(ok(DataType::e5m2, -57344, -1e7));
  CHECK_FALSE(ok(DataType::e4m3, 400, 700));
  CHECK_FALSE(ok(DataType::e4m3, -448, 700));
  CHECK(ok(DataType::f16, kInfinity, 1e5));
  CHECK(ok(DataType::f16, -kInfinity, -1e5));
  CHECK_FALSE(ok(DataType::f16, 65504, 1e5));
  CHECK_FALSE(ok(DataType::f16, kInfinity, -1e5));
  CHECK_FALSE(ok(DataType::f16, kInfinity, 6e4));
  for (const double expected : {65490.0, 65530.0}) {  // rounds up or not by one bit of the sum
    CHECK(ok(DataType::f16, kInfinity, expected));
    CHECK(ok(DataType::f16, 65504, expected));
  }
}

TEST_CASE("comparison: what nobody has written is found by its bytes") {
  constexpr int kRows = 8, kColumns = 6;
  std::vector<uint16_t> matrix(kRows * kColumns, 0x7fff);  // the NaN of cvt is a result
  matrix[0] = 0xff00, matrix[1] = 0x00ff;                  // 0xffff across two elements
  const auto* bytes = reinterpret_cast<const uint8_t*>(matrix.data());
  CHECK_FALSE(unwritten_elements(bytes, kRows, kColumns, 2));
  matrix[2 * kColumns + 3] = matrix[5 * kColumns + 1] = 0xffff;
  const auto found = unwritten_elements(bytes, kRows, kColumns, 2);
  REQUIRE(found);
  CHECK(found->elements == 2);
  CHECK(found->text() == "2 of 48 elements of the output, in rows 2 to 5 and columns 1 to 3");
  CHECK(Unwritten{.elements = 16384, .of = 1262144}.text().starts_with("16,384 of 1,262,144 elements"));
}

// wgmma of e4m3 keeps 13 bits of each term. On K = 48 one element of a hopper_matmul's 97,384 was off by 4.2e-4 of
// itself and the root mean square, where the whole matrix was by 5.6e-5.
TEST_CASE("comparison: sums that the tensor core cuts off may be unlucky in one element") {
  const ProductShape shape{.k = 48, .truncated_mma_k = 32, .truncated_bits = kTruncatedBitsOfWgmma8};
  const CutOff cut = cut_off(shape);
  CHECK(cut.whole == std::ldexp(2, -12));  // two MMAs
  CHECK(cut.element == Approx(cut.whole + 6 * std::sqrt(2 * 33 / 12.0) * std::ldexp(1, -12)));
  Comparison comparison(1e-5 + cut.whole, 1e-5 + cut.element);
  for (int i = 0; i < 100; ++i) comparison.add(i == 3 ? 2.5 * (1 + 2 * 4.2e-4) : 2.5, 2.5, i, 0);
  CHECK(comparison.result(100).ok);
  comparison.add(2.5 * 1.02, 2.5, 100, 0);
  CHECK(comparison.result(101).wrong_element);
  CHECK(cut_off({.k = 48}).element == 0);
}

}  // namespace sm100::host
