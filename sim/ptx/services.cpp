// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/services.h"

#include <algorithm>

#include "sim/ptx/atomic_forms.h"
#include "sim/ptx/device_calls.h"
#include "sim/ptx/matrix_exchange.h"
#include "sim/ptx/wmma_accesses.h"

namespace sm100::sim {

const std::vector<PtxServiceEntry>& ptx_services() {
  static const std::vector<PtxServiceEntry> all = [] {
    std::vector<PtxServiceEntry> joined;
    for (const auto& list : {mbarrier_services(), copy_services(), tensor_map_services(), tcgen05_services(),
                             synchronisation_services(), lane_services(), atomic_services(), matrix_services(),
                             wgmma_services(), mma_sync_services(), wmma_services()})
      joined.insert(joined.end(), list.begin(), list.end());
    return joined;
  }();
  return all;
}

const PtxServiceEntry* ptx_service(std::string_view opcode) { return longest_match(ptx_services(), opcode); }

std::string ptx_missing(const ptx::Program& program, const ptx::Instr& instr) {
  switch (instr.kind) {
    case ptx::Kind::unsupported: return program.reasons[instr.detail];
    case ptx::Kind::call: return call_missing(program.calls[instr.detail]);
    case ptx::Kind::ret: return "a function that is run by itself";
    case ptx::Kind::service: {
      const PtxServiceEntry* entry = ptx_service(program.text(instr));
      if (!entry) return "no such instruction on the models";
      for (const std::string_view modifier : entry->refuses)
        if (program.services[instr.detail].modifiers.has(modifier))
          return std::string("the form with ") + std::string(modifier);
      if (entry->opcode == "mma")
        return lanes::mma_sync_of(program.services[instr.detail]) ? "" : lanes::kNoSuchMma;
      if (entry->opcode.starts_with("wmma."))
        return lanes::has_wmma(program.services[instr.detail]) ? "" : lanes::kNoSuchWmma;
      if (entry->opcode == "atom" || entry->opcode == "red")
        return atomic_form(program.services[instr.detail]).missing;
      return "";
    }
    case ptx::Kind::memory: {
      const ptx::Access& access = program.accesses[instr.detail];
      const int bytes = ptx::bytes(access.type) * access.vector;
      const bool ordered = access.order == ptx::Order::acquire || access.order == ptx::Order::release;
      if (ordered && access.space != ptx::Space::shared && bytes != 4)
        return "acquire and release of other than 32 bits";
      return "";
    }
    default: return "";
  }
}

}  // namespace sm100::sim
