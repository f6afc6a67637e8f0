// Rules of reference kernels.md 6.3 that apply to the dense kernel without clusters.

#include "kernels/host/config_rules.h"

#include "catch.h"
#include "kernels/matmul/shared_storage.h"

namespace sm100::host {
namespace {

MatmulConfig legal() {
  MatmulConfig c;
  c.mma_m = 128, c.mma_n = 128, c.stages = 4;
  return c;
}

/// The key of the first broken rule, empty if all hold.
std::string broken(const MatmulConfig& c, int m = 512, int n = 512, int k = 512) {
  const auto violations = check_config(c, m, n, k);
  return violations.empty() ? "" : violations.front().key;
}

}  // namespace

TEST_CASE("rules: every MMA shape of cta_group 1 is accepted and no other") {
  for (int m : {0, 16, 32, 64, 96, 128, 192, 256, -64})
    for (int n = -8; n <= 264; ++n) {
      MatmulConfig c = legal();
      c.mma_m = m, c.mma_n = n, c.stages = 1, c.accum_stages = 1;
      const bool is_shape =
          (m == 64 && n >= 8 && n <= 256 && n % 8 == 0) || (m == 128 && n >= 16 && n <= 256 && n % 16 == 0);
      INFO(m << " x " << n);
      CHECK(broken(c) == (is_shape ? "" : "config.mma"));
    }
}

TEST_CASE("rules: one MMA takes 32 bytes of K") {
  MatmulConfig c = legal();
  for (int k : {0, 8, 32, -16}) {
    c.mma_k = k;
    CHECK(broken(c) == "config.mma");
  }
}

TEST_CASE("rules: accumulators share 512 columns") {
  MatmulConfig c = legal();
  for (int n : {16, 48, 80, 128, 160, 256})
    for (int t = -1; t <= 33; ++t) {
      c.mma_n = n, c.accum_stages = t, c.stages = 1;
      INFO(n << " columns, " << t << " stages");
      CHECK(broken(c) == (t >= 1 && t * n <= 512 ? "" : "config.accum_stages"));
      if (broken(c).empty()) CHECK(accum_stride_columns(c) >= n);
    }
}

TEST_CASE("rules: stages must fit shared memory and the message says how many do") {
  MatmulConfig c = legal();
  c.mma_n = 256;
  CHECK(fitting_stages(c) == 4);
  c.stages = 4;
  CHECK(broken(c) == "");
  c.stages = 5;
  const auto violations = check_config(c, 512, 512, 512);
  REQUIRE(violations.size() == 1);
  CHECK(violations[0].key == "config.stages");
  CHECK(violations[0].value == "5");
  CHECK(violations[0].allowed == "1 to 4");
  CHECK(violations[0].why == "5 stages of 49152 bytes need about 262224 bytes of shared memory, a CTA has 232448");
  for (int stages : {0, -1, 1 << 30}) {
    c.stages = stages;
    CHECK(broken(c) == "config.stages");
  }
}

TEST_CASE("rules: as many stages as fit really fit for every tile") {
  for (Swizzle swizzle : {Swizzle::b32, Swizzle::b64, Swizzle::b128})
    for (DataType output : {DataType::bf16, DataType::f32})
      for (int m : {64, 128})
        for (int n = m == 64 ? 8 : 16; n <= 256; n += m == 64 ? 8 : 16)
          for (int q : {0, 2, 64}) {
            MatmulConfig c = legal();
            c.swizzle = swizzle, c.output = output, c.mma_m = m, c.mma_n = n, c.clc_stages = q,
            c.accum_stages = 512 / n;
            c.stages = fitting_stages(c);
            INFO(m << " x " << n << ", " << q << " CLC stages: " << c.stages);
            CHECK(c.stages >= 1);
            CHECK(shared_storage_bytes(c) <= uint32_t(kSmemBudgetBytes));
            CHECK(broken(c) == "");
          }
}

TEST_CASE("rules: every split of K has k tiles, in whole groups") {
  MatmulConfig c = legal();
  const auto splits = [&](int n, int k_tiles) {
    c.num_split_k = n;
    return broken(c, 512, 512, 64 * k_tiles);
  };
  CHECK(splits(1, 5) == "");
  CHECK(splits(2, 5) == "");
  CHECK(splits(3, 5) == "");                    // 2, 2, 1
  CHECK(splits(4, 5) == "config.num_split_k");  // 2, 2, 1 and nothing: would wait for ever
  CHECK(splits(5, 5) == "");
  CHECK(splits(6, 5) == "config.num_split_k");
  CHECK(splits(0, 5) == "config.num_split_k");
  c.k_group_size = 2;
  CHECK(splits(2, 8) == "");
  CHECK(splits(2, 10) ==
        "config.num_split_k");  // 5 and 5: the first one's last group would take a tile of the second
  c = legal();
  c.num_split_k = 2, c.pdl = true;
  CHECK(broken(c) == "config.num_split_k");
  c = legal();
  c.num_split_k = 2, c.mma_m = 64;
  CHECK(broken(c) == "config.num_split_k");
  c.cta_group = 2, c.cluster_m = 2, c.mma_m = 128;
  CHECK(broken(c) == "");
  c.ab_swapped = true;
  CHECK(broken(c) == "config.num_split_k");
}

TEST_CASE("rules: small counts and words") {
  MatmulConfig c = legal();
  for (int q : {0, 1, 64}) {
    c.clc_stages = q, c.stages = 1;
    CHECK(broken(c) == "");
  }
  for (int q : {-1, 65}) {
    c.clc_stages = q;
    CHECK(broken(c) == "config.clc_stages");
  }
  c = legal();
  c.swizzle = Swizzle::none;
  CHECK(broken(c) == "config.swizzle");
  c = legal();
  for (int w = -1; w <= 16; ++w) {
    c.block_swizzle = w;
    CHECK(broken(c) == (w == 0 || w == 1 || w == 2 || w == 4 || w == 8 ? "" : "config.block_swizzle"));
  }
}

TEST_CASE("rules: rows of A and B and C are multiples of 16 bytes") {
  MatmulConfig c = legal();
  CHECK(broken(c, 1, 8, 8) == "");
  CHECK(broken(c, 513, 520, 1032) == "");
  for (int ragged : {1, 4, 12, 100, 511}) {
    CHECK(broken(c, 512, ragged, 512) == "problem.n");
    CHECK(broken(c, 512, 512, ragged) == "problem.k");
  }
  c.output = DataType::f32;
  CHECK(broken(c, 512, 12, 512) == "");
  CHECK(broken(c, 512, 10, 512) == "problem.n");
}

TEST_CASE("rules: an empty or enormous problem is refused") {
  const MatmulConfig c = legal();
  for (int extent : {0, -1, -8, (1 << 30) + 8}) {
    CHECK(broken(c, extent, 8, 8) == "problem.m");
    CHECK(broken(c, 8, extent, 8) == "problem.n");
    CHECK(broken(c, 8, 8, extent) == "problem.k");
  }
  CHECK(check_config(c, 8, 8, 0).front().why == "without an MMA the epilogue would store stale tensor memory");
  CHECK(broken(c, 8, 65535 * 128, 8) == "");
  CHECK(broken(c, 8, 65535 * 128 + 8, 8) == "problem.n");  // grid.y
}

TEST_CASE("rules: all broken rules are found at once") {
  MatmulConfig c = legal();
  c.mma_m = 96, c.mma_k = 8, c.block_swizzle = 3;
  CHECK(check_config(c, 0, 8, 8).size() == 4);
}

}  // namespace sm100::host
