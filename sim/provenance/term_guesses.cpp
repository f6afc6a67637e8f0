// SPDX-License-Identifier: Apache-2.0
// Terms of an epilogue that were taken from another place.
#include "sim/provenance/term_guesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/provenance/moved_elements.h"
#include "sim/text.h"

namespace sm100::sim::provenance {

TermGuesses::TermGuesses(const host::ExpectedTerms& terms, const ElementSums& sums, int64_t rows, int64_t columns,
                         const uint8_t* bias, const uint8_t* residual, std::vector<KnownFactor> other_alphas)
    : terms_(terms),
      sums_(sums),
      rows_(rows),
      columns_(columns),
      bias_(bias),
      residual_(residual),
      activation_(activation_of(terms.activation)),
      other_alphas_(std::move(other_alphas)) {}

double TermGuesses::rounding(double stored, double size) const {
  double most = std::abs(stored) * 1e-9;
  while (WrongElements::is_rounded(terms_.output, stored, {stored + most, size}) && most < 1e30)
    most = most == 0 ? 1e-12 : 2 * most;
  return most;
}

Guessed TermGuesses::before_activation(const WrongValue& w, double alpha, double bias, double residual) const {
  const double product = alpha * x(w), added = terms_.beta * residual;
  return {product + bias + added, std::abs(product) + std::abs(bias) + std::abs(added)};
}

Guessed TermGuesses::finished(const WrongValue& w, double alpha, double bias, double residual) const {
  const Guessed sum = before_activation(w, alpha, bias, residual);
  return {activation_.of(sum.value), sum.size};
}

bool TermGuesses::any(const WrongElements& wrong, const Told& told) const {
  for (const Guess& guess : forms())
    if (told(guess)) return true;
  if (tell_moved(
          sums_, wrong, [this](const WrongValue& w) { return std::optional(right(w)); }, told))
    return true;
  // One value may be found anywhere: that of a few columns says nothing.
  constexpr size_t kFewestNumbers = 8;
  if ((bias_ || residual_) && wrong.columns().size() >= kFewestNumbers)
    for (const OtherNumber& place : other_numbers(wrong.columns(), NumbersOf::columns(columns_)))
      if (taken_from_column(place, told)) return true;
  if (wrong.columns().size() >= kFewestNumbers && bias_of_row(told)) return true;
  if (residual_ && other_residual(wrong, told)) return true;
  for (const Guess& guess : other_factors(wrong))
    if (told(guess)) return true;
  return false;
}

bool TermGuesses::is_other_activation(const WrongElements& wrong) const {
  constexpr size_t kFewest = 256;
  struct Point {
    double before, stored, right, rounding;
  };
  std::vector<Point> points;
  for (const WrongValue& w : wrong.values()) {
    const Guessed sum = before_activation(w, terms_.alpha, bias(w.column), residual(index(w)));
    if (!std::isfinite(w.stored)) continue;
    points.push_back({sum.value, w.stored, activation_.of(sum.value), rounding(w.stored, sum.size)});
  }
  if (terms_.activation.empty() || points.size() < kFewest || points.size() * 10 < wrong.values().size() * 9)
    return false;
  std::sort(points.begin(), points.end(), [](const Point& x, const Point& y) { return x.before < y.before; });
  size_t follows = 0, far = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    const Point &x = points[i - 1], &y = points[i];
    const double allowed = x.rounding + y.rounding + 3 * (y.before - x.before);
    follows += std::abs(x.stored - y.stored) <= allowed;
    far += std::abs(y.stored - y.right) > 8 * allowed;
  }
  return follows * 100 >= (points.size() - 1) * 98 && far * 2 > points.size();
}

bool TermGuesses::taken_from_column(const OtherNumber& place, const Told& told) const {
  const auto other = [&](const char* term, bool of_bias, bool of_residual) {
    return told(Guess{with_term(place.text, {term, of_bias && of_residual}),
                      [this, at = place.of, of_bias, of_residual](const WrongValue& w) {
                        const int64_t column = at(w);
                        const bool inside = column >= 0 && column < columns_;
                        Guessed value = finished(w, terms_.alpha,
                                                 !of_bias ? bias(w.column)
                                                 : inside ? bias(column)
                                                          : 0,
                                                 !of_residual ? residual(index(w))
                                                 : inside     ? residual(w.row * columns_ + column)
                                                              : 0);
                        value.beyond = !inside;
                        return std::optional(value);
                      },
                      of_bias ? bias_address() : residual_address()});
  };
  return (bias_ && other("the bias", true, false)) || (residual_ && other("the residual", false, true)) ||
         (bias_ && residual_ && other("bias and residual", true, true));
}

bool TermGuesses::bias_of_row(const Told& told) const {
  return bias_ && rows_ > 1 &&
         told(Guess{"the bias was taken by the row's number, where the column's belongs",
                    [this](const WrongValue& w) -> std::optional<Guessed> {
                      if (w.row >= columns_) return std::nullopt;
                      return finished(w, terms_.alpha, bias(w.row), residual(index(w)));
                    },
                    bias_address()});
}

template <class F>
bool TermGuesses::residual_of(std::string text, const Told& told, F index) const {
  return told(Guess{std::move(text),
                    [this, index](const WrongValue& w) -> std::optional<Guessed> {
                      const int64_t i = index(w);
                      if (i < 0 || i >= rows_ * columns_) return std::nullopt;
                      return finished(w, terms_.alpha, bias(w.column), residual(i));
                    },
                    residual_address()});
}

template <class F>
bool TermGuesses::residual_at(std::string text, const Told& told, F place) const {
  return told(Guess{std::move(text),
                    [this, place](const WrongValue& w) {
                      const std::pair<int64_t, int64_t> at = place(w);
                      const bool inside =
                          at.first >= 0 && at.first < rows_ && at.second >= 0 && at.second < columns_;
                      Guessed value = finished(w, terms_.alpha, bias(w.column),
                                               inside ? residual(at.first * columns_ + at.second) : 0);
                      value.beyond = !inside;
                      return std::optional(value);
                    },
                    residual_address()});
}

bool TermGuesses::residual_of_other_tile(const Told& told) const {
  constexpr int64_t kNarrowest = 16, kWidest = 256;
  for (const int64_t height : {64, 128, 256})
    for (int64_t width = kNarrowest; width <= kWidest; width += kNarrowest)
      if (residual_at(
              fmt::format("the residual of tile (j, i) was added in tile (i, j): row and column of tiles of "
                          "{} x {} have changed places",
                          height, width),
              told, [=](const WrongValue& w) {
                return std::pair(w.column / width * height + w.row % height,
                                 w.row / height * width + w.column % width);
              }))
        return true;
  return false;
}

bool TermGuesses::other_residual(const WrongElements& wrong, const Told& told) const {
  constexpr size_t kRowsOfPitch = 4;  // in fewer it is a distance
  const int64_t largest = wrong.rows().size() >= kRowsOfPitch ? 2 * std::max(columns_, rows_) : 0;
  for (int64_t pitch = 1; pitch <= largest; ++pitch)
    if (pitch != columns_ &&
        residual_of(
            fmt::format("the residual is that of another element: row r was taken from r * {0}, a pitch of {0}{1} "
                        "where the output has {2} columns",
                        grouped(pitch), pitch == rows_ ? ", the number of rows," : "", grouped(columns_)),
            told, [=](const WrongValue& w) { return w.row * pitch + w.column; }))
      return true;
  for (const int64_t pitch : {rows_, columns_})
    if (residual_of(
            fmt::format("the residual was taken from its transpose: row and column have changed places, with a "
                        "pitch of {}",
                        grouped(pitch)),
            told, [=](const WrongValue& w) { return w.column * pitch + w.row; }))
      return true;
  if (wrong.rows().size() >= 2)
    for (const OtherNumber& place : other_numbers(wrong.rows(), NumbersOf::rows(rows_)))
      if (residual_at(with_term(place.text, {"the residual"}), told,
                      [&](const WrongValue& w) { return std::pair(place.of(w), w.column); }))
        return true;
  if (residual_of_other_tile(told)) return true;
  const int64_t farthest = std::min<int64_t>(rows_ * columns_ - 1, int64_t{1} << 17);
  for (int64_t distance = 1; distance <= farthest; ++distance)
    for (const int64_t by : {-distance, distance})
      if (residual_of(fmt::format("the residual is that of the element {} {}, row by row", grouped(distance),
                                  by < 0 ? "before" : "behind"),
                      told, [this, by](const WrongValue& w) { return index(w) + by; }))
        return true;
  return false;
}

}  // namespace sm100::sim::provenance
