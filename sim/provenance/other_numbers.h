// SPDX-License-Identifier: Apache-2.0
/// Numbers of rows and columns that others may have been taken for: what an epilogue gets wrong when it works out
/// where a term, or a scale, of an element lies.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "sim/provenance/guesses.h"

namespace sm100::sim::provenance {

/// A row or a column that may have been taken for an element's.
struct OtherNumber {
  std::string text;                              ///< as `with_term` takes it
  std::function<int64_t(const WrongValue&)> of;  ///< may lie outside
};

/// What numbers are of.
struct NumbersOf {
  std::string unit, other_unit;  ///< "row", "column"
  int64_t count = 0;
  int64_t (*of)(const WrongValue&);
  int64_t (*other_of)(const WrongValue&);

  static NumbersOf rows(int64_t count);
  static NumbersOf columns(int64_t count);
};

/// Those that begin again, lie apart or are divided; then those of blocks that have changed places.
/// @param wrong  the numbers that wrong elements have
std::vector<OtherNumber> other_numbers(const std::set<int64_t>& wrong, const NumbersOf& numbers);

/// What is taken from another place.
struct TakenTerm {
  const char* name;      ///< "the bias"
  bool several = false;  ///< "the scales"
  const char* verb = "added";
};
/// The sentence about it: {0} is the term, {1} "was" or "were", {2} "that" or "those", {3} "belongs" or "belong",
/// {4} the verb.
std::string with_term(const std::string& text, const TakenTerm& term);

}  // namespace sm100::sim::provenance
