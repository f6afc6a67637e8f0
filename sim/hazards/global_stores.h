// SPDX-License-Identifier: Apache-2.0
/// Which store of a warp was the last to each byte of global memory: of the pages that warps have stored to, a
/// number for every word, or for every byte once somebody has stored less than a word there.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace sm100::sim {

class GlobalStores {
 public:
  /// Of a store that the caller knows, from 1.
  using Number = uint32_t;

  /// Calls f(the number of the last store, address) where that was another one, once in a row for each; then
  /// `number` is the last one.
  template <class F>
  void store(uint64_t address, uint32_t bytes, Number number, F&& f) {
    const uint64_t in_page = kPage - address % kPage;
    if (bytes > in_page) {  // misaligned: an error of its own
      store(address + in_page, uint32_t(bytes - in_page), number, f);
      bytes = uint32_t(in_page);
    }
    Page& page = page_of(address / kPage);
    if (page.grain == kWord && (address % kWord != 0 || bytes % kWord != 0)) split(page);
    Number* const by = page.last.data() + address % kPage / page.grain;
    Number before = 0;
    for (uint32_t i = 0; i < bytes / page.grain; ++i) {
      if (by[i] != 0 && by[i] != number && by[i] != before) f(before = by[i], address + i * page.grain);
      by[i] = number;
    }
  }

 private:
  static constexpr uint64_t kPage = 4096;
  static constexpr uint32_t kWord = 4;
  struct Page {
    uint32_t grain = kWord;
    std::vector<Number> last = std::vector<Number>(kPage / kWord, 0);
  };
  Page& page_of(uint64_t number) {
    if (number != found_) found_ = number, page_ = &pages_[number];
    return *page_;
  }
  static void split(Page& page) {
    std::vector<Number> bytes(kPage);
    for (size_t i = 0; i < kPage; ++i) bytes[i] = page.last[i / kWord];
    page.last = std::move(bytes), page.grain = 1;
  }

  std::unordered_map<uint64_t, Page> pages_;
  uint64_t found_ = ~uint64_t{0};  ///< the last one: lanes are neighbours
  Page* page_ = nullptr;
};

}  // namespace sm100::sim
