// SPDX-License-Identifier: Apache-2.0
/// Ring of stages in shared memory: TMA fills their tiles; the tensor core empties, or warps that read with
/// ld.shared.
///
/// full[s]:  arrive.expect_tx by the load warp, completed by the bytes of the stage's copies.
/// empty[s]: one tcgen05.commit, performed when the MMAs that read the stage have finished; or one arrival of
///           every reading warp.  A stage that a cluster multicasts into is empty when the readers of all its
///           CTAs have arrived.
///
/// `Tiles` says what a stage holds: stage_bytes(), and stage(i), a `Tiles::Stage` with a method for each kind of
/// tile. OperandTiles are those of a plain matmul; a kernel that needs others in a stage (scale factors) brings its
/// own.
#pragma once

#include "kernels/pipeline/producer_consumer_pipeline.h"
#include "kernels/pipeline/smem_tile.h"

namespace sm100 {

/// A and B: `group` k tiles of each in a stage.
struct OperandTiles {
  TileArray a, b;
  int group = 1;

  struct Stage {
    TileArray a_tiles, b_tiles;  ///< the ring's
    int first;                   ///< of them is ours

    SM100_HD constexpr SmemTile a(int j) const { return a_tiles[first + j]; }
    SM100_HD constexpr SmemTile b(int j) const { return b_tiles[first + j]; }
  };
  SM100_HD constexpr Stage stage(int i) const { return {a, b, i * group}; }
  SM100_HD constexpr uint32_t stage_bytes() const { return uint32_t(group) * (a.shape.bytes() + b.shape.bytes()); }
};

/// How the CTAs of a cluster share the stages of a ring.
struct StageSharing {
  int armed_ctas =
      1;  ///< an arm announces the bytes of so many CTAs' stages: 2 where a pair's copies complete on one
  int cta_group = 1;       ///< of the MMAs that read a stage
  CtaMask loaders{};       ///< CTAs that load into a stage or hold what it holds: they wait for our MMAs
  bool multicast = false;  ///< false: `loaders` is our own CTA alone
};

template <Isa I, class Tiles>
class InputRing : public ProducerConsumerPipeline<I> {
 public:
  using Base = ProducerConsumerPipeline<I>;

  /// A stage's number, barriers and tiles.
  struct Stage : Tiles::Stage {
    int index;
    RingBarriers barriers;  ///< the ring's

    SM100_HD constexpr SmemAddr full() const { return barriers.full + 8u * uint32_t(index); }
    SM100_HD constexpr SmemAddr empty() const { return barriers.empty + 8u * uint32_t(index); }
  };

  SM100_HD InputRing(I& isa, RingBarriers barriers, int stages, const Tiles& tiles, Scope wait_scope,
                     const StageSharing& sharing = {})
      : Base(isa, barriers, stages, wait_scope), tiles_(tiles), sharing_(sharing) {}

  SM100_HD Stage at(int i) const { return {tiles_.stage(i), i, this->barriers()}; }

  /// Bytes that an arm announces, whoever loads them.
  SM100_HD uint32_t armed_bytes() const { return uint32_t(sharing_.armed_ctas) * tiles_.stage_bytes(); }

  /// Waits until the producer's stage is empty and returns it.
  SM100_KERNEL Stage producer_acquire(const TraceArgs& what, Loc loc = Loc::current()) {
    return at(Base::producer_acquire(what, loc));
  }
  SM100_KERNEL Stage producer_acquire(Loc loc = Loc::current()) { return producer_acquire(TraceArgs{}, loc); }
  /// Waits until the consumer's stage is full and returns it.
  SM100_KERNEL Stage consumer_wait(const TraceArgs& what, Loc loc = Loc::current()) {
    return at(Base::consumer_wait(what, loc));
  }
  SM100_KERNEL Stage consumer_wait(Loc loc = Loc::current()) { return consumer_wait(TraceArgs{}, loc); }

  /// Arms the stage for its bytes; one lane, before the copies are issued.
  SM100_KERNEL void arm(const Stage& stage, Loc loc = Loc::current()) {
    this->isa_.mbarrier_arrive_expect_tx(stage.full(), armed_bytes(), Scope::cta, loc);
  }

  /// Releases the stage once all MMAs issued so far by this lane have finished.  The lane that issued the
  /// MMAs must commit: a commit covers only its own thread's operations.
  SM100_KERNEL void consumer_release(const Stage& stage, Loc loc = Loc::current()) {
    if (sharing_.multicast)
      this->isa_.tcgen05_commit_multicast(sharing_.cta_group, stage.empty(), sharing_.loaders, loc);
    else
      this->isa_.tcgen05_commit(sharing_.cta_group, stage.empty(), loc);
  }

  /// Reading warp, all 32 lanes: its ld.shared of the stage are done.
  /// @param ctas  CTAs of the cluster that write into this stage (ranks 0 ... ctas - 1); 1: only our own
  SM100_KERNEL void consumer_arrive(const Stage& stage, int ctas, Loc loc = Loc::current()) {
    this->isa_.bar_warp_sync();  // all lanes have read
    if (ctas == 1) {
      this->isa_.elected([&] { this->isa_.mbarrier_arrive(stage.empty(), Scope::cta, loc); });
    } else {
      // Lane i tells CTA i.  No scope, as CUTLASS and DeepGEMM have it: we only read, and
      // a release at cluster scope makes the warp wait for its writes, 700 cycles on an H200 (bench/hardware).
      this->isa_.lanes_below(ctas, [&] {
        this->isa_.mbarrier_arrive(this->isa_.mapa(stage.empty(), this->isa_.laneid()), Scope::unstated, loc);
      });
    }
  }

 private:
  Tiles tiles_;
  StageSharing sharing_;
};

}  // namespace sm100
