// SPDX-License-Identifier: Apache-2.0
/// ld and st without models, whose lanes are side by side, at one place or anywhere: the bytes are those that each
/// lane alone would move, and who is outside or not aligned is told by its lane.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "catch.h"
#include "sim/ptx/functional_launch.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr uint32_t kBytes = 4096, kLanes = 32;

struct Shape {
  const char* type;
  uint32_t bytes, elements;
  bool wide;  ///< in 64-bit registers
};
constexpr Shape kShapes[] = {{"u8", 1, 1, false},  {"s8", 1, 1, false},  {"u16", 2, 1, false}, {"s16", 2, 1, false},
                             {"u32", 4, 1, false}, {"f32", 4, 1, false}, {"s8", 1, 1, true},   {"u16", 2, 1, true},
                             {"s32", 4, 1, true},  {"u32", 4, 1, true},  {"u64", 8, 1, true},  {"u8", 1, 4, false},
                             {"s16", 2, 2, false}, {"u32", 4, 2, false}, {"f32", 4, 4, false}, {"u64", 8, 2, true},
                             {"s32", 4, 2, true},  {"u32", 4, 8, false}, {"u64", 8, 4, true}};

/// Where each lane's bytes begin, in units of what a lane moves.
std::vector<uint32_t> lanes_of(int pattern) {
  std::vector<uint32_t> at(kLanes);
  std::iota(at.begin(), at.end(), 3u);
  switch (pattern) {
    case 0: break;                                       // side by side
    case 1: std::fill(at.begin(), at.end(), 5u); break;  // one place
    case 2: std::reverse(at.begin(), at.end()); break;   // backwards
    case 3: at[31] = 2; break;                           // side by side but for one
    case 4:
      for (uint32_t& a : at) a = a / 2;
      break;  // two at each place
    case 5:
      for (uint32_t& a : at) a = a * 7 % 40;
      break;  // anywhere
    default:
      for (uint32_t i = 0; i < kLanes; ++i) at[i] = i % 16 + i / 16 * 20;  // two runs
  }
  return at;
}
constexpr int kPatterns = 7;

/// Bytes of data are copied to shared memory (if `shared`), lanes of a mask load or store registers, and what
/// registers and memory hold then is written out.
std::string kernel(const Shape& s, bool store, bool shared) {
  const char* reg = s.wide ? "%d" : s.type[0] == 'f' ? "%f" : "%r";
  const char* bits = s.wide ? "b64" : "b32";
  const uint32_t width = s.wide ? 8 : 4;
  std::string registers, before, after;
  for (uint32_t e = 0; e < s.elements; ++e) {
    registers += fmt::format("{}{}{}", e ? ", " : "", reg, e);
    before += fmt::format("ld.global.{} {}{}, [%o+{}];\n", bits, reg, e, e * width);
    after += fmt::format("st.global.{} [%o+{}], {}{};\n", bits, e * width, reg, e);
  }
  const std::string vector = s.elements > 1 ? fmt::format(".v{}", s.elements) : "";
  if (s.elements > 1) registers = "{" + registers + "}";
  const std::string base = shared ? "%s" : "%a", space = shared ? "shared" : "global";
  const std::string move =
      store ? fmt::format("@%p st.{}{}.{} [{}+32], {};\n", space, vector, s.type, base, registers)
            : fmt::format("@%p ld.{}{}.{} {}, [{}+32];\n", space, vector, s.type, registers, base);
  std::string in, out;
  for (uint32_t at = 0; shared && at < kBytes; at += 4 * kLanes) {
    in += fmt::format("ld.global.b32 %t, [%c+{}];\nst.shared.b32 [%l+{}], %t;\n", at, at);
    out += fmt::format("ld.shared.b32 %t, [%l+{}];\nst.global.b32 [%c+{}], %t;\n", at, at);
  }
  return fmt::format(
      ".visible .entry k(.param .u64 data, .param .u64 places, .param .u64 out, .param .u32 mask)\n{{\n"
      ".reg .b64 %d<8>, %a, %b, %c, %o, %x; .reg .b32 %r<8>, %t, %l, %s, %m; .reg .f32 %f<8>; .reg .pred %p;\n"
      ".shared .align 128 .b8 tile[{}];\n"
      "mov.u32 %t, %tid.x; ld.param.u32 %m, [mask]; shr.u32 %m, %m, %t; and.b32 %m, %m, 1;\n"
      "setp.ne.u32 %p, %m, 0;\n"
      "ld.param.u64 %a, [data]; mul.wide.u32 %x, %t, 4; add.s64 %c, %a, %x; mov.u32 %l, tile; mov.u32 %s, tile;\n"
      "shl.b32 %m, %t, 2; add.u32 %l, %l, %m;\n"
      "ld.param.u64 %b, [places]; add.s64 %b, %b, %x; ld.global.u32 %t, [%b];\n"
      "cvt.u64.u32 %x, %t; add.s64 %a, %a, %x; add.u32 %s, %s, %t;\n"
      "mov.u32 %t, %tid.x; ld.param.u64 %o, [out]; mul.wide.u32 %x, %t, 64; add.s64 %o, %o, %x;\n"
      "{}{}{}{}{}ret;\n}}\n",
      kBytes, in, before, move, after, out);
}

struct Buffers {
  explicit Buffers(FunctionalProgram& p)
      : data(p.memory.allocate(kBytes)),
        places(p.memory.allocate(4 * kLanes)),
        out(p.memory.allocate(64 * kLanes)) {}
  uint64_t data, places, out;
};

void check(const Shape& s, bool store, bool shared, int pattern, uint32_t mask) {
  INFO((store ? "st." : "ld.") << (shared ? "shared." : "global.") << "v" << s.elements << "." << s.type
                               << (s.wide ? " of 64-bit registers" : "") << ", pattern " << pattern << ", mask "
                               << std::hex << mask);
  FunctionalProgram program(kernel(s, store, shared));
  const Buffers to(program);
  const uint32_t of_lane = s.bytes * s.elements, width = s.wide ? 8 : 4;
  std::vector<uint8_t> memory(kBytes), registers(64 * kLanes);
  for (uint32_t i = 0; i < kBytes; ++i)
    program.memory.at<uint8_t>(to.data, i) = memory[i] = uint8_t(i * 151 + i / 256);
  for (uint32_t i = 0; i < 64 * kLanes; ++i)
    program.memory.at<uint8_t>(to.out, i) = registers[i] = uint8_t(i * 89 + 7);
  const std::vector<uint32_t> places = lanes_of(pattern);
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    program.memory.at<uint32_t>(to.places, lane) = places[lane] * of_lane;
    if (!(mask >> lane & 1)) continue;
    for (uint32_t e = 0; e < s.elements; ++e) {
      uint8_t* const bytes = &memory[32 + places[lane] * of_lane + e * s.bytes];
      uint8_t* const value = &registers[64 * lane + e * width];
      if (store) {
        std::memcpy(bytes, value, s.bytes);
      } else {
        const bool negative = s.type[0] == 's' && bytes[s.bytes - 1] & 0x80;
        std::memset(value, negative ? 0xff : 0, width);
        std::memcpy(value, bytes, s.bytes);
      }
    }
  }
  const FunctionalResult result =
      program.run({1, 1, 1}, {kLanes, 1, 1}, Arguments() << to.data << to.places << to.out << mask);
  REQUIRE(result.text == "");
  CHECK(std::memcmp(&program.memory.at<uint8_t>(to.data), memory.data(), kBytes) == 0);
  CHECK(std::memcmp(&program.memory.at<uint8_t>(to.out), registers.data(), registers.size()) == 0);
}

/// What happens when `places` are the lanes' bytes of an ld.global.u32.
FunctionalResult load_at(std::vector<uint32_t> places) {
  FunctionalProgram program(kernel({"u32", 4, 1, false}, false, false));
  const Buffers to(program);
  for (uint32_t lane = 0; lane < kLanes; ++lane) program.memory.at<uint32_t>(to.places, lane) = places[lane] - 32;
  return program.run({1, 1, 1}, {kLanes, 1, 1}, Arguments() << to.data << to.places << to.out << 0xffffffffu);
}

/// Loads of u32 through the address registers %a and %s, which is of 32 bits and shared memory, each register
/// used again with other offsets, and stores of what they load: [out] {first, second, third, shared}.
std::string offsets(int64_t second, int64_t third, int64_t shared) {
  return fmt::format(
      ".visible .entry k(.param .u64 data, .param .u64 places, .param .u64 out)\n{{\n"
      ".reg .b64 %a, %b, %o, %x; .reg .b32 %r<5>, %t, %s;\n.shared .align 128 .b8 tile[512];\n"
      "mov.u32 %t, %tid.x; mul.wide.u32 %x, %t, 4; ld.param.u64 %b, [places]; add.s64 %b, %b, %x;\n"
      "ld.param.u64 %o, [out]; mul.wide.u32 %x, %t, 16; add.s64 %o, %o, %x;\n"
      "shl.b32 %s, %t, 2; mov.u32 %r1, tile; add.u32 %r2, %s, %r1; st.shared.u32 [%r2+128], %s;\n"
      "ld.global.u32 %t, [%b]; cvt.u64.u32 %x, %t; ld.param.u64 %a, [data]; add.s64 %a, %a, %x;\n"
      "sub.u32 %s, %r2, 65536;\n"
      "ld.shared.u32 %r4, [%s+65536];\n"
      "ld.global.u32 %r1, [%a];\n"
      "st.global.u32 [%o], %r1;\n"
      "ld.global.u32 %r2, [%a+{}];\n"
      "st.global.u32 [%o+4], %r2;\n"
      "ld.global.u32 %r3, [%a+{}];\n"
      "st.global.u32 [%o+8], %r3;\n"
      "ld.shared.u32 %r4, [%s+{}];\n"
      "st.global.u32 [%o+12], %r4;\nret;\n}}\n",
      second, third, shared);
}
struct Offsets {
  FunctionalResult result;
  std::vector<uint32_t> out;
};
/// Word i of the allocation is i, of the one a megabyte behind it 1000 + i; lanes lie at `places`.
Offsets at_offsets(const std::vector<uint32_t>& places, int64_t second, int64_t third,
                   int64_t shared = 65536 + 128) {
  FunctionalProgram program(offsets(second, third, shared));
  constexpr uint32_t kData = 256;
  const uint64_t data = program.memory.allocate(kData), next = program.memory.allocate(kData);
  const uint64_t to = program.memory.allocate(4 * kLanes), out = program.memory.allocate(16 * kLanes);
  REQUIRE(next - data == 1 << 20);
  for (uint32_t i = 0; i < kData / 4; ++i)
    program.memory.at<uint32_t>(data, i) = i, program.memory.at<uint32_t>(next, i) = 1000 + i;
  for (uint32_t lane = 0; lane < kLanes; ++lane) program.memory.at<uint32_t>(to, lane) = 4 * places[lane];
  Offsets seen{program.run({1, 1, 1}, {kLanes, 1, 1}, Arguments() << data << to << out), {}};
  for (uint32_t i = 0; i < 4 * kLanes; ++i) seen.out.push_back(program.memory.at<uint32_t>(out, i));
  return seen;
}

/// Loads and stores through two address registers, each used several times and written in between by all that can:
/// arithmetic, a load, an atomic, a shuffle; under guards and behind branches.  `order` of the loads and stores:
/// ".volatile" ones go lane by lane.
std::string chain(uint32_t seed, const std::string& order) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t n) { return uint32_t(random() % n); };
  std::string body;
  int labels = 0, open = -1, left = 0;
  for (int step = 0; step < 60; ++step) {
    const std::string d = fmt::format("%d{}", below(2)), r = fmt::format("%r{}", below(4));
    const std::string guard = below(5) == 0 ? fmt::format("@{}%q{} ", below(2) ? "!" : "", below(2)) : "";
    const uint32_t offset = 4 * below(8);
    switch (const uint32_t what = below(12); open >= 0 && what == 3 ? 2 : what) {  // shuffles by all lanes
      case 0: body += fmt::format("{}mov.b64 {}, %e{};\n", guard, d, below(4)); break;
      case 1: body += fmt::format("{}ld{}.global.u64 {}, [%t+{}];\n", guard, order, d, 8 * 32 * below(4)); break;
      case 2: body += fmt::format("{}atom.global.exch.b64 {}, [%t], {};\n", guard, d, d); break;
      case 3:
        body += fmt::format(
            "mov.b64 {{%r8, %r9}}, {};\nshfl.sync.bfly.b32 %r8, %r8, {}, 31, -1;\n"
            "mov.b64 {}, {{%r8, %r9}};\n",
            d, below(32), d);
        break;
      case 4:
        if (open < 0) body += fmt::format("@%q{} bra L{};\n", below(2), labels), open = labels++, left = 6;
        break;
      case 5:
      case 6:
      case 7: body += fmt::format("{}st{}.global.u32 [{}+{}], {};\n", guard, order, d, offset, r); break;
      case 8: body += fmt::format("{}add.u32 {}, {}, {};\n", guard, r, r, below(1000)); break;
      default: body += fmt::format("{}ld{}.global.u32 {}, [{}+{}];\n", guard, order, r, d, offset);
    }
    if (open >= 0 && --left <= 0 && body.ends_with(";\n")) body += fmt::format("L{}:\n", std::exchange(open, -1));
  }
  if (open >= 0) body += fmt::format("L{}:\n", open);
  return fmt::format(
      ".visible .entry k(.param .u64 data, .param .u64 table, .param .u64 out)\n{{\n"
      ".reg .b64 %d<2>, %e<4>, %t, %o, %x; .reg .b32 %r<10>, %l; .reg .pred %q<2>;\n"
      "mov.u32 %l, %tid.x; ld.param.u64 %d0, [data]; ld.param.u64 %t, [table]; ld.param.u64 %o, [out];\n"
      "mul.wide.u32 %x, %l, 8; add.s64 %t, %t, %x; mul.wide.u32 %x, %l, 16; add.s64 %o, %o, %x;\n"
      "mul.wide.u32 %x, %l, 4; add.s64 %e0, %d0, %x; mov.b64 %e1, %d0; mul.wide.u32 %x, %l, 8; add.s64 %e2, %d0, "
      "%x;\n"
      "xor.b32 %r0, %l, 21; mul.wide.u32 %x, %r0, 4; add.s64 %e3, %d0, %x; mov.b64 %d1, %e0;\n"
      "and.b32 %r0, %l, 3; setp.eq.u32 %q0, %r0, 0; setp.lt.u32 %q1, %l, 40;\n"
      "mov.u32 %r1, %l; mul.lo.u32 %r2, %l, 77; mov.u32 %r3, 5;\n{}"
      "st.global.v4.u32 [%o], {{%r0, %r1, %r2, %r3}};\nret;\n}}\n",
      body);
}
/// Memory after it; the table holds addresses of the data, some of them side by side.
std::vector<uint8_t> after_chain(uint32_t seed, const std::string& order) {
  constexpr uint32_t kData = 1024, kTable = 8 * 32 * 5, kOut = 16 * 32;
  FunctionalProgram program(chain(seed, order));
  const uint64_t data = program.memory.allocate(kData), table = program.memory.allocate(kTable),
                 out = program.memory.allocate(kOut);
  for (uint32_t i = 0; i < kData; ++i) program.memory.at<uint8_t>(data, i) = uint8_t(i * 151 + i / 256);
  for (uint32_t i = 0; i < kTable / 8; ++i)
    program.memory.at<uint64_t>(table, i) = data + (i / 32 % 2 ? 4 * (i * 13 % 61) : 4 * (i % 32));
  const FunctionalResult result = program.run({1, 1, 1}, {kLanes, 1, 1}, Arguments() << data << table << out);
  REQUIRE(result.text == "");
  std::vector<uint8_t> all;
  for (const auto& [at, bytes] : {std::pair{data, kData}, {table, kTable}, {out, kOut}})
    all.insert(all.end(), &program.memory.at<uint8_t>(at), &program.memory.at<uint8_t>(at) + bytes);
  return all;
}

}  // namespace

TEST_CASE("without models: address registers that are used again and written in between move the same bytes") {
  for (uint32_t seed = 0; seed < 400; ++seed) {
    INFO("seed " << seed << "\n" << chain(seed, ""));
    REQUIRE(after_chain(seed, "") == after_chain(seed, ".volatile"));
  }
}

TEST_CASE("without models: lanes side by side, at one place or anywhere move the same bytes as one by one") {
  for (const Shape& shape : kShapes)
    for (const bool store : {false, true})
      for (const bool shared : {false, true})
        for (int pattern = 0; pattern < kPatterns; ++pattern)
          for (const uint32_t mask : {0xffffffffu, 0x7fffffffu, 0x80000001u, 0x00f0f0f0u})
            check(shape, store, shared, pattern, mask);
}

TEST_CASE("without models: the lane that is outside or not aligned is named, also of lanes side by side") {
  std::vector<uint32_t> places(kLanes);
  for (uint32_t lane = 0; lane < kLanes; ++lane) places[lane] = kBytes - 128 + 4 * lane;
  CHECK(load_at(places).end == FunctionalEnd::finished);
  for (uint32_t& place : places) place += 12;
  FunctionalResult result = load_at(places);
  CHECK(result.end == FunctionalEnd::out_of_bounds);
  CHECK(result.lane == 29);
  for (uint32_t lane = 0; lane < kLanes; ++lane) places[lane] = 130 + 4 * lane;
  result = load_at(places);
  CHECK(result.end == FunctionalEnd::misaligned);
  CHECK(result.lane == 0);
  std::fill(places.begin(), places.end(), kBytes);
  result = load_at(places);
  CHECK(result.end == FunctionalEnd::out_of_bounds);
  CHECK(result.lane == 0);
}

TEST_CASE("without models: another offset of a known address register may reach another allocation, or none") {
  std::vector<uint32_t> side_by_side(kLanes), anywhere(kLanes);
  for (uint32_t lane = 0; lane < kLanes; ++lane) side_by_side[lane] = lane, anywhere[lane] = lane * 7 % 32;
  for (const std::vector<uint32_t>& places : {side_by_side, anywhere}) {
    const Offsets both = at_offsets(places, 1 << 20, 128);
    REQUIRE(both.result.text == "");
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      CHECK(both.out[4 * lane] == places[lane]);
      CHECK(both.out[4 * lane + 1] == 1000 + places[lane]);
      CHECK(both.out[4 * lane + 2] == places[lane] + 32);
      CHECK(both.out[4 * lane + 3] == 4 * lane);
    }
    // Some lanes beyond the end: the first of them is told, what came before has happened, and nothing after.
    const Offsets beyond = at_offsets(places, 128 + 20, 0);
    CHECK(beyond.result.end == FunctionalEnd::out_of_bounds);
    const auto over = std::find_if(places.begin(), places.end(), [](uint32_t place) { return place >= 27; });
    CHECK(beyond.result.lane == over - places.begin());
    CHECK(beyond.result.text.find("ld.global.u32 at test.ptx:16") != std::string::npos);
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      CHECK(beyond.out[4 * lane] == places[lane]);
      CHECK(beyond.out[4 * lane + 1] == 0);
    }
    const Offsets before = at_offsets(places, 0, -4);
    CHECK(before.result.end == FunctionalEnd::out_of_bounds);
    CHECK(before.result.lane == 0);
    CHECK(before.result.text.find("test.ptx:18") != std::string::npos);
    const Offsets odd = at_offsets(places, 2, 0);
    CHECK(odd.result.end == FunctionalEnd::misaligned);
    CHECK(odd.result.lane == 0);
    const Offsets shared = at_offsets(places, 0, 0, 65536 + 512 - 4);
    CHECK(shared.result.check == "SM1");
    CHECK(shared.result.lane == 1);
  }
}
