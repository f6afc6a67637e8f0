// SPDX-License-Identifier: Apache-2.0
#include "sim/barrier_learner.h"

#include <algorithm>

#include "catch.h"
#include "paths.h"
#include "sim/kernel_code.h"
#include "sim/simulation.h"

namespace sm100::sim {
namespace {

/// What a run of the scenario shows, whatever its kernel's table says.
BarrierTable learned(const host::Scenario& scenario, std::vector<BarrierArray> named = {}) {
  Kernel kernel = kernel_of(*host::make_run(scenario));
  kernel.barriers = std::move(named);
  const auto tables = learned_tables([&] {
    BarrierLearner learner(kernel);
    Simulation simulation(scenario, {.learner = &learner});
    simulation.run();
    return std::vector<BarrierTable>{learner.table()};
  });
  return tables.empty() ? BarrierTable{} : tables.front();
}

const BarrierArray* at(const BarrierTable& table, uint32_t offset) {
  for (const BarrierArray& a : table.rows)
    if (offset >= a.base.offset() && offset < a.base.offset() + 8u * uint32_t(a.stages)) return &a;
  return nullptr;
}

/// Every role of `some` is one of `all`.
bool within(std::string_view some, std::string_view all) {
  for (size_t from = 0; from < some.size();) {
    const size_t to = std::min(some.find(", ", from), some.size());
    if (!lists(all, some.substr(from, to - from))) return false;
    from = to + 2;
  }
  return true;
}

}  // namespace

TEST_CASE("a run shows what kernels' tables state: counts, who arrives, who waits", "[learner]") {
  for (const char* name : {"01_dense_small", "13_pairs", "copy/multicast_2", "21_fallback", "direct/v5"}) {
    const host::Scenario scenario = host::load_scenario(scenario_dir() + "/" + name + ".toml", {"run.data=none"});
    const BarrierTable table = learned(scenario);
    for (const BarrierArray& stated : host::make_run(scenario)->barriers())
      for (int stage = 0; stage < stated.stages; ++stage) {
        CAPTURE(name, stated.name, stage);
        const BarrierArray* row = at(table, stated.base.offset() + 8u * uint32_t(stage));
        REQUIRE(row);
        CHECK(row->count == stated.count);
        CAPTURE(row->arrives, stated.arrives, row->waits, stated.waits);
        CHECK(within(row->arrives, stated.arrives));
        CHECK(within(row->waits, stated.waits));
        CHECK((row->arrives[0] != 0 && row->waits[0] != 0));
      }
  }
}

TEST_CASE("a row without a count is a name, and the run gives the rest", "[learner]") {
  const host::Scenario scenario = host::load_scenario(scenario_dir() + "/copy/four_stages.toml", {"run.data=none"});
  std::vector<BarrierArray> names = host::make_run(scenario)->barriers();
  REQUIRE(names.size() == 2);
  const uint32_t full = names[0].base.offset(), empty = names[1].base.offset();
  const BarrierTable table = learned(scenario, {{"mine", names[0].base, 4, 0, "", "", ""}});
  REQUIRE(table.rows.size() == 2);
  CHECK(std::string(at(table, full)->name) == "mine");
  CHECK(at(table, full)->stages == 4);
  CHECK(std::string(at(table, full)->arrives_with) == "mbarrier.arrive.expect_tx");
  CHECK(at(table, empty)->stages == 4);  // neighbours that are used alike
  CHECK(std::string(at(table, empty)->name).find("mbarrier 0x") == 0);
  CHECK(std::string(at(table, empty)->arrives) == "consumer");
  CHECK(at(table, empty)->count == 4);
}

}  // namespace sm100::sim
