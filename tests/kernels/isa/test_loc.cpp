// SPDX-License-Identifier: Apache-2.0
// Loc: the line of the caller through nested default arguments, and a place that another front end names.
#include <string_view>

#include "catch.h"
#include "kernels/isa/portability.h"

namespace sm100 {
namespace {

Loc here(Loc loc = Loc::current()) { return loc; }
template <class T>
Loc inner(T, Loc loc = Loc::current()) {
  return here(loc);
}
template <class T>
struct Pipeline {
  Loc wait(Loc loc = Loc::current()) const { return inner(T(), loc); }
};

TEST_CASE("Loc is the line of the call, however many defaults lie between", "[loc]") {
  const unsigned line = __LINE__;
  const Loc plain = here();
  const Loc tmpl = inner(1);
  const Loc member = Pipeline<int>().wait();
  const Loc lambda = [] { return here(); }();
  CHECK(plain.line() == line + 1);
  CHECK(tmpl.line() == line + 2);
  CHECK(member.line() == line + 3);
  CHECK(lambda.line() == line + 4);
  CHECK(std::string_view(plain.file_name()).ends_with("test_loc.cpp"));
  CHECK(plain.column() > 0);
  CHECK(std::string_view(plain.function_name()) != "");
}

TEST_CASE("Loc names a place that is no C++ line", "[loc]") {
  const Loc::Place place{.file = "gemm.ptx", .line = 547, .column = 3, .function = "gemm"};
  const Loc loc(place);
  CHECK(std::string_view(loc.file_name()) == "gemm.ptx");
  CHECK(loc.line() == 547);
  CHECK(loc.column() == 3);
  CHECK(std::string_view(loc.function_name()) == "gemm");
}

TEST_CASE("a Loc without a place is nowhere", "[loc]") {
  CHECK(Loc().line() == 0);
  CHECK(std::string_view(Loc().file_name()).empty());
  CHECK(std::string_view(Loc().function_name()).empty());
}

}  // namespace
}  // namespace sm100
