// SPDX-License-Identifier: Apache-2.0
/// cvt: integers against 128-bit arithmetic, floats against the host in each rounding mode, narrow formats against
/// a search over all codes.

#include <algorithm>
#include <cfenv>
#include <cfloat>
#include <cmath>

#include "catch.h"
#include "kernels/isa/number_formats.h"
#include "ptx/edge_values.h"
#include "ptx/scalar_machine.h"

using namespace sm100;
using namespace sm100::ptx;

namespace {

using Wide = __int128;
struct ModeName {
  const char* text;
  int mode;
};
constexpr ModeName kModes[] = {
    {".rn", FE_TONEAREST}, {".rz", FE_TOWARDZERO}, {".rm", FE_DOWNWARD}, {".rp", FE_UPWARD}};

template <class F>
auto in_mode(int mode, F&& f) {
  std::fesetround(mode);
  volatile auto result = f();
  std::fesetround(FE_TONEAREST);
  return static_cast<std::remove_volatile_t<decltype(result)>>(result);
}
float f32(uint32_t x) { return std::bit_cast<float>(x); }
uint32_t bits(float x) { return std::isnan(x) ? 0x7fffffffu : std::bit_cast<uint32_t>(x); }

struct IntegerType {
  std::string name;
  int width;
  bool is_signed;
  Wide value(uint64_t x) const {
    const int up = 64 - width;
    return is_signed ? Wide{static_cast<int64_t>(x << up) >> up} : Wide{x << up >> up};
  }
  uint64_t bits(Wide v) const { return static_cast<uint64_t>(v) << (64 - width) >> (64 - width); }
  Wide least() const { return is_signed ? -(Wide{1} << (width - 1)) : 0; }
  Wide most() const { return (Wide{1} << (width - is_signed)) - 1; }
};
std::vector<IntegerType> integer_types() {
  std::vector<IntegerType> types;
  for (const int width : {8, 16, 32, 64})
    for (const bool is_signed : {false, true})
      types.push_back({(is_signed ? "s" : "u") + std::to_string(width), width, is_signed});
  return types;
}

}  // namespace

TEST_CASE("cvt among integers extends, cuts off, or saturates") {
  for (const IntegerType& d : integer_types())
    for (const IntegerType& s : integer_types()) {
      Form plain("cvt." + d.name + "." + s.name);
      for (const uint64_t x : edge_integers(s.width)) REQUIRE(plain(x) == d.bits(s.value(x)));
      if (!find_alu_form("cvt.sat." + d.name + "." + s.name)) continue;
      Form sat("cvt.sat." + d.name + "." + s.name);
      for (const uint64_t x : edge_integers(s.width))
        REQUIRE(sat(x) == d.bits(std::clamp(s.value(x), d.least(), d.most())));
    }
}

TEST_CASE("cvt takes and fills registers that are wider than its types") {
  ScalarMachine m(
      ".reg .b32 %r<4>; .reg .b64 %d<4>; .reg .b16 %h<2>;\n"
      "cvt.s8.s32 %r1, %r0; cvt.u8.u32 %r2, %r0; cvt.s8.s32 %d1, %r0; cvt.u32.u16 %r3, %d0; cvt.s16.s8 %d2, %d0; "
      "cvt.s16.s8 %h0, %r0;");
  m.set("%r0", 0x12345680), m.set("%d0", 0xaaaabbbb1234ff85);
  m.run();
  CHECK(m.get("%r1") == 0xffffff80u);
  CHECK(m.get("%r2") == 0x80u);
  CHECK(m.get("%d1") == 0xffffffffffffff80u);
  CHECK(m.get("%r3") == 0xff85u);
  CHECK(m.get("%d2") == 0xffffffffffffff85u);
  CHECK(m.get("%h0") == 0xff80u);
}

TEST_CASE("cvt from floats to integers clamps, NaN gives 0, or the highest bit with 64 bits") {
  const ModeName modes[] = {
      {".rni", FE_TONEAREST}, {".rzi", FE_TOWARDZERO}, {".rmi", FE_DOWNWARD}, {".rpi", FE_UPWARD}};
  for (const IntegerType& d : integer_types())
    for (const ModeName& m : modes) {
      Form single(std::string("cvt") + m.text + "." + d.name + ".f32"),
          twice(std::string("cvt") + m.text + "." + d.name + ".f64"),
          half(std::string("cvt") + m.text + "." + d.name + ".f16");
      const auto want = [&](double x, bool wide_source) {
        if (std::isnan(x)) return wide_source || d.width == 64 ? uint64_t{1} << (d.width - 1) : 0;
        volatile double v = x;
        const double r = in_mode(m.mode, [&] { return std::nearbyint(v); });
        if (r >= std::ldexp(1.0, 100)) return d.bits(d.most());
        if (r <= -std::ldexp(1.0, 100)) return d.bits(d.least());
        return d.bits(std::clamp(static_cast<Wide>(r), d.least(), d.most()));
      };
      for (const uint32_t x : edge_floats()) REQUIRE(single(x) == want(f32(x), false));
      for (const uint64_t x : edge_doubles()) REQUIRE(twice(x) == want(std::bit_cast<double>(x), true));
      for (const uint16_t x : edge_halves()) REQUIRE(half(x) == want(decode_f16(x), false));
    }
  CHECK(Form("cvt.rpi.ftz.s32.f32")(1) == 0u);
  CHECK(Form("cvt.rpi.s32.f32")(1) == 1u);
}

TEST_CASE("cvt from integers to f32 and f64 rounds in each mode") {
  for (const ModeName& m : kModes) {
    const std::string start = std::string("cvt") + m.text;
    Form s(start + ".f32.s64"), u(start + ".f32.u64"), w(start + ".f32.u32"), sd(start + ".f64.s64"),
        ud(start + ".f64.u64");
    for (uint64_t x : edge_integers(64, 60)) {
      volatile int64_t i = static_cast<int64_t>(x);
      volatile long double big = x;  // 64 bits of significand: exact
      REQUIRE(s(x) == bits(in_mode(m.mode, [&] { return static_cast<float>(i); })));
      REQUIRE(u(x) == bits(in_mode(m.mode, [&] { return static_cast<float>(big); })));
      REQUIRE(sd(x) == std::bit_cast<uint64_t>(in_mode(m.mode, [&] { return static_cast<double>(i); })));
      REQUIRE(ud(x) == std::bit_cast<uint64_t>(in_mode(m.mode, [&] { return static_cast<double>(big); })));
      volatile long double small = static_cast<uint32_t>(x);
      REQUIRE(w(x & 0xffffffff) == bits(in_mode(m.mode, [&] { return static_cast<float>(small); })));
    }
  }
}

TEST_CASE("cvt among floats") {
  for (const ModeName& m : kModes) {
    Form narrow(std::string("cvt") + m.text + ".f32.f64"), ftz(std::string("cvt") + m.text + ".ftz.f32.f64");
    for (const uint64_t x : edge_doubles(200)) {
      volatile double v = std::bit_cast<double>(x);
      const float want = in_mode(m.mode, [&] { return static_cast<float>(v); });
      const uint32_t nan =
          static_cast<uint32_t>(x >> 32 & 0x80000000u) | 0x7fc00000u | static_cast<uint32_t>(x >> 29 & 0x3fffffu);
      REQUIRE(narrow(x) == (std::isnan(want) ? nan : bits(want)));
      volatile double doubled = 2 * v;
      const float twice = in_mode(m.mode, [&] { return static_cast<float>(doubled); });
      const float kept = std::abs(twice) < 2 * FLT_MIN ? std::copysign(0.0f, want) : want;
      REQUIRE(ftz(x) == (std::isnan(want) ? nan : bits(kept)));
    }
  }
  Form widen("cvt.f64.f32"), f16("cvt.f32.f16"), bf16("cvt.f32.bf16"), sat("cvt.sat.f32.f32"),
      rni("cvt.rni.f32.f32"), rpi("cvt.rpi.ftz.f32.f32");
  for (const uint32_t x : edge_floats()) {
    const float v = f32(x);
    if (!std::isnan(v)) REQUIRE(widen(x) == std::bit_cast<uint64_t>(static_cast<double>(v)));
    REQUIRE(f16(x & 0xffff) == bits(decode_f16(static_cast<uint16_t>(x))));
    REQUIRE(bf16(x & 0xffff) == x << 16);  // NaN, too
    REQUIRE(sat(x) == bits(v > 0 ? std::min(v, 1.0f) : 0.0f));
    REQUIRE(rni(x) == bits(std::nearbyint(v)));
    REQUIRE(rpi(x) == bits(std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : std::ceil(v)));
  }
}

namespace {

/// Codes of a small format, searched for the value that rounding gives: nearest with ties to the even code, or
/// downwards.
template <class Decode>
uint32_t search(Decode decode, uint32_t codes, uint32_t sign_bit, double x, bool nearest) {
  const double magnitude = std::abs(x);
  uint32_t best = 0;
  for (uint32_t code = 0; code < codes; ++code) {
    const double v = decode(code), held = decode(best);
    if (std::isnan(v) || std::isinf(v)) continue;
    if (nearest) {
      const double d = std::abs(v - magnitude), e = std::abs(held - magnitude);
      if (d < e || (d == e && v != held && (code & 1) == 0)) best = code;
    } else if (v <= magnitude && v > held) {
      best = code;
    }
  }
  return best | (std::signbit(x) ? sign_bit : 0);
}

}  // namespace

TEST_CASE("f32 to packed halves: the first source goes to the upper half") {
  Form f16("cvt.rn.f16x2.f32"), bf16("cvt.rn.bf16x2.f32"), relu("cvt.rn.relu.bf16x2.f32"), cut("cvt.rz.f16x2.f32"),
      finite("cvt.rn.satfinite.f16x2.f32"), one("cvt.rz.bf16.f32");
  for (const uint32_t a : edge_floats()) {
    const uint32_t b = 0x3f800001;
    REQUIRE(f16(a, b) == (static_cast<uint32_t>(cvt_rn_f16_f32(f32(a))) << 16 | 0x3c00));
    REQUIRE(bf16(a, b) == (static_cast<uint32_t>(cvt_rn_bf16_f32(f32(a))) << 16 | 0x3f80));
    const uint32_t rounded = cvt_rn_bf16_f32(f32(a));
    REQUIRE(relu(a, b) == ((rounded & 0x8000 ? 0 : rounded) << 16 | 0x3f80));
    const bool nan = std::isnan(f32(a));
    const uint32_t down = nan ? 0x7fff
                          : std::isinf(f32(a))
                              ? (a >> 16 & 0x8000) | 0x7c00
                              : search([](uint32_t c) { return decode_f16(static_cast<uint16_t>(c)); }, 0x7c00,
                                       0x8000, f32(a), false);
    REQUIRE(cut(a, b) == (down << 16 | 0x3c00));
    const uint32_t near = cvt_rn_f16_f32(f32(a));
    REQUIRE(finite(a, b) == (((near & 0x7fff) == 0x7c00 ? near - 1 : near) << 16 | 0x3c00));
    REQUIRE(one(a) == (nan ? 0x7fff : a >> 16));
  }
}

TEST_CASE("tf32 keeps ten bits of fraction") {
  Form away("cvt.rna.tf32.f32"), nearest("cvt.rn.tf32.f32"), zero("cvt.rz.tf32.f32"),
      positive("cvt.rn.relu.tf32.f32"), finite("cvt.rna.satfinite.tf32.f32");
  for (const uint32_t a : edge_floats(200)) {
    const bool nan = std::isnan(f32(a));
    const uint32_t r = nan ? ((std::min(a & 0x7fffffff, 0x7fffefffu) + 0x1000) & 0x7fffe000u) | (a & 0x80000000u)
                           : cvt_rna_tf32_f32(f32(a));
    REQUIRE(away(a) == r);
    REQUIRE(nearest(a) == (nan ? 0x7fffe000u : cvt_rn_tf32_f32(f32(a))));
    REQUIRE(zero(a) == (nan ? 0x7fffe000u : a & 0xffffe000u));
    REQUIRE(positive(a) == (nan ? 0x7fffe000u : a >> 31 ? 0 : cvt_rn_tf32_f32(f32(a))));
    REQUIRE(finite(a) == ((r & 0x7fffffff) >= 0x7f800000 ? r - 0x2000 : r));
  }
}

TEST_CASE("8-, 6- and 4-bit formats, both ways") {
  struct Format {
    const char* name;
    uint32_t codes, sign, nan;
    int width;
    float (*decode)(uint8_t);
  };
  const Format formats[] = {{"e4m3x2", 0x80, 0x80, 0x7f, 8, [](uint8_t c) { return decode_e4m3(c); }},
                            {"e5m2x2", 0x80, 0x80, 0x7f, 8, [](uint8_t c) { return decode_e5m2(c); }},
                            {"e2m3x2", 0x20, 0x20, 0x1f, 8, [](uint8_t c) { return decode_e2m3(c); }},
                            {"e3m2x2", 0x20, 0x20, 0x1f, 8, [](uint8_t c) { return decode_e3m2(c); }},
                            {"e2m1x2", 0x08, 0x08, 0x07, 4, [](uint8_t c) { return decode_e2m1(c); }}};
  for (const Format& f : formats) {
    const std::string t = std::string(".") + f.name;
    Form to("cvt.rn.satfinite" + t + ".f32"), relu("cvt.rn.satfinite.relu" + t + ".f32"), from("cvt.rn.f16x2" + t);
    const auto code = [&](float x) {
      return std::isnan(x) ? f.nan
                           : search([&](uint32_t c) { return f.decode(static_cast<uint8_t>(c)); }, f.codes, f.sign,
                                    std::clamp(x, -1e6f, 1e6f), true);
    };
    std::vector<uint32_t> values = edge_floats(60);
    for (int i = -60; i < 60; ++i) values.push_back(std::bit_cast<uint32_t>(static_cast<float>(i) / 8));
    for (const uint32_t a : values) {
      INFO(f.name << " " << std::hex << a);
      REQUIRE(to(a, 0x3f800000u) == (code(f32(a)) << f.width | code(1.0f)));
      REQUIRE(to(0x3f800000u, a) == (code(1.0f) << f.width | code(f32(a))));
      if (!std::isnan(f32(a)))
        REQUIRE(relu(a, 0xbf800000u) == (std::signbit(f32(a)) ? 0 : code(f32(a)) << f.width));
    }
    for (uint32_t c = 0; c < 2 * f.codes; ++c) {
      const float v = f.decode(static_cast<uint8_t>(c));
      REQUIRE(from(c << f.width | 1) ==
              (static_cast<uint32_t>(cvt_rn_f16_f32(v)) << 16 | cvt_rn_f16_f32(f.decode(1))));
    }
  }
  CHECK(Form("cvt.rn.satfinite.e4m3x2.f16x2")(0x3c00c000) == 0x38c0u);
}

TEST_CASE("ue8m0 scale factors") {
  Form up("cvt.rp.satfinite.ue8m0x2.f32"), down("cvt.rz.satfinite.ue8m0x2.f32"),
      halves("cvt.rp.satfinite.ue8m0x2.bf16x2"), back("cvt.rn.bf16x2.ue8m0x2");
  CHECK(up(0x40400000u, 0x3f800000u) == 0x817fu);  // 3 -> 4, 1
  CHECK(down(0x40400000u, 0x3f800000u) == 0x807fu);
  CHECK(up(0x7f7fffffu, 0) == 0xfe00u);
  CHECK(up(0x7fc00000u, 0x00000001u) == 0xff00u);
  CHECK(halves(0x40403f80u) == 0x817fu);
  CHECK(back(0x817fu) == 0x40803f80u);
  CHECK(back(0xff00u) == 0x7fff0040u);
}

TEST_CASE("cvt.pack clamps two integers and puts them below a third") {
  CHECK(Form("cvt.pack.sat.u16.s32")(70000, 0xffffffff) == 0xffff0000u);
  CHECK(Form("cvt.pack.sat.s16.s32")(70000, 0xffff0000) == 0x7fff8000u);
  CHECK(Form("cvt.pack.sat.u8.s32.b32")(300, 5, 0x1234abcd) == 0xabcdff05u);
  CHECK(Form("cvt.pack.sat.s4.s32.b32")(9, 0xfffffff0, 0x12345678) == 0x34567878u);
  CHECK(Form("cvt.pack.sat.u2.s32.b32")(2, 9, 1) == 0x1bu);
}

TEST_CASE("cvt of whole warps gives each f16, and f32 between two of them, what it gives a lane alone",
          "[instruction sets]") {
  const std::string body = ".reg .f32 %f<3>; .reg .b16 %h<3>;\ncvt.f32.f16 %f1, %h1;\ncvt.rn.f16.f32 %h2, %f2;\n";
  ScalarMachine whole(body), alone(body);
  const auto narrow = whole.find("%h1"), widened = whole.find("%f1"), wide = whole.find("%f2"),
             narrowed = whole.find("%h2");
  int unlike = 0;
  for (uint32_t first = 0; first < 1u << 16; first += kLanes)
    for (int nudge = -1; nudge <= 1; ++nudge) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const uint32_t half = first + static_cast<uint32_t>(lane);
        // Halfway to the next one, as a normal number, or a place less or more.
        const uint32_t magnitude = ((half & 0x7fff) << 13) + (112u << 23) + 0x1000 + static_cast<uint32_t>(nudge);
        for (ScalarMachine* machine : {&whole, &alone}) {
          machine->file().write<uint32_t>(narrow.row)[lane] = half | 0xabcd0000u;  // above it: means nothing
          machine->file().write<uint32_t>(wide.row)[lane] = (half & 0x8000) << 16 | magnitude;
        }
      }
      whole.run();
      for (int lane = 0; lane < kLanes; ++lane) alone.run(1u << lane);
      for (int lane = 0; lane < kLanes; ++lane)
        unlike += whole.get(widened, lane) != alone.get(widened, lane) ||
                  whole.get(narrowed, lane) != alone.get(narrowed, lane);
    }
  CHECK(unlike == 0);
}
