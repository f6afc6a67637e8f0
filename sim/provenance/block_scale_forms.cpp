// SPDX-License-Identifier: Apache-2.0
// Sums that are made of products and scales of blocks in another way.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "kernels/isa/lane_array.h"
#include "kernels/isa/number_formats.h"
#include "sim/provenance/block_scale_guesses.h"

namespace sm100::sim::provenance {
namespace {

double one(const WrongValue&, int64_t) { return 1; }

}  // namespace

template <class F>
bool BlockScaleGuesses::sum_of(const Told& told, std::string what, F made, uint64_t reads) const {
  return told(
      {std::move(what),
       [this, made, a = sums_.right_a(), b = sums_.right_b()](const WrongValue& w) -> std::optional<Guessed> {
         Guessed sum;
         for (int64_t part = 0; part < sums_.parts(); ++part) {
           const std::optional<double> of_a = a(w, part), of_b = b(w, part);
           if (!of_a || !of_b) return std::nullopt;
           const double added = sums_.factor() * made(sums_.x(w, part), *of_a, *of_b);
           sum.value += added, sum.size += std::abs(added);
         }
         return sum;
       },
       reads});
}

bool BlockScaleGuesses::other_sums(const Told& told) const {
  const uint64_t a = sums_.a().address(), b = sums_.b().address();
  return tell(told, "the sums are not multiplied by the scales of A", one, sums_.right_b(), 0) ||
         tell(told, "the sums are not multiplied by the scales of B", sums_.right_a(), one, 0) ||
         tell(told, "the sums are not multiplied by scales", one, one, 0) ||
         sum_of(
             told, "the sums were multiplied by the scales of A twice",
             [](double x, double a, double b) { return x * a * a * b; }, a) ||
         sum_of(
             told, "the sums were multiplied by the scales of B twice",
             [](double x, double a, double b) { return x * a * b * b; }, b) ||
         sum_of(
             told, "the sums were multiplied by the scales of A twice, and not by those of B",
             [](double x, double a, double) { return x * a * a; }, a) ||
         sum_of(
             told, "the sums were multiplied by the scales of B twice, and not by those of A",
             [](double x, double, double b) { return x * b * b; }, b) ||
         sum_of(
             told, "the scales of A and B were added, and must be multiplied",
             [](double x, double a, double b) { return x * (a + b); }, b) ||
         sum_of(
             told, "the sums were divided by the scales of A",
             [](double x, double a, double b) { return x / a * b; }, a) ||
         sum_of(
             told, "the sums were divided by the scales of B",
             [](double x, double a, double b) { return x * a / b; }, b) ||
         sum_of(told, "the sums were divided by the scales",
                [](double x, double a, double b) { return x / (a * b); }) ||
         sum_of(told, "the scaled products were subtracted, and must be added",
                [](double x, double a, double b) { return -x * a * b; }) ||
         sum_of(told, "the scales were added to the products, where they must be multiplied with them",
                [](double x, double a, double b) { return x + a * b; });
}

bool BlockScaleGuesses::other_order(const Told& told) const {
  /// What becomes of the sum so far, from part to part.
  const auto step_by_step = [&](std::string what, auto next) {
    return told(
        {std::move(what),
         [this, next, a = sums_.right_a(), b = sums_.right_b()](const WrongValue& w) -> std::optional<Guessed> {
           Guessed sum;
           for (int64_t part = 0; part < sums_.parts(); ++part) {
             const std::optional<double> of_a = a(w, part), of_b = b(w, part);
             if (!of_a || !of_b) return std::nullopt;
             const double x = sums_.x(w, part), scale = *of_a * *of_b;
             sum.value = next(sum.value, x, scale), sum.size = next(sum.size, std::abs(x), std::abs(scale));
           }
           return Guessed{sum.value * sums_.factor(), sum.size * std::abs(sums_.factor())};
         },
         sums_.b().address()});
  };
  /// The unscaled sum with the scales of one block of K.
  const auto with_scales_of = [&](std::string what, int64_t part) {
    return tell(
        told, std::move(what), [a = sums_.right_a(), part](const WrongValue& w, int64_t) { return a(w, part); },
        [b = sums_.right_b(), part](const WrongValue& w, int64_t) { return b(w, part); }, sums_.b().address());
  };
  return step_by_step(
             "sum and product have changed places in the multiply-add: the sum so far was multiplied by the scales "
             "of "
             "each block of K, and the block's product added without them",
             [](double sum, double x, double scale) { return sum * scale + x; }) ||
         step_by_step(
             "the sum so far was multiplied by the scales of each block of K too, where they belong to the "
             "block's product alone",
             [](double sum, double x, double scale) { return (sum + x) * scale; }) ||
         with_scales_of("the products of all blocks of K were multiplied by the scales of the last one",
                        sums_.parts() - 1) ||
         with_scales_of("the products of all blocks of K were multiplied by the scales of the first one", 0);
}

bool BlockScaleGuesses::parts_of_k(const Told& told) const {
  constexpr int64_t kMostParts = 64;
  const int64_t parts = sums_.parts();
  if (parts > kMostParts) return false;
  const std::string unit = sums_.parts_per_block() > 1 ? "piece" : "block";
  /// @param times  how often a part's product is in the sum
  const auto with_parts = [&](std::string what, auto times) {
    return tell(
        told, std::move(what),
        [times, a = sums_.right_a()](const WrongValue& w, int64_t part) -> std::optional<double> {
          const std::optional<double> of_a = a(w, part);
          return of_a ? std::optional(*of_a * times(part)) : std::nullopt;
        },
        sums_.right_b(), 0);
  };
  for (int64_t first = 0; first < parts; ++first)
    for (int64_t last = first; last < parts; ++last) {
      if (last - first + 1 == parts) continue;
      const int64_t missing = parts - (last - first + 1);
      std::string what;
      if (missing == 1)
        what = fmt::format("the product of {} {} of K is not in the sum", unit, first > 0 ? 0 : parts - 1);
      else if (first == last)
        what = fmt::format("only the product of {} {} of K is in the sum, of {}", unit, first, parts);
      else
        what = fmt::format("only the products of {}s {}-{} of K are in the sum, of {}", unit, first, last, parts);
      if (with_parts(std::move(what), [=](int64_t part) { return part >= first && part <= last ? 1.0 : 0.0; }))
        return true;
    }
  for (int64_t one = 0; one < parts; ++one)
    if ((one > 0 && one + 1 < parts &&
         with_parts(fmt::format("the product of {} {} of K is not in the sum", unit, one),
                    [=](int64_t part) { return part == one ? 0.0 : 1.0; })) ||
        with_parts(fmt::format("the product of {} {} of K is in the sum twice", unit, one),
                   [=](int64_t part) { return part == one ? 2.0 : 1.0; }))
      return true;
  return false;
}

bool BlockScaleGuesses::other_types(const Told& told) const {
  struct Type {
    const char* text;
    float (*of)(uint32_t bits);
  };
  static constexpr Type kOfBf16[] = {
      {"for f32 as they were loaded: bf16 must be shifted to the upper half",
       [](uint32_t bits) { return as_float(bits); }},
      {"for f16, and are bf16", [](uint32_t bits) { return decode_f16(uint16_t(bits)); }}};
  static constexpr Type kOfF32[] = {
      {"from the lower half of an f32, as if they were bf16", [](uint32_t bits) { return as_float(bits << 16); }},
      {"from the upper half of an f32, as if they were bf16",
       [](uint32_t bits) { return as_float(bits & 0xffff0000u); }}};
  const auto of_type = [&](const Type& type) {
    const ScaleOf a = [this, type](const WrongValue& w, int64_t part) -> std::optional<double> {
      const std::optional<uint32_t> bits = sums_.a().bits_at(sums_.index_of_a(w, part));
      return bits ? std::optional(double(type.of(*bits))) : std::nullopt;
    };
    const ScaleOf b = [this, type](const WrongValue& w, int64_t part) -> std::optional<double> {
      const std::optional<uint32_t> bits = sums_.b().bits_at(sums_.index_of_b(w, part));
      return bits ? std::optional(double(type.of(*bits))) : std::nullopt;
    };
    for (const Whose whose : {Whose::b, Whose::a, Whose::both})
      if (tell(told, fmt::format("{} were taken {}", name(whose), type.text),
               whose == Whose::b ? sums_.right_a() : a, whose == Whose::a ? sums_.right_b() : b,
               whose == Whose::a ? sums_.a().address() : sums_.b().address()))
        return true;
    return false;
  };
  if (sums_.b().type() == DataType::bf16)
    for (const Type& type : kOfBf16)
      if (of_type(type)) return true;
  if (sums_.b().type() == DataType::f32)
    for (const Type& type : kOfF32)
      if (of_type(type)) return true;
  return told({.what = "what is stored is zero, as if the sums were multiplied by a scale of zero",
               .value = [](const WrongValue&) { return std::optional(Guessed{}); },
               .reads = sums_.b().address()});
}

bool BlockScaleGuesses::other_factor(const WrongElements& wrong, const Told& told) const {
  const double right = sums_.factor();
  const ScaleOf a = sums_.right_a(), b = sums_.right_b();
  const auto with_factor = [&](std::string what, double factor) {
    return told({std::move(what), [this, a, b, factor](const WrongValue& w) {
                   std::optional<Guessed> sum = sums_.unscaled(w, a, b);
                   if (sum) sum->value *= factor, sum->size *= std::abs(factor);
                   return sum;
                 }});
  };
  if (right != 1 &&
      (with_factor(fmt::format("the sums are not multiplied by {} ({:g})", factor_name_, right), 1) ||
       with_factor(fmt::format("the sums were multiplied by {} ({:g}) twice", factor_name_, right),
                   right * right) ||
       with_factor(fmt::format("the sums were divided by {} ({:g})", factor_name_, right), 1 / right)))
    return true;
  for (const OtherScales& other : others_)
    if (other.factor != right && with_factor(fmt::format("{} is {:g}, that of {}, where {:g} belongs", factor_name_,
                                                         other.factor, other.of, right),
                                             other.factor))
      return true;
  std::vector<double> factors;
  for (const WrongValue& w : wrong.values())
    if (const std::optional<Guessed> sum = sums_.unscaled(w, a, b); sum && std::abs(sum->value) * 4 > sum->size)
      factors.push_back(w.stored / sum->value);
  if (factors.size() < 64) return false;
  const double factor = middle_of(factors);
  return with_factor(factor_name_.empty()
                         ? fmt::format("the sums were multiplied by {:.4g} beside their scales", factor)
                         : fmt::format("{} is {:.4g}, where {:g} belongs", factor_name_, factor, right),
                     factor);
}

}  // namespace sm100::sim::provenance
