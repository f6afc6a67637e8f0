// SPDX-License-Identifier: Apache-2.0
/// Faults as an interceptor: which instructions of a warp a scenario's [[fault]] entries alter, and how.  The
/// kernel source is never edited to break it.
///
/// It knows no instruction: WarpContext asks it about each one that faults may alter, by name, and changes the
/// operands.  An instruction that names no mbarrier counts as one of the barrier and stage that its warp waited for
/// last.
#pragma once

#include <string_view>
#include <vector>

#include "kernels/host/scenario.h"
#include "sim/alteration.h"
#include "sim/kernel.h"
#include "sim/mend/survey.h"
#include "sim/warp.h"

namespace sm100::sim {

/// Of one warp and CTA.
class FaultInterceptor {
 public:
  /// @param altered  per fault: counts the instructions it altered, over all warps
  FaultInterceptor(const std::vector<host::FaultSpec>& faults, std::vector<uint64_t>& altered)
      : faults_(faults), altered_(altered), matches_(faults.size(), 0) {}

  /// Somebody alters instructions, or looks at them.
  bool needed() const { return !faults_.empty() || InstructionSurvey::active(); }

  /// What the faults change in this execution of `function`.
  Alteration match(const Warp& warp, std::string_view function, const Selection& selection);

  /// The same of a wait for an mbarrier.
  /// @param given_up  the warp's last wait has returned false, and nothing has followed: a loop that asks again is
  /// one wait
  Alteration match_wait(const Warp& warp, const Selection& selection, uint32_t parity, bool given_up);

  // ---- early: clc_empty and accum_empty are released by all lanes of the warps that waited for clc_full and
  // accum_full
  /// The barrier to release when the wait for the mbarrier at that offset is over, if a fault says so.
  struct Release {
    uint32_t offset = 0;  ///< 0: none
    bool clc = false;
  };
  Release early_release(const Warp& warp, uint32_t waited);
  /// This arrival on the barrier at that offset has been made early.
  bool released_already(uint32_t barrier);

 private:
  /// Everything but the occurrence agrees.
  bool selects(const host::FaultSpec& fault, const Warp& warp, std::string_view function,
               const BarrierName& barrier, int id, const Loc& loc) const;
  /// Counts a match; true if it is an occurrence that is meant.
  bool counts(size_t fault);

  const std::vector<host::FaultSpec>& faults_;
  std::vector<uint64_t>& altered_;
  std::vector<int64_t> matches_;  ///< per fault, of this warp and CTA
  /// The last wait as role code wrote it, and what became of it.
  struct {
    uint32_t barrier = 0, parity = 0;
    Alteration as;
  } wait_;
  uint32_t last_wait_ = 0;                ///< offset of the mbarrier that the warp waited for last
  std::vector<uint32_t> released_early_;  ///< offsets of barriers whose next arrival has been made
};

}  // namespace sm100::sim
