// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma.sp and .ws, and disabled output lanes: operands and metadata laid out element by element, products
// worked out in integers.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <random>

#include "catch.h"
#include "kernels/isa/number_formats.h"
#include "models/fixture.h"
#include "models/umma_numerics.h"
#include "models/umma_sparsity.h"

using namespace sm100;
using namespace sm100::models;

namespace {

constexpr uint32_t kTileA = 0x800, kTileB = 0x14000;
constexpr uint32_t kMetadata = 400, kAInTmem = 440, kSfa = 300, kSfb = 320;

struct Variant {
  MmaKind kind = MmaKind::f16;
  DataType type = DataType::f16;
  int m = 128, n = 64, cta_group = 1;
  bool sp = false, ws = false;
  bool a_in_tmem = false;
  uint32_t selector = 0;
  Accumulation accumulation = Accumulation::fast;

  int k() const { return mma_k(kind, sp); }
  int stored_k() const { return mma_k(kind); }
  ScaleVec vec() const { return usual_scale_vec(kind); }
  int rows() const { return m / cta_group; }
};

/// The code of a small number that the type has.
uint32_t code_of(DataType type, double value) {
  switch (type) {
    case DataType::f16: return cvt_rn_f16_f32(float(value));
    case DataType::bf16: return cvt_rn_bf16_f32(float(value));
    case DataType::tf32: return as_bits(float(value));
    default:
      for (uint32_t code = 0; code < 256; ++code)
        if (double(decode(type, code)) == value) return code;
  }
  FAIL("no code");
  return 0;
}

int bits_of_element(DataType type) { return type == DataType::e2m1 ? 4 : int(element_bits(type)); }

class Machine {
 public:
  explicit Machine(const Variant& v)
      : v(v), tmem{{0, bank[0], observer}, {1, bank[1], observer}}, numerics(v.accumulation, smem[0], tmem[0]) {
    for (int cta = 0; cta < 2; ++cta) {
      smem[cta].start_cta(200 * 1024, true);
      tmem[cta].alloc(512, waiter, {});
    }
    numerics.set_pair({&smem[0], &tmem[0]}, {&smem[1], &tmem[1]});
    // All scale factors are 1.
    const uint32_t one = v.kind == MmaKind::mxf4nvf4 ? 0x38383838 : 0x7f7f7f7f;
    for (int cta = 0; cta < 2 && is_block_scaled(v.kind); ++cta)
      for (uint32_t lane = 0; lane < 128; ++lane)
        for (uint32_t column = kSfa; column < kSfb + 8; ++column) tmem[cta].cell(lane, column) = one;
  }

  /// Element (i, k) of an operand in shared memory, K-major without swizzle.
  void put(bool a, int cta, int rows, int i, int k, double value) {
    const int bits = bits_of_element(v.type), at = k * bits;
    const uint32_t address = (a ? kTileA : kTileB) + uint32_t(i / 8 * 128 + i % 8 * 16 + at / 128 * rows * 16);
    put_bits(smem[cta].data(address), at % 128, bits, code_of(v.type, value));
  }
  /// Stored element (row i of the CTA, k) of A in tensor memory: where its D begins.
  void put_in_tmem(int cta, int lane, int k, double value) {
    const int bits = bits_of_element(v.type), at = k * bits;
    put_bits(reinterpret_cast<uint8_t*>(&tmem[cta].cell(uint32_t(lane), kAInTmem + uint32_t(at / 32))), at % 32,
             bits, code_of(v.type, value));
  }

  /// Bits of the chunk that element k of row r is in.  As the layouts of CuTe's metadata atoms: offsets in bits in
  /// 128 lanes of 128.
  void put_metadata(int cta, int r, int k, uint32_t bits) {
    int at;
    switch (v.kind) {
      case MmaKind::f16: at = r % 8 * 128 + r / 8 % 2 * 16 + r / 16 * 2048 + k % 16 + k / 16 % 2 * 1024; break;
      case MmaKind::tf32: at = r % 8 * 128 + r / 8 % 2 * 16 + r / 16 * 2048 + k % 8 * 2 + k / 8 % 2 * 1024; break;
      case MmaKind::mxf4:
      case MmaKind::mxf4nvf4: at = r * 128 + k / 2; break;
      default: at = r * 128 + k;
    }
    // M = 64: 16 lanes of each 32, an assumption.
    const int lane = v.m == 64 && !v.ws ? at / 2048 * 32 + at / 128 % 16 : at / 128;
    uint32_t& cell = tmem[cta].cell(uint32_t(lane), kMetadata + v.selector + uint32_t(at % 128 / 32));
    const int shift = at % 32;
    cell = (cell & ~(0xfu << shift)) | bits << shift;
  }

  MmaOperation operation() {
    const auto tile = [](uint32_t at, int rows) {
      return decode(make_smem_descriptor({at}, uint32_t(rows) * 16, 128, Swizzle::none));
    };
    InstrDescriptor idesc = make_instr_descriptor(v.kind, v.type, v.type, DataType::f32, v.m, v.n);
    if (v.sp) idesc.bits |= 4 | v.selector;
    const InstrDescriptorFields fields = decode(idesc, v.kind);
    const MmaModifiers modifiers{.sp = v.sp, .ws = v.ws};
    REQUIRE(message(validate(fields, v.kind, v.cta_group, v.vec(), modifiers)) == std::string("ok"));
    MmaOperation op{.kind = v.kind,
                    .cta_group = v.cta_group,
                    .scale_vec = v.vec(),
                    .idesc = fields,
                    .m = v.m,
                    .n = v.n,
                    .d = TmemAddr::at(0, 0),
                    .a_in_tmem = v.a_in_tmem,
                    .a_tmem = TmemAddr::at(0, kAInTmem),
                    .a = tile(kTileA, v.rows()),
                    .b = tile(kTileB, v.n / v.cta_group),
                    .sfa = TmemAddr::at(0, kSfa),
                    .sfb = TmemAddr::at(0, kSfb),
                    .enable_input_d = false};
    op.modifiers = modifiers;
    op.metadata = TmemAddr::at(0, kMetadata);
    return op;
  }

  /// D(m, n), where PTX has it.
  uint32_t& d(int m, int n) {
    if (v.ws && v.m < 128) {
      const int parts = v.m == 64 ? 2 : 4, part = v.n / parts;
      return tmem[0].cell(uint32_t(m + n / part * v.m), uint32_t(n % part));
    }
    if (v.cta_group == 2) return tmem[m / 128].cell(uint32_t(m % 128), uint32_t(n));
    return tmem[0].cell(uint32_t(v.m == 64 ? m % 16 + m / 16 * 32 : m), uint32_t(n));
  }
  double value(int m, int n) {
    return v.kind == MmaKind::i8 ? double(int32_t(d(m, n))) : double(as_float(d(m, n)));
  }

  Variant v;
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
};

/// Whole numbers that every type has.
double number(std::mt19937& random) {
  static constexpr double kNumbers[] = {-3, -2, -1, 1, 2, 3, 4};
  return kNumbers[random() % 7];
}

struct Matrices {
  std::vector<double> a, b;  ///< m x k with zeros, n x k
};

/// Lays out random operands; A of a sparse one has half of its elements.
Matrices place(Machine& machine, std::mt19937& random) {
  const Variant& v = machine.v;
  const int k = v.k(), rows_b = v.n / v.cta_group;
  Matrices all{std::vector<double>(size_t(v.m * k)), std::vector<double>(size_t(v.n * k))};
  const int chunk = !v.sp ? 1 : v.kind == MmaKind::tf32 ? 2 : is_block_scaled(v.kind) && k == 128 ? 8 : 4;
  for (int m = 0; m < v.m; ++m) {
    const int cta = m / v.rows(), r = m % v.rows();
    const int lane = v.m == 64 && !v.ws ? r % 16 + r / 16 * 32 : r;
    int stored = 0;
    const auto store = [&](int at) {
      const double value = number(random);
      all.a[size_t(m * k + at)] = value;
      if (v.a_in_tmem)
        machine.put_in_tmem(cta, lane, stored++, value);
      else
        machine.put(true, cta, v.rows(), r, stored++, value);
    };
    for (int at = 0; at < k; at += chunk) {
      if (chunk == 1) {
        store(at);
        continue;
      }
      uint32_t first = random() % 4, second = random() % 4;
      while (first == second) second = random() % 4;
      if (first > second) std::swap(first, second);
      uint32_t bits = first | second << 2;
      if (chunk == 2) bits = random() % 2 == 0 ? 0b0100 : 0b1110;
      if (chunk == 2) store(at + (bits == 0b1110 ? 1 : 0));
      if (chunk == 4) store(at + int(first)), store(at + int(second));
      if (chunk == 8)
        for (const uint32_t pair : {first, second}) store(at + 2 * int(pair)), store(at + 2 * int(pair) + 1);
      machine.put_metadata(cta, r, at, bits);
    }
  }
  for (int n = 0; n < v.n; ++n)
    for (int at = 0; at < k; ++at)
      machine.put(false, n / rows_b, rows_b, n % rows_b, at, all.b[size_t(n * k + at)] = number(random));
  return all;
}

double sum(const Variant& v, const Matrices& all, int m, int n) {
  double s = 0;
  for (int at = 0; at < v.k(); ++at) s += all.a[size_t(m * v.k() + at)] * all.b[size_t(n * v.k() + at)];
  return s;
}

void check(const Variant& v, uint32_t seed) {
  INFO(fmt::format("{} M {} N {} group {} sp {} ws {} tmem {}", name(v.kind), v.m, v.n, v.cta_group, v.sp, v.ws,
                   v.a_in_tmem));
  std::mt19937 random(seed);
  Machine machine(v);
  const Matrices all = place(machine, random);
  const MmaOperation operation = machine.operation();
  REQUIRE(UmmaNumerics::layouts_modelled(operation));
  machine.numerics.execute(std::array{operation});
  CHECK(!machine.numerics.take_metadata_error());
  int wrong = 0;
  for (int m = 0; m < v.m; ++m)
    for (int n = 0; n < v.n; ++n) wrong += machine.value(m, n) != sum(v, all, m, n);
  CHECK(wrong == 0);
}

const std::pair<MmaKind, DataType> kTypes[] = {
    {MmaKind::f16, DataType::f16},     {MmaKind::f16, DataType::bf16},     {MmaKind::tf32, DataType::tf32},
    {MmaKind::f8f6f4, DataType::e4m3}, {MmaKind::i8, DataType::s8},        {MmaKind::mxf8f6f4, DataType::e5m2},
    {MmaKind::mxf4, DataType::e2m1},   {MmaKind::mxf4nvf4, DataType::e2m1}};

}  // namespace

TEST_CASE("tcgen05.mma.sp multiplies the elements that the metadata name", "[umma][sparse]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  uint32_t seed = 1;
  for (const auto& [kind, type] : kTypes)
    for (const bool a_in_tmem : {false, true}) {
      Variant v{.kind = kind, .type = type, .sp = true, .a_in_tmem = a_in_tmem, .accumulation = accumulation};
      check(v, seed++);
      v.n = 208;
      check(v, seed++);
      v.m = 256, v.cta_group = 2, v.n = 64;
      check(v, seed++);
      if (is_block_scaled(kind)) continue;
      v.m = 64, v.cta_group = 1;
      check(v, seed++);
      if (kind == MmaKind::f16 || kind == MmaKind::tf32) v.m = 128, v.selector = 1, check(v, seed++);
    }
}

TEST_CASE("tcgen05.mma.ws has D in halves and quarters of the lanes, dense and sparse", "[umma]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  uint32_t seed = 100;
  for (const auto& [kind, type] : kTypes) {
    if (is_block_scaled(kind)) continue;
    for (const int m : {32, 64, 128})
      for (const int n : {64, 128, 256})
        for (const bool sp : {false, true})
          for (const bool a_in_tmem : {false, true})
            if (!(sp && n == 256) && (n == 64 || seed % 4 == 0 || kind == MmaKind::f16))
              check({.kind = kind,
                     .type = type,
                     .m = m,
                     .n = n,
                     .sp = sp,
                     .ws = true,
                     .a_in_tmem = a_in_tmem,
                     .accumulation = accumulation},
                    seed++);
  }
}

TEST_CASE("a sparse A meets no element of B where it has none, whatever is there", "[umma][sparse]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  const Variant v{.sp = true, .accumulation = accumulation};
  std::mt19937 random(7);
  Machine machine(v);
  const Matrices all = place(machine, random);
  constexpr int kNan = 5;  // along K, of column 3
  machine.put(false, 0, v.n, 3, kNan, 0);
  const uint32_t nan = 0x7e00;
  std::memcpy(
      machine.smem[0].data(kTileB + 3 % 8 * 16 + uint32_t(kNan) * 16 / 128 * uint32_t(v.n) * 16 + kNan % 8 * 2),
      &nan, 2);
  machine.numerics.execute(std::array{machine.operation()});
  int nans = 0, wrong = 0;
  for (int m = 0; m < v.m; ++m)
    for (int n = 0; n < v.n; ++n) {
      const bool meets = n == 3 && all.a[size_t(m * v.k() + kNan)] != 0;
      if (meets)
        nans += std::isnan(machine.value(m, n));
      else
        wrong += machine.value(m, n) != (n == 3 ? sum(v, all, m, n) : sum(v, all, m, n));
    }
  int meeting = 0;
  for (int m = 0; m < v.m; ++m) meeting += all.a[size_t(m * v.k() + kNan)] != 0;
  CHECK(meeting > 0);
  CHECK(nans == meeting);
  CHECK(wrong == 0);
}

TEST_CASE("metadata that PTX does not define are reported, and do no harm where A is zero", "[umma][sparse]") {
  std::mt19937 random(8);
  for (const MmaKind kind : {MmaKind::f16, MmaKind::tf32}) {
    Machine machine({.kind = kind, .type = kind == MmaKind::f16 ? DataType::f16 : DataType::tf32, .sp = true});
    place(machine, random);
    machine.put_metadata(0, 17, 8, kind == MmaKind::f16 ? 0b0110 : 0b1001);
    machine.numerics.execute(std::array{machine.operation()});
    const auto error = machine.numerics.take_metadata_error();
    REQUIRE(error);
    CHECK(error->text.find("row 17 of A") != std::string::npos);
    CHECK(error->text.find(kind == MmaKind::f16
                               ? "0b0110 for chunk 2 of K, in lane 17, column 400"
                               : "0b1001 for chunk 4 of K, in lane 25, column 400") != std::string::npos);
    CHECK(!machine.numerics.take_metadata_error());
  }
}

TEST_CASE("a sparse MMA that accumulates is one product with the next", "[umma][sparse]") {
  const Variant v{.kind = MmaKind::f8f6f4, .type = DataType::e4m3, .sp = true};
  std::mt19937 random(9);
  Machine machine(v);
  const Matrices all = place(machine, random);
  MmaOperation first = machine.operation(), second = first;
  second.enable_input_d = true;
  machine.numerics.execute(std::array{first, second});
  int wrong = 0;
  for (int m = 0; m < v.m; ++m)
    for (int n = 0; n < v.n; ++n) wrong += machine.value(m, n) != 2 * sum(v, all, m, n);
  CHECK(wrong == 0);
}

TEST_CASE("disabled output lanes stay as they are", "[umma]") {
  const auto accumulation = GENERATE(Accumulation::fast, Accumulation::b200);
  for (const auto& [m, group] : {std::pair{128, 1}, {64, 1}, {256, 2}}) {
    const Variant v{.m = m, .n = 32, .cta_group = group, .accumulation = accumulation};
    std::mt19937 random(10);
    Machine machine(v);
    const Matrices all = place(machine, random);
    MmaOperation op = machine.operation();
    for (uint32_t& word : op.disabled_lanes) word = random();
    for (int cta = 0; cta < 2; ++cta)
      for (uint32_t lane = 0; lane < 128; ++lane)
        for (uint32_t column = 0; column < 32; ++column) machine.tmem[cta].cell(lane, column) = 0xabc;
    machine.numerics.execute(std::array{op});
    int wrong = 0;
    for (int row = 0; row < m; ++row)
      for (int n = 0; n < v.n; ++n) {
        const int lane = m == 64 ? row % 16 + row / 16 * 32 : row % 128;
        const bool kept = op.disabled_lanes[size_t(row / 128 * 4 + lane / 32)] >> lane % 32 & 1;
        wrong += kept ? machine.d(row, n) != 0xabc : machine.value(row, n) != sum(v, all, row, n);
      }
    CHECK(wrong == 0);
  }
}

namespace {

/// sc0, fs0 and the two spans, of all four sub-masks.
ZeroColumnMask zero_columns(uint32_t skip_bits, uint32_t starts_zeroed, uint32_t zeroed, uint32_t used) {
  uint64_t bits = uint64_t{1} << 39 | uint64_t{zeroed - 1} << 40 | uint64_t{used - 1} << 48;
  for (int part = 0; part < 4; ++part)
    bits |= uint64_t{skip_bits} << (8 * part) | uint64_t{starts_zeroed} << (32 + part);
  return {bits};
}

std::string pattern(ZeroColumnMask mask, int m, int N, int count) {
  std::string text;  // the lowest bit last, as PTX writes it
  for (int n = count - 1; n >= 0; --n) text += is_zero_column(mask, m, n, N) ? '1' : '0';
  return text;
}

}  // namespace

TEST_CASE("the zero-column mask of .ws: PTX's examples, and each part begins anew", "[umma]") {
  CHECK(pattern(zero_columns(0, 0, 3, 4), 128, 64, 14) == "11100001110000");
  CHECK(pattern(zero_columns(0, 1, 3, 4), 128, 64, 10) == "1110000111");
  CHECK(pattern(zero_columns(1, 1, 3, 4), 128, 64, 13) == "0000111000011");
  CHECK(pattern({0}, 128, 64, 8) == "00000000");
  for (const int parts : {2, 4})
    for (int n = 0; n < 64; ++n)
      CHECK(is_zero_column(zero_columns(0, 0, 3, 4), 128 / parts, n, 64) ==
            is_zero_column(zero_columns(0, 0, 3, 4), 128, n % (64 / parts), 64));
}

TEST_CASE("zeroed columns of B make zeros of D", "[umma]") {
  const int m = GENERATE(32, 64, 128);
  const Variant v{.m = m, .ws = true};
  std::mt19937 random(11);
  Machine machine(v);
  const Matrices all = place(machine, random);
  MmaOperation op = machine.operation();
  op.zero_columns = zero_columns(2, 0, 3, 5);
  machine.numerics.execute(std::array{op});
  int wrong = 0, zeroed = 0;
  for (int row = 0; row < m; ++row)
    for (int n = 0; n < v.n; ++n) {
      const bool zero = is_zero_column(op.zero_columns, m, n, v.n);
      zeroed += zero;
      wrong += machine.value(row, n) != (zero ? 0 : sum(v, all, row, n));
    }
  CHECK(wrong == 0);
  CHECK(zeroed > 0);
}

TEST_CASE("instruction descriptors of .sp and .ws", "[umma]") {
  using Error = InstrDescriptorError;
  const auto made = [](MmaKind kind, DataType type, int m, int n, uint32_t more = 0) {
    return decode(InstrDescriptor{make_instr_descriptor(kind, type, type, DataType::f32, m, n).bits | more}, kind);
  };
  const auto of_f16 = [&](int m, int n, uint32_t more, int group, MmaModifiers modifiers) {
    return validate(made(MmaKind::f16, DataType::f16, m, n, more), MmaKind::f16, group, ScaleVec::none, modifiers);
  };
  CHECK(of_f16(128, 64, 4, 1, {}) == Error::sparse);
  CHECK(of_f16(128, 64, 0, 1, {.sp = true}) == Error::sparse);
  CHECK(of_f16(128, 64, 4, 1, {.sp = true}) == Error::none);
  CHECK(of_f16(128, 64, 5, 1, {.sp = true}) == Error::none);
  CHECK(of_f16(128, 64, 6, 1, {.sp = true}) == Error::selector);
  CHECK(of_f16(128, 64, 1, 1, {}) == Error::reserved_bits);
  CHECK(of_f16(32, 64, 0, 1, {.ws = true}) == Error::none);
  CHECK(of_f16(32, 64, 0, 1, {}) == Error::m_of_cta_group);
  CHECK(of_f16(64, 96, 0, 1, {.ws = true}) == Error::n_of_shape);
  CHECK(of_f16(64, 256, 0, 1, {.ws = true}) == Error::none);
  CHECK(of_f16(64, 256, 4, 1, {.sp = true, .ws = true}) == Error::n_of_shape);
  CHECK(of_f16(128, 64, 0, 2, {.ws = true}) == Error::ws);
  CHECK(of_f16(64, 64, 1u << 30, 1, {.ws = true}) == Error::shift);
  CHECK(of_f16(64, 64, 1u << 30, 1, {}) == Error::reserved_bits);
  CHECK(validate(made(MmaKind::i8, DataType::s8, 128, 64, 5), MmaKind::i8, 1, ScaleVec::none, {.sp = true}) ==
        Error::selector);
  CHECK(validate(made(MmaKind::mxf4, DataType::e2m1, 128, 64, 4), MmaKind::mxf4, 2, ScaleVec::x2, {.sp = true}) ==
        Error::m_of_cta_group);
}
