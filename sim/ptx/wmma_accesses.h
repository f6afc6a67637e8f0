// SPDX-License-Identifier: Apache-2.0
/// How the matrix of a wmma.load or wmma.store passes between memory and registers: the accesses that ptxas 13.0
/// makes of it, for sm_90a and sm_100a alike.  In between it is an image: its lines one after the other, without
/// gaps.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/wmma.h"
#include "sim/ptx/service_operands.h"

namespace sm100::sim::lanes {

/// One access of the warp: where each lane's bytes lie, by the matrix's line (a row, or a column of a column-major
/// one) and the byte in it.
struct WmmaAccess {
  uint32_t bytes = 0;  ///< of a lane; of rows 16
  int matrices = 0;    ///< ldmatrix: lane 8 q + i has row i of matrix q; 0: a load or store by lanes
  std::array<uint16_t, ptx::kLanes> line{}, offset{};
};

struct WmmaPlan {
  std::vector<WmmaAccess> accesses;
  int exchanges = 0;  ///< movmatrix instructions beside them
  int merges = 0;     ///< registers that are made of single bytes
  uint32_t line_bytes = 0, image_bytes = 0;
  /// A register is made of so many pieces of so many bytes; where in the image they lie: [(lane * distinct
  /// registers + r) * pieces + piece].
  uint32_t pieces = 1, piece_bytes = 4;
  std::vector<uint16_t> places;

  uint32_t in_image(const WmmaAccess& access, int lane) const {
    return access.line[size_t(lane)] * line_bytes + access.offset[size_t(lane)];
  }
};

/// A wmma.load or wmma.store.
struct WmmaMove {
  models::WmmaFragment fragment;
  bool load = true;
  ptx::Space space = ptx::Space::generic;  ///< global, shared or generic
  const ptx::Operand* address = nullptr;
  std::span<const ptx::Operand> registers{};
  const ptx::Operand* stride = nullptr;  ///< from line to line, in elements; nullptr: lines without gaps

  const WmmaPlan& plan() const;
  /// PTX asks for the fragment's bytes; the accesses need no more than 16, nor does CUDA C++ of a stride.
  uint32_t alignment() const { return std::min(16u, fragment.bytes()); }
  /// What is wrong with a lane's address or stride; empty: nothing.
  std::string misaligned(const ServiceOperands& c, int lane) const;
  /// Of a lane's bytes in an access.
  uint64_t address_of(const ServiceOperands& c, const WmmaAccess& access, int lane) const {
    const uint64_t first = c.address(*address, lane), line = access.line[size_t(lane)];
    return first + stride_bits(c, lane) / 8 * line + access.offset[size_t(lane)];
  }
  void to_registers(const ServiceOperands& c, const std::vector<uint8_t>& image) const;
  std::vector<uint8_t> from_registers(const ServiceOperands& c) const;

 private:
  uint64_t stride_bits(const ServiceOperands& c, int lane) const;
};
/// nullopt: no form that there is, or its operands have other registers than it asks for.
std::optional<WmmaMove> wmma_move_of(const ptx::Service& service);
std::optional<models::WmmaForm> wmma_of(const ptx::Service& service);
inline constexpr const char* kNoSuchWmma = "wmma of this shape, of these types, or with other registers";
/// Of a wmma.load, wmma.mma or wmma.store: there is that form.
bool has_wmma(const ptx::Service& service);

/// d, a, b, c
void wmma(const ServiceOperands& c, const models::WmmaForm& form, models::Accumulation accumulation,
          models::MmaSyncCore core);

}  // namespace sm100::sim::lanes
