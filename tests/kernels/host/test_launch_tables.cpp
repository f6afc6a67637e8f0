// SPDX-License-Identifier: Apache-2.0
// [[launch]] tables: what is read, and what is said of what is wrong.
#include "kernels/host/launch_tables.h"

#include "catch.h"
#include "kernels/host/run_plan.h"
#include "paths.h"
#include "scratch_directory.h"

using namespace sm100;
using namespace sm100::host;

namespace {

std::string split_k() { return source_dir() + "/scenarios/launches/split_k_two_streams.toml"; }

std::string refusal(const std::vector<std::string>& overrides) {
  try {
    load_scenario(split_k(), overrides);
    return "";
  } catch (const InputError& error) { return error.what(); }
}

/// Of the file with `from` replaced.
std::string refusal_of_text(const std::string& from, const std::string& to) {
  ScratchDirectory scratch;
  std::string text = read_whole(split_k());
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  text.replace(at, from.size(), to);
  try {
    load_scenario(scratch.write("s.toml", text));
    return "";
  } catch (const InputError& error) { return error.what(); }
}

struct Outside : KernelRun {
  explicit Outside(int depth) : depth(depth) {}
  LaunchShape launch() const override { return {.grid = {1, 1, 1}, .warps = 1}; }
  std::vector<BarrierArray> barriers() const override { return {}; }
  std::vector<std::string_view> roles() const override { return {"warp"}; }
  std::string_view role(int) const override { return "warp"; }
  std::vector<Tensor> tensors() const override { return {{"input", 65536}, {"output", 256}}; }
  void fill(size_t, uint8_t*) const override {}
  Check check(const std::vector<const uint8_t*>&) const override { return {.ok = true}; }
  double flops() const override { return 0; }
  double bytes() const override { return 256; }
  std::string title() const override { return "depth " + std::to_string(depth); }
  std::string configuration_json() const override { return R"({"kernel": "outside"})"; }
  int depth;
};

/// As it would read a scenario of its own.
const KernelDefinition kOutside = {
    .name = "outside",
    .description = "a kernel from outside",
    .tensor_core = false,
    .arithmetic = false,
    .read = [](const TomlDocument& document, const TomlTable& root, Scenario&) -> std::any {
      const int depth = int(root.table("config", {"depth"}).integer("depth", 1, 9));
      if (depth == 5) throw document.error("config.depth", "allowed is no 5");
      return depth;
    },
    .run = [](const Scenario& s) -> std::unique_ptr<KernelRun> {
      return std::make_unique<Outside>(s.problem_as<int>());
    }};

}  // namespace

TEST_CASE("a kernel from outside reads its tables in a list as in a scenario of its own", "[launches]") {
  add_kernel(kOutside);
  ScratchDirectory scratch;
  const auto file =
      scratch.write("s.toml",
                    "profile = 'h200'\n[[launch]]\nname = 'sum'\nkernel = 'reduce'\n[launch.problem]\n"
                    "m = 128\nn = 256\n[[launch]]\nname = 'mine'\nkernel = 'outside'\n"
                    "inputs.input = 'sum.D'\n[launch.config]\ndepth = 7\n");
  const Scenario s = load_scenario(file);
  CHECK(plan_of(s).title() == "sum: 2 partial sums of 128 x 256 f32; mine: depth 7");
  CHECK(plan_of(s).launches[1].inputs.at(0).launch == 0);  // it states no shape, so the bytes must agree
  CHECK_THROWS_WITH(load_scenario(file, {"launch.0.problem.m=64"}),
                    Catch::Contains("sum.D is 64 x 256 bf16, input of mine needs 65536 bytes"));
  CHECK_THROWS_WITH(load_scenario(file, {"launch.1.config.depth=5"}),
                    Catch::Contains("key 'launch.1.config.depth' = 5: allowed is no 5"));
  CHECK_THROWS_WITH(load_scenario(file, {"launch.1.config.deep=5"}),
                    Catch::Contains("unknown key 'launch.1.config.deep' = 5; allowed here are depth"));
  CHECK_THROWS_WITH(load_scenario(file, {"launch.2.config.depth=4"}),
                    Catch::Contains("'2': the array has 2 entries, counted from 0"));
  CHECK_THROWS_WITH(load_scenario(file, {"launch.mine.config.depth=4"}),
                    Catch::Contains("'mine': the array has 2 entries, counted from 0"));
}

TEST_CASE("a list of launches is read in the order of the host's calls", "[launches]") {
  const Scenario s = load_scenario(split_k(), {"launch.1.registers=168"});
  REQUIRE(s.launch_list.size() == 3);
  CHECK(s.launches == 3);
  CHECK(s.kernel->name == "matmul");
  const RunPlan plan = plan_of(s);
  CHECK(plan.named());
  CHECK(plan.kernels.size() == 3);
  CHECK(plan.launches[1].stream == 1);
  CHECK(plan.launches[2].after == std::vector{1});
  CHECK_FALSE(plan.launches[2].programmatic);
  REQUIRE(plan.launches[2].inputs.size() == 2);
  CHECK(plan.launches[2].inputs[1].tensor == 1);
  CHECK(plan.launches[2].inputs[1].launch == 1);
  CHECK(plan.kernel_of(2).definition->name == "reduce");
  CHECK(plan.kernel_of(1).registers == 168);
  CHECK(plan.kernel_of(0).registers == 0);
  // 256 x 256 in tiles of 128 x 128, then 2,048 elements per CTA.
  CHECK(plan.first_cta(1) == 4);
  CHECK(plan.first_cta(2) == 8);
  CHECK(plan.of_cta(3) == 0);
  CHECK(plan.of_cta(39) == 2);
}

TEST_CASE("overrides and messages name a launch's keys in full", "[launches]") {
  CHECK_THAT(refusal({"launch.1.config.stages=0"}),
             Catch::Contains("--set launch.1.config.stages=0: key 'launch.1.config.stages' = 0"));
  CHECK_THAT(refusal({"launch.2.config.slice=2"}),
             Catch::Contains("unknown key 'launch.2.config.slice' = 2; did you mean 'slices'?"));
  CHECK_THAT(refusal_of_text("m = 256\nn = 256\n\n[expect]", "m = 256\n\n[expect]"),
             Catch::Contains("s.toml:") && Catch::Contains("key 'launch.2.problem.n' is missing"));
  CHECK_THAT(
      refusal_of_text("stream = 1", "strea = 1"),
      Catch::Contains("s.toml:") && Catch::Contains("unknown key 'launch.1.strea' = 1; did you mean 'stream'?"));
}

TEST_CASE("an event is recorded before it is waited for", "[launches]") {
  CHECK_THAT(refusal({"launch.2.after=[\"sum\"]"}),
             Catch::Contains("allowed are launches that stand before this one: \"left\", \"right\""));
  CHECK_THAT(refusal({"launch.0.after=[\"right\"]"}), Catch::Contains("no launch stands before this one"));
}

TEST_CASE("an input agrees with the output that it is fed in shape and type", "[launches]") {
  CHECK_THAT(refusal({"launch.0.config.output=bf16"}),
             Catch::Contains(
                 "key 'launch.2.inputs.P0' = \"left.C\": left.C is 256 x 256 bf16, P0 of sum needs 256 x 256 f32"));
  CHECK_THAT(refusal({"launch.1.problem.n=512"}), Catch::Contains("right.C is 256 x 512 f32, P1 of sum needs"));
  CHECK_THAT(
      refusal({"launch.2.inputs.P1=right.A"}),
      Catch::Contains("allowed are outputs of launches that stand before this one: \"left.C\", \"right.C\""));
  CHECK_THAT(refusal({"launch.2.inputs.P7=right.C"}),
             Catch::Contains("unknown key 'launch.2.inputs.P7'") && Catch::Contains("did you mean 'P0'"));
}

TEST_CASE("what a list of launches cannot have is refused", "[launches]") {
  CHECK_THAT(refusal({"kernel=matmul"}),
             Catch::Contains("key 'kernel' = \"matmul\": not allowed beside [[launch]]"));
  CHECK_THAT(refusal({"run.launches=2"}), Catch::Contains("not allowed beside [[launch]]"));
  CHECK_THAT(refusal({"run.feed=a"}), Catch::Contains("not allowed beside [[launch]]"));
  CHECK_THAT(refusal({"launch.1.name=left"}), Catch::Contains("another launch has this name"));
  CHECK_THAT(refusal({"launch.1.name=a.b"}), Catch::Contains("allowed are letters, digits, _ and -"));
  CHECK_THAT(refusal({"launch.1.pdl=true"}), Catch::Contains("no launch is ahead of this one in stream 1"));
  CHECK_THAT(refusal({"launch.1.kernel=umma_batches", "run.data=full"}),
             Catch::Contains("kernel umma_batches computes nothing; allowed is \"none\""));
  CHECK_THAT(refusal({"profile=h200"}),
             Catch::Contains("key 'launch.0.kernel' = \"matmul\": profile h200 is a device without tcgen05"));
}

TEST_CASE("faults and delays name the launch that they are for", "[launches]") {
  const std::string fault =
      "[[fault]]\nrole = \"load\"\ninstruction = \"mbarrier_arrive_expect_tx\"\naction = \"drop\"\n";
  CHECK_THAT(refusal_of_text("[expect]", fault + "[expect]"),
             Catch::Contains("key 'fault.0.launch' is missing; allowed are \"left\", \"right\", \"sum\""));
  CHECK_THAT(refusal_of_text("[expect]", fault + "launch = \"sum\"\n[expect]"),
             Catch::Contains("key 'fault.0.role' = \"load\": allowed is \"reduce\""));
  CHECK(refusal_of_text("[expect]", fault + "launch = \"right\"\n[expect]").empty());
}

TEST_CASE("a delay's CTA is counted within its launch", "[launches]") {
  ScratchDirectory scratch;
  const std::string delay =
      "[[delay]]\nat = \"cta start\"\ncta = 3\nlaunch = \"right\"\noccurrence = 0\ncycles = 9\n";
  const Scenario s = load_scenario(scratch.write("s.toml", read_whole(split_k()) + delay));
  CHECK(s.delays.at(0).delay.point.cta == 7);
  CHECK_THAT(delay_toml(s.delays.at(0).delay, plan_of(s), ""), Catch::Contains("cta = 3\nlaunch = \"right\"\n"));
}
