// SPDX-License-Identifier: Apache-2.0
#include "ptx/warp_view.h"

#include <algorithm>
#include <bit>

namespace sm100::ptx {

namespace {

using Does = BarrierUse::Does;

/// From global to shared memory: the destination's space comes first.
bool fills_shared(const Service& service) {
  for (const std::string_view m : service.modifiers.list)
    if (m.starts_with(".shared") || m == ".global") return m != ".global";
  return false;
}

unsigned action_of(const Service& service) {
  if (service.base == "clusterlaunchcontrol.try_cancel") return WarpView::schedules;
  if (service.base == "cp.async.bulk.tensor" && fills_shared(service)) return WarpView::loads;
  if (service.base.starts_with("tcgen05.mma") || service.base.starts_with("wgmma.mma")) return WarpView::multiplies;
  if (service.base.starts_with("tcgen05.ld")) return WarpView::reads_tmem;
  return 0;
}

const Operand* address(const Service& service, bool last) {
  const Operand* found = nullptr;
  for (const Operand& operand : service.operands)
    if (operand.kind == Operand::Kind::address) {
      found = &operand;
      if (!last) break;
    }
  return found;
}

std::optional<uint32_t> number(const Reach& reach, const Service& service, const Operand* behind) {
  const auto at = size_t(behind - service.operands.data()) + 1;
  if (at >= service.operands.size()) return std::nullopt;
  const auto value = reach.value(service.operands[at]);
  return value ? std::optional(uint32_t(*value)) : std::nullopt;
}

std::optional<Does> does(const Program& program, const Service& service, uint32_t at) {
  const std::string_view base = service.base;
  if (base == "mbarrier.init") return Does::init;
  if (base == "mbarrier.arrive" || base == "mbarrier.arrive_drop")
    return service.modifiers.has(".expect_tx") ? Does::arrive_expect : Does::arrive;
  if (base == "cp.async.mbarrier.arrive") return Does::arrive;
  if (base == "mbarrier.expect_tx") return Does::expect;
  if (base == "mbarrier.complete_tx" || base == "st.async" || base == "red.async") return Does::bytes;
  if (base == "mbarrier.try_wait" || base == "mbarrier.test_wait")
    return program.wait_of_poll(at) ? Does::wait : Does::test;
  if (base == "tcgen05.commit") return Does::commit;
  if (base == "clusterlaunchcontrol.try_cancel") return Does::answer;
  if (base.find("cp.async.bulk") != std::string_view::npos ||
      base.find("cp.reduce.async.bulk") != std::string_view::npos)
    if (service.modifiers.has(".mbarrier::complete_tx::bytes")) return Does::bytes;
  return std::nullopt;
}

}  // namespace

std::string instruction_name(const Program& program, const BarrierUse& use) {
  const Service& service = program.services[program.code[use.instruction].detail];
  return std::string(service.base) + (use.does == Does::arrive_expect ? ".expect_tx" : "");
}

WarpView view_of(const Program& program, const Reach& reach) {
  WarpView view;
  for (uint32_t at = 0; at < program.code.size(); ++at) {
    const Instr& i = program.code[at];
    view.calls |= i.kind == Kind::call && program.calls[i.detail].function >= 0 && reach.executes(at);
    if (i.kind != Kind::service || !reach.executes(at)) continue;
    const Service& service = program.services[i.detail];
    view.actions |= action_of(service);
    const auto what = does(program, service, at);
    if (!what) continue;
    // The barrier is the last address of what moves bytes, the only one of what else there is.
    const Operand* barrier = address(service, *what == Does::bytes || *what == Does::answer);
    if (!barrier) continue;
    BarrierUse use{.does = *what, .instruction = at, .barrier = reach.shared_address(*barrier)};
    if (*what == Does::init || *what == Does::arrive_expect || *what == Does::expect)
      use.amount = number(reach, service, barrier);
    if (use.waits() && service.modifiers.has(".parity")) use.parity = number(reach, service, barrier);
    view.uses.push_back(use);
  }
  return view;
}

std::vector<std::string> roles_of(const std::vector<WarpView>& warps) {
  unsigned shared = ~0u;
  for (const WarpView& warp : warps) shared &= warp.actions;
  std::vector<std::string> roles;
  for (const WarpView& warp : warps) {
    const unsigned own = warps.size() > 1 && (warp.actions & ~shared) != 0 ? warp.actions & ~shared : warp.actions;
    // Several that may do the same several things: which of them does what shows only when they run.
    const auto alike =
        std::count_if(warps.begin(), warps.end(), [&](const WarpView& w) { return w.actions == warp.actions; });
    const bool clear = std::popcount(own) == 1 || alike == 1;
    roles.emplace_back(!clear                       ? ""
                       : own & WarpView::schedules  ? "scheduler"
                       : own & WarpView::loads      ? "load"
                       : own & WarpView::multiplies ? "mma"
                       : own & WarpView::reads_tmem ? "epilogue"
                                                    : "");
  }
  return roles;
}

}  // namespace sm100::ptx
