// SPDX-License-Identifier: Apache-2.0
#include "ptx/cursor.h"

#include <array>
#include <bit>
#include <cstdlib>

namespace sm100::ptx {

namespace {

constexpr uint8_t kWord = 1, kOpcode = 2, kDigit = 4, kHex = 8, kSpace = 16;

constexpr std::array<uint8_t, 256> character_classes() {
  std::array<uint8_t, 256> classes{};
  const auto set = [&](char first, char last, int bits) {
    for (int c = first; c <= last; ++c) classes[static_cast<size_t>(c)] |= static_cast<uint8_t>(bits);
  };
  set('a', 'z', kWord | kOpcode), set('A', 'Z', kWord | kOpcode), set('0', '9', kWord | kOpcode | kDigit | kHex);
  set('_', '_', kWord | kOpcode), set('$', '$', kWord), set('%', '%', kWord);
  set('.', '.', kOpcode), set(':', ':', kOpcode);
  set('a', 'f', kHex), set('A', 'F', kHex);
  for (const char c : {' ', '\t', '\r', '\v', '\f', '\n'}) set(c, c, kSpace);
  return classes;
}
constexpr auto kClasses = character_classes();
bool is_in(char c, uint8_t what) { return kClasses[static_cast<uint8_t>(c)] & what; }

int digit_value(char c) { return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10; }

/// What is next, for messages.
std::string seen(char c) {
  if (c == '\0') return "the end of the file";
  if (c == '\n') return "the end of the line";
  return std::string("'") + (static_cast<uint8_t>(c) < 0x20 || static_cast<uint8_t>(c) > 0x7e ? '?' : c) + "'";
}

constexpr int kMostParentheses = 64;  // one in the other

struct BinaryOperator {
  std::string_view text;
  int level;
};
// Longer ones first, so that << is not taken for <.
constexpr BinaryOperator kOperators[] = {{"||", 0}, {"&&", 1}, {"==", 5}, {"!=", 5}, {"<<", 7}, {">>", 7},
                                         {"<=", 6}, {">=", 6}, {"<", 6},  {">", 6},  {"|", 2},  {"^", 3},
                                         {"&", 4},  {"+", 8},  {"-", 8},  {"*", 9},  {"/", 9},  {"%", 9}};
constexpr int kHighestLevel = 9;

}  // namespace

void Cursor::fail(std::string sentence) const { fail_at(line(), column(), std::move(sentence)); }
void Cursor::fail_at(int line, int column, std::string sentence) const {
  throw PtxError(std::string(file_), line, column, std::move(sentence));
}

void Cursor::skip() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (is_in(c, kSpace)) {
      if (c == '\n') newline();
      ++at_;
    } else if (c == '/' && peek(1) == '/') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (c == '/' && peek(1) == '*') {
      for (at_ += 2; !(peek() == '*' && peek(1) == '/'); ++at_) {
        if (at_ >= text_.size()) fail("a comment has no end");
        if (text_[at_] == '\n') newline();
      }
      at_ += 2;
    } else {
      return;
    }
  }
}

bool Cursor::accept(char c) {
  if (peek() != c || at_end()) return false;
  ++at_;
  skip();
  return true;
}

void Cursor::expect(char c, std::string_view behind) {
  if (!accept(c))
    fail(std::string("expected '") + c + "' behind " + std::string(behind) + ", found " + seen(peek()));
}

bool Cursor::accept_word(std::string_view text) {
  if (text_.substr(at_, text.size()) != text || is_in(peek(text.size()), kWord)) return false;
  at_ += text.size();
  skip();
  return true;
}

std::string_view Cursor::word() {
  const size_t start = at_;
  while (at_ < text_.size() && is_in(text_[at_], kWord)) ++at_;
  const std::string_view found = text_.substr(start, at_ - start);
  skip();
  return found;
}

std::string_view Cursor::directive() {
  if (peek() != '.') return {};
  const size_t start = at_++;
  while (at_ < text_.size() && text_[at_] != '.' && is_in(text_[at_], kOpcode)) ++at_;  // the next may follow at once
  const std::string_view found = text_.substr(start, at_ - start);
  skip();
  return found;
}

std::string_view Cursor::opcode() {
  const size_t start = at_;
  while (at_ < text_.size() && is_in(text_[at_], kOpcode)) ++at_;
  const std::string_view found = text_.substr(start, at_ - start);
  skip();
  return found;
}

bool Cursor::at_label() const {
  size_t i = at_;
  while (i < text_.size() && is_in(text_[i], kWord)) ++i;
  if (i == at_) return false;
  while (i < text_.size() && is_in(text_[i], kSpace)) ++i;
  return i < text_.size() && text_[i] == ':' && (i + 1 >= text_.size() || text_[i + 1] != ':');
}

static constexpr std::string_view kWarpSize = "WARP_SZ";  // the one constant that PTX has a name for
bool Cursor::at_number() const {
  return is_in(peek(), kDigit) || (peek() == '.' && is_in(peek(1), kDigit)) || Cursor(*this).accept_word(kWarpSize);
}

Number Cursor::hexadecimal_real(int digits) {
  at_ += 2;
  uint64_t bits = 0;
  for (int i = 0; i < digits; ++i, ++at_) {
    if (!is_in(peek(), kHex))
      fail("a number in hexadecimal floating point needs " + std::to_string(digits) + " digits");
    bits = bits << 4 | static_cast<uint64_t>(digit_value(peek()));
  }
  if (is_in(peek(), kHex))
    fail("a number in hexadecimal floating point has " + std::to_string(digits) + " digits, no more");
  skip();
  return {true, digits == 16, bits};
}

/// 12, 1.5, 1e-3: what has a point or an exponent is an f64.
Number Cursor::decimal() {
  size_t end = at_;
  while (end < text_.size() && is_in(text_[end], kDigit)) ++end;
  bool real = false;
  if (end < text_.size() && text_[end] == '.') {
    real = true;
    for (++end; end < text_.size() && is_in(text_[end], kDigit);) ++end;
  }
  if (end < text_.size() && (text_[end] | 0x20) == 'e') {
    size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (exponent < text_.size() && is_in(text_[exponent], kDigit)) {
      real = true;
      for (end = exponent; end < text_.size() && is_in(text_[end], kDigit);) ++end;
    }
  }
  const std::string digits(text_.substr(at_, end - at_));
  if (real) {
    at_ = end;
    skip();
    return {true, true, std::bit_cast<uint64_t>(std::strtod(digits.c_str(), nullptr))};
  }
  const int base = digits.size() > 1 && digits[0] == '0' ? 8 : 10;
  uint64_t value = 0;
  for (const char c : digits) {
    if (digit_value(c) >= base) fail("'" + digits + "' is no octal number");
    const uint64_t next = value * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit_value(c));
    if (next / static_cast<uint64_t>(base) != value) fail("the number '" + digits + "' needs more than 64 bits");
    value = next;
  }
  at_ = end;
  if (peek() == 'U') ++at_;
  skip();
  return {false, false, value};
}

Number Cursor::number() {
  if (accept_word(kWarpSize)) return {false, false, 32};
  const char second = static_cast<char>(peek(1) | 0x20);
  if (peek() == '0' && second == 'f') return hexadecimal_real(8);
  if (peek() == '0' && second == 'd') return hexadecimal_real(16);
  if (peek() != '0' || (second != 'x' && second != 'b')) return decimal();
  const int base = second == 'x' ? 16 : 2;
  at_ += 2;
  if (!is_in(peek(), kHex)) fail(base == 16 ? "a hexadecimal number needs a digit" : "a binary number needs a digit");
  uint64_t value = 0;
  for (; is_in(peek(), kHex); ++at_) {
    if (digit_value(peek()) >= base) fail("a binary number has no digit but 0 and 1");
    if (value >> (base == 16 ? 60 : 63)) fail("the number needs more than 64 bits");
    value = value * static_cast<uint64_t>(base) + static_cast<uint64_t>(digit_value(peek()));
  }
  if (peek() == 'U') ++at_;
  skip();
  return {false, false, value};
}

uint64_t Cursor::unary(int depth) {
  if (depth > kMostParentheses) fail("a constant expression is nested too deeply");
  if (accept('-')) return 0 - unary(depth + 1);
  if (accept('+')) return unary(depth + 1);
  if (accept('~')) return ~unary(depth + 1);
  if (peek() == '!' && accept('!')) return unary(depth + 1) == 0;
  if (accept('(')) {
    // A cast, (.s64) or (.u64), changes nothing in 64 bits.
    if (peek() == '.') {
      directive();
      expect(')', "a cast");
      return unary(depth + 1);
    }
    const uint64_t value = binary(0, depth + 1);
    expect(')', "a constant expression");
    return value;
  }
  if (!at_number()) fail("expected a number, found " + seen(peek()));
  const Number n = number();
  if (n.real) fail("expected an integer, found a number in floating point");
  return n.bits;
}

uint64_t Cursor::binary(int level, int depth) {
  if (level > kHighestLevel) return unary(depth);
  uint64_t left = binary(level + 1, depth);
  while (true) {
    const BinaryOperator* found = nullptr;
    for (const BinaryOperator& o : kOperators)
      if (text_.substr(at_, o.text.size()) == o.text) {
        found = &o;
        break;
      }
    if (!found || found->level != level) return left;
    at_ += found->text.size();
    skip();
    const uint64_t right = binary(level + 1, depth);
    const auto l = static_cast<int64_t>(left), r = static_cast<int64_t>(right);
    const bool divides = found->text == "/" || found->text == "%";
    if (divides && right == 0) fail("a constant expression divides by zero");
    if (divides && r == -1)
      left = found->text == "/" ? 0 - left : 0;
    else if (found->text == "/")
      left = static_cast<uint64_t>(l / r);
    else if (found->text == "%")
      left = static_cast<uint64_t>(l % r);
    else if (found->text == "*")
      left *= right;
    else if (found->text == "+")
      left += right;
    else if (found->text == "-")
      left -= right;
    else if (found->text == "<<")
      left = right > 63 ? 0 : left << right;
    else if (found->text == ">>")
      left = static_cast<uint64_t>(right > 63 ? (l < 0 ? -1 : 0) : l >> right);
    else if (found->text == "&")
      left &= right;
    else if (found->text == "|")
      left |= right;
    else if (found->text == "^")
      left ^= right;
    else if (found->text == "&&")
      left = left && right;
    else if (found->text == "||")
      left = left || right;
    else if (found->text == "==")
      left = left == right;
    else if (found->text == "!=")
      left = left != right;
    else if (found->text == "<=")
      left = l <= r;
    else if (found->text == ">=")
      left = l >= r;
    else if (found->text == "<")
      left = l < r;
    else
      left = l > r;
  }
}

uint64_t Cursor::integer(std::string_view what) {
  if (!at_number() && peek() != '-' && peek() != '(' && peek() != '~' && peek() != '+' && peek() != '!')
    fail("expected a number for " + std::string(what) + ", found " + seen(peek()));
  return binary(0, 0);
}

uint64_t Cursor::plain_integer(std::string_view what) {
  if (!at_number()) fail("expected a number for " + std::string(what) + ", found " + seen(peek()));
  const Number n = number();
  if (n.real) fail("expected an integer for " + std::string(what) + ", found a number in floating point");
  return n.bits;
}

std::string_view Cursor::string() {
  if (peek() != '"') fail("expected a text between quotes, found " + seen(peek()));
  const size_t start = ++at_;
  while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n')
    at_ += text_[at_] == '\\' && at_ + 1 < text_.size() ? 2 : 1;
  if (peek() != '"') fail("a text between quotes has no end");
  const std::string_view found = text_.substr(start, at_ - start);
  ++at_;
  skip();
  return found;
}

void Cursor::skip_line() {
  while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  skip();
}

void Cursor::skip_behind(char c) {
  while (!at_end() && peek() != c) {
    if (peek() == '"') {
      string();
      continue;
    }
    ++at_;
    skip();
  }
  if (!accept(c)) fail(std::string("expected '") + c + "' before the end of the file");
}

void Cursor::skip_block() {
  for (int depth = 1; depth > 0;) {
    if (at_end()) fail("a block has no end");
    if (peek() == '"') {
      string();
      continue;
    }
    depth += peek() == '{' ? 1 : peek() == '}' ? -1 : 0;
    ++at_;
    skip();
  }
}

}  // namespace sm100::ptx
