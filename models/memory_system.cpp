// SPDX-License-Identifier: Apache-2.0
#include "models/memory_system.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace sm100::models {
namespace {

constexpr uint64_t kSector = 32, kUnit = 64;

/// A box that was used more generations of L2 ago is touched, so that it stays.
constexpr uint32_t kFreshGenerations = 8;

/// A box of so many units waits for all that is ahead of it on the paths to L2, a single row for part of that;
/// those between for a part that grows with the logarithm of their rows.  On an H200 boxes of 1, 8 and 128 rows
/// wait like 0.2 : 0.5 : 1, and like 0.45 : 0.67 : 1 where all SMs ask for as much as they can.
constexpr double kLongBox = 256, kRow = 2, kShortWait = 0.25;

/// A hash whose bits are all good (MurmurHash3's finaliser).
uint64_t scrambled(uint64_t v) {
  v = (v ^ v >> 33) * 0xff51afd7ed558ccdu;
  v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53u;
  return v ^ v >> 33;
}

/// A number from 0 to 1 that looks random and is the same in every run.
double uniform(uint64_t of) { return double(scrambled(scrambled(of)) >> 11) * 0x1p-53; }

/// Of an exponential distribution with mean 1.  (1 - uniform is exact, so log1p would give no more digits.)
double exponential(double uniform) { return -std::log(1 - uniform); }

/// A time of mean 1 that varies: spread 0 not at all, 1 by an exponential distribution.
double varied(double spread, double uniform) { return spread > 0 ? 1 - spread * (1 - exponential(uniform)) : 1; }

/// An allocation and a gap behind it, so that a run past the end is noticed.
uint64_t with_gap(uint64_t bytes) { return (bytes + 255) / 256 * 256 + 4096; }

/// How many pieces of `size` bytes [address, address + bytes) touches.
uint64_t pieces(uint64_t address, uint64_t bytes, uint64_t size) {
  return (address + bytes - 1) / size - address / size + 1;
}

/// As std::llround of what is not negative, without a call.
Cycles rounded(double cycles) {
  const auto whole = Cycles(cycles);
  return whole + (cycles - double(whole) >= 0.5 ? 1 : 0);
}

uint64_t pieces(const GlobalRows& rows, uint64_t size) {
  if (rows.distance % size == 0) return rows.rows * pieces(rows.first.value, rows.bytes, size);
  uint64_t all = 0;
  for (uint32_t row = 0; row < rows.rows; ++row)
    all += pieces(rows.first.value + row * rows.distance, rows.bytes, size);
  return all;
}

/// GPC through whose paths an SM reaches L2.
size_t gpc_of(int sm, const DeviceProfile& profile) { return size_t(sm / profile.device.gpc_sms); }

}  // namespace

MemorySystem::MemorySystem(const DeviceProfile& profile)
    : profile_(profile),
      in_lines_(uint64_t(profile.memory.line_bytes)),
      in_blocks_(uint64_t(profile.memory.dram_interleave_bytes)),
      in_channels_(uint64_t(profile.memory.dram_channels)),
      l2_(profile),
      channels_(size_t(profile.memory.dram_channels)),
      channel_read_(size_t(profile.memory.dram_channels), -1e18),
      line_cycles_(profile.memory.line_bytes * profile.memory.dram_channels /
                   profile.bytes_per_cycle(profile.memory.dram_tb_per_s)) {
  paths_.gpc_reads.resize(gpc_of(profile.device.sms - 1, profile) + 1);
  paths_.gpc_writes.resize(paths_.gpc_reads.size());
}

void MemorySystem::make_dirty() {
  l2_.fill_with_others();
  translations_cold_ = true;
}

GlobalAddr MemorySystem::allocate(std::string name, uint64_t bytes, bool with_data) {
  const GlobalAddr address{next_base_};
  place(std::move(name), address, bytes, with_data);
  next_base_ += with_gap(bytes);
  return address;
}

void MemorySystem::place(std::string name, GlobalAddr address, uint64_t bytes, bool with_data, uint8_t* there) {
  Allocation a{{std::move(name), address.value, bytes}, {nullptr, &std::free}, there, {}};
  if (with_data && !there) {
    a.own.reset(static_cast<uint8_t*>(std::calloc(std::max<uint64_t>(1, bytes), 1)));
    if (!a.own) throw std::bad_alloc();
    a.data = a.own.get();
  }
  a.lines = std::make_unique<std::vector<L2Line>>();
  l2_.watch(a.lines.get());
  allocations_.push_back(std::move(a));
}

MemorySystem::Allocation* MemorySystem::find(GlobalAddr address, uint64_t size) {
  auto holds = [&](const Allocation& a) {
    return address.value >= a.base && size <= a.bytes && address.value - a.base <= a.bytes - size;
  };
  if (last_found_ < allocations_.size() && holds(allocations_[last_found_])) return &allocations_[last_found_];
  for (size_t i = 0; i < allocations_.size(); ++i)
    if (holds(allocations_[i])) return &allocations_[last_found_ = i];
  return nullptr;
}

uint8_t* MemorySystem::data(GlobalAddr address, uint64_t size) {
  Allocation* a = find(address, size);
  return a && a->data ? a->data + (address.value - a->base) : nullptr;
}

void MemorySystem::describe(GlobalAddr address, std::string_view type, int64_t rows, int64_t columns) {
  for (Allocation& a : allocations_)
    if (a.base == address.value) a.type = type, a.rows = rows, a.columns = columns;
}

const MemorySystem::Placed* MemorySystem::nearest(GlobalAddr address) const {
  const auto distance = [&](const Allocation& a) {
    if (a.holds(address.value)) return uint64_t{0};
    return address.value < a.base ? a.base - address.value : address.value - (a.base + a.bytes) + 1;
  };
  const auto found = std::min_element(allocations_.begin(), allocations_.end(),
                                      [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  return found == allocations_.end() ? nullptr : &*found;
}

std::pair<std::string, uint64_t> MemorySystem::place(GlobalAddr address) {
  const Allocation* a = find(address, 1);
  return a ? std::pair{a->name, address.value - a->base} : std::pair{std::string(), uint64_t{0}};
}

uint64_t MemorySystem::block_of(uint64_t address) const { return scrambled(in_blocks_(address)); }

void MemorySystem::know_rows(Allocation& a, const GlobalRows& rows) {
  const uint64_t line = uint64_t(profile_.memory.line_bytes), count = in_lines_(a.bytes) + 1;
  // Small tensors lie in few cache lines anyhow.
  constexpr uint64_t kManyLines = 1024;
  const bool by_rows = rows.rows > 1 && rows.distance % line == 0 && rows.distance > line && count >= kManyLines;
  if (!by_rows) {
    if (a.lines->empty()) a.lines->resize(count);
    return;
  }
  a.row_lines = in_lines_(rows.distance);
  a.known_rows = (count + a.row_lines - 1) / a.row_lines;
  std::vector<L2Line> ordered(a.known_rows * a.row_lines);
  for (uint64_t l = 0; l < a.lines->size(); ++l)
    ordered[l % a.row_lines * a.known_rows + l / a.row_lines] = (*a.lines)[l];
  *a.lines = std::move(ordered);
}

template <class F>
bool MemorySystem::for_each_line(const GlobalRows& rows, F&& f) {
  if (rows.bytes == 0 || rows.rows == 0) return true;
  const uint64_t line = uint64_t(profile_.memory.line_bytes);
  Allocation* const a = find(rows.first, (rows.rows - 1) * rows.distance + rows.bytes);
  if (!a) return false;
  if (a->row_lines == 0) know_rows(*a, rows);
  L2Line* const lines = a->lines->data();
  uint64_t begin = rows.first.value;
  uint64_t of_tensor = 0, in_row_first = 0;  // where the row begins: which of the tensor's rows, which of its lines
  for (uint32_t row = 0; row < rows.rows; ++row, begin += rows.distance) {
    const uint64_t end = begin + rows.bytes;
    const uint64_t first = in_lines_(begin - a->base), last = in_lines_(end - 1 - a->base);
    uint64_t at = a->base + first * line;
    if (a->row_lines == 0) {
      for (uint64_t l = first; l <= last; ++l, at += line) f(lines[l], at, begin, end);
      continue;
    }
    if (row > 0 && rows.distance == a->row_lines * line)
      ++of_tensor;
    else
      of_tensor = first / a->row_lines, in_row_first = first % a->row_lines;
    uint64_t in_row = in_row_first, of = of_tensor;
    for (uint64_t l = first; l <= last; ++l, at += line) {
      f(lines[in_row * a->known_rows + of], at, begin, end);
      if (++in_row == a->row_lines) in_row = 0, ++of;
    }
  }
  return true;
}

// ---- reads

void MemorySystem::warm(GlobalAddr address, uint64_t size) {
  for_each_line({address, size, 0, 1}, [&](L2Line& line, uint64_t at, uint64_t, uint64_t) {
    for (int half = 0; half < L2Line::kHalves; ++half) l2_.read(line, at, half, home_of_block(block_of(at)));
  });
}

MemorySystem::Request& MemorySystem::box(uint64_t box) { return boxes_[box]; }

bool MemorySystem::is_held(const Request& request, const MemoryPort& port) const {
  const int half = half_of(port.sm);
  const uint32_t used = request.generation[size_t(half)];
  return used != 0 && l2_.generation(half) - used < kFreshGenerations && l2_.has_all_of(used, half);
}

void MemorySystem::start(Request& request, const MemoryPort& port) {
  request.lines = request.sectors = request.units = 0;
  request.missing.clear();
  if (request.missing.capacity() == 0) request.missing.swap(spare_);
  request.first_ready = ~Cycles{0}, request.last_ready = 0;
  request.from_other_half = false;
  request.generation[size_t(half_of(port.sm))] = 0;
}

void MemorySystem::touch(Request& request, const GlobalRows& rows, const MemoryPort& port) {
  const uint64_t line = uint64_t(profile_.memory.line_bytes);
  const int half = half_of(port.sm);
  // Where the halves are not told apart, a line stays where it was read only.
  const bool home_keeps = profile_.memory.l2_far_ns > 0;
  const uint32_t before = l2_.generation(half);
  Cycles first_ready = request.first_ready, last_ready = request.last_ready;
  uint64_t lines = 0;
  const bool held = for_each_line(rows, [&](L2Line& there, uint64_t at, uint64_t begin, uint64_t end) {
    ++lines;
    if (!l2_.is_fresh(there, at, half)) {
      const L2Cache::Place place = l2_.read(there, at, half, home_keeps ? home_of_block(block_of(at)) : half);
      if (place == L2Cache::Place::memory) {
        const uint64_t from = std::max(at, begin), to = std::min(at + line, end);
        request.missing.push_back({&there, at, uint32_t(pieces(from, to - from, kSector))});
        there.set_ready(0);  // a second touch by this request is no second miss; read() sets the cycle
        return;
      }
      if (place == L2Cache::Place::other_half) request.from_other_half = true;
    }
    first_ready = std::min(first_ready, there.ready());
    last_ready = std::max(last_ready, there.ready());
  });
  if (!held) {  // some of them no allocation holds
    for (uint32_t row = 0; row < rows.rows && rows.rows > 1; ++row)
      touch(request, {rows.first + row * rows.distance, rows.bytes, 0, 1}, port);
    return;
  }
  if (lines == 0) return;
  request.first_ready = first_ready, request.last_ready = last_ready;
  request.lines += lines;
  request.units += pieces(rows, kUnit);
  request.sectors += pieces(rows, kSector);
  // A generation that began meanwhile does not hold the rows before.
  if (uint32_t& all = request.generation[size_t(half)]; all == 0) all = before;
}

double MemorySystem::access_dram(uint64_t block, double at, double lines) {
  const size_t channel = in_channels_.rest(block);
  // What has to leave L2 for it goes first, and the channel turns round.
  const double written = double(l2_.take_written_back(1)) * profile_.memory.dram_write_cost;
  if (written > 0) dram_bytes_ += uint64_t(profile_.memory.line_bytes);
  const Timetable::Slot slot = channels_[channel].take(at, line_cycles_ * (lines + written));
  channel_read_[channel] = std::max(channel_read_[channel], slot.begin);
  return slot.end;
}

double MemorySystem::dram_wait(uint64_t address) const {
  return profile_.memory.dram_wait_ns * exponential(uniform(address)) * profile_.device.sm_clock_ghz;
}

double MemorySystem::dram_times(uint64_t block) const {
  return varied(profile_.memory.dram_spread, uniform(block));
}

double MemorySystem::translated(uint64_t address, double at) {
  if (!translations_cold_) return at;
  const double known = at + profile_.memory.translation_ns * profile_.device.sm_clock_ghz;
  return std::max(
      at,
      translated_.try_emplace(address / (uint64_t(profile_.memory.translation_mib) << 20), known).first->second);
}

Timetable::Slot MemorySystem::pass_paths(double units, double at, int sm, bool write) {
  const double bytes = units * double(kUnit);
  Timetable::Slot all{at, at};
  const auto wait_for = [&](const Timetable::Slot& slot) {
    all = {std::max(all.begin, slot.begin), std::max(all.end, slot.end)};
  };
  const auto cycles = [&](double amount, double tb_per_s) { return amount / profile_.bytes_per_cycle(tb_per_s); };
  const auto& memory = profile_.memory;
  wait_for(paths_.all.take(at, cycles(bytes, memory.l2_tb_per_s)));
  if (write) {
    wait_for(paths_.writes.take(at, cycles(bytes, memory.l2_write_tb_per_s)));
    wait_for(paths_.gpc_writes[gpc_of(sm, profile_)].take(at, cycles(bytes, memory.l2_gpc_write_tb_per_s)));
  } else {
    paths_.writes.take(at, cycles(bytes * memory.l2_write_share_of_reads, memory.l2_write_tb_per_s));
    wait_for(paths_.reads.take(at, cycles(bytes, memory.l2_read_tb_per_s)));
    // Boxes that are on their way together share a GPC's path.  One after the other, they wait as long in the mean
    // if they keep it for times that vary so.
    const double times = varied(memory.l2_gpc_spread, uniform(uint64_t(at) * 1024 + uint64_t(sm)));
    wait_for(paths_.gpc_reads[gpc_of(sm, profile_)].take(at, cycles(bytes * times, memory.l2_gpc_tb_per_s)));
  }
  return all;
}

/// Sends for the missing lines, one after the other between two cycles.
void MemorySystem::bring(Request& request, double from, double until, int half) {
  const double ghz = profile_.device.sm_clock_ghz;
  const double extra = profile_.memory.dram_extra_ns * ghz, far = profile_.memory.l2_far_ns * ghz;
  const double sectors = double(uint64_t(profile_.memory.line_bytes) / kSector);
  const double count = double(request.missing.size());
  double wait = 0, times = 1;
  uint64_t timed = 0;  // a block
  int waits = 0;       // lines that share the wait, still to come
  for (size_t i = 0; i < request.missing.size(); ++i) {
    const Request::Missing& missing = request.missing[i];
    const double at = from + (until - from) * double(i + 1) / count;
    if (waits-- == 0) wait = dram_wait(missing.address), waits = profile_.memory.dram_wait_lines - 1;
    const double lines = double((missing.sectors + 1) / 2 * 2) / sectors;  // HBM moves 64 bytes
    const uint64_t block = block_of(missing.address);
    if (block != timed) timed = block, times = dram_times(block);
    const double there = access_dram(block, translated(missing.address, at), lines * times) + extra + wait +
                         (home_of_block(block) == half ? 0 : far);
    const Cycles ready = rounded(there);
    missing.line->set_ready(ready);
    request.first_ready = std::min(request.first_ready, ready);
    request.last_ready = std::max(request.last_ready, ready);
    dram_bytes_ += uint64_t(lines * double(profile_.memory.line_bytes));
  }
  request.missing.clear();
  // Many boxes are remembered, and few read again from HBM.
  spare_ = std::exchange(request.missing, {});
}

MemorySystem::Arrival MemorySystem::read(Request& request, Cycles from, Cycles at, const MemoryPort& port) {
  const Cycles hit = profile_.cycles_of_ns(profile_.memory.l2_hit_ns);
  const bool in_gpc = profile_.memory.merge_in_gpc != 0;
  const int by = port.cluster < 0 || !in_gpc ? port.cluster : int(gpc_of(port.sm, profile_));
  Request::Asked& asked = request.asked[size_t(std::max(by, 0)) % request.asked.size()];
  // The answer can be shared until it has left L2, by so many, and not always when the SM has much on its way.
  const double lost = profile_.memory.merge_lost_per_kib *
                      std::max(0.0, double(port.in_flight) / 1024 - profile_.memory.merge_free_kib);
  const bool merged = by >= 0 && asked.by == by && !asked.is_of(port.sm) &&
                      asked.times < uint32_t(profile_.memory.merge_most) && asked.arrival.last > from + hit / 2 &&
                      asked.from <= from + hit / 2 &&  // one that is asked for later has not been asked yet
                      (lost <= 0 || uniform(at * 1024 + uint64_t(port.sm)) >= lost);
  if (!request.missing.empty()) bring(request, double(from), double(at), half_of(port.sm));
  if (merged) {
    asked.add(port.sm);
    return asked.arrival = {std::max(from, asked.arrival.first), std::max(at, asked.arrival.last)};
  }
  l2_read_bytes_ += request.sectors * kSector;
  const Cycles far = request.from_other_half ? profile_.cycles_of_ns(profile_.memory.l2_far_ns) : 0;
  const Timetable::Slot passage = pass_paths(request.units, double(from), port.sm, false);
  // The rows of a short box find their way between those of long ones.
  const double rows = std::clamp(double(request.units), kRow, kLongBox) / kRow,
               part = kShortWait + (1 - kShortWait) * std::log2(rows) / std::log2(kLongBox / kRow);
  const double passed_over = (1 - part) * (passage.begin - double(from));
  const Cycles begin = Cycles(passage.begin - passed_over), end = std::max(at, Cycles(passage.end - passed_over));
  asked = {.by = by,
           .times = 1,
           .sms = {int16_t(port.sm)},
           .from = from,
           .arrival = {std::max(begin, std::min(request.first_ready, request.last_ready)) + hit,
                       std::max(end, request.last_ready) + hit + far}};
  request.from_other_half = false;  // it has come
  return asked.arrival;
}

MemorySystem::Arrival MemorySystem::read(GlobalAddr address, uint64_t size, Cycles at, const MemoryPort& port) {
  Request request;
  touch(request, GlobalRows{address, size, 0, 1}, port);
  return read(request, at, at, port);
}

// ---- writes

void MemorySystem::touch(Write& write, const GlobalRows& rows) {
  write.bytes += rows.rows * rows.bytes;
  if (rows.bytes == 0) return;
  write.units += pieces(rows, kUnit);
  const auto touch_lines = [&](const GlobalRows& of) {
    return for_each_line(of, [&](L2Line& there, uint64_t at, uint64_t, uint64_t) {
      if (l2_.write(there, at, home_of_block(block_of(at)))) there.set_ready(0), write.new_lines.push_back(at);
    });
  };
  if (!touch_lines(rows))  // some of them no allocation holds
    for (uint32_t row = 0; row < rows.rows && rows.rows > 1; ++row)
      touch_lines({rows.first + row * rows.distance, rows.bytes, 0, 1});
}

Cycles MemorySystem::accept(const Write& write, Cycles at, const MemoryPort& port) {
  written_bytes_ += write.bytes;
  double accepted = pass_paths(double(write.units) * write.share, double(at), port.sm, true).end;
  // A line finds room when another has been written back.
  double served = 0;
  uint64_t waits = 0;
  for (const uint64_t address : write.new_lines) {
    const uint64_t written = l2_.take_written_back(1);
    if (written == 0) break;
    const size_t channel = in_channels_.rest(block_of(address));
    const bool turns =
        channel_read_[channel] > double(at) - profile_.memory.dram_turn_ns * profile_.device.sm_clock_ghz;
    served += channels_[channel].take(double(at), line_cycles_ * (turns ? profile_.memory.dram_write_cost : 1)).end;
    ++waits;
    dram_bytes_ += uint64_t(profile_.memory.line_bytes);
  }
  if (waits > 0) accepted = std::max(accepted, served / double(waits));
  return Cycles(std::llround(accepted));
}

Cycles MemorySystem::visible(Cycles at) { return at + profile_.cycles_of_ns(profile_.memory.store_visible_ns); }

}  // namespace sm100::models
