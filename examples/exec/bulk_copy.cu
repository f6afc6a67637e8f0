// SPDX-License-Identifier: Apache-2.0
// An asynchronous copy into shared memory that threads wait for at an mbarrier: a kernel for the models.  With
// `-DFORGET` the barrier expects more bytes than come, and the kernel hangs: `sm100sim exec` says where.
#include <cstdint>
#include <cstdio>
#include <vector>

constexpr int kWords = 1024, kBytes = kWords * 4;

__device__ uint32_t shared_address(const void* pointer) { return uint32_t(__cvta_generic_to_shared(pointer)); }

__global__ void copy(const int* from, int* to) {
  __shared__ alignas(128) int tile[kWords];
  __shared__ uint64_t arrived;
#ifdef FORGET
  constexpr int kExpected = kBytes + 16;
#else
  constexpr int kExpected = kBytes;
#endif
  const uint32_t barrier = shared_address(&arrived);
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier));
    asm volatile("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(kExpected));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     shared_address(tile)),
                 "l"(from + blockIdx.x * kWords), "r"(kBytes), "r"(barrier)
                 : "memory");
  }
  asm volatile(
      "{\n.reg .pred done;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], 0;\n@!done bra WAIT;\n}" ::
          "r"(barrier)
      : "memory");
  for (int i = int(threadIdx.x); i < kWords; i += int(blockDim.x)) to[blockIdx.x * kWords + i] = tile[i] + 1;
}

int main() {
  constexpr int kCtas = 6;
  std::vector<int> from(kCtas * kWords), to(kCtas * kWords);
  for (int i = 0; i < kCtas * kWords; ++i) from[i] = i;
  int *device_from, *device_to;
  cudaMalloc(&device_from, kCtas * kBytes), cudaMalloc(&device_to, kCtas * kBytes);
  cudaMemcpy(device_from, from.data(), kCtas * kBytes, cudaMemcpyHostToDevice);
  copy<<<kCtas, 128>>>(device_from, device_to);
  cudaMemcpy(to.data(), device_to, kCtas * kBytes, cudaMemcpyDeviceToHost);
  int wrong = 0;
  for (int i = 0; i < kCtas * kWords; ++i) wrong += to[i] != i + 1;
  std::printf("%d wrong\n", wrong);
  return wrong != 0;
}
