// SPDX-License-Identifier: Apache-2.0
/// Where the rows of a program lie: registers, special registers and what is written nowhere in the warp's own
/// area; immediates and addresses of symbols in the area of constants.
#pragma once

#include <map>
#include <unordered_map>
#include <utility>

#include "ptx/program.h"

namespace sm100::ptx {

class RowLayout {
 public:
  RowLayout(const Module& module, const Entry& entry, Program& program);

  /// Names that a body sees: its registers and variables, and its parameters.
  struct Scope {
    std::vector<Row> registers;
    int32_t first_variable = 0;                                ///< Program::symbols
    std::unordered_map<std::string_view, int32_t> parameters;  ///< of a function: what its caller passes
  };
  /// Of a function.  All its calls share registers and variables: a lane is in one of them at a time.
  const Scope& scope_of(const Entry& function);
  /// What follows is a body with these names.  @return the names before
  Scope exchange(Scope scope) { return std::exchange(scope_, std::move(scope)); }

  Row reg(uint32_t index) const { return scope_.registers[index]; }
  Row sink(int width) const;                    ///< bytes for each lane; 1: a predicate
  Row all_lanes() const { return all_lanes_; }  ///< a predicate that is true
  Row no_lanes() const { return no_lanes_; }
  Row immediate(uint64_t bits, int width);
  Row special(std::string_view name, bool& changes, int& width);
  /// -1: there is none of that name.
  int32_t symbol(const Term& term) const;
  Row address(int32_t symbol, int64_t addend, int width);

  /// After the last instruction: lays out the symbols that are used.
  void finish();

 private:
  std::vector<Row> add_registers(const Entry& function);
  int32_t add_variables(const Entry& function);
  void add_symbols();
  void lay_out_shared();
  void lay_out_frame(Space space, uint64_t& bytes);
  Row own(size_t bytes, bool is_register = false);
  Row constant(size_t bytes);

  const Module& module_;
  const Entry& entry_;
  Program& program_;
  Scope scope_;
  std::map<const Entry*, Scope> functions_;
  Row sink1_, sink4_, sink8_, all_lanes_, no_lanes_;
  std::map<std::pair<uint64_t, int>, Row> immediates_;
  std::unordered_map<std::string_view, int32_t> module_symbols_;
};

}  // namespace sm100::ptx
