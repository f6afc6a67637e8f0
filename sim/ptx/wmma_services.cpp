// SPDX-License-Identifier: Apache-2.0
// wmma.load, wmma.mma and wmma.store on the models (PTX 9.7.14.4).
#include <cmath>
#include <cstring>

#include "sim/ptx/lane_memory.h"
#include "sim/ptx/services.h"
#include "sim/ptx/wmma_accesses.h"

namespace sm100::sim {

using namespace instructions;
using lanes::WmmaAccess;
using lanes::WmmaMove;
using lanes::WmmaPlan;
using ptx::Space;
using Together = PtxServiceEntry::Together;

namespace {

/// One wmma.load or wmma.store on its way.
class Move {
 public:
  Move(ServiceCall& c, const WmmaMove& move) : c_(c), move_(move), plan_(move.plan()) {
    const ptx::Windows& windows = c.file().windows;
    if (move.space != Space::generic) return;
    const uint64_t first = c.address(*move.address, c.first());
    if (windows.shared.has(first))
      space_ = Space::shared, window_ = windows.shared.base;
    else if (windows.local.has(first) || windows.param.has(first) || windows.constant.has(first))
      space_ = Space::none;
    else
      space_ = Space::global;
  }

  PtxOutcome run() {
    WarpContext& w = c_.context();
    w.at(c_.loc, c_.lanes);
    if (!w.converged(move_.load ? "wmma.load" : "wmma.store")) return PtxOutcome::stop;
    if (space_ == Space::none) return c_.warp.not_implemented("wmma on local memory, parameters or constants");
    for (ptx::LaneMask left = c_.lanes; left != 0; left &= left - 1)
      if (const std::string why = move_.misaligned(c_, std::countr_zero(left)); !why.empty())
        return w.violate(space_ == Space::shared ? "SM2" : "GM2", why), PtxOutcome::stop;
    if (!move_.load) image_ = move_.from_registers(c_), unknown_ = c_.warp.follows_from_data(c_.operand(1));
    w.charge_private(plan_.exchanges * w.issue.alu + plan_.merges * w.issue.integer);
    for (const WmmaAccess& access : plan_.accesses) {
      access.matrices > 0 ? load_matrices(access) : by_lanes(access);
      if (c_.warp.over() || !w.cta.observer().violations().empty()) return PtxOutcome::stop;
    }
    if (!move_.load) return PtxOutcome::done;
    move_.to_registers(c_, image_);
    for (const ptx::Operand& o : move_.registers) {
      if (o.kind == ptx::Operand::Kind::reg) c_.warp.arrives(o.row, o.width, arrives_);
      if (unknown_) c_.warp.unknown(o);
    }
    return PtxOutcome::done;
  }

 private:
  void load_matrices(const WmmaAccess& access) {
    LaneArray<SmemAddr, 1> rows{};
    uint32_t values[ptx::kLanes * 4] = {};
    const int matrices = access.matrices;
    for (int row = 0; row < 8 * matrices; ++row) rows(row) = {uint32_t(move_.address_of(c_, access, row))};
    models::Cycles arrives = 0;
    c_.execute(Ldmatrix{&rows, values, matrices, false, &arrives, &unknown_});
    arrives_ = std::max(arrives_, arrives);
    for (int q = 0; q < matrices; ++q)
      for (int lane = 0; lane < ptx::kLanes; ++lane)
        std::memcpy(&image_[plan_.in_image(access, 8 * q + lane / 4) + 4u * uint32_t(lane % 4)],
                    &values[lane * matrices + q], 4);
  }

  void by_lanes(const WmmaAccess& access) {
    LaneArray<ClusterSmemAddr, 1> shared{};
    LaneArray<GlobalAddr, 1> global{};
    uint8_t values[ptx::kLanes][kLaneBytes] = {};
    const bool in_window = window_ != 0;  // a shared address of any CTA
    for (ptx::LaneMask left = c_.lanes; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      const uint64_t address = move_.address_of(c_, access, lane);
      shared(lane) = {uint32_t(address - window_)}, global(lane) = {address};
      if (!move_.load) std::memcpy(values[lane], &image_[plan_.in_image(access, lane)], access.bytes);
    }
    models::Cycles arrives = 0;
    if (space_ == Space::shared && move_.load)
      c_.execute(LdSharedLanes{access.bytes, &shared, in_window, values, &arrives, &unknown_});
    else if (space_ == Space::shared)
      c_.execute(StSharedLanes{access.bytes, &shared, in_window, values, unknown_});
    else if (move_.load)
      c_.execute(LdGlobalLanes{access.bytes, &global, values, &arrives, &unknown_});
    else
      c_.execute(StGlobalLanes{access.bytes, &global, values});
    arrives_ = std::max(arrives_, arrives);
    for (ptx::LaneMask left = move_.load ? c_.lanes : 0; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::memcpy(&image_[plan_.in_image(access, lane)], values[lane], access.bytes);
    }
  }

  ServiceCall& c_;
  const WmmaMove& move_;
  const WmmaPlan& plan_;
  Space space_ = move_.space;
  uint64_t window_ = 0;  ///< of generic shared addresses
  std::vector<uint8_t> image_ = std::vector<uint8_t>(plan_.image_bytes);
  models::Cycles arrives_ = 0;
  bool unknown_ = false;
};

PtxOutcome move(ServiceCall& c) {
  const auto found = lanes::wmma_move_of(c.service);
  if (!found) return c.warp.not_implemented(lanes::kNoSuchWmma);
  return Move(c, *found).run();
}

PtxOutcome wmma(ServiceCall& c) {
  const auto form = lanes::wmma_of(c.service);
  if (!form) return c.warp.not_implemented(lanes::kNoSuchWmma);
  WarpContext& w = c.context();
  const models::MmaSyncCycles cycles = models::wmma_cycles(*form, w.profile);
  w.at(c.loc, c.lanes);
  if (!w.converged("wmma.mma")) return PtxOutcome::stop;
  w.charge_private(cycles.issue);
  lanes::wmma(c, *form, w.own.accumulation,
              w.profile.wgmma.columns_per_cycle > 0 ? models::MmaSyncCore::hopper : models::MmaSyncCore::blackwell);
  const auto arrives = models::now() + models::Cycles(std::ceil(w.warp.ahead + cycles.latency - cycles.issue));
  for (const ptx::Operand& o : registers_of(c.operand(0)))
    if (o.kind == ptx::Operand::Kind::reg) c.warp.arrives(o.row, o.width, arrives);
  return PtxOutcome::done;
}

}  // namespace

std::vector<PtxServiceEntry> wmma_services() {
  return {{"wmma.load", move, Together::all, true},
          {"wmma.store", move, Together::all, false},
          {"wmma.mma", wmma, Together::all, false}};
}

}  // namespace sm100::sim
