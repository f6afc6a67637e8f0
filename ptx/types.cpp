// SPDX-License-Identifier: Apache-2.0
#include "ptx/types.h"

#include <algorithm>
#include <array>

namespace sm100::ptx {

namespace {

struct TypeRow {
  Type type;
  std::string_view name;
  int bits;
};

constexpr TypeRow kTypes[] = {
    {Type::none, "", 0},
    {Type::pred, "pred", 1},
    {Type::b8, "b8", 8},
    {Type::b16, "b16", 16},
    {Type::b32, "b32", 32},
    {Type::b64, "b64", 64},
    {Type::b128, "b128", 128},
    {Type::u8, "u8", 8},
    {Type::u16, "u16", 16},
    {Type::u32, "u32", 32},
    {Type::u64, "u64", 64},
    {Type::s8, "s8", 8},
    {Type::s16, "s16", 16},
    {Type::s32, "s32", 32},
    {Type::s64, "s64", 64},
    {Type::u16x2, "u16x2", 32},
    {Type::s16x2, "s16x2", 32},
    {Type::f16, "f16", 16},
    {Type::f16x2, "f16x2", 32},
    {Type::bf16, "bf16", 16},
    {Type::bf16x2, "bf16x2", 32},
    {Type::tf32, "tf32", 32},
    {Type::f32, "f32", 32},
    {Type::f32x2, "f32x2", 64},
    {Type::f64, "f64", 64},
    {Type::e4m3x2, "e4m3x2", 16},
    {Type::e5m2x2, "e5m2x2", 16},
    {Type::e2m1x2, "e2m1x2", 8},
    {Type::e2m3x2, "e2m3x2", 16},
    {Type::e3m2x2, "e3m2x2", 16},
    {Type::ue8m0x2, "ue8m0x2", 16},
    {Type::e4m3x4, "e4m3x4", 32},
    {Type::e5m2x4, "e5m2x4", 32},
    {Type::e2m1x4, "e2m1x4", 16},
    {Type::e2m3x4, "e2m3x4", 32},
    {Type::e3m2x4, "e3m2x4", 32},
    {Type::s2f6x2, "s2f6x2", 16},
};
constexpr bool in_order() {
  for (size_t i = 0; i < std::size(kTypes); ++i)
    if (static_cast<size_t>(kTypes[i].type) != i) return false;
  return true;
}
static_assert(in_order(), "a row for each type, in the order of the enum");

const TypeRow& row(Type type) { return kTypes[static_cast<size_t>(type)]; }

}  // namespace

std::string_view name(Type type) { return row(type).name; }
int bits(Type type) { return row(type).bits; }

Type type_from(std::string_view text) {
  if (!text.empty() && text.front() == '.') text.remove_prefix(1);
  if (text.size() < 2 || text.size() > 7) return Type::none;
  for (const TypeRow& r : kTypes)
    if (r.name == text) return r.type;
  return Type::none;
}

bool is_float(Type type) { return type >= Type::f16 && type <= Type::f64; }
bool is_signed(Type type) { return type >= Type::s8 && type <= Type::s64; }

std::string_view name(Space space) {
  constexpr std::array<std::string_view, 9> kNames = {"none",   "reg",   "param", "param of a call", "shared",
                                                      "global", "local", "const", "generic"};
  return kNames[static_cast<size_t>(space)];
}

PtxError::PtxError(std::string file_name, int at_line, int at_column, std::string text)
    : std::runtime_error(file_name + ":" + std::to_string(at_line) + ":" + std::to_string(at_column) + ": " + text),
      file(std::move(file_name)),
      sentence(std::move(text)),
      line(at_line),
      column(at_column) {}

}  // namespace sm100::ptx
