// SPDX-License-Identifier: Apache-2.0
/// Picks a configuration of the block-scaled matmul for a shape: what `config = "auto"` means (docs/choose.md).
#pragma once

#include "kernels/block_scaled/config.h"
#include "kernels/matmul/host/choose_config.h"

namespace sm100::host {

/// `config` of the base has what is not block-scaled.
struct BlockScaledChoice : ConfigChoice {
  BlockScaledConfig scaled;
};

/// As choose_config; of the request its types are not looked at.
/// @param operands  format, element type and scale type
BlockScaledChoice choose_block_scaled(const ConfigRequest& request, const BlockScaledConfig& operands);

}  // namespace sm100::host
