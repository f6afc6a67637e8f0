// SPDX-License-Identifier: Apache-2.0
#include "sim/run_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/finding_record.h"
#include "sim/hang_report.h"
#include "sim/hazards/barriers_meant.h"
#include "sim/provenance/explanation.h"
#include "sim/ring_slips.h"
#include "sim/role_work.h"
#include "sim/text.h"

namespace sm100::sim {
namespace {

std::string replay_command(const host::Scenario& scenario) {
  std::string command = fmt::format("sm100sim run {}", shell_word(scenario.path.string()));
  for (const std::string& set : scenario.overrides) command += fmt::format(" --set {}", shell_word(set));
  return command;
}

/// The last lines of a report.
std::string more_lines(std::string_view id, const host::Scenario& scenario) {
  return fmt::format("  more: sm100sim explain {}\n  replay: {}\n", id, replay_command(scenario));
}

/// The CTA slot of the unit that saw it.
Cta& slot_of(const models::Violation& v, const EndedRun& run) { return *run.device.slots()[size_t(v.slot)]; }

/// Kernel of the warp that the violation names.
const Kernel& kernel_at(const models::Violation& v, const EndedRun& run) {
  return v.source.cta >= 0 ? run.launches().kernel_of_cta(v.source.cta) : slot_of(v, run).kernel();
}

Finding finding_of(const models::Violation& v, const EndedRun& run) {
  Cta& slot = slot_of(v, run);
  const BarrierName name = barrier_name(kernel_at(v, run), v.barrier);
  Finding f{.id = v.id, .cause = v.message, .message = v.message};
  if (name.array) {
    f.barrier = name.array->name;
    f.stage = name.stage;
    // After a CTA's exit its SM may hold another's barriers.
    if (const auto* state = slot.context().mbarrier.find(v.barrier); state && v.id != "MB12" && v.id != "CR3")
      f.phase = int(state->phase);
  }
  if (v.source.warp >= 0) f.role = kernel_at(v, run).role(v.source.warp);
  f.cta = v.source.cta >= 0 ? v.source.cta : slot.linear_id();
  f.location = line_of(v.source.loc), f.place = place_of(v.source.loc);
  return f;
}

/// "CTA 0, mma (warp 6), input_full[2] phase 3"
std::string place_text(const models::Violation& v, const Finding& f, const EndedRun& run) {
  std::string where = run.launches().cta_name(f.cta);
  if (!f.role.empty()) where += fmt::format(", {} (warp {})", f.role, v.source.warp);
  if (f.barrier.empty()) return where;
  where += fmt::format(", {}[{}]", f.barrier, f.stage);
  const int barrier_cta = slot_of(v, run).linear_id();
  if (barrier_cta != f.cta && v.id != "MB12") where += fmt::format(" of CTA {}", barrier_cta);
  if (f.phase >= 0) where += fmt::format(" phase {}", f.phase);
  return where;
}

/// ", by load (warp 2) of CTA 0 at cycle 1,234  gemm.ptx:61"
std::string doer_text(const models::Place& place, const EndedRun& run) {
  const models::Source& by = place.source;
  if (by.warp < 0 || by.cta < 0) return fmt::format(", at cycle {}", grouped(int64_t(place.time)));
  return fmt::format(", by {} (warp {}) of CTA {} at cycle {}  {}",
                     run.launches().kernel_of_cta(by.cta).role(by.warp), by.warp, by.cta,
                     grouped(int64_t(place.time)), line_of(by.loc));
}

/// What, where and the details; the same for findings and warnings.
std::string violation_text(const models::Violation& v, const Finding& f, const EndedRun& run) {
  std::string text = fmt::format("{} {} at cycle {}: {}\n", v.warning ? "WARNING" : "FINDING", f.id,
                                 grouped(int64_t(v.time)), f.message);
  text += fmt::format("  where: {}{}{}\n", place_text(v, f, run), f.location.empty() ? "" : "  ", f.location);
  for (const std::string& detail : v.details) text += "  " + detail + "\n";
  for (const models::Place& place : v.related) text += fmt::format("  {}{}\n", place.text, doer_text(place, run));
  return text;
}

/// Of MB5: who has taken the last arrival of a phase that still waits for bytes.
void add_arrival_before(models::Violation& v, const EndedRun& run) {
  const auto* state = slot_of(v, run).context().mbarrier.find(v.barrier);
  if (v.id != "MB5" || !state || decode_mbarrier(state->word).tx == 0) return;
  const uint64_t kept = std::min<uint64_t>(state->events, models::Mbarrier::State::kHistory);
  for (uint64_t back = 1; back <= kept; ++back) {
    const models::MbarrierEvent& event = state->history[(state->events - back) % models::Mbarrier::State::kHistory];
    if (event.phase != state->phase || !event.arrives || event.source.kind != models::ActorKind::warp) continue;
    const bool by_lanes = event.time == v.time && event.source.cta == v.source.cta &&
                          event.source.warp == v.source.warp && event.source.loc.line() == v.source.loc.line();
    v.details.insert(
        v.details.begin(),
        by_lanes
            ? std::string("likely: several lanes execute what one was meant to: it has arrived already")
            : fmt::format("before: by {} (warp {}) of CTA {} at cycle {}  {}",
                          run.launches().kernel_of_cta(event.source.cta).role(event.source.warp), event.source.warp,
                          event.source.cta, grouped(int64_t(event.time)), line_of(event.source.loc)));
    if (!by_lanes)
      v.details.insert(
          v.details.begin() + 1,
          "likely: two fills share this barrier, or the second one has not waited for the right release, "
          "or one release came too often");
    return;
  }
}

/// A warning before the finding, of which it seldom is anything but a consequence: a wait that passed at once (MB8)
/// or a named barrier that mixes groups of warps (NB4) in the same cluster, or lanes of another quarter (TC2) at
/// the same line.
void add_earlier_warning(models::Violation& v, const EndedRun& run) {
  if (v.id == "MB8" || v.source.cta < 0) return;
  const auto in_cluster = [&](const models::Violation& w) {
    const Cta& at = slot_of(v, run);
    for (uint32_t r = 0; r < at.cluster_ctas(); ++r)
      if (at.peer_id(r) == w.source.cta) return true;
    return w.source.cta == v.source.cta;
  };
  const models::Violation* before = nullptr;
  for (const models::Violation& w : run.device.observer.warnings()) {
    const bool of_waits = (w.id == "MB8" || w.id == "NB4") && w.time <= v.time && in_cluster(w);
    // Who takes another step's stage for its own reads what is not there yet, or hands back what others still read.
    const bool of_work = w.id == "WK1" && w.time <= v.time && w.source.cta == v.source.cta &&
                         (v.id == "TM5" || v.id == "TC7" || v.id == "TM7");
    if (of_waits || of_work || (w.id == "TC2" && line_of(w.source.loc) == line_of(v.source.loc))) before = &w;
  }
  if (!before) return;
  const Kernel& kernel = kernel_at(*before, run);
  const std::string role = kernel.role(before->source.warp);
  if (before->id != "MB8") {
    v.message += fmt::format("; before it ({}), {}", before->id, before->message);
    return;
  }
  const bool told = std::any_of(v.details.begin(), v.details.end(), [](const std::string& line) {
    return line.find("passed at once") != std::string::npos;
  });
  if (told || v.message.find("passed at once") != std::string::npos) return;
  v.message +=
      fmt::format("; before it, a wait of {} for {} passed at once", role, barrier_text(kernel, before->barrier));
  v.details.insert(v.details.begin(),
                   fmt::format("before it (MB8), by {} of CTA {}: {}  {}", role, before->source.cta,
                               before->message, line_of(before->source.loc)));
}

/// What is known of work tiles: the first into the message, the others below it.
void add_tiles(models::Violation& v, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  v.message += "; " + lines.front();
  v.details.insert(v.details.begin(), lines.begin() + 1, lines.end());
}

/// Of TC13: a role of the CTA has gone through a tile without a step, where its other tiles have some.
void add_tile_without_steps(models::Violation& v, const EndedRun& run) {
  if (v.id != "TC13") return;
  const Cta& cta = slot_of(v, run);
  for (const auto& warp : cta.warps()) {
    const TileWork* without = nullptr;
    bool steps = false;
    for (size_t i = 0; i < warp->tiles.size(); ++i) {
      const TileWork& tile = warp->tiles[i];
      if (tile.cta != v.source.cta) continue;
      steps |= tile.steps > 0;
      if (tile.steps == 0 && !(warp->in_tile() && i + 1 == warp->tiles.size())) without = &tile;
    }
    if (!steps || !without) continue;
    v.message += fmt::format("; {} has gone through tile ({}, {}) without a step along K",
                             cta.kernel().role(warp->index), without->m, without->n);
    return;
  }
}

/// Of MB3: the address of a barrier that does not exist follows from a tile that the role should not have.
void add_other_work(models::Violation& v, const EndedRun& run) {
  if (v.id != "MB3") return;
  const Cta& cta = slot_of(v, run);
  if (cta.linear_id() != v.source.cta) return;
  if (const auto d = work_difference(cta, false)) v.message += "; " + d->text;
}

/// Of TM5, two copies that overlap: they are of one tensor, where a stage has two.
void add_one_operand(models::Violation& v, const EndedRun& run) {
  if (v.id != "TM5" || v.source.cta < 0 || v.source.warp < 0) return;
  const Cta& cta = slot_of(v, run);
  if (cta.linear_id() != v.source.cta) return;
  const Warp& warp = *cta.warps()[size_t(v.source.warp)];
  const BarrierName name = barrier_name(cta.kernel(), v.barrier);
  const auto array = name.array ? size_t(name.array - cta.kernel().barriers.data()) : warp.use.size();
  if (array >= warp.use.size()) return;
  const auto& boxes = warp.use[array].boxes;
  if (boxes[0].tensor == 0 || boxes[1].tensor != 0) return;
  if (const std::string text = provenance::one_operand_alone(run, v.source.cta, boxes[0].tensor); !text.empty())
    v.message += "; " + text;
}

void add_finding(Finding finding, std::string report, RunResult& result) {
  if (result.report.empty()) result.report = std::move(report);
  result.findings.push_back(std::move(finding));
}

void report_violations(const EndedRun& run, RunResult& result) {
  for (models::Violation v : run.device.observer.violations()) {
    add_arrival_before(v, run);
    add_earlier_warning(v, run);
    if ((v.id == "TM10" || v.id == "TM1") && v.source.cta >= 0) {
      add_tiles(v, provenance::maps_that_differ(run, v.source.cta));
      add_tiles(v, provenance::stray_tiles(run, v.source.cta));
    }
    if (v.id == "GM3" && v.global_address != 0 && v.places.size() == 2)
      add_tiles(v, provenance::tiles_of_race(run, v.global_address, v.places[0].source.cta, v.places[1].source.cta,
                                             v.places[0].text == v.places[1].text));
    if (v.id == "GM1" && v.source.cta >= 0) add_tiles(v, provenance::stray_tiles(run, v.source.cta));
    if (v.id == "GM7" && v.source.cta >= 0) {
      add_tiles(v, provenance::maps_that_differ(run, v.source.cta));
      add_tiles(v, provenance::read_of_output(run, v.source.cta, v.global_address));
    }
    add_other_work(v, run);
    add_one_operand(v, run);
    add_ring_slips(v, run);
    const Finding f = finding_of(v, run);
    const std::string report = violation_text(v, f, run) + "  the run ends here, its results are not checked\n" +
                               more_lines(f.id, run.scenario);
    record_finding(run.device.observer, v, f, report);
    add_finding(f, report, result);
  }
}

void report_hang(const EndedRun& run, RunResult& result) {
  const models::Cycles budget = run.end == RunEnd::out_of_cycles ? run.scenario.max_cycles : 0;
  HangReport hang = explain_hang(run.device.slots(), run.stopped, budget, replay_command(run.scenario));
  record_hang(run.device.observer, hang, run.stopped);
  add_finding(std::move(hang.finding), std::move(hang.text), result);
}

void report_warning(const models::Violation& v, const EndedRun& run, RunResult& result) {
  const Finding& f = result.warnings.emplace_back(finding_of(v, run));
  record_finding(run.device.observer, v, f, violation_text(v, f, run));
}

/// What a report says of the numbers, and its last lines.
std::string numbers_text(std::string_view id, const EndedRun& run, const RunResult& result) {
  host::Check numbers = result.check;
  const bool only_foreign = !numbers.unwritten && !numbers.wrong_element && numbers.relative_error <= numbers.limit;
  numbers.unwritten.reset(), numbers.foreign.reset();
  return fmt::format("  the result: {}: {}\n", only_foreign ? "right" : "WRONG", numbers.text()) +
         more_lines(id, run.scenario);
}

/// A read of what nobody wrote; it may have been for nothing unless the result is no number.
void report_suspect(models::Violation suspect, const EndedRun& run, RunResult& result) {
  const host::Check& check = result.check;
  if (!check.wrong_element || !std::isnan(check.wrong_element->value)) {
    suspect.warning = true;
    return report_warning(suspect, run, result);
  }
  add_earlier_warning(suspect, run);
  add_tile_without_steps(suspect, run);
  const Finding f = finding_of(suspect, run);
  const std::string report = violation_text(suspect, f, run) + numbers_text(f.id, run, result);
  record_finding(run.device.observer, suspect, f, report);
  add_finding(f, report, result);
}

/// GM4, GM5.  No warp and no SM is known that should have written, or should not.
void report_output(const std::string& id, const std::string& message, const EndedRun& run, RunResult& result) {
  const std::string report =
      fmt::format("FINDING {} at cycle {}: {}\n", id, grouped(int64_t(result.cycles)), message) +
      numbers_text(id, run, result);
  if (traces::Recorder* recorder = run.device.observer.recorder())
    recorder->finding({result.cycles, 0, id, false, message, report});
  add_finding({.id = id, .cause = message, .message = message}, report, result);
}

}  // namespace

void report_end(const EndedRun& run, RunResult& result) {
  switch (run.end) {
    case RunEnd::completed: return;
    case RunEnd::violation: return report_violations(run, result);
    case RunEnd::hang:
    case RunEnd::out_of_cycles: return report_hang(run, result);
  }
}

void report_warnings(const EndedRun& run, Comparison numbers, RunResult& result) {
  for (const models::Violation& w : run.device.observer.warnings()) {
    // What roles do differently follows from a hang or a finding, or its report says it; stages that are left over
    // are how kernels end that stop early.
    if (w.id.starts_with("WK") && run.end != RunEnd::completed) continue;
    if (w.id == "WK3" && numbers == Comparison::right) continue;
    report_warning(w, run, result);
  }
  if (run.end == RunEnd::completed && numbers == Comparison::right)
    for (Finding& f : provenance::tiles_outside(run)) result.warnings.push_back(std::move(f));
}

void list_suspects(const EndedRun& run, RunResult& result) {
  for (const models::Violation& v : run.device.observer.suspects()) {
    const Finding f = finding_of(v, run);
    result.suspects.push_back(
        fmt::format("{}: {}{}{}", f.id, f.message, f.location.empty() ? "" : "  ", f.location));
  }
}

void explain_wrong_numbers(const EndedRun& run, RunResult& result) {
  for (const models::Violation& suspect : run.device.observer.suspects()) report_suspect(suspect, run, result);
  const host::Check& check = result.check;
  if (check.unwritten && result.findings.empty())
    report_output("GM4", fmt::format("nobody has written {}", check.unwritten->text()), run, result);
  if (check.foreign && result.findings.empty())
    report_output("GM5", fmt::format("written, and not the kernel's: {}", check.foreign->text()), run, result);
}

}  // namespace sm100::sim
