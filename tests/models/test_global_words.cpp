// SPDX-License-Identifier: Apache-2.0
// Words that CTAs synchronise on (PTX 8.8): when a released value is there, and who is woken.
#include "models/global_words.h"

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

TEST_CASE("a released word is visible from its cycle on and wakes who watches it", "[global-words]") {
  const DeviceProfile profile = b200();
  MemorySystem memory(profile);
  const GlobalAddr words = memory.allocate("locks", 8, true);
  GlobalWords unit("words", memory);
  Waiter waiter;
  Cycles woken = 0;
  uint32_t seen = 99, before = 99;
  Stimulus waits([&] {
    unit.watch(words + 4, waiter);
    models::wait(waiter.wake);
    woken = now();
    seen = unit.load(words + 4);
  });
  Stimulus stores([&] {
    unit.store(words + 4, 7, 100, {.warp = 3});
    models::wait(99);
    before = unit.load(words + 4);
  });
  sc_core::sc_start();
  CHECK(before == 0);
  CHECK(woken == 100);
  CHECK(seen == 7);
  CHECK(unit.load(words) == 0);
  REQUIRE(unit.last_store(words + 4));
  CHECK(unit.last_store(words + 4)->by.warp == 3);
  CHECK_FALSE(unit.last_store(words));
  CHECK(memory.place(words + 4) == std::pair<std::string, uint64_t>{"locks", 4});
}
