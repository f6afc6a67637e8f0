// SPDX-License-Identifier: Apache-2.0
/// Global memory behind an L2 and HBM.
///
/// Modelled: the bytes of every allocation; L2 hit latency and bandwidth; 128-byte lines that stay in L2 once read;
/// a read of a line that is still on its way from HBM waits for it and costs no second transfer; HBM as channels
/// that each serve blocks of addresses, one access after the other, and now and then late (memory.dram_wait_ns);
/// lines of other programs that L2 must write back before it can take ours; address translations that nobody has
/// asked for yet; writes that share HBM with reads once the allocations exceed what L2 holds (memory.l2_mib).
/// Approximated: no eviction of the kernel's own lines; one latency to both L2 partitions (a tensor copy has lines
/// in both and waits for the farther one); all constants from the profile's [memory].
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/isa/address.h"
#include "models/profiles/profile.h"

namespace sm100::models {

struct GlobalRange {
  GlobalAddr address{};
  uint64_t bytes = 0;
};

class MemorySystem {
 public:
  explicit MemorySystem(const DeviceProfile& profile);

  /// Reserves `bytes` of global memory, 256-byte aligned; `with_data` gives it bytes, zeroed.
  GlobalAddr allocate(std::string name, uint64_t bytes, bool with_data);
  /// [address, address + bytes), which overlaps no other, is an allocation, too.
  /// @param there  its bytes, which the caller keeps and owns; nullptr: it gets some as allocate()'s do
  void place(std::string name, GlobalAddr address, uint64_t bytes, bool with_data, uint8_t* there = nullptr);

  /// L2 is full of lines that others have written, and the translations of no page are at hand: what a memset of
  /// all of L2 leaves behind.
  void make_dirty();
  /// Lines of [address, address + size) that nobody has asked for are in L2.
  void warm(GlobalAddr address, uint64_t size);

  /// The bytes at `address`, or nullptr when [address, address + size) is not inside one allocation with
  /// data.
  uint8_t* data(GlobalAddr address, uint64_t size);

  /// The allocation that holds `address`, and how far into it: "locks", 12.  Empty: none does.
  std::pair<std::string, uint64_t> place(GlobalAddr address);

  /// One copy's traffic to L2, gathered line by line before asking for its latency.
  struct Request {
    Cycles ready = 0;  ///< cycle at which the last line that is on its way is in L2
    struct Line {
      Cycles* ready;  ///< cycle at which it is in L2
      uint64_t address;
    };
    std::vector<Line> missing;  ///< lines that HBM has to bring
    uint64_t lines = 0;         ///< asked of L2
    int cluster = -1;           ///< that asked last
    Cycles arrives = 0;         ///< cycle at which it gets the data
  };
  /// The request of a box that was read before: its lines are in L2 or on their way, and none is looked at again.
  /// `box` identifies the bytes (a hash of where they lie); nullptr when this box is new.
  const Request* known_box(uint64_t box) const {
    const auto it = known_boxes_.find(box);
    return it == known_boxes_.end() ? nullptr : &it->second;
  }
  /// Remembers what read() has found out about a box, and who asked for it last.
  void remember_box(uint64_t box, const Request& request) {
    known_boxes_[box] = {.ready = request.ready,
                         .missing = {},
                         .lines = request.lines,
                         .cluster = request.cluster,
                         .arrives = request.arrives};
  }
  /// Adds the lines of [address, address + size) to the request.
  void touch(Request& request, GlobalAddr address, uint64_t size);
  /// Cycle at which the data of a read asked for at `at` have arrived; missing lines are then on their way, and
  /// request.ready says when all of its lines are in L2.  CTAs of a cluster that ask for a box while it is on its
  /// way to another of them share the answer: L2 is asked once (docs/measurements.md, law 4.2, request coalescer).
  /// @param cluster  of the CTA that asks, any number that names it; -1: nobody's
  Cycles read(Request& request, Cycles at, int cluster = -1);
  /// Cycle at which memory has taken `bytes` offered at `at`: at once while L2 holds all that the kernel touches,
  /// at HBM's pace, which reads share, when it does not.
  Cycles accept_write(uint64_t bytes, Cycles at);
  /// Cycle at which a write handed over at `at` is visible to the whole device.
  Cycles write(Cycles at);

  uint64_t dram_bytes() const { return dram_bytes_; }
  /// Bytes that reads asked of L2, in whole lines; a multicast asks once.
  uint64_t l2_read_bytes() const { return l2_read_bytes_; }

 private:
  struct Allocation {
    std::string name;
    uint64_t base, bytes;
    std::vector<uint8_t> own;
    uint8_t* data;                   ///< nullptr: without data
    std::vector<Cycles> line_ready;  ///< per line: cycle at which it is in L2; kNotInL2 if nobody asked yet
  };
  static constexpr Cycles kNotInL2 = ~Cycles{0};
  Allocation* find(GlobalAddr address, uint64_t size);

  /// Takes the channel of an address for one line, from cycle `at` on; returns when the channel has served it.
  double access_dram(uint64_t address, double at);
  /// Cycles that lines from this address on come late: an exponential distribution, drawn from the address, so that
  /// it is the same in every run.
  double dram_wait(uint64_t address) const;
  /// Cycle at which the page's translation is known to a request of cycle `at`.
  double translated(uint64_t address, double at);

  const DeviceProfile& profile_;
  std::vector<Allocation> allocations_;
  std::unordered_map<uint64_t, Request> known_boxes_;
  size_t last_found_ = 0;
  static constexpr uint64_t kFirstBase = 0x7f0000000000;
  uint64_t next_base_ = kFirstBase;
  uint64_t allocated_ = 0;            ///< bytes of all allocations, with the gaps behind them
  double l2_free_ = 0;                ///< cycle at which L2 has answered everything asked for so far
  std::vector<double> channel_free_;  ///< cycle at which each HBM channel has served everything asked for so far
  double line_cycles_ = 0;            ///< that a channel takes for a line
  uint64_t dirty_lines_ = 0;          ///< of others, in L2
  bool translations_cold_ = false;
  std::unordered_map<uint64_t, double> translated_;  ///< by page: cycle from which its translation is known
  uint64_t dram_bytes_ = 0, l2_read_bytes_ = 0;
};

}  // namespace sm100::models
