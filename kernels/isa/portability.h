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
#include <bit>
#include <source_location>
#include <version>
#endif

namespace sm100 {

#if defined(__CUDACC__)
/// On the device a location carries nothing and costs nothing.
struct Loc {
  SM100_HD static constexpr Loc current() { return {}; }
};
#else
/// Where in a kernel's source an instruction stands; reports quote it.  Role code gets it from the line of the
/// call, another front end makes it of a Place, PTX's `.loc` for example.
class Loc {
 public:
  struct Place {
    const char* file = "";
    unsigned line = 0, column = 0;
    const char* function = "";
  };

  /// Nowhere: no file, line 0.
  constexpr Loc() = default;
  unsigned line() const { return place().line; }
  unsigned column() const { return place().column; }
  const char* file_name() const { return place().file; }
  const char* function_name() const { return place().function; }

#if defined(__cpp_lib_source_location)
  // As large as std::source_location, which is a pointer in every library: events carry it by the million.
  static Loc current(std::source_location where = std::source_location::current()) {
    static_assert(sizeof where == sizeof(std::uintptr_t));
    return Loc(std::bit_cast<std::uintptr_t>(where));
  }
  /// `place` must outlive every use of the Loc.
  explicit Loc(const Place& place) : bits_(reinterpret_cast<std::uintptr_t>(&place) | kPlace) {}

 private:
  static constexpr std::uintptr_t kPlace = 1;  ///< both are pointers to what is aligned
  explicit Loc(std::uintptr_t bits) : bits_(bits) {}
  Place place() const {
    if (bits_ & kPlace) return *reinterpret_cast<const Place*>(bits_ & ~kPlace);
    const auto where = std::bit_cast<std::source_location>(bits_);
    return {where.file_name(), unsigned(where.line()), unsigned(where.column()), where.function_name()};
  }
  std::uintptr_t bits_ = 0;
#else  // clang 14, which is Debian 12's clang-tidy
  static constexpr Loc current(const char* file = __builtin_FILE(), unsigned line = __builtin_LINE(),
                               unsigned column = __builtin_COLUMN(), const char* function = __builtin_FUNCTION()) {
    return Loc({file, line, column, function});
  }
  explicit constexpr Loc(const Place& place) : place_(place) {}

 private:
  constexpr const Place& place() const { return place_; }
  Place place_;
#endif
};
#endif

}  // namespace sm100
