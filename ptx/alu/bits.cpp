// SPDX-License-Identifier: Apache-2.0
/// Bits (PTX 9.7.1 and 9.7.7): and to prmt, bfe, bfi, popc, clz, dp4a and their kin.

#include <algorithm>
#include <bit>
#include <limits>

#include "ptx/alu/form_table.h"
#include "ptx/alu/integers.h"

namespace sm100::ptx {

namespace {

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Not {
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Cnot {
  template <class T>
  T operator()(T a) const {
    return a == 0;
  }
};
/// Amounts beyond the width shift everything out.
struct Shl {
  template <class T>
  T operator()(T a, uint32_t n) const {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(Unsigned<T>(a) << n);
  }
};
struct Shr {
  template <class T>
  T operator()(T a, uint32_t n) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    if constexpr (std::is_signed_v<T>)
      return static_cast<T>(a >> std::min(n, kBits - 1));
    else
      return n >= kBits ? T{0} : static_cast<T>(a >> n);
  }
};
/// Amounts are mostly a number, the same for all lanes.
template <class Op, class T>
void shift(RegisterFile& file, const Instr& in, LaneMask mask) {
  if (in.rows[2].area() == 0) return map_many_lanes<Op, T, T, uint32_t>(file, in, mask);
  Destination<T> d(file, in, 0);
  const Source<T> a(file, in, 1);
  const uint32_t n = Source<uint32_t>(file, in, 2)[0];
  if (n >= 8 * sizeof(T)) return map_many_lanes<Op, T, T, uint32_t>(file, in, mask);
  for_each_lane(mask, [&](int lane) {
    const T x = a[lane];
    d.set(lane, std::is_same_v<Op, Shl> ? static_cast<T>(Unsigned<T>(x) << n) : static_cast<T>(x >> n));
  });
}

template <bool kLeft, bool kWrap>
struct Shf {
  uint32_t operator()(uint32_t low, uint32_t high, uint32_t c) const {
    const uint32_t n = kWrap ? c & 31 : std::min<uint32_t>(c, 32);
    const uint64_t both = uint64_t{high} << 32 | low;
    return static_cast<uint32_t>(kLeft ? both << n >> 32 : both >> n);
  }
};

struct Popc {
  template <class T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::popcount(a));
  }
};
struct Clz {
  template <class T>
  uint32_t operator()(T a) const {
    return static_cast<uint32_t>(std::countl_zero(a));
  }
};
template <bool kShiftAmount>
struct Bfind {
  template <class T>
  uint32_t operator()(T a) const {
    using U = std::make_unsigned_t<T>;
    const U found = static_cast<U>(a < 0 ? ~a : a);
    if (found == 0) return 0xffffffffu;
    const auto zeros = static_cast<uint32_t>(std::countl_zero(found));
    return kShiftAmount ? zeros : 8 * sizeof(T) - 1 - zeros;
  }
};
struct Brev {
  template <class T>
  T operator()(T a) const {
    T d = 0;
    for (size_t i = 0; i < 8 * sizeof(T); ++i) d = static_cast<T>(d << 1 | (a >> i & 1));
    return d;
  }
};
/// The n-th set bit of the mask from `base` on, upwards or downwards.
struct Fns {
  uint32_t operator()(uint32_t mask, uint32_t base, int32_t offset) const {
    if (base > 31) return 0xffffffffu;
    if (offset == std::numeric_limits<int32_t>::min()) return 0;  // on an H100: it has no magnitude
    const int step = offset < 0 ? -1 : 1;
    int64_t left = offset == 0 ? 1 : std::abs(int64_t{offset});
    for (auto at = static_cast<int>(base); at >= 0 && at < 32; at += step) {
      if (mask >> at & 1 && --left == 0) return static_cast<uint32_t>(at);
      if (offset == 0) break;
    }
    return 0xffffffffu;
  }
};

/// Position or length of a field: its low byte counts, of 64-bit fields all of it (as on an H100; PTX promises 0 to
/// 255).
template <class T>
uint32_t field_number(uint32_t x) {
  return sizeof(T) == 8 ? std::min(x, 0xffu) : x & 0xff;
}
struct Bfe {
  template <class T>
  T operator()(T a, uint32_t b, uint32_t c) const {
    using U = std::make_unsigned_t<T>;
    constexpr uint32_t kBits = 8 * sizeof(T);
    const uint32_t at = field_number<T>(b), length = field_number<T>(c);
    if (length == 0) return 0;
    const bool sign = std::is_signed_v<T> && (static_cast<U>(a) >> std::min(at + length - 1, kBits - 1) & 1);
    const U ones = static_cast<U>(~U{0});
    const U shifted = at >= kBits ? U{0} : static_cast<U>(a) >> at;
    const uint32_t valid = std::min(length, at >= kBits ? 0 : kBits - at);
    const U mask = valid >= kBits ? ones : static_cast<U>((U{1} << valid) - 1);
    return static_cast<T>((shifted & mask) | (sign ? static_cast<U>(ones & ~mask) : U{0}));
  }
};
struct Bfi {
  template <class T>
  T operator()(T a, T b, uint32_t c, uint32_t d) const {
    constexpr uint32_t kBits = 8 * sizeof(T);
    const uint32_t at = field_number<T>(c), length = field_number<T>(d);
    if (at >= kBits || length == 0) return b;
    const T ones = static_cast<T>(~T{0});
    const T field = static_cast<T>((length >= kBits ? ones : static_cast<T>((T{1} << length) - 1)) << at);
    return static_cast<T>((b & ~field) | (static_cast<T>(a << at) & field));
  }
};
template <bool kClamp>
struct Bmsk {
  uint32_t operator()(uint32_t a, uint32_t b) const {
    const uint32_t start = a & 31, width = b & 31, end = start + width;
    if (kClamp && a >= 32) return 0;
    const uint32_t from = 0xffffffffu << start;
    if (end >= 32 || (kClamp && b >= 32)) return from;
    return width == 0 ? 0 : from & ~(0xffffffffu << end);
  }
};
template <bool kClamp>
struct Szext {
  template <class T>
  T operator()(T a, uint32_t b) const {
    if (kClamp && b >= 32) return a;
    const uint32_t n = b & 31;
    if (n == 0) return 0;
    const auto up = static_cast<T>(static_cast<uint32_t>(a) << (32 - n));
    return static_cast<T>(up >> (32 - n));
  }
};

uint32_t byte_of(uint32_t x, uint32_t i) { return x >> (8 * i) & 0xff; }
/// A byte of {b, a} or, with bit 3 of the selector, its sign eight times.
uint32_t select_byte(uint64_t bytes, uint32_t selector) {
  const auto byte = static_cast<uint32_t>(bytes >> (8 * (selector & 7)) & 0xff);
  return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}
uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t d = 0;
  for (uint32_t i = 0; i < 4; ++i) d |= select_byte(bytes, selectors >> (4 * i) & 15) << (8 * i);
  return d;
}
struct Prmt {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const { return permute(a, b, c & 0xffff); }
};
/// Selectors are mostly a number, the same for all lanes.
void prmt(RegisterFile& file, const Instr& in, LaneMask mask) {
  if (in.rows[3].area() == 0) return map_lanes<Prmt, uint32_t, uint32_t, uint32_t, uint32_t>(file, in, mask);
  Destination<uint32_t> d(file, in, 0);
  const Source<uint32_t> a(file, in, 1), b(file, in, 2);
  const uint32_t selectors = Source<uint32_t>(file, in, 3)[0];
  uint32_t of_b[4], shift[4], sign[4];  // of each byte: masks, and where it lies
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t selector = selectors >> (4 * i) & 15;
    of_b[i] = selector & 4 ? 0xffffffffu : 0;
    shift[i] = 24 - 8 * (selector & 3);
    sign[i] = selector & 8 ? 31 : 24;
  }
  for_each_lane(mask, [&](int lane) {
    const uint32_t x = a[lane], change = x ^ b[lane];
    uint32_t value = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      const auto top = static_cast<int32_t>((x ^ (change & of_b[i])) << shift[i]);  // the byte is the highest
      value |= (static_cast<uint32_t>(top >> sign[i]) & 0xff) << (8 * i);
    }
    d.set(lane, value);
  });
}
/// Selectors of a named mode, for each value of c[1:0].
template <uint32_t k0, uint32_t k1, uint32_t k2, uint32_t k3>
struct PrmtMode {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    constexpr uint32_t kSelectors[] = {k0, k1, k2, k3};
    return permute(a, b, kSelectors[c & 3]);
  }
};

int32_t extend(uint32_t byte, bool is_signed, int width) {
  return is_signed ? static_cast<int32_t>(byte << (32 - width)) >> (32 - width) : static_cast<int32_t>(byte);
}
template <bool kSignedA, bool kSignedB>
struct Dp4a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (uint32_t i = 0; i < 4; ++i)
      c += static_cast<uint32_t>(extend(byte_of(a, i), kSignedA, 8) * extend(byte_of(b, i), kSignedB, 8));
    return c;
  }
};
template <bool kSignedA, bool kSignedB, bool kHigh>
struct Dp2a {
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    for (uint32_t i = 0; i < 2; ++i)
      c += static_cast<uint32_t>(extend(a >> (16 * i) & 0xffff, kSignedA, 16) *
                                 extend(byte_of(b, i + 2 * kHigh), kSignedB, 8));
    return c;
  }
};

/// Eight masks, one for each combination of bits that the table says yes to.
uint32_t look_up(uint32_t a, uint32_t b, uint32_t c, uint32_t table) {
  uint32_t d = 0;
  for (uint32_t i = 0; i < 8; ++i)
    if (table >> i & 1) d |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return d;
}
void lop3(RegisterFile& file, const Instr& in, LaneMask mask) {
  Destination<uint32_t> d(file, in, 0);
  const Source<uint32_t> a(file, in, 1), b(file, in, 2), c(file, in, 3), table(file, in, 4);
  uint32_t yes[8];
  for (uint32_t i = 0; i < 8; ++i) yes[i] = table[0] >> i & 1 ? 0xffffffffu : 0;
  for_each_lane(mask, [&](int lane) {
    const uint32_t x = a[lane], y = b[lane], z = c[lane];
    const uint32_t high = (yes[7] & y & z) | (yes[6] & y & ~z) | (yes[5] & ~y & z) | (yes[4] & ~y & ~z);
    const uint32_t low = (yes[3] & y & z) | (yes[2] & y & ~z) | (yes[1] & ~y & z) | (yes[0] & ~y & ~z);
    d.set(lane, (x & high) | (~x & low));
  });
}
/// lop3.or and lop3.and: d|p, a, b, c, table, q: p = (d != 0) op q
template <bool kAnd>
void lop3_with_predicate(RegisterFile& file, const Instr& in, LaneMask mask) {
  Destination<uint32_t> d(file, in, 0);
  const Source<uint32_t> a(file, in, 2), b(file, in, 3), c(file, in, 4), table(file, in, 5);
  const LaneMask q = in.predicate(file, 6);
  LaneMask nonzero = 0;
  for_each_lane(mask, [&](int lane) {
    const uint32_t value = look_up(a[lane], b[lane], c[lane], table[0]);
    nonzero |= static_cast<LaneMask>(value != 0) << lane;
    d.set(lane, value);
  });
  file.set_predicate(in.rows[1], kAnd ? nonzero & q : nonzero | q, mask);
}

/// Predicates are masks: one operation for all lanes.
template <class Op>
void predicates(RegisterFile& file, const Instr& in, LaneMask mask) {
  file.set_predicate(in.rows[0], Op{}(in.predicate(file, 1), in.predicate(file, 2)), mask);
}
void not_predicate(RegisterFile& file, const Instr& in, LaneMask mask) {
  file.set_predicate(in.rows[0], ~in.predicate(file, 1), mask);
}

template <class Op, class T>
void add_shift(FormTable& table, const std::string& opcode) {
  table.add(opcode, wide<&shift<Op, T>>(), {TypeOf<T>::value}, {TypeOf<T>::value, Type::u32});
}
template <class T>
void add_logic(FormTable& table, const std::string& t) {
  table.add_wide<And, T, T, T>("and" + t);
  table.add_wide<Or, T, T, T>("or" + t);
  table.add_wide<Xor, T, T, T>("xor" + t);
  table.add_wide<Not, T, T>("not" + t);
  table.add_wide<Cnot, T, T>("cnot" + t);
  add_shift<Shl, T>(table, "shl" + t);
  add_shift<Shr, T>(table, "shr" + t);
}
template <class T>
void add_shift_right(FormTable& table) {
  add_shift<Shr, T>(table, "shr." + std::string(name(TypeOf<T>::value)));
}
template <class T>
void add_fields(FormTable& table) {
  const std::string t = "." + std::string(name(TypeOf<T>::value));
  table.add_wide<Bfe, T, T, uint32_t, uint32_t>("bfe" + t);
  table.add_wide<Bfind<false>, uint32_t, T>("bfind" + t);
  table.add_wide<Bfind<true>, uint32_t, T>("bfind.shiftamt" + t);
}
template <class T>
void add_counts(FormTable& table, const std::string& t) {
  table.add_wide<Popc, uint32_t, T>("popc" + t);
  table.add_wide<Clz, uint32_t, T>("clz" + t);
  table.add_wide<Brev, T, T>("brev" + t);
  table.add_wide<Bfi, T, T, T, uint32_t, uint32_t>("bfi" + t);
}
template <bool kA, bool kB>
void add_dot_products(FormTable& table, const std::string& types) {
  using U = uint32_t;
  table.add<Dp4a<kA, kB>, U, U, U, U>("dp4a" + types);
  table.add<Dp2a<kA, kB, false>, U, U, U, U>("dp2a.lo" + types);
  table.add<Dp2a<kA, kB, true>, U, U, U, U>("dp2a.hi" + types);
}

}  // namespace

void add_bit_forms(FormTable& table) {
  using U = uint32_t;
  add_logic<uint16_t>(table, ".b16"), add_logic<uint32_t>(table, ".b32"), add_logic<uint64_t>(table, ".b64");
  add_shift_right<uint16_t>(table), add_shift_right<uint32_t>(table), add_shift_right<uint64_t>(table);
  add_shift_right<int16_t>(table), add_shift_right<int32_t>(table), add_shift_right<int64_t>(table);
  table.add("and.pred", &predicates<And>, {Type::pred}, {Type::pred, Type::pred});
  table.add("or.pred", &predicates<Or>, {Type::pred}, {Type::pred, Type::pred});
  table.add("xor.pred", &predicates<Xor>, {Type::pred}, {Type::pred, Type::pred});
  table.add("not.pred", &not_predicate, {Type::pred}, {Type::pred});
  table.add_wide<Shf<true, true>, U, U, U, U>("shf.l.wrap.b32");
  table.add_wide<Shf<true, false>, U, U, U, U>("shf.l.clamp.b32");
  table.add_wide<Shf<false, true>, U, U, U, U>("shf.r.wrap.b32");
  table.add_wide<Shf<false, false>, U, U, U, U>("shf.r.clamp.b32");
  add_fields<uint32_t>(table), add_fields<int32_t>(table), add_fields<uint64_t>(table), add_fields<int64_t>(table);
  add_counts<uint32_t>(table, ".b32"), add_counts<uint64_t>(table, ".b64");
  table.add<Fns, U, U, U, int32_t>("fns.b32");
  table.add<Bmsk<true>, U, U, U>("bmsk.clamp.b32");
  table.add<Bmsk<false>, U, U, U>("bmsk.wrap.b32");
  table.add<Szext<true>, U, U, U>("szext.clamp.u32");
  table.add<Szext<false>, U, U, U>("szext.wrap.u32");
  table.add<Szext<true>, int32_t, int32_t, U>("szext.clamp.s32");
  table.add<Szext<false>, int32_t, int32_t, U>("szext.wrap.s32");
  table.add("prmt.b32", wide<&prmt>(), {Type::u32}, {Type::u32, Type::u32, Type::u32});
  table.add<PrmtMode<0x3210, 0x4321, 0x5432, 0x6543>, U, U, U, U>("prmt.b32.f4e");
  table.add<PrmtMode<0x5670, 0x6701, 0x7012, 0x0123>, U, U, U, U>("prmt.b32.b4e");
  table.add<PrmtMode<0x0000, 0x1111, 0x2222, 0x3333>, U, U, U, U>("prmt.b32.rc8");
  table.add<PrmtMode<0x3210, 0x3211, 0x3222, 0x3333>, U, U, U, U>("prmt.b32.ecl");
  table.add<PrmtMode<0x0000, 0x1110, 0x2210, 0x3210>, U, U, U, U>("prmt.b32.ecr");
  table.add<PrmtMode<0x1010, 0x3232, 0x1010, 0x3232>, U, U, U, U>("prmt.b32.rc16");
  add_dot_products<false, false>(table, ".u32.u32"), add_dot_products<false, true>(table, ".u32.s32");
  add_dot_products<true, false>(table, ".s32.u32"), add_dot_products<true, true>(table, ".s32.s32");
  const Type b32 = Type::b32, pred = Type::pred;
  table.add("lop3.b32", wide<&lop3>(), {b32}, {b32, b32, b32, b32});
  table.add("lop3.or.b32", &lop3_with_predicate<false>, {b32, pred}, {b32, b32, b32, b32, pred});
  table.add("lop3.and.b32", &lop3_with_predicate<true>, {b32, pred}, {b32, b32, b32, b32, pred});
}

}  // namespace sm100::ptx
