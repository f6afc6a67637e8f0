// SPDX-License-Identifier: Apache-2.0
#include "kernels/registers/host/warpgroup_registers_run.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

#include "kernels/host/read_config.h"
#include "kernels/isa/register_count.h"

namespace sm100::host {

namespace {

using Action = RegisterChange::Action;

/// "inc 232", "dec 24" or "none".
std::optional<RegisterChange> parse(const std::string& text) {
  if (text == "none") return RegisterChange{};
  RegisterChange change{.action = text.starts_with("inc ") ? Action::inc : Action::dec};
  if (change.action == Action::dec && !text.starts_with("dec ")) return {};
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + 4, end, change.registers);
  if (error != std::errc{} || rest != end || !register_count_allowed(change.registers)) return {};
  return change;
}

std::string text_of(const RegisterChange& change) {
  if (change.action == Action::none) return "none";
  return fmt::format("{} {}", change.action == Action::inc ? "inc" : "dec", change.registers);
}

std::any read(const TomlDocument& document, const TomlTable& root, Scenario&) {
  WarpgroupRegistersConfig c;
  const TomlTable table = root.table("config", {"setmaxnreg", "tokens"});
  if (table.has("tokens")) c.tokens = read_int(table, "tokens", 1, 1 << 20);
  const std::vector<std::string> changes = table.strings("setmaxnreg");
  if (changes.size() < 2 || changes.size() > size_t(kMaxWarpgroups))
    throw document.error("config.setmaxnreg", fmt::format("an entry for each warpgroup, 2 to {}", kMaxWarpgroups),
                         std::to_string(changes.size()) + " entries");
  c.warpgroups = int(changes.size());
  for (size_t i = 0; i < changes.size(); ++i) {
    const auto change = parse(changes[i]);
    if (!change)
      throw document.error("config.setmaxnreg",
                           "allowed are \"inc N\", \"dec N\" with N a multiple of 8 from 24 to 256, and \"none\"",
                           fmt::format("\"{}\"", changes[i]));
    c.changes[i] = *change;
  }
  return c;
}

}  // namespace

const KernelDefinition& warpgroup_registers_definition() {
  static const KernelDefinition definition = {
      .name = "warpgroup_registers",
      .description =
          "setmaxnreg of each warpgroup in the frame of a warp-specialised kernel, no data (SM90 and SM100)",
      .tensor_core = false,
      .arithmetic = false,
      .result = false,
      .read = read,
      .run = run_of<WarpgroupRegistersRun>};
  return definition;
}

LaunchShape WarpgroupRegistersRun::launch() const {
  return {.grid = {uint32_t(sms_), 1, 1},
          .warps = config_.warpgroups * kWarpgroupWarps,
          .smem_bytes = warpgroup_registers_storage().end - kSmemUserBase};
}

std::vector<BarrierArray> WarpgroupRegistersRun::barriers() const {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config_, warpgroup_registers_storage(),
                         [&](const BarrierArray& a) { arrays.push_back(a); });
  return arrays;
}

std::string WarpgroupRegistersRun::title() const {
  return fmt::format("{} warpgroups, {} tokens", config_.warpgroups, config_.tokens);
}

std::string WarpgroupRegistersRun::configuration_json() const {
  std::vector<std::string> changes;
  for (int g = 0; g < config_.warpgroups; ++g) changes.push_back(text_of(config_.changes[size_t(g)]));
  const nlohmann::ordered_json json = {
      {"kernel", warpgroup_registers_definition().name}, {"setmaxnreg", changes}, {"tokens", config_.tokens}};
  return json.dump();
}

}  // namespace sm100::host
