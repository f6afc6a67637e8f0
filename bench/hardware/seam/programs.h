// SPDX-License-Identifier: Apache-2.0
/// Warp programs on the functions of the seam that hardware and the simulator run alike: a cluster of CTAs of one
/// warp, 4 KiB of input, 4 KiB of output for each CTA.  What they leave in the output is compared word by word.
/// Every wait gives up.
#pragma once

#include <cstdio>
#include <string>

#include "kernels/isa/isa.h"

namespace sm100::hardware {

inline constexpr uint32_t kBlockBytes = 4096;  ///< of input, and of output of each CTA
inline constexpr uint32_t kNotes = 3072;       ///< offset in the output of what a program notes
inline constexpr uint32_t kProgramSmem = 16384;

/// What a program has of the CTA.
template <class I>
struct Bench {
  I& isa;
  GlobalAddr in, out;  ///< of this CTA
  uint32_t rank;
  SmemAddr bar, a, b;  ///< an mbarrier; 2 KiB each

  SM100_KERNEL Bench(I& isa, GlobalAddr in, GlobalAddr out)
      : isa(isa),
        in(in),
        out(out + uint64_t{kBlockBytes} * isa.cluster_ctarank()),
        rank(isa.cluster_ctarank()),
        bar(isa.dynamic_smem()),
        a(bar + 1024),
        b(bar + 4096) {}

  SM100_KERNEL ClusterSmemAddr at(SmemAddr address, uint32_t cta) { return isa.mapa(address, cta); }
  SM100_KERNEL LaneArray<SmemAddr, 1> lanes(SmemAddr base, uint32_t pitch) {
    LaneArray<SmemAddr, 1> all;
    const auto id = isa.laneid();
    isa.for_each_lane(1, [&](int lane) { all[lane][0] = base + id[lane][0] * pitch; });
    return all;
  }
  SM100_KERNEL LaneArray<ClusterSmemAddr, 1> lanes(ClusterSmemAddr base, uint32_t pitch) {
    LaneArray<ClusterSmemAddr, 1> all;
    const auto id = isa.laneid();
    isa.for_each_lane(1, [&](int lane) { all[lane][0] = {base.value + id[lane][0] * pitch}; });
    return all;
  }
  template <int N>
  SM100_KERNEL LaneArray<uint32_t, N> words(uint32_t first) {
    LaneArray<uint32_t, N> all;
    const auto id = isa.laneid();
    isa.for_each_lane(N, [&](int lane) {
      for (int i = 0; i < N; ++i) all[lane][i] = first + id[lane][0] * N + uint32_t(i);
    });
    return all;
  }
  /// 512 bytes: word i is first + i.
  SM100_KERNEL void fill(SmemAddr base, uint32_t first) { isa.st_shared_v4(lanes(base, 16), words<4>(first)); }
  /// 512 bytes of shared memory to the output.
  SM100_KERNEL void dump(SmemAddr base, uint32_t to = 0) {
    isa.st_global_v4(isa.mad_wide_u32(isa.laneid(), 16, out + to), isa.ld_shared_v4(lanes(base, 16)));
  }
  SM100_KERNEL void note(uint32_t index, uint32_t value) {
    LaneArray<uint32_t, 1> values;
    LaneArray<bool, 1> first;
    const auto id = isa.laneid();
    isa.for_each_lane(2, [&](int lane) { values[lane][0] = value, first[lane][0] = id[lane][0] == 0; });
    isa.st_global_b32(isa.mad_wide_u32(isa.laneid(), 0, out + kNotes + 4 * index), values, first);
  }
  SM100_KERNEL void cluster_sync() { isa.barrier_cluster_arrive(), isa.barrier_cluster_wait(); }
  /// The barrier is ready in every CTA.
  SM100_KERNEL void init(uint32_t count) {
    isa.elected([&] {
      isa.mbarrier_init(bar, count);
      isa.fence_mbarrier_init();
    });
    isa.bar_warp_sync();
    cluster_sync();
  }
  SM100_KERNEL bool wait(uint32_t parity) {
    for (int i = 0; i < 500; ++i)
      if (isa.mbarrier_try_wait_parity(bar, parity, Scope::cluster)) return true;
    return false;
  }
  SM100_KERNEL uint32_t complete(uint32_t parity) {
    return isa.mbarrier_test_wait_parity(bar, parity, Scope::cluster);
  }
};

/// st.async of N words by every lane of rank 0 into rank 1.
template <int N>
struct StAsync {
  static constexpr const char* kId = N == 1 ? "st_async_b32" : N == 2 ? "st_async_v2" : "st_async_v4";
  static constexpr uint32_t kCtas = 2;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    t.fill(t.a, 0xee00);
    if (t.rank == 1) isa.elected([&] { isa.mbarrier_init(t.bar, 1), isa.fence_mbarrier_init(); });
    if (t.rank == 1) isa.elected([&] { isa.mbarrier_arrive_expect_tx(t.bar, 32 * 4 * N, Scope::cluster); });
    isa.bar_warp_sync();
    t.cluster_sync();
    if (t.rank == 0) {
      const auto to = t.lanes(t.at(t.a, 1), 4 * N);
      const auto bars = t.lanes(t.at(t.bar, 1), 0);
      if constexpr (N == 1) isa.st_async_b32(to, t.template words<1>(0x100), bars);
      if constexpr (N == 2) isa.st_async_v2(to, t.template words<2>(0x200), bars);
      if constexpr (N == 4) isa.st_async_v4(to, t.template words<4>(0x400), bars);
    } else {
      t.note(0, t.wait(0));
      t.note(1, t.complete(1));
      t.dump(t.a);
    }
    t.cluster_sync();
  }
};

/// Stores into rank 1's shared memory, loads from rank 0's.
struct Dsmem {
  static constexpr const char* kId = "dsmem";
  static constexpr uint32_t kCtas = 2;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    t.fill(t.a, 0x1000 * (t.rank + 1));
    t.fill(t.b, 0);
    t.cluster_sync();
    if (t.rank == 0) {
      isa.st_shared_v4(t.lanes(t.at(t.b, 1), 16), t.template words<4>(0x700));
      isa.st_shared_b32(t.lanes(t.at(t.b + 4, 1), 16), t.template words<1>(0x800));
      isa.st_shared_v2(t.lanes(t.at(t.b + 8, 1), 16), t.template words<2>(0x900));
    }
    t.cluster_sync();
    if (t.rank == 1) {
      t.dump(t.b);
      const auto four = isa.ld_shared_v4(t.lanes(t.at(t.a, 0), 16));
      isa.st_global_v4(isa.mad_wide_u32(isa.laneid(), 16, t.out + 512), four);
      const auto one = isa.ld_shared_b32(t.lanes(t.at(t.a + 4, 0), 8));
      LaneArray<uint32_t, 2> two;
      isa.for_each_lane(1, [&](int lane) { two[lane][0] = two[lane][1] = one[lane][0]; });
      isa.st_global_v2(isa.mad_wide_u32(isa.laneid(), 8, t.out + 1024), two);
    }
    t.cluster_sync();
  }
};

/// 256 bytes from rank 0's shared memory into the middle of rank 1's.
struct BulkBetween {
  static constexpr const char* kId = "bulk_between";
  static constexpr uint32_t kCtas = 2;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    t.fill(t.a, 0x100);
    t.fill(t.b, 0xee00);
    isa.fence_proxy_async_shared_cta();
    t.init(1);
    if (t.rank == 1) isa.elected([&] { isa.mbarrier_arrive_expect_tx(t.bar, 256, Scope::cluster); });
    t.cluster_sync();
    if (t.rank == 0) {
      isa.elected([&] { isa.cp_async_bulk_shared_cluster(t.at(t.b + 128, 1), t.a + 64, 256, t.at(t.bar, 1)); });
    } else {
      t.note(0, t.wait(0));
      t.dump(t.b);
    }
    t.cluster_sync();
  }
};

/// Global memory to shared memory and back, 272 bytes.
struct BulkThere {
  static constexpr const char* kId = "bulk_there_and_back";
  static constexpr uint32_t kCtas = 1;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    t.fill(t.a, 0xee00);
    isa.fence_proxy_async_shared_cta();
    t.init(1);
    isa.elected([&] {
      isa.mbarrier_arrive_expect_tx(t.bar, 272, Scope::cta);
      isa.cp_async_bulk_prefetch_l2(t.in, 272);
      isa.cp_async_bulk_shared_global(t.a, t.in + 16, 272, t.bar, kEvictFirst);
    });
    t.note(0, t.wait(0));
    isa.elected([&] {
      isa.cp_async_bulk_global_shared(t.out + 512 + 32, t.a, 272);
      isa.cp_async_bulk_commit_group();
      isa.template cp_async_bulk_wait_group<0>();
    });
    t.dump(t.a);
  }
};

/// Rank 0 loads into both CTAs.
struct BulkMulticast {
  static constexpr const char* kId = "bulk_multicast";
  static constexpr uint32_t kCtas = 2;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    t.fill(t.a, 0xee00);
    isa.fence_proxy_async_shared_cta();
    t.init(1);
    isa.elected([&] { isa.mbarrier_arrive_expect_tx(t.bar, 256, Scope::cluster); });
    t.cluster_sync();
    if (t.rank == 0)
      isa.elected([&] { isa.cp_async_bulk_shared_global_multicast(t.a + 64, t.in, 256, t.bar, CtaMask{3}); });
    t.note(0, t.wait(0));
    t.dump(t.a);
    t.cluster_sync();
  }
};

/// How often do n lanes load, and reduce?  Bytes that a phase got, and ones added.
template <int kLanes>
struct BulkLanes {
  static constexpr const char* kId = kLanes == 1 ? "bulk_lanes_1" : kLanes == 3 ? "bulk_lanes_3" : "bulk_lanes_32";
  static constexpr bool kRaces = true;  ///< several lanes load the same bytes into the same place
  static constexpr uint32_t kCtas = 1;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    t.init(1);
    isa.elected([&] { isa.mbarrier_arrive_expect_tx(t.bar, 33 * 64, Scope::cta); });
    isa.lanes_below(kLanes, [&] { isa.cp_async_bulk_shared_global(t.a, t.in, 64, t.bar); });
    for (int i = 0; i < 900; ++i)  // no wait: the simulator takes one that never ends for a hang
      if (t.complete(0)) break;
    uint32_t missing = 0;
    while (missing < 33 && t.complete(0) == 0) {
      isa.elected([&] { isa.mbarrier_complete_tx(t.bar, 64, Scope::cta); });
      isa.bar_warp_sync();
      ++missing;
    }
    t.note(0, 33 - missing);
    LaneArray<uint32_t, 4> ones;
    isa.for_each_lane(1, [&](int lane) {
      for (int i = 0; i < 4; ++i) ones[lane][i] = 1;
    });
    isa.st_shared_v4(t.lanes(t.b, 16), ones);
    isa.fence_proxy_async_shared_cta();
    isa.bar_warp_sync();
    isa.lanes_below(kLanes, [&] {
      isa.template cp_reduce_async_bulk_global_shared<ReduceOp::add, ReduceType::u32>(t.out, t.b, 64);
      isa.cp_async_bulk_commit_group();
      isa.template cp_async_bulk_wait_group<0>();
    });
    isa.bar_warp_sync();
  }
};

/// Remote arrivals with counts, drops and bytes; rank 1 says what it sees after each.
struct RemoteBarrier {
  static constexpr const char* kId = "remote_barrier";
  static constexpr uint32_t kCtas = 2;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    t.init(4);
    const ClusterSmemAddr remote = t.at(t.bar, 1);
    uint32_t index = 0;
    const auto step = [&](auto&& f) {
      if (t.rank == 0) isa.elected(f);
      t.cluster_sync();
      if (t.rank == 1) t.note(index, t.complete(0)), t.note(index + 1, t.complete(1));
      index += 2;
      t.cluster_sync();
    };
    step([&] { isa.mbarrier_arrive(remote, 2u, Scope::cluster); });
    step([&] { isa.mbarrier_arrive_drop(remote, 1, Scope::cluster); });
    step([&] { isa.mbarrier_arrive(remote, Scope::cluster); });  // phase 0 over, 3 expected
    step([&] { isa.mbarrier_expect_tx(remote, 64, Scope::cluster); });
    step([&] { isa.mbarrier_arrive(remote, 3u, Scope::cluster); });
    step([&] { isa.mbarrier_complete_tx(remote, 64, Scope::cluster); });  // phase 1 over
    step([&] { isa.mbarrier_arrive_drop_expect_tx(remote, 32, Scope::cluster); });
    step([&] { isa.mbarrier_arrive(remote, 2u, Scope::cluster); });
    step([&] { isa.mbarrier_complete_tx(remote, 32, Scope::cluster); });  // phase 2 over, 2 expected
    step([&] { isa.mbarrier_arrive(remote, 2u, Scope::cluster); });       // phase 3 over
  }
};

/// The states of 32 lanes' arrivals.
struct States {
  static constexpr const char* kId = "states";
  static constexpr uint32_t kCtas = 1;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    t.init(32);
    const auto all = isa.mbarrier_arrive_state(t.bar, 1, Scope::cta);
    isa.bar_warp_sync();
    t.note(0, isa.mbarrier_test_wait(t.bar, all, Scope::cta));
    isa.lanes_below(31, [&] {
      const auto most = isa.mbarrier_arrive_state(t.bar, 1, Scope::cta);
      t.note(1, isa.mbarrier_test_wait(t.bar, most, Scope::cta));
    });
    isa.bar_warp_sync();
    isa.lanes_below(1, [&] {
      const auto last = isa.mbarrier_arrive_drop(t.bar, 1, Scope::cta);
      t.note(2, isa.mbarrier_test_wait(t.bar, last, Scope::cta));
      t.note(3, isa.mbarrier_try_wait(t.bar, last, Scope::cta));
      const auto next = isa.mbarrier_arrive_state(t.bar, 30, Scope::cta);
      t.note(4, isa.mbarrier_test_wait(t.bar, next, Scope::cta));
      const auto tx = isa.mbarrier_arrive_expect_tx_state(t.bar, 16, Scope::cta);
      t.note(5, isa.mbarrier_test_wait(t.bar, tx, Scope::cta));
      isa.mbarrier_complete_tx(t.bar, 16, Scope::cta);
      t.note(6, isa.mbarrier_test_wait(t.bar, tx, Scope::cta));
      t.note(7, isa.mbarrier_test_wait(t.bar, next, Scope::cta));
    });
    isa.bar_warp_sync();
  }
};

/// red.async by all lanes of rank 0 on words of rank 1.
struct RedAsync {
  static constexpr const char* kId = "red_async";
  static constexpr uint32_t kCtas = 2;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    t.fill(t.a, 0x10);
    if (t.rank == 1) isa.elected([&] { isa.mbarrier_init(t.bar, 1), isa.fence_mbarrier_init(); });
    if (t.rank == 1) isa.elected([&] { isa.mbarrier_arrive_expect_tx(t.bar, 32 * (5 * 4 + 8), Scope::cluster); });
    isa.bar_warp_sync();
    t.cluster_sync();
    if (t.rank == 0) {
      const auto bars = t.lanes(t.at(t.bar, 1), 0);
      const auto word = [&](uint32_t i) { return t.lanes(t.at(t.a + 4 * i, 1), 0); };
      const auto lane = t.template words<1>(1);
      LaneArray<uint64_t, 1> wide;
      isa.for_each_lane(1, [&](int l) { wide[l][0] = uint64_t{0xffffffff} + lane[l][0]; });
      isa.template red_async<ReduceOp::add, ReduceType::u32>(word(0), lane, bars);
      isa.template red_async<ReduceOp::max, ReduceType::u32>(word(1), lane, bars);
      isa.template red_async<ReduceOp::bit_xor, ReduceType::b32>(word(2), lane, bars);
      isa.template red_async<ReduceOp::bit_or, ReduceType::b32>(word(3), lane, bars);
      isa.template red_async<ReduceOp::add, ReduceType::s32>(word(6), lane, bars);
      isa.template red_async<ReduceOp::add, ReduceType::u64>(word(4), wide, bars);
    } else {
      t.note(0, t.wait(0));
      t.dump(t.a);
    }
    t.cluster_sync();
  }
};

/// Atomics of all lanes on one word; their old values are summed, for nobody promises an order.
struct Atomics {
  static constexpr const char* kId = "atomics";
  static constexpr uint32_t kCtas = 1;
  template <class I>
  SM100_KERNEL void operator()(I& isa, GlobalAddr in, GlobalAddr out) const {
    Bench<I> t(isa, in, out);
    constexpr MemorySem kRelaxed = MemorySem::relaxed;
    constexpr MemoryScope kGpu = MemoryScope::gpu;
    const auto word = [&](uint32_t i) { return isa.mad_wide_u32(isa.laneid(), 0, t.out + 4 * i); };
    const auto lane = t.template words<1>(1);
    const auto old = isa.template atom_global<ReduceOp::add, ReduceType::u32, kRelaxed, kGpu>(word(0), lane);
    isa.template red_global<ReduceOp::bit_xor, ReduceType::b32, kRelaxed, kGpu>(word(1), lane);
    isa.template red_global<ReduceOp::max, ReduceType::u32, kRelaxed, kGpu>(word(2), old);
    LaneArray<uint32_t, 1> floats, limit, zero;
    isa.for_each_lane(1,
                      [&](int l) { floats[l][0] = as_bits(float(lane[l][0])), limit[l][0] = 9, zero[l][0] = 0; });
    isa.template red_global<ReduceOp::add, ReduceType::f32, kRelaxed, kGpu>(word(3), floats);
    isa.template red_global<ReduceOp::inc, ReduceType::u32, kRelaxed, kGpu>(word(4), limit);
    isa.template red_global<ReduceOp::dec, ReduceType::u32, kRelaxed, kGpu>(word(5), limit);
    const auto swapped =
        isa.template atom_cas_global<ReduceType::b32, MemorySem::acq_rel, kGpu>(word(6), zero, limit);
    isa.template red_global<ReduceOp::add, ReduceType::u32, kRelaxed, kGpu>(word(7), swapped);
    isa.template atom_global<ReduceOp::exch, ReduceType::b32, kRelaxed, kGpu>(word(8), limit);
    LaneArray<uint64_t, 1> wide;
    isa.for_each_lane(1, [&](int l) { wide[l][0] = uint64_t{0x100000000} + lane[l][0]; });
    isa.template red_global<ReduceOp::add, ReduceType::u64, kRelaxed, kGpu>(word(10), wide);
  }
};

template <class F>
void for_each_program(F&& f) {
  f(StAsync<1>{}), f(StAsync<2>{}), f(StAsync<4>{}), f(Dsmem{}), f(BulkBetween{}), f(BulkThere{}),
      f(BulkMulticast{});
  f(BulkLanes<1>{}), f(BulkLanes<3>{}), f(BulkLanes<32>{}), f(RemoteBarrier{}), f(States{}), f(RedAsync{}),
      f(Atomics{});
}

/// Input word i.
inline uint32_t program_input(uint32_t i) { return 0xa0000000u + 0x10001u * i; }

/// "0 12*ee00 ...": words in hexadecimal, equal ones counted.
inline std::string words_text(const uint32_t* words, size_t n) {
  std::string text;
  for (size_t i = 0, run; i < n; i += run) {
    for (run = 1; i + run < n && words[i + run] == words[i];) ++run;
    char one[40];
    if (run > 1)
      std::snprintf(one, sizeof one, "%zu*%x", run, words[i]);
    else
      std::snprintf(one, sizeof one, "%x", words[i]);
    text += (text.empty() ? "" : " ") + std::string(one);
  }
  return text;
}

}  // namespace sm100::hardware
