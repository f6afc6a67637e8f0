// SPDX-License-Identifier: Apache-2.0
/// Entry to Program.
#pragma once

#include <optional>
#include <unordered_map>

#include "ptx/alu.h"
#include "ptx/row_layout.h"

namespace sm100::ptx {

class Decoder {
 public:
  Decoder(const Module& module, const Entry& entry);
  Program run();

 private:
  struct Opcode {
    uint32_t text = 0;
    std::string_view base;  ///< "ld"
    const AluForm* form = nullptr;
    std::string_view stem;  ///< of a service
  };

  const Opcode& opcode(std::string_view text);
  Instr instruction(const Statement& s);
  void decode_as(Instr& in, const Statement& s, const Opcode& op);
  void unsupported(Instr& in, std::string why);
  void branch(Instr& in, const Statement& s);
  void branch_index(Instr& in, const Statement& s);
  void call(Instr& in, const Statement& s);
  void access(Instr& in, const Statement& s, const Opcode& op);
  void service(Instr& in, const Statement& s, const Opcode& op);

  void alu(Instr& in, const AluForm& form, std::span<const Term> terms);
  void alu_of_vectors(Instr& in, const Statement& s, const Opcode& op);
  void alu_of_three(Instr& in, const Statement& s);
  /// Row of an ALU operand; a reason why it cannot be one.
  std::optional<std::string> alu_operand(Instr& in, size_t i, const Term& term, const AluOperand& expected);

  Operand operand(const Term& term);
  std::vector<Operand> operands(std::span<const Term> terms);
  Operand address(const Term& term);
  Operand symbol_operand(const Term& term, int64_t addend);

  const Module& module_;
  const Entry& entry_;
  const Body& body_;
  Program program_;
  RowLayout rows_;
  std::unordered_map<std::string_view, Opcode> opcodes_;
};

}  // namespace sm100::ptx
