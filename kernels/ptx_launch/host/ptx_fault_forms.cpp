// SPDX-License-Identifier: Apache-2.0
#include "kernels/ptx_launch/host/ptx_fault_forms.h"

#include <algorithm>

namespace sm100::host {

const std::vector<PtxForm>& ptx_forms() {
  static const std::vector<PtxForm> all = {
      {"mbarrier_init", "mbarrier.init", {}, {}, 0, {{"count", 1}}},
      {"mbarrier_arrive_expect_tx", "mbarrier.arrive.expect_tx", {}, {}, 1, {{"bytes", 2}}},
      {"mbarrier_arrive", "mbarrier.arrive", {}, {".expect_tx", ".noComplete", "_drop"}, 1, {}},
      {"mbarrier_expect_tx", "mbarrier.expect_tx", {}, {}, 0, {{"bytes", 1}}},
      {"mbarrier_try_wait_parity", "mbarrier.try_wait.parity", {}, {}, 1, {{"parity", 2}}},
      {"fence_mbarrier_init", "fence.mbarrier_init", {}, {}},
      {"mapa", "mapa", {}, {}, -1, {{"rank", 2}}},
      {"bar_warp_sync", "bar.warp.sync", {}, {}},
      {"bar_sync", "bar.sync", {}, {}, -1, {{"id", 0}, {"threads", 1}}},
      {"bar_sync", "barrier.sync", {}, {}, -1, {{"id", 0}, {"threads", 1}}},
      {"bar_arrive", "bar.arrive", {}, {}, -1, {{"id", 0}, {"threads", 1}}},
      {"bar_arrive", "barrier.arrive", {}, {}, -1, {{"id", 0}, {"threads", 1}}},
      {"barrier_cluster_arrive", "barrier.cluster.arrive", {}, {".relaxed"}},
      {"barrier_cluster_wait", "barrier.cluster.wait", {}, {}},
      {"fence_proxy_async_shared_cta", "fence.proxy.async.shared::cta", {}, {}},
      {"griddepcontrol_wait", "griddepcontrol.wait", {}, {}},
      {"griddepcontrol_launch_dependents", "griddepcontrol.launch_dependents", {}, {}},
      {"cp_async_bulk_tensor_shared_global_multicast",
       "cp.async.bulk.tensor",
       {".shared::cluster.global", ".multicast::cluster"},
       {},
       2,
       {{"smem", 0}, {"barrier", 2}, {"mask", 3, "b16"}}},
      {"cp_async_bulk_tensor_shared_global",
       "cp.async.bulk.tensor",
       {".mbarrier::complete_tx::bytes"},
       {".multicast"},
       2,
       {{"smem", 0}, {"barrier", 2}}},
      {"cp_async_bulk_tensor_global_shared",
       "cp.async.bulk.tensor",
       {".global.shared::cta"},
       {},
       -1,
       {{"smem", 1}}},
      {"cp_async_bulk_commit_group", "cp.async.bulk.commit_group", {}, {}},
      {"cp_async_bulk_wait_group_read", "cp.async.bulk.wait_group.read", {}, {}},
      {"cp_async_bulk_wait_group", "cp.async.bulk.wait_group", {}, {".read"}},
      {"wgmma_fence", "wgmma.fence", {}, {}},
      {"wgmma_commit_group", "wgmma.commit_group", {}, {}},
      {"wgmma_wait_group", "wgmma.wait_group", {}, {}},
      {"wgmma_mma_async", "wgmma.mma_async", {}, {}, -1, {{"a", 1, "b64"}, {"b", 2, "b64"}}},
  };
  return all;
}

const PtxForm* ptx_form_of(std::string_view opcode) {
  const auto is = [&](const PtxForm& form) {
    const auto has = [&](std::string_view part) { return opcode.find(part) != std::string_view::npos; };
    return opcode.starts_with(form.opcode) && std::all_of(form.with.begin(), form.with.end(), has) &&
           std::none_of(form.without.begin(), form.without.end(), has);
  };
  const auto at = std::find_if(ptx_forms().begin(), ptx_forms().end(), is);
  return at == ptx_forms().end() ? nullptr : &*at;
}

std::vector<std::string> split_operands(std::string_view operands) {
  std::vector<std::string> parts;
  int depth = 0;
  std::string part;
  const auto finish = [&] {
    const size_t first = part.find_first_not_of(" \t\n"), last = part.find_last_not_of(" \t\n");
    if (first != std::string::npos) parts.push_back(part.substr(first, last - first + 1));
    part.clear();
  };
  for (const char c : operands) {
    if (c == '[' || c == '{' || c == '(') ++depth;
    if (c == ']' || c == '}' || c == ')') --depth;
    if (c == ',' && depth == 0)
      finish();
    else
      part += c;
  }
  finish();
  return parts;
}

}  // namespace sm100::host
