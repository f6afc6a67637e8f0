// SPDX-License-Identifier: Apache-2.0
/// A PTX text with something put in front of its statements, behind them, or in their place.
///
///   TextEdits edits(module);
///   edits.before(statement, "mov.u32 %before, %clock;");
///   std::string text = edits.apply();
///
/// What was not edited stays as it was, to the byte.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/module.h"

namespace sm100::ptx {

/// Where a statement stands in Module::text: from its guard, or else its opcode, to behind its semicolon.
struct StatementText {
  size_t begin = 0, end = 0;
  std::string_view guard;     ///< "@%p1", "@!%p1"; empty: none
  std::string_view opcode;    ///< as Statement::opcode
  std::string_view operands;  ///< between opcode and semicolon, without space around
};
StatementText statement_text(const Module& module, const Statement& statement);

class TextEdits {
 public:
  /// @param module  must outlive the edits
  explicit TextEdits(const Module& module) : module_(module) {}

  /// In front of the guard, behind a label.  A jump to the label executes it, too.
  void before(const Statement& statement, std::string text) { insert(at(statement).begin, std::move(text)); }
  /// In front of a label: a jump to it does not execute it.
  void before(const Label& label, std::string text) {
    insert(static_cast<size_t>(label.name.data() - module_.text->data()), std::move(text));
  }
  /// Behind the semicolon.  What follows a branch that is taken, or an exit, is not executed.
  void after(const Statement& statement, std::string text) { insert(at(statement).end, std::move(text)); }
  void replace(const Statement& statement, std::string text);
  /// In front of everything but the header (.version, .target, .address_size).
  void module_scope(std::string text);
  /// Behind the brace that opens an entry's or a function's body.
  void body_start(const Entry& entry, std::string text);

  /// The text with all edits.  Insertions at one place stand in the order in which they were made.
  std::string apply() const;

 private:
  struct Edit {
    size_t begin, end;
    std::string text;
  };
  StatementText at(const Statement& statement) const { return statement_text(module_, statement); }
  void insert(size_t at, std::string text) { edits_.push_back({at, at, std::move(text)}); }

  const Module& module_;
  std::vector<Edit> edits_;
};

}  // namespace sm100::ptx
