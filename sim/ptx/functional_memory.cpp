// SPDX-License-Identifier: Apache-2.0
// ld and st without models: which bytes a lane's address means, and how they come to registers.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>

#include "sim/ptx/functional_warp.h"

namespace sm100::sim {

using ptx::Access;
using ptx::LaneMask;
using ptx::Operand;
using ptx::Space;

namespace {

uint64_t widened(const Access& access, uint64_t bits, uint32_t bytes) {
  if (!ptx::is_signed(access.type) || bytes == 8) return bits;
  const uint64_t sign = uint64_t{1} << (8 * bytes - 1);
  return (bits ^ sign) - sign;
}

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
  range_ = range;
  return range.host + in;
}

uint8_t* FunctionalWarp::local_bytes(int lane, uint64_t offset, uint64_t bytes) {
  const uint64_t each = local_.size() / ptx::kLanes;
  return offset < each && bytes <= each - offset ? local_.data() + size_t(lane) * each + offset : nullptr;
}

uint8_t* FunctionalWarp::bytes_at(Space space, uint64_t address, uint32_t bytes, int lane, bool store) {
  const ptx::Windows& windows = file.windows;
  if (space == Space::generic || space == Space::none) {
    space = Space::global;
    if (address >= kPtxSharedWindow) {
      if (windows.shared.has(address))
        space = Space::shared, address -= windows.shared.base;
      else if (windows.local.has(address))
        space = Space::local, address -= windows.local.base;
      else if (windows.param.has(address))
        space = Space::param, address -= windows.param.base;
      else if (windows.constant.has(address))
        space = Space::constant;
    }
  }
  if (address % bytes != 0) {
    fail(FunctionalEnd::misaligned, "GM1", lane,
         fmt::format("address {:#x} is not a multiple of {}", address, bytes));
    return nullptr;
  }
  uint8_t* found = nullptr;
  const char *check = "GM1", *where = "outside of every allocation";
  switch (space) {
    case Space::global: found = global_bytes(address, bytes); break;
    case Space::shared: {
      const uint64_t rank = address >> kClusterRankShift, offset = address & kSmemOffsetMask;
      if (rank < cta.gang.ctas.size() && offset + bytes <= code.shared_bytes)
        found = cta.gang.ctas[rank]->shared.data() + offset;
      check = "SM1", where = "outside of the CTA's shared memory";
      break;
    }
    case Space::local:
    case Space::call_param: {
      const uint64_t base = space == Space::call_param ? code.code.program().local_bytes : 0;
      found = local_bytes(lane, base + address, bytes);
      where = "outside of the thread's local memory";
      break;
    }
    case Space::param: {
      const std::span<const uint8_t> window = code.launch.parameters;
      if (!store && address < window.size() && bytes <= window.size() - address)
        found = const_cast<uint8_t*>(window.data()) + address;
      where = "outside of the parameters";
      break;
    }
    case Space::constant: {
      const std::vector<uint8_t>& all = code.code.constant_bytes();
      const uint64_t at = address - kPtxConstantWindow;
      if (!store && at < all.size() && bytes <= all.size() - at) found = const_cast<uint8_t*>(all.data()) + at;
      where = "outside of the module's constants";
      break;
    }
    default: break;
  }
  if (!found)
    fail(FunctionalEnd::out_of_bounds, check, lane, fmt::format("{} bytes at {:#x}: {}", bytes, address, where));
  return found;
}

bool FunctionalWarp::access(const ptx::Instr& i, LaneMask lanes) {
  const Access& a = code.code.program().accesses[i.detail];
  const FunctionalCode::Memory& how = code.memory[i.detail];
  if (how.uniform_parameter) return load_parameter(a, how, lanes);
  bool moved = false;
  if (lanes == ptx::kAllLanes && a.vector == 1 && a.order == ptx::Order::weak) {
    if (!(a.store ? move_row<true>(a, how, moved) : move_row<false>(a, how, moved))) return false;
    if (moved) return true;
  }
  return a.store ? move_lanes<true>(a, how, lanes) : move_lanes<false>(a, how, lanes);
}

/// The same bytes of the window for all lanes.
bool FunctionalWarp::load_parameter(const Access& a, const FunctionalCode::Memory& how, LaneMask lanes) {
  const uint8_t* from =
      bytes_at(Space::param, a.address.lane_address(file, 0), how.bytes, std::countr_zero(lanes), false);
  if (!from) return false;
  for (size_t v = 0; v < a.data.size(); ++v) {
    const Operand& o = a.data[v];
    if (o.kind == Operand::Kind::sink) continue;
    const uint64_t bits = widened(a, read_bits(from + v * how.element, how.element, false), how.element);
    if (o.width == 4 && lanes == ptx::kAllLanes)
      std::fill_n(file.write<uint32_t>(o.row), ptx::kLanes, uint32_t(bits));
    else
      for (LaneMask left = lanes; left != 0; left &= left - 1) o.set_lane(file, std::countr_zero(left), bits);
  }
  return true;
}

/// All lanes, one register each, at addresses in a row: one copy.  `moved`: it was so.
template <bool kStore>
bool FunctionalWarp::move_row(const Access& a, const FunctionalCode::Memory& how, bool& moved) {
  const Operand& data = a.data[0];
  if (data.kind != Operand::Kind::reg || data.width != how.element || (how.element != 4 && how.element != 8))
    return true;
  if (a.address.width != 8 || (a.space != Space::global && a.space != Space::generic)) return true;
  const uint64_t* addresses = file.read<uint64_t>(a.address.row);
  const uint64_t first = addresses[0];
  if (first + uint64_t(a.address.offset) >= kPtxSharedWindow) return true;
  uint64_t others = 0;
  for (uint32_t lane = 0; lane < uint32_t(ptx::kLanes); ++lane)
    others |= addresses[lane] ^ (first + lane * uint64_t{how.element});
  const uint64_t address = first + uint64_t(a.address.offset);
  if (others != 0 || address % how.element != 0) return true;
  const uint32_t all = how.element * ptx::kLanes;
  uint8_t* at = global_bytes(address, all);
  if (!at) return true;  // lane by lane, to say which
  if constexpr (kStore)
    std::memcpy(at, file.read<uint8_t>(data.row), all);
  else
    std::memcpy(file.write<uint8_t>(data.row), at, all);
  moved = true;
  return true;
}

template <bool kStore>
bool FunctionalWarp::move_lanes(const Access& a, const FunctionalCode::Memory& how, LaneMask lanes) {
  const uint32_t element = how.element;
  const bool ordered = a.order != ptx::Order::weak;
  for (LaneMask left = lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint8_t* at = bytes_at(a.space, a.address.lane_address(file, lane), how.bytes, lane, kStore);
    if (!at) return false;
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
  return true;
}

}  // namespace sm100::sim
