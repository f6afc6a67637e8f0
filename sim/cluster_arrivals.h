/// Whose arrivals a barrier of a cluster still misses: for hang reports, where a wait in one CTA may be the fault of
/// another.
#pragma once

#include <string>
#include <vector>

#include "sim/cta.h"

namespace sm100::sim {

/// CTAs that owe arrivals to the open phase of a barrier, as far as the barrier's history tells.
struct OwedArrivals {
  std::vector<uint32_t> ranks;  ///< empty: nobody, or it cannot be told
  bool assumed = false;         ///< no earlier phase to compare with: assumes that all CTAs arrive alike
};
/// Compares the arrivals of the open phase with those of the phase before, by CTA.
/// @param cta  owner of the barrier
OwedArrivals owed_arrivals(Cta& cta, const models::Mbarrier::State& state);

/// CTAs of the cluster whose copies owe bytes to the open phase of a barrier: those that delivered more in the phase
/// before; in the first phase those that delivered more to another stage, or share tiles with us and delivered nothing.
std::vector<uint32_t> owed_bytes(Cta& cta, const models::Mbarrier::State& state);

/// Ranks of the other CTAs whose arrivals this array of barriers gets, when it never got one of its own CTA: a pair's
/// accumulators are full for both by the leader's commit, CLC responses are armed by CTA 0.
std::vector<uint32_t> foreign_arrivers(Cta& cta, const BarrierArray& array);

/// "CTA 1, CTA 3 (exited)".
std::string ctas_text(Cta& cta, const std::vector<uint32_t>& ranks);

/// Whom the cluster barrier waits for: "CTA 1 (load, mma), CTA 3 (mma)".
std::string cluster_barrier_missing(Cta& cta);

}  // namespace sm100::sim
