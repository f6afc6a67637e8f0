// SPDX-License-Identifier: Apache-2.0
/// The base of kernels that multiply groups of tokens with their experts' weights: what the device reads about
/// groups, a float64 product for each of them, and rows that nobody may write.
#pragma once

#include "kernels/grouped_1d1d/group_params.h"
#include "kernels/grouped_1d1d/host/token_rows.h"
#include "kernels/host/product.h"

namespace sm100::host {

class Comparison;

class TokenProduct : public Product {
 public:
  void fill(size_t i, uint8_t* bytes) const override;
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  double flops() const override;

  /// What of a kernel's configuration its results depend on.
  struct Tokens {
    TokenProblem problem;
    TokenSchedule schedule;
    int tile_rows;      ///< of tokens
    bool scaled;        ///< by a factor of each expert
    int scale_granule;  ///< scale_granule_rows, rows_per_scale_group
    int rows_per_scale_group;
  };

 protected:
  /// @param shape  m: rows of A and C
  TokenProduct(const ProductShape& shape, Tokens tokens);

  /// A, B, their scales; then tables.
  static constexpr size_t kFirstTable = 4;
  /// Words in global memory that say where groups are, and the experts' factors.
  std::vector<Tensor> tables() const;
  /// Where all that is.
  /// @param addresses  of tensors()
  GroupParams group_params(const std::vector<GlobalAddr>& addresses) const;
  /// Where tokens lie.
  const TokenRows& rows() const { return rows_; }
  /// Where the products are multiplied by a factor of their expert.
  float expert_scale(int expert) const { return expert_scales()[size_t(expert)]; }
  static std::string expert_scale_name(int expert) { return "the factor of expert " + std::to_string(expert); }
  /// "759 tokens in 8 groups x 512 x 1024"
  std::string groups_text() const;

 private:
  struct Words {
    std::string name;
    std::vector<int> values;
  };
  std::vector<Words> words() const;
  std::vector<float> expert_scales() const;

  /// The exact values of a group's token.
  virtual void read_token(const std::vector<const uint8_t*>& tensors, const TokenGroup& group, int token,
                          double* values) const = 0;
  /// The exact values of a row of an expert's B.
  virtual void read_weights(const std::vector<const uint8_t*>& tensors, int expert, int row,
                            double* values) const = 0;

  void compare_group(const TokenGroup& group, const std::vector<const uint8_t*>& tensors, int64_t step,
                     Comparison& comparison, int& compared) const;
  /// What of C should be written and is not, or should not be and is.
  void look_for_marks(const uint8_t* c, Check& check) const;

  Tokens tokens_;
  TokenRows rows_;
};

}  // namespace sm100::host
