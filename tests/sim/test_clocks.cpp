// SPDX-License-Identifier: Apache-2.0
// Vector clocks that share one array: whoever changes his leaves the others' as they are.
#include "sim/hazards/clocks.h"

#include <vector>

#include "catch.h"

using namespace sm100::sim;

namespace {

VectorClock clock(const std::vector<Clock>& clocks) {
  VectorClock made;
  for (uint32_t c = 0; c < clocks.size(); ++c) made.advance({c, clocks[c]});
  return made;
}
std::vector<Clock> all(const VectorClock& of) {
  std::vector<Clock> clocks;
  for (uint32_t c = 0; c < 6; ++c) clocks.push_back(of.of(c));
  return clocks;
}
using Clocks = std::vector<Clock>;

}  // namespace

TEST_CASE("a copy of a clock stays as it is when the clock changes", "[hazards]") {
  VectorClock known = clock({3, 0, 5});
  const VectorClock released = known, again = released;
  known.advance({1, 7});
  CHECK(all(released) == Clocks{3, 0, 5, 0, 0, 0});
  known.advance({5, 1});  // one more component than there was room for, perhaps
  known.lower({2, 4});
  CHECK(all(known) == Clocks{3, 7, 3, 0, 0, 1});
  known.join(clock({9, 9, 9}));
  known.clear();
  CHECK(all(known) == Clocks(6, 0));
  CHECK(all(released) == Clocks{3, 0, 5, 0, 0, 0});
  CHECK(all(again) == all(released));
}

TEST_CASE("clocks that have joined go on apart", "[hazards]") {
  const Clocks later{3, 2, 5, 1};
  VectorClock behind = clock({3, 1}), ahead = clock(later);
  behind.join(ahead);  // knows nothing that the other does not
  CHECK(all(behind) == Clocks{3, 2, 5, 1, 0, 0});
  behind.advance({0, 4});
  CHECK(all(ahead) == Clocks{3, 2, 5, 1, 0, 0});
  ahead.join(clock({1, 2}));  // which it knows
  CHECK(all(ahead) == Clocks{3, 2, 5, 1, 0, 0});
  ahead.join(clock({0, 8}));  // each knows something
  CHECK(all(ahead) == Clocks{3, 8, 5, 1, 0, 0});
  CHECK(all(behind) == Clocks{4, 2, 5, 1, 0, 0});
  VectorClock nothing;
  ahead.join(nothing);
  CHECK(all(ahead) == Clocks{3, 8, 5, 1, 0, 0});
  nothing.join(ahead);
  CHECK(all(nothing) == all(ahead));
}

TEST_CASE("the first components of a clock are a clock of their own", "[hazards]") {
  VectorClock known = clock({1, 2, 3, 4}), fenced;
  fenced.assign(known, 2);
  CHECK(all(fenced) == Clocks{1, 2, 0, 0, 0, 0});
  fenced.assign(known, 10);
  known.advance({0, 9});
  CHECK(all(fenced) == Clocks{1, 2, 3, 4, 0, 0});
  fenced.assign(known, 1);  // its array was another's until now
  CHECK(all(fenced) == Clocks{9, 0, 0, 0, 0, 0});
  fenced.advance({3, 1});  // what lay there before does not come back
  CHECK(all(fenced) == Clocks{9, 0, 0, 1, 0, 0});
}
