// SPDX-License-Identifier: Apache-2.0
/// The base of kernels that compute C = A * B^T: seeded operands, a float64 reference, and which rows are compared.
#pragma once

#include "kernels/host/kernel_run.h"
#include "kernels/isa/number_formats.h"
#include "kernels/isa/tensor_map.h"

namespace sm100::host {

/// Of wgmma of 8-bit types, which keeps 13 fractional bits of every term (models/numerics/fused_dot.h).
constexpr int kTruncatedBitsOfWgmma8 = 12;

/// What is multiplied, and how it is checked.
struct ProductShape {
  int m = 0, n = 0, k = 0;
  DataType operands = DataType::bf16, output = DataType::bf16;
  uint64_t seed = 0;        ///< of the operands' values
  int truncated_mma_k = 0;  ///< the tensor core's sums are truncated every so many elements of k; 0: they are not
  int truncated_bits = 24;  ///< and then are off by one part in 2^this, relative to the whole
};

/// A is M x K, B is N x K, C is M x N, all row-major.  Tensors: A, B, what a derived class adds, C.
class Product : public KernelRun {
 public:
  explicit Product(const ProductShape& shape) : shape_(shape) {}

  const ProductShape& shape() const { return shape_; }
  /// C is nothing but the product: no terms of an epilogue.
  virtual bool is_plain() const { return true; }

  std::vector<Tensor> tensors() const override { return {a(), b(), c()}; }
  /// A and B: values in [-1, 1), rounded to their type; C: NaN, so that an element that nobody writes cannot pass.
  void fill(size_t i, uint8_t* bytes) const override;
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  double check_bytes() const override { return 8.0 * shape_.n * shape_.k; }
  double flops() const override { return 2.0 * shape_.m * shape_.n * shape_.k; }
  double bytes() const override;
  std::string title() const override;

 protected:
  Tensor a() const;
  Tensor b() const;
  Tensor c() const;
  /// Values in [-1, 1) of tensor `i`.
  void fill_random(size_t i, DataType type, uint8_t* bytes) const;
  /// The exact values of a row of A (operand 0) or B (operand 1).
  /// @param tensors  in the order of tensors()
  virtual void read_row(int operand, const std::vector<const uint8_t*>& tensors, int row, double* values) const;
  /// What the epilogue makes of an accumulator, before the conversion to C's type.
  virtual double finished(double accumulator, int /*row*/, int /*column*/,
                          const std::vector<const uint8_t*>& /*tensors*/) const {
    return accumulator;
  }
  /// Relative error that the configuration's own roundings may add.
  /// @param accumulators  Frobenius norm of the compared rows before the epilogue
  /// @param results       and after it
  virtual double added_error(double /*accumulators*/, double /*results*/) const { return 0; }
  /// True if added_error needs the norms, which cost a pass over the result.
  virtual bool needs_norms() const { return false; }

 private:
  ProductShape shape_;
};

/// A row-major matrix in global memory.
Tensor matrix(std::string name, DataType type, int64_t rows, int64_t columns);
/// Largest relative Frobenius error that passes: the output type's rounding, or f32 summation for f32 output.  The
/// check adds what the configuration's own roundings may: the bit model's truncation, and rounding before a functor
/// on the strip.
double error_limit(DataType output);
/// What the tensor core's cut-off sums may add to that, of the whole and of one element.
struct CutOff {
  double whole = 0, element = 0;
};
/// All zero unless the shape's sums are truncated.  Whole: every MMA cuts the old D off toward zero, by one part in
/// 2^truncated_bits at most.  Element: besides, each of an MMA's 33 terms is cut off by as much, of random signs:
/// six standard deviations of their sum over all MMAs.
CutOff cut_off(const ProductShape& shape);
/// Largest relative error of rounding to a type.
double unit_roundoff(DataType type);
TensorMapDataType tensor_map_type(DataType type);

}  // namespace sm100::host
