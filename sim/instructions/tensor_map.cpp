// SPDX-License-Identifier: Apache-2.0
// Tensor maps that a kernel edits, on the model.
#include "kernels/isa/instructions/tensor_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "sim/warp_context.h"

namespace sm100::instructions {

using models::Cycles;
using sim::HazardChecker;
using sim::WarpContext;

namespace {

constexpr uint32_t kMapBytes = sizeof(TensorMap);

/// The bytes in global memory; nullptr: a finding has been reported.
uint8_t* map_in_global(WarpContext& w, GlobalAddr map, const char* what) {
  return w.global_bytes(map, kMapBytes, w.first_active_lane(), what);
}

/// In runs with data and without: what the map says is part of the protocol.
bool replace_at(uint8_t* bytes, TensorMapField field, uint32_t ordinal, uint64_t value) {
  TensorMap map;
  std::memcpy(map.bytes, bytes, kMapBytes);
  if (!replace(map, field, ordinal, value)) return false;
  std::memcpy(bytes, map.bytes, kMapBytes);
  return true;
}

/// PTX: a release comes after the thread's writes.
void wait_for_write(WarpContext& w) {
  const Cycles visible =
      w.cta.gpu().memory().visible(models::now()) + w.jitter().delay(models::JitterSite::global_store, w.point());
  w.warp.stores_visible = std::max(w.warp.stores_visible, visible);
  w.warp.pass(visible - models::now());
}

}  // namespace

template <TensorMapField kField>
void TensormapReplace<kField>::execute(WarpContext& w) const {
  const std::string what(opcode());
  w.charge(w.issue.st_shared);  // assumed as long as a store to shared memory
  w.settle();
  uint8_t* bytes = nullptr;
  if (in_global) {
    bytes = map_in_global(w, global, what.c_str());
    if (!bytes) return;
    w.cta.gpu().tensor_maps().before_edit(w.own.slot, global);
    if (HazardChecker* h = w.hazards()) h->map_edit(w.thread(), global, false);
  } else {
    if (!w.in_shared(shared, kMapBytes, kMapBytes, what.c_str())) return;
    w.touch(shared, kMapBytes, true);
    bytes = w.own.smem.data(shared.offset());
  }
  if (!replace_at(bytes, kField, ordinal, value)) w.violate("TM1", what + " of bytes that are no tensor map");
}

template void TensormapReplace<TensorMapField::global_address>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::rank>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::box_dim>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::global_dim>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::global_stride>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::element_stride>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::elemtype>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::interleave_layout>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::swizzle_mode>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::swizzle_atomicity>::execute(WarpContext&) const;
template void TensormapReplace<TensorMapField::fill_mode>::execute(WarpContext&) const;

void TensormapCpFenceproxy::execute(WarpContext& w) const {
  w.charge(w.issue.fence);
  w.settle();
  if (!w.in_shared(source, kMapBytes, kMapBytes, "tensormap.cp_fenceproxy")) return;
  uint8_t* bytes = map_in_global(w, address, "tensormap.cp_fenceproxy");
  if (!bytes) return;
  w.touch(source, kMapBytes, false);
  if (HazardChecker* h = w.hazards()) h->map_edit(w.thread(), address, true);
  w.cta.gpu().tensor_maps().before_edit(w.own.slot, address);
  std::memcpy(bytes, w.own.smem.data(source.offset()), kMapBytes);
  wait_for_write(w);
  w.cta.gpu().tensor_maps().release(address);
}

void FenceProxyTensormapRelease::execute(WarpContext& w) const {
  w.charge(w.issue.fence);
  w.settle();
  if (HazardChecker* h = w.hazards()) h->map_release(w.thread());
  wait_for_write(w);
  w.cta.gpu().tensor_maps().release_edits_of(w.own.slot);
}

void FenceProxyTensormapAcquire::execute(WarpContext& w) const {
  w.charge(w.issue.fence);
  w.settle();
  if (!map_in_global(w, address, "fence.proxy.tensormap::generic.acquire")) return;
  w.cta.gpu().tensor_maps().acquire(w.own.slot, address);
  if (HazardChecker* h = w.hazards()) h->map_acquire(w.thread(), address);
}

}  // namespace sm100::instructions
