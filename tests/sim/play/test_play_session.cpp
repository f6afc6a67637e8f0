// SPDX-License-Identifier: Apache-2.0
// What `sm100sim play` answers: runs and their changes, what is refused and in which words, faults, files to keep.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "paths.h"
#include "scratch_directory.h"
#include "sim/cli/play_engine.h"
#include "sim/cli/play_faults.h"
#include "sim/cli/play_session.h"

using namespace sm100;
using namespace sm100::sim::cli;
using sm100::host::InputError;
using sm100::host::load_scenario;
using sm100::sim::Json;

namespace {

Json request(const std::string& scenario, const Json& set = Json::object(), const std::string& fault = "",
             int occurrence = 0) {
  return {{"state", {{"scenario", scenario}, {"set", set}, {"fault", fault}, {"occurrence", occurrence}}}};
}

const Json& control(const Json& reply, const std::string& id) {
  for (const Json& row : reply["controls"])
    if (row["id"] == id) return row;
  static const Json none;
  return none;
}

std::string error_text(PlaySession& session, const Json& request) {
  const Json reply = session.run(request);
  REQUIRE(reply.contains("errors"));
  return fmt::format("{}: {}", reply["errors"][0]["key"].get<std::string>(),
                     reply["errors"][0]["text"].get<std::string>());
}

struct Play {
  PlaySession session{scenario_dir() + "/lessons/01_one_stage.toml"};
};

}  // namespace

TEST_CASE("play: a lesson's scenarios come with its page, others without", "[play]") {
  Play play;
  for (const char* scenario : {"lessons/03_expect_tx", "lessons/03_expect_tx_broken"})
    CHECK_THAT(play.session.run(request(scenario))["lesson"].get<std::string>(),
               Catch::StartsWith("# Lesson 3: ") && Catch::Contains("## Guess first"));
  CHECK(play.session.run(request("01_dense_small"))["lesson"] == "");
  const Json keys = play.session.menu()["keys"];
  CHECK(std::find(keys.begin(), keys.end(), "config.stages") != keys.end());
}

TEST_CASE("play: a change is another run of the scenario", "[play]") {
  Play play;
  const Json before = play.session.run(request("lessons/01_one_stage"));
  REQUIRE(before.contains("trace"));
  CHECK(before["outcome"] == "pass");
  CHECK(before["kernel"] == "matmul");
  CHECK(control(before, "stages")["value"] == 4);
  CHECK(control(before, "stages")["kind"] == "number");
  const Json after = play.session.run(request("lessons/01_one_stage", {{"config.stages", 1}}));
  CHECK(control(after, "stages")["value"] == 1);
  CHECK(after["cycles"].get<int>() > before["cycles"].get<int>());
  CHECK(after["trace"] != before["trace"]);
  CHECK_THAT(after["command"].get<std::string>(), Catch::EndsWith("--set config.stages=1"));
  CHECK(play.session.run(request("lessons/01_one_stage", {{"config.stages", 1}}))["trace"] == after["trace"]);
}

TEST_CASE("play: every control of a matmul and what it says of its choices", "[play]") {
  Play play;
  const Json reply = play.session.run(request("lessons/01_one_stage", {{"config.stages", 6}}));
  std::vector<std::string> ids;
  for (const Json& row : reply["controls"]) ids.push_back(row["id"]);
  CHECK(ids == std::vector<std::string>{"stages", "accum_stages", "swizzle", "tile", "cluster", "scheduler",
                                        "num_split_k", "m", "n", "k", "sms", "l2", "seed", "jitter"});
  const Json& tile = control(reply, "tile");
  CHECK(tile["choices"][tile["value"].get<size_t>()]["label"] == "128 x 128");
  for (const Json& choice : tile["choices"]) {
    CAPTURE(choice["label"].get<std::string>());
    Json set = choice["set"];
    set["config.stages"] = 6;
    const Json run = play.session.run(request("lessons/01_one_stage", set));
    CHECK(run.contains("errors") == !choice["refused"].is_null());
    if (run.contains("errors"))  // the control's sentence is the reader's
      CHECK_THAT(choice["refused"].get<std::string>(),
                 Catch::Contains(run["errors"][0]["text"].get<std::string>()));
  }
  // Six stages of 128 x 256 do not fit.
  CHECK_FALSE(tile["choices"][4]["refused"].is_null());
}

TEST_CASE("play: what a scenario refuses stands beside its key, in the reader's words", "[play]") {
  Play play;
  CHECK_THAT(error_text(play.session, request("lessons/01_one_stage", {{"config.stages", 99}})),
             Catch::StartsWith("config.stages: allowed are 1 to 6 ("));
  CHECK(error_text(play.session, request("lessons/01_one_stage", {{"run.sms", 0}})) ==
        "run.sms: allowed are integers 1 to 148");
  CHECK_THAT(error_text(play.session, request("lessons/01_one_stage", {{"run.l2", "hot"}})),
             Catch::StartsWith("run.l2: allowed are"));
  CHECK_THAT(error_text(play.session, request("lessons/01_one_stage", Json::object(), "no-such-fault")),
             Catch::StartsWith("fault: this configuration has no such fault"));
}

TEST_CASE("play: what no control sends is a bad request, and no file is in reach", "[play]") {
  Play play;
  for (const Json& bad :
       std::vector<Json>{Json(),
                         Json::array(),
                         {{"state", 1}},
                         {{"state", {{"set", {{"a", 1}}}}}},
                         request("../../../etc/passwd"),
                         request("/etc/passwd"),
                         request(""),
                         request("lessons/01_one_stage.toml"),
                         request("lessons/01_one_stage", {{"run.ptx", "/etc/passwd"}}),
                         request("lessons/01_one_stage", {{"profile", "/etc/passwd.toml"}}),
                         request("lessons/01_one_stage", {{"config.stages", {{"a", 1}}}}),
                         request("lessons/01_one_stage", {{"config.stages", 1.5}}),
                         request("lessons/01_one_stage", {{"config.scheduler", "static\"\n[run]"}}),
                         request("lessons/01_one_stage", {{"config.mma", {1, 2, 3, 4, 5}}}),
                         request("lessons/01_one_stage", Json::object(), "", -1)}) {
    CAPTURE(bad.dump());
    CHECK_THROWS_AS(play.session.run(bad), InputError);
  }
  CHECK(answer_of(play.session, "run", "{").status == 400);
  CHECK(answer_of(play.session, "run", "[]").status == 400);
  CHECK(answer_of(play.session, "run", std::string(60'000, '[')).status == 400);
}

TEST_CASE("play: each lesson runs, and so does its broken twin", "[play]") {
  Play play;
  const Json menu = play.session.menu();
  CHECK(menu["opened"] == "lessons/01_one_stage");
  REQUIRE(menu["groups"][0]["label"] == "Lessons");
  const Json& lessons = menu["groups"][0]["scenarios"];
  CHECK(lessons.size() >= 30);
  for (const Json& lesson : lessons) {
    CAPTURE(lesson["name"].get<std::string>());
    CHECK_THAT(lesson["description"].get<std::string>(), Catch::StartsWith("Lesson "));
    const Json reply = play.session.run(request(lesson["name"]));
    REQUIRE(reply.contains("trace"));
    CHECK(reply["notes"] == Json::array());
    const bool broken = lesson["name"].get<std::string>().ends_with("_broken");
    if (broken && !reply["own_fault"].get<std::string>().empty()) {
      // Without its fault, what is left is a sound kernel.
      const Json mended = play.session.run(request(lesson["name"], Json::object(), "none"));
      CHECK(mended["outcome"] == "pass");
    }
  }
}

namespace {
void check_offered_faults(const char* scenario) {
  Play play;
  const Json reply = play.session.run(request(scenario));
  REQUIRE(reply.contains("faults"));
  CHECK(reply["faults"].size() >= 10);
  std::set<std::string> ids, words;
  for (const Json& fault : reply["faults"]) {
    CAPTURE(scenario, fault["id"].get<std::string>());
    CHECK(ids.insert(fault["id"]).second);
    CHECK(words.insert(fault["group"].get<std::string>() + fault["words"].get<std::string>()).second);
    CHECK(fault["times"].get<uint64_t>() > 0);
    const Json run = play.session.run(request(scenario, Json::object(), fault["id"]));
    if (run.contains("errors")) FAIL_CHECK(run["errors"].dump());
    CHECK(run.value("notes", Json()) == Json::array());  // "the fault matched no instruction"
  }
}
}  // namespace

// Test cases of their own, so that they run in parallel.
TEST_CASE("play: every fault that is offered alters the run: one stage", "[play][faults]") {
  check_offered_faults("lessons/01_one_stage");
}
TEST_CASE("play: every fault that is offered alters the run: multicast", "[play][faults]") {
  check_offered_faults("lessons/10_multicast");
}
TEST_CASE("play: every fault that is offered alters the run: block scaling", "[play][faults]") {
  check_offered_faults("lessons/14_block_scaling");
}
TEST_CASE("play: every fault that is offered alters the run: a copy", "[play][faults]") {
  check_offered_faults("copy/cluster_2");
}

TEST_CASE("play: faults of the issue, in its words", "[play][faults]") {
  Play play;
  const auto outcome = [&](const std::string& words, const std::string& lesson = "lessons/02_phases") {
    const Json reply = play.session.run(request(lesson));
    for (const Json& fault : reply["faults"])
      if (fault["group"].get<std::string>() + ": " + fault["words"].get<std::string>() == words)
        return play.session.run(request(lesson, Json::object(), fault["id"]))["outcome"].get<std::string>();
    return std::string("not offered");
  };
  CHECK(outcome("mma: forget the release of input_empty") == "hang");
  CHECK(outcome("set-up: count one arrival too many on input_full") == "hang");
  CHECK(outcome("load: start with the wrong phase of input_empty") == "hang");
  const Json early = play.session.run(
      request("lessons/06_accumulators", {{"config.accum_stages", 1}}, "early.accum_empty.epilogue"));
  CHECK(early["outcome"] == "findings");
  // Of the second release only: the first lap is whole.
  const std::string lesson = "lessons/02_phases";
  const Json every = play.session.run(request(lesson, Json::object(), "forget.input_empty.mma"));
  const Json third = play.session.run(request(lesson, Json::object(), "forget.input_empty.mma", 3));
  CHECK(third["cycles"].get<int>() > every["cycles"].get<int>());
}

TEST_CASE("play: two runs on one axis", "[play]") {
  Play play;
  Json both = request("lessons/01_one_stage", {{"config.stages", 1}});
  both["before"] = request("lessons/01_one_stage")["state"];
  const Json reply = play.session.run(both);
  REQUIRE(reply.contains("diff"));
  CHECK(reply["before_cycles"] == play.session.run(request("lessons/01_one_stage"))["cycles"]);
  CHECK(reply["before"] != reply["trace"]);
  // Of different kernels too, or a sentence.
  both["before"] = request("copy/one_stage")["state"];
  const Json other = play.session.run(both);
  CHECK(other.contains("diff") != other.contains("errors"));
}

TEST_CASE("play: the report is the page of export", "[play]") {
  Play play;
  const Json wanted = request("lessons/01_one_stage");
  const std::string page = play.session.report(wanted);
  CHECK_THAT(page, Catch::Contains("<script type=\"text/plain\" id=\"trace-a\">"));
  Json both = wanted;
  both["before"] = request("lessons/01_one_stage", {{"config.stages", 1}})["state"];
  CHECK_THAT(play.session.report(both), Catch::Contains("id=\"diff\""));
  CHECK_THROWS_AS(play.session.report(request("lessons/01_one_stage", {{"config.stages", 99}})), InputError);
}

TEST_CASE("play: a copied scenario is a file that runs to the same end", "[play]") {
  Play play;
  ScratchDirectory folder;
  const std::string lesson = "lessons/03_expect_tx_broken";
  const Json unchanged = play.session.run(request(lesson));
  CHECK(unchanged["text"] == read_whole(scenario_dir() + "/" + lesson + ".toml"));
  const Json reply =
      play.session.run(request(lesson, {{"config.mma", {128, 64, 16}}, {"problem.m", 384}, {"run.l2", "warm"}},
                               "forget.input_empty.mma", 3));
  REQUIRE(reply.contains("text"));
  const std::string text = reply["text"].get<std::string>();
  CHECK(
      text ==
      R"(description = "lessons/03_expect_tx_broken with mma [128,64,16], m 384, l2 warm, forget the release of input_empty"
kernel      = "matmul"
profile     = "b200"

[problem]
m = 384
n = 256
k = 512

[config]
mma    = [128, 64, 16]
stages = 4

[run]
sms = 1
l2  = "warm"

[[fault]]
action      = "drop"
barrier     = "input_empty"
instruction = "tcgen05_commit"
occurrence  = 2
role        = "mma"
)");
  const std::string file = folder.write("copied.toml", text).string();
  CHECK(load_scenario(file).faults.size() == 1);
  PlaySession copied(file);
  CHECK(copied.menu()["opened"] == file);
  const Json again = copied.run(request(file));
  CHECK(again["cycles"] == reply["cycles"]);
  CHECK(again["outcome"] == "hang");
}

TEST_CASE("play: no file but the scenarios and the one that was opened", "[play]") {
  ScratchDirectory folder;
  const std::string text = read_whole(scenario_dir() + "/lessons/01_one_stage.toml");
  const std::string opened = folder.write("mine.toml", text).string(),
                    other = folder.write("other.toml", text).string();
  PlaySession session(opened);
  CHECK(session.run(request(opened)).contains("trace"));
  CHECK(session.run(request("lessons/01_one_stage")).contains("trace"));
  CHECK_THROWS_AS(session.run(request(other)), InputError);
  CHECK_THROWS_AS(PlaySession((folder / "absent.toml").string()), InputError);
}

TEST_CASE("play: a run that takes too long is stopped, and the session goes on", "[play]") {
  PlaySession session(scenario_dir() + "/lessons/01_one_stage.toml", {.time = std::chrono::milliseconds(1)});
  const Json reply = session.run(request("lessons/01_one_stage", {{"problem.m", 4096}, {"problem.n", 4096}}));
  REQUIRE(reply.contains("errors"));
  CHECK_THAT(reply["errors"][0]["text"].get<std::string>(), Catch::StartsWith("the run took longer than 0.001 s"));
  Play other;
  CHECK(other.session.run(request("lessons/01_one_stage")).contains("trace"));
}

TEST_CASE("play: a trace too large for a page is a sentence", "[play]") {
  PlaySession session(scenario_dir() + "/lessons/01_one_stage.toml", {.reply = 1024});
  const Json reply = session.run(request("lessons/01_one_stage"));
  REQUIRE(reply.contains("errors"));
  CHECK_THAT(reply["errors"][0]["text"].get<std::string>(), Catch::Contains("a smaller problem or fewer SMs"));
}

TEST_CASE("play: the engine answers from a process of its own, and ends with its owner", "[play]") {
  Play play;
  PlayEngine engine(play.session);
  const PlayResponse response = engine.ask("run", request("lessons/01_one_stage").dump());
  CHECK(response.status == 200);
  CHECK(Json::parse(response.body)["outcome"] == "pass");
  CHECK(engine.ask("run", "{").status == 400);
}
