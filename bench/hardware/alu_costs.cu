// SPDX-License-Identifier: Apache-2.0
// What instructions without memory cost a warp on this GPU, in SM cycles: when each needs the result of the one
// before, and when four chains take turns; alone on its scheduler, and beside three other warps.
//
//   alu_costs [--json FILE]
#include "costs.cuh"

namespace {

constexpr int kInstructions = 64;  // of a turn of the loop, so that the loop itself is lost in them
constexpr int kTurns = 16;

// One instruction of PTX each, or two.  Not additions and logic: ptxas makes one instruction of two of a chain.
#define OPERATION(Name, text, instruction)                                                                 \
  struct Name {                                                                                            \
    static constexpr const char* kName = text;                                                             \
    __device__ static void step(uint32_t& a, uint32_t b) { asm volatile(instruction : "+r"(a) : "r"(b)); } \
  }
OPERATION(Mad, "mad.lo.u32", "mad.lo.u32 %0, %0, %1, %1;");
OPERATION(Shift, "shl.b32", "shl.b32 %0, %0, %1;");
OPERATION(Select, "setp.lt.u32 and selp.b32", "{ .reg .pred p; setp.lt.u32 p, %0, %1; selp.b32 %0, %1, 7, p; }");
OPERATION(Fma, "fma.rn.f32", "fma.rn.f32 %0, %0, %1, %1;");
OPERATION(Convert, "cvt.rn.bf16x2.f32", "cvt.rn.bf16x2.f32 %0, %0, %1;");
OPERATION(Shuffle, "shfl.sync.bfly.b32", "shfl.sync.bfly.b32 %0, %0, %1, 31, -1;");
OPERATION(Vote, "setp and vote.sync.ballot.b32",
          "{ .reg .pred p; setp.lt.u32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1; }");
OPERATION(MulHi, "mul.hi.u32", "mul.hi.u32 %0, %0, %1;");
OPERATION(Permute, "prmt.b32", "prmt.b32 %0, %0, %1, 0x4321;");
OPERATION(CountBits, "popc.b32", "popc.b32 %0, %0;");
OPERATION(MulFloat, "mul.rn.f32", "mul.rn.f32 %0, %0, %1;");
OPERATION(MinFloat, "min.f32", "min.f32 %0, %0, %1;");
OPERATION(FmaHalves, "fma.rn.f16x2", "fma.rn.f16x2 %0, %0, %1, %1;");
OPERATION(FromInteger, "cvt.rn.f32.s32", "cvt.rn.f32.s32 %0, %0;");
OPERATION(ToInteger, "cvt.rzi.s32.f32", "cvt.rzi.s32.f32 %0, %0;");
OPERATION(Exp2, "ex2.approx.ftz.f32", "ex2.approx.ftz.f32 %0, %0;");
OPERATION(Tanh, "tanh.approx.f32", "tanh.approx.f32 %0, %0;");
OPERATION(MulWide, "mul.wide.u32 and xor.b32",
          "{ .reg .b64 x; .reg .b32 low, high; mul.wide.u32 x, %0, %1; mov.b64 {low, high}, x; xor.b32 %0, low, "
          "high; }");
OPERATION(AddWide, "add.u64 and xor.b32",
          "{ .reg .b64 x, y; .reg .b32 low, high; mov.b64 x, {%0, %1}; mov.b64 y, {%1, %0}; add.u64 x, x, y; "
          "mov.b64 {low, high}, x; xor.b32 %0, low, high; }");
// Divisions by a register, which are routines; the dividend is kept large by one more instruction.
OPERATION(DivideUnsigned, "or.b32 and div.u32", "{ or.b32 %0, %0, 0x40000000; div.u32 %0, %0, %1; }");
OPERATION(DivideSigned, "or.b32 and div.s32", "{ or.b32 %0, %0, 0x40000000; div.s32 %0, %0, %1; }");
OPERATION(
    DivideWide, "cvt.u64.u32, div.u64 and cvt.u32.u64",
    "{ .reg .b64 x, y; cvt.u64.u32 x, %0; or.b64 x, x, 0x4000000000000000; cvt.u64.u32 y, %1; div.u64 x, x, y; "
    "cvt.u32.u64 %0, x; }");
#undef OPERATION

/// @param Chains  of instructions that need nothing of each other
template <class Op, int Chains>
__global__ void alu_kernel(int64_t* out, uint32_t b) {
  uint32_t value[Chains];
  for (int c = 0; c < Chains; ++c) value[c] = threadIdx.x + uint32_t(c);
  const auto turn = [&] {
#pragma unroll
    for (int i = 0; i < kInstructions; ++i) Op::step(value[i % Chains], b);
  };
  const int64_t took = cost(kTurns, turn);
  uint32_t all = 0;
  for (int c = 0; c < Chains; ++c) all += value[c];
  if (threadIdx.x == 0) out[size_t{8} * blockIdx.x] = all == 0x12345678 ? 0 : took / kInstructions;
}

/// A loop that does nothing: an addition, a comparison, a branch back. With `Apart` odd lanes take one turn more.
template <bool Apart>
__global__ void loop_kernel(int64_t* out, uint32_t turns) {
  uint32_t i = 0;
  const auto loop = [&] {
    const uint32_t end = turns + (Apart ? threadIdx.x % 2 : 0);
    for (i = 0; i < end;) asm volatile("add.u32 %0, %0, 1;" : "+r"(i));
  };
  const int64_t took = cost(kTurns, loop);
  if (threadIdx.x == 0) out[size_t{8} * blockIdx.x] = i == 0 ? 0 : took / turns;
}

template <class Op>
void measure_operation() {
  for (const int warps : {1, 4, 16}) {
    const std::string name = std::string(Op::kName) + ", " + std::to_string(warps) + " warps";
    report(name + ", one chain",
           measure(1, [&](int) { alu_kernel<Op, 1><<<1, 32U * unsigned(warps)>>>(results, 3); }));
    report(name + ", four chains",
           measure(1, [&](int) { alu_kernel<Op, 4><<<1, 32U * unsigned(warps)>>>(results, 3); }));
  }
}

template <class... Ops>
void measure_operations() {
  (measure_operation<Ops>(), ...);
}

}  // namespace

int main(int argc, char** argv) {
  open_device();
  measure_operations<Mad, Shift, Select, Fma, Convert, Shuffle, Vote, DivideUnsigned, DivideSigned, DivideWide,
                     MulHi, Permute, CountBits, MulFloat, MinFloat, FmaHalves, FromInteger, ToInteger, Exp2, Tanh,
                     MulWide, AddWide>();
  for (const int warps : {1, 4, 16}) {
    const std::string suffix = ", " + std::to_string(warps) + " warps";
    report("a turn of an empty loop" + suffix,
           measure(1, [&](int) { loop_kernel<false><<<1, 32U * unsigned(warps)>>>(results, 256); }));
    report("the same, odd lanes one turn more" + suffix,
           measure(1, [&](int) { loop_kernel<true><<<1, 32U * unsigned(warps)>>>(results, 256); }));
  }
  return write_json(argc, argv);
}
