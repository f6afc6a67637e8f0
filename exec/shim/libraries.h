// SPDX-License-Identifier: Apache-2.0
/// Modules that a program loads itself: PTX text, or containers of nvcc with PTX.  A library of the runtime, a
/// library of the driver and a module of the driver are one thing here.
#pragma once

#include <cstddef>

#include "exec/shim/device.h"

namespace sm100::exec {

/// What does not load says why, as a note to the user.
abi::Error load_library(Device& device, void** library, const void* image);
abi::Error load_file(Device& device, void** library, const char* file);
abi::Error find_function(Device& device, void** function, void* library, const char* name);
abi::Error find_variable(Device& device, void** pointer, size_t* bytes, void* library, const char* name);
abi::Error count_functions(Device& device, unsigned* count, void* library);
/// The first `count` of them.
abi::Error list_functions(Device& device, void** functions, unsigned count, void* library);

}  // namespace sm100::exec
