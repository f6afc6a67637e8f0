// SPDX-License-Identifier: Apache-2.0
/// The code of a warp that is an entry of a PTX file.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "sim/kernel_code.h"
#include "sim/ptx/ptx_code.h"

namespace sm100::sim {

/// Executes a program in one warp, for the launch of its CTA.
struct PtxRunner {
  std::function<std::shared_ptr<const PtxCode>()> code;  ///< as it is now
  std::function<void(Warp&)> run;
  void operator()(Warp& warp) const { run(warp); }
};

/// A PtxRunner.
/// @param windows  the parameter window of each launch
std::function<void(Warp&)> ptx_runner(const Binding& binding, const ptx::Module& module, const ptx::Entry& entry,
                                      const PtxLaunch& launch, const std::vector<std::vector<uint8_t>>& windows);

}  // namespace sm100::sim
