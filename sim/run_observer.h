// SPDX-License-Identifier: Apache-2.0
/// Listens to the hardware units: collects violations, and turns events into a trace when one is recorded.
#pragma once

#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "kernels/isa/clc_response.h"
#include "models/mbarrier.h"
#include "models/memory_system.h"
#include "models/observer.h"
#include "sim/barrier_learner.h"
#include "sim/completion_order.h"
#include "sim/launch_list.h"
#include "traces/format/recorder.h"

namespace sm100::sim {

class Cta;
class HazardChecker;
class Warp;

class RunObserver : public models::Observer {
 public:
  /// @param launches  outlives the observer
  RunObserver(const LaunchList& launches, int slots, traces::Recorder* recorder);

  void cta_started(Cta& cta);
  void cta_exited(Cta& cta);

  void mbarrier_event(const models::MbarrierEvent& event) override;
  void unit_span(const models::UnitSpan& span) override;
  void violation(const models::Violation& violation) override;
  /// A warp has decoded its n-th response, counted from 0: all warps of a cluster must find the same there (CL9).
  void clc_decoded(Cta& cta, int n, const ClcResponse& response, const models::Source& by);
  uint64_t new_flow() override { return recorder_ ? recorder_->new_flow() : 0; }

  /// wait_begin / wait_end of a warp on an mbarrier, whose state is that after the event.
  void mbarrier_wait(traces::BarrierEventKind kind, Warp& warp, const models::Mbarrier::State& state, int64_t phase,
                     uint64_t flow, models::Cycles time);
  /// A warp goes on after a wait of another kind, which its `waiter` says who ended, at cycle `caused`.
  void wakeup(Warp& warp, const std::string& reason, models::Cycles begin, models::Cycles caused);

  /// A setmaxnreg has been executed whose pool is not known.
  void registers_unknown() { registers_unknown_ = true; }
  bool had_unknown_registers() const { return registers_unknown_; }

  /// Where the device recorder writes the records of a warp (kernels/isa/device_trace.h), `bytes` of each warp:
  /// room for all `warps` of the launch is made when the first of them asks.
  GlobalAddr recorder_records(int launch, uint64_t warp, uint64_t warps, uint64_t bytes);

  /// A launch that is not of the run may not have completed: reads before griddepcontrol.wait are noted.
  void set_launch_ahead(bool there_is) { launch_ahead_ = there_is; }
  bool launch_ahead() const { return launch_ahead_; }
  struct EarlyRead {
    const char* what;  ///< "tensor load"
    Loc loc;
  };
  void reads_early(const char* what, const Loc& loc) {
    if (!early_read_) early_read_ = {what, loc};
  }
  const std::optional<EarlyRead>& early_read() const { return early_read_; }

  /// From now on barrier events reach the checker too, and warps tell it what they do; nullptr: nobody checks.
  void set_hazards(HazardChecker* hazards) { hazards_ = hazards; }
  HazardChecker* hazards() { return hazards_; }

  /// `.cta` is what an instruction without a scope means, and across CTAs a finding.
  void set_strict_scopes() { strict_scopes_ = true; }
  bool strict_scopes() const { return strict_scopes_; }

  /// Hears of mbarriers and who uses them; nullptr: nobody does.
  void set_learner(BarrierLearner* learner) { learner_ = learner; }
  /// A warp waits on an mbarrier, or tests it.
  void mbarrier_named(const Kernel& kernel, uint32_t offset, int warp) {
    if (learner_) learner_->waited(kernel, offset, warp);
  }

  traces::Recorder* recorder() { return recorder_; }
  /// Tracks of a recorded run; kNoTrack where there is none.
  traces::TrackId role_track(int cta, int warp) const;
  traces::TrackId cta_track(int slot) const { return tracks_[size_t(slot)].cta; }
  traces::TrackId barrier_track(int slot, uint32_t offset) const;
  /// Index of the name of the kernel's barrier array in the trace.
  int16_t array_name(const Kernel& kernel, const BarrierArray& array) const {
    return kernels_[kernel.index].array_names[size_t(&array - kernel.barriers.data())];
  }
  /// Index of "load_warp.h:36" in the trace; kNoName for a location that names no line.
  int16_t line_name(const Loc& loc);
  /// Names the tensors of copies; nullptr: nobody does.
  void set_memory(models::MemorySystem* memory) { memory_ = memory; }
  const CompletionOrder& completions() const { return completions_; }
  /// Bytes of the smallest copy that has come to a barrier of the array, in any CTA; 0: none has.
  uint32_t smallest_copy(const Kernel& kernel, const BarrierArray& array) const {
    const std::vector<uint32_t>& copies = kernels_[kernel.index].smallest_copies;
    const auto index = size_t(&array - kernel.barriers.data());
    return index < copies.size() ? copies[index] : 0;
  }
  /// Multicasts of that line have been made, and each has named its own CTA alone.
  bool multicasts_to_itself(const Loc& loc) const;
  /// Ranks that the multicasts of a CTA at that line have named, a bit each; 0: it has made none there.
  /// @param cta  linear id
  uint16_t multicasts_of(int cta, const Loc& loc) const;
  /// Ranks that the multicasts of a CTA have named, a bit each; 0: it has made none.
  /// @param cta  linear id
  uint16_t multicasts_of(int cta) const {
    const auto found = multicast_ranks_.find(cta);
    return found == multicast_ranks_.end() ? uint16_t{0} : found->second;
  }
  /// Of mbarriers, so far.
  uint64_t barrier_events() const { return barrier_events_; }
  const std::vector<models::Violation>& violations() const { return violations_; }
  const std::vector<models::Violation>& warnings() const { return warnings_; }
  /// What is wrong only if the result is; one per kind and place.
  const std::vector<models::Violation>& suspects() const { return suspects_; }
  const std::vector<models::Violation>& notes() const { return notes_; }
  /// printf of a kernel.  @param cta  linear id
  void print(int cta, const std::string& text) { printed_[cta] += text; }
  /// All of it, in the order of CTAs.
  std::string printed() const;
  uint64_t ctas_exited() const { return ctas_exited_; }
  models::Cycles last_exit() const { return last_exit_; }

 private:
  /// Tracks of the CTA that is resident in a slot.
  struct Tracks {
    traces::TrackId cta, tma_load, tma_store, umma, clc, tmem;
    std::vector<std::pair<uint32_t, traces::TrackId>> barriers;  ///< by offset, ascending
  };
  /// What is kept of a kernel of the run.
  struct OfKernel {
    std::vector<int16_t> warp_names, array_names;  ///< in the trace
    std::vector<uint32_t> arriver_warps;           ///< by barrier array: warps that its row lists, a bit each
    std::vector<uint32_t> smallest_copies;         ///< by barrier array
  };
  /// Of the CTA that is or was resident in the slot.
  const Kernel& kernel_at(int slot) const {
    return launches_.one_kernel() || !ctas_[size_t(slot)] ? *launches_.kernels().front() : resident_kernel(slot);
  }
  const Kernel& resident_kernel(int slot) const;
  /// Of the warp that the source names.
  const Kernel& kernel_of(const models::Source& source, int slot) const {
    return source.cta >= 0 ? launches_.kernel_of_cta(source.cta) : kernel_at(slot);
  }
  int16_t actor_name(const models::Source& source, int slot);
  traces::TrackId actor_track(const models::Source& source) const;

  /// Copies of a line with a mask of CTAs.
  struct Multicasts {
    Loc loc;
    bool to_itself;
    std::unordered_map<int, uint16_t> ranks{};  ///< named, by the CTA that copies
  };
  std::vector<Multicasts> multicasts_;                 ///< few lines have any
  std::unordered_map<int, uint16_t> multicast_ranks_;  ///< by the CTA that copies
  void note_multicast(const models::UnitSpan& copy);

  /// What the first warp to decode a response found.
  struct Decoded {
    bool canceled;
    Dim3 first_cta;
    int cta, warp;
  };
  void check_arriver(const models::MbarrierEvent& event);
  void keep_smallest(const models::MbarrierEvent& event);
  /// Index of a tensor's name in the trace, by where it begins.
  int16_t tensor_name(uint64_t address);

  const LaunchList& launches_;
  std::vector<OfKernel> kernels_;  ///< by Kernel::index
  std::vector<const Cta*> ctas_;   ///< by slot; nullptr: none has started
  traces::Recorder* recorder_;
  HazardChecker* hazards_ = nullptr;
  bool strict_scopes_ = false;
  bool registers_unknown_ = false;
  bool launch_ahead_ = false;
  std::optional<EarlyRead> early_read_;  ///< the first
  BarrierLearner* learner_ = nullptr;
  models::MemorySystem* memory_ = nullptr;
  std::unordered_map<int, GlobalAddr> recorder_records_;  ///< by launch
  traces::TrackId gpu_track_ = traces::kNoTrack;
  std::vector<Tracks> tracks_;               ///< by slot
  std::vector<traces::TrackId> cta_tracks_;  ///< by linear id; the tracks of a CTA follow its own, in one order
  std::unordered_map<uint64_t, int16_t> tensor_names_;              ///< by address
  std::map<std::pair<const char*, uint32_t>, int16_t> line_names_;  ///< by file and line
  int16_t tma_name_ = -1, umma_name_ = -1, clc_name_ = -1;
  std::unordered_map<int, std::vector<Decoded>> decoded_;  ///< by the cluster's first CTA, then response
  CompletionOrder completions_;
  uint64_t barrier_events_ = 0;
  std::vector<models::Violation> violations_, warnings_, suspects_, notes_;
  std::map<int, std::string> printed_;  ///< by CTA
  uint64_t ctas_exited_ = 0;
  models::Cycles last_exit_ = 0;
};

}  // namespace sm100::sim
