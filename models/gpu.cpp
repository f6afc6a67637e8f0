#include "models/gpu.h"

#include <fmt/format.h>

#include "models/time.h"

namespace sm100::models {

Gpu::Gpu(sc_core::sc_module_name name, const DeviceProfile& profile, const Options& options, Observer& observer)
    : sc_module(name),
      profile_(profile),
      jitter_(options.jitter_seed, profile),
      memory_(profile, jitter_),
      clc_("clc", profile, jitter_, observer) {
  for (int i = 0; i < options.sms; ++i)
    sms_.push_back(std::make_unique<Sm>(fmt::format("sm{}", i).c_str(), i, options.with_data, options.accumulation,
                                        memory_, profile, jitter_, observer));
}

void Gpu::launch(const Launch& launch, CtaRunner& runner) {
  launch_ = launch;
  runner_ = &runner;
  clc_.start_grid(launch.grid);
  for (auto& sm : sms_) start_next(*sm, profile_.cycles_of_ns(profile_.launch.kernel_start_ns));
}

void Gpu::cta_exited(Sm& sm) {
  --running_;
  start_next(sm, profile_.cycles_of_ns(profile_.launch.cta_gap_ns));
}

void Gpu::start_next(Sm& sm, Cycles delay) {
  const std::optional<Dim3> ctaid = clc_.take();
  if (!ctaid) return;
  ++launched_;
  ++running_;
  launches_.post(now() + delay + profile_.cycles_of_ns(profile_.launch.setup_ns), [this, &sm, id = *ctaid] {
    sm.start_cta(launch_.warps, launch_.smem_bytes);
    clc_.start_cta(sm.id);
    runner_->start_cta(sm, id);
  });
}

}  // namespace sm100::models
