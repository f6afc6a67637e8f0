// SPDX-License-Identifier: Apache-2.0
#include "ptx/program.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace sm100::ptx {

std::string_view name(Kind kind) {
  constexpr std::array<std::string_view, 11> kNames = {"alu",  "special", "branch", "branch_index", "exit", "ret",
                                                       "call", "trap",    "memory", "service",      "nop"};
  const auto i = static_cast<size_t>(kind);
  return i < kNames.size() ? kNames[i] : "unsupported";
}

std::string Program::place(const Instr& in, bool chain) const {
  const std::string ptx = module->name + ":" + std::to_string(in.line);
  const std::string source = module->place(in.loc, chain);
  return source.empty() ? ptx : source + " (" + ptx + ")";
}

void Program::set_address(std::span<std::byte> area, const Symbol& s, uint64_t address) const {
  const auto fill = [&](const auto& rows, size_t width) {
    for (const auto& [row, addend] : rows) {
      const uint64_t value = address + static_cast<uint64_t>(addend);
      for (size_t lane = 0; lane < kLanes; ++lane)
        std::memcpy(area.data() + row.offset() + lane * width, &value, width);
    }
  };
  fill(s.rows32, 4);
  fill(s.rows64, 8);
}

const Symbol* Program::symbol(std::string_view symbol_name) const {
  for (const Symbol& s : symbols)
    if (s.name == symbol_name) return &s;
  return nullptr;
}

const Wait* Program::wait_of_poll(uint32_t index) const {
  for (const Wait& w : waits)
    if (w.poll == index) return &w;
  return nullptr;
}

std::string Program::register_name(Row row) const {
  if (row.area() != 0) return {};
  for (const Special& s : specials)
    if (s.row == row) return std::string(s.name);
  const auto found = std::lower_bound(register_rows.begin(), register_rows.end(), row.at,
                                      [](const auto& r, uint32_t at) { return r.first.at < at; });
  if (found == register_rows.end() || found->first != row) return {};
  const Register& r = entry->body.registers[found->second];
  return std::string(r.name) + (r.number < 0 ? "" : std::to_string(r.number));
}

std::vector<UnsupportedForm> unsupported(const Program& program) {
  std::vector<UnsupportedForm> forms;
  for (const Instr& in : program.code) {
    if (in.kind != Kind::unsupported) continue;
    const std::string& why = program.reasons[in.detail];
    const std::string_view text = program.text(in);
    const auto same = [&](const UnsupportedForm& f) { return f.opcode == text && f.why == why; };
    const auto known = std::find_if(forms.begin(), forms.end(), same);
    if (known != forms.end())
      ++known->count;
    else
      forms.push_back({std::string(text), why, in.line, in.loc, 1});
  }
  return forms;
}

}  // namespace sm100::ptx
