// SPDX-License-Identifier: Apache-2.0
// The mbarrier state machine of PTX 9.7.13.15, one instruction at a time.
#include "kernels/isa/mbarrier_word.h"

#include "catch.h"

using namespace sm100;

namespace {

/// A barrier under test; counts the phases that the parity bit cannot tell apart.
struct Barrier {
  uint64_t word = 0;
  int phase = 0;
  MbarrierError error = MbarrierError::none;

  explicit Barrier(uint32_t count) { apply(mbarrier_init(count)); }
  void apply(const MbarrierResult& result) {
    word = result.word;
    phase += result.completed_phase;
    error = result.error;
  }
  void arrive(uint32_t count = 1) { apply(mbarrier_arrive(word, count)); }
  void arrive_drop(uint32_t count = 1) { apply(mbarrier_arrive_drop(word, count)); }
  void expect_tx(uint32_t bytes) { apply(mbarrier_expect_tx(word, bytes)); }
  void arrive_expect_tx(uint32_t bytes) { apply(mbarrier_arrive_expect_tx(word, bytes)); }
  void complete_tx(uint32_t bytes) { apply(mbarrier_complete_tx(word, bytes)); }
  MbarrierState state() const { return decode_mbarrier(word); }
};

void check(const Barrier& b, int phase, uint32_t pending, int32_t tx) {
  CHECK(b.error == MbarrierError::none);
  CHECK(b.phase == phase);
  CHECK(b.state().parity == static_cast<uint32_t>(phase & 1));
  CHECK(b.state().pending == pending);
  CHECK(b.state().tx == tx);
  CHECK(mbarrier_test_parity(b.word, 0) == (phase % 2 == 1));
  CHECK(mbarrier_test_parity(b.word, 1) == (phase % 2 == 0));
}

/// An operation that fails names the error and leaves the object alone.
void check_rejected(uint64_t before, const MbarrierResult& result, MbarrierError error) {
  CHECK(result.error == error);
  CHECK(result.word == before);
  CHECK_FALSE(result.completed_phase);
}

}  // namespace

TEST_CASE("Does a TMA full barrier follow the vector? (PTX 9.7.13.15)", "[mbarrier]") {
  Barrier full(1);
  check(full, 0, 1, 0);
  full.arrive_expect_tx(36864);
  check(full, 0, 0, 36864);
  full.complete_tx(16384);
  full.complete_tx(16384);
  full.complete_tx(2048);
  check(full, 0, 0, 2048);
  full.complete_tx(2048);
  check(full, 1, 1, 0);
  full.complete_tx(4096);  // the next stage's data, before its expect
  check(full, 1, 1, -4096);
  full.arrive_expect_tx(4096);
  check(full, 2, 1, 0);
}

TEST_CASE("Does arrive_drop take its arrival out of later phases? (PTX 9.7.13.15)", "[mbarrier]") {
  Barrier b(3);
  b.arrive();
  b.arrive();
  check(b, 0, 1, 0);
  b.arrive_drop();
  check(b, 1, 2, 0);
  CHECK(b.state().expected == 2);
  b.arrive();
  b.arrive();
  check(b, 2, 2, 0);
}

TEST_CASE("Do bytes alone end a phase that misses arrivals? (PTX 9.7.13.15)", "[mbarrier]") {
  Barrier b(1);
  b.expect_tx(64);
  b.complete_tx(64);
  check(b, 0, 1, 0);
  b.arrive();
  check(b, 1, 1, 0);
}

TEST_CASE("Does the open phase close when two of two have arrived? (PTX 9.7.13.15)", "[mbarrier]") {
  Barrier b(2);
  b.arrive();
  check(b, 0, 1, 0);
  b.arrive();
  check(b, 1, 2, 0);
  b.arrive(2);
  check(b, 2, 2, 0);
}

TEST_CASE("Can expect_tx complete a phase? (PTX 9.7.13.15)", "[mbarrier]") {
  Barrier b(1);
  b.complete_tx(64);
  b.arrive();
  check(b, 0, 0, -64);
  b.expect_tx(64);
  check(b, 1, 1, 0);
}

TEST_CASE("Is arrive_expect_tx one step with one test? (PTX 9.7.13.15)", "[mbarrier]") {
  // Arriving first and expecting afterwards would close phase 0 and leave the bytes in phase 1.
  Barrier b(1);
  b.arrive_expect_tx(128);
  check(b, 0, 0, 128);
  // The other way round: expecting first with all other arrivals in must not close early either.
  Barrier early(1);
  early.complete_tx(128);
  early.arrive_expect_tx(128);
  check(early, 1, 1, 0);
}

TEST_CASE("Which parities pass on a fresh barrier and after each phase? (PTX 9.7.13.15)", "[mbarrier]") {
  Barrier b(1);
  CHECK_FALSE(mbarrier_test_parity(b.word, 0));
  CHECK(mbarrier_test_parity(b.word, 1));
  b.arrive();
  CHECK(mbarrier_test_parity(b.word, 0));
  CHECK_FALSE(mbarrier_test_parity(b.word, 1));
  b.arrive();
  CHECK_FALSE(mbarrier_test_parity(b.word, 0));
  CHECK(mbarrier_test_parity(b.word, 1));
}

TEST_CASE("What does a barrier do whose expected count was dropped to 0? (PTX 9.7.13.15 and MB13)", "[mbarrier]") {
  Barrier b(1);
  b.arrive_drop();
  CHECK(b.error == MbarrierError::expected_zero);  // a warning: performed
  CHECK(b.phase == 1);
  CHECK(b.state() == MbarrierState{0, 0, 0, 1});  // sits there without cycling
  b.expect_tx(64);
  check(b, 1, 0, 64);
  b.complete_tx(64);
  check(b, 2, 0, 0);
  check_rejected(b.word, mbarrier_arrive(b.word), MbarrierError::pending_underflow);
}

TEST_CASE("Which counts are refused? (MB4)", "[mbarrier]") {
  CHECK(mbarrier_init(0).error == MbarrierError::count_out_of_range);
  CHECK(mbarrier_init(1u << 20).error == MbarrierError::count_out_of_range);
  CHECK_FALSE(is_mbarrier(mbarrier_init(0).word));  // using it fails too
  CHECK(decode_mbarrier(mbarrier_init(1048575).word) == MbarrierState{1048575, 1048575, 0, 0});

  const uint64_t word = mbarrier_init(5).word;
  check_rejected(word, mbarrier_arrive(word, 1u << 20), MbarrierError::count_out_of_range);
  check_rejected(word, mbarrier_arrive_drop(word, 1u << 20), MbarrierError::count_out_of_range);
  check_rejected(word, mbarrier_arrive(word, 0), MbarrierError::none);  // a no-op on H200
}

TEST_CASE("Is an arrival beyond the pending count refused? (MB5)", "[mbarrier]") {
  const uint64_t word = mbarrier_init(2).word;
  check_rejected(word, mbarrier_arrive(word, 3), MbarrierError::pending_underflow);
  check_rejected(word, mbarrier_arrive_drop(word, 3), MbarrierError::pending_underflow);

  Barrier held(1);  // bytes hold the phase open: a second arrival has no place
  held.arrive_expect_tx(64);
  check_rejected(held.word, mbarrier_arrive(held.word), MbarrierError::pending_underflow);
  check_rejected(held.word, mbarrier_arrive_expect_tx(held.word, 64), MbarrierError::pending_underflow);
}

TEST_CASE("Is a tx-count beyond 1048575 refused on both sides? (MB6)", "[mbarrier]") {
  Barrier b(1);
  check_rejected(b.word, mbarrier_expect_tx(b.word, 1u << 20), MbarrierError::tx_overflow);
  check_rejected(b.word, mbarrier_complete_tx(b.word, 1u << 20), MbarrierError::tx_overflow);
  check_rejected(b.word, mbarrier_expect_tx(b.word, 0xffffffffu), MbarrierError::tx_overflow);
  b.expect_tx(1048575);
  check(b, 0, 1, 1048575);
  check_rejected(b.word, mbarrier_expect_tx(b.word, 1), MbarrierError::tx_overflow);
  check_rejected(b.word, mbarrier_arrive_expect_tx(b.word, 1), MbarrierError::tx_overflow);

  Barrier early(1);
  early.complete_tx(1048575);
  check(early, 0, 1, -1048575);
  check_rejected(early.word, mbarrier_complete_tx(early.word, 1), MbarrierError::tx_overflow);
}

TEST_CASE("Is memory that holds no object refused by every operation? (MB1)", "[mbarrier]") {
  const uint64_t words[] = {0,
                            1,
                            0xffffffffffffffffu,
                            0x3f8000003f800000u,
                            0x4000404000010000u,
                            uint64_t{0b10} << 62 | uint64_t{0x100000} << 40};  // tx of -2^20: never made
  for (uint64_t word : words) {
    CAPTURE(word);
    CHECK_FALSE(is_mbarrier(word));
    check_rejected(word, mbarrier_arrive(word), MbarrierError::not_an_mbarrier);
    check_rejected(word, mbarrier_arrive(word, 0), MbarrierError::not_an_mbarrier);
    check_rejected(word, mbarrier_arrive_drop(word), MbarrierError::not_an_mbarrier);
    check_rejected(word, mbarrier_expect_tx(word, 16), MbarrierError::not_an_mbarrier);
    check_rejected(word, mbarrier_arrive_expect_tx(word, 16), MbarrierError::not_an_mbarrier);
    check_rejected(word, mbarrier_complete_tx(word, 16), MbarrierError::not_an_mbarrier);
  }
}

TEST_CASE("Does cp.async.mbarrier.arrive without .noinc leave the phase's count as it was? (PTX 9.7.13.15)",
          "[mbarrier]") {
  Barrier b(2);
  b.apply(mbarrier_raise_pending(b.word, 32));
  check(b, 0, 34, 0);
  b.arrive(2);  // the others come first
  check(b, 0, 32, 0);
  b.arrive(32);  // the copies have landed
  check(b, 1, 2, 0);
  check_rejected(b.word, mbarrier_raise_pending(b.word, (1 << 20) - 1), MbarrierError::count_out_of_range);
  check_rejected(0, mbarrier_raise_pending(0), MbarrierError::not_an_mbarrier);
}

TEST_CASE("Does the word keep every field at its limits? (PTX 9.7.13.15)", "[mbarrier]") {
  const uint32_t counts[] = {0, 1, 0xaaaaa, 1048575};
  const int32_t bytes[] = {-1048575, -1, 0, 1, 1048575};
  for (uint32_t expected : counts)
    for (uint32_t pending : counts)
      for (int32_t tx : bytes)
        for (uint32_t parity : {0u, 1u}) {
          const MbarrierState state{expected, pending, tx, parity};
          REQUIRE(is_mbarrier(encode(state)));
          REQUIRE(decode_mbarrier(encode(state)) == state);
        }
}

TEST_CASE("Does arrive_drop.expect_tx expect, arrive and leave in one step? (PTX 9.7.13.15)", "[mbarrier]") {
  Barrier b(2);
  b.apply(mbarrier_arrive(b.word, MbarrierArrival{.bytes = 64, .drop = true}));
  check(b, 0, 1, 64);
  b.arrive();
  check(b, 0, 0, 64);
  b.complete_tx(64);
  check(b, 1, 1, 0);  // one is left
  b.arrive();
  check(b, 2, 1, 0);
}

TEST_CASE("Is a .noComplete arrival that would complete the phase refused, and only that? (MB7)", "[mbarrier]") {
  Barrier b(3);
  b.apply(mbarrier_arrive(b.word, MbarrierArrival{.count = 2, .no_complete = true}));
  check(b, 0, 1, 0);
  check_rejected(b.word, mbarrier_arrive(b.word, MbarrierArrival{.no_complete = true}),
                 MbarrierError::completes_phase);
  b.expect_tx(16);  // now bytes keep the phase open
  b.apply(mbarrier_arrive(b.word, MbarrierArrival{.no_complete = true}));
  check(b, 0, 0, 16);
  b.complete_tx(16);
  check(b, 1, 3, 0);
  b.apply(mbarrier_arrive(b.word, MbarrierArrival{.count = 2, .drop = true, .no_complete = true}));
  check(b, 1, 1, 0);
  b.arrive();
  check(b, 2, 1, 0);
}
