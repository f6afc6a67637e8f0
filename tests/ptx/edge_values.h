// SPDX-License-Identifier: Apache-2.0
/// Operands that hurt.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <vector>

namespace sm100::ptx {

/// Zeros, ones, ends of ranges, single bits, and some of any kind: `width` low bits.
inline std::vector<uint64_t> edge_integers(int width, int random = 12) {
  std::vector<uint64_t> values = {0,      1,      2,      3,          7,          31,         32,
                                  33,     63,     64,     0x7f,       0x80,       0xff,       0x100,
                                  0x7fff, 0x8000, 0xffff, 0x12345678, 0x7fffffff, 0x80000000, 0xffffffff};
  for (const uint64_t v : std::vector<uint64_t>(values)) values.push_back(~v);
  if (width == 64)
    values.insert(values.end(),
                  {uint64_t{1} << 32, uint64_t{1} << 63, (uint64_t{1} << 63) - 1, (uint64_t{1} << 53) + 1});
  std::mt19937_64 engine(width);
  for (int i = 0; i < random; ++i) values.push_back(engine() >> (engine() % 64));
  for (uint64_t& v : values)
    if (width < 64) v &= (uint64_t{1} << width) - 1;
  return values;
}

/// Signed zeros, subnormal and normal ends, one and its neighbours, Inf, NaN, and some of any kind.
inline std::vector<uint32_t> edge_floats(int random = 24) {
  std::vector<uint32_t> values = {
      0x00000000, 0x00000001, 0x007fffff, 0x00800000, 0x00800001, 0x33800000, 0x34000000, 0x3effffff, 0x3f000000,
      0x3f7fffff, 0x3f800000, 0x3f800001, 0x3fc00000, 0x40000000, 0x40490fdb, 0x4affffff, 0x4b000000, 0x4b7fffff,
      0x4b800000, 0x4effffff, 0x4f000000, 0x5f000000, 0x7e800000, 0x7f7fffff, 0x7f800000, 0x7fc00000, 0x7f800001};
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i) values.push_back(values[i] | 0x80000000u);
  std::mt19937 engine(7);
  for (int i = 0; i < random; ++i) values.push_back(static_cast<uint32_t>(engine()));
  for (int i = 0; i < random; ++i) values.push_back(static_cast<uint32_t>((engine() & 0x83ffffff) + 0x3e000000));
  return values;
}
inline std::vector<uint64_t> edge_doubles(int random = 24) {
  std::vector<uint64_t> values;
  for (const uint32_t f : edge_floats(4))
    values.push_back(std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(f))));
  for (const uint64_t v : {uint64_t{1}, uint64_t{0x000fffffffffffff}, uint64_t{0x0010000000000000},
                           uint64_t{0x7fefffffffffffff}, uint64_t{0x3ff0000000000001}, uint64_t{0x43e0000000000000},
                           uint64_t{0xc3e0000000000000}, uint64_t{0x43f0000000000000}})
    values.push_back(v);
  std::mt19937_64 engine(9);
  for (int i = 0; i < random; ++i) values.push_back(engine());
  for (int i = 0; i < random; ++i) values.push_back((engine() & 0x807fffffffffffff) + 0x3fc0000000000000);
  return values;
}
/// All codes of interest of f16 and bf16: 16 bits.
inline std::vector<uint16_t> edge_halves(int random = 40) {
  std::vector<uint16_t> values = {0,      1,      2,      0x3ff,  0x400,  0x401,  0x7f,   0x80,   0x81,
                                  0x3bff, 0x3c00, 0x3c01, 0x3f7f, 0x3f80, 0x3f81, 0x4248, 0x4049, 0x7bff,
                                  0x7c00, 0x7c01, 0x7e00, 0x7f7f, 0x7f80, 0x7fc0, 0x7fff};
  const size_t n = values.size();
  for (size_t i = 0; i < n; ++i) values.push_back(static_cast<uint16_t>(values[i] | 0x8000));
  std::mt19937 engine(11);
  for (int i = 0; i < random; ++i) values.push_back(static_cast<uint16_t>(engine()));
  return values;
}

}  // namespace sm100::ptx
