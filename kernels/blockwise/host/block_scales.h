// SPDX-License-Identifier: Apache-2.0
/// Scales of blocks on the host: f32 values one after the other.
#pragma once

#include <cstdint>

namespace sm100::host {

/// Scales from 1/2 to 2 with all bits of their mantissas.
void fill_block_scales(uint64_t seed, uint64_t bytes, uint8_t* data);

double block_scale(const uint8_t* data, int64_t i);
void set_block_scale(uint8_t* data, int64_t i, float value);

}  // namespace sm100::host
