// SPDX-License-Identifier: Apache-2.0
/// sm100sim exec PROGRAM ARGS...: runs a CUDA program whose kernels run on the models.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "exec/modules.h"
#include "exec/session.h"
#include "exec/timeline.h"
#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/json_output.h"
#include "sim/cli/output_path.h"
#include "sim/cli/progress.h"
#include "sim/cli/sarif.h"
#include "sim/cli/streams.h"
#include "sim/cli/summary.h"
#include "sim/compiled_place.h"
#include "sim/text.h"
#include "traces/format/compressed_file.h"
#include "traces/format/pftrace.h"
#include "traces/html/html_report.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct ExecOptions {
  std::vector<std::string> command, ptx;
  std::string profile = "b200", fresh_memory = "nan", json, save, trace, html, sarif;
  int sms = 0, registers = 0;
  bool progress = false, inlining = false;
  std::optional<uint64_t> jitter, max_cycles;
  bool recorded() const { return !trace.empty() || !html.empty(); }
};

/// Of every launch.
Scenario device_of(const ExecOptions& options) {
  Scenario device;
  device.profile = options.profile;
  device.device = load_profile(options.profile);
  if (options.sms > device.device.device.sms)
    throw InputError(
        fmt::format("--sms {}: profile {} has {} SMs", options.sms, options.profile, device.device.device.sms));
  device.sms = options.sms;
  device.ctas_per_sm = 0;  // as many as fit, as on hardware
  device.jitter = options.jitter;
  device.registers = options.registers;
  device.max_cycles = options.max_cycles.value_or(0);
  return device;
}

/// Says what came of each launch, and keeps what the exit code and --json need.
class Report {
 public:
  explicit Report(const ExecOptions& options) : options_(options) {}

  void launched(const exec::Launch& launch, const exec::LaunchOutcome& outcome, const Scenario& scenario) {
    progress_.reset();
    std::fwrite(outcome.result.printed.data(), 1, outcome.result.printed.size(), stdout);  // as the program's own
    std::fflush(stdout);
    print(launch, outcome, scenario);
    if (!outcome.carried_out) note_exit(code_of(outcome));
    if (!options_.json.empty()) launches_.push_back(json_of(launch, outcome));
    if (!options_.sarif.empty()) add_to_sarif(launch, outcome);
    if (options_.recorded()) timeline_.launch(launch, outcome);
    nanoseconds_ += outcome.result.microseconds * 1e3;
    ++launched_, functional_ += outcome.functional;
  }

  void running(const exec::Launch& launch, const exec::LaunchProgress& progress) {
    if (!progress_) progress_.emplace(options_.progress);
    progress_->update(progress.fraction,
                      fmt::format("{}, cycle {}", launch.name(), grouped(int64_t(progress.cycle))));
  }

  void called(const std::string& name) { timeline_.call(name); }
  void measured(double nanoseconds) { measured_.push_back(nanoseconds); }

  /// What all launches took, beside what the program has measured of it.
  void say_total() const {
    if (launched_ == 0) return;
    std::string line = fmt::format("exec: {} launch{}", launched_, launched_ == 1 ? "" : "es");
    if (functional_ > 0) line += fmt::format(", {} not on the models", functional_);
    line += fmt::format("; simulated time {}{}", functional_ > 0 ? "about " : "", time_text(nanoseconds_));
    if (!measured_.empty()) line += fmt::format(", the program's events say {}", time_text(measured_.front()));
    for (size_t i = 1; i < measured_.size() && i < kMostTimes; ++i) line += ", " + time_text(measured_[i]);
    if (measured_.size() > kMostTimes) line += fmt::format(" and {} more", measured_.size() - kMostTimes);
    say(line);
  }

  void raced(const Finding& finding) {
    progress_.reset();
    say(fmt::format("exec: {}: {}", finding.id, finding.message));
    note_exit(kFindings);
    races_.push_back(finding);
    if (!options_.sarif.empty()) sarif_.add(finding, false, "streams");
  }

  /// A sentence of the program's library, or of the session.
  void say_sentence(const std::string& sentence) {
    progress_.reset();
    say("exec: " + sentence);
    sentences_.push_back(sentence);
  }

  /// Of this process; `program` is what the program returned.
  int exit_code(const exec::SessionResult& result) const { return worst_ != kOk ? worst_ : result.program_exit; }
  void note_exit(int code) {
    if (worst_ == kOk) worst_ = code;
  }

  /// The program has not found its results right: reads of what nobody had written may be why, and where numbers
  /// come from can be asked of a launch that is run again.
  void say_why_wrong(const exec::SessionResult& result) {
    if (worst_ != kOk || result.program_exit == 0) return;
    if (suspects_.empty() && options_.fresh_memory == "nan")
      say(fmt::format(
          "exec: the program has returned {}, and no launch has a finding.  New device memory holds NaN: if it "
          "passes with --fresh-memory zeros, it reads memory that it has not written",
          result.program_exit));
    if (suspects_.empty() && functional_ > 0)
      say(fmt::format(
          "exec: {} of {} launches ran without the models, whose checks have not looked at them: --save "
          "DIR keeps the launches, and sm100sim ptx DIR/launch_N.ptx --launch DIR/launch_N.toml runs one "
          "on the models",
          functional_, launched_));
    if (suspects_.empty() && launched_ > functional_)
      say("exec: --save DIR keeps the launches; with a [problem.check] in DIR/launch_N.toml, sm100sim ptx "
          "DIR/launch_N.ptx "
          "--launch DIR/launch_N.toml says what was multiplied with what (docs/ptx.md)");
    if (suspects_.empty()) return;
    say_suspects(
        fmt::format("exec: the program has returned {}.  Its kernels read what nobody had written; here that "
                    "is NaN, on a device it is what was there before:",
                    result.program_exit),
        false);
    say_suspects(
        fmt::format("exec: the program has returned {}.  Its MMAs read what PTX does not define; a device may "
                    "take it for anything:",
                    result.program_exit),
        true);
  }

  void write(const exec::SessionResult& result) {
    if (!options_.json.empty()) write_json(options_.json, document(result));
    if (!options_.sarif.empty()) {
      if (result.refused)
        for (const std::string& sentence : sentences_) sarif_.add_failure("exec", sentence);
      write_json(options_.sarif, sarif_.document(options_.command, exit_code(result)), "--sarif");
    }
    if (!options_.recorded()) return;
    traces::Trace& trace = timeline_.finish();
    trace.metadata.scenario = options_.command.front();
    trace.metadata.tool_version = tool_version();
    if (trace.metadata.source.empty()) trace.metadata.source = "sim", trace.metadata.device = options_.profile;
    if (!options_.trace.empty()) write_output("--trace", [&] { traces::write_pftrace(trace, options_.trace); });
    if (!options_.html.empty())
      write_output("--html", [&] { traces::write_html_report({trace, options_.command.front()}, options_.html); });
  }

 private:
  /// Those of one kind, below a sentence.
  /// @param undefined  scale factors and metadata of MMAs; else reads of what nobody had written
  void say_suspects(const std::string& sentence, bool undefined) const {
    bool first = true;
    for (const auto& [suspect, launch] : suspects_) {
      if (undefined != (suspect.starts_with("TC14") || suspect.starts_with("TC19"))) continue;
      if (std::exchange(first, false)) say(sentence);
      say(fmt::format("      {}  ({})", suspect, launch));
    }
  }

  Json document(const exec::SessionResult& result) const {
    Json json = json_document("exec");
    json.update(Json{{"command", options_.command},
                     {"profile", options_.profile},
                     {"sms", options_.sms > 0 ? Json(options_.sms) : Json()},
                     {"launches", launches_},
                     {"findings", races_},
                     {"sentences", sentences_},
                     {"simulated_nanoseconds", nanoseconds_},
                     {"measured_nanoseconds", measured_},
                     {"program_exit", result.program_exit},
                     {"exit", exit_code(result)}});
    return json;
  }

  void add_to_sarif(const exec::Launch& launch, const exec::LaunchOutcome& outcome) {
    const std::string where = fmt::format("{}: {}", launch.name(), launch.title());
    if (!outcome.error.empty()) return sarif_.add_failure("exec", fmt::format("{}: {}", where, outcome.error));
    for (const Finding& finding : outcome.result.findings) sarif_.add(finding, false, where);
    for (const Finding& warning : outcome.result.warnings) sarif_.add(warning, true, where);
  }

  static int code_of(const exec::LaunchOutcome& outcome) {
    if (!outcome.error.empty()) return outcome.bad_launch ? kBadInput : kInternalError;
    return exit_code_of(outcome.result);
  }

  void print(const exec::Launch& launch, const exec::LaunchOutcome& outcome, const Scenario& scenario) {
    const RunResult& result = outcome.result;
    if (!outcome.error.empty())
      return say(fmt::format("exec: {}: {}: {}", launch.name(), launch.title(), outcome.error));
    if (!outcome.carried_out) {
      return say(
          fmt::format("exec: {}: {}\n{}", launch.name(), launch.title(), report_text(launch, scenario, result)));
    }
    const size_t warnings = result.warnings.size();
    say(fmt::format("exec: {}: {}: {}, {}{}, {:.2f} s", launch.name(), launch.title(), length_text(outcome),
                    outcome.functional ? "not on the models" : verdict_text(result),
                    warnings == 0 ? "" : fmt::format(", {} warning{}", warnings, warnings == 1 ? "" : "s"),
                    result.wall_seconds));
    say_warnings(result);
    for (const std::string& suspect : result.suspects) suspects_.emplace(suspect, launch.name());
  }

  /// The summary of a run, with the commands that run this launch again.
  std::string report_text(const exec::Launch& launch, const Scenario& scenario, const RunResult& result) const {
    RunResult silent = result;
    silent.printed.clear();
    std::string text = format_summary(scenario, silent, "");
    text.pop_back();  // the last end of line
    const size_t begin = text.find("  replay: "), end = text.find('\n', begin);
    if (begin == std::string::npos) return text;
    const std::string folder = options_.save.empty() ? "DIR" : options_.save;
    std::string replay = fmt::format("  replay: sm100sim ptx {0}/launch_{1}.ptx --launch {0}/launch_{1}.toml",
                                     folder, launch.number);
    if (options_.save.empty()) replay += " (behind sm100sim exec --save DIR)";
    return text.replace(begin, end - begin, replay);
  }

  /// Each check once for a kernel of the program, with the number of its places.
  void say_warnings(const RunResult& result) {
    std::map<std::string, std::vector<const Finding*>> by_check;
    for (const Finding& warning : result.warnings) by_check[warning.id].push_back(&warning);
    for (const auto& [id, all] : by_check) {
      const Finding& first = *all.front();
      const std::string more = all.size() == 1 ? "" : fmt::format(", and {} more", all.size() - 1);
      const std::string line =
          fmt::format("{}: {}{}{}{}", id, first.message, first.location.empty() ? "" : "  ", first.location, more);
      if (said_.insert(line).second) say("      warning  " + line);
    }
  }

  static std::string length_text(const exec::LaunchOutcome& outcome) {
    return fmt::format("{}{} cycles", outcome.functional ? "about " : "", grouped(int64_t(outcome.result.cycles)));
  }

  static std::string verdict_text(const RunResult& result) {
    const Verdict verdict = verdict_of(result);
    if (verdict == Verdict::incomplete) return fmt::format("not checked: {}", result.not_checked.front());
    return verdict == Verdict::clean ? "no findings" : std::string(name(verdict));
  }

  static Json json_of(const exec::Launch& launch, const exec::LaunchOutcome& outcome) {
    Json json = {{"launch", launch.number},
                 {"entry", std::string(launch.code().name)},
                 {"grid", launch.shape.grid},
                 {"block", launch.shape.block},
                 {"cluster", launch.shape.cluster},
                 {"dynamic_smem_bytes", launch.shape.dynamic_smem_bytes},
                 {"functional", outcome.functional},
                 {"carried_out", outcome.carried_out},
                 {"error", text_or_null(outcome.error)}};
    if (outcome.error.empty()) {
      Json run = outcome.result;
      run.erase("details");
      json["result"] = run;
    }
    return json;
  }

  const ExecOptions& options_;
  std::set<std::string> said_;  ///< warnings, each once
  std::map<std::string, std::string>
      suspects_;  ///< lines of RunResult::suspects, and the first launch that has them
  Json launches_ = Json::array();
  std::vector<Finding> races_;  ///< of work of different streams
  Sarif sarif_;
  exec::Timeline timeline_;
  std::vector<std::string> sentences_;
  std::optional<Progress> progress_;
  static constexpr size_t kMostTimes = 5;
  static std::string time_text(double nanoseconds) {
    return nanoseconds < 1e6 ? fmt::format("{:.2f} us", nanoseconds * 1e-3)
                             : fmt::format("{:.3f} ms", nanoseconds * 1e-6);
  }

  std::vector<double> measured_;  ///< by events of the program
  int launched_ = 0, functional_ = 0;
  double nanoseconds_ = 0;
  int worst_ = kOk;
};

void check_exec_outputs(const ExecOptions& options) {
  const std::string& program = options.command.front();
  if (!options.json.empty()) check_json_path(options.json, program);
  const std::pair<const char*, const std::string&> files[] = {
      {"--trace", options.trace}, {"--html", options.html}, {"--sarif", options.sarif}};
  for (const auto& [option, path] : files) {
    if (path.empty()) continue;
    if (traces::is_standard_stream(path))
      throw InputError(fmt::format("{} -: standard output is the program's; name a file", option));
    check_output_path(option, path, program);
  }
}

int exec(const ExecOptions& options) {
  if (options.command.empty()) throw InputError("exec: needs a program: sm100sim exec [OPTIONS] ./program ARGS...");
  check_exec_outputs(options);
  name_inlining(options.inlining);
  Report report(options);
  const exec::SessionOptions session{
      .command = options.command,
      .device = device_of(options),
      .save = options.save,
      .ptx = {options.ptx.begin(), options.ptx.end()},
      .fresh_zeros = options.fresh_memory == "zeros",
      .recorded = options.recorded(),
      .called = [&](const std::string& name) { report.called(name); },
      .measured = [&](double nanoseconds) { report.measured(nanoseconds); },
      .running = [&](const auto& launch, const auto& progress) { report.running(launch, progress); },
      .launched = [&](const auto& launch, const auto& outcome,
                      const auto& scenario) { report.launched(launch, outcome, scenario); },
      .raced = [&](const Finding& finding) { report.raced(finding); },
      .say = [&](const std::string& sentence) { report.say_sentence(sentence); }};
  const exec::SessionResult result = exec::run_program(session);
  if (result.refused) report.note_exit(kBadInput);
  if (result.launches == 0 && report.exit_code(result) == kOk) {
    say(result.connected
            ? "exec: no kernel was launched, so nothing was checked"
            : fmt::format("exec: {} has not called sm100sim's CUDA runtime library, so nothing was checked",
                          options.command.front()));
    report.note_exit(kBadInput);
  }
  report.say_why_wrong(result);
  report.say_total();
  report.write(result);
  return report.exit_code(result);
}

}  // namespace

void add_exec_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<ExecOptions>();
  CLI::App* command = app.add_subcommand("exec", "Run a CUDA program (linked with -cudart shared) on the models");
  command->add_option("--sms", options->sms, "SMs that the program sees and its kernels run on")
      ->type_name("N")
      ->check(integers(1));
  command
      ->add_option("--registers", options->registers,
                   "Registers that a thread is launched with, of kernels for which the program has no machine code")
      ->type_name("N")
      ->check(integers(1, 255));
  command->add_option("--profile", options->profile, "Device profile")->type_name("NAME")->check(some_text());
  command
      ->add_option("--ptx", options->ptx,
                   "PTX in place of the program's module that has the same entries, or that has no PTX; may be "
                   "repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->check(file_name());
  command->add_option("--save", options->save, "Write every launch into this folder, for sm100sim ptx")
      ->type_name("DIR")
      ->check(file_name());
  command->add_option("--json", options->json, "Write what came of each launch as JSON")
      ->type_name("FILE")
      ->check(file_name());
  command
      ->add_option("--trace", options->trace,
                   "Write all launches and calls as one Perfetto trace, compressed if it "
                   "ends in .gz")
      ->type_name("FILE")
      ->check(file_name());
  command->add_option("--html", options->html, "Write them as a page")->type_name("FILE")->check(file_name());
  command->add_option("--sarif", options->sarif, "Write findings and hangs as SARIF 2.1.0, for code review")
      ->type_name("FILE")
      ->check(file_name());
  command->add_flag("--progress", options->progress, "Show progress of each launch on stderr from its start");
  command->add_option("--jitter", options->jitter, "Perturb asynchronous latencies")
      ->type_name("SEED")
      ->check(integers(0));
  command->add_option("--max-cycles", options->max_cycles, "End a launch that takes longer; default: none is ended")
      ->type_name("N")
      ->check(integers(1));
  command
      ->add_option("--fresh-memory", options->fresh_memory,
                   "What new device memory holds: nan, so that reads of what nobody has written show; zeros")
      ->type_name("nan|zeros")
      ->check(CLI::IsMember({"nan", "zeros"}));
  command->add_flag("--inlining", options->inlining,
                    "Places with the calls that they were inlined at (--json has them always)");
  command->prefix_command();
  command->callback([command, options, &exit_code] {
    options->command = command->remaining();
    if (!options->command.empty() && options->command.front() == "--")
      options->command.erase(options->command.begin());
    exit_code = exec(*options);
  });
  command->footer("The program and its arguments follow the options. See docs/exec.md");
}

}  // namespace sm100::sim::cli
