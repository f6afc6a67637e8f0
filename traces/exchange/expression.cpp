// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace sm100::traces {

namespace {

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

constexpr int kDeepest = 100;  ///< nesting; keeps a file of parentheses from using up the stack

}  // namespace

/// Precedence climbing; emits postfix steps.
class ExpressionParser {
 public:
  using Op = Expression::Op;

  ExpressionParser(Expression& result, const std::vector<std::string_view>& variables)
      : result_(result), text_(result.text_), variables_(variables) {}

  void parse() {
    binary(1);
    if (at_ < text_.size()) fail(fmt::format("'{}' is not expected here", text_.substr(at_, 1)));
  }

 private:
  struct Operator {
    std::string_view text;
    int level;  ///< a higher one binds tighter
    Op op;
  };

  [[noreturn]] void fail(std::string_view what) const {
    throw std::runtime_error(fmt::format("column {}: {}", at_ + 1, what));
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  const Operator* next_operator() {
    static constexpr Operator kOperators[] = {
        // the longer of two that begin alike first
        {"||", 1, Op::logical_or}, {"&&", 2, Op::logical_and},   {"==", 3, Op::equal},   {"!=", 3, Op::not_equal},
        {"<=", 4, Op::less_equal}, {">=", 4, Op::greater_equal}, {"<", 4, Op::less},     {">", 4, Op::greater},
        {"+", 5, Op::add},         {"-", 5, Op::subtract},       {"*", 6, Op::multiply}, {"/", 6, Op::divide},
        {"%", 6, Op::remainder}};
    skip_blanks();
    for (const Operator& candidate : kOperators)
      if (text_.substr(at_, candidate.text.size()) == candidate.text) return &candidate;
    return nullptr;
  }

  void binary(int level) {
    unary();
    for (const Operator* found = next_operator(); found && found->level >= level; found = next_operator()) {
      at_ += found->text.size();
      binary(found->level + 1);
      result_.steps_.push_back({found->op});
    }
  }

  void unary() {
    skip_blanks();
    if (++depth_ > kDeepest) fail("nested too deep");
    const char c = at_ < text_.size() ? text_[at_] : '\0';
    if (c == '-' || c == '!') {
      ++at_;
      unary();
      result_.steps_.push_back({c == '-' ? Op::negate : Op::logical_not});
    } else if (c == '(') {
      ++at_;
      binary(1);
      skip_blanks();
      if (at_ == text_.size() || text_[at_] != ')') fail("')' is missing");
      ++at_;
    } else if (is_digit(c)) {
      number();
    } else if (is_letter(c)) {
      variable();
    } else {
      fail("a number, a variable or '(' is expected");
    }
    --depth_;
  }

  void number() {
    int64_t value = 0;
    const auto [end, status] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (status != std::errc()) fail("the number is too large");
    at_ = static_cast<size_t>(end - text_.data());
    result_.steps_.push_back({Op::constant, value});
  }

  void variable() {
    size_t end = at_;
    while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]) || text_[end] == '.')) ++end;
    const std::string_view name = text_.substr(at_, end - at_);
    const bool known = std::any_of(variables_.begin(), variables_.end(), [&](std::string_view allowed) {
      return (allowed == name && allowed.back() != '.') ||
             (allowed.back() == '.' && name.size() > allowed.size() && name.starts_with(allowed));
    });
    if (!known) {
      std::string allowed;
      for (std::string_view one : variables_)
        allowed += fmt::format("{}{}{}", allowed.empty() ? "" : ", ", one, one.back() == '.' ? "NAME" : "");
      fail(fmt::format("unknown variable '{}'; allowed are {}", name, allowed));
    }
    auto& names = result_.names_;
    auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) found = names.insert(names.end(), std::string(name));
    result_.steps_.push_back({Op::variable, found - names.begin()});
    at_ = end;
  }

  Expression& result_;
  std::string_view text_;
  const std::vector<std::string_view>& variables_;
  size_t at_ = 0;
  int depth_ = 0;
};

Expression::Expression(std::string_view text, const std::vector<std::string_view>& variables) : text_(text) {
  ExpressionParser(*this, variables).parse();
}

int64_t Expression::apply(Op op, int64_t a, int64_t b) {
  int64_t result = 0;
  bool overflow = false;
  switch (op) {
    case Op::multiply: overflow = __builtin_mul_overflow(a, b, &result); break;
    case Op::add: overflow = __builtin_add_overflow(a, b, &result); break;
    case Op::subtract: overflow = __builtin_sub_overflow(a, b, &result); break;
    case Op::divide:
    case Op::remainder:
      if (b == 0) throw std::runtime_error("division by zero");
      overflow = a == INT64_MIN && b == -1;
      if (!overflow) result = op == Op::divide ? a / b : a % b;
      break;
    case Op::less: result = a < b; break;
    case Op::less_equal: result = a <= b; break;
    case Op::greater: result = a > b; break;
    case Op::greater_equal: result = a >= b; break;
    case Op::equal: result = a == b; break;
    case Op::not_equal: result = a != b; break;
    case Op::logical_and: result = a != 0 && b != 0; break;
    case Op::logical_or: result = a != 0 || b != 0; break;
    case Op::constant:
    case Op::variable:
    case Op::negate:
    case Op::logical_not: break;  // not binary
  }
  if (overflow) throw std::runtime_error("the result does not fit 64 bits");
  return result;
}

std::optional<int64_t> Expression::evaluate(const Variables& variables) const {
  std::vector<int64_t> stack;
  stack.reserve(steps_.size());
  for (const Step& step : steps_) {
    if (step.op == Op::constant) {
      stack.push_back(step.operand);
    } else if (step.op == Op::variable) {
      const std::optional<int64_t> value = variables(names_[static_cast<size_t>(step.operand)]);
      if (!value) return std::nullopt;
      stack.push_back(*value);
    } else if (step.op == Op::negate) {
      stack.back() = apply(Op::subtract, 0, stack.back());
    } else if (step.op == Op::logical_not) {
      stack.back() = stack.back() == 0;
    } else {
      const int64_t right = stack.back();
      stack.pop_back();
      stack.back() = apply(step.op, stack.back(), right);
    }
  }
  return stack.back();
}

}  // namespace sm100::traces
