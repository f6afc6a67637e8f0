// SPDX-License-Identifier: Apache-2.0
// Halves of a vector on two streams, and their sum on one of them behind an event.
// nvcc -cudart shared -gencode arch=compute_100a,code=compute_100a -lineinfo -o streams streams.cu
// sm100sim exec --sms 4 ./streams
// With -DFORGET nobody waits for the event: the numbers are right here, and the finding says what is missing.
#include <cstdio>
#include <vector>

__global__ void square(const float* from, float* to, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) to[i] = from[i] * from[i];
}

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  constexpr int kElements = 2000, kHalf = kElements / 2, kThreads = 256, kCtas = (kHalf + kThreads - 1) / kThreads;
  std::vector<float> x(kElements), sums(kHalf);
  for (int i = 0; i < kElements; ++i) x[i] = float(i % 50);
  float *from, *squares, *to;
  cudaMalloc(&from, kElements * sizeof(float)), cudaMalloc(&squares, kElements * sizeof(float));
  cudaMalloc(&to, kHalf * sizeof(float));
  cudaMemcpy(from, x.data(), kElements * sizeof(float), cudaMemcpyHostToDevice);
  cudaStream_t first, second;
  cudaEvent_t squared;
  cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&squared, cudaEventDisableTiming);
  square<<<kCtas, kThreads, 0, first>>>(from, squares, kHalf);
  square<<<kCtas, kThreads, 0, second>>>(from + kHalf, squares + kHalf, kHalf);
  cudaEventRecord(squared, second);
#ifndef FORGET
  cudaStreamWaitEvent(first, squared, 0);
#endif
  add<<<kCtas, kThreads, 0, first>>>(squares, squares + kHalf, to, kHalf);
  cudaMemcpyAsync(sums.data(), to, kHalf * sizeof(float), cudaMemcpyDeviceToHost, first);
  cudaStreamSynchronize(first);
  int wrong = 0;
  for (int i = 0; i < kHalf; ++i) wrong += sums[i] != x[i] * x[i] + x[i + kHalf] * x[i + kHalf];
  std::printf("%s, %d of %d wrong\n", cudaGetErrorString(cudaGetLastError()), wrong, kHalf);
  return wrong != 0;
}
