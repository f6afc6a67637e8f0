// SPDX-License-Identifier: Apache-2.0
// Deferred effects: their order, and the room that holds them.
#include "models/completion_queue.h"

#include <memory>
#include <string>

#include "catch.h"
#include "models/fixture.h"

namespace sm100::models {

TEST_CASE("effects are performed at their cycle in order of time and then of issue", "[completion_queue]") {
  CompletionQueue queue;
  std::string performed;
  Stimulus stimulus([&] {
    const Cycles begin = now();
    const auto note = [&, begin](char name) {
      return [&performed, name, begin] { performed += name + std::to_string(now() - begin) + " "; };
    };
    queue.post(begin + 7, note('d'));
    queue.post(begin + 3, note('a'));
    queue.post(begin + 7, note('e'));
    queue.post(begin + 5, [&queue, note, begin] {  // an effect may post, also for the cycle that is being performed
      note('b')();
      queue.post(now(), note('c'));
      queue.post(0, note('C'));  // the past is now
      queue.post(begin + 7, note('f'));
    });
  });
  sc_core::sc_start();
  CHECK(performed == "a3 b5 c5 C5 d7 e7 f7 ");
}

TEST_CASE("what an effect holds is released once it has been performed", "[completion_queue]") {
  CompletionQueue queue;
  const auto held = std::make_shared<int>(0);
  Stimulus stimulus([&] {
    for (int round = 1; round <= 3; ++round) {
      for (int i = 0; i < 100 * round; ++i) queue.post(now() + Cycles(i % 10), [held] { ++*held; });
      models::wait(20);
      CHECK(held.use_count() == 1);
    }
  });
  sc_core::sc_start();
  CHECK(*held == 600);
}

TEST_CASE("an inline function moves what it holds and destroys it once", "[completion_queue]") {
  const auto held = std::make_shared<int>(5);
  using Function = InlineFunction<int(int), 32>;
  Function first([held](int x) { return *held + x; });
  CHECK(first(1) == 6);
  Function second(std::move(first));
  CHECK_FALSE(first);
  CHECK(second(2) == 7);
  CHECK(held.use_count() == 2);
  second = Function([](int x) { return x; });
  CHECK(held.use_count() == 1);
  CHECK(second(3) == 3);
  second.reset();
  CHECK_FALSE(second);
}

}  // namespace sm100::models
