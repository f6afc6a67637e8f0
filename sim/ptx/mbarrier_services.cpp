// SPDX-License-Identifier: Apache-2.0
// mbarrier instructions of PTX on the models (PTX 9.7.13.15), mapa.
#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::LaneMask;
using Together = PtxServiceEntry::Together;

namespace {

/// An arrival or a wait, which may say .relaxed.
template <auto Service>
PtxOutcome with_order(ServiceCall& c) {
  bool& relaxed = c.context().relaxed;
  relaxed = c.has(".relaxed");
  const PtxOutcome outcome = Service(c);
  relaxed = false;
  return outcome;
}

bool remote(const ServiceCall& c) { return c.has(".shared::cluster"); }
/// The first operand is the address; else it is the state that the instruction returns.
bool returns_state(const ServiceCall& c) { return c.operand(0).kind != ptx::Operand::Kind::address; }

PtxOutcome init(ServiceCall& c) {
  return c.for_each_alike(
      [&](int lane) {
        return std::pair{c.shared(c.operand(0), lane), c.value(c.operand(1), lane)};
      },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        c.execute(MbarrierInit{{c.shared(c.operand(0), lane)}, uint32_t(c.value(c.operand(1), lane))}, by);
        return kDone;
      });
}

PtxOutcome inval(ServiceCall& c) {
  return c.for_each_alike([&](int lane) { return c.shared(c.operand(0), lane); },
                          [&](LaneMask by) {
                            c.execute(MbarrierInval{{c.shared(c.operand(0), std::countr_zero(by))}}, by);
                            return kDone;
                          });
}

/// The lanes' states to a register.
void put_states(ServiceCall& c, LaneMask by, const LaneArray<MbarrierToken, 1>& states) {
  if (!returns_state(c)) return;
  for (; by != 0; by &= by - 1) c.set(c.operand(0), std::countr_zero(by), states[std::countr_zero(by)][0].bits);
}

PtxOutcome arrive_remotely(ServiceCall& c, const ptx::Operand& address, const ptx::Operand* count) {
  if (count)
    return c.for_each_alike(
        [&](int lane) {
          return std::pair{c.shared(address, lane), c.value(*count, lane)};
        },
        [&](LaneMask by) {
          const int lane = std::countr_zero(by);
          const ClusterSmemAddr barrier{c.shared(address, lane)};
          const auto n = uint32_t(c.value(*count, lane));
          if (n == 1)
            c.execute(MbarrierArriveRemote{barrier, scope_of(c)}, by);
          else
            c.execute(MbarrierArriveCountRemote{barrier, n, scope_of(c)}, by);
          return kDone;
        });
  LaneArray<ClusterSmemAddr, 1> barriers{};
  bool alike = true;
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    barriers(lane) = {c.shared(address, lane)};
    alike &= barriers(lane) == barriers(c.first());
  }
  if (alike)
    c.execute(MbarrierArriveRemote{barriers(c.first()), scope_of(c)});
  else
    c.execute(MbarrierArriveLanes{barriers, scope_of(c)});
  return kDone;
}

PtxOutcome arrive_expect_tx(ServiceCall& c) {
  const size_t at = c.operand(0).kind == ptx::Operand::Kind::address ? 0 : 1;
  const ptx::Operand &address = c.operand(at), &bytes = c.operand(at + 1);
  // Lanes may arrive on barriers of different CTAs with one instruction.
  return c.for_each_alike(
      [&](int lane) {
        return std::pair{remote(c) ? 0 : c.shared(address, lane), c.value(bytes, lane)};
      },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        const auto n = uint32_t(c.value(bytes, lane));
        if (remote(c)) {
          LaneArray<ClusterSmemAddr, 1> barriers{};
          for (LaneMask left = by; left != 0; left &= left - 1)
            barriers(std::countr_zero(left)) = {c.shared(address, std::countr_zero(left))};
          c.execute(MbarrierArriveExpectTxLanes{barriers, n, scope_of(c)}, by);
        } else if (at == 1 && c.operand(0).kind != ptx::Operand::Kind::sink) {
          put_states(c, by, c.execute(MbarrierArriveExpectTxState{{c.shared(address, lane)}, n, scope_of(c)}, by));
        } else {
          c.execute(MbarrierArriveExpectTx{{c.shared(address, lane)}, n, scope_of(c)}, by);
        }
        return kDone;
      });
}

PtxOutcome arrive(ServiceCall& c) {
  if (c.has(".expect_tx")) return arrive_expect_tx(c);
  const size_t at = returns_state(c) || c.operand(0).kind == ptx::Operand::Kind::sink ? 1 : 0;
  const ptx::Operand& address = c.operand(at);
  const ptx::Operand* count = c.size() > at + 1 ? &c.operand(at + 1) : nullptr;
  if (remote(c)) return arrive_remotely(c, address, count);
  return c.for_each_alike(
      [&](int lane) {
        return std::pair{c.shared(address, lane), count ? c.value(*count, lane) : 1};
      },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        const SmemAddr barrier{c.shared(address, lane)};
        const uint32_t n = count ? uint32_t(c.value(*count, lane)) : 1;
        if (c.has(".noComplete"))
          put_states(c, by, c.execute(MbarrierArriveNoComplete{barrier, n}, by));
        else if (n == 1 && (at == 0 || c.operand(0).kind == ptx::Operand::Kind::sink))
          c.execute(MbarrierArrive{barrier, scope_of(c)}, by);
        else
          put_states(c, by, c.execute(MbarrierArriveState{barrier, n, scope_of(c)}, by));
        return kDone;
      });
}

PtxOutcome arrive_drop(ServiceCall& c) {
  const size_t at = c.operand(0).kind == ptx::Operand::Kind::address ? 0 : 1;
  const ptx::Operand& address = c.operand(at);
  const ptx::Operand* count = c.size() > at + 1 ? &c.operand(at + 1) : nullptr;
  return c.for_each_alike(
      [&](int lane) {
        return std::pair{c.shared(address, lane), count ? c.value(*count, lane) : 1};
      },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        const uint32_t n = count ? uint32_t(c.value(*count, lane)) : 1;
        if (remote(c))
          c.execute(MbarrierArriveDropRemote{{c.shared(address, lane)}, n, scope_of(c)}, by);
        else if (c.has(".noComplete"))
          put_states(c, by, c.execute(MbarrierArriveDropNoComplete{{c.shared(address, lane)}, n}, by));
        else
          put_states(c, by, c.execute(MbarrierArriveDrop{{c.shared(address, lane)}, n, scope_of(c)}, by));
        return kDone;
      });
}

template <class Local, class Remote>
PtxOutcome transaction(ServiceCall& c) {
  return c.for_each_alike(
      [&](int lane) {
        return std::pair{c.shared(c.operand(0), lane), c.value(c.operand(1), lane)};
      },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        const uint32_t at = c.shared(c.operand(0), lane), bytes = uint32_t(c.value(c.operand(1), lane));
        if (remote(c))
          c.execute(Remote{{at}, bytes, scope_of(c)}, by);
        else
          c.execute(Local{{at}, bytes, scope_of(c)}, by);
        return kDone;
      });
}

/// While it lives, a test of all the warp's lanes suspends them up to the limit.  A part of a warp that asks is
/// answered at once (measured on the H200, both).
class LookThatSuspends {
 public:
  LookThatSuspends(ServiceCall& c, LaneMask by, bool suspends) : context_(c.context()) {
    context_.test_suspends = suspends && by == c.warp.live();
    context_.answer_ignored = c.warp.code.ignores_answer(c.at);
  }
  ~LookThatSuspends() { context_.test_suspends = context_.answer_ignored = false; }
  LookThatSuspends(const LookThatSuspends&) = delete;
  LookThatSuspends& operator=(const LookThatSuspends&) = delete;

 private:
  WarpContext& context_;
};

/// Lanes that wait for different phases do so one after the other, each as PTX gives it to all.
template <class Parity, class State>
PtxOutcome wait(ServiceCall& c, bool suspends) {
  const ptx::Operand &result = c.operand(0), &address = c.operand(1), &phase = c.operand(2);
  bool all = true;
  const PtxOutcome outcome = c.for_each_alike(
      [&](int lane) {
        return std::pair{c.shared(address, lane), c.has(".parity") ? c.value(phase, lane) : 0};
      },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        const SmemAddr barrier{c.shared(address, lane)};
        bool complete;
        const bool loops = c.warp.code.wait_of(c.at) != nullptr;
        // A look that suspends is where a warp waits that asks ahead of its loop, as CUTLASS's do.
        const bool shows = loops || suspends;
        if (shows && c.has(".parity")) c.warp.waits_for(barrier, uint32_t(c.value(phase, lane)));
        const LookThatSuspends look(c, by, suspends && !loops);
        if (c.has(".parity")) {
          complete = c.execute(Parity{barrier, uint32_t(c.value(phase, lane)), scope_of(c)}, by);
        } else {
          LaneArray<MbarrierToken, 1> states{};
          for (LaneMask left = by; left != 0; left &= left - 1)
            states(std::countr_zero(left)) = {c.value(phase, std::countr_zero(left))};
          complete = c.execute(State{barrier, states, scope_of(c)}, by);
        }
        if (shows && complete) c.warp.has_waited();
        c.file().set_predicate(result.row, complete ? ptx::kAllLanes : 0, by);
        all &= complete;
        return kDone;
      });
  return outcome != kDone ? outcome : all ? kDone : PtxOutcome::gave_up;
}

PtxOutcome try_wait(ServiceCall& c) {
  // Outside of a loop that waits it is a look: it suspends once, and the code goes on with its answer.
  if (c.warp.code.wait_of(c.at)) return wait<MbarrierTryWaitParity, MbarrierTryWait>(c, true);
  return wait<MbarrierTestWaitParity, MbarrierTestWait>(c, true) == PtxOutcome::stop ? PtxOutcome::stop : kDone;
}
PtxOutcome test_wait(ServiceCall& c) {
  return wait<MbarrierTestWaitParity, MbarrierTestWait>(c, false) == PtxOutcome::stop ? PtxOutcome::stop : kDone;
}

PtxOutcome pending_count(ServiceCall& c) {
  LaneArray<MbarrierToken, 1> states{};
  for (LaneMask left = c.lanes; left != 0; left &= left - 1)
    states(std::countr_zero(left)) = {c.value(c.operand(1), std::countr_zero(left))};
  const LaneArray<uint32_t, 1> counts = c.execute(MbarrierPendingCount{states});
  for (LaneMask left = c.lanes; left != 0; left &= left - 1)
    c.set(c.operand(0), std::countr_zero(left), counts[std::countr_zero(left)][0]);
  return kDone;
}

PtxOutcome fence_init(ServiceCall& c) { return c.execute(FenceMbarrierInit{}), kDone; }

/// Of a generic address the result is one, too.
PtxOutcome mapa(ServiceCall& c) {
  const bool generic = !c.has(".shared::cluster");
  const ptx::Operand &result = c.operand(0), &address = c.operand(1), &rank = c.operand(2);
  const auto of = [&](int lane) {
    return address.kind == ptx::Operand::Kind::address ? c.address(address, lane) : c.value(address, lane);
  };
  return c.for_each_alike(
      [&](int lane) {
        return std::pair{of(lane), c.value(rank, lane)};
      },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        const auto address_of = uint32_t(of(lane)), to = uint32_t(c.value(rank, lane));
        // Compilers compute addresses ahead of the branch that decides who uses them: whoever uses one of
        // a CTA that is not there is told then.
        const ClusterSmemAddr mapped =
            to < c.context().cta.cluster_ctas()
                ? c.execute(Mapa{{address_of}, to}, by)
                : ClusterSmemAddr{to << kClusterRankShift | (address_of & kSmemOffsetMask)};
        for (LaneMask left = by; left != 0; left &= left - 1)
          c.set(result, std::countr_zero(left), generic ? kPtxSharedWindow + mapped.value : mapped.value);
        return kDone;
      });
}

/// Of a shared::cluster address or a generic one that is one.
PtxOutcome getctarank(ServiceCall& c) {
  const ptx::Operand& address = c.operand(1);
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t at =
        address.kind == ptx::Operand::Kind::address ? c.address(address, lane) : c.value(address, lane);
    c.set(c.operand(0), lane, uint32_t(at) >> kClusterRankShift);
  }
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> mbarrier_services() {
  return {{"mbarrier.init", init},
          {"mbarrier.inval", inval},
          {"mbarrier.arrive", with_order<arrive>},
          {"mbarrier.arrive.expect_tx", with_order<arrive_expect_tx>},
          {"mbarrier.arrive_drop", with_order<arrive_drop>, Together::any, true, {".expect_tx"}},
          {"mbarrier.expect_tx", transaction<MbarrierExpectTx, MbarrierExpectTxRemote>},
          {"mbarrier.complete_tx", transaction<MbarrierCompleteTx, MbarrierCompleteTxRemote>},
          {"mbarrier.try_wait", with_order<try_wait>},
          {"mbarrier.test_wait", with_order<test_wait>},
          {"mbarrier.pending_count", pending_count},
          {"fence.mbarrier_init", fence_init},
          {"mapa", mapa},
          {"getctarank", getctarank}};
}

}  // namespace sm100::sim
