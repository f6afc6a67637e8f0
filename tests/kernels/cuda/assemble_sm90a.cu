// SPDX-License-Identifier: Apache-2.0
// Every seam function that only sm_90a has: a wrong spelling fails the build.
#include "kernels/isa/sm100.cuh"

namespace sm100 {

template <int N, DataType kType>
__device__ void multiply(float* out, SmemDescriptor a, SmemDescriptor b) {
  Sm100<> isa;
  constexpr WgmmaForm kForm{.n = N, .a = kType, .b = kType};
  LaneArray<float, wgmma_d_registers(kForm)> sums;
  isa.wgmma_fence(sums);
  isa.template wgmma_mma_async<kForm>(sums, a, b, false);
  isa.wgmma_fence();
  isa.template wgmma_mma_async<kForm>(sums, advance(a, 32), advance(b, 32), true);
  isa.wgmma_commit_group();
  isa.template wgmma_wait_group<1>();
  isa.template wgmma_wait_group<0>(sums);
  for (int i = 0; i < N / 2; ++i) out[i] = sums.registers[i];
}

template <DataType kType>
__global__ void products(float* out, SmemDescriptor a, SmemDescriptor b) {
  multiply<8, kType>(out, a, b), multiply<16, kType>(out, a, b), multiply<32, kType>(out, a, b);
  multiply<64, kType>(out, a, b), multiply<128, kType>(out, a, b), multiply<256, kType>(out, a, b);
}
template __global__ void products<DataType::bf16>(float*, SmemDescriptor, SmemDescriptor);
template __global__ void products<DataType::f16>(float*, SmemDescriptor, SmemDescriptor);
template __global__ void products<DataType::e4m3>(float*, SmemDescriptor, SmemDescriptor);
template __global__ void products<DataType::e5m2>(float*, SmemDescriptor, SmemDescriptor);

}  // namespace sm100
