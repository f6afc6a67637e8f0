// SPDX-License-Identifier: Apache-2.0
// The driver library: functions by name, for programs that load it themselves, and for the runtime's
// cudaGetDriverEntryPoint.  A function that is not implemented is found; it says its name when it is called.
#include <cstring>
#include <string>
#include <string_view>

#include "exec/shim/driver.h"

using namespace sm100::exec;
using namespace sm100::exec::abi;

// Under other names here: the true ones have their own parameters.
#define SUPPORTED(name) extern "C" int entry_##name() __asm__(#name);
#define PER_THREAD(name, same) SUPPORTED(name)
#define REFUSED(name) SUPPORTED(name)
#include "exec/shim/driver_names.inc"
#undef SUPPORTED
#undef PER_THREAD
#undef REFUSED

namespace {

struct Entry {
  std::string_view name;
  int (*function)();
  bool supported;
};

const Entry kEntries[] = {
#define SUPPORTED(name) {#name, entry_##name, true},
#define PER_THREAD(name, same) SUPPORTED(name)
#define REFUSED(name) {#name, entry_##name, false},
#include "exec/shim/driver_names.inc"
};

// CUdriverProcAddressQueryResult
constexpr int kFound = 0, kNotFound = 1;
/// From here on cuCtxCreate takes a structure more.
constexpr int kContextWithParameters = 13000;

const Entry* find(std::string_view name) {
  for (const Entry& entry : kEntries)
    if (entry.name == name) return &entry;
  return nullptr;
}

/// Headers give a function's newest form its plain name: cuMemAlloc is cuMemAlloc_v2.
const Entry* newest(const std::string& name, int version) {
  if (name == "cuCtxCreate") return find(version >= kContextWithParameters ? "cuCtxCreate_v4" : "cuCtxCreate_v2");
  const Entry* best = nullptr;
  for (const char* const suffix : {"", "_v2", "_v3", "_v4"})
    if (const Entry* const entry = find(name + suffix); entry && (!best || entry->supported || !best->supported))
      best = entry;
  return best;
}

}  // namespace

SM100_EXEC_API int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t, int* status) {
  if (!name || !function) return invalid_value;
  const Entry* const entry = newest(name, version);
  *function = entry ? reinterpret_cast<void*>(entry->function) : nullptr;
  if (status) *status = entry ? kFound : kNotFound;
  return entry ? success : symbol_not_found;
}
SM100_EXEC_API int cuGetProcAddress(const char* name, void** function, int version, uint64_t flags) {
  return cuGetProcAddress_v2(name, function, version, flags, nullptr);
}
