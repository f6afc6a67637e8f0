// SPDX-License-Identifier: Apache-2.0
// ld and st without models: which bytes a lane's address means, and how they come to registers.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "sim/address_hint.h"
#include "sim/ptx/functional_warp.h"

namespace sm100::sim {

using ptx::LaneMask;
using ptx::Operand;
using ptx::Space;

namespace {

template <class T>
uint64_t read_as(const uint8_t* from, bool ordered) {
  if (ordered) return std::atomic_ref<T>(*reinterpret_cast<T*>(const_cast<uint8_t*>(from))).load();
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void write_as(uint8_t* to, uint64_t bits, bool ordered) {
  const T value = T(bits);
  if (ordered)
    std::atomic_ref<T>(*reinterpret_cast<T*>(to)).store(value);
  else
    std::memcpy(to, &value, sizeof value);
}

uint64_t read_bits(const uint8_t* from, uint32_t bytes, bool ordered) {
  switch (bytes) {
    case 1: return read_as<uint8_t>(from, ordered);
    case 2: return read_as<uint16_t>(from, ordered);
    case 4: return read_as<uint32_t>(from, ordered);
    default: return read_as<uint64_t>(from, ordered);
  }
}
void write_bits(uint8_t* to, uint64_t bits, uint32_t bytes, bool ordered) {
  switch (bytes) {
    case 1: return write_as<uint8_t>(to, bits, ordered);
    case 2: return write_as<uint16_t>(to, bits, ordered);
    case 4: return write_as<uint32_t>(to, bits, ordered);
    default: return write_as<uint64_t>(to, bits, ordered);
  }
}

}  // namespace

uint8_t* FunctionalWarp::find_global(uint64_t address, uint32_t bytes) {
  const DeviceMemory::Range range = code.launch.memory->range_of(address);
  const uint64_t in = address - range.first;
  if (in >= range.bytes || bytes > range.bytes - in) return nullptr;
  global_ = {range.first, range.bytes, range.host, 0};
  return range.host + in;
}

uint8_t* FunctionalWarp::local_bytes(int lane, uint64_t offset, uint64_t bytes) {
  const uint64_t each = local_.size() / ptx::kLanes;
  return offset < each && bytes <= each - offset ? local_.data() + size_t(lane) * each + offset : nullptr;
}

FunctionalWarp::Found FunctionalWarp::find_bytes(Space space, uint64_t address, uint32_t bytes, int lane,
                                                 bool store) {
  const ptx::Windows& windows = file.windows;
  if (address >= kPtxSharedWindow && (space == Space::generic || space == Space::none)) {
    space = Space::global;
    if (windows.shared.has(address))
      space = Space::shared, address -= windows.shared.base;
    else if (windows.local.has(address))
      space = Space::local, address -= windows.local.base;
    else if (windows.param.has(address))
      space = Space::param, address -= windows.param.base;
  }
  switch (space) {
    case Space::shared: {
      const uint64_t rank = address >> kClusterRankShift, offset = address & kSmemOffsetMask;
      const bool inside = rank < cta.gang.ctas.size() && offset + bytes <= code.shared_bytes;
      return {inside ? cta.gang.ctas[rank]->shared.data() + offset : nullptr, "SM1",
              "outside of the CTA's shared memory"};
    }
    case Space::local: return {local_bytes(lane, address, bytes), "GM1", "outside of the thread's local memory"};
    case Space::call_param:
      return {local_bytes(lane, code.code.program().local_bytes + address, bytes), "GM1",
              "outside of the thread's local memory"};
    case Space::param: {
      const std::span<const uint8_t> window = code.launch.parameters;
      const bool inside = !store && address < window.size() && bytes <= window.size() - address;
      return {inside ? const_cast<uint8_t*>(window.data()) + address : nullptr, "GM1", "outside of the parameters"};
    }
    default: break;
  }
  if (windows.constant.has(address)) {
    const uint64_t at = address - windows.constant.base;
    const bool inside = bytes <= code.variables.size() - at;
    return {inside ? code.variables.data() + at : nullptr, "GM1", "outside of the module's variables"};
  }
  return {global_bytes(address, bytes), "GM1", "outside of every allocation"};
}

uint8_t* FunctionalWarp::bytes_at(Space space, uint64_t address, uint32_t bytes, int lane, bool store) {
  if ((address & (bytes - 1)) != 0) {  // sizes are powers of two
    const bool shared = space == Space::shared || file.windows.shared.has(address);
    fail(FunctionalEnd::misaligned, shared ? "SM2" : "GM2", lane,
         fmt::format("address {:#x} is not a multiple of {}", address, bytes));
    return nullptr;
  }
  const Found found = find_bytes(space, address, bytes, lane, store);
  if (!found.bytes)
    fail(FunctionalEnd::out_of_bounds, found.check, lane,
         fmt::format("{} bytes at {:#x}: {}{}", bytes, address, found.where,
                     std::string_view(found.where).ends_with("allocation") ? address_hint(address) : ""));
  return found.bytes;
}

bool FunctionalWarp::move_recorded(const ptx::Access& a, const FunctionalCode::Memory& how,
                                   const MemoryRegion& region, LaneMask lanes) {
  std::array<models::ByteRange, ptx::kLanes> touched;  // a load may overwrite its addresses
  size_t count = 0;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const uint64_t address = how.move.address(file, std::countr_zero(left));
    if (count == 0 || touched[count - 1].end != address) touched[count++] = {address, address};
    touched[count - 1].end = address + how.bytes;
  }
  if (!how.move.run(file, region, lanes)) return false;
  if (region.host == global_.host)  // global memory
    for (size_t t = 0; t < count; ++t)
      accesses_->add(touched[t].begin, touched[t].end - touched[t].begin, !a.store, a.store, false,
                     cursors_[a.store]);
  return true;
}

void FunctionalWarp::look(const FunctionalCode::Memory& how) {
  how.move.look(file, region_of(how.space, how.move.address(file, 0)), places_.of(how.move.address_row()));
}

bool FunctionalWarp::access_lanes(const ptx::Access& a, const FunctionalCode::Memory& how, LaneMask lanes) {
  if (how.parameter) return load_parameter(a, how, lanes), true;
  if (how.move.plain()) {
    if (lanes != ptx::kAllLanes) places_.forget(how.move.address_row());
    const MemoryRegion& region = region_of(how.space, how.move.address(file, std::countr_zero(lanes)));
    if (accesses_ ? move_recorded(a, how, region, lanes) : how.move.run(file, region, lanes)) return true;
  }
  return a.store ? move_lanes<true>(a, how, lanes) : move_lanes<false>(a, how, lanes);
}

/// The same bytes of the window for all lanes.
void FunctionalWarp::load_parameter(const ptx::Access& a, const FunctionalCode::Memory& how, LaneMask lanes) {
  for (size_t v = 0; v < a.data.size(); ++v) {
    const Operand& o = a.data[v];
    if (o.kind == Operand::Kind::sink) continue;
    const uint64_t bits = widened(a, read_bits(how.parameter + v * how.element, how.element, false), how.element);
    if (o.width == 4 && lanes == ptx::kAllLanes)
      std::fill_n(file.write<uint32_t>(o.row), ptx::kLanes, uint32_t(bits));
    else if (o.width == 8 && lanes == ptx::kAllLanes)
      std::fill_n(file.write<uint64_t>(o.row), ptx::kLanes, bits);
    else
      for (LaneMask left = lanes; left != 0; left &= left - 1) o.set_lane(file, std::countr_zero(left), bits);
  }
}

const MemoryRegion& FunctionalWarp::find_region(Space space, uint64_t address) {
  const ptx::Windows& w = file.windows;
  const bool any = space == Space::generic || space == Space::none;
  uint64_t base = 0;  // of the space among generic addresses
  if (any && address >= kPtxSharedWindow) {
    if (w.shared.has(address))
      space = Space::shared, base = w.shared.base;
    else if (w.local.has(address))
      space = Space::local, base = w.local.base;
  }
  switch (space) {
    case Space::shared: {
      const uint64_t rank = (address - base) >> kClusterRankShift;
      if (rank >= cta.gang.ctas.size()) return other_ = {};
      return other_ = {base + (rank << kClusterRankShift), code.shared_bytes, cta.gang.ctas[rank]->shared.data(),
                       0};
    }
    case Space::local:
      return other_ = {base, local_.size() / ptx::kLanes, local_.data(), local_.size() / ptx::kLanes};
    case Space::call_param: {
      const uint64_t each = local_.size() / ptx::kLanes, own = code.code.program().local_bytes;
      return other_ = {0, each - own, local_.data() + own, each};
    }
    case Space::param: return other_ = {};
    default: break;
  }
  if (w.constant.has(address)) return other_ = {w.constant.base, code.variables.size(), code.variables.data(), 0};
  if (address - global_.first >= global_.bytes) find_global(address, 1);
  return global_;
}

template <bool kStore>
bool FunctionalWarp::move_lanes(const ptx::Access& a, const FunctionalCode::Memory& how, LaneMask lanes) {
  const uint32_t element = how.element;
  const bool ordered = a.order != ptx::Order::weak;
  uint64_t begin = 0, end = 0;  // what neighbouring lanes have touched in global memory
  const auto flush = [&] {
    if (begin != 0) accesses_->add(begin, end - begin, !kStore, kStore, ordered, cursors_[kStore]);
  };
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint8_t* at = bytes_at(a.space, a.address.lane_address(file, lane), how.bytes, lane, kStore);
    if (!at) return false;
    if (accesses_) {
      const uint64_t address = global_address(at);
      if (address == 0 || address != end) flush(), begin = address;
      end = address + how.bytes;
    }
    for (size_t v = 0; v < a.data.size(); ++v, at += element) {
      const Operand& o = a.data[v];
      if (element == 16) {
        if constexpr (kStore) {
          std::memcpy(at, &file.read<uint64_t>(o.row)[lane], 8);
          std::memcpy(at + 8, &file.read<uint64_t>(o.row.next_half())[lane], 8);
        } else if (o.kind != Operand::Kind::sink) {
          std::memcpy(&file.write<uint64_t>(o.row)[lane], at, 8);
          std::memcpy(&file.write<uint64_t>(o.row.next_half())[lane], at + 8, 8);
        }
      } else if constexpr (kStore) {
        write_bits(at, o.lane_value(file, lane), element, ordered);
      } else if (o.kind != Operand::Kind::sink) {
        o.set_lane(file, lane, widened(a, read_bits(at, element, ordered), element));
      }
    }
  }
  if (accesses_) flush();
  return true;
}

}  // namespace sm100::sim
