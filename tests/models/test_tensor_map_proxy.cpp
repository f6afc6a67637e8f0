// SPDX-License-Identifier: Apache-2.0
// The view that a CTA has of tensor maps in global memory: made at the first use, dropped by an acquire, of what
// was released.
#include "models/tensor_map_proxy.h"

#include <cstring>

#include "catch.h"
#include "kernels/host/scenario.h"

using namespace sm100;
using namespace sm100::models;

namespace {

struct Bench {
  DeviceProfile profile = host::load_profile("b200");
  MemorySystem memory{profile};
  TensorMapProxy proxy{memory, profile};
  GlobalAddr map = memory.allocate("maps", 256, true);

  Bench() { proxy.start_cta(0), proxy.start_cta(1); }
  void write(uint8_t byte) { std::memset(memory.data(map, 128), byte, 128); }
  void edit(uint8_t byte, int slot = 0) { proxy.before_edit(slot, map), write(byte); }
  int seen(int slot = 0, Cycles at = 0) { return proxy.fetch(slot, map, at)->map.bytes[0]; }
};

}  // namespace

TEST_CASE("a copy sees the map of its CTA's first use until an acquire", "[tensor_map_proxy]") {
  Bench b;
  b.write(1);
  CHECK(b.seen() == 1);
  b.edit(2), b.proxy.release(b.map);
  CHECK(b.seen() == 1);   // stale
  CHECK(b.seen(1) == 2);  // another CTA looks for the first time
  b.proxy.acquire(0, b.map);
  CHECK(b.seen() == 2);
}

TEST_CASE("an acquire brings what was released, not what was written since", "[tensor_map_proxy]") {
  Bench b;
  b.write(1);
  b.edit(2);
  b.proxy.acquire(0, b.map);
  CHECK(b.seen() == 1);
  b.proxy.release_edits_of(1);  // of another CTA
  b.proxy.acquire(0, b.map);
  CHECK(b.seen() == 1);
  b.proxy.release_edits_of(0);
  CHECK(b.seen() == 1);
  b.proxy.acquire(0, b.map);
  CHECK(b.seen() == 2);
}

TEST_CASE("a view is fetched once, and a new CTA has none", "[tensor_map_proxy]") {
  Bench b;
  const Cycles fetched = b.proxy.fetch(0, b.map, 1000)->ready;
  CHECK(fetched == 1000 + b.profile.cycles_of_ns(b.profile.memory.l2_hit_ns));
  CHECK(b.proxy.fetch(0, b.map, 5000)->ready == fetched);
  b.proxy.start_cta(0);
  CHECK(b.proxy.fetch(0, b.map, 5000)->ready > 5000);
  CHECK(b.proxy.fetch(0, {16}, 0) == nullptr);  // no allocation
}
