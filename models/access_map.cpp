// SPDX-License-Identifier: Apache-2.0
#include "models/access_map.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace sm100::models {

AccessMap::Page& AccessMap::page(uint64_t number) {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = pages_.find(number); found != pages_.end()) return *found->second;
  }
  const std::unique_lock lock(mutex_);
  std::unique_ptr<Page>& page = pages_[number];
  if (!page) page = std::make_unique<Page>();
  return *page;
}

void AccessMap::add(uint64_t address, uint64_t bytes, AccessClass kind, Cursor& cursor) {
  const uint64_t end = address + bytes;
  for (uint64_t at = address; at < end;) {
    const uint64_t page_end = std::min(end, (at / kPageBytes + 1) * kPageBytes);
    if (cursor.number != at / kPageBytes) cursor = {at / kPageBytes, &page(at / kPageBytes)};
    auto& words = cursor.page->bits[size_t(kind)];
    for (; at < page_end;) {
      const uint64_t first = at % kWordBits, count = std::min(kWordBits - first, page_end - at);
      const uint64_t mask = (count == kWordBits ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first;
      std::atomic<uint64_t>& word = words[at % kPageBytes / kWordBits];
      if ((word.load(std::memory_order_relaxed) & mask) != mask) word.fetch_or(mask, std::memory_order_relaxed);
      at += count;
    }
  }
}

std::vector<ByteRange> AccessMap::ranges(AccessClass kind) const {
  std::vector<ByteRange> all;
  const auto add = [&](uint64_t begin, uint64_t end) {
    if (!all.empty() && all.back().end == begin)
      all.back().end = end;
    else
      all.push_back({begin, end});
  };
  for (const auto& [number, page] : pages_)
    for (size_t w = 0; w < page->bits[size_t(kind)].size(); ++w) {
      uint64_t bits = page->bits[size_t(kind)][w].load(std::memory_order_relaxed);
      const uint64_t base = number * kPageBytes + w * kWordBits;
      while (bits != 0) {
        const int first = std::countr_zero(bits), count = std::countr_one(bits >> first);
        add(base + uint64_t(first), base + uint64_t(first + count));
        bits &= first + count == int(kWordBits) ? 0 : ~uint64_t{0} << (first + count);
      }
    }
  return all;
}

}  // namespace sm100::models
