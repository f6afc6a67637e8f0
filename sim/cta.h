// SPDX-License-Identifier: Apache-2.0
/// A CTA slot of the device: its warps, the CTA that is resident now, and what has to be true when it exits.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <systemc>
#include <vector>

#include "models/gpu.h"
#include "sim/launch_list.h"
#include "sim/role_work.h"
#include "sim/run_observer.h"
#include "sim/warp.h"

namespace sm100::sim {

class Cta : public sc_core::sc_module {
 public:
  Cta(sc_core::sc_module_name name, models::Gpu& gpu, models::CtaContext& context, const LaunchList& launches,
      RunObserver& observer);

  /// A CTA becomes resident; all its warps start.
  void start(int launch, Dim3 ctaid);
  void warp_exited(Warp& warp);

  /// Of the CTA that is or was resident; before the first one, of the run's first launch.
  const Kernel& kernel() const { return *kernel_; }
  const LaunchList& launches() const { return launches_; }
  models::Gpu& gpu() const { return gpu_; }
  /// Its side of the hardware.
  models::CtaContext& context() const { return context_; }
  models::Sm& sm() const { return context_.sm; }
  int slot() const { return context_.slot; }
  RunObserver& observer() { return observer_; }
  Dim3 ctaid() const { return ctaid_; }
  /// Position of its grid in the order of the host's calls.
  int launch() const { return launch_; }
  /// x-fastest; the CTAs of a launch are numbered after those of the launch ahead.
  int linear_id() const { return linear_id_; }
  /// The same within its grid.
  int grid_id() const { return linear_id_ - launches_[launch_].first_cta; }
  std::string name() const { return launches_.cta_name(linear_id_); }
  uint32_t cluster_rank() const { return cluster_rank_; }
  uint32_t cluster_ctas() const { return cluster_ctas_; }
  /// Linear id of the CTA of that rank in this CTA's cluster.
  int peer_id(uint32_t rank) const;
  /// And the slot that it runs or ran in.
  int peer_slot(uint32_t rank) const { return gpu_.clusters().slot_of(slot(), rank); }
  RingLabels labels;  ///< with what its stages are filled
  /// A warp consumes a stage of a ring: WK1.
  void consumes(const Warp& warp, const BarrierArray& full, int ring, int stage, const RingLabels::Label& as);
  int tcgen05_group = 0;  ///< cta_group of the CTA's tcgen05 instructions; 0: none yet
  bool resident() const { return live_warps_ > 0; }
  /// Of the CTA.  The slot has as many as the largest CTA of the run.
  std::span<const std::unique_ptr<Warp>> warps() const { return std::span(warps_).first(size_t(kernel_->warps)); }
  const std::vector<std::unique_ptr<Warp>>& all_warps() const { return warps_; }

  /// "input_full[2]" or "input_full"; "named barrier 1"; "tcgen05.alloc" ...
  std::string describe(const Blocked& blocked, bool with_stage) const {
    return describe(blocked, with_stage, kernel());
  }
  /// The same of a CTA of `kernel`, which need not be the one that is resident.
  std::string describe(const Blocked& blocked, bool with_stage, const Kernel& kernel) const;

 private:
  void check_exit();
  /// WK2 and WK3: what its roles have said that they work on.
  void check_work();
  /// MB16: arrivals on barriers of the array that nobody has waited on.
  void check_waited_for(const BarrierArray& array);
  int linear(Dim3 id) const {
    return launches_[launch_].first_cta + int(id.x + kernel_->grid.x * (id.y + kernel_->grid.y * id.z));
  }

  models::Gpu& gpu_;
  models::CtaContext& context_;
  const LaunchList& launches_;
  const Kernel* kernel_;
  RunObserver& observer_;
  std::vector<std::unique_ptr<Warp>> warps_;
  Dim3 ctaid_{};
  int launch_ = 0;
  int linear_id_ = -1;
  int live_warps_ = 0;
  uint32_t cluster_rank_ = 0, cluster_ctas_ = 1;
};

}  // namespace sm100::sim
