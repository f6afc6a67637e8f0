// SPDX-License-Identifier: Apache-2.0
#include "ptx/body_parser.h"

#include <algorithm>

#include "ptx/special_registers.h"

namespace sm100::ptx {

namespace {

constexpr int kMostNested = 16;  // of braces and brackets in an operand

std::string_view base_of(std::string_view opcode) { return opcode.substr(0, opcode.find('.')); }

}  // namespace

BodyParser::BodyParser(Parser& parser, Entry& entry)
    : parser_(parser), cursor_(parser.cursor_), entry_(entry), body_(entry.body), scopes_(entry.body) {
  // Parameters of a function may be registers; they have been declared with its head.
  std::vector<Register> heads;
  heads.swap(body_.registers);
  for (const Register& r : heads) scopes_.add_register(cursor_, r.name, r.type);
}

void BodyParser::parse() {
  for (int depth = 1; depth > 0;) {
    if (cursor_.at_end()) cursor_.fail("'" + std::string(entry_.name) + "' has no end: expected '}'");
    if (cursor_.accept('{')) {
      scopes_.open();
      ++depth;
    } else if (cursor_.accept('}')) {
      if (--depth > 0) scopes_.close();
    } else if (cursor_.accept(';')) {
    } else if (cursor_.peek() == '.') {
      directive();
    } else if (cursor_.at_label()) {
      label();
    } else {
      instruction();
    }
  }
  scopes_.resolve(cursor_);
}

void BodyParser::directive() {
  const std::string_view word = cursor_.directive();
  if (word == ".reg") return registers();
  if (word == ".loc") {
    loc_ = parser_.loc();
    return;
  }
  if (word == ".pragma") {
    entry_.directives.pragmas.push_back(cursor_.string());
    return cursor_.expect(';', word);
  }
  if (word == ".file") return parser_.file();
  if (word == ".section") return parser_.section();
  const Space space = variable_space(word);
  if (space == Space::none) cursor_.fail("'" + std::string(word) + "' is no directive inside of a function");
  parser_.variables({.space = space == Space::param ? Space::call_param : space}, body_.variables,
                    [&](uint32_t index) { scopes_.add_variable(body_.variables[index].name, index); });
}

void BodyParser::registers() {
  Declaration d;
  read_declaration(cursor_, d);
  if (d.vector != 1) cursor_.fail("registers that are vectors are not supported");
  do {
    const Cursor at = cursor_;
    const std::string_view name = cursor_.word();
    if (name.empty()) cursor_.fail("expected the name of a register");
    if (!cursor_.accept('<')) {
      scopes_.add_register(at, name, d.type);
      continue;
    }
    const uint64_t count = cursor_.at_number() ? cursor_.number().bits : 0;
    if (count > 0xffffffffu) cursor_.fail("too many registers");
    scopes_.add_registers(at, name, static_cast<uint32_t>(count), d.type);
    cursor_.expect('>', "the number of registers");
  } while (cursor_.accept(','));
  cursor_.expect(';', ".reg");
}

void BodyParser::label() {
  const Cursor at = cursor_;
  const std::string_view name = cursor_.word();
  cursor_.expect(':', "a label");
  if (cursor_.peek() != '.') return scopes_.add_label(at, name);
  Cursor ahead = cursor_;
  const std::string_view word = ahead.directive();
  if (word == ".branchtargets") {
    cursor_.directive();
    const auto index = static_cast<uint32_t>(body_.target_tables.size());
    scopes_.add_table(at, name, index);
    branch_targets(name);
  } else if (word == ".callprototype" || word == ".calltargets") {
    cursor_.skip_behind(';');
  } else {
    scopes_.add_label(at, name);
  }
}

void BodyParser::branch_targets(std::string_view name) {
  TargetTable table{name, {}};
  do {
    const Cursor at = cursor_;
    const std::string_view target = cursor_.word();
    if (target.empty()) cursor_.fail("expected a label behind .branchtargets");
    table.labels.push_back(scopes_.refer_to_label(at, target));
  } while (cursor_.accept(','));
  cursor_.expect(';', ".branchtargets");
  body_.target_tables.push_back(std::move(table));
}

void BodyParser::instruction() {
  Statement s;
  s.line = cursor_.line();
  s.column = cursor_.column();
  s.loc = loc_;
  if (cursor_.accept('@')) {
    s.guard_negated = cursor_.accept('!');
    const Cursor at = cursor_;
    const std::string_view name = cursor_.word();
    const Found found = scopes_.find(name);
    if (found.kind != Found::Kind::reg)
      at.fail("'" + std::string(name) + "' behind '@' is not declared as a register");
    if (body_.registers[found.index].type != Type::pred)
      at.fail("'" + std::string(name) + "' behind '@' is no predicate");
    s.guard = found.index;
    s.line = cursor_.line();
  }
  s.opcode = cursor_.opcode();
  if (s.opcode.empty()) cursor_.fail("expected an instruction");
  operands(s);
  cursor_.expect(';', "an operand of '" + std::string(s.opcode) + "'");
  body_.statements.push_back(s);
}

void BodyParser::operands(Statement& s) {
  const std::string_view base = base_of(s.opcode);
  const size_t mark = pending_.size();
  if (cursor_.peek() != ';') {
    do { pending_.push_back(operand(base, 0)); } while (cursor_.accept(','));
  }
  Term all;
  store_children(all, mark);
  s.first = all.first, s.count = all.count;
}

void BodyParser::store_children(Term& parent, size_t mark) {
  parent.first = static_cast<uint32_t>(body_.terms.size());
  parent.count = static_cast<uint32_t>(pending_.size() - mark);
  body_.terms.insert(body_.terms.end(), pending_.begin() + static_cast<ptrdiff_t>(mark), pending_.end());
  pending_.resize(mark);
}

Term BodyParser::operand(std::string_view base, int depth) {
  if (depth > kMostNested) cursor_.fail("an operand is nested too deeply");
  const Term first = single(base, depth);
  if (!cursor_.accept('|')) return first;
  const size_t mark = pending_.size();
  pending_.push_back(first);
  pending_.push_back(single(base, depth + 1));
  Term pair;
  pair.kind = Term::Kind::pair;
  store_children(pair, mark);
  return pair;
}

Term BodyParser::single(std::string_view base, int depth) {
  switch (cursor_.peek()) {
    case '[': return address(base, depth);
    case '{': return sequence(base, Term::Kind::vector, '}', depth);
    case '"': {
      Term t;
      t.kind = Term::Kind::string;
      t.name = cursor_.string();
      return t;
    }
    case '!': {
      cursor_.accept('!');
      Term t = name(base);
      t.negated = true;
      return t;
    }
    case '(':
      if (base == "call") return sequence(base, Term::Kind::list, ')', depth);
      return number();
    case '-':
    case '~':
    case '+': return number();
    default: return cursor_.at_number() ? number() : name(base);
  }
}

Term BodyParser::number() {
  Term t;
  const bool negative = cursor_.peek() == '-';
  Cursor ahead = cursor_;
  if (negative) ahead.accept('-');
  const bool real = ahead.at_number() && ahead.number().real;
  if (!real) {
    t.kind = Term::Kind::integer;
    t.value = static_cast<int64_t>(cursor_.integer("an operand"));
    return t;
  }
  if (negative) cursor_.accept('-');
  const Number n = cursor_.number();
  t.kind = Term::Kind::real;
  t.wide = n.wide;
  t.value = static_cast<int64_t>(n.bits ^ (negative ? (n.wide ? uint64_t{1} << 63 : 0x80000000u) : 0));
  return t;
}

int64_t BodyParser::signed_offset() {
  if (!cursor_.accept('+')) return static_cast<int64_t>(cursor_.integer("an offset"));
  return static_cast<int64_t>(cursor_.integer("an offset"));
}

Term BodyParser::name(std::string_view base) {
  const Cursor at = cursor_;
  Term t;
  t.name = cursor_.word();
  if (t.name.empty()) cursor_.fail("expected an operand");
  if (t.name == "_") return t;
  const Found found = scopes_.find(t.name);
  if (found.kind == Found::Kind::reg) {
    t.kind = Term::Kind::reg;
    t.index = found.index;
    return t;
  }
  if (found.kind == Found::Kind::nothing && (base == "bra" || base == "brx")) {
    t.kind = base == "bra" ? Term::Kind::label : Term::Kind::table;
    t.index = scopes_.refer_to_label(at, t.name, base == "brx");
    return t;
  }
  if (found.kind == Found::Kind::nothing && t.name.front() == '%') {
    t.kind = Term::Kind::special;
    if (!is_special_register(t.name)) at.fail("'" + std::string(t.name) + "' is not declared in reach");
    if (cursor_.peek() == '.' && std::string_view("xyzw").find(cursor_.peek(1)) != std::string_view::npos) {
      const std::string_view part = cursor_.directive();
      t.name = {t.name.data(), static_cast<size_t>(part.data() + part.size() - t.name.data())};
    }
    return t;
  }
  if (found.kind == Found::Kind::nothing && base != "call" && !parser_.is_declared(t.name, entry_))
    at.fail("'" + std::string(t.name) + "' is not declared in reach");
  t.kind = Term::Kind::symbol;
  t.index = found.kind == Found::Kind::variable ? found.index : 0xffffffffu;
  if (cursor_.peek() == '+' || cursor_.peek() == '-') t.offset = signed_offset();
  return t;
}

/// [base], [base + 8], [base, {c0, c1}], [base, q]
Term BodyParser::address(std::string_view base, int depth) {
  cursor_.accept('[');
  Term t;
  t.kind = Term::Kind::address;
  const size_t mark = pending_.size();
  const Term first = cursor_.at_number() || cursor_.peek() == '-' ? number() : name(base);
  pending_.push_back(first);
  if (cursor_.peek() == '+' || cursor_.peek() == '-') t.offset = signed_offset();
  while (cursor_.accept(',')) pending_.push_back(operand(base, depth + 1));
  cursor_.expect(']', "an address");
  store_children(t, mark);
  return t;
}

Term BodyParser::sequence(std::string_view base, Term::Kind kind, char end, int depth) {
  cursor_.accept(kind == Term::Kind::list ? '(' : '{');
  Term t;
  t.kind = kind;
  const size_t mark = pending_.size();
  if (!cursor_.accept(end)) {
    do { pending_.push_back(operand(base, depth + 1)); } while (cursor_.accept(','));
    cursor_.expect(end, kind == Term::Kind::list ? "a list of arguments" : "a vector");
  }
  store_children(t, mark);
  return t;
}

}  // namespace sm100::ptx
