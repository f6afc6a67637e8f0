// SPDX-License-Identifier: Apache-2.0
/// Entry to Program.  Functions of the module are decoded where they are called, as if they were written there.
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

  /// A body that is being decoded.
  struct Frame {
    const Entry* function;
    const Frame* caller;               ///< nullptr: the entry
    std::vector<uint32_t> starts{};    ///< Program::code, by statement
    std::vector<uint32_t> branches{};  ///< Program::code: their targets are statements still
    std::vector<uint32_t> tables{};    ///< Program::indexed_branches: the same
    std::vector<uint32_t> returns{};   ///< Program::code: branches to the end
  };

  void body(Frame& frame);
  void statement(Frame& frame, const Statement& s, bool last);
  /// True: the function's body stands in place of the call.
  bool expand(const Frame& caller, const Statement& s);
  /// Why it does not.
  std::string bind(const Entry& function, const Call& call, RowLayout::Scope& scope) const;
  /// Arguments and results that are registers are copied.
  void copy_registers(const Statement& s, const Entry& function, const std::vector<Param>& params,
                      const std::vector<Operand>& operands, const RowLayout::Scope& scope, bool results);
  Instr jump(const Statement& s) const;

  const Opcode& opcode(std::string_view text);
  Instr instruction(const Statement& s);
  void decode_as(Instr& in, const Statement& s, const Opcode& op);
  void unsupported(Instr& in, std::string why);
  void branch(Instr& in, const Statement& s);
  void branch_index(Instr& in, const Statement& s);
  Call call_of(const Statement& s);
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
  const Body* body_;          ///< that is being decoded
  std::string not_expanded_;  ///< why the call at hand is not
  Program program_;
  RowLayout rows_;
  std::unordered_map<std::string_view, Opcode> opcodes_;
};

}  // namespace sm100::ptx
