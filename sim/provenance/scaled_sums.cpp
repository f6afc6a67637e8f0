// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/scaled_sums.h"

#include <cmath>
#include <cstring>

namespace sm100::sim::provenance {

ScaleValues::Range ScaleValues::range_of(const host::ExpectedMatrix& m, int64_t blocks) {
  const uint64_t ahead = m.along_k() ? 0 : uint64_t(blocks - 1) * m.k_pitch;
  return {m.address, m.address + ahead + uint64_t(m.rows) * m.pitch};
}

ScaleValues::ScaleValues(const host::ExpectedMatrix& m, int64_t blocks, Range range, const uint8_t* bytes)
    : rows_(m.rows), blocks_(blocks), type_(*m.type), address_(m.address) {
  const uint64_t size = uint64_t(m.bits) / 8;
  row_pitch_ = int64_t(m.pitch / size);
  block_pitch_ = m.along_k() ? 1 : int64_t(m.k_pitch / size);
  before_ = int64_t((m.address - range.begin) / size);
  bits_.resize((range.end - range.begin) / size);
  for (size_t i = 0; i < bits_.size(); ++i) std::memcpy(&bits_[i], bytes + i * size, size);
}

std::optional<uint32_t> ScaleValues::bits_at(int64_t i) const {
  i += before_;
  return i >= 0 && i < int64_t(bits_.size()) ? std::optional(bits_[size_t(i)]) : std::nullopt;
}

std::optional<double> ScaleValues::at(int64_t i) const {
  const std::optional<uint32_t> bits = bits_at(i);
  return bits ? std::optional(double(decode(type_, *bits))) : std::nullopt;
}

ScaleOf ScaledSums::right_a() const {
  return [this](const WrongValue& w, int64_t part) { return a_.at(index_of_a(w, part)); };
}

ScaleOf ScaledSums::right_b() const {
  return [this](const WrongValue& w, int64_t part) { return b_.at(index_of_b(w, part)); };
}

std::optional<Guessed> ScaledSums::unscaled(const WrongValue& w, const ScaleOf& a, const ScaleOf& b) const {
  Guessed sum;
  for (int64_t part = 0; part < parts(); ++part) {
    const std::optional<double> of_a = a(w, part), of_b = of_a ? b(w, part) : std::nullopt;
    if (!of_b) return std::nullopt;
    const double product = x(w, part) * *of_a * *of_b;
    sum.value += product, sum.size += std::abs(product);
  }
  return sum;
}

std::optional<Guessed> ScaledSums::of(const WrongValue& w, const ScaleOf& a, const ScaleOf& b) const {
  std::optional<Guessed> sum = unscaled(w, a, b);
  if (sum) sum->value *= factor_, sum->size *= std::abs(factor_);
  return sum;
}

}  // namespace sm100::sim::provenance
