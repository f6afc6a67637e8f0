#include "models/memory_system.h"

#include <algorithm>
#include <cmath>

namespace sm100::models {

GlobalAddr MemorySystem::allocate(std::string name, uint64_t bytes, bool with_data) {
  Allocation a{std::move(name), next_base_, bytes, {}, {}};
  if (with_data) a.data.assign(bytes, 0);
  const uint64_t line = uint64_t(profile_.memory.line_bytes);
  a.line_ready.assign(bytes / line + 1, kNotInL2);
  next_base_ += (bytes + 255) / 256 * 256 + 4096;  // a gap, so that a run past the end is noticed
  allocations_.push_back(std::move(a));
  return {allocations_.back().base};
}

void MemorySystem::warm(GlobalAddr address, uint64_t size) {
  Request request;
  touch(request, address, size);
  for (Cycles* ready : request.missing) *ready = 0;
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
  return a && !a->data.empty() ? &a->data[address.value - a->base] : nullptr;
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
      request.missing.push_back(&ready);
      ready = 0;  // a second touch by this request is no second miss; read() sets the cycle
    } else {
      request.ready = std::max(request.ready, ready);
    }
  }
}

Cycles MemorySystem::read(Request& request, Cycles at) {
  l2_read_bytes_ += request.lines * uint64_t(profile_.memory.line_bytes);
  Cycles arrives = std::max(at, request.ready) + profile_.cycles_of_ns(profile_.memory.l2_hit_ns);
  if (!request.missing.empty()) {
    const uint64_t missed_bytes = request.missing.size() * uint64_t(profile_.memory.line_bytes);
    // HBM delivers one byte stream at its sustained rate; a copy queues behind what was asked for before.
    dram_free_ = std::max(dram_free_, double(at)) +
                 double(missed_bytes) / profile_.bytes_per_cycle(profile_.memory.dram_tb_per_s);
    dram_bytes_ += missed_bytes;
    const double extra_ns =
        profile_.memory.dram_extra_ns + profile_.memory.dram_extra_ns_per_kib * double(missed_bytes) / 1024.0;
    const Cycles in_l2 = std::max(Cycles(std::llround(dram_free_)), at + profile_.cycles_of_ns(extra_ns));
    for (Cycles* ready : request.missing) *ready = in_l2;
    request.ready = std::max(request.ready, in_l2);
    arrives = std::max(arrives, in_l2 + profile_.cycles_of_ns(profile_.memory.l2_hit_ns));
  }
  return arrives;
}

Cycles MemorySystem::accept_write(uint64_t bytes, Cycles at) {
  // next_base_ grows with the allocations: their sum is what the kernel touches.
  if (next_base_ - kFirstBase <= uint64_t(profile_.memory.l2_mib) << 20) return at;
  dram_free_ =
      std::max(dram_free_, double(at)) + double(bytes) / profile_.bytes_per_cycle(profile_.memory.dram_tb_per_s);
  dram_bytes_ += bytes;
  return Cycles(std::llround(dram_free_));
}

Cycles MemorySystem::write(Cycles at) { return at + profile_.cycles_of_ns(profile_.memory.store_visible_ns); }

}  // namespace sm100::models
