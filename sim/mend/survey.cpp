// SPDX-License-Identifier: Apache-2.0
#include "sim/mend/survey.h"

#include <numeric>

#include "sim/compiled_place.h"
#include "sim/cta.h"
#include "sim/text.h"
#include "sim/warp.h"

namespace sm100::sim {

InstructionSurvey* InstructionSurvey::active_ = nullptr;

InstructionSurvey::InstructionSurvey() { active_ = this; }
InstructionSurvey::~InstructionSurvey() { active_ = nullptr; }

void SeenOperand::add(int64_t value) {
  if (values.empty()) first = value;
  step = std::gcd(step, value - first);
  if (values.size() < kValuesKept) values.insert(value);
}

InstructionSite& InstructionSurvey::site(const Warp& warp, std::string_view function, uint32_t lanes,
                                         const Selection& by) {
  const std::string& role = warp.cta.kernel().role(warp.index);
  const BarrierName name =
      by.has_barrier && !is_compiled(by.loc) ? barrier_name(warp.cta.kernel(), by.barrier) : BarrierName{};
  const std::string_view barrier = name.array ? std::string_view(name.array->name) : std::string_view();
  const Loc& loc = by.loc;
  const auto [at, is_new] =
      index_.try_emplace(Key{function, role, barrier, loc.file_name(), loc.line(), loc.column()}, sites_.size());
  if (is_new)
    sites_.push_back({.function = std::string(function),
                      .role = role,
                      .barrier = std::string(barrier),
                      .source = line_of(loc),
                      .ptx_line = place_of(loc).ptx.line,
                      .executed = 0,
                      .lanes = std::popcount(lanes),
                      .operands = {}});
  InstructionSite& s = sites_[at->second];
  ++s.executed;
  return s;
}

SeenOperand& InstructionSurvey::operand(InstructionSite& site, size_t index, std::string_view name) {
  if (index == site.operands.size()) site.operands.push_back({.name = std::string(name)});
  return site.operands[index];
}

std::vector<InstructionSite> InstructionSurvey::sites() const { return sites_; }

}  // namespace sm100::sim
