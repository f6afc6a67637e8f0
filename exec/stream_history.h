// SPDX-License-Identifier: Apache-2.0
/// What the work of a program's streams reads and writes in device memory, and whether something orders it: work is
/// carried out in the order of the program's calls, so a missing event or synchronisation changes no number here.
/// On a device two pieces of work that nothing orders may run at once.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "exec/protocol.h"
#include "models/access_map.h"

namespace sm100::exec {

/// Bytes that a piece of work touches, by their kinds.
struct Footprint {
  std::vector<models::ByteRange> of[models::kAccessClasses];

  void add(const Block& block, bool write) {
    of[size_t(write ? models::AccessClass::write : models::AccessClass::read)].push_back(
        {block.address, block.address + block.bytes});
  }
};

/// Two pieces of work that touch the same bytes, at least one of them to write, with nothing between them.
struct Race {
  std::string earlier, later;  ///< in the order of the program's calls: "launch 3 (fill, stream 1)"
  std::string kinds;           ///< of both
  bool first_writes = false, second_writes = false;
  uint64_t address = 0, bytes = 0;  ///< the first range that they share
  bool ignores_default = false;     ///< one of the streams was created with cudaStreamNonBlocking, and the other is
                                    ///< the default stream
  /// One sentence.  `where` says of what the address is a part.
  std::string text(const std::string& where) const;
};

class StreamHistory {
 public:
  /// A piece of work is over.
  /// @param kind  what a race is told of once: the same for launches of a kernel
  /// @return its races with those that it may run beside, the latest first
  std::vector<Race> add(const std::string& name, const std::string& kind, const WorkOrder& order,
                        Footprint footprint);
  /// Memory has been given back; what touched it is over.
  void forget(const Block& block);
  /// Work was dropped that later work may run beside: there was too much of it.
  bool incomplete() const { return incomplete_; }

 private:
  struct Work {
    std::string name, kind;
    uint64_t stream = 0, count = 0;
    uint8_t stream_flags = 0;
    Footprint footprint;
  };
  static std::optional<Race> race_between(const Work& earlier, const Work& later);

  static constexpr size_t kMost = 4096;  ///< pieces of work
  std::deque<Work> open_;                ///< those that later work may run beside
  bool incomplete_ = false;
};

}  // namespace sm100::exec
