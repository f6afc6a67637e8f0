// SPDX-License-Identifier: Apache-2.0
#include "kernels/blockwise/host/block_scales.h"

#include <cstring>
#include <random>

namespace sm100::host {

void fill_block_scales(uint64_t seed, uint64_t bytes, uint8_t* data) {
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < bytes / 4; ++i)
    set_block_scale(data, int64_t(i), 0.5f + 1.5f * float(random() >> 40) / float(1 << 24));
}

double block_scale(const uint8_t* data, int64_t i) {
  float value;
  std::memcpy(&value, data + 4 * i, 4);
  return double(value);
}

void set_block_scale(uint8_t* data, int64_t i, float value) { std::memcpy(data + 4 * i, &value, 4); }

}  // namespace sm100::host
