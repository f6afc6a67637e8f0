// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <utility>

#include "ptx/decoder.h"
#include "ptx/folding.h"
#include "ptx/opcode.h"
#include "ptx/waits.h"

namespace sm100::ptx {

namespace {

/// Cost is the profile's word for it; ALU instructions have theirs in the table of forms.
bool is_nop(std::string_view base) { return base == "brkpt" || base == "pmevent"; }

int width_of(Type type) {
  const int width = bits(type);
  return type == Type::pred ? 1 : width <= 32 ? 4 : width == 64 ? 8 : 16;
}

std::string a_register_of(Type type) { return "a ." + std::string(name(type)) + " register"; }

/// Bits of an immediate as an operand of that type.
std::optional<uint64_t> immediate_bits(const Term& term, Type type) {
  const int width = bits(type);
  if (term.kind == Term::Kind::integer) {
    const auto value = static_cast<uint64_t>(term.value);
    if (type == Type::f32) return std::nullopt;
    if (type == Type::f64) return std::nullopt;
    return width >= 64 ? value : value & ((uint64_t{1} << width) - 1);
  }
  const auto value = static_cast<uint64_t>(term.value);
  if (type == Type::f32 && term.wide)
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(value)));
  if (type == Type::f64 && !term.wide)
    return std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(value))));
  if (width == (term.wide ? 64 : 32)) return value;
  return std::nullopt;
}

Order order_of(const Modifiers& m) {
  if (m.has(".volatile")) return Order::volatile_;
  if (m.has(".mmio")) return Order::mmio;
  if (m.has(".acquire")) return Order::acquire;
  if (m.has(".release")) return Order::release;
  if (m.has(".acq_rel")) return Order::acq_rel;
  return m.has(".relaxed") ? Order::relaxed : Order::weak;
}

Scope scope_of(const Modifiers& m) {
  return m.has(".cta")       ? Scope::cta
         : m.has(".cluster") ? Scope::cluster
         : m.has(".gpu")     ? Scope::gpu
         : m.has(".sys")     ? Scope::sys
                             : Scope::none;
}

/// Modifiers of ld and st that are not the space, the order or the type; what is not here makes the form unknown.
bool is_access_hint(std::string_view m) {
  return m == ".nc" || m == ".ca" || m == ".cg" || m == ".cs" || m == ".lu" || m == ".cv" || m == ".wb" ||
         m == ".wt" || m == ".weak" || m.starts_with(".L1::") || m.starts_with(".L2::") ||
         m.starts_with(".level::") || m == ".unified";
}
bool is_access_word(std::string_view m) {
  constexpr std::string_view kWords[] = {
      ".volatile",        ".mmio",         ".acquire",    ".release", ".relaxed", ".cta",
      ".cluster",         ".gpu",          ".sys",        ".v2",      ".v4",      ".v8",
      ".param",           ".local",        ".global",     ".const",   ".shared",  ".shared::cta",
      ".shared::cluster", ".param::entry", ".param::func"};
  for (const std::string_view w : kWords)
    if (w == m) return true;
  return is_access_hint(m) || type_from(m) != Type::none;
}

Space space_of(const Modifiers& m) {
  if (m.has(".param") || m.has(".param::entry") || m.has(".param::func")) return Space::param;
  if (m.has(".shared") || m.has(".shared::cta") || m.has(".shared::cluster")) return Space::shared;
  if (m.has(".global")) return Space::global;
  if (m.has(".local")) return Space::local;
  return m.has(".const") ? Space::constant : Space::generic;
}

}  // namespace

Decoder::Decoder(const Module& module, const Entry& entry)
    : module_(module), entry_(entry), body_(&entry.body), rows_(module, entry, program_) {
  program_.module = &module;
  program_.entry = &entry;
}

Program Decoder::run() {
  program_.code.reserve(body_->statements.size() + 1);
  Frame frame{.function = &entry_, .caller = nullptr};
  body(frame);
  program_.starts = std::move(frame.starts);
  // Behind the last statement an entry ends.
  Instr end;
  end.kind = entry_.kernel ? Kind::exit : Kind::ret;
  end.guard = rows_.all_lanes();
  end.line = body_->statements.empty() ? static_cast<uint32_t>(entry_.line)
                                       : static_cast<uint32_t>(body_->statements.back().line);
  end.opcode = opcode("ret").text;
  program_.code.push_back(end);
  rows_.finish();
  program_.waits = find_waits(program_);
  program_.ignored_answers = find_ignored_answers(program_);
  fold_costs(program_);
  return std::move(program_);
}

void Decoder::body(Frame& frame) {
  const std::vector<Statement>& all = body_->statements;
  for (const Statement& s : all) {
    frame.starts.push_back(static_cast<uint32_t>(program_.code.size()));
    statement(frame, s, &s == &all.back());
  }
  const auto end = static_cast<uint32_t>(program_.code.size());
  frame.starts.push_back(end);
  for (const uint32_t at : frame.branches) program_.code[at].target = frame.starts[program_.code[at].target];
  for (const uint32_t at : frame.tables)
    for (uint32_t& target : program_.indexed_branches[at].targets) target = frame.starts[target];
  for (const uint32_t at : frame.returns) program_.code[at].target = end;
}

void Decoder::statement(Frame& frame, const Statement& s, bool last) {
  const Opcode& op = opcode(s.opcode);
  const auto at = static_cast<uint32_t>(program_.code.size());
  if (op.base == "call" && expand(frame, s)) return;
  if (op.base == "ret" && frame.caller) {
    if (last && s.guard == Statement::kNoGuard) return;
    frame.returns.push_back(at);
    program_.code.push_back(jump(s));
    return;
  }
  program_.code.push_back(instruction(s));
  const Instr& in = program_.code.back();
  if (in.kind == Kind::branch) frame.branches.push_back(at);
  if (in.kind == Kind::branch_index) frame.tables.push_back(in.detail);
}

const Decoder::Opcode& Decoder::opcode(std::string_view text) {
  const auto [found, fresh] = opcodes_.try_emplace(text);
  if (!fresh) return found->second;
  Opcode& op = found->second;
  op.text = static_cast<uint32_t>(program_.opcodes.size());
  program_.opcodes.push_back(text);
  op.base = text.substr(0, text.find('.'));
  op.form = find_alu_form(text);
  if (!op.form) op.stem = service_stem(text);
  return op;
}

Instr Decoder::instruction(const Statement& s) {
  const Opcode& op = opcode(s.opcode);
  Instr in;
  in.opcode = op.text;
  in.line = static_cast<uint32_t>(s.line);
  in.loc = s.loc;
  in.guard = s.guard == Statement::kNoGuard ? rows_.all_lanes() : rows_.reg(s.guard);
  in.guard_flip = s.guard_negated ? kAllLanes : 0;
  decode_as(in, s, op);
  return in;
}

void Decoder::decode_as(Instr& in, const Statement& s, const Opcode& op) {
  if (op.base == "mov" || op.base == "cvt") return alu_of_vectors(in, s, op);
  if ((op.base == "min" || op.base == "max") && s.count == 4) return alu_of_three(in, s);
  if (op.form) return alu(in, *op.form, body_->operands(s));
  if (op.base == "ld" || op.base == "st" || op.base == "ldu")
    if (op.stem.empty()) return access(in, s, op);
  if (!op.stem.empty()) return service(in, s, op);
  if (op.base == "bra") return branch(in, s);
  if (op.base == "brx") return branch_index(in, s);
  if (op.base == "call") return call(in, s);
  if (op.base == "ret" || op.base == "exit") {
    in.kind = op.base == "exit" || entry_.kernel ? Kind::exit : Kind::ret;
    return;
  }
  if (op.base == "trap")
    in.kind = Kind::trap;
  else if (is_nop(op.base))
    in.kind = Kind::nop, in.cost = Cost::free;
  else
    unsupported(in, "no such form of '" + std::string(op.base) + "' is known");
}

void Decoder::unsupported(Instr& in, std::string why) {
  in.kind = Kind::unsupported;
  in.detail = static_cast<uint32_t>(program_.reasons.size());
  program_.reasons.push_back(std::move(why));
}

// ---- control ----

void Decoder::branch(Instr& in, const Statement& s) {
  const auto terms = body_->operands(s);
  if (terms.size() != 1 || terms[0].kind != Term::Kind::label) return unsupported(in, "expected one label");
  in.kind = Kind::branch;
  in.uniform = s.opcode == "bra.uni";
  in.cost = in.uniform ? Cost::free : Cost::branch;
  in.target = body_->labels[terms[0].index].statement;
}

void Decoder::branch_index(Instr& in, const Statement& s) {
  const auto terms = body_->operands(s);
  if (terms.size() != 2 || terms[0].kind != Term::Kind::reg || terms[1].kind != Term::Kind::table)
    return unsupported(in, "expected a register and a .branchtargets");
  IndexedBranch branch{operand(terms[0]), {}};
  for (const uint32_t label : body_->target_tables[terms[1].index].labels)
    branch.targets.push_back(body_->labels[label].statement);
  in.kind = Kind::branch_index;
  in.uniform = s.opcode.ends_with(".uni");
  in.detail = static_cast<uint32_t>(program_.indexed_branches.size());
  program_.indexed_branches.push_back(std::move(branch));
}

// ---- calls ----

/// call (results), callee, (arguments), prototype: all but the callee may be missing.
Call Decoder::call_of(const Statement& s) {
  Call c;
  bool named = false;
  for (const Term& t : body_->operands(s)) {
    if (t.kind == Term::Kind::list) {
      (named ? c.arguments : c.results) = operands(body_->children(t));
    } else if (!named) {
      named = true;
      if (t.kind == Term::Kind::symbol)
        c.callee = t.name;
      else
        c.pointer = operand(t);
    }
  }
  if (const auto alias = module_.aliases.find(c.callee); alias != module_.aliases.end()) c.callee = alias->second;
  for (size_t i = 0; i < module_.functions.size(); ++i)
    if (module_.functions[i].name == c.callee && !module_.functions[i].external)
      c.function = static_cast<int32_t>(i);
  return c;
}

/// One whose function has no body: whoever executes it knows it, or not.
void Decoder::call(Instr& in, const Statement& s) {
  if (!not_expanded_.empty()) return unsupported(in, std::exchange(not_expanded_, {}));
  Call c = call_of(s);
  if (c.callee.empty()) return unsupported(in, "a call through a register");
  in.kind = Kind::call;
  in.detail = static_cast<uint32_t>(program_.calls.size());
  program_.calls.push_back(std::move(c));
}

Instr Decoder::jump(const Statement& s) const {
  Instr in;
  in.kind = Kind::branch;
  in.line = static_cast<uint32_t>(s.line);
  in.loc = s.loc;
  in.opcode = opcodes_.at(s.opcode).text;
  in.guard = s.guard == Statement::kNoGuard ? rows_.all_lanes() : rows_.reg(s.guard);
  in.guard_flip = s.guard_negated ? kAllLanes : 0;
  in.uniform = s.guard == Statement::kNoGuard;
  in.cost = Cost::free;
  return in;
}

namespace {

/// Index into Body::registers of a parameter that is one; nullopt: it lies in .param memory.
std::optional<uint32_t> register_of(const Entry& function, const Param& param) {
  const auto& all = function.body.registers;
  const size_t heads = function.params.size() + function.results.size();
  for (size_t i = 0; i < all.size() && i < heads; ++i)
    if (all[i].name == param.name && all[i].number < 0) return static_cast<uint32_t>(i);
  return std::nullopt;
}

}  // namespace

std::string Decoder::bind(const Entry& function, const Call& call, RowLayout::Scope& scope) const {
  const auto name_of = [&] { return "'" + std::string(function.name) + "'"; };
  for (const auto& [params, operands] :
       {std::pair{&function.params, &call.arguments}, std::pair{&function.results, &call.results}}) {
    if (params->size() != operands->size())
      return "a call of " + name_of() + " with " + std::to_string(operands->size()) + " operands of " +
             std::to_string(params->size());
    for (size_t i = 0; i < params->size(); ++i) {
      const Operand& o = (*operands)[i];
      if (const auto reg = register_of(function, (*params)[i])) {
        const bool pred = function.body.registers[*reg].type == Type::pred;
        if (pred || (o.kind != Operand::Kind::reg && o.kind != Operand::Kind::immediate))
          return "a call of " + name_of() + " that passes neither a register nor memory";
      } else if (o.kind != Operand::Kind::symbol || o.symbol < 0) {
        return "a call of " + name_of() + " whose operand is no .param variable";
      } else {
        scope.parameters[(*params)[i].name] = o.symbol;
      }
    }
  }
  return {};
}

void Decoder::copy_registers(const Statement& s, const Entry& function, const std::vector<Param>& params,
                             const std::vector<Operand>& operands, const RowLayout::Scope& scope, bool results) {
  for (size_t i = 0; i < params.size(); ++i) {
    const auto reg = register_of(function, params[i]);
    if (!reg) continue;
    const Operand& o = operands[i];
    const int width = width_of(function.body.registers[*reg].type);
    const Row own = scope.registers[*reg];
    const AluForm* form = find_alu_form(width == 4 ? "mov.b32" : width == 8 ? "mov.b64" : "mov.b128");
    Instr in = jump(s);
    in.guard = rows_.all_lanes(), in.guard_flip = 0;
    in.kind = Kind::alu;
    in.alu = form->function;
    const Row other = o.is_immediate() ? rows_.immediate(static_cast<uint64_t>(o.value), width) : o.row;
    in.rows[0] = results ? other : own;
    in.rows[1] = results ? own : other;
    in.written = 1;
    if (!o.is_immediate() && o.width != width) unsupported(in, "a call with a register of another width");
    program_.code.push_back(in);
  }
}

bool Decoder::expand(const Frame& caller, const Statement& s) {
  constexpr size_t kMostInstructions = size_t{1} << 22;
  const Call call = call_of(s);
  if (call.function < 0) return false;
  const Entry& function = module_.functions[static_cast<size_t>(call.function)];
  for (const Frame* f = &caller; f; f = f->caller)
    if (f->function == &function) not_expanded_ = "recursion: '" + std::string(function.name) + "' calls itself";
  if (program_.code.size() > kMostInstructions) not_expanded_ = "calls of more than 2^22 instructions in all";
  if (!not_expanded_.empty()) return false;
  RowLayout::Scope scope = rows_.scope_of(function);
  if (not_expanded_ = bind(function, call, scope); !not_expanded_.empty()) return false;

  const auto skip = static_cast<uint32_t>(program_.code.size());
  const bool guarded = s.guard != Statement::kNoGuard;
  if (guarded) {
    program_.code.push_back(jump(s));
    program_.code.back().guard_flip ^= kAllLanes;
  }
  copy_registers(s, function, function.params, call.arguments, scope, false);
  const Body* const outer = std::exchange(body_, &function.body);
  RowLayout::Scope names = rows_.exchange(scope);
  Frame frame{.function = &function, .caller = &caller};
  body(frame);
  rows_.exchange(std::move(names));
  body_ = outer;
  copy_registers(s, function, function.results, call.results, scope, true);
  if (guarded) program_.code[skip].target = static_cast<uint32_t>(program_.code.size());
  return true;
}

// ---- memory and services ----

Operand Decoder::symbol_operand(const Term& term, int64_t addend) {
  Operand o;
  o.kind = Operand::Kind::symbol;
  o.text = term.name;
  o.width = 8;
  o.symbol = rows_.symbol(term);
  o.row = o.symbol < 0 ? rows_.immediate(0, 8) : rows_.address(o.symbol, addend, 8);
  return o;
}

Operand Decoder::address(const Term& term) {
  const auto children = body_->children(term);
  Operand o = operand(children[0]);
  if (o.kind == Operand::Kind::symbol)
    o.row = o.symbol < 0 ? o.row : rows_.address(o.symbol, children[0].offset + term.offset, 8);
  else
    o.offset = term.offset;
  o.kind = Operand::Kind::address;
  o.elements = operands(children.subspan(1));
  return o;
}

Operand Decoder::operand(const Term& term) {
  Operand o;
  switch (term.kind) {
    case Term::Kind::reg: {
      const Register& r = body_->registers[term.index];
      o.kind = r.type == Type::pred ? Operand::Kind::predicate : Operand::Kind::reg;
      o.type = r.type;
      o.width = static_cast<uint8_t>(width_of(r.type));
      o.row = rows_.reg(term.index);
      o.negated = term.negated;
      o.text = r.name;
      break;
    }
    case Term::Kind::special: {
      bool changes = false;
      int width = 4;
      o.row = rows_.special(term.name, changes, width);
      o.kind = width == 1 ? Operand::Kind::predicate : Operand::Kind::reg;
      o.width = static_cast<uint8_t>(width);
      o.text = term.name;
      break;
    }
    case Term::Kind::integer:
    case Term::Kind::real:
      o.kind = Operand::Kind::immediate;
      o.value = term.value;
      o.width = 8;
      o.row = rows_.immediate(static_cast<uint64_t>(term.value), 8);
      break;
    case Term::Kind::symbol: return symbol_operand(term, term.offset);
    case Term::Kind::address: return address(term);
    case Term::Kind::vector:
    case Term::Kind::list:
    case Term::Kind::pair:
      o.kind = term.kind == Term::Kind::pair ? Operand::Kind::pair : Operand::Kind::vector;
      o.elements = operands(body_->children(term));
      break;
    case Term::Kind::label:
      o.kind = Operand::Kind::label;
      o.value = body_->labels[term.index].statement;
      break;
    case Term::Kind::string:
      o.kind = Operand::Kind::text;
      o.text = term.name;
      break;
    case Term::Kind::table:
    case Term::Kind::sink: o.row = rows_.sink(8), o.width = 8; break;
  }
  return o;
}

std::vector<Operand> Decoder::operands(std::span<const Term> terms) {
  std::vector<Operand> list;
  list.reserve(terms.size());
  for (const Term& t : terms) list.push_back(operand(t));
  return list;
}

void Decoder::access(Instr& in, const Statement& s, const Opcode& op) {
  Access a;
  a.modifiers = modifiers_behind(s.opcode, op.base.size());
  for (const std::string_view m : a.modifiers.list)
    if (!is_access_word(m))
      return unsupported(in, "'" + std::string(m) + "' is not known of '" + std::string(op.base) + "'");
  const auto terms = body_->operands(s);
  a.store = op.base == "st";
  if (terms.size() < 2) return unsupported(in, "expected an address and what is loaded or stored");
  const Term& address_term = terms[a.store ? 0 : 1];
  const Term& data_term = terms[a.store ? 1 : 0];
  if (address_term.kind != Term::Kind::address) return unsupported(in, "expected an address in brackets");
  a.type = a.modifiers.type();
  if (a.type == Type::none || a.type == Type::pred) return unsupported(in, "expected the type of an element");
  a.space = space_of(a.modifiers);
  a.cluster = a.modifiers.has(".shared::cluster");
  a.order = order_of(a.modifiers);
  a.scope = scope_of(a.modifiers);
  a.read_only = a.modifiers.has(".nc") || op.base == "ldu";
  for (const uint8_t elements : {2, 4, 8})
    if (a.modifiers.has(".v" + std::to_string(elements))) a.vector = elements;
  a.address = address(address_term);
  if (a.space == Space::param && a.address.symbol >= 0 &&
      program_.symbols[static_cast<size_t>(a.address.symbol)].space == Space::call_param)
    a.space = Space::call_param;
  if (data_term.kind == Term::Kind::vector)
    a.data = operands(body_->children(data_term));
  else
    a.data.push_back(operand(data_term));
  if (a.data.size() != a.vector)
    return unsupported(in, "the vector has " + std::to_string(a.data.size()) + " elements");
  for (size_t i = 0; i < a.data.size(); ++i) {
    Operand& o = a.data[i];
    const bool scalar = o.kind == Operand::Kind::reg || o.kind == Operand::Kind::sink ||
                        (a.store && (o.kind == Operand::Kind::immediate || o.kind == Operand::Kind::symbol));
    if (!scalar) return unsupported(in, "what is loaded or stored is no register");
    if (o.kind == Operand::Kind::reg && bits(o.type) < bits(a.type))
      return unsupported(in, a_register_of(o.type) + " is too narrow");
    const Term& t = data_term.kind == Term::Kind::vector ? body_->children(data_term)[i] : data_term;
    if (o.kind == Operand::Kind::immediate && t.kind == Term::Kind::real) {
      const auto value = immediate_bits(t, a.type);
      if (!value) return unsupported(in, "a number in floating point for ." + std::string(name(a.type)));
      o.value = static_cast<int64_t>(*value);
      o.row = rows_.immediate(*value, 8);
    }
  }
  if (terms.size() > 2) a.policy = operand(terms[2]);
  in.kind = Kind::memory;
  if (a.space == Space::param && !a.store) in.cost = Cost::free;
  in.detail = static_cast<uint32_t>(program_.accesses.size());
  program_.accesses.push_back(std::move(a));
}

void Decoder::service(Instr& in, const Statement& s, const Opcode& op) {
  Service service;
  service.base = op.stem;
  service.modifiers = modifiers_behind(op.stem, op.base.size());  // .inc of setmaxnreg.inc is one, too
  for (const std::string_view modifier : modifiers_behind(s.opcode, op.stem.size()).list)
    service.modifiers.list.push_back(modifier);
  service.operands = operands(body_->operands(s));
  in.kind = Kind::service;
  in.detail = static_cast<uint32_t>(program_.services.size());
  program_.services.push_back(std::move(service));
}

// ---- ALU ----

std::optional<std::string> Decoder::alu_operand(Instr& in, size_t i, const Term& term, const AluOperand& expected) {
  const int width = width_of(expected.type);
  Row& row = in.rows[i];
  switch (term.kind) {
    case Term::Kind::reg: {
      const Type type = body_->registers[term.index].type;
      if (width_of(type) != width)
        return a_register_of(type) + " where ." + std::string(name(expected.type)) + " is expected";
      if (expected.written && term.negated) return "a result cannot be negated";
      if (term.negated && type != Type::pred) return "only a predicate can be negated";
      if (term.negated) in.negated |= static_cast<uint16_t>(1u << i);
      row = rows_.reg(term.index);
      return std::nullopt;
    }
    case Term::Kind::sink:
      if (!expected.written) return "'_' where a value is read";
      row = rows_.sink(width);
      return std::nullopt;
    case Term::Kind::special: {
      if (expected.written) return "a special register cannot be written";
      bool changes = false;
      int own = 4;
      row = rows_.special(term.name, changes, own);
      if (own != width) return "'" + std::string(term.name) + "' has another width";
      if (changes) in.kind = Kind::special;
      return std::nullopt;
    }
    case Term::Kind::integer:
    case Term::Kind::real: {
      if (expected.written) return "a number where a register is written";
      if (expected.type == Type::pred) {
        row = term.value ? rows_.all_lanes() : rows_.no_lanes();
        return std::nullopt;
      }
      const auto value = immediate_bits(term, expected.type);
      if (!value) return "a number of another kind where ." + std::string(name(expected.type)) + " is expected";
      row = rows_.immediate(*value, width);
      return std::nullopt;
    }
    case Term::Kind::symbol: {
      const int32_t symbol = rows_.symbol(term);
      if (expected.written || (width != 4 && width != 8))
        return "an address where ." + std::string(name(expected.type)) + " is expected";
      if (symbol < 0) return "the address of '" + std::string(term.name) + "', a function";
      row = rows_.address(symbol, term.offset, width);
      return std::nullopt;
    }
    default: return "an operand of another kind is expected";
  }
}

/// Pairs and vectors are operands in a row; where a form has a second result that may be left out, nothing is
/// written to it.
void Decoder::alu(Instr& in, const AluForm& form, std::span<const Term> terms) {
  std::vector<const Term*> flat;
  for (const Term& t : terms) {
    if (t.kind == Term::Kind::pair || t.kind == Term::Kind::vector)
      for (const Term& child : body_->children(t)) flat.push_back(&child);
    else
      flat.push_back(&t);
  }
  const Term sink;
  const bool second_result = form.operands.size() > 1 && form.operands[1].written;
  if (second_result && flat.size() + 1 == form.operands.size()) flat.insert(flat.begin() + 1, &sink);
  if (flat.size() != form.operands.size())
    return unsupported(in, std::to_string(flat.size()) + " operands where " + std::to_string(form.operands.size()) +
                               " are expected");
  in.kind = Kind::alu;
  in.alu = form.function;
  in.cost = form.cost;
  in.aux = form.aux;
  for (size_t i = 0; i < flat.size(); ++i)
    in.written |= static_cast<uint8_t>(form.operands[i].written ? 1u << i : 0);
  for (size_t i = 0; i < flat.size(); ++i)
    if (auto why = alu_operand(in, i, *flat[i], form.operands[i]))
      return unsupported(in, "operand " + std::to_string(i + 1) + " is " + *why);
}

/// mov packs and unpacks where an operand is a vector; cvt takes wider registers than its types. Both have forms of
/// their own.
void Decoder::alu_of_vectors(Instr& in, const Statement& s, const Opcode& op) {
  const auto terms = body_->operands(s);
  if (terms.size() < 2) return unsupported(in, "too few operands");
  std::string text(s.opcode);
  if (op.base == "mov") {
    if (terms[0].kind == Term::Kind::vector)
      text += ".unpack" + std::to_string(terms[0].count);
    else if (terms[1].kind == Term::Kind::vector)
      text += ".pack" + std::to_string(terms[1].count);
  } else {
    const auto wide = [&](const Term& t) {
      return t.kind == Term::Kind::reg && bits(body_->registers[t.index].type) == 64;
    };
    const Modifiers m = modifiers_behind(s.opcode, op.base.size());
    std::vector<Type> types;
    for (const std::string_view part : m.list)
      if (const Type t = type_from(part); t != Type::none) types.push_back(t);
    if (types.size() == 2 && wide(terms[0]) && bits(types[0]) < 64) text += ".wide_result";
    if (types.size() == 2 && wide(terms[1]) && bits(types[1]) < 64) text += ".wide_source";
  }
  const AluForm* form = text == s.opcode ? op.form : find_alu_form(text);
  if (!form) return unsupported(in, "no such form of '" + std::string(op.base) + "' is known");
  alu(in, *form, terms);
}

/// min and max of three sources are forms of their own.
void Decoder::alu_of_three(Instr& in, const Statement& s) {
  const AluForm* form = find_alu_form(std::string(s.opcode) + ".three");
  if (!form) return unsupported(in, "no form with three sources is known");
  alu(in, *form, body_->operands(s));
}

Program decode(const Module& module, const Entry& entry) { return Decoder(module, entry).run(); }

}  // namespace sm100::ptx
