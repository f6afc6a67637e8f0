#include "sim/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <nlohmann/json.hpp>

#include "kernels/matmul/shared_storage.h"
#include "sim/config_rules.h"
#include "sim/toml_reader.h"

namespace sm100::sim {
namespace {

const TomlTable::Words<DataType> kOutputTypes = {{"bf16", DataType::bf16}, {"f32", DataType::f32}};
const TomlTable::Words<RasterOrder> kRasterOrders = {{"along_m", RasterOrder::along_m},
                                                     {"along_n", RasterOrder::along_n}};
const TomlTable::Words<DataMode> kDataModes = {{"full", DataMode::full}, {"none", DataMode::none}};
const TomlTable::Words<Numerics> kNumerics = {{"fast", Numerics::fast}, {"b200", Numerics::b200}};

int read_int(const TomlTable& table, std::string_view key, int low, int high = INT_MAX) {
  return int(table.integer(key, low, high));
}

/// For values that config_rules judges: what exceeds int becomes its end, which no rule allows either.
int clamp(int64_t value) { return int(std::clamp<int64_t>(value, INT_MIN, INT_MAX)); }
int read_unjudged(const TomlTable& table, std::string_view key) {
  return clamp(table.integer(key, INT64_MIN, INT64_MAX));
}

// ---------------------------------------------------------------- [config]

/// Operand types of the kernel family; only bf16 runs so far.
DataType read_operand_type(const TomlDocument& document, const TomlTable& table) {
  const std::string word = table.string("dtype");
  for (const char* later : {"f16", "tf32", "e4m3", "e5m2", "e2m3", "e3m2", "e2m1", "mxfp8", "mxfp4", "nvfp4"})
    if (word == later)
      throw document.not_implemented("config.dtype", fmt::format("dtype {}; this version has \"bf16\"", word));
  table.word("dtype", {"bf16"});
  return DataType::bf16;
}

/// Pairs, clusters and k groups belong to the family but are not in this version.
void read_cluster(const TomlDocument& document, const TomlTable& table, MatmulConfig& config) {
  if (table.has("cta_group") && (config.cta_group = read_int(table, "cta_group", 1, 2)) != 1)
    throw document.not_implemented("config.cta_group", "this version has cta_group 1");
  if (table.has("cluster")) {
    const auto cluster = table.integers("cluster", 3, 1, 16);
    if (cluster[2] != 1 || cluster[0] * cluster[1] > 16)
      throw document.error("config.cluster",
                           "allowed are [x, y, 1] with at most 16 CTAs (the largest cluster of an SM100)");
    if (cluster[0] * cluster[1] != 1)
      throw document.not_implemented("config.cluster", "this version has clusters of [1, 1, 1]");
  }
  if (table.has("k_group_size") && (config.k_group_size = read_int(table, "k_group_size", 1, 16)) != 1)
    throw document.not_implemented("config.k_group_size", "this version has k_group_size 1");
}

Swizzle read_swizzle(const TomlDocument& document, const TomlTable& table) {
  switch (table.integer("swizzle", INT64_MIN, INT64_MAX)) {
    case 128: return Swizzle::b128;
    case 64: return Swizzle::b64;
    case 32: return Swizzle::b32;
    default: throw document.error("config.swizzle", "allowed are 128, 64, 32 (bytes of one row of the k tile)");
  }
}

MatmulConfig read_config(const TomlDocument& document, const TomlTable& root) {
  MatmulConfig config;
  if (!root.has("config")) return config;
  const TomlTable table = root.table(
      "config", {"dtype", "output", "mma", "cta_group", "cluster", "stages", "accum_stages", "clc_stages",
                 "k_group_size", "swizzle", "raster_order", "block_swizzle", "mma_prefetch"});
  if (table.has("dtype")) config.dtype = read_operand_type(document, table);
  if (table.has("output")) config.output = table.choice("output", kOutputTypes);
  read_cluster(document, table, config);
  if (table.has("mma")) {
    const auto mma = table.integers("mma", 3, INT64_MIN, INT64_MAX);
    config.mma_m = clamp(mma[0]), config.mma_n = clamp(mma[1]), config.mma_k = clamp(mma[2]);
  }
  if (table.has("stages")) config.stages = read_unjudged(table, "stages");
  if (table.has("accum_stages")) config.accum_stages = read_unjudged(table, "accum_stages");
  if (table.has("clc_stages")) config.clc_stages = read_unjudged(table, "clc_stages");
  if (table.has("swizzle")) config.swizzle = read_swizzle(document, table);
  if (table.has("raster_order")) config.raster_order = table.choice("raster_order", kRasterOrders);
  if (table.has("block_swizzle")) config.block_swizzle = read_unjudged(table, "block_swizzle");
  if (table.has("mma_prefetch")) config.mma_prefetch = table.boolean("mma_prefetch");
  return config;
}

/// An omitted stage count becomes what fits; then the rules apply, and the first broken one is reported.
void check_rules(const TomlDocument& document, Scenario& s) {
  const bool stages_open = !document.has("config.stages");
  if (stages_open) s.config.stages = 1;
  const auto broken = check_config(s.config, s.m, s.n, s.k);
  if (!broken.empty()) {
    const RuleViolation& first = broken.front();
    throw document.error(first.key, fmt::format("allowed are {} ({})", first.allowed, first.why), first.value);
  }
  // The original's formula budgets generously and knows no alignment; the layout decides what fits at most.
  if (stages_open) s.config.stages = std::min(max_stages(s.config), fitting_stages(s.config));
}

// ---------------------------------------------------------------- [run]

void read_run(const TomlTable& root, Scenario& s) {
  if (!root.has("run")) return;
  const TomlTable table =
      root.table("run", {"data", "sms", "seed", "jitter", "numerics", "max_cycles", "sm_clock_ghz"});
  if (table.has("data")) s.data = table.choice("data", kDataModes);
  if (table.has("sms")) s.sms = read_int(table, "sms", 1, s.device.device.sms);
  if (table.has("seed")) s.seed = uint64_t(table.integer("seed", 0, INT64_MAX));
  if (table.has("jitter")) s.jitter = uint64_t(table.integer("jitter", 0, INT64_MAX));
  if (table.has("numerics")) s.numerics = table.choice("numerics", kNumerics);
  if (table.has("max_cycles")) s.max_cycles = uint64_t(table.integer("max_cycles", 0, INT64_MAX));
  if (table.has("sm_clock_ghz")) s.device.device.sm_clock_ghz = table.number("sm_clock_ghz", 0.1, 5);
}

// ---------------------------------------------------------------- [[fault]] and [expect]

std::vector<BarrierArray> barrier_arrays(const MatmulConfig& config) {
  std::vector<BarrierArray> arrays;
  for_each_barrier_array(config, shared_storage(config),
                         [&](const BarrierArray& array) { arrays.push_back(array); });
  return arrays;
}

std::vector<std::string_view> names(const std::vector<BarrierArray>& arrays) {
  std::vector<std::string_view> result;
  for (const BarrierArray& array : arrays) result.emplace_back(array.name);
  return result;
}

/// Most stages among the arrays that `barrier` can mean (empty: any).
int stages_of(const std::vector<BarrierArray>& arrays, std::string_view barrier) {
  int most = 0;
  for (const BarrierArray& array : arrays)
    if (barrier.empty() || barrier == array.name) most = std::max(most, array.stages);
  return most;
}

FaultSpec read_fault(const TomlDocument& document, const TomlTable& table, const Scenario& s) {
  const auto arrays = barrier_arrays(s.config);
  FaultSpec fault;
  if (table.has("role")) fault.role = table.word("role", {"scheduler", "load", "mma", "epilogue"});
  fault.instruction = table.word(
      "instruction", {"mbarrier_init", "mbarrier_arrive", "mbarrier_arrive_expect_tx", "mbarrier_try_wait_parity",
                      "tcgen05_commit", "cp_async_bulk_tensor_shared_global"});
  if (table.has("barrier")) fault.barrier = table.word("barrier", names(arrays));
  const int stages = stages_of(arrays, fault.barrier);
  if (stages == 0) throw document.error(table.path("barrier"), "this configuration has none (clc_stages = 0)");
  if (table.has("stage")) fault.stage = read_int(table, "stage", 0, stages - 1);
  const int64_t ctas = int64_t(grid_m(s.config, s.m)) * grid_n(s.config, s.n);
  if (table.has("cta")) fault.cta = read_int(table, "cta", 0, int(std::min<int64_t>(ctas - 1, INT_MAX)));
  if (table.has("occurrence")) fault.occurrence = table.integer("occurrence", 0, INT64_MAX);

  fault.action = table.word("action", {"drop", "flip_parity", "add"});
  if (fault.action == "flip_parity" && fault.instruction != "mbarrier_try_wait_parity")
    throw document.error(table.path("action"), "allowed for instruction \"mbarrier_try_wait_parity\" only");
  if (fault.action == "add") {
    if (fault.instruction != "mbarrier_arrive_expect_tx" && fault.instruction != "mbarrier_init")
      throw document.error(table.path("action"),
                           "allowed for \"mbarrier_arrive_expect_tx\" (bytes) and \"mbarrier_init\" (count) only");
    constexpr int kMostAdded = (1 << 20) - 1;  // range of both fields of the barrier word
    fault.value = table.integer("value", -kMostAdded, kMostAdded);
  } else if (table.has("value")) {
    throw document.error(table.path("value"), "allowed with action \"add\" only");
  }
  return fault;
}

Expectation read_expectation(const TomlTable& table, const MatmulConfig& config) {
  Expectation expect;
  expect.stated = true;
  if (table.has("outcome")) expect.outcome = table.word("outcome", {"pass", "mismatch", "hang", "findings"});
  if (table.has("id")) expect.id = table.string("id");
  if (table.has("barrier")) expect.barrier = table.word("barrier", names(barrier_arrays(config)));
  if (table.has("role")) expect.role = table.string("role");
  if (table.has("stage")) expect.stage = read_int(table, "stage", 0);
  if (table.has("phase")) expect.phase = read_int(table, "phase", 0);
  return expect;
}

/// A profile named by path in a scenario file lies beside that file; one from --set is relative to the
/// caller.
models::DeviceProfile read_profile(const TomlDocument& document, const TomlTable& root, Scenario& s) {
  s.profile = root.string("profile");
  const std::filesystem::path path(s.profile);
  if (path.extension() == ".toml")
    return load_profile((document.overridden("profile") ? path : s.path.parent_path() / path).string());
  const auto known = list_profiles();
  if (std::find(known.begin(), known.end(), s.profile) == known.end())
    throw document.error(
        "profile", fmt::format("allowed are \"{}\" or a path that ends in .toml", fmt::join(known, "\", \"")));
  return load_profile(s.profile);
}

template <class T>
std::string word_of(const TomlTable::Words<T>& words, T value) {
  for (const auto& [word, meaning] : words)
    if (meaning == value) return std::string(word);
  return "?";
}

}  // namespace

Scenario load_scenario(const std::filesystem::path& path, const std::vector<std::string>& overrides) {
  const TomlDocument document(path, overrides);
  const TomlTable root =
      document.root({"kernel", "profile", "description", "problem", "config", "run", "fault", "expect"});
  Scenario s;
  s.path = path;
  s.overrides = overrides;
  s.name = path.stem().string();
  s.kernel = root.word("kernel", {"matmul"});
  if (root.has("description")) root.string("description");  // for `sm100sim list scenarios`
  s.device = read_profile(document, root, s);

  const TomlTable problem = root.table("problem", {"m", "n", "k"});
  s.m = read_unjudged(problem, "m");
  s.n = read_unjudged(problem, "n");
  s.k = read_unjudged(problem, "k");
  s.config = read_config(document, root);
  check_rules(document, s);
  read_run(root, s);
  if (root.has("fault"))
    for (const TomlTable& table :
         root.tables("fault", {"role", "instruction", "barrier", "stage", "cta", "occurrence", "action", "value"}))
      s.faults.push_back(read_fault(document, table, s));
  if (root.has("expect"))
    s.expect =
        read_expectation(root.table("expect", {"outcome", "id", "barrier", "role", "stage", "phase"}), s.config);
  return s;
}

std::string Scenario::configuration_json() const {
  const nlohmann::ordered_json json = {
      {"kernel", kernel},
      {"m", m},
      {"n", n},
      {"k", k},
      {"dtype", sm100::name(config.dtype)},
      {"output", word_of(kOutputTypes, config.output)},
      {"mma", {config.mma_m, config.mma_n, config.mma_k}},
      {"cta_group", config.cta_group},
      {"cluster", {config.cluster_m, config.cluster_n, 1}},
      {"stages", config.stages},
      {"k_group_size", config.k_group_size},
      {"accum_stages", config.accum_stages},
      {"clc_stages", config.clc_stages},
      {"swizzle", swizzle_span_bytes(config.swizzle)},
      {"raster_order", word_of(kRasterOrders, config.raster_order)},
      {"block_swizzle", config.block_swizzle},
      {"mma_prefetch", config.mma_prefetch},
  };
  return json.dump();
}

}  // namespace sm100::sim
