// SPDX-License-Identifier: Apache-2.0
/// setmaxnreg: when a request for registers is served, from which pool, and what it costs.
///
/// A kernel of three warpgroups that is compiled for 168 registers a thread (the most that 384 threads can have).
/// Each warpgroup executes at most one setmaxnreg; a request that is never served hangs, so each case is a test of
/// its own.
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

constexpr int kWarpgroup = 128;

template <int N>
__device__ void dec() {
  if constexpr (N > 0) asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
__device__ void inc() {
  if constexpr (N > 0) asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

/// Warpgroup 0 waits `delay` cycles and gives registers back (Give > 0) or exits (Give < 0); the others ask.
/// cycles[w]: what warp w's request took.
template <int Give, int Ask1, int Ask2>
__device__ __forceinline__ void redistribute(i64 delay, i64* cycles, int* served) {
  const int group = int(threadIdx.x) / kWarpgroup, warp = int(threadIdx.x) / 32;
  i64 begin = now();
  if (group == 0) {
    if (delay > 0) spin(delay);
    if constexpr (Give < 0) return;
    begin = now();
    dec<Give>();
  } else if (group == 1) {
    inc<Ask1>();
  } else {
    inc<Ask2>();
  }
  const i64 end = now();
  if (threadIdx.x % 32 == 0) {
    cycles[warp] = end - begin;
    atomicAdd(served, 1);
  }
}

template <int Give, int Ask1, int Ask2>
__global__ void __launch_bounds__(3 * kWarpgroup, 1) three(i64 delay, i64* cycles, int* served) {
  redistribute<Give, Ask1, Ask2>(delay, cycles, served);
}

/// The same for two CTAs on an SM: 80 registers a thread.
template <int Give, int Ask1, int Ask2>
__global__ void __launch_bounds__(3 * kWarpgroup, 2) three_of_two(i64 delay, i64* cycles, int* served) {
  redistribute<Give, Ask1, Ask2>(delay, cycles, served);
}

/// One warpgroup with 80 registers; most of the SM's registers are nobody's.
__global__ void __maxnreg__(80) alone(i64* cycles, int* served) {
  const i64 begin = now();
  inc<160>();
  const i64 end = now();
  if (threadIdx.x % 32 == 0) {
    cycles[threadIdx.x / 32] = end - begin;
    atomicAdd(served, 1);
  }
}

template <class K, class... A>
void ask(hw::Out& out, const char* id, const char* question, const char* expected, K kernel, int threads,
         A... args) {
  cudaFuncAttributes attributes{};
  hw::check(cudaFuncGetAttributes(&attributes, kernel), "attributes");
  i64* cycles = nullptr;
  int* served = nullptr;  // mapped: a hung kernel's counts can be read
  hw::check(cudaHostAlloc(reinterpret_cast<void**>(&cycles), 12 * sizeof(i64), cudaHostAllocMapped), "host memory");
  hw::check(cudaHostAlloc(reinterpret_cast<void**>(&served), sizeof(int), cudaHostAllocMapped), "host memory");
  for (int w = 0; w < 12; ++w) cycles[w] = -1;
  *served = 0;
  hw::check(hw::launch(kernel, 1, threads, 0, 1, args..., cycles, served), "launch");
  cudaEvent_t done{};
  hw::check(cudaEventCreate(&done), "event");
  hw::check(cudaEventRecord(done), "event");
  cudaError_t state = cudaErrorNotReady;
  for (int i = 0; i < 2000 && state == cudaErrorNotReady; ++i) {
    state = cudaEventQuery(done);
    struct timespec ms = {0, 1000000};
    nanosleep(&ms, nullptr);
  }
  std::string text;
  for (int w = 0; w < threads / 32; ++w)
    text += (w ? " " : "") + std::to_string(reinterpret_cast<volatile i64*>(cycles)[w]);
  const std::string seen = state == cudaSuccess ? "served" : state == cudaErrorNotReady ? "waits for ever" : "trap";
  out.text(std::string(id) + ".cycles", question,
           text + "; " + std::to_string(attributes.numRegs) + " registers at launch");
  if (expected)
    out.answer(id, question, expected, seen);
  else
    out.open(id, question, seen);
  // A kernel that hangs ends with its process; the parent starts another one for the next test.
  std::fflush(nullptr);
  if (state == cudaErrorNotReady) _exit(3);
  cudaFreeHost(cycles);
  cudaFreeHost(served);
}

}  // namespace

HW_TEST("registers.fits") {
  ask(out, "registers.fits", "24 + 232 + 232 of 3 x 168", "served", three<24, 232, 232>, 384, i64{0});
}
HW_TEST("registers.exact") {
  ask(out, "registers.exact", "24 + 240 + 240 of 3 x 168: all of them", "served", three<24, 240, 240>, 384, i64{0});
}
HW_TEST("registers.late") {
  ask(out, "registers.late", "the same, given back after 100,000 cycles", "served", three<24, 240, 240>, 384,
      i64{100'000});
}
HW_TEST("registers.too_many") {
  ask(out, "registers.too_many", "40 + 240 + 240 of 3 x 168", "waits for ever", three<40, 240, 240>, 384, i64{0});
}
HW_TEST("registers.no_dec") {
  ask(out, "registers.no_dec", "168 + 176 + 0 of 3 x 168: nobody gives", "waits for ever", three<0, 176, 0>, 384,
      i64{0});
}
HW_TEST("registers.exit") {
  ask(out, "registers.exit", "a warpgroup exits, another asks for 232 (are its registers the pool's?)", nullptr,
      three<-1, 232, 0>, 384, i64{20'000});
}
HW_TEST("registers.first_of_two") {
  ask(out, "registers.first_of_two", "24 + 240 + 168: one may have all that is given", "served", three<24, 240, 0>,
      384, i64{0});
}
HW_TEST("registers.two_ctas") {
  ask(out, "registers.two_ctas", "launch bounds for two CTAs: 24 + 232 + 232 of 3 x 80, one CTA on the SM",
      "waits for ever", three_of_two<24, 232, 232>, 384, i64{0});
}
HW_TEST("registers.two_ctas_fit") {
  ask(out, "registers.two_ctas_fit", "launch bounds for two CTAs: 24 + 104 + 104 of 3 x 80", "served",
      three_of_two<24, 104, 104>, 384, i64{0});
}
HW_TEST("registers.alone") {
  ask(out, "registers.alone", "one warpgroup of 80 asks for 160, the SM has plenty (is the pool the CTA's?)",
      nullptr, alone, 128);
}
