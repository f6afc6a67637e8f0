// SPDX-License-Identifier: Apache-2.0
#include "ptx/opcode.h"

#include <algorithm>

namespace sm100::ptx {

namespace {

/// Instructions that need more than registers and their own lane.  Longer stems behind shorter ones win.
constexpr std::string_view kStems[] = {"activemask",
                                       "applypriority",
                                       "atom",
                                       "bar.arrive",
                                       "bar.cta.arrive",
                                       "bar.cta.red",
                                       "bar.cta.sync",
                                       "bar.red",
                                       "bar.sync",
                                       "bar.warp.sync",
                                       "barrier.arrive",
                                       "barrier.cta.arrive",
                                       "barrier.cta.red",
                                       "barrier.cta.sync",
                                       "barrier.cluster.arrive",
                                       "barrier.cluster.wait",
                                       "barrier.red",
                                       "barrier.sync",
                                       "clusterlaunchcontrol.query_cancel",
                                       "clusterlaunchcontrol.try_cancel",
                                       "cp.async",
                                       "cp.async.bulk",
                                       "cp.async.bulk.commit_group",
                                       "cp.async.bulk.prefetch",
                                       "cp.async.bulk.prefetch.tensor",
                                       "cp.async.bulk.tensor",
                                       "cp.async.bulk.wait_group",
                                       "cp.async.commit_group",
                                       "cp.async.mbarrier.arrive",
                                       "cp.async.wait_all",
                                       "cp.async.wait_group",
                                       "cp.reduce.async.bulk",
                                       "cp.reduce.async.bulk.tensor",
                                       "createpolicy",
                                       "discard",
                                       "elect.sync",
                                       "fence",
                                       "fence.mbarrier_init",
                                       "fence.proxy",
                                       "getctarank",
                                       "griddepcontrol.launch_dependents",
                                       "griddepcontrol.wait",
                                       "istypep",
                                       "ldmatrix",
                                       "mapa",
                                       "match.all.sync",
                                       "match.any.sync",
                                       "match.sync",
                                       "mbarrier.arrive",
                                       "mbarrier.arrive_drop",
                                       "mbarrier.complete_tx",
                                       "mbarrier.expect_tx",
                                       "mbarrier.init",
                                       "mbarrier.inval",
                                       "mbarrier.pending_count",
                                       "mbarrier.test_wait",
                                       "mbarrier.try_wait",
                                       "membar",
                                       "mma",
                                       "movmatrix",
                                       "multimem.cp.async.bulk",
                                       "multimem.cp.reduce.async.bulk",
                                       "multimem.ld_reduce",
                                       "multimem.red",
                                       "multimem.st",
                                       "nanosleep",
                                       "prefetch",
                                       "prefetchu",
                                       "red",
                                       "red.async",
                                       "redux.sync",
                                       "setmaxnreg.dec",
                                       "setmaxnreg.inc",
                                       "shfl",
                                       "shfl.sync",
                                       "st.async",
                                       "st.bulk",
                                       "stackrestore",
                                       "stacksave",
                                       "alloca",
                                       "stmatrix",
                                       "suld",
                                       "sured",
                                       "sust",
                                       "tcgen05.alloc",
                                       "tcgen05.commit",
                                       "tcgen05.cp",
                                       "tcgen05.dealloc",
                                       "tcgen05.fence",
                                       "tcgen05.ld",
                                       "tcgen05.ld.red",
                                       "tcgen05.mma",
                                       "tcgen05.mma.sp",
                                       "tcgen05.mma.ws",
                                       "tcgen05.mma.ws.sp",
                                       "tcgen05.relinquish_alloc_permit",
                                       "tcgen05.shift",
                                       "tcgen05.st",
                                       "tcgen05.wait",
                                       "tensormap.cp_fenceproxy",
                                       "tensormap.replace",
                                       "tex",
                                       "tld4",
                                       "txq",
                                       "vote",
                                       "vote.sync",
                                       "wgmma.commit_group",
                                       "wgmma.fence",
                                       "wgmma.mma_async",
                                       "wgmma.mma_async.sp",
                                       "wgmma.wait_group",
                                       "wmma.load",
                                       "wmma.mma",
                                       "wmma.store"};

/// The stem is a prefix of the opcode and ends where a part of it ends: tcgen05.wait::ld counts to tcgen05.wait.
bool starts(std::string_view opcode, std::string_view stem) {
  return opcode.starts_with(stem) &&
         (opcode.size() == stem.size() || opcode[stem.size()] == '.' || opcode[stem.size()] == ':');
}

}  // namespace

std::vector<std::string_view> parts_of(std::string_view opcode) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t dot = opcode.find('.');
    parts.push_back(opcode.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    opcode.remove_prefix(dot + 1);
  }
}

std::string_view service_stem(std::string_view opcode) {
  std::string_view longest;
  for (const std::string_view stem : kStems)
    if (stem.size() > longest.size() && starts(opcode, stem)) longest = stem;
  return longest;
}

Modifiers modifiers_behind(std::string_view opcode, size_t stem) {
  Modifiers modifiers;
  while (stem < opcode.size()) {
    size_t next = opcode.find('.', stem + 1);
    if (next == std::string_view::npos) next = opcode.size();
    modifiers.list.push_back(opcode.substr(stem, next - stem));
    stem = next;
  }
  return modifiers;
}

bool Modifiers::has(std::string_view modifier) const {
  return std::find(list.begin(), list.end(), modifier) != list.end();
}

std::string_view Modifiers::value(std::string_view start) const {
  for (const std::string_view m : list)
    if (m.starts_with(start)) return m.substr(start.size());
  return {};
}

Type Modifiers::type() const {
  for (auto m = list.rbegin(); m != list.rend(); ++m)
    if (const Type t = type_from(*m); t != Type::none) return t;
  return Type::none;
}

}  // namespace sm100::ptx
