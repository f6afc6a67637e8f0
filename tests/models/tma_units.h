// SPDX-License-Identifier: Apache-2.0
/// A copy engine with what it stands between: shared memory with a barrier, and global memory.
#pragma once

#include "models/fixture.h"
#include "models/tma.h"

namespace sm100::models {

struct TmaUnits {
  DeviceProfile profile = b200();
  Jitter jitter{std::nullopt, profile};
  RecordingObserver observer;
  SharedMemory smem;
  Mbarrier barrier{0, smem, profile, jitter, observer};
  MemorySystem memory{profile};
  Sm sm{sc_core::sc_gen_unique_name("sm"), 0, true};
  Tma tma{0, sm, smem, barrier, memory, profile, jitter, observer};
  GlobalAddr address;  ///< of the matrix
};

}  // namespace sm100::models
