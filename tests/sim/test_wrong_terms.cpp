// SPDX-License-Identifier: Apache-2.0
// Which term of an epilogue is wrong, and how: a product of one MMA, whose sums are right, and what a wrong
// epilogue makes of them.
#include <cmath>
#include <random>

#include "catch.h"
#include "sim/wrong_epilogue.h"

using namespace sm100;
using namespace sm100::sim::testing;
using sm100::sim::provenance::Cause;

namespace {

double silu_of(double x) { return x / (1 + std::exp(-x)); }

/// C = x / 2 + 1.75 * residual
struct ResidualRun : Run {
  static constexpr double kBeta = 1.75;
  ResidualRun() {
    product.terms = {.output = DataType::bf16, .alpha = 0.5, .beta = kBeta};
    product.terms->residual = {
        .name = "residual", .address = kResidual, .rows = kM, .pitch = 2 * kN, .bits = 16, .type = DataType::bf16};
  }
  /// @param row, column  where the residual is taken from; beyond C are zeros
  double with_residual_at(int r, int c, int row, int column) const {
    const bool inside = row < kM && column < kN;
    return 0.5 * double(sum(r, c)) + (inside ? kBeta * double(residual[size_t(row * kN + column)]) : 0);
  }
};

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
  SECTION("the bias, its halves interleaved") {
    const Cause cause = run.explained([&](int r, int c) {
      return silu_of(run.half(r, c) + double(run.bias[c - c % 8 + c % 2 * 4 + c % 8 / 2]) + run.of_residual(r, c));
    });
    CHECK_THAT(cause.what,
               StartsWith("of each 8 columns the halves were interleaved: the bias of column i % 2 * 4 + i / 2 "
                          "was added where that of column i belongs"));
  }
  SECTION("bias and residual, registers half as far apart") {
    const Cause cause = run.explained([&](int r, int c) {
      const int at = c - c % 32 + c % 32 / 8 * 4 + c % 8;
      return silu_of(run.half(r, c) + double(run.bias[at]) + run.of_residual(r, at));
    });
    CHECK_THAT(cause.what, StartsWith("of each 32 columns block b of 8 takes bias and residual of column 4 * b on, "
                                      "where those of column 8 * b on belong, in "));
  }
  SECTION("none: values that lie in other columns") {
    const auto value = [&](int r, int c) {
      return silu_of(run.half(r, c) + double(run.bias[c]) + run.of_residual(r, c));
    };
    const Cause cause = run.explained([&](int r, int c) { return value(r, c & ~1); });
    CHECK_THAT(cause.what,
               StartsWith("the odd columns hold what belongs 1 column before: values are right and lie in "
                          "the wrong place, between the terms and the store"));
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

TEST_CASE("a residual with another factor is named", "[provenance]") {
  ResidualRun run;
  const auto with = [&](double of_sum, double of_residual) {
    return run
        .explained([&](int r, int c) {
          return of_sum * double(run.sum(r, c)) + of_residual * double(run.residual[size_t(r * kN + c)]);
        })
        .what;
  };
  SECTION("alpha's") {
    CHECK_THAT(with(0.5, 0.5),
               StartsWith("the residual was multiplied by alpha (0.5), where beta (1.75) belongs, in "));
  }
  SECTION("exchanged") {
    CHECK_THAT(with(1.75, 0.5), StartsWith("alpha (0.5) and beta (1.75) have changed places"));
  }
  SECTION("beta for both") {
    CHECK_THAT(with(1.75, 1.75), StartsWith("the sums were multiplied by beta (1.75), where alpha (0.5) belongs"));
  }
  SECTION("alpha on both") {
    CHECK_THAT(with(0.5, 0.5 * 1.75), StartsWith("alpha was applied to the residual too"));
  }
  SECTION("neither") { CHECK_THAT(with(1, 1), StartsWith("neither the sums nor the residual")); }
}

TEST_CASE("the residual of other blocks of rows and columns is named", "[provenance]") {
  ResidualRun run;
  const auto taken = [&](auto row, auto column) {
    return run.explained([&](int r, int c) { return run.with_residual_at(r, c, row(r), column(c)); }).what;
  };
  const auto same = [](int i) { return i; };
  SECTION("twice as far down, zeros beyond the end") {
    CHECK_THAT(taken([](int r) { return r / 32 * 64 + r % 32; }, same),
               StartsWith("block b of 32 rows takes the residual of row b * 64 on, where that of row b * 32 on "
                          "belongs, in "));
  }
  SECTION("strips in the reverse order") {
    CHECK_THAT(
        taken(same, [](int c) { return c / 32 * 32 + (3 - c % 32 / 8) * 8 + c % 8; }),
        StartsWith("the residual was taken in the reverse order within each 32 columns, in strips of 8, in "));
  }
  SECTION("strips in the reverse order, in one tile") {
    const std::string what =
        run.explained([&](int r, int c) {
             return run.with_residual_at(r, c, r, r < 64 ? c : c / 32 * 32 + (3 - c % 32 / 8) * 8 + c % 8);
           })
            .what;
    CHECK_THAT(what,
               StartsWith("the residual was taken in the reverse order within each 32 columns, in strips of 8, "
                          "in 4,"));
    CHECK_THAT(what, Catch::Contains("rows 64-127"));
  }
  SECTION("rows begin again within larger blocks") {
    CHECK_THAT(
        taken([](int r) { return r / 32 * 32 + r % 8; }, same),
        StartsWith("of each 32 rows all take the residual of the first 8: row i that of row i - i mod 32 + i mod "
                   "8, in "));
  }
  SECTION("rows 8-15 of each 16 take the residual of rows 0-7, in some tiles") {
    CHECK_THAT(run.explained([&](int r, int c) {
                    return run.with_residual_at(r, c, r >= 64 ? r / 16 * 16 + r % 8 : r, c);
                  })
                   .what,
               StartsWith("rows 8-15 of each 16 take the residual of the row 8 before, in "));
  }
  SECTION("halves exchanged") {
    CHECK_THAT(taken(same, [](int c) { return c ^ 16; }),
               StartsWith("of each 32 columns the first 16 and the last 16 take the residual of one another, in "));
  }
  SECTION("tiles exchanged") {
    CHECK_THAT(
        run.explained(
               [&](int r, int c) { return run.with_residual_at(r, c, c / 32 * 64 + r % 64, r / 64 * 32 + c % 32); })
            .what,
        StartsWith("the residual of tile (j, i) was added in tile (i, j): row and column of tiles of 64 x 32"));
  }
  SECTION("bits of lanes") {
    CHECK_THAT(
        taken([](int r) { return (r & ~9) | (r & 1) << 3 | (r >> 3 & 1); }, same),
        StartsWith("the residual was taken with two bits of the row's number exchanged, those of 1 and 8, in "));
  }
  SECTION("nothing that has a name") {
    std::mt19937 random(9);
    std::vector<int> rows(kM);
    for (int& row : rows) row = int(random() % kM);
    CHECK_THAT(taken([&](int r) { return rows[size_t(r)]; }, same), StartsWith("what was multiplied is right"));
  }
}

TEST_CASE("a factor that has a name, or is another product's, is called so", "[provenance]") {
  ResidualRun run;
  run.product.terms->residual.reset();
  run.product.terms->alpha_name = "the factor of expert 3";
  SECTION("missing") {
    CHECK_THAT(run.explained([&](int r, int c) { return double(run.sum(r, c)); }).what,
               StartsWith("the sums are not multiplied by the factor of expert 3 (0.5), in "));
  }
  SECTION("another") {
    host::ExpectedProduct other = run.product;
    other.name = "group 2", other.a.address += 0x1000000, other.c.address += 0x1000000;
    other.terms->alpha = 0.8;
    run.others = {other};
    CHECK_THAT(run.explained([&](int r, int c) { return 0.8 * double(run.sum(r, c)); }).what,
               StartsWith("the factor of expert 3 is 0.8, that of group 2, where 0.5 belongs, in "));
  }
}
