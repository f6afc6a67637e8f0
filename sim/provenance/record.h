// SPDX-License-Identifier: Apache-2.0
/// What a run keeps of where its numbers come from (run.provenance): loads, MMAs, what accumulators consist of, who
/// loaded them from tensor memory, and who stored what to global memory.
///
/// Grain: operands and shared memory in chunks of 16 bytes; accumulators by column and 16 lanes; what a warp has
/// loaded from tensor memory by the load, whose values are kept; output by element.  The record knows nothing of
/// what should be: sim/provenance/comparison.h holds it against that.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "kernels/isa/scale_layout.h"
#include "kernels/isa/smem_descriptor.h"
#include "models/provenance.h"
#include "sim/provenance/origins.h"

namespace sm100::sim::provenance {

/// A scale factor's cell of tensor memory: where its four bytes come from.
struct ScaleCell {
  uint64_t address =
      0;               ///< in global memory; 0: not known, or zeros from beyond the tensor's end, which have a box
  uint32_t box = 0;    ///< index + 1
  uint32_t store = 0;  ///< of a tcgen05.st, index + 1, that has written `value`
  uint32_t value = 0;
  bool operator==(const ScaleCell&) const = default;
};

/// An MMA that has been issued.
struct Mma {
  models::Provenance::Participants by;
  DataPathLayout layout{};
  int m = 0, n = 0, cta_group = 1;
  uint32_t lane = 0, column = 0;  ///< of D
  bool accumulates = false;
  bool looked_at = true;  ///< false: an operand that provenance does not follow
  bool a_along_k = true, b_along_k = true;
  int k = 0;
  models::Source source;
  models::Cycles time = 0;
  std::vector<RowRun> a, b;
  /// Scale factors of the block-scaled kinds: the cells of the rows, and which byte of them is the first.  Of a
  /// pair each CTA has the cells of its rows of A, and those of all rows of B.
  std::shared_ptr<const std::vector<ScaleCell>> sfa, sfb;
  int scales = 0;                                                ///< of a row
  Swizzle a_swizzle = Swizzle::none, b_swizzle = Swizzle::none;  ///< that the descriptors name
  int sfa_byte = 0, sfb_byte = 0;
  // What the instruction descriptor says of the values.
  std::optional<DataType> a_type{}, b_type{};
  bool d_f16 = false;                     ///< the accumulator's type is f16
  bool of_wgmma = false;                  ///< a wgmma, whose opcode says what the instruction descriptor does
  std::optional<ScaleType> scale_type{};  ///< of the block-scaled kinds
  bool negate_a = false, negate_b = false;
};

/// What has been added up in cells of tensor memory: the MMAs, the last one first, as a list that shares its tail.
struct History {
  uint32_t parent = 0;  ///< what it adds to; 0: nothing
  uint32_t mma = 0;     ///< index + 1; 0: a tcgen05.st has written the cells
};

/// A part of a tcgen05.ld that has one history.
struct LoadedCells {
  uint32_t history = 0;
  uint32_t lane = 0, lanes = 0, column = 0, columns = 0;
};

/// A tcgen05.ld of a warp.
struct Fragment {
  models::Source source;
  models::Cycles time = 0;
  int slot = -1, sm = -1;
  std::vector<LoadedCells> parts;
  uint32_t lane = 0, lanes = 0, column = 0, columns = 0;
  std::vector<uint32_t> cells;  ///< lane by lane; empty: a run without data
  bool of_wgmma = false;        ///< sums in registers, which no load has brought there
};

/// A warp's store to shared memory.
struct Write {
  models::Source source;
  uint32_t fragments = 0;  ///< the warp's set of fragments at that time
};

/// A store to global memory by a warp or by the copy engine.
struct Store {
  models::Source source;
  models::Cycles time = 0;
  bool tensor = false;  ///< a tensor copy, with the coordinates
  bool reduces = false;
  uint32_t rank = 0;
  std::array<int32_t, 5> coordinates{};
  uint32_t fragments = 0;  ///< of a warp's
  uint32_t beside = 0;     ///< index + 1 of another tensor store that has read some of the same bytes; 0: none
};

/// An element of the output.
struct Delivery {
  uint32_t store = 0;  ///< index + 1
  uint32_t write = 0;  ///< index + 1 of what wrote the strip; 0: none, or the store itself is a warp's
  /// Bytes that were copied unchanged: where they come from, by which box (index + 1), and where the first went.
  uint64_t source = 0, to = 0;
  uint32_t box = 0;
};

/// Bytes of global memory whose stores are kept.
struct Watched {
  uint64_t address = 0, bytes = 0;
  uint32_t grain = 1;                          ///< bytes of an element
  std::vector<uint32_t> delivered;             ///< by element: index + 1 of a Delivery
  uint64_t stored_twice = 0;                   ///< elements that two stores have written
  uint32_t first_store = 0, second_store = 0;  ///< of the first of them
  uint64_t first_twice = 0;                    ///< that element
};

class Record final : public models::Provenance {
 public:
  /// Stores to [address, address + bytes) are kept.
  void watch(uint64_t address, uint64_t bytes, uint32_t grain);
  /// Who reads [address, address + bytes) into registers is kept: from global memory, or what a tensor copy has
  /// brought from there to shared memory.
  void watch_reads(uint64_t address, uint64_t bytes);

  void cta_started(int slot) override;
  void landed(int slot, const models::TensorCopy& copy) override;
  void stored(int slot, const models::TensorCopy& copy) override;
  void multiplied(const Participants& by, const models::MmaOperation& mma, const models::Source& source) override;
  void copied_to_tensor_memory(const Participants& by, const models::TensorMemoryCopy& copy,
                               const models::Source& source) override;
  void warpgroup_multiplied(int slot, int first_warp, const models::WgmmaOperation& operation,
                            const models::Source& source) override;
  void warpgroup_finished(int slot, int first_warp, const models::WgmmaOperation& operation,
                          const models::Source& source) override;
  void tensor_memory_loaded(int slot, int sm, TmemShape shape, int repeat, uint32_t lane, uint32_t column,
                            const uint32_t* registers, const models::Source& source) override;
  void tensor_memory_stored(int slot, int sm, TmemShape shape, int repeat, uint32_t lane, uint32_t column,
                            const uint32_t* registers, const models::Source& source) override;
  void global_read(int slot, int lane, uint64_t address, uint32_t bytes, const void* value,
                   const models::Source& source) override;
  void shared_read(int slot, int lane, uint32_t offset, uint32_t bytes, const void* value,
                   const models::Source& source) override;
  void shared_written(int slot, int lane, uint32_t offset, uint32_t bytes, const void* value,
                      const models::Source& source) override;
  void global_written(int slot, uint64_t address, uint32_t bytes, const models::Source& source) override;
  void copied_by_thread(int slot, uint32_t offset, uint64_t address, uint32_t bytes,
                        const models::Source& source) override;

  const std::vector<Box>& boxes() const { return boxes_; }
  const std::vector<Mma>& mmas() const { return mmas_; }
  const std::vector<History>& histories() const { return histories_; }
  const std::vector<Fragment>& fragments() const { return fragments_; }
  const std::vector<std::vector<uint32_t>>& fragment_sets() const { return sets_; }
  const std::vector<Write>& writes() const { return writes_; }
  const std::vector<Store>& stores() const { return stores_; }
  const std::vector<Delivery>& deliveries() const { return deliveries_; }
  const std::vector<Watched>& watched() const { return watched_; }
  const SharedOrigins& shared() const { return shared_; }
  /// The first read by that warp, or else by another, of what is watched at `address`; nullptr: nobody has read it.
  const models::Source* reader(uint64_t address, const models::Source& by) const;

  /// The first tensor store by a map of the tensor at `address`, of rows and columns; nullptr: there was none.
  struct StoreMap {
    uint32_t store = 0;  ///< index
    TensorMapFields map{};
  };
  const StoreMap* map_of_stores(uint64_t address) const {
    const auto found = store_maps_.find(address);
    return found == store_maps_.end() ? nullptr : &found->second;
  }
  /// The tcgen05.st that has made this history; nullptr: an MMA has.
  const models::Source* rewritten_by(uint32_t history) const;
  /// A warp's store while wgmma still added to all the sums that its registers hold; nothing: there was none.
  struct EarlyStore {
    models::Source store, wgmma;
  };
  const std::optional<EarlyStore>& stored_while_adding() const { return stored_while_adding_; }
  /// By ScaleCell::store.
  const models::Source& scale_store(uint32_t store) const { return scale_stores_[store - 1]; }

  /// MMAs of a history, the first one first.
  std::vector<uint32_t> mmas_of(uint32_t history) const;

 private:
  static constexpr uint32_t kGroups = 8;  ///< of 16 lanes
  struct Bank {
    std::vector<uint32_t> history = std::vector<uint32_t>(kGroups * 512);  ///< by column, then group
    std::vector<ScaleCell> scales;                                         ///< by lane and column
  };
  struct WarpState {
    uint32_t set = 0;  ///< index + 1 of its fragments since it last stored; 0: none
    bool wrote = true;
    models::Source last_write, last_store;
    uint32_t write = 0, store = 0;
    /// 16 bytes that a lane has loaded, the last ones.
    struct Loaded {
      std::array<uint8_t, 16> value;
      Origin origin;
      uint32_t load = 0;    ///< of `loads_`, where it was from global memory
      bool stored = false;  ///< some store has been taken for its copy
    };
    std::array<std::vector<Loaded>, 32> loaded;  ///< a ring of kKeptLoads
    std::array<uint32_t, 32> next{};
  };
  static constexpr size_t kKeptLoads = 64;
  /// D of wgmma, in registers: kept as a tensor memory of its own, with the rows of warp w in its lanes 32 w on.
  struct Registers {
    int sm = 0;  ///< a number that no SM has
    int n = 0;
    std::array<const uint32_t*, 4> d{};         ///< where the warps' are
    int in_flight = 0;                          ///< instructions
    std::array<std::vector<uint32_t>, 4> sums;  ///< of each warp, when the last one was over
    std::array<bool, 4> stored{true, true, true, true};
    models::Source source;
  };
  Registers* registers_of(int slot, int first_warp, const models::WgmmaOperation& operation);
  void take_registers(int slot, const models::Source& by);
  uint32_t add(uint32_t parent, uint32_t mma);
  WarpState& state(int slot, int warp) { return warps_[{slot, warp}]; }
  uint32_t write_of(int slot, const models::Source& source);
  void keep_loaded(int slot, int lane, const void* value, const Origin& origin, const models::Source& source);
  void copied(int slot, uint32_t offset, uint64_t address, uint32_t bytes, const models::Source& source,
              Box::By by);
  void deliver(uint64_t address, uint32_t bytes, const Delivery& delivery);
  uint32_t delivery(const Delivery& d);
  void note_read(uint64_t address, const models::Source& source);
  Watched* watched_at(uint64_t address);
  void read_scales(Mma& mma, const models::MmaOperation& operation);
  void keep(Fragment fragment, const models::Source& source);

  struct WatchedReads {
    uint64_t address = 0, bytes = 0;
    std::map<std::pair<int, int>, models::Source> first{};  ///< by CTA and warp
  };
  std::vector<WatchedReads> watched_reads_;
  std::vector<models::Source> loads_;  ///< from global memory, an execution each
  SharedOrigins shared_;
  std::vector<Box> boxes_;
  std::vector<Mma> mmas_;
  std::vector<History> histories_{{}};
  std::unordered_map<uint32_t, uint32_t> rewritten_;        ///< by history: what a tcgen05.st has made of it
  std::unordered_map<uint32_t, models::Source> rewriters_;  ///< by that: the first tcgen05.st
  std::vector<models::Source> scale_stores_;                ///< tcgen05.st whose values are known
  std::map<int, Bank> banks_;                               ///< by SM
  std::vector<Fragment> fragments_;
  std::vector<std::vector<uint32_t>> sets_;
  std::vector<Write> writes_;
  std::vector<Store> stores_;
  std::map<uint64_t, StoreMap> store_maps_;  ///< by the tensor's address
  std::vector<Delivery> deliveries_;
  Delivery last_delivery_;
  /// What a warp wrote to shared memory, by slot and 16 bytes: the write, and the tensor store that has read it.
  std::unordered_map<uint64_t, std::pair<uint32_t, uint32_t>> read_by_stores_;
  std::vector<Watched> watched_;
  std::map<std::pair<int, int>, WarpState> warps_;
  std::map<std::pair<int, int>, std::vector<Registers>> registers_;  ///< by slot and first warp of the warpgroup
  int next_registers_ = -2;
  std::optional<EarlyStore> stored_while_adding_;
};

}  // namespace sm100::sim::provenance
