// SPDX-License-Identifier: Apache-2.0
/// Runs straight-line PTX of one warp: ALU instructions under their guards, and nothing else.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "ptx/alu.h"

namespace sm100::ptx {

class ScalarMachine {
 public:
  /// `body`: what stands between the braces of an entry.
  explicit ScalarMachine(const std::string& body)
      : module_(parse(".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k()\n{\n" + body + "\n}\n",
                      "test.ptx")),
        program_(decode(module_, module_.entries[0])),
        file_(program_.register_bytes, program_.constants, windows()) {
    for (const UnsupportedForm& form : unsupported(program_))
      throw std::runtime_error(form.opcode + ": " + form.why);
  }

  void run(LaneMask active = kAllLanes) {
    for (const Instr& in : program_.code)
      if (in.kind == Kind::alu) in.alu(file_, in, active & in.guard_of(file_));
  }

  const Program& program() const { return program_; }
  RegisterFile& file() { return file_; }

  /// A register, found by its name once.
  struct Place {
    Row row;
    Type type;
  };
  Place find(const std::string& name) const {
    for (const auto& [row, index] : program_.register_rows)
      if (program_.register_name(row) == name) return {row, module_.entries[0].body.registers[index].type};
    throw std::runtime_error("no register " + name);
  }

  /// Into every lane.
  void set(Place place, uint64_t value) {
    if (place.type == Type::pred) return file_.set_predicate(place.row, value & 1 ? kAllLanes : 0, kAllLanes);
    for (int lane = 0; lane < kLanes; ++lane) set_lane(place, lane, value);
  }
  void set(const std::string& name, uint64_t value) { set(find(name), value); }
  void set_lane(const std::string& name, int lane, uint64_t value) { set_lane(find(name), lane, value); }
  uint64_t get(Place place, int lane = 0) const {
    if (place.type == Type::pred) return file_.predicate(place.row) >> lane & 1;
    const int width = bits(place.type);
    if (width > 32) return file_.read<uint64_t>(place.row)[lane];
    return file_.read<uint32_t>(place.row)[lane] & (width < 32 ? (1u << width) - 1 : 0xffffffffu);
  }
  uint64_t get(const std::string& name, int lane = 0) const { return get(find(name), lane); }
  uint64_t get_high(const std::string& name, int lane = 0) const {
    return file_.read<uint64_t>(find(name).row.next_half())[lane];
  }

  static Windows windows() {
    return {.shared = {0x1000000, 0x1000000},
            .shared_cta = {0x1400000, 0x40000},
            .local = {0x3000000, 0x10000},
            .param = {0x4000000, 0x1000},
            .constant = {0x5000000, 0x10000}};
  }

 private:
  void set_lane(Place place, int lane, uint64_t value) {
    if (place.type == Type::pred) return file_.set_predicate(place.row, value & 1 ? kAllLanes : 0, 1u << lane);
    if (bits(place.type) <= 32)
      file_.write<uint32_t>(place.row)[lane] = static_cast<uint32_t>(value);
    else
      file_.write<uint64_t>(place.row)[lane] = value;
  }

  Module module_;
  Program program_;
  RegisterFile file_;
};

/// One instruction as a function of its sources.  Its registers have the widths that the table of forms names.
class Form {
 public:
  explicit Form(const std::string& opcode, const std::string& key = {})
      : machine_(text_of(opcode, key.empty() ? opcode : key)) {
    const AluForm& form = *find_alu_form(key.empty() ? opcode : key);
    for (size_t i = 0; i < form.operands.size(); ++i)
      (form.operands[i].written ? written_ : read_).push_back(machine_.find(register_of(form, i)));
  }

  /// The first result, computed in all lanes at once and in one lane alone, which must agree.
  template <class... S>
  uint64_t operator()(S... sources) {
    const uint64_t values[] = {static_cast<uint64_t>(sources)...};
    for (size_t i = 0; i < sizeof...(S); ++i) machine_.set(read_.at(i), values[i]);
    machine_.run();
    const uint64_t all = machine_.get(written_[0], 0);
    machine_.set(written_[0], ~all);
    machine_.run(1u << 5);
    if (machine_.get(written_[0], 5) != all) throw std::runtime_error("one lane alone computes something else");
    if (machine_.get(written_[0], 6) == all) throw std::runtime_error("a lane outside of the mask was written");
    return all;
  }
  uint64_t second() const { return machine_.get(written_.at(1), 5); }
  size_t sources() const { return read_.size(); }
  ScalarMachine& machine() { return machine_; }

 private:
  static std::string register_of(const AluForm& form, size_t i) {
    const Type type = form.operands[i].type;
    const int width = bits(type);
    const char* stem = type == Type::pred ? "%p"
                       : width == 8       ? "%c"
                       : width == 16      ? "%h"
                       : width == 32      ? "%r"
                       : width == 64      ? "%d"
                                          : "%q";
    return stem + std::to_string(i);
  }
  static std::string text_of(const std::string& opcode, const std::string& key) {
    const AluForm* form = find_alu_form(key);
    if (!form) throw std::runtime_error("no form " + key);
    std::string text =
        ".reg .pred %p<8>; .reg .b8 %c<8>; .reg .b16 %h<8>; .reg .b32 %r<8>; .reg .b64 %d<8>; .reg .b128 %q<8>;\n" +
        opcode;
    for (size_t i = 0; i < form->operands.size(); ++i) {
      const bool second = i == 1 && form->operands[1].written;
      text += (i == 0 ? " " : second ? "|" : ", ") + register_of(*form, i);
    }
    return text + ";";
  }

  ScalarMachine machine_;
  std::vector<ScalarMachine::Place> written_, read_;
};

}  // namespace sm100::ptx
