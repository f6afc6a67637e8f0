// SPDX-License-Identifier: Apache-2.0
#include "sim/simulation.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <stdexcept>
#include <systemc>
#include <utility>
#include <vector>

#include "kernels/host/ptx_file.h"
#include "sim/barrier_learner.h"
#include "sim/barrier_listener.h"
#include "sim/clock_search.h"
#include "sim/comparison.h"
#include "sim/ended_run.h"
#include "sim/finding_record.h"
#include "sim/hazards/hazard_bell.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/huge_pages.h"
#include "sim/kernel_code.h"
#include "sim/provenance/explanation.h"
#include "sim/provenance/repetition.h"
#include "sim/ptx/ptx_kernel.h"
#include "sim/ptx/ptx_uses.h"
#include "sim/run_figures.h"
#include "sim/run_findings.h"
#include "sim/tensor_place.h"
#include "sim/text.h"

namespace sm100::sim {

using namespace host;

namespace {

/// Simulated cycles between two looks at the progress and the cycle budget.
constexpr models::Cycles kSlice = 20000;

/// Before anything is allocated that a run visits.
RunPlan prepared_plan(const Scenario& scenario) {
  use_huge_pages();
  // SystemC would print to stdout, where results go.
  sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
  return plan_of(scenario);
}

/// The barriers that the kernels' tables do not describe, from a run of the scenario in another process.
void learn_barriers(const Scenario& scenario, std::deque<Kernel>& kernels, const LaunchList& launches,
                    const SimulationOptions& options) {
  const std::vector<BarrierTable> tables = learned_tables([&] {
    BarrierLearner learner(launches);
    Simulation simulation(scenario, {.prepared = options.prepared, .learner = &learner});
    simulation.run();
    std::vector<BarrierTable> learned;
    for (const Kernel& kernel : kernels) {
      BarrierTable& table = learned.emplace_back(learner.table(kernel.index));
      const Kernel& bound = simulation.kernels()[kernel.index];
      if (const PtxUses* uses = ptx_uses_of(bound)) complete_table(table, bound, *uses);
    }
    return learned;
  });
  for (Kernel& kernel : kernels) {
    if (!must_learn(kernel.barriers)) continue;
    const std::vector<BarrierArray> stated = std::move(kernel.barriers);
    const BarrierTable learned = kernel.index < tables.size() ? tables[kernel.index] : BarrierTable{};
    kernel.barriers = learned.rows, kernel.barrier_texts = learned.texts;
    for (const BarrierArray& array : kernel.barriers)
      kernel.learned_arrivers.push_back(std::none_of(stated.begin(), stated.end(), [&](const BarrierArray& row) {
        return row.base.offset() == array.base.offset() && row.arrives && *row.arrives;
      }));
  }
}

/// A program's memory, which the run changes: it cannot be repeated.
bool has_memory_of_others(const RunPlan& plan) {
  for (const PlannedKernel& kernel : plan.kernels)
    for (const Tensor& tensor : kernel.run->tensors())
      if (tensor.bytes_there) return true;
  return false;
}

/// Nobody, if the run cannot be repeated or its numbers are not compared.
std::unique_ptr<provenance::Repetition> repetition_of(const Scenario& scenario, const RunPlan& plan,
                                                      const SimulationOptions& options) {
  if (scenario.provenance != ProvenanceMode::automatic || scenario.data != DataMode::full || options.learner)
    return nullptr;
  if (has_memory_of_others(plan)) return nullptr;
  return std::make_unique<provenance::Repetition>([&scenario, &options] {
    Scenario with_provenance = scenario;
    with_provenance.provenance = ProvenanceMode::on;
    return run_simulation(with_provenance, {.prepared = options.prepared});
  });
}

/// So many SMs have so much to remember that it is cheaper to look at hazards later, and nobody listens to the run
/// itself.
bool better_postponed(const Scenario& scenario, const SimulationOptions& options) {
  constexpr int kManySms = 16;
  return scenario.hazards && scenario.sms_in_run() >= kManySms && scenario.provenance != ProvenanceMode::on &&
         !options.recorder && !options.learner && !options.accesses && !options.record_delays &&
         !barrier_listener() && !has_memory_of_others(prepared_plan(scenario));
}

void check_shared_memory(const Scenario& scenario, const Kernel& kernel) {
  if (kernel.smem_bytes <= uint32_t(scenario.device.device.smem_bytes_per_cta_max)) return;
  throw InputError(fmt::format("{}: the kernel needs {} bytes of shared memory, a CTA of profile {} has {}",
                               scenario.path.string(), kernel.smem_bytes, scenario.profile,
                               scenario.device.device.smem_bytes_per_cta_max));
}

/// What the plan launches, on kernels by the plan's order.
LaunchList launches_of(const RunPlan& plan, const std::deque<Kernel>& kernels) {
  LaunchList list;
  for (const PlannedLaunch& launch : plan.launches)
    list.add({.name = plan.kernels[launch.kernel].name,
              .kernel = &kernels[launch.kernel],
              .stream = launch.stream,
              .after = launch.after,
              .programmatic = launch.programmatic});
  return list;
}

/// The kernels of the plan, which fit on the device and into this machine.
std::deque<Kernel> checked_kernels(const Scenario& scenario, const RunPlan& plan,
                                   const SimulationOptions& options) {
  std::deque<Kernel> kernels;
  for (const PlannedKernel& planned : plan.kernels) {
    Kernel& kernel = kernels.emplace_back(kernel_of(*planned.run));
    kernel.index = kernels.size() - 1;
    kernel.prefix = plan.kernels.size() > 1 ? planned.name + "." : "";
    kernel.registers = planned.registers;
    if (options.learner)  // what is to be learned is not known yet
      std::erase_if(kernel.barriers, [](const BarrierArray& array) { return array.count == 0; });
  }
  if (!options.learner &&
      std::any_of(kernels.begin(), kernels.end(), [](const Kernel& k) { return must_learn(k.barriers); }))
    learn_barriers(scenario, kernels, launches_of(plan, kernels), options);
  for (const Kernel& kernel : kernels) check_shared_memory(scenario, kernel);
  check_memory(scenario, plan);
  return kernels;
}

/// Launches of different streams, and programmatic ones, may be there at once.
bool may_overlap(const LaunchList& launches) {
  return std::any_of(launches.all().begin(), launches.all().end(), [&](const Launch& launch) {
    return launch.programmatic || launch.stream != launches[0].stream;
  });
}

/// SMs that the launches can use at once, of those that the scenario leaves them.
int sms_used(const Scenario& s, const LaunchList& launches) {
  std::vector<models::Gpu::Launch> shapes;
  for (const Launch& launch : launches.all()) shapes.push_back(Device::shape(launch));
  try {
    if (may_overlap(launches)) return models::Gpu::first_wave_sms(shapes, s.device, s.sms_in_run());
    int most = 0;
    for (const auto& shape : shapes)
      most = std::max(most, models::Gpu::first_wave_sms(shape, s.device, s.sms_in_run()));
    return most;
  } catch (const std::invalid_argument& error) {
    throw InputError(fmt::format("{}: profile {}: {}", s.path.string(), s.profile, error.what()));
  }
}

/// CTA slots of an SM: what the scenario asks for, which must fit; of several kernels, as many as may be there in
/// all.
int ctas_per_sm(const Scenario& s, const LaunchList& launches) {
  int all = 0;
  for (const Kernel* kernel : launches.kernels()) {
    const models::Occupancy most = models::occupancy(Device::shape(*kernel).resources(), s.device);
    if (launches.one_kernel() && s.ctas_per_sm > std::max(most.ctas, 1))
      throw InputError(
          fmt::format("{}: run.ctas_per_sm = {}: an SM of profile {} has {} for {} CTA{} of this kernel",
                      s.path.string(), s.ctas_per_sm, s.profile, most.limit, most.ctas, most.ctas == 1 ? "" : "s"));
    all += std::max(most.ctas, 1);
  }
  return s.ctas_per_sm > 0 ? s.ctas_per_sm : std::min(all, std::max(s.device.device.ctas_per_sm, 1));
}

/// What a warp was in the middle of when the run ended shows in the trace up to that moment.
void close_spans(Warp& warp, traces::Recorder& recorder, models::Cycles end) {
  for (; !warp.open_spans.empty(); warp.open_spans.pop_back()) {
    traces::Span span = warp.open_spans.back();
    span.end = std::max<uint64_t>(span.begin, end);
    recorder.span(span);
  }
}

/// Columns of tensor memory that are still allocated, too.
void close_allocations(Cta& cta, models::Cycles end) {
  for (const auto& held : cta.context().tmem.allocations())
    if (held.slot == cta.slot())
      cta.observer().unit_span({.kind = models::UnitSpanKind::tmem_alloc,
                                .begin = held.since,
                                .end = end,
                                .slot = cta.slot(),
                                .source = held.by,
                                .column = int(held.column),
                                .columns = int(held.columns)});
}

uint64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss) * 1024;
}

}  // namespace

/// The device with the kernels on it, and what a run needs beside them.
class Simulation::Machine {
 public:
  Machine(const Scenario& scenario, const SimulationOptions& options);
  RunEnd run(const RunCallbacks& callbacks);
  RunResult result();
  bool must_be_repeated() const { return bell_.has_rung(); }
  const std::deque<Kernel>& kernels() const { return kernels_; }

 private:
  using Clock = std::chrono::steady_clock;

  models::Gpu::Options device_options() const;
  void set_delays();
  void bind_code();
  /// Warps that execute the kernel's PTX in place of its role code.
  std::function<void(Warp&)> compiled_code(const KernelCode& code, const Binding& binding) const;
  void load_memory();
  void warm_inputs();
  void describe_trace();
  void keep_provenance();
  void explain_numbers(Comparison numbers, const EndedRun& run, RunResult& result);

  bool run_slice();
  uint64_t ctas() const { return device_.launches.ctas(); }
  uint64_t ctas_done();
  bool violated() const { return !device_.observer.violations().empty(); }
  bool completed() { return ctas_done() == ctas() && device_.gpu.ctas_running() == 0; }
  bool out_of_cycles() const { return scenario_.max_cycles > 0 && horizon_ >= scenario_.max_cycles; }
  RunEnd end_of_run(bool starved);

  void close_open_waits();
  /// The clock when it ended.
  models::Cycles stopped() const;
  EndedRun ended();
  void label_trace(const RunResult& result);

  const Clock::time_point wall_start_ = Clock::now();
  const Scenario& scenario_;
  const SimulationOptions options_;
  const RunPlan plan_;
  const std::unique_ptr<provenance::Repetition> repetition_;  ///< made before the device is
  std::deque<Kernel> kernels_;                                ///< as RunPlan::kernels
  Device device_;
  std::vector<std::vector<GlobalAddr>> tensors_;            ///< by launch
  std::deque<std::vector<std::vector<GlobalAddr>>> bound_;  ///< by kernel: those of its launches
  std::vector<uint64_t> altered_;                           ///< by [[fault]]
  HazardBell bell_;
  std::optional<HazardChecker> hazards_;
  std::unique_ptr<provenance::Record> record_;  ///< nullptr: nobody keeps where numbers come from
  models::Cycles horizon_ = 0;                  ///< up to which the run has come; the clock may stop short of it
  RunEnd end_ = RunEnd::completed;
};

// ---------------------------------------------------------------- build

Simulation::Machine::Machine(const Scenario& scenario, const SimulationOptions& options)
    : scenario_(scenario),
      options_(options),
      plan_(prepared_plan(scenario)),
      repetition_(repetition_of(scenario, plan_, options)),
      kernels_(checked_kernels(scenario, plan_, options)),
      device_(scenario.device, launches_of(plan_, kernels_), device_options(), options.recorder),
      altered_(scenario.faults.size(), 0) {
  device_.observer.set_learner(options.learner);
  device_.observer.set_launch_ahead(!options.launch_ahead.empty());
  if (options.learner)
    for (const PlannedKernel& planned : plan_.kernels) planned.run->before_trial();
  set_delays();
  load_memory();
  device_.gpu.memory().record(options.accesses);
  bind_code();
  describe_trace();
  if (scenario_.provenance == ProvenanceMode::on && !options.learner) keep_provenance();
  if (scenario_.hand_out_descending) device_.gpu.clc().hand_out_descending();
  if (scenario_.scopes == Scopes::strict) device_.observer.set_strict_scopes();
  if (scenario_.hazards) {
    const bool postponed = options.hazards == HazardLooks::postponed && !has_memory_of_others(plan_);
    models::Observer& listener = postponed ? static_cast<models::Observer&>(bell_) : device_.observer;
    device_.observer.set_hazards(&hazards_.emplace(device_.launches, device_.gpu.slots(), listener));
    if (postponed) hazards_->postpone();
    hazards_->name_places([this](GlobalAddr address) { return tensor_place(device_.gpu.memory(), address); });
    if (scenario_.data == DataMode::full) hazards_->look_for_unwritten();
  }
}

/// A kernel gets the tensors of its own launches.
void Simulation::Machine::bind_code() {
  for (Kernel& kernel : kernels_) {
    std::vector<std::vector<GlobalAddr>>& own = bound_.emplace_back();
    int first = -1;
    for (int launch = 0; launch < device_.launches.size(); ++launch) {
      if (device_.launches[launch].kernel != &kernel) continue;
      if (first < 0) first = launch;
      own.push_back(tensors_[size_t(launch)]);
    }
    const PlannedKernel& planned = plan_.kernels[kernel.index];
    const KernelCode& code = code_of_kernel(*planned.definition);
    const Binding binding{*planned.run, planned.own ? *planned.own : scenario_, own, altered_, first};
    kernel.run_warp = scenario_.ptx ? compiled_code(code, binding) : code.bind(binding);
  }
}

std::function<void(Warp&)> Simulation::Machine::compiled_code(const KernelCode& code,
                                                              const Binding& binding) const {
  if (!code.parameters)
    throw InputError(fmt::format("{}: run.ptx: kernel {} is PTX already, or has no parameters of its own",
                                 scenario_.path.string(), code.kernel->name));
  const LaunchShape shape = binding.run.launch();
  const PtxLaunch launch{shape.grid, {uint32_t(shape.warps) * kWarpLanes, 1, 1}, shape.cluster, shape.smem_bytes};
  return ptx_runner(binding, *scenario_.ptx->module, scenario_.ptx->entry(), launch, code.parameters(binding));
}

models::Gpu::Options Simulation::Machine::device_options() const {
  const LaunchList launches = launches_of(plan_, kernels_);
  return {.sms = sms_used(scenario_, launches),
          .with_data = scenario_.data == DataMode::full,
          .accumulation =
              scenario_.numerics == Numerics::b200 ? models::Accumulation::b200 : models::Accumulation::fast,
          .jitter_seed = scenario_.jitter,
          .ctas_per_sm = ctas_per_sm(scenario_, launches)};
}

void Simulation::Machine::set_delays() {
  std::vector<models::Delay> delays;
  for (const DelaySpec& spec : scenario_.delays) delays.push_back(spec.delay);
  device_.gpu.jitter().replay(delays);
  if (options_.record_delays) device_.gpu.jitter().record();
}

void Simulation::Machine::load_memory() {
  models::MemorySystem& memory = device_.gpu.memory();
  tensors_ = allocate_tensors(plan_, scenario_, memory, options_.prepared ? &options_.prepared->tensors : nullptr);
  for (size_t launch = 0; launch < tensors_.size(); ++launch)
    device_.launches.set_output(launch,
                                {tensors_[launch].back(), plan_.run_of(int(launch)).tensors().back().bytes});
  if (scenario_.l2 == L2State::dirty) memory.make_dirty();
  if (scenario_.l2 == L2State::warm) warm_inputs();
}

/// All but the outputs, which are written first.
void Simulation::Machine::warm_inputs() {
  std::vector<const Kernel*> done;
  for (int launch = 0; launch < device_.launches.size(); ++launch) {
    if (std::find(done.begin(), done.end(), device_.launches[launch].kernel) != done.end()) continue;
    done.push_back(device_.launches[launch].kernel);
    const std::vector<Tensor> described = plan_.run_of(launch).tensors();
    const auto& inputs = plan_.launches[size_t(launch)].inputs;
    for (size_t i = 0; i + 1 < described.size(); ++i)
      if (!described[i].written &&
          std::none_of(inputs.begin(), inputs.end(), [&](const auto& input) { return input.tensor == i; }))
        device_.gpu.memory().warm(tensors_[size_t(launch)][i], described[i].bytes);
  }
}

void Simulation::Machine::describe_trace() {
  if (!options_.recorder) return;
  traces::Metadata& metadata = options_.recorder->trace().metadata;
  metadata.source = "sim";
  metadata.device = scenario_.device.name;
  metadata.scenario = scenario_.name;
  metadata.configuration = scenario_.trace_configuration_json();
  metadata.ticks_per_second = scenario_.device.device.sm_clock_ghz * 1e9;
  metadata.seed = scenario_.seed;
}

void Simulation::Machine::keep_provenance() {
  record_ = std::make_unique<provenance::Record>();
  provenance::watch_outputs(plan_, tensors_, *record_);
  for (int slot = 0; slot < device_.gpu.slots(); ++slot) device_.gpu.cta(slot).sm.provenance = record_.get();
}

// ---------------------------------------------------------------- run

RunEnd Simulation::Machine::run(const RunCallbacks& callbacks) {
  device_.launch();
  bool starved = false;
  while (!violated() && !bell_.has_rung() && !starved && !out_of_cycles()) {
    starved = !run_slice();
    if (hazards_) hazards_->catch_up();
    if (callbacks.progress) callbacks.progress(double(ctas_done()) / double(ctas()), models::now());
  }
  return end_ = end_of_run(starved);
}

/// False: nothing is left to do.
bool Simulation::Machine::run_slice() {
  // Without an event at the horizon the clock stops short of it, so the horizon is counted by itself.
  horizon_ += kSlice;
  if (scenario_.max_cycles > 0) horizon_ = std::min<models::Cycles>(horizon_, scenario_.max_cycles);
  return device_.run_until(horizon_);
}

/// Exited, or never started because running ones took their work over.
uint64_t Simulation::Machine::ctas_done() { return device_.observer.ctas_exited() + device_.ctas_by_clc(); }

RunEnd Simulation::Machine::end_of_run(bool starved) {
  if (violated()) return RunEnd::violation;
  if (completed()) return RunEnd::completed;
  return starved ? RunEnd::hang : RunEnd::out_of_cycles;
}

// ---------------------------------------------------------------- result

RunResult Simulation::Machine::result() {
  close_open_waits();
  const EndedRun run = ended();
  RunResult result;
  report_end(run, result);
  measure(run, result);
  result.fault_matches = altered_;
  const Comparison numbers = compare_outputs(run, options_.prepared, result);
  report_warnings(run, numbers, result);
  if (numbers == Comparison::wrong) explain_wrong_numbers(run, result);
  if (numbers == Comparison::none) list_suspects(run, result);
  explain_numbers(numbers, run, result);
  judge(scenario_, end_, numbers, result);
  if (device_.observer.had_unknown_registers())
    result.not_checked.push_back(
        "setmaxnreg: nobody says with how many registers a thread is launched, as ptxas -v prints it "
        "(--registers N of sm100sim ptx and exec, run.registers, or .maxnreg or .minnctapersm of the entry)");
  if (const auto& early = device_.observer.early_read())
    result.not_checked.push_back(fmt::format(
        "what {} writes, which this launch need not have waited for: a {} comes before griddepcontrol.wait{}",
        options_.launch_ahead, early->what, line_of(early->loc).empty() ? "" : "  " + line_of(early->loc)));
  if (record_)
    for (const std::string& part : result.provenance.not_looked_at)
      result.not_checked.push_back("where numbers come from: " + part);
  label_trace(result);
  result.wall_seconds = std::chrono::duration<double>(Clock::now() - wall_start_).count();
  result.peak_rss_bytes = peak_rss_bytes();
  return result;
}

/// Where the numbers come from: as this run has kept it, or, if they are wrong, as its repetition does.
void Simulation::Machine::explain_numbers(Comparison numbers, const EndedRun& run, RunResult& result) {
  if (record_)
    provenance::explain(run, *record_, result);
  else if (numbers == Comparison::wrong && repetition_)
    if (const auto repeated = repetition_->result()) provenance::adopt(*repeated, result);
  record_provenance(run.device.observer, run.launches(), result);
  provenance::complete_findings(result);
}

/// What warps were in when the run ended is counted, and shows in the trace, up to that moment.
void Simulation::Machine::close_open_waits() {
  const std::vector<Cta*> slots = device_.slots();
  if (options_.recorder) {
    for (Cta* cta : slots)
      for (const auto& warp : cta->warps()) close_spans(*warp, *options_.recorder, stopped());
    for (Cta* cta : slots) close_allocations(*cta, stopped());
  }
  for (Cta* cta : slots)
    for (const auto& warp : cta->warps()) warp->account_open_wait(stopped());
}

models::Cycles Simulation::Machine::stopped() const {
  return end_ == RunEnd::hang ? device_.last_activity() : models::now();
}

EndedRun Simulation::Machine::ended() {
  return {.scenario = scenario_,
          .plan = plan_,
          .device = device_,
          .tensors = tensors_,
          .end = end_,
          .stopped = end_ == RunEnd::out_of_cycles ? horizon_ : stopped()};
}

void Simulation::Machine::label_trace(const RunResult& result) {
  if (!options_.recorder) return;
  traces::Metadata& metadata = options_.recorder->trace().metadata;
  metadata.run_ticks = result.cycles;
  metadata.outcome = name(result.outcome);
  metadata.verdict = name(verdict_of(result));
}

// ---------------------------------------------------------------- what others see

Simulation::Simulation(const Scenario& scenario, const SimulationOptions& options)
    : machine_(std::make_unique<Machine>(scenario, options)) {}
Simulation::~Simulation() = default;
RunEnd Simulation::run(const RunCallbacks& callbacks) { return machine_->run(callbacks); }
RunResult Simulation::result() { return machine_->result(); }
bool Simulation::must_be_repeated() const { return machine_->must_be_repeated(); }
const std::deque<Kernel>& Simulation::kernels() const { return machine_->kernels(); }

RunResult run_simulation(const Scenario& scenario, const SimulationOptions& options,
                         const RunCallbacks& callbacks) {
  if (scenario.clock != host::ClockMode::fixed) {
    const ClockResult clock = find_clock(scenario, options.prepared);
    RunResult result = run_simulation(at_clock(scenario, clock), options, callbacks);
    result.clock = clock;
    return result;
  }
  const auto start = std::chrono::steady_clock::now();
  SimulationOptions chosen = options;
  if (chosen.hazards == HazardLooks::automatic)
    chosen.hazards = better_postponed(scenario, options) ? HazardLooks::postponed : HazardLooks::at_once;
  std::optional<provenance::Repetition> repetition;
  if (chosen.hazards == HazardLooks::postponed) {
    repetition.emplace([&] {
      SimulationOptions at_once = options;
      at_once.hazards = HazardLooks::at_once;
      return run_simulation(scenario, at_once);
    });
    if (!repetition->is_there()) chosen.hazards = HazardLooks::at_once;
  }
  {
    Simulation simulation(scenario, chosen);
    simulation.run(callbacks);
    if (!simulation.must_be_repeated()) return simulation.result();
  }
  if (std::optional<RunResult> result = repetition->result()) {
    result->wall_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return *std::move(result);
  }
  throw std::runtime_error("the run has findings, and the process that would say which has died (out of memory?)");
}

}  // namespace sm100::sim
