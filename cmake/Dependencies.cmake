# SPDX-License-Identifier: Apache-2.0
# Third-party libraries, all from Debian 12's packages (`./dev doctor` installs them).

find_package(Eigen3 3.3 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Protobuf REQUIRED)
find_package(ZLIB REQUIRED)
if(SM100_TESTS)
  find_package(Catch2 REQUIRED) # 2 (Debian 12) and 3 both work, see tests/catch.h
endif()

# Debian's libsystemc ships a pkg-config file and no CMake package.  It was built as C++17; a C++20 program links
# to it once the API version check is off.
find_package(PkgConfig REQUIRED)
pkg_check_modules(SYSTEMC REQUIRED IMPORTED_TARGET systemc)
add_library(sm100_systemc INTERFACE)
target_link_libraries(sm100_systemc INTERFACE PkgConfig::SYSTEMC)
target_compile_definitions(sm100_systemc INTERFACE SC_DISABLE_API_VERSION_CHECK)

# Code in CUDA programs is compressed with one of these.  Without them `sm100sim exec` cannot run programs.
pkg_check_modules(ZSTD IMPORTED_TARGET libzstd)
pkg_check_modules(LZ4 IMPORTED_TARGET liblz4)
set(SM100_EXEC_LIBRARY OFF)
if(ZSTD_FOUND AND LZ4_FOUND AND CMAKE_SYSTEM_NAME STREQUAL Linux)
  set(SM100_EXEC_LIBRARY ON)
endif()

# `sm100sim play` serves its page with cpp-httplib.  Without it the command says what is missing.
pkg_check_modules(HTTPLIB IMPORTED_TARGET cpp-httplib)
if(NOT HTTPLIB_FOUND)
  message(STATUS "cpp-httplib not found (Debian: libcpp-httplib-dev): sm100sim play is left out")
endif()
