// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/lane_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "models/provenance.h"
#include "sim/instructions/lane_stores.h"
#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using models::now;
using sim::HazardChecker;
using sim::WarpContext;

namespace {

/// A lane's bytes; nullptr: a finding has been reported.
uint8_t* shared_bytes(WarpContext& w, ClusterSmemAddr address, uint32_t bytes, bool cluster, const char* what) {
  const uint32_t alignment = std::min(bytes, 16u);
  if (!cluster || address.rank() == w.cluster_ctarank()) {
    if (!w.in_shared({address.value}, bytes, alignment, what)) return nullptr;
    return w.own.smem.data(address.offset());
  }
  models::SharedMemory* memory = w.cta.gpu().clusters().reach(w.own.slot, address, what, w.source());
  if (!memory) return nullptr;
  if (address.offset() % alignment == 0 && memory->contains(address.offset(), bytes))
    return memory->data(address.offset());
  w.violate(address.offset() % alignment != 0 ? "SM2" : "SM1",
            std::string(what) +
                " at a shared address of another CTA that is not aligned, or outside of its shared memory");
  return nullptr;
}

/// What has the bytes that shared_bytes found.
models::SharedMemory& memory_at(WarpContext& w, ClusterSmemAddr address, bool cluster) {
  if (!cluster || address.rank() == w.cluster_ctarank()) return w.own.smem;
  return w.cta.gpu().cta(w.cta.peer_slot(address.rank())).smem;
}

/// One set of bytes for each CTA that the lanes reach.
void touch(WarpContext& w, const LaneArray<ClusterSmemAddr, 1>& addresses, uint32_t bytes, bool write,
           const char* what, bool strong) {
  HazardChecker* h = w.hazards();
  if (h) h->strong_accesses(strong);
  for (uint32_t left = w.lanes(); left != 0;) {
    const uint32_t rank = addresses[std::countr_zero(left)][0].rank();
    LaneArray<SmemAddr, 1> own{};
    uint64_t key = 0xcbf29ce484222325u ^ bytes;
    uint32_t alike = 0;
    for (uint32_t rest = left; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (addresses[lane][0].rank() != rank) continue;
      const uint32_t at = addresses[lane][0].offset();
      own(lane) = {at};
      key = (key ^ at) * 0x100000001b3u, key ^= key >> 29;
      alike |= rest & -rest;
    }
    left &= ~alike;
    if (rank == w.cluster_ctarank() || (rank == 0 && w.cta.cluster_ctas() == 1)) {
      w.touch(own, kWarpLanes, bytes, write);
    } else if (h) {
      h->check_started(w.thread(), rank, what);
      const auto intervals = [&] {
        std::vector<sim::Footprints::Interval> all;
        for (uint32_t rest = alike; rest != 0; rest &= rest - 1) {
          const uint32_t at = own[std::countr_zero(rest)][0].offset();
          all.push_back({at, at + bytes});
        }
        return all;
      };
      h->generic(w.thread(), rank, h->smem_sets().intern(key | uint64_t{1} << 62, intervals), write);
    }
  }
  if (h) h->strong_accesses(false);
}

/// A release is not seen before the arrivals on barriers of other CTAs that come before it.
void wait_for_arrivals(WarpContext& w) {
  w.settle();
  if (const Cycles landed = w.cta.gpu().clusters().arrivals_landed(w.own.slot); landed > now())
    w.warp.pass(landed - now());
}

/// The words of strong accesses, each once.
void strong_words(WarpContext& w, const LaneArray<ClusterSmemAddr, 1>& addresses, bool cluster,
                  const HazardChecker::StrongAccess& access) {
  HazardChecker* h = w.hazards();
  if (!h) return;
  for (uint32_t left = w.lanes(); left != 0;) {
    const ClusterSmemAddr word = addresses[std::countr_zero(left)][0];
    for (uint32_t rest = left; rest != 0; rest &= rest - 1)
      if (addresses[std::countr_zero(rest)][0] == word) left &= ~(rest & -rest);
    h->shared_word(w.thread(), cluster ? word.rank() : w.cluster_ctarank(), word.offset(), access);
  }
}

/// nullptr: there are no bytes; with data a finding has been reported.
uint8_t* global_bytes(WarpContext& w, GlobalAddr address, uint32_t bytes, int lane, const char* what,
                      bool strong = false) {
  return w.sm.with_data ? w.global_bytes(address, bytes, lane, what, strong)
                        : w.cta.gpu().memory().data(address, bytes);
}

}  // namespace

void LdSharedLanes::execute(WarpContext& w) const {
  const Cycles through = w.access_shared(bytes, w.issue.ld_shared);
  *arrives = through + Cycles(w.profile.smem.ld_latency_cycles);
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const ClusterSmemAddr address = (*addresses)[lane][0];
    const uint8_t* from = shared_bytes(w, address, bytes, cluster, "ld.shared");
    if (!from) return;
    if (cluster && address.rank() != w.cluster_ctarank())
      *arrives = std::max(*arrives, through + Cycles(2 * w.profile.cluster.remote_arrive_cycles));
    std::memcpy(values[lane], from, bytes);
    if (!cluster || address.rank() == w.cluster_ctarank()) w.loaded_from_shared({address.offset()}, from, bytes);
    *unknown |= memory_at(w, address, cluster).forgotten(address.offset(), bytes);
    if (models::Provenance* p = w.sm.provenance; p && (!cluster || address.rank() == w.cluster_ctarank()))
      p->shared_read(w.own.slot, lane, address.offset(), bytes, values[lane], w.source());
  }
  touch(w, *addresses, bytes, false, "ld.shared", strength.strong);
  if (strength.strong)
    strong_words(w, *addresses, cluster, {.reads = true, .writes = false, .acquires = strength.acquires});
}

void StSharedLanes::execute(WarpContext& w) const {
  if (cluster && strength.releases) wait_for_arrivals(w);
  w.access_shared(bytes, w.issue.st_shared);
  bool repeats = true;  // Triton's warps all store what is the same for all of them
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    uint8_t* to = shared_bytes(w, (*addresses)[lane][0], bytes, cluster, "st.shared");
    if (!to) return;
    repeats = repeats && std::memcmp(to, values[lane], bytes) == 0;
    std::memcpy(to, values[lane], bytes);
    const ClusterSmemAddr at = (*addresses)[lane][0];
    models::SharedMemory& memory = memory_at(w, at, cluster);
    unknown ? memory.forget(at.offset(), bytes) : memory.learn(at.offset(), bytes);
    if (models::Provenance* p = w.sm.provenance; p && (!cluster || at.rank() == w.cluster_ctarank()))
      p->shared_written(w.own.slot, lane, at.offset(), bytes, values[lane], w.source());
  }
  if (HazardChecker* h = w.hazards(); h && repeats) h->store_repeats();
  touch(w, *addresses, bytes, true, "st.shared", strength.strong);
  if (strength.strong)
    strong_words(w, *addresses, cluster, {.reads = false, .writes = true, .releases = strength.releases});
}

void StBulkLanes::execute(WarpContext& w) const {
  constexpr uint32_t kUnit = 8, kMost = 1u << 24, kPass = 128;
  HazardChecker* h = w.hazards();
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const SmemAddr to = (*addresses)[lane][0];
    const uint32_t bytes = (*sizes)[lane][0];
    if (bytes % kUnit != 0 || bytes > kMost)
      return w.violate(
          "SM2", fmt::format("st.bulk of {} bytes: allowed are multiples of {} up to {}", bytes, kUnit, kMost));
    if (bytes == 0) continue;
    if (!w.in_shared(to, bytes, kUnit, "st.bulk")) return;
    for (uint32_t done = 0; done < bytes; done += kPass) w.access_shared(4, w.issue.st_shared);
    std::memset(w.own.smem.data(to.offset()), 0, bytes);
    w.own.smem.learn(to.offset(), bytes);
    if (h) h->generic(w.thread(lane), w.cluster_ctarank(), h->smem_sets().intern_range(to.offset(), bytes), true);
    if (models::Provenance* p = w.sm.provenance)
      for (uint32_t done = 0; done < bytes; done += kUnit)
        p->shared_written(w.own.slot, lane, to.offset() + done, kUnit, w.own.smem.data(to.offset() + done),
                          w.source());
  }
}

void AtomLanes::execute(WarpContext& w) const {
  if (strength.releases) wait_for_arrivals(w);
  if (shared) {
    *arrives = w.access_shared(bytes, w.issue.ld_shared) + Cycles(w.profile.smem.ld_latency_cycles);
  } else {
    w.charge(w.issue.ld_shared);
    w.settle();
    *arrives = w.issue_cycle() + w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns);
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    uint8_t* at = shared ? shared_bytes(w, (*shared)[lane][0], bytes, cluster, "atom.shared")
                         : global_bytes(w, (*global)[lane][0], bytes, lane, "atom.global");
    if (!at) return;
    (*modify)(lane, at);
  }
  if (shared)
    strong_words(w, *shared, cluster,
                 {.reads = true, .writes = true, .acquires = strength.acquires, .releases = strength.releases});
}

void Ldmatrix::execute(WarpContext& w) const {
  *arrives = w.access_shared(4 * uint32_t(matrices), w.issue.ld_shared) + Cycles(w.profile.smem.ld_latency_cycles);
  for (int q = 0; q < matrices; ++q)
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      uint32_t pair = 0;
      for (int i = 0; i < 2; ++i) {
        const int r = transposed ? 2 * (lane % 4) + i : lane / 4, c = transposed ? lane / 4 : 2 * (lane % 4) + i;
        const SmemAddr row = (*rows)[8 * q + r][0];
        if (!w.in_shared(row, 16, 16, "ldmatrix")) return;
        *unknown |= w.own.smem.forgotten(row.offset(), 16);
        pair |= uint32_t(w.own.smem.load<uint16_t>(row.offset() + 2u * uint32_t(c))) << (16 * i);
      }
      registers[lane * matrices + q] = pair;
    }
  for (int row = 0; row < 8 * matrices; ++row)
    w.loaded_from_shared((*rows)[row][0], w.own.smem.data((*rows)[row][0].offset()), 16);
  w.touch(*rows, 8 * matrices, 16, false);
}

void CpAsyncLanes::execute(WarpContext& w) const {
  w.charge(w.issue.ld_shared);  // assumed as long as a load from shared memory
  w.settle();
  const Cycles landed = models::now() + w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns);
  for (int lane = 0; lane < kWarpLanes; ++lane)
    if (w.is_active(lane)) w.copies[size_t(lane)].landed = std::max(w.copies[size_t(lane)].landed, landed);
  if (!w.sm.with_data) {
    for (int lane = 0; lane < kWarpLanes; ++lane)
      if (w.is_active(lane) && w.own.smem.contains((*to)[lane][0].offset(), bytes))
        w.own.smem.forget((*to)[lane][0].offset(), bytes);
    return;
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const SmemAddr address = (*to)[lane][0];
    if (!w.in_shared(address, bytes, bytes, "cp.async")) return;
    const uint32_t read = std::min((*read_bytes)[lane][0], bytes);
    std::memset(w.own.smem.data(address.offset()) + read, 0, bytes - read);
    if (read == 0) {
      if (models::Provenance* p = w.sm.provenance)
        p->copied_by_thread(w.own.slot, address.offset(), 0, 0, w.source());
      continue;
    }
    const uint8_t* source = w.global_bytes((*from)[lane][0], read, lane, "cp.async", false, bytes);
    if (!source) return;
    w.check_prerequisites((*from)[lane][0], "cp.async");
    std::memcpy(w.own.smem.data(address.offset()), source, read);
    if (models::Provenance* p = w.sm.provenance)
      p->copied_by_thread(w.own.slot, address.offset(), (*from)[lane][0].value, read, w.source());
  }
  if (HazardChecker* h = w.hazards()) h->cp_async(w.thread(), w.lanes(), w.footprint(*h, *to, kWarpLanes, bytes));
}

void LdGlobalLanes::execute(WarpContext& w) const {
  w.charge(w.issue.ld_shared);  // assumed as long as a load from shared memory
  w.settle();
  *arrives = w.issue_cycle() + w.profile.cycles_of_ns(w.profile.memory.l2_hit_ns);
  HazardChecker* h = w.hazards();
  if (h) h->global(w.thread(), (*addresses)[w.first_active_lane()][0], false, strength.strong);
  const models::Source by = w.source();
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const GlobalAddr address = (*addresses)[lane][0];
    w.cta.gpu().words().finish_own(address, by);
    const uint8_t* from = global_bytes(w, address, bytes, lane, "ld.global", strength.strong);
    if (!from && w.sm.with_data) return;
    w.check_prerequisites(address, "ld.global");
    if (from)
      std::memcpy(values[lane], from, bytes);
    else
      std::memset(values[lane], 0, bytes), *unknown = true;
    if (models::Provenance* p = w.sm.provenance; p && from)
      p->global_read(w.own.slot, lane, address.value, bytes, values[lane], by);
    if (const auto* last = h && strength.strong ? w.cta.gpu().words().last_store(address) : nullptr)
      strength.acquires ? h->acquire_word(w.thread(), last->by.op) : h->relaxed_load(w.thread(), last->by.op);
  }
}

void StGlobalLanes::execute(WarpContext& w) const {
  const LaneStores stores{*addresses, w.lanes(), bytes};
  store_to_global(w, stores);
  if (HazardChecker* h = w.hazards()) {
    const auto repeats = [&](int lane) {  // as a flag does that whoever comes sets
      const uint8_t* there = w.sm.with_data ? w.cta.gpu().memory().data((*addresses)[lane][0], bytes) : nullptr;
      return there && std::memcmp(there, values[lane], bytes) == 0;
    };
    // Without data, addresses may follow from what nobody knows: the first lane's stands for all.
    LaneStores seen = stores;
    if (!w.sm.with_data) seen.lanes = 1u << w.first_active_lane();
    h->global_stores(w.thread(), seen, /*predicated=*/false, repeats, strong);
  }
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    uint8_t* to = global_bytes(w, (*addresses)[lane][0], bytes, lane, "st.global", strong);
    if (!to && w.sm.with_data) return;
    if (to) std::memcpy(to, values[lane], bytes);
    if (models::Provenance* p = w.sm.provenance)
      p->global_written(w.own.slot, (*addresses)[lane][0].value, bytes, w.source());
  }
}

}  // namespace sm100::instructions
