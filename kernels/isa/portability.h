/// What lets one source compile for the host (SystemC model) and for sm_100a (nvcc): function qualifiers and
/// source locations.  Nothing else in kernels/ may look at the compiler.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define SM100_HD __host__ __device__
#define SM100_KERNEL __device__ __forceinline__
#else
#define SM100_HD
#define SM100_KERNEL inline
#include <source_location>
#endif

namespace sm100 {

#if defined(__CUDACC__)
/// On the device a location carries nothing and costs nothing.
struct Loc {
  SM100_HD static constexpr Loc current() { return {}; }
};
#else
/// Where in the role code an instruction stands; reports quote it.
using Loc = std::source_location;
#endif

}  // namespace sm100
