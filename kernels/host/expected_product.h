// SPDX-License-Identifier: Apache-2.0
/// What a kernel should have multiplied with what: C = A * B^T, or several of them, by where the elements lie in
/// global memory.  Provenance (sim/provenance/) holds a run against it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa/number_formats.h"
#include "kernels/isa/scale_layout.h"

namespace sm100::host {

/// A matrix in global memory.  Row by row, of an operand along K, or with `k_pitch` the other way round.
struct ExpectedMatrix {
  std::string name;  ///< "A"
  uint64_t address = 0;
  int64_t rows = 0;
  uint64_t pitch = 0;  ///< bytes from one row to the next
  int bits = 0;        ///< of an element
  /// Of an operand that lies along M or N: bytes from one k to the next; `pitch` is an element's, whole bytes.  0:
  /// it lies along K.
  uint64_t k_pitch = 0;
  std::optional<DataType> type{};  ///< of an operand's elements, where it is known

  bool along_k() const { return k_pitch == 0; }
};

/// The terms of an epilogue: an element of C is activation(alpha * x + bias[column] + beta * residual), x its sum.
struct ExpectedTerms {
  DataType output{};  ///< C's type
  double alpha = 1, beta = 1;
  std::optional<ExpectedMatrix> bias{};      ///< f32, one row
  std::optional<ExpectedMatrix> residual{};  ///< of C's type and shape
  std::string_view activation{};             ///< "relu", "silu"; empty: none
  bool of_rounded_sums = false;              ///< x has been rounded to C's type
  std::string alpha_name = "alpha";          ///< "the factor of expert 3"
};

/// Scales that an epilogue multiplies sums with.  C is `factor` times the sum over blocks of K of x * a(row, block)
/// * b(column / size, block), where x is the product over the block's `size` elements.
struct ExpectedBlockScales {
  DataType output{};    ///< C's type
  ExpectedMatrix a, b;  ///< with their `type`; what is K of an operand is blocks here
  int size = 0;
  double factor = 1;
  std::string factor_name{};  ///< "the factor of expert 3"
};

/// Scales that an epilogue gives the elements of C, in atoms of 128 rows x 4 (kernels/isa/scale_layout.h).
struct ExpectedOutputScales {
  std::string name;  ///< "SFD"
  uint64_t address = 0, bytes = 0;
  int rows = 0, blocks = 0;  ///< scales of each row; of columns of C where `along_columns`
  int block = 0;             ///< elements that share one
  bool along_columns = false;
  double alpha = 1;                              ///< what is quantised is alpha * x
  std::function<uint8_t(float largest)> code{};  ///< of a block whose largest magnitude that is
  DataType output{};                             ///< C's type
  double norm = 1;                               ///< elements are multiplied by norm / scale
  std::function<float(uint8_t code)> factor{};   ///< that, of a block with this scale; empty: nobody knows
};

/// C(i, j) is the sum over k of A(i, k) * B(j, k), and what an epilogue makes of it.
struct ExpectedProduct {
  std::string name{};  ///< "group 3"; empty where there is one
  ExpectedMatrix a, b, c;
  int64_t k = 0;  ///< elements
  /// Scale factors in atoms of 128 rows x 4 (CUTLASS's layout), a byte for each block of `scale_block` elements
  /// along K.
  std::optional<ExpectedMatrix> sfa{}, sfb{};
  int scale_block = 0;
  std::optional<ScaleType> scale_type{};
  bool other_scales = false;  ///< elements have scale factors that lie otherwise, which nobody looks at
  /// C is nothing but the sums, converted to its type: then what is stored can be held against tensor memory.
  std::optional<DataType> plain{};
  /// Warps finish on the strip what others have loaded: who has stored an element has not loaded its sums.
  bool by_other_warps = false;
  // What the epilogue makes of the sums, where the kernel says it: it is asked which term of it is wrong.
  std::optional<ExpectedTerms> terms{};
  std::optional<ExpectedBlockScales> block_scales{};
  std::optional<ExpectedOutputScales> output_scales{};
};

/// Bytes that must be those of another place.
struct ExpectedCopy {
  std::string name{};
  uint64_t from = 0, to = 0, bytes = 0;
  uint64_t row_bytes = 0;  ///< for reports: of a row
  int bits = 0;            ///< of an element
};

struct ExpectedResult {
  std::vector<ExpectedProduct> products;
  std::vector<ExpectedCopy> copies;

  bool empty() const { return products.empty() && copies.empty(); }
};

}  // namespace sm100::host
