// SPDX-License-Identifier: Apache-2.0
#include "sim/hang_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/hang/causes.h"
#include "sim/hang/names.h"
#include "sim/hang/report_parts.h"
#include "sim/ptx/ptx_uses.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

/// The run ended while no CTA was on an SM.
HangReport nobody_runs(models::Cycles cycle, models::Cycles budget, const std::string& replay) {
  const std::string cause = budget > 0
                                ? fmt::format(
                                      "the budget of {} cycles is used up; no CTA runs: a launch takes "
                                      "longer (launch.* of the profile)",
                                      grouped(int64_t(budget)))
                                : "CTAs of the grid have not started, and no event is left that would start one";
  HangReport report;
  report.text = fmt::format("{} at cycle {}: {}\n  replay: {}\n", budget > 0 ? "STOPPED" : "HANG",
                            grouped(int64_t(cycle)), cause, replay);
  report.finding = {.id = budget > 0 ? "cycle-budget" : "hang", .cause = cause, .message = cause};
  return report;
}

struct Root {
  size_t wait = 0;
  Cause cause;
  std::vector<int> likewise;  ///< other CTAs whose same role is at fault on the same array as surely
};

/// The wait with the most certain cause; of equals the one that more of the others lead to, then the earliest CTA.
Root root_of(const WaitGraph& graph) {
  Root root;
  long followers = -1;
  std::vector<Cause> causes;
  for (size_t i = 0; i < graph.waits().size(); ++i) {
    const Cause& cause = causes.emplace_back(cause_of(graph, graph.waits()[i]));
    if (followers >= 0 && cause.certainty < root.cause.certainty) continue;
    const auto distances = graph.distances_from(i);
    const auto depend = std::count_if(distances.begin(), distances.end(), [](int d) { return d > 0; });
    if (followers >= 0 && cause.certainty == root.cause.certainty && depend <= followers) continue;
    root = {i, cause, {}};
    followers = depend;
  }
  for (size_t i = 0; i < causes.size(); ++i)
    if (causes[i].certainty >= 60 && causes[i].certainty == root.cause.certainty &&
        graph.waits()[i].barrier.array == graph.waits()[root.wait].barrier.array &&
        causes[i].fault_role == root.cause.fault_role && causes[i].fault_cta != root.cause.fault_cta)
      root.likewise.push_back(causes[i].fault_cta);
  return root;
}

/// "7 of 7 warps of CTA 0", "112 warps of CTAs 0-15".
std::string population(const WaitGraph& graph) {
  std::vector<int> ctas;
  size_t warps = 0;
  for (const Wait& w : graph.waits()) {
    ctas.push_back(w.cta->linear_id());
    warps += w.warps.size();
  }
  const bool one = std::all_of(ctas.begin(), ctas.end(), [&](int cta) { return cta == ctas.front(); });
  const size_t all = graph.waits().front().cta->warps().size();
  return one ? fmt::format("{} of {} warps of {}", warps, all, ctas_text(ctas))
             : fmt::format("{} warps of {}", warps, ctas_text(ctas));
}

/// "CTA 6", or in a run of several kernels "CTA 6 (right)".
std::string cta_text(int cta, const LaunchList& launches) {
  return launches.one_kernel() ? fmt::format("CTA {}", cta) : launches.cta_name(cta);
}

/// Who should have acted, where, and what it does instead.
std::string fault_text(const Root& root, const LaunchList& launches) {
  const Cause& cause = root.cause;
  if (cause.fault_cta < 0) return {};
  std::string text = fmt::format("  at fault: {} of {}", warps_text(cause.fault_role, cause.fault_warps),
                                 cta_text(cause.fault_cta, launches));
  if (const std::string line = line_of(cause.fault_loc); !line.empty())
    text += (cause.after_line ? "  after " : "  ") + line;
  if (!cause.fault_doing.empty()) text += "; it " + cause.fault_doing;
  if (!root.likewise.empty()) text += "; likewise in " + ctas_text(root.likewise);
  return text + "\n";
}

/// What a barrier of a PTX program is that has no name: "mbarrier 0x4400 is 4 barriers, filled by TMA for load,
/// awaited by mma".
std::string nameless_text(const Wait& w) {
  if (!w.on_mbarrier() || !ptx_uses_of(w.cta->kernel())) return {};
  const BarrierArray& array = *w.barrier.array;
  if (!std::string_view(array.name).starts_with("mbarrier 0x")) return {};
  const std::string by = completed_by(array);
  return fmt::format("     {} is {} of count {}{}{}{}\n", array.name,
                     array.stages == 1 ? "a barrier" : fmt::format("{} barriers", array.stages), array.count,
                     by.empty() ? ", which nothing completes" : ", ", by,
                     std::string_view(array.waits).empty() ? "" : fmt::format(", awaited by {}", array.waits));
}

std::string root_text(const WaitGraph& graph, const Root& root) {
  const Wait& w = graph.waits()[root.wait];
  return fmt::format("  {} of {} waits for {} since cycle {}  {}\n     {}\n{}  likely cause: {}\n{}",
                     warps_text(w.role, w.warps), cta_text(w.cta->linear_id(), w.cta->launches()), waited_for(w),
                     grouped(int64_t(w.blocked.since)), line_of(w.blocked.loc), missing_text(w), nameless_text(w),
                     root.cause.text, fault_text(root, w.cta->launches()));
}

/// The waits, that of the root first, and who is at fault.
std::vector<HangMark> marks_of(const WaitGraph& graph, const Root& root, models::Cycles cycle) {
  using What = traces::FindingMark::What;
  std::vector<HangMark> marks;
  const Wait& wait = graph.waits()[root.wait];
  const auto add = [&](const Wait& w, What what) {
    for (int warp : w.warps) {
      const Blocked& blocked = w.cta->warps()[size_t(warp)]->blocked;
      if (blocked.on == Blocked::On::nothing) continue;
      marks.push_back({.what = what,
                       .cta = w.cta->linear_id(),
                       .warp = warp,
                       .time = blocked.since,
                       .slot = w.cta->slot(),
                       .barrier = w.on_mbarrier() ? w.state->offset : 0,
                       .line = line_of(blocked.loc),
                       .text = fmt::format("waits for {} since cycle {}; {}", waited_for(w),
                                           grouped(int64_t(blocked.since)), missing_text(w))});
    }
  };
  add(wait, What::root);
  const Cause& cause = root.cause;
  for (int warp : cause.fault_cta < 0 ? std::vector<int>{} : cause.fault_warps) {
    HangMark mark{.what = What::fault, .cta = cause.fault_cta, .warp = warp, .time = cycle};
    if (wait.on_mbarrier()) mark.slot = wait.cta->slot(), mark.barrier = wait.state->offset;
    if (cause.fault_slot && cause.fault_slot->linear_id() == cause.fault_cta) {
      const Warp& at_fault = *cause.fault_slot->warps()[size_t(warp)];
      if (at_fault.running && at_fault.blocked.on != Blocked::On::nothing) mark.time = at_fault.blocked.since;
    }
    mark.line = line_of(cause.fault_loc), mark.text = cause.text;
    marks.push_back(std::move(mark));
  }
  for (size_t i = 0; i < graph.waits().size(); ++i)
    if (i != root.wait) add(graph.waits()[i], What::victim);
  return marks;
}

}  // namespace

HangReport explain_hang(const std::vector<Cta*>& ctas, models::Cycles cycle, models::Cycles budget,
                        const std::string& replay) {
  const WaitGraph graph(ctas);
  if (graph.waits().empty()) return nobody_runs(cycle, budget, replay);
  const Root root = root_of(graph);
  const Wait& w = graph.waits()[root.wait];
  const std::string who = population(graph);

  HangReport report;
  std::string& text = report.text;
  if (budget == 0) {
    text =
        fmt::format("HANG at cycle {}: {} can never wake\n", grouped(int64_t(cycle)), who) + root_text(graph, root);
    if (const std::string rest = waits_text(graph, root.wait); !rest.empty()) text += "  the others:\n" + rest;
    text += events_text(w);
    report.marks = marks_of(graph, root, cycle);
  } else {
    text = fmt::format("STOPPED at cycle {}: the budget of {} cycles is used up; where the {} are\n",
                       grouped(int64_t(cycle)), grouped(int64_t(budget)), who) +
           waits_text(graph, SIZE_MAX);
  }
  text += fmt::format("  replay: {}\n", replay);

  report.finding = {.id = budget == 0 ? "hang" : "cycle-budget",
                    .barrier = w.barrier.array ? w.barrier.array->name : w.cta->describe(w.blocked, false),
                    .stage = w.barrier.array ? w.barrier.stage : -1,
                    .phase = w.state ? int(w.state->phase) : -1,
                    .role = w.role,
                    .cta = w.cta->linear_id(),
                    .location = line_of(w.blocked.loc),
                    .place = place_of(w.blocked.loc)};
  if (budget > 0) {  // the wait may still end: nobody is at fault
    report.finding.cause = report.finding.message =
        fmt::format("the budget of {} cycles is used up", grouped(int64_t(budget)));
    return report;
  }
  report.finding.fault_role = root.cause.fault_role;
  report.finding.fault_cta = root.cause.fault_cta;
  report.finding.fault_location = line_of(root.cause.fault_loc);
  report.finding.fault_place = place_of(root.cause.fault_loc);
  report.finding.cause = root.cause.text;
  report.finding.message = fmt::format("{} can never wake: {}", warps_text(w.role, w.warps), root.cause.text);
  return report;
}

}  // namespace sm100::sim
