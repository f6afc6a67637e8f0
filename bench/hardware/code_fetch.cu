// SPDX-License-Identifier: Apache-2.0
// What code costs that an SM has not executed lately: straight lines of independent FFMA, each passed three times
// by one warp, with the clock read at every 128 of them; behind a launch of other code, with and without L2
// flushed, and behind itself.  Then the same by warps of other SMs and of the same SM that follow, by lines in
// which jumps leave parts out, and by loops of growing size.
//
//   code_fetch           prints CSV: what, instructions, before, pass, warp, block, cycles of each 128 instructions
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#define CHECK(call)                                                                   \
  do {                                                                                \
    if (const cudaError_t e = call; e != cudaSuccess) {                               \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e)); \
      std::exit(1);                                                                   \
    }                                                                                 \
  } while (0)

namespace {

constexpr int kPasses = 3, kMarks = 256;

__device__ __forceinline__ uint32_t clock_now() {
  uint32_t c;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
  return c;
}

/// 128 FFMA of four chains.
__device__ __forceinline__ void line_128(float (&x)[4], float a, float b) {
#pragma unroll
  for (int i = 0; i < 32; ++i) {
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[0]) : "f"(a), "f"(b));
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[1]) : "f"(a), "f"(b));
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[2]) : "f"(a), "f"(b));
    asm volatile("fma.rn.f32 %0, %0, %1, %2;" : "+f"(x[3]) : "f"(a), "f"(b));
  }
}

/// kBlocks x 128 instructions, passed kPasses times; warp w begins `delay` x w cycles later.  Of `jumps`, every
/// other block is jumped over (its code is there).
template <int kBlocks, bool kJumps>
__global__ void __launch_bounds__(512)
    straight(uint32_t* marks, float* sink, float a, float b, int delay, int never) {
  __shared__ uint32_t at[16][kMarks];
  const int warp = int(threadIdx.x / 32);
  float x[4] = {a, b, a + 1, b + 1};
  const uint32_t start = clock_now();
  while (clock_now() - start < uint32_t(delay) * uint32_t(warp + int(blockIdx.x) * int(gridDim.y))) {}
  for (int pass = 0; pass < kPasses; ++pass) {
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) {
      at[warp][i] = clock_now();
      if (kJumps && i % 2 == 1) {
        if (never) line_128(x, a, b);
      } else {
        line_128(x, a, b);
      }
    }
    at[warp][kBlocks] = clock_now();
    if (threadIdx.x % 32 == 0)
      for (int i = 0; i <= kBlocks; ++i)
        marks[((size_t(blockIdx.x) * 16 + size_t(warp)) * kPasses + size_t(pass)) * kMarks + size_t(i)] =
            at[warp][i];
    __syncwarp();
  }
  if (x[0] + x[1] + x[2] + x[3] == 12345.f) *sink = x[0];
}

/// 128 FFMA that are those of no other warp.
template <int kWarp>
__device__ __forceinline__ void own_line_128(float (&x)[4], float a) {
#pragma unroll
  for (int i = 0; i < 32; ++i)
#pragma unroll
    for (int c = 0; c < 4; ++c) {
      if constexpr (kWarp == 0) asm volatile("fma.rn.f32 %0, %0, %1, 0f3F800000;" : "+f"(x[c]) : "f"(a));
      if constexpr (kWarp == 1) asm volatile("fma.rn.f32 %0, %0, %1, 0f3F800001;" : "+f"(x[c]) : "f"(a));
      if constexpr (kWarp == 2) asm volatile("fma.rn.f32 %0, %0, %1, 0f3F800002;" : "+f"(x[c]) : "f"(a));
      if constexpr (kWarp == 3) asm volatile("fma.rn.f32 %0, %0, %1, 0f3F800003;" : "+f"(x[c]) : "f"(a));
    }
}

template <int kBlocks, int kWarp>
__device__ __forceinline__ void own_code(uint32_t (&at)[kPasses + 1], float (&x)[4], float a) {
  for (int pass = 0; pass < kPasses; ++pass) {
    at[pass] = clock_now();
#pragma unroll
    for (int i = 0; i < kBlocks; ++i) own_line_128<kWarp>(x, a);
  }
  at[kPasses] = clock_now();
}

/// Each of four warps, one on each sub-partition, passes code of its own.
template <int kBlocks>
__global__ void __launch_bounds__(128) apart(uint32_t* marks, float* sink, float a) {
  float x[4] = {a, a + 2, a + 1, a + 3};
  uint32_t at[kPasses + 1];
  switch (threadIdx.x / 32) {
    case 0: own_code<kBlocks, 0>(at, x, a); break;
    case 1: own_code<kBlocks, 1>(at, x, a); break;
    case 2: own_code<kBlocks, 2>(at, x, a); break;
    default: own_code<kBlocks, 3>(at, x, a); break;
  }
  if (threadIdx.x % 32 == 0)
    for (int i = 0; i <= kPasses; ++i) marks[threadIdx.x / 32 * (kPasses + 1) + unsigned(i)] = at[i];
  if (x[0] + x[1] + x[2] + x[3] == 12345.f) *sink = x[0];
}

uint32_t* marks;
float* sink;
char* large;
constexpr size_t kLarge = size_t{256} << 20;

template <int kBlocks, bool kJumps>
void launch(int blocks, int warps, int delay) {
  straight<kBlocks, kJumps><<<dim3(unsigned(blocks)), unsigned(warps) * 32>>>(marks, sink, 1.f, 0.f, delay, 0);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

enum class Before { itself, other, flushed };

template <int kBlocks, bool kJumps = false>
void measure(const char* what, Before before, int blocks = 1, int warps = 1, int delay = 0) {
  launch<kBlocks, kJumps>(blocks, warps, delay);
  std::vector<uint32_t> host(size_t(blocks) * 16 * kPasses * kMarks);
  for (int run = 0; run < 3; ++run) {
    if (before != Before::itself) launch<240, false>(132, 1, 0);
    if (before == Before::flushed) CHECK(cudaMemset(large, run, kLarge));
    CHECK(cudaDeviceSynchronize());
    launch<kBlocks, kJumps>(blocks, warps, delay);
  }
  CHECK(cudaMemcpy(host.data(), marks, host.size() * 4, cudaMemcpyDeviceToHost));
  static const char* const names[] = {"itself", "other", "flushed"};
  for (int block = 0; block < blocks; ++block) {
    if (block > 1 && block != blocks - 1) continue;
    for (int warp = 0; warp < warps; ++warp)
      for (int pass = 0; pass < kPasses; ++pass) {
        const uint32_t* m = &host[((size_t(block) * 16 + size_t(warp)) * kPasses + size_t(pass)) * kMarks];
        std::printf("%s,%d,%s,%d,%d,%d,%u", what, kBlocks * 128, names[int(before)], pass, warp, block,
                    m[kBlocks] - m[0]);
        for (int i = 0; i < kBlocks && i < 40; ++i) std::printf(",%u", m[i + 1] - m[i]);
        std::printf("\n");
      }
  }
}

template <int kBlocks>
void measure_apart(int warps) {
  uint32_t host[4 * (kPasses + 1)];
  for (int run = 0; run < 3; ++run) {
    apart<kBlocks><<<1, unsigned(warps) * 32>>>(marks, sink, 1.f);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(host, marks, sizeof host, cudaMemcpyDeviceToHost));
  }
  for (int warp = 0; warp < warps; ++warp)
    for (int pass = 0; pass < kPasses; ++pass)
      std::printf("own code of %d warps,%d,itself,%d,%d,0,%u\n", warps, kBlocks * 128, pass, warp,
                  host[warp * (kPasses + 1) + pass + 1] - host[warp * (kPasses + 1) + pass]);
}

}  // namespace

int main() {
  CHECK(cudaMalloc(&marks, size_t(132) * 16 * kPasses * kMarks * 4));
  CHECK(cudaMalloc(&sink, 4));
  CHECK(cudaMalloc(&large, kLarge));
  for (const int warps : {1, 2, 4}) {
    measure_apart<1>(warps);
    measure_apart<4>(warps);
    measure_apart<6>(warps);
    measure_apart<8>(warps);
    measure_apart<12>(warps);
    measure_apart<16>(warps);
    measure_apart<32>(warps);
  }
  for (const Before before : {Before::itself, Before::other, Before::flushed}) {
    measure<1>("line", before);
    measure<2>("line", before);
    measure<4>("line", before);
    measure<8>("line", before);
    measure<12>("line", before);
    measure<14>("line", before);
    measure<16>("line", before);
    measure<20>("line", before);
    measure<24>("line", before);
    measure<32>("line", before);
    measure<36>("line", before);
    measure<40>("line", before);
    measure<48>("line", before);
    measure<64>("line", before);
    measure<128>("line", before);
    measure<240>("line", before);
    measure<32, true>("jumps", before);
    measure<32>("four warps", before, 1, 4, 0);
    measure<32>("four warps, each 20000 later", before, 1, 4, 20000);
    measure<32>("132 CTAs", before, 132, 1, 0);
    measure<32>("132 CTAs of 4 warps", before, 132, 4, 0);
  }
}
