// SPDX-License-Identifier: Apache-2.0
// Integer expressions of import maps: C's precedence and meaning, absent variables, errors with a column.

#include "catch.h"
#include "traces/exchange/expression.h"

using namespace sm100;
using sm100::traces::Expression;

namespace {

const std::vector<std::string_view> kVariables = {"pid", "tid", "i", "args."};

std::optional<int64_t> value(std::string_view text) {
  return Expression(text, kVariables).evaluate([](std::string_view name) -> std::optional<int64_t> {
    if (name == "pid") return 142;
    if (name == "tid") return 151;
    if (name == "i") return 17;
    if (name == "args.k") return 5;
    return std::nullopt;
  });
}

std::string error(std::string_view text) {
  try {
    value(text);
  } catch (const std::runtime_error& error) { return error.what(); }
  return "no error";
}

}  // namespace

TEST_CASE("expressions: C's precedence, from left to right", "[import]") {
  CHECK(value("2 + 3 * 4") == 14);
  CHECK(value("(2 + 3) * 4") == 20);
  CHECK(value("10 - 3 - 2") == 5);
  CHECK(value("100/5/2*3%7") == 2);  // ((100/5)/2)*3 = 30, 30 % 7
  CHECK(value("-3 + 5") == 2);
  CHECK(value("2 - -3") == 5);
  CHECK(value("-7 / 2") == -3);
  CHECK(value("-7 % 2") == -1);
  CHECK(value("1 + 1 == 2 && 3 < 2 || 4 >= 4") == 1);
  CHECK(value("1 || 0 && 0") == 1);
  CHECK(value("1 <= 0") == 0);
  CHECK(value("2 > 1") == 1);
  CHECK(value("1 != 1") == 0);
  CHECK(value("!0 + !5") == 1);
  CHECK(value("9223372036854775807") == INT64_MAX);
}

TEST_CASE("expressions: variables, and no value where one is absent", "[import]") {
  CHECK(value("(tid - pid) / 4") == 2);
  CHECK(value("(tid-pid)%4") == 1);
  CHECK(value("i / 7 - 1") == 1);
  CHECK(value(" args.k*2 ") == 10);
  CHECK(value("1 + args.stage") == std::nullopt);
}

TEST_CASE("expressions: errors say where and what", "[import]") {
  CHECK(error("") == "column 1: a number, a variable or '(' is expected");
  CHECK(error("1 +") == "column 4: a number, a variable or '(' is expected");
  CHECK(error("(1 + 2") == "column 7: ')' is missing");
  CHECK(error("1 2") == "column 3: '2' is not expected here");
  CHECK(error("1 = 2") == "column 3: '=' is not expected here");
  CHECK(error("pid + tidd") == "column 7: unknown variable 'tidd'; allowed are pid, tid, i, args.NAME");
  CHECK(error("args.") == "column 1: unknown variable 'args.'; allowed are pid, tid, i, args.NAME");
  CHECK(error("9223372036854775808") == "column 1: the number is too large");
  CHECK(error(std::string(200, '(')) == "column 101: nested too deep");
  CHECK(error("1 / (i - 17)") == "division by zero");
  CHECK(error("1 % 0") == "division by zero");
  CHECK(error("9223372036854775807 + 1") == "the result does not fit 64 bits");
  CHECK(error("(-9223372036854775807 - 1) / -1") == "the result does not fit 64 bits");
}
