// SPDX-License-Identifier: Apache-2.0
#include "models/gpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "models/time.h"

namespace sm100::models {

namespace {

constexpr uint32_t kLargestCluster = 16;  // the non-portable maximum (CUDA programming guide)

/// GPCs are cut into places of `ctas` consecutive SMs, so that clusters that come and go never leave gaps too small
/// for the next.  First place from the end of another one (or 0) on, or -1.
int next_place(int from, int ctas, int gpc_sms, int sms) {
  for (; from + ctas <= sms; from = (from / gpc_sms + 1) * gpc_sms)
    if (from / gpc_sms == (from + ctas - 1) / gpc_sms) return from;
  return -1;
}

/// Throws std::invalid_argument, with a reason for people, when the grid can never run.
void check_shape(const Gpu::Launch& launch, const DeviceProfile& profile, int sms) {
  const Dim3 grid = launch.grid, cluster = launch.cluster;
  if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0 || launch.cluster_ctas() > kLargestCluster)
    throw std::invalid_argument(fmt::format("a cluster of {} x {} x {} CTAs: allowed are 1 to {} CTAs", cluster.x,
                                            cluster.y, cluster.z, kLargestCluster));
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    throw std::invalid_argument(
        fmt::format("a grid of {} x {} x {} CTAs is no multiple of the cluster of {} x {} x {}", grid.x, grid.y,
                    grid.z, cluster.x, cluster.y, cluster.z));
  const int ctas = int(launch.cluster_ctas());
  if (next_place(0, ctas, profile.device.gpc_sms, sms) < 0 && launch.clusters() > 0)
    throw std::invalid_argument(fmt::format("a cluster of {} CTAs needs {} SMs in one GPC; there are {}", ctas,
                                            ctas, std::min(sms, profile.device.gpc_sms)));
}

}  // namespace

Gpu::Gpu(sc_core::sc_module_name name, const DeviceProfile& profile, const Options& options, Observer& observer)
    : sc_module(name),
      profile_(profile),
      jitter_(options.jitter_seed, profile),
      memory_(profile),
      try_wait_limit_(profile.cycles_of_ns(profile.try_wait.limit_ns)),
      clc_("clc", profile, jitter_, observer),
      clusters_("cluster_net", profile, jitter_, observer),
      ctas_per_sm_(options.ctas_per_sm),
      places_(size_t(options.sms) * size_t(options.ctas_per_sm)) {
  for (int i = 0; i < options.sms; ++i) {
    sms_.push_back(std::make_unique<Sm>(fmt::format("sm{}", i).c_str(), i, options.with_data));
    for (int k = 0; k < ctas_per_sm_; ++k) {
      ctas_.push_back(std::make_unique<CtaContext>(i * ctas_per_sm_ + k, *sms_.back(), options.accumulation,
                                                   memory_, profile, jitter_, observer));
      clusters_.connect(ctas_.back()->mbarrier, ctas_.back()->tma);
    }
  }
  clc_.on_cancel([this] { open_dependents(); });
}

int Gpu::first_wave_sms(const Launch& launch, const DeviceProfile& profile, int sms) {
  return first_wave_sms(std::vector{launch}, profile, sms);
}

int Gpu::first_wave_sms(const std::vector<Launch>& launches, const DeviceProfile& profile, int sms) {
  int end = 0;
  for (const Launch& launch : launches) {
    check_shape(launch, profile, sms);
    const int ctas = int(launch.cluster_ctas());
    for (uint64_t placed = 0; placed < launch.clusters(); ++placed) {
      const int at = next_place(end, ctas, profile.device.gpc_sms, sms);
      if (at < 0) break;
      end = at + ctas;
    }
  }
  return end;
}

// ---- the streams

void Gpu::launch(const Launch& launch, CtaRunner& runner) {
  first_wave_sms(launch, profile_, sms());
  const size_t index = grids_.size();
  grids_.push_back({.launch = launch, .runner = &runner, .first_start = {}, .waiting = {}});
  order_.add(launch.stream, launch.after);
  clc_.start_grid(launch.grid, launch.cluster);
  if (has_prerequisites(int(index)) || !events_complete(index)) return;
  grids_[index].opening = true;
  open(index, profile_.cycles_of_ns(profile_.launch.kernel_start_ns));
}

void Gpu::open(size_t grid, Cycles delay) {
  grids_[grid].open = true;
  grids_[grid].start_from = now() + delay;
  start_waiting();
}

bool Gpu::events_complete(size_t grid) const {
  const std::vector<int>& after = grids_[grid].launch.after;
  return std::all_of(after.begin(), after.end(), [&](int launch) { return grids_[size_t(launch)].completed; });
}

bool Gpu::released_by_ahead(size_t grid) const {
  const int ahead = order_.ahead(int(grid));
  return grids_[size_t(ahead)].open && clc_.waiting(ahead) == 0 && grids_[size_t(ahead)].holding == 0;
}

void Gpu::open_if_ready(size_t grid, double ns) {
  if (grids_[grid].opening || !events_complete(grid)) return;
  if (!prerequisites_complete(int(grid)) && !(grids_[grid].launch.programmatic && released_by_ahead(grid))) return;
  grids_[grid].opening = true;
  launches_.post(now() + profile_.cycles_of_ns(ns), [this, grid] { open(grid, 0); });
}

/// Programmatic launches that nobody ahead of them holds back any more.
void Gpu::open_dependents() {
  for (size_t grid = 1; grid < grids_.size(); ++grid)
    if (grids_[grid].launch.programmatic && has_prerequisites(int(grid)))
      open_if_ready(grid, profile_.launch.dependent_start_ns);
}

bool Gpu::is_waited_for(size_t grid) const {
  return has_dependents(int(grid)) || std::any_of(grids_.begin(), grids_.end(), [&](const Grid& other) {
           const std::vector<int>& after = other.launch.after;
           return std::find(after.begin(), after.end(), int(grid)) != after.end();
         });
}

void Gpu::finish(size_t grid) {
  grids_[grid].finished = true;
  for (int next = int(grid); next >= 0 && grids_[size_t(next)].finished && prerequisites_complete(next);
       next = order_.behind(next))
    complete(size_t(next));
}

void Gpu::complete(size_t grid) {
  grids_[grid].completed = true;
  if (const int behind = order_.behind(int(grid)); behind >= 0)
    launches_.post(now() + profile_.cycles_of_ns(profile_.launch.dependency_wait_ns), [this, behind] {
      for (Waiter* waiter : std::exchange(grids_[size_t(behind)].waiting, {}))
        waiter->wake.notify(jitter_.wakeup(*waiter));
    });
  for (size_t next = grid + 1; next < grids_.size(); ++next) open_if_ready(next, profile_.launch.grid_gap_ns);
}

void Gpu::launch_dependents(const CtaContext& cta) {
  Place& place = places_[size_t(cta.slot)];
  if (std::exchange(place.triggered, true)) return;
  grids_[place.grid].triggered = true;
  --grids_[place.grid].holding;
  open_dependents();
}

void Gpu::wait_prerequisites(int launch, Waiter& waiter) {
  waiter.cause = 0, waiter.by = {};
  grids_[size_t(launch)].waiting.push_back(&waiter);
}

std::optional<int> Gpu::unfinished_writer(GlobalAddr address, int launch) const {
  for (int writer = 0; writer < launches(); ++writer) {
    if (writer == launch || order_.before(launch, writer)) continue;
    const GlobalRange& writes = grids_[size_t(writer)].launch.writes;
    if (address.value - writes.address.value >= writes.bytes) continue;  // below: wraps to a large number
    if (!order_.before(writer, launch) || !grids_[size_t(writer)].completed) return writer;
  }
  return std::nullopt;
}

std::optional<int> Gpu::programmatic_writer(GlobalAddr address, int launch) const {
  const int ahead = order_.ahead(launch);
  if (ahead < 0 || !grids_[size_t(launch)].launch.programmatic || !lets_dependents_start(ahead))
    return std::nullopt;
  const GlobalRange& writes = grids_[size_t(ahead)].launch.writes;
  return address.value - writes.address.value < writes.bytes ? std::optional(ahead) : std::nullopt;
}

// ---- placement

void Gpu::cta_exited(const CtaContext& cta, Cycles visible) {
  Place& place = places_[size_t(cta.slot)];
  const size_t index = place.grid;  // the place may have a CTA of the next launch below
  Grid& grid = grids_[index];
  --running_, --grid.running;
  if (!place.triggered) --grid.holding;
  grid.visible = std::max({grid.visible, visible, now()});
  place.busy = false;
  place.free_at = now() + profile_.cycles_of_ns(profile_.launch.cta_gap_ns);
  start_waiting();
  open_dependents();
  if (grid.running == 0 && clc_.waiting(int(index)) == 0 && is_waited_for(index))
    launches_.post(grid.visible, [this, index] { finish(index); });
}

void Gpu::start_waiting() {
  for (size_t grid = 0; grid < grids_.size(); ++grid) {
    if (!grids_[grid].open) continue;
    const int ctas = int(grids_[grid].launch.cluster_ctas());
    for (int others = 0; others < ctas_per_sm_ && clc_.waiting(int(grid)) > 0; ++others)
      for (int at = 0; (at = next_place(at, ctas, profile_.device.gpc_sms, sms())) >= 0; at += ctas) {
        if (find_room(grids_[grid].launch, at, others) && !start_cluster(grid)) break;
      }
    if (clc_.waiting(int(grid)) > 0) return;  // later launches get what this one leaves
  }
}

bool Gpu::find_room(const Launch& launch, int first_sm, int others) {
  found_.clear();
  for (int sm = first_sm; sm < first_sm + int(launch.cluster_ctas()); ++sm) {
    together_.clear();
    const Place* earliest = nullptr;  // of the free ones
    for (int slot = sm * ctas_per_sm_; slot < (sm + 1) * ctas_per_sm_; ++slot) {
      const Place& place = places_[size_t(slot)];
      if (place.busy)
        together_.push_back(place.taken);
      else if (!earliest || place.free_at < earliest->free_at)
        earliest = &place;
    }
    if (!earliest || int(together_.size()) > others) return false;
    together_.push_back(launch.resources());
    if (together_.size() > 1 && !lacking(together_, profile_).empty()) return false;
    found_.push_back(int(earliest - places_.data()));
  }
  return true;
}

bool Gpu::start_cluster(size_t index) {
  const std::optional<Dim3> first = clc_.take(int(index));
  if (!first) return false;
  Grid& grid = grids_[index];
  const uint32_t ctas = grid.launch.cluster_ctas();
  launched_ += ctas;
  running_ += ctas;
  grid.running += ctas;
  grid.holding += ctas;
  Cycles from = std::max(now(), grid.start_from);
  for (const int slot : found_) {
    from = std::max(from, places_[size_t(slot)].free_at);
    places_[size_t(slot)] = {.busy = true, .taken = grid.launch.resources(), .grid = index};
  }
  const Cycles start = from + profile_.cycles_of_ns(profile_.launch.setup_ns);
  grid.first_start = std::min(grid.first_start.value_or(start), start);
  launches_.post(start, [this, index, slots = found_, ctas, id = *first] {
    const Launch& launch = grids_[index].launch;
    ++clusters_started_;
    clusters_.start_cluster(slots, launch.warps);
    const Dim3 extent = launch.cluster;
    const auto cta = [&](uint32_t rank) -> CtaContext& { return *ctas_[size_t(slots[rank])]; };
    for (uint32_t rank = 0; rank < ctas; ++rank) {
      cta(rank).start(launch.resources(), int(index), clusters_started_);
      tensor_maps_.start_cta(slots[rank]);
    }
    // Pairs are ranks that differ in bit 0 only (PTX 9.7.16).
    for (uint32_t rank = 0; rank + 1 < ctas; rank += 2) Umma::start_pair(cta(rank).umma, cta(rank + 1).umma);
    for (uint32_t rank = 0; rank < ctas; ++rank)  // x fastest (PTX, %cluster_ctarank)
      grids_[index].runner->start_cta(
          cta(rank), int(index),
          {id.x + rank % extent.x, id.y + rank / extent.x % extent.y, id.z + rank / extent.x / extent.y});
  });
  return true;
}

}  // namespace sm100::models
