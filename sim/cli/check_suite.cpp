// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/check_suite.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>

#include "kernels/host/run_plan.h"
#include "kernels/host/toml_reader.h"
#include "sim/cli/scenario_directory.h"
#include "sim/cli/scenario_name.h"
#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"
#include "sim/verdict.h"

namespace sm100::sim::cli {

using namespace host;
namespace fs = std::filesystem;
using Clock = ProcessPool::Clock;
using Status = CheckedScenario::Status;

namespace {

// ---------------------------------------------------------------- which

void add_folder(const fs::path& folder, std::vector<fs::path>& files) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    std::error_code unknown;  // of a link that leads nowhere: its scenario cannot be read, which is said then
    const bool directory = entry->is_directory(unknown);
    if (name.front() == '.' && directory) entry.disable_recursion_pending();
    if (name.front() != '.' && entry->path().extension() == ".toml" && !directory) found.push_back(entry->path());
  }
  if (error) throw InputError(one_line(fmt::format("{}: {}", folder.string(), error.message())));
  if (found.empty()) throw InputError(one_line(fmt::format("{}: no scenario (.toml) lies in it", folder.string())));
  std::sort(found.begin(), found.end());
  files.insert(files.end(), found.begin(), found.end());
}

// ---------------------------------------------------------------- one, in its process

std::string expected_of(const Expectation& expect) {
  std::string text = expect.outcome;
  if (expect.id) text += " " + *expect.id;
  if (expect.warning) text += ", warning " + *expect.warning;
  return text;
}

/// Whatever it prints goes into `output`, a file of the parent's.
std::string run_quietly(const Scenario& scenario, int output) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  return bytes_of_run([&](Json&) { return run_simulation(scenario); });
}

// ---------------------------------------------------------------- its result, in the parent

std::vector<std::string> ids_of(const std::vector<Finding>& findings) {
  std::set<std::string> ids;
  for (const Finding& finding : findings) ids.insert(finding.id);
  return {ids.begin(), ids.end()};
}

std::string report_of(const RunResult& r) {
  std::string text = r.report;
  if (r.outcome == Outcome::mismatch) text += r.check.text() + "\n";
  for (const Finding& w : r.warnings) text += fmt::format("warning {}: {}  {}\n", w.id, w.message, w.location);
  return text;
}

void take(const RunResult& result, const Expectation& expect, CheckedScenario& r) {
  r.reason = not_as_expected(expect, result);
  r.status = r.reason.empty() ? Status::passed : Status::failed;
  if (!result.unmatched_faults.empty()) {
    r.reason = result.unmatched_faults.front();
    r.status = Status::error;
  }
  r.outcome = name(result.outcome), r.verdict = name(verdict_of(result)), r.cycles = result.cycles;
  r.findings = ids_of(result.findings), r.warnings = ids_of(result.warnings);
  r.not_checked = result.not_checked;
  r.report = report_of(result);
}

// ---------------------------------------------------------------- all

/// A file without a name, for what a child prints.
class Output {
 public:
  Output() : file_(memfd_create("sm100sim check", MFD_CLOEXEC)) {
    if (file_ < 0) throw std::runtime_error("cannot make a file in memory for a child's output");
  }
  ~Output() { ::close(file_); }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  int file() const { return file_; }
  /// The last 4,000 bytes.
  std::string text() const {
    constexpr off_t kMost = 4000;
    const off_t size = ::lseek(file_, 0, SEEK_END), from = std::max<off_t>(0, size - kMost);
    std::string text(size_t(std::max<off_t>(0, size - from)), '\0');
    const ssize_t got = ::pread(file_, text.data(), text.size(), from);
    text.resize(size_t(std::max<ssize_t>(0, got)));
    return text;
  }

 private:
  int file_;
};

class Suite {
 public:
  Suite(const std::vector<fs::path>& files, const CheckOptions& options,
        const std::function<void(const CheckedScenario&, size_t)>& finished)
      : options_(options), finished_(finished), results_(files.size()), scenarios_(files.size()) {
    for (size_t i = 0; i < files.size(); ++i) {
      results_[i].file = files[i];
      results_[i].folder = files[i].parent_path().string();
      results_[i].name = files[i].stem().string();
    }
  }

  std::vector<CheckedScenario> run() {
    std::vector<size_t> order;
    for (size_t i = 0; i < results_.size(); ++i)
      if (load(i)) order.push_back(i);
    // The largest first, so that none of them is left for the end.
    const auto work = [&](size_t i) {
      const Scenario& s = *scenarios_[i];
      const RunPlan plan = plan_of(s);
      return std::max(plan.flops(), plan.bytes());
    };
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return work(a) > work(b); });

    ProcessPool pool(options_.jobs);
    for (auto next = order.begin(); next != order.end() || !pool.empty();) {
      for (; next != order.end() && !pool.full(); ++next) start(pool, *next);
      const auto done = pool.wait(first_deadline());
      if (done)
        finish(*done);
      else
        stop_late(pool);
    }
    return std::move(results_);
  }

 private:
  struct Running {
    Clock::time_point begin, deadline;
    std::unique_ptr<Output> output;
    bool late = false;
  };

  void known(size_t i) { finished_(results_[i], ++known_); }

  /// False: there is nothing to run, and the result says why.
  bool load(size_t i) {
    CheckedScenario& r = results_[i];
    try {
      const TomlDocument document(r.file);
      if (!document.has("kernel") && !document.has("launch")) {
        r.status = Status::skipped;
        r.reason = "no scenario: it has no key 'kernel'";
        known(i);
        return false;
      }
      scenarios_[i] = std::make_unique<Scenario>(load_scenario(r.file));
    } catch (const InputError& error) {
      r.status = Status::error;
      r.reason = error.lines().front();
      for (const std::string& line : error.lines()) r.report += line + "\n";
      known(i);
      return false;
    }
    const Expectation& expect = scenarios_[i]->expect;
    r.expected = expected_of(expect);
    if (expect.slow.empty() || options_.slow) return true;
    r.status = Status::skipped;
    r.reason = "slow: " + one_line(expect.slow);
    known(i);
    return false;
  }

  void start(ProcessPool& pool, size_t i) {
    Running running{
        .begin = Clock::now(), .deadline = Clock::time_point::max(), .output = std::make_unique<Output>()};
    if (options_.time_limit.count() > 0) running.deadline = running.begin + options_.time_limit;
    const int output = running.output->file();
    pool.start(i, [&] { return run_quietly(*scenarios_[i], output); });
    running_.emplace(i, std::move(running));
  }

  Clock::time_point first_deadline() const {
    Clock::time_point first = Clock::time_point::max();
    for (const auto& [i, running] : running_)
      if (!running.late) first = std::min(first, running.deadline);
    return first;
  }

  void stop_late(ProcessPool& pool) {
    for (auto& [i, running] : running_)
      if (!running.late && running.deadline <= Clock::now()) {
        running.late = true;
        pool.stop(i);
      }
  }

  void finish(const ProcessPool::Finished& done) {
    CheckedScenario& r = results_[done.id];
    const Running& running = running_.at(done.id);
    r.seconds = std::chrono::duration<double>(Clock::now() - running.begin).count();
    const RunReply reply = reply_of(done);
    const std::string printed = running.output->text();
    r.status = Status::error;
    if (running.late) {
      r.reason = fmt::format("it took longer than {} s (--time-limit) and was ended", options_.time_limit.count());
    } else if (!reply.died.empty()) {
      r.reason = reply.error("its process");
      if (!printed.empty()) r.reason += ": " + one_line(printed.substr(0, printed.find('\n')));
    } else if (const std::string error = reply.error(""); !error.empty()) {
      r.reason = one_line(error);
    } else {
      take(reply.result, scenarios_[done.id]->expect, r);
    }
    if (!printed.empty()) r.report += printed;
    running_.erase(done.id);
    known(done.id);
  }

  const CheckOptions& options_;
  const std::function<void(const CheckedScenario&, size_t)>& finished_;
  std::vector<CheckedScenario> results_;
  std::vector<std::unique_ptr<Scenario>> scenarios_;
  std::map<uint64_t, Running> running_;
  size_t known_ = 0;
};

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::passed: return "passed";
    case Status::failed: return "failed";
    case Status::error: return "error";
    case Status::skipped: return "skipped";
  }
  return "?";
}

std::vector<fs::path> scenarios_to_check(const std::vector<std::string>& arguments) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const std::string& argument : arguments) {
    if (fs::is_directory(argument, ignored))
      add_folder(argument, files);
    else if (!argument.empty() && !fs::exists(argument, ignored) && fs::path(argument).is_relative() &&
             fs::is_directory(scenario_directory() / argument, ignored))
      add_folder(scenario_directory() / argument, files);
    else
      files.push_back(scenario_file(argument));
  }
  std::set<fs::path> seen;
  std::erase_if(files,
                [&](const fs::path& file) { return !seen.insert(fs::weakly_canonical(file, ignored)).second; });
  return files;
}

std::vector<CheckedScenario> check_scenarios(const std::vector<fs::path>& files, const CheckOptions& options,
                                             const std::function<void(const CheckedScenario&, size_t)>& finished) {
  return Suite(files, options, finished).run();
}

}  // namespace sm100::sim::cli
