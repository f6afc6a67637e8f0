// SPDX-License-Identifier: Apache-2.0
/// Picks a configuration of the blockwise matmul for a shape: what `config = "auto"` means (docs/choose.md).
#pragma once

#include "kernels/blockwise/config.h"
#include "kernels/matmul/host/choose_config.h"

namespace sm100::host {

/// `config` of the base has what is not blockwise.
struct BlockwiseChoice : ConfigChoice {
  BlockwiseConfig blockwise;
};

/// As choose_config; of the request its types are not looked at.
/// @param types  of operands and output
BlockwiseChoice choose_blockwise(const ConfigRequest& request, const BlockwiseConfig& types);

}  // namespace sm100::host
