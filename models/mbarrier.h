// SPDX-License-Identifier: Apache-2.0
/// mbarrier objects of one CTA (PTX 9.7.13.15).
///
/// Modelled: init, inval, arrivals of every form (counts, expect_tx, arrive_drop, noComplete) and the states that
/// they return, expect_tx, complete_tx, waits by parity and by state; a phase completes when pending
/// arrivals and tx-count are both zero; waiters are woken, nothing polls.  The 64-bit word lives in shared
/// memory, so a stray store shows; beside it the unit keeps the phase number, the waiters and the last events
/// for reports. Detected: MB1 (no valid object), MB2 (re-init, overwritten word), MB3 (alignment, window),
/// MB4 (count), MB5 (over-arrival), MB6 (tx-count range), MB7 (noComplete that completes), MB8 (a state of another
/// phase or barrier), MB13 (no arrivals left); PTX 9.7.13.15.
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <vector>

#include "kernels/isa/mbarrier_token.h"
#include "kernels/isa/mbarrier_word.h"
#include "models/jitter.h"
#include "models/observer.h"
#include "models/scheduler.h"
#include "models/shared_memory.h"

namespace sm100::models {

/// A suspended warp; `wake` is notified when what it waits for has happened.
struct Waiter {
  Event wake;
  uint64_t cause = 0;  ///< flow id of the event that woke it
  Source by{};   ///< who ended a wait that is not for an mbarrier, when known: the last of those that had to act
  Source who{};  ///< warp and CTA, and the line of its last wait
  uint64_t waits = 0;  ///< it has begun in its CTA, also those that passed at once
  uint64_t limited =
      0;  ///< it waits for an mbarrier until a time limit, the n-th such wait of the device; 0: it does not
  bool gave_up = false;  ///< and the limit has ended the wait
};

class Mbarrier {
 public:
  /// What reports need to know of one barrier.
  struct State {
    uint32_t offset = 0;
    uint64_t word = 0;             ///< as last written by this unit
    int64_t phase = 0;             ///< index of the open phase
    uint64_t expected_bytes = 0;   ///< expect_tx of the open phase
    uint64_t received_bytes = 0;   ///< complete_tx of the open phase
    uint64_t expected_before = 0;  ///< expect_tx of the phase before
    /// What one warp has delivered to a phase: arrivals, or bytes of the copies that it issued.
    struct Share {
      int cta = -1, warp = -1;
      uint64_t amount = 0;
      Loc loc{};  ///< of the copies, each line apart; arrivals: none
    };
    std::vector<Share> arrived, arrived_before;    ///< of the open phase and of the one before
    std::vector<Share> dropped;                    ///< of `arrived`, what its warp will not deliver again
    std::vector<Share> received, received_before;  ///< likewise
    uint64_t last_cause = 0;                       ///< flow id of the event that completed the previous phase
    struct Wait {
      Waiter* waiter;
      uint32_t parity;
      bool asleep = true;  ///< false: it has given up, and may ask again
    };
    std::vector<Wait> waits;
    Source init{};      ///< of its mbarrier.init
    uint32_t life = 0;  ///< how many mbarriers of this CTA lay here before it, each ended by inval
    Cycles ended = 0;   ///< when inval has ended it
    uint64_t events = 0;
    static constexpr int kHistory = 16;
    std::array<MbarrierEvent, kHistory> history{};  ///< ring; entry n is history[n % kHistory]
  };

  Mbarrier(int slot, SharedMemory& smem, const DeviceProfile& profile, Jitter& jitter, Observer& observer);

  /// A new CTA: no barrier is valid.
  void start_cta();

  void init(uint32_t offset, uint32_t count, const Source& source);
  /// The memory holds no mbarrier any more, and may be used for anything.
  void inval(uint32_t offset, const Source& source);
  /// One arrival instruction of one thread; what it returns.
  MbarrierToken arrive_once(uint32_t offset, const MbarrierArrival& arrival, const Source& source);
  /// `count` arrivals by as many lanes, one after the other: they may complete a phase and begin the next.
  void arrive(uint32_t offset, uint32_t count, const Source& source);
  /// The open phase waits for `count` arrivals more (cp.async.mbarrier.arrive without .noinc).
  void raise_pending(uint32_t offset, uint32_t count, const Source& source);
  /// One instruction: expect, then one arrival, then one completion test.
  void arrive_expect_tx(uint32_t offset, uint32_t bytes, const Source& source);
  /// Without an arrival; completes a phase whose arrivals and bytes have all come.
  void expect_tx(uint32_t offset, uint32_t bytes, const Source& source);
  void complete_tx(uint32_t offset, uint32_t bytes, const Source& source);

  /// True when the phase of `parity` has completed (PTX: the immediately preceding phase, or "phase -1" of
  /// parity 1).
  bool test_parity(uint32_t offset, uint32_t parity, const Source& source,
                   const char* operation = "mbarrier.try_wait.parity");
  /// The phase, counted from 0, that the open or the preceding phase must be; nothing: MB8 has been reported.
  std::optional<int64_t> phase_of_token(uint32_t offset, MbarrierToken token, const Source& source,
                                        const char* operation);
  /// Suspended until the phase of `parity` completes; `waiter.wake` is notified then.
  void wait_parity(uint32_t offset, uint32_t parity, Waiter& waiter);
  /// The waiter has given up.  It keeps its place in case that it asks again at once; otherwise `leave` follows.
  void give_up(uint32_t offset, Waiter& waiter) { wait_of(offset, waiter).asleep = false; }
  void ask_again(uint32_t offset, Waiter& waiter) { wait_of(offset, waiter).asleep = true; }
  void leave(uint32_t offset, Waiter& waiter);

  /// State of the barrier at `offset`, or nullptr if none was ever initialised there in this CTA.
  const State* find(uint32_t offset) const;

 private:
  State::Wait& wait_of(uint32_t offset, Waiter& waiter);
  void arrive_in(State& state, const MbarrierArrival& arrival, bool expects, const Source& source);
  State* valid_object(uint32_t offset, const char* operation, const Source& source);
  bool apply(State& state, const MbarrierResult& result, MbarrierEventKind kind, uint32_t amount,
             const Source& source);
  void record(State& state, MbarrierEventKind kind, uint32_t amount, bool completed, const Source& source,
              bool arrives = true);
  void complete_phase(State& state, const Source& source);
  void violate(const char* id, std::string message, uint32_t offset, const Source& source);

  int slot_;
  SharedMemory& smem_;
  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;
  /// For each word of the window the index of its barrier in states_, or -1.  A CTA has barriers in few places, so
  /// only blocks of words that have any are kept.
  static constexpr uint32_t kBlockWords = 64;
  std::vector<std::vector<int32_t>> index_;  ///< by block; empty: none has ever been there
  int32_t index_of(uint32_t offset) const;
  void set_index(uint32_t offset, int32_t index);
  std::deque<State> states_;
};

}  // namespace sm100::models
