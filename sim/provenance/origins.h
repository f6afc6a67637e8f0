// SPDX-License-Identifier: Apache-2.0
/// Where the bytes of shared memory come from, in chunks of 16 bytes: what swizzles move and what an MMA takes of a
/// row.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "models/tma.h"
#include "models/umma_numerics.h"

namespace sm100::sim::provenance {

enum class OriginKind : uint8_t {
  nobody,        ///< no copy and no store has filled it
  global,        ///< a tensor load, or a thread's copy: `record` is a Box
  fill,          ///< out of the tensor's bounds
  store,         ///< a warp's store: `record` is a Write
  in_registers,  ///< of a lane, loaded from global memory: nowhere in shared memory
};

/// Of the 16 bytes at a multiple of 16.
struct Origin {
  uint64_t address = 0;  ///< in global memory, of the first byte; of a fill where it would be
  uint32_t record = 0;
  OriginKind kind = OriginKind::nobody;
  uint8_t bytes = 0;  ///< of global memory that the chunk holds; fewer than 16 where the copy pads

  bool operator==(const Origin&) const = default;
};

/// A load that has landed in a CTA's shared memory.
struct Box {
  models::Source source;
  models::Cycles time = 0;
  /// Threads have no map: a cp.async, or an ld.global whose registers are stored unchanged.
  enum class By : uint8_t { tensor_copy, cp_async, ld_global } by = By::tensor_copy;
  TensorMapFields map{};
  std::array<int32_t, 5> coordinates{};
  int slot = -1;
  uint32_t smem = 0, barrier = 0;  ///< where it begins there, and the mbarrier that counts it
  std::vector<std::pair<uint64_t, uint64_t>>
      pieces{};  ///< of threads' copies: from where to where in global memory

  /// It has brought the byte at that address of global memory.
  bool brings(uint64_t address) const;
};

class SharedOrigins {
 public:
  void clear(int slot);
  void landed(int slot, const models::TensorCopy& copy, uint32_t box);
  void set(int slot, uint32_t offset, uint32_t bytes, const Origin& origin);
  const Origin& at(int slot, uint32_t offset) const;

 private:
  std::vector<Origin>& of(int slot);
  std::vector<std::vector<Origin>> slots_;
};

/// Rows of an operand that lie alike: row i of the run has its chunks at `chunk[c].address + i * pitch`.  Along K
/// these are the two chunks that an MMA takes of a row; along M or N the row's elements of its first and last k,
/// the last nowhere if those between lie otherwise.
struct RowRun {
  int first = 0, count = 0;
  int64_t pitch = 0;
  Origin chunk[2];

  Origin of(int row, int c) const {
    Origin origin = chunk[c];
    if (origin.kind == OriginKind::global || origin.kind == OriginKind::fill)
      origin.address += uint64_t(int64_t(row - first) * pitch);
    return origin;
  }
};

/// The rows of an operand of one MMA: of a pair first those of the even CTA.
std::vector<RowRun> operand_rows(const SharedOrigins& origins, const int (&slots)[2],
                                 const models::MmaOperation& mma, bool a);

}  // namespace sm100::sim::provenance
