// SPDX-License-Identifier: Apache-2.0
/// Bulk and tensor copies of one CTA, on the tensor memory accelerator of its SM (PTX 9.7.9.25
/// cp{.reduce}.async.bulk{.tensor}, 9.7.9.25.3 bulk groups, 5.5 tensors).
///
/// Modelled: tiled loads with mbarrier completion and tiled stores with bulk groups, 1-5 dimensions, element
/// strides, four rows anywhere (gather4, scatter4), out-of-bounds fill, the swizzles none/32B/64B/128B and the
/// 32B/64B atoms; operands are snapshotted at issue, data move when the copy completes; rows at their rate
/// (tma_rows.h); reductions, of a type by the tensor map or of their own; copies of bytes without a tensor, as a
/// box of one row; prefetches into L2; a multicast box (ClusterNet) is fetched by one engine and delivered by
/// several; packed 4- and 6-bit types, with their padding.  Approximated: row rate by rows, not by bank; rows of
/// packed types by their bytes in global memory.  Rejected: im2col::w and interleave (not implemented).
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <systemc>
#include <vector>

#include "kernels/isa/reduction.h"
#include "kernels/isa/tensor_map.h"
#include "models/inline_function.h"
#include "models/mbarrier.h"
#include "models/memory_system.h"
#include "models/sm.h"

namespace sm100::models {

struct TensorCopy {
  TensorMapFields map;
  std::array<int32_t, 5> coords{};
  uint32_t smem = 0;     ///< offset in shared memory
  uint32_t barrier = 0;  ///< loads: offset of the mbarrier
  Source source;
  Cycles map_ready = 0;    ///< when the engine has the map; of maps in kernel parameters nobody waits
  uint16_t multicast = 0;  ///< CTA ranks of .multicast::cluster, a bit each; 0: without it
  /// cp.reduce: each element of memory becomes `op` of itself and the copy's.
  struct Reduction {
    ReduceOp op;
    ReduceType type;
  };
  std::optional<Reduction> reduction{};
  bool linear = false;          ///< without a tensor: the map is of a row of bytes
  uint16_t byte_mask = 0xffff;  ///< .cp_mask: of each 16 bytes those that a linear store writes
};

/// cp.async.bulk of `bytes` at `global`, which is a box of one row.
TensorCopy linear_copy(GlobalAddr global, uint32_t smem, uint32_t bytes);
/// The elements of `memory` become op of themselves and of `values`.
void reduce_bytes(const TensorCopy::Reduction& reduction, uint8_t* memory, const uint8_t* values, uint64_t bytes);

class Tma {
 public:
  Tma(int slot, Sm& sm, SharedMemory& smem, Mbarrier& mbarrier, MemorySystem& memory, const DeviceProfile& profile,
      Jitter& jitter, Observer& observer);

  /// @param cluster  a number that no other cluster of the run has
  void start_cta(int cluster = -1) { groups_ = {}, cluster_ = cluster; }

  /// cp.async.bulk.tensor.Nd.shared::cluster.global.tile.mbarrier::complete_tx::bytes, issued at cycle `at`.
  void load(const TensorCopy& copy, Cycles at);
  /// The part of a load that asks L2 and HBM: when the box reaches the SMs, nullopt when the operands are illegal.
  std::optional<MemorySystem::Arrival> fetch(const TensorCopy& copy, Cycles at);
  /// The part that fills this CTA's shared memory with a box that was fetched, and signals a barrier.
  struct Delivery {
    InlineFunction<bool(const TensorCopy&), 48>
        lands;  ///< asked when the last byte is in place; false: the CTA is gone and nothing happens
    Mbarrier* signal =
        nullptr;           ///< whose barrier at copy.barrier is told; nullptr: this CTA's (cta_group::2 may differ)
    int signal_slot = -1;  ///< its CTA's slot
  };
  void deliver(const TensorCopy& copy, Cycles issued, MemorySystem::Arrival arrival, Delivery to);
  /// cp.async.bulk.tensor.Nd.global.shared::cta.tile.bulk_group.
  void store(const TensorCopy& copy, Cycles at);

  /// cp.async.bulk.prefetch{.tensor}.L2, issued at cycle `at`: lines come into L2 as for a load.
  void prefetch(const TensorCopy& copy, Cycles at);
  /// The reads of a copy to another CTA's shared memory, of `bytes` at `smem`, issued at cycle `at`: when they are
  /// done.
  Cycles read_shared(uint32_t bytes, Cycles at);
  SharedMemory& smem() { return smem_; }
  bool with_data() const { return sm_.with_data; }

  /// cp.async.bulk.commit_group by lanes of a warp, a bit each: groups belong to the thread that stores.
  void commit_group(int warp, uint32_t lanes);
  /// Cycle at which at most `pending` of the most recent groups of each of these lanes are unfinished.
  /// @param read_only  .read: only the reads of shared memory have to be finished
  Cycles groups_done(int warp, uint32_t lanes, int pending, bool read_only) const;
  /// The flow of the store that is then the last to finish; 0: nobody records.
  uint64_t last_of_groups(int warp, uint32_t lanes, int pending, bool read_only) const;
  /// Bytes that loads have put into the shared memory of this slot's CTAs.
  uint64_t filled_bytes() const { return filled_bytes_; }
  /// Cycle at which no store reads this CTA's shared memory any more.
  Cycles stores_read_done() const { return stores_read_done_; }
  /// Cycle at which every store issued so far is visible in global memory.
  Cycles stores_visible() const { return stores_visible_; }
  /// Copies that have not completed yet, oldest first.
  struct InFlight {
    uint32_t barrier;
    uint32_t bytes;
    Cycles issued;
    Source source;
    int signal_slot;  ///< of the CTA that has the barrier
  };
  std::vector<InFlight> loads_in_flight() const;

 private:
  bool check(const TensorCopy& copy, bool is_load, bool uses_smem = true);
  bool check_linear(const TensorCopy& copy, bool is_load, bool uses_smem);
  void fill(uint32_t copy);
  void land(uint32_t copy, Cycles done);
  UnitSpan span_of(UnitSpanKind kind, const TensorCopy& copy, Cycles begin, Cycles end, uint64_t flow,
                   const Source& source) const;
  MemoryPort port() const;
  struct Asking {
    Cycles from, until;
  };
  Asking take_engine(const TensorCopy& copy, uint64_t sectors, uint64_t lines, Cycles at);
  MemorySystem::Request& request_of(const TensorCopy& copy);
  MemorySystem::Arrival ask(const TensorCopy& copy, Cycles at);
  /// Shared memory bounds how far ahead an engine asks for loads. Nothing bounds prefetches, so that memory is
  /// asked for what is further ahead than a load can be when the engine gets there, and for a piece at a time.
  static constexpr uint64_t kPrefetchPiece = 16 << 10;
  static constexpr Cycles kPrefetchAhead = 2000;
  void prefetch_piece(const TensorCopy& copy, uint64_t bytes, Cycles at);
  void gather(MemorySystem::Request& request, const TensorCopy& copy);
  MemorySystem::Write written(const TensorCopy& copy);
  void record(const TensorCopy& copy, bool store) const;
  static uint64_t box_id(const TensorCopy& copy);
  void move_load(const TensorCopy& copy);
  void pad_row(const TensorMapFields& map, uint32_t to, const uint8_t* dense);
  void pack_row(const TensorMapFields& map, uint32_t from, uint8_t* dense) const;
  void move_store(const TensorCopy& copy);
  void write_row(const TensorCopy& copy, uint8_t* target, uint64_t bytes, const uint8_t* row);
  /// The rows of a store go out of shared memory from `start` on, in so many cycles.
  void drain(Cycles start, double cycles);

  int slot_;
  Sm& sm_;
  SharedMemory& smem_;
  Mbarrier& mbarrier_;
  MemorySystem& memory_;
  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;

  int cluster_ = -1;
  /// What the effects of a copy need to know; they name it by its number.
  struct Copy {
    TensorCopy operands;
    Cycles issued;
    Delivery to;
    uint64_t flow;            ///< stores
    Cycles last_arrives = 0;  ///< loads
  };
  std::deque<Copy> copies_;            ///< never move
  std::vector<uint32_t> free_copies_;  ///< the last used first
  std::vector<uint32_t> loads_;        ///< numbers of those that have not completed, oldest first
  uint32_t new_copy(const TensorCopy& operands, Cycles issued, Delivery to, uint64_t flow);
  struct Group {
    Cycles read_done = 0, visible = 0;
    uint64_t last_read = 0, last_visible = 0;  ///< flows of the stores that decide them
  };
  struct ThreadGroups {
    int lane;
    Group open;
    std::vector<Group> committed;  ///< completion is in commit order: times never decrease
  };
  std::array<std::vector<ThreadGroups>, 32> groups_{};  ///< by warp: of its lanes that have stored
  Group& open_group(int warp, int lane);
  const Group* awaited_group(int warp, uint32_t lanes, int pending, bool read_only) const;
  Cycles stores_read_done_ = 0, stores_visible_ = 0;
  uint64_t filled_bytes_ = 0;
};

}  // namespace sm100::models
