// SPDX-License-Identifier: Apache-2.0
/// What stands between the braces of an entry: declarations, labels, instructions and blocks of them.
#pragma once

#include "ptx/parser.h"
#include "ptx/scopes.h"

namespace sm100::ptx {

class BodyParser {
 public:
  BodyParser(Parser& parser, Entry& entry);
  void parse();  ///< behind `{`, up to and with its `}`

 private:
  void directive();
  void registers();
  void label();
  void branch_targets(std::string_view name);
  void instruction();
  void operands(Statement& statement);

  Term operand(std::string_view base, int depth);
  Term single(std::string_view base, int depth);
  Term name(std::string_view base);
  Term number();
  Term address(std::string_view base, int depth);
  Term sequence(std::string_view base, Term::Kind kind, char end, int depth);
  void store_children(Term& parent, size_t mark);
  int64_t signed_offset();

  Parser& parser_;
  Cursor& cursor_;
  Entry& entry_;
  Body& body_;
  Scopes scopes_;
  std::vector<Term> pending_;  ///< operands whose parent is not complete
  uint32_t loc_ = 0;
};

}  // namespace sm100::ptx
