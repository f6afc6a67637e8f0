// SPDX-License-Identifier: Apache-2.0
// Which stores of boxes and of bytes write what is read.
#include "sim/hazards/bulk_writes.h"

#include <set>

#include "catch.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr uint64_t kBase = 0x7f0000000000, kPitch = 2048;

/// A box of 32 x 16 elements of a bf16 matrix of 1,000 x 1,024.
models::TensorCopy box(int32_t column, int32_t row) {
  models::TensorCopy copy;
  copy.map.data_type = TensorMapDataType::bfloat16;
  copy.map.rank = 2, copy.map.global_address = kBase;
  copy.map.global_dim[0] = 1000, copy.map.global_dim[1] = 1024, copy.map.global_stride[0] = kPitch;
  copy.map.box_dim[0] = 32, copy.map.box_dim[1] = 16;
  copy.map.element_stride[0] = copy.map.element_stride[1] = 1;
  copy.coords = {column, row, 0, 0, 0};
  return copy;
}

std::set<uint32_t> over(BulkWrites& writes, uint64_t begin, uint64_t bytes) {
  std::set<uint32_t> all;
  writes.for_each(begin, begin + bytes, [&](uint32_t number, uint64_t) { return all.insert(number), false; });
  return all;
}
std::set<uint32_t> over(BulkWrites& writes, const models::TensorCopy& load) {
  std::set<uint32_t> all;
  writes.for_each(load, [&](uint32_t number, uint64_t) { return all.insert(number), false; });
  return all;
}

}  // namespace

TEST_CASE("bulk writes: bytes of a box and those beside it") {
  BulkWrites writes;
  writes.add(box(64, 32), 7);
  CHECK(over(writes, kBase + 32 * kPitch + 128, 4) == std::set<uint32_t>{7});
  CHECK(over(writes, kBase + 47 * kPitch + 190, 2) == std::set<uint32_t>{7});
  CHECK(over(writes, kBase + 47 * kPitch + 192, 2).empty());
  CHECK(over(writes, kBase + 32 * kPitch + 124, 4).empty());
  CHECK(over(writes, kBase + 31 * kPitch + 128, 4).empty());
  CHECK(over(writes, kBase + 48 * kPitch + 128, 4).empty());
  CHECK(over(writes, kBase - 64, 64).empty());
}

TEST_CASE("bulk writes: boxes that meet, through another map too, and copies of bytes") {
  BulkWrites writes;
  for (uint32_t i = 0; i < 64; ++i) writes.add(box(int32_t(i % 8 * 32), int32_t(i / 8 * 16)), i);
  CHECK(over(writes, box(32, 16)) == std::set<uint32_t>{9});
  CHECK(over(writes, box(48, 16)) == std::set<uint32_t>{9, 10});
  CHECK(over(writes, box(512, 16)).empty());
  models::TensorCopy narrow = box(32, 16);
  narrow.map.box_dim[0] = 8, narrow.map.box_dim[1] = 1;
  CHECK(over(writes, narrow) == std::set<uint32_t>{9});
  BulkWrites bytes;
  bytes.add(models::linear_copy({kBase}, 0, 4096), 1);
  bytes.add(models::linear_copy({kBase + 4096}, 0, 4096), 2);
  CHECK(over(bytes, kBase + 4000, 200) == std::set<uint32_t>{1, 2});
  CHECK(over(bytes, box(64, 1)) == std::set<uint32_t>{1});
  CHECK(over(bytes, kBase + 8192, 64).empty());
}
