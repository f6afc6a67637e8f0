// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/play_controls.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

namespace sm100::sim::cli {

using namespace host;
namespace {

struct Number {
  std::string_view key, label, title;
  int64_t low, high, step;
};
constexpr Number kNumbers[] = {
    {"config.stages", "Stages", "Slots of the input ring in shared memory", 1, 64, 1},
    {"config.accum_stages", "Accumulators", "Accumulators in tensor memory", 1, 8, 1},
    {"config.num_split_k", "Split K", "Parts of K that different clusters multiply", 1, 64, 1},
    {"problem.m", "M", "Rows of the problem", 1, 16384, 64},
    {"problem.n", "N", "Columns of the problem", 1, 16384, 64},
    {"problem.k", "K", "Depth of the problem", 1, 65536, 64},
    {"run.sms", "SMs", "Streaming multiprocessors that the run may use", 1, 1024, 1},
    {"run.seed", "Seed", "Seed of the operands' values", 0, INT32_MAX, 1},
};
/// Words and numbers of one key.
struct Words {
  std::string_view key, label, title;
  std::vector<Json> values;
};
const std::vector<Words>& words() {
  static const std::vector<Words> all = {
      {"config.block_m", "Block M", "Rows of a tile", {64, 128, 256}},
      {"config.block_n", "Block N", "Columns of a tile", {64, 128, 256}},
      {"config.block_k", "k tile", "Depth of a tile", {64, 128, 256}},
      {"config.tile_m", "Tile M", "Rows of a tile", {64, 128}},
      {"config.tile_n", "Tile N", "Columns of a tile", {128, 256, 512}},
  };
  return all;
}

/// A choice and what it sets.
struct Choice {
  std::string label;
  std::vector<std::pair<std::string, Json>> set;
};

/// The effective configuration, and what of it is changed in which words.
class Controls {
 public:
  Controls(const Scenario& scenario, const std::vector<std::string>& overrides)
      : scenario_(scenario), overrides_(overrides), now_(Json::parse(scenario.configuration_json())) {
    now_["sms"] = scenario.sms_in_run();
    now_["seed"] = scenario.seed;
    now_["jitter"] = scenario.jitter ? Json(*scenario.jitter) : Json();
    now_["l2"] = scenario.l2 == L2State::cold ? "cold" : scenario.l2 == L2State::warm ? "warm" : "dirty";
  }

  Json all() {
    add_number("config.stages");
    add_number("config.accum_stages");
    add_k_tile();
    add_tile();
    for (const Words& row : words()) add_words(row);
    add_cluster();
    add_scheduler();
    add_number("config.num_split_k");
    for (const char* key : {"problem.m", "problem.n", "problem.k", "run.sms"}) add_number(key);
    add_choice("l2", "L2", "What the second-level cache holds at the start",
               {{"cold", {{"run.l2", "cold"}}}, {"warm", {{"run.l2", "warm"}}}, {"dirty", {{"run.l2", "dirty"}}}});
    add_number("run.seed");
    add_jitter();
    return std::move(controls_);
  }

 private:
  /// "stages" of "config.stages".
  static std::string short_key(std::string_view key) { return std::string(key.substr(key.find('.') + 1)); }
  const Json& now(std::string_view key) const {
    static const Json absent;
    const auto found = now_.find(short_key(key));
    return found == now_.end() ? absent : *found;
  }

  /// Why the scenario does not load with these values; nothing: it does.
  std::optional<std::string> refusal(const std::vector<std::pair<std::string, Json>>& set) const {
    std::vector<std::string> all = overrides_;
    for (const auto& [key, value] : set) all.push_back(key + "=" + value.dump());
    try {
      load_scenario(scenario_.path, all);
      return std::nullopt;
    } catch (const InputError& error) { return error.lines().front(); }
  }
  /// Some kernels have values that no key sets.
  bool can_be_set(std::string_view key) const {
    const auto why = refusal({{std::string(key), now(key)}});
    return !why || why->find("unknown key") == std::string::npos;
  }

  void add_number(std::string_view key) {
    for (const Number& row : kNumbers) {
      if (row.key != key || !now(key).is_number_integer() || !can_be_set(key)) continue;
      const int64_t high = key == "run.sms" ? scenario_.device.device.sms : row.high;
      controls_.push_back({{"id", short_key(key)},
                           {"kind", "number"},
                           {"key", key},
                           {"label", row.label},
                           {"title", row.title},
                           {"value", now(key)},
                           {"low", row.low},
                           {"high", high},
                           {"step", row.step}});
    }
  }

  /// With the value of now as one of them, if none of the choices is it.
  void add_choice(const std::string& id, const char* label, const char* title, std::vector<Choice> choices,
                  const std::string& now_label = "") {
    Json rows = Json::array();
    int chosen = -1;
    for (const Choice& choice : choices) {
      bool is_now = true;
      for (const auto& [key, value] : choice.set) is_now = is_now && now(key) == value;
      if (is_now && chosen < 0) chosen = int(rows.size());
      Json set = Json::object();
      for (const auto& [key, value] : choice.set) set[key] = value;
      const auto why = is_now ? std::nullopt : refusal(choice.set);
      rows.push_back({{"label", choice.label}, {"set", set}, {"refused", why ? Json(*why) : Json()}});
    }
    if (chosen < 0 && !now_label.empty()) {
      chosen = int(rows.size());
      rows.push_back({{"label", now_label}, {"set", Json::object()}, {"refused", Json()}});
    }
    controls_.push_back(
        {{"id", id}, {"kind", "choice"}, {"label", label}, {"title", title}, {"value", chosen}, {"choices", rows}});
  }

  static std::string text_of(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
  }

  void add_words(const Words& row) {
    if (now(row.key).is_null() || !can_be_set(row.key)) return;
    std::vector<Choice> choices;
    for (const Json& value : row.values) choices.push_back({text_of(value), {{std::string(row.key), value}}});
    add_choice(short_key(row.key), row.label.data(), row.title.data(), choices, text_of(now(row.key)));
  }

  /// A k tile is one swizzle span, but where the kernel has a block_k.
  void add_k_tile() {
    if (!now("swizzle").is_number_integer() || !now("block_k").is_null() || !can_be_set("config.swizzle")) return;
    const Json& dtype = now("dtype");
    const std::string type = dtype.is_string() ? dtype.get<std::string>() : "";
    const int bits = type == "tf32" ? 32 : type == "bf16" || type == "f16" ? 16 : 0;
    const auto label = [&](int bytes) {
      return bits > 0 ? fmt::format("{} deep ({} B)", bytes * 8 / bits, bytes) : fmt::format("{} B", bytes);
    };
    std::vector<Choice> choices;
    for (const int bytes : {128, 64, 32}) choices.push_back({label(bytes), {{"config.swizzle", bytes}}});
    add_choice("swizzle", "k tile", "Depth of a tile in shared memory: one swizzle span", choices);
  }

  void add_tile() {
    const Json& mma = now("mma");
    if (!mma.is_array() || mma.size() != 3 || !can_be_set("config.mma")) return;
    struct Tile {
      int m, n, cta_group;
    };
    const Json& cluster = now("cluster");
    const bool pairs_possible = now("cta_group").is_number_integer() && cluster.is_array();
    std::vector<Choice> choices;
    for (const Tile t : {Tile{64, 64, 1}, Tile{64, 128, 1}, Tile{128, 64, 1}, Tile{128, 128, 1}, Tile{128, 256, 1},
                         Tile{256, 64, 2}, Tile{256, 128, 2}, Tile{256, 256, 2}}) {
      if (t.cta_group == 2 && !pairs_possible) continue;
      Choice choice{fmt::format("{} x {}{}", t.m, t.n, t.cta_group == 2 ? " (pair)" : ""),
                    {{"config.mma", {t.m, t.n, mma[2]}}}};
      if (pairs_possible) choice.set.push_back({"config.cta_group", t.cta_group});
      // A pair needs a cluster of two along M, and lets go of it again.
      const int along_m = pairs_possible ? cluster[0].get<int>() : 0;
      if (t.cta_group == 2 && along_m % 2 != 0) choice.set.push_back({"config.cluster", {2, cluster[1], 1}});
      if (t.cta_group == 1 && now("cta_group") == 2 && along_m == 2)
        choice.set.push_back({"config.cluster", {1, cluster[1], 1}});
      if (t.cta_group == 2) make_room(std::max(2, along_m) * cluster[1].get<int>(), choice);
      choices.push_back(choice);
    }
    const std::string now_label = fmt::format("{} x {}", mma[0].get<int>(), mma[1].get<int>());
    add_choice("tile", "Tile", "Shape of the tile that a CTA, or a pair of CTAs, computes", choices, now_label);
  }

  /// A cluster needs an SM for each of its CTAs.
  void make_room(int ctas, Choice& choice) const {
    if (ctas > scenario_.sms_in_run()) choice.set.push_back({"run.sms", ctas});
  }

  void add_cluster() {
    const Json& cluster = now("cluster");
    if (cluster.is_null() || !can_be_set("config.cluster")) return;
    std::vector<Choice> choices;
    if (cluster.is_array()) {
      for (const auto& [x, y] : {std::pair{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 1}, {4, 2}, {4, 4}}) {
        choices.push_back({fmt::format("{} x {}", x, y), {{"config.cluster", {x, y, 1}}}});
        make_room(x * y, choices.back());
      }
      add_choice("cluster", "Cluster", "CTAs of a cluster along M and N", choices,
                 fmt::format("{} x {}", cluster[0].get<int>(), cluster[1].get<int>()));
    } else {
      for (const int x : {1, 2, 4, 8}) {
        choices.push_back({std::to_string(x), {{"config.cluster", x}}});
        make_room(x, choices.back());
      }
      add_choice("cluster", "Cluster", "CTAs of a cluster", choices, cluster.dump());
    }
  }

  void add_scheduler() {
    const Json &scheduler = now("scheduler"), &stages = now("clc_stages");
    if (!scheduler.is_string() || !stages.is_number_integer() || !can_be_set("config.scheduler")) return;
    const Json depth = stages.get<int>() > 0 ? stages : Json(2);
    add_choice("scheduler", "Scheduler", "Who hands out the tiles",
               {{"CLC", {{"config.scheduler", "clc"}, {"config.clc_stages", depth}}},
                {"static", {{"config.scheduler", "static"}, {"config.clc_stages", 0}}},
                {"a CTA per tile", {{"config.scheduler", "clc"}, {"config.clc_stages", 0}}}});
  }

  /// A number that may be absent.
  void add_jitter() {
    controls_.push_back({{"id", "jitter"},
                         {"kind", "number"},
                         {"key", "run.jitter"},
                         {"label", "Jitter"},
                         {"title", "Seed of perturbed latencies; empty: none"},
                         {"value", now("jitter")},
                         {"low", 0},
                         {"high", INT32_MAX},
                         {"step", 1}});
  }

  const Scenario& scenario_;
  const std::vector<std::string>& overrides_;
  Json now_;
  Json controls_ = Json::array();
};

}  // namespace

const std::set<std::string>& play_keys() {
  static const std::set<std::string> keys = [] {
    std::set<std::string> all = {"config.swizzle",   "config.mma",        "config.cta_group", "config.cluster",
                                 "config.scheduler", "config.clc_stages", "run.l2",           "run.jitter"};
    for (const Number& row : kNumbers) all.emplace(row.key);
    for (const Words& row : words()) all.emplace(row.key);
    return all;
  }();
  return keys;
}

Json play_controls(const Scenario& scenario, const std::vector<std::string>& overrides) {
  return Controls(scenario, overrides).all();
}

}  // namespace sm100::sim::cli
