// SPDX-License-Identifier: Apache-2.0
// A cooperative launch: all CTAs are on the device at once and meet at the grid's barrier.
#include <cooperative_groups.h>

#include <cstdio>
#include <vector>

/// Adds up the values in steps: each CTA its part, then the first CTA the parts.
__global__ void sum(const int* values, int* parts, int n) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  __shared__ int part;
  if (threadIdx.x == 0) part = 0;
  __syncthreads();
  for (int i = int(grid.thread_rank()); i < n; i += int(grid.size())) atomicAdd(&part, values[i]);
  __syncthreads();
  if (threadIdx.x == 0) parts[blockIdx.x] = part;
  grid.sync();
  if (grid.thread_rank() == 0)
    for (int cta = 1; cta < int(gridDim.x); ++cta) parts[0] += parts[cta];
}

int main() {
  constexpr int kElements = 4000, kThreads = 128, kCtas = 8;
  std::vector<int> values(kElements, 3);
  int *device_values, *device_parts, result = 0, n = kElements;
  cudaMalloc(&device_values, sizeof(int) * kElements), cudaMalloc(&device_parts, sizeof(int) * kCtas);
  cudaMemcpy(device_values, values.data(), sizeof(int) * kElements, cudaMemcpyHostToDevice);
  void* arguments[] = {&device_values, &device_parts, &n};
  const cudaError_t error = cudaLaunchCooperativeKernel(sum, kCtas, kThreads, arguments);
  cudaMemcpy(&result, device_parts, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%s, sum %d\n", cudaGetErrorString(error), result);
  return result != 3 * kElements;
}
