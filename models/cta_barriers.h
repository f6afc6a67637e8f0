// SPDX-License-Identifier: Apache-2.0
/// The 16 named barriers of a CTA (bar.sync, bar.arrive, PTX 9.7.13.1).  Modelled: thread counts in whole warps,
/// arrive without wait, generations, votes (bar.red).  The cluster barrier is ClusterNet's.
#pragma once

#include <array>
#include <vector>

#include "models/mbarrier.h"

namespace sm100::models {

class CtaBarriers {
 public:
  /// Of the threads of a generation: for how many the predicate was true, and how many have said.
  struct Votes {
    uint32_t yes = 0, asked = 0;
  };
  struct Named {
    uint32_t expected = 0;  ///< threads of the open generation; 0: nobody has come yet
    uint32_t arrived = 0;
    uint32_t warps = 0;  ///< that have arrived, a bit each
    uint64_t generation = 0;
    uint32_t last_expected = 0, last_warps = 0;  ///< of the generation before
    std::vector<Waiter*> waiting;
    std::array<Votes, 2> votes{};  ///< of generations with even and with odd numbers: the open one, the one before
  };

  CtaBarriers(int slot, const DeviceProfile& profile, Jitter& jitter, Observer& observer)
      : slot_(slot), profile_(profile), jitter_(jitter), observer_(observer) {}

  void start_cta() { named_ = {}; }

  /// One warp arrives with its 32 threads.  `waiter` is suspended until the generation completes (bar.sync);
  /// nullptr does not wait (bar.arrive).  Returns true when the generation completed with this arrival.
  bool arrive(int id, uint32_t threads, Waiter* waiter, const Source& source);

  /// bar.red: a warp says so of its threads, then arrives.  @return the generation, for votes()
  uint64_t vote(int id, Votes threads);
  /// What its threads have said, of a generation that a warp has waited for.
  Votes votes(int id, uint64_t generation) const;

  const Named& named(int id) const { return named_[size_t(id)]; }

 private:
  void wake(std::vector<Waiter*>& waiting, const Source& by);

  int slot_;
  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;
  std::array<Named, 16> named_{};
};

}  // namespace sm100::models
