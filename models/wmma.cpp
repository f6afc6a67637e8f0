// SPDX-License-Identifier: Apache-2.0
#include "models/wmma.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "kernels/isa/lane_array.h"
#include "kernels/isa/number_formats.h"

namespace sm100::models {

namespace {

using Type = MmaSyncForm::Type;
using Sum = MmaSyncForm::Sum;
using BitOp = MmaSyncForm::BitOp;
using Matrix = WmmaFragment::Matrix;

constexpr int kGroupLanes = 4;  ///< lanes of a row

struct TypeRow {
  Type type;
  std::string_view name;
  int bits;
  bool long_shapes;  ///< m8n32 and m32n8, too
  int m, n, k;
  int step_m, step_k;  ///< of the mma.sync that it becomes
};
constexpr TypeRow kTypes[] = {
    {Type::f16, ".f16", 16, true, 16, 16, 16, 16, 16},  {Type::bf16, ".bf16", 16, true, 16, 16, 16, 16, 16},
    {Type::tf32, ".tf32", 32, false, 16, 16, 8, 16, 4}, {Type::s8, ".s8", 8, true, 16, 16, 16, 16, 16},
    {Type::u8, ".u8", 8, true, 16, 16, 16, 16, 16},     {Type::s4, ".s4", 4, false, 8, 8, 32, 8, 32},
    {Type::u4, ".u4", 4, false, 8, 8, 32, 8, 32},       {Type::b1, ".b1", 1, false, 8, 8, 128, 8, 128},
    {Type::f64, ".f64", 64, false, 8, 8, 4, 8, 4},
};
const TypeRow& row_of(Type type) {
  return *std::find_if(std::begin(kTypes), std::end(kTypes), [&](const TypeRow& row) { return row.type == type; });
}
std::optional<Type> type_named(std::string_view name) {
  for (const TypeRow& row : kTypes)
    if (row.name == name) return row.type;
  return std::nullopt;
}
std::optional<Sum> sum_named(std::string_view name) {
  if (name == ".f32") return Sum::f32;
  if (name == ".f16") return Sum::f16;
  if (name == ".s32") return Sum::s32;
  if (name == ".f64") return Sum::f64;
  return std::nullopt;
}

bool has_shape(Type type, int m, int n, int k) {
  const TypeRow& row = row_of(type);
  if (k != row.k) return false;
  if (m == row.m && n == row.n) return true;
  return row.long_shapes && ((m == 8 && n == 32) || (m == 32 && n == 8));
}

bool has_sum(Type type, Sum sum) {
  switch (type) {
    case Type::f16: return sum == Sum::f32 || sum == Sum::f16;
    case Type::bf16:
    case Type::tf32: return sum == Sum::f32;
    case Type::f64: return sum == Sum::f64;
    default: return sum == Sum::s32;
  }
}

/// How a wmma.mma is made of mma.sync.
struct Steps {
  MmaSyncForm one;
  bool exchanged;     ///< B transposed has the rows of 16, A transposed the columns of 8, D is transposed
  int rows, columns;  ///< blocks of `one`, side by side
  int depth;          ///< one behind the other along k
};
Steps steps_of(Type type, int m, int n, int k) {
  const TypeRow& row = row_of(type);
  Steps steps{};
  steps.one.m = row.step_m, steps.one.k = row.step_k, steps.one.a = steps.one.b = type;
  steps.exchanged = m < row.step_m;
  if (steps.exchanged) std::swap(m, n);
  steps.rows = m / row.step_m, steps.columns = n / 8, steps.depth = k / row.step_k;
  return steps;
}
Steps steps_of(const WmmaForm& form) {
  Steps steps = steps_of(form.type, form.m, form.n, form.k);
  // C and D of different types: the sum is made in f32.
  steps.one.d = form.c == form.d ? form.d : Sum::f32;
  steps.one.saturate = form.saturate, steps.one.bit_op = form.bit_op;
  return steps;
}

bool read_shape(std::string_view text, int& m, int& n, int& k) {
  const auto number = [&](char letter, int& to) {
    if (!text.starts_with(letter)) return false;
    text.remove_prefix(1);
    to = 0;
    for (; !text.empty() && text[0] >= '0' && text[0] <= '9'; text.remove_prefix(1)) to = 10 * to + (text[0] - '0');
    return to > 0 && to <= 256;
  };
  if (!text.starts_with('.')) return false;
  text.remove_prefix(1);
  return number('m', m) && number('n', n) && number('k', k) && text.empty();
}

/// The registers [first, first + count) of `all`.
std::vector<uint64_t> part(const uint64_t* held, int all, int first, int count) {
  std::vector<uint64_t> taken(size_t(kWarpLanes * count));
  for (int lane = 0; lane < kWarpLanes; ++lane)
    std::copy_n(held + lane * all + first, count, &taken[size_t(lane * count)]);
  return taken;
}

/// Two of f16 in each register become two registers of f32.
std::vector<uint64_t> widened(const uint64_t* pairs, int registers) {
  std::vector<uint64_t> singles(size_t(kWarpLanes * registers * 2));
  for (size_t i = 0; i < singles.size(); ++i)
    singles[i] = std::bit_cast<uint32_t>(decode_f16(uint16_t(pairs[i / 2] >> 16 * (i % 2))));
  return singles;
}

void round_pairs(const std::vector<uint64_t>& singles, uint64_t* pairs) {
  const auto half = [&](size_t i) { return uint64_t{cvt_rn_f16_f32(std::bit_cast<float>(uint32_t(singles[i])))}; };
  for (size_t i = 0; i < singles.size(); i += 2) pairs[i / 2] = half(i) | half(i + 1) << 16;
}

}  // namespace

int WmmaFragment::element_bits() const {
  if (!is_sum()) return row_of(type).bits;
  return sum == Sum::f16 ? 16 : sum == Sum::f64 ? 64 : 32;
}
int WmmaFragment::distinct_registers() const { return rows() * columns() / (kWarpLanes * elements()); }
int WmmaFragment::registers() const { return type == Type::f16 && !is_sum() ? 8 : distinct_registers(); }

WmmaPlace wmma_place(const WmmaFragment& f, int lane, int r, int e) {
  constexpr int kSide = 8;  // rows of A and columns of B that the lanes of a register have
  const Steps steps = steps_of(f.type, f.m, f.n, f.k);
  const int group = lane / kGroupLanes, t = lane % kGroupLanes, each = f.elements();
  if (f.is_sum()) {
    const int all = steps.one.m / kSide * 2;  // of a block
    const int block = (r * each + e) / all, i = (r * each + e) % all;
    const int row = group + kSide * (i / 2) + steps.one.m * (block / steps.columns);
    const int column = 2 * t + i % 2 + kSide * (block % steps.columns);
    return steps.exchanged ? WmmaPlace{column, row} : WmmaPlace{row, column};
  }
  r %= f.distinct_registers();
  const bool tall = (f.matrix == Matrix::a) != steps.exchanged;
  const int rows = tall ? steps.one.m / kSide : 1;  // registers that differ in the row alone
  const int all = steps.depth * (tall ? steps.one.a_registers() : steps.one.b_registers());
  const int block = r / all, i = r % all;
  const int side = group + kSide * (i % rows) + kSide * rows * block;
  const int k = kGroupLanes * each * (i / rows) + each * t + e;
  return f.matrix == Matrix::a ? WmmaPlace{side, k} : WmmaPlace{k, side};
}

std::optional<WmmaForm> wmma_form(const std::vector<std::string_view>& modifiers) {
  WmmaForm form;
  std::vector<std::string_view> types, orders;
  bool sync = false, aligned = false, popc = false, rounds = false;
  for (const std::string_view m : modifiers) {
    if (m == ".mma") {
      continue;
    } else if (m == ".sync") {
      sync = true;
    } else if (m == ".aligned") {
      aligned = true;
    } else if (m == ".row" || m == ".col") {
      orders.push_back(m);
    } else if (m == ".satfinite") {
      form.saturate = true;
    } else if (m == ".and" || m == ".xor") {
      form.bit_op = m == ".and" ? BitOp::and_popc : BitOp::xor_popc;
    } else if (m == ".popc") {
      popc = true;
    } else if (m == ".rn") {
      rounds = true;
    } else if (type_named(m) || sum_named(m)) {
      types.push_back(m);
    } else if (!read_shape(m, form.m, form.n, form.k)) {
      return std::nullopt;
    }
  }
  if (!sync || !aligned || orders.size() != 2 || (types.size() != 2 && types.size() != 4)) return std::nullopt;
  const auto d = sum_named(types.front()), c = sum_named(types.back());
  const auto a = types.size() == 2 ? Type::f16 : type_named(types[1]);
  if (!d || !c || !a || (types.size() == 4 && (types[1] != types[2] || a == Type::f16))) return std::nullopt;
  form.type = *a, form.c = *c, form.d = *d;
  const bool integer = *d == Sum::s32, bits = *a == Type::b1;
  if (!has_shape(form.type, form.m, form.n, form.k) || !has_sum(form.type, *c) || !has_sum(form.type, *d) ||
      (form.saturate && (!integer || bits)) || bits != (form.bit_op != BitOp::none) || bits != popc ||
      (rounds && *a != Type::f64))
    return std::nullopt;
  const bool row_col = orders[0] == ".row" && orders[1] == ".col";
  if ((bits || *a == Type::s4 || *a == Type::u4) && !row_col) return std::nullopt;
  return form;
}

std::optional<WmmaFragment> wmma_fragment(const std::vector<std::string_view>& modifiers) {
  WmmaFragment f;
  std::string_view matrix, type, order;
  bool sync = false, aligned = false, store = false;
  for (const std::string_view m : modifiers) {
    if (m == ".load" || m == ".store")
      store = m == ".store";
    else if (m == ".sync")
      sync = true;
    else if (m == ".aligned")
      aligned = true;
    else if (m == ".a" || m == ".b" || m == ".c" || m == ".d")
      matrix = m;
    else if (m == ".row" || m == ".col")
      order = m;
    else if (type_named(m) || sum_named(m))
      type = m;
    else if (m != ".global" && m != ".shared" && m != ".shared::cta" && !read_shape(m, f.m, f.n, f.k))
      return std::nullopt;
  }
  if (!sync || !aligned || matrix.empty() || order.empty() || store != (matrix == ".d")) return std::nullopt;
  f.row_major = order == ".row";
  if (matrix == ".c" || matrix == ".d") {
    f.matrix = Matrix::c;
    const auto sum = sum_named(type);
    // The fragment follows from the shape; of types with one shape any will do.
    const auto fits = [&](const TypeRow& row) {
      return sum && has_sum(row.type, *sum) && has_shape(row.type, f.m, f.n, f.k);
    };
    const auto row = std::find_if(std::begin(kTypes), std::end(kTypes), fits);
    if (row == std::end(kTypes)) return std::nullopt;
    f.type = row->type, f.sum = *sum;
    return f;
  }
  f.matrix = matrix == ".a" ? Matrix::a : Matrix::b;
  const auto of = type_named(type);
  if (!of || !has_shape(*of, f.m, f.n, f.k)) return std::nullopt;
  f.type = *of;
  const bool packed = row_of(*of).bits < 8;  // .row of A and .col of B alone
  return packed && f.row_major != (f.matrix == Matrix::a) ? std::nullopt : std::optional(f);
}

MmaSyncCycles wmma_cycles(const WmmaForm& form, const DeviceProfile& profile) {
  const Steps steps = steps_of(form);
  const MmaSyncCycles one = mma_sync_cycles(steps.one, profile);
  const int blocks = steps.rows * steps.columns;
  MmaSyncCycles all{one.issue * blocks * steps.depth, one.latency * steps.depth + one.issue * (blocks - 1)};
  if (form.c == form.d) return all;
  const double others = profile.issue.alu * form.d_registers();  // conversions: of each element of C, or pair of D
  return {all.issue + others, all.latency + others};
}

void wmma(const WmmaForm& form, Accumulation accumulation, MmaSyncCore core, const uint64_t* a, const uint64_t* b,
          const uint64_t* c, uint64_t* d) {
  const Steps steps = steps_of(form);
  const MmaSyncForm& one = steps.one;
  int a_all = form.a_registers(), b_all = form.b_registers();
  if (steps.exchanged) std::swap(a, b), std::swap(a_all, b_all);
  std::vector<uint64_t> old(c, c + kWarpLanes * form.c_registers());
  if (form.c == Sum::f16 && one.d == Sum::f32) old = widened(c, form.c_registers());
  const int d_each = one.d_registers(), d_all = d_each * steps.rows * steps.columns;
  std::vector<uint64_t> sums(size_t(kWarpLanes * d_all));
  for (int block = 0; block < steps.rows * steps.columns; ++block) {
    std::vector<uint64_t> sum = part(old.data(), d_all, d_each * block, d_each), next(sum.size());
    for (int step = 0; step < steps.depth; ++step, sum.swap(next)) {
      const int a_first = one.a_registers() * (block / steps.columns * steps.depth + step);
      const int b_first = one.b_registers() * (block % steps.columns * steps.depth + step);
      mma_sync(one, accumulation, core, part(a, a_all, a_first, one.a_registers()).data(),
               part(b, b_all, b_first, one.b_registers()).data(), sum.data(), next.data());
    }
    for (int lane = 0; lane < kWarpLanes; ++lane)
      std::copy_n(&sum[size_t(lane * d_each)], d_each, &sums[size_t(lane * d_all + d_each * block)]);
  }
  if (form.d == Sum::f16 && one.d == Sum::f32)
    round_pairs(sums, d);
  else
    std::copy(sums.begin(), sums.end(), d);
}

}  // namespace sm100::models
