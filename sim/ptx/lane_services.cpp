// SPDX-License-Identifier: Apache-2.0
// What lanes of a warp ask each other, on the models.
#include "sim/ptx/lane_exchange.h"
#include "sim/ptx/services.h"

namespace sm100::sim {

using ptx::LaneMask;
using Together = PtxServiceEntry::Together;

namespace {

void charge(ServiceCall& c, double cycles) {
  c.context().at(c.loc, c.lanes);
  c.context().charge_private(cycles);
}

/// The lowest of the mask, as hardware elects; PTX does not say which.
PtxOutcome elect(ServiceCall& c) {
  const LaneMask members = LaneMask(c.value(1));
  if (c.lanes == ptx::kAllLanes && members == ptx::kAllLanes) {
    lanes::set_elected(c, c.execute(instructions::ElectSync{}));
  } else {
    charge(c, c.context().issue.elect);
    lanes::elect(c);
  }
  return kDone;
}

/// What lanes ask each other needs nothing but their registers.
template <void (*kExchange)(const ServiceOperands&)>
PtxOutcome exchange(ServiceCall& c) {
  charge(c, c.context().issue.alu);
  kExchange(c);
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> lane_services() {
  return {{"elect.sync", elect, Together::mask},
          {"shfl.sync", exchange<lanes::shfl>, Together::mask, false},
          {"shfl.up.sync", exchange<lanes::shfl>, Together::mask, false},
          {"shfl.down.sync", exchange<lanes::shfl>, Together::mask, false},
          {"shfl.bfly.sync", exchange<lanes::shfl>, Together::mask, false},
          {"shfl.idx.sync", exchange<lanes::shfl>, Together::mask, false},
          {"vote.sync", exchange<lanes::vote>, Together::mask},
          {"vote.ballot.sync", exchange<lanes::vote>, Together::mask},
          {"vote.all.sync", exchange<lanes::vote>, Together::mask},
          {"vote.any.sync", exchange<lanes::vote>, Together::mask},
          {"vote.uni.sync", exchange<lanes::vote>, Together::mask},
          {"match.any.sync", exchange<lanes::match>, Together::mask},
          {"match.all.sync", exchange<lanes::match>, Together::mask},
          {"match.sync", exchange<lanes::match>, Together::mask},
          {"redux.sync", exchange<lanes::redux>, Together::mask, false},
          {"activemask", exchange<lanes::activemask>}};
}

}  // namespace sm100::sim
