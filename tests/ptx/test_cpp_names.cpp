// SPDX-License-Identifier: Apache-2.0
// Names of C++ behind symbols of PTX, as nvcc mangles them.
#include "catch.h"
#include "ptx/cpp_names.h"

using namespace sm100::ptx;

TEST_CASE("a variable of a function is called by its own name") {
  CHECK(variable_name("_ZZ4copyPKiPiE7arrived") == "arrived");
  CHECK(variable_name("_ZZN4gemm6kernelIfLi4EEEvPKT_E5empty") == "empty");
  CHECK(variable_name("_ZN4gemm4fullE") == "full");
}

TEST_CASE("what is no mangled name stays as it is") {
  CHECK(variable_name("full") == "full");
  CHECK(variable_name("_Z") == "_Z");
  CHECK(variable_name("smem$0") == "smem$0");
}

TEST_CASE("a function is called without arguments and result") {
  CHECK(function_name("_Z4copyPKiPi") == "copy");
  CHECK(function_name("_ZN4gemm6kernelIfLi4EEEvPKT_") == "gemm::kernel<...>");
  CHECK(function_name("gemm") == "gemm");
}
