// SPDX-License-Identifier: Apache-2.0
/// Where the rows of a program lie: registers, special registers and what is written nowhere in the warp's own
/// area; immediates and addresses of symbols in the area of constants.
#pragma once

#include <map>
#include <unordered_map>

#include "ptx/program.h"

namespace sm100::ptx {

class RowLayout {
 public:
  RowLayout(const Module& module, const Entry& entry, Program& program);

  Row reg(uint32_t index) const { return registers_[index]; }
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
  void add_registers();
  void add_symbols();
  void lay_out_shared();
  void lay_out_frame(Space space, uint64_t& bytes);
  Row own(size_t bytes);
  Row constant(size_t bytes);

  const Module& module_;
  const Entry& entry_;
  Program& program_;
  std::vector<Row> registers_;
  Row sink1_, sink4_, sink8_, all_lanes_, no_lanes_;
  std::map<std::pair<uint64_t, int>, Row> immediates_;
  std::unordered_map<std::string_view, int32_t> named_symbols_;  // parameters and module scope
  int32_t first_variable_ = 0;                                   // of the body
};

}  // namespace sm100::ptx
