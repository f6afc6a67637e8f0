// SPDX-License-Identifier: Apache-2.0
/// What wgmma.mma_async computes: operands through descriptors or from registers, products, accumulation.
///
/// The modes are those of tcgen05 (umma_numerics.h): `fast` sums in f32 along k, the bit model is that of an H200
/// (numerics/fused_dot.h).  Sums of integers are exact in both and wrap, or saturate once for each instruction.
///
/// Sparse A: each of its elements is multiplied by the element of B that the metadata name; the others of B take no
/// part, be they infinite or NaN.  The sum is that of a dense instruction with as many products.  So an H200's
/// mma.sp has it, and of its wgmma.  Metadata that name an element twice, or not in ascending order,
/// are undefined in PTX; here each element of A meets what its index names.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/isa/wgmma.h"
#include "models/shared_memory.h"
#include "models/umma_numerics.h"
#include "models/umma_operands.h"

namespace sm100::models {

/// One instruction of a warpgroup with its descriptors decoded and checked.
struct WgmmaOperation {
  WgmmaForm form;
  SmemDescriptorFields a, b;
  bool scale_d = false;
  std::array<uint32_t*, kWarpgroupWarps> d{};  ///< of each warp: [lane * wgmma_d_registers() + r]
  std::array<std::vector<uint32_t>, kWarpgroupWarps> a_registers{};  ///< the same, with kWgmmaARegisters
  std::array<std::vector<uint32_t>, kWarpgroupWarps> metadata{};     ///< of .sp, of each warp: [lane]
};

/// How an operand lies in shared memory.
OperandFormat operand_format(const WgmmaForm& form, bool a);

class WgmmaNumerics {
 public:
  WgmmaNumerics(Accumulation accumulation, const SharedMemory& smem) : accumulation_(accumulation), smem_(smem) {}

  void execute(const WgmmaOperation& operation);

 private:
  void read_a_registers(const WgmmaOperation& op);
  void read_metadata(const WgmmaOperation& op);
  /// All products, in f32 along k.
  void sum_products(const WgmmaForm& form);
  void sum_sparse_products(const WgmmaForm& form);
  /// A column of B, its elements beside those of a row of A that they meet.
  const float* beside(const WgmmaForm& form, int row, int column);
  /// D of one element: `sum` of the products where the mode has one.
  uint32_t element(const WgmmaOperation& op, int row, int column, uint32_t old);

  Accumulation accumulation_;
  const SharedMemory& smem_;
  std::vector<float> a_, b_, sums_;  ///< row-major, k contiguous
  std::vector<uint8_t> places_;      ///< of sparse A, as a_: the k that an element has in B
  std::vector<float> met_;           ///< beside()'s
};

}  // namespace sm100::models
