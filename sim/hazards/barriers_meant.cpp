// SPDX-License-Identifier: Apache-2.0
#include "sim/hazards/barriers_meant.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/hang/debts.h"
#include "sim/ptx/ptx_uses.h"

namespace sm100::sim {

namespace {

bool text_has(const PtxUses* uses, const BarrierArray& array, int warp, bool commits) {
  return uses && std::any_of(uses->all.begin(), uses->all.end(), [&](const PtxUse& use) {
           return (use.warps >> warp & 1) && names_barrier(use.use, array) &&
                  (commits ? use.use.does == ptx::BarrierUse::Does::commit : use.use.waits());
         });
}

}  // namespace

std::string barrier_text(const Kernel& kernel, uint32_t offset) {
  const BarrierName name = barrier_name(kernel, offset);
  return name.array ? fmt::format("{}[{}]", name.array->name, name.stage) : "";
}

std::string release_text(const Kernel& kernel, uint32_t full_offset) {
  const BarrierName full = barrier_name(kernel, full_offset);
  if (!full.array) return "";
  if (const std::string_view name = full.array->name; name.ends_with("_full"))
    return fmt::format("{}_empty[{}]", name.substr(0, name.size() - 5), full.stage);
  const BarrierArray* back = ptx_uses_of(kernel) ? partner(kernel, *full.array) : nullptr;
  return back ? fmt::format("{}[{}]", back->name, full.stage) : "";
}

const BarrierArray* commit_array(const Kernel& kernel, int issuer, int reader, const Warp* waits) {
  const PtxUses* uses = ptx_uses_of(kernel);
  std::vector<const BarrierArray*> meant;
  for (const BarrierArray& array : kernel.barriers) {
    const bool commits =
        (lists(array.arrives_with, "tcgen05.commit") && lists(array.arrives, kernel.role(issuer))) ||
        text_has(uses, array, issuer, true);
    if (commits && (lists(array.waits, kernel.role(reader)) || text_has(uses, array, reader, false)))
      meant.push_back(&array);
  }
  if (meant.size() > 1 && waits)
    std::erase_if(meant, [&](const BarrierArray* array) { return use_of(*waits, *array).fresh.on == 0; });
  return meant.size() == 1 ? meant.front() : nullptr;
}

}  // namespace sm100::sim
