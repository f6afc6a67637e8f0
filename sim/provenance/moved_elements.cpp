// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/moved_elements.h"

#include <fmt/format.h>

#include <memory>
#include <unordered_map>

namespace sm100::sim::provenance {
namespace {

constexpr int64_t kFarthestMove = 128;
/// Elements beyond which their places are not kept.
constexpr size_t kMostPlaced = size_t{1} << 24;

uint64_t key(int64_t row, int64_t column) { return uint64_t(row) << 32 | uint32_t(column); }

}  // namespace

bool tell_moved(const ElementSums& sums, const WrongElements& wrong,
                const std::function<std::optional<Guessed>(const WrongValue&)>& right, const Told& told) {
  if (sums.elements.size() > kMostPlaced) return false;
  const auto places = std::make_shared<std::unordered_map<uint64_t, size_t>>();
  places->reserve(sums.elements.size());
  for (size_t i = 0; i < sums.elements.size(); ++i)
    places->emplace(key(sums.elements[i].row, sums.elements[i].column), i);
  const auto tell = [&](std::string what, auto place) {
    return told({std::move(what), [places, right, place](const WrongValue& w) -> std::optional<Guessed> {
                   const auto [row, column] = place(w);
                   const auto at = row < 0 || column < 0 ? places->end() : places->find(key(row, column));
                   if (at == places->end()) return std::nullopt;
                   return right({.row = row, .column = column, .stored = w.stored, .element = at->second});
                 }});
  };
  for (const bool of_rows : {false, true}) {
    const char* const unit = of_rows ? "row" : "column";
    const std::string where = numbers_text(of_rows ? wrong.rows() : wrong.columns(), unit);
    const auto moved = [of_rows](const WrongValue& w, auto number) {
      return of_rows ? std::pair(number(w.row), w.column) : std::pair(w.row, number(w.column));
    };
    for (int64_t by = 1; by <= kFarthestMove; by *= 2) {
      for (const int64_t distance : {-by, by})
        if (tell(
                fmt::format("{} hold what belongs {} {}{} {}: values are right and lie in the wrong place, between "
                            "the terms and the store (registers, strip or swizzle)",
                            where, by, unit, by == 1 ? "" : "s", distance < 0 ? "before" : "behind"),
                [=](const WrongValue& w) { return moved(w, [=](int64_t n) { return n + distance; }); }))
          return true;
      if (tell(fmt::format("of each {} {}s the first {} and the last {} have changed places: values are right, and "
                           "move between the terms and the store (registers, strip or swizzle)",
                           2 * by, unit, by, by),
               [=](const WrongValue& w) { return moved(w, [=](int64_t n) { return n ^ by; }); }))
        return true;
    }
  }
  return false;
}

}  // namespace sm100::sim::provenance
