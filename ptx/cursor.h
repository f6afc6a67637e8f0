// SPDX-License-Identifier: Apache-2.0
/// A place in a PTX text, and the tokens there: words, numbers, strings.  White space and comments are skipped
/// behind each token.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ptx/types.h"

namespace sm100::ptx {

struct Number {
  bool real = false, wide = false;  ///< real: an f32's bits, or an f64's where wide
  uint64_t bits = 0;
};

class Cursor {
 public:
  Cursor(std::string_view text, std::string_view file) : text_(text), file_(file) { skip(); }

  bool at_end() const { return at_ >= text_.size(); }
  char peek(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  int line() const { return line_; }
  int column() const { return static_cast<int>(at_ - line_start_) + 1; }

  bool accept(char c);  ///< that character, if it is next
  void expect(char c, std::string_view behind);
  bool accept_word(std::string_view word);  ///< the whole word ahead is that
  std::string_view word();                  ///< letters, digits, _ $ %; empty: none
  std::string_view directive();             ///< ".reg", ".shared::cta"; empty: none
  std::string_view opcode();                ///< "ld.shared::cta.u32"
  bool at_number() const;
  Number number();                                ///< without sign
  uint64_t integer(std::string_view what);        ///< a constant expression
  uint64_t plain_integer(std::string_view what);  ///< digits alone
  std::string_view string();                      ///< without its quotes
  void skip_line();
  void skip_behind(char c);  ///< up to and with the character
  void skip_block();         ///< behind `{`: up to and with its `}`

  [[noreturn]] void fail(std::string sentence) const;
  [[noreturn]] void fail_at(int line, int column, std::string sentence) const;

  /// Where a label may be ahead: word, then ':' that is not "::".
  bool at_label() const;

 private:
  void skip();
  void newline() { ++line_, line_start_ = at_ + 1; }
  Number hexadecimal_real(int digits);
  Number decimal();
  uint64_t unary(int depth), binary(int level, int depth);

  std::string_view text_, file_;
  size_t at_ = 0, line_start_ = 0;
  int line_ = 1;
};

}  // namespace sm100::ptx
