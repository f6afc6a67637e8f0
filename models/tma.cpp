// SPDX-License-Identifier: Apache-2.0
#include "models/tma.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/isa/number_formats.h"
#include "models/provenance.h"
#include "models/time.h"
#include "models/tma_rows.h"

namespace sm100::models {

Tma::Tma(int slot, Sm& sm, SharedMemory& smem, Mbarrier& mbarrier, MemorySystem& memory,
         const DeviceProfile& profile, Jitter& jitter, Observer& observer)
    : slot_(slot),
      sm_(sm),
      smem_(smem),
      mbarrier_(mbarrier),
      memory_(memory),
      profile_(profile),
      jitter_(jitter),
      observer_(observer) {}

TensorCopy linear_copy(GlobalAddr global, uint32_t smem, uint32_t bytes) {
  TensorCopy copy;
  copy.linear = true;
  copy.map.data_type = TensorMapDataType::uint8;
  copy.map.rank = 1;
  copy.map.global_address = global.value;
  copy.map.global_dim[0] = copy.map.box_dim[0] = bytes;
  copy.map.element_stride[0] = 1;
  copy.smem = smem;
  return copy;
}

// ---- accept

namespace {
const char* name_of(const TensorCopy& copy, bool is_load) {
  if (is_load) return copy.linear ? "bulk copy into shared memory" : "tensor load";
  if (copy.reduction) return copy.linear ? "bulk reduction" : "tensor reduction";
  return copy.linear ? "bulk copy to global memory" : "tensor store";
}

/// "; its tensor map begins at B and has 512 x 8 elements, 1,024 bytes from a row to the next".
std::string map_text(const MemorySystem& memory, const TensorCopy& copy) {
  if (copy.linear || copy.map.rank == 0) return {};
  const MemorySystem::Placed* const tensor = memory.nearest({copy.map.global_address});
  const bool known = tensor && tensor->holds(copy.map.global_address);
  return fmt::format(
      "; its tensor map begins {}{} and has {} elements{}", known ? "in " : "outside of every tensor",
      known ? tensor->name : "", fmt::join(copy.map.global_dim, copy.map.global_dim + copy.map.rank, " x "),
      copy.map.rank > 1 ? fmt::format(", {} bytes from a row to the next", copy.map.global_stride[0]) : "");
}
}  // namespace

void Tma::load(const TensorCopy& copy, Cycles at) {
  if (const std::optional<MemorySystem::Arrival> arrived = fetch(copy, at)) deliver(copy, at, *arrived, {});
}

MemoryPort Tma::port() const { return {.sm = sm_.id, .cluster = cluster_, .in_flight = sm_.tma.in_flight}; }

std::optional<MemorySystem::Arrival> Tma::fetch(const TensorCopy& copy, Cycles at) {
  if (!check(copy, true)) return std::nullopt;
  record(copy, false);
  MemorySystem::Arrival arrival = ask(copy, at);
  const Cycles late = jitter_.delay(JitterSite::tma_load, copy.source, {.to = -1, .barrier = copy.barrier});
  return MemorySystem::Arrival{arrival.first + late, arrival.last + late};
}

/// The engine asks for one copy after the other: between which cycles it asks for this one.
Tma::Asking Tma::take_engine(const TensorCopy& copy, uint64_t sectors, uint64_t lines, Cycles at) {
  const int latency = profile_.tma.load_latency_cycles + (copy.map.im2col ? profile_.tma.im2col_latency_cycles : 0);
  const double from = std::max(sm_.tma.asked, double(at + Cycles(latency)));
  sm_.tma.asked = from + double(sectors * 32) / profile_.tma.request_bytes_per_cycle;
  if (const double between = profile_.tma.store_cycles_between; between > 0) {
    const double cycles = load_row_cycles(copy, profile_),
                 rows = copy.linear ? cycles : double(box_lines(copy.map));
    sm_.tma.asked = std::max(sm_.tma.asked, sm_.tma.rows.load(from, cycles, between * rows));
  }
  if (const double each = profile_.global_store.request_cycles; each > 0)
    sm_.tma.asked = std::max(sm_.tma.asked, sm_.global_stores.ask(at, from, double(lines), each));
  return {Cycles(from), Cycles(sm_.tma.asked)};
}

MemorySystem::Request& Tma::request_of(const TensorCopy& copy) {
  MemorySystem::Request& request = memory_.box(box_id(copy));
  if (!memory_.is_held(request, port())) gather(request, copy);
  return request;
}

MemorySystem::Arrival Tma::ask(const TensorCopy& copy, Cycles at) {
  MemorySystem::Request& request = request_of(copy);
  const Asking asking = take_engine(copy, request.sectors, request.lines, at);
  MemoryPort asks = port();
  // An H200 asks L2 for what multicast boxes need, also where other clusters ask for the same (docs/silicon.md).
  if (profile_.memory.merge_in_gpc != 0 && copy.multicast != 0) asks.cluster = -1;
  MemorySystem::Arrival arrival = memory_.read(request, asking.from, asking.until, asks);
  arrival.first += Cycles(std::llround(double(request.lines) * profile_.tma.load_latency_cycles_per_line));
  return {arrival.first, std::max(arrival.first, arrival.last)};
}

void Tma::prefetch(const TensorCopy& copy, Cycles at) {
  if (!check(copy, true, /*uses_smem=*/false)) return;
  const uint64_t bytes = transfer_bytes(copy.map);
  if (!copy.linear) return prefetch_piece(copy, bytes, at);
  for (uint64_t done = 0; done < bytes; done += kPrefetchPiece) {
    const uint64_t piece = std::min(bytes - done, kPrefetchPiece);
    TensorCopy part = linear_copy(GlobalAddr{copy.map.global_address + done}, 0, uint32_t(piece));
    part.source = copy.source;
    prefetch_piece(part, piece, at);
  }
}

void Tma::prefetch_piece(const TensorCopy& copy, uint64_t bytes, Cycles at) {
  if (sm_.tma.asked <= double(at + kPrefetchAhead)) {
    ask(copy, at);
    return;
  }
  const Asking asking = take_engine(copy, bytes / 32, (bytes - 1) / uint64_t(profile_.memory.line_bytes) + 1, at);
  sm_.tma.completions.post(asking.from, [this, asking, number = new_copy(copy, at, {}, 0)] {
    memory_.read(request_of(copies_[number].operands), asking.from, asking.until, port());
    free_copies_.push_back(number);
  });
}

Cycles Tma::read_shared(uint32_t bytes, Cycles at) {
  const Cycles start = at + Cycles(profile_.tma.store_read_latency_cycles);
  const double slots = std::ceil(double(bytes) / profile_.tma.sector_bytes);
  drain(start, slots / profile_.tma.store_sectors_per_cycle);
  const Cycles done = Cycles(std::ceil(sm_.tma.drain_free));
  stores_read_done_ = std::max(stores_read_done_, done);
  return done;
}

std::vector<Tma::InFlight> Tma::loads_in_flight() const {
  std::vector<InFlight> all;
  for (const uint32_t number : loads_) {
    const Copy& copy = copies_[number];
    all.push_back({copy.operands.barrier, uint32_t(transfer_bytes(copy.operands.map)), copy.issued,
                   copy.operands.source, copy.to.signal_slot});
  }
  return all;
}

uint32_t Tma::new_copy(const TensorCopy& operands, Cycles issued, Delivery to, uint64_t flow) {
  if (free_copies_.empty()) free_copies_.push_back(uint32_t(copies_.size())), copies_.emplace_back();
  const uint32_t number = free_copies_.back();
  free_copies_.pop_back();
  Copy& copy = copies_[number];
  copy.operands = operands, copy.issued = issued, copy.to = std::move(to), copy.flow = flow;
  return number;
}

void Tma::deliver(const TensorCopy& copy, Cycles issued, MemorySystem::Arrival arrival, Delivery to) {
  if (!to.signal) to.signal = &mbarrier_, to.signal_slot = slot_;
  const uint32_t number = new_copy(copy, issued, std::move(to), 0);
  copies_[number].last_arrives = arrival.last;
  loads_.push_back(number);
  sm_.tma.in_flight += transfer_bytes(copy.map);
  // Row slots are taken when the data begin to arrive, so that a copy may overtake one that waits for HBM: loads
  // are unordered.
  sm_.tma.completions.post(arrival.first, [this, number] { fill(number); });
}

void Tma::fill(uint32_t number) {
  const TensorCopy& copy = copies_[number].operands;
  sm_.tma.fill_free = std::max(sm_.tma.fill_free, double(now())) + load_row_cycles(copy, profile_);
  // Rows fill shared memory as they come; the last may come when all others are there.
  const double last = double(copies_[number].last_arrives) + 1 / profile_.tma.load_rows_per_cycle;
  const Cycles done = Cycles(std::ceil(std::max(sm_.tma.fill_free, last)));
  sm_.shared_memory.filled_until(sm_.tma.fill_free);
  sm_.shared_memory.keep(double(now()), std::round(port_cycles(copy, profile_)));
  sm_.tma.completions.post(done, [this, number, done] {
    land(number, done);
    copies_[number].to = {};
    free_copies_.push_back(number);
  });
}

void Tma::land(uint32_t number, Cycles done) {
  auto& [copy, issued, to, no_flow, arrived] = copies_[number];
  const uint32_t bytes = uint32_t(transfer_bytes(copy.map));  // the full box, also where it is out of bounds
  loads_.erase(std::find(loads_.begin(), loads_.end(), number));
  sm_.tma.in_flight -= bytes;
  if (to.lands && !to.lands(copy)) return;
  filled_bytes_ += bytes;
  if (sm_.with_data) move_load(copy);
  if (sm_.provenance) sm_.provenance->landed(slot_, copy);
  Source source = copy.source;
  source.kind = ActorKind::tma;
  source.lands_on = int16_t(slot_);
  source.flow = observer_.new_flow();
  observer_.unit_span(span_of(UnitSpanKind::tma_load, copy, issued, done, source.flow, source));
  to.signal->complete_tx(copy.barrier, bytes, source);
}

UnitSpan Tma::span_of(UnitSpanKind kind, const TensorCopy& copy, Cycles begin, Cycles end, uint64_t flow,
                      const Source& source) const {
  return {.kind = kind,
          .begin = begin,
          .end = end,
          .slot = slot_,
          .barrier = copy.barrier,
          .bytes = int64_t(transfer_bytes(copy.map)),
          .flow_in = copy.source.flow,
          .flow_out = flow,
          .source = source,
          .tensor = copy.map.global_address,
          .dimensions = coordinate_count(copy.map),
          .coordinates = copy.coords,
          .multicast = copy.multicast};
}

void Tma::store(const TensorCopy& copy, Cycles at) {
  if (!check(copy, false)) return;
  const Cycles start =
      at + Cycles(profile_.tma.store_read_latency_cycles) + jitter_.delay(JitterSite::tma_store, copy.source);
  drain(start, store_row_cycles(copy, profile_));
  record(copy, true);
  // Memory that cannot keep up holds the reads of shared memory back.
  const Cycles accepted = memory_.accept(written(copy), start, port());
  sm_.tma.drain_free = std::max(sm_.tma.drain_free, double(accepted));
  const Cycles read_done = Cycles(std::ceil(sm_.tma.drain_free));
  const Cycles visible = memory_.visible(read_done) + jitter_.delay(JitterSite::store_visible, copy.source);
  sm_.shared_memory.keep(double(now()), std::round(port_cycles(copy, profile_)));

  Group& group = open_group(copy.source.warp, copy.source.lane);
  const uint64_t flow = observer_.new_flow();
  if (read_done > group.read_done) group.read_done = read_done, group.last_read = flow;
  if (visible > group.visible) group.visible = visible, group.last_visible = flow;
  stores_read_done_ = std::max(stores_read_done_, read_done);
  stores_visible_ = std::max(stores_visible_, visible);
  sm_.tma.completions.post(read_done, [this, read_done, number = new_copy(copy, at, {}, flow)] {
    const Copy& stored = copies_[number];
    if (sm_.with_data) move_store(stored.operands);
    if (sm_.provenance) sm_.provenance->stored(slot_, stored.operands);
    Source source = stored.operands.source;
    source.kind = ActorKind::tma;
    observer_.unit_span(
        span_of(UnitSpanKind::tma_store, stored.operands, stored.issued, read_done, stored.flow, source));
    free_copies_.push_back(number);
  });
}

void Tma::drain(Cycles start, double cycles) {
  const double from = std::max(sm_.tma.drain_free, double(start));
  sm_.tma.drain_free = profile_.tma.store_cycles_between > 0 ? sm_.tma.rows.store(from, cycles) : from + cycles;
}

Tma::Group& Tma::open_group(int warp, int lane) {
  std::vector<ThreadGroups>& threads = groups_[unsigned(warp) % groups_.size()];
  lane = std::max(lane, 0);  // -1: nobody cares which
  const auto same = [=](const ThreadGroups& t) { return t.lane == lane; };
  auto thread = std::find_if(threads.begin(), threads.end(), same);
  if (thread == threads.end()) thread = threads.insert(thread, {.lane = lane, .open = {}, .committed = {}});
  return thread->open;
}

void Tma::commit_group(int warp, uint32_t lanes) {
  for (ThreadGroups& t : groups_[size_t(warp)]) {
    if (!(lanes >> t.lane & 1)) continue;
    if (!t.committed.empty()) {  // groups complete in commit order
      const Group& before = t.committed.back();
      if (before.read_done > t.open.read_done)
        t.open.read_done = before.read_done, t.open.last_read = before.last_read;
      if (before.visible > t.open.visible)
        t.open.visible = before.visible, t.open.last_visible = before.last_visible;
    }
    t.committed.push_back(t.open);
    t.open = {};
  }
}

/// The latest group that has to be finished; nullptr: none has.
const Tma::Group* Tma::awaited_group(int warp, uint32_t lanes, int pending, bool read_only) const {
  const Group* latest = nullptr;
  for (const ThreadGroups& t : groups_[size_t(warp)]) {
    if (!(lanes >> t.lane & 1) || int(t.committed.size()) <= pending) continue;
    const Group& group = t.committed[t.committed.size() - size_t(pending) - 1];
    const auto done = [=](const Group& g) { return read_only ? g.read_done : g.visible; };
    if (!latest || done(group) > done(*latest)) latest = &group;
  }
  return latest;
}

Cycles Tma::groups_done(int warp, uint32_t lanes, int pending, bool read_only) const {
  const Group* group = awaited_group(warp, lanes, pending, read_only);
  return !group ? 0 : read_only ? group->read_done : group->visible;
}

uint64_t Tma::last_of_groups(int warp, uint32_t lanes, int pending, bool read_only) const {
  const Group* group = awaited_group(warp, lanes, pending, read_only);
  return !group ? 0 : read_only ? group->last_read : group->last_visible;
}

bool Tma::check(const TensorCopy& copy, bool is_load, bool uses_smem) {
  if (copy.linear) return check_linear(copy, is_load, uses_smem);
  const TensorMapFields& map = copy.map;
  auto violate = [&](const char* id, std::string message) {
    observer_.violation({id, std::move(message), now(), slot_, copy.barrier, copy.source});
    return false;
  };
  const char* what = name_of(copy, is_load);
  if (const TensorMapError map_error = validate(map); map_error != TensorMapError::none)
    return violate("TM1", fmt::format("{}: tensor map is invalid: {}", what, message(map_error)));
  if (const TensorMapError not_this_way = validate_direction(map, is_load); not_this_way != TensorMapError::none)
    return violate("TM1", fmt::format("{}: tensor map is of another direction: {}", what, message(not_this_way)));
  if (!modelled(map))
    return violate("not-implemented", fmt::format("not implemented: {} with interleave or FLIP_8B", what));
  if (uses_smem && copy.smem % 128 != 0)
    return violate("TM2", fmt::format("{} at shared address {:#x}: must be 128-byte aligned", what, copy.smem));
  if (uses_smem && !smem_.contains(copy.smem, smem_footprint(map)))
    return violate(
        "TM2", fmt::format("{} of {} bytes at shared address {:#x} leaves the CTA's shared memory (ends at {:#x})",
                           what, smem_footprint(map), copy.smem, smem_.end()));
  const CopyError error =
      is_load ? validate_load(map, copy.coords.data()) : validate_store(map, copy.coords.data());
  if (error != CopyError::none)
    return violate("TM10",
                   fmt::format("{} at coordinates ({}): {}", what,
                               fmt::join(copy.coords.begin(), copy.coords.begin() + coordinate_count(map), ", "),
                               message(error)));
  return true;
}

bool Tma::check_linear(const TensorCopy& copy, bool is_load, bool uses_smem) {
  constexpr uint32_t kUnit = 16;
  const uint64_t bytes = transfer_bytes(copy.map), global = copy.map.global_address;
  const char* what = name_of(copy, is_load);
  auto violate = [&](const char* id, std::string message) {
    observer_.violation({id, std::move(message), now(), slot_, copy.barrier, copy.source});
    return false;
  };
  if (bytes % kUnit != 0 || global % kUnit != 0)
    return violate("TM15", fmt::format("{} of {} bytes at global address {:#x}: size and address must be multiples "
                                       "of {}",
                                       what, bytes, global, kUnit));
  if (!uses_smem) return true;
  if (copy.smem % kUnit != 0)
    return violate("TM2",
                   fmt::format("{} at shared address {:#x}: must be {}-byte aligned", what, copy.smem, kUnit));
  if (!smem_.contains(copy.smem, bytes))
    return violate(
        "TM2", fmt::format("{} of {} bytes at shared address {:#x} leaves the CTA's shared memory (ends at {:#x})",
                           what, bytes, copy.smem, smem_.end()));
  return true;
}

// ---- what is asked of memory

/// Identifies the bytes of a box: FNV-1a over what decides them.
uint64_t Tma::box_id(const TensorCopy& copy) {
  uint64_t h = 0xcbf29ce484222325u;
  const auto mix = [&](uint64_t v) { h = (h ^ v) * 0x100000001b3u, h ^= h >> 29; };
  mix(copy.map.global_address);
  mix(uint64_t(copy.map.data_type));
  for (uint32_t i = copy.map.rank; i < coordinate_count(copy.map); ++i) mix(uint64_t(int64_t{copy.coords[i]}));
  for (uint32_t i = 0; copy.map.im2col && i < image_rank(copy.map); ++i)
    mix(uint64_t{uint32_t(copy.map.pixel_box_lower[i])} << 32 | uint32_t(copy.map.pixel_box_upper[i])),
        mix(uint64_t{1} << 63 | copy.map.im2col_offset[i]);
  for (uint32_t i = 0; i < copy.map.rank; ++i) {
    mix(uint64_t(int64_t{copy.coords[i]}));
    mix(copy.map.box_dim[i] | uint64_t{copy.map.element_stride[i]} << 32);
    mix(copy.map.global_dim[i]);
    mix(copy.map.global_stride[i]);
  }
  return h;
}

namespace {

/// Calls f(rows) for the rows that the box has in its tensor, all of dimension 1 at once; of a copy of bytes, for
/// its one row.
template <class F>
void for_each_rows(const TensorCopy& copy, F&& f) {
  const TensorMapFields& map = copy.map;
  const auto bytes_of = [&](int64_t n) { return global_bytes(map.data_type, uint64_t(n)); };
  const uint32_t lines = uint32_t(box_lines(map));
  const bool in_runs = map.rank > 1 && !map.four_rows && !map.im2col;
  const uint32_t run = in_runs ? box_extent(map, 1) : 1;
  // Those of a run that are in bounds: x = c1 + i * stride is in [0, dim).
  uint32_t from = 0, to = run;
  if (in_runs) {
    const int64_t stride = map.element_stride[1], c1 = copy.coords[1], dim = int64_t(map.global_dim[1]);
    if (c1 < 0) from = uint32_t(std::min<int64_t>(run, (-c1 + stride - 1) / stride));
    to = uint32_t(std::clamp<int64_t>((dim - c1 + stride - 1) / stride, from, run));
    if (dim <= c1) to = from;
  }
  if (from == to) return;
  const uint64_t distance = map.rank > 1 ? map.global_stride[0] * map.element_stride[1] : 0;
  for (uint32_t l = 0; l < lines; l += run) {
    const BoxLine line = box_line(map, copy.coords.data(), l + from);
    if (line.in_bounds && line.count > 0)
      f(GlobalRows{GlobalAddr{line.global_address + bytes_of(line.first)}, bytes_of(line.count), distance,
                   to - from});
  }
}

}  // namespace

void Tma::record(const TensorCopy& copy, bool store) const {
  AccessMap* const accesses = memory_.accesses();
  if (!accesses) return;
  const bool reduces = store && copy.reduction.has_value();  // as atomics do
  for_each_rows(copy, [&](const GlobalRows& rows) {
    for (uint32_t row = 0; row < rows.rows; ++row) {
      const uint64_t at = rows.first.value + row * rows.distance;
      if (copy.byte_mask == 0xffff || !store) {
        accesses->add(at, rows.bytes, !store || reduces, store, reduces);
        continue;
      }
      for (uint64_t i = 0; i < rows.bytes; ++i)
        if (copy.byte_mask >> i % 16 & 1) accesses->add(at + i, 1, AccessClass::write);
    }
  });
}

void Tma::gather(MemorySystem::Request& request, const TensorCopy& copy) {
  memory_.start(request, port());
  for_each_rows(copy, [&](const GlobalRows& rows) { memory_.touch(request, rows, port()); });
}

MemorySystem::Write Tma::written(const TensorCopy& copy) {
  MemorySystem::Write write;
  for_each_rows(copy, [&](const GlobalRows& rows) { memory_.touch(write, rows); });
  return write;
}

// ---- semantics

void reduce_bytes(const TensorCopy::Reduction& reduction, uint8_t* memory, const uint8_t* values, uint64_t bytes) {
  const uint32_t size = bytes_of(reduction.type);
  for (uint64_t at = 0; at + size <= bytes; at += size) {
    uint64_t old = 0, value = 0;
    std::memcpy(&old, memory + at, size);
    std::memcpy(&value, values + at, size);
    value = reduce(reduction.op, reduction.type, old, value);
    std::memcpy(memory + at, &value, size);
  }
}

namespace {

constexpr uint32_t kPackedElements = 16, kPackedChunk = 16;  ///< elements and bytes of the ALIGN16B types' unit

/// Calls copy(place in shared memory, offset from `at`, bytes) for `size` bytes from linear shared offset `at` on,
/// in runs that the swizzle keeps whole: 16 bytes, which every row of a swizzled box is made of, as a constant.
template <class Copy>
void for_each_swizzled_run(Swizzle swizzle, uint32_t at, uint32_t size, Copy&& copy) {
  constexpr uint32_t kRun = 16;
  if (at % kRun == 0 && size % kRun == 0) {
    for (uint32_t done = 0; done < size; done += kRun)
      copy(swizzle_address(swizzle, at + done), done, std::integral_constant<uint32_t, kRun>());
    return;
  }
  for (uint32_t done = 0; done < size;) {
    const uint32_t run = std::min(size - done, kRun - (at + done) % kRun);
    copy(swizzle_address(swizzle, at + done), done, run);
    done += run;
  }
}

/// Loads of TFLOAT32 round to 10 mantissa bits, nearest even, and make every NaN 0x7fffe000 (measured on
/// H200, docs/instructions.md).  Elements that are filled are not loaded: their pattern stays (measured on H200).
void round_to_tf32(uint8_t* elements, uint64_t bytes) {
  for (uint64_t i = 0; i + 4 <= bytes; i += 4) {
    uint32_t bits;
    std::memcpy(&bits, elements + i, 4);
    const bool nan = (bits & 0x7fffffff) > 0x7f800000;
    bits = nan ? 0x7fffe000 : cvt_rn_tf32_f32(std::bit_cast<float>(bits));
    std::memcpy(elements + i, &bits, 4);
  }
}

}  // namespace

void Tma::move_load(const TensorCopy& copy) {
  const TensorMapFields& map = copy.map;
  const auto bytes_of = [&](int64_t elements) { return global_bytes(map.data_type, uint64_t(elements)); };
  const uint32_t inner = uint32_t(bytes_of(box_extent(map, 0)));  // of a row in global memory
  const Swizzle swizzle = smem_swizzle(map.swizzle);
  const uint32_t fill = oob_fill_pattern(map);
  const bool rounds =
      map.data_type == TensorMapDataType::tfloat32 || map.data_type == TensorMapDataType::tfloat32_ftz;
  std::vector<uint8_t>& row = sm_.tma.row;
  row.resize(inner);
  const uint32_t lines = uint32_t(box_lines(map));
  for (uint32_t l = 0; l < lines; ++l) {
    const BoxLine line = box_line(map, copy.coords.data(), l);
    const uint8_t* bytes_of_row = row.data();
    const bool whole = line.in_bounds && bytes_of(line.count) == inner;
    if (!whole)
      for (uint32_t i = 0; i < inner; ++i) row[i] = uint8_t(fill >> (8 * (i % 4)));
    if (line.in_bounds && line.count > 0) {
      const GlobalAddr from{line.global_address + bytes_of(line.first)};
      const uint64_t bytes = bytes_of(line.count);
      const uint8_t* source = memory_.data(from, bytes);
      if (!source) {
        observer_.violation({copy.linear ? "GM1" : "TM1",
                             fmt::format("{} reads {} bytes at {:#x}, which no allocation holds{}",
                                         name_of(copy, true), bytes, from.value, map_text(memory_, copy)),
                             now(), slot_, copy.barrier, copy.source});
        return;
      }
      // Rows lie far apart: what comes a few rows later is on its way while this one is copied.
      constexpr uint64_t kRowsAhead = 8, kCacheLine = 64;
      const uintptr_t later = reinterpret_cast<uintptr_t>(source) + kRowsAhead * map.global_stride[0];
      for (uint64_t at = 0; at < bytes; at += kCacheLine)
        __builtin_prefetch(reinterpret_cast<const void*>(later + at));
      if (whole && !rounds) {
        bytes_of_row = source;
      } else {
        std::memcpy(&row[bytes_of(line.first)], source, bytes);
        if (rounds) round_to_tf32(&row[bytes_of(line.first)], bytes);
      }
    }
    if (is_align16b(map.data_type)) {
      pad_row(map, copy.smem + line.smem_offset, bytes_of_row);
      continue;
    }
    for_each_swizzled_run(swizzle, copy.smem + line.smem_offset, inner, [&](uint32_t to, uint32_t from, auto run) {
      std::memcpy(smem_.data(to), bytes_of_row + from, run);
    });
  }
}

/// A row of an ALIGN16B type: 16 elements to each 16 bytes; what follows them there stays as it was.
void Tma::pad_row(const TensorMapFields& map, uint32_t to, const uint8_t* dense) {
  const uint32_t data = uint32_t(global_bytes(map.data_type, kPackedElements));
  for (uint32_t chunk = 0; chunk < box_extent(map, 0) / kPackedElements; ++chunk)
    std::memcpy(smem_.data(swizzle_address(smem_swizzle(map.swizzle), to + chunk * kPackedChunk)),
                dense + chunk * data, data);
}

/// The reverse, of 16U6_ALIGN16B alone: the lower 6 bits of each byte, densely (PTX .b6p2x16).
void Tma::pack_row(const TensorMapFields& map, uint32_t from, uint8_t* dense) const {
  const uint32_t bits = element_bits(map.data_type);
  std::fill_n(dense, global_bytes(map.data_type, box_extent(map, 0)), uint8_t(0));
  for (uint32_t i = 0; i < box_extent(map, 0); ++i) {
    const uint32_t element = *smem_.data(swizzle_address(smem_swizzle(map.swizzle), from + i)) & ((1u << bits) - 1);
    const uint32_t at = i * bits, spread = element << at % 8;
    dense[at / 8] |= uint8_t(spread);
    if (spread >> 8) dense[at / 8 + 1] |= uint8_t(spread >> 8);
  }
}

void Tma::move_store(const TensorCopy& copy) {
  const TensorMapFields& map = copy.map;
  const auto bytes_of = [&](int64_t elements) { return global_bytes(map.data_type, uint64_t(elements)); };
  const uint32_t inner = uint32_t(bytes_of(box_extent(map, 0)));  // of a row in global memory
  const Swizzle swizzle = smem_swizzle(map.swizzle);
  std::vector<uint8_t>& row = sm_.tma.row;
  row.resize(inner);
  const uint32_t lines = uint32_t(box_lines(map));
  for (uint32_t l = 0; l < lines; ++l) {
    const BoxLine line = box_line(map, copy.coords.data(), l);
    if (!line.in_bounds || line.count <= 0) continue;  // stores skip rows that are out of bounds
    if (is_align16b(map.data_type))
      pack_row(map, copy.smem + line.smem_offset, row.data());
    else
      for_each_swizzled_run(
          swizzle, copy.smem + line.smem_offset, inner,
          [&](uint32_t from, uint32_t to, auto run) { std::memcpy(&row[to], smem_.data(from), run); });
    const GlobalAddr to{line.global_address + bytes_of(line.first)};
    uint64_t bytes = bytes_of(line.count);
    // The engine writes 16 bytes at a time: a row that ends inside a chunk is stored to the chunk's end, over the
    // padding that the strides' alignment leaves (measured on H200, bench/hardware).
    const uint64_t whole =
        std::min((to.value + bytes + 15) / 16 * 16 - to.value, uint64_t(inner) - bytes_of(line.first));
    const bool to_chunk = !copy.linear && !copy.reduction;  // of reductions nothing is known
    if (to_chunk && memory_.data(to, whole)) bytes = whole;
    uint8_t* target = memory_.data(to, bytes);
    if (!target) {
      observer_.violation({copy.linear ? "GM1" : "TM1",
                           fmt::format("{} writes {} bytes at {:#x}, which no allocation holds{}",
                                       name_of(copy, false), bytes, to.value, map_text(memory_, copy)),
                           now(), slot_, 0, copy.source});
      return;
    }
    write_row(copy, target, bytes, &row[bytes_of(line.first)]);
  }
}

void Tma::write_row(const TensorCopy& copy, uint8_t* target, uint64_t bytes, const uint8_t* row) {
  if (copy.reduction) return reduce_bytes(*copy.reduction, target, row, bytes);
  if (copy.byte_mask == 0xffff) {
    std::memcpy(target, row, bytes);
    return;
  }
  for (uint64_t i = 0; i < bytes; ++i)
    if (copy.byte_mask >> i % 16 & 1) target[i] = row[i];
}

}  // namespace sm100::models
