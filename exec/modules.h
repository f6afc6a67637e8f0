// SPDX-License-Identifier: Apache-2.0
/// The modules that a program has loaded: PTX, read once.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "exec/protocol.h"
#include "models/profiles/profile.h"
#include "ptx/module.h"

namespace sm100::exec {

class Modules {
 public:
  /// Reads a module and gives it a number; a text that was read before keeps its.  Throws ptx::PtxError.
  /// @param name     of the program, whose modules are PROGRAM.ptx, PROGRAM.2.ptx ...
  /// @param is_file  it is the file's
  uint32_t add(const std::string& text, const std::string& name, bool is_file = false);
  /// Of a thread of an entry of the module, by its machine code; 0: there is none.
  int registers(uint32_t number, const std::string& entry) const;
  void set_registers(uint32_t number, const std::string& entry, uint32_t registers) {
    registers_[{number, entry}] = int(registers);
  }
  /// nullptr: there is no module of that number.
  std::shared_ptr<const ptx::Module> module(uint32_t number) const;
  const std::string& text(uint32_t number) const { return *modules_[number]->text; }

 private:
  std::deque<std::shared_ptr<const ptx::Module>> modules_;
  std::map<std::pair<uint32_t, std::string>, int> registers_;
};

/// Index of the entry; -1: there is none of that name.
int find_entry(const ptx::Module& module, const std::string& name);
EntryFacts facts_of(const ptx::Module& module, const ptx::Entry& entry);
std::vector<Parameter> parameters_of(const ptx::Entry& entry);

}  // namespace sm100::exec
