// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/minimise.h"

#include <algorithm>

namespace sm100::sim {

namespace {

struct Range {
  size_t begin, end;
};

std::vector<Range> chunks_of(size_t size, size_t parts) {
  std::vector<Range> chunks;
  for (size_t i = 0; i < parts; ++i) chunks.push_back({size * i / parts, size * (i + 1) / parts});
  return chunks;
}

Delays without(const Delays& all, const std::vector<Range>& removed) {
  Delays left;
  for (size_t i = 0; i < all.size(); ++i)
    if (std::none_of(removed.begin(), removed.end(), [&](Range r) { return r.begin <= i && i < r.end; }))
      left.push_back(all[i]);
  return left;
}

}  // namespace

Delays smallest_subset(Delays failing, const Reproduce& reproduce,
                       const std::function<void(const Delays&)>& progress) {
  for (size_t parts = 2; !failing.empty();) {
    parts = std::min(parts, failing.size());
    const std::vector<Range> chunks = chunks_of(failing.size(), parts);
    const std::vector<bool> reproduced =
        reproduce(chunks.size(), [&](size_t i) { return without(failing, {chunks[i]}); });
    std::vector<Range> removable;
    for (size_t i = 0; i < chunks.size(); ++i)
      if (reproduced[i]) removable.push_back(chunks[i]);
    if (removable.empty()) {
      if (parts == failing.size()) return failing;
      parts *= 2;
      continue;
    }
    // Chunks that can go one at a time can mostly go together; if not, half of them, and at last the first alone.
    while (removable.size() > 1 && !reproduce(1, [&](size_t) { return without(failing, removable); })[0])
      removable.resize((removable.size() + 1) / 2);
    failing = without(failing, removable);
    if (progress) progress(failing);
    parts = std::max<size_t>(2, 2 * (chunks.size() - removable.size()));
  }
  return failing;
}

Delays fewer_but_longer(Delays failing, const std::function<uint64_t(const models::Delay&)>& longest,
                        const Reproduce& reproduce) {
  while (failing.size() > 1) {
    const auto candidate = [&](size_t i) {
      Delays others = without(failing, {{i, i + 1}});
      for (models::Delay& d : others) d.cycles = std::max(d.cycles, longest(d));
      return others;
    };
    const std::vector<bool> reproduced = reproduce(failing.size(), candidate);
    const auto first = std::find(reproduced.begin(), reproduced.end(), true);
    if (first == reproduced.end()) break;
    failing = candidate(size_t(first - reproduced.begin()));
  }
  return failing;
}

Delays shortest_cycles(Delays failing, const Reproduce& reproduce) {
  constexpr uint64_t kProbes = 3;  // at once, between what is too short and what is enough
  for (size_t i = 0; i < failing.size(); ++i) {
    uint64_t too_short = 0, enough = failing[i].cycles;
    while (enough - too_short > 1) {
      std::vector<uint64_t> probes;
      for (uint64_t p = 1; p <= kProbes; ++p)
        if (const uint64_t at = too_short + (enough - too_short) * p / (kProbes + 1); at > too_short)
          probes.push_back(at);
      const std::vector<bool> reproduced = reproduce(probes.size(), [&](size_t p) {
        Delays shorter = failing;
        shorter[i].cycles = probes[p];
        return shorter;
      });
      const size_t first = size_t(std::find(reproduced.begin(), reproduced.end(), true) - reproduced.begin());
      if (first < probes.size()) enough = probes[first];
      if (first > 0) too_short = probes[first - 1];
    }
    failing[i].cycles = enough;
  }
  return failing;
}

}  // namespace sm100::sim
