// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/explore.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "models/jitter.h"
#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/text.h"

namespace sm100::sim {

using namespace std::chrono_literals;
using Clock = ProcessPool::Clock;

namespace {

constexpr uint64_t kLongestRun =
    50;  // times the cycles of the run without jitter; what takes longer counts as hung

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// @param run  whose process it is: "seed 5: "; empty: a single run
RunResult result_of(const ProcessPool::Finished& finished, const std::string& run = "") {
  RunReply reply = reply_of(finished);
  if (!reply.input_error.empty()) throw host::InputError(reply.input_error);
  const std::string error = reply.error("the run's process");
  if (!error.empty()) throw std::runtime_error(run + error);
  return std::move(reply.result);
}

class Explorer {
 public:
  Explorer(const host::Scenario& scenario, const ExploreOptions& options,
           const std::function<void(double, std::string_view)>& progress)
      : scenario_(scenario), options_(options), progress_(progress), prepared_(prepare(scenario)) {}

  Exploration explore() {
    Exploration e;
    e.plain = one({});
    if (!e.plain.unmatched_faults.empty()) throw host::InputError(e.plain.unmatched_faults);
    e.plain_failure = failure_of(e.plain, e.plain.output_hash);
    e.coverage.add(e.plain);
    if (e.plain_failure) return e;
    prepared_.right_output = e.plain.output_hash;
    prepared_.check = e.plain.check;
    if (scenario_.max_cycles == 0) scenario_.max_cycles = kLongestRun * (e.plain.cycles + 10'000);
    try_seeds(e);
    if (e.found && options_.minimise_time > 0s) take_apart(*e.found);
    return e;
  }

 private:
  /// Runs the scenario in a process of its own.
  RunResult one(const Perturbation& perturbation) { return one(scenario_, prepared_, perturbation); }
  static RunResult one(const host::Scenario& scenario, const Prepared& prepared, const Perturbation& perturbation) {
    ProcessPool pool(1);
    pool.start(0, [&] { return run_perturbed(scenario, prepared, perturbation); });
    return result_of(*pool.wait());
  }

  /// The sums of `fast` are rounded behind each run of MMAs that one thread issues, so that their last bits depend
  /// on how the MMAs of several threads take turns. Those of a B200 do not: they decide.
  bool is_rounding(const RunResult& result, const RunResult& plain, uint64_t seed) {
    if (result.outcome != Outcome::pass || result.output_hash == plain.output_hash ||
        scenario_.numerics != host::Numerics::fast)
      return false;
    if (!exact_) {
      exact_.emplace(Exact{scenario_, {}});
      exact_->scenario.numerics = host::Numerics::b200;
      exact_->prepared = prepare(exact_->scenario);
      exact_->prepared.right_output = one(exact_->scenario, exact_->prepared, {}).output_hash;
    }
    return one(exact_->scenario, exact_->prepared, {.seed = seed, .delays = {}}).output_hash ==
           exact_->prepared.right_output;
  }

  FailingSeed found(uint64_t seed, const Failure& failure, RunResult result) {
    if (exact_ && result.outcome == Outcome::pass) {  // the sums of a B200 tell which delays are enough
      scenario_ = exact_->scenario;
      prepared_ = exact_->prepared;
    }
    return {.seed = seed, .failure = failure, .by_seed = std::move(result)};
  }

  /// Results are looked at in the order of the seeds, so that what is found does not depend on the number of
  /// processes.
  void try_seeds(Exploration& e) {
    const auto begin = Clock::now();
    const auto deadline = options_.time > 0s ? begin + options_.time : Clock::time_point::max();
    ProcessPool pool(options_.jobs);
    std::map<uint64_t, RunResult> finished;  // not looked at yet
    const uint64_t end = options_.first_seed + options_.seeds;
    uint64_t next = options_.first_seed;  // to start
    bool failed = false;                  // some seed has; earlier ones may still
    for (uint64_t seed = options_.first_seed; seed < end && !e.found;) {
      for (; !failed && next < end && !pool.full(); ++next)
        pool.start(next, [&] { return run_perturbed(scenario_, prepared_, {.seed = next, .delays = {}}); });
      auto done = pool.wait(deadline);
      if (!done) {
        e.out_of_time = true;
        break;
      }
      RunResult result = result_of(*done, fmt::format("seed {}: ", done->id));
      if (is_rounding(result, e.plain, done->id)) result.output_hash = e.plain.output_hash;
      failed |= failure_of(result, e.plain.output_hash).has_value();
      finished.emplace(done->id, std::move(result));
      for (auto it = finished.find(seed); it != finished.end() && !e.found; it = finished.find(++seed)) {
        e.coverage.add(it->second);
        if (auto failure = failure_of(it->second, e.plain.output_hash))
          e.found = found(seed, *failure, std::move(it->second));
        finished.erase(it);
        if (e.found) break;
      }
      const double part = options_.seeds == UINT64_MAX - options_.first_seed
                              ? seconds_since(begin) / std::chrono::duration<double>(options_.time).count()
                              : double(e.coverage.runs - 1) / double(options_.seeds);
      progress_(part, fmt::format("{} seeds, {} orders, {} pairs", e.coverage.runs - 1, e.coverage.orders.size(),
                                  e.coverage.pairs.size()));
    }
    e.seconds = seconds_since(begin);
  }

  /// Which of the sets fail as `found` does.
  std::vector<bool> reproduce(FailingSeed& found, Clock::time_point deadline, size_t count,
                              const std::function<Delays(size_t)>& set) {
    std::vector<bool> fails(count, false);
    ProcessPool pool(options_.jobs);
    for (size_t next = 0; next < count || !pool.empty();) {
      for (; next < count && !pool.full() && Clock::now() < deadline; ++next) {
        ++found.runs;
        pool.start(next, [&] { return run_perturbed(scenario_, prepared_, {.seed = {}, .delays = set(next)}); });
      }
      const auto done = pool.wait(deadline);
      if (!done) break;  // no budget: what still runs counts as passed
      fails[done->id] = failure_of(result_of(*done), *prepared_.right_output) == found.failure;
      const auto left = std::chrono::duration<double>(deadline - Clock::now()).count();
      progress_(1 - std::max(0.0, left) / std::chrono::duration<double>(options_.minimise_time).count(),
                fmt::format("seed {}: {}; minimising, {} of {} delays left", found.seed, text_of(found.failure),
                            left_, found.drawn));
    }
    return fails;
  }

  void take_apart(FailingSeed& found) {
    const auto begin = Clock::now(), deadline = begin + options_.minimise_time;
    Delays all = one({.seed = found.seed, .delays = {}, .record = true}).drawn;
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.point < b.point; });
    found.drawn = left_ = all.size();
    const Reproduce same = [&](size_t count, const std::function<Delays(size_t)>& set) {
      return reproduce(found, deadline, count, set);
    };
    if (!same(1, [&](size_t) { return all; })[0]) {
      found.repeats = Clock::now() >= deadline;  // else the budget is too small for one run
      return;
    }
    Delays few = smallest_subset(std::move(all), same, [&](const Delays& left) { left_ = left.size(); });
    few = fewer_but_longer(
        few, [&](const models::Delay& d) { return models::longest_delay(d.point.site, scenario_.device); }, same);
    few = shortest_cycles(few, same);
    found.minimal = Clock::now() < deadline;
    found.delays = std::move(few);
    scenario_.path = options_.replay_path;
    found.by_delays = one({.seed = {}, .delays = found.delays});
    found.seconds = seconds_since(begin);
  }

  host::Scenario scenario_;
  const ExploreOptions& options_;
  const std::function<void(double, std::string_view)>& progress_;
  Prepared prepared_;
  struct Exact {
    host::Scenario scenario;
    Prepared prepared;
  };
  std::optional<Exact> exact_;  ///< with the sums of a B200, once they were needed
  size_t left_ = 0;             ///< delays, while a failure is taken apart
};

}  // namespace

const models::Delay* delay_at(const Delays& delays, const models::JitterPoint& point) {
  const auto found =
      std::find_if(delays.begin(), delays.end(), [&](const models::Delay& d) { return d.point == point; });
  return found == delays.end() ? nullptr : &*found;
}

std::vector<std::string> warning_texts(const RunResult& result) {
  std::vector<std::string> texts;
  for (const Finding& w : result.warnings) texts.push_back(fmt::format("{}: {}", w.id, w.message));
  return texts;
}

void Coverage::add(const RunResult& result) {
  if (orders.insert(result.completion_order).second) last_order = runs;
  for (const uint64_t pair : result.completion_pairs)
    if (pairs.insert(pair).second) last_pair = runs;
  ++runs;
  for (const std::string& warning : warning_texts(result))
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end()) warnings.push_back(warning);
}

std::vector<std::string> warnings_with_jitter_only(const Exploration& exploration) {
  const std::vector<std::string> plain = warning_texts(exploration.plain);
  std::vector<std::string> others;
  for (const std::string& warning : exploration.coverage.warnings)
    if (std::find(plain.begin(), plain.end(), warning) == plain.end()) others.push_back(warning);
  return others;
}

Exploration explore(const host::Scenario& scenario, const ExploreOptions& options,
                    const std::function<void(double, std::string_view)>& progress) {
  return Explorer(scenario, options, progress).explore();
}

}  // namespace sm100::sim
