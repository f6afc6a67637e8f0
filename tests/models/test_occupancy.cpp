// SPDX-License-Identifier: Apache-2.0
// CTAs of a kernel on one SM, worked out by hand from the table of technical specifications per compute capability.
#include "models/occupancy.h"

#include <vector>

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

TEST_CASE("as many CTAs fit on an SM as the first resource to run out allows", "[occupancy]") {
  struct Row {
    const char* why;
    CtaResources cta;
    int ctas;
    const char* limit;
  };
  const Row rows[] = {
      {"227 KiB and the reserve are all of the shared memory", {6, 232448, 168}, 1, "shared memory"},
      {"2 x (113 + 1) KiB are 228", {6, 113 * 1024, 168}, 2, "shared memory"},
      {"a byte more needs 128", {6, 113 * 1024 + 1, 168}, 1, "shared memory"},
      {"13 x 17 KiB are 221", {4, 16 * 1024, 32}, 13, "shared memory"},
      {"64 warps in fours", {4, 0, 0}, 16, "warps"},
      {"two CTAs of 1,024 threads", {32, 32 * 1024, 32}, 2, "warps"},
      {"one warp each: the slots run out", {1, 0, 32}, 32, "CTA slots"},
      {"255 registers are 8,192 of a warp, two warps to a partition", {4, 0, 255}, 2, "registers"},
      {"64 registers are 2,048 of a warp, eight to a partition", {8, 1024, 64}, 4, "registers"},
      {"80 registers are 2,560 of a warp: six to a partition, though 25 warps would fit in all four",
       {5, 0, 80},
       4,
       "registers"},
      {"33 registers are rounded up to 40", {16, 0, 33}, 3, "registers"},
      {"more than a CTA may have", {4, 228 * 1024, 0}, 0, "shared memory"},
  };
  for (const char* profile : {"b200", "h200"})
    for (const Row& row : rows) {
      CAPTURE(profile, row.why);
      const Occupancy found = occupancy(row.cta, host::load_profile(profile));
      CHECK(found.ctas == row.ctas);
      CHECK(found.limit == row.limit);
    }
}

TEST_CASE("CTAs of different kernels share an SM", "[occupancy]") {
  const DeviceProfile profile = b200();
  const CtaResources large{6, 150 * 1024, 168}, small{4, 70 * 1024, 128}, many_registers{4, 1024, 255};
  CHECK(lacking(std::vector{large, small}, profile).empty());
  CHECK(lacking(std::vector{large, small, small}, profile) == "shared memory");
  // 6 warps of 5,376 registers leave the partitions 5,632, 5,632, 11,008 and 11,008: room for two warps of 8,192.
  CHECK(lacking(std::vector{large, many_registers}, profile) == "registers");
}
