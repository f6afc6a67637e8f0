// SPDX-License-Identifier: Apache-2.0
/// A product of one MMA, or of one for each part of K, whose sums are right: tests say what a wrong epilogue has
/// made of them, and ask provenance.
#pragma once

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "sim/provenance/explainer.h"

namespace sm100::sim::testing {

constexpr int kM = 128, kN = 64, kK = 16, kTileA = 0x4000, kTileB = 0x8000;
constexpr uint64_t kA = 0x10000, kB = 0x90000, kC = 0x110000, kBias = 0x210000, kResidual = 0x310000,
                   kScaleA = 0x410000, kScaleB = 0x510000, kSfd = 0x610000;

inline models::Source by_warp(int warp, const Loc& loc) { return {.warp = int8_t(warp), .loc = loc, .cta = 0}; }

/// A CTA that multiplies 128 x 64 x (16 for each part), loads the sums, and stores C row by row.
class Run {
 public:
  explicit Run(int parts = 1) : parts_(parts), sums_(size_t(parts) * kM * kN) {
    std::mt19937 random(7);
    for (float& x : sums_) x = number(random);
    for (float& b : bias) b = number(random);
    for (float& r : residual) r = as_float(uint32_t(cvt_rn_bf16_f32(number(random))) << 16);
    product.a = {.name = "A", .address = kA, .rows = kM, .pitch = 512, .bits = 16};
    product.b = {.name = "B", .address = kB, .rows = kN, .pitch = 512, .bits = 16};
    product.c = {.name = "C", .address = kC, .rows = kM, .pitch = 2 * kN, .bits = 16};
    product.k = parts * kK;
    residual_.resize(2 * kM * kN);
    for (size_t i = 0; i < residual.size(); ++i) {
      const uint16_t bits = cvt_rn_bf16_f32(residual[i]);
      std::memcpy(&residual_[2 * i], &bits, 2);
    }
  }

  float sum(int row, int column, int part = 0) const { return sums_[size_t((part * kM + row) * kN + column)]; }

  /// @param stored  what C holds, by row and column
  template <class F>
  provenance::Cause explained(F&& stored) {
    c_.resize(2 * kM * kN);
    for (int row = 0; row < kM; ++row)
      for (int column = 0; column < kN; ++column) {
        const uint16_t bits = cvt_rn_bf16_f32(float(stored(row, column)));
        std::memcpy(&c_[size_t(2 * (row * kN + column))], &bits, 2);
      }
    return explained_bytes();
  }
  provenance::Cause explained_bytes() {
    record_.watch(kC, uint64_t(kM) * product.c.pitch, uint32_t(std::max(1, product.c.bits / 8)));
    record_.watch_reads(kBias, sizeof bias);
    multiply_and_load();
    for (const int warp : {0, 1, 2, 3}) {
      record_.global_read(0, 0, kBias, 4, nullptr, by_warp(warp, bias_line));
      for (int row = 32 * warp; row < 32 * warp + 32; ++row)
        record_.global_written(0, kC + uint64_t(row) * product.c.pitch, uint32_t(product.c.pitch),
                               by_warp(warp, store_line));
      for (const uint64_t offset : scale_stores)
        record_.global_written(0, kSfd + offset, 1, by_warp(warp, scale_line));
    }
    host::ExpectedResult expected{.products = {product}, .copies = {}};
    expected.products.insert(expected.products.end(), others.begin(), others.end());
    provenance::Explainer explainer(
        record_, expected, [](int cta) { return cta == 0; },
        [this](uint64_t address, uint64_t) { return bytes_at(address); }, {},
        [](const models::Source& source) { return "line " + std::to_string(source.loc.line()); });
    const std::vector<provenance::Cause> causes = explainer.causes(true, false);
    CHECK(causes.empty());
    const auto cause = explainer.what_became_of(kC);
    REQUIRE(cause);
    return *cause;
  }

  host::ExpectedProduct product;
  std::vector<host::ExpectedProduct> others;  ///< that nobody looks at
  float bias[kN];
  std::vector<float> residual = std::vector<float>(kM * kN);
  std::vector<uint8_t> c_, residual_, scales_a, scales_b, sfd;
  std::vector<uint64_t> scale_stores;  ///< bytes of SFD
  provenance::Record record_;
  const Loc bias_line = Loc::current();
  const Loc store_line = Loc::current();
  const Loc scale_line = Loc::current();

 private:
  static float number(std::mt19937& random) { return float(int(random() % 4001) - 2000) / 1000; }

  const uint8_t* bytes_at(uint64_t address) const {
    switch (address) {
      case kC: return c_.data();
      case kBias: return reinterpret_cast<const uint8_t*>(bias);
      case kResidual: return residual_.data();
      case kScaleA: return scales_a.data();
      case kScaleB: return scales_b.data();
      case kSfd: return sfd.data();
      default: return nullptr;
    }
  }

  void land(uint64_t address, int rows, uint32_t smem) {
    models::TensorCopy copy;
    copy.map.data_type = TensorMapDataType::bfloat16;
    copy.map.rank = 2;
    copy.map.global_address = address;
    copy.map.global_dim[0] = 256, copy.map.global_dim[1] = uint64_t(rows);
    copy.map.global_stride[0] = 512;
    copy.map.box_dim[0] = 64, copy.map.box_dim[1] = uint32_t(rows);
    copy.map.element_stride[0] = copy.map.element_stride[1] = 1;
    copy.map.swizzle = TensorMapSwizzle::b128;
    copy.smem = smem;
    record_.landed(0, copy);
  }

  void multiply_and_load() {
    record_.cta_started(0);
    land(kA, kM, kTileA), land(kB, kN, kTileB);
    for (int part = 0; part < parts_; ++part) {
      models::MmaOperation mma{};
      mma.kind = MmaKind::f16, mma.m = kM, mma.n = kN, mma.cta_group = 1;
      const uint32_t at = uint32_t(part) * 2 * kK;
      mma.a = decode(make_smem_descriptor({kTileA + at}, 16, 1024, Swizzle::b128));
      mma.b = decode(make_smem_descriptor({kTileB + at}, 16, 1024, Swizzle::b128));
      record_.multiplied({{0, -1}, {0, -1}}, mma, by_warp(4, Loc::current()));
      for (int warp = 0; warp < 4; ++warp) {
        std::vector<uint32_t> registers;
        for (int row = 32 * warp; row < 32 * warp + 32; ++row)
          for (int column = 0; column < kN; ++column) registers.push_back(as_bits(sum(row, column, part)));
        record_.tensor_memory_loaded(0, 0, TmemShape::s32x32b, kN, 32 * uint32_t(warp), 0, registers.data(),
                                     by_warp(warp, Loc::current()));
      }
    }
  }

  int parts_;
  std::vector<float> sums_;
};

}  // namespace sm100::sim::testing
