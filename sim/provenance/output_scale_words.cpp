// SPDX-License-Identifier: Apache-2.0
// Scales of the output that were put together wrongly in the words that warps store.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "sim/provenance/output_scale_guesses.h"

namespace sm100::sim::provenance {
namespace {

constexpr int kMost = kScaleAtomScales;

/// Neighbours of a row that are stored together.
struct Word {
  std::array<uint32_t, kMost> codes{};  ///< that belong there; 0 beyond the row's end
  uint32_t before = 0;  ///< all that belongs to the words of the row ahead of it, one over the other
};

struct WordGuess {
  std::string text;
  std::function<uint32_t(const Word&)> word;
};

/// @param count  scales of a word
std::vector<WordGuess> word_guesses(int count) {
  std::vector<WordGuess> all;
  const auto bytes = [&](std::string text, auto byte) {
    all.push_back({std::move(text), [=](const Word& w) {
                     uint32_t word = 0;
                     for (int i = 0; i < count; ++i) word |= (byte(w, i) & 0xff) << 8 * i;
                     return word;
                   }});
  };
  const auto code = [=](const Word& w, int i) { return i >= 0 && i < count ? w.codes[size_t(i)] : 0; };
  for (int kept = 1; kept < count; kept *= 2) {
    bytes(fmt::format("the {} scales of a word lie one over the other in its first {}, the others are zero", count,
                      kept == 1 ? "byte" : fmt::format("{} bytes", kept)),
          [=](const Word& w, int i) {
            uint32_t over = 0;
            for (int j = i; i < kept && j < count; j += kept) over |= w.codes[size_t(j)];
            return over;
          });
    const std::string of_them = kept == 1 ? "scale" : fmt::format("{} scales", kept);
    bytes(fmt::format("only the last {} of the {} of a word are there, the others are zero", of_them, count),
          [=](const Word& w, int i) { return i >= count - kept ? code(w, i) : 0; });
    bytes(fmt::format("only the first {} of the {} of a word are there, the others are zero", of_them, count),
          [=](const Word& w, int i) { return i < kept ? code(w, i) : 0; });
    bytes(fmt::format("the first {0} and the last {0} of each {1} have changed places", kept, 2 * kept),
          [=](const Word& w, int i) { return code(w, i ^ kept); });
    bytes(fmt::format("all {} of a word are the same {} again", count, of_them),
          [=](const Word& w, int i) { return code(w, i % kept); });
    bytes(fmt::format("the first of each {} takes the place of all", 2 * kept),
          [=](const Word& w, int i) { return code(w, i - i % (2 * kept)); });
  }
  bytes(fmt::format("the {} of a word lie in the reverse order", count),
        [=](const Word& w, int i) { return code(w, count - 1 - i); });
  bytes("the last of a word takes the place of all", [=](const Word& w, int) { return code(w, count - 1); });
  for (int by = 1; by < count; ++by)
    for (const int step : {by, -by})
      bytes(fmt::format("those of a word lie {} {} {}, zeros behind them", by, by == 1 ? "byte" : "bytes",
                        step > 0 ? "too far along" : "ahead of where they belong"),
            [=](const Word& w, int i) { return code(w, i - step); });
  all.push_back({"those of a word were shifted by 4 bits each, where they have 8", [=](const Word& w) {
                   uint32_t word = 0;
                   for (int i = 0; i < count; ++i) word |= w.codes[size_t(i)] << 4 * i;
                   return word;
                 }});
  all.push_back({"those of a word lie over those of the words before it in the row: it does not begin with zeros",
                 [=](const Word& w) {
                   uint32_t word = w.before;
                   for (int i = 0; i < count; ++i) word |= w.codes[size_t(i)] << 8 * i;
                   return word;
                 }});
  bytes("they are all zero", [](const Word&, int) { return 0u; });
  return all;
}

}  // namespace

std::optional<ScaleClaim> misplaced_bytes(const StoredScales& stored) {
  const OutputBlocks& blocks = stored.blocks;
  const host::ExpectedOutputScales& scales = blocks.scales();
  /// A word of which all scales are known.
  struct Known {
    Word word;
    std::array<const OutputBlock*, kMost> blocks{};
  };
  for (const int count : {4, 2}) {
    std::vector<Known> words;
    int64_t wrong = 0;
    for (int row = 0; row < scales.rows; ++row) {
      uint32_t before = 0;
      for (int first = 0; first < scales.blocks; first += count) {
        Known known{.word = {.before = before}};
        bool all = true, some_wrong = false;
        for (int i = 0; i < count && first + i < scales.blocks; ++i) {
          const OutputBlock* block = blocks.at(row, first + i);
          all = all && block;
          if (!block) continue;
          known.blocks[size_t(i)] = block, known.word.codes[size_t(i)] = block->code;
          before |= uint32_t(block->code) << 8 * i;
          wrong += stored.is_wrong(*block), some_wrong = some_wrong || stored.is_wrong(*block);
        }
        if (all && some_wrong) words.push_back(known);
      }
    }
    for (const WordGuess& guess : word_guesses(count)) {
      int64_t fits = 0, misses = 0;
      for (const Known& known : words) {
        const uint32_t word = guess.word(known.word);
        for (int i = 0; i < count; ++i) {
          const OutputBlock* block = known.blocks[size_t(i)];
          if (!block) continue;
          const bool same = stored.stored(*block) == (word >> 8 * i & 0xff);
          fits += same && stored.is_wrong(*block), misses += !same;
        }
        if (misses > 8 && misses * 8 > fits) break;
      }
      if (misses * 50 <= fits && are_nearly_all(fits, wrong))
        return ScaleClaim{"in the wrong bytes of their words: " + guess.text, fits, wrong};
    }
  }
  return std::nullopt;
}

}  // namespace sm100::sim::provenance
