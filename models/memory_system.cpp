// SPDX-License-Identifier: Apache-2.0
#include "models/memory_system.h"

#include <algorithm>
#include <cmath>

namespace sm100::models {
namespace {

/// A hash whose bits are all good (MurmurHash3's finaliser).
uint64_t scrambled(uint64_t v) {
  v = (v ^ v >> 33) * 0xff51afd7ed558ccdu;
  v = (v ^ v >> 33) * 0xc4ceb9fe1a85ec53u;
  return v ^ v >> 33;
}

/// An allocation and a gap behind it, so that a run past the end is noticed.
uint64_t with_gap(uint64_t bytes) { return (bytes + 255) / 256 * 256 + 4096; }

}  // namespace

MemorySystem::MemorySystem(const DeviceProfile& profile)
    : profile_(profile),
      channel_free_(size_t(profile.memory.dram_channels)),
      line_cycles_(profile.memory.line_bytes * profile.memory.dram_channels /
                   profile.bytes_per_cycle(profile.memory.dram_tb_per_s)) {}

void MemorySystem::make_dirty() {
  dirty_lines_ = (uint64_t(profile_.memory.l2_mib) << 20) / uint64_t(profile_.memory.line_bytes);
  translations_cold_ = true;
}

GlobalAddr MemorySystem::allocate(std::string name, uint64_t bytes, bool with_data) {
  const GlobalAddr address{next_base_};
  place(std::move(name), address, bytes, with_data);
  next_base_ += with_gap(bytes);
  return address;
}

void MemorySystem::place(std::string name, GlobalAddr address, uint64_t bytes, bool with_data, uint8_t* there) {
  Allocation a{std::move(name), address.value, bytes, {}, there, {}};
  if (with_data && !there) a.own.assign(std::max<uint64_t>(1, bytes), 0), a.data = a.own.data();
  a.line_ready.assign(bytes / uint64_t(profile_.memory.line_bytes) + 1, kNotInL2);
  allocated_ += with_gap(bytes);
  allocations_.push_back(std::move(a));
}

void MemorySystem::warm(GlobalAddr address, uint64_t size) {
  Request request;
  touch(request, address, size);
  for (const Request::Line& line : request.missing) *line.ready = 0;
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

std::pair<std::string, uint64_t> MemorySystem::place(GlobalAddr address) {
  const Allocation* a = find(address, 1);
  return a ? std::pair{a->name, address.value - a->base} : std::pair{std::string(), uint64_t{0}};
}

void MemorySystem::touch(Request& request, GlobalAddr address, uint64_t size) {
  Allocation* a = find(address, size);
  if (!a || size == 0) return;
  const uint64_t line = uint64_t(profile_.memory.line_bytes);
  const uint64_t first = (address.value - a->base) / line, last = (address.value - a->base + size - 1) / line;
  request.lines += last - first + 1;
  for (uint64_t l = first; l <= last; ++l) {
    Cycles& ready = a->line_ready[l];
    if (ready == kNotInL2) {
      request.missing.push_back({&ready, a->base + l * line});
      ready = 0;  // a second touch by this request is no second miss; read() sets the cycle
    } else {
      request.ready = std::max(request.ready, ready);
    }
  }
}

double MemorySystem::access_dram(uint64_t address, double at) {
  const uint64_t block = scrambled(address / uint64_t(profile_.memory.dram_interleave_bytes));
  double& free = channel_free_[block % channel_free_.size()];
  const bool evicts = dirty_lines_ > 0;
  if (evicts) --dirty_lines_;
  return free = std::max(free, at) + line_cycles_ * (evicts ? 2 : 1);
}

double MemorySystem::dram_wait(uint64_t address) const {
  const double uniform = double(scrambled(scrambled(address)) >> 11) * 0x1p-53;
  return -profile_.memory.dram_wait_ns * std::log1p(-uniform) * profile_.device.sm_clock_ghz;
}

double MemorySystem::translated(uint64_t address, double at) {
  if (!translations_cold_) return at;
  const double known = at + profile_.memory.translation_ns * profile_.device.sm_clock_ghz;
  return std::max(
      at,
      translated_.try_emplace(address / (uint64_t(profile_.memory.translation_mib) << 20), known).first->second);
}

Cycles MemorySystem::read(Request& request, Cycles at, int cluster) {
  const Cycles hit = profile_.cycles_of_ns(profile_.memory.l2_hit_ns);
  // The answer can be shared until it has left L2.
  const bool coalesced = cluster >= 0 && request.cluster == cluster && request.arrives > at + hit / 2;
  if (!coalesced) l2_read_bytes_ += request.lines * uint64_t(profile_.memory.line_bytes);
  request.cluster = cluster;
  if (!request.missing.empty()) {
    const double extra = profile_.memory.dram_extra_ns * profile_.device.sm_clock_ghz;
    double in_l2 = 0, wait = 0;
    for (size_t i = 0; i < request.missing.size(); ++i) {
      const Request::Line& line = request.missing[i];
      if (i % size_t(profile_.memory.dram_wait_lines) == 0) wait = dram_wait(line.address);
      const double there = access_dram(line.address, translated(line.address, double(at))) + extra + wait;
      *line.ready = Cycles(std::llround(there));
      in_l2 = std::max(in_l2, there);
    }
    dram_bytes_ += request.missing.size() * uint64_t(profile_.memory.line_bytes);
    request.ready = std::max(request.ready, Cycles(std::llround(in_l2)));
  }
  if (coalesced) return std::max(at, request.arrives);
  l2_free_ = std::max(l2_free_, double(at)) + double(request.lines) * profile_.memory.line_bytes /
                                                  profile_.bytes_per_cycle(profile_.memory.l2_tb_per_s);
  return request.arrives = std::max(Cycles(l2_free_), request.ready) + hit;
}

Cycles MemorySystem::accept_write(uint64_t bytes, Cycles at) {
  // The sum of the allocations is what the kernel touches.
  if (allocated_ <= uint64_t(profile_.memory.l2_mib) << 20) return at;
  // L2 writes back when it likes: what it gathers spreads over all channels.
  const double cycles = double(bytes) / profile_.bytes_per_cycle(profile_.memory.dram_tb_per_s);
  double free_of_all = 0;
  for (double& free : channel_free_) free_of_all += free = std::max(free, double(at)) + cycles;
  dram_bytes_ += bytes;
  return Cycles(std::llround(free_of_all / double(channel_free_.size())));
}

Cycles MemorySystem::write(Cycles at) { return at + profile_.cycles_of_ns(profile_.memory.store_visible_ns); }

}  // namespace sm100::models
