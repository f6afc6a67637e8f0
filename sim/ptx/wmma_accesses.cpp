// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/wmma_accesses.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

namespace sm100::sim::lanes {

namespace {

using models::WmmaFragment;
using models::WmmaPlace;
using ptx::kLanes;

/// An element in memory.
struct Spot {
  int line, at;  ///< at: elements from the line's first
};
Spot spot(const WmmaFragment& f, int lane, int r, int e) {
  const WmmaPlace place = models::wmma_place(f, lane, r, e);
  return f.row_major ? Spot{place.row, place.column} : Spot{place.column, place.row};
}

/// Neighbours in registers are neighbours in memory: elements of a register, or registers of one element.
bool contiguous(const WmmaFragment& f) {
  if (f.elements() == 1 && !f.is_sum()) return true;  // no neighbours
  const Spot first = spot(f, 0, 0, 0), second = f.elements() > 1 ? spot(f, 0, 0, 1) : spot(f, 0, 1, 0);
  return second.line == first.line && second.at == first.at + 1;
}

class Planner {
 public:
  Planner(const WmmaFragment& fragment, bool load, bool shared) : f_(fragment), contiguous_(contiguous(fragment)) {
    const int bits = f_.element_bits(), registers = f_.distinct_registers();
    plan_.line_bytes = uint32_t(f_.line_elements() * bits / 8);
    plan_.image_bytes = plan_.line_bytes * uint32_t(f_.lines());
    find_places(registers);
    if (load && shared && !f_.is_sum() && bits <= 16 && (contiguous_ || bits == 16))
      by_matrices(registers, bits == 16 ? 4 : bits == 8 ? 2 : 1);
    else if (contiguous_)
      by_registers(registers, f_.is_sum() && f_.elements() == 1 ? 2 : 1);
    else if (bits == 16)
      by_blocks(registers);
    else
      by_elements(registers);
  }
  WmmaPlan take() { return std::move(plan_); }

 private:
  uint16_t byte(int at) const { return uint16_t(at * f_.element_bits() / 8); }

  void find_places(int registers) {
    const bool whole = contiguous_ || f_.elements() == 1;
    plan_.pieces = whole ? 1 : uint32_t(f_.elements());
    plan_.piece_bytes = uint32_t(f_.register_bytes()) / plan_.pieces;
    for (int lane = 0; lane < kLanes; ++lane)
      for (int r = 0; r < registers; ++r)
        for (int e = 0; e < int(plan_.pieces); ++e) {
          const Spot from = spot(f_, lane, r, e);
          plan_.places.push_back(uint16_t(uint32_t(from.line) * plan_.line_bytes + byte(from.at)));
        }
  }

  /// Where the 8 lines of 16 bytes begin that all lanes' register r comes from.
  Spot corner(int r) const {
    Spot first = spot(f_, 0, r, 0);
    for (int lane = 0; lane < kLanes; ++lane) {
      const Spot other = spot(f_, lane, r, 0);
      first = {std::min(first.line, other.line), std::min(first.at, other.at)};
    }
    return first;
  }

  void by_matrices(int registers, int most) {
    for (int r = 0; r < registers; r += most) {
      WmmaAccess access{.bytes = 16, .matrices = std::min(most, registers - r)};
      for (int q = 0; q < access.matrices; ++q)
        for (int i = 0; i < 8; ++i) {
          const Spot first = corner(r + q);
          access.line[size_t(8 * q + i)] = uint16_t(first.line + i);
          access.offset[size_t(8 * q + i)] = byte(first.at);
        }
      plan_.accesses.push_back(access);
    }
  }

  void add(uint32_t bytes, int r, int e) {
    WmmaAccess access{.bytes = bytes};
    for (int lane = 0; lane < kLanes; ++lane) {
      const Spot from = spot(f_, lane, r, e);
      access.line[size_t(lane)] = uint16_t(from.line), access.offset[size_t(lane)] = byte(from.at);
    }
    plan_.accesses.push_back(access);
  }
  void by_registers(int registers, int together) {
    for (int r = 0; r < registers; r += together) add(uint32_t(together * f_.register_bytes()), r, 0);
  }
  void by_elements(int registers) {
    for (int r = 0; r < registers; ++r)
      for (int e = 0; e < f_.elements(); ++e) add(uint32_t(f_.element_bits()) / 8, r, e);
    if (f_.elements() > 1) plan_.merges = registers;
  }

  /// A register of each lane as it lies in memory; movmatrix transposes it.
  void by_blocks(int registers) {
    for (int r = 0; r < registers; ++r) {
      WmmaAccess access{.bytes = 4};
      const Spot first = corner(r);
      for (int lane = 0; lane < kLanes; ++lane) {
        access.line[size_t(lane)] = uint16_t(first.line + lane / 4);
        access.offset[size_t(lane)] = uint16_t(byte(first.at) + 4 * (lane % 4));
      }
      plan_.accesses.push_back(access);
    }
    plan_.exchanges = registers;
  }

  const WmmaFragment& f_;
  const bool contiguous_;
  WmmaPlan plan_;
};

std::vector<uint64_t> read(const ServiceOperands& c, size_t operand) {
  const std::span<const ptx::Operand> from = registers_of(c.operand(operand));
  std::vector<uint64_t> held(size_t(kLanes) * from.size());
  for (size_t lane = 0; lane < size_t(kLanes); ++lane)
    for (size_t r = 0; r < from.size(); ++r) held[lane * from.size() + r] = c.value(from[r], int(lane));
  return held;
}

int registers_in(const ptx::Service& service, size_t operand) {
  return int(registers_of(service.operands[operand]).size());
}

}  // namespace

const WmmaPlan& WmmaMove::plan() const {
  const auto& f = fragment;
  thread_local std::map<std::tuple<int, int, int, int, int, int, bool, bool, bool>, WmmaPlan> known;
  const bool shared = space == ptx::Space::shared;
  const auto [at, fresh] =
      known.try_emplace({int(f.matrix), f.m, f.n, f.k, int(f.type), int(f.sum), f.row_major, load, shared});
  if (fresh) at->second = Planner(f, load, shared).take();
  return at->second;
}

uint64_t WmmaMove::stride_bits(const ServiceOperands& c, int lane) const {
  const uint64_t elements = stride ? uint32_t(c.value(*stride, lane)) : uint64_t(fragment.line_elements());
  return elements * uint64_t(fragment.element_bits());
}

std::string WmmaMove::misaligned(const ServiceOperands& c, int lane) const {
  const char* const name = load ? "wmma.load" : "wmma.store";
  const uint64_t at = c.address(*address, lane), bits = stride_bits(c, lane);
  if (at % alignment() != 0) return fmt::format("{} at {:#x}: must be {}-byte aligned", name, at, alignment());
  if (bits % (8 * alignment()) == 0) return "";
  return fmt::format("{} with a stride of {} elements of {} bits: must be a multiple of {} bytes", name,
                     bits / uint64_t(fragment.element_bits()), fragment.element_bits(), alignment());
}

void WmmaMove::to_registers(const ServiceOperands& c, const std::vector<uint8_t>& image) const {
  const WmmaPlan& p = plan();
  const auto distinct = uint32_t(fragment.distinct_registers());
  for (ptx::LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const auto lane = uint32_t(std::countr_zero(left));
    for (uint32_t r = 0; r < registers.size(); ++r) {
      const uint16_t* const places = &p.places[(lane * distinct + r % distinct) * p.pieces];
      uint8_t bytes[8] = {};
      for (uint32_t i = 0; i < p.pieces; ++i)
        std::memcpy(bytes + i * p.piece_bytes, &image[places[i]], p.piece_bytes);
      uint64_t value;
      std::memcpy(&value, bytes, sizeof value);
      c.set(registers[r], int(lane), value);
    }
  }
}

std::vector<uint8_t> WmmaMove::from_registers(const ServiceOperands& c) const {
  const WmmaPlan& p = plan();
  std::vector<uint8_t> image(p.image_bytes);
  for (uint32_t lane = 0; lane < uint32_t(kLanes); ++lane)
    for (uint32_t r = 0; r < registers.size(); ++r) {
      const uint64_t value = c.value(registers[r], int(lane));
      uint8_t bytes[8];
      std::memcpy(bytes, &value, sizeof value);
      const uint16_t* const places = &p.places[(lane * uint32_t(registers.size()) + r) * p.pieces];
      for (uint32_t i = 0; i < p.pieces; ++i)
        std::memcpy(&image[places[i]], bytes + i * p.piece_bytes, p.piece_bytes);
    }
  return image;
}

std::optional<WmmaMove> wmma_move_of(const ptx::Service& service) {
  const auto fragment = models::wmma_fragment(service.modifiers.list);
  const size_t size = service.operands.size();
  if (!fragment || (size != 2 && size != 3)) return std::nullopt;
  WmmaMove move{.fragment = *fragment, .load = service.base == "wmma.load"};
  const size_t address = move.load ? 1 : 0;
  move.address = &service.operands[address];
  move.registers = registers_of(service.operands[1 - address]);
  if (size == 3) move.stride = &service.operands[2];
  if (service.modifiers.has(".global")) move.space = ptx::Space::global;
  if (service.modifiers.has(".shared") || service.modifiers.has(".shared::cta")) move.space = ptx::Space::shared;
  if (int(move.registers.size()) != fragment->registers()) return std::nullopt;
  return move;
}

std::optional<models::WmmaForm> wmma_of(const ptx::Service& service) {
  const auto form = models::wmma_form(service.modifiers.list);
  const bool fits = form && service.operands.size() == 4 && registers_in(service, 0) == form->d_registers() &&
                    registers_in(service, 1) == form->a_registers() &&
                    registers_in(service, 2) == form->b_registers() &&
                    registers_in(service, 3) == form->c_registers();
  return fits ? form : std::nullopt;
}

bool has_wmma(const ptx::Service& service) {
  return service.base == "wmma.mma" ? wmma_of(service).has_value() : wmma_move_of(service).has_value();
}

void wmma(const ServiceOperands& c, const models::WmmaForm& form, models::Accumulation accumulation,
          models::MmaSyncCore core) {
  const std::vector<uint64_t> a = read(c, 1), b = read(c, 2), old = read(c, 3);
  const std::span<const ptx::Operand> to = registers_of(c.operand(0));
  std::vector<uint64_t> sums(size_t(kLanes) * to.size());
  models::wmma(form, accumulation, core, a.data(), b.data(), old.data(), sums.data());
  for (size_t lane = 0; lane < size_t(kLanes); ++lane)
    for (size_t r = 0; r < to.size(); ++r) c.set(to[r], int(lane), sums[lane * to.size() + r]);
}

}  // namespace sm100::sim::lanes
