// SPDX-License-Identifier: Apache-2.0
#include "models/scheduler.h"

#include <sysc/kernel/sc_simcontext.h>

#include <stdexcept>
#include <utility>

namespace sm100::models {

Scheduler& Scheduler::get() {
  static Scheduler& scheduler = *new Scheduler;  // events may outlive everything but the program
  return scheduler;
}

/// SystemC's side: one method, which it runs in the cycles in which something is due.
class Scheduler::Caller : public sc_core::sc_module {
 public:
  Caller(sc_core::sc_module_name name, Scheduler& scheduler) : sc_module(name), scheduler_(scheduler) {
    SC_HAS_PROCESS(Caller);
    SC_METHOD(call);
    sensitive << due;
    dont_initialize();
  }
  sc_core::sc_event due;

 private:
  void call() { scheduler_.cycle(); }
  Scheduler& scheduler_;
};

Scheduler::Scheduler() : caller_(*new Caller("scheduler", *this)) {}

// --- events -----------------------------------------------------------------------------------------------------

void Event::notify(Cycles after) {
  if (pending_ == Pending::delta) return;
  Scheduler& scheduler = Scheduler::get();
  if (pending_ == Pending::timed) {
    if (after > 0 && at_ <= now() + after) return;
    scheduler.slots_[place_] = nullptr;
  }
  if (after == 0) {
    pending_ = Pending::delta;
    place_ = uint32_t(scheduler.delta_.size());
    scheduler.delta_.push_back(this);
  } else {
    pending_ = Pending::timed;
    at_ = now() + after;
    if (scheduler.free_.empty()) {
      scheduler.free_.push_back(uint32_t(scheduler.slots_.size()));
      scheduler.slots_.push_back(nullptr);
    }
    place_ = scheduler.free_.back();
    scheduler.free_.pop_back();
    scheduler.slots_[place_] = this;
    scheduler.insert({at_, place_});
  }
  if (!scheduler.in_cycle_) scheduler.ask_systemc();
}

void Event::cancel() {
  if (pending_ == Pending::no) return;
  Scheduler& scheduler = Scheduler::get();
  if (std::exchange(pending_, Pending::no) == Pending::delta)
    scheduler.take_delta(*this);
  else
    scheduler.slots_[place_] = nullptr;
  if (!scheduler.in_cycle_) scheduler.ask_systemc();
}

void Scheduler::take_delta(Event& event) {
  delta_[event.place_] = delta_.back();
  delta_[event.place_]->place_ = event.place_;
  delta_.pop_back();
}

void Scheduler::trigger(Event& event) {
  event.pending_ = Event::Pending::no;
  Process* const process = event.wakes_;
  if (!process) return;
  if (event.wakes_thread_) {
    event.wakes_ = nullptr;
    threads_.push_back(static_cast<Thread*>(process));
  } else {
    methods_.push_back(static_cast<Method*>(process));
  }
}

// --- the queue: a binary heap, equal cycles in the order that SystemC's heap gives them --------------------------

void Scheduler::insert(Timed timed) {
  size_t hole = timed_.size();
  timed_.push_back(timed);
  for (; hole > 0; hole = (hole - 1) / 2) {
    const Timed& parent = timed_[(hole - 1) / 2];
    if (parent.at <= timed.at) break;
    timed_[hole] = parent;
  }
  timed_[hole] = timed;
}

Scheduler::Timed Scheduler::take_first() {
  const Timed first = timed_.front(), last = timed_.back();
  timed_.pop_back();
  const size_t size = timed_.size();
  if (size == 0) return first;
  size_t hole = 0;
  for (size_t child = 1; child < size; child = 2 * hole + 1) {
    size_t earlier = timed_[child].at < last.at ? child : hole;
    const Cycles at = earlier == hole ? last.at : timed_[child].at;
    if (child + 1 < size && timed_[child + 1].at < at) earlier = child + 1;
    if (earlier == hole) break;
    timed_[hole] = timed_[earlier];
    hole = earlier;
  }
  timed_[hole] = last;
  return first;
}

void Scheduler::forget_cancelled() {
  while (!timed_.empty() && !slots_[timed_.front().slot]) free_.push_back(take_first().slot);
}

// --- cycles -----------------------------------------------------------------------------------------------------

void Scheduler::begin_cycle() {
  while (!timed_.empty() && timed_.front().at <= now()) {
    const uint32_t slot = take_first().slot;
    free_.push_back(slot);
    if (Event* const event = std::exchange(slots_[slot], nullptr)) trigger(*event);
  }
}

bool Scheduler::pending() {
  forget_cancelled();
  return !methods_.empty() || !threads_.empty() || !delta_.empty() || !timed_.empty();
}

void Scheduler::ask_systemc() {
  forget_cancelled();
  if (!methods_.empty() || !threads_.empty() || !delta_.empty()) {
    caller_.due.notify(sc_core::SC_ZERO_TIME);
  } else {
    caller_.due.cancel();
    if (!timed_.empty()) caller_.due.notify(cycles(timed_.front().at - now()));
  }
}

void Scheduler::cycle() {
  if (stopped_) return;
  stacks_ = sc_core::sc_get_curr_simcontext()->cor_pkg();
  in_cycle_ = true;
  begin_cycle();
  for (;;) {
    run_ready();
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    if (stopped_) return;
    if (delta_.empty()) break;
    for (size_t i = delta_.size(); i-- > 0;) trigger(*delta_[i]);
    delta_.clear();
  }
  in_cycle_ = false;
  ask_systemc();
}

void Scheduler::run_ready() {
  while (!methods_.empty() || !threads_.empty()) {
    methods_now_.swap(methods_);
    for (Method* method : methods_now_) method->run();
    methods_now_.clear();
    threads_now_.swap(threads_);
    next_thread_ = 0;
    leave();  // comes back when all have had their turn
    threads_now_.clear();
    if (error_) return;
  }
}

void Scheduler::stop() {
  stopped_ = true;
  sc_core::sc_stop();
}

// --- threads ----------------------------------------------------------------------------------------------------

/// The next thread that is ready goes on; behind the last, or an error, the cycle.
void Scheduler::leave() {
  Thread* const before = running_;
  running_ = !error_ && next_thread_ < threads_now_.size() ? threads_now_[next_thread_++] : nullptr;
  if (running_ != before) stacks_->yield(running_ ? stack_of(*running_) : stacks_->get_main());
}

sc_core::sc_cor* Scheduler::stack_of(Thread& thread) {
  if (!thread.stack_) {
    thread.stack_.reset(stacks_->create(thread.stack_bytes_, enter, &thread));
    thread.stack_->stack_protect(true);
  }
  return thread.stack_.get();
}

void Scheduler::enter(void* thread) {
  Scheduler& scheduler = get();
  try {
    static_cast<Thread*>(thread)->run();
  } catch (...) { scheduler.error_ = std::current_exception(); }
  scheduler.leave();
}

void Thread::wait(Event& event) {
  event.wakes_ = this;
  Scheduler::get().leave();
}

void Thread::wait(Cycles cycles) {
  timeout_.notify(cycles);
  wait(timeout_);
}

void Thread::begin_at_once() {
  Scheduler& scheduler = Scheduler::get();
  scheduler.threads_.push_back(this);
  if (!scheduler.in_cycle_) scheduler.ask_systemc();
}

namespace {
Thread& running_thread() {
  Thread* const thread = Scheduler::get().running();
  if (!thread) throw std::logic_error("only a thread can wait");
  return *thread;
}
}  // namespace

void wait(Cycles cycles) { running_thread().wait(cycles); }
void wait(Event& event) { running_thread().wait(event); }

}  // namespace sm100::models
