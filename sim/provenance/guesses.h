// SPDX-License-Identifier: Apache-2.0
/// Guesses at what an epilogue has made of right sums, held against the elements that are wrong.
///
/// A guess says what an element would hold.  It explains an element if what is stored differs from that by no more
/// than its roundings; what belongs there differs by more, or the element would not be among the wrong ones.  Only
/// a guess that explains nearly all wrong elements, and enough of them, is told.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernels/isa/number_formats.h"

namespace sm100::sim::provenance {

/// What the tensor core made of elements of C, as warps have loaded it.
struct ElementSums {
  struct Element {
    int64_t row = 0, column = 0;
    uint32_t delivery = 0;  ///< of the record, index + 1
  };
  int parts = 1;  ///< sums of an element, of parts of K
  std::vector<Element> elements;
  std::vector<float> sums;  ///< the parts of each element
  bool all = true;          ///< false: of some rows only, of an output that is too large

  const float* of(size_t element) const { return sums.data() + element * size_t(parts); }
};

/// An element that does not hold what belongs there.
struct WrongValue {
  int64_t row = 0, column = 0;
  double stored = 0;
  size_t element = 0;  ///< of the sums
};

/// What an element would hold before it is rounded to C's type.
struct Guessed {
  double value = 0;
  double size = 0;  ///< the magnitudes of all that is added up: what its roundings depend on
  /// What was read there lies beyond the end of its tensor: zeros if a tensor copy has brought it, else not known.
  bool beyond = false;
};

struct Guess {
  std::string what{};                                                ///< a sentence
  std::function<std::optional<Guessed>(const WrongValue&)> value{};  ///< nothing: what was read there is not known
  uint64_t reads = 0;  ///< address of the tensor whose element is another; 0: none
  double times =
      1;  ///< as many roundings may lie between: more than one where the guess is a number that was fitted
};

/// True if the guess is the one to tell.
using Told = std::function<bool(const Guess&)>;

class WrongElements {
 public:
  WrongElements(DataType output, std::vector<WrongValue> wrong);

  /// A value that is stored may be that, rounded.
  /// @param times  as many roundings
  static bool is_rounded(DataType output, double stored, const Guessed& value, double times = 1);

  DataType output() const { return output_; }
  int64_t count() const { return int64_t(wrong_.size()); }
  /// Enough that no chance makes a guess fit.
  bool are_enough() const { return count() >= kFewest; }
  const std::vector<WrongValue>& values() const { return wrong_; }
  const std::set<int64_t>& rows() const { return rows_; }
  const std::set<int64_t>& columns() const { return columns_; }
  /// How many elements the guess explains; 0: not nearly all.
  int64_t explained(const Guess& guess) const;

 private:
  static constexpr int64_t kFewest = 64;
  DataType output_;
  std::vector<WrongValue> wrong_;  ///< in random order
  std::set<int64_t> rows_, columns_;
};

/// Bits of an f32 as that type; nothing: warps do not convert to it.
std::optional<uint32_t> converted(DataType type, uint32_t cell);

/// What the rows or columns have in common that are wrong: "columns 128-255", "columns 16-31 of each 32", "the odd
/// columns", "columns 3-500".
/// @param unit  "column"
std::string numbers_text(const std::set<int64_t>& numbers, const std::string& unit);

/// Element `index` of an array; of e2m1 two are in a byte, the first in its lower half.
double decoded_at(DataType type, const uint8_t* bytes, int64_t index);

/// The middle of some numbers, which come out in another order; there is one at least.
double middle_of(std::vector<double>& values);

}  // namespace sm100::sim::provenance
