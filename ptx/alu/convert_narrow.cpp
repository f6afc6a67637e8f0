// SPDX-License-Identifier: Apache-2.0
/// cvt of packed formats: two f32 to halves and to 8-, 6- and 4-bit formats and back, tf32, scale factors, cvt.pack
/// (PTX 9.7.9, cvt and cvt.pack).  The first of two sources goes to the upper half.

#include <algorithm>

#include "ptx/alu/form_table.h"
#include "ptx/alu/modifiers.h"
#include "ptx/alu/rounding.h"
#include "ptx/alu/side_by_side.h"

namespace sm100::ptx {

namespace {

std::string dotted(Type type) { return "." + std::string(name(type)); }

// ---- f32 to f16x2 and bf16x2 ----

template <class T>
T saturate_to_finite(T x) {
  constexpr Bits<T> kLargest = static_cast<Bits<T>>(((kSignBit<T> - 1) >> kFractionBits<T> << kFractionBits<T>)-1);
  const auto magnitude = static_cast<Bits<T>>(bits_of(x) & ~kSignBit<T>);
  if (is_nan(x) || magnitude <= kLargest) return x;
  return from_bits<T>(static_cast<Bits<T>>((bits_of(x) & kSignBit<T>) | kLargest));
}

template <class H, Rounding kMode, bool kRelu, bool kFinite>
struct Narrow {
  template <class S>
  H operator()(S x) const {
    H h = round_to<H>(to_double(x), kMode);
    if (kFinite) h = saturate_to_finite(h);
    return kRelu ? relu(h) : h;
  }
};
template <class Op, class H>
struct NarrowPair {
  Pair<H> operator()(float a, float b) const { return {Op{}(b), Op{}(a)}; }
};

/// Forms without a modifier of this file stand in convert.cpp.
template <class H, Rounding kMode>
void add_narrow(FormTable& table, const std::string& mode) {
  for_each_flag<2>([&](auto relu_flag, auto finite) {
    constexpr bool kRelu = relu_flag.value, kFinite = finite.value;
    using Op = Narrow<H, kMode, kRelu, kFinite>;
    const std::string text = "cvt" + mode + (kRelu ? ".relu" : "") + (kFinite ? ".satfinite" : "");
    const std::string packed = text + dotted(TypeOf<Pair<H>>::value) + ".f32";
    if constexpr (kMode == Rounding::nearest)
      table.add(packed,
                wide<&map_many_lanes<side_by_side::HalvesFromSingles<H, kRelu, kFinite>, uint32_t, float, float>>(),
                {TypeOf<Pair<H>>::value}, {Type::f32, Type::f32});
    else
      table.add<NarrowPair<Op, H>, Pair<H>, float, float>(packed);
    if constexpr (kRelu || kFinite) table.add<Op, H, float>(text + dotted(TypeOf<H>::value) + ".f32");
  });
}

// ---- tf32 ----

/// NaN as on an H100: .rna adds to the bits, whatever they are, and .satfinite steps back from what is not finite.
template <Rounding kMode, bool kRelu, bool kFinite>
struct ToTf32 {
  uint32_t operator()(float x) const {
    if (is_nan(x)) {
      if (kMode != Rounding::away) return 0x7fffe000u;
      const auto bits = std::bit_cast<uint32_t>(x);
      const uint32_t sum =
          (bits & 0x80000000u) | ((std::min(bits & 0x7fffffffu, 0x7fffefffu) + 0x1000u) & 0x7fffe000u);
      return kFinite ? sum - 0x2000u : sum;
    }
    // tf32 is an f32 with 10 bits of fraction.
    auto bits = static_cast<uint32_t>(round_bits(x, 8, 10, kMode)) << 13;
    if (kFinite && (bits & 0x7fffffffu) == 0x7f800000u) bits = (bits & 0x80000000u) | 0x7f7fe000u;
    return kRelu && bits >> 31 ? 0 : bits;
  }
};
template <Rounding kMode>
void add_tf32(FormTable& table, const std::string& mode, bool with_relu) {
  for_each_flag<2>([&](auto relu_flag, auto finite) {
    constexpr bool kRelu = relu_flag.value, kFinite = finite.value;
    if (kRelu && !with_relu) return;
    const std::string text = "cvt" + mode + (kRelu ? ".relu" : "") + (kFinite ? ".satfinite" : "") + ".tf32.f32";
    table.add(text, &map_lanes<ToTf32<kMode, kRelu, kFinite>, uint32_t, float>, {Type::tf32}, {Type::f32});
  });
}

// ---- 8, 6 and 4 bits ----

struct E4m3 {
  static constexpr Type kPair = Type::e4m3x2;
  static constexpr int kBits = 8;
  static uint8_t encode(float x) { return cvt_rn_satfinite_e4m3_f32(x); }
  static float decode(uint8_t x) { return decode_e4m3(x); }
};
struct E5m2 {
  static constexpr Type kPair = Type::e5m2x2;
  static constexpr int kBits = 8;
  static uint8_t encode(float x) { return cvt_rn_satfinite_e5m2_f32(x); }
  static float decode(uint8_t x) { return decode_e5m2(x); }
};
struct E2m3 {
  static constexpr Type kPair = Type::e2m3x2;
  static constexpr int kBits = 8;  // 6, in a container of 8
  static uint8_t encode(float x) { return cvt_rn_satfinite_e2m3_f32(x); }
  static float decode(uint8_t x) { return decode_e2m3(x & 0x3f); }
};
struct E3m2 {
  static constexpr Type kPair = Type::e3m2x2;
  static constexpr int kBits = 8;
  static uint8_t encode(float x) { return cvt_rn_satfinite_e3m2_f32(x); }
  static float decode(uint8_t x) { return decode_e3m2(x & 0x3f); }
};
struct E2m1 {
  static constexpr Type kPair = Type::e2m1x2;
  static constexpr int kBits = 4;
  static uint8_t encode(float x) { return cvt_rn_satfinite_e2m1_f32(x); }
  static float decode(uint8_t x) { return decode_e2m1(x & 0xf); }
};

/// .relu clamps negative numbers and NaN of formats without NaN to 0 by way of the source.
template <class Format, bool kRelu>
uint32_t encode_pair(float high, float low) {
  if (kRelu) high = relu(high), low = relu(low);
  return static_cast<uint32_t>(Format::encode(high)) << Format::kBits | Format::encode(low);
}
template <class Format, bool kRelu>
struct EncodeSingles {
  uint32_t operator()(float a, float b) const { return encode_pair<Format, kRelu>(a, b); }
};
template <class Format, bool kRelu, class H>
struct EncodeHalves {
  uint32_t operator()(Pair<H> a) const {
    return encode_pair<Format, kRelu>(static_cast<float>(to_double(a.high)), static_cast<float>(to_double(a.low)));
  }
};
template <class Format, bool kRelu>
struct DecodeToHalves {
  Pair<F16> operator()(uint32_t x) const {
    const auto half = [](uint32_t code) {
      const auto h = round_to<F16>(Format::decode(static_cast<uint8_t>(code & ((1u << Format::kBits) - 1))),
                                   Rounding::nearest);
      return kRelu ? relu(h) : h;
    };
    return {half(x), half(x >> Format::kBits)};
  }
};

template <class Format, bool kRelu>
void add_format(FormTable& table) {
  const std::string text = std::string("cvt.rn") + (kRelu ? ".relu" : ""), t = dotted(Format::kPair);
  table.add(text + ".satfinite" + t + ".f32", &map_lanes<EncodeSingles<Format, kRelu>, uint32_t, float, float>,
            {Format::kPair}, {Type::f32, Type::f32});
  if constexpr (Format::kPair == Type::e4m3x2 || Format::kPair == Type::e5m2x2)
    table.add(text + ".satfinite" + t + ".f16x2", &map_lanes<EncodeHalves<Format, kRelu, F16>, uint32_t, Pair<F16>>,
              {Format::kPair}, {Type::f16x2});
  table.add(text + ".f16x2" + t, &map_lanes<DecodeToHalves<Format, kRelu>, Pair<F16>, uint32_t>, {Type::f16x2},
            {Format::kPair});
}
template <class Format>
void add_format(FormTable& table) {
  add_format<Format, false>(table), add_format<Format, true>(table);
}

// ---- scale factors ----

/// Without .satfinite a number that is too large gives NaN.
template <bool kUp, bool kFinite>
uint8_t encode_scale(float x) {
  if (!kFinite && std::isinf(x)) return 0xff;
  const uint8_t code = kUp ? cvt_rp_satfinite_ue8m0_f32(x) : cvt_rz_satfinite_ue8m0_f32(x);
  const bool too_large = kUp && code == 0xfe && std::abs(to_double(x)) > std::ldexp(1.0, 127);
  return !kFinite && too_large ? 0xff : code;
}
template <bool kUp, bool kFinite>
struct ScaleOfSingles {
  uint32_t operator()(float a, float b) const {
    return static_cast<uint32_t>(encode_scale<kUp, kFinite>(a)) << 8 | encode_scale<kUp, kFinite>(b);
  }
};
template <bool kUp, bool kFinite>
struct ScaleOfHalves {
  uint32_t operator()(Pair<Bf16> a) const {
    return ScaleOfSingles<kUp, kFinite>{}(decode_bf16(a.high.bits), decode_bf16(a.low.bits));
  }
};
struct HalvesOfScale {
  Pair<Bf16> operator()(uint32_t x) const {
    const auto half = [](uint32_t code) {
      return round_to<Bf16>(decode_ue8m0(static_cast<uint8_t>(code)), Rounding::nearest);
    };
    return {half(x & 0xff), half(x >> 8 & 0xff)};
  }
};
template <bool kUp, bool kFinite>
void add_scale(FormTable& table) {
  const std::string text = std::string("cvt") + (kUp ? ".rp" : ".rz") + (kFinite ? ".satfinite" : "") + ".ue8m0x2";
  table.add(text + ".f32", &map_lanes<ScaleOfSingles<kUp, kFinite>, uint32_t, float, float>, {Type::ue8m0x2},
            {Type::f32, Type::f32});
  table.add(text + ".bf16x2", &map_lanes<ScaleOfHalves<kUp, kFinite>, uint32_t, Pair<Bf16>>, {Type::ue8m0x2},
            {Type::bf16x2});
}

// ---- cvt.pack ----

template <int kBits, bool kSigned>
uint32_t clamp_to(int32_t x) {
  constexpr int64_t kLeast = kSigned ? -(int64_t{1} << (kBits - 1)) : 0,
                    kMost = (int64_t{1} << (kBits - kSigned)) - 1;
  return static_cast<uint32_t>(std::clamp<int64_t>(x, kLeast, kMost)) & ((1u << kBits) - 1);
}
template <int kBits, bool kSigned>
struct PackTwo {
  uint32_t operator()(int32_t a, int32_t b) const {
    return clamp_to<kBits, kSigned>(a) << kBits | clamp_to<kBits, kSigned>(b);
  }
};
/// The two go below what c holds.
template <int kBits, bool kSigned>
struct PackOnto {
  uint32_t operator()(int32_t a, int32_t b, uint32_t c) const {
    return c << (2 * kBits) | PackTwo<kBits, kSigned>{}(a, b);
  }
};
template <int kBits, bool kSigned>
void add_pack_onto(FormTable& table) {
  const std::string type = (kSigned ? ".s" : ".u") + std::to_string(kBits);
  table.add<PackOnto<kBits, kSigned>, uint32_t, int32_t, int32_t, uint32_t>("cvt.pack.sat" + type + ".s32.b32");
}

}  // namespace

void add_narrow_forms(FormTable& table) {
  add_narrow<F16, Rounding::nearest>(table, ".rn"), add_narrow<F16, Rounding::zero>(table, ".rz");
  add_narrow<Bf16, Rounding::nearest>(table, ".rn"), add_narrow<Bf16, Rounding::zero>(table, ".rz");
  add_tf32<Rounding::away>(table, ".rna", false);
  add_tf32<Rounding::nearest>(table, ".rn", true), add_tf32<Rounding::zero>(table, ".rz", true);
  add_format<E4m3>(table), add_format<E5m2>(table), add_format<E2m3>(table), add_format<E3m2>(table),
      add_format<E2m1>(table);
  add_scale<false, false>(table), add_scale<false, true>(table), add_scale<true, false>(table),
      add_scale<true, true>(table);
  table.add("cvt.rn.bf16x2.ue8m0x2", &map_lanes<HalvesOfScale, Pair<Bf16>, uint32_t>, {Type::bf16x2},
            {Type::ue8m0x2});
  table.add<PackTwo<16, false>, uint32_t, int32_t, int32_t>("cvt.pack.sat.u16.s32");
  table.add<PackTwo<16, true>, uint32_t, int32_t, int32_t>("cvt.pack.sat.s16.s32");
  add_pack_onto<8, false>(table), add_pack_onto<8, true>(table);
  add_pack_onto<4, false>(table), add_pack_onto<4, true>(table);
  add_pack_onto<2, false>(table), add_pack_onto<2, true>(table);
}

}  // namespace sm100::ptx
