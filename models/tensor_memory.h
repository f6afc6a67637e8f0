// SPDX-License-Identifier: Apache-2.0
/// Tensor memory (PTX 9.7.16.1-3, .8): the bank of an SM, 128 lanes x 512 columns x 32 bit, and what a CTA has of
/// it. The CTAs of an SM share the columns: an allocation waits until they are free, whoever holds them.  A CTA
/// reaches what it has allocated itself, and the permit to allocate is its own.
///
/// Modelled: alloc (power of two, lowest columns first, blocks until free), dealloc, relinquish; ld in the
/// shapes 32x32b, 16x64b, 16x128b, 16x256b, 16x32bx2, and st; a warp reaches only the 32 lanes of its quarter.
/// Freshly allocated columns hold NaN, so a read of what nobody wrote shows.  Detected: TC1 (outside an
/// allocation), TC2 (lane alignment; as a warning another warp's quarter), TC9 (alloc after relinquish, growing
/// sizes, exit without dealloc), TC13 (read of columns that nobody has written).  Approximated: whoever asks when
/// columns are free gets them, whether or not another CTA of the SM still has its permit.  Not implemented: shift,
/// .pack::16b.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/isa/address.h"
#include "kernels/isa/lane_array.h"
#include "kernels/isa/tmem_layout.h"
#include "models/mbarrier.h"

namespace sm100::models {

/// What freshly allocated cells hold: NaN as f32 and in both halves as f16 and bf16, and not what output that
/// nobody has written holds.
inline constexpr uint32_t kTmemPoison = 0xffedffed;

/// The columns of an SM and who holds them.
class TensorMemoryBank {
 public:
  explicit TensorMemoryBank(bool with_data);

  /// Whose columns those are.
  struct Allocation {
    int slot;  ///< of the CTA
    uint32_t column, columns;
    Source by;
    Cycles since;
  };
  const std::vector<Allocation>& allocations() const { return allocations_; }

 private:
  friend class TensorMemory;
  bool free(uint32_t column, uint32_t columns) const;

  bool with_data_;
  std::vector<uint32_t> cells_;
  std::vector<Allocation> allocations_;
  /// What a slot's CTA has freed last.
  struct Freed {
    Allocation what;
    Cycles time;
    Source by;
  };
  std::vector<Freed> freed_;
  std::vector<Waiter*> waiting_;
};

/// What one CTA does with the bank of its SM.
class TensorMemory {
 public:
  using Allocation = TensorMemoryBank::Allocation;

  TensorMemory(int slot, TensorMemoryBank& bank, Observer& observer);

  /// A new CTA may allocate; columns that an earlier CTA never freed stay taken.
  void start_cta();

  /// First column of the lowest free run of `columns`, or nothing when the caller has to wait; call again
  /// after `waiter` was woken.  Violations (wrong size, after relinquish, growing) return column 0.
  std::optional<uint32_t> alloc(uint32_t columns, Waiter& waiter, const Source& source);
  /// cta_group::2: one warp of each CTA of the pair calls it; both get the same columns, when both have come and
  /// both have them free.
  std::optional<uint32_t> alloc_pair(TensorMemory& peer, uint32_t columns, Waiter& waiter, const Source& source);
  void dealloc(TmemAddr address, uint32_t columns, const Source& source);
  /// cta_group::2: false until the peer has come too; then both are freed.  Call again after `waiter` was woken.
  bool dealloc_pair(TensorMemory& peer, TmemAddr address, uint32_t columns, Waiter& waiter, const Source& source);
  void relinquish_alloc_permit() { relinquished_ = true; }
  /// Columns that the CTA holds now; one that exits with some has leaked them.
  uint32_t allocated_columns() const;
  bool allocated(uint32_t column, uint32_t columns) const;
  /// Its warp waits in tcgen05.alloc.cta_group::2.
  bool in_pair_alloc() const { return pair_alloc_.has_value(); }
  /// Of all CTAs of the SM.
  const std::vector<Allocation>& allocations() const { return bank_.allocations_; }

  /// tcgen05.ld of one warp: register r of lane t goes to registers(t)[r].
  /// The subpartition bits of the lane are ignored: a warp reads its own quarter (PTX 9.7.16).
  /// @param split  columns from the first half's to the second's, of 16x32bx2 alone
  void load(TmemShape shape, int repeat, TmemAddr address, int warp, uint32_t* registers, const Source& source,
            int split = 0);

  /// tcgen05.st of one warp: the reverse.
  void store(TmemShape shape, int repeat, TmemAddr address, int warp, const uint32_t* registers,
             const Source& source, int split = 0);

  /// What has been written since it was allocated, and what was read without: the columns of 16-lane groups, a bit
  /// each.
  using LaneGroups = uint8_t;
  void wrote(uint32_t column, uint32_t columns, LaneGroups groups);
  /// Who is named where a reader gets what nobody has written; `what` is like "a tcgen05.mma with M = 128, N = 64".
  void written_by(uint32_t column, uint32_t columns, const std::string& what, const Source& source);
  /// That warp's write of these columns has a name already.
  bool knows_writer(uint32_t column, uint32_t columns, int warp) const;
  /// The CTA's allocations and what it has freed last, for a report of TC1 or TC9.
  std::vector<Place> allocations_told() const;
  /// TC13 if the reader gets cells that nobody has written; `what` is like "tcgen05.ld.32x32b.x8 reads".
  /// Without data only where nothing of it has been written: nobody will see whether the rest is used.
  void check_written(uint32_t column, uint32_t columns, LaneGroups groups, const std::string& what,
                     const Source& source);
  bool written(uint32_t column, uint32_t columns, LaneGroups groups) const;
  /// Changes whenever the CTA allocates columns.
  uint32_t epoch() const { return epoch_; }

  /// One 32-bit cell; only with data.
  uint32_t& cell(uint32_t lane, uint32_t column) { return bank_.cells_[size_t(lane) * kTmemColumns + column]; }
  /// The 512 cells of a lane as f32.
  float* lane(uint32_t lane) { return reinterpret_cast<float*>(&bank_.cells_[size_t(lane) * kTmemColumns]); }

 private:
  /// Lane of the warp's first row, if its ld or st may touch these cells.
  std::optional<uint32_t> accessed(const char* instruction, TmemShape shape, int repeat, TmemAddr address, int warp,
                                   const Source& source, int split);
  void violate(const char* id, std::string message, const Source& source, std::vector<Place> related = {});
  bool check_alloc(uint32_t columns, const Source& source);
  void take(uint32_t column, uint32_t columns, const Source& source);

  /// What a warp of this CTA does with the pair's tensor memory and waits for the peer to do as well.
  struct PairRequest {
    uint32_t columns;
    Waiter* waiter;
    Source by;
  };
  std::optional<PairRequest> pair_alloc_, pair_dealloc_;
  std::optional<uint32_t> pair_column_;  ///< granted, not fetched yet
  bool pair_freed_ = false;

  int slot_;
  TensorMemoryBank& bank_;
  Observer& observer_;
  std::array<LaneGroups, kTmemColumns> written_{};
  struct Writer {
    uint32_t column, columns;
    std::string what;
    Place place;
  };
  std::vector<Writer> writers_;  ///< of the columns that are allocated now, few
  uint32_t epoch_ = 0;
  bool relinquished_ = false;
  uint32_t smallest_alloc_ = kTmemColumns;  ///< sizes must not grow over a CTA's allocs
};

}  // namespace sm100::models
