// SPDX-License-Identifier: Apache-2.0
/// tensormap.replace in shared memory, published with cp_fenceproxy: who sees the new address, with and without
/// acquire.
#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

extern __shared__ char dynamic_smem[];

__device__ u32 load_word(const CUtensorMap* map, u32 dst, u32 bar, u32 parity) {
  arrive_expect(bar, 1024);
  load_2d(dst, map, 0, 0, bar);
  if (!wait(bar, parity, 2'000'000)) return 0xffffffff;
  return ld_shared(dst);
}

/// Both CTAs use the old map first (so that it is cached), CTA 0 changes it, then CTA `reader` loads again.
/// out = {word before, word after}; ready and changed are flags in global memory.
__global__ void change(const __grid_constant__ CUtensorMap original, CUtensorMap* map, const u32* second,
                       u32 reader, bool acquire, u32* ready, u32* changed, u32* out) {
  __shared__ alignas(8) u64 storage;
  __shared__ alignas(128) CUtensorMap edited;
  const u32 bar = smem(&storage), dst = (smem(dynamic_smem) + 1023) & ~1023u;
  auto flag_wait = [](u32* flag, u32 value) {
    const i64 t0 = now();
    for (;;) {
      u32 v;
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
      if (v >= value) return true;
      if (now() - t0 > 4'000'000) return false;
    }
  };
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    fence_mbarrier_init();
    if (blockIdx.x == reader) out[0] = load_word(map, dst, bar, 0);
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(ready) : "memory");
  }
  __syncwarp();
  bool ok = true;
  if (blockIdx.x == 0) {
    if (threadIdx.x == 0) {
      ok = flag_wait(ready, 2);
      edited = original;
      tensormap_set_address(smem(&edited), second);
    }
    __syncwarp();
    tensormap_publish(map, smem(&edited));
    __syncwarp();
    if (threadIdx.x == 0) asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(changed) : "memory");
  }
  if (threadIdx.x == 0 && blockIdx.x == reader) {
    ok = flag_wait(changed, 1) && ok;
    if (acquire) tensormap_acquire(map);
    out[1] = ok ? load_word(map, dst, bar, 1) : 0xfffffffe;
  }
}

/// Loads on their way, then a wait for bulk groups, which hold none of them, then a wait for the loads.
/// out = {cycles from the first load to the end of the group wait, to the last byte}
__global__ void groups_behind_loads(const __grid_constant__ CUtensorMap map, bool wait_groups, bool read,
                                    u32* out) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage), dst = (smem(dynamic_smem) + 1023) & ~1023u;
  constexpr u32 kLoads = 16, kBytes = 8192;
  if (threadIdx.x != 0) return;
  mbar_init(bar, 1);
  fence_mbarrier_init();
  arrive_expect(bar, kLoads * kBytes);
  const i64 t0 = now();
  for (u32 i = 0; i < kLoads; ++i) load_2d(dst + i * kBytes, &map, 0, int(64 * i), bar);
  if (wait_groups) {
    commit_group();
    if (read)
      wait_group_read<0>();
    else
      wait_group<0>();
  }
  const i64 t1 = now();
  const bool ok = wait(bar, 0, 2'000'000);
  out[0] = u32(t1 - t0), out[1] = ok ? u32(now() - t0) : 0;
}

}  // namespace

HW_TEST("tensormap.groups_behind_loads") {
  Buffer<char> source(16 * 64 * 128, 1);
  hw::MapSpec spec;
  spec.dims = {64, 16 * 64};
  spec.strides = {128};
  spec.box = {64, 64};
  const CUtensorMap map = hw::must_encode(spec, source.get());
  std::string seen;
  for (const auto& [wait_groups, read] : {std::pair{false, false}, {true, true}, {true, false}}) {
    u32 groups = ~0u, landed = ~0u;
    for (int i = 0; i < 10; ++i) {
      Buffer<u32> cycles(2);
      hw::run("groups_behind_loads", groups_behind_loads, 1, 32, 16 * 8192 + 1024, 1, map, wait_groups, read,
              cycles.get());
      const auto c = cycles.host();
      groups = std::min(groups, c[0]), landed = std::min(landed, c[1]);
    }
    seen += hw::format("%s: %u cycles until then, %u until the bytes are there; ",
                       !wait_groups ? "no wait"
                       : read       ? "wait_group.read"
                                    : "wait_group",
                       groups, landed);
  }
  out.open(
      "tensormap.groups_behind_loads",
      "16 tensor loads of one thread, then cp.async.bulk.commit_group and wait_group: does it wait for the loads?",
      seen);
}

HW_TEST("tensormap.replace") {
  Buffer<char> first(4096, 1), second(4096, 2);
  hw::MapSpec spec;
  spec.dims = {64, 8};
  spec.strides = {128};
  spec.box = {64, 8};
  const CUtensorMap map = hw::must_encode(spec, first.get());
  for (const bool acquire : {true, false})
    for (const u32 reader : {0u, 1u}) {
      std::string seen;
      int fresh = 0, old = 0;
      for (int i = 0; i < 20; ++i) {
        Buffer<CUtensorMap> in_memory(1);
        in_memory.put({map});
        Buffer<u32> flags(2), words(2);
        hw::run("tensormap", change, 2, 32, 8192, 1, map, in_memory.get(),
                reinterpret_cast<const u32*>(second.get()), reader, acquire, flags.get(), flags.get() + 1,
                words.get());
        const auto w = words.host();
        if (w[0] == 0x01010101 && w[1] == 0x02020202)
          ++fresh;
        else if (w[0] == 0x01010101 && w[1] == 0x01010101)
          ++old;
        else
          seen = hw::format("words 0x%08x 0x%08x; ", w[0], w[1]);
      }
      seen += hw::format("%d new, %d old of 20", fresh, old);
      const std::string id =
          hw::format("tensormap.%s.%s", acquire ? "acquire" : "no_acquire", reader == 0 ? "same_cta" : "other_cta");
      const std::string q =
          hw::format("address replaced, published, %s, load in the %s", acquire ? "acquired" : "not acquired",
                     reader == 0 ? "same CTA" : "other CTA");
      if (acquire)
        out.answer(id, q, "20 new, 0 old of 20", seen);
      else
        out.open(id, q, seen);
    }
}
