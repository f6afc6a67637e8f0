/// The kernels that are compiled for the device, by configuration.  A device kernel's configuration is part of its
/// type, so that everything folds; a scenario can run on hardware only if its configuration is in these tables.
#pragma once

#include <vector>

#include "kernels/copy/config.h"
#include "kernels/matmul/config.h"

namespace sm100::cuda {

/// The two builds of one `__global__` function.
struct CompiledKernel {
  const void* plain;   ///< (params)
  const void* traced;  ///< (params, DeviceTrace): records trace points
};

template <class Config>
struct CompiledConfiguration {
  Config config;
  CompiledKernel kernel;
};

/// For sm_100a.
const std::vector<CompiledConfiguration<MatmulConfig>>& compiled_matmuls();
/// For sm_90a and sm_100a.
const std::vector<CompiledConfiguration<CopyConfig>>& compiled_copies();

}  // namespace sm100::cuda
