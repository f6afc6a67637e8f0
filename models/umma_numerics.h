// SPDX-License-Identifier: Apache-2.0
/// What tcgen05.mma computes: operand reads through the descriptors, products, accumulation (PTX 9.7.16.10).
///
/// PTX leaves order and width of the accumulation open.  Two modes:
///   fast  fused multiply-adds in f32 along k (vector/kernels.h), the sum over the k of a run of MMAs added to D;
///   for comparisons with a tolerance.  The same bits on every processor. b200  bit model measured on B200
///   (MMA-Sim, arXiv 2511.10909; docs/instructions.md): products and the old D as
///         one fused sum, terms truncated to 25 fractional bits of the largest exponent, result truncated to
///         f32
#pragma once

#include <span>
#include <vector>

#include "kernels/isa/instr_descriptor.h"
#include "kernels/isa/smem_descriptor.h"
#include "models/shared_memory.h"
#include "models/tensor_memory.h"

namespace sm100::models {

enum class Accumulation { fast, b200 };

/// One MMA with its descriptors decoded and checked.
struct MmaOperation {
  MmaKind kind;
  int cta_group = 1;
  InstrDescriptorFields idesc;
  int m, n;
  TmemAddr d;
  bool a_in_tmem;
  TmemAddr a_tmem;
  SmemDescriptorFields a, b;
  bool enable_input_d;
};

class UmmaNumerics {
 public:
  UmmaNumerics(Accumulation accumulation, SharedMemory& smem, TensorMemory& tmem)
      : accumulation_(accumulation), own_{&smem, &tmem} {}

  struct Memories {
    SharedMemory* smem;
    TensorMemory* tmem;
  };
  /// Memories of the CTA pair's even and odd CTA, for MMAs of cta_group 2.
  void set_pair(Memories even, Memories odd) { pair_[0] = even, pair_[1] = odd; }

  /// Where the operands lie is known: TMA and shared memory hold them as the descriptors say.
  bool layouts_modelled(const MmaOperation& operation) const;
  /// The same, and their values can be computed.
  bool operands_modelled(const MmaOperation& operation) const;
  /// True when the operand (true: A, false: B) lies in the CTA's shared memory, [kSmemUserBase, `end`).
  static bool operand_in_shared_memory(const MmaOperation& operation, bool a, uint32_t end);
  /// Rows of the operand in each CTA's shared memory.
  static int rows_per_cta(const MmaOperation& op, bool a) { return (a ? op.m : op.n) / op.cta_group; }

  /// Performs MMAs in order.  Runs that accumulate into one D are multiplied as one product in fast mode.
  void execute(std::span<const MmaOperation> operations);

 private:
  void read_a(const MmaOperation& op, int k_offset, int k_total);
  void read_b(const MmaOperation& op, int k_offset, int k_total);
  static void read_operand(const SharedMemory& smem, const SmemDescriptorFields& f, Major major, DataType type,
                           bool negate, int rows, int k, float* out, int stride);
  void write_d(const MmaOperation& op, int k_total);
  /// Product of the operands that were read last, over `k_total`: to d or added to it.
  void multiply(const MmaOperation& op, int k_total, float* d, ptrdiff_t d_stride, bool accumulate);
  void write_row(const MmaOperation& op, DataPathLayout layout, int m, int first, int count, int k_total);

  Accumulation accumulation_;
  const Memories& memories(const MmaOperation& op, uint32_t cta) const {
    return op.cta_group == 2 ? pair_[cta] : own_;
  }
  Memories own_, pair_[2]{};
  std::vector<float> a_, b_, product_;  ///< row-major, k contiguous
};

}  // namespace sm100::models
