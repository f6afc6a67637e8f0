// SPDX-License-Identifier: Apache-2.0
// Tensor maps that say something else than their tensors have.
#include "catch.h"
#include "sim/provenance/map_differences.h"

using namespace sm100;
using namespace sm100::sim::provenance;

namespace {

/// A of 256 rows of 384 bytes, C of 256 x 128 bf16, scale factors of A in 2 groups of 6 atoms.
const std::vector<host::ExpectedProduct> kGroup = {
    {.name = "group 2",
     .a = {.name = "A", .address = 0x10000, .rows = 256, .pitch = 384, .bits = 4},
     .b = {.name = "B", .address = 0x90000, .rows = 128, .pitch = 384, .bits = 4},
     .c = {.name = "C", .address = 0x110000, .rows = 256, .pitch = 256, .bits = 16},
     .k = 768,
     .sfa = host::ExpectedMatrix{.name = "SFA", .address = 0x210000, .rows = 256, .pitch = 6 * 512, .bits = 8}}};

TensorMapFields matrix_map(uint64_t address, uint64_t columns, uint64_t rows, uint64_t pitch,
                           TensorMapDataType type = TensorMapDataType::uint8) {
  TensorMapFields map;
  map.data_type = type, map.rank = 2, map.global_address = address;
  map.global_dim[0] = columns, map.global_dim[1] = rows, map.global_stride[0] = pitch;
  return map;
}

TensorMapFields scale_map(uint64_t atoms, uint64_t groups, uint64_t pitch) {
  TensorMapFields map;
  map.rank = 3, map.global_address = 0x210000;
  map.global_dim[0] = 512, map.global_dim[1] = atoms, map.global_dim[2] = groups;
  map.global_stride[0] = 512, map.global_stride[1] = pitch;
  return map;
}

std::string text(const TensorMapFields& map) {
  const auto difference = map_difference(kGroup, map);
  return difference ? difference->text : "";
}

}  // namespace

TEST_CASE("the stride of a tensor map is held against its tensor's rows", "[provenance]") {
  CHECK(text(matrix_map(0x10000, 384, 256, 384)).empty());
  CHECK(text(matrix_map(0x10000, 768, 256, 768)) ==
        "the tensor map of A of group 2 has 768 bytes from a row to the next, where rows of A of group 2 lie 384 "
        "bytes apart: its stride is wrong");
  const auto of_c = map_difference(kGroup, matrix_map(0x110000, 128, 256, 128, TensorMapDataType::bfloat16));
  REQUIRE(of_c);
  CHECK(of_c->of_output);
  CHECK(of_c->of_pitch);
  CHECK(text(scale_map(6, 2, 2 * 512)) ==
        "the tensor map of SFA of group 2 has 1,024 bytes from one group of 128 rows to the next, where SFA of "
        "group 2 has 3,072: its stride is wrong");
}

TEST_CASE("a tensor map that does not reach all of its tensor is told by its dimensions", "[provenance]") {
  CHECK(
      text(matrix_map(0x10000, 384, 64, 384)) ==
      "the tensor map of A of group 2 has 64 rows of 384 bytes, where A of group 2 has 256 of 384: its dimensions "
      "are wrong");
  CHECK(text(scale_map(2, 6, 6 * 512)) ==
        "the tensor map of SFA of group 2 has 2 atoms along K and 6 along the rows, where SFA of group 2 has 6 and "
        "2: its dimensions are wrong");
  // One that reaches further may be of several groups.
  CHECK(text(matrix_map(0x10000, 384, 1024, 384)).empty());
}

TEST_CASE("a tensor map with the sizes of another group is told so", "[provenance]") {
  std::vector<host::ExpectedProduct> groups = kGroup;
  groups.push_back(groups[0]);
  groups[1].name = "group 3", groups[1].a.address = 0x50000, groups[1].a.rows = 128, groups[1].a.pitch = 512;
  groups[1].k = 1024;
  const auto difference = map_difference(groups, matrix_map(0x10000, 512, 128, 512));
  REQUIRE(difference);
  CHECK(text(matrix_map(0x10000, 384, 128, 384)) ==
        "a tensor map begins at A of group 2, and has the sizes and the stride of B of group 2: its address or its "
        "sizes are another's");
  CHECK(difference->text ==
        "a tensor map begins at A of group 2, and has the sizes and the stride of A of group 3: its address or its "
        "sizes are another's");
}

TEST_CASE("maps of other tensors, or that view one in a way of their own, are not doubted", "[provenance]") {
  CHECK(text(matrix_map(0x10180, 384, 255, 768)).empty());
  TensorMapFields slabs = matrix_map(0x10000, 16, 256, 384);
  slabs.rank = 3, slabs.global_dim[2] = 24, slabs.global_stride[1] = 16;
  CHECK(text(slabs).empty());
}
