// SPDX-License-Identifier: Apache-2.0
/// A device without warps: a test ends its CTAs.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "models/fixture.h"
#include "models/gpu.h"

namespace sm100::models {

/// A device of `sms` SMs in GPCs of five, whose CTAs run until the test ends them.
struct GpuBench : CtaRunner {
  explicit GpuBench(int sms, int ctas_per_sm = 1)
      : profile(with_gpcs_of_five()), gpu("gpu", profile, options(sms, ctas_per_sm), observer) {}
  static DeviceProfile with_gpcs_of_five() {
    DeviceProfile p = b200();
    p.device.gpc_sms = 5;
    return p;
  }
  static Gpu::Options options(int sms, int ctas_per_sm) {
    return {.sms = sms,
            .with_data = false,
            .accumulation = Accumulation::fast,
            .jitter_seed = {},
            .ctas_per_sm = ctas_per_sm};
  }
  void start_cta(CtaContext& cta, int launch, Dim3 ctaid) override {
    at[cta.slot] = ctaid;
    launch_at[cta.slot] = launch;
    started[cta.slot] = now();
  }
  void launch(Dim3 grid, Dim3 cluster) {
    gpu.launch({.grid = grid, .warps = 1, .smem_bytes = 1024, .cluster = cluster}, *this);
  }
  /// Two grids of `ctas` CTAs.
  void launch_two(uint32_t ctas, bool programmatic) {
    for (int i = 0; i < 2; ++i)
      gpu.launch({.grid = {ctas, 1, 1},
                  .warps = 1,
                  .smem_bytes = 1024,
                  .programmatic = programmatic && i > 0,
                  .writes = {GlobalAddr{0x1000u * uint64_t(i + 1)}, 0x100}},
                 *this);
  }
  /// CTAs of `smem_bytes` each.
  void launch_on(int stream, uint32_t ctas, std::vector<int> after = {}, uint32_t smem_bytes = 1024,
                 bool programmatic = false) {
    gpu.launch({.grid = {ctas, 1, 1},
                .warps = 1,
                .smem_bytes = smem_bytes,
                .programmatic = programmatic,
                .writes = {GlobalAddr{0x1000u * uint64_t(gpu.launches() + 1)}, 0x100},
                .stream = stream,
                .after = std::move(after)},
               *this);
  }
  /// Slots that CTAs of the launch are in.
  std::vector<int> slots_of(int launch) const {
    std::vector<int> slots;
    for (const auto& [slot, of] : launch_at)
      if (of == launch && at.count(slot)) slots.push_back(slot);
    return slots;
  }
  void exit(int slot, Cycles visible = 0) {
    at.erase(slot);
    gpu.cta_exited(gpu.cta(slot), visible);
  }
  Cycles ns(double value) const { return profile.cycles_of_ns(value); }
  DeviceProfile profile;
  RecordingObserver observer;
  Gpu gpu;
  std::map<int, Dim3> at;
  std::map<int, int> launch_at;
  std::map<int, Cycles> started;
};

}  // namespace sm100::models
