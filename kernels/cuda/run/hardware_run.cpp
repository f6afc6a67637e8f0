// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/hardware_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "kernels/cuda/run/executable.h"
#include "kernels/cuda/run/recording.h"
#include "kernels/cuda/run/reference.h"
#include "kernels/host/version.h"
#include "kernels/ptx_launch/host/ptx_problem.h"
#include "traces/format/pftrace.h"

namespace sm100::cuda {
namespace {

using host::Scenario;

class HardwareRun {
 public:
  HardwareRun(const Scenario& scenario, const DeviceKernel* kernel, const RunOptions& options, Gpu& gpu)
      : scenario_(scenario),
        options_(options),
        gpu_(gpu),
        problem_(host::make_run(scenario)),
        cold_(scenario.l2 == host::L2State::cold),
        of_ours_(kernel != nullptr) {
    reserve_addresses();
    for (const host::Tensor& tensor : problem_->tensors()) {
      bytes_.emplace_back(tensor.bytes);
      problem_->fill(bytes_.size() - 1, bytes_.back().data());
      if (tensor.address)
        buffers_.push_back(DeviceBuffer::view({*tensor.address}, tensor.bytes));
      else
        buffers_.emplace_back(tensor.bytes);
      buffers_.back().upload(bytes_.back().data(), tensor.bytes);
      addresses_.push_back(buffers_.back().address());
    }
    const auto encode = [&](const TensorMapFields& fields) { return gpu_.encode(fields); };
    const std::vector<host::Tensor> tensors = problem_->tensors();
    for (size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].locks) problem_->fill_addresses(i, addresses_, encode, bytes_[i].data());
    executable_ = load(scenario_, kernel, *problem_, addresses_, encode);
  }

  RunOutcome run() {
    std::unique_ptr<Recording> recording;
    gpu_.prepare(executable_.plain);
    if (!options_.trace.empty()) {
      recording = executable_.record(options_.trace_capacity);
      gpu_.prepare(recording->launch());
      launch_traced(*recording);  // also loads the code
    }
    clear_output();
    launch_plain();
    outcome_.check = check();
    if (options_.trials > 0) return repeat_trials();
    plain_bytes_ = bytes_;
    time_plain();
    if (options_.cublas) time_cublas();
    if (recording) record(*recording);
    return std::move(outcome_);
  }

 private:
  void reserve_addresses() {
    uint64_t from = ~uint64_t{0}, to = 0;
    for (const host::Tensor& tensor : problem_->tensors())
      if (tensor.address) from = std::min(from, *tensor.address), to = std::max(to, *tensor.address + tensor.bytes);
    if (from < to) fixed_ = std::make_unique<FixedMemory>(from, to);
  }

  /// Memory at stated addresses is a program's, and may hold the counters of a workspace.
  bool resets(const host::Tensor& tensor) const { return tensor.locks || tensor.address.has_value(); }

  /// Words that CTAs synchronise on start every launch as the first.
  void reset_locks() {
    const std::vector<host::Tensor> tensors = problem_->tensors();
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (!resets(tensors[i])) continue;
      if (!tensors[i].locks) problem_->fill(i, bytes_[i].data());
      buffers_[i].upload(bytes_[i].data(), tensors[i].bytes);
    }
  }

  void launch_plain() {
    reset_locks();
    gpu_.launch(executable_.plain);
    gpu_.wait(options_.hang_seconds);
  }

  /// Which tensors a launch writes: of a kernel of ours the last one, of PTX nobody says.
  size_t first_written() const { return host::ptx_of(scenario_) && !of_ours_ ? 0 : bytes_.size() - 1; }

  /// Nothing that an earlier launch wrote may pass for this one's.
  void clear_output() {
    for (size_t i = first_written(); i < bytes_.size(); ++i) {
      problem_->fill(i, bytes_[i].data());
      buffers_[i].upload(bytes_[i].data(), bytes_[i].size());
    }
  }
  void download_written() {
    for (size_t i = first_written(); i < bytes_.size(); ++i)
      buffers_[i].download(bytes_[i].data(), bytes_[i].size());
  }

  host::Check check() {
    download_written();
    std::vector<const uint8_t*> tensors;
    for (const auto& tensor : bytes_) tensors.push_back(tensor.data());
    outcome_.output_hash = host::hash_of_outputs(problem_->tensors(), tensors);
    return check_result(*problem_, bytes_, addresses_);
  }

  /// The launches of a kernel that may be wrong now and then: each on a cleared output, every other one on a
  /// flushed L2.
  RunOutcome repeat_trials() {
    std::vector<std::vector<uint8_t>> right;  // what the result was when it was right
    if (outcome_.check.ok) right = bytes_;
    outcome_.trials = 1, outcome_.wrong_trials = outcome_.check.ok ? 0 : 1;
    host::Check wrong = outcome_.check;
    for (; outcome_.trials < options_.trials; ++outcome_.trials) {
      clear_output();
      if (outcome_.trials % 2 == 0) gpu_.flush_l2();
      try {
        launch_plain();
      } catch (const HangError& hang) {
        throw HangError(fmt::format("{}, launch {} of {}; {} of those before had wrong results", hang.what(),
                                    outcome_.trials + 1, options_.trials, outcome_.wrong_trials));
      }
      download_written();
      if (!right.empty() && bytes_ == right) continue;
      const host::Check now = check_result(*problem_, bytes_, addresses_);
      if (now.ok && right.empty()) right = bytes_;
      if (!now.ok) wrong = now, ++outcome_.wrong_trials;
    }
    outcome_.check = wrong;
    return std::move(outcome_);
  }

  void time_plain() {
    const auto launch = [this] { gpu_.launch(executable_.plain); };
    const auto reset = [this] { reset_locks(); };
    const Gpu::Times times = gpu_.time(launch, options_.repeat, cold_, options_.hang_seconds, reset);
    outcome_.microseconds = times.microseconds, outcome_.timed_clock_ghz = times.sm_clock_ghz;
    const std::vector<host::Tensor> tensors = problem_->tensors();
    const bool locks =
        std::any_of(tensors.begin(), tensors.end(), [this](const host::Tensor& t) { return resets(t); });
    if (locks || options_.repeat < 2) return;  // with nothing between the launches, nobody resets locks
    const Gpu::Times one = gpu_.time_back_to_back(launch, options_.repeat, options_.hang_seconds);
    outcome_.back_to_back_microseconds = one.microseconds.front();
    outcome_.back_to_back_clock_ghz = one.sm_clock_ghz;
  }

  void time_cublas() {
    const auto product = cublas_launch(*problem_, addresses_);
    if (!product)
      throw host::InputError("--cublas: needs a plain product of bf16 operands, and cuBLAS on this machine");
    if (options_.repeat < 2) return;
    product(), gpu_.wait(options_.hang_seconds);  // it chooses its kernel
    outcome_.cublas = gpu_.time(product, options_.repeat, cold_, options_.hang_seconds, [] {});
    outcome_.cublas_back_to_back = gpu_.time_back_to_back(product, options_.repeat, options_.hang_seconds);
  }

  void launch_traced(const Recording& recording) {
    reset_locks();
    gpu_.launch(recording.launch());
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
  void record(Recording& recording) {
    recording.clear();
    if (!cold_) launch_plain();  // clearing the trace's memory has put other lines into L2
    clear_output();
    if (cold_) gpu_.flush_l2();
    launch_traced(recording);
    write(recording.download(*problem_));
    const host::Check traced = check();
    if (outcome_.check.ok) outcome_.check = traced;
    outcome_.traced_bytes_differ = plain_bytes_ != bytes_;
    const Gpu::Times times = gpu_.time([&] { gpu_.launch(recording.launch()); }, options_.repeat, cold_,
                                       options_.hang_seconds, [this] { reset_locks(); });
    outcome_.traced_microseconds = times.microseconds, outcome_.traced_clock_ghz = times.sm_clock_ghz;
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
  const RunOptions& options_;
  Gpu& gpu_;
  std::unique_ptr<host::KernelRun> problem_;
  bool cold_;
  bool of_ours_;                        ///< not kernel = "ptx"
  std::unique_ptr<FixedMemory> fixed_;  ///< where the launch file states addresses
  std::vector<DeviceBuffer> buffers_;
  std::vector<GlobalAddr> addresses_;
  std::vector<std::vector<uint8_t>> bytes_;
  std::vector<std::vector<uint8_t>> plain_bytes_;  ///< as the launch without a recorder left them
  Executable executable_;
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

RunOutcome run_on_gpu(const Scenario& scenario, const DeviceKernel* kernel, const RunOptions& options, Gpu& gpu) {
  return HardwareRun(scenario, kernel, options, gpu).run();
}

}  // namespace sm100::cuda
