// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <nlohmann/json.hpp>

#include "kernels/host/data_directory.h"
#include "kernels/host/kernel_run.h"
#include "kernels/host/launch_tables.h"
#include "kernels/host/ptx_file.h"
#include "kernels/host/read_config.h"
#include "kernels/host/run_plan.h"

namespace sm100::host {
namespace {

const TomlTable::Words<DataMode> kDataModes = {{"full", DataMode::full}, {"none", DataMode::none}};
const TomlTable::Words<L2State> kL2States = {
    {"cold", L2State::cold}, {"warm", L2State::warm}, {"dirty", L2State::dirty}};
const TomlTable::Words<Scopes> kScopes = {{"stated", Scopes::stated}, {"strict", Scopes::strict}};
const TomlTable::Words<ProvenanceMode> kProvenanceModes = {
    {"automatic", ProvenanceMode::automatic}, {"off", ProvenanceMode::off}, {"on", ProvenanceMode::on}};
const TomlTable::Words<Numerics> kNumerics = {{"fast", Numerics::fast}, {"b200", Numerics::b200}};

/// "matmul, fallback and direct": the kernels of which `which` is true.
template <class Which>
std::string kernel_names(Which which) {
  std::vector<std::string_view> names;
  for (const KernelDefinition* kernel : kernels())
    if (which(*kernel)) names.push_back(kernel->name);
  if (names.size() < 2) return std::string(names.empty() ? "none" : names[0]);
  const std::string_view last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

// ---------------------------------------------------------------- [run]

std::vector<std::string> run_keys() {
  return {"data",       "l2",        "sms",
          "seed",       "jitter",    "numerics",
          "max_cycles", "recorder",  "recorder_cycles",
          "hazards",    "scopes",    "sm_clock_ghz",
          "launches",   "feed",      "ctas_per_sm",
          "registers",  "hand_out",  "ptx",
          "ptx_entry",  "provenance"};
}

/// What recording costs instead of what the profile says: another kernel's profiler.
void read_recorder_cycles(const TomlDocument& document, const TomlTable& table, Scenario& s) {
  if (!s.recorder) throw document.error("run.recorder_cycles", "needs run.recorder = true");
  const std::vector<int64_t> cycles = table.integers("recorder_cycles", 3, 0, 1'000'000);
  s.device.trace.begin = double(cycles[0]);
  s.device.trace.end = double(cycles[1]);
  s.recorder_first_cycles = double(cycles[2]);
}

/// A number, or what it is to follow from.
void read_clock(const TomlTable& table, Scenario& s) {
  if (!table.has("sm_clock_ghz")) return;
  for (const auto& [word, mode] : {std::pair("power", ClockMode::power), {"single", ClockMode::single}})
    if (table.is_word("sm_clock_ghz", word)) {
      s.clock = mode;
      return;
    }
  try {
    s.device.device.sm_clock_ghz = table.number("sm_clock_ghz", 0.1, 5);
  } catch (const InputError&) {
    throw table.wrong("sm_clock_ghz", R"(allowed are numbers 0.1 to 5, "power" and "single")");
  }
}

/// Kernels of the scenario.
std::vector<const KernelDefinition*> kernels_of(const Scenario& s) {
  if (s.launch_list.empty()) return {s.kernel};
  std::vector<const KernelDefinition*> all;
  for (const LaunchSpec& launch : s.launch_list) all.push_back(launch.kernel);
  return all;
}

/// One without a result runs without data, and so does everything beside it.
void check_results(const TomlDocument& document, const TomlTable& root, Scenario& s) {
  const auto all = kernels_of(s);
  const auto without = std::find_if(all.begin(), all.end(), [](const KernelDefinition* k) { return !k->result; });
  if (without == all.end()) return;
  s.data = DataMode::none;
  if (!root.has("run")) return;
  if (document.has("run.data") && root.table("run", run_keys()).choice("data", kDataModes) == DataMode::full)
    throw document.error("run.data",
                         fmt::format("kernel {} computes nothing; allowed is \"none\"", (*without)->name));
}

void read_run(const TomlDocument& document, const TomlTable& root, Scenario& s) {
  check_results(document, root, s);
  if (!root.has("run")) return;
  const TomlTable table = root.table("run", run_keys());
  if (table.has("data")) s.data = table.choice("data", kDataModes);
  if (table.has("l2")) s.l2 = table.choice("l2", kL2States);
  if (table.has("sms")) s.sms = read_int(table, "sms", 1, s.device.device.sms);
  if (table.has("seed")) s.seed = uint64_t(table.integer("seed", 0, INT64_MAX));
  if (table.has("provenance")) s.provenance = table.choice("provenance", kProvenanceModes);
  if (table.has("hazards")) s.hazards = table.boolean("hazards");
  if (table.has("scopes")) s.scopes = table.choice("scopes", kScopes);
  if (table.has("jitter")) s.jitter = uint64_t(table.integer("jitter", 0, INT64_MAX));
  if (table.has("numerics")) s.numerics = table.choice("numerics", kNumerics);
  const auto all = kernels_of(s);
  if (table.has("numerics") &&
      std::none_of(all.begin(), all.end(), [](const KernelDefinition* k) { return k->arithmetic; }))
    throw document.error("run.numerics",
                         fmt::format("kernel {} does no arithmetic; allowed for {}", s.kernel->name,
                                     kernel_names([](const KernelDefinition& k) { return k.arithmetic; })));
  if (table.has("max_cycles")) s.max_cycles = uint64_t(table.integer("max_cycles", 0, INT64_MAX));
  if (table.has("recorder")) s.recorder = table.boolean("recorder");
  read_clock(table, s);
  if (table.has("recorder_cycles")) read_recorder_cycles(document, table, s);
  for (const char* key : {"launches", "feed"})
    if (table.has(key) && !s.launch_list.empty())
      throw document.error(table.path(key),
                           "not allowed beside [[launch]], which lists the launches and their inputs");
  if (table.has("launches")) s.launches = read_int(table, "launches", 1, 64);
  if (table.has("feed")) s.feed = table.string("feed");
  if (table.is_word("ctas_per_sm", "hardware"))
    s.ctas_per_sm = 0;
  else if (table.has("ctas_per_sm"))
    s.ctas_per_sm = read_int(table, "ctas_per_sm", 1, s.device.device.ctas_per_sm);
  if (table.has("registers")) s.registers = read_int(table, "registers", 0, 255);
  if (table.has("ptx")) {
    if (!s.launch_list.empty()) throw document.error("run.ptx", "not allowed beside [[launch]]");
    s.ptx = std::make_shared<const PtxFile>(read_ptx_file(table, "ptx", "ptx_entry", ""));
  }
  if (table.has("hand_out"))
    s.hand_out_descending = table.word("hand_out", {"ascending", "descending"}) == "descending";
}

/// What the launch before has written must be what this one can read.
void check_feed(const TomlDocument& document, const Scenario& s, const KernelRun& run) {
  if (s.feed.empty()) return;
  std::vector<std::string> words;
  for (const FeedInput& input : run.feed_inputs()) {
    if (input.word == s.feed && s.launches < 2) throw document.error("run.feed", "needs run.launches of 2 or more");
    if (input.word == s.feed && !input.refusal.empty()) throw document.error("run.feed", input.refusal);
    if (input.word == s.feed) return;
    words.push_back(fmt::format("\"{}\"", input.word));
  }
  throw document.error("run.feed",
                       words.empty() ? fmt::format("kernel {} reads nothing of a launch ahead", s.kernel->name)
                                     : fmt::format("kernel {} allows {}", s.kernel->name, fmt::join(words, ", ")));
}

// ---------------------------------------------------------------- [expect]

/// A report may also name what is no mbarrier.
bool is_other_wait(const std::string& name) {
  return name.rfind("named barrier ", 0) == 0 || name == "locks" || name == "tcgen05.alloc" ||
         name == "setmaxnreg.inc";
}

/// Of all kernels; empty if one of them has no table, and its barriers get their names when it runs.
std::vector<BarrierArray> known_barriers(const RunPlan& plan) {
  std::vector<BarrierArray> all;
  for (const PlannedKernel& kernel : plan.kernels) {
    const std::vector<BarrierArray> own = kernel.run->barriers();
    if (own.empty()) return {};
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

Expectation read_expectation(const TomlTable& table, const RunPlan& plan) {
  const std::vector<BarrierArray> barriers = known_barriers(plan);
  Expectation expect;
  expect.stated = true;
  if (table.has("outcome")) expect.outcome = table.word("outcome", {"pass", "mismatch", "hang", "findings"});
  if (table.has("id")) expect.id = table.string("id");
  if (table.has("barrier"))
    expect.barrier = is_other_wait(table.string("barrier")) || barriers.empty()
                         ? table.string("barrier")
                         : table.word("barrier", barrier_names(barriers));
  if (table.has("role")) expect.role = table.string("role");
  if (table.has("warning")) expect.warning = table.string("warning");
  if (table.has("stage")) expect.stage = read_int(table, "stage", 0);
  if (table.has("phase")) expect.phase = read_int(table, "phase", 0);
  if (table.has("slow")) expect.slow = table.string("slow");
  return expect;
}

/// A profile named by path in a scenario file lies beside that file; one from --set is relative to the
/// caller.
models::DeviceProfile read_profile(const TomlDocument& document, const TomlTable& root, Scenario& s) {
  const auto known = list_profiles();
  const std::string allowed =
      fmt::format("allowed are \"{}\" or a path that ends in .toml", fmt::join(known, "\", \""));
  if (!root.has("profile")) throw root.wrong("profile", allowed);
  s.profile = root.string("profile");
  const std::filesystem::path path(s.profile);
  if (path.extension() == ".toml")
    return load_profile((document.overridden("profile") ? path : s.path.parent_path() / path).string());
  if (std::find(known.begin(), known.end(), s.profile) == known.end()) throw document.error("profile", allowed);
  return load_profile(s.profile);
}

}  // namespace

InputError::InputError(const std::vector<std::string>& lines)
    : std::runtime_error(fmt::format("{}", fmt::join(lines, "\n"))),
      lines_(std::make_shared<const std::vector<std::string>>(lines)) {}

namespace {

/// Launches that state their kernels, or the scenario's one.
void read_kernels(const TomlDocument& document, const TomlTable& root, Scenario& s) {
  std::vector<std::string_view> names;
  for (const KernelDefinition* kernel : kernels()) names.push_back(kernel->name);
  if (!root.has("launch")) {
    s.kernel = find_kernel(root.word("kernel", names));
    return;
  }
  s.launch_list = read_launch_heads(document, root);
  if (s.launch_list.empty()) throw document.error("launch", "a run needs a launch");
  s.kernel = s.launch_list.front().kernel;
  s.launches = int(s.launch_list.size());
}

void check_tensor_core(const TomlDocument& document, const Scenario& s) {
  if (s.device.has_tensor_core) return;
  const auto all = kernels_of(s);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]->tensor_core) continue;
    std::vector<std::string> others;
    for (const KernelDefinition* kernel : kernels())
      if (!kernel->tensor_core) others.push_back(fmt::format("\"{}\"", kernel->name));
    throw document.error(
        s.launch_list.empty() ? "kernel" : fmt::format("launch.{}.kernel", i),
        fmt::format("profile {} is a device without tcgen05; allowed are {}", s.profile, fmt::join(others, ", ")));
  }
}

void read_problems(const TomlDocument& document, const TomlTable& root, Scenario& s) {
  if (s.launch_list.empty())
    s.problem = s.kernel->read(document, root, s);
  else
    read_launch_problems(document, root, s);
}

}  // namespace

Scenario load_scenario(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  const TomlDocument document(path, overrides);
  const TomlTable root = document.root({"kernel", "profile", "description", "sound", "problem", "config", "launch",
                                        "run", "fault", "delay", "expect"});
  Scenario s;
  s.path = path;
  s.overrides = overrides;
  s.name = scenario_name(path);
  read_kernels(document, root, s);
  if (root.has("description")) s.description = root.string("description");
  if (root.has("sound")) s.sound = root.string("sound");
  s.device = read_profile(document, root, s);
  check_tensor_core(document, s);
  read_run(document, root, s);  // first: what a kernel chooses by itself depends on run.sms
  read_problems(document, root, s);
  const RunPlan plan = plan_of(s);
  check_feed(document, s, plan.run_of(0));
  if (root.has("fault"))
    for (const TomlTable& table : root.tables("fault", fault_keys()))
      s.faults.push_back(read_fault(document, table, s, plan));
  if (root.has("delay"))
    for (const TomlTable& table : root.tables("delay", delay_keys()))
      s.delays.push_back(read_delay(document, table, s, plan));
  if (root.has("expect"))
    s.expect = read_expectation(
        root.table("expect", {"outcome", "id", "barrier", "role", "stage", "phase", "warning", "slow"}), plan);
  return s;
}

namespace {

nlohmann::ordered_json launch_json(const Scenario& s, const RunPlan& plan, size_t i) {
  const LaunchSpec& spec = s.launch_list[i];
  nlohmann::ordered_json json = {{"name", spec.name},
                                 {"kernel", spec.kernel->name},
                                 {"stream", spec.stream},
                                 {"after", nlohmann::json::array()}};
  for (const int launch : spec.after) json["after"].push_back(s.launch_list[size_t(launch)].name);
  json["pdl"] = plan.launches[i].programmatic;
  json["inputs"] = nlohmann::json::object();
  for (const LaunchInput& input : spec.inputs)
    json["inputs"][input.tensor] =
        plan.kernels[size_t(input.launch)].qualified(plan.run_of(input.launch).tensors().back().name);
  return json;
}

/// "kernel", "launches", and what each kernel is configured with: "gemm.m", "gemm.stages" ...
std::string list_configuration_json(const Scenario& s) {
  const RunPlan plan = plan_of(s);
  nlohmann::ordered_json json;
  std::vector<std::string_view> names;
  for (const LaunchSpec& spec : s.launch_list) names.push_back(spec.kernel->name);
  json["kernel"] = fmt::format("{}", fmt::join(names, " + "));
  for (size_t i = 0; i < s.launch_list.size(); ++i) json["launches"].push_back(launch_json(s, plan, i));
  for (const PlannedKernel& kernel : plan.kernels) {
    const auto own = nlohmann::ordered_json::parse(kernel.run->configuration_json());
    for (const auto& [key, value] : own.items())
      if (key != "kernel") json[kernel.qualified(key)] = value;
  }
  return json.dump();
}

}  // namespace

std::string Scenario::configuration_json() const {
  return launch_list.empty() ? make_run(*this)->configuration_json() : list_configuration_json(*this);
}

std::string Scenario::trace_configuration_json() const {
  auto json = nlohmann::ordered_json::parse(configuration_json());
  json["sms"] = sms_in_run();
  json["l2"] = word_of(kL2States, l2);
  json["recorder"] = recorder;
  if (recorder_first_cycles > 0)
    json["recorder_cycles"] = {device.trace.begin, device.trace.end, recorder_first_cycles};
  if (launches > 1 && launch_list.empty()) json["launches"] = launches;
  if (!feed.empty()) json["feed"] = feed;
  if (ctas_per_sm == 0) json["ctas_per_sm"] = "hardware";
  if (ctas_per_sm > 1) json["ctas_per_sm"] = ctas_per_sm;
  if (registers > 0) json["registers"] = registers;
  if (hand_out_descending) json["hand_out"] = "descending";
  if (ptx || !kernel->trace_points) json["spans"] = "derived";
  return json.dump();
}

}  // namespace sm100::host
