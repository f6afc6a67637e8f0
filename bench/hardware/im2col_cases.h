// SPDX-License-Identifier: Apache-2.0
/// Im2col copies that bench/hardware/im2col.cu makes on a GPU and tests/models/test_im2col.cpp on the model: tensor
/// maps, first pixels and offsets, from a generator of its own, and which maps the driver is asked for.
#pragma once

#include <vector>

#include "kernels/isa/tensor_map.h"

namespace sm100::hardware {

/// One copy.  Elements have 32 bits; element i of the tensor's memory holds i + 1.
struct Im2colCase {
  TensorMapFields map;  ///< with the offsets
  int32_t first[kTensorMapMaxRank] = {};
  bool store = false;  ///< .im2col_no_offs; shared memory holds 0x10000 + its word's number
};

inline constexpr int kIm2colCases = 512;
/// Bytes of the tensor's memory, and of shared memory.
inline constexpr uint32_t kIm2colGlobalBytes = 1 << 20, kIm2colSharedBytes = 1 << 16;

/// Numbers that are the same everywhere.
class Dice {
 public:
  explicit Dice(uint32_t seed) : state_(seed * 2654435761u + 12345) {}
  /// first ... last
  int32_t roll(int32_t first, int32_t last) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return first + int32_t((state_ >> 33) % uint64_t(last - first + 1));
  }

 private:
  uint64_t state_;
};

/// A copy that PTX defines; every eighth is a store.
inline Im2colCase im2col_case(int number) {
  Dice dice(uint32_t(number) + 1);
  Im2colCase c;
  TensorMapFields& f = c.map;
  f.im2col = true;
  f.rank = uint32_t(dice.roll(3, 5));
  c.store = number % 8 == 7;
  const uint32_t image = f.rank - 2;
  f.data_type = !c.store && dice.roll(0, 3) == 0 ? TensorMapDataType::float32 : TensorMapDataType::uint32;
  if (f.data_type == TensorMapDataType::float32 && dice.roll(0, 1) == 1)
    f.oob_fill = TensorMapOobFill::nan_request_zero_fma;
  f.global_dim[0] = uint64_t(dice.roll(1, 9)) * 4 - uint64_t(dice.roll(0, 3));
  uint64_t stride = (f.global_dim[0] + 3) / 4 * 16 + uint64_t(dice.roll(0, 1)) * 16;
  for (uint32_t i = 1; i < f.rank; ++i) {
    f.global_dim[i] = uint64_t(dice.roll(1, i + 1 == f.rank ? 4 : image == 3 ? 6 : 9));
    f.global_stride[i - 1] = stride;
    stride *= f.global_dim[i];
  }
  const int swizzle = dice.roll(0, 3);
  f.swizzle = TensorMapSwizzle(swizzle);
  f.box_dim[0] = 4u * uint32_t(dice.roll(1, swizzle == 0 ? 12 : 1 << swizzle));
  f.box_dim[1] = uint32_t(dice.roll(1, dice.roll(0, 3) == 0 ? 300 : 40));
  for (uint32_t i = 2; i < f.rank; ++i) f.box_dim[i] = 1;
  for (uint32_t i = 0; i < f.rank; ++i) f.element_stride[i] = 1;
  for (uint32_t i = 0; i < image; ++i) {
    const int32_t pixels = int32_t(f.global_dim[i + 1]);
    do {
      f.pixel_box_lower[i] = dice.roll(c.store ? 0 : -3, 2), f.pixel_box_upper[i] = dice.roll(-3, c.store ? 0 : 2);
    } while (pixels - 1 + f.pixel_box_upper[i] < f.pixel_box_lower[i]);
    f.element_stride[i + 1] = uint32_t(dice.roll(1, 3));
    c.first[i + 1] = dice.roll(f.pixel_box_lower[i], pixels - 1 + f.pixel_box_upper[i]);
    f.im2col_offset[i] = c.store ? uint16_t(0) : uint16_t(dice.roll(0, 5));
  }
  c.first[0] = 4 * dice.roll(c.store ? 0 : -1, 2);
  c.first[f.rank - 1] = dice.roll(c.store ? 0 : -1, int32_t(f.global_dim[f.rank - 1]));
  return c;
}

/// Maps of which some break a rule of cuTensorMapEncodeIm2col.
inline std::vector<TensorMapFields> im2col_maps() {
  std::vector<TensorMapFields> maps;
  for (uint32_t rank = 3; rank <= 5; ++rank) {
    TensorMapFields base;
    base.im2col = true, base.rank = rank, base.data_type = TensorMapDataType::uint32;
    uint64_t stride = 128;
    for (uint32_t i = 0; i < rank; ++i) {
      base.global_dim[i] = i == 0 ? 32 : 8, base.box_dim[i] = 1, base.element_stride[i] = 1;
      if (i + 1 < rank) base.global_stride[i] = stride, stride *= 8;
    }
    base.box_dim[0] = 32, base.box_dim[1] = 64;
    const auto add = [&](auto&& change) { maps.push_back(base), change(maps.back()); };
    add([](TensorMapFields&) {});
    for (const int32_t limit : {16, 128, 32768})
      for (const int32_t corner : {limit - 1, limit, -limit, -limit - 1}) {
        add([=](TensorMapFields& f) { f.pixel_box_lower[0] = corner; });
        add([=](TensorMapFields& f) { f.pixel_box_upper[0] = corner; });
        add([=](TensorMapFields& f) { f.pixel_box_lower[rank - 3] = corner; });
      }
    for (const uint32_t pixels : {0u, 1u, 7u, 256u, 257u, 512u, 1000u, 1023u, 1024u, 1025u})
      add([=](TensorMapFields& f) { f.box_dim[1] = pixels; });
    for (const uint32_t channels : {0u, 1u, 2u, 4u, 12u, 36u, 128u, 252u, 256u, 260u, 264u})
      add([=](TensorMapFields& f) { f.box_dim[0] = channels; });
    for (const uint32_t channels : {8u, 12u, 16u, 32u, 36u})
      for (const auto swizzle : {TensorMapSwizzle::b32, TensorMapSwizzle::b64, TensorMapSwizzle::b128})
        add([=](TensorMapFields& f) { f.box_dim[0] = channels, f.swizzle = swizzle; });
    for (const uint32_t step : {0u, 2u, 8u, 9u})
      for (uint32_t i = 0; i < rank; ++i) add([=](TensorMapFields& f) { f.element_stride[i] = step; });
    add([](TensorMapFields& f) { f.oob_fill = TensorMapOobFill::nan_request_zero_fma; });
    add([](TensorMapFields& f) { f.data_type = TensorMapDataType::uint8, f.box_dim[0] = 256; });
    add([](TensorMapFields& f) { f.data_type = TensorMapDataType::uint8, f.box_dim[0] = 8; });
    add([](TensorMapFields& f) { f.global_stride[0] = 136; });
    add([](TensorMapFields& f) { f.global_dim[1] = 0; });
    add([](TensorMapFields& f) { f.pixel_box_lower[0] = 5, f.pixel_box_upper[0] = -5; });
  }
  TensorMapFields flat = maps.front();
  flat.rank = 2;
  maps.push_back(flat);
  return maps;
}

/// FNV-1a of words.
inline uint64_t im2col_hash(const uint32_t* words, size_t count) {
  uint64_t h = 0xcbf29ce484222325u;
  for (size_t i = 0; i < count; ++i) h = (h ^ words[i]) * 0x100000001b3u;
  return h;
}

}  // namespace sm100::hardware
