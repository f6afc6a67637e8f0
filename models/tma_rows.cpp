// SPDX-License-Identifier: Apache-2.0
#include "models/tma_rows.h"

#include <algorithm>

namespace sm100::models {

namespace {

/// Bytes of a row of a box, or of several that lie alike.
struct Row {
  uint64_t address;  ///< in global memory
  uint32_t smem;     ///< offset in shared memory, before the swizzle
  uint64_t bytes;
  uint32_t count = 1;
};

/// Calls f(row) for what each row of the box moves; once for all rows if each lies alike in its lines of `line`
/// bytes.
template <class F>
void for_each_row(const TensorCopy& copy, uint32_t line, F&& f) {
  const TensorMapFields& map = copy.map;
  if (copy.linear) {  // no row, however long, but lines one after the other
    const uint64_t end = map.global_address + map.box_dim[0];
    for (uint64_t at = map.global_address; at < end;) {
      const uint64_t line_end = std::min(end, (at / line + 1) * line);
      f(Row{at, 0, line_end - at});
      at = line_end;
    }
    return;
  }
  const auto bytes_of = [&](int64_t elements) { return global_bytes(map.data_type, uint64_t(elements)); };
  const uint64_t of_box = bytes_of(box_extent(map, 0)), pitch = smem_pitch(map);
  bool alike = map.global_dim[0] >= uint64_t(std::max<int64_t>(0, int64_t{copy.coords[0]} + box_extent(map, 0))) &&
               copy.coords[0] >= 0 && (pitch % line == 0 || (line % pitch == 0 && of_box <= pitch));
  alike &= !map.im2col;  // pixels beside the image are fill
  for (uint32_t i = 0; i + 1 < map.rank; ++i) alike &= map.global_stride[i] % line == 0;
  const uint32_t lines = uint32_t(box_lines(map));
  if (alike) return f(Row{map.global_address + bytes_of(copy.coords[0]), copy.smem, of_box, lines});
  for (uint32_t l = 0; l < lines; ++l) {
    const BoxLine row = box_line(map, copy.coords.data(), l);
    if (row.in_bounds && row.count > 0)
      f(Row{row.global_address + bytes_of(row.first), copy.smem + row.smem_offset + uint32_t(bytes_of(row.first)),
            bytes_of(row.count)});
  }
}

/// A part of a row that lies in one line of global memory and in one of shared memory, by sectors.
struct Piece {
  uint64_t sectors, partial;  ///< that it touches; those of them that it has in part
};

/// Calls f(piece) for the pieces of a row.
template <class F>
void for_each_piece(const Row& row, uint64_t line, uint64_t sector, F&& f) {
  for (uint64_t done = 0; done < row.bytes;) {
    const uint64_t begin = row.address + done, in_smem = row.smem + done;
    const uint64_t bytes = std::min({row.bytes - done, line - begin % line, line - in_smem % line});
    const uint64_t end = begin + bytes, sectors = (end - 1) / sector - begin / sector + 1;
    const uint64_t whole = end / sector - std::min(end / sector, (begin + sector - 1) / sector);
    f(Piece{sectors, sectors - whole});
    done += bytes;
  }
}

/// The sum of f(piece) over all rows.
template <class F>
uint64_t sum_of_pieces(const TensorCopy& copy, const DeviceProfile& profile, uint64_t& rows, F&& f) {
  const auto line = uint32_t(profile.tma.row_bytes), sector = uint32_t(profile.tma.sector_bytes);
  uint64_t sum = 0;
  for_each_row(copy, line, [&](const Row& row) {
    for_each_piece(row, line, sector, [&](const Piece& piece) { sum += row.count * f(piece); });
    rows += row.count;
  });
  return sum;
}

}  // namespace

/// A cycle for the whole sectors of a piece, and one for each sector that it has in part.
double load_row_cycles(const TensorCopy& copy, const DeviceProfile& profile) {
  uint64_t rows = 0;
  const uint64_t slots = sum_of_pieces(copy, profile, rows, [](const Piece& piece) {
    return piece.partial + uint64_t(piece.sectors > piece.partial);
  });
  const uint64_t outside = copy.linear ? 0 : box_lines(copy.map) - rows;
  return double(slots + outside) / profile.tma.load_rows_per_cycle;
}

/// A cycle for each sector of a piece, and one more if it has one in part.
double store_row_cycles(const TensorCopy& copy, const DeviceProfile& profile) {
  uint64_t rows = 0;
  const uint64_t slots = sum_of_pieces(
      copy, profile, rows, [](const Piece& piece) { return piece.sectors + uint64_t(piece.partial > 0); });
  return double(slots) / profile.tma.store_sectors_per_cycle;
}

/// As long as the bytes need; a row that lies on two lines of global memory is accessed for each (assumed).
double port_cycles(const TensorCopy& copy, const DeviceProfile& profile) {
  const uint64_t line = uint64_t(profile.tma.row_bytes);
  uint64_t bytes = 0;
  for_each_row(copy, uint32_t(line), [&](const Row& row) {
    bytes += row.count * row.bytes * ((row.address + row.bytes - 1) / line - row.address / line + 1);
  });
  return double(bytes) * profile.smem.tma_port_share / profile.smem.bytes_per_cycle;
}

}  // namespace sm100::models
