// SPDX-License-Identifier: Apache-2.0
#include "exec/modules.h"

#include <cxxabi.h>
#include <fmt/format.h>

#include <cctype>
#include <cstdlib>

#include "ptx/program.h"

namespace sm100::exec {

uint32_t Modules::add(const std::string& text, const std::string& program) {
  for (size_t i = 0; i < modules_.size(); ++i)
    if (*modules_[i]->text == text) return uint32_t(i);
  const std::string name =
      modules_.empty() ? program + ".ptx" : fmt::format("{}.{}.ptx", program, modules_.size() + 1);
  modules_.push_back(std::make_shared<const ptx::Module>(ptx::parse(text, name)));
  return uint32_t(modules_.size() - 1);
}

std::shared_ptr<const ptx::Module> Modules::module(uint32_t number) const {
  return number < modules_.size() ? modules_[number] : nullptr;
}

int find_entry(const ptx::Module& module, const std::string& name) {
  for (size_t i = 0; i < module.entries.size(); ++i)
    if (module.entries[i].name == name && !module.entries[i].external) return int(i);
  return -1;
}

EntryFacts facts_of(const ptx::Module& module, const ptx::Entry& entry) {
  const ptx::Program program = ptx::decode(module, entry);
  EntryFacts facts;
  facts.parameter_bytes = uint32_t(entry.param_bytes);
  facts.static_smem_bytes = uint32_t(program.static_shared_bytes);
  facts.local_bytes = uint32_t(program.local_bytes);
  for (const ptx::Symbol& symbol : program.symbols)
    if (symbol.space == ptx::Space::constant) facts.constant_bytes += uint32_t(symbol.bytes);
  const auto product = [](const ptx::Dim3& d) { return d[0] * d[1] * d[2]; };
  if (entry.directives.reqntid) facts.threads = product(*entry.directives.reqntid);
  if (entry.directives.maxntid) facts.threads = product(*entry.directives.maxntid);
  if (entry.directives.reqnctapercluster) {
    for (size_t i = 0; i < 3; ++i) facts.cluster[i] = (*entry.directives.reqnctapercluster)[i];
    facts.cluster_stated = 1;
  }
  return facts;
}

std::vector<Parameter> parameters_of(const ptx::Entry& entry) {
  std::vector<Parameter> all;
  for (const ptx::Param& param : entry.params) all.push_back({uint32_t(param.offset), uint32_t(param.bytes)});
  return all;
}

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

}  // namespace

std::string short_name(const std::string& mangled) {
  int status = 0;
  char* const text = abi::__cxa_demangle(mangled.c_str(), nullptr, nullptr, &status);
  const std::string full = status == 0 && text ? text : "";
  std::free(text);
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

}  // namespace sm100::exec
