// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/hardware_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "kernels/cuda/run/reference.h"
#include "kernels/cuda/run/trace_download.h"
#include "kernels/host/version.h"
#include "traces/format/pftrace.h"

namespace sm100::cuda {
namespace {

using host::Scenario;

class HardwareRun {
 public:
  HardwareRun(const Scenario& scenario, const DeviceKernel& kernel, const RunOptions& options, Gpu& gpu)
      : scenario_(scenario),
        kernel_(kernel.find(scenario)),
        options_(options),
        gpu_(gpu),
        problem_(host::make_run(scenario)),
        shape_(problem_->launch()),
        cold_(scenario.l2 == host::L2State::cold) {
    for (const host::Tensor& tensor : problem_->tensors()) {
      bytes_.emplace_back(tensor.bytes);
      problem_->fill(bytes_.size() - 1, bytes_.back().data());
      buffers_.emplace_back(tensor.bytes);
      buffers_.back().upload(bytes_.back().data(), tensor.bytes);
      addresses_.push_back(buffers_.back().address());
    }
    const auto encode = [&](const TensorMapFields& fields) { return gpu_.encode(fields); };
    const std::vector<host::Tensor> tensors = problem_->tensors();
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].locks) problem_->fill_addresses(i, addresses_, encode, bytes_[i].data());
    params_ = kernel.params(*problem_, addresses_, encode);
  }

  RunOutcome run() {
    std::unique_ptr<TraceBuffers> recording;
    gpu_.prepare(kernel_.plain, shape_);
    if (!options_.trace.empty()) {
      gpu_.prepare(kernel_.traced, shape_);
      recording = std::make_unique<TraceBuffers>(shape_, options_.trace_capacity);
      launch_traced(*recording);  // also loads the code
    }
    clear_output();
    launch_plain();
    outcome_.check = check();
    time_plain();
    if (recording) record(*recording);
    return std::move(outcome_);
  }

 private:
  void* params() { return params_.get(); }

  /// Words that CTAs synchronise on start every launch as the first.
  void reset_locks() {
    const std::vector<host::Tensor> tensors = problem_->tensors();
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].locks) buffers_[i].upload(bytes_[i].data(), tensors[i].bytes);
  }

  void launch_plain() {
    reset_locks();
    void* arguments[] = {params(), &no_trace_};
    gpu_.launch(kernel_.plain, shape_, arguments);
    gpu_.wait(options_.hang_seconds);
  }

  /// Nothing that an earlier launch wrote may pass for this one's.
  void clear_output() {
    problem_->fill(bytes_.size() - 1, bytes_.back().data());
    buffers_.back().upload(bytes_.back().data(), bytes_.back().size());
  }
  host::Check check() {
    buffers_.back().download(bytes_.back().data(), bytes_.back().size());
    return check_result(*problem_, bytes_, addresses_);
  }

  void time_plain() {
    void* arguments[] = {params(), &no_trace_};
    outcome_.microseconds = gpu_.time(kernel_.plain, shape_, arguments, options_.repeat, cold_,
                                      options_.hang_seconds, [this] { reset_locks(); });
    const std::vector<host::Tensor> tensors = problem_->tensors();
    const bool locks = std::any_of(tensors.begin(), tensors.end(), [](const host::Tensor& t) { return t.locks; });
    if (!cold_ && !locks && options_.repeat > 1)  // with nothing between the launches, nobody resets locks
      outcome_.back_to_back_microseconds =
          gpu_.time_back_to_back(kernel_.plain, shape_, arguments, options_.repeat, options_.hang_seconds);
  }

  void launch_traced(const TraceBuffers& recording) {
    reset_locks();
    DeviceTrace device_trace = recording.device_trace();
    void* arguments[] = {params(), &device_trace};
    gpu_.launch(kernel_.traced, shape_, arguments);
    try {
      gpu_.wait(options_.hang_seconds);
    } catch (const HangError& hang) {
      std::string kept = fmt::format("{} has what its warps did until then", options_.trace);
      try {
        write(recording.download(*problem_));
      } catch (const std::exception& error) { kept = fmt::format("no trace of it: {}", error.what()); }
      throw HangError(fmt::format("{}; {}", hang.what(), kept));
    }
  }

  /// One launch, in the state of L2 that the scenario wants, to the trace file; then what recording costs.
  void record(TraceBuffers& recording) {
    recording.clear();
    if (!cold_) launch_plain();  // clearing the trace's memory has put other lines into L2
    clear_output();
    if (cold_) gpu_.flush_l2();
    launch_traced(recording);
    write(recording.download(*problem_));
    if (outcome_.check.ok) outcome_.check = check();
    DeviceTrace device_trace = recording.device_trace();
    void* arguments[] = {params(), &device_trace};
    outcome_.traced_microseconds = gpu_.time(kernel_.traced, shape_, arguments, options_.repeat, cold_,
                                             options_.hang_seconds, [this] { reset_locks(); });
  }

  void write(DownloadedTrace downloaded) {
    traces::Metadata& metadata = downloaded.trace.metadata;
    metadata.device = gpu_.name();
    metadata.scenario = scenario_.name;
    metadata.configuration = scenario_.trace_configuration_json();
    metadata.seed = scenario_.seed;
    metadata.tool_version = "sm100-run " + host::version_text();
    outcome_.events_of_a_warp = downloaded.events_of_a_warp;
    outcome_.dropped_events = metadata.dropped_events;
    outcome_.sm_clock_ghz = metadata.ticks_per_second * 1e-9;
    traces::write_pftrace(downloaded.trace, options_.trace);
  }

  const Scenario& scenario_;
  CompiledKernel kernel_;
  const RunOptions& options_;
  Gpu& gpu_;
  std::unique_ptr<host::KernelRun> problem_;
  host::LaunchShape shape_;
  bool cold_;
  std::vector<DeviceBuffer> buffers_;
  std::vector<GlobalAddr> addresses_;
  std::vector<std::vector<uint8_t>> bytes_;
  std::shared_ptr<void> params_;
  DeviceTrace no_trace_{};  ///< the plain kernel's second parameter is empty; this is large enough
  RunOutcome outcome_;
};

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

double RunOutcome::cycles_per_event() const {
  const double extra = median(traced_microseconds) - median(microseconds);
  return events_of_a_warp > 0 ? extra * 1e3 * sm_clock_ghz / double(events_of_a_warp) : 0;
}

RunOutcome run_on_gpu(const Scenario& scenario, const DeviceKernel& kernel, const RunOptions& options, Gpu& gpu) {
  return HardwareRun(scenario, kernel, options, gpu).run();
}

}  // namespace sm100::cuda
