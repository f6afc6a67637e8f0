// SPDX-License-Identifier: Apache-2.0
/// What every function of the driver library begins with.
#pragma once

#include "exec/shim/device.h"

namespace sm100::exec {

/// CUresult has the runtime's numbers, but for a few that only the runtime has.
inline int driver_error(abi::Error error) {
  switch (error) {
    case abi::invalid_configuration:
    case abi::invalid_memcpy_direction: return abi::invalid_value;
    case abi::invalid_symbol:
    case abi::invalid_device_function: return abi::symbol_not_found;
    default: return error;
  }
}

/// A call that needs no context.
template <class F>
int driver_call_without_context(const F& f, const char* name = __builtin_FUNCTION()) {
  return driver_error(
      guarded([&](Device& device) { return device.initialized ? f(device) : abi::initialization_error; }, name));
}

template <class F>
int driver_call(const F& f, const char* name = __builtin_FUNCTION()) {
  return driver_call_without_context(
      [&](Device& device) { return Device::contexts.empty() ? abi::invalid_context : f(device); }, name);
}

inline int driver_nothing(const char* name = __builtin_FUNCTION()) {
  return driver_call([](Device&) { return abi::success; }, name);
}

}  // namespace sm100::exec
