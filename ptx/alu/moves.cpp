// SPDX-License-Identifier: Apache-2.0
/// Moves and addresses (PTX 9.7.9): mov with packing, cvta, isspacep.

#include "ptx/alu/form_table.h"

namespace sm100::ptx {

namespace {

struct Copy {
  template <class T>
  T operator()(T a) const {
    return a;
  }
};
void copy_predicate(RegisterFile& file, const Instr& in, LaneMask mask) {
  file.set_predicate(in.rows[0], in.predicate(file, 1), mask);
}

/// Parts of a wide value, low one first.
template <class Wide, class Part, size_t kParts>
struct Pack {
  static Part part(Wide value, size_t i) {
    if constexpr (std::is_same_v<Wide, B128>) {
      const size_t per_half = kParts / 2;
      return static_cast<Part>((i < per_half ? value.low : value.high) >> (i % per_half * 8 * sizeof(Part) % 64));
    } else {
      return static_cast<Part>(value >> (i * 8 * sizeof(Part)));
    }
  }
  static void put(Wide& value, size_t i, Part part) {
    if constexpr (std::is_same_v<Wide, B128>) {
      const size_t per_half = kParts / 2;
      (i < per_half ? value.low : value.high) |= static_cast<uint64_t>(part)
                                                 << (i % per_half * 8 * sizeof(Part) % 64);
    } else {
      value = static_cast<Wide>(value | static_cast<Wide>(part) << (i * 8 * sizeof(Part)));
    }
  }

  static void pack(RegisterFile& file, const Instr& in, LaneMask mask) {
    Destination<Wide> d(file, in, 0);
    const Container<Part>* parts[kParts];
    for (size_t i = 0; i < kParts; ++i) parts[i] = file.read<Container<Part>>(in.rows[i + 1]);
    for_each_lane(mask, [&](int lane) {
      Wide value{};
      for (size_t i = 0; i < kParts; ++i) put(value, i, static_cast<Part>(parts[i][lane]));
      d.set(lane, value);
    });
  }
  static void unpack(RegisterFile& file, const Instr& in, LaneMask mask) {
    const Source<Wide> a(file, in, static_cast<int>(kParts));
    Container<Part>* parts[kParts];
    for (size_t i = 0; i < kParts; ++i) parts[i] = file.write<Container<Part>>(in.rows[i]);
    for_each_lane(mask, [&](int lane) {
      const Wide value = a[lane];
      for (size_t i = 0; i < kParts; ++i) parts[i][lane] = part(value, i);
    });
  }
  static void add(FormTable& table, const std::string& opcode, Type wide, Type part) {
    const std::vector<Type> parts(kParts, part);
    table.add(opcode + ".pack" + std::to_string(kParts), ptx::wide<&pack>(), {wide}, parts).cost = Cost::free;
    table.add(opcode + ".unpack" + std::to_string(kParts), ptx::wide<&unpack>(), parts, {wide}).cost = Cost::free;
  }
};

template <class T>
void add_copies(FormTable& table, std::initializer_list<const char*> types) {
  for (const char* type : types) table.add_wide<Copy, T, T>(std::string("mov.") + type).cost = Cost::free;
}

template <Window Windows::*kWindow>
void to_generic(RegisterFile& file, const Instr& in, LaneMask mask) {
  Destination<uint64_t> d(file, in, 0);
  const Source<uint64_t> a(file, in, 1);
  const uint64_t base = (file.windows.*kWindow).base;
  for_each_lane(mask, [&](int lane) { d.set(lane, a[lane] + base); });
}
template <Window Windows::*kWindow>
void from_generic(RegisterFile& file, const Instr& in, LaneMask mask) {
  Destination<uint64_t> d(file, in, 0);
  const Source<uint64_t> a(file, in, 1);
  const uint64_t base = (file.windows.*kWindow).base;
  for_each_lane(mask, [&](int lane) { d.set(lane, a[lane] - base); });
}
template <Window Windows::*kWindow>
void is_in(RegisterFile& file, const Instr& in, LaneMask mask) {
  Destination<bool> d(file, in, 0);
  const Source<uint64_t> a(file, in, 1);
  for_each_lane(mask, [&](int lane) { d.set(lane, (file.windows.*kWindow).has(a[lane])); });
  d.finish(mask);
}
void is_global(RegisterFile& file, const Instr& in, LaneMask mask) {
  Destination<bool> d(file, in, 0);
  const Source<uint64_t> a(file, in, 1);
  const Windows& w = file.windows;
  for_each_lane(mask, [&](int lane) {
    const uint64_t x = a[lane];
    d.set(lane, !w.shared.has(x) && !w.local.has(x) && !w.param.has(x) && !w.constant.has(x));
  });
  d.finish(mask);
}

template <Window Windows::*kWindow>
void add_window(FormTable& table, const std::string& space, bool tested = true) {
  table.add("cvta." + space + ".u64", wide<&to_generic<kWindow>>(), {Type::u64}, {Type::u64}).cost = Cost::free;
  table.add("cvta.to." + space + ".u64", wide<&from_generic<kWindow>>(), {Type::u64}, {Type::u64}).cost =
      Cost::free;
  if (tested) table.add("isspacep." + space, &is_in<kWindow>, {Type::pred}, {Type::u64});
}

}  // namespace

void add_move_forms(FormTable& table) {
  table.add("mov.pred", &copy_predicate, {Type::pred}, {Type::pred}).cost = Cost::free;
  add_copies<uint16_t>(table, {"b16", "u16", "s16"});
  add_copies<uint32_t>(table, {"b32", "u32", "s32"});
  add_copies<float>(table, {"f32"});
  add_copies<uint64_t>(table, {"b64", "u64", "s64"});
  add_copies<double>(table, {"f64"});
  add_copies<B128>(table, {"b128"});
  Pack<uint16_t, uint8_t, 2>::add(table, "mov.b16", Type::b16, Type::b8);
  Pack<uint32_t, uint16_t, 2>::add(table, "mov.b32", Type::b32, Type::b16);
  Pack<uint32_t, uint8_t, 4>::add(table, "mov.b32", Type::b32, Type::b8);
  Pack<uint64_t, uint32_t, 2>::add(table, "mov.b64", Type::b64, Type::b32);
  Pack<uint64_t, uint16_t, 4>::add(table, "mov.b64", Type::b64, Type::b16);
  Pack<B128, uint64_t, 2>::add(table, "mov.b128", Type::b128, Type::b64);
  Pack<B128, uint32_t, 4>::add(table, "mov.b128", Type::b128, Type::b32);
  table.add_wide<Copy, uint64_t, uint64_t>("cvta.global.u64").cost = Cost::free;
  table.add_wide<Copy, uint64_t, uint64_t>("cvta.to.global.u64").cost = Cost::free;
  table.add("isspacep.global", &is_global, {Type::pred}, {Type::u64});
  add_window<&Windows::shared>(table, "shared", false);
  add_window<&Windows::shared>(table, "shared::cluster");
  add_window<&Windows::shared>(table, "shared::cta", false);
  add_window<&Windows::local>(table, "local");
  // Addresses of .const variables are generic ones: the executor sets them.
  table.add_wide<Copy, uint64_t, uint64_t>("cvta.const.u64").cost = Cost::free;
  table.add_wide<Copy, uint64_t, uint64_t>("cvta.to.const.u64").cost = Cost::free;
  table.add("isspacep.const", &is_in<&Windows::constant>, {Type::pred}, {Type::u64});
  add_window<&Windows::param>(table, "param");
  add_window<&Windows::param>(table, "param::entry");
  table.add("isspacep.shared", &is_in<&Windows::shared_cta>, {Type::pred}, {Type::u64});
  table.add("isspacep.shared::cta", &is_in<&Windows::shared_cta>, {Type::pred}, {Type::u64});
}

}  // namespace sm100::ptx
