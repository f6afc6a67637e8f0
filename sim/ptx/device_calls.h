// SPDX-License-Identifier: Apache-2.0
/// Functions that every module may call without having them: vprintf, __assertfail.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "ptx/program.h"

namespace sm100::sim {

enum class DeviceFunction : uint8_t { none, printf, assertion };
DeviceFunction device_function(std::string_view name);
/// Why a call cannot be executed; empty: it can.
std::string call_missing(const ptx::Call& call);

/// Bytes at a generic address, as one lane sees it; nullptr: it may not read all of them.
using ReadGeneric = std::function<const uint8_t*(uint64_t address, uint32_t bytes)>;

/// Text up to its zero, at most 64 KiB; nullopt: it may not be read.
std::optional<std::string> read_string(const ReadGeneric& read, uint64_t address);

/// What vprintf(format, arguments) prints: CUDA's conversions; arguments lie in a row, each at its alignment.
struct Printed {
  std::string text;
  int arguments = 0;  ///< what vprintf returns
};
std::optional<Printed> format_printf(const ReadGeneric& read, uint64_t format, uint64_t arguments);

/// A call of one of them by one lane.
class DeviceCall {
 public:
  /// @param own  the lane's .param variables (Space::call_param), where arguments and results lie
  DeviceCall(const ptx::Call& call, ptx::RegisterFile& file, int lane, uint8_t* own, uint64_t own_bytes);

  /// Of vprintf: the text; its result is written.  nullopt: it may not read its format or arguments.
  std::optional<std::string> print(const ReadGeneric& read) const;
  /// Of __assertfail: "assertion 'n > 0' failed: fill.cu:12, void fill(int)".
  std::string assertion(const ReadGeneric& read) const;

 private:
  uint64_t argument(size_t i) const;
  void set_result(uint32_t value) const;

  const ptx::Call& call_;
  ptx::RegisterFile& file_;
  const int lane_;
  uint8_t* const own_;
  const uint64_t own_bytes_;
};

}  // namespace sm100::sim
