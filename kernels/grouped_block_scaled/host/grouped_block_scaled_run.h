// SPDX-License-Identifier: Apache-2.0
/// The grouped block-scaled matmul on a scenario's groups: tensors of all groups behind each other, tables of sizes
/// and pointers, tensor maps; each group is compared as a block-scaled product of its own.
#pragma once

#include <memory>
#include <vector>

#include "kernels/block_scaled/host/block_scaled_run.h"
#include "kernels/grouped_block_scaled/host/grouped_block_scaled_problem.h"
#include "kernels/grouped_block_scaled/params.h"

namespace sm100::host {

const KernelDefinition& grouped_block_scaled_definition();

class GroupedBlockScaledRun : public KernelRun {
 public:
  using Problem = GroupedBlockScaledProblem;
  explicit GroupedBlockScaledRun(const Scenario& scenario);

  const GroupedBlockScaledConfig& config() const { return config_; }
  GroupedBlockScaledParams params(const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode) const;

  LaunchShape launch() const override;
  std::vector<BarrierArray> barriers() const override;
  std::vector<NamedBarrier> named_barriers() const override;
  std::vector<std::string_view> roles() const override { return template_->roles(); }
  std::string_view role(int warp) const override { return block_scaled_role(warp); }
  std::optional<WorkTiles> work_tiles() const override {
    return WorkTiles{.rows = block_m(config_), .columns = config_.mma_n, .round_m = config_.cta_group};
  }
  std::vector<Tensor> tensors() const override;  ///< A, B, SFA, SFB, problems, pointers, maps, C
  void fill(size_t i, uint8_t* bytes) const override;
  void fill_addresses(size_t i, const std::vector<GlobalAddr>& addresses, const TensorMapEncoder& encode,
                      uint8_t* bytes) const override;
  Check check(const std::vector<const uint8_t*>& tensors) const override;
  ExpectedResult expected_result(const std::vector<GlobalAddr>& addresses) const override;
  double check_bytes() const override;
  double flops() const override;
  double bytes() const override;
  std::string title() const override;
  std::string chosen_configuration() const override;
  std::string configuration_json() const override;

 private:
  /// Where a group's part of A, B, SFA, SFB or C begins in the tensor of all groups.
  uint64_t offset(size_t operand, size_t group) const { return offsets_[operand][group]; }
  /// The group whose sizes the templates have: any that has maps at all.
  size_t template_group() const;

  GroupedBlockScaledProblem problem_;
  const GroupedBlockScaledConfig& config_ = problem_.config;
  std::vector<std::unique_ptr<BlockScaledRun>> products_;  ///< by group
  std::unique_ptr<BlockScaledRun> template_;               ///< has the maps that all others are edits of
  std::vector<std::vector<uint64_t>> offsets_;             ///< by operand: of each group, then the end
  int sms_, gpc_sms_;
};

}  // namespace sm100::host
