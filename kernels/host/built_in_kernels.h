// SPDX-License-Identifier: Apache-2.0
/// The kernels of this repository, a function of each kernel's folder: CMake writes the list from its
/// sm100_kernel() lines.
#pragma once

#include <vector>

#include "kernels/host/kernel_definition.h"

namespace sm100::host {

std::vector<const KernelDefinition*> built_in_kernels();

}  // namespace sm100::host
