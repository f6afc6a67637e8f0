// SPDX-License-Identifier: Apache-2.0
#include "shift_run.h"

#include <algorithm>
#include <random>

#include "kernels/host/tensor_maps.h"
#include "kernels/host/toml_reader.h"

namespace own {

std::vector<BarrierArray> ShiftRun::barriers() const {
  const ShiftStorage smem;
  return {{"full", smem.full, kStages, 1, "load", "mbarrier.arrive.expect_tx", "store"},
          {"empty", smem.empty, kStages, 1, "store", "mbarrier.arrive", "load"}};
}

ShiftParams ShiftRun::params(const std::vector<GlobalAddr>& addresses, const host::TensorMapEncoder& encode) const {
  const auto map = [&](GlobalAddr address) {
    return encode(host::matrix_fields({.address = address,
                                       .rows = config_.tiles * kRows,
                                       .columns = kColumns,
                                       .box_rows = kRows,
                                       .box_columns = kColumns}));
  };
  return {map(addresses[0]), map(addresses[1])};
}

void ShiftRun::fill(size_t i, uint8_t* bytes) const {
  std::mt19937_64 random(seed_);
  std::generate(bytes, bytes + bytes_of(), [&] { return i == 0 ? uint8_t(random()) : uint8_t(0xff); });
}

host::Check ShiftRun::check(const std::vector<const uint8_t*>& tensors) const {
  uint64_t wrong = 0;
  for (uint64_t at = 0; at < bytes_of(); ++at) wrong += tensors[0][at] != tensors[1][at];
  const int rows = config_.tiles * kRows;
  return {.ok = wrong == 0,
          .relative_error = double(wrong) / double(bytes_of()),
          .reference = "the source",
          .rows = rows,
          .of_rows = rows};
}

std::string ShiftRun::configuration_json() const {
  return R"({"kernel": "shift", "tiles": )" + std::to_string(config_.tiles) + R"(, "forgets_wait": )" +
         (config_.forgets_wait ? "true}" : "false}");
}

namespace {

std::any read(const host::TomlDocument&, const host::TomlTable& root, host::Scenario&) {
  ShiftConfig config;
  if (!root.has("config")) return config;
  const host::TomlTable table = root.table("config", {"tiles", "forgets_wait"});
  if (table.has("tiles")) config.tiles = int(table.integer("tiles", 1, 1024));
  if (table.has("forgets_wait")) config.forgets_wait = table.boolean("forgets_wait");
  return config;
}

const host::KernelDefinition kShift = {
    .name = "shift",
    .description = "copies a column of tiles: a load warp, a store warp, a ring of two stages",
    .tensor_core = false,
    .arithmetic = false,
    .read = read,
    .run = host::run_of<ShiftRun>};

}  // namespace

sim::KernelCode shift_code() {
  return sim::code_of<ShiftRun>(
      kShift, [](auto& isa, const auto& config, const auto& params) { shift_kernel(isa, config, params); });
}

}  // namespace own
