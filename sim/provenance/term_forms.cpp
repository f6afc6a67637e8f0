// SPDX-License-Identifier: Apache-2.0
// Terms of an epilogue that are missing, or combined in another way.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/provenance/term_guesses.h"

namespace sm100::sim::provenance {
namespace {

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

}  // namespace

const NamedActivation& activation_of(std::string_view word) {
  for (const NamedActivation& a : kActivations)
    if (word == a.word) return a;
  return kActivations[0];
}

template <class F>
Guess TermGuesses::form(std::string what, F made, uint64_t reads) const {
  return {std::move(what),
          [this, made](const WrongValue& w) -> std::optional<Guessed> {
            const double b = bias(w.column), r = residual(index(w));
            const Guessed usual = before_activation(w, terms_.alpha, b, r);
            return Guessed{made(x(w), b, r), std::abs(x(w)) + usual.size};
          },
          reads};
}

std::vector<Guess> TermGuesses::forms() const {
  std::vector<Guess> all;
  add_bias_forms(all);
  add_residual_forms(all);
  add_alpha_forms(all);
  add_activation_forms(all);
  const double alpha = terms_.alpha, beta = terms_.beta;
  const auto act = activation_.of;
  if (bias_ || residual_)
    all.push_back(form("the sum is missing: what is stored is made of the other terms alone",
                       [=](double, double b, double r) { return act(b + beta * r); }));
  all.push_back(form("the sums were subtracted, and must be added",
                     [=](double x, double b, double r) { return act(-alpha * x + b + beta * r); }));
  all.push_back(form("the sums were added twice",
                     [=](double x, double b, double r) { return act(2 * alpha * x + b + beta * r); }));
  return all;
}

void TermGuesses::add_bias_forms(std::vector<Guess>& all) const {
  if (!bias_) return;
  const double alpha = terms_.alpha, beta = terms_.beta;
  const auto act = activation_.of;
  all.push_back(form("the bias is missing", [=](double x, double, double r) { return act(alpha * x + beta * r); }));
  all.push_back(form(
      "the bias was subtracted, and must be added",
      [=](double x, double b, double r) { return act(alpha * x - b + beta * r); }, bias_address()));
  all.push_back(form(
      "the bias was added twice", [=](double x, double b, double r) { return act(alpha * x + 2 * b + beta * r); },
      bias_address()));
}

void TermGuesses::add_residual_forms(std::vector<Guess>& all) const {
  if (!residual_) return;
  const double alpha = terms_.alpha, beta = terms_.beta;
  const auto act = activation_.of;
  const auto add = [&](std::string what, auto made) {
    all.push_back(form(std::move(what), made, residual_address()));
  };
  /// Other factors of the sum and of the residual.
  const auto add_factors = [&](std::string what, double of_sum, double of_residual) {
    if (of_sum == alpha && of_residual == beta) return;
    add(std::move(what), [=](double x, double b, double r) { return act(of_sum * x + b + of_residual * r); });
  };
  const std::string& name = terms_.alpha_name;
  all.push_back(form("the residual is missing", [=](double x, double b, double) { return act(alpha * x + b); }));
  add_factors("the residual was subtracted, and must be added", alpha, -beta);
  add_factors("the residual was added twice", alpha, 2 * beta);
  add_factors(fmt::format("the residual was added as it is: beta ({:g}) is missing", beta), alpha, 1);
  if (bias_)
    all.push_back(form("bias and residual are missing", [=](double x, double, double) { return act(alpha * x); }));
  add_factors(fmt::format("the residual was multiplied by {} ({:g}), where beta ({:g}) belongs", name, alpha, beta),
              alpha, alpha);
  add_factors(fmt::format("{} ({:g}) and beta ({:g}) have changed places", name, alpha, beta), beta, alpha);
  add_factors(fmt::format("the sums were multiplied by beta ({:g}), where {} ({:g}) belongs", beta, name, alpha),
              beta, beta);
  add_factors(fmt::format("the residual was multiplied by beta ({:g}) twice", beta), alpha, beta * beta);
  if (beta != 0)
    add_factors(fmt::format("the residual was divided by beta ({:g}), and must be multiplied by it", beta), alpha,
                1 / beta);
  add_factors(fmt::format("beta ({:g}) was applied to the sums too, where it belongs to the residual alone", beta),
              alpha * beta, beta);
  add_factors("neither the sums nor the residual are multiplied by their factors", 1, 1);
  if (beta != 1 && bias_)
    add("beta was applied to the bias too, where it belongs to the residual alone",
        [=](double x, double b, double r) { return act(alpha * x + beta * (b + r)); });
}

void TermGuesses::add_alpha_forms(std::vector<Guess>& all) const {
  const double alpha = terms_.alpha, beta = terms_.beta;
  if (alpha == 1) return;
  const auto act = activation_.of;
  const std::string& name = terms_.alpha_name;
  all.push_back(form(fmt::format("the sums are not multiplied by {} ({:g})", name, alpha),
                     [=](double x, double b, double r) { return act(x + b + beta * r); }));
  all.push_back(form(fmt::format("the sums were multiplied by {} ({:g}) twice", name, alpha),
                     [=](double x, double b, double r) { return act(alpha * alpha * x + b + beta * r); }));
  if (alpha != 0)
    all.push_back(form(fmt::format("the sums were divided by {} ({:g})", name, alpha),
                       [=](double x, double b, double r) { return act(x / alpha + b + beta * r); }));
  if (bias_)
    all.push_back(form(
        "(x + bias) * alpha was computed, where alpha * x + bias belongs",
        [=](double x, double b, double r) { return act(alpha * (x + b) + beta * r); }, bias_address()));
  if (residual_)
    all.push_back(form(
        "alpha was applied to the residual too: alpha * (x + beta * residual), where alpha * x + beta * residual "
        "belongs",
        [=](double x, double b, double r) { return act(alpha * (x + beta * r) + b); }, residual_address()));
  if (bias_ && residual_)
    all.push_back(form(
        "alpha was applied to bias and residual too, where it belongs to the sum alone",
        [=](double x, double b, double r) { return act(alpha * (x + b + beta * r)); }, residual_address()));
}

void TermGuesses::add_activation_forms(std::vector<Guess>& all) const {
  const double alpha = terms_.alpha, beta = terms_.beta;
  const auto act = activation_.of;
  const bool activated = !terms_.activation.empty();
  if (activated && residual_)
    all.push_back(form(
        "the activation was applied ahead of the residual, and belongs behind it",
        [=](double x, double b, double r) { return act(alpha * x + b) + beta * r; }, residual_address()));
  if (activated && bias_)
    all.push_back(form(
        "the activation was applied ahead of the bias, and belongs behind it",
        [=](double x, double b, double r) { return act(alpha * x + beta * r) + b; }, bias_address()));
  if (activated && bias_ && residual_)
    all.push_back(form(
        "the activation was applied to the sum alone, and belongs behind bias and residual",
        [=](double x, double b, double r) { return act(alpha * x) + b + beta * r; }, bias_address()));
  if (activated && alpha != 1)
    all.push_back(form("alpha was applied behind the activation, and belongs to the sum ahead of it",
                       [=](double x, double b, double r) { return alpha * act(x + b + beta * r); }));
  if (activated)
    all.push_back(form("the activation was applied twice",
                       [=](double x, double b, double r) { return act(act(alpha * x + b + beta * r)); }));
  for (const NamedActivation& other : kActivations) {
    if (&other == &activation_) continue;
    const auto of = other.of;
    const bool none = &other == &kActivations[0];
    all.push_back(form(
        none
            ? fmt::format("the activation is missing: all is right ahead of it, where {} belongs", activation_.text)
            : fmt::format(
                  "what the activation is applied to is right, and the activation is wrong: {} was computed "
                  "where {} belongs",
                  other.text, activation_.text),
        [=](double x, double b, double r) { return of(alpha * x + b + beta * r); }));
  }
}

std::optional<double> TermGuesses::before(double stored) const {
  if (terms_.activation.empty()) return stored;
  if (stored <= 0.01 || !std::isfinite(stored)) return std::nullopt;
  double low = 0, high = stored + 1;  // relu and silu rise there, and silu(x) > x - 0.28
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (activation_.of(middle) < stored ? low : high) = middle;
  }
  return (low + high) / 2;
}

std::optional<double> TermGuesses::found_alpha(const WrongElements& wrong) const {
  std::vector<double> alphas;
  for (const WrongValue& w : wrong.values()) {
    const std::optional<double> sum = before(w.stored);
    const double b = bias(w.column), r = terms_.beta * residual(index(w));
    if (sum && std::abs(x(w)) > std::abs(b) + std::abs(r)) alphas.push_back((*sum - b - r) / x(w));
  }
  return alphas.size() >= 64 ? std::optional(middle_of(alphas)) : std::nullopt;
}

std::vector<Guess> TermGuesses::other_factors(const WrongElements& wrong) const {
  std::vector<Guess> all;
  const auto act = activation_.of;
  for (const KnownFactor& other : other_alphas_)
    if (other.value != terms_.alpha)
      all.push_back(form(fmt::format("{} is {:g}, that of {}, where {:g} belongs", terms_.alpha_name, other.value,
                                     other.of, terms_.alpha),
                         [act, alpha = other.value, beta = terms_.beta](double x, double b, double r) {
                           return act(alpha * x + b + beta * r);
                         }));
  if (const std::optional<double> alpha = found_alpha(wrong))
    all.push_back(form(fmt::format("{} is {:.4g}, where {:g} belongs", terms_.alpha_name, *alpha, terms_.alpha),
                       [act, alpha = *alpha, beta = terms_.beta](double x, double b, double r) {
                         return act(alpha * x + b + beta * r);
                       }));
  if (!residual_) return all;
  std::vector<double> betas;
  for (const WrongValue& w : wrong.values()) {
    const std::optional<double> sum = before(w.stored);
    const double b = bias(w.column), r = residual(index(w));
    if (sum && std::abs(r) > 0.1) betas.push_back((*sum - b - terms_.alpha * x(w)) / r);
  }
  if (betas.size() < 64) return all;
  const double beta = middle_of(betas);
  all.push_back(form(
      fmt::format("beta is {:.4g}, where {:g} belongs", beta, terms_.beta),
      [act, alpha = terms_.alpha, beta](double x, double b, double r) { return act(alpha * x + b + beta * r); },
      residual_address()));
  return all;
}

}  // namespace sm100::sim::provenance
