// SPDX-License-Identifier: Apache-2.0
/// The terms of an epilogue, C = activation(alpha * x + bias + beta * residual), and what else may have been made
/// of them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/host/expected_product.h"
#include "kernels/isa/lane_array.h"
#include "sim/provenance/guesses.h"
#include "sim/provenance/other_numbers.h"

namespace sm100::sim::provenance {

struct NamedActivation {
  const char *word, *text;
  double (*of)(double);
};

/// A factor that an epilogue may have taken instead of another.
struct KnownFactor {
  double value = 1;
  std::string of;  ///< "group 3"
};

/// Of one product.
class TermGuesses {
 public:
  /// @param bias, residual  nullptr where there is none
  TermGuesses(const host::ExpectedTerms& terms, const ElementSums& sums, int64_t rows, int64_t columns,
              const uint8_t* bias, const uint8_t* residual, std::vector<KnownFactor> other_alphas = {});

  Guessed right(const WrongValue& w) const { return finished(w, terms_.alpha, bias(w.column), residual(index(w))); }

  /// Calls `told(guess)` until one returns true.
  bool any(const WrongElements& wrong, const Told& told) const;

  /// What is stored follows from what the activation should be applied to, and is not that activation of it.
  bool is_other_activation(const WrongElements& wrong) const;

 private:
  double x(const WrongValue& w) const {
    const float sum = *sums_.of(w.element);
    return terms_.of_rounded_sums ? double(decode(terms_.output, *converted(terms_.output, as_bits(sum))))
                                  : double(sum);
  }
  int64_t index(const WrongValue& w) const { return w.row * columns_ + w.column; }
  double bias(int64_t column) const { return bias_ ? decoded_at(DataType::f32, bias_, column) : 0; }
  double residual(int64_t i) const { return residual_ ? decoded_at(terms_.output, residual_, i) : 0; }
  double rounding(double stored, double size) const;
  Guessed before_activation(const WrongValue& w, double alpha, double bias, double residual) const;
  Guessed finished(const WrongValue& w, double alpha, double bias, double residual) const;

  // term_guesses.cpp: other places
  bool taken_from_column(const OtherNumber& place, const Told& told) const;
  bool bias_of_row(const Told& told) const;
  bool other_residual(const WrongElements& wrong, const Told& told) const;
  /// The residual of another row and column, which may lie outside: there are zeros.
  template <class F>
  bool residual_at(std::string text, const Told& told, F place) const;
  /// The residual of another element, row by row.
  template <class F>
  bool residual_of(std::string text, const Told& told, F index) const;
  bool residual_of_other_tile(const Told& told) const;

  // term_forms.cpp: other sums
  /// A guess that takes the terms from where they belong, and makes something else of them.
  template <class F>
  Guess form(std::string what, F made, uint64_t reads = 0) const;
  /// Terms that are missing, or combined in another way.
  std::vector<Guess> forms() const;
  void add_bias_forms(std::vector<Guess>& all) const;
  void add_residual_forms(std::vector<Guess>& all) const;
  void add_alpha_forms(std::vector<Guess>& all) const;
  void add_activation_forms(std::vector<Guess>& all) const;
  /// What the activation has been applied to; nothing where many values give the same.
  std::optional<double> before(double stored) const;
  /// What alpha is, as far as the elements tell.
  std::optional<double> found_alpha(const WrongElements& wrong) const;
  /// Another alpha or beta, found from what is stored.
  std::vector<Guess> other_factors(const WrongElements& wrong) const;

  uint64_t bias_address() const { return bias_ ? terms_.bias->address : 0; }
  uint64_t residual_address() const { return residual_ ? terms_.residual->address : 0; }

  const host::ExpectedTerms& terms_;
  const ElementSums& sums_;
  const int64_t rows_, columns_;
  const uint8_t *bias_, *residual_;
  const NamedActivation& activation_;
  const std::vector<KnownFactor> other_alphas_;
};

/// "ReLU"; of a word that names none, "no activation".
const NamedActivation& activation_of(std::string_view word);

}  // namespace sm100::sim::provenance
