// SPDX-License-Identifier: Apache-2.0
/// What programs ask of the device and of errors: attributes, properties, versions, names.  The runtime and the
/// driver have the same numbers.
#pragma once

#include "exec/protocol.h"
#include "exec/shim/abi.h"

namespace sm100::exec {

inline constexpr int kRuntimeVersion = 13000;
/// A driver may be newer than the runtime.  Up to 13010 CUTLASS mends small tensors' maps behind the driver's back:
/// it clears a bit of their second word, where our maps have the tensor's address.
inline constexpr int kDriverVersion = 13020;

/// cudaDeviceAttr, CUdevice_attribute.  False: it is not known.
bool device_attribute(const DeviceFacts& facts, int id, int& value);

/// cudaDeviceProp, of abi::kDevicePropBytes bytes.
void fill_properties(const DeviceFacts& facts, unsigned char* to);

struct ErrorText {
  int error;
  const char *runtime_name, *driver_name, *text;
};
/// nullptr: it is not known.
const ErrorText* find_error(int error);

}  // namespace sm100::exec
