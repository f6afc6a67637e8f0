// SPDX-License-Identifier: Apache-2.0
/// A kernel as a value: what the rest of the program knows of it.  Each kernel defines one in its own folder
/// (kernels/NAME/host); scenarios are read, run and listed without knowing a kernel's name.  A kernel that lives
/// outside this repository is added with add_kernel before a scenario of it is read.
#pragma once

#include <any>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sm100::host {

class KernelRun;
class TomlDocument;
class TomlTable;
struct Scenario;

struct KernelDefinition {
  std::string_view name;         ///< as `kernel = "..."` has it
  std::string_view description;  ///< one line for `sm100sim list kernels`
  bool tensor_core = true;       ///< runs on profiles with tcgen05 only
  bool arithmetic = true;        ///< run.numerics means something
  bool result = true;            ///< false: a microbenchmark, which runs without data and takes no faults
  bool trace_points = true;      ///< false: spans of its roles are derived from waits and from what it issues
  /// Isa functions that the kernel calls and a [[fault]] may name; empty: all that faults can alter.
  std::span<const std::string_view> fault_instructions{};

  /// Reads and checks [problem] and [config]; the value becomes Scenario::problem.  [run] has been read.  Appends
  /// to Scenario::warnings what is legal but hardly meant.  Throws InputError.
  std::any (*read)(const TomlDocument& document, const TomlTable& root, Scenario& scenario) = nullptr;
  /// The kernel on the scenario's problem.
  std::unique_ptr<KernelRun> (*run)(const Scenario& scenario) = nullptr;
};

/// All kernels, those of this program first, then those added.
const std::vector<const KernelDefinition*>& kernels();
/// The kernel of that name; nullptr if there is none.
const KernelDefinition* find_kernel(std::string_view name);
/// Makes a kernel known to load_scenario and the lists.  `definition` must outlive every use.  Throws
/// std::logic_error if the name is taken or a function is missing.
void add_kernel(const KernelDefinition& definition);

}  // namespace sm100::host
