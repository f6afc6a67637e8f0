// SPDX-License-Identifier: Apache-2.0
/// C++ names behind the symbols of a PTX file.
#pragma once

#include <string>

namespace sm100::ptx {

/// "device_kernel<...>": a function as its source has it, without what stands in angle brackets and parentheses.
std::string function_name(const std::string& mangled);

/// "arrived" for _ZZ4copyPKiPiE7arrived: a variable without the function or class that it is in; what is no mangled
/// name stays as it is.
std::string variable_name(const std::string& mangled);

}  // namespace sm100::ptx
