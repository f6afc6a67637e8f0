// SPDX-License-Identifier: Apache-2.0
// sm100sim sweep: which runs in which order, parts of them, what a killed one leaves, and what is wrong with a
// file.
#include <sys/wait.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "paths.h"
#include "scratch_directory.h"

using namespace sm100;
using Json = nlohmann::json;
namespace fs = std::filesystem;

namespace {

struct Output {
  int code = 0;
  std::string out, err;
};

struct SweepFolder {
  ScratchDirectory folder;

  std::string path(const std::string& name) const { return (folder / name).string(); }
  std::string read(const std::string& name) const {
    std::ifstream file(folder / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  Output run(const std::string& arguments) const {
    const int status = std::system(fmt::format("cd \'{}\' && \'{}\' sweep {} > \'{}\' 2> \'{}\'", source_dir(),
                                               sm100sim_binary(), arguments, path("out"), path("err"))
                                       .c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read("out"), read("err")};
  }
  std::vector<Json> lines(const std::string& file) const {
    std::ifstream in(folder / file);
    std::vector<Json> all;
    for (std::string line; std::getline(in, line);) all.push_back(Json::parse(line));
    return all;
  }
};

constexpr const char* kStages = R"(scenarios = ["01_dense_small"]
jitter = [1, 2]

[cross]
config.stages = [2, 4, 9]
problem.k = [64, 128]
)";

/// What does not depend on the time that a run takes.
std::vector<std::string> findings_of(std::vector<Json> lines) {
  std::sort(lines.begin(), lines.end(), [](const Json& a, const Json& b) { return a["index"] < b["index"]; });
  std::vector<std::string> all;
  for (Json& line : lines) {
    line.erase("seconds");
    all.push_back(line.dump());
  }
  return all;
}

}  // namespace

TEST_CASE("sweep: all combinations, the last key fastest, each with its line", "[sweep]") {
  const SweepFolder f;
  const std::string file = f.folder.write("stages.toml", kStages).string();
  const Output done = f.run("\'" + file + "\' --jobs 1 --out \'" + f.path("lines") + "\'");
  INFO(done.err);
  REQUIRE(done.code == 0);
  CHECK_THAT(done.out, Catch::StartsWith("SWEPT 12 of 12 runs (shard 1/1), 8 pass, 4 refused"));
  const std::vector<Json> lines = f.lines("lines/shard-1-of-1.ndjson");
  REQUIRE(lines.size() == 12);
  CHECK(lines[0]["values"] == Json{{"config.stages", 2}, {"problem.k", 64}, {"run.jitter", 1}});
  CHECK(lines[1]["values"] == Json{{"config.stages", 2}, {"problem.k", 64}, {"run.jitter", 2}});
  CHECK(lines[2]["values"] == Json{{"config.stages", 2}, {"problem.k", 128}, {"run.jitter", 1}});
  CHECK(lines[11]["outcome"] == "refused");
  CHECK_THAT(lines[11]["reason"].get<std::string>(), Catch::Contains("allowed are 1 to 6"));
  CHECK(lines[0]["replay"] ==
        "sm100sim run 01_dense_small --set config.stages=2 --set problem.k=64 --set run.jitter=1");
  CHECK(lines[0]["cycles"] > 0);

  const Output report = f.run("--report \'" + f.path("lines") + "\' --html \'" + f.path("r.html") + "\'");
  CHECK(report.code == 0);
  CHECK_THAT(report.out, Catch::Contains("8 pass, 4 refused") && Catch::Contains("best\n"));
  CHECK_THAT(f.read("r.html"), Catch::StartsWith("<!doctype html>") && Catch::Contains("\"outcome\":\"refused\"") &&
                                   !Catch::Contains("src=") && !Catch::Contains("@DATA@"));
  const Output csv = f.run("--report \'" + f.path("lines") + "\' --csv -");
  CHECK(std::count(csv.out.begin(), csv.out.end(), '\n') == 13);
}

TEST_CASE("sweep: runs with different clocks are ranked by time, not by cycles", "[sweep]") {
  const SweepFolder f;
  f.folder.write("clocks.toml", "scenarios = [\"01_dense_small\"]\n[cross]\nrun.sm_clock_ghz = [1.0, 1.9]\n");
  REQUIRE(f.run(fmt::format("'{0}' --jobs 1 --out '{1}'", f.path("clocks.toml"), f.path("r"))).code == 0);
  const std::vector<Json> all = f.lines("r/shard-1-of-1.ndjson");
  REQUIRE(all.size() == 2);
  REQUIRE(all[0]["cycles"] < all[1]["cycles"]);  // in order of the keys, with one job; at 1.0 GHz memory takes fewer cycles, and the run longer
  const Output report = f.run(fmt::format("--report '{}'", f.path("r")));
  CHECK(report.out.find("sm_clock_ghz=1.9") < report.out.find("sm_clock_ghz=1.0"));
  CHECK_THAT(report.out, Catch::Contains(" cycles = "));
}

TEST_CASE("sweep: its parts together are the whole", "[sweep]") {
  const SweepFolder f;
  const std::string file = "\'" + f.folder.write("stages.toml", kStages).string() + "\'";
  REQUIRE(f.run(file + " --out \'" + f.path("whole") + "\'").code == 0);
  std::vector<Json> parts;
  for (const char* shard : {"1", "2", "3", "4", "5"}) {
    REQUIRE(f.run(file + " --shard " + shard + "/5 --out \'" + f.path("parts") + "\'").code == 0);
    for (Json& line : f.lines(fmt::format("parts/shard-{}-of-5.ndjson", shard))) parts.push_back(std::move(line));
  }
  CHECK(findings_of(parts) == findings_of(f.lines("whole/shard-1-of-1.ndjson")));
}

TEST_CASE("sweep: what is there is not run again, a torn line goes", "[sweep]") {
  const SweepFolder f;
  const std::string file = "\'" + f.folder.write("stages.toml", kStages).string() + "\'";
  const std::string sweep = file + " --jobs 1 --out \'" + f.path("lines") + "\'";
  REQUIRE(f.run(sweep).code == 0);
  const std::vector<Json> whole = f.lines("lines/shard-1-of-1.ndjson");
  // As a kill in the middle of the sixth line leaves it.
  const std::string text = f.read("lines/shard-1-of-1.ndjson");
  size_t end = 0;
  for (int line = 0; line < 5; ++line) end = text.find('\n', end) + 1;
  f.folder.write("lines/shard-1-of-1.ndjson", text.substr(0, end + 40));
  const Output again = f.run(sweep);
  CHECK_THAT(again.out, Catch::Contains("5 of them were there already"));
  CHECK(findings_of(f.lines("lines/shard-1-of-1.ndjson")) == findings_of(whole));
}

TEST_CASE("sweep: what is wrong is said in one line, with exit code 2 and nothing written", "[sweep]") {
  const SweepFolder f;
  const auto said = [&](const std::string& text, const std::string& arguments = "") {
    const std::string file = f.folder.write("s.toml", text).string();
    const Output output = f.run("\'" + file + "\' --out \'" + f.path("lines") + "\' " + arguments);
    CHECK(output.code == 2);
    CHECK(std::count(output.err.begin(), output.err.end(), '\n') == 1);
    CHECK(!fs::exists(f.path("lines")));
    return output.err;
  };
  const std::string good = "scenarios = [\"01_dense_small\"]\n";
  CHECK_THAT(said(good + "[cross]\nconfig.stage = [1]\n"), Catch::Contains("did you mean 'stages'?"));
  CHECK_THAT(said(good + "[cross]\nconfig.stages = 4\n"), Catch::Contains("must be a list of the values to try"));
  CHECK_THAT(said(good + "[cross]\nconfig.stages = [\"four\"]\n"), Catch::Contains("config.stages"));
  CHECK_THAT(said("scenarios = [\"nosuch\"]\n"), Catch::Contains("nosuch"));
  CHECK_THAT(said("scenarios = []\n"), Catch::Contains("scenarios"));
  CHECK_THAT(said(good, "--shard 3/2"), Catch::Contains("--shard 3/2: allowed are 1/N to N/N"));
  CHECK_THAT(said(good + "cases.a = 1\n"), Catch::Contains("must be a table"));
}
