// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/map_differences.h"

#include <fmt/format.h>

#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

constexpr uint64_t kScaleAtomBytesOfMap = 512;  ///< of 128 rows x 4 scales
constexpr int64_t kScaleAtomRowsOfMap = 128;

std::string bytes_text(uint64_t bytes) { return grouped(int64_t(bytes)); }

/// Scale factors in atoms: {512 bytes, atoms along K, groups of 128 rows}.
std::optional<MapDifference> difference_of_scales(const host::ExpectedMatrix& m, const std::string& name,
                                                  const TensorMapFields& map) {
  if (map.rank != 3) return std::nullopt;
  const uint64_t atoms = m.pitch / kScaleAtomBytesOfMap,
                 groups = uint64_t(m.rows + kScaleAtomRowsOfMap - 1) / kScaleAtomRowsOfMap;
  if (map.global_stride[1] != m.pitch)
    return MapDifference{
        .text = fmt::format("the tensor map of {} has {} bytes from one group of 128 rows to the next, where {} "
                            "has {}: its stride is wrong",
                            name, bytes_text(map.global_stride[1]), name, bytes_text(m.pitch)),
        .of_pitch = true};
  if (map.global_dim[1] < atoms || map.global_dim[2] < groups)
    return MapDifference{
        .text = fmt::format("the tensor map of {} has {} atoms along K and {} along the rows, where {} has {} and "
                            "{}: its dimensions are wrong",
                            name, map.global_dim[1], map.global_dim[2], name, atoms, groups)};
  return std::nullopt;
}

/// @param row_bits  of a row's elements
std::optional<MapDifference> difference_of_rows(const host::ExpectedMatrix& m, const std::string& name,
                                                uint64_t row_bits, const TensorMapFields& map) {
  if (map.rank != 2 || !m.along_k()) return std::nullopt;
  if (map.global_stride[0] != m.pitch)
    return MapDifference{
        .text = fmt::format("the tensor map of {} has {} bytes from a row to the next, where rows of {} lie {} "
                            "bytes apart: its stride is wrong",
                            name, bytes_text(map.global_stride[0]), name, bytes_text(m.pitch)),
        .of_pitch = true};
  const uint64_t bits = map.global_dim[0] * element_bits(map.data_type);
  if (bits < row_bits || map.global_dim[1] < uint64_t(m.rows))
    return MapDifference{
        .text = fmt::format("the tensor map of {} has {} rows of {} bytes, where {} has {} of {}: its dimensions "
                            "are wrong",
                            name, grouped(int64_t(map.global_dim[1])), bytes_text(bits / 8), name, grouped(m.rows),
                            bytes_text(row_bits / 8))};
  return std::nullopt;
}

}  // namespace

namespace {

enum class Of : uint8_t { a, b, c, sfa, sfb };

/// nullptr: the product has none.
const host::ExpectedMatrix* matrix_of(const host::ExpectedProduct& p, Of which) {
  switch (which) {
    case Of::a: return &p.a;
    case Of::b: return &p.b;
    case Of::c: return &p.c;
    case Of::sfa: return p.sfa ? &*p.sfa : nullptr;
    case Of::sfb: return p.sfb ? &*p.sfb : nullptr;
  }
  return nullptr;
}

/// The map has the stride and the sizes of another tensor of its kind: where it begins, or what it was given as
/// sizes, is that one's.
std::optional<MapDifference> sizes_of_another(const std::vector<host::ExpectedProduct>& products,
                                              const std::string& begins, const host::ExpectedMatrix& own, Of which,
                                              const TensorMapFields& map) {
  const bool scales = which == Of::sfa || which == Of::sfb, output = which == Of::c;
  for (const host::ExpectedProduct& p : products)
    for (const Of other : {Of::a, Of::b, Of::c, Of::sfa, Of::sfb}) {
      const host::ExpectedMatrix* const m = matrix_of(p, other);
      if (!m || m == &own || output != (other == Of::c) || scales != (other == Of::sfa || other == Of::sfb))
        continue;
      const uint64_t row_bits = output ? m->pitch * 8 : uint64_t(p.k) * uint64_t(m->bits),
                     groups = uint64_t(m->rows + kScaleAtomRowsOfMap - 1) / kScaleAtomRowsOfMap;
      const bool same =
          scales ? map.rank == 3 && map.global_stride[1] == m->pitch &&
                       map.global_dim[1] * kScaleAtomBytesOfMap == m->pitch && map.global_dim[2] == groups
                 : map.rank == 2 && map.global_stride[0] == m->pitch && map.global_dim[1] == uint64_t(m->rows) &&
                       map.global_dim[0] * element_bits(map.data_type) == row_bits;
      if (!same) continue;
      const std::string name = p.name.empty() ? m->name : m->name + " of " + p.name;
      return MapDifference{
          .text = fmt::format("a tensor map begins at {}, and has the sizes and the stride of {}: its "
                              "address or its sizes are another's",
                              begins, name),
          .of_pitch = true};
    }
  return std::nullopt;
}

}  // namespace

std::optional<MapDifference> map_difference(const std::vector<host::ExpectedProduct>& products,
                                            const TensorMapFields& map) {
  if (map.im2col || map.rank == 0) return std::nullopt;
  std::optional<MapDifference> difference;
  for (const host::ExpectedProduct& p : products)
    for (const Of which : {Of::a, Of::b, Of::c, Of::sfa, Of::sfb}) {
      const host::ExpectedMatrix* const m = matrix_of(p, which);
      if (!m || m->address != map.global_address) continue;
      const std::string name = p.name.empty() ? m->name : m->name + " of " + p.name;
      const bool scales = which == Of::sfa || which == Of::sfb, output = which == Of::c;
      const uint64_t row_bits = output ? m->pitch * 8 : uint64_t(p.k) * uint64_t(m->bits);
      std::optional<MapDifference> found =
          scales ? difference_of_scales(*m, name, map) : difference_of_rows(*m, name, row_bits, map);
      if (!found) return std::nullopt;  // of several that begin there it is one's
      if (std::optional<MapDifference> another = sizes_of_another(products, name, *m, which, map)) found = another;
      found->of_output = output;
      if (!difference) difference = std::move(found);
    }
  return difference;
}

}  // namespace sm100::sim::provenance
