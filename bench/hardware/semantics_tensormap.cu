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

}  // namespace

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
