// SPDX-License-Identifier: Apache-2.0
// Barrier semantics of the unit against sequences worked by hand from PTX
// 9.7.13.15: the word itself is tested in tests/kernels/isa/test_mbarrier_word.cpp; here are waiters,
// lanes and misuse.
#include "models/mbarrier.h"

#include "catch.h"
#include "models/fixture.h"

using namespace sm100;
using namespace sm100::models;

namespace {
constexpr uint32_t kBar = 0x400;

struct Bench {
  Bench() { smem.start_cta(4096, true); }
  DeviceProfile profile = b200();
  Jitter jitter{std::nullopt, profile};
  RecordingObserver observer;
  SharedMemory smem;
  Mbarrier barrier{0, smem, profile, jitter, observer};
  Source by{};
};
}  // namespace

TEST_CASE("a fresh barrier passes parity 1 and blocks parity 0", "[mbarrier]") {
  Bench b;
  b.barrier.init(kBar, 1, b.by);
  CHECK_FALSE(b.barrier.test_parity(kBar, 0, b.by));
  CHECK(b.barrier.test_parity(kBar, 1, b.by));
}

TEST_CASE(
    "a TMA full barrier completes with its last byte, and early bytes of the next phase wait for their "
    "expect",
    "[mbarrier]") {
  Bench b;  // by hand, step by step
  b.barrier.init(kBar, 1, b.by);
  b.barrier.arrive_expect_tx(kBar, 36864, b.by);
  for (uint32_t bytes : {16384u, 16384u, 2048u}) b.barrier.complete_tx(kBar, bytes, b.by);
  CHECK(b.barrier.find(kBar)->phase == 0);
  b.barrier.complete_tx(kBar, 2048, b.by);
  CHECK(b.barrier.find(kBar)->phase == 1);
  b.barrier.complete_tx(kBar, 4096, b.by);
  CHECK(b.barrier.find(kBar)->phase == 1);
  b.barrier.arrive_expect_tx(kBar, 4096, b.by);
  CHECK(b.barrier.find(kBar)->phase == 2);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("expect_tx alone expects bytes and does not arrive", "[mbarrier]") {
  Bench b;
  b.barrier.init(kBar, 1, b.by);
  b.barrier.expect_tx(kBar, 64, b.by);
  b.barrier.expect_tx(kBar, 32, b.by);
  CHECK(b.barrier.find(kBar)->expected_bytes == 96);
  b.barrier.complete_tx(kBar, 96, b.by);
  CHECK(b.barrier.find(kBar)->phase == 0);
  b.barrier.arrive(kBar, 1, b.by);
  CHECK(b.barrier.find(kBar)->phase == 1);
  // Bytes and arrivals first: the expect_tx completes the phase.
  b.barrier.complete_tx(kBar, 16, b.by);
  b.barrier.arrive(kBar, 1, b.by);
  CHECK(b.barrier.find(kBar)->phase == 1);
  b.barrier.expect_tx(kBar, 16, b.by);
  CHECK(b.barrier.find(kBar)->phase == 2);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("expect_tx alone on what is no mbarrier is MB1", "[mbarrier]") {
  Bench b;
  b.barrier.expect_tx(kBar, 64, b.by);
  CHECK(b.observer.violation_id() == "MB1");
}

TEST_CASE("32 lanes that arrive may complete a phase and begin the next", "[mbarrier]") {
  Bench b;
  b.barrier.init(kBar, 48, b.by);
  b.barrier.arrive(kBar, 32, b.by);
  b.barrier.arrive(kBar, 32, b.by);
  CHECK(b.barrier.find(kBar)->phase == 1);
  CHECK(decode_mbarrier(b.smem.load<uint64_t>(kBar)).pending == 32);
}

TEST_CASE("lanes of one instruction that complete phase after phase are MB5", "[mbarrier]") {
  Bench b;
  SECTION("one was meant to arrive") {
    b.barrier.init(kBar, 1, b.by);
    b.barrier.arrive(kBar, 32, b.by);
    CHECK(b.observer.violation_id() == "MB5");
  }
  SECTION("half of them were") {
    b.barrier.init(kBar, 16, b.by);
    b.barrier.arrive(kBar, 32, b.by);
    CHECK(b.observer.violation_id() == "MB5");
  }
  SECTION("a phase and the beginning of the next") {
    b.barrier.init(kBar, 17, b.by);
    b.barrier.arrive(kBar, 32, b.by);
    CHECK(b.observer.violation_id() == "");
  }
}

TEST_CASE("a waiter wakes the profile's wake-up cycles after the phase completes", "[mbarrier]") {
  Bench b;
  Waiter waiter;
  Cycles woken = 0;
  Stimulus waits([&] {
    b.barrier.init(kBar, 1, b.by);
    b.barrier.wait_parity(kBar, 0, waiter);
    models::wait(waiter.wake);
    woken = now();
  });
  Stimulus arrives([&] {
    models::wait(100);
    b.barrier.arrive(kBar, 1, b.by);
  });
  sc_core::sc_start();
  CHECK(woken == 100 + Cycles(b.profile.mbarrier.wakeup_cycles));
}

TEST_CASE("misuse is named with its check id", "[mbarrier]") {
  Bench b;
  SECTION("MB1: no mbarrier at the address") {
    b.barrier.arrive(kBar, 1, b.by);
    CHECK(b.observer.violation_id() == "MB1");
  }
  SECTION("MB2: initialised twice") {
    b.barrier.init(kBar, 1, b.by);
    b.barrier.init(kBar, 1, b.by);
    CHECK(b.observer.violation_id() == "MB2");
  }
  SECTION("MB2: word overwritten by a store") {
    b.barrier.init(kBar, 1, b.by);
    b.smem.store<uint32_t>(kBar, 7);
    b.barrier.arrive(kBar, 1, b.by);
    CHECK(b.observer.violation_id() == "MB2");
  }
  SECTION("MB3: misaligned, and outside shared memory") {
    b.barrier.init(kBar + 4, 1, b.by);
    CHECK(b.observer.violation_id() == "MB3");
    b.barrier.init(0x3fff8, 1, b.by);
    CHECK(b.observer.violations.back().id == "MB3");
  }
  SECTION("MB4: counts 0 and 2^20") {
    b.barrier.init(kBar, 0, b.by);
    CHECK(b.observer.violation_id() == "MB4");
    b.barrier.init(kBar, 1 << 20, b.by);
    CHECK(b.observer.violations.back().id == "MB4");
  }
  SECTION("MB4: cp.async.mbarrier.arrive raises the pending count beyond what it holds") {
    b.barrier.init(kBar, (1 << 20) - 8, b.by);
    b.barrier.raise_pending(kBar, 32, b.by);
    REQUIRE(b.observer.violation_id() == "MB4");
    CHECK(b.observer.violations.back().message ==
          "cp.async.mbarrier.arrive by 32 lanes raises the pending count from 1048568 to 1048600: at most 1048575 "
          "arrivals can be pending (.noinc raises nothing, its arrivals are part of the init's count)");
  }
  SECTION("MB5: a second arrival while bytes hold the phase open") {
    b.barrier.init(kBar, 1, b.by);
    b.barrier.arrive_expect_tx(kBar, 64, b.by);
    b.barrier.arrive(kBar, 1, b.by);
    CHECK(b.observer.violation_id() == "MB5");
  }
  SECTION("MB6: more bytes than a tx-count holds") {
    b.barrier.init(kBar, 2, b.by);
    b.barrier.arrive_expect_tx(kBar, 0xfffff, b.by);
    b.barrier.arrive_expect_tx(kBar, 1, b.by);
    CHECK(b.observer.violation_id() == "MB6");
  }
}

TEST_CASE("a state says whether the phase of its arrival is over, for that phase and the next", "[mbarrier]") {
  Bench b;
  b.barrier.init(kBar, 2, b.by);
  const MbarrierToken first = b.barrier.arrive_once(kBar, {}, b.by);
  CHECK(b.barrier.phase_of_token(kBar, first, b.by, "test") == 0);
  b.barrier.arrive_once(kBar, {}, b.by);
  CHECK(b.barrier.find(kBar)->phase == 1);
  CHECK(b.barrier.phase_of_token(kBar, first, b.by, "test") == 0);
  CHECK(b.observer.violation_id() == "");
  b.barrier.arrive_once(kBar, {.count = 2}, b.by);
  CHECK_FALSE(b.barrier.phase_of_token(kBar, first, b.by, "test"));  // two phases later
  CHECK(b.observer.violation_id() == "MB8");
}

TEST_CASE("MB8: a state that no arrival has returned", "[mbarrier]") {
  Bench b;
  b.barrier.init(kBar, 2, b.by);
  CHECK_FALSE(b.barrier.phase_of_token(kBar, {}, b.by, "test"));
  CHECK(b.observer.violation_id() == "MB8");
}

TEST_CASE("after arrive_drop later phases want one arrival less, and its warp counts as gone", "[mbarrier]") {
  Bench b;
  Source other = b.by;
  other.warp = 1;
  b.by.warp = 0;
  b.barrier.init(kBar, 2, b.by);
  b.barrier.arrive_once(kBar, {}, b.by);
  b.barrier.arrive_once(kBar, {.drop = true}, other);
  CHECK(b.barrier.find(kBar)->phase == 1);
  CHECK(b.barrier.find(kBar)->arrived_before.size() == 1);  // who owes the next phase: not the one that dropped
  CHECK(b.barrier.find(kBar)->arrived_before[0].warp == 0);
  b.barrier.arrive_once(kBar, {}, b.by);
  CHECK(b.barrier.find(kBar)->phase == 2);
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("MB13: the last arrival is dropped, as a warning, bytes still complete a phase", "[mbarrier]") {
  Bench b;
  b.barrier.init(kBar, 1, b.by);
  b.barrier.arrive_once(kBar, {.drop = true}, b.by);
  CHECK(b.observer.violation_id() == "MB13");
  CHECK(b.observer.violations[0].warning);
  CHECK(b.barrier.find(kBar)->phase == 1);
  b.barrier.expect_tx(kBar, 64, b.by);
  b.barrier.complete_tx(kBar, 64, b.by);
  CHECK(b.barrier.find(kBar)->phase == 2);
}

TEST_CASE("MB7: a .noComplete arrival completes the phase", "[mbarrier]") {
  Bench b;
  b.barrier.init(kBar, 1, b.by);
  b.barrier.arrive_once(kBar, {.no_complete = true}, b.by);
  CHECK(b.observer.violation_id() == "MB7");
}

TEST_CASE("inval ends a barrier: its memory is anybody's, another may be initialised there", "[mbarrier]") {
  Bench b;
  b.barrier.init(kBar, 1, b.by);
  b.barrier.arrive(kBar, 1, b.by);
  b.barrier.inval(kBar, b.by);
  CHECK(b.barrier.find(kBar) == nullptr);
  b.smem.store<uint64_t>(kBar, 77);
  b.barrier.init(kBar, 3, b.by);
  CHECK(b.barrier.find(kBar)->phase == 0);
  CHECK(b.barrier.find(kBar)->life == 1);
  CHECK_FALSE(b.barrier.test_parity(kBar, 0, b.by));
  CHECK(b.observer.violation_id() == "");
}

TEST_CASE("MB1: an arrival after inval", "[mbarrier]") {
  Bench b;
  b.barrier.init(kBar, 1, b.by);
  b.barrier.inval(kBar, b.by);
  b.barrier.arrive(kBar, 1, b.by);
  CHECK(b.observer.violation_id() == "MB1");
  CHECK(b.observer.violations[0].message.find("ended by mbarrier.inval") != std::string::npos);
}

TEST_CASE("MB1: a commit behind inval is a warning, as long as nothing else is there", "[mbarrier]") {
  for (const bool reused : {false, true}) {
    Bench b;
    b.barrier.init(kBar, 2, b.by);
    b.barrier.inval(kBar, b.by);
    if (reused) b.smem.store<uint64_t>(kBar, 77);
    Source commit = b.by;
    commit.kind = ActorKind::umma;
    b.barrier.arrive(kBar, 1, commit);
    REQUIRE(b.observer.violations.size() == 1);
    CHECK(b.observer.violations[0].id == std::string("MB1"));
    CHECK(b.observer.violations[0].warning == !reused);
  }
}

TEST_CASE("MB1: inval while somebody waits", "[mbarrier]") {
  Bench b;
  Waiter waiter;
  b.barrier.init(kBar, 1, b.by);
  b.barrier.wait_parity(kBar, 0, waiter);
  b.barrier.inval(kBar, b.by);
  CHECK(b.observer.violation_id() == "MB1");
}
