// SPDX-License-Identifier: Apache-2.0
/// The modelled device with the warps of its CTA slots: what kernels are launched on.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <vector>

#include "models/gpu.h"
#include "sim/cta.h"
#include "sim/run_observer.h"

namespace sm100::sim {

class Device : public models::CtaRunner {
 public:
  /// The kernels of the list must outlive the device; their run_warp may be set later, before the launch.
  Device(const models::DeviceProfile& profile, const LaunchList& launches, const models::Gpu::Options& options,
         traces::Recorder* recorder)
      : launches(launches),
        observer(this->launches, options.sms * options.ctas_per_sm, recorder),
        gpu("gpu", profile, options, observer) {
    observer.set_memory(&gpu.memory());
    for (int i = 0; i < gpu.slots(); ++i)
      slots_.push_back(
          std::make_unique<Cta>(fmt::format("cta_slot{}", i).c_str(), gpu, gpu.cta(i), this->launches, observer));
  }

  void launch() {
    for (const Launch& launch : launches.all()) gpu.launch(shape(launch), *this);
  }
  static models::Gpu::Launch shape(const Launch& launch) {
    models::Gpu::Launch grid = shape(*launch.kernel);
    grid.programmatic = launch.programmatic;
    grid.writes = launch.writes;
    grid.stream = launch.stream;
    grid.after = launch.after;
    return grid;
  }
  /// Runs up to cycle `until`, or to a violation; false: nothing is left to do.
  bool run_until(models::Cycles until);
  /// Cycle of the last thing that happened in a run that has nothing left to do.  try_waits that gave up and were
  /// asked again are nothing.
  models::Cycles last_activity() const { return last_activity_; }

  static models::Gpu::Launch shape(const Kernel& kernel) {
    return {.grid = kernel.grid,
            .warps = kernel.warps,
            .smem_bytes = kernel.smem_bytes,
            .cluster = kernel.cluster,
            .registers = kernel.registers};
  }
  void start_cta(models::CtaContext& cta, int launch, Dim3 ctaid) override {
    slots_[size_t(cta.slot)]->start(launch, ctaid);
  }

  /// CTAs whose work running ones took over through CLC.
  uint64_t ctas_by_clc() {
    uint64_t ctas = 0;
    for (int launch = 0; launch < gpu.launches(); ++launch)
      ctas += gpu.clc().cancelled(launch) * shape(*launches[launch].kernel).cluster_ctas();
    return ctas;
  }

  std::vector<Cta*> slots() const {
    std::vector<Cta*> all;
    for (const auto& s : slots_) all.push_back(s.get());
    return all;
  }

  LaunchList launches;
  RunObserver observer;
  models::Gpu gpu;

 private:
  std::vector<std::unique_ptr<Cta>> slots_;
  models::Cycles reached_ = 0;  ///< by run_until
  models::Cycles last_activity_ = 0;
  std::optional<uint64_t> left_before_;  ///< SuspensionLimit::times_left when nothing was left to do but to give up
};

}  // namespace sm100::sim
