// SPDX-License-Identifier: Apache-2.0
#include "models/tensor_memory_copy.h"

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "models/time.h"

namespace sm100::models {

namespace {

constexpr uint32_t kChunk = 16;  ///< bytes that lie together in shared memory, and that one decompression takes

std::string text_of(const TensorMemoryCopyCommand& c) {
  return fmt::format("tcgen05.cp.{}{}", name(c.shape), name(c.decompression));
}

/// f(address, row, first column of the 4) for each 16 bytes of the source.
template <class F>
void for_each_chunk(TmemCopyShape shape, const SmemDescriptorFields& from, F&& f) {
  for (uint32_t row = 0; row < copy_rows(shape); ++row)
    for (uint32_t chunk = 0; chunk < copy_row_bytes(shape) / kChunk; ++chunk)
      f(copy_source_address(from, row, chunk), row, chunk * kChunk / 4);
}

bool in_shared_memory(const TensorMemoryCopy& copy, uint32_t end) {
  bool inside = true;
  for_each_chunk(copy.shape, copy.from, [&](uint32_t address, uint32_t, uint32_t) {
    inside &= address >= kSmemUserBase && address + kChunk <= end;
  });
  return inside;
}

}  // namespace

std::optional<TensorMemoryCopy> check_copy(const TensorMemoryCopyCommand& c, int slot, const CopyParticipant& own,
                                           const CopyParticipant* peer, Observer& observer) {
  const auto violate = [&](const char* id, std::string message) {
    observer.violation({id, std::move(message), now(), slot, 0, c.source});
    return std::nullopt;
  };
  if (c.cta_group == 2 && !peer)
    return violate("TC8", "tcgen05.cp.cta_group::2 by a CTA that has no peer: a pair is two neighbouring ranks");
  const TensorMemoryCopy copy{c.shape, c.decompression, c.cta_group, c.to, decode(c.from)};
  if (const auto error = validate(copy.from); error != SmemDescriptorError::none)
    return violate("TC6", fmt::format("shared-memory descriptor of {}: {}", text_of(c), message(error)));
  if (!operand_layout_modelled(copy.from, Major::k, 1))
    return violate("not-implemented", fmt::format("not implemented: {} from this layout", text_of(c)));
  const uint32_t lane = c.to.lane(), column = c.to.column(), columns = copy_columns(c.shape);
  if (!copy_lane_allowed(c.shape, lane))
    return violate("TC2", fmt::format("{} to lane {}: allowed is {}", text_of(c), lane,
                                      copy_lane_allowed(c.shape, 1) ? "0 to 31" : "0"));
  if (!copy_column_allowed(column))
    return violate("TC2",
                   fmt::format("{} to column {}: it must be a multiple of 4 (16 bytes)", text_of(c), column));
  for (const CopyParticipant* in : {&own, c.cta_group == 2 ? peer : nullptr}) {
    if (!in) continue;
    const char* of = in == &own ? "" : " of the peer CTA";
    if (column + columns > kTmemColumns || !in->tmem.allocated(column, columns))
      return violate("TC1", fmt::format("{} writes columns {} to {}{}: not inside a live allocation", text_of(c),
                                        column, column + columns - 1, of));
    if (!in_shared_memory(copy, in->smem.end()))
      return violate("TC7", fmt::format("{} reads outside the CTA's shared memory{} ({:#x} to {:#x})", text_of(c),
                                        of, kSmemUserBase, in->smem.end()));
  }
  return copy;
}

TensorMemory::LaneGroups groups_written(TmemCopyShape shape) {
  return shape == TmemCopyShape::s4x256b ? TensorMemory::LaneGroups(0) : TensorMemory::LaneGroups(0xff);
}

void execute(const TensorMemoryCopy& copy, const CopyParticipant& in) {
  for_each_chunk(copy.shape, copy.from, [&](uint32_t address, uint32_t row, uint32_t column) {
    std::array<uint8_t, kChunk> bytes;
    for (uint32_t i = 0; i < kChunk; ++i)
      bytes[i] = uint8_t(copied_byte(in.smem.data(address), i, copy.decompression));
    for (uint32_t replica = 0; replica < copy_replicas(copy.shape); ++replica) {
      const uint32_t lane = copy.to.lane() + copy_lane(copy.shape, row, replica);
      std::memcpy(&in.tmem.cell(lane, copy.to.column() + column), bytes.data(), kChunk);
    }
  });
}

}  // namespace sm100::models
