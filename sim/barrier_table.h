// SPDX-License-Identifier: Apache-2.0
/// Rows of barriers that no kernel has stated, with the texts that they point to.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kernels/pipeline/barrier_array.h"

namespace sm100::sim {

struct BarrierTable {
  std::vector<BarrierArray> rows;
  /// What has the rows needs these as well.
  std::shared_ptr<std::set<std::string>> texts = std::make_shared<std::set<std::string>>();

  const char* keep(const std::string& text) { return texts->insert(text).first->c_str(); }
};

}  // namespace sm100::sim
