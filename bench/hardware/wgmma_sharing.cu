// SPDX-License-Identifier: Apache-2.0
// What warps that compute and warpgroups that multiply take of each other on an SM of an H200 or H100, in SM
// cycles: an instruction of a warp beside the wgmma of others on its scheduler, and a step of two warpgroups that
// multiply and then add.
//
//   wgmma_sharing [--json FILE]
#include "costs.cuh"
#include "kernels/isa/wgmma.h"

namespace {

constexpr int kSmemBytes = 64 << 10;
constexpr int kChain = 8;  // of the warpgroups that only multiply
constexpr int kInstructions = 64, kTurns = 32;
constexpr int kBusy = 100000;

__device__ SmemDescriptor operand(int i) {
  extern __shared__ uint8_t smem[];
  const auto base = (uint32_t(__cvta_generic_to_shared(smem)) + 1023) & ~1023u;
  return make_wgmma_descriptor({base + uint32_t(i) * 8192}, 16, 1024, Swizzle::b128);
}

template <int N, DataType Type>
constexpr WgmmaForm form() {
  return {.n = N, .a = Type, .b = Type};
}

// Registers that an instruction reads: one, two or three.
#define OPERATION(Name, text, instruction)                             \
  struct Name {                                                        \
    static constexpr const char* kName = text;                         \
    __device__ static void step(uint32_t& a, uint32_t b, uint32_t c) { \
      asm volatile(instruction : "+r"(a) : "r"(b), "r"(c));            \
    }                                                                  \
  }
OPERATION(MulConstant, "mul.f32 by a constant", "mul.rn.f32 %0, %0, 0f3F800001;");
OPERATION(AddFloat, "add.f32", "add.rn.f32 %0, %0, %1;");
OPERATION(Fma, "fma.rn.f32", "fma.rn.f32 %0, %1, %2, %0;");
OPERATION(Xor, "xor.b32", "xor.b32 %0, %0, %1;");
OPERATION(Logic, "lop3.b32 of three registers", "lop3.b32 %0, %0, %1, %2, 0x96;");
OPERATION(Mad, "mad.lo.u32", "mad.lo.u32 %0, %1, %2, %0;");
OPERATION(Convert, "cvt.rn.bf16x2.f32", "cvt.rn.bf16x2.f32 %0, %0, %1;");
OPERATION(Exp2, "ex2.approx.ftz.f32", "ex2.approx.ftz.f32 %0, %0;");
OPERATION(Shuffle, "shfl.sync.bfly.b32", "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;");
#undef OPERATION

/// The first `multiply` warpgroups multiply for kBusy cycles, longer than the warps behind them take for their
/// instructions.
template <class Op, int N, DataType Type>
__global__ void beside_kernel(int64_t* out, uint32_t b, int multiply) {
  Device isa{{}};
  const int warpgroup = int(threadIdx.x) / 128;
  __syncthreads();
  if (warpgroup < multiply) {
    LaneArray<float, wgmma_d_registers(form<N, Type>())> sums{};
    const int groups = kBusy / (kChain * N / 2 * multiply);
#pragma unroll 1
    for (int g = 0; g < groups; ++g) {
      isa.wgmma_fence(sums);
#pragma unroll
      for (int i = 0; i < kChain; ++i)
        isa.template wgmma_mma_async<form<N, Type>()>(sums, operand(0), operand(2), true);
      isa.wgmma_commit_group();
      isa.template wgmma_wait_group<0>(sums);
    }
    float all = 0;
    for (int i = 0; i < wgmma_d_registers(form<N, Type>()); ++i) all += sums.registers[i];
    if (all == 1.5F) out[1] = 1;
    return;
  }
  uint32_t value[8];
  for (int c = 0; c < 8; ++c) value[c] = threadIdx.x + uint32_t(c);
  const uint64_t start = clock_now();
  while (clock_now() - start < 4000) {}
  const auto turn = [&] {
#pragma unroll
    for (int i = 0; i < kInstructions; ++i) Op::step(value[i % 8], b, b + 1);
  };
  const int64_t took = cost(kTurns, turn);
  uint32_t all = 0;
  for (int c = 0; c < 8; ++c) all += value[c];
  if (int(threadIdx.x) == 128 * multiply) out[0] = all == 0x12345678 ? 0 : took / kInstructions;
}

/// A step: `Chain` products, a wait for all but `Depth` groups, and `Adds` additions of sums.
template <int N, DataType Type, int Chain, int Depth, int Adds>
__global__ void step_kernel(int64_t* out, int second_later) {
  constexpr int kSteps = 24, kRegisters = wgmma_d_registers(form<N, Type>());
  Device isa{{}};
  const int warpgroup = int(threadIdx.x) / 128;
  LaneArray<float, kRegisters> sums{};
  float kept[kRegisters] = {};
  __syncthreads();
  const uint64_t start = clock_now();
  while (clock_now() - start < uint64_t(warpgroup * second_later)) {}
  uint64_t first = 0, last = 0;
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    if (step == kSteps / 3) first = clock_now();
    if (step == kSteps - 1) last = clock_now();
    if constexpr (Depth == 0)
      isa.wgmma_fence(sums);
    else
      isa.wgmma_fence();
#pragma unroll
    for (int i = 0; i < Chain; ++i)
      isa.template wgmma_mma_async<form<N, Type>()>(sums, operand(warpgroup), operand(2), Depth > 0 || i > 0);
    isa.wgmma_commit_group();
    if constexpr (Depth == 0)
      isa.template wgmma_wait_group<0>(sums);
    else
      isa.template wgmma_wait_group<Depth>();
#pragma unroll
    for (int i = 0; i < Adds; ++i) kept[i % kRegisters] += sums.registers[i % kRegisters];
  }
  isa.template wgmma_wait_group<0>(sums);
  float all = 0;
  for (int i = 0; i < kRegisters; ++i) all += kept[i] + sums.registers[i];
  if (all == 1.5F) out[1] = 1;
  if (threadIdx.x == 0) out[0] = int64_t(last - first) * 16 / (kSteps - 1 - kSteps / 3);
}

template <class Kernel, class... Arguments>
double run(Kernel kernel, int threads, Arguments... arguments) {
  CHECK_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  return measure(1, [&](int) { kernel<<<1, threads, kSmemBytes>>>(results, arguments...); });
}

template <int N, DataType Type, class... Ops>
void measure_beside(const char* type) {
  for (const int multiply : {0, 1, 2})
    for (const int warpgroups : {1, 2}) {
      if (N == 256 && multiply == 2 && warpgroups == 2) continue;  // registers
      const std::string suffix = ", " + std::to_string(warpgroups) + " warps of a scheduler, beside " +
                                 std::to_string(multiply) + " warpgroups of m64n" + std::to_string(N) + " " + type;
      (report(Ops::kName + suffix, run(beside_kernel<Ops, N, Type>, 128 * (multiply + warpgroups), 3U, multiply)),
       ...);
    }
}

template <int N, DataType Type, int Chain, int Depth, int Adds>
void measure_step(const char* type) {
  const std::string name = std::to_string(Chain) + " m64n" + std::to_string(N) + " " + type + ", wait_group " +
                           std::to_string(Depth) + ", " + std::to_string(Adds) + " additions";
  const auto kernel = step_kernel<N, Type, Chain, Depth, Adds>;
  report(name + ", 1 warpgroup", run(kernel, 128, 0));
  for (const int later : {0, 100, 300})
    report(name + ", 2 warpgroups, the second " + std::to_string(later) + " later", run(kernel, 256, later));
}

template <int N, DataType Type>
void measure_steps(const char* type) {
  measure_step<N, Type, 4, 0, 16>(type);
  measure_step<N, Type, 4, 0, 32>(type);
  measure_step<N, Type, 4, 0, 64>(type);
  measure_step<N, Type, 4, 0, 128>(type);
  measure_step<N, Type, 8, 0, 64>(type);
  measure_step<N, Type, 2, 1, 0>(type);
  measure_step<N, Type, 4, 1, 0>(type);
  measure_step<N, Type, 8, 1, 0>(type);
}

}  // namespace

int main(int argc, char** argv) {
  open_device();
  measure_beside<128, DataType::bf16, MulConstant, AddFloat, Fma, Xor, Logic, Mad, Convert, Exp2, Shuffle>("bf16");
  measure_beside<64, DataType::bf16, MulConstant, AddFloat, Fma>("bf16");
  measure_beside<256, DataType::bf16, MulConstant, AddFloat, Fma, Convert>("bf16");
  measure_beside<128, DataType::e4m3, MulConstant, AddFloat, Fma>("e4m3");
  measure_steps<64, DataType::bf16>("bf16");
  measure_steps<128, DataType::bf16>("bf16");
  measure_steps<128, DataType::e4m3>("e4m3");
  return write_json(argc, argv);
}
