// SPDX-License-Identifier: Apache-2.0
/// What ptx/ makes of a case, and a number that stands for the results of a form.
#pragma once

#include <stdexcept>

#include "bench/hardware/ptx_forms/cases.h"
#include "ptx/program.h"

namespace sm100::ptx_forms {

inline std::string register_of(Type type, size_t i) {
  const int width = bits(type);
  return (type == Type::pred ? "%p"
          : width == 8       ? "%c"
          : width == 16      ? "%h"
          : width == 32      ? "%r"
                             : "%d") +
         std::to_string(i);
}

inline std::string instruction(const Case& c) {
  std::vector<std::string> written, read;
  for (size_t i = 0; i < c.form->operands.size(); ++i)
    (c.form->operands[i].written ? written : read).push_back(register_of(c.form->operands[i].type, i));
  if (c.form->name.starts_with("lop3")) read[3] = "0x96";
  const auto join = [](const std::vector<std::string>& list, const char* between) {
    std::string text;
    for (const std::string& item : list) text += (text.empty() ? "" : between) + item;
    return text;
  };
  const bool packs = c.form->name.starts_with("mov.pack"), unpacks = c.form->name.starts_with("mov.unpack");
  // setp of a half has one result in PTX.
  const Type type = c.form->operands.back().type == Type::pred && read.size() == 3 ? c.form->operands[2].type
                                                                                   : c.form->operands.back().type;
  if (c.form->name.starts_with("setp") && (type == Type::f16 || type == Type::bf16)) written.resize(1);
  const std::string results = unpacks ? "{" + join(written, ", ") + "}" : join(written, "|");
  return c.opcode + " " + results + ", " + (packs ? "{" + join(read, ", ") + "}" : join(read, ", ")) + ";";
}

/// What ptx/ makes of a form: the results of each thread.
inline std::vector<std::vector<uint64_t>> computed(const Case& c) {
  std::ostringstream text;
  text << ".version 9.0\n.target sm_100a\n.address_size 64\n.entry k() {\n.reg .pred %p<9>; .reg .b8 %c<9>; .reg "
          ".b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
       << instruction(c) << "\n}\n";
  const Module module = parse(text.str(), c.form->name);
  const Program program = decode(module, module.entries[0]);
  const Instr& in = program.code[0];
  if (in.kind != Kind::alu) throw std::runtime_error(c.form->name + ": " + program.reasons[in.detail]);
  std::vector<std::vector<uint64_t>> results(kThreads);
  for (int first = 0; first < kThreads; first += kLanes) {
    RegisterFile file(program.register_bytes, program.constants, {});
    const auto& operands = c.form->operands;
    size_t at = 0;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].written) continue;
      for (int lane = 0; lane < kLanes; ++lane) {
        const uint64_t value = c.rows[static_cast<size_t>(first + lane)][at];
        if (in.rows[i].area() != 0) continue;
        if (operands[i].type == Type::pred)
          file.set_predicate(in.rows[i], value ? kAllLanes : 0, 1u << lane);
        else if (bits(operands[i].type) == 64)
          file.write<uint64_t>(in.rows[i])[lane] = value;
        else
          file.write<uint32_t>(in.rows[i])[lane] = static_cast<uint32_t>(value);
      }
      ++at;
    }
    in.alu(file, in, kAllLanes);
    const bool one_result = instruction(c).find('|') == std::string::npos && c.form->name.starts_with("setp");
    for (size_t i = 0; i < operands.size(); ++i) {
      if (!operands[i].written) continue;
      for (int lane = 0; lane < kLanes; ++lane) {
        const int width = bits(operands[i].type);
        uint64_t value = operands[i].type == Type::pred ? file.predicate(in.rows[i]) >> lane & 1
                         : width == 64                  ? file.read<uint64_t>(in.rows[i])[lane]
                                                        : file.read<uint32_t>(in.rows[i])[lane];
        if (width < 64) value &= (uint64_t{1} << width) - 1;
        results[static_cast<size_t>(first + lane)].push_back(one_result && i == 1 ? 0 : value);
      }
    }
  }
  return results;
}

/// FNV-1a of the results of all threads.
inline uint64_t hash_of(const std::vector<std::vector<uint64_t>>& results) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const auto& row : results)
    for (const uint64_t value : row)
      for (int byte = 0; byte < 8; ++byte) hash = (hash ^ (value >> 8 * byte & 0xff)) * 0x100000001b3;
  return hash;
}

}  // namespace sm100::ptx_forms
