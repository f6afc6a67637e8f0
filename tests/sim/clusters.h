// SPDX-License-Identifier: Apache-2.0
/// Warp programs in clusters of several CTAs, for tests: a grid, one program for all warps, a run to its end.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "kernels/host/scenario.h"
#include "sim/device.h"
#include "sim/sim_isa.h"

namespace sm100::sim {
inline constexpr uint32_t kBar = 0x400, kData = 0x800;

/// A grid of clusters along x, one program for all warps.
struct Clusters {
  Clusters(uint32_t ctas, uint32_t cluster, int warps = 1, int sms = 18) {
    kernel.grid = {ctas, 1, 1};
    kernel.cluster = {cluster, 1, 1};
    kernel.warps = warps;
    kernel.smem_bytes = 16 * 1024;
    kernel.roles.assign(size_t(warps), "mma");
    kernel.roles[0] = "load";
    kernel.run_warp = [this](Warp& warp) {
      SimIsa isa(warp, profile);
      program(isa);
      exits[isa.ctaid().x] = models::now();
    };
    this->sms = sms;
  }
  void run() {
    device.emplace(
        profile, kernel,
        models::Gpu::Options{
            .sms = sms, .with_data = true, .accumulation = models::Accumulation::fast, .jitter_seed = {}},
        nullptr);
    if (before) before();
    device->launch();
    sc_core::sc_start();
  }
  std::string violation() const {
    const auto& v = device->observer.violations();
    return v.empty() ? "" : v.front().id;
  }
  const models::Violation& finding() const { return device->observer.violations().front(); }

  models::DeviceProfile profile = host::load_profile("b200");
  Kernel kernel;
  int sms;
  std::function<void(SimIsa&)> program;
  std::function<void()> before;  ///< after the device is there
  std::optional<Device> device;
  std::map<uint32_t, models::Cycles> exits;  ///< by ctaid.x
};

/// Address of shared-memory offset `offset` as the CTA sees it.
inline SmemAddr own(SimIsa& isa, uint32_t offset) { return {isa.cluster_ctarank() << kClusterRankShift | offset}; }

inline void init_barrier(SimIsa& isa, uint32_t count, uint32_t offset = kBar) {
  isa.elected([&] { isa.mbarrier_init(own(isa, offset), count); });
}
inline void cluster_sync(SimIsa& isa, Loc loc = Loc::current()) {
  isa.barrier_cluster_arrive(loc);
  isa.barrier_cluster_wait(loc);
}

inline TensorMap row_of_words(GlobalAddr address) {
  TensorMapFields f;
  f.data_type = TensorMapDataType::uint32;
  f.rank = 1;
  f.global_address = address.value;
  f.global_dim[0] = f.box_dim[0] = 32;
  f.element_stride[0] = 1;
  return encode(f);
}

}  // namespace sm100::sim
