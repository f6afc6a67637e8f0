// SPDX-License-Identifier: Apache-2.0
// The per-lane arithmetic of the epilogues by itself: an entry runs a body once or twice, the second time for the
// next strip. What the second adds is what a loop over strips pays for each; test_lane_costs.cpp counts it.
#include "kernels/block_scaled/sfb_warps.h"
#include "kernels/epilogue/fragment_functor.h"
#include "kernels/epilogue/global_writer.h"
#include "kernels/epilogue/scaled_output.h"
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

/// The same of a quantised output.
struct ScaledProbeConfig : ProbeConfig<DataType::e2m1> {
  static constexpr BlockFormat format = BlockFormat::nvfp4;
  static constexpr ScaleType scale_type = ScaleType::ue4m3;
  static constexpr OutputScaling scaled_output = {.block = 16};
};

struct ProbeParams {
  SmemAddr strips;
  FunctorParams functor;
  GlobalMatrix c;
  GlobalAddr workspace;
  int row, column;
  ScaledOutputParams scaled;
  ScaleTile sfb;
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

/// A strip's row: magnitudes, two scales, elements.
struct QuantiseRows {
  template <Isa I>
  SM100_KERNEL static void run(I& isa, const ProbeParams& p, int) {
    const ScaledProbeConfig cfg;
    StripRow x = unknown<kScaledStripColumns>();
    GatheredScales gathered;
    quantise_rows(isa, cfg, p.scaled, maxima_of_rows(isa, cfg, x), x, gathered);
    asm volatile("// %0" ::"r"(gathered.word[0][0]));
    for (int i = 0; i < kScaledStripColumns; ++i) asm volatile("// %0" ::"r"(x[0][i]));
  }
};
struct PackedRow {
  template <Isa I>
  SM100_KERNEL static void run(I& isa, const ProbeParams& p, int i) {
    const ScaledProbeConfig cfg;
    write_strip_row(isa, cfg, p.strips + uint32_t(i) * strip_bytes(cfg), 32 * isa.warpid(),
                    unknown<kScaledStripColumns>());
  }
};
struct StoreScales {
  template <Isa I>
  SM100_KERNEL static void run(I& isa, const ProbeParams& p, int i) {
    store_scales(isa, p.scaled, p.row, p.column + 4 * i, 4, unknown<1>());
  }
};
struct ScaleCells {
  template <Isa I>
  SM100_KERNEL static void run(I& isa, const ProbeParams& p, int i) {
    store_sfb<1>(isa, ScaleTile{p.sfb.base + uint32_t(i) * 512, {2, 1}}, p.row, ScaleShape{1, 1}, TmemAddr{0});
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
SM100_PROBE(quantise_rows, QuantiseRows)
SM100_PROBE(packed_row, PackedRow)
SM100_PROBE(scale_address, StoreScales)
SM100_PROBE(scale_cell, ScaleCells)

}  // namespace sm100
