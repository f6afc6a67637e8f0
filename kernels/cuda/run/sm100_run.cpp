// SPDX-License-Identifier: Apache-2.0
/// sm100-run SCENARIO.toml: runs a scenario's kernel on the GPU of this machine, checks the result, times it and
/// records the same trace as the simulator.
///
/// Exit codes as sm100sim's: 0 ok, 1 wrong results, 2 bad input (also: no such GPU, no such configuration), 3 hang,
/// 4 the kernel trapped, 5 internal error.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <span>

#include "kernels/cuda/run/executable.h"
#include "kernels/cuda/run/hardware_run.h"
#include "kernels/host/kernel_run.h"
#include "kernels/host/toml_reader.h"
#include "kernels/host/version.h"
#include "kernels/ptx_launch/host/ptx_problem.h"
#include "traces/format/atomic_file.h"

namespace sm100::cuda {
namespace {

using host::InputError;
using host::Scenario;

enum ExitCode { kOk = 0, kResultsDiffer = 1, kBadInput = 2, kHang = 3, kTrap = 4, kInternalError = 5 };

struct Options : RunOptions {
  std::string scenario, json;
  std::vector<std::string> sets;
};

// ---- which kernel

/// Null: the scenario's kernel is PTX.
const DeviceKernel* device_kernel_of(const Scenario& s) {
  static const std::vector<DeviceKernel> all = built_in_device_kernels();
  for (const DeviceKernel& kernel : all)
    if (kernel.kernel == s.kernel) return &kernel;
  if (host::ptx_of(s)) return nullptr;
  throw InputError(fmt::format("{}: kernel {} is not compiled for a device", s.path.string(), s.kernel->name));
}

/// Values of [run] that only the simulator knows, as far as the scenario sets them.
std::string simulator_only(const Scenario& s) {
  std::string keys;
  const auto add = [&](bool set, const char* key) {
    if (set) keys += fmt::format("{}run.{}", keys.empty() ? "" : ", ", key);
  };
  add(!s.feed.empty(), "feed");
  add(s.hand_out_descending, "hand_out");
  add(s.jitter.has_value(), "jitter");
  add(s.launches > 1, "launches");
  add(s.max_cycles > 0, "max_cycles");
  add(s.numerics != host::Numerics::fast, "numerics");
  add(s.recorder, "recorder");
  Scenario all_sms = s;
  all_sms.sms = 0;
  const auto ctas = [](const Scenario& one) { return host::make_run(one)->launch().grid.x; };
  add(s.sms > 0 && ctas(all_sms) == ctas(s), "sms");  // some kernels launch a CTA for each
  return keys;
}

/// "sm_90a or sm_100a"
std::string architectures(const DeviceKernel& kernel) {
  std::vector<std::string> names;
  for (const int architecture : kernel.architectures) names.push_back(fmt::format("sm_{}a", architecture));
  return fmt::format("{}", fmt::join(names, " or "));
}

bool runs_on(const DeviceKernel& kernel, int architecture) {
  return std::find(kernel.architectures.begin(), kernel.architectures.end(), architecture) !=
         kernel.architectures.end();
}

/// One clear line when this GPU can't run the scenario's kernel.
void check_architecture(const Gpu& gpu, const Scenario& s) {
  const int architecture = gpu.architecture();
  if (const host::PtxFile* const ptx = host::ptx_of(s)) {
    if (ptx_runs_on(*ptx->module, architecture)) return;
    throw InputError(fmt::format("the GPU is {} (sm_{}), {} is PTX for {}", gpu.name(), architecture,
                                 ptx->module->name, ptx->module->target));
  }
  const DeviceKernel& wanted = *device_kernel_of(s);
  if (runs_on(wanted, architecture)) return;
  std::vector<std::string_view> others;
  for (const DeviceKernel& kernel : built_in_device_kernels())
    if (runs_on(kernel, architecture)) others.push_back(kernel.kernel->name);
  throw InputError(fmt::format("the GPU is {} (sm_{}), kernel {} needs {}; {}", gpu.name(), architecture,
                               s.kernel->name, architectures(wanted),
                               others.empty() ? "no kernel of this program would run here"
                                              : fmt::format("here {} would run", fmt::join(others, ", "))));
}

/// Refuses what cannot be written before any work is done.
void check_outputs(const Options& options) {
  const auto check = [&](const char* option, const std::string& path) {
    try {
      traces::check_output(path, options.scenario);
    } catch (const std::runtime_error& error) { throw InputError(fmt::format("{}: {}", option, error.what())); }
  };
  if (!options.trace.empty()) check("--trace", options.trace);
  if (!options.json.empty() && options.json != "-") check("--json", options.json);
  if (!options.trace.empty() && options.trace == options.json)
    throw InputError(fmt::format("--json {}: is the file of --trace", options.json));
}

void check_scenario(const Scenario& s) {
  if (!s.launch_list.empty())
    throw InputError(
        fmt::format("not implemented: {}: [[launch]]: sm100-run launches one kernel", s.path.string()));
  if (!s.faults.empty() && !host::ptx_of(s))
    throw InputError(
        fmt::format("{}: [[fault]] alters the PTX of a kernel on a GPU: --set run.ptx=FILE --set "
                    "run.ptx_entry=NAME name that of {}",
                    s.path.string(), s.kernel->name));
  if (!s.delays.empty())
    throw InputError(
        fmt::format("{}: [[delay]] delays simulated units; hardware takes its own time", s.path.string()));
  if (s.data == host::DataMode::none)
    throw InputError(
        fmt::format("{}: run.data = \"none\" is for the simulator; hardware always moves data", s.path.string()));
}

// ---- what it says

/// "282110 cycles at 1.58 GHz"; empty: no launch, nobody read the clock.
std::string cycles_text(double us, double ghz) {
  return ghz > 0 ? fmt::format(": {:.0f} cycles at {:.3f} GHz", us * 1e3 * ghz, ghz) : "";
}

std::string summary(const Scenario& s, const Options& options, const Gpu& gpu, const RunOutcome& o) {
  const std::unique_ptr<host::KernelRun> problem = host::make_run(s);
  const host::LaunchShape shape = problem->launch();
  const double us = median(o.microseconds);
  std::string text =
      fmt::format("{}  {}: {} on {} CTAs of {} (sm_{})\n", o.check.ok ? "PASS" : "MISMATCH", s.name,
                  problem->title(), shape.grid.x * shape.grid.y * shape.grid.z, gpu.name(), gpu.architecture());
  text += fmt::format("  verified     {}: {}\n", o.check.compared() ? o.check.ok ? "yes" : "WRONG" : "no",
                      o.check.text());
  if (o.trials > 0)
    text += fmt::format("  trials       {} launches, {} with wrong results\n", o.trials, o.wrong_trials);
  if (!o.microseconds.empty()) {
    text += fmt::format("  time         {:.2f} us, median of {} launches{}{}\n", us, o.microseconds.size(),
                        s.l2 == host::L2State::cold ? ", L2 flushed before each" : ", input in L2",
                        cycles_text(us, o.timed_clock_ghz));
    text += problem->flops() > 0
                ? fmt::format("  throughput   {:.1f} TFLOPS\n", problem->flops() / us * 1e-6)
                : fmt::format("  throughput   {:.1f} GB/s read and written\n", problem->bytes() / us * 1e-3);
    if (o.back_to_back_microseconds > 0)
      text += fmt::format("  back to back {:.2f} us per launch of {}{}{}\n", o.back_to_back_microseconds,
                          o.microseconds.size(), shape.pdl ? ", each may start before the one ahead has ended" : "",
                          cycles_text(o.back_to_back_microseconds, o.back_to_back_clock_ghz));
  }
  if (!o.cublas.microseconds.empty()) {
    const double cublas = median(o.cublas.microseconds), row = o.cublas_back_to_back.microseconds.front();
    text += fmt::format("  cuBLAS       {:.2f} us{}; back to back {:.2f} us{}\n", cublas,
                        cycles_text(cublas, o.cublas.sm_clock_ghz), row,
                        cycles_text(row, o.cublas_back_to_back.sm_clock_ghz));
    text += fmt::format("  ratio        {:.1f} % of cuBLAS; back to back {:.1f} %\n", 100 * cublas / us,
                        100 * row / o.back_to_back_microseconds);
  }
  if (const std::string keys = simulator_only(s); !keys.empty())
    text += fmt::format("  no effect    {}: for the simulator\n", keys);
  if (!options.trace.empty()) {
    text += fmt::format("  trace        {} (SM clock {:.3f} GHz)\n", options.trace, o.sm_clock_ghz);
    if (!o.traced_microseconds.empty())
      text += fmt::format("  recording    {:.2f} us: {:.0f} cycles for each of {} events of a warp\n",
                          median(o.traced_microseconds), o.cycles_per_event(), o.events_of_a_warp);
    if (o.traced_bytes_differ)
      text += "  WARNING      the recorded launch wrote other bytes than the one before it\n";
    if (o.dropped_events > 0)
      text += fmt::format("  WARNING      {} trace events did not fit: raise --trace-capacity\n", o.dropped_events);
  }
  return text;
}

std::string json(const Scenario& s, const Gpu& gpu, const RunOutcome& o) {
  const std::unique_ptr<host::KernelRun> problem = host::make_run(s);
  const double us = median(o.microseconds);
  const nlohmann::ordered_json json = {
      {"outcome", o.check.ok ? "pass" : "mismatch"},
      {"verified", o.check.compared() ? nlohmann::json(o.check.ok) : nlohmann::json()},
      {"output_hash", fmt::format("{:016x}", o.output_hash)},
      {"relative_error", o.check.relative_error},
      {"error_limit", o.check.limit},
      {"reference", o.check.reference},
      {"trials", o.trials},
      {"wrong_trials", o.wrong_trials},
      {"device", gpu.name()},
      {"architecture", fmt::format("sm_{}", gpu.architecture())},
      {"microseconds", us},
      {"microseconds_all", o.microseconds},
      {"back_to_back_microseconds", o.back_to_back_microseconds},
      {"timed_clock_ghz", o.timed_clock_ghz},
      {"back_to_back_clock_ghz", o.back_to_back_clock_ghz},
      {"cublas_microseconds", median(o.cublas.microseconds)},
      {"cublas_clock_ghz", o.cublas.sm_clock_ghz},
      {"cublas_back_to_back_microseconds", median(o.cublas_back_to_back.microseconds)},
      {"cublas_back_to_back_clock_ghz", o.cublas_back_to_back.sm_clock_ghz},
      {"tflops", us > 0 ? problem->flops() / us * 1e-6 : 0},
      {"gb_per_s", us > 0 ? problem->bytes() / us * 1e-3 : 0},
      {"sm_clock_ghz", o.sm_clock_ghz},
      {"traced_microseconds", median(o.traced_microseconds)},
      {"traced_clock_ghz", o.traced_clock_ghz},
      {"events_of_a_warp", o.events_of_a_warp},
      {"cycles_per_event", o.cycles_per_event()},
      {"dropped_events", o.dropped_events},
      {"traced_bytes_differ", o.traced_bytes_differ},
      {"scenario", s.path.string()},
      {"configuration", nlohmann::json::parse(s.configuration_json())},
  };
  return json.dump(2) + "\n";
}

void write_text(const std::string& path, const std::string& text) {
  traces::AtomicFile file(path);
  file.stream() << text;
  file.commit();
}

int run_command(const Options& options) {
  const Scenario scenario = host::load_scenario(options.scenario, options.sets);
  check_scenario(scenario);
  check_outputs(options);
  const DeviceKernel* kernel = device_kernel_of(scenario);
  if (!host::ptx_of(scenario)) kernel->find(scenario);  // says so if there is none, before it looks for a GPU
  Gpu gpu;
  check_architecture(gpu, scenario);
  for (const std::string& warning : scenario.warnings) fmt::print(stderr, "sm100-run: warning: {}\n", warning);
  const RunOutcome outcome = run_on_gpu(scenario, kernel, options, gpu);
  const bool json_only = options.json == "-";
  if (!options.json.empty() && !json_only) write_text(options.json, json(scenario, gpu, outcome));
  fmt::print("{}", json_only ? json(scenario, gpu, outcome) : summary(scenario, options, gpu, outcome));
  return outcome.check.ok ? kOk : kResultsDiffer;
}

int main_checked(int argc, char** argv) {
  Options options;
  CLI::App app{"Runs a scenario of sm100sim on the GPU of this machine"};
  app.name("sm100-run");
  app.set_version_flag("--version", "sm100-run " + host::version_text());
  app.add_option("SCENARIO", options.scenario, "Scenario file (docs/scenarios.md)")->required();
  app.add_option("--set", options.sets, "Replace a value of the scenario: table.key=value; may be repeated")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_option("--trace", options.trace, "Record one launch and write a Perfetto trace")->type_name("FILE");
  app.add_option("--json", options.json, "Write the result as JSON; - prints it instead of the summary")
      ->type_name("FILE");
  app.add_option("--repeat", options.repeat, "Timed launches")->check(CLI::Range(0, 10000))->capture_default_str();
  app.add_option("--trace-capacity", options.trace_capacity, "Trace records per warp")
      ->check(CLI::Range(16u, 1u << 24))
      ->capture_default_str();
  app.add_option("--hang-timeout", options.hang_seconds, "Seconds after which a launch counts as hung")
      ->check(CLI::Range(0.1, 3600.0))
      ->capture_default_str();
  app.add_option("--trials", options.trials,
                 "Launch so often and look at every result, in place of timing; every other launch on a flushed L2")
      ->check(CLI::Range(1, 1000000));
  app.add_flag("--cublas", options.cublas, "Time cuBLAS on the same operands, too (plain products of bf16)");
  app.footer(
      "Exit codes: 0 ok, 1 results differ, 2 bad input or no such GPU, 3 hang, 4 the kernel trapped, 5 internal "
      "error");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) { return app.exit(help); } catch (const CLI::ParseError& error) {
    throw InputError(fmt::format("{} (see sm100-run --help)", error.what()));
  }
  return run_command(options);
}

}  // namespace
}  // namespace sm100::cuda

int main(int argc, char** argv) {
  using namespace sm100;
  const auto complain = [](const std::string& text) { fmt::print(stderr, "sm100-run: {}\n", text); };
  try {
    return cuda::main_checked(argc, argv);
  } catch (const host::InputError& error) {
    for (const std::string& line : error.lines()) complain(line);
    return cuda::kBadInput;
  } catch (const cuda::HangError& error) {
    complain(fmt::format("HANG: {}; sm100sim run says which barrier", error.what()));
    std::fflush(nullptr);
    std::_Exit(cuda::kHang);  // the destructors would wait for the kernel
  } catch (const std::bad_alloc&) {
    complain("out of memory: this problem, or its trace (--trace-capacity), does not fit on this machine");
    return cuda::kBadInput;
  } catch (const cuda::TrapError& error) {
    complain(fmt::format("TRAP: {}", error.what()));
    std::fflush(nullptr);
    std::_Exit(cuda::kTrap);  // nothing of the context can be given back
  } catch (const cuda::CudaError& error) {
    if (error.code != cudaErrorMemoryAllocation) {
      complain(fmt::format("internal error: {}", error.what()));
      return cuda::kInternalError;
    }
    complain("out of memory: this problem, or its trace (--trace-capacity), does not fit on this GPU");
    return cuda::kBadInput;
  } catch (const std::exception& error) { complain(fmt::format("internal error: {}", error.what())); }
  return cuda::kInternalError;
}
