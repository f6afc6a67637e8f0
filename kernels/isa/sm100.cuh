// SPDX-License-Identifier: Apache-2.0
/// The Isa on the device: every function is the PTX instruction of its name (PTX ISA 9.0, CUDA 13.0).
///
/// One object per thread, all of a warp's together are "the warp" of isa.h.  It holds the warp index and the
/// recorder's state and nothing else; once role code is inlined, both live in registers.  Instructions are grouped
/// by subject in sm100/; a target that lacks one refuses only the call (sm100/target.cuh).
///
/// Recorders: NoRecorder below, DeviceRecorder in device_recorder.cuh.
#pragma once

#include "kernels/isa/isa.h"
#include "kernels/isa/sm100/atomics.cuh"
#include "kernels/isa/sm100/barriers.cuh"
#include "kernels/isa/sm100/bulk_copy.cuh"
#include "kernels/isa/sm100/clc.cuh"
#include "kernels/isa/sm100/cluster_memory.cuh"
#include "kernels/isa/sm100/cp_async.cuh"
#include "kernels/isa/sm100/dependent_launch.cuh"
#include "kernels/isa/sm100/global_memory.cuh"
#include "kernels/isa/sm100/lanes.cuh"
#include "kernels/isa/sm100/mbarrier.cuh"
#include "kernels/isa/sm100/mbarrier_state.cuh"
#include "kernels/isa/sm100/narrow_formats.cuh"
#include "kernels/isa/sm100/registers.cuh"
#include "kernels/isa/sm100/shared_memory.cuh"
#include "kernels/isa/sm100/tcgen05.cuh"
#include "kernels/isa/sm100/tensor_copy.cuh"
#include "kernels/isa/sm100/tensor_map.cuh"
#include "kernels/isa/sm90/wgmma.cuh"

namespace sm100 {

/// Trace points compile to nothing (tests/kernels/cuda compares the PTX).
struct NoRecorder {
  struct Params {};  ///< what the kernel's second parameter is
  SM100_KERNEL explicit NoRecorder(const Params&) {}
  NoRecorder() = default;
  SM100_KERNEL void begin(TraceEvent, const TraceArgs&) {}
  SM100_KERNEL void end() {}
};

template <class Recorder = NoRecorder>
class Sm100 : public device::Lanes,
              public device::NarrowFormats<>,
              public device::Mbarrier,
              public device::MbarrierState,
              public device::Barriers,
              public device::DependentLaunch,
              public device::Registers,
              public device::SharedMemory,
              public device::ClusterMemory,
              public device::GlobalMemory,
              public device::Atomics,
              public device::TensorCopy,
              public device::BulkCopy,
              public device::MaskedBulkCopy<>,
              public device::TensorMapEdits,
              public device::CpAsync,
              public device::Tcgen05<>,
              public device::ClusterLaunchControl<>,
              public device::Wgmma<> {
 public:
  // Overloads of one instruction for several address spaces and operands come from two subjects.
  using device::Mbarrier::mbarrier_arrive, device::MbarrierState::mbarrier_arrive;
  using device::Mbarrier::mbarrier_expect_tx, device::MbarrierState::mbarrier_expect_tx;
  using device::SharedMemory::ld_shared_b32, device::ClusterMemory::ld_shared_b32;
  using device::SharedMemory::ld_shared_v4, device::ClusterMemory::ld_shared_v4;
  using device::SharedMemory::st_shared_b32, device::ClusterMemory::st_shared_b32;
  using device::SharedMemory::st_shared_v2, device::ClusterMemory::st_shared_v2;
  using device::SharedMemory::st_shared_v4, device::ClusterMemory::st_shared_v4;
  using device::TensorCopy::cp_async_bulk_tensor_global_shared,
      device::BulkCopy::cp_async_bulk_tensor_global_shared;
  using device::TensorCopy::cp_async_bulk_tensor_shared_global,
      device::BulkCopy::cp_async_bulk_tensor_shared_global;
  using device::TensorCopy::cp_async_bulk_tensor_shared_global_multicast,
      device::BulkCopy::cp_async_bulk_tensor_shared_global_multicast;

  /// By all threads of the CTA, before anything else.
  SM100_KERNEL explicit Sm100(Recorder recorder = {}) : recorder_(recorder) {}

  SM100_KERNEL void trace_begin(TraceEvent event, const TraceArgs& args) { recorder_.begin(event, args); }
  SM100_KERNEL void trace_end() { recorder_.end(); }

 private:
  Recorder recorder_;
};

static_assert(Isa<Sm100<>>);

}  // namespace sm100
