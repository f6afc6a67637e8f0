// SPDX-License-Identifier: Apache-2.0
/// A PTX file as it is written: variables, entries and functions with their statements.  Names of registers and
/// labels are resolved (blocks are scopes of both); what an opcode means is the decoder's business (program.h).
///
/// All texts are views into the module's own copy of the file, which copies of a Module share.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/types.h"

namespace sm100::ptx {

/// A variable's initialiser may hold addresses: `bytes` bytes of symbol + addend at `offset`.
struct SymbolInData {
  uint64_t offset = 0;
  std::string_view symbol;
  int64_t addend = 0;
  uint32_t bytes = 8;
  bool generic = false;  ///< generic(symbol): its generic address
  uint64_t mask = 0;     ///< mask(symbol): this byte of the address alone; 0: all of it
};

struct Variable {
  std::string_view name;
  Space space = Space::none;
  Type type = Type::none;               ///< of an element
  uint64_t align = 0;                   ///< in bytes; the natural one unless told
  uint64_t bytes = 0;                   ///< 0 where the size is open (.extern .shared x[])
  bool external = false;                ///< .extern: of shared memory, the dynamic part
  std::vector<std::byte> data;          ///< the initialiser; empty: none (zeros in .global and .const)
  std::vector<SymbolInData> addresses;  ///< in `data`
  int line = 0;
};

struct Param {
  std::string_view name;
  Type type = Type::none;  ///< of an element
  uint64_t align = 0, bytes = 0;
  uint64_t offset = 0;   ///< in the parameter window
  bool array = false;    ///< a struct by value: .b8 name[bytes]
  bool pointer = false;  ///< .ptr
  int line = 0;
};

using Dim3 = std::array<uint32_t, 3>;

struct Directives {
  std::optional<Dim3> maxntid, reqntid, reqnctapercluster;
  std::optional<uint32_t> minnctapersm, maxnctapersm, maxnreg, maxclusterrank;
  bool explicitcluster = false, noreturn = false, blocksareclusters = false;
  std::vector<std::string_view> pragmas;
};

struct Register {
  std::string_view name;  ///< of a range %r<10> the stem; `number` says which
  int32_t number = -1;    ///< -1: no range
  Type type = Type::none;
  int line = 0;
};

/// An operand as it is written: a tree whose children stand in a row in Body::terms.
struct Term {
  enum class Kind : uint8_t {
    reg,      ///< index: Body::registers
    special,  ///< name: "%tid.x"
    integer,  ///< value
    real,     ///< value: bits of an f32 (0f…), of an f64 (0d…, 1.5) where `wide`
    symbol,   ///< name, offset: symbol+4
    address,  ///< […]: children: base (reg, symbol, integer) with `offset`, then what follows a comma
    vector,   ///< {…}: children
    pair,     ///< a|b: two children
    list,     ///< (…) of a call: children
    sink,     ///< _
    label,    ///< index: Body::labels
    table,    ///< index: Body::target_tables
    string,   ///< name: text between quotes
  };
  Kind kind = Kind::sink;
  bool negated = false;  ///< !p
  bool wide = false;
  uint32_t index = 0;
  uint32_t first = 0, count = 0;  ///< children in Body::terms
  int64_t value = 0;
  int64_t offset = 0;
  std::string_view name;
};

struct Label {
  std::string_view name;
  uint32_t statement = 0;  ///< in front of this one; may be behind the last
  int line = 0;
};

/// `name: .branchtargets L1, L2;`
struct TargetTable {
  std::string_view name;
  std::vector<uint32_t> labels;  ///< Body::labels
};

/// `.loc`: where a statement comes from.
struct Loc {
  uint32_t file = 0, line = 0, column = 0;  ///< file: number of `.file`; line 0: none
  std::string_view function;                ///< label of the function's name, if it was inlined
  uint32_t inlined_at = 0;                  ///< Module::locs: the call's place; 0: none
};

struct Statement {
  std::string_view opcode;    ///< as written: "cp.async.bulk.tensor.2d…"
  uint32_t guard = kNoGuard;  ///< Body::registers
  bool guard_negated = false;
  uint32_t first = 0, count = 0;  ///< operands in Body::terms
  int line = 0, column = 0;
  uint32_t loc = 0;  ///< Module::locs; 0: none
  static constexpr uint32_t kNoGuard = 0xffffffffu;
};

struct Body {
  std::vector<Register> registers;
  std::vector<Label> labels;
  std::vector<TargetTable> target_tables;
  std::vector<Variable>
      variables;  ///< .shared, .local, .param (of calls), .const, .global of the function and its blocks
  std::vector<Statement> statements;
  std::vector<Term> terms;

  std::span<const Term> operands(const Statement& s) const { return {terms.data() + s.first, s.count}; }
  std::span<const Term> children(const Term& t) const { return {terms.data() + t.first, t.count}; }
};

/// An entry (a kernel) or a device function.
struct Entry {
  std::string_view name;
  bool kernel = false;
  bool external = false;  ///< .extern: a declaration, no body
  std::vector<Param> params;
  std::vector<Param> results;  ///< of a function
  uint64_t param_bytes = 0;    ///< of the parameter window
  Directives directives;
  Body body;
  int line = 0;
};

struct Module {
  std::string name;  ///< of the file, as messages print it
  std::shared_ptr<const std::string> text;
  int version_major = 0, version_minor = 0;
  std::string_view target;  ///< "sm_100a"
  int address_size = 64;
  std::map<uint32_t, std::string_view> files;  ///< .file
  std::vector<Loc> locs{1};                    ///< [0]: none
  std::vector<Variable> variables;             ///< of the module's scope
  std::vector<Entry> entries, functions;
  std::map<std::string_view, std::string_view> aliases;  ///< .alias NAME, TARGET
  std::map<std::string_view, std::string> strings;  ///< labels of .section .debug_str: names of inlined functions

  const Entry* entry(std::string_view entry_name) const;
  /// "gemm.cu:143"; with the chain: "tile.h:12, inlined at gemm.cu:143"; empty: none.
  std::string place(uint32_t loc, bool chain = false) const;
  /// Line of the file without the end of line, from 1.
  std::string_view text_line(int line) const;
};

/// Throws PtxError.  Unknown opcodes are not errors; an undeclared register or label is.
Module parse(std::string_view text, std::string name);

}  // namespace sm100::ptx
