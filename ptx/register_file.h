// SPDX-License-Identifier: Apache-2.0
/// Registers of a warp as rows: a register holds 32 values of 4 bytes (8, 16 and 32 bits; what lies above a narrow
/// value is not looked at), 32 of 8 bytes (64 bits), two such rows one after the other (128 bits: low halves
/// first), or is one mask (predicates).
///
/// Immediates and addresses of symbols are rows as well, in an area that all warps of a launch share, so whoever
/// reads a row need not ask what it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>

namespace sm100::ptx {

using LaneMask = uint32_t;  ///< bit i: lane i
inline constexpr int kLanes = 32;
inline constexpr LaneMask kAllLanes = 0xffffffffu;

/// Where a row starts: bytes from the start of its area.
struct Row {
  uint32_t at = 0;
  static constexpr uint32_t kShared = 0x80000000u;  ///< in the area of constants
  constexpr uint32_t area() const { return at >> 31; }
  constexpr uint32_t offset() const { return at & ~kShared; }
  constexpr Row next_half() const { return {at + 8 * kLanes}; }  ///< of a .b128: the row of its high halves
  constexpr bool operator==(const Row&) const = default;
};

/// Parts of the generic address space, which the executor chooses.  All else is global.
struct Window {
  uint64_t base = 0, bytes = 0;
  constexpr bool has(uint64_t address) const { return address - base < bytes; }
};
struct Windows {
  Window shared;      ///< shared::cluster: what cvta.shared adds is its base
  Window shared_cta;  ///< the CTA's own part of it
  Window local, param, constant;
};

class RegisterFile {
 public:
  /// `own_bytes`: Program::register_bytes; `constants`: Program::constants, with the symbols' addresses filled in.
  RegisterFile(size_t own_bytes, std::span<const std::byte> constants, const Windows& where)
      : windows(where),
        bytes_(own_bytes),
        own_(allocate(own_bytes), Free{own_bytes}),
        areas_{own_.get(), const_cast<std::byte*>(constants.data())} {
    clear();
  }
  /// Zeros, as at first.
  void clear() {
    std::memset(own_.get(), 0, bytes_);
    carry = 0;
  }

  template <class T>
  const T* read(Row row) const {
    return reinterpret_cast<const T*>(areas_[row.area()] + row.offset());
  }
  template <class T>
  T* write(Row row) {
    return reinterpret_cast<T*>(own_.get() + row.at);
  }
  LaneMask predicate(Row row) const { return *read<LaneMask>(row); }
  /// Lanes outside of `lanes` keep theirs.
  void set_predicate(Row row, LaneMask value, LaneMask lanes) {
    LaneMask& p = *write<LaneMask>(row);
    p = (p & ~lanes) | (value & lanes);
  }

  LaneMask carry = 0;  ///< CC.CF
  Windows windows;

 private:
  /// Rows of so many bytes; a thread of the host keeps some that were freed: short warps come and go.
  static std::byte* allocate(size_t n);
  struct Free {
    size_t bytes = 0;
    void operator()(std::byte* p) const;
  };

  size_t bytes_;
  std::unique_ptr<std::byte, Free> own_;  ///< zeros at first
  std::byte* areas_[2];
};

}  // namespace sm100::ptx
