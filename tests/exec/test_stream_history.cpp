// SPDX-License-Identifier: Apache-2.0
#include "exec/stream_history.h"

#include <catch.h>

#include <optional>
#include <string>
#include <vector>

using namespace sm100::exec;
using sm100::models::AccessClass;

namespace {

Footprint touching(uint64_t address, uint64_t bytes, bool write) {
  Footprint footprint;
  footprint.add({address, bytes}, write);
  return footprint;
}
WorkOrder order(uint64_t stream, uint64_t count, std::vector<WorkCount> after = {},
                std::vector<WorkCount> waited = {}) {
  WorkOrder order;
  order.watched = 1, order.stream = stream, order.count = count;
  order.after = std::move(after), order.waited = std::move(waited);
  return order;
}

/// The first of the races that it has.
std::optional<Race> add(StreamHistory& history, const std::string& name, const WorkOrder& order,
                        const Footprint& footprint) {
  const std::vector<Race> races = history.add(name, "work", order, footprint);
  return races.empty() ? std::nullopt : std::optional(races.front());
}

}  // namespace

TEST_CASE("stream history: a write and a read of one byte on two streams race") {
  StreamHistory history;
  CHECK_FALSE(add(history, "first", order(1, 1), touching(100, 28, true)));
  const auto race = add(history, "second", order(2, 1), touching(127, 50, false));
  REQUIRE(race);
  CHECK(race->earlier == "first");
  CHECK(race->later == "second");
  CHECK(race->first_writes);
  CHECK_FALSE(race->second_writes);
  CHECK(race->address == 127);
  CHECK(race->bytes == 1);
}

TEST_CASE("stream history: a read that another stream overwrites races, two reads and other bytes do not") {
  StreamHistory history;
  add(history, "reads", order(1, 1), touching(0, 64, false));
  CHECK_FALSE(add(history, "reads too", order(2, 1), touching(0, 64, false)));
  CHECK_FALSE(add(history, "beside it", order(3, 1), touching(64, 64, true)));
  const auto race = add(history, "overwrites", order(4, 1), touching(63, 1, true));
  REQUIRE(race);
  CHECK(race->earlier == "reads too");  // the latest
  CHECK(race->second_writes);
}

TEST_CASE("stream history: events, the host and the stream itself order work") {
  StreamHistory history;
  add(history, "first", order(1, 1), touching(0, 64, true));
  CHECK_FALSE(add(history, "same stream", order(1, 2), touching(0, 64, true)));
  CHECK_FALSE(add(history, "behind both", order(2, 1, {{1, 2}}), touching(0, 64, false)));
  CHECK(add(history, "behind the first only", order(3, 1, {{1, 1}}), touching(0, 64, false))->earlier ==
        "same stream");
  CHECK_FALSE(
      add(history, "the host has waited", order(4, 1, {}, {{1, 2}, {2, 1}, {3, 1}}), touching(0, 64, true)));
}

TEST_CASE("stream history: strong accesses may meet, and a plain one races with them") {
  const auto strong = [](AccessClass kind) {
    Footprint footprint;
    footprint.of[size_t(kind)].push_back({0, 4});
    return footprint;
  };
  StreamHistory history;
  Footprint atomic = strong(AccessClass::strong_write);
  atomic.of[size_t(AccessClass::strong_read)].push_back({0, 4});
  add(history, "counts", order(1, 1), atomic);
  CHECK_FALSE(add(history, "counts too", order(2, 1), atomic));
  CHECK_FALSE(add(history, "polls", order(3, 1), strong(AccessClass::strong_read)));
  CHECK(add(history, "reads", order(4, 1), touching(0, 4, false)));
}

TEST_CASE("stream history: memory that was given back is another's") {
  StreamHistory history;
  add(history, "first", order(1, 1), touching(0, 300, true));
  history.forget({100, 100});
  CHECK_FALSE(add(history, "in its place", order(2, 1), touching(100, 100, true)));
  CHECK(add(history, "beyond it", order(3, 1), touching(200, 1, true)));
}

TEST_CASE("stream history: what a stream touches again is kept once, and told as the later one's") {
  StreamHistory history;
  for (uint64_t i = 1; i <= 10'000; ++i) add(history, "again", order(1, i), touching(0, 64, true));
  add(history, "the first half", order(1, 10'001), touching(0, 32, true));
  CHECK_FALSE(history.incomplete());
  CHECK(add(history, "reads", order(2, 1, {{1, 10'000}}), touching(31, 2, false))->earlier == "the first half");
  CHECK_FALSE(add(history, "reads behind it", order(3, 1, {{1, 10'001}}), touching(31, 2, false)));
}

TEST_CASE("stream history: every piece of work that it may run beside is told, the latest first") {
  StreamHistory history;
  history.add("first", "fill", order(1, 1), touching(0, 64, true));
  history.add("second", "copy", order(2, 1, {{1, 1}}), touching(0, 64, true));
  const std::vector<Race> races = history.add("third", "sum", order(3, 1), touching(8, 4, false));
  REQUIRE(races.size() == 2);
  CHECK(races[0].earlier == "second");
  CHECK(races[0].kinds == "copy, sum");
  CHECK(races[1].earlier == "first");
}
