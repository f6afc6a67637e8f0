// SPDX-License-Identifier: Apache-2.0
// Every other name that the library exports: it is there, so that programs start, and says what it is when it is
// called.
#include "exec/shim/device.h"

using namespace sm100::exec;

namespace {

int refuse(const char* name) {
  return call(
      [&](Device& d) {
        d.note("not implemented: " + std::string(name));
        return abi::not_supported;
      },
      name);
}

}  // namespace

/// cudaChannelFormatDesc is returned in memory, so it cannot be refused as the others are.
struct ChannelFormat {
  int x, y, z, w, kind;
};
SM100_EXEC_API ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

#define SUPPORTED(name)
#define REFUSED_WITH_REASON(name)
#define REFUSED(name) \
  SM100_EXEC_API int name() { return refuse(#name); }
#if defined(__x86_64__)
#define PER_THREAD(name, same) \
  __asm__(".text\n.globl " #name "\n.type " #name ", @function\n" #name ":\n\tjmp " #same "@PLT\n");
#else
#define PER_THREAD(name, same) REFUSED(name)
#endif
#include "exec/shim/runtime_names.inc"
