// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/record.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels/isa/tmem_copy.h"
#include "models/tensor_memory_copy.h"
#include "models/time.h"
#include "models/umma_scales.h"
#include "models/wgmma_numerics.h"

namespace sm100::sim::provenance {
namespace {

constexpr uint32_t kColumns = 512, kLanesOfGroup = 16;

/// The same execution of an instruction, whatever the lane.
bool same_execution(const models::Source& x, const models::Source& y) {
  return x.issued == y.issued && x.cta == y.cta && x.warp == y.warp && x.loc.line() == y.loc.line() &&
         x.loc.column() == y.loc.column() && x.loc.file_name() == y.loc.file_name();
}

uint32_t lanes_of(TmemShape shape) { return shape == TmemShape::s32x32b ? 32 : 16; }

/// Groups of 16 lanes of D in a pair's CTA of which the MMA writes any.
uint32_t groups_of(const models::MmaOperation& op, uint32_t cta) {
  const DataPathLayout layout = models::layout_of(op);
  uint32_t groups = 0;
  for (int m = 0; m < op.m; m += int(kLanesOfGroup))
    for (int n = 0; n < op.n; n += op.n / 4) {
      const AccumulatorCell at = accumulator_cell(layout, m, n, op.n);
      const uint32_t lane = op.d.lane() + at.lane;
      const uint32_t lanes = op.disabled_lanes[4 * cta + lane / 32] >> lane / 16 % 2 * 16 & 0xffff;
      if (lanes == 0xffff) continue;
      if (at.cta == cta) groups |= 1u << (lane / kLanesOfGroup);
    }
  return groups;
}

}  // namespace

void Record::watch(uint64_t address, uint64_t bytes, uint32_t grain) {
  watched_.push_back(
      {.address = address, .bytes = bytes, .grain = grain, .delivered = std::vector<uint32_t>(bytes / grain)});
}

void Record::watch_reads(uint64_t address, uint64_t bytes) {
  watched_reads_.push_back({.address = address, .bytes = bytes});
}

void Record::note_read(uint64_t address, const models::Source& source) {
  for (WatchedReads& w : watched_reads_)
    if (address - w.address < w.bytes) w.first.try_emplace({source.cta, source.warp}, source);
}

const models::Source* Record::reader(uint64_t address, const models::Source& by) const {
  for (const WatchedReads& w : watched_reads_) {
    if (address - w.address >= w.bytes || w.first.empty()) continue;
    const auto own = w.first.find({by.cta, by.warp});
    return own != w.first.end() ? &own->second : &w.first.begin()->second;
  }
  return nullptr;
}

Watched* Record::watched_at(uint64_t address) {
  for (Watched& w : watched_)
    if (address - w.address < w.bytes) return &w;
  return nullptr;
}

void Record::cta_started(int slot) {
  shared_.clear(slot);
  std::erase_if(registers_, [=](const auto& of) { return of.first.first == slot; });
}

void Record::landed(int slot, const models::TensorCopy& copy) {
  boxes_.push_back({.source = copy.source,
                    .time = models::now(),
                    .map = copy.map,
                    .coordinates = copy.coords,
                    .slot = slot,
                    .smem = copy.smem,
                    .barrier = copy.barrier});
  shared_.landed(slot, copy, uint32_t(boxes_.size() - 1));
}

void Record::copied_by_thread(int slot, uint32_t offset, uint64_t address, uint32_t bytes,
                              const models::Source& source) {
  copied(slot, offset, address, bytes, source, Box::By::cp_async);
}

void Record::copied(int slot, uint32_t offset, uint64_t address, uint32_t bytes, const models::Source& source,
                    Box::By by) {
  if (boxes_.empty() || boxes_.back().by != by || !same_execution(boxes_.back().source, source))
    boxes_.push_back({.source = source, .time = models::now(), .by = by, .slot = slot, .smem = offset});
  if (bytes == 0)
    return shared_.set(slot, offset, 16,
                       {.record = uint32_t(boxes_.size() - 1), .kind = OriginKind::fill, .bytes = 16});
  auto& pieces = boxes_.back().pieces;
  if (!pieces.empty() && pieces.back().second == address)
    pieces.back().second += bytes;
  else
    pieces.push_back({address, address + bytes});
  shared_.set(slot, offset, bytes,
              {.address = address, .record = uint32_t(boxes_.size() - 1), .kind = OriginKind::global, .bytes = 16});
}

// ---- accumulators

uint32_t Record::add(uint32_t parent, uint32_t mma) {
  histories_.push_back({parent, mma});
  return uint32_t(histories_.size() - 1);
}

std::vector<uint32_t> Record::mmas_of(uint32_t history) const {
  std::vector<uint32_t> all;
  for (; history != 0; history = histories_[history].parent)
    if (histories_[history].mma != 0) all.push_back(histories_[history].mma - 1);
  std::reverse(all.begin(), all.end());
  return all;
}

void Record::multiplied(const Participants& by, const models::MmaOperation& op, const models::Source& source) {
  Mma mma{.by = by,
          .layout = models::layout_of(op),
          .m = op.m,
          .n = op.n,
          .cta_group = op.cta_group,
          .lane = op.d.lane(),
          .column = op.d.column(),
          .accumulates = op.enable_input_d,
          .source = source,
          .time = models::now()};
  mma.a_along_k = !op.idesc.transpose_a, mma.b_along_k = !op.idesc.transpose_b, mma.k = mma_k(op.kind);
  mma.looked_at = !op.a_in_tmem && !op.modifiers.sp && !any_zero_column(op.zero_columns) && !op.disables_lanes();
  if (mma.looked_at) {
    mma.a = operand_rows(shared_, by.slots, op, true);
    mma.b = operand_rows(shared_, by.slots, op, false);
  }
  mma.a_swizzle = swizzle_of_code(op.a.swizzle_code), mma.b_swizzle = swizzle_of_code(op.b.swizzle_code);
  if (const OperandType a = a_data_type(op.kind, op.idesc.a_type); a.ok) mma.a_type = a.type;
  if (const OperandType b = b_data_type(op.kind, op.idesc.b_type); b.ok) mma.b_type = b.type;
  mma.d_f16 = op.idesc.d_type == kDTypeF16 && op.kind != MmaKind::i8 && !is_block_scaled(op.kind);
  mma.negate_a = op.idesc.negate_a, mma.negate_b = op.idesc.negate_b;
  if (is_block_scaled(op.kind)) {
    mma.scale_type = op.idesc.scale_ue8m0 ? ScaleType::ue8m0 : ScaleType::ue4m3;
    read_scales(mma, op);
  }
  mmas_.push_back(std::move(mma));
  const uint32_t number = uint32_t(mmas_.size());
  const uint32_t columns = accumulator_columns(models::layout_of(op), uint32_t(op.n));
  std::vector<std::pair<uint32_t, uint32_t>> made;  // parent, history: neighbours have one
  for (int cta = 0; cta < op.cta_group; ++cta) {
    Bank& bank = banks_[by.sms[cta]];
    const uint32_t groups = groups_of(op, uint32_t(cta));
    for (uint32_t column = op.d.column(); column < std::min(op.d.column() + columns, kColumns); ++column)
      for (uint32_t group = 0; group < kGroups; ++group) {
        if (!(groups >> group & 1)) continue;
        uint32_t& cell = bank.history[column * kGroups + group];
        const uint32_t parent = op.enable_input_d ? cell : 0;
        auto it = std::find_if(made.begin(), made.end(), [=](const auto& m) { return m.first == parent; });
        if (it == made.end()) it = made.insert(made.end(), {parent, add(parent, number)});
        cell = it->second;
      }
  }
}

void Record::tensor_memory_loaded(int slot, int sm, TmemShape shape, int repeat, uint32_t lane, uint32_t column,
                                  const uint32_t* registers, const models::Source& source) {
  Fragment f{.source = source,
             .time = models::now(),
             .slot = slot,
             .sm = sm,
             .lane = lane,
             .lanes = lanes_of(shape),
             .column = column,
             .columns = uint32_t(columns_spanned(shape, repeat))};
  const Bank& bank = banks_[sm];
  for (uint32_t l = lane; l < lane + f.lanes; l += kLanesOfGroup)
    for (uint32_t c = column; c < std::min(column + f.columns, kColumns); ++c) {
      const uint32_t history = bank.history[c * kGroups + l / kLanesOfGroup];
      LoadedCells* const last = f.parts.empty() ? nullptr : &f.parts.back();
      if (last && last->history == history && last->lane == l && last->column + last->columns == c)
        ++last->columns;
      else
        f.parts.push_back({history, l, kLanesOfGroup, c, 1});
    }
  if (registers) {
    f.cells.resize(size_t(f.lanes) * f.columns);
    const int count = registers_per_thread(shape, repeat);
    for (int t = 0; t < 32; ++t)
      for (int r = 0; r < count; ++r) {
        const TmemCell at = tmem_cell(shape, t, r);
        if (at.lane < f.lanes && at.column < f.columns)
          f.cells[at.lane * f.columns + at.column] = registers[t * count + r];
      }
  }
  keep(std::move(f), source);
}

void Record::keep(Fragment fragment, const models::Source& source) {
  WarpState& warp = state(fragment.slot, source.warp);
  fragments_.push_back(std::move(fragment));
  if (warp.wrote) sets_.emplace_back(), warp.set = uint32_t(sets_.size()), warp.wrote = false;
  sets_[warp.set - 1].push_back(uint32_t(fragments_.size() - 1));
}

// ---- wgmma

namespace {

/// As an MMA of tensor memory, whose operands lie alike: 64 rows, and 32 bytes along K.
models::MmaOperation as_mma(const models::WgmmaOperation& wgmma) {
  models::MmaOperation op{};
  op.kind = MmaKind::f16;
  op.m = kWgmmaM, op.n = wgmma.form.n;
  op.d = TmemAddr::at(0, 0);
  op.a_in_tmem = wgmma.form.a_in_registers;
  op.a = wgmma.a, op.b = wgmma.b;
  op.idesc.transpose_a = wgmma.form.a_major == Major::mn, op.idesc.transpose_b = wgmma.form.b_major == Major::mn;
  op.enable_input_d = wgmma.scale_d;
  op.modifiers.sp = wgmma.form.sparse;
  return op;
}

}  // namespace

/// The registers to which an instruction adds: those that it names, or that hold what it finds there; nullptr: what
/// they hold is not known.
Record::Registers* Record::registers_of(int slot, int first_warp, const models::WgmmaOperation& operation) {
  std::vector<Registers>& all = registers_[{slot, first_warp}];
  const size_t count = size_t(wgmma_d_registers(operation.form)) * kWarpLanes;
  for (Registers& r : all)
    if (r.n == operation.form.n && std::equal(r.d.begin(), r.d.end(), operation.d.begin()) &&
        (r.in_flight > 0 || !operation.scale_d ||
         (r.sums[0].size() == count && std::equal(r.sums[0].begin(), r.sums[0].end(), operation.d[0]))))
      return &r;
  if (!operation.scale_d) return nullptr;
  for (Registers& r : all)
    if (r.n == operation.form.n && r.in_flight == 0 && r.sums[0].size() == count &&
        std::equal(r.sums[0].begin(), r.sums[0].end(), operation.d[0]))
      return &r;
  return nullptr;
}

void Record::warpgroup_multiplied(int slot, int first_warp, const models::WgmmaOperation& operation,
                                  const models::Source& source) {
  models::MmaOperation op = as_mma(operation);
  std::vector<Registers>& all = registers_[{slot, first_warp}];
  Registers* to = registers_of(slot, first_warp, operation);
  const size_t count = size_t(wgmma_d_registers(operation.form)) * kWarpLanes;
  bool known = to || !operation.scale_d;
  if (!known) {  // to zeros, or to what is not followed
    op.enable_input_d = false;
    known = std::all_of(operation.d.begin(), operation.d.end(), [&](const uint32_t* d) {
      return std::all_of(d, d + count, [](uint32_t sum) { return sum == 0; });
    });
  }
  if (!op.enable_input_d) {
    const bool again = to != nullptr;
    if (!again) {
      // Of those of this shape that are stored, one is over.
      std::erase_if(all, [&](const Registers& r) {
        const bool over = r.n == op.n && r.in_flight == 0 &&
                          std::all_of(r.stored.begin(), r.stored.end(), [](bool stored) { return stored; });
        if (over) banks_.erase(r.sm);
        return over;
      });
      to = &all.emplace_back();
    } else {
      banks_.erase(to->sm);
    }
    *to = Registers{.sm = next_registers_--, .n = op.n, .source = source};
  }
  for (size_t w = 0; w < to->d.size(); ++w) to->d[w] = operation.d[w];
  to->source = source, ++to->in_flight, to->stored.fill(true);
  multiplied(models::participants(slot, to->sm), op, source);
  Mma& mma = mmas_.back();
  if (!known) mma.looked_at = false;
  mma.a_type = operation.form.a, mma.b_type = operation.form.b, mma.of_wgmma = true;
  mma.negate_a = operation.form.negate_a, mma.negate_b = operation.form.negate_b;
  mma.d_f16 = operation.form.d == WgmmaD::f16;
}

void Record::warpgroup_finished(int slot, int first_warp, const models::WgmmaOperation& operation,
                                const models::Source& source) {
  for (Registers& r : registers_[{slot, first_warp}]) {
    if (r.n != operation.form.n || r.in_flight == 0 || r.d[0] != operation.d[0]) continue;
    r.source = source;
    if (--r.in_flight > 0) return;
    const size_t count = size_t(wgmma_d_registers(operation.form)) * kWarpLanes;
    for (size_t w = 0; w < r.d.size(); ++w) r.sums[w].assign(r.d[w], r.d[w] + count);
    r.stored.fill(false);
    return;
  }
}

/// A warp stores: what its registers hold of finished sums is what it may store.
void Record::take_registers(int slot, const models::Source& by) {
  const int warp = by.warp;
  const auto of_group = registers_.find({slot, warp / kWarpgroupWarps * kWarpgroupWarps});
  if (of_group == registers_.end()) return;
  const size_t part = size_t(warp % kWarpgroupWarps);
  const std::vector<Registers>& all = of_group->second;
  if (!stored_while_adding_ && !all.empty() &&
      std::all_of(all.begin(), all.end(), [](const Registers& r) { return r.in_flight > 0; }))
    stored_while_adding_ = {by, all.back().source};
  for (Registers& r : of_group->second) {
    if (r.in_flight > 0 || r.stored[part]) continue;
    r.stored[part] = true;
    Fragment f{.source = r.source,
               .time = models::now(),
               .slot = slot,
               .sm = r.sm,
               .lane = 32 * uint32_t(part),
               .lanes = kLanesOfGroup,
               .columns = uint32_t(r.n),
               .of_wgmma = true};
    f.source.warp = warp;
    const Bank& bank = banks_[r.sm];
    for (uint32_t c = 0; c < f.columns; ++c) {
      const uint32_t history = bank.history[c * kGroups + f.lane / kLanesOfGroup];
      if (!f.parts.empty() && f.parts.back().history == history)
        ++f.parts.back().columns;
      else
        f.parts.push_back({history, f.lane, kLanesOfGroup, c, 1});
    }
    const size_t count = r.sums[part].size() / kWarpLanes;
    if (count == size_t(r.n) / 2) {  // 32 bits for each sum
      f.cells.resize(size_t(f.lanes) * f.columns);
      for (size_t lane = 0; lane < kWarpLanes; ++lane)
        for (size_t i = 0; i < count; ++i) {
          const WgmmaCell at = wgmma_d_cell(0, int(lane), int(i));
          f.cells[size_t(at.row) * f.columns + size_t(at.column)] = r.sums[part][lane * count + i];
        }
    }
    const models::Source of = f.source;
    keep(std::move(f), of);
  }
}

const models::Source* Record::rewritten_by(uint32_t history) const {
  const auto found = rewriters_.find(history);
  return found == rewriters_.end() ? nullptr : &found->second;
}

void Record::tensor_memory_stored(int slot, int sm, TmemShape shape, int repeat, uint32_t lane, uint32_t column,
                                  const uint32_t* registers, const models::Source& source) {
  state(slot, source.warp).wrote = true;
  Bank& bank = banks_[sm];
  if (registers) {
    bank.scales.resize(size_t(kTmemLanes) * kColumns);
    scale_stores_.push_back(source);
    const int count = registers_per_thread(shape, repeat);
    for (int t = 0; t < 32; ++t)
      for (int r = 0; r < count; ++r)
        if (const TmemCell at = tmem_cell(shape, t, r); column + at.column < kColumns)
          bank.scales[(lane + at.lane) * kColumns + column + at.column] = {.store = uint32_t(scale_stores_.size()),
                                                                           .value = registers[t * count + r]};
  }
  for (uint32_t l = lane; l < lane + lanes_of(shape); l += kLanesOfGroup)
    for (uint32_t c = column; c < std::min(column + uint32_t(columns_spanned(shape, repeat)), kColumns); ++c) {
      uint32_t& cell = bank.history[c * kGroups + l / kLanesOfGroup];
      if (cell == 0) continue;
      uint32_t& rewritten = rewritten_[cell];  // the same for all of an accumulator
      if (rewritten == 0) rewritten = add(cell, 0), rewriters_[rewritten] = source;
      cell = rewritten;
    }
}

// ---- scale factors

void Record::copied_to_tensor_memory(const Participants& by, const models::TensorMemoryCopy& copy,
                                     const models::Source& /*source*/) {
  if (copy.decompression != TmemDecompression::none) return;
  for (int cta = 0; cta < copy.cta_group; ++cta) {
    Bank& bank = banks_[by.sms[cta]];
    bank.scales.resize(128 * kColumns);
    for (uint32_t row = 0; row < copy_rows(copy.shape); ++row)
      for (uint32_t at = 0; at < copy_row_bytes(copy.shape); at += 4) {
        const uint32_t address = operand_address(copy.from, Major::k, 1, row, at);
        const Origin& origin = shared_.at(by.slots[cta], address);
        ScaleCell from;
        if (origin.kind == OriginKind::global) from = {origin.address + address % 16, origin.record + 1};
        if (origin.kind == OriginKind::fill) from = {0, origin.record + 1};
        for (uint32_t replica = 0; replica < copy_replicas(copy.shape); ++replica) {
          const uint32_t lane = copy.to.lane() + copy_lane(copy.shape, row, replica),
                         column = copy.to.column() + at / 4;
          if (lane < 128 && column < kColumns) bank.scales[lane * kColumns + column] = from;
        }
      }
  }
}

void Record::read_scales(Mma& mma, const models::MmaOperation& op) {
  mma.scales = int(op.scale_vec);
  std::vector<ScaleCell> a, b;
  const auto read = [&](const models::ScaleFactors& where, int cta, std::vector<ScaleCell>& to) {
    const Bank& bank = banks_[mma.by.sms[cta]];
    for (int r = 0; r < where.rows; ++r) {
      const bool upper = where.halves && r >= where.rows / 2;
      const int row = upper ? r - where.rows / 2 : r;
      const uint32_t lane = uint32_t(row % 32 + (upper ? 64 : 0)),
                     column = where.address.column() + uint32_t(row / 32);
      to.push_back(bank.scales.empty() || column >= kColumns ? ScaleCell{} : bank.scales[lane * kColumns + column]);
    }
  };
  const models::ScaleFactors of_a = models::scale_factors_a(op.idesc, op.cta_group, op.scale_vec, op.sfa),
                             of_b = models::scale_factors_b(op.idesc, op.cta_group, op.scale_vec, op.sfb);
  mma.sfa_byte = of_a.first_byte, mma.sfb_byte = of_b.first_byte;
  for (int cta = 0; cta < op.cta_group; ++cta) read(of_a, cta, a);
  for (int cta = 0; cta < op.cta_group; ++cta) read(of_b, cta, b);
  // Most MMAs read the cells that the one before has read.
  const auto kept = [&](std::vector<ScaleCell>& cells, std::shared_ptr<const std::vector<ScaleCell>> Mma::*member) {
    for (size_t back = 1; back <= 2 && back <= mmas_.size(); ++back)
      if (const auto& before = mmas_[mmas_.size() - back].*member; before && *before == cells) return before;
    return std::make_shared<const std::vector<ScaleCell>>(std::move(cells));
  };
  mma.sfa = kept(a, &Mma::sfa), mma.sfb = kept(b, &Mma::sfb);
}

// ---- output

uint32_t Record::write_of(int slot, const models::Source& source) {
  take_registers(slot, source);
  WarpState& warp = state(slot, source.warp);
  warp.wrote = true;
  if (warp.write == 0 || !same_execution(warp.last_write, source)) {
    writes_.push_back({source, warp.set});
    warp.write = uint32_t(writes_.size()), warp.last_write = source;
  }
  return warp.write;
}

void Record::keep_loaded(int slot, int lane, const void* value, const Origin& origin,
                         const models::Source& source) {
  WarpState& warp = state(slot, source.warp);
  std::vector<WarpState::Loaded>& loaded = warp.loaded[size_t(lane)];
  if (loaded.size() < kKeptLoads) loaded.emplace_back();
  WarpState::Loaded& last = loaded[warp.next[size_t(lane)]++ % kKeptLoads];
  std::memcpy(last.value.data(), value, 16);
  last.origin = origin, last.stored = false;
  if (origin.kind != OriginKind::in_registers) return;
  if (loads_.empty() || !same_execution(loads_.back(), source)) loads_.push_back(source);
  last.load = uint32_t(loads_.size() - 1);
}

void Record::shared_read(int slot, int lane, uint32_t offset, uint32_t bytes, const void* value,
                         const models::Source& source) {
  const Origin& origin = shared_.at(slot, offset);
  if (origin.kind == OriginKind::global) note_read(origin.address + offset % 16, source);
  if (bytes == 16 && value && origin.kind == OriginKind::global) keep_loaded(slot, lane, value, origin, source);
}

void Record::global_read(int slot, int lane, uint64_t address, uint32_t bytes, const void* value,
                         const models::Source& source) {
  note_read(address, source);
  if (bytes == 16 && value)
    keep_loaded(slot, lane, value, {.address = address, .kind = OriginKind::in_registers, .bytes = 16}, source);
}

/// What a lane stores unchanged of what it has loaded is a copy; of several that are alike, of the first that was
/// not stored yet.
void Record::shared_written(int slot, int lane, uint32_t offset, uint32_t bytes, const void* value,
                            const models::Source& source) {
  const uint32_t write = write_of(slot, source);
  if (bytes == 16 && value) {
    WarpState& warp = state(slot, source.warp);
    std::vector<WarpState::Loaded>& loaded = warp.loaded[size_t(lane)];
    WarpState::Loaded* copied_from = nullptr;
    for (size_t i = 0; i < loaded.size(); ++i) {
      WarpState::Loaded& l = loaded[(warp.next[size_t(lane)] + i) % loaded.size()];  // the oldest first
      if (std::memcmp(l.value.data(), value, 16) != 0) continue;
      copied_from = &l;
      if (!l.stored) break;
    }
    if (copied_from) {
      copied_from->stored = true;
      if (copied_from->origin.kind == OriginKind::in_registers)
        return copied(slot, offset, copied_from->origin.address, bytes, loads_[copied_from->load],
                      Box::By::ld_global);
      return shared_.set(slot, offset, bytes, copied_from->origin);
    }
  }
  shared_.set(slot, offset, bytes, {.record = write - 1, .kind = OriginKind::store, .bytes = 16});
}

uint32_t Record::delivery(const Delivery& d) {
  if (deliveries_.empty() || deliveries_.back().store != d.store || deliveries_.back().write != d.write ||
      d.source != 0)
    deliveries_.push_back(d);
  return uint32_t(deliveries_.size());
}

void Record::deliver(uint64_t address, uint32_t bytes, const Delivery& d) {
  Watched* const w = watched_at(address);
  if (!w) return;
  const uint32_t number = delivery(d);
  const uint64_t first = (address - w->address) / w->grain;
  for (uint64_t e = first; e * w->grain + w->address < address + bytes && e < w->delivered.size(); ++e) {
    uint32_t& delivered = w->delivered[e];
    if (delivered != 0 && deliveries_[delivered - 1].store != d.store && !stores_[d.store - 1].reduces) {
      if (w->stored_twice++ == 0)
        w->first_store = deliveries_[delivered - 1].store, w->second_store = d.store, w->first_twice = e;
    }
    delivered = number;
  }
}

void Record::global_written(int slot, uint64_t address, uint32_t bytes, const models::Source& source) {
  take_registers(slot, source);
  WarpState& warp = state(slot, source.warp);
  warp.wrote = true;
  if (!watched_at(address)) return;
  if (warp.store == 0 || !same_execution(warp.last_store, source)) {
    stores_.push_back({.source = source, .time = models::now(), .fragments = warp.set});
    warp.store = uint32_t(stores_.size()), warp.last_store = source;
  }
  deliver(address, bytes, {.store = warp.store});
}

void Record::stored(int slot, const models::TensorCopy& copy) {
  const TensorMapFields& map = copy.map;
  const auto bytes_of = [&](int64_t elements) { return int64_t(global_bytes(map.data_type, uint64_t(elements))); };
  stores_.push_back({.source = copy.source,
                     .time = models::now(),
                     .tensor = true,
                     .reduces = copy.reduction.has_value(),
                     .rank = copy.linear ? 0 : coordinate_count(map),
                     .coordinates = copy.coords});
  const uint32_t store = uint32_t(stores_.size());
  if (!copy.linear && map.rank == 2) store_maps_.try_emplace(map.global_address, StoreMap{store - 1, map});
  for (uint32_t l = 0; l < uint32_t(box_lines(map)); ++l) {
    const BoxLine line = box_line(map, copy.coords.data(), l);
    if (!line.in_bounds || line.count <= 0) continue;
    const int64_t first = bytes_of(line.first), end = first + bytes_of(line.count);
    for (int64_t from = first; from < end;) {
      const uint32_t shared =
          swizzle_address(smem_swizzle(map.swizzle), copy.smem + line.smem_offset + uint32_t(from));
      const int64_t run = std::min<int64_t>(end - from, 16 - shared % 16);
      const Origin& origin = shared_.at(slot, shared);
      Delivery d{.store = store};
      if (origin.kind == OriginKind::store) {
        d.write = origin.record + 1;
        auto& [write, by] = read_by_stores_[uint64_t(slot) << 32 | shared / 16];
        if (by != 0 && by != store && write == d.write) stores_.back().beside = by, stores_[by - 1].beside = store;
        write = d.write, by = store;
      }
      if (origin.kind == OriginKind::global)
        d.source = origin.address + shared % 16, d.to = line.global_address + uint64_t(from),
        d.box = origin.record + 1;
      deliver(line.global_address + uint64_t(from), uint32_t(run), d);
      from += run;
    }
  }
}

}  // namespace sm100::sim::provenance
