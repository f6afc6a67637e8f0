// SPDX-License-Identifier: Apache-2.0
/// Which PTX instructions the simulator has: what `sm100sim list isa` prints.  Data only; a test keeps the
/// documentation equal to it.
#pragma once

#include <string_view>

namespace sm100::sim {

enum class Support {
  modelled,      ///< semantics as PTX states them, time from the profile
  approximated,  ///< semantics as PTX states them, time or order simplified as the note says
  rejected,      ///< an error that names it, never a no-op
};

constexpr std::string_view name(Support support) {
  switch (support) {
    case Support::modelled: return "modelled";
    case Support::approximated: return "approximated";
    case Support::rejected: return "rejected";
  }
  return "?";
}

struct IsaSupport {
  std::string_view instruction;  ///< "..." stands for any further qualifiers
  Support support;
  std::string_view note;
};

inline constexpr IsaSupport kIsaSupport[] = {
    // mbarrier, PTX 9.7.13.15
    {"mbarrier.init", Support::modelled, "shared::cta"},
    {"mbarrier.arrive", Support::modelled, "shared::cta and shared::cluster (any CTA), count 1 per active lane"},
    {"mbarrier.arrive.expect_tx", Support::modelled, "shared::cta and shared::cluster (any CTA)"},
    {"mbarrier.try_wait.parity", Support::modelled, "returns when the phase has completed; no time limit"},
    {"mbarrier.expect_tx, .complete_tx", Support::rejected,
     "not implemented as instructions; copies complete bytes"},
    {"mbarrier.test_wait.parity", Support::modelled, "answers at once; time taken to be that of try_wait"},
    {"mbarrier.test_wait, .try_wait (state)", Support::rejected, "not implemented"},
    {"mbarrier.arrive_drop, .noComplete, .inval", Support::rejected, "not implemented"},
    {"fence.mbarrier_init.release.cluster", Support::approximated,
     "its order is what MB14 asks for; no time but its issue"},
    {"mapa", Support::modelled, "shared::cluster, 32 bit"},

    // Copies of threads, PTX 9.7.9.25.3
    {"cp.async.cg.shared.global", Support::approximated,
     "16 bytes a lane; they move at issue and count as landed an L2 hit later"},
    {"cp.async.commit_group, .wait_group", Support::modelled, ""},
    {"cp.async.mbarrier.arrive{.noinc}", Support::modelled, "shared::cta"},
    {"cp.async.ca, sizes 4 and 8, src-size, .wait_all", Support::rejected, "not implemented"},

    // TMA and bulk groups, PTX 9.7.9.25 and .27
    {"cp.async.bulk.tensor.1d-5d (load, tile)", Support::modelled,
     "global to shared::cluster, mbarrier completion"},
    {"cp.async.bulk.tensor.1d-5d (store, tile)", Support::modelled, "shared::cta to global, bulk group"},
    {"cp.async.bulk.commit_group", Support::modelled, ""},
    {"cp.async.bulk.wait_group{.read}", Support::modelled, ""},
    {"prefetch.tensormap", Support::approximated, "no effect but its issue time"},
    {"cp.async.bulk.tensor....multicast::cluster", Support::modelled, "tiled load, cta_group::1 and ::2"},
    {"cp.async.bulk.tensor....cta_group::2", Support::modelled, "tiled load; the mbarrier may be the peer's"},
    {"cp.async.bulk.tensor....im2col", Support::rejected, "not implemented"},
    {"cp.async.bulk.tensor....tile::gather4, ::scatter4", Support::rejected, "not implemented"},
    {"cp.reduce.async.bulk...", Support::rejected, "not implemented"},
    {"cp.async.bulk (1-D), cp.async.bulk.prefetch", Support::rejected, "not implemented"},

    // Tensor memory and tensor core, PTX 9.7.16
    {"tcgen05.alloc, .dealloc, .relinquish_alloc_permit", Support::modelled,
     "a pair's alloc and dealloc meet the peer's"},
    {"tcgen05.mma.kind::f16", Support::modelled, "cta_group::1 and ::2, A and B from shared memory"},
    {"tcgen05.mma.kind::tf32, ::f8f6f4 (8-bit types)", Support::modelled, "as f16"},
    {"tcgen05.mma [a] (A in tensor memory)", Support::modelled, "as from shared memory"},
    {"tcgen05.mma.kind::i8, ::f8f6f4 (6- and 4-bit types)", Support::approximated,
     "time, in runs without data; with data not implemented"},
    {"tcgen05.mma.kind::mxf8f6f4.block_scale", Support::approximated,
     "time, in runs without data, one scale per 32 elements; with data not implemented"},
    {"tcgen05.mma.kind::mxf4, ::mxf4nvf4", Support::rejected, "not implemented"},
    {"tcgen05.mma.sp", Support::rejected, "not implemented: sparsity"},
    {"tcgen05.mma.ws", Support::rejected, "not implemented"},
    {"tcgen05.commit", Support::modelled, ""},
    {"tcgen05.commit.multicast::cluster", Support::modelled, "one path latency to every other CTA"},
    {"tcgen05.ld.16x256b", Support::modelled, "x1 to x32; bandwidth is an assumption"},
    {"tcgen05.ld.32x32b", Support::modelled, "x1 to x128; bandwidth is an assumption"},
    {"tcgen05.ld.16x64b, .16x128b", Support::rejected, "not implemented in the Isa; the unit has them"},
    {"tcgen05.ld.16x32bx2", Support::rejected, "not implemented"},
    {"tcgen05.wait::ld", Support::modelled, ""},
    {"tcgen05.fence::before_thread_sync, ::after_thread_sync", Support::approximated,
     "their order is what TC16 asks for; no time but their issue"},
    {"tcgen05.st.16x256b", Support::modelled, "x1 to x32; time taken to be that of ld"},
    {"tcgen05.wait::st", Support::modelled, ""},
    {"tcgen05.st.32x32b, .16x64b, .16x128b", Support::rejected, "not implemented in the Isa; the unit has them"},
    {"tcgen05.st.16x32bx2", Support::rejected, "not implemented"},
    {"tcgen05.cp, .shift", Support::rejected, "not implemented"},

    // Cluster launch control, PTX 9.7.13.17 and .18
    {"clusterlaunchcontrol.try_cancel.async", Support::modelled, ""},
    {"clusterlaunchcontrol.query_cancel.is_canceled", Support::modelled, ""},
    {"clusterlaunchcontrol.query_cancel.get_first_ctaid", Support::modelled, ""},
    {"clusterlaunchcontrol....multicast::cluster::all", Support::modelled, "reaches all CTAs at one cycle"},

    // Warp, CTA and cluster
    {"elect.sync", Support::modelled, "elects the lowest lane"},
    {"bar.warp.sync", Support::modelled, ""},
    {"bar.sync, bar.arrive", Support::modelled, "barriers 0-15 with a thread count"},
    {"barrier.cluster.arrive{.release, .relaxed}, .wait", Support::modelled,
     "all threads of the cluster; lanes may arrive apart (not .aligned)"},
    {"fence.proxy.async.shared::cta", Support::approximated,
     "its order is what TM6 and CL8 ask for; no time but its issue"},
    {"stmatrix.m8n8.x2, .x4, .trans", Support::modelled, "b16"},
    {"ld.shared, st.shared", Support::modelled, "the widths the kernels use"},
    {"st.global.b16, .b32", Support::approximated, "posted; time counts every active lane, predicated off or not"},
    {"ld.global.b16, .b32, .v2.b32, .v4.b32", Support::approximated, "an L2 hit each; the next store waits for it"},
    {"st.global.v2.b32, .v4.b32", Support::approximated,
     "posted; a v4 takes the load-store path for each line that it touches"},
    {"ld.acquire.gpu.global.u32", Support::modelled, "a loop that polls sleeps until the word is stored to"},
    {"st.release.gpu.global.u32", Support::modelled, "visible after all stores of the CTA before it"},
    {"griddepcontrol.wait", Support::modelled, "all launches ahead have completed"},
    {"griddepcontrol.launch_dependents", Support::approximated, "a dependent's CTA needs an SM of its own"},
    {"setmaxnreg.inc, .dec", Support::modelled,
     "a pool for each partition; without run.registers every request is served"},
};

}  // namespace sm100::sim
