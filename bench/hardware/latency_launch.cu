// SPDX-License-Identifier: Apache-2.0
/// Kernels one after the other in a stream: from the end of one to the start of the next, and what programmatic
/// dependent launch makes of it.
#include <algorithm>

#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

constexpr int kLaunches = 60, kWarmUp = 10;
constexpr int kBig = 200 * 1024;

struct Stamp {
  u64 begin, waited, trigger, end;
};

/// Both halves of its life take `cycles`; the dependents may start after the first.
__global__ void link(Stamp* out, bool pdl, i64 cycles) {
  Stamp s{};
  s.begin = globaltimer();
  if (pdl) asm volatile("griddepcontrol.wait;" ::: "memory");
  s.waited = globaltimer();
  spin(cycles);
  s.trigger = globaltimer();
  if (pdl) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  spin(cycles);
  s.end = globaltimer();
  if (threadIdx.x == 0) out[blockIdx.x] = s;
}

__global__ void hold(i64 cycles) { spin(cycles); }

void chain(hw::Out& out, const char* name, int ctas, int smem, bool pdl) {
  Buffer<Stamp> stamps(static_cast<std::size_t>(kLaunches * ctas));
  hw::check(cudaFuncSetAttribute(link, cudaFuncAttributeMaxDynamicSharedMemorySize, kBig), "shared memory");
  cudaStream_t stream;
  hw::check(cudaStreamCreate(&stream), "stream");
  hold<<<1, 32, 0, stream>>>(4'000'000);  // until all launches are queued
  for (int i = 0; i < kLaunches; ++i) {
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(ctas));
    config.blockDim = dim3(128);
    config.dynamicSmemBytes = static_cast<std::size_t>(smem);
    config.stream = stream;
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = pdl ? 1 : 0;
    hw::check(
        cudaLaunchKernelEx(&config, link, stamps.get() + static_cast<std::size_t>(i) * ctas, pdl, i64{20'000}),
        "link");
  }
  hw::must_finish("chain");
  const std::vector<Stamp> all = stamps.host();
  std::vector<double> end_to_begin, trigger_to_begin, end_to_waited, period;
  for (int i = kWarmUp; i < kLaunches; ++i) {
    const auto at = [&](int launch) { return all.begin() + launch * ctas; };
    const auto most = [&](int launch, u64 Stamp::*what) {
      u64 m = 0;
      for (auto s = at(launch); s != at(launch + 1); ++s) m = std::max(m, (*s).*what);
      return static_cast<double>(m);
    };
    const auto least = [&](int launch, u64 Stamp::*what) {
      u64 m = ~u64{0};
      for (auto s = at(launch); s != at(launch + 1); ++s) m = std::min(m, (*s).*what);
      return static_cast<double>(m);
    };
    end_to_begin.push_back(least(i, &Stamp::begin) - most(i - 1, &Stamp::end));
    trigger_to_begin.push_back(least(i, &Stamp::begin) - most(i - 1, &Stamp::trigger));
    end_to_waited.push_back(least(i, &Stamp::waited) - most(i - 1, &Stamp::end));
    period.push_back(most(i, &Stamp::end) - most(i - 1, &Stamp::end));
  }
  const std::string id = hw::format("launch.%s.", name);
  const std::string of = hw::format(", %d CTAs of %d KiB, %s", ctas, smem / 1024, pdl ? "PDL" : "no PDL");
  out.samples(id + "end_to_begin", "last instruction of a grid -> first of the next" + of, "ns", end_to_begin);
  if (pdl) {
    out.samples(id + "trigger_to_begin", "last launch_dependents -> first instruction of the next" + of, "ns",
                trigger_to_begin);
    out.samples(id + "end_to_waited", "last instruction of a grid -> griddepcontrol.wait returns" + of, "ns",
                end_to_waited);
  }
  out.samples(id + "period", "end to end" + of, "ns", period);
}

}  // namespace

HW_TEST("launch.stream") {
  const int sms = hw::sm_count();
  chain(out, "serial_one", 1, 0, false);
  chain(out, "serial_full", sms, kBig, false);
  chain(out, "pdl_one", 1, 0, true);            // the dependent finds room at once
  chain(out, "pdl_half", sms / 2, kBig, true);  // on SMs of its own
  chain(out, "pdl_full", sms, kBig, true);      // needs the SMs of the grid ahead
}
