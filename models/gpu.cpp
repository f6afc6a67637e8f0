#include "models/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "models/time.h"

namespace sm100::models {

namespace {

constexpr uint32_t kLargestCluster = 16;  // the non-portable maximum (isa.md 6.1)

/// GPCs are cut into places of `ctas` consecutive SMs, so that clusters that come and go never leave gaps too small
/// for the next.  First place from the end of another one (or 0) on, or -1.
int next_place(int from, int ctas, int gpc_sms, int sms) {
  for (; from + ctas <= sms; from = (from / gpc_sms + 1) * gpc_sms)
    if (from / gpc_sms == (from + ctas - 1) / gpc_sms) return from;
  return -1;
}

}  // namespace

Gpu::Gpu(sc_core::sc_module_name name, const DeviceProfile& profile, const Options& options, Observer& observer)
    : sc_module(name),
      profile_(profile),
      jitter_(options.jitter_seed, profile),
      memory_(profile, jitter_),
      clc_("clc", profile, jitter_, observer),
      clusters_("cluster_net", profile, jitter_, observer),
      busy_(size_t(options.sms)) {
  for (int i = 0; i < options.sms; ++i) {
    sms_.push_back(std::make_unique<Sm>(fmt::format("sm{}", i).c_str(), i, options.with_data, options.accumulation,
                                        memory_, profile, jitter_, observer));
    clusters_.connect(sms_.back()->mbarrier, sms_.back()->tma);
  }
}

int Gpu::first_wave_sms(const Launch& launch, const DeviceProfile& profile, int sms) {
  const Dim3 grid = launch.grid, cluster = launch.cluster;
  if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0 || launch.cluster_ctas() > kLargestCluster)
    throw std::invalid_argument(fmt::format("a cluster of {} x {} x {} CTAs: allowed are 1 to {} CTAs", cluster.x,
                                            cluster.y, cluster.z, kLargestCluster));
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    throw std::invalid_argument(
        fmt::format("a grid of {} x {} x {} CTAs is no multiple of the cluster of {} x {} x {}", grid.x, grid.y,
                    grid.z, cluster.x, cluster.y, cluster.z));
  const int ctas = int(launch.cluster_ctas());
  const uint64_t clusters = uint64_t(grid.x) * grid.y * grid.z / launch.cluster_ctas();
  int end = 0;
  for (uint64_t placed = 0; placed < clusters; ++placed) {
    const int at = next_place(end, ctas, profile.device.gpc_sms, sms);
    if (at < 0) break;
    end = at + ctas;
  }
  if (end == 0 && clusters > 0)
    throw std::invalid_argument(fmt::format("a cluster of {} CTAs needs {} SMs in one GPC; there are {}", ctas,
                                            ctas, std::min(sms, profile.device.gpc_sms)));
  return end;
}

void Gpu::launch(const Launch& launch, CtaRunner& runner) {
  first_wave_sms(launch, profile_, sms());
  launch_ = launch;
  runner_ = &runner;
  clc_.start_grid(launch.grid, launch.cluster);
  start_waiting(profile_.cycles_of_ns(profile_.launch.kernel_start_ns));
}

void Gpu::cta_exited(Sm& sm) {
  --running_;
  busy_[size_t(sm.id)] = false;
  start_waiting(profile_.cycles_of_ns(profile_.launch.cta_gap_ns));
}

void Gpu::start_waiting(Cycles delay) {
  const int ctas = int(launch_.cluster_ctas());
  for (int at = 0; (at = next_place(at, ctas, profile_.device.gpc_sms, sms())) >= 0; at += ctas) {
    const auto first = busy_.begin() + at;
    if (std::find(first, first + ctas, true) != first + ctas) continue;
    if (!start_cluster(at, delay)) return;
  }
}

bool Gpu::start_cluster(int first_sm, Cycles delay) {
  const std::optional<Dim3> first = clc_.take();
  if (!first) return false;
  const uint32_t ctas = launch_.cluster_ctas();
  launched_ += ctas;
  running_ += ctas;
  std::fill_n(busy_.begin() + first_sm, ctas, true);
  launches_.post(now() + delay + profile_.cycles_of_ns(profile_.launch.setup_ns),
                 [this, first_sm, ctas, id = *first] {
                   clusters_.start_cluster(first_sm, ctas, launch_.warps);
                   const Dim3 extent = launch_.cluster;
                   const auto sm = [&](uint32_t rank) -> Sm& { return *sms_[size_t(first_sm) + rank]; };
                   for (uint32_t rank = 0; rank < ctas; ++rank) {
                     sm(rank).start_cta(launch_.smem_bytes);
                     clc_.start_cta(sm(rank).id);
                   }
                   // Pairs are ranks that differ in bit 0 only (isa.md 3.1).
                   for (uint32_t rank = 0; rank + 1 < ctas; rank += 2)
                     Umma::start_pair(sm(rank).umma, sm(rank + 1).umma);
                   for (uint32_t rank = 0; rank < ctas; ++rank)  // x fastest (isa.md 6.1)
                     runner_->start_cta(sm(rank), {id.x + rank % extent.x, id.y + rank / extent.x % extent.y,
                                                   id.z + rank / extent.x / extent.y});
                 });
  return true;
}

}  // namespace sm100::models
