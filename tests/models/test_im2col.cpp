// SPDX-License-Identifier: Apache-2.0
// Im2col copies against what an H200 made of them (bench/hardware/im2col.cu), and against PTX's rules.
#include <algorithm>
#include <array>
#include <cstring>

#include "bench/hardware/im2col_cases.h"
#include "catch.h"
#include "models/tma_units.h"

using namespace sm100;
using namespace sm100::models;

namespace {

constexpr uint32_t kBar = 0x400, kImage = 0x800;
constexpr uint64_t kFnvPrime = 0x100000001b3u, kFnvStart = 0xcbf29ce484222325u;

struct Bench : TmaUnits {
  Bench() {
    smem.start_cta(kImage + hardware::kIm2colSharedBytes, true);
    address = memory.allocate("images", hardware::kIm2colGlobalBytes, true);
    barrier.init(kBar, 1, {});
  }
  /// As before a copy; the units stay, as SystemC makes none once it has run.
  void begin(bool store) {
    for (uint32_t i = 0; i < hardware::kIm2colGlobalBytes / 4; ++i) words()[i] = i + 1;
    for (uint32_t i = 0; i < hardware::kIm2colSharedBytes / 4; ++i) image()[i] = store ? 0x10000 + i : 0xeeeeeeee;
    barrier.inval(kBar, {});
    barrier.init(kBar, 1, {});
  }
  uint32_t* words() { return reinterpret_cast<uint32_t*>(memory.data(address, hardware::kIm2colGlobalBytes)); }
  uint32_t* image() { return reinterpret_cast<uint32_t*>(smem.data(kImage)); }

  TensorCopy copy(const hardware::Im2colCase& c) {
    TensorCopy made;
    made.map = c.map;
    made.map.global_address = address.value;
    std::copy_n(c.first, kTensorMapMaxRank, made.coords.begin());
    made.smem = kImage, made.barrier = kBar, made.source.warp = 0;
    return made;
  }
};

/// 8 channels, W 6, H 5, N 3; a copy of 4 channels of 10 pixels.
TensorMapFields images(int32_t lower, int32_t upper) {
  TensorMapFields f;
  f.im2col = true, f.rank = 4, f.data_type = TensorMapDataType::uint32;
  const uint64_t dims[] = {8, 6, 5, 3};
  uint64_t stride = 32;
  for (uint32_t i = 0; i < f.rank; ++i) {
    f.global_dim[i] = dims[i], f.box_dim[i] = 1, f.element_stride[i] = 1;
    if (i < 3) f.global_stride[i] = stride, stride *= dims[i + 1];
  }
  f.box_dim[0] = 4, f.box_dim[1] = 10;
  std::fill_n(f.pixel_box_lower, 2, lower), std::fill_n(f.pixel_box_upper, 2, upper);
  return f;
}

/// (w, h, n) of a copy's pixels; -1 in all: it is fill.
std::vector<std::array<int, 3>> pixels(const TensorMapFields& f, std::array<int32_t, 4> first) {
  std::vector<std::array<int, 3>> all;
  for (uint32_t l = 0; l < box_lines(f); ++l) {
    const BoxLine line = box_line(f, first.data(), l);
    const int pixel = int(line.global_address / 32);
    all.push_back(line.in_bounds ? std::array{pixel % 6, pixel / 6 % 5, pixel / 30} : std::array{-1, -1, -1});
  }
  return all;
}

}  // namespace

TEST_CASE("im2col: 448 loads and 64 stores move what they move on an H200", "[tma][im2col]") {
  uint64_t loads = kFnvStart, stores = kFnvStart;
  Bench b;
  for (int n = 0; n < hardware::kIm2colCases; ++n) {
    const hardware::Im2colCase c = hardware::im2col_case(n);
    b.begin(c.store);
    if (c.store)
      b.tma.store(b.copy(c), 0);
    else
      b.tma.load(b.copy(c), 0);
    sc_core::sc_start();
    INFO(n);
    REQUIRE(b.observer.violation_id() == "");
    uint64_t& h = c.store ? stores : loads;
    const uint32_t* const words = c.store ? b.words() : b.image();
    const uint32_t bytes = c.store ? hardware::kIm2colGlobalBytes : hardware::kIm2colSharedBytes;
    h = (h ^ hardware::im2col_hash(words, bytes / 4)) * kFnvPrime;
  }
  CHECK(loads == 0xbf09b92e96aa33ba);
  CHECK(stores == 0x20d6a42116ec3461);
}

TEST_CASE("im2col: the maps that an H200's driver takes", "[tma][im2col]") {
  std::vector<uint32_t> taken;
  for (const TensorMapFields& f : hardware::im2col_maps()) taken.push_back(validate(f) == TensorMapError::none);
  CHECK(taken.size() == 286);
  CHECK(std::count(taken.begin(), taken.end(), 1u) == 123);
  CHECK(hardware::im2col_hash(taken.data(), taken.size()) == 0x34fee71d1083218e);
}

// The pixels are those that the GPU printed.
TEST_CASE("im2col: pixels go along W through the bounding box, then along H, then to the next image",
          "[tma][im2col]") {
  using Pixels = std::vector<std::array<int, 3>>;
  const std::array<int, 3> fill{-1, -1, -1};
  TensorMapFields f = images(-1, -1);
  f.im2col_offset[0] = f.im2col_offset[1] = 1;
  CHECK(pixels(f, {0, 0, 0, 0}) == Pixels{{1, 1, 0},
                                          {2, 1, 0},
                                          {3, 1, 0},
                                          {4, 1, 0},
                                          {5, 1, 0},
                                          {0, 2, 0},
                                          {1, 2, 0},
                                          {2, 2, 0},
                                          {3, 2, 0},
                                          {4, 2, 0}});
  f = images(-1, -1);
  f.element_stride[3] = 2;  // of N: the second image is left out
  CHECK(pixels(f, {0, 3, 3, 0}) ==
        Pixels{{3, 3, 0}, {4, 3, 0}, fill, fill, fill, fill, fill, fill, fill, {0, 0, 2}});
  f = images(0, 0);
  f.element_stride[1] = 2;
  CHECK(pixels(f, {0, 0, 0, 0}) == Pixels{{0, 0, 0},
                                          {2, 0, 0},
                                          {4, 0, 0},
                                          {0, 1, 0},
                                          {2, 1, 0},
                                          {4, 1, 0},
                                          {0, 2, 0},
                                          {2, 2, 0},
                                          {4, 2, 0},
                                          {0, 3, 0}});
}

TEST_CASE("im2col: copies that an H200 stops at are findings", "[tma][im2col]") {
  struct Wrong {
    TensorMapFields map;
    std::array<int32_t, 5> first;
    bool store;
    CopyError error;
  };
  TensorMapFields far = images(-1, -1);
  far.im2col_offset[0] = 256;
  const Wrong all[] = {{images(-1, -1), {0, -3, 0, 0}, false, CopyError::outside_pixel_box},
                       {images(-1, -1), {0, 5, 0, 0}, false, CopyError::outside_pixel_box},
                       {images(-1, -1), {0, 0, -2, 0}, false, CopyError::outside_pixel_box},
                       {images(-1, -1), {0, 0, 4, 0}, false, CopyError::outside_pixel_box},
                       {images(-1, -1), {2, 0, 0, 0}, false, CopyError::inner_start_alignment},
                       {far, {0, 0, 0, 0}, false, CopyError::im2col_offset_range},
                       {images(-1, -1), {0, 0, 0, 0}, true, CopyError::store_beyond_tensor},
                       {images(0, 1), {0, 0, 0, 0}, true, CopyError::store_beyond_tensor},
                       {images(0, 0), {0, 0, 0, -1}, true, CopyError::negative_store_start},
                       {images(0, 0), {-4, 0, 0, 0}, true, CopyError::negative_store_start}};
  for (const Wrong& wrong : all) {
    const CopyError error =
        wrong.store ? validate_store(wrong.map, wrong.first.data()) : validate_load(wrong.map, wrong.first.data());
    CHECK(message(error) == std::string(message(wrong.error)));
    Bench b;
    hardware::Im2colCase c{wrong.map, {}, wrong.store};
    std::copy(wrong.first.begin(), wrong.first.end(), c.first);
    if (wrong.store)
      b.tma.store(b.copy(c), 0);
    else
      b.tma.load(b.copy(c), 0);
    CHECK(b.observer.violation_id() == "TM10");
  }
}

TEST_CASE("im2col: a map survives its encoding", "[tma][im2col]") {
  TensorMapFields f = images(-7, 5);
  f.global_address = 0x123450;
  f.pixel_box_lower[1] = -8, f.pixel_box_upper[1] = 7;
  TensorMapFields back;
  REQUIRE(decode(encode(f), back));
  CHECK(back.im2col);
  CHECK(std::equal(f.pixel_box_lower, f.pixel_box_lower + 3, back.pixel_box_lower));
  CHECK(std::equal(f.pixel_box_upper, f.pixel_box_upper + 3, back.pixel_box_upper));
  CHECK(std::equal(f.box_dim, f.box_dim + 4, back.box_dim));
  f.im2col = false;
  REQUIRE(decode(encode(f), back));
  CHECK(!back.im2col);
}
