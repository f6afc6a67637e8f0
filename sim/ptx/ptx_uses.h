// SPDX-License-Identifier: Apache-2.0
/// Which instructions of a PTX program may signal or await which mbarriers, by its text: what a run that got stuck
/// has not shown.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ptx/warp_view.h"
#include "sim/barrier_table.h"
#include "sim/kernel.h"
#include "sim/ptx/ptx_code.h"

namespace sm100::sim {

/// An instruction that names an mbarrier, and the warps that may execute it.
struct PtxUse {
  ptx::BarrierUse use;
  uint64_t warps = 0;  ///< a bit each
  Loc loc{};
  std::string instruction;  ///< "mbarrier.arrive.expect_tx"
  int line = 0;             ///< of the PTX
  std::string opcode;       ///< as written
};

/// Of all warps of a CTA, in the order of the program; what warps know differently of an instruction is several
/// uses.
struct PtxUses {
  std::vector<PtxUse> all;
  bool calls = false;  ///< some warp may call a function, in which nobody has looked

  /// Uses that name a barrier of the array, or may.
  std::vector<const PtxUse*> of(const BarrierArray& array) const;
  /// The warp may come to an arrival on a barrier of the array.
  bool may_arrive(const BarrierArray& array, int warp) const;
  /// There may be instructions that signal a barrier which the text does not name.
  bool signals_unknown() const;
};
PtxUses uses_of(const PtxCode& code, int warps);

/// The use may name a barrier of the array.
bool names_barrier(const ptx::BarrierUse& use, const BarrierArray& array);

/// Learned rows as the program's text explains them: nameless barriers that lie next to each other, have one count
/// and are used alike are one array, by what the run has shown of them, else by what the text says; and who has not
/// come in the run that was learned from, but may, stands in the row.
void complete_table(BarrierTable& table, const Kernel& kernel, const PtxUses& uses);

/// "filled by TMA for load", "completed by tcgen05.commit of mma", "completed by arrivals of epilogue"; empty: by
/// nobody.
std::string completed_by(const BarrierArray& array);

/// The program that the kernel's warps execute; nullptr: they execute role code.
std::shared_ptr<const PtxCode> ptx_code_of(const Kernel& kernel);
/// Its uses; nullptr likewise.  They are found at the first call.
const PtxUses* ptx_uses_of(const Kernel& kernel);

}  // namespace sm100::sim
