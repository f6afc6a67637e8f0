// SPDX-License-Identifier: Apache-2.0
/// What a resident CTA owns: its window of shared memory, its mbarriers and named barriers, its share of tensor
/// memory, its bulk groups, MMAs and commits, its requests for clusters.  The hardware that it shares with the
/// other CTAs of its SM is the Sm's.
///
/// A CTA runs in a slot.  Slots are numbered over the device, SM s has the slots [s * n, (s + 1) * n), and a slot
/// runs one CTA after the other; everything that reports names a CTA by its slot.
#pragma once

#include "models/clc.h"
#include "models/cta_barriers.h"
#include "models/mbarrier.h"
#include "models/occupancy.h"
#include "models/register_pool.h"
#include "models/shared_memory.h"
#include "models/sm.h"
#include "models/tensor_memory.h"
#include "models/tma.h"
#include "models/umma.h"
#include "models/wgmma.h"

namespace sm100::models {

class CtaContext {
 public:
  CtaContext(int slot, Sm& sm, Accumulation accumulation, MemorySystem& memory, const DeviceProfile& profile,
             Jitter& jitter, Observer& observer)
      : slot(slot),
        sm(sm),
        accumulation(accumulation),
        smem(sm.with_data),
        mbarrier(slot, smem, profile, jitter, observer),
        barriers(slot, profile, jitter, observer),
        registers(slot, profile, jitter, observer),
        tmem(slot, sm.tensor_memory, observer),
        tma(slot, sm, smem, mbarrier, memory, profile, jitter, observer),
        umma(slot, sm, accumulation, smem, tmem, mbarrier, profile, jitter, observer),
        wgmma(slot, sm, accumulation, smem, profile, jitter, observer),
        clc{.slot = slot} {}
  CtaContext(const CtaContext&) = delete;
  CtaContext& operator=(const CtaContext&) = delete;

  /// A new CTA of grid `launch` takes the slot; `takes.smem_bytes` of dynamic shared memory.
  /// @param cluster  a number that no other cluster of the run has
  void start(const CtaResources& takes, int launch = 0, int cluster = -1) {
    smem.start_cta(takes.smem_bytes, sm.with_data);
    registers.start_cta(takes.warps, takes.registers);
    mbarrier.start_cta();
    barriers.start_cta();
    tmem.start_cta();
    tma.start_cta(cluster);
    umma.start_cta();
    wgmma.start_cta(takes.warps);
    clc.launch = launch, clc.observed_failure = false;
  }

  const int slot;
  Sm& sm;
  const Accumulation accumulation;  ///< of mma.sync
  SharedMemory smem;
  Mbarrier mbarrier;
  CtaBarriers barriers;
  RegisterPool registers;
  TensorMemory tmem;
  Tma tma;
  Umma umma;
  Wgmma wgmma;
  ClcRequests clc;
};

}  // namespace sm100::models
