// SPDX-License-Identifier: Apache-2.0
#include "sim/delay_text.h"

#include <fmt/format.h>

#include "sim/text.h"

namespace sm100::sim {

std::string delay_text(const models::Jitter::Replayed& replayed, const LaunchList& launches) {
  const models::JitterPoint& point = replayed.delay.point;
  const Kernel& kernel = launches.kernel_of_cta(point.cta);
  std::string text = fmt::format("+{} cycles: {} {} of ", grouped(int64_t(replayed.delay.cycles)),
                                 row(point.site).name, point.occurrence);
  if (point.warp >= 0) text += fmt::format("{} (warp {}) of ", kernel.role(point.warp), point.warp);
  text += launches.cta_name(point.cta);
  if (point.to >= 0) text += fmt::format(" to rank {}", point.to);
  if (const BarrierName barrier = barrier_name(kernel, replayed.barrier); replayed.barrier != 0 && barrier.array)
    text += fmt::format(" {} {}[{}]", point.site == models::JitterSite::wake_up ? "from" : "for",
                        barrier.array->name, barrier.stage);
  text += fmt::format(", at cycle {}", grouped(int64_t(replayed.time)));
  const std::string line = line_of(replayed.source.loc);
  return line.empty() ? text : text + "  " + line;
}

}  // namespace sm100::sim
