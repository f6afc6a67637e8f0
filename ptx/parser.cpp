// SPDX-License-Identifier: Apache-2.0
#include "ptx/parser.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "ptx/body_parser.h"

namespace sm100::ptx {

namespace {

constexpr uint64_t kMaxBytes = uint64_t{1} << 40;  // of a variable
constexpr size_t kMaxData = size_t{1} << 28;       // of an initialiser
constexpr int kMostBraces = 16;                      // of its braces

bool is_power_of_two(uint64_t x) { return x != 0 && (x & (x - 1)) == 0; }
uint64_t round_up(uint64_t x, uint64_t align) { return (x + align - 1) / align * align; }

}  // namespace

Space variable_space(std::string_view directive) {
  constexpr std::pair<std::string_view, Space> kSpaces[] = {
      {".shared", Space::shared},  {".shared::cta", Space::shared}, {".global", Space::global},
      {".const", Space::constant}, {".local", Space::local},        {".param", Space::param}};
  for (const auto& [text, space] : kSpaces)
    if (text == directive) return space;
  return Space::none;
}

void read_declaration(Cursor& cursor, Declaration& d) {
  while (cursor.peek() == '.') {
    const std::string_view word = cursor.directive();
    if (word == ".align") {
      const uint64_t align = cursor.integer("an alignment");
      if (!is_power_of_two(align) || align > kMaxBytes) cursor.fail("an alignment is a power of two");
      // Behind .ptr it is that of what the pointer points to.
      if (!d.pointer) d.align = align;
    } else if (word == ".v2" || word == ".v4" || word == ".v8") {
      d.vector = static_cast<uint64_t>(word[2] - '0');
    } else if (word == ".ptr") {
      d.pointer = true;
    } else if (word == ".attribute") {
      cursor.expect('(', word);
      cursor.skip_behind(')');
      if (cursor.peek() == ')') cursor.expect(')', word);
    } else if (d.pointer && variable_space(word) != Space::none) {
      // .ptr .global: says where it points to
    } else if (const Type type = type_from(word); type != Type::none) {
      d.type = type;
    } else {
      cursor.fail("'" + std::string(word) + "' is no type and no attribute of a variable");
    }
  }
  if (d.type == Type::none) cursor.fail("a declaration needs a type");
}

void lay_out(std::vector<Param>& params, uint64_t& size) {
  size = 0;
  for (Param& p : params) {
    size = round_up(size, std::max<uint64_t>(p.align, 1));
    p.offset = size;
    size += p.bytes;
  }
}

void Parser::parse() {
  while (!cursor_.at_end()) statement();
}

bool Parser::statement() {
  if (cursor_.peek() == '@') {  // @@DWARF, of old compilers
    cursor_.skip_line();
    return true;
  }
  if (cursor_.accept(';')) return true;
  if (cursor_.peek() != '.') cursor_.fail("expected a directive at module scope, as .version or .entry");
  bool external = false;
  while (true) {
    const std::string_view word = cursor_.directive();
    if (word == ".visible" || word == ".weak" || word == ".common") continue;
    if (word == ".extern") {
      external = true;
      continue;
    }
    if (word == ".version")
      version();
    else if (word == ".target")
      target();
    else if (word == ".address_size")
      module_.address_size = static_cast<int>(cursor_.plain_integer(word));
    else if (word == ".file")
      file();
    else if (word == ".loc")
      loc();
    else if (word == ".section")
      section();
    else if (word == ".pragma")
      cursor_.string(), cursor_.expect(';', word);
    else if (word == ".alias")
      alias();
    else if (word == ".entry")
      function(true, external);
    else if (word == ".func")
      function(false, external);
    else if (const Space space = variable_space(word); space != Space::none && space != Space::param)
      variables({.space = space, .external = external}, module_.variables, [](uint32_t) {});
    else if (word == ".tex" || word == ".sampler" || word == ".surf")
      cursor_.skip_behind(';');
    else if (word == ".callprototype")
      cursor_.skip_behind(';');
    else
      cursor_.fail("'" + std::string(word) + "' is no directive at module scope");
    return true;
  }
}

void Parser::version() {
  const Number n = cursor_.at_number() ? cursor_.number() : Number{};
  const double value = n.real && n.wide ? std::bit_cast<double>(n.bits) : static_cast<double>(n.bits);
  if (!(value >= 1 && value < 100)) cursor_.fail("expected a version behind .version, as 9.0");
  module_.version_major = static_cast<int>(value);
  module_.version_minor = static_cast<int>(std::lround((value - module_.version_major) * 10));
}

void Parser::target() {
  module_.target = cursor_.word();
  if (module_.target.empty()) cursor_.fail("expected a target behind .target, as sm_100a");
  while (cursor_.accept(',')) cursor_.word();
}

void Parser::file() {
  const auto number = static_cast<uint32_t>(cursor_.plain_integer(".file"));
  module_.files[number] = cursor_.string();
  while (cursor_.accept(',')) cursor_.plain_integer(".file");
}

/// .debug_str has names of inlined functions as rows of bytes; other sections are skipped.
void Parser::section() {
  const std::string_view word = cursor_.peek() == '.' ? cursor_.directive() : cursor_.word();
  if (cursor_.peek() != '{') return;
  cursor_.expect('{', ".section");
  if (word != ".debug_str") return cursor_.skip_block();
  std::string* text = nullptr;
  while (!cursor_.accept('}')) {
    if (cursor_.at_end()) cursor_.fail("a block has no end");
    if (cursor_.at_label()) {
      text = &module_.strings[cursor_.word()];
      cursor_.expect(':', "a label");
    } else if (cursor_.peek() == '.') {
      cursor_.directive();
      do {
        const uint64_t c = cursor_.integer(".b8");
        if (text && c) text->push_back(static_cast<char>(c));
      } while (cursor_.accept(','));
    } else {
      cursor_.fail("expected '}' behind .section");
    }
  }
}

void Parser::alias() {
  const std::string_view alias = cursor_.word();
  cursor_.expect(',', ".alias NAME");
  module_.aliases[alias] = cursor_.word();
  cursor_.expect(';', ".alias");
}

/// .loc FILE LINE COLUMN [, function_name LABEL [+ N]] [, inlined_at FILE LINE COLUMN]
uint32_t Parser::loc() {
  Loc loc;
  const auto place = [&](uint32_t& in, uint32_t& line, uint32_t& column) {
    in = static_cast<uint32_t>(cursor_.plain_integer(".loc"));
    line = static_cast<uint32_t>(cursor_.plain_integer(".loc"));
    column = cursor_.at_number() ? static_cast<uint32_t>(cursor_.plain_integer(".loc")) : 0;
  };
  place(loc.file, loc.line, loc.column);
  while (cursor_.accept(',')) {
    const std::string_view word = cursor_.word();
    if (word == "function_name") {
      loc.function = cursor_.word();
      if (cursor_.accept('+')) cursor_.plain_integer(".loc");
    } else if (word == "inlined_at") {
      Loc at;
      place(at.file, at.line, at.column);
      // The call's own place was announced before, with what it was inlined into.
      const auto same = [&](const Loc& l) {
        return l.file == at.file && l.line == at.line && l.column == at.column;
      };
      const auto known = std::find_if(module_.locs.rbegin(), module_.locs.rend(), same);
      if (known != module_.locs.rend()) {
        loc.inlined_at = static_cast<uint32_t>(module_.locs.rend() - known - 1);
      } else {
        loc.inlined_at = static_cast<uint32_t>(module_.locs.size());
        module_.locs.push_back(at);
      }
    } else {
      cursor_.fail("'" + std::string(word) + "' is no part of .loc");
    }
  }
  module_.locs.push_back(loc);
  return static_cast<uint32_t>(module_.locs.size() - 1);
}

Dim3 Parser::dim3(std::string_view what) {
  Dim3 d{1, 1, 1};
  for (uint32_t& n : d) {
    n = static_cast<uint32_t>(cursor_.plain_integer(what));
    if (!cursor_.accept(',')) break;
  }
  return d;
}

void Parser::directives(Directives& d) {
  while (cursor_.peek() == '.') {
    const std::string_view word = cursor_.directive();
    const auto number = [&] { return static_cast<uint32_t>(cursor_.plain_integer(word)); };
    if (word == ".maxntid")
      d.maxntid = dim3(word);
    else if (word == ".reqntid")
      d.reqntid = dim3(word);
    else if (word == ".reqnctapercluster")
      d.reqnctapercluster = dim3(word);
    else if (word == ".minnctapersm")
      d.minnctapersm = number();
    else if (word == ".maxnctapersm")
      d.maxnctapersm = number();
    else if (word == ".maxnreg")
      d.maxnreg = number();
    else if (word == ".maxclusterrank")
      d.maxclusterrank = number();
    else if (word == ".explicitcluster")
      d.explicitcluster = true;
    else if (word == ".blocksareclusters")
      d.blocksareclusters = true;
    else if (word == ".noreturn")
      d.noreturn = true;
    else if (word == ".abi_preserve" || word == ".abi_preserve_control")
      number();
    else if (word == ".pragma")
      d.pragmas.push_back(cursor_.string()), cursor_.expect(';', word);
    else
      cursor_.fail("'" + std::string(word) + "' is no directive of an entry");
  }
}

uint64_t Parser::array_size(bool& open) {
  uint64_t elements = 1;
  while (cursor_.accept('[')) {
    if (cursor_.accept(']')) {
      open = true;
      continue;
    }
    const uint64_t n = cursor_.integer("an array's size");
    cursor_.expect(']', "an array's size");
    if (n > kMaxBytes || (n != 0 && elements > kMaxBytes / n)) cursor_.fail("an array of more than 2^40 elements");
    elements *= n;
  }
  return elements;
}

Param Parser::param() {
  Declaration d{.space = Space::param};
  read_declaration(cursor_, d);
  Param p;
  p.line = cursor_.line();
  p.name = cursor_.word();
  p.type = d.type;
  p.pointer = d.pointer;
  bool open = false;
  p.array = cursor_.peek() == '[';
  const uint64_t elements = array_size(open);
  const auto element = static_cast<uint64_t>(bytes(d.type));
  p.align = d.align ? d.align : element;
  p.bytes = open ? 0 : elements * d.vector * element;
  return p;
}

void Parser::params(std::vector<Param>& list, Body& body) {
  if (!cursor_.accept('(')) return;
  while (!cursor_.accept(')')) {
    const std::string_view space = cursor_.directive();
    if (space == ".reg") {
      Declaration d;
      read_declaration(cursor_, d);
      const std::string_view name = cursor_.word();
      list.push_back({name, d.type, static_cast<uint64_t>(bytes(d.type)), static_cast<uint64_t>(bytes(d.type)), 0,
                      false, false, cursor_.line()});
      body.registers.push_back({name, -1, d.type, cursor_.line()});
    } else if (space == ".param") {
      list.push_back(param());
    } else {
      cursor_.fail("expected .param in a list of parameters");
    }
    if (!cursor_.accept(',') && cursor_.peek() != ')') cursor_.fail("expected ',' or ')' behind a parameter");
  }
}

void Parser::function(bool kernel, bool external) {
  Entry entry;
  entry.kernel = kernel;
  entry.external = external;
  entry.line = cursor_.line();
  Directives before;
  directives(before);
  if (!kernel) params(entry.results, entry.body);
  entry.name = cursor_.word();
  if (entry.name.empty()) cursor_.fail(kernel ? "expected a name behind .entry" : "expected a name behind .func");
  params(entry.params, entry.body);
  lay_out(entry.params, entry.param_bytes);
  entry.directives = before;
  directives(entry.directives);
  if (!cursor_.accept(';')) {
    cursor_.expect('{', "the head of '" + std::string(entry.name) + "'");
    BodyParser(*this, entry).parse();
  } else {
    entry.external = true;
  }
  (kernel ? module_.entries : module_.functions).push_back(std::move(entry));
}

bool Parser::is_declared(std::string_view name, const Entry& entry) const {
  const auto has = [&](const auto& list) {
    return std::any_of(list.begin(), list.end(), [&](const auto& x) { return x.name == name; });
  };
  return entry.name == name || has(entry.params) || has(entry.results) || has(module_.variables) ||
         has(module_.functions) || has(module_.entries) || module_.aliases.contains(name);
}

void Parser::store(Variable& v, uint64_t bits, uint32_t size) {
  if (v.data.size() + size > kMaxData) cursor_.fail("an initialiser of more than 2^28 bytes");
  for (uint32_t i = 0; i < size; ++i) v.data.push_back(static_cast<std::byte>(i < 8 ? bits >> (8 * i) : 0));
}

void Parser::scalar(Variable& v) {
  const auto size = static_cast<uint32_t>(bytes(v.type));
  const bool negative = cursor_.peek() == '-';
  if (cursor_.peek() == '(' || cursor_.peek() == '~' || cursor_.at_number() || negative) {
    if (!is_float(v.type)) {
      if (cursor_.peek() == '0' && (cursor_.peek(1) == 'x' || cursor_.peek(1) == 'X')) {
        // 0xFF(symbol): one byte of the symbol's address
        const uint64_t mask = cursor_.integer("an initialiser");
        if (cursor_.peek() != '(') return store(v, mask, size);
        cursor_.expect('(', "a mask");
        v.addresses.push_back({v.data.size(), cursor_.word(), 0, size, false, mask});
        if (cursor_.accept('+')) v.addresses.back().addend = static_cast<int64_t>(cursor_.integer("an offset"));
        cursor_.expect(')', "a mask");
        return store(v, 0, size);
      }
      return store(v, cursor_.integer("an initialiser"), size);
    }
    if (negative) cursor_.accept('-');
    Number n = cursor_.number();
    if (!n.real) n = {true, true, std::bit_cast<uint64_t>(static_cast<double>(n.bits))};
    if (v.type == Type::f32 && n.wide)
      n.bits = std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(n.bits)));
    if (v.type == Type::f64 && !n.wide)
      n.bits = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(n.bits))));
    if (negative) n.bits ^= v.type == Type::f64 ? uint64_t{1} << 63 : 0x80000000u;
    return store(v, n.bits, size);
  }
  SymbolInData address{v.data.size(), cursor_.word(), 0, size, false, 0};
  if (address.symbol == "generic" && cursor_.accept('(')) {
    address.generic = true;
    address.symbol = cursor_.word();
    cursor_.expect(')', "generic(");
  } else if (cursor_.accept('(')) {  // mask(symbol)
    cursor_.fail("expected a number or a symbol in an initialiser");
  }
  if (address.symbol.empty()) cursor_.fail("expected a number or a symbol in an initialiser");
  if (cursor_.accept('+'))
    address.addend = static_cast<int64_t>(cursor_.integer("an offset"));
  else if (cursor_.peek() == '-')
    address.addend = static_cast<int64_t>(cursor_.integer("an offset"));
  v.addresses.push_back(address);
  store(v, 0, size);
}

void Parser::initialiser(Variable& v, int depth) {
  if (depth > kMostBraces) cursor_.fail("an initialiser is nested too deeply");
  if (!cursor_.accept('{')) return scalar(v);
  while (!cursor_.accept('}')) {
    initialiser(v, depth + 1);
    if (!cursor_.accept(',') && cursor_.peek() != '}') cursor_.fail("expected ',' or '}' in an initialiser");
  }
}

Variable Parser::variable(const Declaration& d) {
  Variable v;
  v.line = cursor_.line();
  v.name = cursor_.word();
  if (v.name.empty()) cursor_.fail("expected the name of a variable");
  v.space = d.space;
  v.type = d.type;
  v.external = d.external;
  bool open = false;
  const uint64_t elements = array_size(open);
  const uint64_t element = static_cast<uint64_t>(bytes(d.type)) * d.vector;
  v.align = d.align ? d.align : std::max<uint64_t>(element, 1);
  v.bytes = open ? 0 : elements * element;
  if (cursor_.accept('=')) {
    initialiser(v, 0);
    if (open) v.bytes = v.data.size();
    if (v.data.size() > v.bytes)
      cursor_.fail("the initialiser of '" + std::string(v.name) + "' is larger than the variable");
  }
  return v;
}

void Parser::variables(Declaration d, std::vector<Variable>& to, const std::function<void(uint32_t)>& added) {
  read_declaration(cursor_, d);
  do {
    to.push_back(variable(d));
    added(static_cast<uint32_t>(to.size() - 1));
  } while (cursor_.accept(','));
  cursor_.expect(';', "a declaration");
}

// ---- Module ----

Module parse(std::string_view text, std::string name) {
  Module module;
  module.name = std::move(name);
  module.text = std::make_shared<const std::string>(text);
  Parser(module, Cursor(*module.text, module.name)).parse();
  return module;
}

const Entry* Module::entry(std::string_view entry_name) const {
  for (const Entry& e : entries)
    if (e.name == entry_name) return &e;
  return nullptr;
}

std::string Module::place(uint32_t index, bool chain) const {
  std::string text;
  for (int depth = 0; index != 0 && index < locs.size() && depth < 64; ++depth) {
    const Loc& l = locs[index];
    if (l.line == 0) break;
    const auto file = files.find(l.file);
    std::string_view path = file == files.end() ? std::string_view("?") : file->second;
    if (const size_t slash = path.rfind('/'); slash != std::string_view::npos) path.remove_prefix(slash + 1);
    text += (depth == 0 ? "" : ", inlined at ") + std::string(path) + ":" + std::to_string(l.line);
    if (!chain || l.inlined_at >= index) break;
    index = l.inlined_at;
  }
  return text;
}

std::string_view Module::text_line(int number) const {
  std::string_view rest = text ? std::string_view(*text) : std::string_view{};
  for (int i = 1; i < number && !rest.empty(); ++i) {
    const size_t end = rest.find('\n');
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  return rest.substr(0, rest.find('\n'));
}

}  // namespace sm100::ptx
