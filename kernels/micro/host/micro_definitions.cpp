// SPDX-License-Identifier: Apache-2.0
/// The microbenchmarks as kernels: how their [config] is read.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "kernels/host/read_config.h"
#include "kernels/micro/host/micro_runs.h"

namespace sm100::host {
namespace {

/// config.kind and config.dtype, as one word: what A and B are and which MMA multiplies them.
struct MmaOperands {
  MmaKind kind;
  DataType dtype;
};
const TomlTable::Words<int> kOperandWords = {{"bf16", 0},    {"f16", 1},  {"tf32", 2},     {"e4m3", 3},
                                             {"e5m2", 4},    {"e2m1", 5}, {"s8", 6},       {"mx_e4m3", 7},
                                             {"mx_e2m1", 8}, {"mxf4", 9}, {"mxf4nvf4", 10}};
constexpr MmaOperands kOperands[] = {
    {MmaKind::f16, DataType::bf16},    {MmaKind::f16, DataType::f16},       {MmaKind::tf32, DataType::tf32},
    {MmaKind::f8f6f4, DataType::e4m3}, {MmaKind::f8f6f4, DataType::e5m2},   {MmaKind::f8f6f4, DataType::e2m1},
    {MmaKind::i8, DataType::s8},       {MmaKind::mxf8f6f4, DataType::e4m3}, {MmaKind::mxf8f6f4, DataType::e2m1},
    {MmaKind::mxf4, DataType::e2m1},   {MmaKind::mxf4nvf4, DataType::e2m1},
};

void check_shared_memory(const TomlDocument& document, const char* key, uint32_t bytes) {
  if (bytes > uint32_t(kSmemBudgetBytes))
    throw document.error(key,
                         fmt::format("needs {} bytes of shared memory, a CTA has {}", bytes, kSmemBudgetBytes));
}

std::any read_umma_batches(const TomlDocument& document, const TomlTable& root, Scenario&) {
  UmmaBatchesConfig c;
  if (root.has("config")) {
    const TomlTable table =
        root.table("config", {"operands", "m", "n", "cta_group", "a_in_tmem", "depth", "batches"});
    if (table.has("operands")) {
      const MmaOperands chosen = kOperands[table.choice("operands", kOperandWords)];
      c.kind = chosen.kind, c.dtype = chosen.dtype;
    }
    if (table.has("cta_group")) c.cta_group = read_int(table, "cta_group", 1, 2);
    if (table.has("m")) c.m = read_unjudged(table, "m");
    if (table.has("n")) c.n = read_unjudged(table, "n");
    if (table.has("a_in_tmem")) c.a_in_tmem = table.boolean("a_in_tmem");
    if (table.has("depth")) c.depth = read_int(table, "depth", 1, 1 << 20);
    if (table.has("batches")) c.batches = read_int(table, "batches", 1, 1 << 20);
  }
  const InstrDescriptorFields idesc =
      decode(make_instr_descriptor(c.kind, c.dtype, c.dtype, DataType::f32, c.m, c.n), c.kind);
  const bool fits = c.m >= 0 && c.n >= 0 && int(idesc.m) == c.m && int(idesc.n) == c.n;
  const auto error = validate(idesc, c.kind, c.cta_group);
  const bool seen = error == InstrDescriptorError::n_of_shape && executes_all_the_same(idesc, c.kind, c.cta_group);
  if (!fits || (error != InstrDescriptorError::none && !seen))
    throw document.error(
        "config.n", fmt::format("no tcgen05.mma of kind::{} and cta_group::{} has M = {}, N = {}{}", name(c.kind),
                                c.cta_group, c.m, c.n, fits ? std::string(": ") + message(error) : ""));
  return c;
}

std::any read_tma_tiles(const TomlDocument& document, const TomlTable& root, Scenario& s) {
  TmaTilesConfig c;
  if (root.has("config")) {
    const TomlTable table = root.table(
        "config", {"box_width", "box_height", "warps", "stages", "cluster", "sharers", "multicast", "sync", "tiles",
                   "distinct", "shuffled", "reads", "writes", "observer_rows", "loop_cycles", "uneven"});
    if (table.has("box_width")) c.box_width = read_int(table, "box_width", 4, 256);
    if (table.has("box_height")) c.box_height = read_int(table, "box_height", 1, 256);
    if (table.has("warps")) c.warps = read_int(table, "warps", 1, 16);
    if (table.has("stages")) c.stages = read_int(table, "stages", 1, 1024);
    if (table.has("cluster")) c.cluster = read_int(table, "cluster", 1, 16);
    if (table.has("multicast")) c.multicast = table.boolean("multicast");
    c.sharers = c.multicast ? c.cluster : 1;
    if (table.has("sharers")) c.sharers = read_int(table, "sharers", 1, 1024);
    if (table.has("sync")) c.sync = table.boolean("sync");
    if (table.has("tiles")) c.tiles = read_int(table, "tiles", 1, 1 << 20);
    if (table.has("distinct")) c.distinct = read_int(table, "distinct", 0, 1 << 20);
    if (table.has("shuffled")) c.shuffled = table.boolean("shuffled");
    if (table.has("reads")) c.reads = read_int(table, "reads", 0, 16);
    if (table.has("writes")) c.writes = read_int(table, "writes", 0, 16);
    if (table.has("observer_rows")) c.observer_rows = read_int(table, "observer_rows", 0, 256);
    if (table.has("loop_cycles")) c.loop_cycles = read_int(table, "loop_cycles", 0, 1 << 20);
    if (table.has("uneven")) c.uneven = table.boolean("uneven");
  }
  if (c.box_width % 4 != 0)
    throw document.error("config.box_width", "allowed are multiples of 4 (16 bytes)", std::to_string(c.box_width));
  if (c.multicast && c.sharers != c.cluster)
    throw document.error("config.sharers", "with multicast the CTAs of the cluster share",
                         std::to_string(c.sharers));
  if (c.multicast && c.cluster > 1 && !(c.sync && c.stages == 1))
    throw document.error("config.multicast",
                         "needs sync = true and stages = 1: a slot may be overwritten when all have it", "true");
  if (c.reads + c.writes == 0) throw document.error("config.reads", "reads and writes are both 0", "0");
  if (c.writes > 0 && (c.sync || c.multicast))
    throw document.error("config.writes", "not implemented: with sync or multicast", std::to_string(c.writes));
  if (c.observer_rows > c.box_height)
    throw document.error("config.observer_rows", fmt::format("at most box_height, {}", c.box_height),
                         std::to_string(c.observer_rows));
  if (c.cluster > s.sms_in_run())
    throw document.error("config.cluster", fmt::format("there are {} SMs", s.sms_in_run()),
                         std::to_string(c.cluster));
  if (int64_t{c.warps} * c.stages * tile_bytes(c) > kSmemBudgetBytes)
    throw document.error("config.stages",
                         fmt::format("{} slots of {} bytes do not fit into the {} of a CTA", c.warps * c.stages,
                                     tile_bytes(c), kSmemBudgetBytes),
                         std::to_string(c.stages));
  check_shared_memory(document, "config.stages", storage_bytes<TmaTilesStorage>(c));
  const double tiles = double(s.sms_in_run()) * distinct_tiles(c) * c.warps;
  if (tiles * c.box_height > double(1 << 30) || tiles * tile_bytes(c) > 0x1p36)
    throw document.error("config.tiles", "different tiles of all CTAs must be less than 2^30 rows and 64 GiB",
                         std::to_string(c.tiles));
  return c;
}

}  // namespace

const KernelDefinition& umma_batches_definition() {
  static const KernelDefinition definition = {
      .name = "umma_batches",
      .description = "microbenchmark: batches of tcgen05.mma with a commit and a wait each, no data (SM100)",
      .arithmetic = false,
      .result = false,
      .read = read_umma_batches,
      .run = run_of<UmmaBatchesRun>};
  return definition;
}

const KernelDefinition& tma_tiles_definition() {
  static const KernelDefinition definition = {
      .name = "tma_tiles",
      .description =
          "microbenchmark: tensor copies into rings that nobody reads and out of them, no data (SM90 and SM100)",
      .tensor_core = false,
      .arithmetic = false,
      .result = false,
      .read = read_tma_tiles,
      .run = run_of<TmaTilesRun>};
  return definition;
}

std::string UmmaBatchesRun::configuration_json() const {
  const UmmaBatchesConfig& c = config_;
  const nlohmann::ordered_json json = {
      {"kernel", umma_batches_definition().name},
      {"kind", name(c.kind)},
      {"dtype", name(c.dtype)},
      {"m", c.m},
      {"n", c.n},
      {"cta_group", c.cta_group},
      {"a_in_tmem", c.a_in_tmem},
      {"depth", c.depth},
      {"batches", c.batches},
  };
  return json.dump();
}

std::string TmaTilesRun::configuration_json() const {
  const TmaTilesConfig& c = config_;
  const nlohmann::ordered_json json = {
      {"kernel", tma_tiles_definition().name},
      {"box_width", c.box_width},
      {"box_height", c.box_height},
      {"warps", c.warps},
      {"stages", c.stages},
      {"cluster", c.cluster},
      {"sharers", c.sharers},
      {"multicast", c.multicast},
      {"sync", c.sync},
      {"tiles", c.tiles},
      {"distinct", c.distinct},
      {"shuffled", c.shuffled},
      {"reads", c.reads},
      {"writes", c.writes},
      {"observer_rows", c.observer_rows},
      {"loop_cycles", c.loop_cycles},
      {"uneven", c.uneven},
  };
  return json.dump();
}

}  // namespace sm100::host
