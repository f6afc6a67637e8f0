// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>
#include <systemc>

#include "kernels/host/problem.h"
#include "sim/delay_text.h"
#include "sim/device.h"
#include "sim/finding_record.h"
#include "sim/hang_report.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/huge_pages.h"
#include "sim/kernel_code.h"
#include "sim/text.h"
#include "sim/verdict.h"

namespace sm100::sim {

using namespace host;

namespace {

/// Simulated cycles between two looks at the progress and the cycle budget.
constexpr models::Cycles kSlice = 20000;

std::vector<RoleTime> role_times(const std::vector<Cta*>& slots, const Kernel& kernel) {
  std::vector<RoleTime> roles;
  for (Cta* cta : slots)
    for (const auto& warp : cta->warps()) {
      const std::string name = kernel.role(warp->index);
      auto role = std::find_if(roles.begin(), roles.end(), [&](const RoleTime& r) { return r.role == name; });
      if (role == roles.end()) role = roles.insert(roles.end(), RoleTime{.role = name});
      role->warps += 1;
      role->total_cycles += warp->total_cycles + (warp->running ? models::now() - warp->started : 0);
      for (const Warp::Waited& waited : warp->waiting) {
        const std::string what = cta->describe(waited.first, /*with_stage=*/false);
        auto w = std::find_if(role->waiting.begin(), role->waiting.end(),
                              [&](const auto& x) { return x.first == what; });
        if (w == role->waiting.end()) w = role->waiting.insert(role->waiting.end(), {what, 0});
        w->second += waited.cycles;
      }
    }
  for (RoleTime& r : roles)
    std::stable_sort(r.waiting.begin(), r.waiting.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
  return roles;
}

/// What a warp was in the middle of when the run ended shows in the trace up to that moment.
void close_open_spans(const std::vector<Cta*>& slots, traces::Recorder& recorder) {
  for (Cta* cta : slots)
    for (const auto& warp : cta->warps())
      for (; !warp->open_spans.empty(); warp->open_spans.pop_back()) {
        traces::Span span = warp->open_spans.back();
        span.end = std::max<uint64_t>(span.begin, models::now());
        recorder.span(span);
      }
  for (Cta* cta : slots)
    for (const auto& held : cta->sm().tmem.allocations())
      cta->observer().unit_span({.kind = models::UnitSpanKind::tmem_alloc,
                                 .begin = held.since,
                                 .end = models::now(),
                                 .sm = cta->sm().id,
                                 .source = held.by,
                                 .column = int(held.column),
                                 .columns = int(held.columns)});
}

/// Operands, result and their float64 copies must fit, or the operating system would end the run without a word.
void check_memory(const Scenario& s, const Problem& problem) {
  if (s.data == DataMode::none) return;
  double bytes = problem.flops() > 0 ? 8.0 * s.n * s.k : 0;  // the float64 copy of an operand, at most
  for (const Tensor& tensor : problem.tensors()) bytes += double(tensor.bytes);
  bytes += double(s.launches - 1) * double(problem.tensors().back().bytes);
  const double physical = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
  if (bytes > 0.9 * physical)
    throw InputError(fmt::format("{}: {} with data needs {:.0f} GiB, this machine has {:.0f}; use --data none",
                                 s.path.string(), problem.title(), bytes / (1 << 30), physical / (1 << 30)));
}

/// SMs that the grid can use at once, of those that the scenario leaves it; with PDL, grids that overlap.
int sms_used(const Scenario& s, const Kernel& kernel) {
  try {
    models::Gpu::Launch launch = Device::shape(kernel);
    if (kernel.pdl) launch.grid.x *= uint32_t(kernel.launches);
    return models::Gpu::first_wave_sms(launch, s.device, s.sms_in_run());
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("{}: profile {}: {}", s.path.string(), s.profile, error.what()));
  }
}

/// What hardware would do here and the model does not.
std::vector<std::string> notes_of(const Scenario& s, const Kernel& kernel) {
  if (!kernel.pdl || kernel.launches == 1 || !models::Gpu::two_ctas_fit(Device::shape(kernel), s.device)) return {};
  return {fmt::format(
      "two CTAs of {} bytes of shared memory fit on one SM: hardware may start a dependent's CTA beside "
      "another, the model waits for an SM of its own",
      grouped(kernel.smem_bytes))};
}

uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss) * 1024;
}

std::string replay_command(const Scenario& scenario) {
  std::string command = fmt::format("sm100sim run {}", shell_word(scenario.path.string()));
  for (const std::string& set : scenario.overrides) command += fmt::format(" --set {}", shell_word(set));
  return command;
}

Finding finding_of(const models::Violation& v, const Kernel& kernel, const std::vector<Cta*>& slots) {
  const BarrierName name = barrier_name(kernel, v.barrier);
  Finding f{.id = v.id, .cause = v.message, .message = v.message};
  if (name.array) {
    f.barrier = name.array->name;
    f.stage = name.stage;
    // After a CTA's exit its SM may hold another's barriers.
    if (const auto* state = slots[size_t(v.sm)]->sm().mbarrier.find(v.barrier); state && v.id != "MB12")
      f.phase = int(state->phase);
  }
  if (v.source.warp >= 0) f.role = kernel.role(v.source.warp);
  f.cta = v.source.cta >= 0 ? v.source.cta : slots[size_t(v.sm)]->linear_id();
  f.location = line_of(v.source.loc);
  return f;
}

/// What, where and the details; the same for findings and warnings.
std::string violation_text(const models::Violation& v, const Finding& f, int barrier_cta, const Kernel& kernel) {
  std::string text = fmt::format("{} {} at cycle {}: {}\n", v.warning ? "WARNING" : "FINDING", f.id,
                                 grouped(int64_t(v.time)), f.message);
  std::string where = cta_name(f.cta, kernel);
  if (!f.role.empty()) where += fmt::format(", {} (warp {})", f.role, v.source.warp);
  if (!f.barrier.empty()) where += fmt::format(", {}[{}]", f.barrier, f.stage);
  if (!f.barrier.empty() && barrier_cta != f.cta && v.id != "MB12") where += fmt::format(" of CTA {}", barrier_cta);
  if (!f.barrier.empty() && f.phase >= 0) where += fmt::format(" phase {}", f.phase);
  text += fmt::format("  where: {}{}{}\n", where, f.location.empty() ? "" : "  ", f.location);
  for (const std::string& detail : v.details) text += "  " + detail + "\n";
  return text;
}

std::string violation_report(const models::Violation& v, const Finding& f, int barrier_cta, const Kernel& kernel,
                             const std::string& replay) {
  return violation_text(v, f, barrier_cta, kernel) +
         fmt::format(
             "  the run ends here, its results are not checked\n  more: sm100sim explain {}\n  replay: {}\n", f.id,
             replay);
}

/// What is wrong because the result is: reads of what nobody wrote, where it is no number, and output that nobody wrote.
void explain_mismatch(Device& device, const Kernel& kernel, const std::vector<Cta*>& slots,
                      const std::string& replay, RunResult& result) {
  const host::Check& check = result.check;
  const bool no_number = check.wrong_element && std::isnan(check.wrong_element->value);
  const auto tail = [&](std::string_view id) {
    host::Check numbers = check;
    numbers.unwritten.reset();
    return fmt::format("  the result: WRONG: {}\n  more: sm100sim explain {}\n  replay: {}\n", numbers.text(), id,
                       replay);
  };
  for (const models::Violation& v : device.observer.suspects()) {
    Finding f = finding_of(v, kernel, slots);
    const int cta = slots[size_t(v.sm)]->linear_id();
    if (!no_number) {  // it may have been for nothing
      models::Violation warning = v;
      warning.warning = true;
      record_finding(device.observer, warning, f, violation_text(warning, f, cta, kernel));
      result.warnings.push_back(std::move(f));
      continue;
    }
    const std::string report = violation_text(v, f, cta, kernel) + tail(v.id);
    record_finding(device.observer, v, f, report);
    if (result.report.empty()) result.report = report;
    result.findings.push_back(std::move(f));
  }
  if (check.unwritten && result.findings.empty()) {
    models::Violation v{.id = "GM4",
                        .message = fmt::format("nobody has written {}", check.unwritten->text()),
                        .time = result.cycles,
                        .sm = 0};
    Finding f{.id = v.id, .cause = v.message, .message = v.message};
    const std::string report =
        fmt::format("FINDING GM4 at cycle {}: {}\n", grouped(int64_t(v.time)), v.message) + tail(v.id);
    if (device.observer.recorder())
      device.observer.recorder()->finding({v.time, 0, v.id, false, v.message, report});
    result.report = report;
    result.findings.push_back(std::move(f));
  }
  if (!result.findings.empty()) result.outcome = Outcome::findings;
}

}  // namespace

Prepared prepare(const Scenario& scenario) {
  Prepared prepared;
  const std::unique_ptr<Problem> problem = make_problem(scenario);
  check_memory(scenario, *problem);
  const std::vector<Tensor> tensors = problem->tensors();
  prepared.tensors.resize(tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (scenario.data == DataMode::none && !tensors[i].locks) continue;
    prepared.tensors[i].resize(tensors[i].bytes);
    problem->fill(i, prepared.tensors[i].data());
  }
  return prepared;
}

RunResult run_simulation(const Scenario& scenario, traces::Recorder* recorder, const RunCallbacks& callbacks,
                         const RunAmongMany& among) {
  const auto wall_start = std::chrono::steady_clock::now();
  use_huge_pages();
  // SystemC would print to stdout, where results go.
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);

  const std::unique_ptr<Problem> problem = make_problem(scenario);
  Kernel kernel = kernel_of(*problem);
  if (kernel.smem_bytes > uint32_t(scenario.device.device.smem_bytes_per_cta_max))
    throw InputError(fmt::format("{}: the kernel needs {} bytes of shared memory, a CTA of profile {} has {}",
                                 scenario.path.string(), kernel.smem_bytes, scenario.profile,
                                 scenario.device.device.smem_bytes_per_cta_max));
  check_memory(scenario, *problem);
  kernel.launches = scenario.launches;
  const uint64_t ctas = kernel.ctas() * uint64_t(kernel.launches);
  const int sms = sms_used(scenario, kernel);
  const bool data = scenario.data == DataMode::full;
  Device device(scenario.device, kernel,
                {.sms = sms,
                 .with_data = data,
                 .accumulation =
                     scenario.numerics == Numerics::b200 ? models::Accumulation::b200 : models::Accumulation::fast,
                 .jitter_seed = scenario.jitter},
                recorder);
  std::vector<models::Delay> delays;
  for (const DelaySpec& spec : scenario.delays) delays.push_back(spec.delay);
  device.gpu.jitter().replay(delays);
  if (among.record_delays) device.gpu.jitter().record();
  const Prepared* prepared = among.prepared;
  const std::vector<std::vector<GlobalAddr>> tensors =
      allocate_tensors(*problem, scenario, device.gpu.memory(), prepared ? &prepared->tensors : nullptr);
  const std::vector<Tensor> described = problem->tensors();
  for (const auto& launch : tensors) kernel.outputs.push_back({launch.back(), described.back().bytes});
  if (scenario.l2 == L2State::dirty) device.gpu.memory().make_dirty();
  if (scenario.l2 == L2State::warm)  // all but the output, which is written and not read
    for (size_t i = 0; i + 1 < described.size(); ++i) device.gpu.memory().warm(tensors[0][i], described[i].bytes);
  std::vector<uint64_t> altered(scenario.faults.size(), 0);
  bind_code(kernel, scenario, tensors, altered);
  if (recorder) {
    traces::Metadata& metadata = recorder->trace().metadata;
    metadata.source = "sim";
    metadata.device = scenario.device.name;
    metadata.scenario = scenario.name;
    metadata.configuration = scenario.trace_configuration_json();
    metadata.ticks_per_second = scenario.device.device.sm_clock_ghz * 1e9;
    metadata.seed = scenario.seed;
  }

  if (scenario.held_sms > 0)
    device.gpu.hold(scenario.sms_in_run() - scenario.held_sms, scenario.sms_in_run(),
                    scenario.device.cycles_of_ns(scenario.held_us * 1e3));
  if (scenario.hand_out_descending) device.gpu.clc().hand_out_descending();
  std::optional<HazardChecker> hazards;
  if (scenario.hazards) device.observer.set_hazards(&hazards.emplace(kernel, sms, device.observer));
  device.launch();
  const auto violated = [&] { return !device.observer.violations().empty(); };
  const uint64_t cluster_ctas = uint64_t(kernel.cluster.x) * kernel.cluster.y * kernel.cluster.z;
  const auto cancelled_ctas = [&] { return device.gpu.clc().cancelled() * cluster_ctas; };
  const auto finished = [&] {
    return device.observer.ctas_exited() + cancelled_ctas() == ctas && device.gpu.ctas_running() == 0;
  };
  bool out_of_cycles = false;
  models::Cycles horizon = 0;
  while (!violated()) {
    // Without an event at the horizon the clock stops short of it, so the horizon is counted by itself.
    horizon += kSlice;
    if (scenario.max_cycles > 0) horizon = std::min<models::Cycles>(horizon, scenario.max_cycles);
    sc_core::sc_start(models::cycles(horizon - models::now()), sc_core::SC_EXIT_ON_STARVATION);
    if (callbacks.progress)
      callbacks.progress(double(cancelled_ctas() + device.observer.ctas_exited()) / double(ctas), models::now());
    if (!sc_core::sc_pending_activity()) break;
    if (scenario.max_cycles > 0 && horizon >= scenario.max_cycles) {
      out_of_cycles = true;
      break;
    }
  }

  RunResult result;
  const std::vector<Cta*> slots = device.slots();
  if (recorder) close_open_spans(slots, *recorder);
  const std::string replay = replay_command(scenario);
  for (Cta* cta : slots)
    for (const auto& warp : cta->warps()) warp->account_open_wait();
  if (violated()) {
    result.outcome = Outcome::findings;
    for (const models::Violation& v : device.observer.violations()) {
      const Finding& found = result.findings.emplace_back(finding_of(v, kernel, slots));
      const std::string report = violation_report(v, found, slots[size_t(v.sm)]->linear_id(), kernel, replay);
      record_finding(device.observer, v, found, report);
      if (result.report.empty()) result.report = report;
    }
  } else if (!finished()) {
    result.outcome = Outcome::hang;
    const models::Cycles stopped = out_of_cycles ? horizon : models::now();
    HangReport hang = explain_hang(slots, stopped, out_of_cycles ? scenario.max_cycles : 0, replay);
    record_hang(device.observer, hang, stopped);
    result.report = std::move(hang.text);
    result.findings.push_back(std::move(hang.finding));
  }

  for (const models::Violation& w : device.observer.warnings()) {
    const Finding& found = result.warnings.emplace_back(finding_of(w, kernel, slots));
    record_finding(device.observer, w, found, violation_text(w, found, slots[size_t(w.sm)]->linear_id(), kernel));
  }
  result.fault_matches = altered;
  for (const models::Jitter::Replayed& r : device.gpu.jitter().replayed())
    result.delays.push_back({r.delay, delay_text(r, kernel)});
  result.drawn = device.gpu.jitter().drawn();
  result.completion_order = device.observer.completions().order();
  result.completion_pairs = device.observer.completions().pairs();

  models::Cycles end = device.observer.last_exit();
  double busy = 0;
  for (Cta* cta : slots) {
    end = std::max(end, cta->sm().tma.stores_visible());
    for (const auto& warp : cta->warps()) end = std::max(end, warp->stores_visible);
    busy += cta->sm().umma.busy_cycles();
    result.filled_bytes += cta->sm().tma.filled_bytes();
  }
  result.cycles = result.outcome == Outcome::pass ? end : models::now();
  if (recorder) recorder->trace().metadata.run_ticks = result.cycles;
  result.sm_clock_ghz = scenario.device.device.sm_clock_ghz;
  result.microseconds = double(result.cycles) / result.sm_clock_ghz * 1e-3;
  result.title = problem->title();
  if (result.outcome == Outcome::pass && result.cycles > 0) {
    result.tflops = problem->flops() * kernel.launches / result.microseconds * 1e-6;
    result.gb_per_s = problem->bytes() * kernel.launches / result.microseconds * 1e-3;
  }
  result.tensor_utilization = result.cycles > 0 ? busy / (double(result.cycles) * sms) : 0;
  result.sms_used = sms;
  result.l2_read_bytes = device.gpu.memory().l2_read_bytes();
  result.dram_bytes = device.gpu.memory().dram_bytes();
  result.ctas_launched = device.gpu.ctas_launched();
  result.ctas_by_clc = cancelled_ctas();
  result.roles = role_times(slots, kernel);
  for (int launch = 0; launch < kernel.launches; ++launch)
    if (const auto start = device.gpu.first_start(launch))
      result.launches.push_back({*start, device.gpu.visible(launch)});
  result.notes = notes_of(scenario, kernel);
  for (const models::Violation& n : device.observer.notes())
    result.notes.push_back(fmt::format("{}: {}", n.id, n.message));
  const bool compare = result.outcome == Outcome::pass && data;
  for (int launch = 0; compare && launch < kernel.launches; ++launch) {
    const uint64_t hash = hash_of(device.gpu.memory().data(tensors[size_t(launch)].back(), described.back().bytes),
                                  described.back().bytes);
    result.output_hash = launch == 0 ? hash : hash ^ result.output_hash * 0x100000001b3u;
  }
  const bool known = compare && prepared && prepared->right_output == result.output_hash;
  if (known) {
    result.check = prepared->check;
    result.checked_launch = kernel.launches - 1;
    result.verified = true;
  }
  for (int launch = 0; compare && !known && launch < kernel.launches && result.outcome == Outcome::pass; ++launch) {
    std::vector<const uint8_t*> bytes;
    for (size_t i = 0; i < described.size(); ++i)
      bytes.push_back(device.gpu.memory().data(tensors[size_t(launch)][i], described[i].bytes));
    result.check = problem->check(bytes);
    result.checked_launch = launch;
    result.verified = result.check.ok;
    if (!result.verified) result.outcome = Outcome::mismatch;
  }
  if (result.outcome == Outcome::mismatch) explain_mismatch(device, kernel, slots, replay, result);
  result.barrier_events = device.observer.barrier_events();
  result.not_checked = parts_not_checked(scenario, result);
  if (recorder) {
    recorder->trace().metadata.outcome = name(result.outcome);
    recorder->trace().metadata.verdict = name(verdict_of(result));
  }
  result.wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_start).count();
  result.peak_rss_bytes = peak_rss_bytes();
  return result;
}

}  // namespace sm100::sim
