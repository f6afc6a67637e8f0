// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/origins.h"

#include "models/umma_operands.h"

namespace sm100::sim::provenance {
namespace {

constexpr uint32_t kChunk = 16, kChunks = (1u << 18) / kChunk;

bool aligned_16b(TensorMapDataType type) { return is_align16b(type); }

}  // namespace

std::vector<Origin>& SharedOrigins::of(int slot) {
  if (size_t(slot) >= slots_.size()) slots_.resize(size_t(slot) + 1);
  std::vector<Origin>& origins = slots_[size_t(slot)];
  if (origins.empty()) origins.resize(kChunks);
  return origins;
}

bool Box::brings(uint64_t address) const {
  if (by != By::tensor_copy)
    return std::any_of(pieces.begin(), pieces.end(),
                       [&](const auto& piece) { return address >= piece.first && address < piece.second; });
  for (uint32_t l = 0; l < uint32_t(box_lines(map)); ++l) {
    const BoxLine line = box_line(map, coordinates.data(), l);
    if (!line.in_bounds) continue;
    const uint64_t first = line.global_address + global_bytes(map.data_type, uint64_t(line.first));
    if (address - first < global_bytes(map.data_type, uint64_t(line.count))) return true;
  }
  return false;
}

void SharedOrigins::clear(int slot) { of(slot).assign(kChunks, {}); }

const Origin& SharedOrigins::at(int slot, uint32_t offset) const {
  static constexpr Origin kNobody{};
  const auto index = size_t(slot);
  if (index >= slots_.size() || slots_[index].empty()) return kNobody;
  return slots_[index][offset / kChunk % kChunks];
}

void SharedOrigins::set(int slot, uint32_t offset, uint32_t bytes, const Origin& origin) {
  std::vector<Origin>& origins = of(slot);
  for (uint32_t at = offset / kChunk; at * kChunk < offset + bytes && at < kChunks; ++at) {
    origins[at] = origin;
    if (origin.kind == OriginKind::global) origins[at].address += uint64_t(at - offset / kChunk) * kChunk;
  }
}

void SharedOrigins::landed(int slot, const models::TensorCopy& copy, uint32_t box) {
  std::vector<Origin>& origins = of(slot);
  const TensorMapFields& map = copy.map;
  const auto bytes_of = [&](int64_t elements) { return int64_t(global_bytes(map.data_type, uint64_t(elements))); };
  const bool pads = aligned_16b(map.data_type);
  constexpr int kPackedElements = 16;
  const uint32_t data = pads ? uint32_t(bytes_of(kPackedElements)) : kChunk;
  const uint32_t row = uint32_t(bytes_of(box_extent(map, 0)));
  const uint32_t lines = uint32_t(box_lines(map));
  for (uint32_t l = 0; l < lines; ++l) {
    const BoxLine line = box_line(map, copy.coords.data(), l);
    const int64_t first = line.in_bounds ? bytes_of(line.first) : 0,
                  end = line.in_bounds ? first + bytes_of(line.count) : 0;
    for (uint32_t from = 0, to = 0; from < row; from += data, to += kChunk) {
      const uint32_t at = copy.smem + line.smem_offset + to;
      const uint32_t place = swizzle_address(smem_swizzle(map.swizzle), at) / kChunk % kChunks;
      const bool inside = int64_t(from) < end && int64_t(from) + int64_t(data) > first;
      origins[place] = {.address = line.global_address + from,
                        .record = box,
                        .kind = inside ? OriginKind::global : OriginKind::fill,
                        .bytes = uint8_t(std::min(data, row - from))};
    }
  }
}

using models::kOperandRowBytes;

std::vector<RowRun> operand_rows(const SharedOrigins& origins, const int (&slots)[2],
                                 const models::MmaOperation& mma, bool a) {
  std::vector<RowRun> runs;
  const SmemDescriptorFields& descriptor = a ? mma.a : mma.b;
  const int rows = models::UmmaNumerics::rows_per_cta(mma, a);
  const bool along_k = !(a ? mma.idesc.transpose_a : mma.idesc.transpose_b);
  const uint32_t last_k = uint32_t(mma_k(mma.kind)) - 1, bytes = kOperandRowBytes / (last_k + 1);
  const auto origin_of = [&](int slot, uint32_t row, uint32_t c) {
    if (along_k) return origins.at(slot, operand_address(descriptor, Major::k, 1, row, c * kChunk));
    const uint32_t address = operand_address(descriptor, Major::mn, bytes, row, c * last_k);
    Origin origin = origins.at(slot, address);
    if (origin.kind == OriginKind::global || origin.kind == OriginKind::fill) origin.address += address % kChunk;
    return origin;
  };
  // Along M or N every k of the rows that share pieces of 16 bytes: as far apart in global memory, up to the
  // tensor's end.
  const auto regular = [&](int slot, uint32_t row) {
    const auto at = [&](uint32_t k) {
      return origins.at(slot, operand_address(descriptor, Major::mn, bytes, row, k));
    };
    const Origin first = at(0), second = at(1);
    for (uint32_t k = 2; k <= last_k && second.kind == OriginKind::global; ++k) {
      const Origin piece = at(k);
      if (piece.kind == OriginKind::fill) break;
      if (piece.kind != first.kind || piece.address - first.address != k * (second.address - first.address))
        return false;
    }
    return true;
  };
  bool all_k = true;
  for (int cta = 0; cta < mma.cta_group; ++cta)
    for (int i = 0; i < rows; ++i) {
      const int row = cta * rows + i;
      Origin chunk[2];
      for (uint32_t c = 0; c < 2; ++c) chunk[c] = origin_of(slots[cta], uint32_t(i), c);
      if (!along_k) {
        if (uint32_t(i) % (kChunk / bytes) == 0) all_k = regular(slots[cta], uint32_t(i));
        if (!all_k) chunk[1].address = 0;  // nowhere
      }
      RowRun* const last = runs.empty() ? nullptr : &runs.back();
      if (last && last->first + last->count == row) {
        if (last->count == 1) last->pitch = int64_t(chunk[0].address - last->chunk[0].address);
        if (last->of(row, 0) == chunk[0] && last->of(row, 1) == chunk[1]) {
          ++last->count;
          continue;
        }
        if (last->count == 1) last->pitch = 0;
      }
      runs.push_back({row, 1, 0, {chunk[0], chunk[1]}});
    }
  return runs;
}

}  // namespace sm100::sim::provenance
