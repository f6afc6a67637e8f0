// SPDX-License-Identifier: Apache-2.0
/// One streaming multiprocessor: its asynchronous units and what a resident CTA owns.  One CTA at a time: the
/// kernels of this family allocate all of tensor memory, so a second could not run beside it.
#pragma once

#include <string>
#include <systemc>

#include "models/completion_queue.h"
#include "models/cta_barriers.h"
#include "models/mbarrier.h"
#include "models/shared_memory.h"
#include "models/tensor_memory.h"
#include "models/tma.h"
#include "models/umma.h"

namespace sm100::models {

class Sm : public sc_core::sc_module {
 public:
  Sm(sc_core::sc_module_name name, int id, bool with_data, Accumulation accumulation, MemorySystem& memory,
     const DeviceProfile& profile, Jitter& jitter, Observer& observer)
      : sc_module(name),
        id(id),
        with_data(with_data),
        mbarrier("mbarrier", id, smem, profile, jitter, observer),
        barriers(id, profile, jitter, observer),
        tmem(id, with_data, observer),
        tma("tma", id, with_data, smem, mbarrier, memory, profile, jitter, observer),
        cp_async("cp_async"),
        umma("umma", id, with_data, accumulation, smem, tmem, mbarrier, profile, jitter, observer) {}

  /// Gives the SM to a new CTA with `smem_bytes` of dynamic shared memory.
  /// @param cluster  a number that no other cluster of the run has
  void start_cta(uint32_t smem_bytes, int cluster = -1) {
    smem.start_cta(smem_bytes, with_data);
    mbarrier.start_cta();
    barriers.start_cta();
    tmem.start_cta();
    tma.start_cta(cluster);
    umma.start_cta();
  }

  const int id;
  const bool with_data;
  SharedMemory smem;
  Mbarrier mbarrier;
  CtaBarriers barriers;
  TensorMemory tmem;
  Tma tma;
  CompletionQueue cp_async;  ///< arrivals that follow threads' copies
  Umma umma;
};

}  // namespace sm100::models
