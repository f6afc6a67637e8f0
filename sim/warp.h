// SPDX-License-Identifier: Apache-2.0
/// A simulated warp: one thread that runs role code, again and again for the CTAs that its SM gets.
///
/// Issue cycles gather in `ahead` (temporal decoupling) and are spent before something becomes visible to
/// others.  A wait suspends the thread on an event; nothing polls.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernels/isa/tensor_map.h"
#include "kernels/isa/trace.h"
#include "models/mbarrier.h"
#include "sim/role_work.h"
#include "traces/format/recorder.h"

namespace sm100::sim {

class Cta;
struct Kernel;

/// What a warp is suspended on; reports and time accounting use it.
struct Blocked {
  enum class On : uint8_t {
    nothing,
    mbarrier,
    named_barrier,
    cluster_barrier,
    tmem_alloc,
    tmem_dealloc,
    registers,
    bulk_group,
    global_word,
    prerequisite_grids,
    wgmma
  };
  On on = On::nothing;
  uint32_t offset = 0;  ///< mbarrier: offset; named barrier: id; tmem_alloc, tmem_dealloc: columns; registers: of a
                        ///< thread; wgmma: number of the instruction
  uint32_t parity = 0;
  Loc loc{};
  models::Cycles since = 0;  ///< the wait began; 0: now
  GlobalAddr address{};      ///< global_word
  uint32_t value = 0;        ///< global_word: what it has held at every poll
};

class Warp final : public models::Thread {
 public:
  Warp(Cta& cta, int index);

  /// Lets the thread run the kernel's code once, from `late` cycles on, for the CTA that has just started.
  void start(models::Cycles late);

  /// An instruction that may suspend the warp; counted, whether it does or not.
  void begins_wait(Loc loc) { waiter.who.loc = loc, ++waiter.waits; }
  /// Suspends until `waiter` is woken; accounts the time as waiting.
  void suspend(const Blocked& why);
  /// Waits until a cycle that is already known; accounts the time as waiting.
  void suspend_until(models::Cycles cycle, const Blocked& why);
  /// Adds the wait that the run's end, at cycle `until`, interrupted to the accounts.  It may have been asked for
  /// again since: what was counted beyond the end is taken back.
  void account_open_wait(models::Cycles until);
  /// Lets `cycles` pass.
  void pass(models::Cycles cycles);

  Cta& cta;
  const int index;
  models::Waiter waiter;
  Blocked blocked;
  bool running = false;
  double ahead = 0;            ///< issue cycles not yet spent
  int64_t cluster_phase = -1;  ///< of the cluster barrier, between arrive and wait
  models::Cycles started = 0;
  models::Cycles stores_visible = 0;  ///< cycle at which the global stores of its lanes are visible
  /// The last box of a tensor that a copy has asked for.
  struct LastBox {
    uint64_t tensor = 0;  ///< address; 0: none
    uint32_t rank = 0;
    int moved = -1;          ///< the one dimension in which it differs from the box before; -1: none, or several
    bool backwards = false;  ///< from the end to the beginning: the last box says nothing
    std::array<int32_t, 5> at{};
    std::array<uint32_t, 5> box{};
    std::array<uint64_t, 5> dims{};
    Loc loc{};

    bool known() const { return tensor != 0 && moved >= 0 && !backwards; }
    /// It reaches the tensor's end in that dimension.
    bool ends() const {
      return known() && int64_t{at[size_t(moved)]} + box[size_t(moved)] >= int64_t(dims[size_t(moved)]);
    }
    /// It lies behind that end.
    bool behind_end() const { return known() && int64_t{at[size_t(moved)]} >= int64_t(dims[size_t(moved)]); }
  };
  /// Per barrier array of the kernel, in this CTA: waits that ended and arrivals made.  Hang reports compare them,
  /// and name the lines.
  struct Use {
    int waits = 0, arrivals = 0;
    uint32_t first_waited_on = 0;       ///< offset of the barrier of the first wait that ended
    uint32_t waited_on = 0;             ///< and of the last
    uint32_t arrived_on = 0;            ///< of the last arrival
    int64_t waited_phase = 0;           ///< that it has seen
    bool since_step = false;            ///< it came after the last step of the warp
    Loc waited{}, arrived{}, copied{};  ///< line of the last wait that ended, arrival, copy that signals it
    models::Cycles waited_at = 0;
    uint16_t committed_to = 0;       ///< CTAs of the cluster that its tcgen05.commits by mask have reached
    std::array<LastBox, 2> boxes{};  ///< of its copies that signal it: of two tensors
    /// The last wait that passed at once on phase -1: parity 1, and no phase of the barrier had completed.
    struct Fresh {
      uint32_t on = 0;  ///< offset; 0: none has
      Loc loc{};
      models::Cycles at = 0;
    } fresh;

    /// By barrier (the number of its word, modulo 32): it has waited there, and the parity of its last wait.
    uint32_t waited_barriers = 0, last_parities = 0;
    static uint32_t bit_of(uint32_t barrier) { return 1u << (barrier / 8 % 32); }
    bool has_waited_on(uint32_t barrier) const { return waited_barriers & bit_of(barrier); }
    uint32_t last_parity(uint32_t barrier) const { return last_parities & bit_of(barrier) ? 1 : 0; }

    void note_box(const TensorMapFields& map, const std::array<int32_t, 5>& at, Loc loc);
    void count_wait(uint32_t barrier, int64_t phase, models::Cycles now, Loc loc) {
      if (waits++ == 0) first_waited_on = barrier;
      waited = loc, waited_at = now, waited_on = barrier, waited_phase = phase, since_step = true;
      if (phase < 0) fresh = {barrier, loc, now};
      waited_barriers |= bit_of(barrier);
      last_parities = (last_parities & ~bit_of(barrier)) | (phase & 1 ? bit_of(barrier) : 0);
    }
  };
  std::vector<Use> use;
  /// Its last wait that passed at once on a phase that it had seen before (MB8).
  struct StaleWait {
    uint32_t on = 0;  ///< offset; 0: none has
    int64_t phase = 0;
    Loc loc{};
    models::Cycles at = 0;
  } stale_wait;
  /// The word in global memory that it polls in a loop, until another one.
  struct Polls {
    GlobalAddr address{};
    Loc loc{};
    uint32_t value = 0;        ///< at the last poll
    uint64_t changes = 0;      ///< how often it held another value than before
    int alike = 0;             ///< polls in a row that saw the value of the one before
    models::Cycles since = 0;  ///< of the first poll
  } polls;
  Loc released{};  ///< line of its last st.release
  /// Loads of single words that follow one another.
  struct WordLoads {
    models::Cycles done = 0;  ///< of the last one
    unsigned line = 0;
  } word_loads;

  /// Work tiles that its trace points named, over all CTAs of this slot, and whether it is still in the last.
  using Tile = TileWork;
  std::vector<Tile> tiles;
  WarpSteps steps;  ///< in this CTA
  /// A tensor load, of the step that it is in.
  void copies_tile(const int32_t* coords, const uint32_t* box, const uint64_t* dims, uint32_t rank) {
    if (steps.fills) steps.copies(in_tile() ? &tiles.back() : nullptr, coords, box, dims, rank);
  }
  bool in_tile() const { return tile_point_ >= 0; }
  int awaited_k = 0;  ///< of the last wait for a lock: the value that lets it go on
  void trace_point_begins(TraceEvent event, const TraceArgs& args);
  void trace_point_ends();

  // Time accounting over all CTAs of this slot, by kernel.
  struct Waited {
    uint64_t key;  ///< with `first.on`, what it was for
    models::Cycles cycles;
    Blocked first;  ///< the first of these waits, for their name
  };
  struct Account {
    const Kernel* kernel = nullptr;
    models::Cycles total_cycles = 0;
    std::vector<Waited> waiting{};
  };
  std::vector<Account> accounts;
  /// That of the CTA's kernel.
  Account& account();

  // Recording: open spans, innermost last.
  traces::TrackId track = traces::kNoTrack;
  std::vector<traces::Span> open_spans;
  /// Ends of waits that were not for an mbarrier go to the trace with who ended them, as `waiter` says.
  void record_wakeup(const Blocked& why, models::Cycles begin, models::Cycles caused);

 private:
  void run() override;
  /// A trace point says with what a stage is filled, or as what it is consumed.
  void step(bool fills, const TraceArgs& args);
  void account(const Blocked& why, models::Cycles waited);
  models::Event start_;
  models::Cycles suspended_at_ = 0;
  int open_trace_points_ = 0, tile_point_ = -1;  ///< how many are open, and how many were when the tile's began
};

}  // namespace sm100::sim
