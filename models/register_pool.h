// SPDX-License-Identifier: Apache-2.0
/// The registers of a CTA and who has them (setmaxnreg, PTX, Miscellaneous Instructions).
///
/// At launch every thread has as many as the kernel was compiled for.  setmaxnreg.dec gives a warp's surplus to the
/// CTA's pool, setmaxnreg.inc takes from it and waits until it has enough.  Registers of an SM that no CTA has are
/// not in it.
///
/// Seen on an H200 (bench/hardware/semantics_registers.cu): each of the four partitions has a pool of its own, from
/// which its warps w, w + 4, ... are served one by one; a warp that has exited gives nothing back. Detected: RG1
/// (the number is none that setmaxnreg takes, or the wrong direction), RG2 (warps of a warpgroup disagree). Not
/// looked at: whether the warps of a warpgroup meet before their next setmaxnreg.
#pragma once

#include <array>
#include <vector>

#include "models/jitter.h"
#include "models/mbarrier.h"
#include "models/observer.h"

namespace sm100::models {

class RegisterPool {
 public:
  RegisterPool(int slot, const DeviceProfile& profile, Jitter& jitter, Observer& observer)
      : slot_(slot), profile_(profile), jitter_(jitter), observer_(observer) {}

  /// @param registers  of a thread at launch; 0: not known, and every request is served
  void start_cta(int warps, int registers);

  /// setmaxnreg.dec by a warp: what it has above `registers` a thread goes to the pool.
  void decrease(int registers, const Source& source);
  /// setmaxnreg.inc by a warp: false when the pool has not enough; call again after `waiter` was woken.
  bool increase(int registers, Waiter& waiter, const Source& source);
  /// Says that the warp executes `setmaxnreg.dec` or `.inc` now; false after a violation.  Before the first of the
  /// calls above.
  bool check(bool increase, int registers, const Source& source);

  bool known() const { return launched_with_ > 0; }
  /// Of a thread, at launch.
  int launched_with() const { return launched_with_; }
  int warps() const { return int(warps_.size()); }
  /// Of a thread of a warp, in the pool that serves this one.
  int free(int warp) const { return pools_[size_t(warp) % pools_.size()]; }
  /// Of a thread of the warp, now.
  int held(int warp) const { return warps_[size_t(warp)].held; }
  /// What it waits for; 0: it does not.
  int wanted(int warp) const { return warps_[size_t(warp)].wanted; }

 private:
  struct Executed {
    bool increase;
    int registers;
  };
  struct OfWarp {
    int held = 0, wanted = 0;
    int executed = 0;  ///< setmaxnreg instructions so far
  };
  int& pool_of(int warp) { return pools_[size_t(warp) % pools_.size()]; }
  void wake(int partition, const Source& by);
  void violate(const char* id, std::string message, const Source& source);

  int slot_;
  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;
  int launched_with_ = 0;
  std::vector<OfWarp> warps_;
  std::array<int, 4> pools_{};                   ///< registers of a thread of one warp, by partition
  std::array<std::vector<Waiter*>, 4> waiting_;  ///< by partition
  std::vector<std::vector<Executed>> groups_;    ///< by warpgroup: what its first warp to come executed, in order
};

}  // namespace sm100::models
