// SPDX-License-Identifier: Apache-2.0
// [problem.check] of a launch file: products of narrow and mixed types with scale factors in any layout, and
// comparison with a tensor that is expected.
#include "kernels/ptx_launch/host/ptx_check.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "kernels/ptx_launch/host/ptx_run.h"
#include "paths.h"
#include "scratch_directory.h"

using namespace sm100;
using namespace sm100::host;

namespace {

constexpr int kM = 4, kN = 6, kK = 64;

std::string tensor(const char* name, const char* type, const std::string& shape) {
  return fmt::format("[[problem.tensor]]\nname = \"{}\"\ntype = \"{}\"\nshape = {}\n\n", name, type, shape);
}

/// A launch of the repository's GEMM, for its check alone.
struct Launch {
  Launch(const std::string& tensors, const std::string& check)
      : scenario(load_scenario(directory.write("launch.toml", text(tensors, check)), {})), run(scenario) {
    for (const Tensor& t : run.tensors()) bytes.emplace_back(t.bytes);
    for (size_t i = 0; i < bytes.size(); ++i) run.fill(i, bytes[i].data());
  }
  static std::string text(const std::string& tensors, const std::string& check) {
    const std::string arguments = "[[problem.argument]]\ntensor_map = \"MAP\"\nbox = [64, 64]\n\n";
    return fmt::format(
        "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"{}/scenarios/ptx/gemm.ptx\"\nentry = "
        "\"gemm\"\ngrid = [1, 1, 1]\n{}{}"
        "{}{}[[problem.argument]]\naddress = \"MAP\"\n[[problem.argument]]\nvalue = 0\n[[problem.argument]]\nvalue "
        "= 0\n\n{}\n",
        source_dir(), tensors, tensor("MAP", "bf16", "[64, 64]"), arguments, arguments, check);
  }
  size_t index(std::string_view name) const {
    const std::vector<Tensor> all = run.tensors();
    for (size_t i = 0; i < all.size(); ++i)
      if (all[i].name == name) return i;
    FAIL("no such tensor");
    return 0;
  }
  uint8_t* at(std::string_view name) { return bytes[index(name)].data(); }
  Check check() const {
    std::vector<const uint8_t*> all;
    for (const auto& b : bytes) all.push_back(b.data());
    return run.check(all);
  }

  ScratchDirectory directory;
  Scenario scenario;
  PtxRun run;
  std::vector<std::vector<uint8_t>> bytes;
};

void put(uint8_t* to, size_t i, float value) { std::memcpy(to + 4 * i, &value, 4); }

}  // namespace

TEST_CASE("steps are digits of a number, the fastest first, the last one without bound") {
  const PtxSteps steps{{{32, 16}, {4, 4}, {1, 512}}};
  CHECK(steps.at(0) == 0);
  CHECK(steps.at(31) == 31 * 16);
  CHECK(steps.at(33) == 16 + 4);
  CHECK(steps.at(128) == 512);
  CHECK(steps.at(300) == 2 * 512 + 12 * 16 + 4);
}

TEST_CASE("a product of 4-bit and 8-bit elements, each with scales of its own layout") {
  // A: a ue4m3 factor for 16 elements, factors of 4 rows side by side.  B: a ue8m0 factor for 32, one f32 for all.
  Launch t(
      tensor("A", "e2m1", "[4, 64]") + tensor("B", "e4m3", "[6, 64]") + tensor("SFA", "ue4m3", "[16]") +
          tensor("SFB", "ue8m0", "[6, 2]") + tensor("S", "f32", "[1]") + tensor("C", "f32", "[4, 6]"),
      "[problem.check]\nproduct = [\"A\", \"B\", \"C\"]\n"
      "[[problem.check.scales]]\nof = \"A\"\ntensor = \"SFA\"\nk = 16\nrow_steps = [[4, 1]]\nk_steps = [[4, 4]]\n"
      "[[problem.check.scales]]\nof = \"B\"\ntensor = \"SFB\"\nk = 32\n"
      "[[problem.check.scales]]\nof = \"B\"\ntensor = \"S\"\nrows = 6\n");
  constexpr float kE2m1[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const uint8_t *a = t.at("A"), *b = t.at("B"), *sfa = t.at("SFA"), *sfb = t.at("SFB");
  float all = 0;
  std::memcpy(&all, t.at("S"), 4);
  for (int m = 0; m < kM; ++m)
    for (int n = 0; n < kN; ++n) {
      double sum = 0;
      for (int k = 0; k < kK; ++k) {
        const int code = a[(m * kK + k) / 2] >> 4 * (k % 2) & 0xf;
        const double x = double(kE2m1[code & 7]) * (code & 8 ? -1 : 1) * double(decode_ue4m3(sfa[k / 16 * 4 + m]));
        const double y =
            double(decode_e4m3(b[n * kK + k])) * std::ldexp(1.0, sfb[n * 2 + k / 32] - 127) * double(all);
        sum += x * y;
      }
      put(t.at("C"), size_t(m * kN + n), float(sum));
    }
  CHECK(t.check().ok);
  ++t.at("SFA")[5];
  CHECK_FALSE(t.check().ok);
}

TEST_CASE("scales that leave their tensor are refused") {
  const std::string tensors = tensor("A", "e4m3", "[4, 64]") + tensor("B", "e4m3", "[6, 64]") +
                              tensor("SFA", "ue8m0", "[7]") + tensor("C", "f32", "[4, 6]");
  const std::string check =
      "[problem.check]\nproduct = [\"A\", \"B\", \"C\"]\n"
      "[[problem.check.scales]]\nof = \"A\"\ntensor = \"SFA\"\nk = 32\n";
  CHECK_THROWS_WITH(Launch(tensors, check),
                    Catch::Contains("SFA has 7 elements, and the steps of 4 x 2 scales go to element 7"));
}

TEST_CASE("an output is compared with a tensor that is expected, but for roundings") {
  Launch t(tensor("R", "f32", "[4, 6]") + tensor("C", "bf16", "[4, 6]"),
           "[problem.check]\nreference = [\"R\", \"C\"]\n");
  for (size_t i = 0; i < size_t(kM * kN); ++i) {
    float value = 0;
    std::memcpy(&value, t.at("R") + 4 * i, 4);
    const uint16_t rounded = uint16_t(cvt_rn_bf16_f32(value));
    std::memcpy(t.at("C") + 2 * i, &rounded, 2);
  }
  CHECK(t.check().ok);
  t.at("C")[9] ^= 0x40;
  CHECK_FALSE(t.check().ok);
}
