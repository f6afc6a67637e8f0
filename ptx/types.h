// SPDX-License-Identifier: Apache-2.0
/// Types, state spaces and errors of PTX text (PTX 5.1 state spaces, 5.2 types).
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace sm100::ptx {

/// A type as a modifier names it.  Packed ones (f16x2) are what the instruction makes of a register.
enum class Type : uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  u16x2,
  s16x2,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f32x2,
  f64,
  e4m3x2,
  e5m2x2,
  e2m1x2,
  e2m3x2,
  e3m2x2,
  ue8m0x2,
  e4m3x4,
  e5m2x4,
  e2m1x4,
  e2m3x4,
  e3m2x4,
  s2f6x2,
};

std::string_view name(Type type);       ///< "f16x2", without the dot
Type type_from(std::string_view text);  ///< with or without the dot; Type::none if it is no type
int bits(Type type);                    ///< of the register that holds it; 1 for pred, 0 for none
inline int bytes(Type type) { return (bits(type) + 7) / 8; }
bool is_float(Type type);   ///< f16, bf16, tf32, f32, f64 and packed ones
bool is_signed(Type type);  ///< s8 to s64

enum class Space : uint8_t { none, reg, param, call_param, shared, global, local, constant, generic };
std::string_view name(Space space);  ///< "shared"; "generic" where no space is named

/// What is wrong with a text, for people: `what()` is "FILE:LINE:COLUMN: SENTENCE".
class PtxError : public std::runtime_error {
 public:
  PtxError(std::string file, int line, int column, std::string sentence);
  std::string file, sentence;
  int line, column;  ///< from 1
};

}  // namespace sm100::ptx
