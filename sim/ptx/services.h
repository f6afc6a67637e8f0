// SPDX-License-Identifier: Apache-2.0
/// What the groups of services share: reading what an instruction says of itself.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "kernels/isa/instructions/catalogue.h"
#include "sim/ptx/longest_match.h"
#include "sim/ptx/ptx_warp.h"

namespace sm100::sim {

/// What most services return.
inline constexpr PtxOutcome kDone = PtxOutcome::done;

// A list for each subject; services.cpp joins them.
std::vector<PtxServiceEntry> mbarrier_services();
std::vector<PtxServiceEntry> copy_services();
std::vector<PtxServiceEntry> tcgen05_services();
std::vector<PtxServiceEntry> synchronisation_services();
std::vector<PtxServiceEntry> lane_services();
std::vector<PtxServiceEntry> tensor_map_services();
std::vector<PtxServiceEntry> atomic_services();
std::vector<PtxServiceEntry> matrix_services();
std::vector<PtxServiceEntry> wgmma_services();
std::vector<PtxServiceEntry> mma_sync_services();
std::vector<PtxServiceEntry> wmma_services();

/// Who is meant by `.cta` and `.cluster`; wider scopes are clusters to an mbarrier.
inline Scope scope_of(const ServiceCall& c) {
  return c.has(".cluster") ? Scope::cluster : c.has(".cta") ? Scope::cta : Scope::unstated;
}
inline int cta_group_of(const ServiceCall& c) { return c.has(".cta_group::2") ? 2 : 1; }

/// Who is meant by the scope of a fence or an atomic; nothing said: the GPU.
inline MemoryScope memory_scope(const ServiceCall& c) {
  if (c.has(".cta")) return MemoryScope::cta;
  if (c.has(".cluster")) return MemoryScope::cluster;
  return c.has(".sys") ? MemoryScope::sys : MemoryScope::gpu;
}
/// Where a tensor map lies: among the parameters, in constant memory of the module, or in global memory.
TensorMapAddr tensor_map_at(ServiceCall& c, uint64_t generic);

/// What stands behind an address's comma: "[map, {x, y}]".
inline instructions::Coordinates coordinates_of(const ServiceCall& c, const ptx::Operand& address, int lane) {
  instructions::Coordinates coords;
  for (const ptx::Operand& element : address.elements)
    if (element.kind == ptx::Operand::Kind::vector)
      for (const ptx::Operand& o : element.elements)
        if (coords.rank < 5) coords.c[size_t(coords.rank++)] = int32_t(c.value(o, lane));
  coords.four_rows = c.has(".tile::gather4") || c.has(".tile::scatter4");
  if (coords.four_rows) coords.rank = 2;
  coords.im2col = c.has(".im2col") || c.has(".im2col_no_offs");
  if (c.has(".im2col"))  // its offsets are the only vector among the operands
    for (size_t i = 0; i < c.size(); ++i)
      if (c.operand(i).kind == ptx::Operand::Kind::vector)
        for (size_t d = 0; d < std::min(coords.offset.size(), c.operand(i).elements.size()); ++d)
          coords.offset[d] = uint16_t(c.value(c.operand(i).elements[d], lane));
  return coords;
}

}  // namespace sm100::sim
