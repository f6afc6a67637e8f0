// SPDX-License-Identifier: Apache-2.0
#include "models/umma_numerics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/isa/number_formats.h"
#include "models/numerics/fused_dot.h"
#include "models/umma_operands.h"
#include "models/umma_scales.h"
#include "models/umma_sparsity.h"
#include "models/vector/kernels.h"

namespace sm100::models {

namespace {

constexpr int kMostFused = 16, kMostFusedK = 512;  ///< MMAs of one product, and their K
/// Sums of so many products of 8 bits are exact in f32.
constexpr int kMostFusedIntegerK = 256;
/// Elements times scale factors below this are in the range of f32: no type reaches 2^16.
constexpr float kLargeScale = 0x1p112f;

DataType type_of(const MmaOperation& op, bool a) {
  return (a ? a_data_type(op.kind, op.idesc.a_type) : b_data_type(op.kind, op.idesc.b_type)).type;
}

OperandFormat format_of(const MmaOperation& op, bool a) {
  const bool transposed = a ? op.idesc.transpose_a : op.idesc.transpose_b;
  return {.kind = op.kind,
          .type = type_of(op, a),
          .major = transposed ? Major::mn : Major::k,
          .negate = a ? op.idesc.negate_a : op.idesc.negate_b,
          .row_bytes = operand_row_bytes(op, a)};
}

/// The same bits: a NaN is equal to itself.
bool same(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

bool any_large(const std::vector<float>& scales) {
  return std::any_of(scales.begin(), scales.end(), [](float s) { return s >= kLargeScale; });
}

/// elements[i][k] *= scales[i][k / block]
template <class T>
void scale_rows(T* elements, int rows, int k, const float* scales, int per_row) {
  const int block = k / per_row;
  for (int i = 0; i < rows; ++i)
    for (int s = 0; s < per_row; ++s, elements += block)
      for (int j = 0; j < block; ++j) elements[j] *= T(scales[i * per_row + s]);
}

}  // namespace

bool UmmaNumerics::layouts_modelled(const MmaOperation& op) {
  const auto a = a_data_type(op.kind, op.idesc.a_type), b = b_data_type(op.kind, op.idesc.b_type);
  if (!a.ok || !b.ok) return false;
  if (op.modifiers.sp && op.cta_group == 2 && op.m == 128) return false;  // D in PTX's layout C
  auto layout = [](const SmemDescriptorFields& f, bool transposed, DataType type) {
    return operand_layout_modelled(f, transposed ? Major::mn : Major::k, container_bytes(type));
  };
  if (op.a_in_tmem ? op.idesc.transpose_a : !layout(op.a, op.idesc.transpose_a, a.type)) return false;
  return layout(op.b, op.idesc.transpose_b, b.type);
}

bool UmmaNumerics::operand_in_shared_memory(const MmaOperation& op, bool a, uint32_t end) {
  constexpr uint32_t kChunk = 16;
  const uint32_t rows = uint32_t(rows_per_cta(op, a));
  const SmemDescriptorFields& f = a ? op.a : op.b;
  if (f.start_address < kSmemUserBase) return false;
  // Without wrap-around no address exceeds this; only what comes near the end is looked at chunk by chunk.
  const uint64_t bound =
      f.start_address + uint64_t(rows / 4 + 4) * std::max(f.stride_byte_offset, f.leading_byte_offset) + 4096;
  if (bound <= end) return true;
  bool inside = true;
  const OperandFormat format = format_of(op, a);
  for_each_chunk(f, format, rows,
                 [&](uint32_t address) { inside &= address >= kSmemUserBase && address + kChunk <= end; });
  return inside;
}

// ---- operands

void UmmaNumerics::read_a(const MmaOperation& op, int k_offset, int k_total) {
  if (op.modifiers.sp) return read_sparse_a(op, k_offset, k_total);
  read_stored_a(op, a_.data() + k_offset, k_total);
}

/// The first of the undefined chunks that has an element other than zero.
std::optional<std::string> UmmaNumerics::undefined_chunk(TensorMemory& tmem, const MmaOperation& op, int m,
                                                         uint32_t undefined) const {
  const int stored = mma_k(op.kind), of_chunk = stored_of_chunk(op.kind);
  for (int chunk = 0; chunk * of_chunk < stored; ++chunk) {
    const float* const elements = &stored_[size_t(m * stored + chunk * of_chunk)];
    if (!(undefined >> chunk & 1) || std::all_of(elements, elements + of_chunk, [](float x) { return x == 0; }))
      continue;
    const ChunkBits at = chunk_bits(tmem, op, m % rows_per_cta(op, true), chunk);
    return fmt::format("row {} of A has {:#06b} for chunk {} of K, in lane {}, column {}", m, at.bits, chunk,
                       at.lane, at.column);
  }
  return std::nullopt;
}

void UmmaNumerics::read_sparse_a(const MmaOperation& op, int k_offset, int k_total) {
  const int stored = mma_k(op.kind), k = 2 * stored, rows = rows_per_cta(op, true);
  stored_.resize(size_t(op.m * stored));
  read_stored_a(op, stored_.data(), stored);
  for (int m = 0; m < op.m; ++m) {
    uint8_t places[kMostStored];
    TensorMemory& tmem = *memories(op, uint32_t(m / rows)).tmem;
    const uint32_t undefined = read_places(tmem, op, m % rows, places);
    if (undefined != 0 && !metadata_error_)
      if (auto text = undefined_chunk(tmem, op, m, undefined))
        metadata_error_ = OperandError{std::move(*text), size_t(&op - executing_)};
    float* const to = a_.data() + ptrdiff_t(m) * k_total + k_offset;
    uint8_t* const has = has_element_.data() + ptrdiff_t(m) * k_total + k_offset;
    std::fill_n(to, k, 0.f), std::fill_n(has, k, uint8_t(0));
    for (int i = 0; i < stored; ++i) to[places[i]] += stored_[size_t(m * stored + i)], has[places[i]] = 1;
  }
}

void UmmaNumerics::read_stored_a(const MmaOperation& op, float* out, int stride) {
  const OperandFormat format = format_of(op, true);
  if (!op.a_in_tmem) {
    const int rows = rows_per_cta(op, true);
    for (int cta = 0; cta < op.cta_group; ++cta)
      read_operand(*memories(op, uint32_t(cta)).smem, op.a, format, rows, out + ptrdiff_t(cta) * rows * stride,
                   stride);
    return;
  }
  // A in tensor memory: the row's lane is that of D, K is packed into cells, low bits first (9.7.16.10.5).
  // M 128 of a pair: the rows lie twice in each CTA, in the lower lanes as in the upper (PTX 9.7.16).
  const DataPathLayout layout = layout_of(op);
  for (int i = 0; i < op.m; ++i) {
    const AccumulatorCell at = accumulator_cell(layout, i, 0, op.n);
    const float* cells = memories(op, at.cta).tmem->lane(op.a_tmem.lane() + at.lane) + op.a_tmem.column();
    read_operand_row(cells, format, out + ptrdiff_t(i) * stride);
  }
}

void UmmaNumerics::read_b(const MmaOperation& op, int k_offset, int k_total) {
  const int rows = rows_per_cta(op, false);
  for (int cta = 0; cta < op.cta_group; ++cta)
    read_operand(*memories(op, uint32_t(cta)).smem, op.b, format_of(op, false), rows,
                 b_.data() + cta * rows * k_total + k_offset, k_total);
  const int k = mma_k(op.kind, op.modifiers.sp);
  for (int n = 0; any_zero_column(op.zero_columns) && n < op.n; ++n)
    if (is_zero_column(op.zero_columns, op.m, n, op.n))
      std::fill_n(b_.data() + ptrdiff_t(n) * k_total + k_offset, k, 0.f);
}

void UmmaNumerics::read_scales(const MmaOperation& op, int offset, int per_row) {
  const auto read = [&](const char* name, uint32_t cta, const ScaleFactors& where, float* out) {
    if (const auto differ = models::read_scales(*memories(op, cta).tmem, where, out + offset, per_row);
        differ && !scale_error_)
      scale_error_ = OperandError{std::string(name) + " in " + *differ + (cta == 1 ? " of the pair's odd CTA" : ""),
                                  size_t(&op - executing_)};
  };
  const ScaleFactors a = scale_factors_a(op.idesc, op.cta_group, op.scale_vec, op.sfa),
                     b = scale_factors_b(op.idesc, op.cta_group, op.scale_vec, op.sfb);
  for (uint32_t cta = 0; cta < uint32_t(op.cta_group); ++cta) {
    read("SFA", cta, a, sfa_.data() + ptrdiff_t(cta) * a.rows * per_row);
    read("SFB", cta, b, cta == 0 ? sfb_.data() : sfb_odd_.data());
  }
}

void UmmaNumerics::apply_scales(const MmaOperation& op, int k_total) {
  odd_differs_ = op.cta_group == 2 && !same(sfb_, sfb_odd_);
  wide_ = any_large(sfa_) || any_large(sfb_) || (odd_differs_ && any_large(sfb_odd_));
  if (accumulation_ == Accumulation::b200 || wide_) return;  // these apply them in the sum
  if (odd_differs_) {
    b_odd_ = b_;
    scale_rows(b_odd_.data(), op.n, k_total, sfb_odd_.data(), scales_per_row_);
  }
  scale_rows(a_.data(), op.m, k_total, sfa_.data(), scales_per_row_);
  scale_rows(b_.data(), op.n, k_total, sfb_.data(), scales_per_row_);
}

// ---- products

size_t UmmaNumerics::run_length(std::span<const MmaOperation> operations) const {
  const MmaOperation& op = operations[0];
  const bool integers = op.kind == MmaKind::i8;
  if (integers ? op.idesc.saturate : accumulation_ != Accumulation::fast || op.idesc.d_type != kDTypeF32) return 1;
  const int most =
      std::min(kMostFused, (integers ? kMostFusedIntegerK : kMostFusedK) / mma_k(op.kind, op.modifiers.sp));
  size_t length = 1;
  for (; length < operations.size() && length < size_t(most); ++length) {
    const MmaOperation& next = operations[length];
    if (!next.enable_input_d || next.d != op.d || next.m != op.m || next.n != op.n || next.kind != op.kind ||
        next.cta_group != op.cta_group || next.idesc.d_type != op.idesc.d_type ||
        next.idesc.saturate != op.idesc.saturate || next.scale_input_d != 0 || next.scale_vec != op.scale_vec ||
        next.modifiers != op.modifiers || next.disabled_lanes != op.disabled_lanes)
      break;
  }
  return length;
}

void UmmaNumerics::execute(std::span<const MmaOperation> operations) {
  executing_ = operations.data();
  while (!operations.empty()) {
    // MMAs that only accumulate into the same D with the same shape are one product over a longer K.
    const MmaOperation& op = operations[0];
    const size_t length = run_length(operations);
    const int k = mma_k(op.kind, op.modifiers.sp), k_total = k * int(length);
    a_.resize(size_t(op.m * k_total));
    if (op.modifiers.sp) has_element_.resize(a_.size());
    b_.resize(size_t(op.n * k_total));
    for (size_t i = 0; i < length; ++i) {
      read_a(operations[i], k * int(i), k_total);
      read_b(operations[i], k * int(i), k_total);
    }
    wide_ = odd_differs_ = false;
    if (is_block_scaled(op.kind)) {
      scales_per_row_ = int(op.scale_vec) * int(length);
      sfa_.resize(size_t(op.m * scales_per_row_));
      sfb_.resize(size_t(op.n * scales_per_row_));
      if (op.cta_group == 2) sfb_odd_.resize(sfb_.size());
      for (size_t i = 0; i < length; ++i) read_scales(operations[i], int(op.scale_vec) * int(i), scales_per_row_);
      apply_scales(op, k_total);
    }
    b_is_finite_ = !op.modifiers.sp || std::all_of(b_.begin(), b_.end(), [](float x) { return std::isfinite(x); });
    write_d(op, k_total);
    operations = operations.subspan(length);
  }
}

void UmmaNumerics::scale_old_d(const MmaOperation& op) {
  const DataPathLayout layout = layout_of(op);
  const int part = int(accumulator_columns(layout, uint32_t(op.n)));
  const float factor = std::ldexp(1.f, -op.scale_input_d);
  for (int m = 0; m < op.m; ++m)
    for (int first = 0; first < op.n; first += part) {
      const AccumulatorCell at = accumulator_cell(layout, m, first, op.n);
      float* const d = memories(op, at.cta).tmem->lane(op.d.lane() + at.lane) + op.d.column();
      for (int n = 0; n < part; ++n) d[n] *= factor;
    }
}

void UmmaNumerics::write_d(const MmaOperation& op, int k_total) {
  if (!op.disables_lanes()) return write_all_of_d(op, k_total);
  const uint32_t columns = accumulator_columns(layout_of(op), uint32_t(op.n));
  std::vector<float> kept;  // of the lanes that are not written
  const auto for_each_kept = [&](auto&& f) {
    for (uint32_t cta = 0; cta < uint32_t(op.cta_group); ++cta)
      for (uint32_t lane = 0; lane < kTmemLanes; ++lane)
        if (op.disables(cta, lane)) f(memories(op, cta).tmem->lane(lane) + op.d.column());
  };
  for_each_kept([&](const float* d) { kept.insert(kept.end(), d, d + columns); });
  write_all_of_d(op, k_total);
  const float* from = kept.data();
  for_each_kept([&](float* d) { std::copy_n(from, columns, d), from += columns; });
}

const float* UmmaNumerics::b_of_row(const MmaOperation& op, const std::vector<float>& b, int m, int k_total) {
  if (b_is_finite_) return b.data();
  met_by_row_ = b;
  const uint8_t* const has = has_element_.data() + ptrdiff_t(m) * k_total;
  for (int n = 0; n < op.n; ++n)
    for (int k = 0; k < k_total; ++k)
      if (!has[k]) met_by_row_[size_t(n * k_total + k)] = 0;
  return met_by_row_.data();
}

void UmmaNumerics::write_all_of_d(const MmaOperation& op, int k_total) {
  if (op.scale_input_d != 0 && op.enable_input_d && op.idesc.d_type == kDTypeF32) scale_old_d(op);
  const DataPathLayout layout = layout_of(op);
  const bool products = accumulation_ == Accumulation::fast || op.kind == MmaKind::i8;
  if (products && op.idesc.d_type == kDTypeF32 && layout == DataPathLayout::d) {
    float* d = own_.tmem->lane(op.d.lane()) + op.d.column();
    multiply(op, k_total, d, ptrdiff_t(kTmemColumns), op.enable_input_d);
    return;
  }
  product_.resize(size_t(op.m * op.n));
  if (products) multiply(op, k_total, product_.data(), op.n, false);
  // Layout B lays the two halves of the columns over each other; everywhere else a row lies in one lane.
  const int part = int(accumulator_columns(layout, uint32_t(op.n)));
  for (int m = 0; m < op.m; ++m)
    for (int first = 0; first < op.n; first += part) write_row(op, layout, m, first, part, k_total);
}

namespace {

/// Some rows of D.
struct Rows {
  int first, count, n, k;
  const float* a;
  const float* b;
  float* d;
  ptrdiff_t d_stride;
  bool accumulate;
};

void multiply_rows(const Rows& r) {
  vector::kernels().product_f32({.m = r.count,
                                 .n = r.n,
                                 .k = r.k,
                                 .a = r.a + ptrdiff_t(r.first) * r.k,
                                 .a_stride = r.k,
                                 .b = r.b,
                                 .b_stride = r.k,
                                 .d = r.d + r.first * r.d_stride,
                                 .d_stride = r.d_stride,
                                 .accumulate = r.accumulate});
}

/// The same with scale factors, in f64.
void multiply_rows_wide(const Rows& r, const float* sfa, const float* sfb, int per_row) {
  const float* const first = r.a + ptrdiff_t(r.first) * r.k;
  std::vector<double> a(first, first + ptrdiff_t(r.count) * r.k), b(r.b, r.b + ptrdiff_t(r.n) * r.k),
      d(size_t(r.count) * size_t(r.n));
  scale_rows(a.data(), r.count, r.k, sfa + ptrdiff_t(r.first) * per_row, per_row);
  scale_rows(b.data(), r.n, r.k, sfb, per_row);
  vector::kernels().product_f64({.m = r.count,
                                 .n = r.n,
                                 .k = r.k,
                                 .a = a.data(),
                                 .a_stride = r.k,
                                 .b = b.data(),
                                 .b_stride = r.k,
                                 .d = d.data(),
                                 .d_stride = r.n,
                                 .accumulate = false});
  for (int i = 0; i < r.count; ++i)
    for (int j = 0; j < r.n; ++j) {
      float& to = r.d[(r.first + i) * r.d_stride + j];
      to = vector::added(r.accumulate ? to : 0.f, float(d[size_t(i) * size_t(r.n) + size_t(j)]));
    }
}

}  // namespace

void UmmaNumerics::multiply(const MmaOperation& op, int k_total, float* d, ptrdiff_t d_stride, bool accumulate) {
  const int parts = odd_differs_ ? 2 : 1;
  for (int part = 0; part < parts; ++part) {
    const std::vector<float>& b = part == 1 && !wide_ ? b_odd_ : b_;
    const int first = part * op.m / 2, count = op.m / parts, together = b_is_finite_ ? count : 1;
    for (int m = first; m < first + count; m += together) {
      const Rows rows = {m, together, op.n,      k_total, a_.data(), b_of_row(op, b, m, k_total),
                         d, d_stride, accumulate};
      if (wide_)
        multiply_rows_wide(rows, sfa_.data(), (part == 1 ? sfb_odd_ : sfb_).data(), scales_per_row_);
      else
        multiply_rows(rows);
    }
  }
}

/// D in s32, of exact sums.
void UmmaNumerics::write_integers(const MmaOperation& op, float* d, const float* row, int count) const {
  for (int n = 0; n < count; ++n) {
    const int64_t sum = int64_t(row[n]) + (op.enable_input_d ? int32_t(as_bits(d[n])) : 0);
    using Limits = std::numeric_limits<int32_t>;
    const int64_t kept = op.idesc.saturate ? std::clamp<int64_t>(sum, Limits::min(), Limits::max()) : sum;
    d[n] = as_float(uint32_t(kept));
  }
}

uint32_t UmmaNumerics::fused_dot(const MmaOperation& op, const float* all_of_b, int m, int n, int k,
                                 float c) const {
  const float *a = &a_[size_t(m * k)], *b = all_of_b + ptrdiff_t(n) * k;
  const int a_min = min_exponent(type_of(op, true)), b_min = min_exponent(type_of(op, false));
  if (!is_block_scaled(op.kind))
    return fused_dot_b200(a, b, k, c, op.enable_input_d, a_min, b_min, op.idesc.d_type == kDTypeF16);
  const bool odd = op.cta_group == 2 && m >= op.m / 2;
  const float *sfa = &sfa_[size_t(m * scales_per_row_)],
              *sfb = &(odd ? sfb_odd_ : sfb_)[size_t(n * scales_per_row_)];
  if (op.kind == MmaKind::mxf8f6f4)
    return fused_dot_b200_mxf8f6f4(a, b, k, c, op.enable_input_d, a_min, b_min, *sfa, *sfb);
  return fused_dot_b200_mxf4(a, b, k, c, op.enable_input_d, sfa, sfb, k / int(op.scale_vec), op.idesc.scale_ue8m0);
}

/// Columns `first` ... `first + count` of row m of D, which lie side by side in one lane.
void UmmaNumerics::write_row(const MmaOperation& op, DataPathLayout layout, int m, int first, int count,
                             int k_total) {
  const bool f16_d = op.idesc.d_type == kDTypeF16;
  const float scale_f16 = std::ldexp(1.f, -op.scale_input_d);
  const AccumulatorCell at = accumulator_cell(layout, m, first, op.n);
  float* d = memories(op, at.cta).tmem->lane(op.d.lane() + at.lane) + op.d.column();
  const float* row = &product_[size_t(m * op.n + first)];
  if (op.kind == MmaKind::i8) {
    write_integers(op, d, row, count);
  } else if (accumulation_ == Accumulation::b200) {
    const float* const b = b_of_row(op, b_, m, k_total);
    for (int n = 0; n < count; ++n) {
      const float c = f16_d ? scale_f16 * decode_f16(uint16_t(as_bits(d[n]))) : d[n];
      const uint32_t bits = fused_dot(op, b, m, first + n, k_total, c);
      d[n] = f16_d ? as_float(cvt_rn_f16_f32(as_float(bits))) : as_float(bits);
    }
  } else if (f16_d) {
    for (int n = 0; n < count; ++n) {
      const float c = op.enable_input_d ? scale_f16 * decode_f16(uint16_t(as_bits(d[n]))) : 0.f;
      d[n] = as_float(cvt_rn_f16_f32(c + row[n]));
    }
  } else if (op.enable_input_d) {
    for (int n = 0; n < count; ++n) d[n] = vector::added(d[n], row[n]);
  } else {
    std::copy_n(row, count, d);  // D is not read: garbage in it does not matter
  }
}

}  // namespace sm100::models
