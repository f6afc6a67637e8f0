// SPDX-License-Identifier: Apache-2.0
// Events, methods and threads: who runs when, by the rules of IEEE 1666, 4.2.
#include "models/scheduler.h"

#include <memory>
#include <stdexcept>
#include <string>

#include "catch.h"
#include "models/fixture.h"

namespace sm100::models {

namespace {

/// What ran, in order, with its cycle.
class Log {
 public:
  void add(const std::string& what) { text_ += what + std::to_string(now() - begin_) + " "; }
  const std::string& text() const { return text_; }

 private:
  const Cycles begin_ = now();
  std::string text_;
};

class NotingMethod : Method {
 public:
  NotingMethod(Log& log, std::string name) : log_(log), name_(std::move(name)) {}
  Event event{*this};

 private:
  void run() override { log_.add(name_); }
  Log& log_;
  const std::string name_;
};

class NotingThread : Thread {
 public:
  NotingThread(Log& log, std::string name) : Thread(64 * 1024), log_(log), name_(std::move(name)) {
    begin_at(event);
  }
  Event event;
  bool ended = false;

 private:
  void run() override {
    for (int turn = 0; turn < 3; ++turn) {
      log_.add(name_);
      wait(event);
    }
    log_.add(name_ + "end");
    ended = true;
  }
  Log& log_;
  const std::string name_;
};

}  // namespace

TEST_CASE("in a delta cycle methods run before threads, and what they notify for no delay runs in the next",
          "[scheduler]") {
  Log log;
  NotingMethod method(log, "m"), later(log, "l");
  NotingThread a(log, "a"), b(log, "b");
  Stimulus stimulus([&] {
    a.event.notify(5);
    b.event.notify(5);
    method.event.notify(5);
    models::wait(5);
    log.add("s");
    later.event.notify(0);
    log.add("s");  // goes on to its end first
  });
  sc_core::sc_start();
  CHECK(log.text().substr(0, 3) == "m5 ");
  CHECK(log.text().size() == 6 * 3);
  CHECK(log.text().find("s5 s5 ") != std::string::npos);
  CHECK(log.text().substr(5 * 3) == "l5 ");
}

TEST_CASE("of two notifications of an event that are pending the earlier counts", "[scheduler]") {
  Log log;
  NotingMethod later(log, "later"), earlier(log, "earlier"), delta(log, "delta"), kept(log, "kept");
  Stimulus stimulus([&] {
    later.event.notify(3), later.event.notify(9);
    earlier.event.notify(9), earlier.event.notify(4);
    delta.event.notify(6), delta.event.notify(0);
    kept.event.notify(0), kept.event.notify(6);
  });
  sc_core::sc_start();
  CHECK((log.text() == "delta0 kept0 later3 earlier4 " || log.text() == "kept0 delta0 later3 earlier4 "));
}

TEST_CASE("a notification that was taken back does not happen, and its event can be notified again",
          "[scheduler]") {
  Log log;
  NotingMethod timed(log, "timed"), delta(log, "delta"), again(log, "again");
  Stimulus stimulus([&] {
    timed.event.notify(3), timed.event.cancel();
    delta.event.notify(0), delta.event.cancel();
    again.event.notify(3), again.event.cancel(), again.event.notify(7);
    models::wait(5);
    timed.event.cancel();  // nothing is pending
    CHECK(Scheduler::get().pending());
  });
  sc_core::sc_start();
  CHECK(log.text() == "again7 ");
  CHECK_FALSE(Scheduler::get().pending());
}

TEST_CASE("time stops at the last notification that counts", "[scheduler]") {
  Log log;
  NotingMethod method(log, "m");
  const Cycles begin = now();
  Stimulus stimulus([&] {
    method.event.notify(1000);
    method.event.notify(10);
    auto gone = std::make_unique<Event>();
    gone->notify(500);  // an event takes its notification with it
  });
  sc_core::sc_start();
  CHECK(log.text() == "m10 ");
  CHECK(now() - begin == 10);
}

TEST_CASE("an event wakes the thread that waits for it, once", "[scheduler]") {
  Log log;
  NotingThread thread(log, "t");
  Stimulus stimulus([&] {
    for (Cycles after : {2, 1, 5, 1}) {
      thread.event.notify(after);
      models::wait(after);
    }
    CHECK(Scheduler::get().running() != nullptr);
  });
  sc_core::sc_start();
  CHECK(log.text() == "t2 t3 t8 tend9 ");
  CHECK(thread.ended);
  CHECK(Scheduler::get().running() == nullptr);
  CHECK_THROWS_AS(models::wait(1), std::logic_error);
}

TEST_CASE("many events keep the order of time", "[scheduler]") {
  Log log;
  constexpr int kMethods = 500;
  std::vector<std::unique_ptr<NotingMethod>> methods;
  std::string expected;
  for (int i = 0; i < kMethods; ++i) {
    methods.push_back(std::make_unique<NotingMethod>(log, "m"));
    expected += "m" + std::to_string(1 + i) + " ";
  }
  Stimulus stimulus([&] {
    for (int i = 0; i < kMethods; ++i) methods[i]->event.notify(kMethods * 2);  // earlier ones follow
    for (int i = 0; i < kMethods; ++i) methods[i]->event.notify(1 + Cycles(i * 171) % kMethods);
  });
  sc_core::sc_start();
  CHECK(log.text() == expected);
}

TEST_CASE("what a thread throws ends the simulation", "[scheduler]") {
  Log log;
  NotingMethod method(log, "m");
  Stimulus stimulus([&] {
    method.event.notify(10);
    models::wait(5);
    throw std::runtime_error("the fifth cycle");
  });
  CHECK_THROWS_WITH(sc_core::sc_start(), Catch::Contains("the fifth cycle"));
  CHECK(log.text().empty());
}

TEST_CASE("a simulation that is stopped ends behind its delta cycle", "[scheduler]") {
  Log log;
  NotingMethod method(log, "m");
  NotingThread other(log, "o");
  Stimulus stimulus([&] {
    other.event.notify(5);
    method.event.notify(6);
    models::wait(5);
    Scheduler::get().stop();
    log.add("s");
  });
  sc_core::sc_start();
  CHECK((log.text() == "o5 s5 " || log.text() == "s5 o5 "));
}

}  // namespace sm100::models
