// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/other_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace sm100::sim::provenance {
namespace {

constexpr int64_t kFarthest = 4096;
constexpr int64_t kLargestBlock = 1024;

int64_t row_of(const WrongValue& w) { return w.row; }
int64_t column_of(const WrongValue& w) { return w.column; }

std::string shifted_text(const std::set<int64_t>& numbers, const std::string& text, int64_t by,
                         const std::string& unit) {
  const int64_t first = *numbers.begin(), last = *numbers.rbegin();
  if (int64_t(numbers.size()) * 10 >= (last - first + 1) * 9)
    return fmt::format("{{0}} of {0}s {1}-{2} {{1}} {{4}} where {{2}} of {0}s {3}-{4} {{3}}", unit, first + by,
                       last + by, first, last);
  const std::string from = by == -1  ? fmt::format("{} before", unit)
                           : by == 1 ? fmt::format("next {}", unit)
                                     : fmt::format("{} {} {}", unit, std::abs(by), by < 0 ? "before" : "behind");
  return fmt::format("{} take {{0}} of the {}", text, from);
}

/// The number without its place in a block of that width.
int64_t begin_of(int64_t number, int64_t width) { return number - number % width; }

/// Adds to a list of guesses.
class Guesses {
 public:
  explicit Guesses(const NumbersOf& numbers) : numbers_(numbers) {}

  /// @param other  of the number
  template <class F>
  void add(std::string text, F other) {
    all_.push_back({std::move(text), [of = numbers_.of, other](const WrongValue& w) { return other(of(w)); }});
  }
  /// @param other  of the number, and of the row or column across
  template <class F>
  void add_of_both(std::string text, F other) {
    all_.push_back({std::move(text), [of = numbers_.of, across = numbers_.other_of, other](const WrongValue& w) {
                      return other(of(w), across(w));
                    }});
  }
  const std::string& unit() const { return numbers_.unit; }
  const std::string& other_unit() const { return numbers_.other_unit; }
  int64_t count() const { return numbers_.count; }
  std::vector<OtherNumber> take() { return std::move(all_); }

 private:
  const NumbersOf& numbers_;
  std::vector<OtherNumber> all_;
};

void add_shifted(const std::set<int64_t>& wrong, const std::string& wrong_text, Guesses& guesses) {
  const int64_t farthest = std::min(guesses.count() - 1, kFarthest);
  for (int64_t distance = 1; distance <= farthest; ++distance)
    for (const int64_t by : {-distance, distance})
      guesses.add(shifted_text(wrong, wrong_text, by, guesses.unit()), [by](int64_t n) { return n + by; });
}

void add_repeated(const std::string& wrong_text, Guesses& guesses) {
  const int64_t count = guesses.count();
  const std::string& unit = guesses.unit();
  for (int64_t width = 8; width < count && width <= kFarthest; width += 8)
    guesses.add(fmt::format("{{0}} of {0} i mod {1} {{1}} {{4}} where {{2}} of {0} i {{3}}: {2} take {{2}} of {0}s "
                            "0-{3}",
                            unit, width, wrong_text, width - 1),
                [width](int64_t n) { return n % width; });
  for (int64_t width = 4; width < count && width <= 256; width *= 2)
    guesses.add(fmt::format("each {1} {0}s take {{0}} of their first {0}", unit, width),
                [width](int64_t n) { return begin_of(n, width); });
  for (const int64_t by : {2, 4}) {
    guesses.add(fmt::format("{{0}} of {0} i / {1} {{1}} {{4}} where {{2}} of {0} i {{3}}", unit, by),
                [by](int64_t n) { return n / by; });
    guesses.add(fmt::format("{{0}} of {0} {1} * i {{1}} {{4}} where {{2}} of {0} i {{3}}", unit, by),
                [by](int64_t n) { return n * by; });
  }
}

/// Blocks that repeat within larger ones, lie in another order, or begin elsewhere.
void add_blocks(Guesses& guesses) {
  const int64_t count = guesses.count();
  const std::string& unit = guesses.unit();
  constexpr int64_t kMostBlocks = 32;
  for (int64_t width = 1; width < count && width <= kLargestBlock / 2; width *= 2)
    guesses.add(fmt::format("of each {1} {0}s the first {2} and the last {2} take {{0}} of one another", unit,
                            2 * width, width),
                [width](int64_t n) { return n ^ width; });
  for (int64_t width = 1; width <= 128 && width < count; width *= 2)
    for (int64_t blocks = 3; blocks <= kMostBlocks; ++blocks) {
      const int64_t all = width * blocks;
      if (all > kLargestBlock || all >= count + width) break;
      if (width > 1 && all < count)
        guesses.add(fmt::format("of each {1} {0}s all take {{0}} of the first {2}: {0} i that of {0} "
                                "i - i mod {1} + i mod {2}",
                                unit, all, width),
                    [=](int64_t n) { return begin_of(n, all) + n % width; });
      guesses.add(fmt::format("{{0}} {{1}} taken in the reverse order within each {1} {0}s, {2}", unit, all,
                              width == 1 ? "one by one" : fmt::format("in strips of {}", width)),
                  [=](int64_t n) {
                    const int64_t strip = n % all / width;
                    return begin_of(n, all) + (blocks - 1 - strip) * width + n % width;
                  });
      if (width < 8) continue;
      for (const int64_t by : {int64_t{1}, blocks - 1})
        guesses.add(
            fmt::format("strips of {2} {0}s take {{0}} of the {3} strip within their {1} {0}s, round the "
                        "end",
                        unit, all, width, by == 1 ? "next" : "previous"),
            [=](int64_t n) { return begin_of(n, all) + (n % all / width + by) % blocks * width + n % width; });
    }
  // Registers of a strip whose columns lie closer, or farther apart.
  for (const int64_t all : {int64_t{16}, int64_t{32}, int64_t{64}, int64_t{128}})
    for (const int64_t width : {int64_t{8}, int64_t{16}})
      for (const int64_t pitch : {width / 2, 2 * width})
        if (all >= 2 * width && all < count)
          guesses.add(
              fmt::format("of each {1} {0}s block b of {2} takes {{0}} of {0} {3} * b on, where {{2}} of {0} {2} "
                          "* b on {{3}}",
                          unit, all, width, pitch),
              [=](int64_t n) { return begin_of(n, all) + n % all / width * pitch + n % width; });
  constexpr int64_t kStep = 8, kWidest = 256;
  for (int64_t width = kStep; width <= kWidest && width < count; width += kStep)
    for (int64_t pitch = kStep; pitch <= 2 * kWidest; pitch += kStep)
      if (pitch != width)
        guesses.add(fmt::format("block b of {1} {0}s takes {{0}} of {0} b * {2} on, where {{2}} of {0} b * {1} on "
                                "{{3}}",
                                unit, width, pitch),
                    [=](int64_t n) { return n / width * pitch + n % width; });
}

int64_t bit(int64_t number, int i) { return number >> i & 1; }
constexpr int kBits = 8;

/// What lanes and registers get wrong that have parts of the number.
void add_bits(Guesses& guesses) {
  for (int i = 0; i < kBits; ++i)
    for (int j = i + 1; j < kBits; ++j)
      guesses.add(fmt::format("{{0}} {{1}} taken with two bits of the {0}'s number exchanged, those of {1} and {2}",
                              guesses.unit(), 1 << i, 1 << j),
                  [=](int64_t n) { return bit(n, i) == bit(n, j) ? n : n ^ (int64_t{1} << i | int64_t{1} << j); });
}

/// Of registers that have both: it says more than that two blocks have changed places.
void add_bits_across(Guesses& guesses) {
  for (int i = 0; i < kBits; ++i)
    for (int j = 0; j < kBits; ++j)
      guesses.add_of_both(
          fmt::format("{{0}} {{1}} taken of {0}s whose bit of {2} is the {1}'s bit of {3}", guesses.unit(),
                      guesses.other_unit(), 1 << i, 1 << j),
          [=](int64_t n, int64_t across) { return bit(n, i) == bit(across, j) ? n : n ^ int64_t { 1 } << i; });
}

/// Lanes that hold a fragment of 16x256b, or of wgmma: row lane / 4 of each 8, columns 2 * (lane % 4) and the next.
struct LaneSlip {
  const char* text;
  int64_t (*of)(int64_t lane);
};
constexpr LaneSlip kRowsOfLane[] = {
    {"lane % 4", [](int64_t lane) { return lane % 4; }}, {"lane % 8", [](int64_t lane) { return lane % 8; }},
    {"lane / 8", [](int64_t lane) { return lane / 8; }}, {"lane / 2", [](int64_t lane) { return lane / 2; }},
    {"lane", [](int64_t lane) { return lane; }},         {"lane / 16", [](int64_t lane) { return lane / 16; }}};
constexpr LaneSlip kColumnsOfLane[] = {{"lane % 4", [](int64_t lane) { return lane % 4; }},
                                       {"2 * (lane / 4)", [](int64_t lane) { return lane / 4 * 2; }},
                                       {"2 * (lane / 8)", [](int64_t lane) { return lane / 8 * 2; }},
                                       {"2 * (lane % 8)", [](int64_t lane) { return lane % 8 * 2; }},
                                       {"2 * lane", [](int64_t lane) { return lane * 2; }},
                                       {"lane / 4", [](int64_t lane) { return lane / 4; }},
                                       {"4 * (lane % 4)", [](int64_t lane) { return lane % 4 * 4; }}};

/// Halves of a vector that were interleaved, or parted.
void add_interleaved(Guesses& guesses) {
  for (int64_t width = 4; width <= 64 && width < guesses.count() + 4; width *= 2) {
    const int64_t half = width / 2;
    guesses.add(
        fmt::format("of each {1} {0}s the halves were interleaved: {{0}} of {0} i % 2 * {2} + i / 2 {{1}} {{4}} "
                    "where {{2}} of {0} i {{3}}",
                    guesses.unit(), width, half),
        [=](int64_t n) { return begin_of(n, width) + n % 2 * half + n % width / 2; });
    guesses.add(
        fmt::format("of each {1} {0}s even and odd ones were parted: {{0}} of {0} i % {2} * 2 + i / {2} {{1}} "
                    "{{4}} where {{2}} of {0} i {{3}}",
                    guesses.unit(), width, half),
        [=](int64_t n) { return begin_of(n, width) + n % half * 2 + n % width / half; });
  }
}

/// What lanes get wrong that work out their place in a fragment.
void add_lanes(Guesses& guesses) {
  const bool rows = guesses.unit() == "row";
  const auto add = [&](const LaneSlip& slip) {
    guesses.add_of_both(
        fmt::format(
            "{{0}} {{1}} taken by the wrong part of the lane's number: of {0} {1} of each 8, where a lane has "
            "{0} {2}",
            guesses.unit(), slip.text, rows ? "lane / 4" : "2 * (lane % 4) and the next"),
        [rows, of = slip.of](int64_t n, int64_t across) {
          const int64_t lane = rows ? n % 8 * 4 + across / 2 % 4 : across % 8 * 4 + n / 2 % 4;
          return begin_of(n, 8) + of(lane) + (rows ? 0 : n % 2);
        });
  };
  if (rows)
    for (const LaneSlip& slip : kRowsOfLane) add(slip);
  else
    for (const LaneSlip& slip : kColumnsOfLane) add(slip);
}

}  // namespace

NumbersOf NumbersOf::rows(int64_t count) { return {"row", "column", count, row_of, column_of}; }
NumbersOf NumbersOf::columns(int64_t count) { return {"column", "row", count, column_of, row_of}; }

std::vector<OtherNumber> other_numbers(const std::set<int64_t>& wrong, const NumbersOf& numbers) {
  const std::string wrong_text = numbers_text(wrong, numbers.unit);
  Guesses guesses(numbers);
  add_shifted(wrong, wrong_text, guesses);
  add_repeated(wrong_text, guesses);
  add_bits_across(guesses);
  add_lanes(guesses);
  add_blocks(guesses);
  add_bits(guesses);
  add_interleaved(guesses);
  return guesses.take();
}

std::string with_term(const std::string& text, const TakenTerm& term) {
  return fmt::format(fmt::runtime(text), term.name, term.several ? "were" : "was", term.several ? "those" : "that",
                     term.several ? "belong" : "belongs", term.verb);
}

}  // namespace sm100::sim::provenance
