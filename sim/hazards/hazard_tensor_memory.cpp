// SPDX-License-Identifier: Apache-2.0
// The hazard checker's view of the tensor core and of tensor memory: what MMAs, commits and the transfers of
// registers touch and order.

#include <algorithm>

#include "models/time.h"
#include "models/umma_operands.h"
#include "models/umma_sparsity.h"
#include "sim/hazards/hazard_checker.h"

namespace sm100::sim {
namespace {

constexpr uint32_t kLaneGroups = kTmemLanes / 16;

/// Cells of tensor memory: 16 lanes of a column are one, because every access takes or leaves them together.
uint32_t tmem_cell_index(uint32_t lane_group, uint32_t column) { return lane_group * kTmemColumns + column; }

}  // namespace

Footprints::Id HazardChecker::operand_set(const models::MmaCommand& c, bool a) {
  const SmemDescriptorFields f = decode(a ? c.a : c.b);
  const InstrDescriptorFields idesc = decode(c.idesc, c.kind);
  const bool transposed = a ? idesc.transpose_a : idesc.transpose_b;
  const uint32_t rows = (a ? idesc.m : idesc.n) / uint32_t(c.cta_group);
  const DataType type = (a ? a_data_type(c.kind, idesc.a_type) : b_data_type(c.kind, idesc.b_type)).type;
  const uint32_t bytes = models::container_bytes(type);
  const uint32_t row_bytes = c.modifiers.sp && !a ? 2 * models::kOperandRowBytes : models::kOperandRowBytes;
  // The bits of a descriptor leave room for all else that decides which bytes it means.
  uint64_t key = (a ? c.a : c.b).bits * 0x9e3779b97f4a7c15u ^ (uint64_t{rows} << 8 | bytes << 1 | transposed);
  if (row_bytes != models::kOperandRowBytes) key ^= uint64_t{1} << 20;
  key |= uint64_t{1} << 63;  // apart from ranges
  return descriptor_set(key, f, transposed ? Major::mn : Major::k, bytes, rows, row_bytes);
}

Footprints::Id HazardChecker::descriptor_set(uint64_t key, const SmemDescriptorFields& f, Major major,
                                             uint32_t bytes, uint32_t rows, uint32_t row_bytes) {
  return smem_sets_.intern(key, [&] {
    std::vector<Footprints::Interval> chunks;
    const uint32_t k = row_bytes / bytes;  // nibbles of mxf4 two at a time
    for (uint32_t i = 0; i < rows; ++i)
      for (uint32_t j = 0; j < k; ++j) {
        const uint32_t at = operand_address(f, major, bytes, i, j);
        if (!chunks.empty() && chunks.back().end == at)
          chunks.back().end += bytes;
        else
          chunks.push_back({at, at + bytes});
      }
    return chunks;
  });
}

Footprints::Id HazardChecker::tmem_set(const models::MmaCommand& c, int m, TmemAddr first, uint32_t columns) {
  const DataPathLayout layout = data_path_layout(m, c.cta_group, c.modifiers.ws);
  const uint32_t column = first.column(), lane = first.lane();
  const uint64_t key = uint64_t{1} << 62 | uint64_t(layout) << 40 | uint64_t{lane} << 24 | column << 12 | columns;
  return tmem_sets_.intern(key, [&] {
    std::vector<Footprints::Interval> cells;
    for (uint32_t group = 0; group < kLaneGroups; ++group) {
      if (layout == DataPathLayout::f && group % 2 != lane / 16) continue;
      cells.push_back({tmem_cell_index(group, column), tmem_cell_index(group, column) + columns});
    }
    return cells;
  });
}

Footprints::Id HazardChecker::enabled_set(const models::MmaCommand& c, uint32_t cta) {
  const InstrDescriptorFields idesc = decode(c.idesc, c.kind);
  const DataPathLayout layout = data_path_layout(int(idesc.m), c.cta_group, c.modifiers.ws);
  const uint32_t columns = accumulator_columns(layout, idesc.n), column = c.d.column(), lane = c.d.lane();
  uint32_t groups = 0;
  for (uint32_t group = 0; group < kLaneGroups; ++group) {
    if (layout == DataPathLayout::f && group % 2 != lane / 16) continue;
    const uint32_t disabled = c.disabled_lanes[4 * cta + group / 2] >> (16 * (group % 2)) & 0xffff;
    if (disabled != 0xffff) groups |= 1u << group;
  }
  return tmem_sets_.intern(uint64_t{1} << 57 | groups << 24 | column << 12 | columns, [=] {
    std::vector<Footprints::Interval> cells;
    for (uint32_t group = 0; group < kLaneGroups; ++group)
      if (groups >> group & 1)
        cells.push_back({tmem_cell_index(group, column), tmem_cell_index(group, column) + columns});
    return cells;
  });
}

const HazardChecker::MmaSets& HazardChecker::mma_sets(const models::MmaCommand& c) {
  uint64_t mixed =
      (c.a.bits ^ uint64_t{c.a_tmem.value} << 32 ^ (c.b.bits + c.idesc.bits) * 0x9e3779b97f4a7c15u ^ c.d.value) *
      0xbf58476d1ce4e5b9u;
  mixed ^= mixed >> 32;
  const auto same = [&](const models::MmaCommand& k) {
    return k.a == c.a && k.b == c.b && k.idesc.bits == c.idesc.bits && k.d == c.d && k.kind == c.kind &&
           k.cta_group == c.cta_group && k.a_in_tmem == c.a_in_tmem && k.a_tmem == c.a_tmem && k.sfa == c.sfa &&
           k.sfb == c.sfb && k.modifiers == c.modifiers && k.metadata == c.metadata;
  };
  constexpr size_t kTries = 8;
  size_t free = mixed % mma_sets_.size();
  for (size_t i = 0; i < kTries; ++i) {
    const MmaSets& known = mma_sets_[(mixed + i) % mma_sets_.size()];
    if (known.known && same(known.command)) return known;
    if (!known.known) {
      free = (mixed + i) % mma_sets_.size();
      break;
    }
  }
  const InstrDescriptorFields idesc = decode(c.idesc, c.kind);
  constexpr uint32_t kColumnsOfA = 8;  // 32 bytes of K, whatever the type
  const DataPathLayout layout = data_path_layout(int(idesc.m), c.cta_group, c.modifiers.ws);
  const uint32_t columns = accumulator_columns(layout, uint32_t(idesc.n));
  const Footprints::Id b = operand_set(c, false), d = tmem_set(c, int(idesc.m), c.d, columns);
  const Footprints::Id a = c.a_in_tmem ? tmem_set(c, int(idesc.m), c.a_tmem, kColumnsOfA) : operand_set(c, true);
  MmaSets sets{c, a, b, d, 0, 0, 0, {c.d.column(), c.d.column() + columns}, nullptr, true};
  if (c.modifiers.sp)
    sets.metadata = column_set({c.metadata.value + idesc.sparsity_selector}, models::metadata_columns(c.kind));
  if (is_block_scaled(c.kind)) {
    sets.sfa = column_set(c.sfa, scale_columns_a(int(idesc.m), c.cta_group));
    sets.sfb = column_set(c.sfb, scale_columns_b(int(idesc.m), int(idesc.n), c.cta_group));
  }
  const auto covered = [&](Footprints::Id read) {
    const auto& all = tmem_sets_.overlaps(d);
    return std::any_of(all.begin(), all.end(), [&](const Footprints::Overlap& o) { return o.other == read; });
  };
  if (is_block_scaled(c.kind)) sets.covers = covered(sets.sfa) ? "SFA" : covered(sets.sfb) ? "SFB" : nullptr;
  if (c.a_in_tmem && covered(a)) sets.covers = "A";
  return mma_sets_[free] = sets;
}

Footprints::Id HazardChecker::column_set(TmemAddr first, uint32_t columns) {
  const uint32_t column = first.column() % kTmemColumns;
  columns = std::min(columns, kTmemColumns - column);
  return tmem_sets_.intern(uint64_t{1} << 59 | uint64_t{column} << 12 | columns, [=] {
    std::vector<Footprints::Interval> cells;
    for (uint32_t group = 0; group < kLaneGroups; ++group)
      cells.push_back({tmem_cell_index(group, column), tmem_cell_index(group, column) + columns});
    return cells;
  });
}

HazardChecker::MmaThread& HazardChecker::mma_thread(const Thread& t) {
  std::vector<MmaThread>& all = warp(t).mma;
  const auto known = std::find_if(all.begin(), all.end(), [&](const MmaThread& m) { return m.lane == t.by.lane; });
  if (known != all.end()) return *known;
  const uint32_t r = rank(t.slot);
  return all.emplace_back(MmaThread{.lane = t.by.lane,
                                    .component = all.empty()
                                                     ? component(r, t.by.warp, kMma)
                                                     : lanes_component(r, t.by.warp, kMma, 1u << t.by.lane)});
}

const HazardChecker::MmaThread* HazardChecker::mma_thread_of(const Cluster& in, const Access& access) const {
  if (!is_tensor_core(access.kind)) return nullptr;
  const std::vector<MmaThread>& all = warp_of(in, access).mma;
  const auto issuer = std::find_if(all.begin(), all.end(),
                                   [&](const MmaThread& m) { return m.component == access.over.component; });
  return issuer == all.end() ? nullptr : &*issuer;
}

void HazardChecker::covers_own_operand(const Thread& t, const models::MmaCommand& command, const MmaSets& sets) {
  if (!new_pair(t.by.loc, t.by.loc)) return;
  const std::string_view what = sets.covers;
  const TmemAddr from = what == "SFA" ? command.sfa : what == "SFB" ? command.sfb : command.a_tmem;
  models::Violation v{
      .id = "TC17",
      .message = fmt::format("the accumulator of an MMA covers what the same MMA reads: D has columns "
                             "{} to {}, {} begins at column {}",
                             sets.columns.begin, sets.columns.end - 1, what, from.column()),
      .time = time(),
      .slot = t.slot,
      .source = t.by};
  v.details = {fmt::format("wrong: the columns of {}, or those of the accumulator", what)};
  report_.violation(v);
}

void HazardChecker::mma(const Thread& t, const models::MmaCommand& command, int lanes) {
  if (postponed(t, [command, lanes](HazardChecker& h, const Thread& by) { h.mma(by, command, lanes); })) return;
  const uint32_t own = rank(t.slot);
  MmaThread& issuer = mma_thread(t);
  issuer.open = true;
  const Stamp over{issuer.component, issuer.next};
  const MmaSets& sets = mma_sets(command);
  ++issuer.account.mmas, issuer.account.lanes = lanes, issuer.account.columns = sets.columns;
  issuing_ = &sets;
  if (sets.covers) covers_own_operand(t, command, sets);
  if (!command.enable_input_d) issuer.account.begun[sets.columns.begin] = issuer.next;
  const uint32_t first = command.cta_group == 2 ? own & ~1u : own, last = command.cta_group == 2 ? own | 1u : own;
  for (uint32_t r = first; r <= last && r < cluster(t.slot).ctas.size(); ++r) {
    const Access read = access(t, AccessKind::mma_operand, false, over);
    if (command.a_in_tmem)
      touch_tmem(t, r, sets.a, read);
    else
      touch_smem(t, r, sets.a, read);
    touch_smem(t, r, sets.b, read);
    if (command.modifiers.sp) touch_tmem(t, r, sets.metadata, read);
    if (is_block_scaled(command.kind))
      for (const Footprints::Id scales : {sets.sfa, sets.sfb})
        touch_tmem(t, r, scales, access(t, AccessKind::mma_scale, false, over));
    const Footprints::Id d = command.disabled_lanes == decltype(command.disabled_lanes){}
                                 ? sets.d
                                 : enabled_set(command, command.cta_group == 2 ? r & 1 : 0);
    touch_tmem(t, r, d, access(t, AccessKind::accumulator, true, over));
  }
  issuing_ = nullptr;
}

// ---- copies from shared memory

Footprints::Id HazardChecker::copy_source_set(const models::TensorMemoryCopyCommand& c) {
  const SmemDescriptorFields f = decode(c.from);
  const uint32_t rows = copy_rows(c.shape), chunks = copy_row_bytes(c.shape) / 16;
  // Apart from ranges, and from operands of an MMA by rows and bytes.
  const uint64_t key = (c.from.bits * 0x9e3779b97f4a7c15u ^ (uint64_t{rows} << 20 | chunks)) | uint64_t{1} << 63;
  return smem_sets_.intern(key, [&] {
    std::vector<Footprints::Interval> all;
    for (uint32_t row = 0; row < rows; ++row)
      for (uint32_t chunk = 0; chunk < chunks; ++chunk) {
        const uint32_t at = copy_source_address(f, row, chunk);
        if (!all.empty() && all.back().end == at)
          all.back().end += 16;
        else
          all.push_back({at, at + 16});
      }
    return all;
  });
}

/// 4x256b writes one lane of 32, but counts as if it took the 16 around it.
Footprints::Id HazardChecker::copy_destination_set(const models::TensorMemoryCopyCommand& c) {
  const uint32_t columns = copy_columns(c.shape), column = c.to.column();
  if (c.shape != TmemCopyShape::s4x256b) return column_set(c.to, columns);
  const uint32_t half = c.to.lane() % 32 / 16;
  return tmem_sets_.intern(uint64_t{1} << 58 | half << 12 | column, [=] {
    std::vector<Footprints::Interval> cells;
    for (uint32_t group = half; group < kLaneGroups; group += 2)
      cells.push_back({tmem_cell_index(group, column), tmem_cell_index(group, column) + columns});
    return cells;
  });
}

void HazardChecker::tmem_copy(const Thread& t, const models::TensorMemoryCopyCommand& command) {
  if (postponed(t, [command](HazardChecker& h, const Thread& by) { h.tmem_copy(by, command); })) return;
  const uint32_t own = rank(t.slot);
  MmaThread& issuer = mma_thread(t);
  issuer.open = true;
  const Stamp over{issuer.component, issuer.next};
  const Footprints::Id from = copy_source_set(command), to = copy_destination_set(command);
  const uint32_t first = command.cta_group == 2 ? own & ~1u : own, last = command.cta_group == 2 ? own | 1u : own;
  for (uint32_t r = first; r <= last && r < cluster(t.slot).ctas.size(); ++r) {
    touch_smem(t, r, from, access(t, AccessKind::copy_source, false, over));
    touch_tmem(t, r, to, access(t, AccessKind::copied, true, over));
  }
}

void HazardChecker::note_issue_order(const Thread& t, const Access& earlier, const Access& later) {
  if (!new_pair(earlier.by.loc, later.by.loc)) return;
  HazardText text = issue_order_text(kernel(t.slot), earlier, later);
  models::Violation v{
      .id = text.id, .message = std::move(text.message), .time = time(), .slot = t.slot, .source = t.by};
  v.details = std::move(text.details);
  v.note = true;
  report_.violation(v);
}

uint32_t HazardChecker::commit(const Thread& t, uint32_t barrier) {
  if (postponed(t, [barrier](HazardChecker& h, const Thread& by) { h.commit(by, barrier); }))
    return ++cluster(t.slot).numbered;
  WarpState& self = warp(t);
  self.handed_back = true;
  Knowledge& released = next_later(cluster(t.slot));
  released.clear();
  released.add_likely(self.known);  // it executes after all that the thread knows
  for (MmaThread& issuer : self.mma) {
    if (issuer.lane != t.by.lane) {  // a thread vouches for its own MMAs only
      if (issuer.open) issuer.passed_over = t.by.lane;
      continue;
    }
    // Of the MMAs' own accesses and what those came after, not of what else the thread knows
    // (docs/instructions.md).
    issuer.account.commit(
        {.clock = issuer.next, .barrier = barrier, .columns = issuer.account.columns, .loc = t.by.loc});
    released.happened = issuer.before;
    released.happened.advance({issuer.component, issuer.next++});
    issuer.open = false, issuer.passed_over = -1;
    released.fenced.assign(released.happened, fenced_components());  // or its own checks had spoken
    released.tmem.assign(released.happened,
                         tmem_components());  // implies tcgen05.fence::before_thread_sync (PTX 9.7.16)
  }
  return cluster(t.slot).later.last();
}

/// In the warp's own quarter, whatever the address says: all of it (32x32b), or the upper half with lane 16.
Footprints::Id HazardChecker::transfer_set(TmemShape shape, int repeat, TmemAddr address, int warp, int split) {
  const auto columns = uint32_t(columns_spanned(shape, repeat));
  const uint32_t quarter = uint32_t(warp % 4) * 2, column = address.column();
  const uint32_t half = quarter + address.lane() % 32 / 16, second = column + uint32_t(split);
  if (shape == TmemShape::s16x32bx2 && second >= column + columns)
    return tmem_sets_.intern(uint64_t{1} << 59 | uint64_t{second} << 32 | half << 24 | column << 12 | columns, [=] {
      return std::vector<Footprints::Interval>{
          {tmem_cell_index(half, column), tmem_cell_index(half, column) + columns},
          {tmem_cell_index(half, second), tmem_cell_index(half, second) + columns}};
    });
  if (shape == TmemShape::s16x32bx2)  // the halves overlap
    return tmem_sets_.intern_range(tmem_cell_index(half, column), columns + uint32_t(split));
  if (shape != TmemShape::s32x32b)
    return tmem_sets_.intern_range(tmem_cell_index(quarter + address.lane() % 32 / 16, column), columns);
  return tmem_sets_.intern(uint64_t{1} << 60 | quarter << 24 | column << 12 | columns, [=] {
    std::vector<Footprints::Interval> cells;
    for (uint32_t group = quarter; group < quarter + 2; ++group)
      cells.push_back({tmem_cell_index(group, column), tmem_cell_index(group, column) + columns});
    return cells;
  });
}

uint32_t HazardChecker::tmem_load(const Thread& t, TmemShape shape, int repeat, TmemAddr address, int split) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) { h.tmem_load(by, shape, repeat, address, split); }))
    return ++warp(t).numbered_loads;
  WarpState& self = warp(t);
  const Stamp over{component(rank(t.slot), t.by.warp, kTmemLoads), ++self.tmem_loads};
  Access load = access(t, AccessKind::tmem_load, false, over);
  load.awaited = warp(t).awaited;
  touch_tmem(t, rank(t.slot), transfer_set(shape, repeat, address, t.by.warp, split), load);
  self.unwaited_loads.push_back(load);
  return self.tmem_loads;
}
void HazardChecker::tmem_register_read(const Thread& t, uint32_t load, std::string_view seen) {
  at_once(t.slot);
  WarpState& self = warp(t);
  const auto read = std::find_if(self.unwaited_loads.begin(), self.unwaited_loads.end(),
                                 [=](const Access& a) { return a.over.clock == load; });
  if (read == self.unwaited_loads.end()) return;
  if (new_pair(read->by.loc, t.by.loc)) {
    const HazardText text = register_read_text(kernel(t.slot), *read, seen);
    models::Violation v{.id = text.id, .message = text.message, .time = time(), .slot = t.slot, .source = t.by};
    v.details = text.details;
    v.warning = text.warning;
    report_.violation(v);
  }
  self.known.happened.advance(read->over);
  self.unwaited_loads.erase(self.unwaited_loads.begin(), read + 1);
}
void HazardChecker::tmem_wait_load(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.tmem_wait_load(by); })) return;
  warp(t).known.happened.advance({component(rank(t.slot), t.by.warp, kTmemLoads), warp(t).tmem_loads});
  warp(t).unwaited_loads.clear();
  warp(t).waited_loads = warp(t).tmem_loads;
}
void HazardChecker::tmem_store(const Thread& t, TmemShape shape, int repeat, TmemAddr address, int split) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) { h.tmem_store(by, shape, repeat, address, split); }))
    return;
  const Stamp over{component(rank(t.slot), t.by.warp, kTmemStores), ++warp(t).tmem_stores};
  warp(t).loads_at_store = warp(t).tmem_loads;
  touch_tmem(t, rank(t.slot), transfer_set(shape, repeat, address, t.by.warp, split),
             access(t, AccessKind::tmem_store, true, over));
}
void HazardChecker::tmem_wait_store(const Thread& t) {
  if (postponed(t, [](HazardChecker& h, const Thread& by) { h.tmem_wait_store(by); })) return;
  warp(t).known.happened.advance({component(rank(t.slot), t.by.warp, kTmemStores), warp(t).tmem_stores});
}

void HazardChecker::tmem_dealloc(const Thread& t, TmemAddr address, uint32_t columns, int cta_group) {
  if (postponed(t, [=](HazardChecker& h, const Thread& by) { h.tmem_dealloc(by, address, columns, cta_group); }))
    return;
  if (cta_group == 2) check_peer_has_allocated(t);
  const uint32_t column = address.column();
  const Footprints::Id set = tmem_sets_.intern(uint64_t{1} << 61 | uint64_t{column} << 12 | columns, [&] {
    std::vector<Footprints::Interval> cells;
    for (uint32_t group = 0; group < kLaneGroups; ++group)
      cells.push_back({tmem_cell_index(group, column), tmem_cell_index(group, column) + columns});
    return cells;
  });
  touch_tmem(t, rank(t.slot), set, access(t, AccessKind::tmem_dealloc, true, now(t)));
}

/// That of the peer returns when hardware grants it: the pair's columns are not to be freed before.
void HazardChecker::check_peer_has_allocated(const Thread& t) {
  const Stamp allocated = cluster(t.slot).ctas[rank(t.slot) ^ 1].allocated;
  const Knowledge& known = warp(t).known;
  if (allocated.clock > 0 && (known.happened.knows(allocated) || known.likely.knows(allocated))) return;
  models::Violation v{.id = "TC9",
                      .message =
                          "tcgen05.dealloc.cta_group::2, and nothing orders it behind the tcgen05.alloc of its "
                          "peer, which may not have returned",
                      .time = time(),
                      .slot = t.slot,
                      .source = t.by};
  v.details = {
      "missing: a cluster barrier, or an arrive of the peer behind its tcgen05.alloc and a wait for it, "
      "before the tcgen05.dealloc"};
  report_.violation(v);
}

}  // namespace sm100::sim
