// SPDX-License-Identifier: Apache-2.0
/// The device: SMs in GPCs, memory, cluster launch control, the paths inside clusters, the launches of its streams
/// and the placement of their clusters on SMs in waves (PTX 9.7.13.13 griddepcontrol). Modelled: a cluster starts
/// when a place of consecutive SMs in one GPC has room for all of its CTAs; an SM holds as many CTAs as fit
/// (models/occupancy.h), up to Options::ctas_per_sm; clusters go where the fewest CTAs are, the lowest SM first;
/// launch latency, waves, CLC taking clusters that wait.  GPC g holds SMs [g * gpc_sms, (g + 1) * gpc_sms).
/// A launch starts when the one ahead in its stream has completed, its CTAs have exited and what they wrote is
/// visible, and so have the launches whose events its stream waits for.  A programmatic launch starts when every
/// CTA of the one ahead has executed launch_dependents or exited, and those events have come; griddepcontrol.wait
/// then blocks until all launches ahead in the stream have completed. Clusters of open launches are handed out in
/// the order of the host's calls: those of a launch only when none of an earlier one waits (the leftover policy:
/// Amert et al., "GPU Scheduling on the NVIDIA TX2: Hidden Details Revealed", RTSS 2017; Gilman and Walls,
/// "Demystifying the Placement Policies of the NVIDIA GPU Thread Block Scheduler", 2021). Assumed: an event takes
/// as long as a launch gap of one stream; streams have one priority. Approximated: hardware need not take
/// neighbouring SMs, may put two CTAs of a cluster on one SM, and may give the place of an exited CTA away earlier.
#pragma once

#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "models/clc.h"
#include "models/cluster_net.h"
#include "models/cta_context.h"
#include "models/global_words.h"
#include "models/launch_order.h"
#include "models/memory_system.h"
#include "models/occupancy.h"
#include "models/sm.h"
#include "models/suspension_limit.h"
#include "models/tensor_map_proxy.h"

namespace sm100::models {

/// Runs the code of a CTA; implemented by the simulator.
class CtaRunner {
 public:
  virtual ~CtaRunner() = default;
  /// Called when the CTA's first instruction may execute.
  /// @param launch  position in the order of the host's calls, from 0
  virtual void start_cta(CtaContext& cta, int launch, Dim3 ctaid) = 0;
};

class Gpu : public sc_core::sc_module {
 public:
  struct Options {
    int sms;
    bool with_data;
    Accumulation accumulation;
    std::optional<uint64_t> jitter_seed;  ///< of perturbed latencies; nothing: none
    int ctas_per_sm = 1;                  ///< slots; an SM never has more CTAs at once, though more may fit
  };
  struct Launch {
    Dim3 grid;            ///< in CTAs; a multiple of the cluster
    int warps;            ///< of a CTA
    uint32_t smem_bytes;  ///< dynamic shared memory of a CTA
    Dim3 cluster{1, 1, 1};
    int registers = 0;          ///< of a thread; 0: not known, no limit
    bool programmatic = false;  ///< launched with programmatic stream serialization
    GlobalRange writes{};       ///< its output, which nobody may read before it has completed
    int stream = 0;
    std::vector<int> after{};  ///< launches whose completion (an event behind them) its stream waits for before it
    uint32_t cluster_ctas() const { return cluster.x * cluster.y * cluster.z; }
    uint64_t clusters() const { return uint64_t(grid.x) * grid.y * grid.z / cluster_ctas(); }
    CtaResources resources() const { return {.warps = warps, .smem_bytes = smem_bytes, .registers = registers}; }
  };

  Gpu(sc_core::sc_module_name name, const DeviceProfile& profile, const Options& options, Observer& observer);

  /// SMs up to the last one that the grid's first wave uses, of a device or partition of `sms` SMs.  Throws
  /// std::invalid_argument, with a reason for people, when the grid can never run there.
  static int first_wave_sms(const Launch& launch, const DeviceProfile& profile, int sms);

  /// The same for launches that may be there at once, each behind the last.
  static int first_wave_sms(const std::vector<Launch>& launches, const DeviceProfile& profile, int sms);

  /// Puts a grid into its stream.  One that has nothing to wait for starts at once: as many clusters as find SMs
  /// now, the rest as SMs become free.  Throws like first_wave_sms.
  void launch(const Launch& launch, CtaRunner& runner);
  /// The CTA has ended; a waiting cluster may start in its place.  What it wrote is visible at cycle `visible`.
  void cta_exited(const CtaContext& cta, Cycles visible = 0);

  /// griddepcontrol.launch_dependents by a thread of the CTA; what follows the first of a CTA has no effect.
  void launch_dependents(const CtaContext& cta);
  /// Some CTA of the launch has executed launch_dependents: the next may run beside it, and read what is not there
  /// yet.
  bool lets_dependents_start(int launch) const { return grids_[size_t(launch)].triggered; }
  bool has_dependents(int launch) const { return order_.behind(launch) >= 0; }
  /// Something is ahead of the launch in its stream.
  bool has_prerequisites(int launch) const { return order_.ahead(launch) >= 0; }
  /// griddepcontrol.wait: all launches ahead of `launch` in its stream have completed.
  bool prerequisites_complete(int launch) const {
    return !has_prerequisites(launch) || grids_[size_t(order_.ahead(launch))].completed;
  }
  /// `waiter.wake` is notified when griddepcontrol.wait may return.
  void wait_prerequisites(int launch, Waiter& waiter);
  /// A launch that writes to this address and has not completed, or that nothing orders before `launch`; launches
  /// that are ordered behind it do not count.
  std::optional<int> unfinished_writer(GlobalAddr address, int launch) const;
  const LaunchOrder& order() const { return order_; }
  /// The launch ahead in its stream, if `launch` may start before that has completed and reads there what that
  /// writes: only behind griddepcontrol.wait may it.
  std::optional<int> programmatic_writer(GlobalAddr address, int launch) const;

  int sms() const { return int(sms_.size()); }
  Sm& sm(int i) { return *sms_[size_t(i)]; }
  int slots() const { return int(ctas_.size()); }
  CtaContext& cta(int slot) { return *ctas_[size_t(slot)]; }
  Jitter& jitter() { return jitter_; }
  MemorySystem& memory() { return memory_; }
  GlobalWords& words() { return words_; }
  TensorMapProxy& tensor_maps() { return tensor_maps_; }
  SuspensionLimit& try_wait_limit() { return try_wait_limit_; }
  Clc& clc() { return clc_; }
  ClusterNet& clusters() { return clusters_; }
  uint64_t ctas_launched() const { return launched_; }
  uint64_t ctas_running() const { return running_; }
  int launches() const { return int(grids_.size()); }
  /// Cycle at which its first CTA starts; nothing while it has none.
  std::optional<Cycles> first_start(int launch) const { return grids_[size_t(launch)].first_start; }
  /// Cycle at which all that the launch has written so far is visible.
  Cycles visible(int launch) const { return grids_[size_t(launch)].visible; }
  uint64_t ctas_running(int launch) const { return grids_[size_t(launch)].running; }

 private:
  struct Grid {
    Launch launch;
    CtaRunner* runner;
    bool opening = false;    ///< nothing holds it back; it opens after a latency
    bool open = false;       ///< its clusters may be placed
    Cycles start_from = 0;   ///< and start from this cycle on
    bool finished = false;   ///< CTAs have exited, writes are visible
    bool completed = false;  ///< and so are all ahead in its stream
    uint64_t running = 0;    ///< CTAs
    uint64_t holding = 0;    ///< CTAs that run and have not executed launch_dependents
    bool triggered = false;  ///< some CTA has
    std::optional<Cycles> first_start;
    Cycles visible = 0;
    std::vector<Waiter*> waiting;  ///< in griddepcontrol.wait
  };
  void open(size_t grid, Cycles delay);
  /// Opens the launch if nothing holds it back any more, `ns` later.
  void open_if_ready(size_t grid, double ns);
  /// The launches whose events it waits for have completed.
  bool events_complete(size_t grid) const;
  /// Every CTA of the launch ahead in its stream has executed launch_dependents or exited.
  bool released_by_ahead(size_t grid) const;
  void open_dependents();
  void finish(size_t grid);
  void complete(size_t grid);
  /// Somebody waits for the launch to complete.
  bool is_waited_for(size_t grid) const;
  void start_waiting();
  /// Puts slots for a cluster of the launch on consecutive SMs from `first_sm` on, none of which has more than
  /// `others` CTAs, into found_.  False: there is no room.
  bool find_room(const Launch& launch, int first_sm, int others);
  bool start_cluster(size_t grid);

  const DeviceProfile& profile_;
  Jitter jitter_;
  MemorySystem memory_;
  GlobalWords words_{"global_words", memory_};
  TensorMapProxy tensor_maps_{memory_, profile_};
  SuspensionLimit try_wait_limit_;
  Clc clc_;
  ClusterNet clusters_;
  CompletionQueue launches_;
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<std::unique_ptr<CtaContext>> ctas_;  ///< by slot
  struct Place {
    bool busy = false;       ///< has a CTA, or one on its way
    CtaResources taken{};    ///< by that CTA
    Cycles free_at = 0;      ///< a CTA may start
    size_t grid = 0;         ///< of its CTA
    bool triggered = false;  ///< its CTA has executed launch_dependents
  };
  int ctas_per_sm_;
  std::vector<Place> places_;           ///< by slot
  std::vector<int> found_;              ///< by find_room
  std::vector<CtaResources> together_;  ///< while it looks
  std::vector<Grid> grids_;             ///< in the order of the host's calls
  LaunchOrder order_;
  uint64_t launched_ = 0, running_ = 0;
  int clusters_started_ = 0;
};

}  // namespace sm100::models
