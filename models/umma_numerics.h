// SPDX-License-Identifier: Apache-2.0
/// What tcgen05.mma computes: operand reads through the descriptors, products, accumulation (PTX 9.7.16.10).
///
/// PTX leaves order and width of the accumulation open.  Two modes:
///   fast  fused multiply-adds in f32 along k (vector/kernels.h), the sum over the k of a run of MMAs added to D;
///         for comparisons with a tolerance.  The same bits on every processor.  Elements are multiplied by their
///         scale factors first, which is exact: f32 holds e2m1 times ue4m3, and all types times a power of two;
///         where a product with a power of two is too large for f32 the whole run is summed in f64
///   b200  bit model measured on B200 (MMA-Sim, arXiv 2511.10909; docs/instructions.md and numerics/fused_dot.h):
///         products and the old D as one fused sum, terms truncated, result truncated to f32
///
/// Sums of kind::i8 are exact in both, and wrap, or saturate once for each MMA where the descriptor says so (at
/// which point hardware saturates is an assumption).
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/isa/instr_descriptor.h"
#include "kernels/isa/smem_descriptor.h"
#include "kernels/isa/zero_columns.h"
#include "models/shared_memory.h"
#include "models/tensor_memory.h"

namespace sm100::models {

enum class Accumulation { fast, b200 };

/// One MMA with its descriptors decoded and checked.
struct MmaOperation {
  MmaKind kind;
  int cta_group = 1;
  ScaleVec scale_vec = ScaleVec::none;
  InstrDescriptorFields idesc;
  int m, n;
  TmemAddr d;
  bool a_in_tmem;
  TmemAddr a_tmem;
  SmemDescriptorFields a, b;
  TmemAddr sfa, sfb;  ///< of the block-scaled kinds
  bool enable_input_d;
  int scale_input_d = 0;  ///< the old D counts 2^-n times
  MmaModifiers modifiers{};
  TmemAddr metadata{};                       ///< of .sp
  std::array<uint32_t, 8> disabled_lanes{};  ///< lanes of D that stay as they are, of each CTA of a pair 128
  ZeroColumnMask zero_columns{};             ///< of .ws

  bool disables_lanes() const { return disabled_lanes != std::array<uint32_t, 8>{}; }
  bool disables(uint32_t cta, uint32_t lane) const { return disabled_lanes[cta * 4 + lane / 32] >> lane % 32 & 1; }
};

inline DataPathLayout layout_of(const MmaOperation& op) {
  return data_path_layout(op.m, op.cta_group, op.modifiers.ws);
}

/// Bytes of K that the MMA reads of each row of A, or of B.
inline uint32_t operand_row_bytes(const MmaOperation& op, bool a) { return op.modifiers.sp && !a ? 64 : 32; }

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
  static bool layouts_modelled(const MmaOperation& operation);
  /// True when the operand (true: A, false: B) lies in the CTA's shared memory, [kSmemUserBase, `end`).
  static bool operand_in_shared_memory(const MmaOperation& operation, bool a, uint32_t end);
  /// Rows of the operand in each CTA's shared memory.
  static int rows_per_cta(const MmaOperation& op, bool a) { return (a ? op.m : op.n) / op.cta_group; }

  /// Performs MMAs in order.  Runs that accumulate into one D are multiplied as one product in fast mode.
  void execute(std::span<const MmaOperation> operations);

  struct OperandError {
    std::string text;
    size_t operation = 0;  ///< which of those that execute() was given
  };
  /// What was wrong with scale factors that execute() has read since the last call.
  std::optional<OperandError> take_scale_error() { return std::exchange(scale_error_, std::nullopt); }
  /// The same of sparsity metadata.
  std::optional<OperandError> take_metadata_error() { return std::exchange(metadata_error_, std::nullopt); }

 private:
  /// MMAs of `operations` from the first on that are one product.
  size_t run_length(std::span<const MmaOperation> operations) const;
  void read_a(const MmaOperation& op, int k_offset, int k_total);
  /// The elements that A has: m rows from `out` on, `stride` apart.
  void read_stored_a(const MmaOperation& op, float* out, int stride);
  /// A of a sparse MMA, with zeros where it has no element.
  void read_sparse_a(const MmaOperation& op, int k_offset, int k_total);
  std::optional<std::string> undefined_chunk(TensorMemory& tmem, const MmaOperation& op, int m,
                                             uint32_t undefined) const;
  void read_b(const MmaOperation& op, int k_offset, int k_total);
  /// Scale factors of all rows, from `offset` on of each row's `per_row`.
  void read_scales(const MmaOperation& op, int offset, int per_row);
  /// Multiplies A and B by their scale factors.
  void apply_scales(const MmaOperation& op, int k_total);
  void write_d(const MmaOperation& op, int k_total);
  void write_all_of_d(const MmaOperation& op, int k_total);
  /// B as row m of A meets it: elements that are no numbers do not count where a sparse A has none.
  const float* b_of_row(const MmaOperation& op, const std::vector<float>& b, int m, int k_total);
  /// Multiplies an old D of f32 by 2^-scale_input_d.
  void scale_old_d(const MmaOperation& op);
  /// Product of the operands that were read last, over `k_total`: to d or added to it.
  void multiply(const MmaOperation& op, int k_total, float* d, ptrdiff_t d_stride, bool accumulate);
  void write_row(const MmaOperation& op, DataPathLayout layout, int m, int first, int count, int k_total);
  void write_integers(const MmaOperation& op, float* d, const float* row, int count) const;
  uint32_t fused_dot(const MmaOperation& op, const float* b, int m, int n, int k_total, float c) const;

  Accumulation accumulation_;
  const Memories& memories(const MmaOperation& op, uint32_t cta) const {
    return op.cta_group == 2 ? pair_[cta] : own_;
  }
  Memories own_, pair_[2]{};
  // Row-major, k contiguous.  The CTAs of a pair have scale factors of B of their own; where these differ, each has
  // a B of its own as well.
  std::vector<float> a_, b_, b_odd_, product_;
  std::vector<float> sfa_, sfb_, sfb_odd_;  ///< for each row those of its blocks
  int scales_per_row_ = 0;
  bool odd_differs_ = false;
  bool wide_ = false;                       ///< scaled elements do not fit into f32
  std::vector<float> stored_, met_by_row_;  ///< of a sparse A: what it has, and b_of_row's
  std::vector<uint8_t> has_element_;        ///< of a sparse A, as a_
  bool b_is_finite_ = true;
  const MmaOperation* executing_ = nullptr;  ///< the first of those that execute() was given
  std::optional<OperandError> scale_error_, metadata_error_;
};

}  // namespace sm100::models
