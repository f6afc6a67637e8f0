// SPDX-License-Identifier: Apache-2.0
// SystemC brings its own main, which calls sc_main; the tests' main is sc_main for those that link it.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_session.hpp>
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#endif

int main(int argc, char** argv) { return Catch::Session().run(argc, argv); }
