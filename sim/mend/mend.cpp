// SPDX-License-Identifier: Apache-2.0
#include "sim/mend/mend.h"

#include <fmt/format.h>

#include <map>
#include <stdexcept>

#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"
#include "sim/text.h"

namespace sm100::sim {

using namespace std::chrono_literals;
using Clock = ProcessPool::Clock;

namespace {

/// A change may let a run go on that hung at once: how much longer it may be than the failing one.
constexpr uint64_t kLongestRun = 200;

RunResult result_of(RunReply& reply, const std::string& run) {
  if (!reply.input_error.empty()) throw host::InputError(reply.input_error);
  if (const std::string error = reply.error("the run's process"); !error.empty())
    throw std::runtime_error(run + error);
  return std::move(reply.result);
}

Json to_json(const std::vector<InstructionSite>& sites) {
  Json all = Json::array();
  for (const InstructionSite& s : sites) {
    Json operands = Json::array();
    for (const SeenOperand& o : s.operands) operands.push_back({o.name, o.values, o.step, o.first});
    all.push_back({s.function, s.role, s.barrier, s.source, s.ptx_line, s.executed, s.lanes, operands});
  }
  return all;
}

std::vector<InstructionSite> sites_from(const Json& json) {
  std::vector<InstructionSite> sites;
  for (const Json& s : json) {
    sites.push_back({s[0], s[1], s[2], s[3], s[4], s[5], s[6], {}});
    for (const Json& o : s[7]) sites.back().operands.push_back({o[0], o[1], o[2], o[3]});
  }
  return sites;
}

/// Nothing is wrong: verified where there is a reference, and no warning.
bool is_right(const RunResult& r, const RunResult& failing) {
  return r.outcome == Outcome::pass && r.warnings.empty() && (r.verified || !failing.check.compared());
}

class Mender {
 public:
  Mender(const host::Scenario& scenario, const MendOptions& options,
         const std::function<void(double, std::string_view)>& progress)
      : scenario_(scenario), options_(options), progress_(progress), prepared_(prepare(scenario)) {}

  MendResult search() {
    MendResult m;
    const std::vector<InstructionSite> sites = survey(m);
    if (m.right) return m;
    if (scenario_.max_cycles == 0) scenario_.max_cycles = kLongestRun * (m.failing.cycles + 10'000);
    // Of a run that is wrong in another way nobody asks why.
    scenario_.provenance = host::ProvenanceMode::off;
    const std::vector<Change> changes = changes_of(sites, m.failing);
    m.changes = changes.size();
    try_all(m, sites, changes);
    return m;
  }

 private:
  /// The run as it is, and what it executes.
  std::vector<InstructionSite> survey(MendResult& m) {
    ProcessPool pool(1);
    pool.start(0, [&] {
      return bytes_of_run([&](Json& beside) {
        InstructionSurvey all;
        // Looked at later, a hazard ends the run before all has been seen.
        RunResult result = run_simulation(scenario_, {.prepared = &prepared_, .hazards = HazardLooks::at_once});
        beside = to_json(all.sites());
        return result;
      });
    });
    RunReply reply = reply_of(*pool.wait());
    std::vector<InstructionSite> sites = sites_from(reply.beside);
    m.failing = result_of(reply, "");
    if (!m.failing.unmatched_faults.empty()) throw host::InputError(m.failing.unmatched_faults);
    m.right = m.failing.outcome == Outcome::pass && m.failing.warnings.empty();
    return sites;
  }

  std::string run_with(const Change& change) const {
    return bytes_of_run([&](Json&) {
      host::Scenario changed = scenario_;
      changed.faults.push_back(change.fault);
      return run_simulation(changed, {.prepared = &prepared_});
    });
  }

  /// Results are looked at in the order of the changes, so that what is found does not depend on the number of
  /// processes.
  void try_all(MendResult& m, const std::vector<InstructionSite>& sites, const std::vector<Change>& changes) {
    const auto begin = Clock::now();
    const auto deadline = options_.time > 0s ? begin + options_.time : Clock::time_point::max();
    ProcessPool pool(options_.jobs);
    std::map<uint64_t, RunReply> finished;  // not looked at yet
    const auto enough = [&] { return options_.enough > 0 && m.found.size() >= options_.enough; };
    for (size_t next = 0; m.tried < changes.size() && !enough();) {
      for (; next < changes.size() && !pool.full(); ++next)
        pool.start(next, [&] { return run_with(changes[next]); });
      const auto done = pool.wait(deadline);
      if (!done) {
        m.out_of_time = true;
        break;
      }
      finished.emplace(done->id, reply_of(*done));
      for (auto at = finished.find(m.tried); at != finished.end() && !enough(); at = finished.find(m.tried)) {
        look_at(m, sites, changes[m.tried], at->second);
        finished.erase(at);
        ++m.tried;
      }
      progress_(double(m.tried) / double(changes.size()),
                fmt::format("{} of {} changes, {} mend it", m.tried, changes.size(), m.found.size()));
    }
    m.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  }

  /// A change may well be bad input, or more than the simulator takes: such a one mends nothing.
  static void look_at(MendResult& m, const std::vector<InstructionSite>& sites, const Change& change,
                      RunReply& reply) {
    if (!reply.input_error.empty() || !reply.error("").empty()) return;
    if (is_right(reply.result, m.failing)) m.found.push_back({change, sites[change.site], std::move(reply.result)});
  }

  host::Scenario scenario_;
  const MendOptions& options_;
  const std::function<void(double, std::string_view)>& progress_;
  Prepared prepared_;
};

}  // namespace

MendResult mend(const host::Scenario& scenario, const MendOptions& options,
                const std::function<void(double, std::string_view)>& progress) {
  return Mender(scenario, options, progress).search();
}

}  // namespace sm100::sim
