// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/known_service.h"

#include <algorithm>
#include <string>

#include "kernels/isa/instructions/catalogue.h"
#include "ptx/opcode.h"

namespace sm100::sim::cli {

namespace {

/// What PTX takes for granted where nothing is said, and .shared where it says .shared::cta.
bool has(const ptx::Modifiers& modifiers, std::string_view needed) {
  const bool implied = needed == ".release" || needed == ".acquire" || needed == ".relaxed";
  return implied || modifiers.has(needed) || (needed == ".shared::cta" && modifiers.has(".shared"));
}

/// The opcode with all that it needs stands in the text, its modifiers in any order.
bool covers(std::string_view opcode, const ptx::Service& service) {
  const std::string_view stem = ptx::service_stem(opcode);
  if (stem.empty() || stem != service.base) return false;
  const ptx::Modifiers needed = ptx::modifiers_behind(opcode, stem.size());
  return std::all_of(needed.list.begin(), needed.list.end(),
                     [&](std::string_view m) { return has(service.modifiers, m); });
}

/// Lines that are opcodes: "tcgen05.mma.ws", "cp.async.bulk.tensor....im2col".  Others say in words what is
/// missing.
bool rejects(const instructions::SupportLine& line, const ptx::Service& service) {
  if (line.support != instructions::Support::rejected || line.instruction.find(' ') != std::string_view::npos)
    return false;
  std::string opcode(line.instruction);
  if (const size_t dots = opcode.find("...."); dots != std::string::npos) opcode.erase(dots, 3);
  return covers(opcode, service);
}

}  // namespace

bool is_known_service(const ptx::Service& service) {
  const std::vector<instructions::SupportLine> lines = instructions::support_lines();
  if (std::any_of(lines.begin(), lines.end(), [&](const auto& line) { return rejects(line, service); }))
    return false;
  bool known = false;
  instructions::for_each_instruction(
      [&](auto type) { known = known || covers(decltype(type)::type::kIs.opcode, service); });
  return known;
}

}  // namespace sm100::sim::cli
