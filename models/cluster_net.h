// SPDX-License-Identifier: Apache-2.0
/// The paths between the CTAs of a thread-block cluster: remote mbarrier operations (PTX 9.7.13.15,
/// .shared::cluster), multicast TMA loads (9.7.9.25, .multicast::cluster) and the cluster barrier (9.7.13.4,
/// barrier.cluster).
///
/// Modelled: copies, stores and reductions between the shared memories of CTAs (cp.async.bulk, st.async,
/// red.async), whose bytes complete at an mbarrier beside them; arrivals, expect_tx and complete_tx on the barrier
/// of any CTA of the cluster, fire and forget, in order per issuing warp and target CTA; a multicast box lands at
/// the same offset in every CTA of the mask and signals that CTA's barrier; the cluster barrier waits for all warps
/// of the cluster that have not exited. Detected: MB12 (what reaches a CTA that has exited), CR1 (rank outside the
/// cluster), TM4 (mask outside the cluster), TC8 (a copy of cta_group 2 that signals a peer which does not exist),
/// CB1 (two arrivals of a warp in one phase of the cluster barrier). Approximated: one latency between any two
/// CTAs; a multicast box reaches all its CTAs at the same cycle; an operation on the own CTA's barrier takes effect
/// at once, like its .shared::cta form.
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <systemc>
#include <utility>
#include <vector>

#include "kernels/isa/isa.h"
#include "models/completion_queue.h"
#include "models/mbarrier.h"
#include "models/time.h"
#include "models/tma.h"

namespace sm100::models {

class ClusterNet : public sc_core::sc_module {
 public:
  ClusterNet(sc_core::sc_module_name name, const DeviceProfile& profile, Jitter& jitter, Observer& observer)
      : sc_module(name), profile_(profile), jitter_(jitter), observer_(observer) {}

  /// Adds the next CTA slot, in the order of their numbers.  CTAs are named by their slots.
  void connect(Mbarrier& mbarrier, Tma& tma);

  /// A cluster of CTAs of `warps` warps starts; rank r runs in slot `slots[r]`.
  void start_cluster(const std::vector<int>& slots, int warps);
  uint32_t rank(int slot) const { return ports_[size_t(slot)].rank; }  ///< %cluster_ctarank
  /// Cycle at which the arrivals of the CTA's warps on barriers of other CTAs, so far, have landed.
  Cycles arrivals_landed(int slot) const;
  uint32_t ctas(int slot) const { return uint32_t(of(slot)->members.size()); }  ///< %cluster_nctarank
  /// Slots of the CTAs in the cluster of the CTA in `slot`, by rank.
  std::vector<int> slots(int slot) const {
    std::vector<int> all;
    for (const Member& member : of(slot)->members) all.push_back(member.slot);
    return all;
  }
  /// One of them.
  int slot_of(int slot, uint32_t rank) const { return of(slot)->members[rank].slot; }

  /// mbarrier.arrive.shared::cluster by `count` lanes of the CTA in `slot`.
  void arrive(int slot, ClusterSmemAddr barrier, uint32_t count, const Source& source);
  /// mbarrier.arrive.expect_tx.shared::cluster by one lane.
  void arrive_expect_tx(int slot, ClusterSmemAddr barrier, uint32_t bytes, const Source& source);
  /// Any arrival by one lane; it returns no state.
  void arrive_once(int slot, ClusterSmemAddr barrier, const MbarrierArrival& arrival, const Source& source);
  /// mbarrier.expect_tx and .complete_tx.shared::cluster by one lane.
  void expect_tx(int slot, ClusterSmemAddr barrier, uint32_t bytes, const Source& source);
  void complete_tx(int slot, ClusterSmemAddr barrier, uint32_t bytes, const Source& source);

  /// cp{.reduce}.async.bulk.shared::cluster.shared::cta by one lane, issued at cycle `at`: bytes of the own CTA's
  /// shared memory, then complete_tx at a barrier of the CTA that they go to.
  struct SharedCopy {
    uint32_t from;  ///< offset
    uint32_t bytes;
    ClusterSmemAddr to, barrier;
    std::optional<TensorCopy::Reduction> reduction;
    Source source;
  };
  void copy_shared(int slot, const SharedCopy& copy, Cycles at);
  /// st.async or red.async by one lane: the same of the bytes of registers.
  struct AsyncStore {
    std::array<uint32_t, 4> value;
    uint32_t bytes;
    ClusterSmemAddr to, barrier;
    std::optional<TensorCopy::Reduction> reduction;
    Source source;
  };
  void store_async(int slot, const AsyncStore& store);
  /// Shared memory of the CTA that the address names, for an access that takes place now; nullptr: CR1 or MB12 has
  /// been reported.
  SharedMemory* reach(int slot, ClusterSmemAddr address, const char* what, const Source& source);

  /// cp.async.bulk.tensor...multicast::cluster issued at cycle `at`: the box is read once and lands in every CTA of
  /// the mask, which need not name the issuing one (PTX 9.7.9.25).
  /// @param barrier_rank  CTA that owns the barrier operand.  cta_group 1: the issuing CTA, and each CTA's own
  /// barrier is
  ///                      signalled; cta_group 2: each time that of the pair's CTA with the parity of
  ///                      `barrier_rank`
  void load_multicast(int slot, const TensorCopy& copy, CtaMask mask, Cycles at, int cta_group = 1,
                      uint32_t barrier_rank = 0);
  /// A copy of cta_group 2 signals, for each CTA that it lands in, the CTA of that pair with the parity of
  /// `barrier_rank`. Reports TC8 where the cluster has no such CTA.
  bool signals_exist(int slot, CtaMask lands, uint32_t barrier_rank, uint32_t barrier, const Source& source);
  /// cp.async.bulk.tensor.cta_group::2 without multicast: the bytes land in the issuing CTA, the signal in the
  /// pair's CTA `barrier_rank`.
  void load_pair(int slot, const TensorCopy& copy, uint32_t barrier_rank, Cycles at);

  /// For what reaches several CTAs of the cluster later (tcgen05.commit.multicast, CLC responses): call the result
  /// then.
  class Multicast;
  /// Reports TM4 when the mask names no CTA or one outside the cluster, and then returns nothing to call.
  /// @param late  site of the perturbation of what reaches a CTA later; in order for each issuing and receiving CTA
  Multicast multicast(int slot, CtaMask mask, const char* what, uint32_t barrier, const Source& source,
                      JitterSite late);

  /// barrier.cluster.arrive by one warp; returns the phase it belongs to.
  uint64_t barrier_arrive(int slot, int warp, const Source& source);
  /// True when the phase of the cluster barrier has completed; otherwise `waiter` is woken then.
  bool barrier_wait(int slot, uint64_t phase, Waiter& waiter);
  /// Warps that the open phase of the cluster barrier waits for: rank, warp.
  std::vector<std::pair<uint32_t, int>> barrier_misses(int slot) const;

  /// An exited warp is no longer waited for by the cluster barrier.
  void warp_exited(int slot, int warp);
  bool exited(int slot, uint32_t rank) const { return of(slot)->members[rank].exited; }
  /// From now on nothing may reach the CTA in `slot` (docs/instructions.md).
  void cta_exited(int slot) { of(slot)->members[rank(slot)].exited = true; }

 private:
  struct Member {
    int slot = -1;
    bool exited = false;
    uint32_t live_warps = 0, barrier_arrived = 0;  ///< a bit per warp
  };
  /// Outlives its CTAs while something is on its way to them: their slots may run another cluster by then.
  struct Cluster {
    std::vector<Member> members;  ///< by rank
    uint64_t barrier_phase = 0;
    bool barrier_completing = false;  ///< all have arrived, the waiters do not know yet
    std::vector<Waiter*> barrier_waiting;
    Source barrier_by{};                                      ///< the last to come
    int first_cta = -1;                                       ///< smallest id that has come to the cluster barrier
    std::map<std::pair<int, uint32_t>, Cycles> last_arrival;  ///< by issuing rank and warp, and target rank
    std::map<std::pair<JitterSite, uint32_t>, Cycles> last_multicast;  ///< by kind, and issuing and target rank
  };
  struct Port {
    Mbarrier* mbarrier;
    Tma* tma;
    std::shared_ptr<Cluster> cluster{};
    uint32_t rank = 0;  ///< in it
  };
  const std::shared_ptr<Cluster>& of(int slot) const { return ports_[size_t(slot)].cluster; }
  /// Reports CR1 where the cluster has no such CTA.
  bool names_member(int slot, ClusterSmemAddr address, const char* what, const Source& source);
  /// Reports MB3 where the barrier of a copy is not in the CTA that the bytes go to.
  bool signals_beside(int slot, ClusterSmemAddr to, ClusterSmemAddr barrier, const char* what,
                      const Source& source);
  template <class Bytes>
  void land(const std::shared_ptr<Cluster>& cluster, ClusterSmemAddr to, ClusterSmemAddr barrier, uint32_t bytes,
            const std::optional<TensorCopy::Reduction>& reduction, const Source& source, const char* what,
            const Bytes& from);
  template <class Effect>
  void send(int slot, ClusterSmemAddr barrier, const char* what, const Source& source, Effect effect);
  bool mask_ok(int slot, CtaMask mask, const char* what, uint32_t barrier, const Source& source);
  Tma::Delivery delivery(const std::shared_ptr<Cluster>& cluster, uint32_t rank, uint32_t signal_rank,
                         const char* what);
  bool reaches(const Cluster& cluster, uint32_t rank, const char* what, uint32_t barrier, const Source& source);
  void complete_barrier(const std::shared_ptr<Cluster>& cluster);
  void open_barrier(Cluster& cluster);

  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;
  CompletionQueue completions_;
  std::vector<Port> ports_;  ///< by slot
};

class ClusterNet::Multicast {
 public:
  /// Whether there is anything to call.
  explicit operator bool() const { return net != nullptr; }
  /// `effect(slot, mbarrier)` runs once for every CTA of the mask: at once in the issuing CTA, `delay` cycles later
  /// in the others.
  template <class Effect>
  void operator()(Cycles delay, const Effect& effect) const {
    for (uint32_t r = 0; r < cluster->members.size(); ++r) {
      if (!(mask.bits >> r & 1)) continue;
      const auto reach = [net = net, cluster = cluster, r, what = what, barrier = barrier, source = source,
                          effect] {
        const int target = cluster->members[r].slot;
        if (net->reaches(*cluster, r, what, barrier, source)) effect(target, *net->ports_[size_t(target)].mbarrier);
      };
      if (r == own) {  // its own lateness is that of the operation
        reach();
        continue;
      }
      Cycles& last = cluster->last_multicast[{late, own << 16 | r}];
      last = std::max(last, now() + delay + net->jitter_.delay(late, source, {.to = int(r), .barrier = barrier}));
      if (last == now())
        reach();
      else
        net->completions_.post(last, reach);
    }
  }

 private:
  friend class ClusterNet;
  ClusterNet* net = nullptr;
  std::shared_ptr<Cluster> cluster{};
  uint32_t own = 0;
  CtaMask mask{};
  const char* what = "";
  uint32_t barrier = 0;
  Source source{};
  JitterSite late{};
};

}  // namespace sm100::models
