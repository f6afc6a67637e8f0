// SPDX-License-Identifier: Apache-2.0
/// Which of a warp's own rows an instruction reads and writes.
#pragma once

#include "ptx/program.h"

namespace sm100::ptx {

enum class RowUse : uint8_t {
  reads,
  writes,     ///< in every lane that executes it
  may_write,  ///< a service that is not known to have a result: its first operand may be one
};

/// The first operand of such a service is what it writes (PTX 9.7); one register, several, or a register and a
/// predicate.
bool has_result(std::string_view service_base);

namespace row_uses {

template <class F>
void of_row(Row row, RowUse use, F& f) {
  if (row.area() == 0 && row.at != 0) f(row, use);
}

/// @param use  of the operand's registers; the base of an address is read
template <class F>
void of_operand(const Operand& o, RowUse use, F& f) {
  switch (o.kind) {
    case Operand::Kind::reg:
    case Operand::Kind::predicate: of_row(o.row, use, f); break;
    case Operand::Kind::address: of_row(o.row, RowUse::reads, f); break;
    default: break;
  }
  for (const Operand& element : o.elements)
    of_operand(element, o.kind == Operand::Kind::address ? RowUse::reads : use, f);
}

}  // namespace row_uses

/// f(row, use) for each of them, reads and writes in any order; a row may come several times.  Not for constants
/// and what is written nowhere.
template <class F>
void for_each_row(const Program& program, const Instr& in, F&& f) {
  using namespace row_uses;
  of_row(in.guard, RowUse::reads, f);
  switch (in.kind) {
    case Kind::alu:
    case Kind::special:
      for (size_t r = 0; r < in.rows.size(); ++r)
        of_row(in.rows[r], in.written >> r & 1 ? RowUse::writes : RowUse::reads, f);
      return;
    case Kind::memory: {
      const auto& access = program.accesses[in.detail];
      of_operand(access.address, RowUse::reads, f);
      of_operand(access.policy, RowUse::reads, f);
      for (const Operand& o : access.data) of_operand(o, access.store ? RowUse::reads : RowUse::writes, f);
      return;
    }
    case Kind::service: {
      const auto& service = program.services[in.detail];
      for (size_t i = 0; i < service.operands.size(); ++i) {
        const bool result = i == 0 && has_result(service.base);
        of_operand(service.operands[i], result ? RowUse::writes : RowUse::reads, f);
        if (i == 0 && !result) of_operand(service.operands[i], RowUse::may_write, f);
      }
      return;
    }
    case Kind::call: {
      const auto& call = program.calls[in.detail];
      of_operand(call.pointer, RowUse::reads, f);
      for (const Operand& o : call.arguments) of_operand(o, RowUse::reads, f);
      for (const Operand& o : call.results) of_operand(o, RowUse::writes, f);
      return;
    }
    case Kind::branch_index: return of_operand(program.indexed_branches[in.detail].index, RowUse::reads, f);
    default: return;
  }
}

}  // namespace sm100::ptx
