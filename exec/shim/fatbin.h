// SPDX-License-Identifier: Apache-2.0
/// The container that nvcc puts compiled code into, as far as a runtime library needs it: the PTX in it.
///
///   wrapper    u32 0x466243b1, u32 version, pointer to the container
///   container  u32 0xba55ed50, u16 version, u16 header bytes, u64 bytes of the entries
///   entry      u16 kind (1 PTX, 2 ELF), u16, u32 header bytes, u64 payload bytes; at 16 u32 packed bytes, at 24
///   u16 minor and
///              u16 major of the PTX version, at 28 u32 architecture, at 40 u64 flags, at 56 u64 unpacked bytes
///
/// PTX is plain, or one block of LZ4 (flag 0x2000) or zstd (0x8000, what CUDA 13 does).  As read from programs of
/// ours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "exec/shim/cubin.h"

namespace sm100::exec {

struct FatbinEntry {
  bool ptx = false;                       ///< else machine code
  uint32_t architecture = 0;              ///< 100
  std::string text;                       ///< of PTX
  std::vector<EntryRegisters> registers;  ///< of machine code
};

/// Compute capability of the process's device, 100 for 10.0; 100 unless somebody has said so.
void set_device_architecture(uint32_t capability);

/// Throws std::runtime_error: bytes that are no container, or that cannot be unpacked.
std::vector<FatbinEntry> read_fatbin(std::span<const uint8_t> container);

/// Of a container in memory whose size only its header has.
std::span<const uint8_t> fatbin_at(const void* container);

/// The PTX that the device can be given: on one of compute capability 10.0 of sm_100a first, then sm_100f, then the
/// highest architecture up to it without a suffix.  Throws std::runtime_error with a sentence for the user: there
/// is machine code only, or PTX for others.  Empty: there is no code at all.
std::string ptx_for_device(const std::vector<FatbinEntry>& entries);

/// What the machine code for such a device has, if there is any.
std::vector<EntryRegisters> registers_for_device(const std::vector<FatbinEntry>& entries);
/// The PTX of what a program gives to cuModuleLoadData: text, a container, or a wrapper of one.  Throws as above.
std::string ptx_of_image(const void* image);
/// Of a file's bytes.
std::string ptx_of_file(const std::string& bytes);

}  // namespace sm100::exec
