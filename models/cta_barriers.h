/// Barriers of a CTA that are not mbarriers: the 16 named barriers (bar.sync, bar.arrive, PTX 9.7.13.1) and
/// the cluster barrier (barrier.cluster, 9.7.13.4). Modelled: thread counts in whole warps, arrive without
/// wait, generations; a cluster barrier waits for the non-exited warps only.  Rejected: clusters of more than
/// one CTA (not implemented), bar.red.
#pragma once

#include <array>
#include <vector>

#include "models/mbarrier.h"

namespace sm100::models {

class CtaBarriers {
 public:
  struct Named {
    uint32_t expected = 0;  ///< threads of the open generation; 0: nobody has come yet
    uint32_t arrived = 0;
    uint64_t generation = 0;
    std::vector<Waiter*> waiting;
  };

  CtaBarriers(int sm, const DeviceProfile& profile, Jitter& jitter, Observer& observer)
      : sm_(sm), profile_(profile), jitter_(jitter), observer_(observer) {}

  void start_cta(int warps);

  /// One warp arrives with its 32 threads.  `waiter` is suspended until the generation completes (bar.sync);
  /// nullptr does not wait (bar.arrive).  Returns true when the generation completed with this arrival.
  bool arrive(int id, uint32_t threads, Waiter* waiter, const Source& source);

  /// barrier.cluster.arrive by one warp; returns the phase it belongs to.  A second arrival in one phase is
  /// CB1.
  uint64_t cluster_arrive(int warp, const Source& source);
  /// True when the cluster phase has completed; otherwise `waiter` is woken then.
  bool cluster_wait(uint64_t phase, Waiter& waiter);
  /// An exited warp is no longer waited for by the cluster barrier.
  void warp_exited(int warp);

  const Named& named(int id) const { return named_[size_t(id)]; }

 private:
  void wake(std::vector<Waiter*>& waiting);
  void complete_cluster_phase();

  int sm_;
  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;
  std::array<Named, 16> named_{};
  uint32_t live_warps_ = 0, cluster_arrived_ = 0;  ///< a bit per warp
  uint64_t cluster_phase_ = 0;
  std::vector<Waiter*> cluster_waiting_;
};

}  // namespace sm100::models
