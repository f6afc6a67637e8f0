// SPDX-License-Identifier: Apache-2.0
#include "models/occupancy.h"

#include <algorithm>
#include <array>
#include <vector>

namespace sm100::models {

namespace {

constexpr int kWarpThreads = 32;
constexpr size_t kPartitions = 4;
/// A CTA may use all 16 whatever its code names, so it takes all 16.
constexpr int kNamedBarriers = 16;

int64_t rounded_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

/// Warps go to the partition with the most free registers.
bool registers_suffice(std::span<const CtaResources> ctas, const DeviceProfile& profile) {
  std::array<int64_t, kPartitions> free;
  free.fill(profile.device.registers_per_sm / int64_t(kPartitions));
  for (const CtaResources& cta : ctas) {
    const int64_t of_warp = rounded_up(int64_t{cta.registers} * kWarpThreads, profile.device.register_unit);
    for (int w = 0; w < cta.warps; ++w) {
      const auto partition = std::max_element(free.begin(), free.end());
      if (*partition < of_warp) return false;
      *partition -= of_warp;
    }
  }
  return true;
}

}  // namespace

std::string lacking(std::span<const CtaResources> ctas, const DeviceProfile& profile) {
  const auto& sm = profile.device;
  int64_t warps = 0, bytes = 0;
  for (const CtaResources& cta : ctas) {
    warps += cta.warps;
    bytes += rounded_up(int64_t{cta.smem_bytes} + sm.smem_reserved_per_cta, sm.smem_unit);
  }
  if (int64_t(ctas.size()) > sm.ctas_per_sm) return "CTA slots";
  if (warps > sm.warps_per_sm) return "warps";
  if (warps * kWarpThreads > sm.threads_per_sm) return "threads";
  if (bytes > sm.smem_bytes_per_sm) return "shared memory";
  if (!registers_suffice(ctas, profile)) return "registers";
  if (int64_t(ctas.size()) * kNamedBarriers > sm.named_barriers_per_sm) return "named barriers";
  return {};
}

Occupancy occupancy(const CtaResources& cta, const DeviceProfile& profile) {
  std::vector<CtaResources> together;
  Occupancy result;
  for (;; ++result.ctas) {
    together.push_back(cta);
    result.limit = lacking(together, profile);
    if (!result.limit.empty()) return result;
  }
}

}  // namespace sm100::models
