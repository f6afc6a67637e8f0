// SPDX-License-Identifier: Apache-2.0
/// The operands that a launch should multiply, by address.
#pragma once

#include <optional>
#include <vector>

#include "kernels/host/expected_product.h"

namespace sm100::sim::provenance {

class Matrices {
 public:
  explicit Matrices(const std::vector<host::ExpectedProduct>& products);

  struct Place {
    int matrix = -1;
    int64_t row = 0, k = 0;
  };
  /// Nothing: no operand lies there.
  /// @param along_k  where several lie there, one that lies so
  std::optional<Place> at(uint64_t address, bool along_k = true) const;
  const host::ExpectedMatrix& operator[](int matrix) const { return all_[size_t(matrix)]; }
  int64_t k_of(int matrix) const { return k_[size_t(matrix)]; }
  int a_of(size_t product) const { return a_[product]; }
  int b_of(size_t product) const { return b_[product]; }
  bool is_a(int matrix) const;
  /// "A" or "B", with the product's name where there are several: "B of group 1".
  std::string name(int matrix) const;
  uint64_t address(int matrix, int64_t row, int64_t k) const {
    const host::ExpectedMatrix& m = all_[size_t(matrix)];
    return m.address + uint64_t(row) * m.pitch + (m.along_k() ? uint64_t(k * m.bits / 8) : uint64_t(k) * m.k_pitch);
  }

 private:
  int add(const host::ExpectedMatrix& matrix, int64_t k, const std::string& product);

  std::vector<host::ExpectedMatrix> all_;
  std::vector<int64_t> k_;             ///< elements along K
  std::vector<std::string> products_;  ///< the name of the first product that has it
  std::vector<int> a_, b_;             ///< by product
  std::vector<int> by_address_;
  mutable size_t last_ = 0;
};

}  // namespace sm100::sim::provenance
