// SPDX-License-Identifier: Apache-2.0
/// sm100sim instrument: PTX text with a recorder in it.

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <iterator>
#include <memory>

#include "kernels/host/scenario.h"
#include "ptx/instrument.h"
#include "ptx/types.h"
#include "sim/cli/commands.h"
#include "traces/format/atomic_file.h"

namespace sm100::sim::cli {

using host::InputError;
namespace {

struct InstrumentCommand {
  std::string file, output, entry;
  std::vector<std::string> only;
};

std::string group_names() {
  std::string names;
  for (int g = 0; g < ptx::kPointGroups; ++g)
    names += (names.empty() ? "" : ", ") + std::string(ptx::name(ptx::PointGroup(g)));
  return names;
}

ptx::InstrumentOptions options_of(const InstrumentCommand& command) {
  ptx::InstrumentOptions options;
  if (command.only.empty()) return options;
  options.groups = 0;
  for (const std::string& word : command.only) {
    uint32_t bit = 0;
    for (int g = 0; g < ptx::kPointGroups; ++g)
      if (word == ptx::name(ptx::PointGroup(g))) bit = 1u << g;
    if (bit == 0)
      throw InputError(fmt::format("--only: '{}' is no kind of point; allowed: {}", word, group_names()));
    options.groups |= bit;
  }
  return options;
}

ptx::Module module_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  try {
    return ptx::parse(std::string{std::istreambuf_iterator<char>(file), {}}, path);
  } catch (const ptx::PtxError& error) { throw InputError(error.what()); }
}

std::vector<const ptx::Entry*> entries_of(const ptx::Module& module, const InstrumentCommand& command) {
  std::vector<const ptx::Entry*> entries;
  std::string names;
  for (const ptx::Entry& entry : module.entries) {
    if (entry.external) continue;
    names += fmt::format("\n  {}", entry.name);
    if (command.entry.empty() || entry.name == command.entry) entries.push_back(&entry);
  }
  if (!entries.empty()) return entries;
  if (names.empty()) throw InputError(fmt::format("{}: there is no entry in this file", command.file));
  throw InputError(
      fmt::format("{}: there is no entry '{}'; --entry names one of:{}", command.file, command.entry, names));
}

void report(const InstrumentCommand& command, const ptx::Instrumented& made,
            const std::vector<const ptx::Entry*>& entries) {
  for (const ptx::Entry* entry : entries) {
    std::array<size_t, ptx::kPointGroups> counts{};
    size_t all = 0;
    for (const ptx::Point& p : made.points)
      if (p.entry == entry->name) ++counts[size_t(p.group)], ++all;
    std::string parts;
    for (int g = 0; g < ptx::kPointGroups; ++g)
      if (counts[size_t(g)] > 0)
        parts +=
            fmt::format("{}{} {}", parts.empty() ? ": " : ", ", counts[size_t(g)], ptx::name(ptx::PointGroup(g)));
    fmt::print("{}: {} {} in {}{}\n", command.file, all, all == 1 ? "point" : "points", entry->name, parts);
  }
  for (const ptx::Unrecorded& u : made.unrecorded)
    fmt::print("{}:{}: {} of {} is not recorded: {}\n", command.file, u.line, u.opcode, u.function, u.why);
  fmt::print("{} registers and {} instructions more\n", made.registers, made.instructions);
}

void instrument(const InstrumentCommand& command) {
  const ptx::InstrumentOptions options = options_of(command);
  const ptx::Module module = module_of(command.file);
  const std::vector<const ptx::Entry*> entries = entries_of(module, command);
  ptx::Instrumented made;
  try {
    made = ptx::instrument(module, entries, options);
  } catch (const ptx::PtxError& error) { throw InputError(error.what()); }
  try {
    traces::check_output(command.output, command.file);
    traces::AtomicFile file(command.output);
    file.stream() << made.text;
    file.commit();
  } catch (const std::runtime_error& error) { throw InputError(error.what()); }
  if (!traces::is_standard_stream(command.output)) report(command, made, entries);
}

}  // namespace

void add_instrument_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<InstrumentCommand>();
  CLI::App* command =
      app.add_subcommand("instrument", "Put a recorder into a kernel's PTX: it writes its timeline where it runs");
  command->add_option("FILE", options->file, "PTX file")->required()->check(file_name());
  command->add_option("-o,--output", options->output, "PTX file to write; -: standard output")
      ->type_name("FILE")
      ->required()
      ->check(file_name());
  command->add_option("--entry", options->entry, "This entry alone; without it, all of the file")
      ->type_name("NAME")
      ->check(some_text());
  command
      ->add_option("--only", options->only,
                   "Points of these kinds alone: waits, copies, mmas, commits, arrives, tiles, stores")
      ->type_name("KINDS")
      ->delimiter(',')
      ->check(some_text());
  command->callback([options, &exit_code] {
    instrument(*options);
    exit_code = kOk;
  });
}

}  // namespace sm100::sim::cli
