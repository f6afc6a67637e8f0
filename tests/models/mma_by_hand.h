// SPDX-License-Identifier: Apache-2.0
/// An MMA by hand: operands laid out bit by bit after PTX 9.7.16, and sums worked out apart from the code under
/// test, in exact integers and f64, formats from their exponent and mantissa widths.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <random>

#include "catch.h"
#include "models/fixture.h"
#include "models/umma_numerics.h"

namespace sm100::models {
namespace {  // NOLINT: of the one test that includes it

// ---- formats

struct Format {
  const char* name;
  DataType type;
  int exponent_bits, mantissa_bits, bias;  ///< of a float; exponent_bits 0: an integer
  int bits() const { return exponent_bits == 0 ? 8 : 1 + exponent_bits + mantissa_bits; }
};
const Format kE4m3{"e4m3", DataType::e4m3, 4, 3, 7}, kE5m2{"e5m2", DataType::e5m2, 5, 2, 15},
    kE2m3{"e2m3", DataType::e2m3, 2, 3, 1}, kE3m2{"e3m2", DataType::e3m2, 3, 2, 3},
    kE2m1{"e2m1", DataType::e2m1, 2, 1, 1}, kS8{"s8", DataType::s8, 0, 0, 0}, kU8{"u8", DataType::u8, 0, 0, 0};

int exponent_field(const Format& f, uint32_t code) {
  return int(code >> f.mantissa_bits & ((1u << f.exponent_bits) - 1));
}
/// The exponent with which a number takes part; a subnormal has that of the smallest normal number.
int exponent_of(const Format& f, uint32_t code) { return std::max(exponent_field(f, code), 1) - f.bias; }

double value_of(const Format& f, uint32_t code) {
  if (f.exponent_bits == 0) return f.type == DataType::s8 ? double(int8_t(code)) : double(code);
  const uint32_t mantissa = code & ((1u << f.mantissa_bits) - 1);
  const int exponent = exponent_field(f, code);
  if (f.type == DataType::e4m3 && (code & 0x7f) == 0x7f) return NAN;
  double magnitude =
      std::ldexp(mantissa + (exponent > 0 ? 1 << f.mantissa_bits : 0), exponent_of(f, code) - f.mantissa_bits);
  if (f.type == DataType::e5m2 && exponent == 31) magnitude = mantissa == 0 ? INFINITY : NAN;
  return code >> (f.bits() - 1) & 1 ? -magnitude : magnitude;
}

struct Number {
  double value;
  int exponent;  ///< with which it takes part
};
Number scale_of(bool ue8m0, uint8_t code) {
  if (ue8m0) return {code == 0xff ? NAN : std::ldexp(1, code - 127), code - 127};
  return {value_of(kE4m3, code & 0x7f), exponent_of(kE4m3, code & 0x7f)};
}

// ---- one MMA

constexpr uint32_t kTileA = 0x800, kTileB = 0x14000;  // both on 1024 bytes, 64 KiB apart and more

enum class Layout { none, b128, mn };  ///< K-major without swizzle, with 128B, MN-major without

struct Mma {
  MmaKind kind;
  Format a, b;
  ScaleVec vec = ScaleVec::none;
  bool ue8m0 = true;
  int m = 128, n = 40, cta_group = 1;
  bool a_in_tmem = false;
  Layout layout = Layout::none;
  uint32_t sfa_column = 260, sfb_column = 301;
  uint32_t sfa_id = 0, sfb_id = 0;
  bool negate_a = false, negate_b = false;
  bool f16_d = false, saturate = false;
  int scale_input_d = 0;  ///< of the second of two

  int k() const { return kind == MmaKind::mxf4 || kind == MmaKind::mxf4nvf4 ? 64 : 32; }
  bool nibbles() const { return k() == 64; }
  int blocks() const { return int(vec); }
};

/// Codes of the operands, and of their scale factors.
struct Operands {
  std::vector<uint32_t> a, b;     ///< m x k, n x k
  std::vector<uint8_t> sfa, sfb;  ///< m x blocks, n x blocks
  std::vector<uint8_t> sfb_odd;   ///< the same for the odd CTA of a pair, if it has others
};

class Machine {
 public:
  explicit Machine(Accumulation accumulation)
      : tmem{{0, bank[0], observer}, {1, bank[1], observer}}, numerics(accumulation, smem[0], tmem[0]) {
    for (int cta = 0; cta < 2; ++cta) {
      smem[cta].start_cta(200 * 1024, true);  // padding is not zero
      tmem[cta].alloc(512, waiter, {});
    }
    numerics.set_pair({&smem[0], &tmem[0]}, {&smem[1], &tmem[1]});
  }

  /// Lays out the operands and returns the MMA of them.
  MmaOperation place(const Mma& mma, const Operands& o) {
    const int rows_a = mma.m / mma.cta_group, rows_b = mma.n / mma.cta_group;
    for (int cta = 0; cta < mma.cta_group; ++cta) {
      for (int i = 0; i < rows_a; ++i)
        for (int k = 0; k < mma.k(); ++k) {
          const uint32_t code = o.a[size_t((cta * rows_a + i) * mma.k() + k)];
          if (mma.a_in_tmem)
            place_in_tmem(mma, cta, i, k, code);
          else
            place_in_smem(mma, mma.a, smem[cta], kTileA, rows_a, i, k, code);
        }
      for (int i = 0; i < rows_b; ++i)
        for (int k = 0; k < mma.k(); ++k)
          place_in_smem(mma, mma.b, smem[cta], kTileB, rows_b, i, k, o.b[size_t((cta * rows_b + i) * mma.k() + k)]);
      place_scales(mma, o, cta);
    }
    const auto descriptor = [&](uint32_t tile, int rows) {
      switch (mma.layout) {
        case Layout::none: return make_smem_descriptor({tile}, uint32_t(rows) * 16, 128, Swizzle::none);
        case Layout::b128: return make_smem_descriptor({tile}, 16, 1024, Swizzle::b128);
        case Layout::mn: return make_smem_descriptor({tile}, uint32_t(rows) * 8, 128, Swizzle::none);
      }
      return SmemDescriptor{};
    };
    const bool mn = mma.layout == Layout::mn;
    const InstrDescriptor idesc =
        mma.vec != ScaleVec::none
            ? make_block_scaled_instr_descriptor(mma.kind, mma.a.type, mma.b.type, mma.ue8m0, mma.m, mma.n,
                                                 mn && !mma.a_in_tmem, mn, mma.negate_a, mma.negate_b, mma.sfa_id,
                                                 mma.sfb_id)
            : make_instr_descriptor(mma.kind, mma.a.type, mma.b.type, mma.f16_d ? DataType::f16 : DataType::f32,
                                    mma.m, mma.n, mn && !mma.a_in_tmem, mn, mma.negate_a, mma.negate_b);
    const InstrDescriptor with_saturate{idesc.bits | uint32_t{mma.saturate} << 3};
    const InstrDescriptorFields fields = decode(with_saturate, mma.kind);
    REQUIRE(message(validate(fields, mma.kind, mma.cta_group, mma.vec)) == std::string("ok"));
    return {.kind = mma.kind,
            .cta_group = mma.cta_group,
            .scale_vec = mma.vec,
            .idesc = fields,
            .m = mma.m,
            .n = mma.n,
            .d = TmemAddr::at(0, 0),
            .a_in_tmem = mma.a_in_tmem,
            .a_tmem = TmemAddr::at(0, 480),
            .a = decode(descriptor(kTileA, rows_a)),
            .b = decode(descriptor(kTileB, rows_b)),
            // Bits above lane and column mean nothing: CuTe keeps the id there.
            .sfa = {mma.sfa_column | mma.sfa_id << 30},
            .sfb = {mma.sfb_column | mma.sfb_id << 30},
            .enable_input_d = false};
  }

  /// Bits of D(m, n).
  uint32_t& d(const Mma& mma, int m, int n) {
    if (mma.cta_group == 2 && mma.m == 256) return tmem[m / 128].cell(uint32_t(m % 128), uint32_t(n));
    if (mma.cta_group == 2) {
      const int half = mma.n / 2;
      return tmem[m / 64].cell(uint32_t(m % 64 + (n >= half ? 64 : 0)), uint32_t(n % half));
    }
    if (mma.m == 64) return tmem[0].cell(uint32_t(m % 16 + 32 * (m / 16)), uint32_t(n));
    return tmem[0].cell(uint32_t(m), uint32_t(n));
  }

  RecordingObserver observer;
  SharedMemory smem[2];
  TensorMemoryBank bank[2]{TensorMemoryBank(true), TensorMemoryBank(true)};
  Waiter waiter;
  TensorMemory tmem[2];
  UmmaNumerics numerics;

 private:
  static void put_bits(uint8_t* bytes, int first, int count, uint32_t code) {
    for (int bit = 0; bit < count; ++bit) {
      uint8_t& byte = bytes[(first + bit) / 8];
      const int at = (first + bit) % 8;
      byte = uint8_t((byte & ~(1 << at)) | int(code >> bit & 1) << at);
    }
  }
  static void place_in_smem(const Mma& mma, const Format& f, SharedMemory& smem, uint32_t tile, int rows, int i,
                            int k, uint32_t code) {
    uint32_t address, element;
    if (mma.layout == Layout::mn) {  // 16 elements along MN to a chunk, 8 rows of K 16 bytes apart
      address = tile + uint32_t(i / 16 * 128 + k / 8 * (rows * 8) + k % 8 * 16), element = uint32_t(i % 16);
    } else {
      const int per_chunk = mma.nibbles() ? 32 : 16, chunk = k / per_chunk;
      element = uint32_t(k % per_chunk);
      if (mma.layout == Layout::none) {
        address = tile + uint32_t(i / 8 * 128 + i % 8 * 16 + chunk * rows * 16);
      } else {
        address = tile + uint32_t(i / 8 * 1024 + i % 8 * 128 + chunk * 16);
        address ^= (address >> 7 & 7) << 4;
      }
    }
    put_bits(smem.data(address), int(element) * f.bits(), f.bits(), code);
  }
  void place_in_tmem(const Mma& mma, int cta, int i, int k, uint32_t code) {
    const Format& f = mma.a;
    const int per_cell = mma.nibbles() ? 8 : 4;
    const int first = mma.nibbles() ? k % 8 * 4 : k % 4 * 8 + (f.bits() == 4 ? 2 : 0);
    const auto put = [&](int lane) {
      put_bits(reinterpret_cast<uint8_t*>(&tmem[cta].cell(uint32_t(lane), uint32_t(480 + k / per_cell))), first,
               f.bits(), code);
    };
    if (mma.cta_group == 2 && mma.m == 128) return put(i), put(i + 64);
    put(mma.m == 64 ? i % 16 + 32 * (i / 16) : i);
  }
  void place_scales(const Mma& mma, const Operands& o, int cta) {
    if (mma.vec == ScaleVec::none) return;
    const int rows = mma.m / mma.cta_group, half = mma.n / 2;
    const bool halves = mma.cta_group == 2 && mma.m == 128;
    const std::vector<uint8_t>& sfb = cta == 1 && !o.sfb_odd.empty() ? o.sfb_odd : o.sfb;
    const auto put = [&](int lane, uint32_t column, uint32_t byte, uint8_t code) {
      put_bits(reinterpret_cast<uint8_t*>(&tmem[cta].cell(uint32_t(lane), column)), int(byte) * 8, 8, code);
    };
    for (int s = 0; s < mma.blocks(); ++s) {
      for (int r = 0; r < rows; ++r)
        for (int lane = r % 32; lane < 128; lane += 32)
          put(lane, mma.sfa_column + uint32_t(r / 32), mma.sfa_id + uint32_t(s),
              o.sfa[size_t((cta * rows + r) * mma.blocks() + s)]);
      for (int r = 0; r < mma.n; ++r) {
        const int row = halves ? r % half : r;
        const int first = halves && r >= half ? 64 : 0, last = halves ? first + 64 : 128;
        for (int lane = first + row % 32; lane < last; lane += 32)
          put(lane, mma.sfb_column + uint32_t(row / 32), mma.sfb_id + uint32_t(s),
              sfb[size_t(r * mma.blocks() + s)]);
      }
    }
  }
};

// ---- references

/// What the operands of an MMA mean.
class Reference {
 public:
  Reference(const Mma& mma, const Operands& o) : mma_(mma) {
    const auto decoded = [](const Format& f, const std::vector<uint32_t>& codes, double sign) {
      std::vector<Number> numbers;
      for (const uint32_t c : codes) numbers.push_back({sign * value_of(f, c), exponent_of(f, c)});
      return numbers;
    };
    const auto scales = [&](const std::vector<uint8_t>& codes) {
      std::vector<Number> numbers;
      for (const uint8_t c : codes) numbers.push_back(scale_of(mma.ue8m0, c));
      return numbers;
    };
    a_ = decoded(mma.a, o.a, mma.negate_a ? -1 : 1), b_ = decoded(mma.b, o.b, mma.negate_b ? -1 : 1);
    sfa_ = scales(o.sfa), sfb_ = scales(o.sfb), sfb_odd_ = o.sfb_odd.empty() ? sfb_ : scales(o.sfb_odd);
  }

  double product(int m, int n, int k) const { return a(m, k).value * b(n, k).value; }
  /// D(m, n) and the sum of the magnitudes that went into it, exact: terms are added as integers of 2^-90.
  struct Exact {
    double value, magnitude;
  };
  Exact exact(int m, int n, double old_d) const {
    using Wide = __int128;
    const auto fixed = [](double x) { return Wide(x * 0x1p52) << 38; };  // all terms are multiples of 2^-52
    Wide sum = fixed(old_d);
    Exact e{0, std::abs(old_d)};
    for (int k = 0; k < mma_.k(); ++k) {
      const double term = product(m, n, k) * scale(m, n, k).value;
      sum += fixed(term), e.magnitude += std::abs(term);
    }
    e.value = std::ldexp(double(sum), -90);
    return e;
  }
  /// D(m, n) as the published model of a B200 gives it.
  float b200(int m, int n, float old_d) const;

 private:
  const Number& a(int m, int k) const { return a_[size_t(m * mma_.k() + k)]; }
  const Number& b(int n, int k) const { return b_[size_t(n * mma_.k() + k)]; }
  /// The product of the two scale factors.
  Number scale(int m, int n, int k) const {
    if (mma_.vec == ScaleVec::none) return {1, 0};
    const int s = k / (mma_.k() / mma_.blocks());
    const bool odd = mma_.cta_group == 2 && m >= mma_.m / 2;
    const Number &x = sfa_[size_t(m * mma_.blocks() + s)],
                 &y = (odd ? sfb_odd_ : sfb_)[size_t(n * mma_.blocks() + s)];
    return {x.value * y.value, x.exponent + y.exponent};
  }
  Mma mma_;
  std::vector<Number> a_, b_, sfa_, sfb_, sfb_odd_;
};

/// x towards zero to f32.
float truncated(double x) {
  const float f = float(x);
  return std::abs(double(f)) > std::abs(x) ? std::nextafter(f, 0.f) : f;
}

float Reference::b200(int m, int n, float old_d) const {
  Number terms[33];
  int count = 0;
  if (mma_.nibbles())
    for (int k = 0; k < mma_.k(); k += 16) {
      double group = 0;
      for (int i = k; i < k + 16; ++i) group += product(m, n, i);
      terms[count++] = {group * scale(m, n, k).value, scale(m, n, k).exponent};
    }
  else
    for (int k = 0; k < mma_.k(); ++k)
      terms[count++] = {product(m, n, k) * scale(m, n, k).value,
                        a(m, k).exponent + b(n, k).exponent + scale(m, n, k).exponent};
  if (old_d != 0) terms[count++] = {double(old_d), std::max(std::ilogb(old_d), -126)};
  int largest = -126;
  for (int i = 0; i < count; ++i)
    if (terms[i].value != 0) largest = std::max(largest, terms[i].exponent);
  const int fraction = mma_.nibbles() ? 35 : 25;
  const double unit = std::ldexp(1, fraction - largest);
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += std::trunc(terms[i].value * unit);
  return truncated(sum / unit) + 0.f;
}

// ---- operands

/// @param spread  scale factors are within 2^-spread ... 2^spread
Operands random_operands(const Mma& mma, std::mt19937& random, int spread = 4) {
  const auto code = [&](const Format& f) {
    uint32_t c;
    do c = random() & ((1u << f.bits()) - 1);
    while (!std::isfinite(value_of(f, c)) || std::abs(value_of(f, c)) > 512);
    return c;
  };
  const auto scale = [&] {
    if (mma.ue8m0) return uint8_t(127 - spread + int(random() % uint32_t(2 * spread + 1)));
    return uint8_t(random() % 0x7f);
  };
  Operands o;
  for (int i = 0; i < mma.m * mma.k(); ++i) o.a.push_back(code(mma.a));
  for (int i = 0; i < mma.n * mma.k(); ++i) o.b.push_back(code(mma.b));
  for (int i = 0; i < mma.m * mma.blocks(); ++i) o.sfa.push_back(scale());
  for (int i = 0; i < mma.n * mma.blocks(); ++i) o.sfb.push_back(scale());
  return o;
}

/// All elements, and all scale factors, are the same.
Operands uniform_operands(const Mma& mma, uint32_t a, uint32_t b, uint8_t sfa, uint8_t sfb) {
  return {std::vector<uint32_t>(size_t(mma.m * mma.k()), a),
          std::vector<uint32_t>(size_t(mma.n * mma.k()), b),
          std::vector<uint8_t>(size_t(mma.m * mma.blocks()), sfa),
          std::vector<uint8_t>(size_t(mma.n * mma.blocks()), sfb),
          {}};
}

std::string name_of(const Mma& mma) {
  return std::string(name(mma.kind)) + " " + mma.a.name + " x " + mma.b.name + ", scale_vec " + name(mma.vec) +
         (mma.ue8m0 ? " ue8m0" : " ue4m3") + ", " + std::to_string(mma.m) + " x " + std::to_string(mma.n) +
         ", cta_group " + std::to_string(mma.cta_group) + (mma.a_in_tmem ? ", A in tensor memory" : "") +
         ", layout " + std::to_string(int(mma.layout)) + ", ids " + std::to_string(mma.sfa_id) + " " +
         std::to_string(mma.sfb_id);
}

/// Two MMAs in a row, the second of which adds, against the references.
void check_two(Accumulation accumulation, const Mma& mma, std::mt19937& random) {
  Machine machine(accumulation);
  const Operands first = random_operands(mma, random), second = random_operands(mma, random);
  INFO(name_of(mma) << (accumulation == Accumulation::fast ? ", fast" : ", b200"));
  const MmaOperation op = machine.place(mma, first);
  machine.numerics.execute({&op, 1});
  std::vector<float> old(size_t(mma.m * mma.n));
  const auto check = [&](const Operands& o, bool adds) {
    const Reference reference(mma, o);
    int wrong = 0;
    for (int m = 0; m < mma.m && wrong < 3; ++m)
      for (int n = 0; n < mma.n && wrong < 3; ++n) {
        float& old_d = old[size_t(m * mma.n + n)];
        const float got = std::bit_cast<float>(machine.d(mma, m, n));
        const float before = adds ? std::ldexp(old_d, -mma.scale_input_d) : 0;
        if (accumulation == Accumulation::b200) {
          const float want = reference.b200(m, n, before);
          if (std::bit_cast<uint32_t>(got) != std::bit_cast<uint32_t>(want)) {
            CAPTURE(m, n, adds, got, want);
            CHECK(got == want);
            ++wrong;
          }
        } else {
          const Reference::Exact want = reference.exact(m, n, before);
          if (!(std::abs(got - want.value) <= want.magnitude * 0x1p-20)) {
            CAPTURE(m, n, adds, got, want.value);
            CHECK(double(got) == want.value);
            ++wrong;
          }
        }
        old_d = got;
      }
    CHECK(wrong == 0);
  };
  check(first, false);
  MmaOperation adding = machine.place(mma, second);
  adding.enable_input_d = true;
  adding.scale_input_d = mma.scale_input_d;
  machine.numerics.execute({&adding, 1});
  check(second, true);
  CHECK_FALSE(machine.numerics.take_scale_error());
}

const Format kFormats[] = {kE4m3, kE5m2, kE2m3, kE3m2, kE2m1};

}  // namespace
}  // namespace sm100::models
