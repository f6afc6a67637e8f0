/// The host side of the dense matmul on the model: operands in global memory, tensor maps, the launch, and
/// the check of the result against a float64 product.
#pragma once

#include "kernels/matmul/params.h"
#include "models/memory_system.h"
#include "sim/kernel.h"
#include "sim/scenario.h"

namespace sm100::sim {

class MatmulProblem {
 public:
  /// Allocates A, B and C; with data, fills A and B with seeded values in [-1, 1) and C with NaN, so that an
  /// element that nobody writes cannot pass.
  MatmulProblem(const Scenario& scenario, models::MemorySystem& memory);

  /// Grid, resources and barrier names of the kernel; run_warp is left to the caller.
  static Kernel describe(const Scenario& scenario);

  const MatmulParams& params() const { return params_; }

  struct Check {
    double relative_error;  ///< Frobenius norm of the difference over that of the reference
    int rows;               ///< rows compared; all of them unless the product is too large
  };
  Check check() const;
  /// FNV-1a over the bytes of C.
  uint64_t output_hash() const;

 private:
  const Scenario& scenario_;
  models::MemorySystem& memory_;
  GlobalAddr a_, b_, c_;
  MatmulParams params_;
};

/// Largest relative Frobenius error that passes: the output type's rounding, or f32 summation for f32 output.
double error_limit(DataType output);

}  // namespace sm100::sim
