// SPDX-License-Identifier: Apache-2.0
/// Machine code that nvcc puts beside PTX: with how many registers its entries are launched.
///
///   ELF of 64 bits; section .nv.info is a row of attributes: u8 format, u8 attribute, u16 bytes of what follows.
///   Format 4, attribute 0x2f: u32 index of a symbol, u32 registers of a thread.  As read from programs of ours.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sm100::exec {

struct EntryRegisters {
  std::string name;
  uint32_t registers = 0;  ///< of a thread
};

/// Empty: it is no such file.
std::vector<EntryRegisters> registers_of(std::span<const uint8_t> elf);

}  // namespace sm100::exec
