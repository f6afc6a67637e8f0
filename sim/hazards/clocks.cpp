#include "sim/hazards/clocks.h"

namespace sm100::sim {

// SSE2, which x86-64 guarantees, has no maximum of unsigned words.
#if defined(__x86_64__) && defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
__attribute__((target_clones("avx2", "default")))
#endif
void VectorClock::take_later(Clock* to, const Clock* from, size_t count) {
  for (size_t i = 0; i < count; ++i) to[i] = to[i] < from[i] ? from[i] : to[i];
}

}  // namespace sm100::sim
