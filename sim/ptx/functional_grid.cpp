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
    int threads = launch_.threads > 0 ? launch_.threads : int(std::max(1u, std::thread::hardware_concurrency()));
    threads = int(std::min<uint64_t>(uint64_t(threads), gangs_));
    std::vector<std::thread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back([this] { work(); });
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
  static constexpr uint64_t kCtasOfSm = 8;  ///< more, and their shared memory and registers are too much for a host
  using Gang = std::unique_ptr<FunctionalGang>;

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Gang gang = next(lock);
      if (!gang) break;
      ++running_;
      lock.unlock();
      const FunctionalGang::State state = gang->run();
      lock.lock();
      --running_;
      put_back(std::move(gang), state);
      turn_.notify_all();
    }
    turn_.notify_all();
  }

  /// The one to run now; nullptr: there is nothing left to do.
  Gang next(std::unique_lock<std::mutex>& lock) {
    for (;;) {
      if (failed()) return nullptr;
      const bool fresh = started_ < gangs_;
      if (fresh && (aside_.empty() || fresh_due_ > 0)) {
        if (fresh_due_ > 0) --fresh_due_;
        return make(lock);
      }
      if (aside_.empty()) {
        if (running_ == 0) return nullptr;
      } else if (in_vain_ < (fresh ? 1 : 2) * (aside_.size() + running_) + 2) {
        Gang gang = std::move(aside_.front());
        aside_.pop_front();
        return gang;
      } else if (fresh) {  // all of them wait for somebody else: as many again
        fresh_due_ = aside_.size();
        in_vain_ = 0;
        continue;
      } else if (running_ == 0) {
        report_deadlock();
        return nullptr;
      }
      turn_.wait(lock);
    }
  }

  Gang make(std::unique_lock<std::mutex>& lock) {
    const uint64_t index = started_++;
    ++running_;
    lock.unlock();
    Gang gang = std::make_unique<FunctionalGang>(code_, index);
    lock.lock();
    --running_;
    return gang;
  }

  void put_back(Gang gang, FunctionalGang::State state) {
    in_vain_ = gang->progressed ? 0 : in_vain_ + 1;
    if (state == FunctionalGang::State::suspended) {
      // As many as the device has room for run beside each other there.
      const auto room = uint64_t(std::max(1, launch_.sms)) * kCtasOfSm / ctas();
      if (gang->turn_is_over && fresh_due_ == 0 && aside_.size() + running_ < room) fresh_due_ = 1;
      return aside_.push_back(std::move(gang));
    }
    count(*gang);
    if (state == FunctionalGang::State::failed && gang->index < code_.last_gang) {
      code_.last_gang = gang->index;
      result_ = gang->failure;
    }
    flush_printed();
  }

  void count(const FunctionalGang& gang) {
    issue_cycles_ += gang.issue_cycles;
    longest_ = std::max(longest_, gang.issue_cycles);
    printed_[gang.index] = gang.printed();
  }

  bool failed() const { return code_.last_gang != UINT64_MAX; }

  /// What CTAs have printed, as far as all in front of them have ended.
  void flush_printed(bool all = false) {
    while (!printed_.empty() && (all || printed_.begin()->first == next_printed_)) {
      if (launch_.print && !printed_.begin()->second.empty()) launch_.print(printed_.begin()->second);
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
  uint64_t gangs_ = 0, started_ = 0;
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
