// SPDX-License-Identifier: Apache-2.0
#include "models/launch_order.h"

#include <utility>

namespace sm100::models {

void LaunchOrder::add(int stream, const std::vector<int>& after) {
  const int launch = launches();
  int ahead = launch - 1;
  while (ahead >= 0 && streams_[std::size_t(ahead)] != stream) --ahead;
  std::vector<bool> before(std::size_t(launch), false);
  const auto follow = [&](int earlier) {
    before[std::size_t(earlier)] = true;
    for (std::size_t i = 0; i < before_[std::size_t(earlier)].size(); ++i)
      if (before_[std::size_t(earlier)][i]) before[i] = true;
  };
  if (ahead >= 0) {
    follow(ahead);
    behind_[std::size_t(ahead)] = launch;
  }
  for (const int earlier : after) follow(earlier);
  streams_.push_back(stream);
  ahead_.push_back(ahead);
  behind_.push_back(-1);
  before_.push_back(std::move(before));
}

}  // namespace sm100::models
