// SPDX-License-Identifier: Apache-2.0
// The terms of an epilogue, C = activation(alpha * x + bias + beta * residual): which of them is wrong, and how.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/provenance/explainer.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

struct NamedActivation {
  const char *word, *text;
  double (*of)(double);
};
constexpr NamedActivation kActivations[] = {
    {"", "no activation", [](double x) { return x; }},
    {"relu", "ReLU", [](double x) { return std::max(x, 0.0); }},
    {"silu", "SiLU, x / (1 + e^-x)", [](double x) { return x / (1 + std::exp(-x)); }},
    {"", "x / (1 + e^x)", [](double x) { return x / (1 + std::exp(x)); }},
    {"", "the sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"", "the hyperbolic tangent", [](double x) { return std::tanh(x); }},
    {"", "GELU", [](double x) { return x * 0.5 * std::erfc(-x * std::sqrt(0.5)); }},
    {"", "GELU by the hyperbolic tangent",
     [](double x) { return 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x))); }},
    {"", "min(x, 0)", [](double x) { return std::min(x, 0.0); }},
    {"", "the magnitude", [](double x) { return std::abs(x); }}};

const NamedActivation& activation_of(std::string_view word) {
  for (const NamedActivation& a : kActivations)
    if (word == a.word) return a;
  return kActivations[0];
}

double decoded_at(DataType type, const uint8_t* bytes, int64_t index) {
  const size_t size = size_t(element_bits(type)) / 8;
  uint32_t bits = 0;
  std::memcpy(&bits, bytes + size_t(index) * size, size);
  return double(decode(type, bits));
}

/// Another place that a term may have been taken from.
struct OtherPlace {
  std::string
      text;  ///< with {0} for the term, {1} "was" or "were", {2} "that" or "those", {3} "belongs" or "belong"
  std::function<std::optional<int64_t>(const WrongValue&)> index;
};

std::string shifted_text(const std::set<int64_t>& numbers, const std::string& text, int64_t by,
                         const std::string& unit) {
  const int64_t first = *numbers.begin(), last = *numbers.rbegin();
  if (int64_t(numbers.size()) * 10 >= (last - first + 1) * 9)
    return fmt::format("{{0}} of {0}s {1}-{2} {{1}} added where {{2}} of {0}s {3}-{4} {{3}}", unit, first + by,
                       last + by, first, last);
  const std::string from = by == -1  ? fmt::format("{} before", unit)
                           : by == 1 ? fmt::format("next {}", unit)
                                     : fmt::format("{} {} {}", unit, std::abs(by), by < 0 ? "before" : "behind");
  return fmt::format("{} take {{0}} of the {}", text, from);
}

/// Numbers of rows or columns that others may have been taken for.
/// @param of  the number of an element
std::vector<OtherPlace> other_numbers(const std::set<int64_t>& wrong, int64_t count, const std::string& unit,
                                      int64_t (*of)(const WrongValue&)) {
  constexpr int64_t kFarthest = 4096;
  std::vector<OtherPlace> all;
  const std::string wrong_text = numbers_text(wrong, unit);
  const int64_t farthest = std::min(count - 1, kFarthest);
  for (int64_t distance = 1; distance <= farthest; ++distance)
    for (const int64_t by : {-distance, distance})
      all.push_back({shifted_text(wrong, wrong_text, by, unit), [=](const WrongValue& w) -> std::optional<int64_t> {
                       const int64_t n = of(w) + by;
                       return n >= 0 && n < count ? std::optional(n) : std::nullopt;
                     }});
  for (int64_t width = 8; width < count && width <= kFarthest; width += 8)
    all.push_back(
        {fmt::format("{{0}} of {0} i mod {1} {{1}} added where {{2}} of {0} i {{3}}: {2} take {{2}} of {0}s 0-{3}",
                     unit, width, wrong_text, width - 1),
         [=](const WrongValue& w) { return std::optional(of(w) % width); }});
  for (int64_t width = 4; width < count && width <= 256; width *= 2)
    all.push_back({fmt::format("each {1} {0}s take {{0}} of their first {0}", unit, width),
                   [=](const WrongValue& w) { return std::optional(of(w) - of(w) % width); }});
  for (const int64_t by : {2, 4}) {
    all.push_back({fmt::format("{{0}} of {0} i / {1} {{1}} added where {{2}} of {0} i {{3}}", unit, by),
                   [=](const WrongValue& w) { return std::optional(of(w) / by); }});
    all.push_back({fmt::format("{{0}} of {0} {1} * i {{1}} added where {{2}} of {0} i {{3}}", unit, by),
                   [=](const WrongValue& w) -> std::optional<int64_t> {
                     return of(w) * by < count ? std::optional(of(w) * by) : std::nullopt;
                   }});
  }
  return all;
}

int64_t row_of(const WrongValue& w) { return w.row; }
int64_t column_of(const WrongValue& w) { return w.column; }

std::string with_term(const std::string& text, const char* term, bool several = false) {
  return fmt::format(fmt::runtime(text), term, several ? "were" : "was", several ? "those" : "that",
                     several ? "belong" : "belongs");
}

/// The terms of one product, and what else may have been made of them.
class TermGuesses {
 public:
  /// @param bias, residual  nullptr where there is none
  TermGuesses(const host::ExpectedTerms& terms, const ElementSums& sums, int64_t rows, int64_t columns,
              const uint8_t* bias, const uint8_t* residual)
      : terms_(terms),
        sums_(sums),
        rows_(rows),
        columns_(columns),
        bias_(bias),
        residual_(residual),
        activation_(activation_of(terms.activation)) {}

  Guessed right(const WrongValue& w) const { return finished(w, terms_.alpha, bias(w.column), residual(index(w))); }

  /// Calls `told(guess)` until one returns true.
  template <class F>
  bool any(const WrongElements& wrong, F&& told) const {
    for (const Guess& guess : forms())
      if (told(guess)) return true;
    // One value may be found anywhere: that of a few columns says nothing.
    constexpr size_t kFewestNumbers = 8;
    if (wrong.columns().size() >= kFewestNumbers)
      for (const OtherPlace& place : other_numbers(wrong.columns(), columns_, "column", column_of))
        if (taken_from_column(place, told)) return true;
    if (bias_ && rows_ > 1 && wrong.columns().size() >= kFewestNumbers &&
        told(Guess{"the bias was taken by the row's number, where the column's belongs",
                   [this](const WrongValue& w) -> std::optional<Guessed> {
                     if (w.row >= columns_) return std::nullopt;
                     return finished(w, terms_.alpha, bias(w.row), residual(index(w)));
                   },
                   terms_.bias->address}))
      return true;
    if (residual_ && other_residual(wrong, told)) return true;
    for (const Guess& guess : other_factors(wrong))
      if (told(guess)) return true;
    return false;
  }

  /// What is stored follows from what the activation should be applied to, and is not that activation of it.
  bool is_other_activation(const WrongElements& wrong) const {
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

 private:
  double x(const WrongValue& w) const { return double(*sums_.of(w.element)); }
  int64_t index(const WrongValue& w) const { return w.row * columns_ + w.column; }
  double bias(int64_t column) const { return bias_ ? decoded_at(DataType::f32, bias_, column) : 0; }
  double residual(int64_t i) const { return residual_ ? decoded_at(terms_.output, residual_, i) : 0; }
  double rounding(double stored, double size) const {
    double most = std::abs(stored) * 1e-9;
    while (WrongElements::is_rounded(terms_.output, stored, {stored + most, size}) && most < 1e30)
      most = most == 0 ? 1e-12 : 2 * most;
    return most;
  }

  Guessed before_activation(const WrongValue& w, double alpha, double bias, double residual) const {
    const double product = alpha * x(w), added = terms_.beta * residual;
    return {product + bias + added, std::abs(product) + std::abs(bias) + std::abs(added)};
  }
  Guessed finished(const WrongValue& w, double alpha, double bias, double residual) const {
    const Guessed sum = before_activation(w, alpha, bias, residual);
    return {activation_.of(sum.value), sum.size};
  }

  /// A guess that takes the terms from where they belong, and makes something else of them.
  template <class F>
  Guess form(std::string what, F&& made, uint64_t reads = 0) const {
    return {std::move(what),
            [this, made](const WrongValue& w) -> std::optional<Guessed> {
              const double b = bias(w.column), r = residual(index(w));
              const Guessed usual = before_activation(w, terms_.alpha, b, r);
              return Guessed{made(x(w), b, r), std::abs(x(w)) + usual.size};
            },
            reads};
  }

  /// Terms that are missing, or combined in another way.
  std::vector<Guess> forms() const {
    const double alpha = terms_.alpha, beta = terms_.beta;
    const auto act = activation_.of;
    const bool activated = !terms_.activation.empty();
    const uint64_t of_bias = bias_ ? terms_.bias->address : 0,
                   of_residual = residual_ ? terms_.residual->address : 0;
    std::vector<Guess> all;
    if (bias_) {
      all.push_back(
          form("the bias is missing", [=](double x, double, double r) { return act(alpha * x + beta * r); }));
      all.push_back(form(
          "the bias was subtracted, and must be added",
          [=](double x, double b, double r) { return act(alpha * x - b + beta * r); }, of_bias));
      all.push_back(form(
          "the bias was added twice",
          [=](double x, double b, double r) { return act(alpha * x + 2 * b + beta * r); }, of_bias));
    }
    if (residual_) {
      all.push_back(
          form("the residual is missing", [=](double x, double b, double) { return act(alpha * x + b); }));
      all.push_back(form(
          "the residual was subtracted, and must be added",
          [=](double x, double b, double r) { return act(alpha * x + b - beta * r); }, of_residual));
      all.push_back(form(
          "the residual was added twice",
          [=](double x, double b, double r) { return act(alpha * x + b + 2 * beta * r); }, of_residual));
      if (beta != 1)
        all.push_back(form(
            fmt::format("the residual was added as it is: beta ({:g}) is missing", beta),
            [=](double x, double b, double r) { return act(alpha * x + b + r); }, of_residual));
    }
    if (bias_ && residual_)
      all.push_back(
          form("bias and residual are missing", [=](double x, double, double) { return act(alpha * x); }));
    if (alpha != 1) {
      all.push_back(form(fmt::format("the sums are not multiplied by alpha ({:g})", alpha),
                         [=](double x, double b, double r) { return act(x + b + beta * r); }));
      all.push_back(form(fmt::format("the sums were multiplied by alpha ({:g}) twice", alpha),
                         [=](double x, double b, double r) { return act(alpha * alpha * x + b + beta * r); }));
      all.push_back(form(fmt::format("the sums were divided by alpha ({:g})", alpha),
                         [=](double x, double b, double r) { return act(x / alpha + b + beta * r); }));
      if (bias_)
        all.push_back(form(
            "(x + bias) * alpha was computed, where alpha * x + bias belongs",
            [=](double x, double b, double r) { return act(alpha * (x + b) + beta * r); }, of_bias));
      if (residual_)
        all.push_back(form(
            "alpha was applied to the residual too: alpha * (x + beta * residual), where alpha * x + beta * "
            "residual "
            "belongs",
            [=](double x, double b, double r) { return act(alpha * (x + beta * r) + b); }, of_residual));
      if (bias_ && residual_)
        all.push_back(form(
            "alpha was applied to bias and residual too, where it belongs to the sum alone",
            [=](double x, double b, double r) { return act(alpha * (x + b + beta * r)); }, of_residual));
    }
    if (beta != 1 && bias_ && residual_)
      all.push_back(form(
          "beta was applied to the bias too, where it belongs to the residual alone",
          [=](double x, double b, double r) { return act(alpha * x + beta * (b + r)); }, of_residual));
    if (activated && residual_)
      all.push_back(form(
          "the activation was applied ahead of the residual, and belongs behind it",
          [=](double x, double b, double r) { return act(alpha * x + b) + beta * r; }, of_residual));
    if (activated && bias_)
      all.push_back(form(
          "the activation was applied ahead of the bias, and belongs behind it",
          [=](double x, double b, double r) { return act(alpha * x + beta * r) + b; }, of_bias));
    if (activated && bias_ && residual_)
      all.push_back(form(
          "the activation was applied to the sum alone, and belongs behind bias and residual",
          [=](double x, double b, double r) { return act(alpha * x) + b + beta * r; }, of_bias));
    for (const NamedActivation& other : kActivations) {
      if (&other == &activation_) continue;
      const auto of = other.of;
      const bool none = &other == &kActivations[0];
      all.push_back(form(
          none ? fmt::format("the activation is missing: all is right ahead of it, where {} belongs",
                             activation_.text)
               : fmt::format(
                     "what the activation is applied to is right, and the activation is wrong: {} was computed "
                     "where {} belongs",
                     other.text, activation_.text),
          [=](double x, double b, double r) { return of(alpha * x + b + beta * r); }));
    }
    return all;
  }

  template <class F>
  bool taken_from_column(const OtherPlace& place, F& told) const {
    const auto other = [&](const char* term, bool of_bias, bool of_residual) {
      return told(
          Guess{with_term(place.text, term, of_bias && of_residual),
                [this, at = place.index, of_bias, of_residual](const WrongValue& w) -> std::optional<Guessed> {
                  const std::optional<int64_t> column = at(w);
                  if (!column) return std::nullopt;
                  return finished(w, terms_.alpha, bias(of_bias ? *column : w.column),
                                  residual(of_residual ? w.row * columns_ + *column : index(w)));
                },
                of_bias ? terms_.bias->address : terms_.residual->address});
    };
    return (bias_ && other("the bias", true, false)) || (residual_ && other("the residual", false, true)) ||
           (bias_ && residual_ && other("bias and residual", true, true));
  }

  template <class F>
  bool other_residual(const WrongElements& wrong, F& told) const {
    const int64_t elements = rows_ * columns_;
    const auto other = [&](std::string text, std::function<std::optional<int64_t>(const WrongValue&)> at) {
      return told(Guess{std::move(text),
                        [this, at, elements](const WrongValue& w) -> std::optional<Guessed> {
                          const std::optional<int64_t> i = at(w);
                          if (!i || *i < 0 || *i >= elements) return std::nullopt;
                          return finished(w, terms_.alpha, bias(w.column), residual(*i));
                        },
                        terms_.residual->address});
    };
    constexpr size_t kRowsOfPitch = 4;  // in fewer it is a distance
    const int64_t largest = wrong.rows().size() >= kRowsOfPitch ? 2 * std::max(columns_, rows_) : 0;
    for (int64_t pitch = 1; pitch <= largest; ++pitch)
      if (pitch != columns_ &&
          other(fmt::format(
                    "the residual is that of another element: row r was taken from r * {0}, a pitch of {0}{1} "
                    "where the output has {2} columns",
                    grouped(pitch), pitch == rows_ ? ", the number of rows," : "", grouped(columns_)),
                [=](const WrongValue& w) { return std::optional(w.row * pitch + w.column); }))
        return true;
    for (const int64_t pitch : {rows_, columns_})
      if (other(fmt::format("the residual was taken from its transpose: row and column have changed places, with a "
                            "pitch of {}",
                            grouped(pitch)),
                [=](const WrongValue& w) { return std::optional(w.column * pitch + w.row); }))
        return true;
    if (wrong.rows().size() >= 2)
      for (const OtherPlace& place : other_numbers(wrong.rows(), rows_, "row", row_of))
        if (other(with_term(place.text, "the residual"), [=, this](const WrongValue& w) -> std::optional<int64_t> {
              const std::optional<int64_t> row = place.index(w);
              return row ? std::optional(*row * columns_ + w.column) : std::nullopt;
            }))
          return true;
    const int64_t farthest = std::min<int64_t>(elements - 1, int64_t{1} << 17);
    for (int64_t distance = 1; distance <= farthest; ++distance)
      for (const int64_t by : {-distance, distance})
        if (other(fmt::format("the residual is that of the element {} {}, row by row", grouped(distance),
                              by < 0 ? "before" : "behind"),
                  [this, by](const WrongValue& w) { return std::optional(index(w) + by); }))
          return true;
    return false;
  }

  /// What the activation has been applied to; nothing where many values give the same.
  std::optional<double> before(double stored) const {
    if (terms_.activation.empty()) return stored;
    if (stored <= 0.01 || !std::isfinite(stored)) return std::nullopt;
    double low = 0, high = stored + 1;  // relu and silu rise there, and silu(x) > x - 0.28
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (activation_.of(middle) < stored ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  /// Another alpha or beta, found from what is stored.
  std::vector<Guess> other_factors(const WrongElements& wrong) const {
    std::vector<double> alphas, betas;
    for (const WrongValue& w : wrong.values()) {
      const std::optional<double> sum = before(w.stored);
      if (!sum) continue;
      const double b = bias(w.column), r = residual(index(w)), product = x(w);
      if (std::abs(product) > std::abs(b) + std::abs(terms_.beta * r))
        alphas.push_back((*sum - b - terms_.beta * r) / product);
      if (residual_ && std::abs(r) > 0.1) betas.push_back((*sum - b - terms_.alpha * product) / r);
    }
    std::vector<Guess> all;
    const auto middle_of = [](std::vector<double>& values) {
      std::nth_element(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 2), values.end());
      return values[values.size() / 2];
    };
    const auto act = activation_.of;
    if (alphas.size() >= 64) {
      const double alpha = middle_of(alphas), beta = terms_.beta;
      all.push_back(form(fmt::format("alpha is {:.4g}, where {:g} belongs", alpha, terms_.alpha),
                         [=](double x, double b, double r) { return act(alpha * x + b + beta * r); }));
    }
    if (betas.size() >= 64) {
      const double beta = middle_of(betas), alpha = terms_.alpha;
      all.push_back(form(
          fmt::format("beta is {:.4g}, where {:g} belongs", beta, terms_.beta),
          [=](double x, double b, double r) { return act(alpha * x + b + beta * r); }, terms_.residual->address));
    }
    return all;
  }

  const host::ExpectedTerms& terms_;
  const ElementSums& sums_;
  const int64_t rows_, columns_;
  const uint8_t *bias_, *residual_;
  const NamedActivation& activation_;
};

}  // namespace

Cause Explainer::cause_of(const Guess& guess, const WrongElements& wrong, int64_t explained, bool all,
                          const models::Source& by) const {
  const models::Source* const reader = guess.reads != 0 ? record_.reader(guess.reads, by) : nullptr;
  Cause cause{.id = "PV2", .at = reader ? *reader : by, .details = {}};
  cause.what = fmt::format("{}, in {} of {} wrong elements{} ({}, {})", guess.what, grouped(explained),
                           grouped(wrong.count()), all ? "" : " of the rows that were looked at",
                           numbers_text(wrong.rows(), "row"), numbers_text(wrong.columns(), "column"));
  cause.details.push_back(
      fmt::format("{}what was multiplied is right, and so are its sums", reader ? "there the term is read; " : ""));
  return cause;
}

std::optional<Cause> Explainer::explain_terms(size_t p, const Watched& output, const models::Source& by) const {
  const host::ExpectedProduct& product = expected_.products[p];
  if (!product.terms) return std::nullopt;
  const host::ExpectedTerms& terms = *product.terms;
  const int64_t columns = int64_t(product.c.pitch) * 8 / product.c.bits;
  const uint8_t *c = bytes_(output.address, output.bytes),
                *bias = terms.bias ? bytes_(terms.bias->address, terms.bias->pitch) : nullptr,
                *residual = terms.residual ? bytes_(terms.residual->address, output.bytes) : nullptr;
  if (!c || (terms.bias && !bias) || (terms.residual && !residual)) return std::nullopt;
  const ElementSums sums = sums_of(p, output, product.k);
  const TermGuesses guesses(terms, sums, product.c.rows, columns, bias, residual);
  std::vector<WrongValue> found;
  for (size_t i = 0; i < sums.elements.size(); ++i) {
    const ElementSums::Element& e = sums.elements[i];
    const WrongValue w{e.row, e.column, decoded_at(terms.output, c, e.row * columns + e.column), i};
    if (!WrongElements::is_rounded(terms.output, w.stored, guesses.right(w), 3)) found.push_back(w);
  }
  const WrongElements wrong(terms.output, std::move(found));
  if (!wrong.are_enough()) return std::nullopt;
  std::optional<Cause> cause;
  guesses.any(wrong, [&](const Guess& guess) {
    const int64_t explained = wrong.explained(guess);
    if (explained == 0) return false;
    cause = cause_of(guess, wrong, explained, sums.all, by);
    return true;
  });
  if (!cause && guesses.is_other_activation(wrong))
    cause = cause_of(
        {.what = fmt::format("what the activation is applied to is right, and the activation is wrong: what "
                             "is stored follows from it, and is not {}",
                             terms.activation == "relu" ? "ReLU" : "SiLU")},
        wrong, wrong.count(), sums.all, by);
  return cause;
}

}  // namespace sm100::sim::provenance
