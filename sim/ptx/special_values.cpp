// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/special_values.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace sm100::sim {

using ptx::LaneMask;

namespace {

uint32_t component(Dim3 v, char c) { return c == 'x' ? v.x : c == 'y' ? v.y : c == 'z' ? v.z : 0; }

/// Registers that are the same in all lanes.
uint64_t uniform_value(std::string_view name, const PtxCode& code, const WarpIdentity& who) {
  const PtxLaunch& launch = code.launch();
  const Dim3 id = who.ctaid, c = launch.cluster;
  if (name.size() > 2 && name[name.size() - 2] == '.') {
    const std::string_view base = name.substr(0, name.size() - 2);
    const std::pair<std::string_view, Dim3> vectors[] = {
        {"%ntid", launch.block},
        {"%ctaid", id},
        {"%nctaid", launch.grid},
        {"%clusterid", {id.x / c.x, id.y / c.y, id.z / c.z}},
        {"%nclusterid", {launch.grid.x / c.x, launch.grid.y / c.y, launch.grid.z / c.z}},
        {"%cluster_ctaid", {id.x % c.x, id.y % c.y, id.z % c.z}},
        {"%cluster_nctaid", c}};
    for (const auto& [known, value] : vectors)
      if (known == base) return component(value, name.back());
    return 0;
  }
  const std::pair<std::string_view, uint64_t> scalars[] = {
      {"%cluster_ctarank", who.cluster_rank},
      {"%cluster_nctarank", c.x * c.y * c.z},
      {"%warpid", who.warp},
      {"%nwarpid", 64},
      {"%smid", who.sm},
      {"%nsmid", who.sms},
      {"%gridid", who.grid},
      {"%is_explicit_cluster", c.x * c.y * c.z > 1 ? ptx::kAllLanes : 0},
      {"%envreg1", launch.grid_workspace >> 32},
      {"%envreg2", launch.grid_workspace & UINT32_MAX},
      {"%dynamic_smem_size", launch.dynamic_smem_bytes},
      {"%total_smem_size", launch.dynamic_smem_bytes + code.program().static_shared_bytes}};
  for (const auto& [known, value] : scalars)
    if (known == name) return value;
  return 0;
}

/// Of a register that differs between lanes: its value in one of them.
using OfLane = uint32_t (*)(Dim3 block, uint32_t thread, uint32_t lane);

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

template <class F>
void fill(ptx::RegisterFile& file, const ptx::Special& special, F&& value) {
  for (uint32_t lane = 0; lane < uint32_t(ptx::kLanes); ++lane)
    if (special.width == 4)
      file.write<uint32_t>(special.row)[lane] = uint32_t(value(lane));
    else
      file.write<uint64_t>(special.row)[lane] = value(lane);
}

}  // namespace

LaneMask lanes_of_warp(const PtxLaunch& launch, uint32_t warp) {
  const uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
  const uint32_t own = std::min<uint32_t>(ptx::kLanes, threads - warp * ptx::kLanes);
  return own >= 32 ? ptx::kAllLanes : (1u << own) - 1;
}

void fill_specials(ptx::RegisterFile& file, const PtxCode& code, const WarpIdentity& who) {
  const Dim3 block = code.launch().block;
  const uint32_t first = who.warp * ptx::kLanes;
  for (const ptx::Special& special : code.program().specials) {
    if (special.changes) continue;
    if (const OfLane of_lane = special.width == 1 ? nullptr : lane_value(special.name)) {
      fill(file, special, [&](uint32_t lane) { return uint64_t{of_lane(block, first + lane, lane)}; });
      continue;
    }
    const uint64_t value = uniform_value(special.name, code, who);
    if (special.width == 1)
      file.set_predicate(special.row, LaneMask(value), ptx::kAllLanes);
    else
      fill(file, special, [&](uint32_t) { return value; });
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
    fill(file, special, [&](uint32_t) { return v; });
  }
}

}  // namespace sm100::sim
