// SPDX-License-Identifier: Apache-2.0
// Which term of an epilogue is wrong, and how.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sim/provenance/explainer.h"
#include "sim/provenance/term_guesses.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

/// The factors that sums of other products are multiplied by.
std::vector<KnownFactor> factors_of_others(const std::vector<host::ExpectedProduct>& products, size_t but) {
  std::vector<KnownFactor> all;
  for (size_t p = 0; p < products.size(); ++p)
    if (p != but && products[p].terms) all.push_back({products[p].terms->alpha, products[p].name});
  return all;
}

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
  const TermGuesses guesses(terms, sums, product.c.rows, columns, bias, residual,
                            factors_of_others(expected_.products, p));
  std::vector<WrongValue> found;
  for (size_t i = 0; i < sums.elements.size(); ++i) {
    const ElementSums::Element& e = sums.elements[i];
    const WrongValue w{e.row, e.column, decoded_at(terms.output, c, e.row * columns + e.column), i};
    if (!WrongElements::is_rounded(terms.output, w.stored, guesses.right(w), 3)) found.push_back(w);
  }
  const WrongElements wrong(terms.output, std::move(found));
  if (!wrong.are_enough()) return std::nullopt;
  for (const DataType other : {DataType::f16, DataType::bf16, DataType::e4m3, DataType::e5m2}) {
    if (other == terms.output || element_bits(other) != element_bits(terms.output)) continue;
    const int64_t fits = std::count_if(wrong.values().begin(), wrong.values().end(), [&](const WrongValue& w) {
      const double stored = decoded_at(other, c, w.row * columns + w.column);
      return WrongElements::is_rounded(other, stored, guesses.right(w), 3);
    });
    if (fits * 50 < wrong.count() * 49) continue;
    return cause_of(
        {.what = fmt::format("{} is {}, and what is stored is right as {}: the epilogue converts to another "
                             "type",
                             product.c.name, name(terms.output), name(other))},
        wrong, fits, sums.all, by);
  }
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
