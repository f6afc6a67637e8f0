// SPDX-License-Identifier: Apache-2.0
#include "models/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/time.h"

namespace sm100::models {

namespace {
void wake(Waiter& waiter, const Source& by) {
  waiter.cause = 0, waiter.by = by;
  waiter.wake.notify(0);
}
}  // namespace

TensorMemoryBank::TensorMemoryBank(bool with_data) : with_data_(with_data) {
  if (with_data) cells_.assign(size_t(kTmemLanes) * kTmemColumns, kTmemPoison);
}

bool TensorMemoryBank::free(uint32_t column, uint32_t columns) const {
  return std::none_of(allocations_.begin(), allocations_.end(), [&](const Allocation& a) {
    return column < a.column + a.columns && a.column < column + columns;
  });
}

TensorMemory::TensorMemory(int slot, TensorMemoryBank& bank, Observer& observer)
    : slot_(slot), bank_(bank), observer_(observer) {}

void TensorMemory::start_cta() {
  relinquished_ = false;
  smallest_alloc_ = kTmemColumns;
  pair_alloc_.reset(), pair_dealloc_.reset(), pair_column_.reset();
  pair_freed_ = false;
  std::erase_if(bank_.freed_, [&](const auto& freed) { return freed.what.slot == slot_; });
  writers_.clear();
}

void TensorMemory::violate(const char* id, std::string message, const Source& source, std::vector<Place> related) {
  Violation v{id, std::move(message), now(), slot_, 0, source};
  v.related = std::move(related);
  observer_.violation(v);
}

std::vector<Place> TensorMemory::allocations_told() const {
  const auto columns_of = [](const Allocation& a) {
    return fmt::format("columns {} to {}", a.column, a.column + a.columns - 1);
  };
  std::vector<Place> told;
  for (const Allocation& a : bank_.allocations_)
    if (a.slot == slot_) told.push_back({a.by, a.since, "allocated: " + columns_of(a)});
  for (const TensorMemoryBank::Freed& f : bank_.freed_)
    if (f.what.slot == slot_) told.push_back({f.by, f.time, "freed: " + columns_of(f.what)});
  return told;
}

bool TensorMemory::allocated(uint32_t column, uint32_t columns) const {
  return std::any_of(bank_.allocations_.begin(), bank_.allocations_.end(), [&](const Allocation& a) {
    return a.slot == slot_ && column >= a.column && column + columns <= a.column + a.columns;
  });
}

uint32_t TensorMemory::allocated_columns() const {
  uint32_t sum = 0;
  for (const Allocation& a : bank_.allocations_)
    if (a.slot == slot_) sum += a.columns;
  return sum;
}

bool TensorMemory::check_alloc(uint32_t columns, const Source& source) {
  if (!tmem_columns_allocatable(columns)) {
    violate("TC9", fmt::format("tcgen05.alloc of {} columns: allowed are powers of two from 32 to 512", columns),
            source);
    return false;
  }
  if (relinquished_) {
    violate("TC9", "tcgen05.alloc after tcgen05.relinquish_alloc_permit", source);
    return false;
  }
  if (columns > smallest_alloc_) {
    violate(
        "TC9",
        fmt::format("tcgen05.alloc of {} columns after one of {}: sizes must not grow", columns, smallest_alloc_),
        source);
    return false;
  }
  return true;
}

void TensorMemory::take(uint32_t column, uint32_t columns, const Source& source) {
  if (allocated_columns() == 0) writers_.clear();
  bank_.allocations_.push_back({slot_, column, columns, source, now()});
  smallest_alloc_ = columns;
  std::fill_n(&written_[column], columns, LaneGroups{0});
  ++epoch_;
  if (bank_.with_data_)
    for (uint32_t lane = 0; lane < kTmemLanes; ++lane) std::fill_n(&cell(lane, column), columns, kTmemPoison);
}

std::optional<uint32_t> TensorMemory::alloc(uint32_t columns, Waiter& waiter, const Source& source) {
  if (!check_alloc(columns, source)) return 0;
  for (uint32_t column = 0; column + columns <= kTmemColumns; column += 32) {
    if (!bank_.free(column, columns)) continue;
    take(column, columns, source);
    return column;
  }
  bank_.waiting_.push_back(&waiter);
  return std::nullopt;
}

std::optional<uint32_t> TensorMemory::alloc_pair(TensorMemory& peer, uint32_t columns, Waiter& waiter,
                                                 const Source& source) {
  if (pair_column_) {
    pair_alloc_.reset();
    return std::exchange(pair_column_, std::nullopt);
  }
  if (!check_alloc(columns, source)) return 0;
  std::erase(bank_.waiting_, &waiter), std::erase(peer.bank_.waiting_, &waiter);
  pair_alloc_ = {columns, &waiter, source};
  if (!peer.pair_alloc_) return std::nullopt;
  if (peer.pair_alloc_->columns != columns) {
    violate("TC8",
            fmt::format("tcgen05.alloc.cta_group::2 of {} columns while the peer CTA asks for {}", columns,
                        peer.pair_alloc_->columns),
            source);
    return 0;
  }
  for (uint32_t column = 0; column + columns <= kTmemColumns; column += 32) {
    if (!bank_.free(column, columns) || !peer.bank_.free(column, columns)) continue;
    take(column, columns, source), peer.take(column, columns, peer.pair_alloc_->by);
    pair_alloc_.reset();
    peer.pair_column_ = column;
    wake(*peer.pair_alloc_->waiter, source);
    return column;
  }
  // Whichever CTA frees columns: the one that came second asks again for both.
  bank_.waiting_.push_back(&waiter), peer.bank_.waiting_.push_back(&waiter);
  return std::nullopt;
}

bool TensorMemory::dealloc_pair(TensorMemory& peer, TmemAddr address, uint32_t columns, Waiter& waiter,
                                const Source& source) {
  if (std::exchange(pair_freed_, false)) return true;
  dealloc(address, columns, source);
  if (!peer.pair_dealloc_) {
    pair_dealloc_ = {columns, &waiter, source};
    return false;
  }
  peer.pair_freed_ = true;
  wake(*peer.pair_dealloc_->waiter, source);
  peer.pair_dealloc_.reset();
  return true;
}

void TensorMemory::dealloc(TmemAddr address, uint32_t columns, const Source& source) {
  const auto it = std::find_if(bank_.allocations_.begin(), bank_.allocations_.end(), [&](const Allocation& a) {
    return a.slot == slot_ && a.column == address.column() && a.columns == columns;
  });
  if (it == bank_.allocations_.end())
    return violate(
        "TC9",
        fmt::format("tcgen05.dealloc of {} columns at column {}: no such allocation", columns, address.column()),
        source, allocations_told());
  observer_.unit_span({.kind = UnitSpanKind::tmem_alloc,
                       .begin = it->since,
                       .end = now(),
                       .slot = slot_,
                       .source = it->by,
                       .column = int(it->column),
                       .columns = int(it->columns)});
  std::erase_if(bank_.freed_, [&](const auto& freed) { return freed.what.slot == slot_; });
  bank_.freed_.push_back({*it, now(), source});
  bank_.allocations_.erase(it);
  for (Waiter* w : std::exchange(bank_.waiting_, {})) wake(*w, source);
}

std::optional<uint32_t> TensorMemory::accessed(const char* instruction, TmemShape shape, int repeat,
                                               TmemAddr address, int warp, const Source& source, int split) {
  const auto violated = [&](const char* id, std::string message, std::vector<Place> related = {}) {
    violate(id, std::move(message), source, std::move(related));
    return std::nullopt;
  };
  const uint32_t columns = uint32_t(columns_spanned(shape, repeat)), column = address.column();
  const uint32_t lane_in_quarter = address.lane() % 32;
  const auto reachable = [&](uint32_t from) { return from + columns <= kTmemColumns && allocated(from, columns); };
  if (!reachable(column + uint32_t(split)) && reachable(column))
    return violated("TC1",
                    fmt::format("{}.{}.x{} of columns {} to {} for the upper threads: not inside a live allocation",
                                instruction, name(shape), repeat, column + uint32_t(split),
                                column + uint32_t(split) + columns - 1),
                    allocations_told());
  if (!reachable(column))
    return violated("TC1",
                    fmt::format("{}.{}.x{} of columns {} to {}: not inside a live allocation", instruction,
                                name(shape), repeat, column, column + columns - 1),
                    allocations_told());
  if (lane_in_quarter != 0 && (shape == TmemShape::s32x32b || lane_in_quarter != 16))
    return violated("TC2",
                    fmt::format("{}.{} at lane {}: the lane must be {} within the warp's quarter", instruction,
                                name(shape), address.lane(), shape == TmemShape::s32x32b ? "0" : "0 or 16"));
  const uint32_t quarter = uint32_t(warp % 4);
  if (address.lane() / 32 != quarter)
    observer_.violation(
        {"TC2",
         fmt::format("{}.{} at lane {} by warp {}: a warp reaches its own quarter only, lanes {} to {}; "
                     "hardware ignores the other one's number, and so does the model",
                     instruction, name(shape), address.lane(), warp, 32 * quarter, 32 * quarter + 31),
         now(), slot_, 0, source, true});
  return 32u * quarter + lane_in_quarter;
}

// ---- what nobody has written

void TensorMemory::wrote(uint32_t column, uint32_t columns, LaneGroups groups) {
  for (uint32_t c = column; c < column + columns; ++c) written_[c] |= groups;
}

constexpr size_t kMostWriters = 6;

bool TensorMemory::knows_writer(uint32_t column, uint32_t columns, int warp) const {
  return writers_.size() >= kMostWriters || std::any_of(writers_.begin(), writers_.end(), [&](const Writer& w) {
           return w.column == column && w.columns == columns && w.place.source.warp == warp;
         });
}

void TensorMemory::written_by(uint32_t column, uint32_t columns, const std::string& what, const Source& source) {
  const auto same = [&](const Writer& w) {
    return w.column == column && w.columns == columns && w.what == what && w.place.source.warp == source.warp;
  };
  if (writers_.size() >= kMostWriters || std::any_of(writers_.begin(), writers_.end(), same)) return;
  writers_.push_back(
      {column, columns, what,
       Place{source, now(),
             fmt::format("columns {} to {} were written by {}", column, column + columns - 1, what)}});
}

bool TensorMemory::written(uint32_t column, uint32_t columns, LaneGroups groups) const {
  return std::all_of(&written_[column], &written_[column] + columns,
                     [&](LaneGroups w) { return (w & groups) == groups; });
}

void TensorMemory::check_written(uint32_t column, uint32_t columns, LaneGroups groups, const std::string& what,
                                 const Source& source) {
  const auto unwritten = [&](uint32_t c) { return (written_[c] & groups) != groups; };
  const auto touched = [&](LaneGroups w) { return (w & groups) != 0; };
  uint32_t first = column, end = column + columns;
  while (first < end && !unwritten(first)) ++first;
  if (first == end) return;
  while (!unwritten(end - 1)) --end;
  const bool all = std::none_of(&written_[column], &written_[column] + columns, touched);
  if (!bank_.with_data_ && !all) return;
  const std::string read = fmt::format("{} columns {} to {}", what, column, column + columns - 1);
  // The nearest columns that anybody has written: perhaps the reader was meant for them, or their writer for these.
  std::string instead;
  const Writer* nearest = nullptr;
  const auto distance = [&](const Writer& w) {
    return w.column > column ? w.column - column : column - std::min(column, w.column + w.columns - 1);
  };
  for (const Writer& w : writers_)
    if (!nearest || distance(w) < distance(*nearest)) nearest = &w;
  if (nearest)
    instead = fmt::format("; {} has written columns {} to {}", nearest->what, nearest->column,
                          nearest->column + nearest->columns - 1);
  std::vector<Place> related;
  for (const Writer& w : writers_) related.push_back(w.place);
  observer_.violation(
      {.id = "TC13",
       .message =
           (all ? fmt::format("{}, which nobody has written since tcgen05.alloc", read)
                : fmt::format("{}, of which nobody has written all lanes of columns {} to {} since tcgen05.alloc",
                              read, first, end - 1)) +
           instead,
       .time = now(),
       .slot = slot_,
       .source = source,
       .warning = !bank_.with_data_,
       .suspect = bank_.with_data_,
       .related = std::move(related)});
}

namespace {

/// Lanes of one ld or st, whose first is `base`.
TensorMemory::LaneGroups groups_of(TmemShape shape, uint32_t base) {
  return TensorMemory::LaneGroups((shape == TmemShape::s32x32b ? 0b11u : 0b1u) << (base / 16));
}

}  // namespace

void TensorMemory::load(TmemShape shape, int repeat, TmemAddr address, int warp, uint32_t* registers,
                        const Source& source, int split) {
  const auto base = accessed("tcgen05.ld", shape, repeat, address, warp, source, split);
  if (!base) return;
  const uint32_t columns = uint32_t(columns_spanned(shape, repeat));
  const LaneGroups groups = groups_of(shape, *base);
  for (uint32_t half = 0; half < (split == 0 ? 1u : 2u); ++half)
    if (const uint32_t from = address.column() + half * uint32_t(split); !written(from, columns, groups))
      check_written(from, columns, groups, fmt::format("tcgen05.ld.{}.x{} reads", name(shape), repeat), source);
  if (!bank_.with_data_) return;
  const int count = registers_per_thread(shape, repeat);
  for (int t = 0; t < kWarpLanes; ++t)
    for (int r = 0; r < count; ++r) {
      const TmemCell c = tmem_cell(shape, t, r, split);
      registers[t * count + r] = cell(*base + c.lane, address.column() + c.column);
    }
}

void TensorMemory::store(TmemShape shape, int repeat, TmemAddr address, int warp, const uint32_t* registers,
                         const Source& source, int split) {
  const auto base = accessed("tcgen05.st", shape, repeat, address, warp, source, split);
  if (!base) return;
  for (const uint32_t from : {address.column(), address.column() + uint32_t(split)})
    wrote(from, uint32_t(columns_spanned(shape, repeat)), groups_of(shape, *base));
  if (!bank_.with_data_) return;
  const int count = registers_per_thread(shape, repeat);
  for (int t = 0; t < kWarpLanes; ++t)
    for (int r = 0; r < count; ++r) {
      const TmemCell c = tmem_cell(shape, t, r, split);
      cell(*base + c.lane, address.column() + c.column) = registers[t * count + r];
    }
}

}  // namespace sm100::models
