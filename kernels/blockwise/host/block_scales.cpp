// SPDX-License-Identifier: Apache-2.0
#include "kernels/blockwise/host/block_scales.h"

#include <cstring>
#include <random>

namespace sm100::host {

void BlockScales::fill(uint64_t seed, uint64_t bytes) {
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < bytes * 8 / uint64_t(element_bits(type_)); ++i)
    set(int64_t(i), 0.5f + 1.5f * float(random() >> 40) / float(1 << 24));
}

void BlockScales::set(int64_t i, float value) {
  if (type_ == DataType::bf16) {
    const uint16_t bits = cvt_rn_bf16_f32(value);
    std::memcpy(data_ + 2 * i, &bits, 2);
  } else {
    std::memcpy(data_ + 4 * i, &value, 4);
  }
}

double block_scale(DataType type, const uint8_t* data, int64_t i) {
  if (type == DataType::bf16) {
    uint16_t bits;
    std::memcpy(&bits, data + 2 * i, 2);
    return double(decode_bf16(bits));
  }
  float value;
  std::memcpy(&value, data + 4 * i, 4);
  return double(value);
}

}  // namespace sm100::host
