// SPDX-License-Identifier: Apache-2.0
/// Who owes something to the open phase of a barrier: arrivals, or bytes of copies.
///
/// A barrier counts what each warp delivers to a phase.  Who delivered to a phase that has completed, and not to
/// the open one, owes it: of this barrier, of another stage of its array, or of the same array in another CTA.
/// Before any phase has completed, the kernel's table of barriers says whose roles arrive.
#pragma once

#include <string_view>
#include <vector>

#include "sim/cta.h"

namespace sm100::sim {

/// The CTA slots of the GPU, by their numbers.
using Slots = std::vector<Cta*>;

struct Debt {
  Cta* slot = nullptr;  ///< where the debtor's CTA runs or ran
  int cta = -1;         ///< linear id of that CTA
  int warp = -1;
  Loc loc{};                         ///< of the copies that deliver the bytes
  uint64_t arrivals = 0, bytes = 0;  ///< both 0: how much it owes is not known, or it is something else

  const Warp& state() const { return *slot->all_warps()[size_t(warp)]; }
  const Kernel& kernel() const { return slot->launches().kernel_of_cta(cta); }
  const std::string& role() const { return kernel().role(warp); }
  /// The warp will never do anything again.
  bool exited() const { return slot->linear_id() != cta || !state().running; }
};

struct Debts {
  std::vector<Debt> all;
  bool certain = true;  ///< false: one of these, or some
  /// Nobody owes them: all that may arrive have come, and the open phase still misses so many arrivals.
  uint32_t overcounted = 0;
  std::vector<Debt> came{};  ///< and these have
};

/// What a warp delivered, of all its lines: arrivals or bytes.
uint64_t amount_of(const std::vector<models::Mbarrier::State::Share>& shares, int cta, int warp);
/// The CTA of rank `rank` in the cluster of `cta`: its slot.
inline Cta* peer_slot(const Slots& slots, Cta& cta, uint32_t rank) { return slots[size_t(cta.peer_slot(rank))]; }

/// Arrivals that the open phase of a barrier misses.
/// @param owner  CTA whose shared memory the barrier is in
Debts arrivals_owed(const Slots& slots, Cta& owner, const models::Mbarrier::State& state);
/// Bytes that it misses.  Empty when expect_tx counts other bytes than the copies of a phase usually deliver.
Debts bytes_owed(const Slots& slots, Cta& owner, const models::Mbarrier::State& state);
/// Bytes that a completed phase of such a barrier was delivered; 0: none has completed.
uint64_t usual_bytes(const Slots& slots, Cta& owner, const models::Mbarrier::State& state);

/// In the first fill: the barrier has got what other stages of its array have, and its place in other CTAs of the
/// cluster, and expects as much as they do.  False if there are none to compare with.
bool filled_like_others(const Slots& slots, Cta& owner, const models::Mbarrier::State& state);

/// The instruction with which a role arrives: where a row of the table lists as many of them as roles, the role's
/// own.
std::string_view arrival_of(const BarrierArray& array, std::string_view role);

/// How far along the way of the data a barrier is, by who completes it: copies 0, MMAs that read what they bring 1,
/// warps that read what those make 2; -1: nobody is known.
int step_of(const BarrierArray& array);

/// A barrier of the ring says that a stage may be filled again: "input_empty"; of PTX, what its partner's data are
/// followed by.
bool is_empty_side(const Kernel& kernel, const BarrierArray& array);

/// The other array of a ring: "input_full" for "input_empty" and the reverse; of PTX, where names say nothing, the
/// only one with as many stages that the roles use the other way round; nullptr: it is no ring.
const BarrierArray* partner(const Kernel& kernel, const BarrierArray& array);

/// A warp's account of an array; an empty one if the array is another kernel's.
const Warp::Use& use_of(const Warp& warp, const BarrierArray& array);

}  // namespace sm100::sim
