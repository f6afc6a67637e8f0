// SPDX-License-Identifier: Apache-2.0
// nvcc -cudart shared -gencode arch=compute_100a,code=compute_100a -lineinfo -o vector_add vector_add.cu
// sm100sim exec --sms 4 ./vector_add
#include <cstdio>
#include <vector>

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) c[i] = a[i] + b[i];
}

int main() {
  constexpr int kElements = 10000;
  constexpr size_t kBytes = kElements * sizeof(float);
  std::vector<float> a(kElements), b(kElements), c(kElements);
  for (int i = 0; i < kElements; ++i) a[i] = float(i), b[i] = float(2 * i);
  float *da, *db, *dc;
  cudaMalloc(&da, kBytes), cudaMalloc(&db, kBytes), cudaMalloc(&dc, kBytes);
  cudaMemcpy(da, a.data(), kBytes, cudaMemcpyHostToDevice);
  cudaMemcpy(db, b.data(), kBytes, cudaMemcpyHostToDevice);
  add<<<(kElements + 255) / 256, 256>>>(da, db, dc, kElements);
  cudaMemcpy(c.data(), dc, kBytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kElements; ++i) wrong += c[i] != float(3 * i);
  std::printf("%s, %d of %d wrong\n", cudaGetErrorString(cudaGetLastError()), wrong, kElements);
  return wrong != 0;
}
