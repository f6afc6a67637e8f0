/// A kernel ready to run on the model: its grid, its resources, the code of a warp, and the names of its
/// barriers.
#pragma once

#include <functional>
#include <string>
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
  std::vector<BarrierArray> barriers;
  std::function<void(Warp&)> run_warp;  ///< code of one warp, from start to exit
  std::vector<std::string> roles;       ///< of each warp: "load", "epilogue"; several warps may share a role

  const std::string& role(int warp) const { return roles[size_t(warp)]; }
};

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

}  // namespace sm100::sim
