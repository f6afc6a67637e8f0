// SPDX-License-Identifier: Apache-2.0
#include "models/cluster_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "models/time.h"

namespace sm100::models {

void ClusterNet::connect(Mbarrier& mbarrier, Tma& tma) { ports_.push_back({&mbarrier, &tma}); }

void ClusterNet::start_cluster(const std::vector<int>& slots, int warps) {
  auto cluster = std::make_shared<Cluster>();
  for (const int slot : slots) {
    ports_[size_t(slot)].cluster = cluster;
    ports_[size_t(slot)].rank = uint32_t(cluster->members.size());
    cluster->members.push_back({.slot = slot, .live_warps = uint32_t((uint64_t{1} << warps) - 1)});
  }
}

// ---- remote mbarrier operations

template <class Effect>
void ClusterNet::send(int slot, ClusterSmemAddr barrier, const char* what, const Source& source, Effect effect) {
  const std::shared_ptr<Cluster> cluster = of(slot);
  const uint32_t to = barrier.rank(), from = rank(slot);
  if (!names_member(slot, barrier, what, source)) return;
  if (to == from) return effect(*ports_[size_t(slot)].mbarrier);
  // Operations of one thread on one CTA's barriers stay in order whatever the jitter.
  Cycles& last = cluster->last_arrival[{int(from) * 32 + source.warp, to}];
  const Cycles late =
      jitter_.delay(JitterSite::remote_arrive, source, {.to = int(to), .barrier = barrier.offset()});
  last = std::max(last, now() + Cycles(profile_.cluster.remote_arrive_cycles) + late);
  completions_.post(last, [this, cluster, to, what, offset = barrier.offset(), source, effect] {
    if (reaches(*cluster, to, what, offset, source)) effect(*ports_[size_t(cluster->members[to].slot)].mbarrier);
  });
}

Cycles ClusterNet::arrivals_landed(int slot) const {
  Cycles landed = 0;
  if (!of(slot)) return landed;
  for (const auto& [who, at] : of(slot)->last_arrival)
    if (who.first / 32 == int(rank(slot))) landed = std::max(landed, at);
  return landed;
}

void ClusterNet::arrive(int slot, ClusterSmemAddr barrier, uint32_t count, const Source& source) {
  send(slot, barrier, "mbarrier.arrive", source,
       [=](Mbarrier& target) { target.arrive(barrier.offset(), count, source); });
}

void ClusterNet::arrive_expect_tx(int slot, ClusterSmemAddr barrier, uint32_t bytes, const Source& source) {
  send(slot, barrier, "mbarrier.arrive.expect_tx", source,
       [=](Mbarrier& target) { target.arrive_expect_tx(barrier.offset(), bytes, source); });
}

void ClusterNet::arrive_once(int slot, ClusterSmemAddr barrier, const MbarrierArrival& arrival,
                             const Source& source) {
  send(slot, barrier, arrival.drop ? "mbarrier.arrive_drop" : "mbarrier.arrive", source,
       [=](Mbarrier& target) { target.arrive_once(barrier.offset(), arrival, source); });
}

void ClusterNet::expect_tx(int slot, ClusterSmemAddr barrier, uint32_t bytes, const Source& source) {
  send(slot, barrier, "mbarrier.expect_tx", source,
       [=](Mbarrier& target) { target.expect_tx(barrier.offset(), bytes, source); });
}

void ClusterNet::complete_tx(int slot, ClusterSmemAddr barrier, uint32_t bytes, const Source& source) {
  send(slot, barrier, "mbarrier.complete_tx", source,
       [=](Mbarrier& target) { target.complete_tx(barrier.offset(), bytes, source); });
}

bool ClusterNet::reaches(const Cluster& cluster, uint32_t rank, const char* what, uint32_t barrier,
                         const Source& source) {
  if (!cluster.members[rank].exited) return true;
  observer_.violation({"MB12",
                       fmt::format("{} reaches CTA rank {} of the cluster, shared address {:#x}, after that CTA "
                                   "has exited",
                                   what, rank, barrier),
                       now(), cluster.members[rank].slot, barrier, source});
  return false;
}

// ---- shared memory of other CTAs

SharedMemory* ClusterNet::reach(int slot, ClusterSmemAddr address, const char* what, const Source& source) {
  const std::shared_ptr<Cluster>& cluster = of(slot);
  if (!names_member(slot, address, what, source)) return nullptr;
  if (!reaches(*cluster, address.rank(), what, address.offset(), source)) return nullptr;
  return &ports_[size_t(cluster->members[address.rank()].slot)].tma->smem();
}

bool ClusterNet::names_member(int slot, ClusterSmemAddr address, const char* what, const Source& source) {
  const size_t ctas = of(slot)->members.size();
  if (address.rank() < ctas) return true;
  observer_.violation(
      {"CR1",
       fmt::format("{} at {:#010x}: CTA rank {} in a cluster of {}", what, address.value, address.rank(), ctas),
       now(), slot, address.offset(), source});
  return false;
}

bool ClusterNet::signals_beside(int slot, ClusterSmemAddr to, ClusterSmemAddr barrier, const char* what,
                                const Source& source) {
  if (!names_member(slot, to, what, source)) return false;
  if (to.rank() == barrier.rank()) return true;
  observer_.violation({"MB3",
                       fmt::format("{} into CTA rank {} with an mbarrier of CTA rank {}: it must lie beside the "
                                   "bytes",
                                   what, to.rank(), barrier.rank()),
                       now(), slot, barrier.offset(), source});
  return false;
}

/// The bytes are there: combines or stores them, and tells the barrier beside them.
template <class Bytes>
void ClusterNet::land(const std::shared_ptr<Cluster>& cluster, ClusterSmemAddr to, ClusterSmemAddr barrier,
                      uint32_t bytes, const std::optional<TensorCopy::Reduction>& reduction, const Source& source,
                      const char* what, const Bytes& from) {
  if (!reaches(*cluster, to.rank(), what, barrier.offset(), source)) return;
  const int target = cluster->members[to.rank()].slot;
  Port& port = ports_[size_t(target)];
  if (port.tma->with_data()) {
    uint8_t* const memory = port.tma->smem().data(to.offset());
    const auto* values = reinterpret_cast<const uint8_t*>(from.data());
    if (reduction)
      reduce_bytes(*reduction, memory, values, bytes);
    else
      std::memcpy(memory, values, bytes);
  }
  Source by = source;
  by.lands_on = int16_t(target);
  by.flow = observer_.new_flow();
  port.mbarrier->complete_tx(barrier.offset(), bytes, by);
}

void ClusterNet::copy_shared(int slot, const SharedCopy& copy, Cycles at) {
  const char* const what = copy.reduction ? "bulk reduction into shared memory" : "bulk copy to another CTA";
  constexpr uint32_t kUnit = 16;
  if (!signals_beside(slot, copy.to, copy.barrier, what, copy.source)) return;
  const std::shared_ptr<Cluster> cluster = of(slot);
  Tma& tma = *ports_[size_t(slot)].tma;
  const auto violate = [&](const char* id, std::string message) {
    observer_.violation({id, std::move(message), now(), slot, copy.barrier.offset(), copy.source});
  };
  if (copy.bytes % kUnit != 0)
    return violate("TM15", fmt::format("{} of {} bytes: must be a multiple of {}", what, copy.bytes, kUnit));
  const SharedMemory& there = ports_[size_t(cluster->members[copy.to.rank()].slot)].tma->smem();
  if (copy.from % kUnit != 0 || copy.to.offset() % kUnit != 0 || !tma.smem().contains(copy.from, copy.bytes) ||
      !there.contains(copy.to.offset(), copy.bytes))
    return violate("TM2", fmt::format("{} of {} bytes from shared address {:#x} to {:#010x}: both are {}-byte "
                                      "aligned, and the bytes lie inside the CTAs' shared memories",
                                      what, copy.bytes, copy.from, copy.to.value, kUnit));
  if (copy.to.rank() == rank(slot))
    observer_.violation({"TM16", fmt::format("{} names its own CTA", what), now(), slot, copy.barrier.offset(),
                         copy.source, /*warning=*/true});
  completions_.post(tma.read_shared(copy.bytes, at), [this, cluster, slot, copy, what] {
    const Tma& from = *ports_[size_t(slot)].tma;
    std::vector<uint8_t> bytes;
    if (from.with_data()) {
      const uint8_t* const first = ports_[size_t(slot)].tma->smem().data(copy.from);
      bytes.assign(first, first + copy.bytes);
    }
    const Cycles late = jitter_.delay(JitterSite::tma_delivery, copy.source,
                                      {.to = int(copy.to.rank()), .barrier = copy.barrier.offset()});
    completions_.post(now() + Cycles(profile_.cluster.remote_arrive_cycles) + late,
                      [this, cluster, copy, what, bytes = std::move(bytes)] {
                        Source by = copy.source;
                        by.kind = ActorKind::tma;
                        land(cluster, copy.to, copy.barrier, copy.bytes, copy.reduction, by, what, bytes);
                      });
  });
}

void ClusterNet::store_async(int slot, const AsyncStore& store) {
  const char* const what = store.reduction ? "red.async" : "st.async";
  if (!signals_beside(slot, store.to, store.barrier, what, store.source)) return;
  const std::shared_ptr<Cluster> cluster = of(slot);
  const Cycles late = jitter_.delay(JitterSite::remote_arrive, store.source,
                                    {.to = int(store.to.rank()), .barrier = store.barrier.offset()});
  completions_.post(now() + Cycles(profile_.cluster.remote_arrive_cycles) + late, [this, cluster, store, what] {
    land(cluster, store.to, store.barrier, store.bytes, store.reduction, store.source, what, store.value);
  });
}

// ---- multicast and pairs

bool ClusterNet::mask_ok(int slot, CtaMask mask, const char* what, uint32_t barrier, const Source& source) {
  const auto ctas = uint32_t(of(slot)->members.size());
  if (mask.bits != 0 && mask.bits >> ctas == 0) return true;
  observer_.violation({"TM4",
                       fmt::format("{} with CTA mask {:#x}: bit r selects CTA rank r, and the cluster has {} CTA{}",
                                   what, mask.bits, ctas, ctas == 1 ? "" : "s"),
                       now(), slot, barrier, source});
  return false;
}

bool ClusterNet::signals_exist(int slot, CtaMask lands, uint32_t barrier_rank, uint32_t barrier,
                               const Source& source) {
  const auto ctas = uint32_t(of(slot)->members.size());
  for (uint32_t r = 0; r < ctas; ++r) {
    const uint32_t signal = (r & ~1u) | (barrier_rank & 1);
    if (!(lands.bits >> r & 1) || signal < ctas) continue;
    observer_.violation(
        {"TC8",
         fmt::format("tensor load.cta_group::2 into CTA rank {} signals its peer, rank {}, in a cluster "
                     "of {}: it has no peer",
                     r, signal, ctas),
         now(), slot, barrier, source});
    return false;
  }
  return true;
}

Tma::Delivery ClusterNet::delivery(const std::shared_ptr<Cluster>& cluster, uint32_t rank, uint32_t signal_rank,
                                   const char* what) {
  const int signal_slot = cluster->members[signal_rank].slot;
  return {.lands =
              [this, cluster, rank, signal_rank, what](const TensorCopy& landed) {
                return reaches(*cluster, rank, what, landed.barrier, landed.source) &&
                       (signal_rank == rank || reaches(*cluster, signal_rank, what, landed.barrier, landed.source));
              },
          .signal = ports_[size_t(signal_slot)].mbarrier,
          .signal_slot = signal_slot};
}

void ClusterNet::load_multicast(int slot, const TensorCopy& copy, CtaMask mask, Cycles at, int cta_group,
                                uint32_t barrier_rank) {
  const char* const kWhat = copy.linear ? "multicast bulk copy" : "multicast tensor load";
  if (!mask_ok(slot, mask, kWhat, copy.barrier, copy.source)) return;
  if (cta_group == 2 && !signals_exist(slot, mask, barrier_rank, copy.barrier, copy.source)) return;
  const std::shared_ptr<Cluster> cluster = of(slot);
  const auto ctas = uint32_t(cluster->members.size());
  for (uint32_t r = 0; r < ctas; ++r)
    if ((mask.bits >> r & 1) && !reaches(*cluster, r, kWhat, copy.barrier, copy.source)) return;
  const std::optional<MemorySystem::Arrival> arrived = ports_[size_t(slot)].tma->fetch(copy, at);
  if (!arrived) return;
  for (uint32_t r = 0; r < ctas; ++r) {
    if (!(mask.bits >> r & 1)) continue;
    const uint32_t signal = cta_group == 2 ? (r & ~1u) | (barrier_rank & 1) : r;
    const Cycles late =
        jitter_.delay(JitterSite::tma_delivery, copy.source, {.to = int(r), .barrier = copy.barrier});
    Tma& tma = *ports_[size_t(cluster->members[r].slot)].tma;
    tma.deliver(copy, at, {arrived->first + late, arrived->last + late}, delivery(cluster, r, signal, kWhat));
  }
}

void ClusterNet::load_pair(int slot, const TensorCopy& copy, uint32_t barrier_rank, Cycles at) {
  if (!signals_exist(slot, {uint16_t(1u << rank(slot))}, barrier_rank, copy.barrier, copy.source)) return;
  Tma& tma = *ports_[size_t(slot)].tma;
  if (const std::optional<MemorySystem::Arrival> arrived = tma.fetch(copy, at))
    tma.deliver(copy, at, *arrived, delivery(of(slot), rank(slot), barrier_rank, "tensor load"));
}

ClusterNet::Multicast ClusterNet::multicast(int slot, CtaMask mask, const char* what, uint32_t barrier,
                                            const Source& source, JitterSite late) {
  if (!mask_ok(slot, mask, what, barrier, source)) return {};
  Multicast operation;
  operation.net = this;
  operation.cluster = of(slot), operation.own = rank(slot);
  operation.mask = mask, operation.what = what, operation.barrier = barrier, operation.source = source;
  operation.late = late;
  return operation;
}

// ---- the cluster barrier

uint64_t ClusterNet::barrier_arrive(int slot, int warp, const Source& source) {
  const std::shared_ptr<Cluster> cluster = of(slot);
  Member& member = cluster->members[rank(slot)];
  const uint64_t phase = cluster->barrier_phase;
  if (member.barrier_arrived >> warp & 1)
    observer_.violation({"CB1", "barrier.cluster.arrive twice by one warp in one phase", now(), slot, 0, source});
  member.barrier_arrived |= 1u << warp;
  if (!cluster->barrier_completing) cluster->barrier_by = source;
  if (cluster->first_cta < 0 || source.cta < cluster->first_cta) cluster->first_cta = source.cta;
  complete_barrier(cluster);
  return phase;
}

bool ClusterNet::barrier_wait(int slot, uint64_t phase, Waiter& waiter) {
  Cluster& cluster = *of(slot);
  if (cluster.barrier_phase > phase) return true;
  cluster.barrier_waiting.push_back(&waiter);
  return false;
}

std::vector<std::pair<uint32_t, int>> ClusterNet::barrier_misses(int slot) const {
  std::vector<std::pair<uint32_t, int>> missing;
  const Cluster& cluster = *of(slot);
  for (uint32_t r = 0; r < cluster.members.size(); ++r) {
    const uint32_t warps = cluster.members[r].live_warps & ~cluster.members[r].barrier_arrived;
    for (int w = 0; w < 32; ++w)
      if (warps >> w & 1) missing.push_back({r, w});
  }
  return missing;
}

void ClusterNet::warp_exited(int slot, int warp) {
  const std::shared_ptr<Cluster> cluster = of(slot);
  cluster->members[rank(slot)].live_warps &= ~(1u << warp);
  complete_barrier(cluster);
}

void ClusterNet::complete_barrier(const std::shared_ptr<Cluster>& cluster) {
  // Every warp that has not exited has to come; an arrival followed by an exit stands in for nobody else.
  if (cluster->barrier_completing) return;
  bool any = false;
  for (const Member& m : cluster->members) {
    if ((m.live_warps & ~m.barrier_arrived) != 0) return;
    any |= m.barrier_arrived != 0;
  }
  if (!any) return;
  // A CTA alone in its cluster waits as long (docs/measurements.md, law 4.2: tiles shared by clusters of one and of
  // two).
  cluster->barrier_completing = true;
  // What a warp did before it came is visible to those who pass: its remote arrivals have landed
  // (docs/instructions.md).
  Cycles opens = now() + Cycles(profile_.cluster.barrier_cycles) +
                 jitter_.delay_at(cluster->barrier_phase, JitterSite::cluster_barrier, {.cta = cluster->first_cta});
  for (const auto& [path, landed] : cluster->last_arrival) opens = std::max(opens, landed + 1);
  completions_.post(opens, [this, cluster] { open_barrier(*cluster); });
}

void ClusterNet::open_barrier(Cluster& cluster) {
  for (Member& m : cluster.members) m.barrier_arrived = 0;
  cluster.barrier_completing = false;
  ++cluster.barrier_phase;
  for (Waiter* w : cluster.barrier_waiting) {
    w->cause = 0, w->by = cluster.barrier_by;
    w->wake.notify(jitter_.wakeup(*w));
  }
  cluster.barrier_waiting.clear();
}

}  // namespace sm100::models
