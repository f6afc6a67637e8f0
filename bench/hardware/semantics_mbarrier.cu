// SPDX-License-Identifier: Apache-2.0
/// mbarrier: phases, transaction counts, tokens, drops, re-arming, suspension of try_wait; what traps.
#include <algorithm>

#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

/// One thread, one barrier: `steps(bar, say)` reports numbers with say(n).
template <class Steps>
__global__ void script(int* out, Steps steps) {
  __shared__ alignas(16) u64 storage[2];
  storage[0] = storage[1] = 0;
  int n = 0;
  steps(smem(storage), [&](int v) { out[n++] = v; });
  // An error of a barrier ends the kernel only if the CTA is still there.
  const i64 begin = now();
  while (now() - begin < 100'000) {}
  out[31] = n;
}

template <class Steps>
std::string say(Steps steps) {
  Buffer<int> b(32);
  hw::check(hw::launch(script<Steps>, 1, 1, 0, 1, b.get(), steps), "launch");
  const std::string end = hw::finish();
  if (end != "completed") return "trap";
  const auto v = b.host();
  std::string text;
  for (int i = 0; i < v[31]; ++i) text += (i ? " " : "") + std::to_string(v[static_cast<std::size_t>(i)]);
  return text.empty() ? "no trap" : text;
}

// wait(0) is reported: 1 while an even phase is the last complete one.
#define P0 say(test_parity(bar, 0))

// Re-arming: warp 0 completes phases and arms the next one at once, seven warps wait for each phase.
__global__ void rearm(int phases, int* passed, int* timeout) {
  __shared__ alignas(8) u64 storage[2];
  const u32 full = smem(storage), ack = smem(storage + 1);
  if (threadIdx.x == 0) {
    mbar_init(full, 1);
    mbar_init(ack, 7);
  }
  __syncthreads();
  if (threadIdx.x % 32 != 0) return;
  const int warp = threadIdx.x / 32;
  if (warp == 0) {
    arrive_expect(full, 64);
    for (int i = 0; i < phases; ++i) {
      complete_tx(full, 64);    // phase i completes
      arrive_expect(full, 64);  // phase i+1 is armed while the others still wait for phase i
      if (!wait(ack, i & 1, 2'000'000)) {
        *timeout = i + 1;
        return;
      }
    }
    complete_tx(full, 64);
  } else {
    for (int i = 0; i < phases; ++i) {
      if (!wait(full, i & 1, 2'000'000)) {
        *timeout = i + 1;
        return;
      }
      atomicAdd(passed, 1);
      arrive(ack);
    }
  }
}

/// The waiter looks only after two more phases have completed: parity shows the open phase's.
__global__ void lapped(int* out) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage);
  mbar_init(bar, 1);
  arrive(bar);
  arrive(bar);
  out[0] = wait(bar, 0, 100'000);
  arrive(bar);
  out[1] = wait(bar, 0, 100'000);
}

__global__ void warp_arrive(int* out) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage);
  if (threadIdx.x == 0) mbar_init(bar, 32);
  __syncwarp();
  arrive(bar);
  __syncwarp();
  if (threadIdx.x == 0) out[0] = test_parity(bar, 0);
}

/// Longest failed try_wait of `reps`, longest failed test_wait; then one try_wait that a second warp ends.
__global__ void suspension(int reps, int hint, i64* out) {
  __shared__ alignas(8) u64 storage[2];
  const u32 bar = smem(storage);
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    mbar_init(bar + 8, 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    i64 longest = 0, shortest = 1ll << 60, longest_test = 0;
    for (int i = 0; i < reps; ++i) {
      const u64 t0 = globaltimer();
      const bool done = hint < 0 ? try_parity(bar, 0) : try_parity_ns(bar, 0, static_cast<u32>(hint));
      const i64 t = static_cast<i64>(globaltimer() - t0);
      longest = done ? -1 : max(longest, t);
      shortest = min(shortest, t);
      const i64 c0 = now();
      if (test_parity(bar, 0)) longest_test = 1 << 30;
      longest_test = max(longest_test, now() - c0);
    }
    out[0] = longest;
    out[1] = longest_test;
    out[2] = shortest;
    arrive(bar + 8);
    const bool woken = try_parity_ns(bar, 0, 10'000'000);
    out[4] = now();
    out[5] = woken;
  } else if (threadIdx.x == 32) {
    wait(bar + 8, 0, 400'000'000);
    spin(3000);
    out[3] = now();
    arrive(bar);
  }
}

__global__ void cp_async_arrive(const int* from, int* out) {
  __shared__ alignas(16) int data[4];
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage);
  mbar_init(bar, 1);
  asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(smem(data)), "l"(from) : "memory");
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(bar) : "memory");
  out[0] = wait(bar, 0, 2'000'000);
  out[1] = data[3];
}

}  // namespace

HW_TEST("mbar.fresh") {
  out.answer("mbar.fresh", "fresh barrier: wait(0) wait(1)", "0 1", say([] __device__(u32 bar, auto say) {
               mbar_init(bar, 1);
               P0;
               say(test_parity(bar, 1));
             }));
}
HW_TEST("mbar.vector") {
  out.answer(
      "mbar.vector",
      "init 1, arrive.expect 36864, 16384+16384+2048, 2048, early 4096, arrive.expect 4096: wait(0) after each",
      "0 0 0 1 1 0", say([] __device__(u32 bar, auto say) {
        mbar_init(bar, 1);
        P0;
        arrive_expect(bar, 36864);
        P0;
        complete_tx(bar, 16384);
        complete_tx(bar, 16384);
        complete_tx(bar, 2048);
        P0;
        complete_tx(bar, 2048);
        P0;
        complete_tx(bar, 4096);
        P0;
        arrive_expect(bar, 4096);
        P0;
      }));
}
HW_TEST("mbar.drop") {
  out.answer("mbar.drop", "init 3: arrive, arrive, arrive_drop | arrive | arrive: wait(0)", "0 0 1 1 0",
             say([] __device__(u32 bar, auto say) {
               mbar_init(bar, 3);
               arrive(bar);
               P0;
               arrive(bar);
               P0;
               arrive_drop(bar);
               P0;
               arrive(bar);
               P0;
               arrive(bar);
               P0;
             }));
}
HW_TEST("mbar.drop_to_zero") {
  out.answer("mbar.drop_to_zero", "init 1, arrive_drop (expected 0): stays, then expect 64, complete 64: wait(0)",
             "1 1 1 0", say([] __device__(u32 bar, auto say) {
               mbar_init(bar, 1);
               arrive_drop(bar);
               P0;
               P0;
               expect_tx(bar, 64);
               P0;
               complete_tx(bar, 64);
               P0;
             }));
}
HW_TEST("mbar.early_complete") {
  out.answer("mbar.early_complete", "complete_tx 64 before arrive.expect_tx 64: wait(0) after each", "0 1",
             say([] __device__(u32 bar, auto say) {
               mbar_init(bar, 1);
               complete_tx(bar, 64);
               P0;
               arrive_expect(bar, 64);
               P0;
             }));
}
HW_TEST("mbar.expect_cancel") {
  out.answer("mbar.expect_cancel", "expect 64, complete 64 without the arrival, then the arrival: wait(0)", "0 1",
             say([] __device__(u32 bar, auto say) {
               mbar_init(bar, 1);
               expect_tx(bar, 64);
               complete_tx(bar, 64);
               P0;
               arrive(bar);
               P0;
             }));
}
HW_TEST("mbar.expect_completes") {
  out.answer("mbar.expect_completes", "complete 64, arrive, then expect_tx 64 completes the phase: wait(0)", "0 1",
             say([] __device__(u32 bar, auto say) {
               mbar_init(bar, 1);
               complete_tx(bar, 64);
               arrive(bar);
               P0;
               expect_tx(bar, 64);
               P0;
             }));
}
HW_TEST("mbar.arrive_count") {
  out.answer("mbar.arrive_count", "init 3, arrive 3: wait(0); arrive with count 0 in a register is a no-op", "1 1",
             say([] __device__(u32 bar, auto say) {
               mbar_init(bar, 3);
               arrive_n(bar, 3);
               P0;
               u32 zero = 0;
               asm volatile("mov.u32 %0, 0;" : "=r"(zero));
               arrive_n(bar, zero);
               P0;
             }));
}
HW_TEST("mbar.token") {
  out.answer("mbar.token",
             "init 2: test(t0) before / after the second arrive, try_wait(t0), test(t1) of the next phase",
             "0 1 1 0 1", say([] __device__(u32 bar, auto say) {
               mbar_init(bar, 2);
               const u64 t0 = arrive_token(bar);
               say(test_token(bar, t0));
               arrive(bar);
               say(test_token(bar, t0));
               say(try_token(bar, t0));
               const u64 t1 = arrive_token(bar);
               say(test_token(bar, t1));
               arrive(bar);
               say(test_token(bar, t1));
             }));
}
HW_TEST("mbar.token_old") {
  out.open("mbar.token_old", "token of phase 0, tested two phases later (undefined by PTX)",
           say([] __device__(u32 bar, auto say) {
             mbar_init(bar, 1);
             const u64 t0 = arrive_token(bar);
             arrive(bar);
             say(test_token(bar, t0));
             arrive(bar);
             say(test_token(bar, t0));
           }));
}
HW_TEST("mbar.pending_count") {
  out.open("mbar.pending_count", "init 5: pending_count of arrive.noComplete 1, then of arrive.noComplete 2",
           say([] __device__(u32 bar, auto say) {
             mbar_init(bar, 5);
             say(static_cast<int>(pending_count(arrive_no_complete(bar, 1))));
             say(static_cast<int>(pending_count(arrive_no_complete(bar, 2))));
           }));
}
HW_TEST("mbar.inval") {
  out.answer("mbar.inval", "inval, plain stores, init again: wait(0)", "0 1", say([] __device__(u32 bar, auto say) {
               mbar_init(bar, 1);
               arrive(bar);
               mbar_inval(bar);
               st_shared(bar, 77);
               mbar_init(bar, 1);
               P0;
               arrive(bar);
               P0;
             }));
}
HW_TEST("mbar.word") {
  out.open("mbar.word",
           "64-bit word (hi lo pairs, signed decimal) after init 3, arrive, expect_tx 64, complete 64, arrive x2",
           say([] __device__(u32 bar, auto say) {
             auto word = [&] {
               say(static_cast<int>(ld_shared(bar + 4)));
               say(static_cast<int>(ld_shared(bar)));
             };
             mbar_init(bar, 3);
             word();
             arrive(bar);
             word();
             expect_tx(bar, 64);
             word();
             complete_tx(bar, 64);
             word();
             arrive(bar);
             arrive(bar);
             word();
           }));
}
HW_TEST("mbar.warp_arrive") {
  Buffer<int> b(1);
  hw::run("warp arrive", warp_arrive, 1, 32, 0, 1, b.get());
  out.answer("mbar.warp_arrive", "init 32, one arrive by a full warp completes the phase", "1",
             std::to_string(b.host()[0]));
}
HW_TEST("mbar.rearm") {
  Buffer<int> passed(1), timeout(1);
  hw::run("rearm", rearm, 1, 256, 0, 1, 2000, passed.get(), timeout.get());
  out.answer("mbar.rearm", "2000 phases, each re-armed while 7 warps still wait for it: waits passed, timeouts",
             "14000 0", hw::format("%d %d", passed.host()[0], timeout.host()[0]));
}
HW_TEST("mbar.lapped") {
  Buffer<int> b(2);
  hw::run("lapped", lapped, 1, 1, 0, 1, b.get());
  out.answer("mbar.lapped", "wait(0) after two phases hangs (parity aliases), after three passes", "0 1",
             hw::format("%d %d", b.host()[0], b.host()[1]));
}
HW_TEST("mbar.suspension") {
  std::string seen;
  long long test = 0, wake = 0, woken = 1;
  for (const int hint : {-1, 0, 1000, 100'000, 1'000'000}) {
    Buffer<i64> b(6);
    hw::run("suspension", suspension, 1, 64, 0, 1, 20, hint, b.get());
    const auto v = b.host();
    seen += hw::format("%shint %s: %lld-%lld ns", seen.empty() ? "" : ", ",
                       hint < 0 ? "none" : std::to_string(hint).c_str(), v[2], v[0]);
    test = std::max(test, v[1]);
    wake = std::max(wake, v[4] - v[3]);
    woken = std::min(woken, v[5]);
  }
  out.open("mbar.suspension", "failed try_wait returns after (20 tries each)", seen);
  out.answer("mbar.test_wait", "failed test_wait never suspends (under 1000 cycles)", "yes",
             test < 1000 ? "yes" : hw::format("%lld cycles", test));
  out.answer("mbar.woken", "try_wait with a 10 ms hint wakes with the arrive (under 1000 cycles) and returns true",
             "yes", woken && wake < 1000 ? "yes" : hw::format("returned %lld after %lld cycles", woken, wake));
}
HW_TEST("mbar.cp_async") {
  Buffer<int> from(4), b(2);
  from.put({1, 2, 3, 42});
  hw::run("cp.async", cp_async_arrive, 1, 1, 0, 1, from.get(), b.get());
  out.answer("mbar.cp_async", "cp.async.mbarrier.arrive.noinc completes the phase after the data", "1 42",
             hw::format("%d %d", b.host()[0], b.host()[1]));
}

// What traps: each takes its child process with it.
HW_TEST("mbar.trap.over_arrival") {
  out.answer("mbar.trap.over_arrival", "second arrive while tx != 0 holds a phase of count 1 open", "trap",
             say([] __device__(u32 bar, auto) {
               mbar_init(bar, 1);
               arrive_expect(bar, 64);
               arrive(bar);
             }));
}
HW_TEST("mbar.trap.tx_overflow") {
  out.answer("mbar.trap.tx_overflow", "tx-count beyond 2^20 - 1", "trap", say([] __device__(u32 bar, auto) {
               mbar_init(bar, 1);
               expect_tx(bar, (1u << 20) - 1);
               expect_tx(bar, 1);
             }));
}
HW_TEST("mbar.trap.tx_underflow") {
  out.answer("mbar.trap.tx_underflow", "tx-count below -(2^20 - 1)", "trap", say([] __device__(u32 bar, auto) {
               mbar_init(bar, 1);
               complete_tx(bar, (1u << 20) - 1);
               complete_tx(bar, 1);
             }));
}
HW_TEST("mbar.tx_limit") {
  out.open("mbar.tx_limit",
           "arrive.expect_tx of 2^20 - 1, then complete_tx of 2^20 - 1: wait(0) after each (PTX: 0 1)",
           say([] __device__(u32 bar, auto say) {
             mbar_init(bar, 1);
             arrive_expect(bar, (1u << 20) - 1);
             P0;
             complete_tx(bar, (1u << 20) - 1);
             P0;
           }));
}
HW_TEST("mbar.trap.init_0") {
  out.answer("mbar.trap.init_0", "arrive on a barrier initialised with 0", "trap",
             say([] __device__(u32 bar, auto) {
               mbar_init(bar, 0);
               arrive(bar);
             }));
}
HW_TEST("mbar.trap.init_2p20") {
  out.answer("mbar.trap.init_2p20", "arrive on a barrier initialised with 2^20", "trap",
             say([] __device__(u32 bar, auto) {
               mbar_init(bar, 1u << 20);
               arrive(bar);
             }));
}
HW_TEST("mbar.trap.misaligned") {
  out.answer("mbar.trap.misaligned", "arrive on an address that is 4 mod 8", "trap",
             say([] __device__(u32 bar, auto) { arrive(bar + 4); }));
}
HW_TEST("mbar.zero_word") {
  out.open("mbar.zero_word", "arrive on zeroed memory that was never initialised",
           say([] __device__(u32 bar, auto) { arrive(bar); }));
}
HW_TEST("mbar.no_complete_completes") {
  out.open("mbar.no_complete_completes", "arrive.noComplete that would complete the phase: wait(0)",
           say([] __device__(u32 bar, auto say) {
             mbar_init(bar, 1);
             arrive_no_complete(bar, 1);
             P0;
           }));
}
