// SPDX-License-Identifier: Apache-2.0
#include "models/umma_numerics.h"

#include <algorithm>
#include <cstring>

#include "kernels/isa/number_formats.h"
#include "models/umma_fused_dot.h"
#include "models/vector/kernels.h"

namespace sm100::models {

namespace {

bool values_modelled(DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::bf16:
    case DataType::tf32:
    case DataType::e4m3:
    case DataType::e5m2: return true;
    default: return false;  // sub-byte containers, integers
  }
}

/// Exponent of the smallest normal number: subnormal operands take part with this exponent.
int min_exponent(DataType type) {
  switch (type) {
    case DataType::f16:
    case DataType::e5m2: return -14;
    case DataType::e4m3: return -6;
    default: return -126;
  }
}

}  // namespace

namespace {
/// Eight bf16: the most of what a full-size product decodes.
void decode_chunk(const uint8_t* chunk, float sign, float* to) {
  uint16_t bits[8];
  std::memcpy(bits, chunk, sizeof bits);
  for (int e = 0; e < 8; ++e) to[e] = sign * decode_bf16(bits[e]);
}
}  // namespace

bool UmmaNumerics::operands_modelled(const MmaOperation& op) const {
  const auto a = a_data_type(op.kind, op.idesc.a_type), b = b_data_type(op.kind, op.idesc.b_type);
  return values_modelled(a.type) && values_modelled(b.type) && !is_block_scaled(op.kind) && layouts_modelled(op);
}

bool UmmaNumerics::layouts_modelled(const MmaOperation& op) const {
  const auto a = a_data_type(op.kind, op.idesc.a_type), b = b_data_type(op.kind, op.idesc.b_type);
  if (!a.ok || !b.ok) return false;
  auto layout = [](const SmemDescriptorFields& f, bool transposed, DataType type) {
    return operand_layout_modelled(f, transposed ? Major::mn : Major::k, uint32_t(element_bits(type) / 8));
  };
  if (op.a_in_tmem ? op.idesc.transpose_a : !layout(op.a, op.idesc.transpose_a, a.type)) return false;
  return layout(op.b, op.idesc.transpose_b, b.type);
}

bool UmmaNumerics::operand_in_shared_memory(const MmaOperation& op, bool a, uint32_t end) {
  const DataType type = (a ? a_data_type(op.kind, op.idesc.a_type) : b_data_type(op.kind, op.idesc.b_type)).type;
  const uint32_t bytes = uint32_t(element_bits(type) / 8), rows = uint32_t(rows_per_cta(op, a)),
                 k = uint32_t(mma_k(op.kind));
  const SmemDescriptorFields& f = a ? op.a : op.b;
  if (f.start_address < kSmemUserBase) return false;
  // Without wrap-around no address exceeds this; only what comes near the end is looked at element by
  // element.
  const uint64_t bound =
      f.start_address + uint64_t(rows / 4 + 4) * std::max(f.stride_byte_offset, f.leading_byte_offset) + 4096;
  if (bound <= end) return true;
  const Major major = (a ? op.idesc.transpose_a : op.idesc.transpose_b) ? Major::mn : Major::k;
  for (uint32_t i = 0; i < rows; ++i)
    for (uint32_t j = 0; j < k; ++j) {
      const uint32_t address = operand_address(f, major, bytes, i, j);
      if (address < kSmemUserBase || address + bytes > end) return false;
    }
  return true;
}

void UmmaNumerics::read_operand(const SharedMemory& smem, const SmemDescriptorFields& f, Major major, DataType type,
                                bool negate, int rows, int k, float* out, int stride) {
  const uint32_t bytes = uint32_t(element_bits(type) / 8), per_chunk = 16 / bytes;
  const float sign = negate ? -1.f : 1.f;
  auto value = [&](uint32_t address) {
    return sign * (bytes == 2   ? decode(type, smem.load<uint16_t>(address))
                   : bytes == 4 ? decode(type, smem.load<uint32_t>(address))
                                : decode(type, smem.load<uint8_t>(address)));
  };
  if (major == Major::mn) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < k; ++j)
        out[i * stride + j] = value(operand_address(f, major, bytes, uint32_t(i), uint32_t(j)));
    return;
  }
  // K-major: every 16-byte chunk along K is contiguous, whatever the swizzle.
  if (type == DataType::bf16 && k == 16) {
    for (int i = 0; i < rows; ++i) {
      decode_chunk(smem.data(operand_address(f, Major::k, 2, uint32_t(i), 0)), sign, out + i * stride);
      decode_chunk(smem.data(operand_address(f, Major::k, 2, uint32_t(i), 8)), sign, out + i * stride + 8);
    }
    return;
  }
  for (int i = 0; i < rows; ++i)
    for (uint32_t j = 0; j < uint32_t(k); j += per_chunk) {
      const uint32_t chunk = operand_address(f, major, bytes, uint32_t(i), j);
      float* to = out + i * stride + j;
      for (uint32_t e = 0; e < per_chunk; ++e) to[e] = value(chunk + e * bytes);
    }
}

void UmmaNumerics::read_a(const MmaOperation& op, int k_offset, int k_total) {
  const DataType type = a_data_type(op.kind, op.idesc.a_type).type;
  const int k = mma_k(op.kind);
  if (!op.a_in_tmem) {
    const int rows = rows_per_cta(op, true);
    for (int cta = 0; cta < op.cta_group; ++cta)
      read_operand(*memories(op, uint32_t(cta)).smem, op.a, op.idesc.transpose_a ? Major::mn : Major::k, type,
                   op.idesc.negate_a, rows, k, a_.data() + cta * rows * k_total + k_offset, k_total);
    return;
  }
  // A in tensor memory: the row's lane is that of D, K is packed into cells, low bits first (9.7.16.10.5).
  // M 128 of a pair: the rows lie twice in each CTA, in the lower lanes as in the upper (PTX 9.7.16).
  const DataPathLayout layout = data_path_layout(op.m, op.cta_group);
  const uint32_t per_cell = 32 / uint32_t(element_bits(type));
  for (int i = 0; i < op.m; ++i) {
    const AccumulatorCell at = accumulator_cell(layout, i, 0, op.n);
    const uint32_t lane = op.a_tmem.lane() + at.lane;
    TensorMemory& tmem = *memories(op, at.cta).tmem;
    for (int j = 0; j < k; ++j) {
      const uint32_t cell = tmem.cell(lane, op.a_tmem.column() + uint32_t(j) / per_cell);
      const uint32_t bits =
          per_cell == 1 ? cell : cell >> (uint32_t(j) % per_cell * (32 / per_cell)) & ((1u << (32 / per_cell)) - 1);
      a_[size_t(i * k_total + k_offset + j)] = (op.idesc.negate_a ? -1.f : 1.f) * decode(type, bits);
    }
  }
}

void UmmaNumerics::read_b(const MmaOperation& op, int k_offset, int k_total) {
  const DataType type = b_data_type(op.kind, op.idesc.b_type).type;
  const int rows = rows_per_cta(op, false);
  for (int cta = 0; cta < op.cta_group; ++cta)
    read_operand(*memories(op, uint32_t(cta)).smem, op.b, op.idesc.transpose_b ? Major::mn : Major::k, type,
                 op.idesc.negate_b, rows, mma_k(op.kind), b_.data() + cta * rows * k_total + k_offset, k_total);
}

void UmmaNumerics::execute(std::span<const MmaOperation> operations) {
  for (size_t first = 0; first < operations.size();) {
    const MmaOperation& op = operations[first];
    // MMAs that only accumulate into the same D with the same shape are one product over a longer K.
    size_t last = first + 1;
    if (accumulation_ == Accumulation::fast && op.idesc.d_type == 1)
      while (last < operations.size() && last - first < 16 && operations[last].enable_input_d &&
             operations[last].d == op.d && operations[last].m == op.m && operations[last].n == op.n &&
             operations[last].kind == op.kind && operations[last].cta_group == op.cta_group &&
             operations[last].idesc.d_type == op.idesc.d_type)
        ++last;
    const int k = mma_k(op.kind), k_total = k * int(last - first);
    a_.resize(size_t(op.m * k_total));
    b_.resize(size_t(op.n * k_total));
    for (size_t i = first; i < last; ++i) {
      read_a(operations[i], k * int(i - first), k_total);
      read_b(operations[i], k * int(i - first), k_total);
    }
    write_d(op, k_total);
    first = last;
  }
}

void UmmaNumerics::write_d(const MmaOperation& op, int k_total) {
  const DataPathLayout layout = data_path_layout(op.m, op.cta_group);
  if (accumulation_ == Accumulation::fast && op.idesc.d_type == 1 && layout == DataPathLayout::d) {
    float* d = own_.tmem->lane(op.d.lane()) + op.d.column();
    multiply(op, k_total, d, ptrdiff_t(kTmemColumns), op.enable_input_d);
    return;
  }
  product_.resize(size_t(op.m * op.n));
  if (accumulation_ == Accumulation::fast) multiply(op, k_total, product_.data(), op.n, false);
  // Layout B lays the two halves of the columns over each other; everywhere else a row lies in one lane.
  const int part = int(accumulator_columns(layout, uint32_t(op.n)));
  for (int m = 0; m < op.m; ++m)
    for (int first = 0; first < op.n; first += part) write_row(op, layout, m, first, part, k_total);
}

void UmmaNumerics::multiply(const MmaOperation& op, int k_total, float* d, ptrdiff_t d_stride, bool accumulate) {
  vector::kernels().product_f32({.m = op.m,
                                 .n = op.n,
                                 .k = k_total,
                                 .a = a_.data(),
                                 .a_stride = k_total,
                                 .b = b_.data(),
                                 .b_stride = k_total,
                                 .d = d,
                                 .d_stride = d_stride,
                                 .accumulate = accumulate});
}

/// Columns `first` ... `first + count` of row m of D, which lie side by side in one lane.
void UmmaNumerics::write_row(const MmaOperation& op, DataPathLayout layout, int m, int first, int count,
                             int k_total) {
  const bool f16_d = op.idesc.d_type == 0;
  const AccumulatorCell at = accumulator_cell(layout, m, first, op.n);
  float* d = memories(op, at.cta).tmem->lane(op.d.lane() + at.lane) + op.d.column();
  const float* row = &product_[size_t(m * op.n + first)];
  if (accumulation_ == Accumulation::b200) {
    for (int n = 0; n < count; ++n) {
      const float c = f16_d ? decode_f16(uint16_t(as_bits(d[n]))) : d[n];
      const uint32_t bits =
          fused_dot_b200(&a_[size_t(m * k_total)], &b_[size_t((first + n) * k_total)], k_total, c,
                         op.enable_input_d, min_exponent(a_data_type(op.kind, op.idesc.a_type).type),
                         min_exponent(b_data_type(op.kind, op.idesc.b_type).type), f16_d);
      d[n] = f16_d ? as_float(cvt_rn_f16_f32(as_float(bits))) : as_float(bits);
    }
  } else if (f16_d) {
    for (int n = 0; n < count; ++n) {
      const float c = op.enable_input_d ? decode_f16(uint16_t(as_bits(d[n]))) : 0.f;
      d[n] = as_float(cvt_rn_f16_f32(c + row[n]));
    }
  } else if (op.enable_input_d) {
    for (int n = 0; n < count; ++n) d[n] = vector::added(d[n], row[n]);
  } else {
    std::copy_n(row, count, d);  // D is not read: garbage in it does not matter
  }
}

}  // namespace sm100::models
