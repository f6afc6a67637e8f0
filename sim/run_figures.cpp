// SPDX-License-Identifier: Apache-2.0
#include "sim/run_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/delay_text.h"
#include "sim/text.h"

namespace sm100::sim {
namespace {

/// The role's entry, which is made where there is none.
RoleTime& entry_of(std::vector<RoleTime>& roles, const std::string& name) {
  const auto role = std::find_if(roles.begin(), roles.end(), [&](const RoleTime& r) { return r.role == name; });
  return role == roles.end() ? roles.emplace_back(RoleTime{.role = name}) : *role;
}

void add_wait(RoleTime& role, const std::string& what, uint64_t cycles) {
  const auto known =
      std::find_if(role.waiting.begin(), role.waiting.end(), [&](const auto& wait) { return wait.first == what; });
  if (known == role.waiting.end())
    role.waiting.emplace_back(what, cycles);
  else
    known->second += cycles;
}

/// What the warp did for CTAs of the kernel.
void add_warp(RoleTime& role, const Cta& cta, const Warp& warp, const Kernel& kernel, models::Cycles stopped) {
  role.warps += 1;
  if (warp.running && &cta.kernel() == &kernel) role.total_cycles += stopped - warp.started;
  for (const Warp::Account& account : warp.accounts) {
    if (account.kernel != &kernel) continue;
    role.total_cycles += account.total_cycles;
    for (const Warp::Waited& waited : account.waiting)
      add_wait(role, cta.describe(waited.first, /*with_stage=*/false, kernel), waited.cycles);
  }
}

/// The slot has run CTAs of the kernel.
bool has_run(const Cta& cta, const Kernel& kernel) {
  if (cta.resident() && &cta.kernel() == &kernel) return true;
  const auto& accounts = cta.all_warps().front()->accounts;
  return std::any_of(accounts.begin(), accounts.end(), [&](const auto& a) { return a.kernel == &kernel; });
}

std::vector<RoleTime> role_times(const EndedRun& run) {
  std::vector<RoleTime> roles;
  for (const Kernel* kernel : run.launches().kernels())
    for (Cta* cta : run.device.slots()) {
      if (!run.launches().one_kernel() && !has_run(*cta, *kernel)) continue;
      for (int w = 0; w < kernel->warps; ++w)
        add_warp(entry_of(roles, kernel->prefix + kernel->role(w)), *cta, *cta->all_warps()[size_t(w)], *kernel,
                 run.stopped);
    }
  for (RoleTime& role : roles)
    std::stable_sort(role.waiting.begin(), role.waiting.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  return roles;
}

/// The last CTA has exited and the last store is visible; of a run that did not complete, where it ended.
uint64_t length_of(const EndedRun& run) {
  if (run.end != RunEnd::completed) return run.stopped;
  models::Cycles end = run.device.observer.last_exit();
  for (Cta* cta : run.device.slots()) {
    end = std::max(end, cta->context().tma.stores_visible());
    for (const auto& warp : cta->all_warps()) end = std::max(end, warp->stores_visible);
  }
  return end;
}

/// Of a launch that has not completed: a finding is in the launch of its CTA.
std::string unfinished_outcome(const EndedRun& run, int launch, const RunResult& result) {
  const Finding* finding = result.findings.empty() ? nullptr : &result.findings.front();
  if (!finding || finding->cta < 0 || run.launches().of_cta(finding->cta) != launch) return "unfinished";
  return run.end == RunEnd::violation ? "findings" : "hang";
}

LaunchTime launch_time(const EndedRun& run, int launch, std::optional<models::Cycles> start,
                       const RunResult& result) {
  models::Gpu& gpu = run.device.gpu;
  LaunchTime time{.begin = start.value_or(0), .end = gpu.visible(launch)};
  if (!run.plan.named()) return time;
  time.name = run.plan.kernel_of(launch).name;
  time.kernel = run.plan.kernel_of(launch).definition->name;
  time.stream = run.launches()[launch].stream;
  const bool ended = start && gpu.ctas_running(launch) == 0 && gpu.clc().waiting(launch) == 0;
  time.outcome = !start ? "not started" : ended ? "completed" : unfinished_outcome(run, launch, result);
  return time;
}

void measure_time(const EndedRun& run, RunResult& result) {
  result.cycles = length_of(run);
  result.sm_clock_ghz = run.scenario.device.device.sm_clock_ghz;
  result.microseconds = double(result.cycles) / result.sm_clock_ghz * 1e-3;
  if (run.end == RunEnd::completed && result.cycles > 0) {
    result.tflops = run.plan.flops() / result.microseconds * 1e-6;
    result.gb_per_s = run.plan.bytes() / result.microseconds * 1e-3;
  }
  for (int launch = 0; launch < run.launches().size(); ++launch)
    if (const auto start = run.device.gpu.first_start(launch); start || run.plan.named())
      result.launches.push_back(launch_time(run, launch, start, result));
  result.roles = role_times(run);
}

void measure_units(const EndedRun& run, RunResult& result) {
  models::Gpu& gpu = run.device.gpu;
  double busy = 0;
  for (int sm = 0; sm < gpu.sms(); ++sm) busy += gpu.sm(sm).tensor_pipe.busy_cycles;
  for (Cta* cta : run.device.slots()) result.filled_bytes += cta->context().tma.filled_bytes();
  result.sms_used = gpu.sms();
  result.tensor_utilization = result.cycles > 0 ? busy / (double(result.cycles) * result.sms_used) : 0;
  result.l2_read_bytes = gpu.memory().l2_read_bytes();
  result.dram_bytes = gpu.memory().dram_bytes();
  result.written_bytes = gpu.memory().written_bytes();
  result.ctas_launched = gpu.ctas_launched();
  result.ctas_by_clc = run.ctas_by_clc();
  result.barrier_events = run.device.observer.barrier_events();
}

/// What was delayed, and the order that came of it.
void measure_schedule(const EndedRun& run, RunResult& result) {
  const models::Jitter& jitter = run.device.gpu.jitter();
  for (const models::Jitter::Replayed& r : jitter.replayed())
    result.delays.push_back({r.delay, delay_text(r, run.launches())});
  result.drawn = jitter.drawn();
  result.completion_order = run.device.observer.completions().order();
  result.completion_pairs = run.device.observer.completions().pairs();
}

/// Kernels print bytes; JSON and consoles take UTF-8.  Others become '?'.
std::string as_utf8(std::string text) {
  const auto continues = [&](size_t at) { return at < text.size() && (uint8_t(text[at]) & 0xc0) == 0x80; };
  for (size_t at = 0; at < text.size();) {
    const auto c = uint8_t(text[at]);
    const size_t length = c < 0x80                ? 1
                          : c >= 0xc2 && c < 0xe0 ? 2
                          : c >= 0xe0 && c < 0xf0 ? 3
                          : c >= 0xf0 && c < 0xf5 ? 4
                                                  : 0;
    size_t have = length == 0 ? 0 : 1;
    while (have > 0 && have < length && continues(at + have)) ++have;
    if (length == 0 || have < length)
      text[at++] = '?';
    else
      at += length;
  }
  return text;
}

/// What hardware would do here and the model does not.
std::vector<std::string> notes_of(const EndedRun& run) {
  std::vector<std::string> notes;
  const LaunchList& launches = run.launches();
  const Kernel& kernel = *launches[0].kernel;
  const bool one_per_sm = run.device.gpu.slots() == run.device.gpu.sms();
  if (launches.one_kernel() && launches[launches.size() - 1].programmatic && one_per_sm &&
      models::occupancy(Device::shape(kernel).resources(), run.scenario.device).ctas >= 2)
    notes.push_back(fmt::format(
        "two CTAs of {} bytes of shared memory fit on one SM: hardware may start a dependent's CTA beside "
        "another, the model waits for an SM of its own",
        grouped(kernel.smem_bytes)));
  for (const models::Violation& n : run.device.observer.notes()) {
    const std::string place = line_of(n.source.loc);
    const std::string note = fmt::format("{}: {}{}{}", n.id, n.message, place.empty() ? "" : "  ", place);
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);  // of several warps
  }
  return notes;
}

}  // namespace

void measure(const EndedRun& run, RunResult& result) {
  result.title = run.plan.title();
  if (!run.plan.named()) result.chosen_configuration = run.plan.run_of(0).chosen_configuration();
  measure_time(run, result);
  measure_units(run, result);
  measure_schedule(run, result);
  result.notes = notes_of(run);
  result.printed = as_utf8(run.device.observer.printed());
}

}  // namespace sm100::sim
