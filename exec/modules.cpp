// SPDX-License-Identifier: Apache-2.0
#include "exec/modules.h"

#include <fmt/format.h>

#include "ptx/program.h"

namespace sm100::exec {

uint32_t Modules::add(const std::string& text, const std::string& name, bool is_file) {
  for (size_t i = 0; i < modules_.size(); ++i)
    if (*modules_[i]->text == text) return uint32_t(i);
  const std::string file = is_file            ? name
                           : modules_.empty() ? name + ".ptx"
                                              : fmt::format("{}.{}.ptx", name, modules_.size() + 1);
  modules_.push_back(std::make_shared<const ptx::Module>(ptx::parse(text, file)));
  return uint32_t(modules_.size() - 1);
}

std::shared_ptr<const ptx::Module> Modules::module(uint32_t number) const {
  return number < modules_.size() ? modules_[number] : nullptr;
}

int Modules::registers(uint32_t number, const std::string& entry) const {
  const auto known = registers_.find({number, entry});
  return known == registers_.end() ? 0 : known->second;
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

}  // namespace sm100::exec
