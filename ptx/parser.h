// SPDX-License-Identifier: Apache-2.0
/// Text to Module: declarations at module scope, entries, and what is shared with bodies (body_parser.h).
#pragma once

#include <functional>

#include "ptx/cursor.h"
#include "ptx/module.h"

namespace sm100::ptx {

/// What `.shared .align 8 .b8 x[16] = {…}` says in front of its names.
struct Declaration {
  Space space = Space::none;
  Type type = Type::none;
  uint64_t align = 0, vector = 1;
  bool external = false, pointer = false;
};

class Parser {
 public:
  Parser(Module& module, Cursor cursor) : module_(module), cursor_(std::move(cursor)) {}
  void parse();

 private:
  friend class BodyParser;

  bool statement();
  void version();
  void target();
  void file();
  void section();
  void alias();
  void function(bool kernel, bool external);
  void params(std::vector<Param>& list, Body& body);
  Param param();
  void directives(Directives& directives);
  Dim3 dim3(std::string_view what);
  bool is_declared(std::string_view name, const Entry& entry) const;

  uint32_t loc();  ///< behind `.loc`: index into Module::locs
  /// Behind the directive of a space: the rest of a declaration, up to its ';'.
  void variables(Declaration declaration, std::vector<Variable>& to, const std::function<void(uint32_t)>& added);
  Variable variable(const Declaration& declaration);
  void initialiser(Variable& variable, int depth);
  void scalar(Variable& variable);
  void store(Variable& variable, uint64_t bits, uint32_t bytes);
  uint64_t array_size(bool& open);

  Module& module_;
  Cursor cursor_;
};

/// The space of ".shared"; Space::none: another directive.
Space variable_space(std::string_view directive);
/// Reads what may stand between a space and a name: .align 8, .v4, .b8, .attribute(…).
void read_declaration(Cursor& cursor, Declaration& declaration);
void lay_out(std::vector<Param>& params, uint64_t& bytes);

}  // namespace sm100::ptx
