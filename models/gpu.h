/// The device: SMs, memory, cluster launch control, and the placement of CTAs on SMs in waves.
/// Modelled: clusters of one CTA, one CTA per SM, launch latency, waves, CLC taking clusters that wait for an
/// SM. Rejected: clusters of more than one CTA and GPC placement (not implemented).
#pragma once

#include <memory>
#include <optional>
#include <systemc>
#include <vector>

#include "models/clc.h"
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
    Dim3 grid;
    int warps;            ///< of a CTA
    uint32_t smem_bytes;  ///< dynamic shared memory of a CTA
  };

  Gpu(sc_core::sc_module_name name, const DeviceProfile& profile, const Options& options, Observer& observer);

  /// Starts a grid: as many CTAs as there are SMs now, the rest as SMs become free.
  void launch(const Launch& launch, CtaRunner& runner);
  /// The CTA on `sm` has ended; the next waiting one may start there.
  void cta_exited(Sm& sm);

  int sms() const { return int(sms_.size()); }
  Sm& sm(int i) { return *sms_[size_t(i)]; }
  MemorySystem& memory() { return memory_; }
  Clc& clc() { return clc_; }
  uint64_t ctas_launched() const { return launched_; }
  uint64_t ctas_running() const { return running_; }

 private:
  void start_next(Sm& sm, Cycles delay);

  const DeviceProfile& profile_;
  Jitter jitter_;
  MemorySystem memory_;
  Clc clc_;
  CompletionQueue launches_{"launches"};
  std::vector<std::unique_ptr<Sm>> sms_;
  Launch launch_{};
  CtaRunner* runner_ = nullptr;
  uint64_t launched_ = 0, running_ = 0;
};

}  // namespace sm100::models
