/// Faults as an Isa decorator: alters instructions on their way to the model, as a scenario's [[fault]]
/// entries say. The kernel source is never edited to break it.
#pragma once

#include <vector>

#include "kernels/host/scenario.h"
#include "sim/sim_isa.h"

namespace sm100::sim {

class FaultIsa : public SimIsa {
 public:
  /// @param altered  per fault: counts the instructions it altered, over all warps
  FaultIsa(Warp& warp, const models::DeviceProfile& profile, const std::vector<host::FaultSpec>& faults,
           std::vector<uint64_t>& altered)
      : SimIsa(warp, profile), faults_(faults), altered_(altered), matches_(faults.size(), 0) {}

  void mbarrier_init(SmemAddr barrier, uint32_t count, Loc loc = Loc::current()) {
    Alteration a = match("mbarrier_init", barrier);
    if (!a.drop) SimIsa::mbarrier_init(barrier, uint32_t(int64_t(count) + a.add), loc);
  }
  template <class Address>
  void mbarrier_arrive(Address barrier, Scope scope, Loc loc = Loc::current()) {
    if (!match("mbarrier_arrive", SmemAddr{barrier.offset()}).drop) SimIsa::mbarrier_arrive(barrier, scope, loc);
  }
  void mbarrier_arrive(const LaneArray<ClusterSmemAddr, 1>& barriers, Scope scope, Loc loc = Loc::current()) {
    if (!match("mbarrier_arrive", SmemAddr{barriers[first_active_lane()][0].offset()}).drop)
      SimIsa::mbarrier_arrive(barriers, scope, loc);
  }
  void mbarrier_arrive_expect_tx(SmemAddr barrier, uint32_t bytes, Scope scope, Loc loc = Loc::current()) {
    Alteration a = match("mbarrier_arrive_expect_tx", barrier);
    if (!a.drop) SimIsa::mbarrier_arrive_expect_tx(barrier, uint32_t(int64_t(bytes) + a.add), scope, loc);
  }
  void mbarrier_arrive_expect_tx(const LaneArray<ClusterSmemAddr, 1>& barriers, uint32_t bytes, Scope scope,
                                 Loc loc = Loc::current()) {
    Alteration a = match("mbarrier_arrive_expect_tx", SmemAddr{barriers[first_active_lane()][0].offset()});
    if (!a.drop) SimIsa::mbarrier_arrive_expect_tx(barriers, uint32_t(int64_t(bytes) + a.add), scope, loc);
  }
  bool mbarrier_try_wait_parity(SmemAddr barrier, uint32_t parity, Scope scope, Loc loc = Loc::current()) {
    Alteration a = match("mbarrier_try_wait_parity", barrier);
    return a.drop || SimIsa::mbarrier_try_wait_parity(barrier, parity ^ uint32_t(a.flip_parity), scope, loc);
  }
  void griddepcontrol_wait(Loc loc = Loc::current()) {
    if (!match("griddepcontrol_wait", BarrierName{}).drop) SimIsa::griddepcontrol_wait(loc);
  }
  void griddepcontrol_launch_dependents(Loc loc = Loc::current()) {
    if (!match("griddepcontrol_launch_dependents", BarrierName{}).drop)
      SimIsa::griddepcontrol_launch_dependents(loc);
  }
  void tcgen05_commit(int cta_group, SmemAddr barrier, Loc loc = Loc::current()) {
    if (!match("tcgen05_commit", barrier).drop) SimIsa::tcgen05_commit(cta_group, barrier, loc);
  }
  void tcgen05_commit_multicast(int cta_group, SmemAddr barrier, CtaMask mask, Loc loc = Loc::current()) {
    if (!match("tcgen05_commit_multicast", barrier).drop)
      SimIsa::tcgen05_commit_multicast(cta_group, barrier, mask, loc);
  }
  template <int N>
  void cp_async_bulk_tensor_shared_global(SmemAddr dst, const TensorMap* map, TensorCoords<N> coords,
                                          SmemAddr barrier, int cta_group = 1, Loc loc = Loc::current()) {
    if (!match("cp_async_bulk_tensor_shared_global", barrier).drop)
      SimIsa::cp_async_bulk_tensor_shared_global(dst, map, coords, barrier, cta_group, loc);
  }
  template <int N>
  void cp_async_bulk_tensor_shared_global_multicast(SmemAddr dst, const TensorMap* map, TensorCoords<N> coords,
                                                    SmemAddr barrier, CtaMask mask, int cta_group = 1,
                                                    Loc loc = Loc::current()) {
    if (!match("cp_async_bulk_tensor_shared_global_multicast", barrier).drop)
      SimIsa::cp_async_bulk_tensor_shared_global_multicast(dst, map, coords, barrier, mask, cta_group, loc);
  }

  void st_release_gpu_global_u32(GlobalAddr address, uint32_t value, Loc loc = Loc::current()) {
    if (!match("st_release_gpu_global_u32", SmemAddr{}).drop)
      SimIsa::st_release_gpu_global_u32(address, value, loc);
  }

 private:
  struct Alteration {
    bool drop = false, flip_parity = false;
    int64_t add = 0;
  };

  /// Alterations of this execution of `instruction` on `barrier` (address 0: it has none); counts the match.
  Alteration match(const char* instruction, SmemAddr barrier) {
    return match(instruction, barrier_name(cta().kernel(), barrier.offset()));
  }
  Alteration match(const char* instruction, const BarrierName& name) {
    Alteration alteration;
    for (size_t i = 0; i < faults_.size(); ++i) {
      const host::FaultSpec& f = faults_[i];
      if (f.instruction != instruction) continue;
      if (!f.role.empty() && f.role != cta().kernel().role(warp().index)) continue;
      if (!f.barrier.empty() && (!name.array || f.barrier != name.array->name)) continue;
      if (f.stage >= 0 && (!name.array || f.stage != name.stage)) continue;
      if (f.cta >= 0 && f.cta != cta().grid_id()) continue;
      if (f.launch >= 0 && f.launch != cta().launch()) continue;
      const int64_t occurrence = matches_[i]++;
      if (f.occurrence >= 0 && f.occurrence != occurrence) continue;
      ++altered_[i];
      alteration.drop |= f.action == "drop";
      alteration.flip_parity ^= f.action == "flip_parity";
      if (f.action == "add") alteration.add += f.value;
    }
    return alteration;
  }

  const std::vector<host::FaultSpec>& faults_;
  std::vector<uint64_t>& altered_;
  std::vector<int64_t> matches_;  ///< per fault, of this warp and CTA
};

static_assert(Isa<FaultIsa>);

}  // namespace sm100::sim
