// SPDX-License-Identifier: Apache-2.0
#include "sim/tensor_place.h"

#include <fmt/format.h>

#include "sim/text.h"

namespace sm100::sim {
namespace {

using Placed = models::MemorySystem::Placed;

/// "row 130, column 0": of a matrix, whose rows may go on behind its end.
std::string element_text(const Placed& tensor, uint64_t offset) {
  const auto elements = uint64_t(tensor.rows * tensor.columns);
  const uint64_t element = offset * 8 / (tensor.bytes * 8 / elements);
  return fmt::format("row {}, column {}", grouped(int64_t(element / uint64_t(tensor.columns))),
                     grouped(int64_t(element % uint64_t(tensor.columns))));
}

bool is_matrix(const Placed& tensor) {
  return tensor.rows > 0 && tensor.columns > 0 && tensor.bytes * 8 >= uint64_t(tensor.rows * tensor.columns);
}

}  // namespace

std::string tensor_place(const models::MemorySystem& memory, GlobalAddr address) {
  const Placed* tensor = memory.nearest(address);
  if (!tensor || !tensor->holds(address.value)) return {};
  const uint64_t offset = address.value - tensor->base;
  return is_matrix(*tensor) ? fmt::format("{}, {}", tensor->name, element_text(*tensor, offset))
                            : fmt::format("{}, byte {}", tensor->name, grouped(int64_t(offset)));
}

}  // namespace sm100::sim
