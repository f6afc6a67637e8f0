// SPDX-License-Identifier: Apache-2.0
/// Programmatic dependent launch (PTX 9.7.13.13).
#pragma once

#include "kernels/isa/sm100/target.cuh"

namespace sm100::device {

class DependentLaunch {
 public:
  /// Until the grids that this one depends on have completed and their writes are visible; at once if there are
  /// none.
  SM100_KERNEL void griddepcontrol_wait(Loc = Loc::current()) const {
    asm volatile("griddepcontrol.wait;" ::: "memory");
  }
  /// The grid that depends on this one may start once every CTA has said so or exited.  It orders no memory.
  SM100_KERNEL void griddepcontrol_launch_dependents(Loc = Loc::current()) const {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  }
};

}  // namespace sm100::device
