// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/map_differences.h"

#include <fmt/format.h>

#include <utility>

#include "kernels/isa/scale_layout.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

/// A tensor that maps are made of, as the launch should multiply it.
struct MappedTensor {
  enum class Kind : uint8_t { operand, scales, output };

  std::string name;  ///< "B of group 1"
  const host::ExpectedMatrix* matrix;
  Kind kind;
  uint64_t row_bits;  ///< of an operand's or output's row: its elements

  uint64_t rows() const { return uint64_t(matrix->rows); }
  uint64_t pitch() const { return matrix->pitch; }
  // Scale factors lie in atoms: {512 bytes, atoms along K, groups of 128 rows}.
  bool in_atoms() const { return kind == Kind::scales; }
  uint64_t atoms() const { return pitch() / kScaleAtomBytes; }
  uint64_t groups() const { return (rows() + kScaleAtomRows - 1) / kScaleAtomRows; }

  /// The map has the tensor's dimensions, and does not view it in a way of its own.
  bool is_mapped_by(const TensorMapFields& map) const {
    return in_atoms() ? map.rank == 3 : map.rank == 2 && matrix->along_k();
  }
  uint64_t stride_of(const TensorMapFields& map) const { return map.global_stride[in_atoms() ? 1 : 0]; }
  /// The map says exactly what the tensor is.
  bool is_told_by(const TensorMapFields& map) const {
    if (!is_mapped_by(map) || stride_of(map) != pitch()) return false;
    return in_atoms() ? map.global_dim[1] == atoms() && map.global_dim[2] == groups()
                      : map.global_dim[1] == rows() && bits_of_row(map) == row_bits;
  }
  static uint64_t bits_of_row(const TensorMapFields& map) {
    return map.global_dim[0] * element_bits(map.data_type);
  }
};

std::vector<MappedTensor> tensors_of(const std::vector<host::ExpectedProduct>& products) {
  using Kind = MappedTensor::Kind;
  std::vector<MappedTensor> all;
  for (const host::ExpectedProduct& p : products) {
    const auto add = [&](const host::ExpectedMatrix& m, Kind kind, uint64_t row_bits) {
      all.push_back({p.name.empty() ? m.name : m.name + " of " + p.name, &m, kind, row_bits});
    };
    for (const auto* m : {&p.a, &p.b}) add(*m, Kind::operand, uint64_t(p.k) * uint64_t(m->bits));
    add(p.c, Kind::output, p.c.pitch * 8);
    for (const auto* m : {&p.sfa, &p.sfb})
      if (*m) add(**m, Kind::scales, 0);
  }
  return all;
}

std::string number(uint64_t n) { return grouped(int64_t(n)); }

/// Of a map that begins where the tensor does; nothing: it has the tensor's stride, and reaches all of it.
std::optional<MapDifference> difference_from(const MappedTensor& t, const TensorMapFields& map) {
  if (!t.is_mapped_by(map)) return std::nullopt;
  if (t.stride_of(map) != t.pitch())
    return MapDifference{
        .text =
            t.in_atoms()
                ? fmt::format("the tensor map of {0} has {1} bytes from one group of 128 rows to the next, where "
                              "{0} has {2}: its stride is wrong",
                              t.name, number(t.stride_of(map)), number(t.pitch()))
                : fmt::format("the tensor map of {0} has {1} bytes from a row to the next, where rows of {0} lie "
                              "{2} bytes apart: its stride is wrong",
                              t.name, number(t.stride_of(map)), number(t.pitch())),
        .of_pitch = true};
  if (t.in_atoms()) {
    if (map.global_dim[1] >= t.atoms() && map.global_dim[2] >= t.groups()) return std::nullopt;
    return MapDifference{.text = fmt::format("the tensor map of {0} has {1} atoms along K and {2} along the rows, "
                                             "where {0} has {3} and {4}: its dimensions are wrong",
                                             t.name, map.global_dim[1], map.global_dim[2], t.atoms(), t.groups())};
  }
  const uint64_t bits = MappedTensor::bits_of_row(map);
  if (bits >= t.row_bits && map.global_dim[1] >= t.rows()) return std::nullopt;
  return MapDifference{.text = fmt::format("the tensor map of {0} has {1} rows of {2} bytes, where {0} has {3} of "
                                           "{4}: its dimensions are wrong",
                                           t.name, number(map.global_dim[1]), number(bits / 8), number(t.rows()),
                                           number(t.row_bits / 8))};
}

}  // namespace

std::optional<MapDifference> map_difference(const std::vector<host::ExpectedProduct>& products,
                                            const TensorMapFields& map) {
  if (map.im2col || map.rank == 0) return std::nullopt;
  const std::vector<MappedTensor> tensors = tensors_of(products);
  std::optional<MapDifference> difference;
  for (const MappedTensor& begins : tensors) {
    if (begins.matrix->address != map.global_address) continue;
    std::optional<MapDifference> found = difference_from(begins, map);
    if (!found) return std::nullopt;  // of several that begin there it is one's
    // Where it begins, or what it was given as sizes, may be another's.
    for (const MappedTensor& other : tensors)
      if (other.matrix != begins.matrix && other.kind == begins.kind && other.is_told_by(map)) {
        found = {.text = fmt::format("a tensor map begins at {}, and has the sizes and the stride of {}: its "
                                     "address or its sizes are another's",
                                     begins.name, other.name),
                 .of_pitch = true};
        break;
      }
    found->of_output = begins.kind == MappedTensor::Kind::output;
    found->of_scales = begins.in_atoms();
    if (!difference) difference = std::move(found);
  }
  return difference;
}

}  // namespace sm100::sim::provenance
