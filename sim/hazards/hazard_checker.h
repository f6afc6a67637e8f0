// SPDX-License-Identifier: Apache-2.0
/// Happens-before over a whole run: two accesses to the same bytes, one of them a write, that nothing orders.
///
/// Who counts: warps, tensor loads and stores, bulk copies, st.async and red.async, MMAs (operands, scale factors
/// and accumulators), tcgen05.cp, ld and st, CLC responses; in every CTA of a cluster.  What orders: mbarrier
/// phases, commits, bulk-group and tcgen05 waits, named and cluster barriers; with fence.proxy.async where threads
/// write what an asynchronous unit reads. A tcgen05.ld is also over once one of its registers has been read (TC18).
/// Scopes are not looked at (PTX 9.7.13.15: production kernels leave .cluster out); SC1 is about them.  The order
/// is that of synchronisation, not of this run's time: a schedule in which the numbers happen to be right is
/// reported as well.
///
/// What PTX does not promise but hardware keeps, as far as anybody knows, is a warning that says why
/// (Missing::promise, ::completion).
///
/// Tensor maps in global memory: edits, releases, acquires and the copies that use them.
///
/// Global memory: what warps load without predicates (the workspace of split-K), what the lanes of warps store, and
/// atomics, ordered by words that are released and acquired.
///
/// A fence.proxy.async anywhere between writer and unit counts, the reader's own too.  MMAs of one warp are taken
/// to be in order whatever their shapes (TC10 is not checked), and a tcgen05.cp behind MMAs as well, which is a
/// note; who waits for a commit knows those of its thread, and those of other lanes to the same accumulator that
/// came before.
///
/// Not checked: tensor copies' global memory, also against stores of warps; what lanes load from it behind the
/// first one's address; the lanes of a warp among themselves; without data, where lanes read and write shared
/// memory, and what they store to global memory.  Ids of findings: sim/checks.h.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "kernels/isa/isa.h"
#include "models/umma.h"
#include "models/wgmma.h"
#include "sim/hazards/bulk_writes.h"
#include "sim/hazards/flights.h"
#include "sim/hazards/global_stores.h"
#include "sim/hazards/hazard_state.h"
#include "sim/hazards/mma_account.h"
#include "sim/hazards/shadow.h"
#include "sim/launch_list.h"

namespace sm100::instructions {
struct LaneStores;
}

namespace sm100::sim {

/// How far a warp is with an access that it has issued, when another one finds it unordered.
enum class AccessProgress {
  unknown,
  uncommitted,  ///< tensor stores, MMAs, tcgen05.cp: no commit has followed
  waited,       ///< the warp itself has waited for it, or the access is its own
};

/// What lacks between two accesses.
enum class Missing {
  order,       ///< nothing orders them
  fence,       ///< they are ordered, but for a proxy or tcgen05 fence
  promise,     ///< the first was over before a tcgen05.commit or a .relaxed arrival that lies between; PTX promises
               ///< nothing of it
  completion,  ///< a tcgen05.st that comes before, but has not been waited for
  change,      ///< nothing orders them, and the second writes the bytes that are there
};

class HazardChecker : HazardState {
 public:
  /// @param report  gets the findings
  HazardChecker(const LaunchList& launches, int slots, models::Observer& report);

  /// A warp of the CTA in a slot, as it executes an instruction.
  struct Thread {
    int slot;
    models::Source by;           ///< warp, lane (where one matters), line, CTA
    const Warp* warp = nullptr;  ///< its account of its waits, for reports
    bool apart = false;          ///< other lanes have accessed shared memory since all of the warp's last met
    uint32_t lanes = 0;          ///< that execute it
    bool relaxed = false;        ///< the mbarrier instruction says .relaxed: it releases, or acquires, nothing
  };

  /// From now on it looks at what a cluster does later, and at much of it in a row: cheaper where many clusters run
  /// at once, because what is known of each is far more than a processor's caches hold.  It finds something if, and
  /// only if, it finds something otherwise; but later, not always the same first, and what it says may lack
  /// details.
  void postpone() { postpones_ = true; }
  /// Looks at all that was postponed.
  void catch_up();

  /// A cluster starts; its rank r runs in slot `slots[r]`.
  void start_cluster(const std::vector<int>& slots, int launch);

  // ---- synchronisation by warps
  /// Arrivals of the warp on a barrier of CTA `rank`, its own, release what it knows; the result goes along as
  /// Source::op.
  uint32_t release(const Thread& thread, uint32_t rank, uint32_t barrier);
  /// The same for arrivals that land later.
  uint32_t release_later(const Thread& thread);
  /// A wait on the barrier has ended.
  void acquire(const Thread& thread, uint32_t barrier);
  /// Something orders the completion of the own CTA's barrier's phase, the last one or the one before, before what
  /// the warp does next; phase -1 is always over.
  bool knows_completed(const Thread& thread, uint32_t barrier, int64_t phase);
  /// The barrier is used by the thread, or by a unit that it asks, in CTA `rank`.
  void uses_barrier(const Thread& thread, uint32_t rank, uint32_t barrier, bool by_unit);
  /// A thread arrives on a barrier of another CTA.
  void arrives_from_another_cta(const Thread& thread, uint32_t rank, uint32_t barrier);
  /// Its last commit signals a barrier of another CTA.
  void commit_reaches(const Thread& thread, uint32_t rank, uint32_t barrier);
  /// Threads of other CTAs have arrived on the barrier of the own one.
  bool other_ctas_arrive(const Thread& thread, uint32_t barrier);
  /// griddepcontrol.wait has returned: the launches ahead have completed, for whoever comes behind this.
  void prerequisites_complete(const Thread& thread);
  /// Something orders that before what the warp does next.
  bool knows_prerequisites(const Thread& thread);
  /// All lanes of the warp execute one instruction: a release by some of them covers what others did before it.
  void lanes_have_met(const Thread& thread);
  /// Thread::lanes execute one instruction: none of them is still at a wait of before.
  void lanes_meet(const Thread& thread);
  void fence_mbarrier_init(const Thread& thread);
  void fence_proxy_async(const Thread& thread);
  void tcgen05_fence_before(const Thread& thread);
  void tcgen05_fence_after(const Thread& thread);
  void bar_arrive(const Thread& thread, int id);
  /// The generation that the warp arrived in is complete: all who arrived after it belong to the next.
  void bar_complete(const Thread& thread, int id);
  void bar_pass(const Thread& thread, int id);
  /// @param release  false: .relaxed, which hands on nothing but what the warp has fenced by fence.mbarrier_init
  void cluster_arrive(const Thread& thread, uint64_t phase, bool release);
  void cluster_pass(const Thread& thread, uint64_t phase);
  /// The cluster barrier waits for a warp no longer that has exited: what it did is over (PTX 9.7.13.4, exit).
  void warp_exits(const Thread& thread);

  // ---- what the units tell (RunObserver)
  void mbarrier_event(const models::MbarrierEvent& event);

  // ---- accesses; offsets are of shared memory
  void generic(const Thread& thread, Footprints::Id set, bool write) {
    generic(thread, rank(thread.slot), set, write);
  }
  /// In the shared memory of CTA `rank`.
  void generic(const Thread& thread, uint32_t rank, Footprints::Id set, bool write);
  /// The next store of a warp to shared memory writes the bytes that are there already.
  void store_repeats() { repeats_ = true; }
  /// Whether the accesses of threads to shared memory that follow are strong.
  void strong_accesses(bool on) { strong_ = on; }
  /// The run has data, so that every write to shared memory is seen: reads of units are looked at for bytes that
  /// nobody has written (SM4).
  void look_for_unwritten() { looks_for_unwritten_ = true; }
  /// A thread has loaded bytes of its own CTA's shared memory that look like those which nobody has written: SM4,
  /// if nobody has.
  void unwritten_looking_read(const Thread& thread, uint32_t offset, uint32_t bytes);

  /// By the lanes of a mask, as their groups are.
  void cp_async(const Thread& thread, uint32_t lanes, Footprints::Id set);
  void cp_async_commit_group(const Thread& thread, uint32_t lanes);
  void cp_async_wait_group(const Thread& thread, uint32_t lanes, int pending);
  /// An arrival that follows the copies of these lanes so far; the result goes along as Source::op.
  uint32_t cp_async_arrive(const Thread& thread, uint32_t lanes);
  /// tcgen05.alloc writes the address that it grants.
  void alloc_result(const Thread& thread, Footprints::Id set);
  /// @param to_leader  rank parity of the pair's CTA whose barrier is signalled (cta_group 2), or -1: each CTA's
  /// own
  /// @param linear     without a tensor
  void tensor_load(const Thread& thread, CtaMask ranks, uint32_t offset, uint32_t bytes, uint32_t barrier,
                   int to_leader, uint32_t op, bool linear = false);
  /// @param whole  false: some of the bytes stay where they are
  void tensor_store(const Thread& thread, uint32_t offset, uint32_t bytes, bool linear = false, bool whole = true);
  /// From shared memory to that of CTA `rank`, whose barrier gets the bytes.
  void copy_shared(const Thread& thread, uint32_t from, uint32_t rank, uint32_t to, uint32_t bytes,
                   uint32_t barrier, uint32_t op, bool reduces);
  /// st.async or red.async of one lane.
  void store_async(const Thread& thread, uint32_t rank, uint32_t offset, uint32_t bytes, uint32_t barrier,
                   uint32_t op, bool reduces);
  /// CR2: the warp accesses shared memory of a CTA, and nothing says that it has started.
  void check_started(const Thread& thread, uint32_t rank, const char* what);
  /// CR3: the last warp of the CTA exits.
  void cta_exits(int slot, const models::Source& by);
  /// By the lanes of a mask: bulk groups belong to a thread, so those of other lanes' stores are not meant.
  void commit_group(const Thread& thread, uint32_t lanes);
  void wait_group(const Thread& thread, uint32_t lanes, int pending, bool read_only);
  void clc_request(const Thread& thread, CtaMask ranks, uint32_t response, uint32_t barrier, uint32_t op);
  /// @param lanes  that execute it together, each of which issues one
  void mma(const Thread& thread, const models::MmaCommand& command, int lanes = 1);
  void tmem_copy(const Thread& thread, const models::TensorMemoryCopyCommand& command);
  /// One warp executes the warpgroup's wgmma.mma_async of that number.
  void wgmma(const Thread& thread, const models::WgmmaCommand& command, uint32_t number);
  /// The warp has waited for those up to that number: all of the warpgroup's are over.
  void wgmma_wait(const Thread& thread, uint32_t number);
  /// A commit by one thread; the result goes along as Source::op.
  uint32_t commit(const Thread& thread, uint32_t barrier);
  /// Returns its number among the warp's loads, from 1.
  /// @param split  columns from the first half's to the second's, of 16x32bx2 alone
  uint32_t tmem_load(const Thread& thread, TmemShape shape, int repeat, TmemAddr address, int split = 0);
  /// A register of that load has been read: it is over, and those before it.  `seen`: how the reader is known, for
  /// TC18.
  void tmem_register_read(const Thread& thread, uint32_t load, std::string_view seen);
  void tmem_wait_load(const Thread& thread);
  void tmem_store(const Thread& thread, TmemShape shape, int repeat, TmemAddr address, int split = 0);
  void tmem_wait_store(const Thread& thread);
  void tmem_dealloc(const Thread& thread, TmemAddr address, uint32_t columns, int cta_group);

  /// What lies at an address of global memory, for reports: "C, row 130, column 0".
  using PlaceName = std::function<std::string(GlobalAddr)>;
  void name_places(PlaceName name) { place_name_ = std::move(name); }

  /// A warp's lanes load global memory, and `address` is the first lane's and stands for all; or it stores a word.
  /// @param strong  relaxed, volatile or stronger, and not of the scope of the CTA alone
  void global(const Thread& thread, GlobalAddr address, bool write, bool strong = false);
  /// A warp's lanes store to global memory: each is compared with who has stored to its bytes before.
  /// @param predicated  some lanes may be left out: then loads and atomics are not compared with it
  /// @param repeats     a lane that writes the bytes that are there already
  void global_stores(const Thread& thread, const instructions::LaneStores& stores, bool predicated,
                     const std::function<bool(int lane)>& repeats, bool strong = false);
  /// A bulk copy reads global memory (GM6).
  void bulk_source(const Thread& thread, GlobalAddr from, uint32_t bytes);
  /// A bulk or tensor store, also one that reduces, writes global memory until its group has completed (GM7).
  void bulk_write(const Thread& thread, const models::TensorCopy& copy);
  /// A bulk or tensor load reads global memory.
  void bulk_read(const Thread& thread, const models::TensorCopy& copy);
  /// Lanes execute an atomic; they are in order among themselves, whoever executes them.
  /// @param compares  it is a compare-and-swap: what the warp has loaded from the word before was a guess
  /// @param returns   the value that was there: what follows may follow from it
  void atomic(const Thread& thread, GlobalAddr address, bool compares, bool returns) {
    at_once(thread.slot);
    if (compares) compare_and_swap(thread, address);
    access_global(thread, address, AccessKind::atomic, true, {.reduces = !returns, .strong = true});
  }
  // ---- tensor maps in global memory
  /// A thread writes to a map.
  /// @param released  by the same instruction
  void map_edit(const Thread& thread, GlobalAddr map, bool released);
  /// fence.proxy.tensormap release: of all edits that the thread knows of.
  void map_release(const Thread& thread);
  void map_acquire(const Thread& thread, GlobalAddr map);
  /// A tensor copy reads the map.
  /// @param op  of a load: its number
  void map_use(const Thread& thread, GlobalAddr map, bool load, uint32_t barrier, uint32_t op);

  /// st.release of a word; the result goes along as Source::op to whoever reads the value.
  /// @param before  an atomic's: what the value that it found was released with goes on (release sequence)
  uint32_t release_word(const Thread& thread, uint32_t before = 0);
  /// ld.acquire has read what that release stored; 0: nobody's.
  void acquire_word(const Thread& thread, uint32_t release);
  /// A fence of generic accesses, of a scope beyond the CTA.
  void fence_memory(const Thread& thread);
  /// A relaxed atomic on a word that `before` was released with: what goes along with the new value.
  uint32_t relaxed_atomic(const Thread& thread, uint32_t before);
  /// A relaxed load of such a word.
  void relaxed_load(const Thread& thread, uint32_t before);
  /// A fence of generic accesses, of the scope of the CTA: for words of shared memory.
  void fence_cta(const Thread& thread);
  /// A strong access to shared memory (relaxed, volatile, acquire, release, an atomic): it races with no other one,
  /// and hands on what its order says.
  struct StrongAccess {
    bool reads, writes;
    bool acquires = false, releases = false;
  };
  void shared_word(const Thread& thread, uint32_t at_rank, uint32_t offset, const StrongAccess& access);

  uint32_t new_op() { return ++last_op_; }
  Footprints& smem_sets() { return smem_sets_; }

 private:
  static constexpr uint32_t kNoBarrier = UINT32_MAX;
  static constexpr uint32_t kReleases = UINT32_MAX;  ///< Source::op: what the warp knows when the event comes

  enum Part : uint32_t {
    kWarp,
    kCopies,
    kTmemLoads,
    kTmemStores,
    kMma,
    kGroups,
    kInits,
    kSignals,
    kParts,
    kWritten /* of lanes alone */
  };
  bool looks_for_unwritten_ = false;
  /// A thread's store that nothing but its cp.async.mbarrier.arrive has handed on.
  static bool handed_by_copies(const WarpState& by, const Access& store);
  /// What is wrong between two accesses that meet is not when they happen, but where.
  struct WrongPlace {
    std::string message;
    std::string detail;     ///< in place of "missing: ..."
    bool replaces = false;  ///< the finding's message; else it goes behind it
    bool adds = false;      ///< the detail goes behind "missing: ..."
  };
  std::optional<WrongPlace> wrong_place(const Thread& t, uint32_t at_rank, const Access& earlier,
                                        const Access& later, Footprints::Id first, Footprints::Id second);
  std::optional<WrongPlace> wrong_operand(const Thread& t, uint32_t at_rank, const Access& copy,
                                          const Access& later, Footprints::Id operand);
  /// "wrong: ...": a multicast copy that reaches a CTA whose MMAs hand their stages back to others; empty: none.
  std::string reached_without_release(const Thread& t, uint32_t at_rank, const Access& operand,
                                      const Access& later);
  std::optional<WrongPlace> stage_not_awaited(const Thread& t, uint32_t at_rank, const Access& copy, bool by_unit);
  /// "operand B (instruction descriptor: M 128, N 64)", of the MMA that is being issued.
  std::string operand_text(Footprints::Id operand) const;
  std::optional<WrongPlace> left_pending(const Thread& t, const Access& store, const Access& later);
  /// @param read  by the store
  std::optional<WrongPlace> other_strip(const Thread& t, const Access& store, const Access& later,
                                        Footprints::Interval read);
  /// A copy to another stage of the ring that `copy` fills, whose bytes a set has some of, and which has been
  /// waited for.
  const Access* landed_of_ring(const Thread& t, uint32_t at_rank, const Access& copy, Footprints::Id set);
  /// How far the warp that issued the access is with it.
  AccessProgress progress_of(const Cluster& in, const Access& access) const;
  /// Rank in the cluster of the warp that issued an access which is over with one of its own stamps (Part, or of
  /// some lanes).
  uint32_t issuing_rank(const Access& access) const {
    const uint32_t component = access.over.component, others = first_of(kParts);
    return component < others ? component / warps_ % cluster_ctas_ : (component - others) % cluster_ctas_;
  }
  /// That warp.
  const WarpState& warp_of(const Cluster& in, const Access& access) const {
    return in.ctas[issuing_rank(access)].warps[size_t(access.by.warp)];
  }
  /// The thread whose MMA it is; nullptr: it is none.
  const MmaThread* mma_thread_of(const Cluster& in, const Access& access) const;
  MmaThread& mma_thread(const Thread& t);
  /// Of the warp that issued the access: when it did.
  Stamp issue_of(const Access& access) const {
    return {component(issuing_rank(access), access.by.warp, kWarp), access.issued};
  }
  // Components lie part by part: the fences vouch for the first parts only, so their clocks are short.
  uint32_t first_of(Part part) const { return uint32_t(part) * cluster_ctas_ * warps_; }
  /// Warps' own accesses and copies; all, when some lanes have components of their own.
  uint32_t fenced_components() const {
    return lanes_.empty() && !async_stores_ ? first_of(kTmemLoads) : UINT32_MAX;
  }
  /// And those to tensor memory.
  uint32_t tmem_components() const { return lanes_.empty() ? first_of(kGroups) : UINT32_MAX; }
  uint32_t component(uint32_t rank, int warp, Part part) const {
    return (uint32_t(part) * cluster_ctas_ + rank) * warps_ + uint32_t(warp);
  }
  uint32_t barrier_component(uint32_t rank, size_t index) const {
    return first_of(kParts) + uint32_t(index) * cluster_ctas_ + rank;
  }
  /// Of lanes that do by themselves what others of their warp do too.  Numbered as a barrier, because that grows.
  uint32_t lanes_component(uint32_t rank, int warp, Part part, uint32_t lanes);
  uint32_t copies_component(const Thread& t, uint32_t lanes);
  BulkGroups& bulk_groups(const Thread& t);
  /// The group that a store of this thread goes into.
  Stamp bulk_group(const Thread& t);
  void check_complete(const models::MbarrierEvent& event, const Barrier& barrier);
  /// Thread::lanes have seen the barrier's last phase.
  void lanes_have_waited(const Thread& t, uint32_t offset);
  /// Thread::lanes do what others may wait for.
  void lanes_signal(const Thread& t);
  /// LN2: lanes that may still be at their wait for the phase before the one that completes.
  void check_lanes(const models::MbarrierEvent& event, Barrier& barrier);
  void report_late_lanes(const models::MbarrierEvent& event, int warp, const LanesWait& wait);
  /// Of the barrier at an offset, in every CTA: those of the kernel's table in its order, then others as they come.
  size_t barrier_index(uint32_t offset);
  /// Generations of a named barrier of the CTA, as phases of an mbarrier.
  uint32_t named_component(uint32_t rank, int id);
  Barrier& barrier_of(CtaState& cta, uint32_t offset) {
    const size_t index = barrier_index(offset);
    if (index >= cta.barriers.size()) cta.barriers.resize(barriers_);
    return cta.barriers[index];
  }
  Cluster& cluster(int slot) { return *clusters_[size_t(slot)]; }
  /// Cycle of what is looked at.
  models::Cycles time() const { return catching_up_ ? time_ : models::now(); }
  /// @return true: `call(checker, thread)` will be made later; else the caller goes on
  template <class Call>
  bool postponed(const Thread& thread, const Call& call) {
    if (!postpones_ || catching_up_) return false;
    postpone_call(thread.slot,
                  [=, kept = KeptThread(thread)](HazardChecker& checker) { call(checker, kept.thread()); });
    return true;
  }
  /// What is needed of a thread later, in few bytes.  Its warp will have gone on by then.
  struct KeptThread {
    Loc loc;
    int slot, cta;
    uint32_t lanes;
    int8_t warp, lane;
    bool apart, relaxed;

    explicit KeptThread(const Thread& t)
        : loc(t.by.loc),
          slot(t.slot),
          cta(t.by.cta),
          lanes(t.lanes),
          warp(t.by.warp),
          lane(t.by.lane),
          apart(t.apart),
          relaxed(t.relaxed) {}
    Thread thread() const {
      return {slot, {.warp = warp, .lane = lane, .loc = loc, .cta = cta}, nullptr, apart, lanes, relaxed};
    }
  };
  void postpone_event(const models::MbarrierEvent& event);
  template <class Call>
  void postpone_call(int slot, const Call& call) {
    Cluster& of = cluster(slot);
    of.postponed.add(models::now(), call);
    if (of.postponed.bytes() >= kMostPostponed) catch_up(of);
  }
  /// What comes next needs to know all that the cluster has done.
  void at_once(int slot) {
    if (postpones_ && !catching_up_ && clusters_[size_t(slot)]) catch_up(cluster(slot));
  }
  void catch_up(Cluster& cluster);
  uint32_t rank(int slot) const { return ranks_[size_t(slot)]; }
  CtaState& cta(int slot) { return cluster(slot).ctas[rank(slot)]; }
  WarpState& warp(const Thread& t) { return cta(t.slot).warps[size_t(t.by.warp)]; }
  Stamp now(const Thread& t);
  /// The thread's next accesses are not part of what it has released.
  void step(const Thread& t);
  /// What an arrival that is .relaxed hands on: what the warp has fenced before.
  void relaxed_arrival(const Thread& t, Knowledge& released);
  /// What the operation with the number Cluster::later.last() will release.
  Knowledge& next_later(Cluster& cluster);
  Access access(const Thread& t, AccessKind kind, bool write, Stamp over);
  /// Bytes that a unit will write to shared memory of each CTA of `ranks`, and then signal it.
  void send(const Thread& t, AccessKind kind, CtaMask ranks, uint32_t offset, uint32_t bytes, uint32_t barrier,
            uint32_t op, bool linear = false, bool reduces = false);
  /// @param traits  of the access: `reduces` and `strong` of it are kept
  /// @param stores_compared  it has been compared with other plain stores
  void access_global(const Thread& t, GlobalAddr address, AccessKind kind, bool write, const Access& traits,
                     bool stores_compared = false);
  models::Violation race_in_global(const Thread& t, const GlobalAccess& earlier, const GlobalAccess& later,
                                   GlobalAddr address) const;
  /// GM3, or a warning where hardware is known to do what is meant.
  void report_race(const Thread& t, const GlobalAccess& earlier, const GlobalAccess& later, models::Violation race);
  /// The number of a store that the warp executes now: stores of one line with nothing between that orders them are
  /// one.
  GlobalStores::Number number_of_store(const Thread& t, bool strong);
  bool made_by(const Thread& t, const GlobalAccess& access);
  void doubt(const GlobalAccess& read, GlobalAddr address, models::Violation violation);
  void compare_and_swap(const Thread& t, GlobalAddr address);
  /// Of the warp, which exits without having compared.
  void report_doubted(const Thread& t);
  /// @return whether it was reported: the store `write` may still be on its way
  bool early_read(const Thread& t, AccessKind kind, uint32_t write, uint64_t address, bool linear = false);
  /// The warp has accessed shared memory of another CTA.
  void note_remote(const Thread& t, uint32_t rank, const Access& access);
  /// It has stored a word there by a strong access.
  void note_remote_word(const Thread& t, uint32_t rank, uint32_t offset);
  /// It, or its commit, has signalled a barrier there.
  void note_signal(const Thread& t, uint32_t rank, const Signal& signal);
  /// Bytes have come for the barrier's open phase.
  static void note_fill(const models::MbarrierEvent& event, Barrier& barrier);
  /// CR3: the last warp of the CTA exits, and others may not have signalled its barriers yet, or filled its memory.
  void check_signals(int slot, const models::Source& by);
  void check_fills(int slot, const models::Source& by);
  void report_exit(int slot, const models::Source& by, const Access& access);
  void report_exit(int slot, const models::Source& by, const char* what, const models::Source& other,
                   models::Cycles cycle, uint32_t barrier);
  /// Some warp of the CTA knows that: it has waited for it, or for somebody who has.
  static bool knows(const CtaState& cta, Stamp over, bool likely);
  /// Reads of what `later` overwrites have to be fenced: a CLC response's, and a stage's where the kernel says so.
  bool fences_reads_before(const Thread& t, const Access& later);
  void touch_smem(const Thread& t, uint32_t rank, Footprints::Id set, const Access& access);
  /// A unit reads shared memory of CTA `rank` for a thread.
  void check_unit_reads_written(const Thread& t, uint32_t rank, Footprints::Id set, const Access& read);
  bool unwritten_looks_left(const Thread& t);
  void touch_tmem(const Thread& t, uint32_t rank, Footprints::Id set, const Access& access);
  void check_peer_has_allocated(const Thread& t);
  /// What an MMA touches in each CTA, looked up once for each combination of operands.
  struct MmaSets {
    models::MmaCommand command;
    Footprints::Id a, b, d;        ///< a: of tensor memory where A lies there
    Footprints::Id sfa, sfb;       ///< of the block-scaled kinds
    Footprints::Id metadata;       ///< of .sp
    Columns columns{};             ///< of d
    const char* covers = nullptr;  ///< what the MMA reads of tensor memory and d lies over, or nullptr
    bool known = false;
  };
  const MmaSets& mma_sets(const models::MmaCommand& command);
  void covers_own_operand(const Thread& t, const models::MmaCommand& command, const MmaSets& sets);
  Footprints::Id operand_set(const models::MmaCommand& command, bool a);
  Footprints::Id wgmma_operand_set(const models::WgmmaCommand& command, bool a);
  /// Rows of an operand in shared memory; `key` stands for all that decides which bytes these are.
  Footprints::Id descriptor_set(uint64_t key, const SmemDescriptorFields& f, Major major, uint32_t bytes,
                                uint32_t rows, uint32_t row_bytes);
  /// Cells of D in which an MMA that disables lanes writes any, in the pair's CTA `cta`.
  Footprints::Id enabled_set(const models::MmaCommand& command, uint32_t cta);
  /// Of the warpgroup of the thread: instructions that are over, by number.
  uint32_t wgmma_component(const Thread& t);
  /// `columns` from `first` on, in the lanes that hold D; of A in tensor memory as well.
  Footprints::Id tmem_set(const models::MmaCommand& command, int rows_of_m, TmemAddr first, uint32_t columns);
  /// Columns in all lanes, of any access by the tensor core.
  Footprints::Id column_set(TmemAddr first, uint32_t columns);
  Footprints::Id copy_source_set(const models::TensorMemoryCopyCommand& command);
  Footprints::Id copy_destination_set(const models::TensorMemoryCopyCommand& command);
  /// A copy comes behind an MMA of its thread that reads or writes these columns: in order as far as known.
  void note_issue_order(const Thread& t, const Access& earlier, const Access& later);
  /// What a tcgen05.ld or .st of a warp touches.
  Footprints::Id transfer_set(TmemShape shape, int repeat, TmemAddr address, int warp, int split);
  /// What lacks between two accesses that are not in order.
  Missing missing_between(const Thread& t, const Access& earlier, const Access& later);
  void report(const Thread& t, uint32_t rank, const Access& earlier, const Access& later, const Footprints& sets,
              Footprints::Id first, Footprints::Id second);
  /// Something orders an access of any cluster before what the warp does next.
  bool ordered_in_global(const Thread& t, const GlobalAccess& earlier);
  /// Not by PTX, but by a fence of the writer and a relaxed atomic that has been read behind it, with no fence
  /// since.
  bool ordered_but_for_a_fence(const Thread& t, const GlobalAccess& earlier);
  /// And a proxy fence lies between, of the one or the other.
  bool fenced_in_global(const Thread& t, const GlobalAccess& earlier);
  GlobalAccess global_access(const Thread& t, AccessKind kind, bool write, Stamp over);
  /// The load's own thread has waited for all its bulk groups since: they hold no loads.
  bool groups_waited_behind(const Thread& t, const Access& load);
  void report_map(const Thread& t, const char* id, const GlobalAccess& earlier, const GlobalAccess& later,
                  GlobalAddr map);
  /// The copy `op` has read its map.
  void map_load_landed(uint32_t op, Stamp over, int64_t phase);
  /// NB3 where the generation was complete in time, by luck.
  void report_second_arrival(const Thread& t, int id, const Loc& first);
  /// The two lines have not been told of yet.
  bool new_pair(const Loc& a, const Loc& b);

  const Kernel& kernel(int slot) { return *cluster(slot).kernel; }

  const LaunchList launches_;
  models::Observer& report_;
  uint32_t warps_ = 1, cluster_ctas_ = 1;  ///< of the largest CTA and the largest cluster of the run
  std::vector<uint32_t> barrier_at_ =
      std::vector<uint32_t>(kSmemWindowBytes / 8, kNoBarrier);  ///< by word: its index
  size_t barriers_ = 0;                                         ///< known so far
  std::array<size_t, 16> named_{};  ///< of named barriers: 1 + the index as of an mbarrier
  size_t prerequisites_ = 0;        ///< the same of griddepcontrol.wait
  Footprints smem_sets_, tmem_sets_;
  std::vector<std::shared_ptr<Cluster>> clusters_;  ///< by slot
  std::vector<uint32_t> ranks_;                     ///< by slot, of its CTA in the cluster
  Flights<Flight> flights_;
  std::vector<Release> releases_;
  std::unordered_map<uint64_t, GlobalCell> global_;  ///< by address
  GlobalStores stored_;
  std::vector<GlobalAccess> stores_;  ///< by GlobalStores::Number - 1
  PlaceName place_name_;
  std::vector<DoubtedRead> doubted_;
  std::deque<GlobalAccess> bulk_writers_;  ///< by the number that bulk_writes_ knows them by
  BulkWrites bulk_writes_;
  std::set<std::pair<uint32_t, std::string_view>> told_loads_;  ///< line and file
  std::unordered_map<uint64_t, EditedMap> maps_;                ///< tensor maps in global memory, by address
  std::vector<uint64_t> unreleased_maps_;
  std::unordered_map<uint32_t, uint64_t> map_loads_;           ///< on their way, by op: which map
  std::vector<MmaSets> mma_sets_ = std::vector<MmaSets>(512);  ///< by hash
  const MmaSets* issuing_ = nullptr;                           ///< of the MMA that is being looked at
  uint32_t last_op_ = 0, clusters_started_ = 0;
  bool postpones_ = false, catching_up_ = false;
  static constexpr size_t kMostPostponed = 31 << 10;  ///< bytes of calls of a cluster, which fit into 32 KiB
  models::Cycles time_ = 0;                           ///< of the call that is caught up with
  bool async_stores_ = false;                         ///< which are generic accesses that are over with a phase
  bool repeats_ = false;                              ///< store_repeats() of the next store
  bool strong_ = false;                               ///< strong_accesses()
  bool relaxed_ = false;                              ///< some arrival or wait of an mbarrier has been .relaxed
  std::map<std::tuple<int, Part, uint32_t>, size_t> lanes_;  ///< by warp, part and lanes: index as of a barrier
  /// Line and file of both instructions that TC16 has been reported for.
  std::set<std::tuple<uint32_t, std::string_view, uint32_t, std::string_view>> told_;
};

/// The finding for two accesses that nothing orders, in words.
struct HazardText {
  const char* id;
  std::string message;
  std::vector<std::string> details;
  bool warning = false;
};
HazardText hazard_text(const Kernel& kernel, int cta, const Access& earlier, const Access& later, bool tmem,
                       Footprints::Interval bytes, Missing missing, AccessProgress progress);
/// Who reads or writes through the async proxy: "a tensor store".
const char* unit_text(const Access& access);
/// The same for a read of bytes that nobody had filled: the reader is at fault, not who fills them later.
/// @param reader  the account of the warp that reads, or nullptr
HazardText unfilled_text(const Kernel& kernel, int cta, const Access& read, const Access& fill, const Warp* reader,
                         bool tmem, Footprints::Interval bytes);
/// TC17 as a note: a tcgen05.cp behind an MMA of its thread.
HazardText issue_order_text(const Kernel& kernel, const Access& mma, const Access& copy);
/// TC18.
HazardText register_read_text(const Kernel& kernel, const Access& load, std::string_view seen);
/// One of the two, for a trace: "tensor load, for input_full[2] phase 3".
models::Place hazard_place(const Kernel& kernel, const Access& access);
/// "load has last waited on input_empty[1], until cycle 4,290  load_warp.h:58": of the wait that would have ordered
/// the two; empty where it was no mbarrier's.
std::string hazard_wait_line(const Kernel& kernel, const Warp& warp, const Access& earlier, const Access& later);
/// "phase 2 of it had its last arrival from mma (warp 1) of CTA 0 at cycle 4,280  mma_warp.h:40": of the phase that
/// this wait was for; empty: it is not known any more.
std::string hazard_completion_line(const Kernel& kernel, const Warp& warp, const Access& earlier,
                                   const Access& later);
/// Of that wait where it has passed at once on a phase that the warp had seen before, so that it ordered nothing;
/// empty: it has not.
std::string hazard_stale_line(const Kernel& kernel, const Warp& warp, const Access& earlier, const Access& later);
/// "expect_tx: 34,816 bytes, the last by load (warp 5) of CTA 0  gemm.ptx:754; copies of 2,048 are on their way".
std::string expected_bytes_line(const Kernel& kernel, const models::Source& by, uint64_t expected,
                                uint64_t on_the_way);
/// Details of a copy that is still on its way.
std::vector<std::string> hazard_copy_lines(const Kernel& kernel, const Access& copy);

/// TP1, TP2 and TP3: an edit of a tensor map and a copy that uses it.
HazardText map_hazard_text(const char* id, const Kernel& first_kernel, const Access& earlier,
                           const Kernel& second_kernel, const Access& later, GlobalAddr map);
/// TM6 as a warning, where a thread's cp.async.mbarrier.arrive hands on its stores too.
HazardText stored_beside_copies(HazardText text);
/// TP1 as a warning, where the thread that edits has waited for bulk groups behind its own load.
HazardText groups_do_not_hold_loads(HazardText text);
/// A bulk copy reads what threads have written, and no proxy fence lies between (GM6).
HazardText unfenced_source_text(const Kernel& first_kernel, const Access& write, const Kernel& second_kernel,
                                const Access& copy, GlobalAddr address);
/// GM7: a read of what a bulk or tensor store writes.
HazardText unfinished_store_text(const Kernel& first_kernel, const Access& store, const Kernel& second_kernel,
                                 const Access& read, GlobalAddr address);
/// The same for two accesses of warps to global memory.
/// @param place  what lies at the address; empty: it is not known
HazardText global_hazard_text(const Kernel& first_kernel, const Access& earlier, const Kernel& second_kernel,
                              const Access& later, GlobalAddr address, const std::string& place);

}  // namespace sm100::sim
