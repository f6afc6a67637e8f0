// SPDX-License-Identifier: Apache-2.0
#include "kernels/block_scaled/host/mma_sums.h"

#include <bit>

#include "models/numerics/fused_dot.h"
#include "models/vector/kernels.h"

namespace sm100::host {
namespace {

/// Elements times their scales, which f32 holds exactly.
std::vector<float> scaled(const ScaledRows& x) {
  std::vector<float> products = x.elements;
  const int block = x.k / x.scales;
  for (int i = 0; i < x.rows; ++i)
    for (int l = 0; l < x.k; ++l) products[size_t(i) * size_t(x.k) + size_t(l)] *= x.scales_of(i)[l / block];
  return products;
}

std::vector<float> fast_sums(const BlockScaledConfig& c, const ScaledRows& a, const ScaledRows& b) {
  const std::vector<float> a_scaled = scaled(a), b_scaled = scaled(b);
  std::vector<float> d(size_t(a.rows) * size_t(b.rows));
  for (int k = 0; k < a.k; k += block_k(c))
    vector::kernels().product_f32({.m = a.rows,
                                   .n = b.rows,
                                   .k = block_k(c),
                                   .a = a_scaled.data() + k,
                                   .a_stride = a.k,
                                   .b = b_scaled.data() + k,
                                   .b_stride = b.k,
                                   .d = d.data(),
                                   .d_stride = b.rows,
                                   .accumulate = k > 0});
  return d;
}

/// `c` plus the products of the MMA that begins at element k.
float fused_sum(const BlockScaledConfig& config, const ScaledRows& a, int i, const ScaledRows& b, int j, int k,
                float c) {
  const int scale = k / scale_block(config);
  const float *sfa = a.scales_of(i) + scale, *sfb = b.scales_of(j) + scale;
  const bool accumulate = k > 0;
  if (config.format != BlockFormat::mxfp8)
    return std::bit_cast<float>(models::fused_dot_b200_mxf4(a.row(i) + k, b.row(j) + k, config.mma_k, c, accumulate,
                                                            sfa, sfb, scale_block(config),
                                                            config.scale_type == ScaleType::ue8m0));
  const int exponent = min_exponent(config.dtype);
  return std::bit_cast<float>(models::fused_dot_b200_mxf8f6f4(a.row(i) + k, b.row(j) + k, config.mma_k, c,
                                                              accumulate, exponent, exponent, *sfa, *sfb));
}

std::vector<float> b200_sums(const BlockScaledConfig& c, const ScaledRows& a, const ScaledRows& b) {
  std::vector<float> d(size_t(a.rows) * size_t(b.rows));
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.rows; ++j) {
      float& sum = d[size_t(i) * size_t(b.rows) + size_t(j)];
      for (int k = 0; k < a.k; k += c.mma_k) sum = fused_sum(c, a, i, b, j, k, sum);
    }
  return d;
}

}  // namespace

std::vector<float> mma_sums(const BlockScaledConfig& config, Numerics numerics, const ScaledRows& a,
                            const ScaledRows& b) {
  // Swapped, the kernel's A is the user's B: a product's factors change places, and no sum changes.
  return numerics == Numerics::b200 ? b200_sums(config, a, b) : fast_sums(config, a, b);
}

}  // namespace sm100::host
