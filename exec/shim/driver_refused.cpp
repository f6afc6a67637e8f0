// SPDX-License-Identifier: Apache-2.0
// Every other name that the library exports: it is there, so that programs start, and says what it is when it is
// called.
#include "exec/shim/driver.h"

using namespace sm100::exec;

namespace {

int refuse(const char* name) {
  return driver_call_without_context(
      [&](Device& d) {
        d.note("not implemented: " + std::string(name));
        return abi::not_supported;
      },
      name);
}

}  // namespace

#define SUPPORTED(name)
#define REFUSED(name) \
  SM100_EXEC_API int name() { return refuse(#name); }
#if defined(__x86_64__)
#define PER_THREAD(name, same) \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\tjmp " #same "@PLT\n");
#else
#define PER_THREAD(name, same) REFUSED(name)
#endif
#include "exec/shim/driver_names.inc"
