// SPDX-License-Identifier: Apache-2.0
/// What the hazard checker knows of a run: of barriers, warps, CTAs and clusters, and of global memory.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "models/observer.h"
#include "sim/hazards/copy_groups.h"
#include "sim/hazards/global_stores.h"
#include "sim/hazards/mma_account.h"
#include "sim/hazards/pending_releases.h"
#include "sim/hazards/postponed_calls.h"
#include "sim/hazards/shadow.h"

namespace sm100::sim {

class Warp;
struct Kernel;
class HazardChecker;

struct HazardState {
  struct Barrier {
    Knowledge arrived;    ///< of all arrivals so far
    Knowledge completed;  ///< at the last completed phase
    VectorClock before;   ///< Knowledge::happened at the phase before that
    Clock ended = 0;      ///< phases of mbarriers that were here before, and ended by inval
    Stamp init, fenced;   ///< of mbarrier.init and of the fence.mbarrier_init behind it (kInits)
    bool initialised = false, warned = false;
    bool other_ctas = false;  ///< threads of other CTAs arrive
    /// The last bytes of each other CTA's copies, and the phase that they have come in (+ 1).
    struct Fill {
      models::Source by;
      Clock phase;
    };
    std::vector<Fill> fills;
    bool counts_bytes = false;        ///< some phase has; arrivals alone do not say that one is over
    uint32_t lane_waits = 0;          ///< warps with a WarpState::lane_waits for it, a bit each
    std::vector<uint32_t> in_flight;  ///< copies and responses that signal it, by op
    uint64_t expected = 0, came = 0;  ///< bytes of the open phase
    models::Source expects{};         ///< its last expect_tx
  };
  struct Meeting {
    Knowledge open, completed;
    Clock generation = 1;       ///< the open one
    std::vector<Clock> joined;  ///< by warp: the last generation that it arrived in
    std::vector<Loc> joined_at;
  };
  /// A thread that issues MMAs and copies to tensor memory, and the accesses that came before theirs to the same
  /// bytes.
  struct MmaThread {
    int lane;
    uint32_t component;
    Clock next = 1;  ///< of its next commit
    VectorClock before{};
    bool open = false;     ///< it has issued MMAs since its last commit
    int passed_over = -1;  ///< and this lane has committed since
    MmaAccount account{};
  };
  /// Several lanes have waited for a phase.  Before the next one completes, each must have passed: it has met
  /// others or has signalled itself, and the completion comes after that.
  struct LanesWait {
    Barrier* barrier;
    int64_t phase;
    Clock since;      ///< own clock from the wait on
    uint32_t waited;  ///< lanes
    uint32_t late;    ///< of them may still be at the wait
    Clock met = 0;    ///< own clock when the last of these had passed
    Loc at;
    uint32_t ahead = 0;  ///< lanes that were the first to signal
    Loc ahead_at{};
  };
  /// Bulk groups belong to a thread: a wait of another lane is not for them.
  struct BulkGroups {
    int lane;
    uint32_t component;      ///< of the stores' reads of shared memory
    uint32_t visible = ~0u;  ///< of what they write; ~0: it has stored nothing to global memory
    Clock open = 1;          ///< number of the group that its next store goes into
    int left_pending = -1;   ///< by its last wait; -1: there was none
    Clock waited_at = 0;     ///< `open` then
    Stamp waited{};          ///< of that wait
  };
  struct WarpState {
    Knowledge known;
    VectorClock tmem_seen;  ///< what tcgen05.fence::after_thread_sync has made visible to tcgen05 instructions
    uint32_t numbered_loads = 0;  ///< tmem_loads, with those that are postponed
    Clock tmem_loads = 0, waited_loads = 0, tmem_stores = 0, init_fences = 0, signals = 0;
    uint64_t cluster_phases = 0;          ///< of the cluster barrier, that it has arrived in
    std::vector<BulkGroups> bulk_groups;  ///< of each lane that has stored, in that order; nearly always one
    Clock groups_waited = 0;              ///< own clock at its last wait for all bulk groups, and who waited
    uint32_t groups_waited_by = 0;
    std::vector<MmaThread> mma;  ///< nearly always one
    CopyGroups copies;
    uint32_t copying_lanes = 0;  ///< of its first cp.async
    uint32_t awaited = 0;        ///< offset of the mbarrier that it has waited for last
    bool read_awaited = false;   ///< and it has read bytes of that one's copies since
    bool handed_back = false;    ///< and it has arrived or committed somewhere since
    VectorClock before_copies;   ///< what the warp's copies came after, as MmaThread::before
    Clock signalled = 0;         ///< own clock behind its last release
    /// Own clocks, from behind, up to: what it did there was handed on by cp.async.mbarrier.arrive; the last few.
    std::deque<std::pair<Clock, Clock>> handed_by_copies;
    std::vector<Barrier*> unfenced_inits;
    std::vector<uint32_t> fenced_releases;  ///< of other clusters, that its last fence.proxy.async came behind
    std::set<uint32_t> read_relaxed;     ///< what a fence acquires: releases whose values relaxed atomics have read
    std::set<uint32_t> read_in_shared;   ///< the same of words of shared memory
    Knowledge seen_relaxed;              ///< what relaxed waits for mbarriers have seen since its last fence
    uint32_t fence = 0;                  ///< what its last fence, of whatever scope, has released
    const Warp* account = nullptr;       ///< of its waits
    Clock loads_at_store = 0;            ///< tmem_loads at its last tcgen05.st
    std::vector<Access> unwaited_loads;  ///< tcgen05.ld that neither a wait nor a read of a register has ended
    Clock met = 0;                       ///< own clock when all lanes last met
    Stamp apart{0, 0};  ///< own accesses from here on are not what lanes of it released at `apart_at`
    Loc apart_at{};
    std::vector<LanesWait> lane_waits;    ///< of which the next phase is not over
    bool lanes_apart = false;             ///< one of these has lanes that are late, or were ahead
    GlobalStores::Number last_store = 0;  ///< to global memory
    /// What it writes to its CTA's shared memory from one fence.proxy.async to the next: where that begins.
    struct Strip {
      std::optional<uint32_t> begin, previous;
      bool fenced = true;
    };
    Strip strip;
  };
  struct CtaState {
    Shadow smem, tmem;
    std::vector<WarpState> warps;
    std::deque<Barrier> barriers;  ///< by barrier_index(); grows at its end, so that pointers stay
    std::array<Meeting, 16> named;
    Stamp allocated{0, 0};                ///< its last tcgen05.alloc
    std::map<uint32_t, uint32_t> words;   ///< by offset: what the value of a strong store was released with
    std::set<uint32_t> strongly_written;  ///< words of 4 bytes: by atomics, among others
  };
  /// A thread of another CTA, or a commit of its MMAs, signals a barrier.
  struct Signal {
    Stamp over;  ///< handed on by whatever the thread, or the commit, releases from then on
    models::Source by;
    models::Cycles cycle;
    uint32_t barrier;
    bool commit;
    Clock phase = 0;  ///< that it has come in (+ 1), once it has
  };
  /// The last strong store of a warp of another CTA to a word of shared memory.
  struct RemoteWord {
    uint32_t offset;
    Access store;
    bool seen = false;  ///< a strong load of the CTA has read it, or what came later: it is there
  };
  struct Cluster {
    std::vector<int> slots;  ///< by rank
    uint32_t id;             ///< of all clusters of the run
    int launch;
    const Kernel* kernel;
    bool fences_reads =
        false;  ///< its table says so: a stage that threads have read comes back behind fence.proxy.async
    std::vector<CtaState> ctas;
    std::vector<std::vector<Access>>
        remote;  ///< by rank: the last accesses of other CTAs' warps to its shared memory
    std::vector<std::vector<RemoteWord>> remote_words;  ///< by rank: strong stores of others there
    std::vector<std::vector<Signal>>
        signals;           ///< by rank: the last ones of others to its barriers, one of each component
    Knowledge barrier[2];  ///< of those who have arrived, by phase parity
    std::map<uint64_t, Knowledge>
        exited;             ///< of warps that have exited, by the first phase that is complete without them
    PendingReleases later;  ///< arrivals and commits on their way
    PostponedCalls<HazardChecker> postponed;
    uint32_t numbered = 0;  ///< arrivals and commits, with those that are postponed
    /// By line, how often an unwritten byte was looked at: a value may just be -1.
    std::map<std::pair<const char*, uint32_t>, int> unwritten_looks;
  };
  /// What a release of a word of global memory hands to other clusters.
  struct Release {
    uint32_t cluster;
    VectorClock happened, fenced;
    std::vector<uint32_t> releases;  ///< that it knew of
    bool fence = false;              ///< of no word: what relaxed atomics behind it hand on
  };
  struct GlobalAccess {
    uint32_t cluster = 0;
    int launch = 0;
    Access access;
  };
  struct GlobalCell {
    std::optional<GlobalAccess> write;
    std::vector<GlobalAccess> reads;
  };
  /// A plain load that an atomic of somebody else races with.
  struct DoubtedRead {
    uint64_t address;
    GlobalAccess read;
    models::Violation violation;  ///< if nothing comes behind it that makes it harmless
  };
  struct MapAcquire {
    int slot;  ///< whose copies see the last edit from then on
    GlobalAccess access;
  };
  struct EditedMap {
    std::optional<GlobalAccess> edit, release;  ///< the last one
    std::vector<GlobalAccess> uses;             ///< by copies since then
    std::vector<MapAcquire> acquires;           ///< of the release
    uint32_t edits = 0;
  };
  /// Bytes on their way, in one CTA.
  struct Flight {
    std::shared_ptr<Cluster> cluster;
    uint32_t rank;
    Footprints::Id set;
    Access write;  ///< or the read of a bulk copy's source
  };
};

}  // namespace sm100::sim
