// SPDX-License-Identifier: Apache-2.0
// The per-lane arithmetic of the epilogues by itself: an entry runs a body once or twice, the second time for the
// next strip. What the second adds is what a loop over strips pays for each; test_lane_costs.cpp counts it.
#include "kernels/epilogue/fragment_functor.h"
#include "kernels/epilogue/global_writer.h"
#include "kernels/epilogue/smem_writer.h"
#include "kernels/epilogue/strip_functor.h"
#include "kernels/isa/sm100.cuh"
#include "kernels/matmul/split_reduction.h"

namespace sm100 {

/// What the epilogue reads of a configuration.
template <DataType kOutput, bool kSwapped = false>
struct ProbeConfig {
  static constexpr DataType output = kOutput;
  static constexpr bool ab_swapped = kSwapped;
  static constexpr int mma_m = 128, mma_n = 128, cta_group = 1;
  static constexpr bool scaled = false, bias = true, residual = true, register_epilogue = true;
  static constexpr Activation activation = Activation::none;
};

struct ProbeParams {
  SmemAddr strips;
  FunctorParams functor;
  GlobalMatrix c;
  GlobalAddr workspace;
  int row, column;
};

/// Registers of which the compiler knows nothing.
template <int N>
SM100_KERNEL LaneArray<uint32_t, N> unknown() {
  LaneArray<uint32_t, N> registers;
  for (int i = 0; i < N; ++i) asm volatile("mov.b32 %0, 0;" : "=r"(registers[0][i]));
  return registers;
}

template <int R, DataType kOutput, bool kSwapped = false>
struct WriteFragment {
  template <Isa I>
  SM100_KERNEL static void run(I& isa, const ProbeParams& p, int i) {
    const ProbeConfig<kOutput, kSwapped> cfg;
    const StripBuffer<ProbeConfig<kOutput, kSwapped>> strip{cfg, p.strips + uint32_t(i) * strip_bytes(cfg)};
    write_fragment<R>(isa, cfg, strip, 32 * isa.warpid(), unknown<4 * R>());
  }
};

template <int R, DataType kOutput>
struct StoreFragment {
  template <Isa I>
  SM100_KERNEL static void run(I& isa, const ProbeParams& p, int i) {
    if (kOutput == DataType::f32)
      store_fragment_f32<R>(isa, p.c, p.row, p.column + 8 * R * i, unknown<4 * R>());
    else
      store_fragment_bf16<R>(isa, p.c, p.row, p.column + 8 * R * i, unknown<4 * R>());
  }
};

template <int R>
struct LoadBias {
  template <Isa I>
  SM100_KERNEL static void run(I& isa, const ProbeParams& p, int i) {
    const auto bias =
        load_bias<R>(isa, ProbeConfig<DataType::bf16>{}, p.functor, p.row, p.column + 8 * R * i, Loc::current());
    for (int j = 0; j < R; ++j) asm volatile("// %0 %1" ::"r"(bias.of[j][0][0]), "r"(bias.of[j][0][1]));
  }
};

template <int R>
struct StorePartials {
  template <Isa I>
  SM100_KERNEL static void run(I& isa, const ProbeParams& p, int i) {
    const GlobalAddr fragment = p.workspace + uint64_t(p.row * 128 + p.column + 8 * R * i) * 4;
    store_partials<R>(isa, ProbeConfig<DataType::bf16>{}, fragment, unknown<4 * R>(), Loc::current());
  }
};

template <class Body, int kTimes>
SM100_KERNEL void probe(const ProbeParams& params) {
  Sm100<NoRecorder> isa{NoRecorder{}};
  for (int i = 0; i < kTimes; ++i) Body::run(isa, params, i);
}

/// Entries NAME_once and NAME_twice.
#define SM100_PROBE(NAME, ...)                                                          \
  extern "C" __global__ void NAME##_once(const __grid_constant__ ProbeParams params) {  \
    probe<__VA_ARGS__, 1>(params);                                                      \
  }                                                                                     \
  extern "C" __global__ void NAME##_twice(const __grid_constant__ ProbeParams params) { \
    probe<__VA_ARGS__, 2>(params);                                                      \
  }

SM100_PROBE(stmatrix_x4, WriteFragment<4, DataType::bf16>)
SM100_PROBE(stmatrix_x4_trans, WriteFragment<4, DataType::bf16, true>)
SM100_PROBE(stmatrix_x2, WriteFragment<1, DataType::bf16>)
SM100_PROBE(shared_pair_f32, WriteFragment<4, DataType::f32>)
SM100_PROBE(shared_pair_fp8, WriteFragment<2, DataType::e4m3>)
SM100_PROBE(shared_element, WriteFragment<4, DataType::f32, true>)
SM100_PROBE(global_pair, StoreFragment<4, DataType::bf16>)
SM100_PROBE(global_element, StoreFragment<4, DataType::f32>)
SM100_PROBE(bias_address, LoadBias<4>)
SM100_PROBE(workspace_address, StorePartials<4>)

}  // namespace sm100
