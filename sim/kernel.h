// SPDX-License-Identifier: Apache-2.0
/// A kernel ready to run on the model: its grid, its resources, the code of a warp, the names of its barriers. What
/// a run launches is a LaunchList (sim/launch_list.h).
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa/address.h"
#include "kernels/pipeline/barrier_array.h"

namespace sm100::sim {

class Warp;

struct Kernel {
  Dim3 grid;  ///< in CTAs; a multiple of the cluster
  Dim3 cluster{1, 1, 1};
  int warps = 0;
  uint32_t smem_bytes = 0;
  int registers = 0;     ///< of a thread; 0: not known
  std::string prefix{};  ///< of its roles and barriers in traces and accounts: "gemm."
  size_t index = 0;      ///< among the kernels of the run
  std::vector<BarrierArray> barriers;
  std::shared_ptr<const std::set<std::string>> barrier_texts{};  ///< of learned rows
  /// Of each row of `barriers`: who arrives was learned from a run, which another schedule may differ from; empty:
  /// of none.
  std::vector<bool> learned_arrivers{};
  std::vector<NamedBarrier> named_barriers{};  ///< empty: unknown
  std::function<void(Warp&)> run_warp;         ///< code of one warp, from start to exit
  std::vector<std::string> roles;              ///< of each warp: "load", "epilogue"; several warps may share a role

  uint64_t ctas() const { return uint64_t(grid.x) * grid.y * grid.z; }
  const std::string& role(int warp) const { return roles[size_t(warp)]; }
};

/// Whether a list like "scheduler, load" names the role.
inline bool lists(std::string_view list, std::string_view role) {
  for (size_t at = 0; at < list.size();) {
    const size_t end = std::min(list.find(", ", at), list.size());
    if (list.substr(at, end - at) == role) return true;
    at = end + 2;
  }
  return false;
}

/// A barrier by its name in the kernel's shared storage.
struct BarrierName {
  const BarrierArray* array = nullptr;  ///< nullptr: no barrier of the kernel
  int stage = 0;
};

/// The barrier whose word lies at `offset` in shared memory, whatever the CTA's rank in its cluster.
inline BarrierName barrier_name(const Kernel& kernel, uint32_t offset) {
  for (const BarrierArray& a : kernel.barriers)
    if (offset >= a.base.offset() && offset < a.base.offset() + 8u * uint32_t(a.stages))
      return {&a, int(offset - a.base.offset()) / 8};
  return {};
}

/// The kernel's row for a named barrier; nullptr: it has none.
inline const NamedBarrier* named_barrier(const Kernel& kernel, int id) {
  for (const NamedBarrier& b : kernel.named_barriers)
    if (b.id == id) return &b;
  return nullptr;
}

}  // namespace sm100::sim
