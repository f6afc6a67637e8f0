// SPDX-License-Identifier: Apache-2.0
#include "models/clc.h"

#include <fmt/format.h>

#include "models/time.h"

namespace sm100::models {

Clc::Clc(sc_core::sc_module_name name, const DeviceProfile& profile, Jitter& jitter, Observer& observer)
    : sc_module(name), profile_(profile), jitter_(jitter), observer_(observer) {}

void Clc::start_grid(Dim3 grid, Dim3 cluster) {
  const Dim3 clusters{grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z};
  grids_.push_back(
      {.grid = clusters, .cluster = cluster, .next = 0, .total = uint64_t(clusters.x) * clusters.y * clusters.z});
}

std::optional<Dim3> Clc::take(int launch) {
  Grid& g = grids_[size_t(launch)];
  if (g.next == g.total) return std::nullopt;
  const uint64_t n = g.next++, i = descending_ ? g.total - 1 - n : n;
  return Dim3{uint32_t(i % g.grid.x) * g.cluster.x, uint32_t(i / g.grid.x % g.grid.y) * g.cluster.y,
              uint32_t(i / g.grid.x / g.grid.y) * g.cluster.z};
}

void Clc::try_cancel(ClcRequests& cta, const SharedMemory& smem, uint32_t response, uint32_t barrier, Cycles at,
                     const Source& source, Deliver deliver) {
  if (response % 16 != 0 || !smem.contains(response, sizeof(ClcResponse)))
    return observer_.violation(
        {"CL1",
         fmt::format("try_cancel with its response at shared address {:#x}: must be 16-byte aligned and "
                     "inside the CTA's shared memory",
                     response),
         now(), cta.slot, barrier, source});
  if (cta.observed_failure)
    return observer_.violation(
        {"CL4", "try_cancel after a failed response was observed", now(), cta.slot, barrier, source});
  const Cycles done = at + profile_.cycles_of_ns(profile_.clc.response_ns) +
                      jitter_.delay(JitterSite::clc_response, source, {.to = -1, .barrier = barrier});
  ++cta.in_flight;
  completions_.post(
      done, [this, &cta, launch = cta.launch, barrier, at, done, source, deliver = std::move(deliver)]() mutable {
        --cta.in_flight;
        const std::optional<Dim3> cluster = take(launch);
        if (cluster) ++cancelled_, ++grids_[size_t(launch)].cancelled, on_cancel_();
        Source by = source;
        by.kind = ActorKind::clc;
        by.flow = observer_.new_flow();
        observer_.unit_span(
            {UnitSpanKind::clc_cancel, at, done, cta.slot, barrier, sizeof(ClcResponse), source.flow, by.flow, by});
        deliver(make_clc_response(cluster.has_value(), cluster.value_or(Dim3{})), by);
      });
}

}  // namespace sm100::models
