// SPDX-License-Identifier: Apache-2.0
/// The points at which a run can be perturbed: what the hardware is free to do later.
///
/// A point has a stable name: its site, the CTA and the warp that it belongs to, and how often that warp has been
/// at the site before.  Delays are a function of the name, so a delay more or less elsewhere leaves the others as
/// they were, and any set of delays can be replayed (`[[delay]]` of a scenario) or taken apart (`sm100sim
/// explore`).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string_view>

namespace sm100::models {

enum class JitterSite : uint8_t {
  tma_load,
  tma_delivery,
  tma_store,
  store_visible,
  global_store,
  umma_commit,
  commit_delivery,
  clc_response,
  clc_delivery,
  remote_arrive,
  cluster_barrier,
  tmem_load,
  tmem_store,
  wake_up,
  warp_issue,
  warp_start,
  cta_start,
  try_wait,
  wgmma,
};

/// Which entry of the profile's [jitter] bounds a site's delays.
enum class JitterBound : uint8_t { async, wakeup, issue, start };

struct JitterSiteRow {
  std::string_view name;  ///< `at` of a [[delay]]
  JitterBound bound;
  bool of_warp;           ///< the point belongs to a warp; otherwise to the CTA, or the cluster's first one
  bool to_rank;           ///< there is one for each receiving CTA of the cluster
  std::string_view what;  ///< what comes later
};

inline constexpr std::array<JitterSiteRow, 19> kJitterSites = {{
    {"tma load", JitterBound::async, true, false, "the box of a tensor load that the warp issued reaches the SMs"},
    {"tma delivery", JitterBound::async, true, true, "a multicast box reaches one of its CTAs"},
    {"tma store", JitterBound::async, true, false, "a tensor store begins to read shared memory"},
    {"tma store visible", JitterBound::async, true, false, "what a tensor store wrote is visible"},
    {"global store", JitterBound::async, true, false, "what a store of the warp wrote to global memory is visible"},
    {"umma commit", JitterBound::async, true, false,
     "a commit arrives; the thread's later ones to that barrier come after it"},
    {"commit delivery", JitterBound::async, true, true,
     "a multicast commit arrives at another CTA, in order per CTA"},
    {"clc response", JitterBound::async, true, false, "launch control answers a request of the warp"},
    {"clc delivery", JitterBound::async, true, true, "a CLC response reaches one of its CTAs"},
    {"remote arrive", JitterBound::async, true, true, "an arrive lands in another CTA, in order per warp and CTA"},
    {"cluster barrier", JitterBound::async, false, false, "a phase of the cluster barrier completes"},
    {"tmem load", JitterBound::wakeup, true, false, "registers of a tcgen05.ld hold their values"},
    {"tmem store", JitterBound::wakeup, true, false, "a tcgen05.st is done"},
    {"wake-up", JitterBound::wakeup, true, false,
     "the warp goes on after its wait; all waits count, also those that pass at once"},
    {"warp issue", JitterBound::issue, true, false, "the warp issues an instruction that others can notice"},
    {"warp start", JitterBound::start, true, false, "the warp's first instruction"},
    {"cta start", JitterBound::start, false, false, "the first instruction of all warps of the CTA"},
    {"try_wait", JitterBound::issue, true, false, "a try_wait that would suspend the warp returns false at once"},
    {"wgmma", JitterBound::async, true, false, "a wgmma.mma_async that the warp issued last of its four is done"},
}};
static_assert(size_t(JitterSite::wgmma) + 1 == kJitterSites.size());

constexpr const JitterSiteRow& row(JitterSite site) { return kJitterSites[size_t(site)]; }

struct JitterPoint {
  JitterSite site{};
  int cta = -1;             ///< linear id, the CTAs of a launch after those of the launch ahead
  int warp = -1;            ///< -1 where the site has none
  int to = -1;              ///< receiving rank; -1 where the site has none
  uint64_t occurrence = 0;  ///< from 0
  auto operator<=>(const JitterPoint&) const = default;
};

/// A point and by how many cycles it comes later.
struct Delay {
  JitterPoint point;
  uint64_t cycles = 0;
  bool operator==(const Delay&) const = default;
};

}  // namespace sm100::models
