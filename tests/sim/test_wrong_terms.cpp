// SPDX-License-Identifier: Apache-2.0
// Which term of an epilogue is wrong, and how: a product of one MMA, whose sums are right, and what a wrong
// epilogue makes of them.
#include "sim/provenance/explainer.h"

#include <cmath>
#include <cstring>
#include <random>
#include <string>

#include "catch.h"
#include "kernels/isa/scale_layout.h"

using namespace sm100;
using namespace sm100::sim;
using provenance::Cause;

namespace {

constexpr int kM = 128, kN = 64, kK = 16, kTileA = 0x4000, kTileB = 0x8000;
constexpr uint64_t kA = 0x10000, kB = 0x90000, kC = 0x110000, kBias = 0x210000, kResidual = 0x310000,
                   kScaleA = 0x410000, kScaleB = 0x510000, kSfd = 0x610000;

models::Source by_warp(int warp, const Loc& loc) { return {.warp = int8_t(warp), .loc = loc, .cta = 0}; }

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
  Cause explained(F&& stored) {
    c_.resize(2 * kM * kN);
    for (int row = 0; row < kM; ++row)
      for (int column = 0; column < kN; ++column) {
        const uint16_t bits = cvt_rn_bf16_f32(float(stored(row, column)));
        std::memcpy(&c_[size_t(2 * (row * kN + column))], &bits, 2);
      }
    return explained_bytes();
  }
  Cause explained_bytes() {
    record_.watch(kC, uint64_t(kM) * product.c.pitch, uint32_t(product.c.bits) / 8);
    record_.watch_reads(kBias, sizeof bias);
    multiply_and_load();
    for (const int warp : {0, 1, 2, 3}) {
      record_.global_read(0, 0, kBias, 4, nullptr, by_warp(warp, bias_line));
      for (int row = 32 * warp; row < 32 * warp + 32; ++row)
        record_.global_written(0, kC + uint64_t(row) * product.c.pitch, uint32_t(product.c.pitch),
                               by_warp(warp, store_line));
      for (const auto& [offset, code] : scale_stores)
        if (int(offset) % 4 == 0) record_.global_written(0, kSfd + offset, 4, by_warp(warp, store_line));
    }
    host::ExpectedResult expected{.products = {product}, .copies = {}};
    provenance::Explainer explainer(
        record_, expected, [](int cta) { return cta == 0; },
        [this](uint64_t address, uint64_t) { return bytes_at(address); }, {},
        [](const models::Source& source) { return "line " + std::to_string(source.loc.line()); });
    const std::vector<Cause> causes = explainer.causes(true, false);
    CHECK(causes.empty());
    const auto cause = explainer.what_became_of(kC);
    REQUIRE(cause);
    return *cause;
  }

  host::ExpectedProduct product;
  float bias[kN];
  std::vector<float> residual = std::vector<float>(kM * kN);
  std::vector<uint8_t> c_, residual_, scales_a, scales_b, sfd;
  std::vector<std::pair<uint64_t, uint8_t>> scale_stores;
  provenance::Record record_;
  const Loc bias_line = Loc::current();
  const Loc store_line = Loc::current();

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

double silu_of(double x) { return x / (1 + std::exp(-x)); }

/// C = silu(x / 2 + bias + residual)
struct FusedRun : Run {
  FusedRun() {
    product.terms = {.output = DataType::bf16, .alpha = 0.5, .activation = "silu"};
    product.terms->bias = {
        .name = "bias", .address = kBias, .rows = 1, .pitch = 4 * kN, .bits = 32, .type = DataType::f32};
    product.terms->residual = {
        .name = "residual", .address = kResidual, .rows = kM, .pitch = 2 * kN, .bits = 16, .type = DataType::bf16};
  }
  double half(int r, int c) const { return 0.5 * double(sum(r, c)); }
  double of_residual(int r, int c) const { return double(residual[size_t(r * kN + c)]); }
};

using Catch::Matchers::StartsWith;

}  // namespace

TEST_CASE("the term of an epilogue that is missing, or combined in another order, is named", "[provenance]") {
  FusedRun run;
  SECTION("bias") {
    const Cause cause =
        run.explained([&](int r, int c) { return silu_of(run.half(r, c) + run.of_residual(r, c)); });
    CHECK_THAT(cause.what, StartsWith("the bias is missing, in "));
    CHECK(cause.at.loc.line() == run.store_line.line());
  }
  SECTION("order") {
    const Cause cause = run.explained([&](int r, int c) {
      return silu_of(0.5 * (double(run.sum(r, c)) + double(run.bias[c])) + run.of_residual(r, c));
    });
    CHECK_THAT(cause.what, StartsWith("(x + bias) * alpha was computed, where alpha * x + bias belongs, in "));
  }
  SECTION("activation") {
    const Cause cause =
        run.explained([&](int r, int c) { return run.half(r, c) + double(run.bias[c]) + run.of_residual(r, c); });
    CHECK_THAT(cause.what, StartsWith("the activation is missing"));
  }
  SECTION("its sign") {
    const Cause cause = run.explained([&](int r, int c) {
      const double x = run.half(r, c) + double(run.bias[c]) + run.of_residual(r, c);
      return x / (1 + std::exp(x));
    });
    CHECK_THAT(cause.what,
               StartsWith("what the activation is applied to is right, and the activation is wrong: x / "
                          "(1 + e^x) was computed where SiLU, x / (1 + e^-x) belongs"));
  }
  SECTION("an activation that has no name") {
    const Cause cause = run.explained([&](int r, int c) {
      const double x = run.half(r, c) + double(run.bias[c]) + run.of_residual(r, c);
      return x / (1 + std::exp(-3 * x)) + 0.5;
    });
    CHECK_THAT(cause.what,
               StartsWith("what the activation is applied to is right, and the activation is wrong: what "
                          "is stored follows from it, and is not SiLU"));
  }
  SECTION("alpha") {
    const Cause cause = run.explained([&](int r, int c) {
      return silu_of(0.3 * double(run.sum(r, c)) + double(run.bias[c]) + run.of_residual(r, c));
    });
    CHECK_THAT(cause.what, StartsWith("alpha is 0.3, where 0.5 belongs"));
  }
}

TEST_CASE("the place that a term was taken from is named, with the line that reads it", "[provenance]") {
  FusedRun run;
  const auto with_bias = [&](auto column) {
    return run.explained([&](int r, int c) {
      return silu_of(run.half(r, c) + double(run.bias[column(c)]) + run.of_residual(r, c));
    });
  };
  SECTION("the columns begin again") {
    const Cause cause = with_bias([](int c) { return c % 16; });
    CHECK_THAT(cause.what,
               StartsWith("the bias of column i mod 16 was added where that of column i belongs: columns "
                          "16-63 take that of columns 0-15, in "));
    CHECK(cause.at.loc.line() == run.bias_line.line());
  }
  SECTION("neighbours") {
    CHECK_THAT(with_bias([](int c) { return c & ~1; }).what,
               StartsWith("the odd columns take the bias of the column before, in "));
  }
  SECTION("half of the columns") {
    CHECK_THAT(with_bias([](int c) { return c < 32 ? c : c - 32; }).what,
               StartsWith("the bias of columns 0-31 was added where that of columns 32-63 belongs, in "));
  }
  SECTION("bias and residual") {
    const Cause cause = run.explained([&](int r, int c) {
      return silu_of(run.half(r, c) + double(run.bias[c % 16]) + run.of_residual(r, c % 16));
    });
    CHECK_THAT(cause.what,
               StartsWith("bias and residual of column i mod 16 were added where those of column i belong"));
  }
  SECTION("pitch") {
    const Cause cause = run.explained([&](int r, int c) {
      return silu_of(run.half(r, c) + double(run.bias[c]) + double(run.residual[size_t(r * 40 + c)]));
    });
    CHECK_THAT(cause.what,
               StartsWith("the residual is that of another element: row r was taken from r * 40, a pitch "
                          "of 40 where the output has 64 columns, in "));
  }
  SECTION("rows") {
    const Cause cause = run.explained([&](int r, int c) {
      return silu_of(run.half(r, c) + double(run.bias[c]) + run.of_residual(r % 32 < 16 ? r : r - 16, c));
    });
    CHECK_THAT(cause.what, StartsWith("rows 16-31 of each 32 take the residual of the row 16 before, in "));
  }
}

TEST_CASE("nothing is claimed of terms where no guess fits nearly all wrong elements", "[provenance]") {
  constexpr const char* kGeneric =
      "what was multiplied is right, and what is stored is not: the terms of the epilogue";
  std::mt19937 random(3);
  FusedRun run;
  const auto right = [&](int r, int c) {
    return silu_of(run.half(r, c) + double(run.bias[c]) + run.of_residual(r, c));
  };
  SECTION("noise") {
    CHECK_THAT(run.explained([&](int r, int c) { return right(r, c) + double(random() % 1000) / 100; }).what,
               StartsWith(kGeneric));
  }
  SECTION("a guess that fits half of them") {
    CHECK_THAT(run.explained([&](int r, int c) {
                    return r % 2 ? silu_of(run.half(r, c) + run.of_residual(r, c)) : right(r, c) + 2;
                  })
                   .what,
               StartsWith(kGeneric));
  }
  SECTION("too few") {
    CHECK_THAT(run.explained([&](int r, int c) { return c == 5 && r < 32 ? run.half(r, c) : right(r, c); }).what,
               StartsWith(kGeneric));
  }
  SECTION("one column, which may have the bias of any") {
    CHECK_THAT(run.explained([&](int r, int c) {
                    return c == 5 ? silu_of(run.half(r, c) + double(run.bias[9]) + run.of_residual(r, c))
                                  : right(r, c);
                  })
                   .what,
               StartsWith(kGeneric));
  }
}

TEST_CASE("whose scales of blocks an epilogue has taken is named", "[provenance]") {
  constexpr int kParts = 4, kBlocks = kN / kK;
  Run run(kParts);
  std::vector<float> a(kParts * kM), b(kBlocks * kParts);
  std::mt19937 random(5);
  for (std::vector<float>* scales : {&a, &b})
    for (float& x : *scales) x = 0.5f + float(random() % 1000) / 700;
  run.scales_a.resize(4 * a.size()), run.scales_b.resize(4 * b.size());
  std::memcpy(run.scales_a.data(), a.data(), 4 * a.size());
  std::memcpy(run.scales_b.data(), b.data(), 4 * b.size());
  run.product.block_scales = {.output = DataType::bf16, .size = kK};
  run.product.block_scales->a = {.name = "scale A",
                                 .address = kScaleA,
                                 .rows = kM,
                                 .pitch = 4,
                                 .bits = 32,
                                 .k_pitch = 4 * kM,
                                 .type = DataType::f32};
  run.product.block_scales->b = {.name = "scale B",
                                 .address = kScaleB,
                                 .rows = kBlocks,
                                 .pitch = 4 * kParts,
                                 .bits = 32,
                                 .type = DataType::f32};
  const auto scaled = [&](int r, int c, int row, int block) {
    double sum = 0;
    for (int k = 0; k < kParts; ++k)
      sum += double(run.sum(r, c, k)) * double(a[size_t(k * kM + row)]) * double(b[size_t(block * kParts + k)]);
    return sum;
  };
  SECTION("of A") {
    CHECK_THAT(
        run.explained([&](int r, int c) { return scaled(r, c, r % 32 < 16 ? r : r - 16, c / kK); }).what,
        StartsWith("rows 16-31 of each 32 take A's scales of other rows: row r takes those of row r - 16, in "));
  }
  SECTION("of B") {
    CHECK_THAT(
        run.explained([&](int r, int c) { return scaled(r, c, r, r / kK % kBlocks == 0 ? c / kK : 2); }).what,
        StartsWith("B's scales of another block of columns were taken: block 2 for all, where that of the "
                   "column (column / 16) belongs, in "));
  }
}

TEST_CASE("where the scales of the output were stored is named", "[provenance]") {
  constexpr int kBlocks = kN / 16;
  Run run;
  run.product.c.bits = 8, run.product.c.pitch = kN;
  run.c_.resize(kM * kN);
  const auto code = [](float largest) { return uint8_t(cvt_rn_satfinite_e4m3_f32(largest * 3)); };
  run.product.output_scales = {.name = "SFD",
                               .address = kSfd,
                               .bytes = 512,
                               .rows = kM,
                               .blocks = kBlocks,
                               .block = 16,
                               .alpha = 1,
                               .code = code};
  run.sfd.assign(512, 0xff);
  run.record_.watch(kSfd, 512, 1);
  for (int row = 0; row < kM; ++row)
    for (int block = 0; block < kBlocks; ++block) {
      float largest = 0;
      for (int i = 0; i < 16; ++i) largest = std::max(largest, std::abs(run.sum(row, 16 * block + i)));
      const uint64_t at = scale_offset(row % 32, block, 1);
      run.sfd[at] = code(largest);
      run.scale_stores.push_back({at, run.sfd[at]});
    }
  const Cause cause = run.explained_bytes();
  CHECK_THAT(cause.what,
             StartsWith("the scales of the output (SFD) are in the wrong places: those of rows 32-127 of "
                        "each 128 were stored over those of its rows 0-31, in "));
}
