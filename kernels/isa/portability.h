// SPDX-License-Identifier: Apache-2.0
/// What lets one source compile for the host (SystemC model) and for sm_100a (nvcc): function qualifiers and
/// source locations.  No other portable header in kernels/ may look at the compiler; kernels/isa/sm100/ asks for
/// the target in one place of its own.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define SM100_HD __host__ __device__
#define SM100_KERNEL __device__ __forceinline__
#else
#define SM100_HD
#define SM100_KERNEL inline
#include <source_location>
#include <version>
#endif

namespace sm100 {

#if defined(__CUDACC__)
/// On the device a location carries nothing and costs nothing.
struct Loc {
  SM100_HD static constexpr Loc current() { return {}; }
};
#elif defined(__cpp_lib_source_location)
/// Where in the role code an instruction stands; reports quote it.
using Loc = std::source_location;
#else
/// The same for compilers without it (clang 14, which is Debian 12's clang-tidy).
class Loc {
 public:
  static constexpr Loc current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE()) {
    Loc loc;
    loc.file_ = file;
    loc.line_ = line;
    return loc;
  }
  constexpr const char* file_name() const { return file_; }
  constexpr unsigned line() const { return line_; }

 private:
  const char* file_ = "";
  unsigned line_ = 0;
};
#endif

}  // namespace sm100
