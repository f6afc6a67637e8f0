// SPDX-License-Identifier: Apache-2.0
/// The paths into and out of the shared memory of one SM, shared by its CTAs: a data port for the accesses of its
/// warps, one behind the other, which TMA uses, too, and of which the operands of wgmma, read first, leave a part.
/// Measured on an H200: bench/hardware/instruction_costs.cu, recorder_costs.cu (docs/accuracy-h200.md, sections 2
/// and 3).
#pragma once

#include <deque>

namespace sm100::models {

class SharedMemoryPort {
 public:
  /// What has become of an access: it was served from cycle `begin` until `end`, but for so many cycles' work that
  /// are left and must be asked for again at `end`: nobody knows yet which operands are read then.
  struct Passage {
    double begin, end, left;
  };
  /// Takes the port for `wavefronts` cycles, from cycle `at` or when it is free.  While operands are read that go
  /// first, the warps get what they leave; TMA and the warps take turns.
  Passage pass(double at, double wavefronts);
  /// The same for an access of one lane, which finds its way sooner: TMA does not keep it waiting, and it gets this
  /// part of the port on top of what operands leave.
  Passage pass_one_lane(double at, double cycles, double part);
  /// TMA wants the port for so many cycles from cycle `at` on.
  void keep(double at, double cycles);
  /// A tensor core reads operands from cycle `begin` until `end`, which go first, and leaves the warps this part of
  /// the port, more than 0.  None begins before the one before it ends.
  void operands_read(double begin, double end, double leave) { operands_.push_back({begin, end, leave}); }

  /// TMA fills shared memory until this cycle, as far as it knows.
  void filled_until(double cycle) { fill_end_ = cycle; }
  double fill_end() const { return fill_end_; }

 private:
  /// Nobody but TMA has used the port until then.
  void idle_until(double at);
  Passage serve(double at, double cycles, double part);

  struct Reads {
    double begin, end, leave;
  };
  double free_ = 0, fill_end_ = 0;
  double kept_ = 0;             ///< cycles that TMA still wants
  std::deque<Reads> operands_;  ///< that are not known to be over
};

}  // namespace sm100::models
