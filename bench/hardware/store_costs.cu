// SPDX-License-Identifier: Apache-2.0
// What a warp's stores to global memory cost on this GPU, in SM cycles: how long each keeps its warp, how many go
// before the path to L2 holds the warp back, and when a fence behind them ends.
//
//   store_costs [--json FILE]
#include "costs.cuh"

namespace {

constexpr uint64_t kBytesOfWarp = 256 << 10;  // rewritten again and again: in L2

template <int Bytes>
__device__ void store(uint64_t address, uint32_t value) {
  if constexpr (Bytes == 4) asm volatile("st.global.b32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
  if constexpr (Bytes == 8) asm volatile("st.global.v2.b32 [%0], {%1, %1};" ::"l"(address), "r"(value) : "memory");
  if constexpr (Bytes == 16)
    asm volatile("st.global.v4.b32 [%0], {%1, %1, %1, %1};" ::"l"(address), "r"(value) : "memory");
}

/// Each warp stores `count` times, lane l of store i at i * step + l * pitch.  What is reported: 0 cycles of the
/// stores, 1 the same and a fence of the GPU's scope behind them.
template <int Bytes>
__global__ void store_kernel(int64_t* out, uint8_t* data, uint32_t lanes, uint32_t pitch, uint32_t step, int count,
                             int reported) {
  const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  const uint64_t base =
      uint64_t(data) + (uint64_t(blockIdx.x) * warps + warp) * kBytesOfWarp + uint64_t(lane) * pitch;
  uint64_t took = 0;
  for (int turn = 0; turn < 3; ++turn) {  // the first fetches the code
    __syncthreads();
    uint64_t begin = clock_now();
    if (lane < lanes) {
      uint32_t at = 0;
#pragma unroll 8
      for (int i = 0; i < count; ++i) {
        store<Bytes>(base + at, uint32_t(i));
        at = (at + step) & uint32_t(kBytesOfWarp - 1);
      }
    }
    __syncwarp();
    uint64_t end = clock_now();
    asm volatile("fence.acq_rel.gpu;" ::: "memory");
    if (reported == 1) end = clock_now();
    took = end - begin;
    __syncthreads();
  }
  for (int l = 0; l < 32; ++l) took = max(took, __shfl_sync(~0u, took, l));
  if (threadIdx.x == 0) out[size_t{8} * blockIdx.x] = int64_t(took) * 16;
}

struct Pattern {
  const char* name;
  int bytes;
  uint32_t lanes, pitch, step;
};

}  // namespace

int main(int argc, char** argv) {
  const int sms = open_device();
  uint8_t* data = nullptr;
  constexpr uint64_t kSpare = 8 << 20;
  CHECK_CUDA(cudaMalloc(&data, uint64_t(sms) * 16 * kBytesOfWarp + kSpare));
  const Pattern patterns[] = {
      {"one lane, 4 B", 4, 1, 0, 128},
      {"32 x 4 B in 1 line", 4, 32, 4, 128},
      {"32 x 8 B in 2 lines", 8, 32, 8, 256},
      {"32 x 16 B in 4 lines", 16, 32, 16, 512},
      {"32 x 4 B in 32 lines", 4, 32, 512, 4},
      {"32 x 16 B in 32 lines", 16, 32, 512, 16},
      {"32 x 16 B in 32 lines, all new", 16, 32, 512, 16384},
  };
  for (const Pattern& p : patterns) {
    for (const int ctas : {1, sms})
      for (const int warps : {1, 4, 8, 16})
        for (const int count : {1, 2, 4, 8, 16, 32, 64, 256})
          for (const int reported : {0, 1})
            report(std::string(p.name) + ", " + std::to_string(ctas) + " CTAs, " + std::to_string(warps) +
                       " warps, " + std::to_string(count) + (reported == 0 ? " stores" : " stores and a fence"),
                   measure(ctas, [&](int) {
                     const auto launch = [&](auto kernel) {
                       kernel<<<unsigned(ctas), 32U * unsigned(warps)>>>(results, data, p.lanes, p.pitch, p.step,
                                                                         count, reported);
                     };
                     if (p.bytes == 4) launch(store_kernel<4>);
                     if (p.bytes == 8) launch(store_kernel<8>);
                     if (p.bytes == 16) launch(store_kernel<16>);
                   }));
  }
  return write_json(argc, argv);
}
