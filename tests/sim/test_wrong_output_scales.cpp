// SPDX-License-Identifier: Apache-2.0
// What an epilogue that quantises has made of right sums: scales that lie elsewhere or are wrong, and elements.
#include <algorithm>
#include <cmath>

#include "catch.h"
#include "kernels/isa/scale_layout.h"
#include "sim/wrong_epilogue.h"

using namespace sm100;
using namespace sm100::sim::testing;
using sm100::sim::provenance::Cause;

namespace {

constexpr float kNorm = 3, kLargest = 448;

/// C in e4m3, with a scale for so many elements of a row.
struct QuantisedRun : Run {
  explicit QuantisedRun(int block = 16, int bytes = 0)
      : size(block), blocks(kN / block), sfd_bytes(bytes > 0 ? bytes : 512 * ((blocks + 3) / 4)) {
    product.c.bits = 8, product.c.pitch = kN;
    c_.resize(kM * kN);
    product.output_scales = {.name = "SFD",
                             .address = kSfd,
                             .bytes = uint64_t(sfd_bytes),
                             .rows = kM,
                             .blocks = blocks,
                             .block = block,
                             .alpha = 1,
                             .code = code,
                             .output = DataType::e4m3,
                             .norm = double(kNorm),
                             .factor = [](uint8_t c) { return kNorm / decode_ue4m3(c); }};
    sfd.assign(size_t(sfd_bytes), 0xff);
    record_.watch(kSfd, uint64_t(sfd_bytes), 1);
    for (int row = 0; row < kM; ++row)
      for (int column = 0; column < kN; ++column)
        element(row, column, sum(row, column) * kNorm / decode_ue4m3(right(row, column / size)));
  }

  static uint8_t code(float largest) { return uint8_t(cvt_rn_satfinite_e4m3_f32(largest * kNorm / kLargest)); }
  float largest(int row, int block, int first = 0, int end = 0) const {
    float most = 0;
    for (int i = first; i < (end > 0 ? end : size); ++i)
      most = std::max(most, std::abs(sum(row, size * block + i)));
    return most;
  }
  uint8_t right(int row, int block) const { return code(largest(row, block)); }
  void element(int row, int column, float x) {
    c_[size_t(row * kN + column)] = uint8_t(cvt_rn_satfinite_e4m3_f32(x));
  }
  /// Stores a scale where that of a row and block belongs.
  void store(int row, int block, uint8_t code_of_it) {
    if (row >= kM || block >= blocks) return;
    const uint64_t at = scale_offset(row, block, (blocks + 3) / 4);
    sfd[at] = code_of_it, scale_stores.push_back(at);
  }
  /// @param f  of a row and a block
  template <class F>
  void for_each(F f) {
    for (int row = 0; row < kM; ++row)
      for (int block = 0; block < blocks; ++block) f(row, block);
  }
  void store_right() {
    for_each([&](int row, int block) { store(row, block, right(row, block)); });
  }

  int size, blocks, sfd_bytes;
};

using Catch::Matchers::StartsWith;

}  // namespace

TEST_CASE("where the scales of the output were stored is named", "[provenance]") {
  SECTION("over others") {
    QuantisedRun run;
    run.for_each([&](int row, int block) { run.store(row % 32, block, run.right(row, block)); });
    const Cause cause = run.explained_bytes();
    CHECK_THAT(cause.what,
               StartsWith("the scales of the output (SFD) are in the wrong places: those of rows 32-127 of "
                          "each 128 were stored over those of its rows 0-31, in "));
    CHECK(cause.at.loc.line() == run.scale_line.line());
  }
  SECTION("tiles twice as far along") {
    QuantisedRun run(8);
    run.for_each([&](int row, int block) { run.store(row, block / 2 * 4 + block % 2, run.right(row, block)); });
    CHECK_THAT(
        run.explained_bytes().what,
        StartsWith("the scales of the output (SFD) are in the wrong places: those of tile t begin at block t * "
                   "4 of a row, and a tile has 2 blocks, in "));
  }
  SECTION("row and block exchanged") {
    QuantisedRun run;
    run.for_each([&](int row, int block) { run.store(block * 16, row / 16, run.right(row, block)); });
    CHECK_THAT(
        run.explained_bytes().what,
        StartsWith("the scales of the output (SFD) are in the wrong places: row and block have changed places: "
                   "that of row r and block b was stored at row b * 16, block r / 16, in "));
  }
  SECTION("nowhere") {
    QuantisedRun run;
    run.for_each([&](int row, int block) {
      if (block < 2) run.store(row, block, run.right(row, block));
    });
    CHECK_THAT(
        run.explained_bytes().what,
        StartsWith("the scales of the output (SFD) are missing: nobody has stored those of blocks 2-3 (they "
                   "would lie beyond the end if those of tile t began at block t * 4, where they begin at t * "
                   "2), in 256 of 256 wrong scales (rows 0-127; nobody has stored 256 of them)"));
  }
}

TEST_CASE("scales in the wrong bytes of their words are named", "[provenance]") {
  QuantisedRun run;
  const auto stored = [&](auto byte) {
    run.for_each([&](int row, int block) {
      uint8_t codes[4];
      for (int i = 0; i < 4; ++i) codes[i] = run.right(row, i);
      run.store(row, block, uint8_t(byte(codes, block)));
    });
    return run.explained_bytes().what;
  };
  const std::string begin = "the scales of the output (SFD) are in the wrong bytes of their words: ";
  SECTION("one over the other") {
    CHECK_THAT(
        stored([](const uint8_t* codes, int i) { return i < 2 ? codes[i] | codes[i + 2] : 0; }),
        StartsWith(begin + "the 4 scales of a word lie one over the other in its first 2 bytes, the others are "
                           "zero, in "));
  }
  SECTION("the last alone") {
    CHECK_THAT(stored([](const uint8_t* codes, int i) { return i == 3 ? codes[i] : 0; }),
               StartsWith(begin + "only the last scale of the 4 of a word are there, the others are zero, in "));
  }
}

TEST_CASE("scales of the output that are wrong numbers are named", "[provenance]") {
  QuantisedRun run;
  SECTION("of half of a block") {
    run.for_each([&](int row, int block) { run.store(row, block, run.code(run.largest(row, block, 0, 8))); });
    CHECK_THAT(run.explained_bytes().what,
               StartsWith("the scales of the output (SFD) are wrong: what they are made of "
                          "is that of the first 8 elements of each block of 16, in "));
  }
  SECTION("times a factor") {
    run.for_each([&](int row, int block) { run.store(row, block, run.code(run.largest(row, block) * 6 / 7)); });
    CHECK_THAT(
        run.explained_bytes().what,
        StartsWith("the scales of the output (SFD) are wrong: they are those of about 0.85 times the largest "
                   "magnitude of each block, in "));
  }
  SECTION("of another row, in some blocks") {
    run.for_each([&](int row, int block) {
      run.store(row, block, run.right(block % 2 == row / 16 % 2 ? row : row ^ 24, block));
    });
    CHECK_THAT(
        run.explained_bytes().what,
        StartsWith("the scales of the output (SFD) are wrong: what they are made of is that of the row whose "
                   "number differs in the bits of 8 and 16, in "));
  }
  SECTION("of the block before, by which elements are divided too") {
    const auto of_pair = [&](int row, int block) { return run.right(row, block / 2 * 2); };
    run.for_each([&](int row, int block) { run.store(row, block, of_pair(row, block)); });
    for (int r = 0; r < kM; ++r)
      for (int c = 0; c < kN; ++c) run.element(r, c, run.sum(r, c) * kNorm / decode_ue4m3(of_pair(r, c / 16)));
    const Cause cause = run.explained_bytes();
    CHECK_THAT(cause.what,
               StartsWith("the scales of the output (SFD) are wrong: what they are made of is that of the "
                          "block before, in "));
    REQUIRE(cause.details.size() > 1);
    CHECK(cause.details[1] ==
          "elements are divided by these scales: they were made so ahead of both stores, and none lies elsewhere");
  }
  SECTION("noise") {
    std::mt19937 random(3);
    run.for_each([&](int row, int block) { run.store(row, block, uint8_t(random() % 100)); });
    CHECK_THAT(run.explained_bytes().what, StartsWith("what was multiplied is right, and what is stored is not"));
  }
}

TEST_CASE("elements of the output that were quantised with another factor are named", "[provenance]") {
  QuantisedRun run;
  run.store_right();
  const auto made = [&](auto value) {
    for (int row = 0; row < kM; ++row)
      for (int column = 0; column < kN; ++column) run.element(row, column, float(value(row, column)));
    return run.explained_bytes().what;
  };
  const auto factor = [&](int row, int block) { return kNorm / decode_ue4m3(run.right(row, block)); };
  const std::string begin = "the scales of the output (SFD) are right, and the elements are not: ";
  SECTION("without norm") {
    CHECK_THAT(made([&](int r, int c) { return run.sum(r, c) * factor(r, c / 16) / kNorm; }),
               StartsWith(begin + "they are 1 / 3 of what they should be: norm (3) is missing"));
  }
  SECTION("another factor") {
    CHECK_THAT(made([&](int r, int c) { return run.sum(r, c) * factor(r, c / 16) * 0.7f; }),
               StartsWith(begin + "they are 0.7 times what they should be"));
  }
  SECTION("another block's, in some rows") {
    CHECK_THAT(made([&](int r, int c) { return run.sum(r, c) * factor(r, r < 64 ? c / 16 : c / 32 * 2); }),
               StartsWith(begin + "they were divided by the scale of the block 1 before"));
  }
  SECTION("neighbours exchanged") {
    CHECK_THAT(made([&](int r, int c) { return run.sum(r, c ^ 1) * factor(r, c / 16); }),
               StartsWith(begin + "of each 2 elements of a row the first one and the last have changed places"));
  }
  SECTION("the first half twice") {
    CHECK_THAT(made([&](int r, int c) { return run.sum(r, c & ~16) * factor(r, (c & ~16) / 16); }),
               StartsWith(begin + "of each 32 elements of a row the last 16 hold those of the first 16, in "));
  }
  SECTION("noise") {
    std::mt19937 random(3);
    CHECK_THAT(made([&](int r, int c) { return run.sum(r, c) * factor(r, c / 16) * float(random() % 1000) / 500; }),
               StartsWith("what was multiplied is right, and what is stored is not"));
  }
}

TEST_CASE("elements of four bits, with scales along columns, are looked at too", "[provenance]") {
  constexpr int kSize = 16, kOfColumn = kM / kSize;
  QuantisedRun run(kSize, 1024);
  const auto code = [](float largest) { return uint8_t(cvt_rn_satfinite_e4m3_f32(largest * kNorm / 6)); };
  run.product.c.bits = 4, run.product.c.pitch = kN / 2;
  run.product.output_scales->rows = kN, run.product.output_scales->blocks = kOfColumn;
  run.product.output_scales->along_columns = true;
  run.product.output_scales->output = DataType::e2m1;
  run.product.output_scales->code = code;
  const auto right = [&](int column, int block) {
    float most = 0;
    for (int i = 0; i < kSize; ++i) most = std::max(most, std::abs(run.sum(block * kSize + i, column)));
    return code(most);
  };
  const auto fill = [&](float by) {
    std::fill(run.c_.begin(), run.c_.end(), uint8_t(0));
    for (int r = 0; r < kM; ++r)
      for (int c = 0; c < kN; ++c) {
        const float x = run.sum(r, c) * kNorm / decode_ue4m3(right(c, r / kSize)) * by;
        run.c_[size_t(r * kN + c) / 2] |= uint8_t(cvt_rn_satfinite_e2m1_f32(x) << 4 * (c % 2));
      }
  };
  const auto store = [&](int column, int block, int of_column, int of_block) {
    if (column >= kN || block >= kOfColumn) return;
    const uint64_t at = scale_offset(column, block, 2);
    run.sfd[at] = right(of_column, of_block), run.scale_stores.push_back(at);
  };
  SECTION("elements") {
    fill(1 / kNorm);
    for (int c = 0; c < kN; ++c)
      for (int b = 0; b < kOfColumn; ++b) store(c, b, c, b);
    CHECK_THAT(
        run.explained_bytes().what,
        StartsWith("the scales of the output (SFD) are right, and the elements are not: they are 1 / 3 of what "
                   "they should be: norm (3) is missing"));
  }
  SECTION("row and column exchanged where a warp stores its scales") {
    fill(1);
    for (int c = 0; c < kN; ++c)
      for (int b = 0; b < kOfColumn; ++b) store(b / 2 * 32 + c % 32, c / 32 * 2 + b % 2, c, b);
    CHECK_THAT(
        run.explained_bytes().what,
        StartsWith("the scales of the output (SFD) are in the wrong places: column and block have changed "
                   "places: that of column r and block b was stored at column b * 16, and its block is r / 16, "
                   "in warps of 32 columns, in "));
  }
}
