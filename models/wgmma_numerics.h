// SPDX-License-Identifier: Apache-2.0
/// What wgmma.mma_async computes: operands through descriptors or from registers, products, accumulation.
///
/// The modes are those of tcgen05 (umma_numerics.h): `fast` sums in f32 along k, the bit model is that of an H200
/// (numerics/fused_dot.h).  Sums of integers are exact in both and wrap, or saturate once for each instruction.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernels/isa/wgmma.h"
#include "models/shared_memory.h"
#include "models/umma_numerics.h"

namespace sm100::models {

/// One instruction of a warpgroup with its descriptors decoded and checked.
struct WgmmaOperation {
  WgmmaForm form;
  SmemDescriptorFields a, b;
  bool scale_d = false;
  std::array<uint32_t*, kWarpgroupWarps> d{};  ///< of each warp: [lane * wgmma_d_registers() + r]
  std::array<std::vector<uint32_t>, kWarpgroupWarps> a_registers{};  ///< the same, with kWgmmaARegisters
};

class WgmmaNumerics {
 public:
  WgmmaNumerics(Accumulation accumulation, const SharedMemory& smem) : accumulation_(accumulation), smem_(smem) {}

  void execute(const WgmmaOperation& operation);

 private:
  void read_a_registers(const WgmmaOperation& op);
  /// D of one element: `sum` of the products where the mode has one.
  uint32_t element(const WgmmaOperation& op, int row, int column, uint32_t old) const;

  Accumulation accumulation_;
  const SharedMemory& smem_;
  std::vector<float> a_, b_, sums_;  ///< row-major, k contiguous
};

}  // namespace sm100::models
