// SPDX-License-Identifier: Apache-2.0
#include "exec/launch.h"

#include <fmt/format.h>

#include "ptx/cpp_names.h"

namespace sm100::exec {
namespace {

/// "4 x 2", without ones at the end.
std::string extents(const uint32_t (&d)[3]) {
  if (d[2] > 1) return fmt::format("{} x {} x {}", d[0], d[1], d[2]);
  return d[1] > 1 ? fmt::format("{} x {}", d[0], d[1]) : fmt::format("{}", d[0]);
}

}  // namespace

std::string Launch::name() const { return fmt::format("launch {}", number); }

std::string Launch::title() const {
  std::string text = fmt::format("{}, grid {} of {} threads", ptx::function_name(std::string(code().name)),
                                 extents(shape.grid), extents(shape.block));
  if (shape.cluster[0] * shape.cluster[1] * shape.cluster[2] > 1)
    text += fmt::format(", clusters of {}", extents(shape.cluster));
  return text;
}

}  // namespace sm100::exec
