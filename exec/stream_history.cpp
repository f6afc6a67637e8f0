// SPDX-License-Identifier: Apache-2.0
#include "exec/stream_history.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "sim/text.h"

namespace sm100::exec {
namespace {

using models::AccessClass;
using models::ByteRange;

constexpr uint8_t kNonBlocking = 1;

uint64_t count_of(const std::vector<WorkCount>& counts, uint64_t stream) {
  const auto found =
      std::find_if(counts.begin(), counts.end(), [&](const WorkCount& c) { return c.stream == stream; });
  return found == counts.end() ? 0 : found->count;
}

/// Of two ascending lists; nothing: they share no byte.
std::optional<ByteRange> shared(const std::vector<ByteRange>& a, const std::vector<ByteRange>& b) {
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const ByteRange both{std::max(a[i].begin, b[j].begin), std::min(a[i].end, b[j].end)};
    if (both.begin < both.end) return both;
    a[i].end < b[j].end ? ++i : ++j;
  }
  return std::nullopt;
}

/// Ascending, and none overlaps another.
void tidy(std::vector<ByteRange>& ranges) {
  if (std::adjacent_find(ranges.begin(), ranges.end(),
                         [](const ByteRange& a, const ByteRange& b) { return a.end >= b.begin; }) == ranges.end() &&
      std::none_of(ranges.begin(), ranges.end(), [](const ByteRange& r) { return r.begin == r.end; }))
    return;
  std::sort(ranges.begin(), ranges.end(), [](const ByteRange& a, const ByteRange& b) { return a.begin < b.begin; });
  size_t kept = 0;
  for (const ByteRange& range : ranges) {
    if (range.begin == range.end) continue;
    if (kept > 0 && range.begin <= ranges[kept - 1].end)
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

/// `ranges` without what lies in `taken`; both are ascending.
std::vector<ByteRange> without(const std::vector<ByteRange>& ranges, const std::vector<ByteRange>& taken) {
  std::vector<ByteRange> left;
  size_t t = 0;
  for (ByteRange range : ranges) {
    while (t < taken.size() && taken[t].end <= range.begin) ++t;
    for (size_t u = t; u < taken.size() && taken[u].begin < range.end; ++u) {
      if (range.begin < taken[u].begin) left.push_back({range.begin, taken[u].begin});
      range.begin = std::min(range.end, taken[u].end);
    }
    if (range.begin < range.end) left.push_back(range);
  }
  return left;
}

}  // namespace

std::optional<Race> StreamHistory::race_between(const Work& earlier, const Work& later) {
  struct Pair {
    AccessClass first, second;
    bool first_writes, second_writes;
  };
  using enum AccessClass;
  // Strong accesses may meet strong ones.
  constexpr Pair kPairs[] = {
      {write, read, true, false}, {write, strong_read, true, false}, {strong_write, read, true, false},
      {read, write, false, true}, {strong_read, write, false, true}, {read, strong_write, false, true},
      {write, write, true, true}, {write, strong_write, true, true}, {strong_write, write, true, true}};
  for (const Pair& pair : kPairs)
    if (const auto both = shared(earlier.footprint.of[size_t(pair.first)], later.footprint.of[size_t(pair.second)]))
      return Race{.earlier = earlier.name,
                  .later = later.name,
                  .kinds = earlier.kind + ", " + later.kind,
                  .first_writes = pair.first_writes,
                  .second_writes = pair.second_writes,
                  .address = both->begin,
                  .bytes = both->end - both->begin,
                  .ignores_default = (earlier.stream == 0 && (later.stream_flags & kNonBlocking) != 0) ||
                                     (later.stream == 0 && (earlier.stream_flags & kNonBlocking) != 0)};
  return std::nullopt;
}

std::vector<Race> StreamHistory::add(const std::string& name, const std::string& kind, const WorkOrder& order,
                                     Footprint footprint) {
  // What the host has waited for comes before all that is still to be called.
  std::erase_if(open_, [&](const Work& work) { return work.count <= count_of(order.waited, work.stream); });
  for (auto& ranges : footprint.of) tidy(ranges);
  Work later{.name = name,
             .kind = kind,
             .stream = order.stream,
             .count = order.count,
             .stream_flags = order.stream_flags,
             .footprint = std::move(footprint)};
  std::vector<Race> races;
  for (auto earlier = open_.rbegin(); earlier != open_.rend(); ++earlier)
    if (earlier->stream != later.stream && earlier->count > count_of(order.after, earlier->stream))
      if (std::optional<Race> race = race_between(*earlier, later)) races.push_back(std::move(*race));
  // Whoever may run beside an access of a stream may run beside the stream's later ones.
  for (Work& work : open_)
    for (size_t kind = 0; work.stream == later.stream && kind < std::size(work.footprint.of); ++kind)
      if (shared(work.footprint.of[kind], later.footprint.of[kind]))
        work.footprint.of[kind] = without(work.footprint.of[kind], later.footprint.of[kind]);
  std::erase_if(open_, [](const Work& work) {
    return std::all_of(std::begin(work.footprint.of), std::end(work.footprint.of),
                       [](const auto& ranges) { return ranges.empty(); });
  });
  open_.push_back(std::move(later));
  if (open_.size() > kMost) open_.pop_front(), incomplete_ = true;
  return races;
}

void StreamHistory::forget(const Block& block) {
  const std::vector<ByteRange> gone = {{block.address, block.address + block.bytes}};
  for (Work& work : open_)
    for (auto& ranges : work.footprint.of) ranges = without(ranges, gone);
}

std::string Race::text(const std::string& where) const {
  const auto does = [](bool writes) { return writes ? "writes" : "reads"; };
  return fmt::format(
      "{} {} {} that {} {} ({}), and nothing orders one behind the other: on a device they may run at once.  {}",
      later, does(second_writes), bytes == 1 ? "a byte" : sim::grouped(int64_t(bytes)) + " bytes", earlier,
      does(first_writes), where,
      ignores_default
          ? "A stream that was created with cudaStreamNonBlocking and the default stream do not wait for "
            "each other; cudaEventRecord and cudaStreamWaitEvent order them, or a synchronisation"
          : "What is missing is cudaEventRecord behind the one and cudaStreamWaitEvent ahead of the "
            "other, or a synchronisation between the calls");
}

}  // namespace sm100::exec
