// SPDX-License-Identifier: Apache-2.0
// Shared memory of other CTAs on the model.
#include "kernels/isa/instructions/cluster_memory.h"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <utility>

#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using sim::HazardChecker;
using sim::WarpContext;

namespace {

/// The memory that a lane's access lies in, which is aligned and inside it; nullptr: a finding has been reported.
models::SharedMemory* memory_of(WarpContext& w, ClusterSmemAddr address, uint32_t bytes, const char* what) {
  models::SharedMemory* memory = w.cta.gpu().clusters().reach(w.own.slot, address, what, w.source());
  if (!memory) return nullptr;
  if (address.offset() % bytes != 0) {
    w.violate("SM2",
              fmt::format("{} at shared address {:#010x}: must be {}-byte aligned", what, address.value, bytes));
    return nullptr;
  }
  if (memory->contains(address.offset(), bytes)) return memory;
  w.violate("SM1",
            fmt::format("{} of {} bytes at shared address {:#010x}: outside the CTA's shared memory (ends at "
                        "{:#x})",
                        what, bytes, address.value, memory->end()));
  return nullptr;
}

/// Tells the hazard checker of the lanes' accesses, CTA by CTA.
void touch(WarpContext& w, const LaneArray<ClusterSmemAddr, 1>& addresses, uint32_t bytes, bool write,
           const char* what) {
  HazardChecker* h = w.hazards();
  if (!h) return;
  for (uint32_t left = w.lanes(); left != 0;) {
    const uint32_t rank = addresses[std::countr_zero(left)][0].rank();
    std::vector<sim::Footprints::Interval> all;
    uint64_t key = 0xcbf29ce484222325u ^ bytes;
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      if (!(left >> lane & 1) || addresses[lane][0].rank() != rank) continue;
      const uint32_t at = addresses[lane][0].offset();
      all.push_back({at, at + bytes});
      key = (key ^ at) * 0x100000001b3u, key ^= key >> 29;
      left &= ~(1u << lane);
    }
    h->check_started(w.thread(), rank, what);
    h->generic(w.thread(), rank, h->smem_sets().intern(key | uint64_t{1} << 62, [&] { return all; }), write);
  }
}

}  // namespace

void LdSharedCluster::execute(WarpContext& w) const {
  const char* const what = bytes == 4 ? "ld.shared::cluster.b32" : "ld.shared::cluster.v4";
  w.charge(w.issue.ld_shared);
  w.settle();
  const Cycles one_way = Cycles(w.profile.cluster.remote_arrive_cycles);
  w.warp.pass(one_way);
  if (w.sm.with_data) {
    for (int lane = 0; lane < kWarpLanes; ++lane) {
      if (!w.is_active(lane)) continue;
      const ClusterSmemAddr address = (*addresses)[lane][0];
      models::SharedMemory* const memory = memory_of(w, address, bytes, what);
      if (!memory) return;
      std::memcpy(registers + uint32_t(lane) * bytes / 4, memory->data(address.offset()), bytes);
    }
    touch(w, *addresses, bytes, false, what);
  }
  w.warp.pass(one_way);
}

/// Bytes move at issue: whoever synchronises with this warp finds them, and the hazard checker reports who does
/// not.
void StSharedCluster::execute(WarpContext& w) const {
  const char* const what = bytes == 4   ? "st.shared::cluster.b32"
                           : bytes == 8 ? "st.shared::cluster.v2"
                                        : "st.shared::cluster.v4";
  w.uses_registers(registers);
  w.use_global_loads();
  w.charge(w.issue.st_shared);
  w.settle();
  if (!w.sm.with_data) return;
  for (int lane = 0; lane < kWarpLanes; ++lane) {
    if (!w.is_active(lane)) continue;
    const ClusterSmemAddr address = (*addresses)[lane][0];
    models::SharedMemory* const memory = memory_of(w, address, bytes, what);
    if (!memory) return;
    std::memcpy(memory->data(address.offset()), registers + uint32_t(lane) * bytes / 4, bytes);
  }
  touch(w, *addresses, bytes, true, what);
}

namespace {

/// st.async and red.async: lane by lane, each with its own barrier.
template <class Value>
void store_async(WarpContext& w, const LaneArray<ClusterSmemAddr, 1>& addresses,
                 const LaneArray<ClusterSmemAddr, 1>& barriers, uint32_t bytes,
                 const std::optional<models::TensorCopy::Reduction>& reduction, Value&& value) {
  w.charge(w.issue.st_shared);
  w.settle();
  HazardChecker* h = w.hazards();
  w.for_each_thread([&](models::Source by) {
    models::ClusterNet::AsyncStore one{.value = value(by.lane),
                                       .bytes = bytes,
                                       .to = addresses[by.lane][0],
                                       .barrier = barriers[by.lane][0],
                                       .reduction = reduction,
                                       .source = by};
    if (!memory_of(w, one.to, bytes, reduction ? "red.async" : "st.async")) return;
    if (h) {
      one.source.op = h->new_op();
      h->store_async(w.thread(by.lane), one.to.rank(), one.to.offset(), bytes, one.barrier.offset(), one.source.op,
                     reduction.has_value());
    }
    w.cta.gpu().clusters().store_async(w.own.slot, one);
  });
}

}  // namespace

void StAsync::execute(WarpContext& w) const {
  w.uses_registers(registers);
  store_async(w, *addresses, barriers, bytes, {}, [&](int lane) {
    std::array<uint32_t, 4> value{};
    std::memcpy(value.data(), registers + uint32_t(lane) * bytes / 4, bytes);
    return value;
  });
}

void RedAsync::execute(WarpContext& w) const {
  if (!reduces_shared(op, type))
    return w.violate("TM14", fmt::format("red.async.{}.{}: PTX has no such reduction", name(op), name(type)));
  const uint32_t size = bytes_of(type);
  store_async(w, *addresses, barriers, size, models::TensorCopy::Reduction{op, type}, [&](int lane) {
    std::array<uint32_t, 4> value{};
    std::memcpy(value.data(), static_cast<const uint8_t*>(registers) + size_t(lane) * size, size);
    return value;
  });
}

}  // namespace sm100::instructions
