// SPDX-License-Identifier: Apache-2.0
#include "sim/accuracy/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/explore/process_pool.h"
#include "sim/simulation.h"
#include "traces/recorder.h"

namespace sm100::sim {
namespace {

std::string run_one(const Experiment& experiment) {
  nlohmann::json answer;
  try {
    const host::Scenario scenario = host::load_scenario(experiment.scenario, experiment.set);
    traces::Recorder recorder;
    const RunResult result = run_simulation(scenario, {.recorder = experiment.record ? &recorder : nullptr});
    if (result.outcome == Outcome::pass) {
      const std::vector<double> figures = experiment.figure({scenario, result, recorder.trace()});
      if (!std::all_of(figures.begin(), figures.end(), [](double f) { return std::isfinite(f); }))
        throw std::runtime_error("the figure is no number");
      answer["figures"] = figures;
    } else
      answer["error"] = result.report.substr(0, result.report.find('\n'));
  } catch (const std::exception& error) { answer["error"] = error.what(); }
  return answer.dump();
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
    Outcomes& outcome = outcomes[done->id];
    if (done->died.empty()) {
      const nlohmann::json answer = nlohmann::json::parse(done->bytes);
      if (answer.contains("figures")) outcome.figures = answer["figures"].get<std::vector<double>>();
      outcome.error = answer.value("error", "");
    } else {
      outcome.error = "the run ended with " + done->died;
    }
    progress(double(++finished) / double(experiments.size()));
  }
  return outcomes;
}

}  // namespace sm100::sim
