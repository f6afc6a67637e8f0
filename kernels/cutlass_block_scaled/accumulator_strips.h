// SPDX-License-Identifier: Apache-2.0
/// Where the epilogue takes a tile's strips from: tensor memory, in the order that frees shared columns first, with
/// alpha and the residual applied.
#pragma once

#include "kernels/cutlass_block_scaled/overlapped_ring.h"
#include "kernels/epilogue/element_functor.h"
#include "kernels/epilogue/lane_costs.h"
#include "kernels/epilogue/smem_writer.h"
#include "kernels/epilogue/tmem_reader.h"

namespace sm100 {

/// A source of strips (kernels/epilogue/strip_source.h).
/// @tparam Ring  of the residual
template <Isa I, class Config, class Ring>
class FinishedStrips {
 public:
  SM100_HD FinishedStrips(I& isa, const Config& cfg, const FunctorParams& params, OverlappedRing<I>& ring,
                          const OverlappedStage& result, Ring& residual)
      : isa_(isa), cfg_(cfg), params_(params), ring_(ring), result_(result), residual_(residual) {}

  template <class Write>
  SM100_KERNEL void for_each(int strips, Write&& write) {
    for (int place = 0; place < strips; ++place) write(place);
  }
  SM100_HD int strip_at(int place) const { return strip_of(cfg_, result_.second, place); }

  /// A warp's part of strip i, of 8 R columns.  Of accumulators that overlap, the last of the shared strips
  /// releases.
  template <int R>
  SM100_KERNEL AccumulatorFragments<R> load(int i, int warp, bool lower, Loc loc = Loc::current()) {
    AccumulatorFragments<R> f =
        load_fragments<R>(isa_, result_.accumulator.plus_columns(uint32_t(i * 8 * R)), warp, lower, loc);
    if (++loaded_ == shared_strips(cfg_)) ring_.consumer_release(result_);
    if (cfg_.residual)
      add_residual<R>(f, warp_part(cfg_, warp).strip_row, lower);
    else if (cfg_.scaled)
      f.walk(lower, [&](auto& registers, int) { finish<R>(registers, registers); });
    return f;
  }
  /// All strips have been loaded.
  SM100_KERNEL void release(Loc loc = Loc::current()) {
    if (!overlaps(cfg_)) ring_.consumer_release(result_, loc);
  }

 private:
  /// Waits for the strip of the residual, and hands it back once it is in registers.
  template <int R>
  SM100_KERNEL void add_residual(AccumulatorFragments<R>& f, int first_row, bool lower) {
    const auto stage = residual_.consumer_wait();
    AccumulatorFragments<R> residual;
    const StripBuffer<Config> strip{cfg_, stage.strip};
    read_fragment<R>(strip, first_row, residual.upper);
    if (lower) read_fragment<R>(strip, first_row + 16, residual.lower);
    isa_.fence_proxy_async_shared_cta();  // TMA writes next where we have read
    isa_.mbarrier_arrive(stage.empty(), Scope::cta);
    residual_.consumer_step();
    finish<R>(f.upper, residual.upper);
    if (lower) finish<R>(f.lower, residual.lower);
  }

  /// What the lanes have of a fragment's elements: words, which hold two each if they are 16 bits wide.
  template <int R>
  SM100_KERNEL void read_fragment(const StripBuffer<Config>& strip, int first_row,
                                  LaneArray<uint32_t, 4 * R>& words, Loc loc = Loc::current()) {
    const int elements_per_word = 4 / output_bytes(cfg_);
    for (int i = 0; i < 4 * R; i += elements_per_word) {
      LaneArray<SmemAddr, 1> at;
      isa_.for_each_lane(lane_cost::kSharedPair, [&](int lane) {
        at(lane) = strip.at(first_row + lane / 4 + 8 * (i / 2 % 2), 8 * (i / 4) + 2 * (lane % 4) + i % 2);
      });
      const LaneArray<uint32_t, 1> word = isa_.ld_shared_b32(at, loc);
      isa_.for_each_lane(0, [&](int lane) { words[lane][i / elements_per_word] = word(lane); });
    }
  }

  /// @param residual  words as read_fragment has them
  template <int R>
  SM100_KERNEL void finish(LaneArray<uint32_t, 4 * R>& f, const LaneArray<uint32_t, 4 * R>& residual) {
    isa_.for_each_lane(4 * R * functor_instructions(cfg_), [&](int lane) {
      for (int i = 0; i < 4 * R; ++i)
        f[lane][i] = as_bits(functor_of(
            isa_, cfg_, params_, as_float(f[lane][i]), [] { return 0.f; },
            [&] { return output_element(isa_, cfg_, residual[lane], i); }));
    });
  }

  I& isa_;
  const Config& cfg_;
  const FunctorParams& params_;
  OverlappedRing<I>& ring_;
  const OverlappedStage& result_;
  Ring& residual_;
  int loaded_ = 0;
};

}  // namespace sm100
