// SPDX-License-Identifier: Apache-2.0
#include "models/wgmma_numerics.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "kernels/isa/lane_array.h"
#include "kernels/isa/number_formats.h"
#include "models/numerics/fused_dot.h"
#include "models/umma_operands.h"
#include "models/vector/kernels.h"

namespace sm100::models {

namespace {

bool is_fp8(DataType type) { return type == DataType::e4m3 || type == DataType::e5m2; }

float value_of(DataType type, const uint8_t* bytes) {
  uint32_t bits = 0;
  std::memcpy(&bits, bytes, container_bytes(type));
  return decode(type, bits);
}

}  // namespace

OperandFormat operand_format(const WgmmaForm& form, bool a) {
  return {.kind = MmaKind::f16,
          .type = a ? form.a : form.b,
          .major = a ? form.a_major : form.b_major,
          .negate = a ? form.negate_a : form.negate_b,
          .row_bytes = wgmma_row_bytes(form, a)};
}

void WgmmaNumerics::read_a_registers(const WgmmaOperation& op) {
  const int bytes = int(container_bytes(op.form.a)), per_register = 4 / bytes, terms = wgmma_terms(op.form);
  const float sign = op.form.negate_a ? -1.f : 1.f;
  for (int w = 0; w < kWarpgroupWarps; ++w)
    for (int lane = 0; lane < kWarpLanes; ++lane)
      for (int r = 0; r < kWgmmaARegisters; ++r) {
        const WgmmaCell at = wgmma_a_cell(w, lane, r);
        uint8_t held[4];
        std::memcpy(held, &op.a_registers[size_t(w)][size_t(lane * kWgmmaARegisters + r)], sizeof held);
        for (int e = 0; e < per_register; ++e)
          a_[size_t(at.row * terms + at.column / bytes + e)] = sign * value_of(op.form.a, held + e * bytes);
      }
}

void WgmmaNumerics::read_metadata(const WgmmaOperation& op) {
  constexpr int kWarpRows = kWgmmaM / kWarpgroupWarps;
  const int chunk = wgmma_chunk(op.form), chunks = wgmma_k(op.form) / chunk;
  places_.clear();
  for (int row = 0; row < kWgmmaM; ++row)
    for (int c = 0; c < chunks; ++c) {
      const WgmmaMetadataBits at = wgmma_metadata_bits(op.form, row % kWarpRows, c);
      const uint32_t bits = op.metadata[size_t(row / kWarpRows)][size_t(at.lane)] >> at.shift;
      if (chunk == 2) {
        places_.push_back(uint8_t(2 * c + int(bits >> 1 & 1)));
      } else {
        places_.push_back(uint8_t(4 * c + int(bits & 3)));
        places_.push_back(uint8_t(4 * c + int(bits >> 2 & 3)));
      }
    }
}

void WgmmaNumerics::sum_products(const WgmmaForm& form) {
  sums_.resize(size_t(kWgmmaM * form.n));
  if (form.sparse) return sum_sparse_products(form);
  const int k = wgmma_k(form);
  vector::kernels().product_f32({.m = kWgmmaM,
                                 .n = form.n,
                                 .k = k,
                                 .a = a_.data(),
                                 .a_stride = k,
                                 .b = b_.data(),
                                 .b_stride = k,
                                 .d = sums_.data(),
                                 .d_stride = form.n,
                                 .accumulate = false});
}

/// The columns of a row side by side.
void WgmmaNumerics::sum_sparse_products(const WgmmaForm& form) {
  const int k = wgmma_k(form), terms = wgmma_terms(form), n = form.n;
  std::vector<float> rows_of_b(size_t(k * n));
  for (int column = 0; column < n; ++column)
    for (int i = 0; i < k; ++i) rows_of_b[size_t(i * n + column)] = b_[size_t(column * k + i)];
  for (int row = 0; row < kWgmmaM; ++row) {
    float* const to = &sums_[size_t(row * n)];
    std::fill_n(to, n, 0.f);
    for (int i = row * terms; i < (row + 1) * terms; ++i) {
      const float* const from = &rows_of_b[size_t(places_[size_t(i)] * n)];
      for (int column = 0; column < n; ++column) to[column] += a_[size_t(i)] * from[column];
    }
  }
}

const float* WgmmaNumerics::beside(const WgmmaForm& form, int row, int column) {
  const float* const of_b = &b_[size_t(column * wgmma_k(form))];
  if (!form.sparse) return of_b;
  const int terms = wgmma_terms(form);
  met_.resize(size_t(terms));
  for (int i = 0; i < terms; ++i) met_[size_t(i)] = of_b[places_[size_t(row * terms + i)]];
  return met_.data();
}

uint32_t WgmmaNumerics::element(const WgmmaOperation& op, int row, int column, uint32_t old) {
  const WgmmaForm& form = op.form;
  const float sum = sums_.empty() ? 0.f : sums_[size_t(row * form.n + column)];
  if (form.d == WgmmaD::s32) {
    const int64_t total = int64_t(sum) + (op.scale_d ? int32_t(old) : 0);
    using Limits = std::numeric_limits<int32_t>;
    return uint32_t(form.saturate ? std::clamp<int64_t>(total, Limits::min(), Limits::max()) : total);
  }
  const bool f16_d = form.d == WgmmaD::f16;
  const float c = !op.scale_d ? 0.f : f16_d ? decode_f16(uint16_t(old)) : std::bit_cast<float>(old);
  if (accumulation_ == Accumulation::fast) {
    const float result = op.scale_d ? vector::added(c, sum) : sum;
    return f16_d ? cvt_rn_f16_f32(result) : std::bit_cast<uint32_t>(result);
  }
  const int terms = wgmma_terms(form);
  const bool fp8 = is_fp8(form.a);
  const WgmmaSum kind = f16_d ? (fp8 ? WgmmaSum::fp8_f16 : WgmmaSum::f16) : fp8 ? WgmmaSum::fp8_f32 : WgmmaSum::f32;
  const uint32_t bits = fused_dot_wgmma(&a_[size_t(row * terms)], beside(form, row, column), terms, c, op.scale_d,
                                        min_exponent(form.a), min_exponent(form.b), kind);
  return f16_d ? cvt_rn_f16_f32(std::bit_cast<float>(bits)) : bits;
}

void WgmmaNumerics::execute(const WgmmaOperation& op) {
  const WgmmaForm& form = op.form;
  const int k = wgmma_k(form), terms = wgmma_terms(form);
  a_.resize(size_t(kWgmmaM * terms)), b_.resize(size_t(form.n * k));
  if (form.a_in_registers)
    read_a_registers(op);
  else
    read_operand(smem_, op.a, operand_format(form, true), kWgmmaM, a_.data(), terms);
  read_operand(smem_, op.b, operand_format(form, false), form.n, b_.data(), k);
  if (form.sparse) read_metadata(op);
  sums_.clear();
  if (accumulation_ == Accumulation::fast || form.d == WgmmaD::s32) sum_products(form);
  const int registers = wgmma_d_registers(form), halves = form.d == WgmmaD::f16 ? 2 : 1, bits = 32 / halves;
  for (int w = 0; w < kWarpgroupWarps; ++w)
    for (int lane = 0; lane < kWarpLanes; ++lane)
      for (int r = 0; r < registers; ++r) {
        uint32_t& held = op.d[size_t(w)][lane * registers + r];
        uint32_t written = 0;
        for (int half = 0; half < halves; ++half) {
          const WgmmaCell at = wgmma_d_cell(w, lane, r * halves + half);
          const uint32_t old = halves == 1 ? held : held >> (bits * half) & 0xffff;
          written |= element(op, at.row, at.column, old) << (bits * half);
        }
        held = written;
      }
}

}  // namespace sm100::models
