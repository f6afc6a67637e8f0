// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduce/host/reduce_run.h"

#include <cstring>

#include "catch.h"
#include "kernels/isa/lane_array.h"
#include "scratch_directory.h"

using namespace sm100;
using namespace sm100::host;

namespace {

std::string scenario_text(const std::string& problem, const std::string& config = "") {
  return "kernel = 'reduce'\nprofile = 'h200'\n[problem]\n" + problem + "[config]\n" + config;
}

std::string refusal(const std::string& problem, const std::string& config = "") {
  ScratchDirectory scratch;
  try {
    load_scenario(scratch.write("s.toml", scenario_text(problem, config)));
    return "";
  } catch (const InputError& error) { return error.what(); }
}

struct Filled {
  Filled(const std::string& config) {
    ScratchDirectory scratch;
    const Scenario s = load_scenario(scratch.write("s.toml", scenario_text("m = 4\nn = 64\n", config)));
    run = make_run(s);
    for (const Tensor& tensor : run->tensors()) {
      bytes.emplace_back(tensor.bytes);
      run->fill(bytes.size() - 1, bytes.back().data());
    }
  }
  Check check() const {
    std::vector<const uint8_t*> pointers;
    for (const auto& tensor : bytes) pointers.push_back(tensor.data());
    return run->check(pointers);
  }
  float& partial(size_t slice, size_t i) { return reinterpret_cast<float*>(bytes[slice].data())[i]; }

  std::unique_ptr<KernelRun> run;
  std::vector<std::vector<uint8_t>> bytes;
};

}  // namespace

TEST_CASE("reduce: every byte of the sum is compared, in the order of the partial sums", "[reduce]") {
  Filled f("slices = 3\noutput = 'f32'\n");
  CHECK(f.run->tensors().size() == 4);
  CHECK(f.run->tensors()[3].name == "D");
  for (size_t i = 0; i < 256; ++i) {
    const float sum = (f.partial(0, i) + f.partial(1, i)) + f.partial(2, i);
    std::memcpy(&f.partial(3, i), &sum, 4);
  }
  CHECK(f.check().ok);
  f.bytes[3][4 * 200] ^= 1;  // the last bit of one element
  CHECK_FALSE(f.check().ok);
}

TEST_CASE("reduce: what nobody has written is named", "[reduce]") {
  const Filled f("");
  const Check check = f.check();
  CHECK_FALSE(check.ok);
  REQUIRE(check.unwritten);
  CHECK(check.unwritten->elements == 256);
}

TEST_CASE("reduce: what it cannot take is refused", "[reduce]") {
  CHECK_THAT(refusal("m = 3\nn = 50\n"), Catch::Contains("key 'problem.n' = 50: m x n must be a multiple of 128"));
  CHECK_THAT(refusal("m = 0\nn = 128\n"), Catch::Contains("key 'problem.m' = 0: allowed are 1 to"));
  CHECK_THAT(refusal("m = 1\nn = 128\n", "slices = 9\n"), Catch::Contains("allowed are integers 2 to 8"));
  CHECK_THAT(refusal("m = 1\nn = 128\n", "output = 'f16'\n"), Catch::Contains("allowed are \"bf16\", \"f32\""));
}
