// SPDX-License-Identifier: Apache-2.0
/// Every scalar form as an entry of a PTX file, with operands for 64 threads.  The file runs on a GPU (run.cu); the
/// same operands go through ptx/ here.
#pragma once

#include <bit>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ptx/alu.h"
#include "ptx/opcode.h"

namespace sm100::ptx_forms {

using namespace sm100::ptx;

inline constexpr int kThreads = 64;

struct Case {
  const AluForm* form;
  std::string opcode;                       ///< as ptxas wants it
  std::vector<std::vector<uint64_t>> rows;  ///< kThreads of them: an operand each; of a .b128 the low half
};

inline bool contains(const std::vector<std::string_view>& parts, std::string_view part) {
  for (const std::string_view p : parts)
    if (p == part) return true;
  return false;
}

/// Those that a GPU of compute capability 9.0 does not have.
inline bool needs_sm_100(const std::vector<std::string_view>& parts) {
  for (const std::string_view p : {"f32x2", "three", "e2m1x2", "e2m3x2", "e3m2x2", "ue8m0x2"})
    if (contains(parts, p)) return true;
  if (contains(parts, "tf32")) return contains(parts, "satfinite") && !contains(parts, "rna");
  const bool sums = parts[0] == "add" || parts[0] == "sub" || parts[0] == "fma";
  return sums && contains(parts, "f32") && (contains(parts, "f16") || contains(parts, "bf16"));
}

/// Not here: what reads the carry flag or the windows of generic addresses, and packing moves of .b128.
inline bool is_left_out(const std::vector<std::string_view>& parts) {
  return parts[0] == "addc" || parts[0] == "subc" || parts[0] == "madc" || parts[0] == "cvta" ||
         parts[0] == "isspacep" || contains(parts, "b128");
}

/// The form's name in an order that ptxas takes: what it wants first, the rest, the types, what it wants last.
inline std::string spelled(const std::vector<std::string_view>& parts) {
  std::string first(parts[0]), rest, types, last;
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::string_view p = parts[i];
    const bool helper = p == "three" || p.starts_with("pack") || p.starts_with("unpack") || p.starts_with("wide_");
    if (helper && p != "pack") continue;
    const bool leads = p == "to" || p == "full" || p == "hi" || p == "lo" || p == "l" || p == "r" || p == "pack";
    const bool ends = p == "f4e" || p == "b4e" || p == "rc8" || p == "ecl" || p == "ecr" || p == "rc16";
    std::string& part = leads ? first : ends ? last : type_from(p) != Type::none ? types : rest;
    (part += '.') += p;
  }
  return first + rest + types + last;
}

/// Edge values of a type: of numbers in floating point of any width the ends of ranges and their neighbours.
inline uint64_t operand_value(Type type, std::mt19937_64& engine) {
  static constexpr uint64_t kIntegers[] = {0,
                                           1,
                                           2,
                                           31,
                                           32,
                                           33,
                                           0x7f,
                                           0x80,
                                           0xff,
                                           0x7fff,
                                           0x8000,
                                           0xffff,
                                           0x7fffffff,
                                           0x80000000,
                                           0xffffffff,
                                           0x7fffffffffffffff,
                                           0x8000000000000000,
                                           ~uint64_t{0}};
  static constexpr uint32_t kSingles[] = {0,          1,          0x007fffff, 0x00800000, 0x00800001, 0x33800000,
                                          0x3f000000, 0x3f7fffff, 0x3f800000, 0x3f800001, 0x40490fdb, 0x4b7fffff,
                                          0x4f000000, 0x5f000000, 0x7f7fffff, 0x7f800000, 0x7fc00000};
  static constexpr uint16_t kHalves[] = {0,      1,      0x3ff,  0x400,  0x7f,   0x80,   0x3bff, 0x3c00, 0x3c01,
                                         0x3f80, 0x4248, 0x7bff, 0x7c00, 0x7e00, 0x7f7f, 0x7f80, 0x7fff};
  const uint64_t pick = engine(), any = engine();
  const auto sign = [&](int bit) { return (pick >> 40 & 1) << bit; };
  if (pick % 4 == 0) return any;
  const auto half = [&](uint64_t p) { return kHalves[p % std::size(kHalves)] | (p >> 20 & 1) << 15; };
  const auto single = [&](uint64_t p) { return uint64_t{kSingles[p % std::size(kSingles)]} | (p >> 20 & 1) << 31; };
  switch (type) {
    case Type::f16:
    case Type::bf16: return half(pick >> 8);
    case Type::f16x2:
    case Type::bf16x2: return half(pick >> 8) << 16 | half(any);
    case Type::f32: return single(pick >> 8);
    case Type::f32x2: return single(pick >> 8) << 32 | single(any);
    case Type::f64: {
      const auto small = std::bit_cast<float>(static_cast<uint32_t>(single(pick >> 8)));
      return std::bit_cast<uint64_t>(static_cast<double>(small)) ^ (any & 3) ^ sign(63);
    }
    default: return pick % 4 == 1 ? any >> (any & 63) : kIntegers[(pick >> 8) % std::size(kIntegers)];
  }
}

/// Operands whose exact result lies below the least normal number, so near that it rounds to it in a format of
/// unbounded exponent: they tell when a form decides that a result is subnormal.  Empty: the form cannot have such.
inline std::vector<uint64_t> just_subnormal(const std::vector<std::string_view>& parts, bool negative) {
  const bool fused = parts[0] == "fma" || parts[0] == "mad";
  if (fused && parts.back() == "f32")
    return {0x19800000, negative ? 0x19800000u : 0x99800000u, negative ? 0x80800000u : 0x00800000u};
  if (fused && parts.back() == "f16") return {0x0400, negative ? 0x0400u : 0x8400u, negative ? 0x8400u : 0x0400u};
  if (fused && parts.back() == "f16x2")
    return {0x04000400, negative ? 0x04000400u : 0x84008400u, negative ? 0x84008400u : 0x04000400u};
  if (parts[0] == "mul" && parts.back() == "f32") return {0x21800001, negative ? 0x9e7ffffeu : 0x1e7ffffeu};
  if (parts[0] == "mul" && parts.back() == "f16") return {0x2001, negative ? 0x9ffeu : 0x1ffeu};
  if (parts[0] == "mul" && parts.back() == "f16x2") return {0x20012001, negative ? 0x9ffe1ffeu : 0x1ffe9ffeu};
  if (parts[0] == "cvt" && parts.back() == "f64") return {negative ? 0xb80ffffff8000000u : 0x380ffffff8000000u};
  return {};
}

inline uint64_t fnv_1a(std::string_view text) {
  uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

inline std::vector<Case> make_cases(bool sm_100) {
  std::vector<Case> cases;
  for (const AluForm& form : alu_forms()) {
    const auto parts = parts_of(form.name);
    if (is_left_out(parts) || (!sm_100 && needs_sm_100(parts))) continue;
    Case c{&form, spelled(parts), {}};
    std::mt19937_64 engine(fnv_1a(form.name));  // operands stay as they are when forms are added
    for (int t = 0; t < kThreads; ++t) {
      std::vector<uint64_t>& row = c.rows.emplace_back();
      for (const AluOperand& o : form.operands) {
        if (o.written) continue;
        const int width = bits(o.type);
        const uint64_t value = operand_value(o.type, engine);
        row.push_back(width == 64 ? value : value & ((uint64_t{1} << width) - 1));
      }
      // The table of lop3 is a constant; fns is defined for bases up to 31.
      if (parts[0] == "lop3") row[3] = 0x96;
      if (parts[0] == "fns") row[1] &= 31;
    }
    for (size_t t = 0; t < 2; ++t)
      if (auto row = just_subnormal(parts, t == 1); !row.empty() && row.size() == c.rows[t].size()) c.rows[t] = row;
    cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace sm100::ptx_forms
