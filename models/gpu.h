/// The device: SMs in GPCs, memory, cluster launch control, the paths inside clusters, and the placement of clusters
/// on SMs in waves.
/// Modelled: a cluster starts when a place of consecutive SMs in one GPC is free for all of its CTAs; one CTA per SM,
/// launch latency, waves, CLC taking clusters that wait.  GPC g holds SMs [g * gpc_sms, (g + 1) * gpc_sms).
/// Approximated: hardware need not take neighbouring SMs, and may give the SM of an exited CTA away earlier.
#pragma once

#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "models/clc.h"
#include "models/cluster_net.h"
#include "models/global_words.h"
#include "models/memory_system.h"
#include "models/sm.h"

namespace sm100::models {

/// Runs the code of a CTA; implemented by the simulator.
class CtaRunner {
 public:
  virtual ~CtaRunner() = default;
  /// Called when the CTA's first instruction may execute.
  virtual void start_cta(Sm& sm, Dim3 ctaid) = 0;
};

class Gpu : public sc_core::sc_module {
 public:
  struct Options {
    int sms;
    bool with_data;
    Accumulation accumulation;
    std::optional<uint64_t> jitter_seed;
  };
  struct Launch {
    Dim3 grid;            ///< in CTAs; a multiple of the cluster
    int warps;            ///< of a CTA
    uint32_t smem_bytes;  ///< dynamic shared memory of a CTA
    Dim3 cluster{1, 1, 1};
    uint32_t cluster_ctas() const { return cluster.x * cluster.y * cluster.z; }
  };

  Gpu(sc_core::sc_module_name name, const DeviceProfile& profile, const Options& options, Observer& observer);

  /// SMs up to the last one that the grid's first wave uses, of a device or partition of `sms` SMs.  Throws
  /// std::invalid_argument, with a reason for people, when the grid can never run there.
  static int first_wave_sms(const Launch& launch, const DeviceProfile& profile, int sms);

  /// Starts a grid: as many clusters as find SMs now, the rest as SMs become free.  Throws like first_wave_sms.
  void launch(const Launch& launch, CtaRunner& runner);
  /// The CTA on `sm` has ended; a waiting cluster may start there.
  void cta_exited(Sm& sm);

  int sms() const { return int(sms_.size()); }
  Sm& sm(int i) { return *sms_[size_t(i)]; }
  MemorySystem& memory() { return memory_; }
  GlobalWords& words() { return words_; }
  Clc& clc() { return clc_; }
  ClusterNet& clusters() { return clusters_; }
  uint64_t ctas_launched() const { return launched_; }
  uint64_t ctas_running() const { return running_; }

 private:
  void start_waiting(Cycles delay);
  bool start_cluster(int first_sm, Cycles delay);

  const DeviceProfile& profile_;
  Jitter jitter_;
  MemorySystem memory_;
  GlobalWords words_{"global_words", memory_};
  Clc clc_;
  ClusterNet clusters_;
  CompletionQueue launches_{"launches"};
  std::vector<std::unique_ptr<Sm>> sms_;
  std::vector<bool> busy_;  ///< by SM: has a CTA, or one on its way
  Launch launch_{};
  CtaRunner* runner_ = nullptr;
  uint64_t launched_ = 0, running_ = 0;
};

}  // namespace sm100::models
