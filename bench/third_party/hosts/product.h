// SPDX-License-Identifier: Apache-2.0
/// What the hosts of published GEMM kernels share: bf16 operands, and the product of a GPU compared with one made
/// here.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

/// As the bits of a bf16; values with few bits, so that products and sums of the comparison are exact in float.
inline uint16_t bf16_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return uint16_t(bits >> 16);
}
inline float float_of(uint16_t bf16) {
  const uint32_t bits = uint32_t(bf16) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// rows x columns of k/8, -8 <= k < 8, in no order that a wrong coordinate would leave as it is.
inline std::vector<uint16_t> operand(int rows, int columns, uint32_t seed) {
  std::vector<uint16_t> matrix(size_t(rows) * size_t(columns));
  for (uint16_t& element : matrix) {
    seed = seed * 1664525 + 1013904223;
    element = bf16_of(float(int(seed >> 28) - 8) / 8);
  }
  return matrix;
}

/// Compares c, m x n, with a * b^T; says so and returns whether each element is within a step of bf16.
inline bool is_product(const char* what, const std::vector<uint16_t>& a, const std::vector<uint16_t>& b,
                       const std::vector<uint16_t>& c, int m, int n, int k) {
  float largest = 0;
  int64_t wrong = 0;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int l = 0; l < k; ++l)
        sum += float_of(a[size_t(i) * size_t(k) + size_t(l)]) * float_of(b[size_t(j) * size_t(k) + size_t(l)]);
      const float error = std::fabs(float_of(c[size_t(i) * size_t(n) + size_t(j)]) - sum);
      if (!(error <= std::fabs(sum) / 128)) ++wrong;
      if (!(error <= largest)) largest = error;
    }
  std::printf("%s: %d x %d x %d, %lld elements wrong, largest error %g: %s\n", what, m, n, k, (long long)wrong,
              double(largest), wrong == 0 ? "Passed" : "Failed");
  return wrong == 0;
}
