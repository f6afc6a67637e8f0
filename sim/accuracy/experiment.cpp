// SPDX-License-Identifier: Apache-2.0
#include "sim/accuracy/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"
#include "traces/recorder.h"

namespace sm100::sim {
namespace {

/// The figures stand beside the result.
std::string run_one(const Experiment& experiment) {
  return bytes_of_run([&](Json& figures) {
    const host::Scenario scenario = host::load_scenario(experiment.scenario, experiment.set);
    traces::Recorder recorder;
    const RunResult result = run_simulation(scenario, {.recorder = experiment.record ? &recorder : nullptr});
    if (result.outcome != Outcome::pass) return result;
    const std::vector<double> values = experiment.figure({scenario, result, recorder.trace()});
    if (!std::all_of(values.begin(), values.end(), [](double f) { return std::isfinite(f); }))
      throw std::runtime_error("the figure is no number");
    figures = values;
    return result;
  });
}

Outcomes outcomes_of(const RunReply& reply) {
  const std::string error = reply.error("the run");
  if (!error.empty()) return {{}, error};
  const std::string& report = reply.result.report;
  if (reply.beside.is_null()) return {{}, report.substr(0, report.find('\n'))};
  return {reply.beside.get<std::vector<double>>(), ""};
}

}  // namespace

std::vector<traces::Span> Observed::spans(int cta, int warp, traces::SpanKind kind) const {
  std::vector<traces::Span> found;
  for (const traces::Span& span : trace.spans) {
    const traces::Track& track = trace.tracks[span.track];
    if (span.kind == kind && track.kind == traces::TrackKind::role && track.cta == cta && track.warp == warp)
      found.push_back(span);
  }
  return found;
}

int Observed::ctas() const {
  int last = -1;
  for (const traces::Track& track : trace.tracks) last = std::max(last, track.cta);
  return last + 1;
}

std::vector<Outcomes> run_experiments(const std::vector<Experiment>& experiments, int jobs,
                                      const std::function<void(double)>& progress) {
  std::vector<Outcomes> outcomes(experiments.size());
  ProcessPool pool(jobs);
  size_t started = 0, finished = 0;
  while (finished < experiments.size()) {
    while (started < experiments.size() && !pool.full()) {
      pool.start(started, [&experiment = experiments[started]] { return run_one(experiment); });
      ++started;
    }
    const auto done = pool.wait();
    if (!done) break;
    outcomes[done->id] = outcomes_of(reply_of(*done));
    progress(double(++finished) / double(experiments.size()));
  }
  return outcomes;
}

}  // namespace sm100::sim
