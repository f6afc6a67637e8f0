// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/summary.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/report_lines.h"
#include "sim/text.h"
#include "sim/verdict.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

constexpr size_t kMostWaits = 3;  ///< shown per role

/// Two or three digits, never an exponent.
std::string three_digits(double value) {
  return fmt::format("{:.{}f}", value, value >= 100 ? 0 : value >= 10 ? 1 : value >= 0.1 ? 2 : 3);
}

std::string headline(const Scenario& s, const RunResult& r) {
  const std::string what =
      fmt::format("{}: {} on {} of {}", s.name, r.title, plural(uint64_t(r.sms_used), "SM"), s.device.name);
  // A report says what happened in its own first line.
  if (!r.report.empty()) return r.report + (r.report.back() == '\n' ? "" : "\n") + line("scenario", what);
  if (r.outcome != Outcome::pass) return fmt::format("MISMATCH  {}\n", what);
  std::string verdict = std::string(name(verdict_of(r)));
  if (!r.warnings.empty()) {
    const std::string warnings = plural(r.warnings.size(), "warning");
    verdict = verdict_of(r) == Verdict::clean ? warnings : verdict + ", " + warnings;
  }
  return fmt::format("PASS, {}  {}\n", verdict, what);
}

/// What the verdict leaves out, below the first line; nothing when all was checked.
std::string not_checked_lines(const RunResult& r) {
  std::string text;
  for (const std::string& part : r.not_checked) text += line("not checked", part);
  return text;
}

/// "gemm", or "launch 1"
std::string name_of(const std::vector<LaunchTime>& launches, size_t i) {
  return i < launches.size() && !launches[i].name.empty() ? launches[i].name : fmt::format("launch {}", i);
}

std::string verification(const Scenario& s, const RunResult& r) {
  if (s.data == DataMode::none) return "no (data = \"none\")";
  if (!r.check.compared()) return fmt::format("no ({})", r.check.text());
  const std::string rows =
      r.check.rows < r.check.of_rows
          ? fmt::format(", {} of {} rows compared", grouped(r.check.rows), grouped(r.check.of_rows))
          : "";
  const std::string of = s.launches == 1 ? ""
                         : r.verified
                             ? fmt::format(", as all {} launches' outputs are", s.launches)
                             : fmt::format(", output of {}", name_of(r.launches, size_t(r.checked_launch)));
  return (r.verified ? "yes: " : "WRONG: ") + r.check.text() + rows + of;
}

std::string bytes(uint64_t count) {
  return count < 1000000 ? fmt::format("{} kB", three_digits(double(count) * 1e-3))
                         : fmt::format("{} MB", three_digits(double(count) * 1e-6));
}

std::string duration(double microseconds) {
  return microseconds < 1000 ? three_digits(microseconds) + " us" : three_digits(microseconds / 1000) + " ms";
}

/// A table of where each role spent its time.  Waits in traces are longer: they begin with their first try_wait.
std::string role_lines(const RunResult& r) {
  if (r.roles.empty()) return "";
  size_t width = 11;
  for (const RoleTime& role : r.roles) width = std::max(width, role.role.size());
  std::string text = fmt::format("  {:<{}}{:>9}   {}\n", "roles", width + 2, "awake", "asleep, waiting for");
  for (const RoleTime& role : r.roles) {
    const double total = double(std::max<uint64_t>(role.total_cycles, 1));
    double awake = 100;
    std::string waits;
    size_t shown = 0;
    for (const auto& [what, cycles] : role.waiting) {
      const double percent = 100 * double(cycles) / total;
      awake -= percent;
      if (shown == kMostWaits || percent < 0.05) continue;
      waits += fmt::format("{}{} {:.1f} %", shown++ ? ", " : "", what, percent);
    }
    text += fmt::format("    {:<{}}{:>7.1f} %   {}\n", role.role, width, std::max(awake, 0.0), waits);
  }
  return text;
}

/// "add 8 to barrier", "delay by 300 cycles", "drop"
std::string action_text(const FaultSpec& f) {
  const std::string_view action = name(f.action);
  switch (f.action) {
    case FaultAction::add: return fmt::format("add {} to {} of", f.value, f.operand);
    case FaultAction::delay: return fmt::format("delay by {} cycles", f.value);
    case FaultAction::duplicate: return fmt::format("execute {} times", f.value);
    case FaultAction::clear_mask: return fmt::format("clear mask bits {:#x} of", f.value);
    default: return std::string(action);
  }
}

/// "drop mbarrier_arrive of consumer on input_empty[2]"
std::string fault_text(const FaultSpec& f, const std::vector<LaunchTime>& launches) {
  std::string text = fmt::format("{} {}", action_text(f), f.instruction);
  if (!f.role.empty()) text += " of " + f.role;
  if (f.warp >= 0) text += fmt::format(" (warp {})", f.warp);
  if (f.cta >= 0) text += fmt::format(" of CTA {}", f.cta);
  if (f.id >= 0) text += fmt::format(" on named barrier {}", f.id);
  if (!f.barrier.empty()) text += " on " + f.barrier;
  if (f.launch >= 0) text += " in " + name_of(launches, size_t(f.launch));
  if (f.stage >= 0) text += f.barrier.empty() ? fmt::format(" on stage {}", f.stage) : fmt::format("[{}]", f.stage);
  return text;
}

/// What the faults altered.
std::string fault_lines(const Scenario& s, const RunResult& r) {
  std::string text;
  for (size_t i = 0; i < r.fault_matches.size(); ++i)
    text += line("fault", r.fault_matches[i] > 0
                              ? fmt::format("{}: altered {}", fault_text(s.faults[i], r.launches),
                                            plural(r.fault_matches[i], "instruction"))
                              : fmt::format("{}: matched no instruction", fault_text(s.faults[i], r.launches)));
  return text;
}

/// "cycles 1,856 to 12,000", and how that lies to the launch ahead; of named launches the kernel, stream and
/// outcome.
std::string launch_text(const std::vector<LaunchTime>& launches, size_t i) {
  const LaunchTime& t = launches[i];
  if (!t.name.empty()) {
    const std::string what = fmt::format("{}, stream {}: ", t.kernel, t.stream);
    if (!t.started()) return what + t.outcome;
    return fmt::format("{}cycles {} to {}, {}", what, grouped(int64_t(t.begin)), grouped(int64_t(t.end)),
                       t.outcome);
  }
  std::string text = fmt::format("cycles {} to {}", grouped(int64_t(t.begin)), grouped(int64_t(t.end)));
  if (i == 0) return text;
  const int64_t after = int64_t(t.begin) - int64_t(launches[i - 1].end);
  return text + (after >= 0 ? fmt::format(", {} after launch {}", grouped(after), i - 1)
                            : fmt::format(", overlaps launch {} by {}", i - 1, grouped(-after)));
}

/// What the clock follows from, of the largest parts first.
std::string clock_text(const ClockResult& c) {
  std::vector<std::pair<double, std::string_view>> parts = {
      {c.tensor_watts, "tensor cores"}, {c.l2_watts, "reads of L2"},
      {c.store_watts, "writes to L2"},  {c.dram_watts, "HBM"},
      {c.idle_watts, "rest"},           {c.sm_watts, "SMs"},
      {c.lost_watts, "losses"}};
  std::sort(parts.rbegin(), parts.rend());
  std::string text;
  for (const auto& [watts, what] : parts)
    if (watts >= 0.02 * c.watts) text += fmt::format("{}{} {:.0f}", text.empty() ? "" : ", ", what, watts);
  const std::string power =
      c.mode == "power" && c.limited()
          ? fmt::format("at its limit of {:.0f} W", c.limit_watts)
          : fmt::format("{:.0f} W{}", c.watts, c.watts > c.limit_watts ? ", more than the chip could hold" : "");
  return fmt::format("{:.2f} GHz, {}, within {:.2f} to {:.2f}: {} ({} W)", c.ghz,
                     c.mode == "power" ? "back to back for seconds" : "one launch on an idle chip", c.low_ghz,
                     c.high_ghz, power, text);
}

std::string measurements(const Scenario& s, const RunResult& r) {
  std::string text = line("verified", verification(s, r));
  text += line("time", fmt::format("{} cycles = {} at {} GHz", grouped(int64_t(r.cycles)), duration(r.microseconds),
                                   r.clock.mode.empty() ? fmt::format("{}", r.sm_clock_ghz)
                                                        : fmt::format("{:.3f}", r.sm_clock_ghz)));
  if (!r.clock.mode.empty()) text += line("clock", clock_text(r.clock));
  for (size_t i = 0; r.launches.size() > 1 && i < r.launches.size(); ++i)
    text += line(name_of(r.launches, i), launch_text(r.launches, i));
  const std::string sms = plural(uint64_t(r.sms_used), "SM");
  text += line("throughput", r.tflops > 0 ? fmt::format("{} TFLOPS, tensor pipe busy {:.1f} % of {}",
                                                        three_digits(r.tflops), 100 * r.tensor_utilization, sms)
                                          : fmt::format("{} GB/s read and written", three_digits(r.gb_per_s)));
  const std::string by_clc =
      r.tflops > 0 ? fmt::format(", work of {} taken over by CLC", plural(r.ctas_by_clc, "more CTA")) : "";
  text += line("work", fmt::format("{} launched{}", plural(r.ctas_launched, "CTA"), by_clc));
  if (!r.chosen_configuration.empty())
    text += line("config", fmt::format("auto: {} (why: sm100sim explain-config)", r.chosen_configuration));
  if (r.filled_bytes > 0)
    text += line("memory", fmt::format("TMA loads {} into shared memory: {} out of L2, {} out of HBM",
                                       bytes(r.filled_bytes), bytes(r.l2_read_bytes), bytes(r.dram_bytes)));
  return text + role_lines(r);
}

}  // namespace

std::string format_summary(const Scenario& s, const RunResult& r, const std::string& trace) {
  std::string text = r.printed;
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += headline(s, r) + not_checked_lines(r);
  for (const Finding& w : r.warnings)
    text += line("warning", fmt::format("{}: {}{}{}", w.id, w.message, w.location.empty() ? "" : "  ", w.location));
  if (r.report.empty()) text += measurements(s, r);
  for (const std::string& note : r.notes) text += line("note", note);
  text += fault_lines(s, r);
  for (const DelayUse& use : r.delays) text += line("delay", use.text);
  text += line("simulation",
               fmt::format("{} s, {} MiB", three_digits(r.wall_seconds), grouped(int64_t(r.peak_rss_bytes >> 20))));
  if (!trace.empty()) text += line("trace", trace + " (open in ui.perfetto.dev; 1 ns there = 1 SM cycle)");
  return r.unexpected.empty() ? text : text + r.unexpected + "\n";
}

}  // namespace sm100::sim::cli
