// SPDX-License-Identifier: Apache-2.0
/// Launches and attributes of functions, as the runtime and the driver have them: their numbers are the same.
#pragma once

#include <cstddef>

#include "exec/shim/device.h"

namespace sm100::exec {

Shape shape_of(const abi::Dim3& grid, const abi::Dim3& block, size_t dynamic_smem_bytes, const void* stream);

/// What the attributes of a launch change.  Hints change nothing; what is not known is refused by name.
abi::Error read_attributes(Device& device, const abi::LaunchAttribute* attributes, unsigned count, Shape& shape);

/// As work of the shape's stream.  `arguments` has the address of each parameter.
abi::Error launch(Device& device, Function& function, Shape shape, void** arguments);
/// With the bytes of all parameters.
abi::Error launch(Device& device, Function& function, Shape shape, std::vector<uint8_t> window);

/// cudaFuncSetAttribute, cuFuncSetAttribute.
abi::Error set_attribute(Device& device, Function& function, int attribute, int value);
/// The most bytes of dynamic shared memory that a launch may ask for now.
int most_dynamic_smem(const Function& function);

/// The most CTAs of a cluster.
int most_ctas_of_cluster(const Function& function);

}  // namespace sm100::exec
