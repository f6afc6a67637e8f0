// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/sweep.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>

#include "kernels/host/toml_reader.h"
#include "kernels/host/version.h"
#include "sim/cli/scenario_name.h"
#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"
#include "sim/text.h"
#include "sim/verdict.h"

namespace sm100::sim::cli {

using namespace host;
namespace fs = std::filesystem;
using Clock = ProcessPool::Clock;

namespace {

// ---------------------------------------------------------------- which runs

constexpr size_t kMostRuns = 1'000'000;

/// A key and one of its values.
struct Value {
  std::string key;
  Json value;
  std::string override() const { return key + "=" + value.dump(); }
};
using Row = std::vector<Value>;

/// {"config": {"stages": X}} as ("config.stages", X).
void flatten(const std::string& outer, const Json& table, Row& row) {
  for (const auto& [key, value] : table.items()) {
    const std::string path = outer.empty() ? key : outer + "." + key;
    value.is_object() ? flatten(path, value, row) : row.push_back({path, value});
  }
}

std::string file_text(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

std::string hash_of(const std::string& text) {
  uint64_t h = 0xcbf29ce484222325u;
  for (const char c : text) h = (h ^ uint8_t(c)) * 0x100000001b3u;
  return fmt::format("{:016x}", h);
}

/// Why the scenario does not load with these values; nothing: it does.
std::optional<std::string> refusal(const fs::path& file, const std::vector<std::string>& overrides) {
  try {
    load_scenario(file, overrides);
    return std::nullopt;
  } catch (const InputError& error) { return error.lines().front(); }
}

class SweepReader {
 public:
  explicit SweepReader(const fs::path& file)
      : document_(file), root_(document_.root({"scenarios", "cross", "cases", "seeds", "jitter"})) {
    sweep_.name = file.stem().string();
  }

  Sweep read() {
    read_scenarios();
    read_cross();
    read_cases();
    add_integers("seeds", "run.seed");
    add_integers("jitter", "run.jitter");
    size_t count = files_.size() * cases_.size();
    for (const auto& axis : axes_) {
      count *= axis.size();
      if (count > kMostRuns) throw InputError(fmt::format("{}: more than {} runs", sweep_.name, kMostRuns));
    }
    for (size_t s = 0; s < files_.size(); ++s) {
      check_keys(s);
      for (const Row& row : cases_) combine(s, row, 0);
    }
    return std::move(sweep_);
  }

 private:
  void read_scenarios() {
    names_ = root_.strings("scenarios");
    if (names_.empty()) throw root_.wrong("scenarios", "at least one is needed");
    for (const std::string& name : names_) {
      files_.push_back(scenario_file(name));
      texts_.push_back(file_text(files_.back()));
      if (const auto why = refusal(files_.back(), {})) throw InputError(*why);
    }
  }

  void read_cross() {
    if (!root_.has("cross")) return;
    Row keys;
    flatten("", Json::parse(root_.json("cross")), keys);
    for (const Value& key : keys) {
      if (!key.value.is_array() || key.value.empty())
        throw InputError(document_.message("cross." + key.key, "must be a list of the values to try, not empty"));
      axes_.emplace_back();
      for (const Json& value : key.value) axes_.back().push_back({key.key, value});
    }
  }

  void read_cases() {
    if (root_.has("cases")) {
      const Json cases = Json::parse(root_.json("cases"));
      for (const auto& [name, values] : cases.items()) {
        if (!values.is_object())
          throw InputError(document_.message("cases." + name, fmt::format("must be a table, [cases.{}]", name)));
        cases_.emplace_back();
        flatten("", values, cases_.back());
      }
    }
    if (cases_.empty()) cases_.emplace_back();
  }

  void add_integers(const char* list, const std::string& key) {
    if (!root_.has(list)) return;
    axes_.emplace_back();
    for (const int64_t value : root_.integer_list(list, 0, INT64_MAX)) axes_.back().push_back({key, value});
  }

  /// A combination may break a rule; its line says so.  A key whose every value is refused is a mistake in the
  /// sweep.
  void check_keys(size_t s) const {
    for (const auto& axis : axes_) {
      std::optional<std::string> why;
      for (const Value& value : axis)
        for (const Row& row : cases_) {
          std::vector<std::string> overrides;
          for (const Value& of_case : row) overrides.push_back(of_case.override());
          overrides.push_back(value.override());
          why = refusal(files_[s], overrides);
          if (!why) break;
        }
      if (why && refused_alone(s, axis)) throw InputError(fmt::format("{}: {}", names_[s], *why));
    }
    for (const Row& row : cases_)
      for (const Value& value : row)
        if (const auto why = refusal(files_[s], {value.override()});
            why && why->find("unknown") != std::string::npos)
          throw InputError(fmt::format("{}: {}", names_[s], *why));
  }
  bool refused_alone(size_t s, const Row& axis) const {
    return std::all_of(axis.begin(), axis.end(),
                       [&](const Value& value) { return refusal(files_[s], {value.override()}).has_value(); });
  }

  /// The last key varies fastest.
  void combine(size_t s, Row row, size_t axis) {
    if (axis == axes_.size()) return add(s, row);
    for (const Value& value : axes_[axis]) {
      row.push_back(value);
      combine(s, row, axis + 1);
      row.pop_back();
    }
  }

  void add(size_t s, const Row& row) {
    SweepRun run{.index = sweep_.runs.size(), .scenario = names_[s], .file = files_[s], .values = Json::object()};
    std::string all = names_[s] + "\n" + texts_[s] + "\n" + version_text();
    for (const Value& value : row) {
      run.values[value.key] = value.value;
      run.overrides.push_back(value.override());
      all += "\n" + run.overrides.back();
    }
    run.key = hash_of(all);
    sweep_.runs.push_back(std::move(run));
  }

  TomlDocument document_;
  TomlTable root_;
  std::vector<std::string> names_, texts_;
  std::vector<fs::path> files_;
  std::vector<Row> axes_;   ///< all values of each key of [cross], then seeds, then jitter
  std::vector<Row> cases_;  ///< of [cases.NAME] the values that go together; at least one, which may be empty
  Sweep sweep_;
};

// ---------------------------------------------------------------- what they say

std::string replay(const SweepRun& run) {
  std::string text = "sm100sim run " + shell_word(run.scenario);
  for (const std::string& set : run.overrides) text += " --set " + shell_word(set);
  return text;
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// What is the same for every run, whatever became of it.
Json line_of(const SweepRun& run, double seconds) {
  return {{"key", run.key},       {"build", version_text()}, {"index", run.index}, {"scenario", run.scenario},
          {"values", run.values}, {"replay", replay(run)},   {"seconds", seconds}};
}

Json line_of(const SweepRun& run, const RunReply& reply, double seconds) {
  Json line = line_of(run, seconds);
  if (!reply.input_error.empty()) {
    line.update(Json{{"outcome", "refused"}, {"reason", one_line(first_line(reply.input_error))}});
    return line;
  }
  if (const std::string error = reply.error("the run's process"); !error.empty()) {
    line.update(Json{{"outcome", "error"}, {"reason", one_line(error)}});
    return line;
  }
  const RunResult& r = reply.result;
  const Finding* finding = first_finding(r);
  std::set<std::string> warnings;
  for (const Finding& w : r.warnings) warnings.insert(w.id);
  line.update(Json{{"outcome", name(r.outcome)},
                   {"verdict", name(verdict_of(r))},
                   {"cycles", r.cycles},
                   {"microseconds", r.microseconds},
                   {"tflops", r.tflops},
                   {"tensor_utilization", r.tensor_utilization},
                   {"finding", finding ? Json(finding->id) : Json()},
                   {"warnings", warnings},
                   {"reason", text_or_null(r.outcome == Outcome::pass ? "" : one_line(first_line(r.report)))}});
  return line;
}

// ---------------------------------------------------------------- where they stand

/// Whole lines of a file; a last one without its end was being written when its writer was killed.
std::vector<Json> whole_lines(const fs::path& file) {
  const std::string text = file_text(file);
  std::vector<Json> lines;
  for (size_t begin = 0, end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    Json line = Json::parse(text.begin() + long(begin), text.begin() + long(end), nullptr, false);
    if (line.is_object() && line.contains("key") && line.contains("outcome")) lines.push_back(std::move(line));
  }
  return lines;
}

/// The file of a shard, for one process at a time.
class LineFile {
 public:
  explicit LineFile(const fs::path& file) : name_(file) {
    file_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file_ < 0) throw InputError(fmt::format("--out: cannot write {}", file.string()));
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0)
      throw InputError(fmt::format("--out: another sweep is writing {}", file.string()));
    // A torn line of a killed sweep goes.
    const std::string text = file_text(file);
    const size_t end = text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n') + 1;
    if (end != text.size() && ::ftruncate(file_, off_t(end)) != 0) fail();
  }
  ~LineFile() { ::close(file_); }
  LineFile(const LineFile&) = delete;
  LineFile& operator=(const LineFile&) = delete;

  /// In one write.
  void append(const Json& line) {
    const std::string text = line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (::write(file_, text.data(), text.size()) != ssize_t(text.size())) fail();
  }

 private:
  [[noreturn]] void fail() const { throw InputError(fmt::format("--out: cannot write {}", name_.string())); }
  fs::path name_;
  int file_;
};

class Runner {
 public:
  Runner(const Sweep& sweep, const SweepOptions& options,
         const std::function<void(const Json&, size_t, size_t)>& finished)
      : sweep_(sweep), options_(options), finished_(finished) {}

  SweepTotals run() {
    std::error_code error;
    fs::create_directories(options_.folder, error);
    LineFile lines(options_.folder /
                   fmt::format("shard-{}-of-{}.ndjson", options_.shard.number, options_.shard.count));
    std::map<std::string, std::string> known;  // key, outcome
    for (const Json& line : read_lines(options_.folder)) known[line["key"]] = line["outcome"];
    std::deque<size_t> left;
    for (size_t i = 0; i < sweep_.runs.size(); ++i) {
      if (!options_.shard.has(sweep_.runs[i])) continue;
      ++totals_.runs;
      if (const auto found = known.find(sweep_.runs[i].key); found != known.end())
        ++totals_.already, ++totals_.outcomes[found->second];
      else
        left.push_back(i);
    }
    ProcessPool pool(options_.jobs);
    size_t done = totals_.already;
    while (!left.empty() || !pool.empty()) {
      for (; !left.empty() && !pool.full(); left.pop_front()) start(pool, left.front());
      const auto ended = pool.wait(first_deadline());
      if (!ended) {
        stop_late(pool);
        continue;
      }
      const Json line = finish(*ended);
      lines.append(line);
      ++totals_.outcomes[line["outcome"]];
      finished_(line, ++done, totals_.runs);
    }
    return totals_;
  }

 private:
  struct Running {
    Clock::time_point begin, deadline;
    bool late = false;
  };

  void start(ProcessPool& pool, size_t i) {
    const SweepRun& run = sweep_.runs[i];
    Running running{.begin = Clock::now(), .deadline = Clock::time_point::max()};
    if (options_.time_limit.count() > 0) running.deadline = running.begin + options_.time_limit;
    pool.start(i, [&run] {
      const int nowhere = ::open("/dev/null", O_WRONLY);
      dup2(nowhere, STDOUT_FILENO);
      dup2(nowhere, STDERR_FILENO);
      return bytes_of_run([&](Json&) { return run_simulation(load_scenario(run.file, run.overrides)); });
    });
    running_.emplace(i, running);
  }

  Json finish(const ProcessPool::Finished& ended) {
    const Running running = running_.at(ended.id);
    running_.erase(ended.id);
    const SweepRun& run = sweep_.runs[ended.id];
    const double seconds = std::chrono::duration<double>(Clock::now() - running.begin).count();
    if (!running.late) return line_of(run, reply_of(ended), seconds);
    Json line = line_of(run, seconds);
    line.update(Json{{"outcome", "error"},
                     {"reason", fmt::format("stopped after {} s (--time-limit)", options_.time_limit.count())}});
    return line;
  }

  Clock::time_point first_deadline() const {
    Clock::time_point first = Clock::time_point::max();
    for (const auto& [i, running] : running_)
      if (!running.late) first = std::min(first, running.deadline);
    return first;
  }
  void stop_late(ProcessPool& pool) {
    for (auto& [i, running] : running_)
      if (!running.late && running.deadline <= Clock::now()) running.late = true, pool.stop(i);
  }

  const Sweep& sweep_;
  const SweepOptions& options_;
  const std::function<void(const Json&, size_t, size_t)>& finished_;
  std::map<size_t, Running> running_;
  SweepTotals totals_;
};

}  // namespace

Sweep read_sweep(const fs::path& file) { return SweepReader(file).read(); }

std::vector<Json> read_lines(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().extension() == ".ndjson") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::map<std::string, Json> by_key;
  for (const fs::path& file : files)
    for (Json& line : whole_lines(file)) by_key.emplace(line["key"].get<std::string>(), line);
  std::vector<Json> lines;
  for (auto& [key, line] : by_key) lines.push_back(std::move(line));
  std::stable_sort(lines.begin(), lines.end(), [](const Json& a, const Json& b) {
    return a["index"].get<size_t>() < b["index"].get<size_t>();
  });
  return lines;
}

SweepTotals run_sweep(const Sweep& sweep, const SweepOptions& options,
                      const std::function<void(const Json& line, size_t known, size_t of)>& finished) {
  return Runner(sweep, options, finished).run();
}

}  // namespace sm100::sim::cli
