// SPDX-License-Identifier: Apache-2.0
/// ldmatrix and stmatrix: which lane and half holds which element.
#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

/// The 16-bit elements of matrix q hold q * 64 + row * 8 + column; matrix q is at q * 128 bytes, rows of 16 bytes.
template <int kMatrices, bool kTrans>
__global__ void load(u32* out) {
  __shared__ alignas(128) std::uint16_t data[256];
  for (int i = threadIdx.x; i < 256; i += 32) data[i] = static_cast<std::uint16_t>(i);
  __syncwarp();
  const u32 a = smem(data) + threadIdx.x % (8 * kMatrices) * 16;
  u32 r[4] = {};
#define LD(n, t, regs, ...) \
  asm volatile("ldmatrix.sync.aligned.m8n8." n t ".shared::cta.b16 " regs:__VA_ARGS__ : "r"(a) : "memory")
  if constexpr (kMatrices == 1 && !kTrans) LD("x1", "", "{%0}, [%1];", "=r"(r[0]));
  if constexpr (kMatrices == 1 && kTrans) LD("x1", ".trans", "{%0}, [%1];", "=r"(r[0]));
  if constexpr (kMatrices == 2 && !kTrans) LD("x2", "", "{%0, %1}, [%2];", "=r"(r[0]), "=r"(r[1]));
  if constexpr (kMatrices == 2 && kTrans) LD("x2", ".trans", "{%0, %1}, [%2];", "=r"(r[0]), "=r"(r[1]));
  if constexpr (kMatrices == 4 && !kTrans)
    LD("x4", "", "{%0, %1, %2, %3}, [%4];", "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]));
  if constexpr (kMatrices == 4 && kTrans)
    LD("x4", ".trans", "{%0, %1, %2, %3}, [%4];", "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]));
#undef LD
  for (int q = 0; q < 4; ++q) out[threadIdx.x * 4 + q] = r[q];
}

/// Thread t's register q holds (q * 64 + 2t) in the low half and the next number in the high half.
template <int kMatrices, bool kTrans>
__global__ void store(std::uint16_t* out) {
  __shared__ alignas(128) std::uint16_t data[256];
  for (int i = threadIdx.x; i < 256; i += 32) data[i] = 0xffff;
  __syncwarp();
  const u32 a = smem(data) + threadIdx.x % (8 * kMatrices) * 16;
  u32 r[4];
  for (u32 q = 0; q < 4; ++q) r[q] = (q * 64 + 2 * threadIdx.x) | (q * 64 + 2 * threadIdx.x + 1) << 16;
#define ST(n, t, regs, ...) \
  asm volatile("stmatrix.sync.aligned.m8n8." n t ".shared::cta.b16 [%0], " regs ::"r"(a), __VA_ARGS__ : "memory")
  if constexpr (kMatrices == 1 && !kTrans) ST("x1", "", "{%1};", "r"(r[0]));
  if constexpr (kMatrices == 1 && kTrans) ST("x1", ".trans", "{%1};", "r"(r[0]));
  if constexpr (kMatrices == 2 && !kTrans) ST("x2", "", "{%1, %2};", "r"(r[0]), "r"(r[1]));
  if constexpr (kMatrices == 2 && kTrans) ST("x2", ".trans", "{%1, %2};", "r"(r[0]), "r"(r[1]));
  if constexpr (kMatrices == 4 && !kTrans)
    ST("x4", "", "{%1, %2, %3, %4};", "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
  if constexpr (kMatrices == 4 && kTrans)
    ST("x4", ".trans", "{%1, %2, %3, %4};", "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]));
#undef ST
  __syncwarp();
  for (int i = threadIdx.x; i < 256; i += 32) out[i] = data[i];
}

/// Row and column of thread t's low (h = 0) or high half.
int row_of(int t, int h, bool trans) { return trans ? 2 * (t % 4) + h : t / 4; }
int column_of(int t, int h, bool trans) { return trans ? t / 4 : 2 * (t % 4) + h; }

template <int kMatrices, bool kTrans>
void ask(hw::Out& out) {
  const std::string name = hw::format("x%d%s", kMatrices, kTrans ? ".trans" : "");
  Buffer<u32> l(128);
  hw::run("ldmatrix", load<kMatrices, kTrans>, 1, 32, 0, 1, l.get());
  const auto seen = l.host();
  int wrong = 0;
  for (int t = 0; t < 32; ++t)
    for (int q = 0; q < kMatrices; ++q)
      for (int h = 0; h < 2; ++h)
        wrong += static_cast<int>(seen[static_cast<std::size_t>(t * 4 + q)] >> (16 * h) & 0xffff) !=
                 q * 64 + row_of(t, h, kTrans) * 8 + column_of(t, h, kTrans);
  out.answer("matrix.ldmatrix." + name,
             "ldmatrix m8n8." + name + ": halves that are not row t/4, elements 2(t%4), +1 (or transposed)", "0",
             std::to_string(wrong));
  Buffer<std::uint16_t> s(256);
  hw::run("stmatrix", store<kMatrices, kTrans>, 1, 32, 0, 1, s.get());
  const auto stored = s.host();
  wrong = 0;
  for (int t = 0; t < 32; ++t)
    for (int q = 0; q < 4; ++q)
      for (int h = 0; h < 2; ++h) {
        const int want = q < kMatrices ? q * 64 + 2 * t + h : 0xffff;
        wrong +=
            stored[static_cast<std::size_t>(q * 64 + row_of(t, h, kTrans) * 8 + column_of(t, h, kTrans))] != want;
      }
  out.answer("matrix.stmatrix." + name, "stmatrix m8n8." + name + ": elements not where the same map says", "0",
             std::to_string(wrong));
}

}  // namespace

HW_TEST("matrix") {
  ask<1, false>(out);
  ask<1, true>(out);
  ask<2, false>(out);
  ask<2, true>(out);
  ask<4, false>(out);
  ask<4, true>(out);
}
