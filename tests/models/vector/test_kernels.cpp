// SPDX-License-Identifier: Apache-2.0
// Every instruction set of this machine computes the bits that kernels.h defines.
#include "models/vector/kernels.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <utility>
#include <vector>

#include "catch.h"

using namespace sm100::vector;

namespace {

/// bf16 values: random signs and significands, exponents between two bounds.
std::vector<float> bf16_values(size_t count, int low, int high, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& x : values) {
    const uint32_t bits = random();
    const int exponent = low + int(bits >> 8) % (high - low + 1);
    x = std::ldexp(1.f + float(bits & 0x7f) / 128, exponent) * (bits & 0x80 ? -1.f : 1.f);
  }
  return values;
}

/// The definition, one element at a time.
template <class T>
void multiply_plainly(const Product<T>& p) {
  for (int i = 0; i < p.m; ++i)
    for (int j = 0; j < p.n; ++j) {
      T sum = 0;
      for (int l = 0; l < p.k; ++l) sum = std::fma(p.a[i * p.a_stride + l], p.b[j * p.b_stride + l], sum);
      T& d = p.d[i * p.d_stride + j];
      if constexpr (sizeof(T) == 4)
        d = p.accumulate ? added(d, sum) : std::isnan(sum) ? std::bit_cast<float>(kCanonicalNan) : sum;
      else
        d = p.accumulate ? d + sum : sum;
    }
}

template <class T>
std::vector<uint64_t> bits_of(const std::vector<T>& values) {
  std::vector<uint64_t> bits;
  for (T x : values)
    if constexpr (sizeof(T) == 4)
      bits.push_back(std::bit_cast<uint32_t>(x));
    else
      bits.push_back(std::bit_cast<uint64_t>(x));
  return bits;
}

template <class T>
void check_product(void (*multiply)(const Product<T>&), int m, int n, int k, const std::vector<T>& a,
                   const std::vector<T>& b, bool accumulate) {
  const ptrdiff_t stride = n + 3;
  std::vector<T> expected(size_t(m) * size_t(stride), T(0.75));
  for (size_t i = 0; i < expected.size(); i += 7) expected[i] = -expected[i] * T(i);
  std::vector<T> d = expected;
  Product<T> p{m, n, k, a.data(), k, b.data(), k, d.data(), stride, accumulate};
  multiply(p);
  p.d = expected.data();
  multiply_plainly(p);
  CHECK(bits_of(d) == bits_of(expected));  // what lies between the rows too
}

}  // namespace

TEST_CASE("products have the defined bits, ragged sizes too", "[vector]") {
  struct Size {
    int m, n, k;
  };
  for (InstructionSet set : available_instruction_sets())
    for (const Size s :
         {Size{1, 1, 1}, {5, 7, 3}, {16, 32, 16}, {13, 33, 40}, {64, 24, 64}, {128, 256, 64}, {3, 16, 0}})
      for (bool accumulate : {false, true}) {
        CAPTURE(name(set), s.m, s.n, s.k, accumulate);
        const auto a = bf16_values(size_t(s.m * s.k), -8, 2, 1), b = bf16_values(size_t(s.n * s.k), -8, 2, 2);
        check_product(kernels_of(set).product_f32, s.m, s.n, s.k, a, b, accumulate);
        check_product(kernels_of(set).product_f64, s.m, s.n, s.k, std::vector<double>(a.begin(), a.end()),
                      std::vector<double>(b.begin(), b.end()), accumulate);
      }
}

TEST_CASE("products whose terms f32 cannot hold are fused on every instruction set", "[vector]") {
  for (InstructionSet set : available_instruction_sets()) {
    CAPTURE(name(set));
    const auto tiny = bf16_values(20 * 32, -80, -60, 3), huge = bf16_values(20 * 32, 50, 76, 4),
               one = bf16_values(20 * 32, -10, 10, 5);
    check_product(kernels_of(set).product_f32, 20, 20, 32, tiny, tiny, true);
    check_product(kernels_of(set).product_f32, 20, 20, 32, huge, huge, true);
    check_product(kernels_of(set).product_f32, 20, 20, 32, tiny, huge, false);
    check_product(kernels_of(set).product_f32, 20, 20, 32, one, tiny, false);
  }
}

TEST_CASE("a NaN has one pattern, and one that lies in D stays", "[vector]") {
  for (InstructionSet set : available_instruction_sets()) {
    CAPTURE(name(set));
    std::vector<float> a(6 * 4, 1.f), b(9 * 4, 2.f), d(6 * 9, 0.f);
    a[0] = std::bit_cast<float>(0xffc12345u);       // row 0: NaN
    a[4] = std::numeric_limits<float>::infinity();  // row 1: infinity, and infinity - infinity in column 3
    a[5] = -std::numeric_limits<float>::infinity();
    b[3 * 4 + 1] = 0;
    d[2 * 9] = std::bit_cast<float>(0xffffffffu);  // row 2, column 0: what memory holds that nobody wrote
    kernels_of(set).product_f32({6, 9, 4, a.data(), 4, b.data(), 4, d.data(), 9, true});
    CHECK(std::bit_cast<uint32_t>(d[0]) == kCanonicalNan);
    CHECK(std::bit_cast<uint32_t>(d[1 * 9 + 2]) == kCanonicalNan);
    CHECK(std::bit_cast<uint32_t>(d[1 * 9 + 3]) == kCanonicalNan);
    CHECK(std::bit_cast<uint32_t>(d[2 * 9]) == 0xffffffffu);
    CHECK(d[2 * 9 + 1] == 8);
  }
}

TEST_CASE("take_later is the maximum of unsigned words", "[vector]") {
  for (InstructionSet set : available_instruction_sets()) {
    CAPTURE(name(set));
    std::mt19937 random(6);
    std::vector<uint32_t> to(103), from(103), expected;
    for (size_t i = 0; i < to.size(); ++i) {
      to[i] = random(), from[i] = random();
      expected.push_back(std::max(to[i], from[i]));
    }
    kernels_of(set).take_later(to.data(), from.data(), to.size());
    CHECK(to == expected);
  }
}

TEST_CASE("later_of finds the one word that is later, wherever it lies", "[vector]") {
  for (InstructionSet set : available_instruction_sets()) {
    CAPTURE(name(set));
    const auto later = [&](const std::vector<uint32_t>& a, const std::vector<uint32_t>& b, size_t count) {
      const Later found = kernels_of(set).later_of(a.data(), b.data(), count);
      return std::pair{found.first, found.second};
    };
    std::vector<uint32_t> a(103, 7), b(103, 7);
    CHECK(later(a, b, a.size()) == std::pair{false, false});
    for (size_t i = 0; i < a.size(); ++i) {
      CAPTURE(i);
      b[i] = 0xffffffff;  // unsigned
      CHECK(later(a, b, a.size()) == std::pair{false, true});
      CHECK(later(b, a, a.size()) == std::pair{true, false});
      CHECK(later(a, b, i) == std::pair{false, false});
      b[i] = 6, b[(i + 50) % b.size()] = 8;
      CHECK(later(a, b, a.size()) == std::pair{true, true});
      b[i] = b[(i + 50) % b.size()] = 7;
    }
  }
}
