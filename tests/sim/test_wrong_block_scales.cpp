// SPDX-License-Identifier: Apache-2.0
// What an epilogue has made of sums and their scales of blocks, where the sums are right.
#include <cmath>
#include <cstring>
#include <random>

#include "catch.h"
#include "sim/wrong_epilogue.h"

using namespace sm100;
using namespace sm100::sim::testing;

namespace {

constexpr int kParts = 4, kBlocks = kN / kK;

/// C is the sum over blocks of K of x * scale of A (by row) * scale of B (by block of columns).
struct ScaledRun : Run {
  explicit ScaledRun(DataType type = DataType::f32) : Run(kParts), a(kParts * kM), b(kBlocks * kParts) {
    std::mt19937 random(5);
    const int bytes = element_bits(type) / 8;
    for (auto [values, memory] : {std::pair(&a, &scales_a), {&b, &scales_b}}) {
      memory->resize(values->size() * size_t(bytes));
      for (size_t i = 0; i < values->size(); ++i) {
        float& x = (*values)[i];
        x = 0.5f + float(random() % 1000) / 700;
        const uint32_t bits = type == DataType::bf16 ? cvt_rn_bf16_f32(x) : as_bits(x);
        x = decode(type, bits);
        std::memcpy(memory->data() + i * size_t(bytes), &bits, size_t(bytes));
      }
    }
    product.block_scales = {.output = DataType::bf16, .size = kK};
    product.block_scales->a = {.name = "scale A",
                               .address = kScaleA,
                               .rows = kM,
                               .pitch = uint64_t(bytes),
                               .bits = 8 * bytes,
                               .k_pitch = uint64_t(bytes) * kM,
                               .type = type};
    product.block_scales->b = {.name = "scale B",
                               .address = kScaleB,
                               .rows = kBlocks,
                               .pitch = uint64_t(bytes) * kParts,
                               .bits = 8 * bytes,
                               .type = type};
  }

  double of_a(int row, int k) const { return k < kParts ? double(a[size_t(k * kM + row)]) : 0; }
  double of_b(int block, int k) const { return double(b[size_t(block * kParts + k)]); }
  /// @param row, block  of the scales
  double scaled(int r, int c, int row, int block) const {
    double all = 0;
    for (int k = 0; k < kParts; ++k) all += double(sum(r, c, k)) * of_a(row, k) * of_b(block, k);
    return all;
  }
  /// @param made  of the element and the block of K
  template <class F>
  std::string summed(F made) {
    return explained([&](int r, int c) {
             double all = 0;
             for (int k = 0; k < kParts; ++k) all += made(r, c, k);
             return all;
           })
        .what;
  }

  std::vector<float> a, b;
};

using Catch::Matchers::StartsWith;

}  // namespace

TEST_CASE("whose scales of blocks an epilogue has taken is named", "[provenance]") {
  ScaledRun run;
  SECTION("of A") {
    CHECK_THAT(
        run.explained([&](int r, int c) { return run.scaled(r, c, r % 32 < 16 ? r : r - 16, c / kK); }).what,
        StartsWith("rows 16-31 of each 32 take A's scales of other rows: row r takes those of row r - 16, in "));
  }
  SECTION("of A, by another part of the lane's number") {
    const auto row_of = [](int r, int c) { return r - r % 8 + (r % 8 * 4 + c / 2 % 4) % 4; };
    CHECK_THAT(
        run.explained([&](int r, int c) { return run.scaled(r, c, row_of(r, c), c / kK); }).what,
        StartsWith("the scales of A were taken by the wrong part of the lane's number: of row lane % 4 of each "
                   "8, where a lane has row lane / 4, in "));
  }
  SECTION("of A, by a register's column") {
    CHECK_THAT(run.explained([&](int r, int c) { return run.scaled(r, c, (r & ~8) | (c & 8), c / kK); }).what,
               StartsWith("the scales of A were taken of rows whose bit of 8 is the column's bit of 8, in "));
  }
  SECTION("of B") {
    CHECK_THAT(
        run.explained([&](int r, int c) { return run.scaled(r, c, r, r / kK % kBlocks == 0 ? c / kK : 2); }).what,
        StartsWith("B's scales of another block of columns were taken: block 2 for all, where that of the "
                   "column (column / 16) belongs, in "));
  }
}

TEST_CASE("the order of sums and scales, and which of them were taken, is named", "[provenance]") {
  ScaledRun run;
  const auto x = [&](int r, int c, int k) { return double(run.sum(r, c, k)); };
  SECTION("sum and product exchanged") {
    CHECK_THAT(run.explained([&](int r, int c) {
                    double sum = 0;
                    for (int k = 0; k < kParts; ++k) sum = sum * run.of_a(r, k) * run.of_b(c / kK, k) + x(r, c, k);
                    return sum;
                  })
                   .what,
               StartsWith("sum and product have changed places in the multiply-add"));
  }
  SECTION("the sum is scaled too") {
    CHECK_THAT(run.explained([&](int r, int c) {
                    double sum = 0;
                    for (int k = 0; k < kParts; ++k)
                      sum = (sum + x(r, c, k)) * run.of_a(r, k) * run.of_b(c / kK, k);
                    return sum;
                  })
                   .what,
               StartsWith("the sum so far was multiplied by the scales of each block of K too"));
  }
  SECTION("a scale twice") {
    CHECK_THAT(run.summed([&](int r, int c, int k) {
      return x(r, c, k) * run.of_a(r, k) * run.of_a(r, k) * run.of_b(c / kK, k);
    }),
               StartsWith("the sums were multiplied by the scales of A twice, in "));
  }
  SECTION("a block of K is missing") {
    CHECK_THAT(run.summed([&](int r, int c, int k) {
      return k == 2 ? 0 : x(r, c, k) * run.of_a(r, k) * run.of_b(c / kK, k);
    }),
               StartsWith("the product of block 2 of K is not in the sum, in "));
  }
  SECTION("the last block of K alone") {
    CHECK_THAT(run.summed([&](int r, int c, int k) {
      return k < 3 ? 0 : x(r, c, k) * run.of_a(r, k) * run.of_b(c / kK, k);
    }),
               StartsWith("only the product of block 3 of K is in the sum, of 4, in "));
  }
  SECTION("A's of the next block of K, zeros at the end") {
    CHECK_THAT(
        run.summed([&](int r, int c, int k) { return x(r, c, k) * run.of_a(r, k + 1) * run.of_b(c / kK, k); }),
        StartsWith("A's scales of other blocks of K were taken: those of block k + 1 where those of block k "
                   "belong, zeros beyond the end, in "));
  }
  SECTION("both of the block before") {
    CHECK_THAT(
        run.summed([&](int r, int c, int k) {
          const int other = std::max(k - 1, 0);
          return x(r, c, k) * run.of_a(r, other) * run.of_b(c / kK, other);
        }),
        StartsWith("the scales of A and B of other blocks of K were taken: those of block k - 1 where those of "
                   "block k belong, the last or first again beyond the end, in "));
  }
  SECTION("a pitch") {
    run.product.block_scales->b.rows = 3;
    run.product.block_scales->size = 24;
    CHECK_THAT(run.explained([&](int r, int c) { return run.scaled(r, c, r, c / kK); }).what,
               StartsWith("what was multiplied is right"));  // parts of K have 24 elements now: nothing is known
  }
}

TEST_CASE("scales of one block of K that lie elsewhere, or are wrong, are found by what fits", "[provenance]") {
  ScaledRun run;
  const auto scaled = [&](auto of_a, auto of_b) {
    return run.summed([&](int r, int c, int k) { return double(run.sum(r, c, k)) * of_a(r, k) * of_b(c / kK, k); });
  };
  const auto right_a = [&](int r, int k) { return run.of_a(r, k); };
  const auto right_b = [&](int j, int k) { return run.of_b(j, k); };
  SECTION("A's, of the next block") {
    CHECK_THAT(
        scaled([&](int r, int k) { return run.of_a(r, k == 1 ? 2 : k); }, right_b),
        StartsWith("in block 1 of K, A's scales of another place were taken: row r and block k of K take those "
                   "of row r and block k + 1 of K, in "));
  }
  SECTION("A's, of the next row") {
    CHECK_THAT(
        scaled([&](int r, int k) { return run.of_a(k == 3 && r < 100 ? r + 1 : r, k); }, right_b),
        StartsWith("in block 3 of K, A's scales of another place were taken: row r and block k of K take those "
                   "of row r + 1, in "));
  }
  SECTION("B's, as zero") {
    CHECK_THAT(scaled(right_a, [&](int j, int k) { return j + k == 4 ? 0 : run.of_b(j, k); }),
               StartsWith("in blocks 1-3 of K, B's scales were taken as zero, in "));
  }
  SECTION("B's, of places that have nothing in common") {
    CHECK_THAT(scaled(right_a,
                      [&](int j, int k) {
                        return j == 1 ? run.of_b(3, k) : j == 2 ? run.of_b(0, k) : run.of_b(j, k);
                      }),
               StartsWith("B's scales of other places were taken: block 1 of columns takes those of block j + 2 of "
                          "columns, in "));
  }
  SECTION("B's, wrong values") {
    CHECK_THAT(scaled(right_a, [&](int j, int k) { return j == 3 ? 3.3 + 0.7 * k : run.of_b(j, k); }),
               StartsWith("B's scales of column block 3 are wrong values, which lie nowhere among them: block 3 of "
                          "columns has 3.3 in block 0 of K, where "));
  }
  SECTION("nothing of the kind") {
    std::mt19937 random(4);
    CHECK_THAT(run.summed([&](int r, int c, int k) {
      return double(run.sum(r, c, k)) * run.of_a(r, k) * run.of_b(c / kK, k) * (1 + double(random() % 1000) / 1000);
    }),
               StartsWith("what was multiplied is right"));
  }
}

TEST_CASE("scales that were taken for another type are named", "[provenance]") {
  SECTION("bf16 that is not widened") {
    ScaledRun run(DataType::bf16);
    CHECK_THAT(
        run.summed([&](int r, int c, int k) {
          const float b = c < 32 ? run.b[size_t(c / kK * kParts + k)]
                                 : as_float(uint32_t(cvt_rn_bf16_f32(run.b[size_t(c / kK * kParts + k)])));
          return double(run.sum(r, c, k)) * run.of_a(r, k) * double(b);
        }),
        StartsWith("B's scales were taken for f32 as they were loaded: bf16 must be shifted to the upper half"));
  }
  SECTION("f32 that is cut off") {
    ScaledRun run;
    CHECK_THAT(run.summed([&](int r, int c, int k) {
      return double(run.sum(r, c, k)) * double(as_float(as_bits(run.a[size_t(k * kM + r)]) & 0xffff0000u)) *
             run.of_b(c / kK, k);
    }),
               StartsWith("A's scales were taken from the upper half of an f32, as if they were bf16, in "));
  }
}

TEST_CASE("the factor of scaled sums, and the scales of other products, are named", "[provenance]") {
  ScaledRun run;
  run.product.block_scales->factor = 0.5, run.product.block_scales->factor_name = "the factor of expert 3";
  host::ExpectedProduct other = run.product;
  other.name = "group 2", other.a.address += 0x1000000, other.c.address += 0x1000000;
  SECTION("missing in some tiles") {
    CHECK_THAT(run.explained([&](int r, int c) { return run.scaled(r, c, r, c / kK) * (r < 64 ? 1 : 0.5); }).what,
               StartsWith("the sums are not multiplied by the factor of expert 3 (0.5), in "));
  }
  SECTION("another's") {
    other.block_scales->factor = 0.8;
    run.others = {other};
    CHECK_THAT(run.explained([&](int r, int c) { return run.scaled(r, c, r, c / kK) * 0.8; }).what,
               StartsWith("the factor of expert 3 is 0.8, that of group 2, where 0.5 belongs, in "));
  }
  SECTION("some other") {
    CHECK_THAT(run.explained([&](int r, int c) { return run.scaled(r, c, r, c / kK) * 0.3; }).what,
               StartsWith("the factor of expert 3 is 0.3, where 0.5 belongs, in "));
  }
  SECTION("scales of B") {
    std::mt19937 random(8);
    std::vector<float> more(run.b.size());
    for (float& x : more) x = 0.5f + float(random() % 1000) / 700;
    const size_t bytes = run.scales_b.size();
    run.scales_b.resize(2 * bytes);
    std::memcpy(run.scales_b.data() + bytes, more.data(), bytes);
    other.block_scales->b.address += bytes;
    run.others = {other};
    CHECK_THAT(run.summed([&](int r, int c, int k) {
      return 0.5 * double(run.sum(r, c, k)) * run.of_a(r, k) * double(more[size_t(c / kK * kParts + k)]);
    }),
               StartsWith("B's scales are those of group 2, in "));
  }
}
