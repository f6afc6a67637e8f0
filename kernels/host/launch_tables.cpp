// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/launch_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "kernels/host/kernel_run.h"
#include "kernels/host/read_config.h"
#include "kernels/host/run_plan.h"

namespace sm100::host {
namespace {

constexpr int kMostStreams = 64;
const std::vector<std::string> kKeys = {"name",      "kernel", "stream",  "after", "pdl",
                                        "registers", "inputs", "problem", "config"};

std::string quoted_names(const std::vector<std::string>& words) {
  return fmt::format("\"{}\"", fmt::join(words, "\", \""));
}

std::vector<std::string> names_of(const std::vector<LaunchSpec>& launches) {
  std::vector<std::string> names;
  for (const LaunchSpec& launch : launches) names.push_back(launch.name);
  return names;
}

/// Position of a launch that stands before `at`, or -1.
int launch_named(const std::vector<LaunchSpec>& launches, std::string_view name) {
  for (size_t i = 0; i < launches.size(); ++i)
    if (launches[i].name == name) return int(i);
  return -1;
}

std::string read_name(const TomlDocument& document, const TomlTable& table, const std::vector<LaunchSpec>& before) {
  const std::string name = table.string("name");
  const bool plain = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '-';
  });
  if (!plain) throw document.error(table.path("name"), "allowed are letters, digits, _ and -");
  if (launch_named(before, name) >= 0)
    throw document.error(table.path("name"), "another launch has this name; each needs its own");
  return name;
}

std::vector<int> read_after(const TomlDocument& document, const TomlTable& table,
                            const std::vector<LaunchSpec>& before) {
  std::vector<int> after;
  for (const std::string& name : table.strings("after")) {
    const int launch = launch_named(before, name);
    if (launch < 0)
      throw document.error(
          table.path("after"),
          before.empty()
              ? "no launch stands before this one; an event is recorded before it is waited for"
              : fmt::format("allowed are launches that stand before this one: {}", quoted_names(names_of(before))));
    after.push_back(launch);
  }
  return after;
}

LaunchSpec read_head(const TomlDocument& document, const TomlTable& table, const std::vector<LaunchSpec>& before) {
  std::vector<std::string_view> kernel_names;
  for (const KernelDefinition* kernel : kernels()) kernel_names.push_back(kernel->name);
  LaunchSpec launch;
  launch.name = read_name(document, table, before);
  launch.kernel = find_kernel(table.word("kernel", kernel_names));
  if (table.has("stream")) launch.stream = read_int(table, "stream", 0, kMostStreams - 1);
  if (table.has("after")) launch.after = read_after(document, table, before);
  if (table.has("pdl")) launch.pdl = table.boolean("pdl");
  if (table.has("registers")) launch.registers = read_int(table, "registers", 0, 255);
  const bool first = std::none_of(before.begin(), before.end(),
                                  [&](const LaunchSpec& other) { return other.stream == launch.stream; });
  if (launch.pdl.value_or(false) && first)
    throw document.error(table.path("pdl"),
                         fmt::format("no launch is ahead of this one in stream {}", launch.stream));
  return launch;
}

/// "512 x 256 bf16", or "65536 bytes" where a kernel does not state more.
std::string shape_of(const Tensor& t) {
  return t.type.empty() ? fmt::format("{} bytes", t.bytes) : fmt::format("{} x {} {}", t.rows, t.columns, t.type);
}

bool agree(const Tensor& a, const Tensor& b) {
  if (a.type.empty() || b.type.empty()) return a.bytes == b.bytes;
  return a.type == b.type && a.rows == b.rows && a.columns == b.columns;
}

/// inputs.A = "gemm.C"
LaunchInput read_input(const TomlDocument& document, const TomlTable& table, const Tensor& tensor,
                       const Scenario& scenario, size_t reader) {
  const std::string key = table.path(tensor.name), value = table.string(tensor.name);
  std::vector<std::string> allowed;
  for (size_t i = 0; i < reader; ++i) {
    Scenario own = scenario;
    own.kernel = scenario.launch_list[i].kernel, own.problem = scenario.launch_list[i].problem;
    const std::unique_ptr<KernelRun> writer = make_run(own);
    const Tensor output = writer->tensors().back();
    allowed.push_back(fmt::format("{}.{}", scenario.launch_list[i].name, output.name));
    if (value != allowed.back()) continue;
    if (!agree(tensor, output))
      throw document.error(key, fmt::format("{} is {}, {} of {} needs {}", value, shape_of(output), tensor.name,
                                            scenario.launch_list[reader].name, shape_of(tensor)));
    return {tensor.name, int(i)};
  }
  throw document.error(
      key, allowed.empty()
               ? "no launch stands before this one"
               : fmt::format("allowed are outputs of launches that stand before this one: {}", quoted_names(allowed)));
}

std::vector<LaunchInput> read_inputs(const TomlDocument& document, const TomlTable& root, const Scenario& scenario,
                                     const KernelRun& run, size_t reader) {
  std::vector<Tensor> tensors = run.tensors();
  tensors.pop_back();  // the output
  std::erase_if(tensors, [](const Tensor& tensor) { return tensor.locks; });
  std::vector<std::string> names;
  for (const Tensor& tensor : tensors) names.push_back(tensor.name);
  const TomlTable table = root.table("inputs", names);
  std::vector<LaunchInput> inputs;
  for (const Tensor& tensor : tensors)
    if (table.has(tensor.name)) inputs.push_back(read_input(document, table, tensor, scenario, reader));
  return inputs;
}

}  // namespace

std::vector<LaunchSpec> read_launch_heads(const TomlDocument& document, const TomlTable& root) {
  for (const char* key : {"kernel", "problem", "config"})
    if (root.has(key))
      throw document.error(
          key, fmt::format("not allowed beside [[launch]]: each launch has its own ([launch.{}])", key));
  std::vector<LaunchSpec> launches;
  for (const TomlTable& table : root.tables("launch", kKeys))
    launches.push_back(read_head(document, table, launches));
  return launches;
}

void read_launch_problems(const TomlDocument& document, const TomlTable& root, Scenario& s) {
  const size_t count = root.tables("launch", kKeys).size();
  for (size_t i = 0; i < count; ++i) {
    LaunchSpec& launch = s.launch_list[i];
    const TomlDocument own_document = document.of_table(fmt::format("launch.{}", i));
    const TomlTable own_root = own_document.root(kKeys);
    Scenario own = s;
    own.kernel = launch.kernel;
    launch.problem = own.problem = launch.kernel->read(own_document, own_root, own);
    s.warnings = own.warnings;
    if (own_root.has("inputs")) launch.inputs = read_inputs(own_document, own_root, s, *make_run(own), i);
  }
  s.problem = s.launch_list.front().problem;
}

}  // namespace sm100::host
