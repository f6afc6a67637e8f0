// SPDX-License-Identifier: Apache-2.0
/// What executes instructions for a warp: the one place through which every instruction goes, whoever drives the
/// model.
///
///   context.execute(instructions::MbarrierArrive{barrier, Scope::cta}, lanes, loc);
///
/// The lanes are the active ones, a bit each; `loc` is the line that reports name.  Faults alter operands on the
/// way, lanes that must be together are checked, then the instruction's `execute` (sim/instructions/) charges its
/// issue cycles and hands the operands, as the hardware would get them, to the unit.
///
/// One WarpContext per warp and CTA.  Instructions that only enqueue (copies, MMAs, commits) pass their issue cycle
/// along and let the warp run ahead; instructions that others can see at once first let the gathered cycles pass.
/// With data = none per-lane arithmetic and data accesses are skipped: the protocol never depends on them.
#pragma once

#include <array>
#include <bit>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/isa/instructions/catalogue.h"
#include "models/profiles/profile.h"
#include "models/time.h"
#include "sim/cta.h"
#include "sim/fault_interceptor.h"
#include "sim/hazards/hazard_checker.h"
#include "sim/mend/survey.h"
#include "sim/wait_history.h"
#include "sim/warp.h"

namespace sm100::sim {

inline constexpr uint32_t kAllLanes = 0xffffffffu;

class WarpContext;
/// What an instruction returns.
template <class I>
using Result = decltype(std::declval<const I&>().execute(std::declval<WarpContext&>()));

class WarpContext {
 public:
  /// @param faults  alters instructions; nullptr: nobody does
  WarpContext(Warp& warp, const models::DeviceProfile& profile, FaultInterceptor* faults = nullptr)
      : warp(warp),
        cta(warp.cta),
        own(warp.cta.context()),
        sm(warp.cta.sm()),
        profile(profile),
        issue(profile.issue),
        faults_(faults) {}

  /// One warp-level instruction by the lanes of a mask, of which at least one is set.
  template <class I>
  Result<I> execute(const I& instruction, uint32_t lanes, Loc loc) {
    lanes_ = lanes, loc_ = loc;
    if constexpr (I::kIs.faults != instructions::Alterable::no)
      if (faults_) return execute_altered(instruction);
    return perform(instruction);
  }

  Warp& warp;
  Cta& cta;
  models::CtaContext& own;  ///< what the CTA has of the hardware
  models::Sm& sm;
  const models::DeviceProfile& profile;
  const decltype(models::DeviceProfile::issue)& issue;

  // ---- the instruction that executes
  Loc loc() const { return loc_; }
  uint32_t lanes() const { return lanes_; }
  uint32_t threads = 0xffffffff;  ///< lanes that the block has: fewer in its last warp
  /// `.sync`, `.aligned`: all lanes must execute it together; false: TC2 has been reported.
  bool converged(std::string_view opcode);
  int active_lanes() const { return std::popcount(lanes_); }
  bool is_active(int lane) const { return lanes_ >> lane & 1; }
  int first_active_lane() const { return std::countr_zero(lanes_); }
  uint32_t cluster_ctarank() const { return cta.cluster_rank(); }
  /// The other CTA of the pair: ranks that differ in bit 0.
  models::CtaContext& peer() { return cta.gpu().cta(cta.peer_slot(cluster_ctarank() ^ 1)); }

  // ---- time
  void charge(double cycles) {
    if (spin) [[unlikely]]
      spin.reset();
    charge_private(cycles);
  }
  /// Of instructions that nobody else can notice: a loop of test_waits may have them in its body.
  void charge_private(double cycles) {
    if (given_up) [[unlikely]]
      leave_wait();
    warp.ahead += cycles;
  }
  /// Lets the gathered issue cycles pass: what follows is visible to others.
  void settle() {
    wait_for_issue_slot();
    spend();
  }
  models::Cycles issue_cycle() const { return models::now() + models::Cycles(warp.ahead); }
  /// Units reserve in the order of calls, so a warp that only enqueues may run ahead of the others a little,
  /// not far.
  models::Cycles enqueue_cycle() {
    constexpr double kLargestLead = 100;
    wait_for_issue_slot();
    if (warp.ahead > kLargestLead) spend();
    return issue_cycle();
  }
  /// Takes the SM's port of shared memory for what each active lane reads or writes; the warp goes on, and the last
  /// of it is through, at the cycle returned.
  models::Cycles access_shared(uint32_t bytes_of_lane, double issue_cycles);
  /// Cycle at which what the CTA's warps have stored to global memory and signalled in the cluster is there for
  /// all: a release of one of them is not seen before (it may have met the others at a barrier).
  models::Cycles released_by_cta() const;
  /// Issue waits for that cycle.
  void hold_issue(models::Cycles until) {
    if (until > issue_cycle()) warp.ahead = double(until - models::now());
  }
  models::Jitter& jitter() { return cta.gpu().jitter(); }

  // ---- who and where, for units, reports and traces
  /// Who does something, for the names of perturbation points.
  models::Source point() const { return {.warp = int8_t(warp.index), .loc = loc_, .cta = cta.linear_id()}; }
  models::Source source() {
    note_line();
    return {.warp = int8_t(warp.index),
            .loc = loc_,
            .flow = flow_of_open_span(),
            .cta = cta.linear_id(),
            .issued = models::now()};
  }
  /// Calls f(source of the lane) for every active lane: each executes the instruction by itself.
  template <class F>
  void for_each_thread(F&& f) {
    models::Source by = source();
    for (uint32_t lanes = lanes_; lanes != 0; lanes &= lanes - 1) by.lane = int8_t(std::countr_zero(lanes)), f(by);
  }
  void violate(const char* id, std::string message);
  void report_scope(std::string message, uint32_t barrier);
  /// The same on an mbarrier, for the run to go on.
  void warn(const char* id, std::string message, uint32_t barrier = 0);
  /// Of the innermost span, which it gives one.
  uint64_t flow_of_open_span();

  // ---- scopes (SC1)
  /// Of an arrive on the barrier of some CTA.
  void check_release_scope(Scope scope, ClusterSmemAddr barrier, const char* instruction);
  /// Of a wait that is over.
  void check_acquire_scope(Scope scope, SmemAddr barrier, const char* instruction);

  // ---- hazards
  HazardChecker* hazards() { return cta.observer().hazards(); }
  HazardChecker::Thread thread(int lane = -1) {
    return {own.slot,
            {.warp = int8_t(warp.index), .lane = int8_t(lane), .loc = loc_, .cta = cta.linear_id()},
            &warp,
            (touched_lanes_ & ~lanes_) != 0,
            lane < 0 ? lanes_ : 1u << lane,
            relaxed};
  }
  /// The lanes are at one instruction.
  void lanes_meet(uint32_t lanes) {
    HazardChecker* const h = hazards();
    if (!h) return;
    HazardChecker::Thread at = thread();
    at.lanes = lanes;
    h->lanes_meet(at);
  }
  /// The lanes read or write `bytes` each.
  void touch(const LaneArray<SmemAddr, 1>& addresses, int lanes, uint32_t bytes, bool write) {
    touched_lanes_ |= lanes_;
    if (HazardChecker* h = hazards()) h->generic(thread(), footprint(*h, addresses, lanes, bytes), write);
  }
  void touch(SmemAddr address, uint32_t bytes, bool write) {
    touched_lanes_ |= lanes_;
    if (HazardChecker* h = hazards())
      h->generic(thread(), h->smem_sets().intern_range(address.offset(), bytes), write);
  }
  /// A lane has loaded them from its own CTA's shared memory.  What a CTA starts with is 0xff in every byte (SM4).
  void loaded_from_shared(SmemAddr address, const void* values, uint32_t bytes) {
    if (sm.with_data && looks_unwritten(values, bytes)) unwritten_read(address, bytes);
  }
  /// `bytes` at each active lane's address.
  Footprints::Id footprint(HazardChecker& checker, const LaneArray<SmemAddr, 1>& addresses, int lanes,
                           uint32_t bytes) const;

  /// LN1: lanes of the mask use a variable that others have changed without them.
  void stale_lanes(uint32_t lanes, const LaneAgreement& agreement, Loc loc);

  // ---- what operands must be; false: a finding has been reported
  /// `.shared::cta` addresses may carry the own rank, not another.
  bool own_window(SmemAddr address, const char* what);
  static uint32_t rank_of(SmemAddr address) { return address.value >> kClusterRankShift; }
  /// A load's mbarrier lies in the CTA that it loads to; of a multicast its offset counts alone.  Else a finding.
  bool signals_at_destination(SmemAddr to, SmemAddr barrier, bool multicast, const char* what);
  /// The address lies in shared memory of a CTA of the cluster; else a finding.
  bool cluster_window(SmemAddr address, const char* what);
  /// A copy of a run without data is to bring these bytes to the CTAs of `ranks`.
  void forget(CtaMask ranks, uint32_t offset, uint64_t bytes);
  /// The access is inside the CTA's shared memory and naturally aligned.
  bool in_shared(SmemAddr address, uint32_t bytes, uint32_t alignment, const char* what);
  /// The bytes of a lane's access, if it is aligned and inside an allocation.
  /// @param strong     atomic, volatile, relaxed, acquire or release, where `what` does not say it
  /// @param alignment  0: that of its bytes
  uint8_t* global_bytes(GlobalAddr address, uint32_t bytes, int lane, const char* what, bool strong = false,
                        uint32_t alignment = 0);
  /// Nobody ahead in the stream still writes there; what follows griddepcontrol.wait may be sure of it.
  void check_prerequisites(GlobalAddr address, const char* what);
  /// The group is 1, or 2 in a CTA that has a peer, and the same as everywhere in the kernel (PTX 9.7.16).
  bool check_group(int cta_group, const char* instruction);

  // ---- the warp's account of its waits and arrivals on the barrier arrays
  /// nullptr for other addresses.
  Warp::Use* use_of(SmemAddr barrier) {
    const BarrierName name = barrier_name(cta.kernel(), barrier.offset());
    return name.array ? &warp.use[size_t(name.array - cta.kernel().barriers.data())] : nullptr;
  }
  void count_arrival(SmemAddr barrier) {
    if (Warp::Use* use = use_of(barrier)) ++use->arrivals, use->arrived = loc_, use->arrived_on = barrier.offset();
  }
  /// @param phase  that it has seen; -1: the one before the first, which a fresh barrier passes
  void count_wait(SmemAddr barrier, int64_t phase) {
    if (Warp::Use* use = use_of(barrier)) use->count_wait(barrier.offset(), phase, models::now(), loc_);
  }

  // ---- trace points
  /// From now on a trace point costs what the device recorder's instructions cost, the first one `first` more.
  void charge_recorder(double first);
  void trace_begin(TraceEvent event, const TraceArgs& args);
  void trace_end();

  /// Spans that a front end without trace points derives: they cost nothing.  One at a time.
  void derived_span(TraceEvent event, const TraceArgs& args) {
    if (cta.observer().recorder()) begin_span(event, args);
  }
  void end_derived_span() {
    if (!warp.open_spans.empty()) end_span();
  }

  // ---- registers that are still on their way
  /// Issue waits until the registers of the global loads hold values.
  void use_global_loads() { hold_issue(global_loads_done); }
  /// An instruction reads registers at `from`: it is known whether a load has written them.
  void uses_registers(const uint32_t* from) {
    for (const UnwaitedLoad& load : unwaited_loads)
      if (load.holds(from) && !overwritten(load)) return read_tmem_register(load.number, "reads");
    std::erase_if(valid_unread, [=](const UnwaitedLoad& load) { return load.holds(from); });
  }
  /// One of load `number` is read: issue waits for it, and it counts as over from here on.  `seen`: how it is
  /// known.
  void read_tmem_register(uint32_t number, std::string_view seen);
  /// For front ends with instructions of their own: who executes now, and where.
  void at(Loc loc, uint32_t lanes) { lanes_ = lanes, loc_ = loc; }
  /// For front ends that know the registers of each instruction.
  void tmem_register_read(uint32_t number, Loc loc) {
    loc_ = loc;
    read_tmem_register(number, "reads");
  }
  /// Role code does not say which registers it reads.  Per-lane arithmetic is taken to read those that a wait::ld
  /// has made valid and that nothing has read yet; where there are none, those of the loads that no wait::ld has
  /// covered.
  void lane_arithmetic(Loc loc) {
    if (!valid_unread.empty()) return valid_unread.clear();
    if (guessed_load == 0) return;
    loc_ = loc;
    read_tmem_register(std::exchange(guessed_load, 0), "may read");
  }
  /// A tcgen05.ld and where its registers lie, as long as nothing else lies there.  (Copies that C++ code makes of
  /// the array are not seen.)
  struct UnwaitedLoad {
    const uint32_t *registers, *end;
    uint32_t number;
    std::array<uint32_t, 4> sample{};  ///< of the values, one in a quarter of them
    bool holds(const uint32_t* at) const { return !std::less<>{}(at, registers) && std::less<>{}(at, end); }
    std::array<uint32_t, 4> sampled() const {
      const auto quarter = (end - registers) / 4;
      return {registers[0], registers[quarter], registers[2 * quarter], registers[3 * quarter]};
    }
  };
  /// Role code has put something else there, or another array.  Without data nobody can tell.
  bool overwritten(const UnwaitedLoad& load) const { return sm.with_data && load.sampled() != load.sample; }
  /// That neither a wait::ld nor a read of their registers has followed, in the order of their numbers.
  std::vector<UnwaitedLoad> unwaited_loads;
  std::vector<UnwaitedLoad> valid_unread;  ///< that a wait::ld has completed, and nothing has read
  uint32_t tmem_loads = 0;                 ///< so far
  uint32_t guessed_load = 0;  ///< the last one that per-lane arithmetic would be taken to read; 0: none
  models::Cycles tmem_loads_done = 0, tmem_stores_done = 0;
  models::Cycles global_loads_done = 0;  ///< their registers hold values from then on
  models::Cycles shared_words_done = 0;  ///< the same of loads of words from shared memory
  /// When the registers of each ld.shared that nobody has stored yet hold their values, oldest first.
  std::deque<models::Cycles> shared_loads;

  uint64_t read_only_line = UINT64_MAX;  ///< of global memory, that its last ld.global.nc has read

  // ---- wgmma
  /// Until the warp's wgmma.mma_async up to that number are over: D is there, shared operands may be overwritten.
  void wait_for_wgmma(uint32_t number);
  bool wgmma_fenced = false;

  // ---- what else the warp's instructions leave for later ones
  /// Of one thread: when its cp.async so far have landed, and those of its groups that may be pending, oldest
  /// first.
  struct ThreadCopies {
    models::Cycles landed = 0;
    std::vector<models::Cycles> groups;
  };
  std::array<ThreadCopies, kWarpLanes> copies;
  uint32_t cluster_waits =
      0;  ///< lanes that have not waited for the phase of the cluster barrier that they arrived in
  uint32_t cluster_lanes = 0;    ///< that have arrived at the cluster barrier before all of the warp have
  bool cluster_release = false;  ///< all of them with .release
  int clc_responses = 0;         ///< decoded
  WaitHistory waits;
  /// A try_wait that suspends the warp.
  struct MbarrierWait {
    SmemAddr barrier;
    uint32_t parity;
    int64_t phase, sees;  ///< open when it began, and the one that it waits for
    std::optional<WaitHistory::Seen> before;
    models::Cycles since;
    Loc loc;
    bool drawn = false;  ///< it returned false because a perturbation says so
  };
  std::optional<MbarrierWait> given_up;  ///< the last try_wait has returned false, and nothing has followed
  /// test_waits of one line for one phase that have returned false, with nothing between them that anybody could
  /// notice.
  struct Spin {
    SmemAddr barrier;
    uint32_t parity;
    Loc loc;
    models::Cycles since, last;  ///< the first and the last of them
    models::Cycles period = 0;   ///< between the last two
  };
  std::optional<Spin> spin;
  /// The test under way is a look: a try_wait whose answer no loop asks for again.  It suspends the warp, up to the
  /// limit.
  bool test_suspends = false;
  /// And nobody reads its answer: whatever follows would follow without it, so it orders nothing.
  bool answer_ignored = false;
  /// The mbarrier instruction under way says .relaxed.
  bool relaxed = false;

 private:
  static bool looks_unwritten(const void* values, uint32_t bytes) {
    const uint8_t* const at = static_cast<const uint8_t*>(values);
    const uint32_t step = bytes < 4 ? bytes : 4;
    for (uint32_t from = 0; from + step <= bytes; from += step) {
      uint32_t word = ~0u;
      std::memcpy(&word, at + from, step);
      if (word == ~0u) return true;
    }
    return false;
  }
  void unwritten_read(SmemAddr address, uint32_t bytes);

  /// The instruction as it is, by lanes().
  template <class I>
  Result<I> perform(const I& instruction) {
    if constexpr (I::kIs.aligned)
      if (!converged(I::kIs.opcode)) return Result<I>();
    if constexpr (I::kIs.aligned) lanes_have_met();
    return instruction.execute(*this);
  }
  template <class I>
  Result<I> execute_altered(I instruction);
  /// The warp does something else after a try_wait that has returned false.
  void leave_wait();
  /// After a wait: releases what it waited for, if a fault says so.
  void release_early(SmemAddr waited);
  /// All lanes have come to one instruction: what they accessed before it is over.
  void lanes_have_met() {
    HazardChecker* const h = hazards();
    if (std::exchange(touched_lanes_, 0u) != 0 && h) h->lanes_have_met(thread());
    lanes_meet(lanes_);
  }
  /// The line of a span in a trace is that of its first instruction that has one.
  void note_line() {
    if (!warp.open_spans.empty() && warp.open_spans.back().args.line == traces::kNoName && loc_.line() > 0)
      warp.open_spans.back().args.line = cta.observer().line_name(loc_);
  }
  /// Other warps may be issued first.
  void wait_for_issue_slot() {
    note_line();
    warp.ahead += double(jitter().delay(models::JitterSite::warp_issue, point()));
  }
  void spend() {
    if (warp.ahead >= 1) {
      const auto whole = models::Cycles(warp.ahead);
      warp.ahead -= double(whole);
      warp.pass(whole);
    }
  }
  void begin_span(TraceEvent event, const TraceArgs& args);
  void end_span();
  /// @param words  of 16 bytes of the next record
  void store_trace_record(int words);

  FaultInterceptor* faults_;
  uint32_t lanes_ = kAllLanes;
  uint32_t touched_lanes_ = 0;  ///< that have accessed shared memory since all lanes last met
  Loc loc_{};
  double trace_begin_cycles_ = 0, trace_end_cycles_ = 0, trace_first_cycles_ = 0, trace_store_cycles_ = 0;
  GlobalAddr trace_records_{};  ///< where the recorder writes; 0: nowhere
  uint64_t trace_room_ = 0, trace_recorded_ = 0;
};

/// As the faults that match alter it: delay, operands, lanes, how often.
template <class I>
Result<I> WarpContext::execute_altered(I instruction) {
  constexpr bool kWaits = std::is_same_v<I, instructions::MbarrierTryWaitParity>;
  [[maybe_unused]] const I written = instruction;
  if constexpr (I::kIs.releases && requires { instruction.barrier; })
    if (faults_->released_already(instruction.barrier.offset())) return;
  Selection selection = selection_of(instruction, first_active_lane());
  selection.loc = loc_;
  Alteration alteration;
  if constexpr (kWaits)
    alteration = faults_->match_wait(warp, selection, instruction.parity, given_up.has_value());
  else
    alteration = faults_->match(warp, I::kIs.function, selection);
  alter_operands(instruction, alteration, cluster_ctarank(), lanes_);
  if (InstructionSurvey* const survey = InstructionSurvey::active()) [[unlikely]]
    survey->add(warp, instruction, lanes_, selection);
  if (alteration.delay > 0) warp.pass(alteration.delay);
  const uint32_t outer = std::exchange(lanes_, alteration.lanes_of(lanes_));
  const auto executions = [&] {
    for (int i = 1; i < alteration.times; ++i) perform(instruction);
    if constexpr (requires { instruction.dropped(); })
      return alteration.times > 0 ? perform(instruction) : instruction.dropped();
    else
      return alteration.times > 0 ? perform(instruction) : Result<I>();
  };
  if constexpr (std::is_void_v<Result<I>>) {
    executions();
    lanes_ = outer;
  } else {
    Result<I> result = executions();
    lanes_ = outer;
    if constexpr (kWaits)
      if (result) release_early(written.barrier);
    alter_result(result, alteration);
    return result;
  }
}

}  // namespace sm100::sim
