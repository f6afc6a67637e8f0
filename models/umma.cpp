// SPDX-License-Identifier: Apache-2.0
#include "models/umma.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "models/provenance.h"
#include "models/time.h"
#include "models/umma_operands.h"
#include "models/umma_sparsity.h"

namespace sm100::models {

Umma::Umma(int slot, Sm& sm, Accumulation accumulation, SharedMemory& smem, TensorMemory& tmem, Mbarrier& mbarrier,
           const DeviceProfile& profile, Jitter& jitter, Observer& observer)
    : slot_(slot),
      sm_(sm),
      numerics_(accumulation, smem, tmem),
      tmem_(tmem),
      smem_(smem),
      mbarrier_(mbarrier),
      profile_(profile),
      jitter_(jitter),
      observer_(observer) {}

void Umma::start_pair(Umma& even, Umma& odd) {
  even.peer_ = &odd, odd.peer_ = &even;
  const UmmaNumerics::Memories first{&even.smem_, &even.tmem_}, second{&odd.smem_, &odd.tmem_};
  even.numerics_.set_pair(first, second);
  odd.numerics_.set_pair(first, second);
}

void Umma::start_cta() {
  peer_ = nullptr;
  last_d_ = {};
  accepted_.clear(), copies_.clear();
  issued_.clear();
}

// ---- accept

void Umma::mma(const MmaCommand& command, Cycles at) {
  MmaOperation operation;
  if (!check(command, operation)) return;
  check_written(command, operation);
  const double start =
      std::max({double(at), sm_.tensor_pipe.free, command.cta_group == 2 ? peer_->sm_.tensor_pipe.free : 0});
  const bool filling = sm_.shared_memory.fill_end() > double(at) ||
                       (command.cta_group == 2 && peer_->sm_.shared_memory.fill_end() > double(at));
  const double interval = initiation_interval(operation.m, operation.n, operation.a_in_tmem, command.cta_group,
                                              filling, command.modifiers.sp);
  const double done =
      start + execution_latency(operation.m, operation.n, operation.a_in_tmem, command.cta_group, command.kind);
  take_pipe(start, interval, done, command.cta_group);
  for (Umma* cta : {this, command.cta_group == 2 ? peer_ : nullptr})
    if (cta) cta->sm_.tensor_pipe.busy_cycles += interval;
  join_group(start, done, command.source);
  group_column_ = std::min(group_column_, command.d.column());
  const uint32_t columns = accumulator_columns(layout_of(operation), operation.idesc.n);
  group_end_column_ = std::max(group_end_column_, command.d.column() + columns);
  if (sm_.with_data) accepted_.push_back({operation, sequence_, group_, command.source});
  if (sm_.provenance)
    sm_.provenance->multiplied(command.cta_group == 1 ? participants(slot_, sm_.id)
                                                      : participants(slot_, sm_.id, peer_->slot_, peer_->sm_.id),
                               operation, command.source);
}

void Umma::take_pipe(double start, double interval, double done, int cta_group) {
  for (Umma* cta : {this, cta_group == 2 ? peer_ : nullptr}) {
    if (!cta) continue;
    cta->sm_.tensor_pipe.free = start + interval;
    cta->last_done_ = std::max(cta->last_done_, done);
  }
}

void Umma::join_group(double start, double done, const Source& source) {
  Issued& thread = issued(source);
  thread.done = std::max(thread.done, done);
  thread.sequence = ++sequence_;
  if (group_open_) return;
  group_open_ = true;
  group_begin_ = Cycles(start);
  group_flow_ = source.flow;
  group_column_ = kTmemColumns, group_end_column_ = 0;
}

void Umma::commit(uint32_t barrier, Cycles at, const Source& source, Arrive arrive, uint16_t multicast) {
  Issued& covered = issued(source);
  if (covered.sequence == 0) {
    const auto other = std::find_if(issued_.begin(), issued_.end(), [](const Issued& i) { return i.sequence > 0; });
    const int thread = other == issued_.end() ? 0 : other->thread;
    observer_.violation(
        {"TC12",
         "tcgen05.commit by a thread that has issued no tcgen05 operation: it arrives at once" +
             (other == issued_.end() ? std::string()
                                     : fmt::format("; warp {}, lane {} has issued MMAs", thread / 32, thread % 32)),
         now(), slot_, barrier, source, true});
  }
  const Cycles finished = std::max(at, Cycles(std::llround(covered.done)));
  const Cycles late = jitter_.delay(JitterSite::umma_commit, source, {.to = -1, .barrier = barrier});
  // Nothing is promised of commits to different barriers.
  Cycles& before = covered.committed[barrier];
  const Cycles arrives = std::max(before, finished + Cycles(profile_.umma.commit_cycles) + late);
  before = arrives;
  Source by = source;
  by.kind = ActorKind::umma;
  by.flow = observer_.new_flow();
  if (group_open_ && covered.sequence == sequence_) {
    observer_.unit_span({.kind = UnitSpanKind::umma,
                         .begin = group_begin_,
                         .end = finished,
                         .slot = slot_,
                         .barrier = barrier,
                         .flow_in = group_flow_,
                         .flow_out = by.flow,
                         .source = by,
                         .column = group_end_column_ > 0 ? int(group_column_) : -1,
                         .columns = group_end_column_ > 0 ? int(group_end_column_ - group_column_) : -1,
                         .multicast = multicast});
    covered.flow = by.flow;
    group_open_ = false;
  } else {  // nothing new: MMAs of an earlier commit are the cause, or, if they have finished, the committing role
            // itself
    by.flow = covered.done > double(at) && covered.flow != 0 ? covered.flow : source.flow;
  }
  ++commits_in_flight_;
  ++group_;
  sm_.tensor_pipe.completions.post(
      arrives, [this, barrier, by, last = covered.sequence, arrive = std::move(arrive)]() mutable {
        --commits_in_flight_;
        retire_until(last);
        if (arrive)
          arrive(by);
        else
          mbarrier_.arrive(barrier, 1, by);
      });
}

bool Umma::check(const MmaCommand& command, MmaOperation& operation) {
  if (command.cta_group == 2 && !peer_) {
    observer_.violation({"TC8",
                         "tcgen05.mma.cta_group::2 by a CTA that has no peer: a pair is two neighbouring ranks",
                         now(), slot_, 0, command.source});
    return false;
  }
  return check_descriptors(command, operation) && check_tensor_memory(command, operation);
}

namespace {

/// Whatever check_descriptors() looks at.
bool same_descriptors(const MmaCommand& x, const MmaCommand& y) {
  return x.a == y.a && x.b == y.b && x.idesc.bits == y.idesc.bits && x.kind == y.kind &&
         x.cta_group == y.cta_group && x.a_in_tmem == y.a_in_tmem && x.scale_vec == y.scale_vec &&
         x.modifiers == y.modifiers;
}

/// Commands whose descriptors have been found right, with what they say.  It is the same on every SM and at any
/// time, and a kernel repeats a few dozen combinations, so all units share one table.
class KnownDescriptors {
 public:
  struct Entry {
    MmaCommand command;
    MmaOperation operation;
    bool known = false;
    bool with_data = false;  ///< found right for a run with data
    uint32_t smem_end = 0;   ///< and for CTAs whose shared memory ends there
  };
  /// The entry of the same descriptors, or else one to fill.
  Entry& at(const MmaCommand& c) {
    uint64_t mixed = (c.a.bits ^ (c.b.bits + c.idesc.bits) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    mixed ^= mixed >> 32;
    Entry* const place = &entries_[mixed % kPlaces * kEntriesPerPlace];
    for (Entry* e = place; e < place + kEntriesPerPlace; ++e)
      if (!e->known || same_descriptors(e->command, c)) return *e;
    return place[mixed / kPlaces % kEntriesPerPlace];
  }

 private:
  static constexpr size_t kPlaces = 64, kEntriesPerPlace = 8;
  std::vector<Entry> entries_ = std::vector<Entry>(kPlaces * kEntriesPerPlace);
};
thread_local KnownDescriptors known_descriptors;

/// "M 64, N 128; start address 0x400, leading byte offset 16, stride byte offset 256".
std::string reach_text(const MmaOperation& op, bool a, uint32_t end) {
  const SmemDescriptorFields& f = a ? op.a : op.b;
  std::string text = fmt::format("M {}, N {}; start address {:#x}, leading byte offset {}, stride byte offset {}",
                                 op.m, op.n, f.start_address, f.leading_byte_offset, f.stride_byte_offset);
  MmaOperation exchanged = op;
  SmemDescriptorFields& other = a ? exchanged.a : exchanged.b;
  std::swap(other.leading_byte_offset, other.stride_byte_offset);
  const bool both_count = swizzle_of_code(f.swizzle_code) == Swizzle::none;
  if (both_count && f.leading_byte_offset != f.stride_byte_offset &&
      UmmaNumerics::operand_in_shared_memory(exchanged, a, end))
    text += "; with the two offsets exchanged it lies inside";
  return text;
}

}  // namespace

bool Umma::check_descriptors(const MmaCommand& command, MmaOperation& operation) {
  KnownDescriptors::Entry& entry = known_descriptors.at(command);
  if (!entry.known || !same_descriptors(entry.command, command) || entry.with_data != sm_.with_data ||
      entry.smem_end != smem_.end()) {
    if (!decode_descriptors(command, operation)) return false;
    entry = {command, operation, true, sm_.with_data, smem_.end()};
  }
  operation = entry.operation;
  operation.d = command.d;
  operation.a_tmem = command.a_tmem;
  operation.sfa = command.sfa, operation.sfb = command.sfb;
  operation.enable_input_d = command.enable_input_d;
  operation.scale_input_d = command.scale_input_d;
  operation.metadata = command.metadata;
  operation.disabled_lanes = command.disabled_lanes;
  operation.zero_columns = command.zero_columns;
  return true;
}

/// Decodes and checks what does not depend on the SM's state.
bool Umma::decode_descriptors(const MmaCommand& command, MmaOperation& operation) {
  auto violate = [&](const char* id, std::string message) {
    observer_.violation({id, std::move(message), now(), slot_, 0, command.source});
    return false;
  };
  const MmaKind kind = command.kind;
  const InstrDescriptorFields idesc = decode(command.idesc, command.kind);
  if (!scale_vec_allowed(kind, command.scale_vec))
    return violate("TC5",
                   fmt::format("tcgen05.mma.kind::{}{}: {}", sm100::name(kind),
                               command.scale_vec == ScaleVec::none
                                   ? std::string(" without .block_scale")
                                   : fmt::format(".block_scale.scale_vec::{}", sm100::name(command.scale_vec)),
                               message(InstrDescriptorError::scale_vec)));
  const auto error = validate(idesc, command.kind, command.cta_group, command.scale_vec, command.modifiers);
  if (error == InstrDescriptorError::shift) return violate("not-implemented", message(error));
  const bool seen = error == InstrDescriptorError::n_of_shape && !sm_.with_data &&
                    executes_all_the_same(idesc, command.kind, command.cta_group);
  if (error != InstrDescriptorError::none && !seen)
    return violate(
        "TC5",
        fmt::format("instruction descriptor {:#010x} (M {}, N {}{}): {}", command.idesc.bits, idesc.m, idesc.n,
                    error != InstrDescriptorError::scale_type
                        ? ""
                        : fmt::format(", {}X {}, ids {} and {}", int(command.scale_vec),
                                      idesc.scale_ue8m0 ? "ue8m0" : "ue4m3", idesc.sfa_id, idesc.sfb_id),
                    message(error)));

  if (seen)
    observer_.violation(
        {"TC5",
         fmt::format("tcgen05.mma.kind::i8.cta_group::2 with N = {}: PTX allows multiples of 32; a B200 has been "
                     "seen to execute it",
                     idesc.n),
         now(), slot_, 0, command.source, true});
  operation.kind = command.kind;
  operation.cta_group = command.cta_group;
  operation.scale_vec = command.scale_vec;
  operation.modifiers = command.modifiers;
  operation.idesc = idesc;
  operation.m = int(idesc.m);
  operation.n = int(idesc.n);
  operation.a_in_tmem = command.a_in_tmem;
  operation.a = decode(command.a);
  operation.b = decode(command.b);
  auto check_operand = [&](char which, const SmemDescriptorFields& f) {
    const auto error = validate(f);
    return error == SmemDescriptorError::none ||
           violate("TC6", fmt::format("shared-memory descriptor of {}: {}", which, message(error)));
  };
  if (!command.a_in_tmem && !check_operand('A', operation.a)) return false;
  if (!check_operand('B', operation.b)) return false;
  if (!UmmaNumerics::layouts_modelled(operation))
    return violate("not-implemented",
                   command.modifiers.sp ? "not implemented: tcgen05.mma.sp with M = 128 over a pair, or with this "
                                          "operand layout"
                                        : "not implemented: tcgen05.mma with this operand layout");

  for (const bool a : {true, false}) {
    if (a && command.a_in_tmem) continue;
    if (!UmmaNumerics::operand_in_shared_memory(operation, a, smem_.end()))
      return violate("TC7",
                     fmt::format("tcgen05.mma reads part of operand {} outside the CTA's shared memory "
                                 "({:#x} to {:#x}): {}",
                                 a ? 'A' : 'B', kSmemUserBase, smem_.end(), reach_text(operation, a, smem_.end())));
  }
  return true;
}

bool Umma::check_scales(const MmaCommand& command, const MmaOperation& op) {
  return check_scales_in(command, "SFA", scale_factors_a(op.idesc, op.cta_group, op.scale_vec, command.sfa)) &&
         check_scales_in(command, "SFB", scale_factors_b(op.idesc, op.cta_group, op.scale_vec, command.sfb));
}

bool Umma::check_scales_in(const MmaCommand& command, const char* name, const ScaleFactors& where) {
  const auto violate = [&](const char* id, std::string message) {
    observer_.violation({id, std::move(message), now(), slot_, 0, command.source});
    return false;
  };
  const uint32_t column = where.address.column(), columns = where.columns;
  for (const TensorMemory* tmem : {&tmem_, command.cta_group == 2 ? &peer_->tmem_ : nullptr})
    if (tmem && (column + columns > kTmemColumns || !tmem->allocated(column, columns)))
      return violate("TC1",
                     fmt::format("tcgen05.mma reads {} from columns {} to {}{}: not inside a live allocation", name,
                                 column, column + columns - 1, tmem == &tmem_ ? "" : " of the peer CTA"));
  return where.address.lane() == 0 ||
         violate("TC2", fmt::format("tcgen05.mma with {} at lane {}: scale factors are in all lanes, allowed is 0",
                                    name, where.address.lane()));
}

bool Umma::check_metadata(const MmaCommand& command, const MmaOperation& op) {
  const auto violate = [&](const char* id, std::string message) {
    observer_.violation({id, std::move(message), now(), slot_, 0, command.source});
    return false;
  };
  const uint32_t column = metadata_column(op), columns = metadata_columns(op.kind);
  for (const TensorMemory* tmem : {&tmem_, command.cta_group == 2 ? &peer_->tmem_ : nullptr})
    if (tmem && (column + columns > kTmemColumns || !tmem->allocated(column, columns)))
      return violate("TC1", fmt::format("tcgen05.mma reads sparsity metadata from columns {} to {}{}: not inside a "
                                        "live allocation",
                                        column, column + columns - 1, tmem == &tmem_ ? "" : " of the peer CTA"));
  return command.metadata.lane() == command.d.lane() ||
         violate("TC2", fmt::format(
                            "tcgen05.mma with sparsity metadata at lane {} and D at lane {}: they must be the same",
                            command.metadata.lane(), command.d.lane()));
}

bool Umma::check_tensor_memory(const MmaCommand& command, const MmaOperation& operation) {
  auto violate = [&](const char* id, std::string message, std::vector<Place> related = {}) {
    Violation v{id, std::move(message), now(), slot_, 0, command.source};
    v.related = std::move(related);
    observer_.violation(v);
    return false;
  };
  if (command.a_in_tmem) {
    const uint32_t a_column = command.a_tmem.column();
    if (a_column + kOperandColumns > kTmemColumns || !tmem_.allocated(a_column, kOperandColumns))
      return violate("TC1", fmt::format("tcgen05.mma reads A from columns {} to {}: not inside a live allocation",
                                        a_column, a_column + kOperandColumns - 1));
    if (command.a_tmem.lane() != command.d.lane())
      return violate("TC2", fmt::format("tcgen05.mma with A at lane {} and D at lane {}: they must be the same",
                                        command.a_tmem.lane(), command.d.lane()));
  }
  if (is_block_scaled(command.kind) && !check_scales(command, operation)) return false;
  if (command.modifiers.sp && !check_metadata(command, operation)) return false;
  if (column_shift(command.zero_columns) != 0 && any_zero_column(command.zero_columns))
    return violate("not-implemented", message(InstrDescriptorError::shift));
  const uint32_t column = command.d.column();
  const DataPathLayout layout = layout_of(operation);
  const uint32_t columns = accumulator_columns(layout, operation.idesc.n);
  for (const TensorMemory* tmem : {&tmem_, command.cta_group == 2 ? &peer_->tmem_ : nullptr})
    if (tmem && (column + columns > kTmemColumns || !tmem->allocated(column, columns)))
      return violate(
          "TC1",
          fmt::format("tcgen05.mma with N = {} writes D to columns {} to {}{}: not inside a live allocation",
                      operation.n, column, column + columns - 1, tmem == &tmem_ ? "" : " of the peer CTA"),
          tmem->allocations_told());
  const uint32_t lane = command.d.lane();
  if (lane != 0 && !(layout == DataPathLayout::f && lane == 16))
    return violate("TC2", fmt::format("tcgen05.mma with D at lane {}: allowed is {}", lane,
                                      layout == DataPathLayout::f ? "0 or 16" : "0"));
  return true;
}

namespace {

/// Lanes of D, or of A and metadata in tensor memory, in the pair's CTA `cta`: M rows in the layout of the MMA.
TensorMemory::LaneGroups rows_of(const MmaOperation& op, uint32_t cta) {
  const DataPathLayout layout = layout_of(op);
  uint32_t groups = 0;
  for (int m = 0; m < op.m; m += 16)
    for (int n = 0; n < op.n; n += op.n / 4) {
      const AccumulatorCell at = accumulator_cell(layout, m, n, op.n);
      if (at.cta == cta) groups |= 1u << ((op.d.lane() + at.lane) / 16);
    }
  return TensorMemory::LaneGroups(groups);
}

/// Of these the groups in which a lane of D is written.
TensorMemory::LaneGroups written_rows_of(const MmaOperation& op, uint32_t cta) {
  uint32_t groups = rows_of(op, cta);
  for (uint32_t group = 0; group < kTmemLanes / 16; ++group)
    if ((op.disabled_lanes[cta * 4 + group / 2] >> (16 * (group % 2)) & 0xffff) == 0xffff) groups &= ~(1u << group);
  return TensorMemory::LaneGroups(groups);
}

constexpr TensorMemory::LaneGroups kAllLanes = 0xff;

}  // namespace

void Umma::check_written(const MmaCommand& command, const MmaOperation& op) {
  TensorMemory* const of_cta[] = {op.cta_group == 2 && slot_ > peer_->slot_ ? &peer_->tmem_ : &tmem_,
                                  op.cta_group == 2 && slot_ < peer_->slot_ ? &peer_->tmem_ : &tmem_};
  const auto check_read = [&](int cta, const char* what, TmemAddr first, uint32_t columns,
                              TensorMemory::LaneGroups lanes) {
    if (!of_cta[cta]->written(first.column(), columns, lanes))
      of_cta[cta]->check_written(first.column(), columns, lanes, what, command.source);
  };
  // Not without data: microbenchmarks multiply whatever lies in tensor memory.
  for (int cta = 0; sm_.with_data && cta < op.cta_group; ++cta) {
    if (op.a_in_tmem)
      check_read(cta, "tcgen05.mma reads A from", op.a_tmem, kOperandColumns, rows_of(op, uint32_t(cta)));
    if (op.modifiers.sp)
      check_read(cta, "tcgen05.mma reads sparsity metadata from",
                 TmemAddr::at(op.metadata.lane(), metadata_column(op)), metadata_columns(op.kind),
                 rows_of(op, uint32_t(cta)));
    if (!is_block_scaled(op.kind)) continue;
    const ScaleFactors a = scale_factors_a(op.idesc, op.cta_group, op.scale_vec, op.sfa),
                       b = scale_factors_b(op.idesc, op.cta_group, op.scale_vec, op.sfb);
    check_read(cta, "tcgen05.mma reads SFA from", op.sfa, a.columns, kAllLanes);
    check_read(cta, "tcgen05.mma reads SFB from", op.sfb, b.columns, kAllLanes);
  }
  const WrittenD d{command.d.value, op.m,          op.n,
                   layout_of(op),   tmem_.epoch(), op.cta_group == 2 ? peer_->tmem_.epoch() : 0};
  if (d == last_d_ && !op.disables_lanes()) return;
  const uint32_t columns = accumulator_columns(layout_of(op), uint32_t(op.n));
  for (int cta = 0; cta < op.cta_group; ++cta) {
    const TensorMemory::LaneGroups rows = written_rows_of(op, uint32_t(cta));
    if (op.enable_input_d && !of_cta[cta]->written(op.d.column(), columns, rows))
      of_cta[cta]->check_written(op.d.column(), columns, rows, "tcgen05.mma adds to", command.source);
    of_cta[cta]->wrote(op.d.column(), columns, rows);
    of_cta[cta]->written_by(op.d.column(), columns, fmt::format("a tcgen05.mma with M = {}, N = {}", op.m, op.n),
                            command.source);
  }
  last_d_ = op.disables_lanes() ? WrittenD{} : d;
}

// ---- cost

double Umma::initiation_interval(int m, int n, bool a_in_tmem, int cta_group, bool filling, bool sparse) const {
  const auto& umma = profile_.umma;
  // Two SMs on M = 128 take half of the columns each.
  const double columns = cta_group == 2 && m == 128 ? n / 2.0 : double(n);
  const double tensor = columns / umma.columns_per_cycle;
  const double conflict = filling ? 1 + umma.smem_fill_conflict : 1;
  const int b_share = sparse ? 2 : 1;
  if (m == 32) m = 64;
  if (cta_group == 2) {
    if (a_in_tmem) return m == 128 ? std::max(tensor, umma.pair_ts_floor_m128_cycles) : tensor;
    const double narrow = n > umma.pair_narrow_max_n ? 0
                          : m == 128                 ? umma.pair_narrow_m128_cycles
                                                     : umma.pair_narrow_m256_cycles;
    const double operand_reads = double(m + n * b_share) / 2 * 32 / umma.smem_read_bytes_per_cycle;
    return std::max(tensor, (operand_reads + narrow) * conflict);
  }
  if (a_in_tmem) return tensor;  // B alone never limits
  // 32 bytes of K per row
  const double operand_reads = double(m + n * b_share) * 32 / umma.smem_read_bytes_per_cycle;
  const double floor = n > umma.ss_floor_max_n ? 0 : m == 64 ? umma.ss_floor_m64_cycles : umma.ss_floor_m128_cycles;
  return std::max({tensor, operand_reads * conflict, floor});
}

double Umma::execution_latency(int m, int n, bool a_in_tmem, int cta_group, MmaKind kind) const {
  const auto& umma = profile_.umma;
  if (m == 32) m = 64;
  const double fixed = cta_group == 1 ? umma.latency_cycles
                       : m == 256     ? umma.pair_latency_m256_cycles
                                      : umma.pair_latency_m128_cycles;
  // Measured from before elect.sync and the MMA's issue to after the wake-up.
  double cycles = fixed - profile_.issue.elect - profile_.issue.tcgen05_mma - umma.commit_cycles -
                  profile_.mbarrier.wakeup_cycles;
  if (kind == MmaKind::i8) cycles += cta_group == 1 ? umma.i8_cycles : umma.pair_i8_cycles;
  if (is_block_scaled(kind)) {
    cycles += cta_group == 1 && !a_in_tmem ? umma.scaled_ss_cycles : umma.scaled_cycles;
    if (a_in_tmem && n == 256 && m / cta_group == 128) cycles += umma.scaled_ts_n256_cycles;
  }
  const bool half = cta_group == 2 && m == 128;
  cycles += (half ? n / 2.0 : double(n)) / umma.columns_per_cycle;
  if (a_in_tmem) return cycles;
  if (half)
    return cycles + umma.pair_m128_ss_cycles + double(std::min(n, 128)) / umma.pair_m128_ss_columns_per_cycle;
  return cycles + double(m) / cta_group * 32 / umma.smem_a_read_bytes_per_cycle;
}

// ---- semantics

void Umma::retire_until(uint64_t sequence) {
  if (!sm_.with_data) return;
  std::vector<MmaOperation> finished;
  std::vector<Source> sources;
  while (!accepted_.empty() && accepted_.front().sequence <= sequence) {
    retire_copies(accepted_.front().sequence);
    const uint64_t group = accepted_.front().group;
    const uint64_t last = copies_.empty() ? sequence : std::min(sequence, copies_.front().sequence);
    finished.clear(), sources.clear();
    for (; !accepted_.empty() && accepted_.front().group == group && accepted_.front().sequence <= last;
         accepted_.pop_front())
      finished.push_back(accepted_.front().operation), sources.push_back(accepted_.front().source);
    numerics_.execute(finished);
    const auto suspect = [&](const char* id, const char* what, const UmmaNumerics::OperandError& error) {
      observer_.violation({.id = id,
                           .message = what + error.text,
                           .time = now(),
                           .slot = slot_,
                           .source = sources[error.operation],
                           .suspect = true});
    };
    if (const auto error = numerics_.take_scale_error())
      suspect("TC14", "tcgen05.mma reads scale factors whose copies differ: ", *error);
    if (const auto error = numerics_.take_metadata_error())
      suspect("TC19", "tcgen05.mma.sp reads sparsity metadata that PTX does not define: ", *error);
  }
  retire_copies(sequence);
}

}  // namespace sm100::models
