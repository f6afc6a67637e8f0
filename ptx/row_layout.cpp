// SPDX-License-Identifier: Apache-2.0
#include "ptx/row_layout.h"

#include <algorithm>
#include <cstring>

#include "ptx/special_registers.h"

namespace sm100::ptx {

namespace {

size_t row_bytes(Type type) {
  const int width = bits(type);
  return type == Type::pred ? sizeof(LaneMask) : width <= 32 ? 4 * kLanes : width == 64 ? 8 * kLanes : 16 * kLanes;
}

uint64_t aligned(uint64_t x, uint64_t align) { return align ? (x + align - 1) / align * align : x; }

}  // namespace

RowLayout::RowLayout(const Module& module, const Entry& entry, Program& program)
    : module_(module), entry_(entry), program_(program) {
  all_lanes_ = constant(sizeof(LaneMask));
  no_lanes_ = constant(sizeof(LaneMask));
  std::memset(program_.constants.data(), 0xff, sizeof(LaneMask));
  sink1_ = own(sizeof(LaneMask));
  sink4_ = own(4 * kLanes);
  sink8_ = own(16 * kLanes);  // of a .b128, too
  scope_.registers = add_registers(entry_);
  add_symbols();
}

Row RowLayout::own(size_t size, bool is_register) {
  const size_t align = size == sizeof(LaneMask) ? sizeof(LaneMask) : 64;
  const size_t at = aligned(program_.register_bytes, align);
  program_.register_bytes = at + size;
  program_.own_rows.push_back({{static_cast<uint32_t>(at)}, static_cast<uint32_t>(size), is_register});
  return {static_cast<uint32_t>(at)};
}

Row RowLayout::constant(size_t size) {
  const size_t align = size == sizeof(LaneMask) ? sizeof(LaneMask) : 64;
  const size_t at = aligned(program_.constants.size(), align);
  program_.constants.resize(at + size);
  return {static_cast<uint32_t>(at) | Row::kShared};
}

/// Predicates first, then by width: small rows lie together.
std::vector<Row> RowLayout::add_registers(const Entry& function) {
  const auto& list = function.body.registers;
  std::vector<Row> rows(list.size());
  for (const size_t size : {sizeof(LaneMask), size_t{4 * kLanes}, size_t{8 * kLanes}, size_t{16 * kLanes}})
    for (size_t i = 0; i < list.size(); ++i)
      if (row_bytes(list[i].type) == size) {
        rows[i] = own(size, true);
        if (&function == &entry_) program_.register_rows.emplace_back(rows[i], static_cast<uint32_t>(i));
      }
  return rows;
}

const RowLayout::Scope& RowLayout::scope_of(const Entry& function) {
  const auto [found, fresh] = functions_.try_emplace(&function);
  if (fresh) found->second = {add_registers(function), add_variables(function), {}};
  return found->second;
}

Row RowLayout::sink(int width) const { return width == 1 ? sink1_ : width == 4 ? sink4_ : sink8_; }

Row RowLayout::immediate(uint64_t value, int width) {
  const auto [found, fresh] = immediates_.try_emplace({value, width});
  if (!fresh) return found->second;
  const Row row = found->second = constant(static_cast<size_t>(width) * kLanes);
  for (int lane = 0; lane < kLanes; ++lane)
    std::memcpy(program_.constants.data() + row.offset() + static_cast<size_t>(lane * width), &value,
                static_cast<size_t>(std::min(width, 8)));
  return row;
}

Row RowLayout::special(std::string_view name, bool& changes, int& width) {
  const SpecialRegister* known = find_special_register(name);
  changes = known && known->changes;
  width = known ? known->width : 4;
  for (const Special& s : program_.specials)
    if (s.name == name) return s.row;
  Special s;
  s.name = name;
  s.width = static_cast<uint8_t>(width);
  s.changes = changes;
  s.row = own(width == 1 ? sizeof(LaneMask) : static_cast<size_t>(width) * kLanes);
  program_.specials.push_back(s);
  return s.row;
}

namespace {

Symbol symbol_of(const Variable& v) {
  return {.name = v.name,
          .space = v.space,
          .bytes = v.bytes,
          .align = v.align,
          .dynamic = v.space == Space::shared && v.external};
}

}  // namespace

int32_t RowLayout::add_variables(const Entry& function) {
  const auto first = static_cast<int32_t>(program_.symbols.size());
  for (const Variable& v : function.body.variables) program_.symbols.push_back(symbol_of(v));
  return first;
}

void RowLayout::add_symbols() {
  const auto add = [&](Symbol symbol, auto& names) {
    names.emplace(symbol.name, static_cast<int32_t>(program_.symbols.size()));
    program_.symbols.push_back(std::move(symbol));
  };
  for (const Param& p : entry_.params)
    add({.name = p.name, .space = Space::param, .offset = p.offset, .bytes = p.bytes, .align = p.align},
        scope_.parameters);
  scope_.first_variable = add_variables(entry_);
  for (size_t i = 0; i < module_.variables.size(); ++i) {
    Symbol s = symbol_of(module_.variables[i]);
    s.variable = static_cast<int32_t>(i);
    add(std::move(s), module_symbols_);
  }
}

int32_t RowLayout::symbol(const Term& term) const {
  if (term.index != 0xffffffffu) return scope_.first_variable + static_cast<int32_t>(term.index);
  for (const auto* names : {&scope_.parameters, &module_symbols_})
    if (const auto found = names->find(term.name); found != names->end()) return found->second;
  return -1;
}

Row RowLayout::address(int32_t index, int64_t addend, int width) {
  Symbol& s = program_.symbols[static_cast<size_t>(index)];
  s.used = true;
  auto& rows = width == 4 ? s.rows32 : s.rows64;
  for (const auto& [row, known] : rows)
    if (known == addend) return row;
  rows.emplace_back(constant(static_cast<size_t>(width) * kLanes), addend);
  return rows.back().first;
}

void RowLayout::lay_out_shared() {
  uint64_t end = 0;
  for (Symbol& s : program_.symbols) {
    if (s.space != Space::shared || !s.used || s.dynamic) continue;
    s.offset = end = aligned(end, s.align);
    end += s.bytes;
    program_.shared_align = std::max(program_.shared_align, s.align);
  }
  program_.static_shared_bytes = end;
  for (size_t i = 0; i < program_.symbols.size(); ++i) {
    const Symbol& s = program_.symbols[i];
    if (!s.dynamic || !s.used) continue;
    if (program_.dynamic_shared < 0) program_.dynamic_shared = static_cast<int32_t>(i);
    program_.dynamic_shared_align = std::max(program_.dynamic_shared_align, s.align);
  }
  for (Symbol& s : program_.symbols)
    if (s.dynamic) s.offset = aligned(end, program_.dynamic_shared_align);
}

void RowLayout::lay_out_frame(Space space, uint64_t& size) {
  for (Symbol& s : program_.symbols) {
    if (s.space != space) continue;
    s.offset = size = aligned(size, s.align);
    size += s.bytes;
  }
}

void RowLayout::finish() {
  lay_out_shared();
  lay_out_frame(Space::local, program_.local_bytes);
  lay_out_frame(Space::call_param, program_.call_param_bytes);
  program_.param_bytes = entry_.param_bytes;
  for (const Symbol& s : program_.symbols) program_.set_address(program_.constants, s, s.offset);
}

}  // namespace sm100::ptx
