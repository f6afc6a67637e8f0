// SPDX-License-Identifier: Apache-2.0
/// The PTX that nvcc made of kernels/cuda/, as its tests read it: entry points, each a list of lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kernels/block_scaled/cuda/block_scaled_configurations.h"
#include "kernels/blockwise/cuda/blockwise_configurations.h"
#include "kernels/copy/cuda/copy_configurations.h"
#include "kernels/cutlass_block_scaled/cuda/cutlass_block_scaled_configurations.h"
#include "kernels/direct/cuda/direct_configurations.h"
#include "kernels/fallback/cuda/fallback_configurations.h"
#include "kernels/grouped_1d1d/cuda/grouped_1d1d_configurations.h"
#include "kernels/grouped_1d2d/cuda/grouped_1d2d_configurations.h"
#include "kernels/grouped_block_scaled/cuda/grouped_block_scaled_configurations.h"
#include "kernels/hopper_matmul/cuda/hopper_matmul_configurations.h"
#include "kernels/matmul/cuda/configurations.h"

namespace sm100 {

/// Instruction, label (ends with ':') or directive, without comments and surrounding blanks.
using PtxLine = std::string;

class PtxEntry {
 public:
  PtxEntry(std::string symbol, std::string text);

  const std::string& symbol() const { return symbol_; }
  const std::string& text() const { return text_; }
  enum class Kernel {
    matmul,
    block_scaled,
    blockwise,
    grouped_1d1d,
    grouped_1d2d,
    grouped,
    cutlass,
    copy,
    fallback,
    direct,
    hopper
  };
  Kernel kernel() const {
    return block_scaled_   ? Kernel::block_scaled
           : blockwise_    ? Kernel::blockwise
           : grouped_1d1d_ ? Kernel::grouped_1d1d
           : grouped_1d2d_ ? Kernel::grouped_1d2d
           : grouped_      ? Kernel::grouped
           : cutlass_      ? Kernel::cutlass
           : copy_         ? Kernel::copy
           : fallback_     ? Kernel::fallback
           : direct_       ? Kernel::direct
           : hopper_       ? Kernel::hopper
                           : Kernel::matmul;
  }
  /// The configuration, of the entry's kernel only.
  const MatmulConfig& config() const;
  const BlockScaledConfig& block_scaled_config() const;
  const Grouped1d1dConfig& grouped_1d1d_config() const;
  const Grouped1d2dConfig& grouped_1d2d_config() const;
  const BlockwiseConfig& blockwise_config() const;
  const GroupedBlockScaledConfig& grouped_config() const;
  const CutlassBlockScaledConfig& cutlass_config() const;
  const CopyConfig& copy_config() const;
  const FallbackConfig& fallback_config() const;
  const DirectConfig& direct_config() const;
  const HopperMatmulConfig& hopper_config() const;
  bool traced() const { return traced_; }
  /// For messages: "128x128_s6" or "128x128_s6, traced".
  std::string name() const;

  const std::vector<PtxLine>& lines() const { return lines_; }
  /// Lines that begin with `opcode`, a guard (@%p) aside.
  std::vector<size_t> find(std::string_view opcode) const;
  size_t count(std::string_view opcode) const { return find(opcode).size(); }
  /// Lines that contain `part` anywhere.
  std::vector<size_t> find_anywhere(std::string_view part) const;

 private:
  std::string symbol_, text_;
  const NamedConfig* matmul_ = nullptr;
  const NamedBlockScaledConfig* block_scaled_ = nullptr;
  const NamedGrouped1d1dConfig* grouped_1d1d_ = nullptr;
  const NamedGrouped1d2dConfig* grouped_1d2d_ = nullptr;
  const NamedBlockwiseConfig* blockwise_ = nullptr;
  const NamedGroupedConfig* grouped_ = nullptr;
  const NamedCutlassConfig* cutlass_ = nullptr;
  const NamedCopyConfig* copy_ = nullptr;
  const NamedFallbackConfig* fallback_ = nullptr;
  const NamedDirectConfig* direct_ = nullptr;
  const NamedHopperMatmulConfig* hopper_ = nullptr;
  bool traced_;
  std::vector<PtxLine> lines_;
};

/// The files, one after the other; a colon stands between their paths.
std::string read_text(const char* paths);
/// Entries in the files' order; throws when there is none.
std::vector<PtxEntry> read_ptx(const char* paths);

/// Registers (%r1, %rd2, %p3, ...) that a line names, in their order.
std::vector<std::string> ptx_registers(std::string_view text);

}  // namespace sm100
