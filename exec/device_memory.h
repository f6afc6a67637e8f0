// SPDX-License-Identifier: Apache-2.0
/// Memory of the device: a file without a name, which this process, its workers and the program have mapped at one
/// address.  It is gone when the last of them is.
#pragma once

#include <cstdint>

namespace sm100::exec {

class DeviceMemory {
 public:
  /// At most `bytes`, and at most half of what this machine has.  Throws host::InputError where it cannot be
  /// mapped.
  explicit DeviceMemory(uint64_t bytes);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  int file() const { return file_; }
  uint64_t bytes() const { return bytes_; }
  /// From now on this process has a copy of its own: what it writes nobody sees.
  void make_private() const;

 private:
  int file_ = -1;
  uint64_t bytes_ = 0;
};

}  // namespace sm100::exec
