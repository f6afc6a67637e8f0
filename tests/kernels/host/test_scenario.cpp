// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/scenario.h"

#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "catch.h"
#include "kernels/host/data_directory.h"
#include "kernels/host/toml_reader.h"
#include "kernels/matmul/shared_storage.h"
#include "matmul_of.h"
#include "paths.h"
#include "scratch_directory.h"

namespace sm100::host {
namespace {

const std::string kSmall = R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 512
n = 256
k = 1024
[config]
mma = [128, 64, 16]
)";

/// What load_scenario says about `text`, without the directory; empty if it accepts it.
std::string complaint(const std::string& text, const std::vector<std::string>& overrides = {}) {
  ScratchDirectory scratch;
  const auto file = scratch.write("s.toml", text);
  try {
    load_scenario(file, overrides);
    return "";
  } catch (const InputError& error) {
    std::string what = error.what();
    if (const size_t at = what.find(file.string()); at != std::string::npos)
      what.replace(at, file.string().size(), "s.toml");
    return what;
  }
}

Scenario load(const std::string& text, const std::vector<std::string>& overrides = {}) {
  ScratchDirectory scratch;
  return load_scenario(scratch.write("s.toml", text), overrides);
}

}  // namespace

TEST_CASE("a minimal scenario gets the defaults") {
  const Scenario s = load("kernel = 'matmul'\nprofile = 'b200'\n[problem]\nm = 1\nn = 8\nk = 8\n");
  CHECK(s.name == "s");
  CHECK(s.profile == "b200");
  CHECK(s.device.name == "NVIDIA B200");
  CHECK(matmul_of(s).config.mma_m == 128);
  CHECK(matmul_of(s).config.mma_n == 128);
  CHECK(matmul_of(s).config.accum_stages == 2);
  CHECK(matmul_of(s).config.clc_stages == 2);
  CHECK(matmul_of(s).config.mma_prefetch);
  CHECK(s.data == DataMode::full);
  CHECK(s.numerics == Numerics::fast);
  CHECK(s.sms == 0);
  CHECK(s.seed == 1);
  CHECK_FALSE(s.jitter);
  CHECK(s.faults.empty());
  CHECK(s.expect.outcome == "pass");
}

TEST_CASE("every scenario key is read") {
  const Scenario s = load(R"(
description = "all of it"
kernel  = "matmul"
profile = "b200"
[problem]
m = 100
n = 24
k = 40
[config]
dtype = "bf16"
output = "f32"
mma = [64, 24, 16]
cta_group = 1
cluster = [1, 1, 1]
stages = 3
accum_stages = 5
clc_stages = 0
k_group_size = 1
swizzle = 32
raster_order = "along_n"
block_swizzle = 4
mma_prefetch = false
[run]
data = "none"
sms = 7
seed = 11
jitter = 12
numerics = "b200"
max_cycles = 1000
sm_clock_ghz = 1.5
[[fault]]
role = "load"
instruction = "mbarrier_arrive_expect_tx"
barrier = "input_full"
stage = 2
cta = 1
occurrence = 3
action = "add"
value = -64
[[fault]]
instruction = "mbarrier_try_wait_parity"
action = "drop"
[expect]
outcome = "hang"
id = "hang"
barrier = "input_full"
role = "mma"
stage = 2
phase = 1
)");
  CHECK((matmul_of(s).m == 100 && matmul_of(s).n == 24 && matmul_of(s).k == 40));
  CHECK(matmul_of(s).config.output == DataType::f32);
  CHECK((matmul_of(s).config.mma_m == 64 && matmul_of(s).config.mma_n == 24 && matmul_of(s).config.mma_k == 16));
  CHECK((matmul_of(s).config.stages == 3 && matmul_of(s).config.accum_stages == 5 &&
         matmul_of(s).config.clc_stages == 0));
  CHECK(matmul_of(s).config.swizzle == Swizzle::b32);
  CHECK(matmul_of(s).config.raster_order == RasterOrder::along_n);
  CHECK(matmul_of(s).config.block_swizzle == 4);
  CHECK_FALSE(matmul_of(s).config.mma_prefetch);
  CHECK(s.data == DataMode::none);
  CHECK(s.numerics == Numerics::b200);
  CHECK((s.sms == 7 && s.seed == 11 && s.jitter == 12u && s.max_cycles == 1000));
  CHECK(s.device.device.sm_clock_ghz == 1.5);
  REQUIRE(s.faults.size() == 2);
  const FaultSpec& add = s.faults[0];
  CHECK((add.role == "load" && add.instruction == "mbarrier_arrive_expect_tx" && add.barrier == "input_full"));
  CHECK((add.stage == 2 && add.cta == 1 && add.occurrence == 3 && add.action == FaultAction::add &&
         add.value == -64));
  const FaultSpec& drop = s.faults[1];
  CHECK((drop.role.empty() && drop.barrier.empty() && drop.stage == -1 && drop.cta == -1 && drop.occurrence == -1));
  CHECK((add.operand == "bytes" && drop.operand.empty()));
  CHECK((drop.warp == -1 && drop.id == -1 && drop.from == 0 && !drop.optional));
  CHECK(s.expect.outcome == "hang");
  CHECK((s.expect.id == "hang" && s.expect.barrier == "input_full" && s.expect.role == "mma"));
  CHECK((s.expect.stage == 2 && s.expect.phase == 1));
}

TEST_CASE("an omitted stage count becomes as many as fit") {
  const Scenario s = load(kSmall);
  CHECK(matmul_of(s).config.stages == 8);  // 24 KiB each, two 8 KiB strips
  CHECK(storage_bytes<SharedStorage>(matmul_of(s).config) <= uint32_t(kSmemBudgetBytes));
}

TEST_CASE("overrides replace values and take bare words as strings") {
  const Scenario s = load(kSmall, {"problem.m=64", "config.mma=[64, 8, 16]", "run.data=none",
                                   "config.output=\"f32\"", "run.sms=2", "run.sms=3"});
  CHECK(matmul_of(s).m == 64);
  CHECK(matmul_of(s).config.mma_n == 8);
  CHECK(s.data == DataMode::none);
  CHECK(matmul_of(s).config.output == DataType::f32);
  CHECK(s.sms == 3);  // the last one wins
}

TEST_CASE("an override reaches into lists and faults") {
  const std::string faulty = kSmall + "[[fault]]\ninstruction = 'mbarrier_init'\naction = 'add'\nvalue = 1\n";
  CHECK(load(faulty, {"fault.0.value=5"}).faults.at(0).value == 5);
  CHECK(matmul_of(load(kSmall, {"config.mma.1=32"})).config.mma_n == 32);
  CHECK(complaint(kSmall, {"config.mma.1=12"})
            .rfind("--set config.mma.1=12: key 'config.mma' = [128, 12, 16]: ", 0) == 0);
}

TEST_CASE("messages name file and line and key and value and what is allowed") {
  const std::string config = kSmall + "stages = 2\n";
  CHECK(complaint(kSmall + "stages = 0\n") ==
        "s.toml:9: key 'config.stages' = 0: allowed are 1 to 8 (leave the key out to get as many as fit)");
  CHECK(complaint(kSmall + "stges = 4\n") == "s.toml:9: unknown key 'config.stges' = 4; did you mean 'stages'?");
  CHECK(complaint(kSmall + "[runn]\nsms = 1\n") == "s.toml:9: unknown table 'runn'; did you mean 'run'?");
  CHECK(complaint(kSmall + "[run]\nxyzzy = 1\n") ==
        "s.toml:10: unknown key 'run.xyzzy' = 1; allowed here are data, l2, sms, seed, jitter, numerics, "
        "max_cycles, recorder, recorder_cycles, hazards, scopes, "
        "sm_clock_ghz, launches, feed, ctas_per_sm, registers, hand_out, ptx, ptx_entry, provenance");
  CHECK(complaint(kSmall + "[run]\nrecorder_cycles = [1, 2, 3]\n") ==
        "s.toml:10: key 'run.recorder_cycles' = [1, 2, 3]: needs run.recorder = true");
  CHECK(complaint(kSmall + "[run]\nrecorder = true\nrecorder_cycles = [1, 2]\n") != "");
  CHECK(complaint(kSmall + "[run]\nsms = 149\n") ==
        "s.toml:10: key 'run.sms' = 149: allowed are integers 1 to 148");
  CHECK(complaint(kSmall + "[run]\nsms = \"4\"\n") ==
        "s.toml:10: key 'run.sms' = \"4\": allowed are integers 1 to 148");
  CHECK(complaint(kSmall + "[run]\ndata = \"some\"\n") ==
        "s.toml:10: key 'run.data' = \"some\": allowed are \"full\", \"none\"");
  CHECK(complaint("kernel = 'matmul'\nprofile = 'b200'\n[problem]\nm = 1\nn = 8\n") ==
        "s.toml:3: key 'problem.k' is missing; allowed are integers");
  CHECK(complaint("kernel = 'matmul'\nprofile = 'b200'\n") == "s.toml: table [problem] is missing");
  CHECK(complaint("kernel = 'matmul'\n[problem]\nm = 1\n")
            .rfind("s.toml: key 'profile' is missing; allowed are \"", 0) == 0);
  CHECK(complaint(kSmall, {"config.stages=0"}).rfind("--set config.stages=0: key 'config.stages' = 0: ", 0) == 0);
  CHECK(
      complaint(kSmall, {"profile=b300"}).rfind("--set profile=b300: key 'profile' = \"b300\": allowed are ", 0) ==
      0);
  CHECK(complaint(config, {"problem.n=12"}).rfind("--set problem.n=12: ", 0) == 0);
}

TEST_CASE("values beyond int are judged like any other") {
  CHECK(complaint(kSmall, {"problem.m=9999999999"}) ==
        "--set problem.m=9999999999: key 'problem.m' = 9999999999: allowed are 1 to 1073741824 (C has M rows)");
  CHECK_FALSE(complaint(kSmall, {"config.stages=4294967297"}).empty());
  CHECK_FALSE(complaint(kSmall, {"config.mma=[4294967424, 64, 16]"}).empty());
}

TEST_CASE("legal words of the family that are not in this version say so") {
  for (const char* later : {"config.dtype=mxfp8", "config.dtype=nvfp4"}) {
    INFO(later);
    CHECK(complaint(kSmall, {later}).rfind("not implemented: --set ", 0) == 0);
  }
  for (const char* never :
       {"config.cta_group=3", "config.cluster=[1, 1, 2]", "config.cluster=[16, 16, 1]", "config.dtype=bf17"}) {
    INFO(never);
    CHECK(complaint(kSmall, {never}).rfind("--set ", 0) == 0);
  }
}

TEST_CASE("a fault must make sense") {
  const auto fault = [](const std::string& text) { return complaint(kSmall + "[[fault]]\n" + text); };
  CHECK(fault("instruction = 'tcgen05_commit'\nbarrier = 'input_empty'\nstage = 7\naction = 'drop'\n") == "");
  CHECK(fault("instruction = 'mbarrier_try_wait_parity'\naction = 'drop'\n") == "");
  CHECK(fault("instruction = 'mbarrier_arrive'\naction = 'flip_parity'\n") ==
        "s.toml:11: key 'fault.0.action' = \"flip_parity\": allowed for mbarrier_arrive are \"drop\", "
        "\"duplicate\", \"delay\", \"early\", \"add\", \"own_cta\", \"cta_scope\", \"all_lanes\", \"one_lane\", "
        "\"other_lane\"");
  CHECK(fault("instruction = 'tcgen05_wait_ld'\naction = 'add'\nvalue = 1\n") ==
        "s.toml:11: key 'fault.0.action' = \"add\": allowed for tcgen05_wait_ld are \"drop\", \"duplicate\", "
        "\"delay\"");
  CHECK(fault("instruction = 'mbarrier_arrive'\naction = 'drop'\nvalue = 1\n") ==
        "s.toml:12: key 'fault.0.value' = 1: allowed with actions \"add\", \"delay\", \"clear_mask\" and "
        "\"duplicate\" "
        "only");
  CHECK(fault("instruction = 'bar_sync'\naction = 'add'\noperand = 'count'\nvalue = 1\n") ==
        "s.toml:12: key 'fault.0.operand' = \"count\": allowed are \"threads\", \"id\"");
  CHECK(fault("instruction = 'bar_sync'\naction = 'drop'\noperand = 'id'\n") ==
        "s.toml:12: key 'fault.0.operand' = \"id\": allowed with action \"add\" only");
  CHECK(fault("instruction = 'mbarrier_arrive'\nbarrier = 'throttle_empty'\naction = 'early'\n") ==
        "s.toml:12: key 'fault.0.action' = \"early\": allowed with barrier \"clc_empty\" and \"accum_empty\" only "
        "(all "
        "lanes of a warp release what they waited for)");
  CHECK(fault("instruction = 'mapa'\nid = 1\naction = 'drop'\n") ==
        "s.toml:11: key 'fault.0.id' = 1: allowed for \"bar_sync\" and \"bar_arrive\" only (named barriers)");
  CHECK(fault("instruction = 'mapa'\nwarp = 7\naction = 'drop'\n") ==
        "s.toml:11: key 'fault.0.warp' = 7: allowed are integers 0 to 6");
  CHECK(fault("instruction = 'mapa'\nfrom = 1\noccurrence = 1\naction = 'drop'\n") ==
        "s.toml:11: key 'fault.0.from' = 1: allowed without occurrence only (it means that one and all later)");
  CHECK(fault("instruction = 'tcgen05_mma'\naction = 'add'\noperand = 'a'\nvalue = 8\n") ==
        "s.toml:13: key 'fault.0.value' = 8: allowed are multiples of 16 (descriptors count in 16 bytes)");
  CHECK(fault("instruction = 'tcgen05_commit_multicast'\naction = 'clear_mask'\nvalue = 0x10000\n") ==
        "s.toml:12: key 'fault.0.value' = 0x10000: allowed are integers 1 to 65535");
  CHECK(fault("instruction = 'bar_sync'\naction = 'delay'\n").find("key 'fault.0.value' is missing") !=
        std::string::npos);
  CHECK(fault("instruction = 'mbarrier_init'\naction = 'add'\n").find("key 'fault.0.value' is missing") !=
        std::string::npos);
  CHECK(fault("action = 'drop'\n").find("key 'fault.0.instruction' is missing") != std::string::npos);
  CHECK(fault("instruction = 'mbarrier_arrive'\nbarrier = 'input_full'\nstage = 8\naction = 'drop'\n") ==
        "s.toml:12: key 'fault.0.stage' = 8: allowed are integers 0 to 7");
  CHECK(fault("instruction = 'mbarrier_arrive'\nbarrier = 'tmem_dealloc'\nstage = 1\naction = 'drop'\n") ==
        "s.toml:12: key 'fault.0.stage' = 1: allowed are integers 0 to 0");
  CHECK(fault("instruction = 'mbarrier_arrive'\ncta = 16\naction = 'drop'\n") ==  // 4 x 4 tiles
        "s.toml:11: key 'fault.0.cta' = 16: allowed are integers 0 to 15");
  CHECK(
      fault("instruction = 'mbarrier_arrive'\nbarrier = 'inputs'\naction = 'drop'\n").find("\"throttle_empty\"") !=
      std::string::npos);
  CHECK(complaint(kSmall + "[fault]\ninstruction = 'mbarrier_arrive'\n").find("[[fault]]") != std::string::npos);
}

TEST_CASE("files that are not scenarios are refused in one line") {
  ScratchDirectory scratch;
  const auto message = [](const std::filesystem::path& path) {
    try {
      load_scenario(path);
    } catch (const InputError& error) { return std::string(error.what()); }
    return std::string();
  };
  CHECK(message(scratch / "none.toml") == (scratch / "none.toml").string() + ": no such file");
  CHECK(message(scratch.path()) == scratch.path().string() + ": is a directory; a TOML file is needed");
  const auto text = scratch.write("text.toml", "kernel = \"matmul\"\nthis is prose\n");
  CHECK(message(text).rfind(text.string() + ":2: not valid TOML: ", 0) == 0);
  const auto binary = scratch.write("binary.toml", std::string("\x7f"
                                                               "ELF\0\1\2\xff",
                                                               8));
  CHECK(message(binary).find("not valid TOML") != std::string::npos);
  for (const auto& path : {scratch / "none.toml", scratch.path(), text, binary})
    CHECK(message(path).find('\n') == std::string::npos);
}

TEST_CASE("malformed overrides are refused") {
  for (const char* bad :
       {"", "x", "=1", "config.=1", ".stages=1", "config.stages", "config.stages=", "config.stages=[1",
        "config.stages=1\nprofile='x'", "problem.m.x=1", "config.mma.9=1", "config.mma.x=1"}) {
    INFO(bad);
    const std::string message = complaint(kSmall, {bad});
    CHECK(message.rfind("--set ", 0) == 0);
    CHECK(message.find('\n') == std::string::npos);
  }
}

TEST_CASE("the configuration as JSON names every choice") {
  const auto json = nlohmann::json::parse(load(kSmall, {"config.swizzle=64"}).configuration_json());
  CHECK(json["kernel"] == "matmul");
  CHECK(json["mma"] == nlohmann::json({128, 64, 16}));
  CHECK(json["cluster"] == nlohmann::json({1, 1, 1}));
  CHECK(json["dtype"] == "bf16");
  CHECK(json["swizzle"] == 64);
  CHECK(json["raster_order"] == "along_m");
  CHECK(json["stages"] > 0);
}

TEST_CASE("a profile named by path lies beside the scenario") {
  ScratchDirectory scratch;
  std::string profile = read_whole(std::filesystem::path(profile_dir()) / "b200.toml");
  profile.replace(profile.find("NVIDIA B200\""), 11, "My own chip");
  scratch.write("mine.toml", profile);
  const auto file =
      scratch.write("s.toml", "kernel = 'matmul'\nprofile = 'mine.toml'\n[problem]\nm = 1\nn = 8\nk = 8\n");
  CHECK(load_scenario(file).device.name == "My own chip");
  CHECK(load_scenario(file, {"profile=" + (scratch / "mine.toml").string()}).device.name == "My own chip");
}

TEST_CASE("all scenarios of the project load and describe themselves in a line") {
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(scenario_dir())) {
    if (entry.path().extension() != ".toml") continue;
    CAPTURE(entry.path());
    Scenario s;
    CHECK_NOTHROW(s = load_scenario(entry.path()));
    CHECK_FALSE(s.description.empty());
    CHECK(s.description.size() < 90);
    ++count;
  }
  CHECK(count >= 270);
}

TEST_CASE("lessons are numbered from 1, and the number is no part of the name") {
  std::set<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator(scenario_dir())) {
    if (entry.path().extension() != ".toml") continue;
    const std::string stem = entry.path().stem();
    CAPTURE(stem);
    REQUIRE(std::isdigit(static_cast<unsigned char>(stem[0])));
    CHECK(numbers.insert(std::stoi(stem)).second);
    CHECK(scenario_name(entry.path()) == stem.substr(3));
  }
  REQUIRE_FALSE(numbers.empty());
  CHECK(*numbers.rbegin() == int(numbers.size()));
  CHECK(scenario_name("bugs/bytes/k_group_2.toml") == "k_group_2");
  CHECK(scenario_name("8_warps.toml") == "8_warps");
  CHECK(scenario_name("01_.toml") == "01_");
}

TEST_CASE("the nearest word is suggested only when it is near") {
  const std::vector<std::string> known = {"stages", "accum_stages", "m", "n", "k", "cluster"};
  CHECK(nearest_word("stage", known) == "stages");
  CHECK(nearest_word("acum_stages", known) == "accum_stages");
  CHECK(nearest_word("clsuter", known) == "cluster");
  CHECK(nearest_word("x", known) == "");
  CHECK(nearest_word("warp_count", known) == "");
}

}  // namespace sm100::host
