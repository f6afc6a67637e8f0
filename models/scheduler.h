// SPDX-License-Identifier: Apache-2.0
/// Events, and the processes that they wake: what SystemC's kernel does for a model, with fewer cache lines at
/// every turn.  SystemC keeps the time and calls the scheduler once for each cycle in which something is due;
/// stacks are SystemC's coroutines.
///
/// The rules are SystemC's (IEEE 1666, 4.2): an event is notified for a later cycle, or for the next delta cycle of
/// this one; of two pending notifications of an event the earlier counts; within a delta cycle methods run before
/// threads, in the order in which they were triggered.  Which of several events of one cycle comes first is not
/// said there, and here it is as in SystemC's own queue.
#pragma once

#include <sysc/kernel/sc_cor.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <systemc>
#include <vector>

#include "models/time.h"

namespace sm100::models {

class Event;
class Scheduler;

/// Something that an event lets run.
class Process {
 public:
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

 protected:
  Process() = default;
  ~Process() = default;
};

/// Runs from its beginning to its end whenever its event (an `Event` that names it) happens.
class Method : public Process {
 protected:
  Method() = default;
  ~Method() = default;

 private:
  friend class Scheduler;
  virtual void run() = 0;
};

class Event {
 public:
  /// Wakes the thread that waits for it.
  Event() = default;
  /// Runs `method`, each time.
  explicit Event(Method& method) : wakes_(&method), wakes_thread_(false) {}
  ~Event() { cancel(); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Happens `after` cycles from now, 0: in the next delta cycle; unless an earlier notification is pending.
  void notify(Cycles after);
  /// Takes back what is pending.
  void cancel();

 private:
  friend class Scheduler;
  friend class Thread;
  enum class Pending : uint8_t { no, delta, timed };

  Process* wakes_ = nullptr;  ///< a method for ever, a thread until it is woken
  Cycles at_ = 0;             ///< timed: when
  uint32_t place_ = 0;        ///< delta: in the list; timed: of its slot
  Pending pending_ = Pending::no;
  const bool wakes_thread_ = true;
};

/// Runs on a stack of its own and waits for events.
class Thread : public Process {
 public:
  /// Suspends the running thread, which must be this one.
  void wait(Event& event);
  void wait(Cycles cycles);

 protected:
  explicit Thread(size_t stack_bytes) : stack_bytes_(stack_bytes) {}
  ~Thread() = default;
  /// Begins when `event` happens first.
  void begin_at(Event& event) { event.wakes_ = this; }
  /// Begins in the first delta cycle.
  void begin_at_once();

 private:
  friend class Scheduler;
  virtual void run() = 0;  ///< once, to its end

  const size_t stack_bytes_;
  std::unique_ptr<sc_core::sc_cor> stack_;  ///< from its first turn on
  Event timeout_;
};

class Scheduler {
 public:
  /// The process' one, as SystemC's is.
  static Scheduler& get();

  /// The thread whose code runs; nullptr: none.
  Thread* running() const { return running_; }
  /// Whether anything is going to happen.
  bool pending();
  /// What is due in this cycle becomes ready, where SystemC's time has reached it and processes have not run yet.
  void begin_cycle();
  /// Ends the simulation behind the delta cycle in which it is.
  void stop();

 private:
  friend class Event;
  friend class Thread;
  class Caller;
  struct Timed {
    Cycles at;
    uint32_t slot;
  };

  Scheduler();
  void cycle();
  void run_ready();
  void trigger(Event& event);
  void forget_cancelled();
  void ask_systemc();
  void insert(Timed timed);
  Timed take_first();
  void take_delta(Event& event);
  void leave();
  sc_core::sc_cor* stack_of(Thread& thread);
  static void enter(void* thread);

  std::vector<Timed> timed_;    ///< a heap, the first in front
  std::vector<Event*> slots_;   ///< of the heap's entries: their event; nullptr: the notification was taken back
  std::vector<uint32_t> free_;  ///< slots
  std::vector<Event*> delta_;
  std::vector<Method*> methods_, methods_now_;
  std::vector<Thread*> threads_, threads_now_;
  size_t next_thread_ = 0;  ///< of threads_now_
  Thread* running_ = nullptr;
  bool in_cycle_ = false, stopped_ = false;
  std::exception_ptr error_;  ///< that a thread did not catch
  sc_core::sc_cor_pkg* stacks_ = nullptr;
  Caller& caller_;
};

/// Suspends the running thread.  SystemC's `wait`, which argument-dependent lookup finds for an `sc_time`, does
/// not: a `Thread` is no process of SystemC's.
void wait(Cycles cycles);
void wait(Event& event);

}  // namespace sm100::models
