// SPDX-License-Identifier: Apache-2.0
#include "sim/accuracy/row_replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"
#include "traces/format/recorder.h"

namespace sm100::sim {
namespace {

/// The figures stand beside the result.
std::string run_one(const RowReplay& replay) {
  return bytes_of_run([&](Json& figures) {
    const host::Scenario scenario = host::load_scenario(replay.scenario, replay.set);
    traces::Recorder recorder;
    const RunResult result = run_simulation(scenario, {.recorder = replay.record ? &recorder : nullptr});
    if (result.outcome != Outcome::pass) return result;
    const std::vector<double> values = replay.figure({scenario, result, recorder.trace()});
    if (!std::all_of(values.begin(), values.end(), [](double f) { return std::isfinite(f); }))
      throw std::runtime_error("the figure is no number");
    figures = values;
    return result;
  });
}

RowFigures figures_of(const RunReply& reply) {
  const std::string error = reply.error("the run");
  if (!error.empty()) return {{}, error};
  const std::string& report = reply.result.report;
  if (reply.beside.is_null()) return {{}, report.substr(0, report.find('\n'))};
  return {reply.beside.get<std::vector<double>>(), ""};
}

}  // namespace

std::vector<traces::Span> ReplayedRun::spans(int cta, int warp, traces::SpanKind kind) const {
  std::vector<traces::Span> found;
  for (const traces::Span& span : trace.spans) {
    const traces::Track& track = trace.tracks[span.track];
    if (span.kind == kind && track.kind == traces::TrackKind::role && track.cta == cta && track.warp == warp)
      found.push_back(span);
  }
  return found;
}

int ReplayedRun::ctas() const {
  int last = -1;
  for (const traces::Track& track : trace.tracks) last = std::max(last, track.cta);
  return last + 1;
}

std::vector<RowFigures> run_replays(const std::vector<RowReplay>& replays, int jobs,
                                    const std::function<void(double)>& progress) {
  std::vector<RowFigures> figures(replays.size());
  ProcessPool pool(jobs);
  size_t started = 0, finished = 0;
  while (finished < replays.size()) {
    while (started < replays.size() && !pool.full()) {
      pool.start(started, [&replay = replays[started]] { return run_one(replay); });
      ++started;
    }
    const auto done = pool.wait();
    if (!done) break;
    figures[done->id] = figures_of(reply_of(*done));
    progress(double(++finished) / double(replays.size()));
  }
  return figures;
}

}  // namespace sm100::sim
