// SPDX-License-Identifier: Apache-2.0
#include "models/mma_sync.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "kernels/isa/lane_array.h"
#include "kernels/isa/number_formats.h"
#include "models/numerics/fused_dot.h"

namespace sm100::models {

namespace {

using Type = MmaSyncForm::Type;
using Sum = MmaSyncForm::Sum;
using BitOp = MmaSyncForm::BitOp;

constexpr int kMaxM = 16, kN = 8, kMaxK = 256;
constexpr int kGroupLanes = 4;  ///< lanes of one row of A, and of one column of B

struct TypeRow {
  Type type;
  std::string_view name;
  int bits;
};
constexpr TypeRow kTypes[] = {{Type::f16, ".f16", 16},  {Type::bf16, ".bf16", 16}, {Type::tf32, ".tf32", 32},
                              {Type::e4m3, ".e4m3", 8}, {Type::e5m2, ".e5m2", 8},  {Type::s8, ".s8", 8},
                              {Type::u8, ".u8", 8},     {Type::s4, ".s4", 4},      {Type::u4, ".u4", 4},
                              {Type::b1, ".b1", 1},     {Type::f64, ".f64", 64}};
constexpr int bits_of(Type type) {
  for (const TypeRow& row : kTypes)
    if (row.type == type) return row.bits;
  return 0;
}

/// Elements of one register.
int elements(Type type) { return std::max(1, 32 / bits_of(type)); }

bool is_integer(Type type) { return type == Type::s8 || type == Type::u8 || type == Type::s4 || type == Type::u4; }
bool is_fp8(Type type) { return type == Type::e4m3 || type == Type::e5m2; }

/// mma.sp: how many products one fused sum adds to the old D; the rest of an instruction are further sums, k
/// ascending.  As the dense instruction with as many products; assumed.
constexpr int sparse_sum_terms(Type type) { return type == Type::tf32 ? 8 : 16; }

/// Sparse A has twice the K; of 8-bit floats, one shape.
bool has_sparse_shape(const MmaSyncForm& f) {
  return f.m == 16 && bits_of(f.a) >= 4 && bits_of(f.a) <= 32 && (!is_fp8(f.a) || (f.k == 64 && f.d == Sum::f32));
}

/// K of the instructions that a pair of types has: of m16n8 two, or for f64 three, and of m8n8.
bool has_shape(const MmaSyncForm& f) {
  if (f.sparse && !has_sparse_shape(f)) return false;
  const int k = f.terms();
  switch (bits_of(f.a)) {
    case 64: return f.m == 16 ? k == 4 || k == 8 || k == 16 : k == 4;
    case 32: return f.m == 16 && (k == 4 || k == 8);
    case 16: return f.m == 16 && (k == 8 || k == 16);
    case 8: return f.m == 16 ? k == 16 || k == 32 : k == 16 && is_integer(f.a);
    case 4: return f.m == 16 ? k == 32 || k == 64 : k == 32;
    case 1: return f.m == 16 ? k == 128 || k == 256 : k == 128;
    default: return false;
  }
}

bool has_sum(const MmaSyncForm& f) {
  switch (f.a) {
    case Type::f16: return f.b == f.a && (f.d == Sum::f32 || f.d == Sum::f16);
    case Type::bf16:
    case Type::tf32: return f.b == f.a && f.d == Sum::f32;
    case Type::e4m3:
    case Type::e5m2: return is_fp8(f.b) && (f.d == Sum::f32 || f.d == Sum::f16);
    case Type::f64: return f.b == f.a && f.d == Sum::f64;
    case Type::b1: return f.b == f.a && f.d == Sum::s32 && f.bit_op != BitOp::none;
    default: return is_integer(f.b) && bits_of(f.a) == bits_of(f.b) && f.d == Sum::s32;
  }
}

std::optional<Sum> sum_named(std::string_view name) {
  if (name == ".f32") return Sum::f32;
  if (name == ".f16") return Sum::f16;
  if (name == ".s32") return Sum::s32;
  if (name == ".f64") return Sum::f64;
  return std::nullopt;
}
std::optional<Type> type_named(std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (row.name == name) return row.type;
  return std::nullopt;
}

uint64_t element_bits(uint64_t held, Type type, int e) {
  const int bits = bits_of(type);
  return bits == 64 ? held : held >> (bits * e) & ((uint64_t{1} << bits) - 1);
}

/// Of the types that are multiplied as f32.
DataType data_type(Type type) {
  switch (type) {
    case Type::f16: return DataType::f16;
    case Type::bf16: return DataType::bf16;
    case Type::tf32: return DataType::tf32;
    case Type::e4m3: return DataType::e4m3;
    default: return DataType::e5m2;
  }
}

int64_t integer_of(Type type, uint64_t bits) {
  switch (type) {
    case Type::s8: return int8_t(bits);
    case Type::s4: return int64_t(bits ^ 8) - 8;
    default: return int64_t(bits);
  }
}

int min_exponent(Type type) {
  switch (type) {
    case Type::f16:
    case Type::e5m2: return -14;
    case Type::e4m3: return -6;
    default: return -126;
  }
}

/// A row of A, or a column of B: the elements that a warp's registers hold of it, k ascending (PTX 9.7.14.5.1 to
/// 13). Register r of lane 4 * g + t holds k = 4 * elements * (r / rows) + elements * t + e of row g + 8 * (r %
/// rows).
template <class Value>
void gather(const uint64_t* held, int registers, int rows, Type type, int row, Value* to) {
  const int each = elements(type);
  for (int r = row / kN; r < registers; r += rows)
    for (int t = 0; t < kGroupLanes; ++t)
      for (int e = 0; e < each; ++e) {
        const uint64_t bits = element_bits(held[(kGroupLanes * (row % kN) + t) * registers + r], type, e);
        Value& value = to[kGroupLanes * each * (r / rows) + each * t + e];
        if constexpr (std::is_same_v<Value, float>)
          value = decode(data_type(type), uint32_t(bits));
        else if constexpr (std::is_same_v<Value, double>)
          value = std::bit_cast<double>(bits);
        else
          value = integer_of(type, bits);
      }
}

/// Bits of metadata of one register of A: two for each element, or each pair of 4-bit ones; four of tf32.
int metadata_bits(Type type) { return std::clamp(2 * elements(type), 4, 8); }

/// mma.sp: the row of B that an element of A meets, by the place that gather() gives it.  A register's elements are
/// of twice as many columns: two of each four, one of each two of tf32, two pairs of each eight of 4 bits (PTX
/// 9.7.14.6.1).  Of a group's lanes, the first that count hold metadata of register 0 of the group's lanes in turn,
/// or in 16 bits each of registers 0 and 1, the next those that follow (PTX 9.7.14.6.2.1 to 8).
void gather_rows_of_b(const MmaSyncForm& f, const MmaSparsity& sparsity, int row, uint8_t* to) {
  const int each = elements(f.a), registers = f.a_registers(), bits = metadata_bits(f.a);
  const int words = 32 / (kGroupLanes * bits);  // registers whose metadata a lane holds
  const int first = kGroupLanes * (row % kN) + sparsity.selector * f.metadata_lanes();
  for (int r = row / kN; r < registers; r += 2)
    for (int t = 0; t < kGroupLanes; ++t) {
      const uint64_t held = sparsity.metadata[first + r / words] >> bits * (kGroupLanes * (r % words) + t);
      const int place = each * (kGroupLanes * (r / 2) + t);
      for (int e = 0; e < each; ++e) {
        const auto index = [&](int i) { return int(held >> 2 * i & 3); };
        to[place + e] = uint8_t(2 * place + (each == 1   ? index(0) / 2
                                             : each == 8 ? 8 * (e / 4) + 2 * index(e / 2) + e % 2
                                                         : 4 * (e / 2) + index(e)));
      }
    }
}

template <class Value>
struct Operands {
  Value a[kMaxM][kMaxK], b[kN][kMaxK];
  const bool sparse;
  const int terms;
  uint8_t rows_of_b[kMaxM][kMaxK / 2];  ///< of sparse A

  Operands(const MmaSyncForm& f, const uint64_t* a_held, const uint64_t* b_held, const MmaSparsity& sparsity)
      : sparse(f.sparse), terms(f.terms()) {
    for (int row = 0; row < f.m; ++row) gather(a_held, f.a_registers(), f.m / kN, f.a, row, a[row]);
    for (int column = 0; column < kN; ++column) gather(b_held, f.b_registers(), 1, f.b, column, b[column]);
    for (int row = 0; sparse && row < f.m; ++row) gather_rows_of_b(f, sparsity, row, rows_of_b[row]);
  }

  /// A column of B, its elements beside those of a row of A that they meet.
  const Value* beside(int row, int column) {
    if (!sparse) return b[column];
    for (int k = 0; k < terms; ++k) met_[k] = b[column][rows_of_b[row][k]];
    return met_;
  }

 private:
  Value met_[kMaxK / 2];
};

/// Calls f(row, column, lane, index): the element of D and where its lane holds it, `index` of its elements.
template <class F>
void for_each_sum(const MmaSyncForm& form, F&& f) {
  for (int lane = 0; lane < kWarpLanes; ++lane)
    for (int i = 0; i < form.m / kN * 2; ++i)
      f(lane / kGroupLanes + kN * (i / 2), lane % kGroupLanes * 2 + i % 2, lane, i);
}

/// One instruction of f16, bf16 or tf32; dense, it is one fused sum.
/// @return bits of D
uint32_t fused_sum(const MmaSyncForm& f, Type type, MmaSyncCore core, const float* a, const float* b, int terms,
                   float c) {
  const bool f16_d = f.d == Sum::f16;
  const int each = f.sparse ? std::min(terms, sparse_sum_terms(type)) : terms, exponent = min_exponent(type);
  uint32_t sum = 0;
  for (int k = 0; k < terms; k += each) {
    const uint32_t bits = core == MmaSyncCore::hopper
                              ? fused_dot_wgmma(a + k, b + k, each, c, true, exponent, exponent,
                                                f16_d ? WgmmaSum::f16 : WgmmaSum::f32)
                              : fused_dot_b200(a + k, b + k, each, c, true, exponent, exponent, f16_d);
    sum = f16_d ? cvt_rn_f16_f32(std::bit_cast<float>(bits)) : bits;
    c = f16_d ? decode_f16(uint16_t(sum)) : std::bit_cast<float>(bits);
  }
  return sum;
}

/// Two instructions of f16 with elements k % 4 < 2 and the others, which begin at zero; C is added behind them.
/// Of sparse A, elements that are there are counted.
uint32_t fp8_sum(const MmaSyncForm& f, const float* a, const float* b, float c) {
  constexpr int kRegister = 4;
  const bool f16_d = f.d == Sum::f16;
  float sum = 0;
  for (int first = 0; first < kRegister; first += 2) {
    float x[kMaxK / 2], y[kMaxK / 2];
    int count = 0;
    for (int k = first; k < f.terms(); k += kRegister)
      for (int e = 0; e < 2; ++e) x[count] = a[k + e], y[count++] = b[k + e];
    const uint32_t bits = fused_sum(f, Type::f16, MmaSyncCore::hopper, x, y, count, sum);
    sum = f16_d ? decode_f16(uint16_t(bits)) : std::bit_cast<float>(bits);
  }
  if (f16_d) return cvt_rn_f16_f32(sum + c);
  return std::isnan(sum + c) ? sm100::detail::kF32Nan : std::bit_cast<uint32_t>(sum + c);
}

/// To the bit.
uint32_t exact_sum(const MmaSyncForm& f, MmaSyncCore core, const float* a, const float* b, float c) {
  return is_fp8(f.a) ? fp8_sum(f, a, b, c) : fused_sum(f, f.a, core, a, b, f.terms(), c);
}

/// In f32, k ascending; the columns of a row side by side.
void sum_products(const MmaSyncForm& f, const Operands<float>& operands, float (&sums)[kMaxM][kN]) {
  float b[kMaxK][kN];
  for (int k = 0; k < f.k; ++k)
    for (int column = 0; column < kN; ++column) b[k][column] = operands.b[column][k];
  for (int row = 0; row < f.m; ++row) {
    float* const to = sums[row];
    std::fill_n(to, kN, 0.f);
    for (int k = 0; k < f.terms(); ++k) {
      const float* const from = b[f.sparse ? operands.rows_of_b[row][k] : k];
      for (int column = 0; column < kN; ++column) to[column] += operands.a[row][k] * from[column];
    }
  }
}

uint32_t integer_sum(const MmaSyncForm& f, const int64_t* a, const int64_t* b, uint32_t old) {
  int64_t sum = int32_t(old);
  for (int k = 0; k < f.terms(); ++k)
    sum += f.bit_op == BitOp::xor_popc ? a[k] ^ b[k] : f.bit_op == BitOp::and_popc ? a[k] & b[k] : a[k] * b[k];
  using Limits = std::numeric_limits<int32_t>;
  return uint32_t(f.saturate ? std::clamp<int64_t>(sum, Limits::min(), Limits::max()) : sum);
}

}  // namespace

int MmaSyncForm::a_registers() const { return m / kN * terms() / (kGroupLanes * elements(a)); }
int MmaSyncForm::b_registers() const { return k / (kGroupLanes * elements(b)); }
int MmaSyncForm::d_registers() const { return m / kN * (d == Sum::f16 ? 1 : 2); }
int MmaSyncForm::metadata_lanes() const { return std::max(1, a_registers() * kGroupLanes * metadata_bits(a) / 32); }

std::optional<MmaSyncForm> mma_sync_form(const std::vector<std::string_view>& modifiers) {
  MmaSyncForm form;
  std::vector<std::string_view> types;
  bool sync = false, aligned = false;
  size_t columns = 0;
  for (const std::string_view m : modifiers) {
    if (m == ".sync") {
      sync = true;
    } else if (m == ".aligned") {
      aligned = true;
    } else if (m == ".sp" || m == ".sp::ordered_metadata") {
      form.sparse = true;
    } else if (m == ".row" || m == ".col") {
      if ((m == ".col") != (columns++ == 1)) return std::nullopt;  // .row.col alone
    } else if (m == ".satfinite") {
      form.saturate = true;
    } else if (m == ".and") {
      form.bit_op = BitOp::and_popc;
    } else if (m == ".xor") {
      form.bit_op = BitOp::xor_popc;
    } else if (m == ".popc") {
      continue;
    } else if (m.starts_with(".m16n8k") || m.starts_with(".m8n8k")) {
      form.m = m.starts_with(".m16") ? 16 : 8;
      const std::string_view k = m.substr(m.find('k') + 1);
      std::from_chars(k.data(), k.data() + k.size(), form.k);
    } else if (sum_named(m) || type_named(m)) {
      types.push_back(m);
    } else {
      return std::nullopt;
    }
  }
  if (!sync || !aligned || columns != 2 || types.size() != 4 || types[0] != types[3]) return std::nullopt;
  const auto d = sum_named(types[0]);
  const auto a = type_named(types[1]), b = type_named(types[2]);
  if (!d || !a || !b) return std::nullopt;
  form.d = *d, form.a = *a, form.b = *b;
  return has_shape(form) && has_sum(form) ? std::optional(form) : std::nullopt;
}

MmaSyncCycles mma_sync_cycles(const MmaSyncForm& f, const DeviceProfile& profile) {
  const auto& p = profile.mma_sync;
  if (f.a == Type::f64) {
    const double cycles = p.f64_cycles * std::max(1., double(f.m * f.k) / (kMaxM * 4));
    return {cycles, cycles + p.f64_wait_cycles};
  }
  const bool whole = f.a_registers() == 4;  // sparse: as the dense one with as many registers of A
  if (bits_of(f.a) == 4) return {p.packed_cycles * f.m * f.terms() / (kMaxM * 64), p.packed_cycles};
  if (f.m == kN) return {p.small_cycles, double(p.small_latency_cycles)};
  MmaSyncCycles one = whole ? MmaSyncCycles{p.cycles, double(p.latency_cycles)}
                            : MmaSyncCycles{p.half_cycles, double(p.half_latency_cycles)};
  if (f.sparse) one.issue += p.sparse_cycles;
  if (!is_fp8(f.a)) return one;
  // A conversion of each pair of elements, two instructions of f16, an addition for each register of D.
  // Sparse: B's rows and the metadata change lanes, in some 60 instructions of ptxas's for sm_90a; an H200 takes
  // 178 to 196 cycles, and 184 to 194 with two warps.
  constexpr int kExchange = 76;
  const double others =
      (2 * (f.a_registers() + f.b_registers()) + (f.sparse ? kExchange : 0)) * profile.issue.integer +
      f.d_registers() * profile.issue.alu;
  return {std::max(2 * one.issue, others), others + (f.sparse ? 0 : 2 * one.latency)};
}

void mma_sync(const MmaSyncForm& f, Accumulation accumulation, MmaSyncCore core, const uint64_t* a,
              const uint64_t* b, const uint64_t* c, uint64_t* d, MmaSparsity sparsity) {
  const int registers = f.d_registers();
  if (f.d == Sum::f64) {
    const Operands<double> operands(f, a, b, sparsity);
    for_each_sum(f, [&](int row, int column, int lane, int i) {
      double sum = std::bit_cast<double>(c[lane * registers + i]);
      for (int k = 0; k < f.k; ++k) sum = std::fma(operands.a[row][k], operands.b[column][k], sum);
      d[lane * registers + i] = std::bit_cast<uint64_t>(sum);
    });
  } else if (f.d == Sum::s32) {
    Operands<int64_t> operands(f, a, b, sparsity);
    for_each_sum(f, [&](int row, int column, int lane, int i) {
      uint64_t& to = d[lane * registers + i];
      to = integer_sum(f, operands.a[row], operands.beside(row, column), uint32_t(c[lane * registers + i]));
    });
  } else {
    Operands<float> operands(f, a, b, sparsity);
    float products[kMaxM][kN] = {};
    if (accumulation == Accumulation::fast) sum_products(f, operands, products);
    const bool f16_d = f.d == Sum::f16;
    const int each = f16_d ? 2 : 1, bits = 32 / each;
    std::fill_n(d, kWarpLanes * registers, uint64_t{0});
    for_each_sum(f, [&](int row, int column, int lane, int i) {
      const int at = lane * registers + i / each, shift = bits * (i % each);
      const auto old = uint32_t(c[at] >> shift & ((uint64_t{1} << bits) - 1));
      const float old_value = f16_d ? decode_f16(uint16_t(old)) : std::bit_cast<float>(old);
      uint32_t sum;
      if (accumulation == Accumulation::fast) {
        const float all = old_value + products[row][column];
        sum = f16_d ? cvt_rn_f16_f32(all) : std::isnan(all) ? sm100::detail::kF32Nan : std::bit_cast<uint32_t>(all);
      } else {
        sum = exact_sum(f, core, operands.a[row], operands.beside(row, column), old_value);
      }
      d[at] |= uint64_t{sum} << shift;
    });
  }
}

}  // namespace sm100::models
