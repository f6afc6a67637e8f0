// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/play_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "kernels/host/run_plan.h"
#include "kernels/host/toml_reader.h"

namespace sm100::sim::cli {

using namespace host;
namespace {

/// "mma, epilogue" as two.
std::vector<std::string> parts(std::string_view list) {
  std::vector<std::string> all;
  while (!list.empty()) {
    const size_t end = list.find(", ");
    all.emplace_back(list.substr(0, end));
    list = end == std::string_view::npos ? std::string_view{} : list.substr(end + 2);
  }
  return all;
}

/// Isa functions of what a barrier table calls an arrival.
std::vector<std::string_view> functions_of(std::string_view arrival) {
  if (arrival == "tcgen05.commit") return {"tcgen05_commit", "tcgen05_commit_multicast"};
  if (arrival == "mbarrier.arrive.expect_tx") return {"mbarrier_arrive_expect_tx"};
  if (arrival.ends_with("mbarrier.arrive")) return {"mbarrier_arrive"};
  return {};
}

class Offers {
 public:
  explicit Offers(const std::vector<std::string_view>& roles) : roles_(roles) {}

  void barrier(const BarrierArray& array) {
    if (array.stages == 0) return;
    const std::string name = array.name;
    const auto arrives = parts(array.arrives), with = parts(array.arrives_with);
    for (size_t i = 0; i < arrives.size(); ++i)
      for (const std::string_view function : functions_of(with[std::min(i, with.size() - 1)]))
        arrival(arrives[i], function, name);
    for (const std::string& role : parts(array.waits)) {
      const FaultSpec wait = {.role = role, .instruction = "mbarrier_try_wait_parity", .barrier = name};
      offer("wrong-phase", "start with the wrong phase of " + name, wait, FaultAction::flip_parity);
      offer("no-wait", "do not wait for " + name, wait, FaultAction::drop);
    }
    const FaultSpec init = {.instruction = "mbarrier_init", .barrier = name};
    offer("count-more", "count one arrival too many on " + name, init, FaultAction::add, "count", 1);
    if (array.count > 1)
      offer("count-less", "count one arrival too few on " + name, init, FaultAction::add, "count", -1);
    offer("no-init", "forget to initialise " + name, init, FaultAction::drop);
  }

  /// What has no barrier of its own.
  void others(const std::vector<NamedBarrier>& named) {
    const auto any = [&](const char* kind, const char* words, const char* function, FaultAction action) {
      offer(kind, words, {.instruction = function}, action);
    };
    const auto each = [&](const char* kind, const char* words, const char* function, FaultAction action) {
      for (const std::string_view role : roles_)
        offer(kind, words, {.role = std::string(role), .instruction = function}, action);
    };
    using enum FaultAction;
    any("no-init-fence", "forget the fence behind the init of the barriers", "fence_mbarrier_init", drop);
    any("no-cluster-wait", "do not wait for the cluster", "barrier_cluster_wait", drop);
    each("no-copy", "forget a copy", "cp_async_bulk_tensor_shared_global", drop);
    each("copy-twice", "copy twice", "cp_async_bulk_tensor_shared_global", duplicate);
    each("no-multicast", "forget a multicast copy", "cp_async_bulk_tensor_shared_global_multicast", drop);
    each("own-multicast", "copy for the own CTA only", "cp_async_bulk_tensor_shared_global_multicast", own_cta);
    each("no-mma", "leave out a multiplication", "tcgen05_mma", drop);
    each("mma-twice", "multiply twice", "tcgen05_mma", duplicate);
    each("no-mma", "leave out a multiplication", "tcgen05_mma_block_scale", drop);
    each("no-scales", "forget to copy the scales to tensor memory", "tcgen05_cp", drop);
    each("no-alloc", "forget to allocate tensor memory", "tcgen05_alloc", drop);
    each("no-dealloc", "forget to free tensor memory", "tcgen05_dealloc", drop);
    each("no-wait-ld", "do not wait for loads from tensor memory", "tcgen05_wait_ld", drop);
    each("no-proxy-fence", "forget the proxy fence before a store", "fence_proxy_async_shared_cta", drop);
    each("no-store", "forget a store", "cp_async_bulk_tensor_global_shared", drop);
    each("no-store-wait", "do not wait until a store has read its buffer", "cp_async_bulk_wait_group_read", drop);
    each("no-request", "forget to ask for the next tile", "clusterlaunchcontrol_try_cancel", drop);
    any("no-dependency", "do not wait for the launch before", "griddepcontrol_wait", drop);
    for (const NamedBarrier& barrier : named)
      for (const std::string_view function : {"bar_sync", "bar_arrive"})
        offer(function == "bar_sync" ? "no-sync" : "no-bar-arrive",
              fmt::format("{} named barrier {} ({})",
                          function == "bar_sync" ? "do not meet at" : "do not arrive at", barrier.id, barrier.name),
              {.role = parts(barrier.roles).size() == 1 ? barrier.roles : "",
               .instruction = std::string(function),
               .id = barrier.id},
              FaultAction::drop);
  }

  std::vector<PlayFault> take() { return std::move(faults_); }

 private:
  void arrival(const std::string& role, std::string_view function, const std::string& name) {
    const FaultSpec spec = {.role = role, .instruction = std::string(function), .barrier = name};
    using enum FaultAction;
    if (function == "mbarrier_arrive_expect_tx") {
      offer("no-bytes", "forget to announce the bytes of " + name, spec, drop);
      offer("bytes-more", "announce 1,024 bytes too many on " + name, spec, FaultAction::add, "bytes", 1024);
      offer("bytes-less", "announce 1,024 bytes too few on " + name, spec, FaultAction::add, "bytes", -1024);
      return;
    }
    const bool release = name.ends_with("_empty") || name.ends_with("_dealloc");
    offer("forget", fmt::format("forget {} {}", release ? "the release of" : "to signal", name), spec, drop);
    offer("twice", fmt::format("{} {} twice", release ? "release" : "signal", name), spec, duplicate);
    offer("early", fmt::format("release {} before it has been read", name), spec, early);
    offer("own-cta", fmt::format("{} {} of the own CTA only", release ? "release" : "signal", name), spec, own_cta);
    if (function == "mbarrier_arrive")
      offer("one-lane", fmt::format("let one lane {} {} for its warp", release ? "release" : "signal", name), spec,
            one_lane);
  }

  void offer(const std::string& kind, const std::string& words, FaultSpec spec, FaultAction action,
             const std::string& operand = "", int64_t value = 0) {
    const FaultInstruction* row = fault_instruction(spec.instruction);
    if (!row || !row->allows(action)) return;
    if (!spec.role.empty() && std::find(roles_.begin(), roles_.end(), spec.role) == roles_.end()) return;
    spec.action = action, spec.operand = operand, spec.value = value;
    const std::string about = !spec.barrier.empty() ? spec.barrier : spec.id >= 0 ? std::to_string(spec.id) : "";
    std::string id = kind;
    for (const std::string& part : {about, spec.role})
      if (!part.empty()) id += "." + part;
    if (spec.instruction.ends_with("_multicast") && !kind.ends_with("multicast")) id += ".multicast";
    faults_.push_back({id, words, spec.role.empty() ? "set-up" : spec.role, spec, 0});
  }

  const std::vector<std::string_view>& roles_;
  std::vector<PlayFault> faults_;
};

/// The keys and values of its [[fault]].
std::vector<std::pair<std::string, std::string>> keys_of(const PlayFault& fault, int64_t occurrence) {
  const FaultSpec& f = fault.spec;
  const auto quoted = [](std::string_view text) { return fmt::format("\"{}\"", text); };
  std::vector<std::pair<std::string, std::string>> keys;
  if (!f.role.empty()) keys.emplace_back("role", quoted(f.role));
  keys.emplace_back("instruction", quoted(f.instruction));
  if (!f.barrier.empty()) keys.emplace_back("barrier", quoted(f.barrier));
  if (f.id >= 0) keys.emplace_back("id", std::to_string(f.id));
  if (occurrence > 0) keys.emplace_back("occurrence", std::to_string(occurrence - 1));
  keys.emplace_back("action", quoted(name(f.action)));
  if (!f.operand.empty()) keys.emplace_back("operand", quoted(f.operand));
  if (f.action == FaultAction::add) keys.emplace_back("value", std::to_string(f.value));
  return keys;
}

/// Those that the reader of [[fault]] takes.
std::vector<PlayFault> readable(const std::vector<PlayFault>& faults, const Scenario& scenario,
                                const RunPlan& plan) {
  std::string text;
  for (const PlayFault& fault : faults) {
    text += "[[fault]]\n";
    for (const auto& [key, value] : keys_of(fault, 0)) text += fmt::format("{} = {}\n", key, value);
  }
  const TomlDocument document = TomlDocument::of_text(text, "play");
  const std::vector<TomlTable> tables = document.root({"fault"}).tables("fault", fault_keys());
  std::vector<PlayFault> kept;
  for (size_t i = 0; i < faults.size(); ++i) try {
      kept.push_back(faults[i]);
      kept.back().spec = read_fault(document, tables[i], scenario, plan);
    } catch (const InputError&) { kept.pop_back(); }
  return kept;
}

}  // namespace

std::string PlayFault::override(int64_t occurrence) const {
  std::string text;
  for (const auto& [key, value] : keys_of(*this, occurrence))
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", key, value);
  return "fault=[{" + text + "}]";
}

std::vector<PlayFault> play_faults(const Scenario& scenario) {
  if (!scenario.launch_list.empty() || !scenario.kernel->result) return {};
  const RunPlan plan = plan_of(scenario);
  const KernelRun& kernel = plan.run_of(0);
  const std::vector<std::string_view> roles = kernel.roles();
  Offers offers(roles);
  for (const BarrierArray& array : kernel.barriers()) offers.barrier(array);
  offers.others(kernel.named_barriers());
  return readable(offers.take(), scenario, plan);
}

Scenario counting_scenario(const Scenario& scenario, const std::vector<PlayFault>& faults) {
  Scenario counting = scenario;
  counting.data = DataMode::none;
  counting.hazards = false;
  counting.provenance = ProvenanceMode::off;
  counting.faults.clear();
  counting.delays.clear();
  for (const PlayFault& fault : faults) {
    FaultSpec spec = fault.spec;
    spec.action = FaultAction::delay, spec.value = 1, spec.operand.clear(), spec.optional = true;
    counting.faults.push_back(spec);
  }
  return counting;
}

std::vector<PlayFault> counted_faults(const std::vector<PlayFault>& faults, const std::vector<uint64_t>& matches) {
  std::vector<PlayFault> kept;
  for (size_t i = 0; i < faults.size() && i < matches.size(); ++i) {
    if (matches[i] == 0) continue;
    kept.push_back(faults[i]);
    kept.back().times = matches[i];
  }
  return kept;
}

}  // namespace sm100::sim::cli
