// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/play_session.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <new>
#include <regex>
#include <sstream>

#include "kernels/host/toml_reader.h"
#include "sim/cli/play_controls.h"
#include "sim/cli/play_trace.h"
#include "sim/cli/scenario_directory.h"
#include "sim/cli/scenario_name.h"
#include "sim/cli/summary.h"
#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"
#include "sim/text.h"
#include "traces/format/recorder.h"

namespace sm100::sim::cli {

using namespace host;
namespace fs = std::filesystem;
using Clock = ProcessPool::Clock;

namespace {

constexpr size_t kKnownRuns = 24;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string scenario_name_of(const fs::path& file) {
  return file.lexically_relative(scenario_directory()).replace_extension().string();
}

/// In the process of a run: it prints nothing, and takes no more memory than it may.
void confine(const PlayLimits& limits) {
  const int nowhere = ::open("/dev/null", O_WRONLY);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
#ifndef __SANITIZE_ADDRESS__  // which takes address space without end
  const rlimit memory{limits.memory, limits.memory};
  setrlimit(RLIMIT_AS, &memory);
#endif
}

Json result_beside(const Scenario& scenario, const RunResult& result, const traces::Recorder& recorder) {
  const std::string trace = trace_bytes(recorder.trace());
  std::vector<std::string> notes;
  for (const std::string& warning : scenario.warnings) notes.push_back("warning: " + warning);
  for (const std::string& line : result.unmatched_faults) notes.push_back(line);
  return {{"trace", Json::binary({trace.begin(), trace.end()})},
          {"page", page_data(recorder.trace(), scenario.name)},
          {"report", format_summary(scenario, result, "")},
          {"notes", notes}};
}

/// The process of a run.
std::string run_bytes(const Scenario& scenario, const PlayLimits& limits) {
  confine(limits);
  return bytes_of_run([&](Json& beside) {
    traces::Recorder recorder;
    recorder.trace().metadata.tool_version = tool_version();
    RunResult result = run_simulation(scenario, {.recorder = &recorder});
    recorder.finish();
    beside = result_beside(scenario, result, recorder);
    if (beside["trace"].get_binary().size() > limits.reply)
      throw InputError(
          fmt::format("the trace of this run has {} MiB, more than a page can follow; a smaller problem "
                      "or fewer SMs have less",
                      beside["trace"].get_binary().size() >> 20));
    return result;
  });
}

/// "config.stages" and "allowed are ..." of "--set config.stages=0: key 'config.stages' = 0: allowed are ..."; no
/// key: the line is about nothing that is set.
Json error_of(const std::string& line) {
  constexpr std::string_view kSet = "--set ";
  const size_t equals = line.find('=');
  if (!line.starts_with(kSet) || equals == std::string::npos) return {{"key", ""}, {"text", line}};
  const std::string key = line.substr(kSet.size(), equals - kSet.size());
  // A fault's text is a table; its sentence begins with the key inside.
  const std::string subject = fmt::format(": key '{}", key), table = fmt::format(": table '{}", key);
  size_t at = line.find(subject);
  if (at == std::string::npos) at = line.find(table);
  if (at == std::string::npos) return {{"key", key}, {"text", line.substr(line.find(": ", equals) + 2)}};
  const size_t colon = line.find(": ", at + 2);
  return {{"key", key}, {"text", colon == std::string::npos ? line : line.substr(colon + 2)}};
}

Json errors_of(const std::vector<std::string>& lines) {
  Json errors = Json::array();
  for (const std::string& line : lines) errors.push_back(error_of(line));
  return errors;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

/// A run that has ended.
struct PlaySession::Run {
  std::string name, trace, page, report;
  std::vector<std::string> notes;
  std::string outcome;
  uint64_t cycles = 0;
  double seconds = 0;               ///< from the start of its process to the end
  std::vector<std::string> errors;  ///< why there is none
};

PlayTrace PlaySession::trace_of(const Run& run, const std::string& which) {
  return {read_trace_bytes(run.trace), which.empty() ? run.name : fmt::format("{} ({})", run.name, which)};
}

/// A state with what follows from it.
struct PlaySession::Choice {
  PlayState state;
  fs::path file;
  std::vector<std::string> settings;   ///< without the fault
  std::vector<std::string> overrides;  ///< with it
  std::optional<PlayFault> fault;
  Scenario scenario;
  bool changed = false;
  std::string file_time;
  /// A file may be edited while it is played.
  std::string key() const { return state.json().dump() + file_time; }
};

PlaySession::PlaySession(const std::string& opened, const PlayLimits& limits)
    : limits_(limits), opened_file_(scenario_file(opened)) {
  load_scenario(opened_file_);
  opened_ = opened_file_.string();
  std::error_code ignored;
  for (const fs::path& file : scenario_files())
    if (fs::equivalent(file, opened_file_, ignored)) opened_ = scenario_name_of(file);
}

PlaySession::~PlaySession() = default;

fs::path PlaySession::file_of(const std::string& name) const {
  if (name == opened_) return opened_file_;
  for (const fs::path& file : scenario_files())
    if (scenario_name_of(file) == name) return file;
  throw InputError(one_line(fmt::format("play: no scenario '{}' here; the menu has them all", name.substr(0, 80))));
}

Json PlaySession::menu() const {
  std::map<std::string, Json> folders;
  for (const fs::path& file : scenario_files()) {
    const std::string name = scenario_name_of(file);
    const fs::path folder = fs::path(name).parent_path();
    const bool is_shown = folder.empty() || folder == "lessons" || folder == "copy" || folder == "tail" ||
                          folder == "block_scaled" || folder == "blockwise";
    if (!is_shown && name != opened_) continue;
    try {
      const Scenario scenario = load_scenario(file);
      folders[folder.string()].push_back({{"name", name}, {"description", scenario.description}});
    } catch (const InputError&) {}  // `list scenarios` says what is wrong with it
  }
  Json groups = Json::array();
  const auto add = [&](const std::string& label, const Json& scenarios) {
    groups.push_back({{"label", label}, {"scenarios", scenarios}});
  };
  if (fs::path(opened_).is_absolute() || !folders.contains(fs::path(opened_).parent_path().string()))
    add("Opened", Json::array({{{"name", opened_}, {"description", ""}}}));
  for (const char* first : {"lessons", ""})
    if (folders.contains(first)) add(*first ? "Lessons" : "Scenarios", folders[first]);
  for (const auto& [folder, scenarios] : folders)
    if (folder != "lessons" && !folder.empty()) add(folder, scenarios);
  return {{"opened", opened_}, {"groups", groups}, {"keys", play_keys()}, {"tool_version", tool_version()}};
}

/// Throws InputError with the reader's lines for values that the scenario refuses.
PlaySession::Choice PlaySession::choice_of(const PlayState& state) {
  Choice choice;
  choice.state = state;
  choice.file = file_of(state.scenario);
  choice.settings = state.settings();
  choice.overrides = choice.settings;
  std::error_code ignored;
  choice.file_time = std::to_string(fs::last_write_time(choice.file, ignored).time_since_epoch().count());
  choice.changed = !state.set.empty() || !state.fault.empty();
  choice.settings.push_back("fault=[]");  // a fault may refuse what the configuration allows
  if (state.fault == "none") choice.overrides.push_back("fault=[]");
  if (!state.fault.empty() && state.fault != "none") {
    const std::vector<PlayFault> all = play_faults(load_scenario(choice.file, choice.settings));
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const PlayFault& f) { return f.id == state.fault; });
    if (found == all.end())
      throw InputError(
          one_line(fmt::format("--set fault={}: this configuration has no such fault; the menu has those "
                               "that it has",
                               state.fault.substr(0, 80))));
    choice.fault = *found;
    choice.overrides.push_back(found->override(state.occurrence));
  }
  choice.scenario = load_scenario(choice.file, choice.overrides);
  if (choice.changed) choice.scenario.expect = {};
  return choice;
}

/// As a scenario to keep; what it is said to be is what has been made of it.
std::string PlaySession::text_of(const Choice& choice) {
  std::vector<std::string> overrides = choice.overrides;
  std::vector<std::string> changes;
  for (const auto& [key, value] : choice.state.set)
    changes.push_back(fmt::format("{} {}", key.substr(key.find('.') + 1),
                                  value.is_string() ? value.get<std::string>() : value.dump()));
  if (choice.state.fault == "none") changes.emplace_back("no fault");
  if (choice.fault) changes.push_back(choice.fault->words);
  const Json description = fmt::format("{} with {}", choice.state.scenario, fmt::join(changes, ", "));
  overrides.push_back("description=" + description.dump());
  return scenario_text(choice.file, overrides, choice.changed);
}

std::shared_ptr<const PlaySession::Run> PlaySession::known(const Choice& choice) const {
  for (const auto& [key, run] : runs_)
    if (key == choice.key()) return run;
  return nullptr;
}

/// Runs what is not known, each in its process; what a process cannot do is in Run::errors.
std::vector<std::shared_ptr<const PlaySession::Run>> PlaySession::runs_of(const std::vector<Choice>& choices) {
  ProcessPool pool(int(choices.size()));
  const Clock::time_point begin = Clock::now();
  for (size_t i = 0; i < choices.size(); ++i)
    if (!known(choices[i])) pool.start(i, [&, i] { return run_bytes(choices[i].scenario, limits_); });
  std::vector<std::shared_ptr<const Run>> runs(choices.size());
  while (!pool.empty()) {
    const auto finished = pool.wait(begin + limits_.time);
    if (!finished) break;
    const RunReply reply = reply_of(*finished);
    auto run = std::make_shared<Run>();
    run->name = choices[finished->id].scenario.name;
    run->seconds = seconds_since(begin);
    if (const std::string error = reply.error("the run"); !error.empty()) {
      run->errors =
          reply.internal_error == std::bad_alloc().what()
              ? std::vector{fmt::format("the run needs more than {} GiB of memory; a smaller problem or fewer "
                                        "SMs need less",
                                        limits_.memory >> 30)}
              : lines_of(error);
    } else {
      const auto& bytes = reply.beside.at("trace").get_binary();
      run->trace.assign(bytes.begin(), bytes.end());
      run->page = reply.beside.at("page").get<std::string>();
      run->report = reply.beside.at("report").get<std::string>();
      run->notes = reply.beside.at("notes").get<std::vector<std::string>>();
      run->outcome = name(reply.result.outcome);
      run->cycles = reply.result.cycles;
      runs_.emplace_front(choices[finished->id].key(), run);
      if (runs_.size() > kKnownRuns) runs_.pop_back();
    }
    runs[finished->id] = run;
  }
  pool.end();
  for (size_t i = 0; i < choices.size(); ++i) {
    if (!runs[i]) runs[i] = known(choices[i]);
    if (runs[i]) continue;
    auto late = std::make_shared<Run>();
    late->errors = {
        fmt::format("the run took longer than {:g} s and was stopped; a smaller problem or fewer SMs "
                    "take less",
                    double(limits_.time.count()) / 1000)};
    runs[i] = late;
  }
  return runs;
}

std::vector<PlayFault> PlaySession::offered(const Choice& choice) {
  PlayState settings = choice.state;
  settings.fault.clear(), settings.occurrence = 0;
  settings.set.erase("run.seed"), settings.set.erase("run.jitter");
  const std::string key = settings.json().dump() + choice.file_time;
  for (const auto& [known, faults] : offers_)
    if (known == key) return faults;
  const Scenario scenario = load_scenario(choice.file, choice.settings);
  std::vector<PlayFault> faults = play_faults(scenario);
  ProcessPool pool(1);
  if (!faults.empty())
    pool.start(0, [&] {
      confine(limits_);
      const Scenario counting = counting_scenario(scenario, faults);
      return bytes_of_run([&](Json&) { return run_simulation(counting); });
    });
  if (const auto finished = pool.empty() ? std::nullopt : pool.wait(Clock::now() + limits_.time)) {
    const RunReply reply = reply_of(*finished);
    if (reply.error("the run").empty()) faults = counted_faults(faults, reply.result.fault_matches);
  }
  offers_.emplace_front(key, faults);
  if (offers_.size() > kKnownRuns) offers_.pop_back();
  return faults;
}

namespace {

Json faults_json(const std::vector<PlayFault>& faults) {
  Json rows = Json::array();
  for (const PlayFault& fault : faults)
    rows.push_back({{"id", fault.id}, {"words", fault.words}, {"group", fault.group}, {"times", fault.times}});
  return rows;
}

/// What the file's own faults do, for the menu; empty: it has none.
std::string own_faults(const Scenario& scenario) {
  std::string text;
  for (const FaultSpec& fault : scenario.faults) {
    text += (text.empty() ? "" : "; ") + fmt::format("{} {}", name(fault.action), fault.instruction);
    if (!fault.barrier.empty()) text += " on " + fault.barrier;
  }
  return text;
}

/// The page of lesson 3, of "lessons/03_expect_tx" and of its broken twin; empty: the scenario is of none.
std::string lesson_of(const std::string& scenario) {
  static const std::regex lesson(R"(lessons/(\d\d)_.*)");
  std::smatch parts;
  if (!std::regex_match(scenario, parts, lesson)) return "";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(lesson_directory(), ignored)) {
    if (!entry.path().filename().string().starts_with(parts[1].str() + "-")) continue;
    std::ostringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    return text.str();
  }
  return "";
}

std::string command_of(const std::string& file, const std::vector<std::string>& overrides) {
  std::string text = "sm100sim run " + shell_word(file);
  for (const std::string& set : overrides) text += " --set " + shell_word(set);
  return text;
}

}  // namespace

/// What would be too much for this process, or might not end, in one of its own.
Json PlaySession::apart(const std::function<Json()>& work) const {
  ProcessPool pool(1);
  pool.start(0, [&]() -> std::string {
    confine(limits_);
    Json result;
    try {
      result = work();
    } catch (const std::exception& error) { result = {{"errors", errors_of({one_line(error.what())})}}; }
    const std::vector<uint8_t> cbor = Json::to_cbor(result);
    return {cbor.begin(), cbor.end()};
  });
  const auto finished = pool.wait(Clock::now() + limits_.time);
  if (!finished) return {{"errors", errors_of({"the comparison took too long and was stopped"})}};
  if (!finished->died.empty()) return {{"errors", errors_of({"the comparison ended with " + finished->died})}};
  return Json::from_cbor(finished->bytes);
}

/// The run that is asked for, and the one before it where there is one.
std::vector<PlaySession::Choice> PlaySession::choices_of(const Json& request) {
  if (!request.is_object() || !request.contains("state")) throw InputError("play: a request needs a 'state'");
  std::vector<PlayState> states = {PlayState::of_json(request["state"])};
  if (request.contains("before") && !request["before"].is_null())
    states.push_back(PlayState::of_json(request["before"]));
  std::vector<Choice> choices;
  for (const PlayState& state : states) choices.push_back(choice_of(state));
  return choices;
}

Json PlaySession::run(const Json& request) {
  const Clock::time_point begin = Clock::now();
  std::vector<Choice> choices;
  try {
    choices = choices_of(request);
  } catch (const InputError& error) {
    // What a control may send is refused beside it; what none can send is a bad request.
    if (std::string_view(error.what()).starts_with("play: ")) throw;
    return {{"errors", errors_of(error.lines())}};
  }
  const Choice& now = choices[0];
  const bool compare = choices.size() > 1;
  const auto runs = runs_of(choices);
  for (const auto& run : runs)
    if (!run->errors.empty()) return {{"errors", errors_of(run->errors)}};
  const Scenario original = load_scenario(now.file);
  Json reply = {{"state", now.state.json()},
                {"trace", runs[0]->page},
                {"report", runs[0]->report},
                {"notes", runs[0]->notes},
                {"outcome", runs[0]->outcome},
                {"cycles", runs[0]->cycles},
                {"description", original.description},
                {"kernel", original.kernel->name},
                {"faults", faults_json(offered(now))},
                {"own_fault", own_faults(original)},
                {"lesson", lesson_of(now.state.scenario)},
                {"controls", play_controls(now.scenario, now.settings)},
                {"text", text_of(now)},
                {"command", command_of(now.file.string(), now.overrides)}};
  if (compare) {
    const Json both =
        apart([&] { return compared_pages(trace_of(*runs[1], "before"), trace_of(*runs[0], "now")); });
    if (both.contains("errors")) return both;
    reply["before"] = both["a"], reply["trace"] = both["b"], reply["diff"] = both["diff"];
    reply["before_cycles"] = runs[1]->cycles;
  }
  reply["run_seconds"] = runs[0]->seconds;
  reply["seconds"] = seconds_since(begin);
  return reply;
}

std::string PlaySession::report(const Json& request) {
  const std::vector<Choice> choices = choices_of(request);
  const auto runs = runs_of(choices);
  for (const auto& run : runs)
    if (!run->errors.empty()) throw InputError(run->errors);
  const Json page = apart([&]() -> Json {
    if (runs.size() == 1) return {{"page", report_page(trace_of(*runs[0], ""))}};
    return {{"page", report_page(trace_of(*runs[1], "before"), trace_of(*runs[0], "now"))}};
  });
  if (page.contains("errors")) throw InputError(page["errors"][0]["text"].get<std::string>());
  return page["page"].get<std::string>();
}

}  // namespace sm100::sim::cli
