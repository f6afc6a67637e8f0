// SPDX-License-Identifier: Apache-2.0
// Functions of the driver that programs take from the runtime: those of our driver library.
#include "exec/shim/device.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

extern "C" int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status);

SM100_EXEC_API int cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                    unsigned long long flags, int* result) {
  return call([&](Device& d) {
    if (!name || !function) return invalid_value;
    const int error = cuGetProcAddress_v2(name, function, int(version), flags, result);
    if (error != success) d.note("not implemented: " + std::string(name) + " of cudaGetDriverEntryPoint");
    return error == success || result ? success : symbol_not_found;
  });
}
SM100_EXEC_API int cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                           int* result) {
  return cudaGetDriverEntryPointByVersion(name, function, 13000, flags, result);
}
