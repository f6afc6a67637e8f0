// SPDX-License-Identifier: Apache-2.0
#include "ptx/scopes.h"

#include <charconv>

namespace sm100::ptx {

namespace {

constexpr uint32_t kOpen = 0xffffffffu;
constexpr size_t kMaxScopes = 256;
constexpr uint64_t kMaxRegisters = 1u << 22;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "%r12" is number 12 of the stem "%r"; "%r012" is nobody's.
bool split_number(std::string_view name, std::string_view& stem, uint32_t& number) {
  size_t digits = name.size();
  while (digits > 0 && is_digit(name[digits - 1])) --digits;
  if (digits == name.size() || digits == 0) return false;
  const std::string_view text = name.substr(digits);
  if (text.size() > 1 && text[0] == '0') return false;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) return false;
  stem = name.substr(0, digits);
  return true;
}

}  // namespace

void Scopes::open() { scopes_.emplace_back(); }

void Scopes::close() {
  Scope& inner = scopes_.back();
  std::vector<uint32_t> rest;
  for (const uint32_t r : inner.open_references)
    if (!settle(inner, references_[r])) rest.push_back(r);
  scopes_.pop_back();
  if (scopes_.empty()) scopes_.emplace_back();
  auto& outer = scopes_.back().open_references;
  outer.insert(outer.end(), rest.begin(), rest.end());
}

bool Scopes::settle(const Scope& scope, Reference& reference) const {
  const auto& names = reference.table ? scope.tables : scope.labels;
  const auto found = names.find(reference.name);
  if (found == names.end()) return false;
  reference.found = found->second;
  return true;
}

void Scopes::reserve(const Cursor& at, uint64_t count) const {
  if (scopes_.size() > kMaxScopes) at.fail("blocks are nested too deeply");
  if (body_.registers.size() + count > kMaxRegisters)
    at.fail("more than " + std::to_string(kMaxRegisters) + " registers in one function");
}

void Scopes::add_register(const Cursor& at, std::string_view name, Type type) {
  reserve(at, 1);
  const auto index = static_cast<uint32_t>(body_.registers.size());
  if (!scopes_.back().names.try_emplace(name, Found{Found::Kind::reg, index}).second)
    at.fail("'" + std::string(name) + "' is declared twice in this block");
  body_.registers.push_back({name, -1, type, at.line()});
}

void Scopes::add_registers(const Cursor& at, std::string_view stem, uint32_t count, Type type) {
  reserve(at, count);
  const auto first = static_cast<uint32_t>(body_.registers.size());
  if (!scopes_.back().ranges.try_emplace(stem, Range{first, count}).second)
    at.fail("'" + std::string(stem) + "<...>' is declared twice in this block");
  for (uint32_t i = 0; i < count; ++i) body_.registers.push_back({stem, static_cast<int32_t>(i), type, at.line()});
}

void Scopes::add_variable(std::string_view name, uint32_t index) {
  scopes_.back().names.insert_or_assign(name, Found{Found::Kind::variable, index});
}

void Scopes::add_label(const Cursor& at, std::string_view name) {
  const auto index = static_cast<uint32_t>(body_.labels.size());
  if (!scopes_.back().labels.try_emplace(name, index).second)
    at.fail("label '" + std::string(name) + "' stands twice in this block");
  body_.labels.push_back({name, static_cast<uint32_t>(body_.statements.size()), at.line()});
}

void Scopes::add_table(const Cursor& at, std::string_view name, uint32_t index) {
  if (!scopes_.back().tables.try_emplace(name, index).second)
    at.fail("'" + std::string(name) + "' is declared twice in this block");
}

Found Scopes::find(std::string_view name) const {
  std::string_view stem;
  uint32_t number = 0;
  const bool numbered = split_number(name, stem, number);
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto exact = scope->names.find(name); exact != scope->names.end()) return exact->second;
    if (!numbered) continue;
    const auto range = scope->ranges.find(stem);
    if (range != scope->ranges.end() && number < range->second.count)
      return {Found::Kind::reg, range->second.first + number};
  }
  return {};
}

uint32_t Scopes::refer_to_label(const Cursor& at, std::string_view name, bool table) {
  const auto index = static_cast<uint32_t>(references_.size());
  references_.push_back({name, at.line(), at.column(), table, kOpen});
  scopes_.back().open_references.push_back(index);
  return index;
}

void Scopes::resolve(const Cursor& at) {
  while (scopes_.size() > 1) close();
  close();
  for (const Reference& r : references_)
    if (r.found == kOpen)
      at.fail_at(
          r.line, r.column,
          (r.table ? "there is no .branchtargets '" : "there is no label '") + std::string(r.name) + "' in reach");
  for (Term& term : body_.terms)
    if (term.kind == Term::Kind::label || term.kind == Term::Kind::table)
      term.index = references_[term.index].found;
  for (TargetTable& table : body_.target_tables)
    for (uint32_t& label : table.labels) label = references_[label].found;
}

}  // namespace sm100::ptx
