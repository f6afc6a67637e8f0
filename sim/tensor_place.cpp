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

std::string beside_tensors(const models::MemorySystem& memory, GlobalAddr address, uint64_t bytes) {
  constexpr uint64_t kNear = uint64_t{1} << 32;  // further off it is no index that is wrong
  const Placed* tensor = memory.nearest(address);
  if (!tensor) return {};
  const auto count = [](uint64_t n) { return fmt::format("{} byte{}", grouped(int64_t(n)), n == 1 ? "" : "s"); };
  if (address.value < tensor->base) {
    const uint64_t before = tensor->base - address.value;
    return before > kNear ? ""
                          : fmt::format(": {} before the beginning of {}", count(before), tensor->name) +
                                (bytes > before ? ", and reaches into it" : "");
  }
  const uint64_t end = tensor->base + tensor->bytes;
  const std::string shape =
      is_matrix(*tensor) ? fmt::format("{} x {} {}", grouped(tensor->rows), grouped(tensor->columns), tensor->type)
                         : count(tensor->bytes);
  if (address.value < end) {
    if (bytes <= end - address.value) return {};  // without bytes in this run
    const uint64_t beyond = address.value + bytes - end;
    return fmt::format(": the last {} of it past the end of {} ({})",
                       beyond == 1 ? "byte" : fmt::format("{} bytes", beyond), tensor->name, shape);
  }
  if (address.value - end > kNear) return {};
  return fmt::format(": {} the end of {} ({}{}",
                     address.value == end ? "right at" : count(address.value - end) + " past", tensor->name, shape,
                     is_matrix(*tensor)
                         ? fmt::format("), where {} would be", element_text(*tensor, address.value - tensor->base))
                         : ")");
}

}  // namespace sm100::sim
