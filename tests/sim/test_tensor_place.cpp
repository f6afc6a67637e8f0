// SPDX-License-Identifier: Apache-2.0
// What lies at an address of global memory, and what lies next to one that no tensor holds.
#include "sim/tensor_place.h"

#include "catch.h"
#include "kernels/host/scenario.h"

using namespace sm100;
using namespace sm100::sim;

TEST_CASE("an address is named by its tensor, a matrix's by row and column", "[places]") {
  const models::DeviceProfile profile = host::load_profile("b200");
  models::MemorySystem memory(profile);
  const GlobalAddr words = memory.allocate("workspace", 4096, false),
                   c = memory.allocate("C", 551 * 203 * 4, false);
  memory.describe(c, "f32", 551, 203);
  CHECK(tensor_place(memory, words + 1024) == "workspace, byte 1,024");
  CHECK(tensor_place(memory, c) == "C, row 0, column 0");
  CHECK(tensor_place(memory, c + (130 * 203 + 7) * 4) == "C, row 130, column 7");
  CHECK(tensor_place(memory, c + 551 * 203 * 4) == "");
}

TEST_CASE("GM1: how far beyond which tensor an address lies", "[places]") {
  const models::DeviceProfile profile = host::load_profile("b200");
  models::MemorySystem memory(profile);
  const GlobalAddr words = memory.allocate("workspace", 4096, false),
                   c = memory.allocate("C", 551 * 203 * 4, false);
  memory.describe(c, "f32", 551, 203);
  const GlobalAddr end = c + 551 * 203 * 4;
  CHECK(beside_tensors(memory, end, 4) ==
        ": right at the end of C (551 x 203 f32), where row 551, column 0 would be");
  CHECK(beside_tensors(memory, end + 128, 4) ==
        ": 128 bytes past the end of C (551 x 203 f32), where row 551, column 32 would be");
  CHECK(beside_tensors(memory, end + uint64_t(-8), 16) ==
        ": the last 8 bytes of it past the end of C (551 x 203 f32)");
  CHECK(beside_tensors(memory, words + 4096 + 1, 4) == ": 1 byte past the end of workspace (4,096 bytes)");
  CHECK(beside_tensors(memory, words + uint64_t(-16), 4) == ": 16 bytes before the beginning of workspace");
  CHECK(beside_tensors(memory, c + uint64_t(-16), 32) ==
        ": 16 bytes before the beginning of C, and reaches into it");
  CHECK(beside_tensors(memory, {0x1000}, 4) == "");
}
