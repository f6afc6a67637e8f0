// SPDX-License-Identifier: Apache-2.0
#include "models/register_pool.h"

#include <fmt/format.h>

#include "kernels/isa/lane_array.h"
#include "kernels/isa/register_count.h"
#include "models/time.h"

namespace sm100::models {

namespace {
constexpr int kWarpgroupWarps = 4;
const char* spelling(bool increase) { return increase ? "setmaxnreg.inc" : "setmaxnreg.dec"; }
}  // namespace

void RegisterPool::start_cta(int warps, int registers) {
  // A warp gets whole units: 255 registers of a thread are 256.
  const int unit = int(profile_.device.register_unit / kWarpLanes);
  registers = (registers + unit - 1) / unit * unit;
  launched_with_ = registers;
  warps_.assign(size_t(warps), {.held = registers});
  pools_ = {};
  for (auto& waiting : waiting_) waiting.clear();
  groups_.assign(size_t(warps + kWarpgroupWarps - 1) / kWarpgroupWarps, {});
}

void RegisterPool::violate(const char* id, std::string message, const Source& source) {
  observer_.violation({id, std::move(message), now(), slot_, 0, source});
}

bool RegisterPool::check(bool increase, int registers, const Source& source) {
  const char* const instruction = spelling(increase);
  if (!register_count_allowed(registers)) {
    violate("RG1", fmt::format("{} {}: allowed are multiples of 8 from 24 to 256", instruction, registers), source);
    return false;
  }
  OfWarp& warp = warps_[size_t(source.warp)];
  std::vector<Executed>& group = groups_[size_t(source.warp / kWarpgroupWarps)];
  const size_t n = size_t(warp.executed++);
  if (n == group.size()) group.push_back({increase, registers});
  const Executed& first = group[n];
  if (first.increase != increase || first.registers != registers) {
    observer_.violation(
        {"RG2",
         fmt::format(
             "{} {} by warp {}, where another warp of its warpgroup has executed {} {}: all four must execute "
             "the same",
             instruction, registers, source.warp, spelling(first.increase), first.registers),
         now(), slot_, 0, source, true});
  }
  if (known() && (increase ? registers < warp.held : registers > warp.held)) {
    violate("RG1",
            fmt::format("{} {} by a warp whose threads have {} registers: {}", instruction, registers, warp.held,
                        increase ? "inc cannot take away" : "dec cannot add"),
            source);
    return false;
  }
  return true;
}

void RegisterPool::decrease(int registers, const Source& source) {
  if (!known()) return;
  OfWarp& warp = warps_[size_t(source.warp)];
  pool_of(source.warp) += warp.held - registers;
  warp.held = registers;
  wake(source.warp % int(pools_.size()), source);
}

bool RegisterPool::increase(int registers, Waiter& waiter, const Source& source) {
  if (!known()) return true;
  OfWarp& warp = warps_[size_t(source.warp)];
  int& pool = pool_of(source.warp);
  if (pool < registers - warp.held) {
    warp.wanted = registers;
    waiting_[size_t(source.warp) % waiting_.size()].push_back(&waiter);
    return false;
  }
  pool -= registers - warp.held;
  warp.held = registers, warp.wanted = 0;
  return true;
}

/// All of them try again; who comes first is served first.
void RegisterPool::wake(int partition, const Source& by) {
  std::vector<Waiter*>& waiting = waiting_[size_t(partition)];
  for (Waiter* w : waiting) {
    w->cause = 0, w->by = by;
    w->wake.notify(Cycles(profile_.registers.grant_cycles) + jitter_.wakeup(*w));
  }
  waiting.clear();
}

}  // namespace sm100::models
