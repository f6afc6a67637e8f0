// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace sm100::sim {

namespace {

constexpr int kWarpgroupWarps = 4;  ///< one for each partition of the SM

const models::RegisterPool& pool_of(const Wait& wait) { return wait.cta->context().registers; }

/// What a warp of each warpgroup has, or waits for: of the partition that the waiting warp is in.
std::vector<int> budgets(const Wait& wait) {
  const models::RegisterPool& pool = pool_of(wait);
  std::vector<int> registers;
  for (int warp = wait.warps.front() % kWarpgroupWarps; warp < pool.warps(); warp += kWarpgroupWarps)
    registers.push_back(std::max(pool.held(warp), pool.wanted(warp)));
  return registers;
}

}  // namespace

std::string missing_registers(const Wait& wait) {
  const models::RegisterPool& pool = pool_of(wait);
  const int warp = wait.warps.front(), free = pool.free(warp);
  return fmt::format("its threads have {} registers and want {}; the pool has {} of a thread", pool.held(warp),
                     wait.blocked.offset, free == 0 ? "none" : std::to_string(free));
}

Debts register_debts(const Wait& wait) {
  const models::RegisterPool& pool = pool_of(wait);
  Debts debts;
  for (const bool exited : {true, false})
    for (const auto& warp : wait.cta->warps()) {
      const int w = warp->index;
      const bool same = w % kWarpgroupWarps == wait.warps.front() % kWarpgroupWarps;
      const bool asks =
          pool.wanted(w) > 0 || std::find(wait.warps.begin(), wait.warps.end(), w) != wait.warps.end();
      if (same && !asks && pool.held(w) >= pool.launched_with() && exited == !warp->running)
        debts.all.push_back({.slot = wait.cta, .cta = wait.cta->linear_id(), .warp = w});
    }
  return debts;
}

Cause register_cause(const Wait& wait) {
  const models::RegisterPool& pool = pool_of(wait);
  const std::vector<int> wanted = budgets(wait);
  const int sum = std::accumulate(wanted.begin(), wanted.end(), 0);
  const int all = pool.launched_with() * int(wanted.size());
  const std::string request = fmt::format("setmaxnreg.inc {}", wait.blocked.offset);
  const auto exited =
      std::any_of(wait.debts.all.begin(), wait.debts.all.end(), [](const Debt& d) { return d.exited(); });
  if (sum > all)
    return {.certainty = 90,
            .text = fmt::format(
                "{} can never be served: the budgets of the {} warpgroups do not add up, {} = {} registers of "
                "a thread in each, and the CTA was launched with {} x {} = {}{}",
                request, wanted.size(), fmt::join(wanted, " + "), sum, wanted.size(), pool.launched_with(), all,
                exited ? "; a warp that has exited gives nothing back" : "")};
  return {.certainty = 40, .text = fmt::format("{} waits for a setmaxnreg.dec that has not come", request)};
}

}  // namespace sm100::sim
