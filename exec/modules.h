// SPDX-License-Identifier: Apache-2.0
/// The modules that a program has loaded: PTX, read once.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "exec/protocol.h"
#include "models/profiles/profile.h"
#include "ptx/module.h"

namespace sm100::exec {

class Modules {
 public:
  /// Reads a module and gives it a number; a text that was read before keeps its.  Throws ptx::PtxError.
  uint32_t add(const std::string& text, const std::string& program);
  /// nullptr: there is no module of that number.
  std::shared_ptr<const ptx::Module> module(uint32_t number) const;
  const std::string& text(uint32_t number) const { return *modules_[number]->text; }

 private:
  std::deque<std::shared_ptr<const ptx::Module>> modules_;
};

/// Index of the entry; -1: there is none of that name.
int find_entry(const ptx::Module& module, const std::string& name);
EntryFacts facts_of(const ptx::Module& module, const ptx::Entry& entry);
std::vector<Parameter> parameters_of(const ptx::Entry& entry);

/// "device_kernel<...>": the name as the source has it, without what stands in angle brackets and parentheses.
std::string short_name(const std::string& mangled);

}  // namespace sm100::exec
