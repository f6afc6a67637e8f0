// SPDX-License-Identifier: Apache-2.0
/// sm100sim ptx: runs a kernel that is given as PTX; --check says what of each entry the simulator knows,
/// --describe writes a launch file to fill in, both without running it.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "kernels/host/toml_reader.h"
#include "ptx/program.h"
#include "sim/cli/commands.h"
#include "sim/cli/integers.h"
#include "sim/cli/json_output.h"
#include "sim/cli/ptx_description.h"
#include "sim/cli/run_command.h"
#include "sim/ptx/ptx_code.h"
#include "traces/format/compressed_file.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

struct PtxOptions {
  std::string file, entry, launch, names;
  bool check = false, describe = false;
  int registers = 0;  ///< of a thread; 0: not given
  RunOptions run;
};

std::string text_of(const Json& row, const char* key) { return row[key].get<std::string>(); }

std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(fmt::format("{}: cannot be read", path));
  return {std::istreambuf_iterator<char>(file), {}};
}

ptx::Module module_of(const std::string& path) {
  try {
    return ptx::parse(contents_of(path), path);
  } catch (const ptx::PtxError& error) { throw InputError(error.what()); }
}

/// What cannot be executed, each form once, in the order of lines.
std::vector<ptx::UnsupportedForm> missing_forms(const ptx::Program& program) {
  std::vector<ptx::UnsupportedForm> forms;
  for (const ptx::Instr& in : program.code) {
    const std::string why = ptx_missing(program, in);
    if (why.empty()) continue;
    const std::string text(program.text(in));
    const auto known = std::find_if(forms.begin(), forms.end(), [&](const auto& f) { return f.opcode == text; });
    if (known != forms.end())
      ++known->count;
    else
      forms.push_back({text, why, in.line, in.loc, 1});
  }
  return forms;
}

Json forms_json(const ptx::Module& module, const std::vector<ptx::UnsupportedForm>& forms) {
  Json rows = Json::array();
  for (const ptx::UnsupportedForm& form : forms)
    rows.push_back({{"opcode", form.opcode},
                    {"why", form.why},
                    {"line", form.line},
                    {"source", text_or_null(module.place(form.loc))},
                    {"count", form.count}});
  return rows;
}

/// How often each form occurs.
Json opcodes_json(const ptx::Program& program) {
  std::map<std::string, size_t> opcodes;
  for (const ptx::Instr& in : program.code) ++opcodes[std::string(program.text(in))];
  Json json = Json::object();
  for (const auto& [opcode, count] : opcodes)
    if (!opcode.empty()) json[opcode] = count;
  return json;
}

Json counts_json(const ptx::Program& program) {
  std::map<std::string, size_t> kinds;
  for (const ptx::Instr& in : program.code) ++kinds[std::string(ptx::name(in.kind))];
  Json json = Json::object();
  for (const auto& [kind, count] : kinds) json[kind] = count;
  return json;
}

Json entry_json(const ptx::Module& module, const ptx::Entry& entry) {
  const ptx::Program program = ptx::decode(module, entry);
  const std::vector<ptx::UnsupportedForm> missing = missing_forms(program);
  const auto loads =
      std::count_if(program.waits.begin(), program.waits.end(), [](const ptx::Wait& w) { return w.load; });
  const std::set<std::string_view> opcodes(program.opcodes.begin(), program.opcodes.end());
  return {{"entry", std::string(entry.name)},
          {"line", entry.line},
          {"instructions", program.code.size() - 1},
          {"forms", opcodes.size()},
          {"kinds", counts_json(program)},
          {"opcodes", opcodes_json(program)},
          {"waits_for_mbarriers", program.waits.size() - static_cast<size_t>(loads)},
          {"waits_for_memory", loads},
          {"param_bytes", program.param_bytes},
          {"static_shared_bytes", program.static_shared_bytes},
          {"local_bytes", program.local_bytes},
          {"complete", missing.empty()},
          {"missing", forms_json(module, missing)}};
}

Json check_json(const PtxOptions& options) {
  const ptx::Module module = module_of(options.file);
  Json entries = Json::array();
  // As --entry names one to be run: the whole name, or a part of it.
  const bool whole = std::any_of(module.entries.begin(), module.entries.end(),
                                 [&](const ptx::Entry& entry) { return entry.name == options.entry; });
  for (const ptx::Entry& entry : module.entries)
    if (!entry.external &&
        (whole ? entry.name == options.entry : entry.name.find(options.entry) != std::string_view::npos))
      entries.push_back(entry_json(module, entry));
  if (entries.empty())
    throw InputError(options.entry.empty() ? fmt::format("{}: there is no entry in this file", options.file)
                                           : fmt::format("{}: there is no entry whose name is '{}' or has it",
                                                         options.file, options.entry));
  Json json = json_document("ptx-check");
  json.update(Json{{"file", options.file},
                   {"version", fmt::format("{}.{}", module.version_major, module.version_minor)},
                   {"target", text_or_null(std::string(module.target))},
                   {"entries", entries}});
  return json;
}

void print_check(const PtxOptions& options, const Json& json) {
  size_t complete = 0;
  for (const Json& entry : json["entries"]) {
    complete += entry["complete"].get<bool>();
    fmt::print("{}\n  {} instructions, {} forms, {} waits for mbarriers, {} for memory\n", text_of(entry, "entry"),
               entry["instructions"].get<size_t>(), entry["forms"].get<size_t>(),
               entry["waits_for_mbarriers"].get<size_t>(), entry["waits_for_memory"].get<size_t>());
    for (const Json& form : entry["missing"]) {
      const auto line = fmt::format("{}:{}", options.file, form["line"].get<size_t>());
      const bool sourced = !form["source"].is_null();
      const std::string place = sourced ? fmt::format("{} ({})", text_of(form, "source"), line) : line;
      const auto count = form["count"].get<size_t>();
      fmt::print("  not implemented: {} at {}, {} {}: {}\n", text_of(form, "opcode"), place, count,
                 count == 1 ? "time" : "times", text_of(form, "why"));
    }
  }
  fmt::print("{} of {} {} can be looked at in full\n", complete, json["entries"].size(),
             json["entries"].size() == 1 ? "entry" : "entries");
}

void check(const PtxOptions& options) {
  const Json json = check_json(options);
  check_json_path(options.run.json, options.file);
  if (!options.run.json.empty()) write_json(options.run.json, json);
  if (!traces::is_standard_stream(options.run.json)) print_check(options, json);
}

/// The entry of that name, or the only one that has it as a part of its name.
const ptx::Entry& chosen_entry(const ptx::Module& module, const PtxOptions& options) {
  std::vector<const ptx::Entry*> found;
  std::string names;
  for (const ptx::Entry& entry : module.entries) {
    if (entry.external) continue;
    if (entry.name == options.entry) return entry;
    names += fmt::format("\n  {}", entry.name);
    if (entry.name.find(options.entry) != std::string_view::npos) found.push_back(&entry);
  }
  if (found.size() == 1) return *found[0];
  throw InputError(fmt::format("{}: {} entries{}; --entry names one of:{}", options.file,
                               found.empty() ? std::string("no") : std::to_string(found.size()),
                               options.entry.empty() ? "" : fmt::format(" have '{}' in their name", options.entry),
                               names));
}

void describe(const PtxOptions& options) {
  ptx::Module module = module_of(options.file);
  module.name = std::filesystem::path(options.file).filename().string();
  fmt::print("{}", launch_description(module, chosen_entry(module, options), options.file));
}

/// The launch file is a scenario; the command line names the PTX.
RunOptions launched(const PtxOptions& options) {
  RunOptions run = options.run;
  run.scenario = options.launch;
  run.sets.insert(run.sets.begin(),
                  fmt::format("problem.ptx=\"{}\"", std::filesystem::absolute(options.file).string()));
  if (options.registers > 0) run.sets.push_back(fmt::format("run.registers={}", options.registers));
  if (!options.entry.empty()) run.sets.push_back(fmt::format("problem.entry=\"{}\"", options.entry));
  if (!options.names.empty())
    run.sets.push_back(fmt::format("problem.names=\"{}\"", std::filesystem::absolute(options.names).string()));
  return run;
}

}  // namespace

void add_ptx_command(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<PtxOptions>();
  CLI::App* command =
      app.add_subcommand("ptx", "Run a kernel that is given as PTX, or say what of it is not implemented");
  command->add_option("FILE", options->file, "PTX file")->required()->check(file_name());
  CLI::Option* check_only =
      command->add_flag("--check", options->check,
                        "List the instructions of each entry that are not implemented, without running it");
  CLI::Option* describe_only =
      command->add_flag("--describe", options->describe,
                        "Write a launch file for an entry, with what its text says and blanks to fill in");
  describe_only->excludes(check_only);
  command
      ->add_option("--names", options->names,
                   "What barriers and warps are called: [[barrier]] and [[role]] (docs/ptx.md)")
      ->type_name("FILE")
      ->excludes(check_only)
      ->excludes(describe_only)
      ->check(file_name());
  command
      ->add_option("--launch", options->launch,
                   "Grid, tensors and arguments: a scenario with kernel = \"ptx\" (docs/ptx.md)")
      ->type_name("FILE")
      ->excludes(check_only)
      ->excludes(describe_only)
      ->check(file_name());
  command->add_option("--entry", options->entry, "This entry alone, or the only one that has this in its name")
      ->type_name("NAME")
      ->check(some_text());
  command
      ->add_option("--registers", options->registers,
                   "Registers that a thread is launched with, as ptxas -v prints them: what setmaxnreg hands out")
      ->type_name("N")
      ->excludes(check_only)
      ->excludes(describe_only)
      ->check(integers(1, 255));
  add_run_options(*command, std::shared_ptr<RunOptions>(options, &options->run));
  command->callback([options, &exit_code] {
    if (options->check) return check(*options), void(exit_code = kOk);
    if (options->describe) return describe(*options), void(exit_code = kOk);
    if (options->launch.empty())
      throw InputError("ptx: needs --launch FILE, which says how the kernel is launched, --describe or --check");
    exit_code = run(launched(*options));
  });
}

}  // namespace sm100::sim::cli
