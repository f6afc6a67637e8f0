// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/special_values.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sm100::sim {

using ptx::LaneMask;

namespace {

uint32_t component(Dim3 v, char c) { return c == 'x' ? v.x : c == 'y' ? v.y : c == 'z' ? v.z : 0; }

// Registers that are the same in all lanes.
using Code = const PtxCode&;
using Who = const WarpIdentity&;
using VectorOfWarp = SpecialRows::VectorOfWarp;
using ScalarOfWarp = SpecialRows::ScalarOfWarp;

uint32_t cluster_ctas(Code code) {
  const Dim3 c = code.launch().cluster;
  return c.x * c.y * c.z;
}

VectorOfWarp vector_of_warp(std::string_view base) {
  static constexpr std::pair<std::string_view, VectorOfWarp> kVectors[] = {
      {"%ntid", [](Code code, Who) { return code.launch().block; }},
      {"%ctaid", [](Code, Who who) { return who.ctaid; }},
      {"%nctaid", [](Code code, Who) { return code.launch().grid; }},
      {"%clusterid",
       [](Code code, Who who) {
         const Dim3 id = who.ctaid, c = code.launch().cluster;
         return Dim3{id.x / c.x, id.y / c.y, id.z / c.z};
       }},
      {"%nclusterid",
       [](Code code, Who) {
         const Dim3 grid = code.launch().grid, c = code.launch().cluster;
         return Dim3{grid.x / c.x, grid.y / c.y, grid.z / c.z};
       }},
      {"%cluster_ctaid",
       [](Code code, Who who) {
         const Dim3 id = who.ctaid, c = code.launch().cluster;
         return Dim3{id.x % c.x, id.y % c.y, id.z % c.z};
       }},
      {"%cluster_nctaid", [](Code code, Who) { return code.launch().cluster; }}};
  for (const auto& [known, value] : kVectors)
    if (known == base) return value;
  return nullptr;
}

ScalarOfWarp scalar_of_warp(std::string_view name) {
  static constexpr std::pair<std::string_view, ScalarOfWarp> kScalars[] = {
      {"%cluster_ctarank", [](Code, Who who) { return uint64_t{who.cluster_rank}; }},
      {"%cluster_nctarank", [](Code code, Who) { return uint64_t{cluster_ctas(code)}; }},
      {"%warpid", [](Code, Who who) { return uint64_t{who.warp}; }},
      {"%nwarpid", [](Code, Who) { return uint64_t{64}; }},
      {"%smid", [](Code, Who who) { return who.sm; }},
      {"%nsmid", [](Code, Who who) { return who.sms; }},
      {"%gridid", [](Code, Who who) { return who.grid; }},
      {"%is_explicit_cluster",
       [](Code code, Who) { return uint64_t{cluster_ctas(code) > 1 ? ptx::kAllLanes : 0}; }},
      {"%envreg1", [](Code code, Who) { return code.launch().grid_workspace >> 32; }},
      {"%envreg2", [](Code code, Who) { return code.launch().grid_workspace & UINT32_MAX; }},
      {"%dynamic_smem_size", [](Code code, Who) { return uint64_t{code.launch().dynamic_smem_bytes}; }},
      {"%total_smem_size",
       [](Code code, Who) { return code.launch().dynamic_smem_bytes + code.program().static_shared_bytes; }}};
  for (const auto& [known, value] : kScalars)
    if (known == name) return value;
  return nullptr;
}

/// Of a register that differs between lanes: its value in one of them.
using OfLane = SpecialRows::OfLane;

OfLane lane_value(std::string_view name) {
  static constexpr std::pair<std::string_view, OfLane> kRegisters[] = {
      {"%tid.x", [](Dim3 b, uint32_t thread, uint32_t) { return thread % b.x; }},
      {"%tid.y", [](Dim3 b, uint32_t thread, uint32_t) { return thread / b.x % b.y; }},
      {"%tid.z", [](Dim3 b, uint32_t thread, uint32_t) { return thread / b.x / b.y; }},
      {"%laneid", [](Dim3, uint32_t, uint32_t lane) { return lane; }},
      {"%lanemask_eq", [](Dim3, uint32_t, uint32_t lane) { return 1u << lane; }},
      {"%lanemask_lt", [](Dim3, uint32_t, uint32_t lane) { return (1u << lane) - 1; }},
      {"%lanemask_le", [](Dim3, uint32_t, uint32_t lane) { return uint32_t((uint64_t{2} << lane) - 1); }},
      {"%lanemask_gt", [](Dim3, uint32_t, uint32_t lane) { return uint32_t(~((uint64_t{2} << lane) - 1)); }},
      {"%lanemask_ge", [](Dim3, uint32_t, uint32_t lane) { return uint32_t(~((uint64_t{1} << lane) - 1)); }}};
  for (const auto& [known, value] : kRegisters)
    if (known == name) return value;
  return nullptr;
}

void fill_lanes(ptx::RegisterFile& file, const ptx::Special& special, uint64_t value) {
  if (special.width == 4)
    std::fill_n(file.write<uint32_t>(special.row), ptx::kLanes, uint32_t(value));
  else
    std::fill_n(file.write<uint64_t>(special.row), ptx::kLanes, value);
}

}  // namespace

LaneMask lanes_of_warp(const PtxLaunch& launch, uint32_t warp) {
  const uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
  const uint32_t own = std::min<uint32_t>(ptx::kLanes, threads - warp * ptx::kLanes);
  return own >= 32 ? ptx::kAllLanes : (1u << own) - 1;
}

SpecialRows::SpecialRows(const PtxCode& code) : code_(code) {
  for (const ptx::Special& special : code.program().specials) {
    if (special.changes) continue;
    Source from{.special = &special};
    const std::string_view name = special.name;
    const bool vector = name.size() > 2 && name[name.size() - 2] == '.';
    if (special.width != 1) from.of_lane = lane_value(name);
    if (!from.of_lane && vector) {
      from.vector = vector_of_warp(name.substr(0, name.size() - 2));
      from.component = name.back();
    } else if (!from.of_lane) {
      from.scalar = scalar_of_warp(name);
    }
    sources_.push_back(from);
  }
}

void SpecialRows::look_up_lanes() {
  const Dim3 block = code_.launch().block;
  const uint32_t threads = block.x * block.y * block.z;
  for (Source& from : sources_)
    for (uint32_t thread = 0; from.of_lane && thread < (threads + 31) / 32 * 32; ++thread)
      from.values.push_back(from.of_lane(block, thread, thread % 32));
}

void SpecialRows::fill(ptx::RegisterFile& file, const WarpIdentity& who) const {
  const Dim3 block = code_.launch().block;
  const uint32_t first = who.warp * ptx::kLanes;
  for (const Source& from : sources_) {
    const ptx::Special& special = *from.special;
    if (!from.values.empty()) {
      const uint32_t* const values = &from.values[first];
      if (special.width == 4)
        std::copy_n(values, ptx::kLanes, file.write<uint32_t>(special.row));
      else
        std::copy_n(values, ptx::kLanes, file.write<uint64_t>(special.row));
    } else if (from.of_lane) {
      for (uint32_t lane = 0; lane < uint32_t(ptx::kLanes); ++lane) {
        const uint32_t value = from.of_lane(block, first + lane, lane);
        if (special.width == 4)
          file.write<uint32_t>(special.row)[lane] = value;
        else
          file.write<uint64_t>(special.row)[lane] = value;
      }
    } else {
      const uint64_t value = from.vector   ? component(from.vector(code_, who), from.component)
                             : from.scalar ? from.scalar(code_, who)
                                           : 0;
      if (special.width == 1)
        file.set_predicate(special.row, LaneMask(value), ptx::kAllLanes);
      else
        fill_lanes(file, special, value);
    }
  }
}

void fill_clocks(ptx::RegisterFile& file, const ptx::Program& program, uint64_t cycle, double sm_clock_ghz) {
  for (const ptx::Special& special : program.specials) {
    if (!special.changes) continue;
    uint64_t v = cycle;
    if (special.name == "%clock_hi") v = cycle >> 32;
    if (special.name.starts_with("%globaltimer")) {
      const auto ns = uint64_t(double(cycle) / sm_clock_ghz);
      v = special.name == "%globaltimer_hi" ? ns >> 32 : ns;
    }
    fill_lanes(file, special, v);
  }
}

}  // namespace sm100::sim
