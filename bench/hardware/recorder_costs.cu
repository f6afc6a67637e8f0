// SPDX-License-Identifier: Apache-2.0
// What trace points cost on this GPU where kernels have them (models/profiles/h200.toml, [trace]), in SM cycles: a
// begin and an end, and the stores behind them, by some warps beside a warpgroup that multiplies; then parts of the
// consumers of hopper_matmul and of pipeline_copy, plain and recorded, by one warpgroup and by two.
//
//   recorder_costs [--json FILE]
#include "costs.cuh"

namespace {

enum Part : unsigned {
  kWait = 1,        ///< for a barrier whose phase has completed
  kMultiply = 2,    ///< four wgmma of N = 128, committed
  kRelease = 4,     ///< wgmma.wait_group 1 if there are any, mbarrier.arrive by one lane
  kRead = 8,        ///< 8 x ld.shared.v4
  kWrite = 16,      ///< 8 x st.shared.v4, fence.proxy.async, bar.sync of the warpgroup
  kWaitStrip = 32,  ///< another bar.sync
};

constexpr WgmmaForm kForm{.n = 128, .a = DataType::bf16, .b = DataType::bf16};
constexpr uint32_t kBarriers = 64 * 1024;
__device__ int results_used;

template <unsigned kParts, class I>
__device__ __forceinline__ void step(I& isa, LaneArray<float, 64>& sums, LaneArray<uint32_t, 4> (&values)[8],
                                     int group, int k) {
  const SmemAddr smem = isa.dynamic_smem();
  const int stage = k & 3;
  const SmemAddr full = smem + kBarriers + 8 * uint32_t(stage);
  const auto chunk = [&](int i) {
    LaneArray<SmemAddr, 1> at;
    at[0][0] = smem + 16 * threadIdx.x + 4096 * uint32_t(i);
    return at;
  };
  if constexpr ((kParts & kWait) != 0) {
    TraceSpan span{isa, TraceEvent::wait, {.barrier = full, .stage = stage, .phase = k >> 2, .k = k}};
    while (!isa.mbarrier_try_wait_parity(full, 1, Scope::cta)) {}
  }
  if constexpr ((kParts & kMultiply) != 0) {
    TraceSpan span{isa, TraceEvent::mma_issue, {.stage = stage, .k = k}};
    isa.wgmma_fence();
    for (int i = 0; i < 4; ++i) {
      const auto a = make_wgmma_descriptor(smem + uint32_t(group) * 8192, 16, 1024, Swizzle::b128);
      const auto b = make_wgmma_descriptor(smem + 16384, 16, 1024, Swizzle::b128);
      isa.template wgmma_mma_async<kForm>(sums, advance(a, 32 * uint32_t(i)), advance(b, 32 * uint32_t(i)), true);
    }
    isa.wgmma_commit_group();
  }
  if constexpr ((kParts & kRelease) != 0) {
    if constexpr ((kParts & kMultiply) != 0) isa.template wgmma_wait_group<1>();
    isa.elected([&] { isa.mbarrier_arrive(smem + kBarriers + 64 + 8 * uint32_t(group), Scope::cta); });
  }
  if constexpr ((kParts & kRead) != 0) {
    TraceSpan span{isa, TraceEvent::smem_read, {.stage = stage, .k = k}};
    for (int i = 0; i < 8; ++i) values[i] = isa.ld_shared_v4(chunk(i));
  }
  if constexpr ((kParts & kWrite) != 0) {
    TraceSpan span{isa, TraceEvent::smem_write, {.stage = stage}};
    for (int i = 0; i < 8; ++i) isa.st_shared_v4(chunk(i), values[i]);
    isa.fence_proxy_async_shared_cta();
    isa.bar_sync(1 + group, 128);
  }
  if constexpr ((kParts & kWaitStrip) != 0) {
    TraceSpan span{isa, TraceEvent::store_wait, {.stage = stage}};
    isa.bar_sync(3 + group, 128);
  }
}

template <unsigned kParts, class Recorder>
__global__ void __launch_bounds__(256) steps_kernel(int64_t* out, typename Recorder::Params params) {
  Sm100<Recorder> isa{Recorder{params}};
  Device plain;
  init_barriers(plain, isa.dynamic_smem() + kBarriers, 10);
  const int group = isa.warpid() / 4;
  LaneArray<float, 64> sums;
  LaneArray<uint32_t, 4> values[8] = {};
  for (float& sum : sums[0]) sum = 0;
  if constexpr ((kParts & kMultiply) != 0) isa.wgmma_fence(sums);
  int k = 0;
  const int64_t each = cost(kTimes, [&] { step<kParts>(isa, sums, values, group, k++); });
  if constexpr ((kParts & kMultiply) != 0) isa.template wgmma_wait_group<0>(sums);
  if (threadIdx.x == 0) out[size_t{8} * blockIdx.x] = each;
  float sum = 0;
  for (const float one : sums[0]) sum += one;
  for (const auto& v : values) sum += float(v[0][0]);
  if (sum == 1.5f) out[1] = 1;  // what is computed is used
}

template <unsigned kParts>
void measure_steps(const char* name, const DeviceTrace& trace, int sms) {
  constexpr uint32_t kSmem = kBarriers + 2048;
  CHECK_CUDA(
      cudaFuncSetAttribute(steps_kernel<kParts, NoRecorder>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  CHECK_CUDA(cudaFuncSetAttribute(steps_kernel<kParts, DeviceRecorder>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  kSmem));
  DeviceTrace none = trace;
  none.capacity = 0;
  for (const int ctas : {1, sms})
    for (const unsigned groups : {1u, 2u}) {
      const unsigned threads = 128 * groups;
      const double without = measure(
          ctas, [&](int) { steps_kernel<kParts, NoRecorder><<<unsigned(ctas), threads, kSmem>>>(results, {}); });
      const double with = measure(ctas, [&](int) {
        steps_kernel<kParts, DeviceRecorder><<<unsigned(ctas), threads, kSmem>>>(results, trace);
      });
      const double full = measure(ctas, [&](int) {
        steps_kernel<kParts, DeviceRecorder><<<unsigned(ctas), threads, kSmem>>>(results, none);
      });
      const std::string what =
          std::string(name) + ", " + std::to_string(groups) + " warpgroups, " + std::to_string(ctas) + " CTAs";
      report(what + ": plain", without);
      report(what + ": recorded", with);
      report(what + ": recorded, no room", full);
    }
}

// ---- beside a warpgroup that multiplies

enum class Beside { pair, store16, store4, shared_store, clock, arithmetic };

/// The first warpgroup multiplies for kBusy cycles, longer than the others need; `warps` behind it do so many times
/// what is measured.
template <int N>
__device__ void multiply_on(SmemAddr smem) {
  constexpr WgmmaForm form{.n = N, .a = DataType::bf16, .b = DataType::bf16};
  constexpr int kChain = 8, kBusy = 60000;
  Device isa;
  LaneArray<float, wgmma_d_registers(form)> sums{};
  const auto a = make_wgmma_descriptor(smem, 16, 1024, Swizzle::b128),
             b = make_wgmma_descriptor(smem + 16384, 16, 1024, Swizzle::b128);
#pragma unroll 1
  for (int g = 0; g < kBusy / (kChain * N / 2); ++g) {
    isa.wgmma_fence(sums);
#pragma unroll
    for (int i = 0; i < kChain; ++i) isa.template wgmma_mma_async<form>(sums, a, b, true);
    isa.wgmma_commit_group();
    isa.template wgmma_wait_group<1>();
  }
  isa.template wgmma_wait_group<0>(sums);
  if (sums[0][0] == 1.5f) results_used = 1;
}

template <int N, Beside kWhat>
__global__ void __launch_bounds__(384) beside_kernel(int64_t* out, DeviceTrace trace) {
  Device isa;
  const SmemAddr smem = isa.dynamic_smem();
  __syncthreads();
  if (isa.warpid() < 4) {
    if constexpr (N != 0) multiply_on<N>(smem);
    return;
  }
  Sm100<DeviceRecorder> recorded{DeviceRecorder{trace}};
  auto* line = reinterpret_cast<uint4*>(trace.records) + 64 * threadIdx.x / 32;
  uint32_t chain = threadIdx.x;
  const bool first = threadIdx.x % 32 == 0;
  const int64_t each = cost(kTimes, [&] {
    if constexpr (kWhat == Beside::pair) {
      recorded.trace_begin(TraceEvent::wait, {.barrier = smem, .stage = 1, .phase = 1});
      recorded.trace_end();
    } else if constexpr (kWhat == Beside::store16) {
      asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p st.global.v4.b32 [%0], {%2, %2, %2, %2};}" ::"l"(line),
                   "r"(uint32_t(first)), "r"(chain)
                   : "memory");
    } else if constexpr (kWhat == Beside::store4) {
      asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p st.global.b32 [%0], %2;}" ::"l"(line),
                   "r"(uint32_t(first)), "r"(chain)
                   : "memory");
    } else if constexpr (kWhat == Beside::shared_store) {
      asm volatile("{.reg .pred p; setp.ne.u32 p, %1, 0; @p st.shared.b32 [%0], %2;}" ::"r"(smem.value + 65536 +
                                                                                            threadIdx.x * 4),
                   "r"(uint32_t(first)), "r"(chain)
                   : "memory");
    } else if constexpr (kWhat == Beside::clock) {
      uint32_t now;
      asm volatile("mov.u32 %0, %%clock;" : "=r"(now)::"memory");
      chain += now;
    } else {
      asm volatile("mad.lo.u32 %0, %0, 3, 1;" : "+r"(chain));
    }
  });
  if (threadIdx.x == 128) out[size_t{8} * blockIdx.x] = each;
  if (chain == 1) results_used = 1;
}

template <int N, Beside kWhat>
void measure_beside(const char* name, const DeviceTrace& trace) {
  constexpr uint32_t kSmem = kBarriers + 8192;
  CHECK_CUDA(cudaFuncSetAttribute(beside_kernel<N, kWhat>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  for (const unsigned warps : {1u, 4u, 8u}) {
    const double each =
        measure(1, [&](int) { beside_kernel<N, kWhat><<<1, 128 + 32 * warps, kSmem>>>(results, trace); });
    report(std::string(name) + " by " + std::to_string(warps) + " warps beside " +
               (N == 0 ? "nothing" : "wgmma of N = " + std::to_string(N)),
           each);
  }
}
template <Beside kWhat>
void measure_beside(const char* name, const DeviceTrace& trace) {
  measure_beside<0, kWhat>(name, trace);
  measure_beside<64, kWhat>(name, trace);
  measure_beside<128, kWhat>(name, trace);
  measure_beside<256, kWhat>(name, trace);
}

}  // namespace

int main(int argc, char** argv) {
  const int sms = open_device();
  DeviceTrace trace{.records = nullptr, .headers = nullptr, .capacity = 1024, .warps_per_cta = 8};
  CHECK_CUDA(cudaMalloc(&trace.records, sizeof(DeviceTraceRecord) * sms * 8 * trace.capacity));
  CHECK_CUDA(cudaMalloc(&trace.headers, sizeof(DeviceTraceHeader) * sms * 8));
  DeviceTrace twelve = trace;
  twelve.warps_per_cta = 12;
  measure_beside<Beside::pair>("begin and end", twelve);
  twelve.capacity = 0;
  measure_beside<Beside::pair>("begin and end without room", twelve);
  twelve.capacity = trace.capacity;
  measure_beside<Beside::store16>("st.global.v4.b32 by one lane", twelve);
  measure_beside<Beside::store4>("st.global.b32 by one lane", twelve);
  measure_beside<Beside::shared_store>("st.shared.b32 by one lane", twelve);
  measure_beside<Beside::clock>("mov %clock", twelve);
  measure_beside<Beside::arithmetic>("mad.lo.u32", twelve);
  measure_steps<kWait>("wait", trace, sms);
  measure_steps<kMultiply>("multiply", trace, sms);
  measure_steps<kMultiply | kRelease>("multiply, release", trace, sms);
  measure_steps<kWait | kMultiply | kRelease>("wait, multiply, release", trace, sms);
  measure_steps<kWait | kRelease>("wait, release", trace, sms);
  measure_steps<kWrite>("write", trace, sms);
  measure_steps<kWaitStrip>("bar.sync", trace, sms);
  measure_steps<kWrite | kWaitStrip>("write, bar.sync", trace, sms);
  measure_steps<kWait | kRead | kRelease | kWrite | kWaitStrip>("wait, read, release, write, bar.sync", trace, sms);
  return write_json(argc, argv);
}
