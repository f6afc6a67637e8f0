// SPDX-License-Identifier: Apache-2.0
/// Which mbarrier is meant where an access lacks its wait: by the kernel's table, or by the text of its PTX.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "sim/hazards/hazard_checker.h"
#include "sim/warp.h"

namespace sm100::sim {

/// "input_full[2]"; empty for barriers that the kernel does not name.
std::string barrier_text(const Kernel& kernel, uint32_t offset);

/// The barrier by which a ring's stage comes back: input_empty[2] for input_full[2]; empty: it is not known.
std::string release_text(const Kernel& kernel, uint32_t full_offset);

/// The array whose phases tell the warps of `reader` that MMAs and copies of tensor memory of warp `issuer` are
/// over: the one that the one commits to and the other waits for, of several the one whose wait has passed before
/// any phase had completed.  nullptr: none, or more than one may be meant.
const BarrierArray* commit_array(const Kernel& kernel, int issuer, int reader, const Warp* waits = nullptr);

/// "mma has never waited for accum_empty, where epilogue arrives": of an accumulator that is written again; empty:
/// it has, or no such barrier is known.
std::string release_not_awaited(const Kernel& kernel, const Warp& by, const Access& earlier, const Access& later);

/// The phase by which a stage came back had completed without the warp that still uses it, though its role arrives
/// there: a count that is too low, or an arrival that is doubled.
struct PhaseWithout {
  std::string message;  ///< "input_empty[0] completed phase 0 without it"
  std::string who;      ///< "phase 0 of input_empty[0] had 4 arrivals, of consumer (warps 0-3) of CTA 3"
  std::string mend;     ///< "wrong: the count of input_empty, ..."
};
/// @param by  the warp that overwrites what `earlier` uses
PhaseWithout phase_without(const Kernel& kernel, const Warp& by, const Access& earlier, const Access& later);

/// Of a warp that reads a stage before its first fill: its first wait on the ring was not for the ring's first
/// stage, and passed at once.  It has stepped over fills that others of its role take, and nothing held it back
/// until they had; empty: it is not that.
/// @param full        offset of the barrier of the stage
/// @param has_joined  the warp has come to that named barrier
std::string ahead_of_others(const Kernel& kernel, const Warp& reader, uint32_t full,
                            const std::function<bool(int id)>& has_joined);

/// Of a warp that fills a stage: it has waited for what its own copies complete, and not for the stage's release;
/// empty: it has not.
std::string waits_for_its_own(const Kernel& kernel, const Warp& filler, uint32_t full);

}  // namespace sm100::sim
