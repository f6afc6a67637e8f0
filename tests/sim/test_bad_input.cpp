// SPDX-License-Identifier: Apache-2.0
// Bad input ends in a line on stderr for each thing that is wrong and exit code 2, prints nothing else and leaves
// no file.  Runs the program.

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "catch.h"
#include "paths.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

const char* const kGood = R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 128
n = 128
k = 64
[config]
mma = [128, 128, 16]
[run]
sms = 1
)";

struct BadInput {
  const char* name;
  std::string arguments;  ///< of a run in a directory that holds good.toml and the files below
  std::string says;       ///< part of the line
};

/// An argument of `run good.toml`, with output files asked for.
std::string set(const std::string& override) {
  return "run good.toml --trace t.pftrace --json j.json --set '" + override + "'";
}

std::string fault(const std::string& table) { return set("fault=[{" + table + "}]"); }

const std::vector<BadInput> kBadInputs = {
    {"unknown key", set("config.stges=4"), "did you mean 'stages'"},
    {"unknown key in the file", "run unknown_key.toml --trace t.pftrace",
     "unknown_key.toml:12: unknown key 'run.sm' = 1"},
    {"unknown table", set("confg.stages=4"), "did you mean 'config'"},
    {"string for an integer", set("problem.m=\"512\""), "'problem.m' = \"512\""},
    {"float for an integer", set("config.stages=2.5"), "'config.stages' = 2.5"},
    {"integer for a boolean", set("config.mma_prefetch=1"), "true and false"},
    {"short list", set("config.mma=[128, 128]"), "lists of 3 integers"},
    {"N of 12", set("config.mma=[128, 12, 16]"), "multiples of 16 from 16 to 256"},
    {"M of 96", set("config.mma=[96, 128, 16]"), "M = 64 or 128"},
    {"too many stages", set("config.stages=9"), "1 to 6"},
    {"no stages", set("config.stages=0"), "1 to 6"},
    {"tensor memory overflow", set("config.accum_stages=5"), "512 columns"},
    {"K of 0", set("problem.k=0"), "stale tensor memory"},
    {"ragged N", set("problem.n=100"), "multiples of 8"},
    {"ragged K", set("problem.k=12"), "multiples of 8"},
    {"more SMs than the device has", set("run.sms=149"), "1 to 148"},
    {"unknown kernel", set("kernel=conv"), "\"matmul\""},
    {"unknown profile", set("profile=b300"), "b200"},
    {"unknown dtype", set("config.dtype=bf17"), "\"bf16\""},
    {"dtype of a later version", set("config.dtype=nvfp4"), "not implemented: "},
    {"pairs without a cluster", set("config.cta_group=2"), "an even first number"},
    {"clusters that do not fit", set("config.cluster=[2, 1, 1]"), "needs 2 SMs in one GPC"},
    {"clusters of 32", set("config.cluster=[8, 4, 1]"), "at most 16 CTAs"},
    {"slices that are no whole rows", set("config.cluster=[3, 1, 1]"), "3 CTAs load the 128 rows of a tile of B"},
    {"k groups that K does not fill", set("config.k_group_size=2"), "K = 64 is 1 k tiles"},
    {"stages that are no whole groups",
     set("config.stages=3\' --set \'problem.k=128\' --set \'config.k_group_size=2"), "2 to 6 in steps of 2"},
    {"override without a value", set("config.stages"), "expected key=value"},
    {"override that is not TOML", set("config.stages=[1"), "neither TOML nor a bare word"},
    {"fault of an unknown instruction", fault("instruction=\"mbarrier_arive\", action=\"drop\""),
     "mbarrier_arrive"},
    {"fault with an action that does not fit", fault("instruction=\"mbarrier_arrive\", action=\"flip_parity\""),
     "allowed for mbarrier_arrive are \"drop\""},
    {"fault without the bits to clear", fault("instruction=\"tcgen05_commit_multicast\", action=\"clear_mask\""),
     "key 'fault.0.value' is missing"},
    {"fault of an operand that is not there",
     fault("instruction=\"mapa\", action=\"add\", operand=\"bytes\", value=1"), "\"rank\", \"address\""},
    {"fault of a warp that is not there", fault("instruction=\"mapa\", action=\"drop\", warp=7"), "0 to 6"},
    {"fault at a stage that is not there",
     fault("instruction=\"mbarrier_arrive\", barrier=\"accum_empty\", stage=2, action=\"drop\""), "0 to 1"},
    {"fault of the other kernel's instruction",
     "run copy.toml --trace t.pftrace --set 'fault=[{instruction=\"tcgen05_commit\", action=\"drop\"}]'",
     "cp_async_bulk_tensor_shared_global_multicast"},
    {"numerics of a copy", "run copy.toml --numerics b200 --trace t.pftrace", "pipeline_copy does no arithmetic"},
    {"k groups that do not fit a tile", "run copy.toml --set config.k_group_size=3",
     "key 'config.k_group_size' = 3: must divide the 8 k tiles of 64 columns that tile_n = 512 has"},
    {"missing file", "run nowhere.toml --trace t.pftrace --json j.json",
     "nowhere.toml: no such file, and no scenario of this name"},
    {"directory", "run . --trace t.pftrace --json j.json", "is a directory"},
    {"not TOML", "run prose.toml --trace t.pftrace --json j.json", "prose.toml:1: not valid TOML"},
    {"binary file", "run " + sm100sim_binary() + " --trace t.pftrace --json j.json", "not"},
    {"endless file", "run /dev/zero --trace t.pftrace --json j.json", "larger than 1 MiB"},
    {"trace in a missing directory", "run good.toml --trace nowhere/t.pftrace --json j.json",
     "--trace: cannot write"},
    {"trace that is a directory", "run good.toml --trace . --json j.json", "it is a directory"},
    {"JSON in a missing directory", "run good.toml --trace t.pftrace --json nowhere/j.json",
     "--json: cannot write"},
    {"trace over the scenario", "run good.toml --trace good.toml", "it is the input file"},
    {"trace and JSON in one file", "run good.toml --trace x --json x", "--trace"},
    {"no scenario", "run", "SCENARIO is required"},
    {"unknown option", "run good.toml --trce t", "--trce"},
    {"unknown data mode", "run good.toml --data half", "half"},
    {"negative jitter seed", "run good.toml --jitter -1", "-1"},
    {"jitter seed beyond 64 bits", "run good.toml --jitter 99999999999999999999",
     "--jitter: 99999999999999999999: allowed are integers 0 to 9223372036854775807"},
    {"jitter seed that is no integer", "run good.toml --jitter 0x10", "allowed are integers"},
    {"first seed beyond 64 bits", "explore good.toml --first-seed 99999999999999999999", "allowed are integers"},
    {"shape beyond 64 bits", "explain-config 99999999999999999999 8 8",
     "M = 99999999999999999999: allowed are integers 1 to 1073741824"},
    {"shape beyond 32 bits", "explain-config 99999999999 8 8",
     "M = 99999999999: allowed are integers 1 to 1073741824"},
    {"name near a scenario's", "run dense_smal", "no scenario of this name; near ones are dense_small"},
    {"name of a scenario in a folder", "run four_stages", "near ones are copy/four_stages"},
    {"SMs of the trace without a trace", "run good.toml --trace-sms 0", "--trace"},
    {"SMs that the run does not have", "run good.toml --trace t.pftrace --trace-sms 0-1", "0 to 0"},
    {"SMs that are none", "run good.toml --trace t.pftrace --trace-sms 0,x", "--trace-sms 0,x: allowed are"},
    {"window without a colon", "run good.toml --trace t.pftrace --trace-window 1000", "1000:2000"},
    {"window that ends before it begins", "run good.toml --trace t.pftrace --trace-window 9:3", "1000:2000"},
    {"trace and JSON on standard output", "run good.toml --trace - --json -", "is the file of --trace"},
    {"two traces from standard input", "diff - -", "one of the two traces must be a file"},
    {"nothing on standard input", "stats -", "standard input: the file is empty"},
    {"check of nothing", "check", "FILES is required"},
    {"check of a missing file", "check nowhere.toml --junit r.xml", "nowhere.toml: no such file"},
    {"check of a folder without scenarios", "check empty --junit r.xml", "empty: no scenario (.toml) lies in it"},
    {"check with reports in one file", "check good.toml --junit x --json x", "is the file of --junit"},
    {"check with a report that cannot be written", "check good.toml --junit nowhere/r.xml",
     "--junit: cannot write"},
    {"check over a scenario", "check good.toml --json good.toml", "it is the input file"},
    {"no jobs", "check good.toml --jobs 0", "allowed are integers 1 to 1024"},
    {"list twice", "list checks --format markdown --json -", "one of --format markdown and --json"},
    {"no command", "", "subcommand"},
    {"unknown command", "simulate good.toml", "'simulate' is not a command"},
    {"unknown list", "list warps", "warps"},
    {"statistics of a missing trace", "stats nowhere.pftrace", "nowhere.pftrace"},
    {"statistics of something else", "stats prose.toml", "prose.toml"},
    {"export in an unknown format", "export t.pftrace --format xml -o x", "chrome-json"},
    {"import of a missing timeline", "import nowhere.json --map map.toml -o x.pftrace",
     "nowhere.json: No such file"},
    {"import of something else", "import prose.toml --map map.toml -o x.pftrace", "prose.toml: not valid JSON"},
    {"import with a missing map", "import prose.toml --map nowhere.toml -o x.pftrace",
     "nowhere.toml: no such file"},
    {"import over its input", "import prose.toml --map map.toml -o prose.toml", "it is the input file"},
    {"import over its map", "import prose.toml --map map.toml -o map.toml", "it is the input file"},
    {"import without a map", "import prose.toml -o x.pftrace", "--map"},
    {"export of a missing trace", "export nowhere.pftrace --format chrome-json -o x.json", "nowhere.pftrace"},
    {"page of a missing trace", "export nowhere.pftrace --format html -o x.html", "nowhere.pftrace"},
    {"page of something else", "export prose.toml --format html -o x.html", "prose.toml"},
    {"two traces in a format for one", "export t.pftrace u.pftrace --format chrome-json -o x", "takes one trace"},
};

}  // namespace

TEST_CASE("bad input: one line and exit code 2 and no file") {
  ScratchDirectory scratch;
  scratch.write("good.toml", kGood);
  scratch.write("copy.toml", "kernel = \"pipeline_copy\"\nprofile = \"h200\"\n[problem]\nm = 64\nn = 64\n");
  scratch.write("unknown_key.toml", std::string(kGood) + "\nsm = 1\n");
  scratch.write("prose.toml", "dear simulator\n");
  scratch.write("map.toml",
                "[track]\ncta = \"pid\"\n[[role]]\nname = \"a\"\n[[event]]\nname = \"A\"\nkind = \"tile\"\n");
  std::filesystem::create_directory(scratch / "empty");
  const size_t files_before = scratch.files();
  for (const BadInput& input : kBadInputs) {
    const Ran ran = run(scratch, input.arguments);
    INFO(input.name << ": sm100sim " << input.arguments << "\nstderr: " << ran.err << "stdout: " << ran.out);
    CHECK(ran.exit_code == 2);
    CHECK(ran.out.empty());
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(ran.err.find(input.says) != std::string::npos);
    CHECK(scratch.files() == files_before);
  }
  CHECK(read_whole(scratch / "good.toml") == kGood);
}

TEST_CASE("bad input: a configuration that breaks several rules gets a line for each") {
  ScratchDirectory scratch;
  scratch.write("bad.toml", R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 128
n = 100
k = 64
[config]
mma = [128, 128, 8]
cluster = [3, 1, 2]
stages = 9
accum_stages = 5
block_swizzle = 3
beta = 0.5
)");
  const size_t files_before = scratch.files();
  const Ran ran = run(scratch, "run bad.toml --trace t.pftrace --json j.json --set config.clc_stages=65");
  CHECK(ran.exit_code == 2);
  CHECK(ran.out.empty());
  CHECK(scratch.files() == files_before);
  CHECK(
      ran.err ==
      "bad.toml:9: key 'config.cluster' = [3, 1, 2]: allowed are [x, y, 1] (clusters span M and N only)\n"
      "bad.toml:13: key 'config.beta' = 0.5: allowed with residual = true only\n"
      "bad.toml:8: key 'config.mma' = [128, 128, 8]: allowed are K = 16 (one MMA takes 32 bytes of K, 16 bf16 "
      "elements)\n"
      "bad.toml:12: key 'config.block_swizzle' = 3: allowed are 0, 1, 2, 4, 8 (tiles in a block of the "
      "rasterisation)\n"
      "bad.toml:9: key 'config.cluster' = [3, 1, 2]: allowed are a number of CTAs that divides 128 (3 CTAs load "
      "the 128 rows of a tile of B in slices)\n"
      "bad.toml:11: key 'config.accum_stages' = 5: allowed are 1 to 4 (tensor memory has 512 columns, an "
      "accumulator takes N = 128)\n"
      "--set config.clc_stages=65: key 'config.clc_stages' = 65: allowed are 0 to 64 (0 switches CLC off)\n"
      "bad.toml:10: key 'config.stages' = 9: allowed are 1 to 6 (9 stages of 32768 bytes need about 311440 bytes "
      "of shared memory, a CTA has 232448)\n"
      "bad.toml:5: key 'problem.n' = 100: allowed are multiples of 8 (a row of C in bf16 must be a multiple of 16 "
      "bytes)\n");
}

TEST_CASE("bad input: config = \"auto\" and explain-config name all that is wrong with the shape") {
  ScratchDirectory scratch;
  scratch.write("auto.toml",
                "kernel = 'matmul'\nprofile = 'b200'\nconfig = 'auto'\n[problem]\nm = 0\nn = 12\nk = 4\n");
  const Ran ran = run(scratch, "run auto.toml");
  CHECK(ran.exit_code == 2);
  CHECK(
      ran.err ==
      "auto.toml:5: key 'problem.m' = 0: allowed are 1 to 1073741824 (C has M rows)\n"
      "auto.toml:6: key 'problem.n' = 12: allowed are multiples of 8 (a row of C in bf16 must be a multiple of 16 "
      "bytes)\n"
      "auto.toml:7: key 'problem.k' = 4: allowed are multiples of 8 (a row of A and B in bf16 must be a multiple "
      "of 16 bytes)\n");
  const Ran explained = run(scratch, "explain-config 64 12 4");
  CHECK(explained.exit_code == 2);
  CHECK(explained.out.empty());
  CHECK(std::count(explained.err.begin(), explained.err.end(), '\n') == 2);
}

TEST_CASE("a warning about the configuration is a line on stderr, and the run goes on") {
  ScratchDirectory scratch;
  scratch.write("slices.toml", R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 256
n = 32
k = 64
[config]
mma = [64, 32, 16]
cluster = [8, 1, 1]
)");
  const Ran ran = run(scratch, "run slices.toml --data none --json -");
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.front() == '{');
  CHECK(ran.err ==
        "warning: slices.toml:9: key 'config.cluster' = [8, 1, 1]: slices of B have 4 rows; slices begin inside a "
        "swizzle atom (8 rows): legal, because the swizzle follows address bits, but code that counts rows from a "
        "slice's start finds other bytes\n");
}

TEST_CASE("bad input: a standard output that takes nothing") {
  ScratchDirectory scratch;
  scratch.write("good.toml", kGood);
  for (const char* arguments : {"list isa", "run good.toml", "run good.toml --json -", "--help", "run --help"}) {
    CAPTURE(arguments);
    const std::string command =
        fmt::format("'{}' {} > /dev/full 2> '{}'", sm100sim_binary(), arguments, (scratch / "err").string());
    const std::string in_scratch = fmt::format("cd '{}' && {}", scratch.path().string(), command);
    CHECK(WEXITSTATUS(std::system(in_scratch.c_str())) == 2);
    CHECK_THAT(read_whole(scratch / "err"), Catch::Contains("cannot write to standard output"));
  }
}

TEST_CASE("bad input: a standard error that takes nothing changes no exit code") {
  ScratchDirectory scratch;
  scratch.write("good.toml", kGood);
  scratch.write("warns.toml", std::string(kGood) +
                                  "[[delay]]\nat = \"umma commit\"\ncta = 0\nwarp = 6\n"
                                  "occurrence = 999\ncycles = 5\n");
  const std::pair<const char*, int> runs[] = {
      {"run nosuch", 2},   {"--nonsense", 2},      {"run good.toml", 0},           {"run warns.toml", 0},
      {"stats nosuch", 2}, {"check good.toml", 0}, {"run good.toml --progress", 0}};
  for (const char* stream : {"2> /dev/full", "2>&-"})
    for (const auto& [arguments, code] : runs) {
      CAPTURE(arguments, stream);
      const std::string command = fmt::format("cd '{}' && '{}' {} > /dev/null {}", scratch.path().string(),
                                              sm100sim_binary(), arguments, stream);
      const int status = std::system(command.c_str());
      REQUIRE(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == code);
    }
}

TEST_CASE("bad input: files are not opened as standard streams that are closed") {
  ScratchDirectory scratch;
  scratch.write("good.toml", std::string(kGood) + "sm_clock_ghz = 1.8\n");
  const Ran whole = run(scratch, "run good.toml --trace a.pftrace");
  REQUIRE(whole.exit_code == 0);
  const std::string command =
      fmt::format("cd '{}' && '{}' run good.toml --progress --trace b.pftrace > /dev/null 2>&- <&-",
                  scratch.path().string(), sm100sim_binary());
  REQUIRE(WEXITSTATUS(std::system(command.c_str())) == 0);
  CHECK(read_whole(scratch / "a.pftrace") == read_whole(scratch / "b.pftrace"));
}

TEST_CASE("good input: a scenario is found by the name that list prints") {
  ScratchDirectory scratch;
  for (const char* name : {"single_k_step", "single_k_step.toml", "05_single_k_step", "copy/narrow"}) {
    CAPTURE(name);
    const Ran ran = run(scratch, std::string("run --data none ") + name);
    CHECK(ran.err == "");
    CHECK(ran.exit_code == 0);
  }
  scratch.write("single_k_step", "a file of this name comes first\n");
  CHECK_THAT(run(scratch, "run single_k_step").err, Catch::StartsWith("single_k_step:1: not valid TOML"));
}

TEST_CASE("good input: the same scenario runs and writes both files") {
  ScratchDirectory scratch;
  scratch.write("good.toml", kGood);
  const Ran ran = run(scratch, "run good.toml --trace t.pftrace --json j.json");
  INFO(ran.err << ran.out);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.rfind("PASS, clean  good: 128 x 128 x 64 bf16 on 1 SM of NVIDIA B200\n", 0) == 0);
  CHECK(ran.err.empty());
  CHECK(scratch.files() == 3);  // no temporary file is left
  CHECK(std::count(ran.out.begin(), ran.out.end(), '\n') <= 25);
}

TEST_CASE("good input: --json - prints nothing but JSON") {
  ScratchDirectory scratch;
  scratch.write("good.toml", kGood);
  const Ran ran = run(scratch, "run good.toml --json -");
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.front() == '{');
  CHECK(ran.out.substr(ran.out.size() - 2) == "}\n");
  CHECK(ran.err.empty());
}

}  // namespace sm100::sim
