// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/kernel_definition.h"

#include <set>
#include <stdexcept>

#include "catch.h"
#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"
#include "kernels/host/toml_reader.h"
#include "scratch_directory.h"

namespace sm100::host {
namespace {

struct Nothing : KernelRun {
  LaunchShape launch() const override { return {.grid = {1, 1, 1}, .warps = 1}; }
  std::vector<BarrierArray> barriers() const override { return {}; }
  std::vector<std::string_view> roles() const override { return {"warp"}; }
  std::string_view role(int) const override { return "warp"; }
  std::vector<Tensor> tensors() const override { return {{"output", 256}}; }
  void fill(size_t, uint8_t*) const override {}
  Check check(const std::vector<const uint8_t*>&) const override { return {.ok = true}; }
  double flops() const override { return 0; }
  double bytes() const override { return 256; }
  std::string title() const override { return "nothing"; }
  std::string configuration_json() const override { return R"({"kernel": "added"})"; }
};

const KernelDefinition kAdded = {
    .name = "added",
    .description = "a kernel from outside",
    .tensor_core = false,
    .arithmetic = false,
    .read = [](const TomlDocument&, const TomlTable& root, Scenario&) -> std::any {
      return int(root.table("config", {"depth"}).integer("depth", 1, 9));
    },
    .run = [](const Scenario&) -> std::unique_ptr<KernelRun> { return std::make_unique<Nothing>(); }};

}  // namespace

TEST_CASE("names of kernels are different, and each is found by its name", "[kernel]") {
  std::set<std::string_view> names;
  for (const KernelDefinition* kernel : kernels()) {
    CHECK(names.insert(kernel->name).second);
    CHECK(find_kernel(kernel->name) == kernel);
    CHECK_FALSE(kernel->description.empty());
  }
  CHECK(find_kernel("matmul ") == nullptr);
}

TEST_CASE("a kernel from outside is read like the others", "[kernel]") {
  ScratchDirectory scratch;
  const auto file = scratch.write("s.toml", "kernel = 'added'\nprofile = 'h200'\n[config]\ndepth = 7\n");
  CHECK_THROWS_WITH(load_scenario(file), Catch::Contains("key 'kernel' = \"added\": allowed are"));
  add_kernel(kAdded);
  CHECK_THROWS_AS(add_kernel(kAdded), std::logic_error);
  const Scenario s = load_scenario(file);
  CHECK(s.kernel == &kAdded);
  CHECK(s.problem_as<int>() == 7);
  CHECK(make_run(s)->title() == "nothing");
  CHECK_THROWS_WITH(load_scenario(file, {"run.numerics=b200"}), Catch::Contains("kernel added does no arithmetic"));
  CHECK_THROWS_WITH(load_scenario(file, {"run.feed=a", "run.launches=2"}),
                    Catch::Contains("kernel added reads nothing of a launch ahead"));
}

TEST_CASE("a definition that lacks a part is refused", "[kernel]") {
  KernelDefinition half = kAdded;
  half.name = "half", half.run = nullptr;
  CHECK_THROWS_AS(add_kernel(half), std::logic_error);
}

}  // namespace sm100::host
