// SPDX-License-Identifier: Apache-2.0
/// Cluster launch control (PTX 9.7.13.17): each grid's clusters that have not been launched, from which both
/// the launch hardware and try_cancel take.
///
/// Modelled: one response of 16 bytes and complete_tx(16) per request; a cluster is handed out once, and only to
/// CTAs of its own grid; failure when nothing is left.  Detected: CL1 (alignment, window), CL4 (request after an observed failure).
/// Approximated: x-fastest hand-out order (typical, not promised), or the reverse; one latency for all requests.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <systemc>

#include "kernels/isa/clc_response.h"
#include "models/completion_queue.h"
#include "models/mbarrier.h"

namespace sm100::models {

class Clc : public sc_core::sc_module {
 public:
  Clc(sc_core::sc_module_name name, const DeviceProfile& profile, Jitter& jitter, Observer& observer);

  /// A grid of clusters, all waiting to be launched; launches are numbered from 0.  The grid is a multiple of the
  /// cluster.
  void start_grid(Dim3 grid, Dim3 cluster = {1, 1, 1});
  /// From now on each grid's last cluster is handed out first: nothing promises that a kernel never sees it.
  void hand_out_descending() { descending_ = true; }
  /// Launch hardware or a cancel takes the launch's next cluster: the id of its first CTA.
  std::optional<Dim3> take(int launch = 0);
  /// `cancelled()` is called whenever a cancel has taken a cluster.
  void on_cancel(std::function<void()> cancelled) { on_cancel_ = std::move(cancelled); }

  /// clusterlaunchcontrol.try_cancel.async by a CTA on `sm`, issued at cycle `at`.
  /// @param deliver  writes the response and signals, in one CTA or in all of the cluster
  using Deliver = InlineFunction<void(const ClcResponse&, const Source& by), 176>;
  void try_cancel(int sm, const SharedMemory& smem, uint32_t response, uint32_t barrier, Cycles at,
                  const Source& source, Deliver deliver);
  /// A CTA on `sm` has decoded a failed response: any further request of it is undefined.  PTX says so of the CTA that
  /// executes the request; what another CTA of the cluster has seen does not matter.
  void failure_observed(int sm) { observed_failure_[size_t(sm)] = true; }
  void start_cta(int sm, int launch = 0);
  /// Requests of the CTA on `sm` whose response has not been written yet.
  int in_flight(int sm) const { return in_flight_[size_t(sm)]; }

  uint64_t cancelled() const { return cancelled_; }                              ///< clusters, of all launches
  uint64_t total(int launch = 0) const { return grids_[size_t(launch)].total; }  ///< clusters
  /// Clusters that are neither launched nor cancelled.
  uint64_t waiting(int launch) const { return grids_[size_t(launch)].total - grids_[size_t(launch)].next; }

 private:
  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;
  CompletionQueue completions_{"completions"};
  struct Grid {
    Dim3 grid, cluster;  ///< grid in clusters, cluster in CTAs
    uint64_t next, total;
  };
  std::vector<Grid> grids_;  ///< by launch
  uint64_t cancelled_ = 0;
  bool descending_ = false;
  std::function<void()> on_cancel_ = [] {};
  std::vector<int> launch_;  ///< of the CTA on each SM
  std::vector<bool> observed_failure_;
  std::vector<int> in_flight_;
};

}  // namespace sm100::models
