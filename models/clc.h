// SPDX-License-Identifier: Apache-2.0
/// Cluster launch control (PTX 9.7.13.17): each grid's clusters that have not been launched, from which both
/// the launch hardware and try_cancel take.
///
/// Modelled: one response of 16 bytes and complete_tx(16) per request; a cluster is handed out once, and only to
/// CTAs of its own grid; failure when nothing is left.  Detected: CL1 (alignment, window), CL4 (request after an
/// observed failure). Approximated: x-fastest hand-out order (typical, not promised), or the reverse; one latency
/// for all requests.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <systemc>

#include "kernels/isa/clc_response.h"
#include "models/completion_queue.h"
#include "models/mbarrier.h"

namespace sm100::models {

/// What the requests of one CTA depend on.
struct ClcRequests {
  int slot = 0;                   ///< of the CTA
  int launch = 0;                 ///< whose clusters it may take
  bool observed_failure = false;  ///< it has decoded a failed response
  int in_flight = 0;              ///< responses that have not been written yet
};

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

  /// clusterlaunchcontrol.try_cancel.async by a CTA, issued at cycle `at`.
  /// @param deliver  writes the response and signals, in one CTA or in all of the cluster
  using Deliver = InlineFunction<void(const ClcResponse&, const Source& by), 176>;
  void try_cancel(ClcRequests& cta, const SharedMemory& smem, uint32_t response, uint32_t barrier, Cycles at,
                  const Source& source, Deliver deliver);
  /// The CTA has decoded a failed response: any further request of it is undefined.  PTX says so of the CTA that
  /// executes the request; what another CTA of the cluster has seen does not matter.
  static void failure_observed(ClcRequests& cta) { cta.observed_failure = true; }

  uint64_t cancelled() const { return cancelled_; }  ///< clusters, of all launches
  uint64_t cancelled(int launch) const { return grids_[size_t(launch)].cancelled; }
  uint64_t total(int launch = 0) const { return grids_[size_t(launch)].total; }  ///< clusters
  /// Clusters that are neither launched nor cancelled.
  uint64_t waiting(int launch) const { return grids_[size_t(launch)].total - grids_[size_t(launch)].next; }

 private:
  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;
  CompletionQueue completions_;
  struct Grid {
    Dim3 grid, cluster;  ///< grid in clusters, cluster in CTAs
    uint64_t next, total;
    uint64_t cancelled = 0;
  };
  std::vector<Grid> grids_;  ///< by launch
  uint64_t cancelled_ = 0;
  bool descending_ = false;
  std::function<void()> on_cancel_ = [] {};
};

}  // namespace sm100::models
