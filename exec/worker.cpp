// SPDX-License-Identifier: Apache-2.0
#include "exec/worker.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <sstream>

#include "exec/functional.h"
#include "sim/process_pool.h"
#include "sim/run_reply.h"
#include "sim/simulation.h"
#include "sim/verdict.h"
#include "traces/format/pftrace.h"

namespace sm100::exec {
namespace {

Dim3 dim3(const uint32_t (&d)[3]) { return {d[0], d[1], d[2]}; }

/// Between two looks whether the program is still there.
constexpr std::chrono::milliseconds kPatience{200};

}  // namespace

host::Scenario scenario_of(const Launch& launch, const host::Scenario& device, const DeviceMemory& memory) {
  host::PtxLaunchValues values{.module = launch.module,
                               .entry = launch.entry,
                               .grid = dim3(launch.shape.grid),
                               .block = dim3(launch.shape.block),
                               .cluster = dim3(launch.shape.cluster),
                               .dynamic_smem_bytes = launch.shape.dynamic_smem_bytes,
                               .parameters = launch.parameters,
                               .memory = {},
                               .variables = {},
                               .grid_workspace = launch.shape.grid_workspace,
                               .before_trial = [&memory] { memory.make_private(); }};
  for (const Block& block : launch.memory)
    values.memory.push_back({block.address, block.bytes, reinterpret_cast<uint8_t*>(block.address)});
  for (const Block& variable : launch.variables) values.variables.push_back(variable.address);
  host::Scenario scenario = device;
  scenario.name = launch.name();
  scenario.path = launch.name();
  if (launch.registers > 0)
    scenario.registers = launch.registers;  // the option is for kernels without machine code
  if (scenario.registers == 0) scenario.registers = host::stated_registers(*launch.module, launch.code());
  scenario.kernel = &host::ptx_definition();
  scenario.problem = host::problem_of(values, launch.name());
  return scenario;
}

namespace {

/// A page that worker and parent have in common.
class SharedProgress {
 public:
  SharedProgress()
      : page_(mmap(nullptr, sizeof(LaunchProgress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (page_ == MAP_FAILED) throw host::InputError("exec: there is no memory left to start a worker");
  }
  ~SharedProgress() { munmap(page_, sizeof(LaunchProgress)); }
  SharedProgress(const SharedProgress&) = delete;
  SharedProgress& operator=(const SharedProgress&) = delete;

  LaunchProgress& get() const { return *static_cast<LaunchProgress*>(page_); }

 private:
  void* page_;
};

/// In the worker.
sim::RunResult run_on_models(const Launch& launch, const host::Scenario& scenario, bool recorded,
                             LaunchProgress& progress, models::AccessMap* accesses, sim::Json& beside) {
  const sim::RunCallbacks callbacks{
      .progress = [&](double fraction, uint64_t cycle) { progress.fraction = fraction, progress.cycle = cycle; }};
  sim::SimulationOptions options;
  options.launch_ahead = launch.ahead, options.accesses = accesses;
  if (!recorded) return sim::run_simulation(scenario, options, callbacks);
  traces::Recorder recorder;
  options.recorder = &recorder;
  sim::RunResult result = sim::run_simulation(scenario, options, callbacks);
  recorder.finish();
  std::ostringstream bytes;
  traces::write_pftrace(recorder.trace(), bytes);
  const std::string text = std::move(bytes).str();
  beside["trace"] = sim::Json::binary({text.begin(), text.end()});
  return result;
}

/// In its parent: the bytes are read as a file without a name.
std::shared_ptr<const traces::Trace> trace_of(const sim::Json& beside) {
  if (!beside.is_object() || !beside.contains("trace")) return nullptr;
  const auto& bytes = beside.at("trace").get_binary();
  const int file = memfd_create("sm100sim trace", MFD_CLOEXEC);
  for (size_t at = 0; file >= 0 && at < bytes.size();) {
    const ssize_t n = write(file, bytes.data() + at, bytes.size() - at);
    if (n <= 0) break;
    at += size_t(n);
  }
  std::shared_ptr<const traces::Trace> trace;
  try {
    trace = std::make_shared<const traces::Trace>(traces::read_pftrace(fmt::format("/proc/self/fd/{}", file)));
  } catch (const std::runtime_error& error) {
    close(file);
    throw host::InputError(fmt::format("the trace of a launch cannot be read again: {}", error.what()));
  }
  close(file);
  return trace;
}

/// Ranges as they lie in memory, a list for each kind.
sim::Json json_of(const models::AccessMap& accesses) {
  sim::Json lists = sim::Json::array();
  for (int kind = 0; kind < models::kAccessClasses; ++kind) {
    const std::vector<models::ByteRange> ranges = accesses.ranges(models::AccessClass(kind));
    const auto* const from = reinterpret_cast<const uint8_t*>(ranges.data());
    lists.push_back(sim::Json::binary({from, from + ranges.size() * sizeof(models::ByteRange)}));
  }
  return lists;
}
Footprint footprint_of(const sim::Json& beside) {
  Footprint footprint;
  if (!beside.is_object() || !beside.contains("accesses")) return footprint;
  for (int kind = 0; kind < models::kAccessClasses; ++kind) {
    const auto& bytes = beside.at("accesses").at(size_t(kind)).get_binary();
    footprint.of[kind].resize(bytes.size() / sizeof(models::ByteRange));
    if (!bytes.empty()) std::memcpy(footprint.of[kind].data(), bytes.data(), bytes.size());
  }
  return footprint;
}

}  // namespace

LaunchOutcome carry_out(const Launch& launch, const host::Scenario& scenario, bool recorded,
                        const std::function<bool(const LaunchProgress&)>& wanted) {
  const SharedProgress progress;
  const bool functional = runs_without_models(launch);
  sim::ProcessPool worker(1);
  worker.start(0, [&] {
    return sim::bytes_of_run([&](sim::Json& beside) {
      models::AccessMap accesses;
      models::AccessMap* const watched = launch.order.watched ? &accesses : nullptr;
      sim::RunResult result = functional
                                  ? run_without_models(launch, scenario, watched)
                                  : run_on_models(launch, scenario, recorded, progress.get(), watched, beside);
      if (watched) beside["accesses"] = json_of(accesses);
      return result;
    });
  });
  std::optional<sim::ProcessPool::Finished> finished;
  while (!finished) {
    finished = worker.wait(sim::ProcessPool::Clock::now() + kPatience);
    if (!finished && !wanted(progress.get())) worker.stop(0);
  }
  sim::RunReply reply = sim::reply_of(*finished);
  LaunchOutcome outcome;
  outcome.functional = functional;
  outcome.bad_launch = !reply.input_error.empty();
  outcome.error = reply.error("the worker of this launch");
  outcome.result = std::move(reply.result);
  outcome.trace = trace_of(reply.beside);
  outcome.footprint = footprint_of(reply.beside);
  outcome.carried_out = outcome.error.empty() && outcome.result.outcome == sim::Outcome::pass;
  return outcome;
}

}  // namespace sm100::exec
