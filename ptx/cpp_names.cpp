// SPDX-License-Identifier: Apache-2.0
#include "ptx/cpp_names.h"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>

namespace sm100::ptx {

namespace {

/// The names in front of the template arguments of a mangled name: "cutlass::device_kernel<...>".  What demanglers
/// give up on has arguments that nvcc alone understands.
std::string outer_name(const std::string& mangled) {
  const bool nested = mangled.rfind("_ZN", 0) == 0;
  if (!nested && mangled.rfind("_Z", 0) != 0) return mangled;
  std::string name;
  for (size_t at = nested ? 3 : 2; at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at]));) {
    size_t length = 0;
    while (at < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[at])))
      length = length * 10 + size_t(mangled[at++] - '0');
    if (length > mangled.size() - at) return mangled;
    name += (name.empty() ? "" : "::") + mangled.substr(at, length);
    at += length;
    if (at < mangled.size() && mangled[at] == 'I') return name + "<...>";
  }
  return name.empty() ? mangled : name;
}

/// Empty: it is no mangled name.
std::string demangled(const std::string& mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  const std::string full = status == 0 && text ? text : "";
  std::free(text);
  return full;
}

}  // namespace

std::string function_name(const std::string& mangled) {
  const std::string full = demangled(mangled);
  if (full.empty()) return outer_name(mangled);
  std::string name;
  int depth = 0;
  for (size_t i = 0; i < full.size(); ++i) {
    const char c = full[i];
    if (depth == 0 && full.compare(i, 21, "(anonymous namespace)") == 0) {
      name += "(anonymous namespace)", i += 20;
      continue;
    }
    if (c == '<' || c == '(') {
      if (depth == 0 && c == '<') name += "<...>";
      if (depth == 0 && c == '(') break;  // of the parameters
      ++depth;
    } else if (c == '>' || c == ')') {
      --depth;
    } else if (depth == 0) {
      name += c;
    }
  }
  const size_t result_type = name.rfind("void ", 0) == 0 ? 5 : 0;  // of templates
  return name.substr(result_type);
}

std::string variable_name(const std::string& mangled) {
  const std::string full = demangled(mangled);
  int depth = 0;
  for (size_t i = full.size(); i > 1; --i) {
    const char c = full[i - 1];
    depth += c == ')' || c == '>' || c == '}' || c == ']';
    depth -= c == '(' || c == '<' || c == '{' || c == '[';
    if (depth == 0 && c == ':' && full[i - 2] == ':') return full.substr(i);
  }
  return full.empty() ? mangled : full;
}

}  // namespace sm100::ptx
