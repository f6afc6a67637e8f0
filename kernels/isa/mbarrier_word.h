// SPDX-License-Identifier: Apache-2.0
/// The mbarrier object: 64 bits in shared memory, and what each mbarrier instruction does to them.
/// Source: PTX 9.7.13.15; docs/instructions.md has what it leaves open.  Misuse: MB1, MB4 to MB7, MB13
/// (docs/checks.md).
///
/// The hardware's layout is opaque and no code may depend on it.  Ours is
///   19:0 expected   39:20 pending   60:40 tx-count (signed)   61 phase parity   63:62 signature 0b10
/// The signature makes fresh memory, and most of what a stray store leaves, "not an mbarrier".
#pragma once

#include "kernels/isa/portability.h"

namespace sm100 {

inline constexpr uint32_t kMbarrierMaxCount = (1u << 20) - 1;
inline constexpr int32_t kMbarrierMaxTx = (1 << 20) - 1;  ///< tx-count lives in ±kMbarrierMaxTx

struct MbarrierState {
  uint32_t expected = 0;  ///< arrivals of each later phase
  uint32_t pending = 0;   ///< arrivals that the open phase still misses
  int32_t tx = 0;         ///< bytes that the open phase still misses; negative when data came before its expect
  uint32_t parity = 0;    ///< parity of the open phase
  constexpr bool operator==(const MbarrierState&) const = default;
};

enum class MbarrierError : uint8_t {
  none,
  not_an_mbarrier,     ///< MB1
  count_out_of_range,  ///< MB4
  pending_underflow,   ///< MB5
  tx_overflow,         ///< MB6
  completes_phase,     ///< MB7
  expected_zero,       ///< MB13, a warning: the operation was performed
};

/// `word` is the object after the operation, unchanged on an error (expected_zero, a warning, is no error).
struct MbarrierResult {
  uint64_t word = 0;
  bool completed_phase = false;
  MbarrierError error = MbarrierError::none;
};

SM100_HD constexpr const char* message(MbarrierError error) {
  switch (error) {
    case MbarrierError::none: return "ok";
    case MbarrierError::not_an_mbarrier: return "this memory holds no initialised mbarrier object";
    case MbarrierError::count_out_of_range: return "count must be 1 ... 1048575";
    case MbarrierError::pending_underflow: return "more arrivals than the open phase still expects";
    case MbarrierError::tx_overflow: return "tx-count leaves -1048575 ... 1048575";
    case MbarrierError::completes_phase: return "a .noComplete arrival would complete the phase";
    case MbarrierError::expected_zero: return "arrive_drop left no expected arrivals for later phases";
  }
  return "?";
}

SM100_HD constexpr uint64_t encode(const MbarrierState& s) {
  return uint64_t{s.expected & kMbarrierMaxCount} | uint64_t{s.pending & kMbarrierMaxCount} << 20 |
         (static_cast<uint64_t>(static_cast<int64_t>(s.tx)) & 0x1fffff) << 40 | uint64_t{s.parity & 1} << 61 |
         uint64_t{0b10} << 62;
}

SM100_HD constexpr MbarrierState decode_mbarrier(uint64_t word) {
  const uint32_t tx = static_cast<uint32_t>(word >> 40) & 0x1fffff;
  return {static_cast<uint32_t>(word) & kMbarrierMaxCount, static_cast<uint32_t>(word >> 20) & kMbarrierMaxCount,
          static_cast<int32_t>(tx) - (tx & 0x100000 ? 0x200000 : 0), static_cast<uint32_t>(word >> 61) & 1};
}

/// tx = -2^20 fits the field but no operation can make it.
SM100_HD constexpr bool is_mbarrier(uint64_t word) {
  return word >> 62 == 0b10 && decode_mbarrier(word).tx >= -kMbarrierMaxTx;
}

namespace detail {

/// The test that ends every operation: the phase completes when arrivals and bytes are in at the same
/// instant.
SM100_HD constexpr MbarrierResult complete_if_done(MbarrierState s, MbarrierError warning = MbarrierError::none) {
  const bool done = s.pending == 0 && s.tx == 0;
  if (done) {
    s.parity ^= 1;
    s.pending = s.expected;
  }
  return {encode(s), done, warning};
}

SM100_HD constexpr bool tx_fits(int64_t tx) { return tx >= -kMbarrierMaxTx && tx <= kMbarrierMaxTx; }

SM100_HD constexpr MbarrierResult add_tx(uint64_t word, int64_t bytes) {
  if (!is_mbarrier(word)) return {word, false, MbarrierError::not_an_mbarrier};
  MbarrierState s = decode_mbarrier(word);
  if (!tx_fits(s.tx + bytes)) return {word, false, MbarrierError::tx_overflow};
  s.tx = static_cast<int32_t>(s.tx + bytes);
  return complete_if_done(s);
}

}  // namespace detail

/// A rejected count gives the word 0, which is no mbarrier: as on hardware, the first use then fails too.
SM100_HD constexpr MbarrierResult mbarrier_init(uint32_t count) {
  if (count == 0 || count > kMbarrierMaxCount) return {0, false, MbarrierError::count_out_of_range};
  return {encode(MbarrierState{count, count, 0, 0}), false, MbarrierError::none};
}

/// One arrival instruction of one thread, with its modifiers.
struct MbarrierArrival {
  uint32_t count = 1;
  uint32_t bytes = 0;        ///< .expect_tx
  bool drop = false;         ///< arrive_drop: the arrivals are taken out of all later phases too
  bool no_complete = false;  ///< .noComplete: must not be the one that completes the phase
  constexpr bool operator==(const MbarrierArrival&) const = default;
};

/// One step and one test: between the expect and the arrival nobody can see the barrier.  A register count of 0
/// does nothing (H200), not even the completion test.
SM100_HD constexpr MbarrierResult mbarrier_arrive(uint64_t word, const MbarrierArrival& a) {
  if (!is_mbarrier(word)) return {word, false, MbarrierError::not_an_mbarrier};
  if (a.count > kMbarrierMaxCount) return {word, false, MbarrierError::count_out_of_range};
  if (a.count == 0) return {word, false, MbarrierError::none};
  MbarrierState s = decode_mbarrier(word);
  if (!detail::tx_fits(s.tx + int64_t{a.bytes})) return {word, false, MbarrierError::tx_overflow};
  if (a.count > s.pending || (a.drop && a.count > s.expected))
    return {word, false, MbarrierError::pending_underflow};
  s.tx += static_cast<int32_t>(a.bytes);
  s.pending -= a.count;
  if (a.drop) s.expected -= a.count;
  if (a.no_complete && s.pending == 0 && s.tx == 0) return {word, false, MbarrierError::completes_phase};
  return detail::complete_if_done(s,
                                  a.drop && s.expected == 0 ? MbarrierError::expected_zero : MbarrierError::none);
}

SM100_HD constexpr MbarrierResult mbarrier_arrive(uint64_t word, uint32_t count = 1) {
  return mbarrier_arrive(word, MbarrierArrival{.count = count});
}
SM100_HD constexpr MbarrierResult mbarrier_arrive_drop(uint64_t word, uint32_t count = 1) {
  return mbarrier_arrive(word, MbarrierArrival{.count = count, .drop = true});
}
SM100_HD constexpr MbarrierResult mbarrier_arrive_expect_tx(uint64_t word, uint32_t bytes) {
  return mbarrier_arrive(word, MbarrierArrival{.bytes = bytes});
}

/// cp.async.mbarrier.arrive without .noinc, at issue: the open phase waits for `count` arrivals more.
SM100_HD constexpr MbarrierResult mbarrier_raise_pending(uint64_t word, uint32_t count = 1) {
  if (!is_mbarrier(word)) return {word, false, MbarrierError::not_an_mbarrier};
  MbarrierState s = decode_mbarrier(word);
  if (count > kMbarrierMaxCount - s.pending) return {word, false, MbarrierError::count_out_of_range};
  s.pending += count;
  return {encode(s), false, MbarrierError::none};
}

/// Can complete a phase whose bytes came first (H200; PTX does not list it among the completing operations).
SM100_HD constexpr MbarrierResult mbarrier_expect_tx(uint64_t word, uint32_t bytes) {
  return detail::add_tx(word, bytes);
}

SM100_HD constexpr MbarrierResult mbarrier_complete_tx(uint64_t word, uint32_t bytes) {
  return detail::add_tx(word, -int64_t{bytes});
}

/// Has the phase of this parity completed?  On a fresh barrier that is true for parity 1 ("phase -1").
SM100_HD constexpr bool mbarrier_test_parity(uint64_t word, uint32_t parity) {
  return decode_mbarrier(word).parity != (parity & 1);
}

}  // namespace sm100
