// SPDX-License-Identifier: Apache-2.0
// A sum with shuffles and atomics, constants and variables of the module, a stream and events.
#include <cstdio>
#include <vector>

__constant__ float factor = 1;
__device__ float total;
__device__ unsigned long long threads_seen;

__global__ void sum(const float* values, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  float own = i < n ? values[i] * factor : 0;
  for (int distance = 16; distance > 0; distance /= 2) own += __shfl_down_sync(0xffffffffu, own, distance);
  __shared__ float of_warp[8];
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < int(blockDim.x / 32); ++warp) own += of_warp[warp];
    atomicAdd(&total, own);
  }
  atomicAdd(&threads_seen, 1ull);
}

int main() {
  constexpr int kElements = 5000, kThreads = 256, kCtas = (kElements + kThreads - 1) / kThreads;
  std::vector<float> values(kElements, 0.5f);
  float* device_values;
  const float two = 2;
  cudaMalloc(&device_values, kElements * sizeof(float));
  cudaStream_t stream;
  cudaEvent_t begin, end;
  cudaStreamCreate(&stream), cudaEventCreate(&begin), cudaEventCreate(&end);
  cudaMemcpyAsync(device_values, values.data(), kElements * sizeof(float), cudaMemcpyHostToDevice, stream);
  cudaMemcpyToSymbol(factor, &two, sizeof two);
  cudaEventRecord(begin, stream);
  sum<<<kCtas, kThreads, 0, stream>>>(device_values, kElements);
  cudaEventRecord(end, stream);
  cudaStreamSynchronize(stream);
  float result = 0, milliseconds = 0;
  unsigned long long seen = 0;
  cudaMemcpyFromSymbol(&result, total, sizeof result);
  cudaMemcpyFromSymbol(&seen, threads_seen, sizeof seen);
  cudaEventElapsedTime(&milliseconds, begin, end);
  std::printf("sum %g of %llu threads, %s simulated time\n", result, seen, milliseconds > 0 ? "some" : "no");
  return !(result == float(kElements) && seen == kCtas * kThreads && milliseconds > 0);
}
