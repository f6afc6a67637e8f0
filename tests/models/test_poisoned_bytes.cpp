// SPDX-License-Identifier: Apache-2.0
// Shared memory that nobody has written: poison everywhere, whatever others have written to theirs.
#include "models/poisoned_bytes.h"

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "catch.h"

using sm100::models::PoisonedBytes;

namespace {

constexpr size_t kSize = 1 << 18;

bool all_poison(const PoisonedBytes& bytes, size_t from, size_t to) {
  return std::all_of(&bytes[from], &bytes[from] + (to - from), [](uint8_t b) { return b == 0xff; });
}

}  // namespace

TEST_CASE("bytes are poison until they are written, in one array and not in another", "[smem]") {
  const bool dense = GENERATE(true, false);
  PoisonedBytes written(kSize, dense), other(kSize, dense);
  CHECK(all_poison(written, 0, kSize));
  written[0] = 1, written[kSize - 1] = 2;
  std::fill_n(&written[5000], 10000, uint8_t(3));
  CHECK(written[0] == 1);
  CHECK(written[kSize - 1] == 2);
  CHECK(std::all_of(&written[5000], &written[15000], [](uint8_t b) { return b == 3; }));
  CHECK(all_poison(written, 1, 5000));
  CHECK(all_poison(written, 15000, kSize - 1));
  CHECK(all_poison(other, 0, kSize));
  CHECK(all_poison(PoisonedBytes(kSize, dense), 0, kSize));
  CHECK(all_poison(PoisonedBytes(kSize / 2, dense), 0, kSize / 2));
}

TEST_CASE("sparse bytes that nobody writes take no memory", "[smem]") {
  std::ifstream status("/proc/self/smaps_rollup");
  if (!status) SM100_SKIP("the system does not say what a process takes");
  const auto own_kib = [] {
    std::ifstream in("/proc/self/smaps_rollup");
    for (std::string line; std::getline(in, line);)
      if (line.starts_with("Anonymous:")) return std::stol(line.substr(10));
    return 0l;
  };
  const long before = own_kib();
  std::vector<std::unique_ptr<PoisonedBytes>> many;
  for (int i = 0; i < 100; ++i) {
    many.push_back(std::make_unique<PoisonedBytes>(kSize, false));
    (*many.back())[kSize / 2] = 0;
  }
  CHECK(all_poison(*many.front(), 0, kSize / 2));
  CHECK(own_kib() - before < 4096);  // 100 pages, where the arrays have 25 MiB
}
