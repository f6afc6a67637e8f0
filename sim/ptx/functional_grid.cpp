// SPDX-License-Identifier: Apache-2.0
// Gangs of CTAs on threads of the host.  A gang whose warps all spin on memory is put aside and others start: what
// it waits for may be another CTA's to write.
#include "sim/ptx/functional_grid.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "sim/ptx/atomic_forms.h"
#include "sim/ptx/device_calls.h"
#include "sim/ptx/functional_warp.h"
#include "sim/ptx/longest_match.h"
#include "sim/ptx/matrix_exchange.h"
#include "sim/ptx/wmma_accesses.h"

namespace sm100::sim {

namespace {

class Grid {
 public:
  explicit Grid(const FunctionalLaunch& launch) : code_(launch), launch_(launch) {
    const Dim3 g = launch.grid, c = launch.cluster;
    gangs_ = uint64_t{g.x / c.x} * (g.y / c.y) * (g.z / c.z);
  }

  FunctionalResult run() {
    const int wanted =
        launch_.threads > 0 ? launch_.threads : int(std::max(1u, std::thread::hardware_concurrency()));
    threads_ = std::min<uint64_t>(uint64_t(wanted), gangs_);
    std::vector<std::thread> others;
    for (uint64_t i = 1; i < threads_; ++i) others.emplace_back([this] { work(); });
    work();
    for (std::thread& t : others) t.join();
    flush_printed(true);
    result_.warp_instructions = code_.warp_instructions;
    const uint64_t slots = uint64_t(std::max(1, launch_.sms)) * kSchedulers;
    result_.cycles = std::max((issue_cycles_ + slots - 1) / slots, longest_ / kSchedulers);
    return std::move(result_);
  }

 private:
  static constexpr uint64_t kSchedulers = 4;  ///< of an SM
  static constexpr uint64_t kAtOnce = 16;     ///< gangs that a thread begins with, where there are many more
  static constexpr uint64_t kCtasOfSm = 8;  ///< more, and their shared memory and registers are too much for a host
  using Gang = std::unique_ptr<FunctionalGang>;

  void work() {
    Gang spare;  // one that has ended: another can begin in it
    std::unique_lock lock(mutex_);
    for (;;) {
      Next turn = next(lock);
      if (turn.end) break;
      if (turn.gang) run(std::move(turn.gang), lock, spare);
      while (turn.fresh < turn.fresh_end) turn.fresh = run_fresh(turn.fresh, turn.fresh_end, lock, spare);
    }
    turn_.notify_all();
  }
  void run(Gang gang, std::unique_lock<std::mutex>& lock, Gang& spare) {
    ++running_;
    lock.unlock();
    const FunctionalGang::State state = gang->run();
    lock.lock();
    --running_;
    put_back(gang, state);
    if (gang) spare = std::move(gang);
    turn_.notify_all();
  }
  /// New ones, up to the first that has more to tell than that it has ended.  @return the one behind it
  uint64_t run_fresh(uint64_t first, uint64_t end, std::unique_lock<std::mutex>& lock, Gang& spare) {
    ++running_;
    lock.unlock();
    Gang gang = spare ? std::move(spare) : std::make_unique<FunctionalGang>(code_);
    Ended ended;
    uint64_t index = first;
    FunctionalGang::State state{};
    for (;;) {
      gang->start(index);
      state = gang->run();
      if (++index == end || state != FunctionalGang::State::done || gang->has_printed()) break;
      ended.add(*gang);
    }
    lock.lock();
    --running_;
    count(ended);
    for (uint64_t silent = first; silent + 1 < index; ++silent) {
      has_printed(silent, {});
      in_vain_ = 0;  // it may have written what others wait for
    }
    put_back(gang, state);
    if (gang) spare = std::move(gang);
    turn_.notify_all();
    return index;
  }

  /// What a thread does now.
  struct Next {
    Gang gang{};                        ///< runs on; nullptr: new ones begin
    uint64_t fresh = 0, fresh_end = 0;  ///< these
    bool end = false;                   ///< there is nothing left to do
  };
  Next next(std::unique_lock<std::mutex>& lock) {
    for (;;) {
      if (failed()) return {.end = true};
      const bool fresh = started_ < gangs_;
      if (fresh && (aside_.empty() || fresh_due_ > 0)) {
        if (fresh_due_ > 0) --fresh_due_;
        const uint64_t many = aside_.empty() && gangs_ - started_ > 4 * kAtOnce * threads_ ? kAtOnce : 1;
        started_ += many;
        return {.fresh = started_ - many, .fresh_end = started_};
      }
      if (aside_.empty()) {
        if (running_ == 0) return {.end = true};
      } else if (in_vain_ < (fresh ? 1 : 2) * (aside_.size() + running_) + 2) {
        Gang gang = std::move(aside_.front());
        aside_.pop_front();
        return {.gang = std::move(gang)};
      } else if (fresh) {  // all of them wait for somebody else: as many again
        fresh_due_ = aside_.size();
        in_vain_ = 0;
        continue;
      } else if (running_ == 0) {
        report_deadlock();
        return {.end = true};
      }
      turn_.wait(lock);
    }
  }

  /// Takes it, unless it has ended.
  void put_back(Gang& gang, FunctionalGang::State state) {
    in_vain_ = gang->progressed ? 0 : in_vain_ + 1;
    code_.warp_instructions += std::exchange(gang->uncounted, 0);
    if (state == FunctionalGang::State::suspended) {
      // As many as the device has room for run beside each other there.
      const auto room = uint64_t(std::max(1, launch_.sms)) * kCtasOfSm / ctas();
      if (gang->turn_is_over && fresh_due_ == 0 && aside_.size() + running_ < room) fresh_due_ = 1;
      return aside_.push_back(std::move(gang));
    }
    Ended ended;
    ended.add(*gang);
    count(ended);
    has_printed(gang->index, gang->printed());
    if (state == FunctionalGang::State::failed && gang->index < code_.last_gang) {
      code_.last_gang = gang->index;
      result_ = gang->failure;
    }
    flush_printed();
  }

  /// What is known of gangs once they have ended, or come to the end of their turn.
  struct Ended {
    uint64_t warp_instructions = 0, issue_cycles = 0, longest = 0;
    void add(FunctionalGang& gang) {
      warp_instructions += std::exchange(gang.uncounted, 0);
      issue_cycles += gang.issue_cycles;
      longest = std::max(longest, gang.issue_cycles);
    }
  };
  void count(const Ended& ended) {
    code_.warp_instructions += ended.warp_instructions;
    issue_cycles_ += ended.issue_cycles;
    longest_ = std::max(longest_, ended.longest);
  }
  void has_printed(uint64_t gang, std::string text) {
    if (gang != next_printed_)
      printed_[gang] = std::move(text);
    else
      print(text), ++next_printed_;
  }

  bool failed() const { return code_.last_gang != UINT64_MAX; }

  void print(const std::string& text) const {
    if (launch_.print && !text.empty()) launch_.print(text);
  }
  /// What CTAs have printed, as far as all in front of them have ended.
  void flush_printed(bool all = false) {
    while (!printed_.empty() && (all || printed_.begin()->first == next_printed_)) {
      print(printed_.begin()->second);
      next_printed_ = printed_.begin()->first + 1;
      printed_.erase(printed_.begin());
    }
  }

  void report_deadlock() {
    const FunctionalGang& first = **std::min_element(
        aside_.begin(), aside_.end(), [](const Gang& a, const Gang& b) { return a->index < b->index; });
    code_.last_gang = first.index;
    result_ = first.stuck();
    result_.text += fmt::format("; {} of {} CTAs have been started and nobody writes what they poll",
                                started_ * ctas(), gangs_ * ctas());
  }
  uint64_t ctas() const { return uint64_t{launch_.cluster.x} * launch_.cluster.y * launch_.cluster.z; }

  FunctionalCode code_;
  const FunctionalLaunch& launch_;
  std::mutex mutex_;  ///< of all below
  std::condition_variable turn_;
  uint64_t gangs_ = 0, threads_ = 1, started_ = 0;
  size_t running_ = 0, in_vain_ = 0, fresh_due_ = 0;
  std::deque<Gang> aside_;
  uint64_t issue_cycles_ = 0, longest_ = 0;
  std::map<uint64_t, std::string> printed_;  ///< by gang
  uint64_t next_printed_ = 0;
  FunctionalResult result_;
};

}  // namespace

FunctionalResult run_functional(const FunctionalLaunch& launch) { return Grid(launch).run(); }

std::string functional_missing(const ptx::Program& program, const ptx::Instr& instr) {
  switch (instr.kind) {
    case ptx::Kind::unsupported: return program.reasons[instr.detail];
    case ptx::Kind::call: return call_missing(program.calls[instr.detail]);
    case ptx::Kind::ret: return "a function that is run by itself";
    case ptx::Kind::service: {
      const FunctionalService* entry = longest_match(functional_services(), program.text(instr));
      if (!entry) return std::string(program.text(instr)) + " without models";
      const ptx::Service& service = program.services[instr.detail];
      for (const std::string_view modifier : entry->refuses)
        if (service.modifiers.has(modifier)) return "the form with " + std::string(modifier);
      if (service.base == "mma") return lanes::mma_sync_of(service) ? "" : lanes::kNoSuchMma;
      if (service.base.starts_with("wmma.")) return lanes::has_wmma(service) ? "" : lanes::kNoSuchWmma;
      if (service.base == "atom" || service.base == "red") return atomic_form(service).missing;
      return "";
    }
    default: return "";
  }
}

std::optional<FunctionalObstacle> functional_obstacle(const ptx::Program& program) {
  for (const ptx::Instr& i : program.code)
    if (std::string why = functional_missing(program, i); !why.empty())
      return FunctionalObstacle{std::string(program.text(i)), std::move(why), program.place(i)};
  return std::nullopt;
}

}  // namespace sm100::sim
