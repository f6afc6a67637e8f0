// SPDX-License-Identifier: Apache-2.0
/// Tensor maps against the tensors that a launch should multiply: the distance from one row to the next, and how
/// far the map reaches.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/host/expected_product.h"
#include "kernels/isa/tensor_map.h"

namespace sm100::sim::provenance {

struct MapDifference {
  std::string text;        ///< "the tensor map of B of group 1 has 768 bytes from a row to the next, where ..."
  bool of_output = false;  ///< it is the map of C
  bool of_scales = false;  ///< of SFA or SFB
  bool of_pitch = false;   ///< else it does not reach all of the tensor
};

/// What a map of one of the tensors says otherwise than the tensor is; nothing: nothing, or it is a map of no
/// tensor that begins where the map does, or views it in a way of its own.
std::optional<MapDifference> map_difference(const std::vector<host::ExpectedProduct>& products,
                                            const TensorMapFields& map);

}  // namespace sm100::sim::provenance
