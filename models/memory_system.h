// SPDX-License-Identifier: Apache-2.0
/// Global memory behind an L2 and HBM.
///
/// Modelled: the bytes of every allocation; what L2 holds, by its size and what was used last (l2_cache.h), and
/// what it must write back; its latency, near and across the chip; the paths of a GPC and of the chip to it, for
/// reads and writes, in units of 64 bytes; a read of a line that is still on its way from HBM waits for it and
/// costs no second transfer; equal requests that wait together are one; HBM as channels that each serve blocks of
/// addresses, one access after the other, some faster than others (memory.dram_spread), and now and then late
/// (memory.dram_wait_ns); address translations that nobody has asked for yet.  Approximated: paths serve one box
/// after the other, for times that vary (memory.l2_gpc_spread); all SMs of a GPC get the same; threads' own loads
/// take the latency of a hit wherever the line is; all constants from the profile's [memory].
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/isa/address.h"
#include "models/access_map.h"
#include "models/l2_cache.h"
#include "models/profiles/profile.h"
#include "models/timetable.h"

namespace sm100::models {

struct GlobalRange {
  GlobalAddr address{};
  uint64_t bytes = 0;
};

/// Ranges of the same size, one after the other in equal distances: the rows of a box along one dimension.
struct GlobalRows {
  GlobalAddr first{};
  uint64_t bytes = 0;     ///< of each
  uint64_t distance = 0;  ///< from the begin of one to the begin of the next
  uint32_t rows = 1;
};

/// A number to divide by, most often a power of two.
class Divisor {
 public:
  explicit Divisor(uint64_t by) : by_(by), shift_(std::has_single_bit(by) ? std::countr_zero(by) : -1) {}
  uint64_t operator()(uint64_t value) const { return shift_ >= 0 ? value >> shift_ : value / by_; }
  uint64_t rest(uint64_t value) const { return shift_ >= 0 ? value & (by_ - 1) : value % by_; }

 private:
  uint64_t by_;
  int shift_;
};

/// Who reads or writes.
struct MemoryPort {
  int sm = 0;
  int cluster = -1;        ///< any number that names the CTA's cluster; -1: nobody's
  uint64_t in_flight = 0;  ///< bytes that loads of the SM have asked for and not got
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
  /// All SMs have read [address, address + size), in this order: as much of it as L2 holds is there.
  void warm(GlobalAddr address, uint64_t size);

  /// The bytes at `address`, or nullptr when [address, address + size) is not inside one allocation with
  /// data.
  uint8_t* data(GlobalAddr address, uint64_t size);

  /// An allocation, for reports; as a matrix where it is one.
  struct Placed {
    std::string name;
    uint64_t base = 0, bytes = 0;
    std::string type{};
    int64_t rows = 0, columns = 0;  ///< 0: not known

    bool holds(uint64_t address) const { return address - base < bytes; }
  };
  /// What begins at `address` is a matrix, row by row.
  void describe(GlobalAddr address, std::string_view type, int64_t rows, int64_t columns);
  /// The allocation that holds the address, else the one whose begin or end is next to it; nullptr: there is none.
  const Placed* nearest(GlobalAddr address) const;
  /// The allocation that holds `address`, and how far into it: "locks", 12.  Empty: none does.
  std::pair<std::string, uint64_t> place(GlobalAddr address);

  /// Cycles at which the first and the last of a copy's bytes arrive.
  struct Arrival {
    Cycles first = 0, last = 0;
  };
  /// What a copy reads: gathered with touch(), then asked for with read().
  struct Request {
    uint64_t lines = 0;    ///< of 128 bytes
    uint64_t sectors = 0;  ///< of 32 bytes
    uint64_t units = 0;    ///< of 64 bytes, in which L2's paths move them; no row shares one with another

    struct Missing {
      L2Line* line;
      uint64_t address;
      uint32_t sectors;
    };
    std::vector<Missing> missing;     ///< lines that HBM has to bring
    Cycles first_ready = ~Cycles{0};  ///< cycle at which L2 has the first of the others
    Cycles last_ready = 0;            ///< and the last
    bool from_other_half = false;
    std::array<uint32_t, L2Line::kHalves> generation{};  ///< in which each half has all of it; 0: not known
    /// Who waits for the last answer, by cluster or GPC, and what came of it.
    struct Asked {
      int by = -1;
      uint32_t times = 0;          ///< SMs that share it
      std::array<int16_t, 8> sms;  ///< the first of them
      Cycles from = 0;             ///< L2 was asked
      Arrival arrival;
      bool is_of(int sm) const {
        const auto end = sms.begin() + std::min<size_t>(times, sms.size());
        return std::find(sms.begin(), end, int16_t(sm)) != end;
      }
      void add(int sm) {
        if (times < sms.size()) sms[times] = int16_t(sm);
        ++times;
      }
    };
    std::array<Asked, 8> asked{};
  };
  /// A request that is remembered: `box` identifies the bytes (a hash of where they lie).  Its lines need not be
  /// touched again while is_held().
  Request& box(uint64_t box);
  /// All lines of the request are in the half of this SM, or on their way, without a look at each.
  bool is_held(const Request& request, const MemoryPort& port) const;
  /// Begins a request anew, for all rows of a copy.
  void start(Request& request, const MemoryPort& port);
  /// Adds rows of bytes to the request, as if one after the other.
  void touch(Request& request, const GlobalRows& rows, const MemoryPort& port);
  /// When the data of a request arrive whose rows are asked for from cycle `from` until `at`; missing lines are
  /// then on their way. SMs of a cluster, or of a GPC (memory.merge_in_gpc), that ask for a box while it is on its
  /// way to another of them share the answer: L2 is asked once (docs/measurements.md, law 4.2, request coalescer).
  Arrival read(Request& request, Cycles from, Cycles at, const MemoryPort& port);
  /// As touch() and read() of one range.
  Arrival read(GlobalAddr address, uint64_t size, Cycles at, const MemoryPort& port);

  /// What a copy or a warp's stores write, gathered with touch(); then accept() says when memory has taken it.
  struct Write {
    uint64_t bytes = 0;
    uint64_t units = 0;
    double share = 1;                 ///< of the time that units take of the paths to L2
    std::vector<uint64_t> new_lines;  ///< addresses of lines that were not in L2
  };
  void touch(Write& write, const GlobalRows& rows);
  void touch(Write& write, GlobalAddr address, uint64_t size) { touch(write, GlobalRows{address, size, 0, 1}); }
  /// Cycle at which memory has taken what is offered at `at`: at L2's pace, or at HBM's where L2 must first write
  /// back what it holds.
  Cycles accept(const Write& write, Cycles at, const MemoryPort& port);
  /// Cycle at which a write handed over at `at` is visible to the whole device.
  Cycles visible(Cycles at);

  /// From now on the map hears from whoever reads and writes bytes, copies and threads; nullptr: nobody does.
  void record(AccessMap* accesses) { accesses_ = accesses; }
  AccessMap* accesses() const { return accesses_; }

  uint64_t dram_bytes() const { return dram_bytes_; }
  /// Bytes that reads asked of L2, in sectors of 32; a multicast asks once.
  uint64_t l2_read_bytes() const { return l2_read_bytes_; }
  /// Bytes that copies and warps wrote to L2.
  uint64_t written_bytes() const { return written_bytes_; }

 private:
  struct Allocation : Placed {
    std::unique_ptr<uint8_t, decltype(&std::free)> own;  ///< the system gives zeros when they are touched
    uint8_t* data;                                       ///< nullptr: without data
    std::unique_ptr<std::vector<L2Line>> lines;          ///< empty: nobody has touched any
    /// Lines of a row of the tensor that lies here, once it is known.  From then on `lines` has the first line of
    /// every row, then the second of every row: a box has few lines of many rows, and looks at neighbours.
    uint64_t row_lines = 0, known_rows = 0;
  };
  Allocation* find(GlobalAddr address, uint64_t size);
  /// The allocation has lines from now on, in the order of its tensor's rows where these tell it.
  void know_rows(Allocation& allocation, const GlobalRows& rows);
  /// Calls f(line, its address, where the row begins, where it ends) for the lines of rows that have any, in their
  /// order. @return whether an allocation holds them all
  template <class F>
  bool for_each_line(const GlobalRows& rows, F&& f);
  int half_of(int sm) const { return sm * 2 >= profile_.device.sms ? 1 : 0; }
  /// A hash of the block of HBM that an address lies in: it decides the block's channel and its home in L2.
  uint64_t block_of(uint64_t address) const;
  static int home_of_block(uint64_t block) { return int(block >> 63); }

  /// Takes the channel of a block for some sectors of a line, from cycle `at` on; returns when the channel has
  /// served it.
  double access_dram(uint64_t block, double at, double lines);
  /// Cycles that lines from this address on come late: an exponential distribution, drawn from the address, so that
  /// it is the same in every run.
  double dram_wait(uint64_t address) const;
  /// How much longer than in the mean a channel takes for a block's lines: drawn from the block.
  double dram_times(uint64_t block) const;
  /// Cycle at which the page's translation is known to a request of cycle `at`.
  double translated(uint64_t address, double at);
  void bring(Request& request, double from, double at, int half);
  /// Takes the paths to L2 for some units, from cycle `at` on.
  Timetable::Slot pass_paths(double units, double at, int sm, bool write);

  const DeviceProfile& profile_;
  const Divisor in_lines_, in_blocks_;  ///< of an address: which line, which block of HBM
  const Divisor in_channels_;           ///< of a block's hash: its channel is the rest
  std::vector<Allocation> allocations_;
  std::unordered_map<uint64_t, Request> boxes_;
  size_t last_found_ = 0;
  static constexpr uint64_t kFirstBase = 0x7f0000000000;
  uint64_t next_base_ = kFirstBase;
  L2Cache l2_;
  struct Paths {
    std::vector<Timetable> gpc_reads, gpc_writes;
    Timetable all, reads, writes;
  } paths_;
  std::vector<Timetable> channels_;   ///< of HBM
  std::vector<double> channel_read_;  ///< cycle of its last read, of those asked for
  double line_cycles_ = 0;            ///< that a channel takes for a line
  bool translations_cold_ = false;
  std::unordered_map<uint64_t, double> translated_;  ///< by page: cycle from which its translation is known
  std::vector<Request::Missing> spare_;              ///< room of the last request that was brought
  uint64_t dram_bytes_ = 0, l2_read_bytes_ = 0, written_bytes_ = 0;
  AccessMap* accesses_ = nullptr;
};

}  // namespace sm100::models
