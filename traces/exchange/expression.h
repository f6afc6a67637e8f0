// SPDX-License-Identifier: Apache-2.0
/// The integer expressions of an import map: "(tid - pid) / 4", "i / 7 - 1", "warp == 1 && cta % 2 == 0".
///
/// 64-bit integers, variables, parentheses, and C's operators with C's meaning and precedence: unary - and !,
/// * / %, + -, < <= > >=, == !=, &&, ||.  Comparisons give 0 or 1; both sides of && and || are evaluated.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sm100::traces {

class Expression {
 public:
  /// @param variables  the names that may occur; one that ends in '.' admits every name that begins with it
  /// Throws std::runtime_error, one line: "column 5: unknown variable 'tidd'; allowed are pid, tid".
  Expression(std::string_view text, const std::vector<std::string_view>& variables);

  /// The value of a variable, or nothing where it does not apply (an event without that argument).
  using Variables = std::function<std::optional<int64_t>(std::string_view name)>;

  /// Nothing if a variable has no value.  Throws std::runtime_error, one line, on division by zero and overflow.
  std::optional<int64_t> evaluate(const Variables& variables) const;

  const std::string& text() const { return text_; }

 private:
  friend class ExpressionParser;
  enum class Op : uint8_t {
    constant,
    variable,
    negate,
    logical_not,
    multiply,
    divide,
    remainder,
    add,
    subtract,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    not_equal,
    logical_and,
    logical_or,
  };
  struct Step {  ///< in postfix order
    Op op;
    int64_t operand = 0;  ///< the constant, or index into names_
  };
  static int64_t apply(Op op, int64_t a, int64_t b);

  std::string text_;
  std::vector<Step> steps_;
  std::vector<std::string> names_;
};

}  // namespace sm100::traces
