// What PTX leaves open, asked of this GPU: one kernel per question, one line per answer.  Runs on sm_90 and later.
//
//   semantics            asks everything; questions that may trap run in a process of their own
//   semantics ID         asks one
//
// Every wait gives up after a while and says so, so that no answer hangs.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/isa/sm100.cuh"

namespace {

using namespace sm100;

constexpr uint32_t kTile = 0, kBar = 96 * 1024;  // offsets in dynamic shared memory
constexpr int kSmemBytes = 100 * 1024;
constexpr long long kPatience = 20'000'000;  // cycles

__device__ uint64_t clock_now() {
  uint64_t cycles;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(cycles)::"memory");
  return cycles;
}
__device__ uint32_t smem_base() {
  extern __shared__ uint8_t bytes[];
  return uint32_t(__cvta_generic_to_shared(bytes));
}
__device__ void init(uint32_t bar, uint32_t count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(count) : "memory");
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void arrive(uint32_t bar) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
}
__device__ void arrive_expect(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ void complete_tx(uint32_t bar, uint32_t bytes) {
  asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(bar), "r"(bytes)
               : "memory");
}
__device__ bool test(uint32_t bar, uint32_t parity) {
  uint32_t done;
  asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
               : "=r"(done)
               : "r"(bar), "r"(parity)
               : "memory");
  return done != 0;
}
__device__ bool try_wait(uint32_t bar, uint32_t parity) {
  uint32_t done;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
               : "=r"(done)
               : "r"(bar), "r"(parity)
               : "memory");
  return done != 0;
}
__device__ bool try_wait_hint(uint32_t bar, uint32_t parity, uint32_t ns) {
  uint32_t done;
  asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2, %3; selp.b32 %0, 1, 0, p;}"
               : "=r"(done)
               : "r"(bar), "r"(parity), "r"(ns)
               : "memory");
  return done != 0;
}
/// False if the phase has not completed within kPatience.
__device__ bool wait(uint32_t bar, uint32_t parity) {
  const uint64_t begin = clock_now();
  while (!try_wait(bar, parity))
    if (clock_now() - begin > kPatience) return false;
  return true;
}
__device__ void load_box(uint32_t dst, const TensorMap* map, int x, int y, uint32_t bar) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], "
      "[%4];" ::"r"(dst),
      "l"(map), "r"(x), "r"(y), "r"(bar)
      : "memory");
}
__device__ void store_box(const TensorMap* map, int x, int y, uint32_t src) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
               "r"(x), "r"(y), "r"(src)
               : "memory");
}
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void wait_read0() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void wait_read1() { asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory"); }
__device__ void wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void fence_async() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ uint32_t rank() {
  uint32_t r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// Gives the hardware time to notice what went before; then the state of both parities.
__device__ int64_t look_again(uint32_t bar) {
  const uint64_t begin = clock_now();
  while (clock_now() - begin < 100000) {}
  return 10 * test(bar, 0) + test(bar, 1);
}

struct Arguments {
  int64_t* out;
  uint32_t* data;               ///< 64 rows of 32 words, the tensor behind `map`
  const TensorMap* device_map;  ///< for tensormap.replace: a copy in global memory
};

/// Box of 16 rows x 128 B, 128B swizzle; `plain` has no swizzle and a box of 8 rows.
struct Maps {
  TensorMap swizzled, plain, nan_fill;
};

// Single-CTA questions; one thread asks unless said otherwise.
__global__ void ask(const Arguments a, const __grid_constant__ Maps maps, int question) {
  const uint32_t base = smem_base(), bar = base + kBar, tile = base + kTile;
  volatile uint32_t* words = reinterpret_cast<volatile uint32_t*>(__cvta_shared_to_generic(tile));
  int64_t* out = a.out;
  const bool one = threadIdx.x == 0;
  if (question == 11) {  // elect.sync: the lane that each mask elects
    const uint32_t masks[] = {0xffffffffu, 0xfffffffeu, 0x80000000u, 0xf0u, 0xaaaaaaaau};
    for (int i = 0; i < 5; ++i) {
      if (masks[i] >> threadIdx.x & 1) {
        uint32_t leader;
        asm volatile("{.reg .pred p; elect.sync _|p, %1; selp.b32 %0, 1, 0, p;}" : "=r"(leader) : "r"(masks[i]));
        if (leader) out[i] = threadIdx.x;
      }
      __syncwarp();
    }
    return;
  }
  if (!one) return;
  switch (question) {
    case 0:  // parity of a fresh barrier and after one and two phases
      init(bar, 1);
      for (int phase = 0; phase < 3; ++phase) {
        out[2 * phase] = test(bar, 0), out[2 * phase + 1] = test(bar, 1);
        arrive(bar);
      }
      break;
    case 1:  // re-armed before anybody looked: phase 0 done, phase 1 armed with bytes outstanding
      init(bar, 1);
      arrive(bar);
      arrive_expect(bar, 64);
      out[0] = test(bar, 0);
      complete_tx(bar, 64);
      out[1] = test(bar, 0);  // two phases on: the parity means the other phase
      out[2] = test(bar, 1);
      break;
    case 2: {  // how long a try_wait that can't succeed suspends (cycles): no hint, hints of 0, 1 us, 20 us, 1 ms
      init(bar, 1);
      const uint32_t hints[] = {0, 1000, 20000, 1000000};
      int64_t succeeded = 0;          // used, or the compiler drops the instruction
      succeeded += try_wait(bar, 0);  // fetches the code
      uint64_t begin = clock_now();
      succeeded += try_wait(bar, 0);
      out[0] = int64_t(clock_now() - begin);
      for (int i = 0; i < 4; ++i) {
        begin = clock_now();
        succeeded += try_wait_hint(bar, 0, hints[i]);
        out[1 + i] = int64_t(clock_now() - begin);
      }
      begin = clock_now();
      for (int i = 0; i < 16; ++i) succeeded += test(bar, 0);
      out[6] = int64_t(clock_now() - begin) / 16;
      out[5] = succeeded;
      break;
    }
    case 3: {  // an empty group counts: wait_group.read 1 after {store}{empty} must wait for the store
      for (int i = 0; i < 4096; ++i) words[i] = 7;
      fence_async();
      uint64_t begin = clock_now();
      for (int i = 0; i < 8; ++i) store_box(&maps.swizzled, 0, 16 * (i % 4), tile);
      commit();
      wait_read1();
      out[0] = int64_t(clock_now() - begin);  // one group: does not wait
      wait_all();
      begin = clock_now();
      for (int i = 0; i < 8; ++i) store_box(&maps.swizzled, 0, 16 * (i % 4), tile);
      commit();
      commit();
      wait_read1();
      out[1] = int64_t(clock_now() - begin);  // two groups, the second empty: waits
      wait_all();
      break;
    }
    case 4: {  // the source is overwritten as soon as wait_group.read returns: rounds in which the new value was stored
      int64_t wrong = 0;
      for (uint32_t round = 1; round <= 2000; ++round) {
        for (int i = 0; i < 512; ++i) words[i] = round;
        fence_async();
        store_box(&maps.swizzled, 0, 0, tile);
        commit();
        wait_read0();
        for (int i = 0; i < 512; ++i) words[i] = 0xffffffffu;
        wait_all();
        for (int i = 0; i < 512; ++i) wrong += reinterpret_cast<volatile uint32_t*>(a.data)[i] != round;
      }
      out[0] = wrong;
      break;
    }
    case 5: {  // without fence.proxy.async: rounds in which the store saw an older value
      int64_t stale = 0;
      for (uint32_t round = 1; round <= 2000; ++round) {
        for (int i = 0; i < 512; ++i) words[i] = round;
        store_box(&maps.swizzled, 0, 0, tile);
        commit();
        wait_all();
        bool old = false;
        for (int i = 0; i < 512; ++i) old |= reinterpret_cast<volatile uint32_t*>(a.data)[i] != round;
        stale += old;
      }
      out[0] = stale;
      break;
    }
    case 6:  // the CTA exits right after committing a store
      for (int i = 0; i < 512; ++i) words[i] = 0x5a5a5a5au;
      fence_async();
      store_box(&maps.swizzled, 0, 0, tile);
      commit();
      break;
    case 7: {  // arrive_drop: count of later phases; token of phase 0 once phase 1 has completed too
      uint64_t token;
      init(bar, 3);
      asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(bar) : "memory");
      arrive(bar);
      asm volatile("mbarrier.arrive_drop.shared::cta.b64 _, [%0];" ::"r"(bar) : "memory");
      out[0] = test(bar, 0);
      arrive(bar);
      out[1] = test(bar, 1);
      arrive(bar);
      out[2] = test(bar, 1);  // two arrivals complete the phase now
      uint32_t done;
      asm volatile("{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                   : "=r"(done)
                   : "r"(bar), "l"(token)
                   : "memory");
      out[3] = done;
      break;
    }
    case 8:  // out of bounds: the full box is signalled; fill of zeros and of NaN (bf16)
      init(bar, 1);
      for (int i = 0; i < 1024; ++i) words[i] = 0xdeadbeefu;
      fence_async();
      arrive_expect(bar, 2048);
      load_box(tile, &maps.swizzled, 0, 4096, bar);
      out[0] = wait(bar, 0);
      out[1] = words[0];
      arrive_expect(bar, 2048);
      load_box(tile + 4096, &maps.nan_fill, 0, 4096, bar);
      out[2] = wait(bar, 1);
      out[3] = words[1024];
      break;
    case 9: {  // tensormap.replace of the address: a map in shared memory, edited, published, then used
      init(bar, 1);
      uint32_t* edited = const_cast<uint32_t*>(words) + 2048;
      for (int i = 0; i < 32; ++i) edited[i] = reinterpret_cast<const uint32_t*>(&maps.plain)[i];
      const uint32_t edited_address = tile + 8192;
      const uint64_t moved = reinterpret_cast<uint64_t>(a.data) + 4096;
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) || defined(__CUDA_ARCH_FEAT_SM100_ALL)
      asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(edited_address),
                   "l"(moved)
                   : "memory");
#endif
      uint32_t* global = reinterpret_cast<uint32_t*>(const_cast<TensorMap*>(a.device_map));
      for (int i = 0; i < 32; ++i) global[i] = edited[i];
      asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
      asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(a.device_map) : "memory");
      arrive_expect(bar, 1024);
      load_box(tile, a.device_map, 0, 0, bar);
      out[0] = wait(bar, 0);
      out[1] = words[0];  // the word at the new address
      break;
    }
    case 10:  // start of dynamic shared memory, own address in a cluster of one
      out[0] = base;
      break;
    // Questions that may trap.
    case 20: init(bar, 1), arrive_expect(bar, 64), arrive(bar), out[0] = look_again(bar); break;
    case 21: init(bar, 0), arrive(bar), out[0] = look_again(bar); break;
    case 22: init(bar, 1 << 20), arrive(bar), out[0] = look_again(bar); break;
    case 23:
      init(bar, 1);
      for (int i = 0; i < 3; ++i)
        asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(bar), "r"(1000000)
                     : "memory");
      out[0] = look_again(bar);
      break;
    case 24:
      init(bar, 1), arrive_expect(bar, 2048), load_box(tile, &maps.swizzled, 4, 0, bar), out[0] = wait(bar, 0);
      break;
    case 25: store_box(&maps.swizzled, 0, -8, tile), commit(), wait_all(), out[0] = 1; break;
    case 26:
      init(bar, 1), arrive_expect(bar, 2048), load_box(tile + 64, &maps.swizzled, 0, 0, bar), out[0] = wait(bar, 0);
      break;
    default: break;
  }
}

// Questions to a cluster of four CTAs; warp 0 of each.
__global__ void __cluster_dims__(4)
    ask_cluster(const Arguments a, const __grid_constant__ Maps maps, int question) {
  const uint32_t base = smem_base(), bar = base + kBar, tile = base + kTile, self = rank();
  volatile uint32_t* words = reinterpret_cast<volatile uint32_t*>(__cvta_shared_to_generic(tile));
  const bool one = threadIdx.x == 0;
  if (one) {
    init(bar, 1);
    for (int i = 0; i < 2048; ++i) words[i] = 0xdeadbeefu;
    fence_async();
  }
  cluster_sync();
  const auto remote = [](uint32_t address, uint32_t to) {
    uint32_t mapped;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(to));
    return mapped;
  };
  if (question == 0 && one) a.out[self] = remote(bar, 2);  // numeric form of a mapped address
  if (question == 1) {  // CTA 0 multicasts to CTAs 1 and 3: who gets data, who the signal
    if (one && (self == 1 || self == 3)) arrive_expect(bar, 2048);
    cluster_sync();
    if (one && self == 0)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%0], [%1, "
          "{%2, %3}], [%4], %5;" ::"r"(tile + 1024),
          "l"(&maps.swizzled), "r"(0), "r"(0), "r"(bar), "h"(uint16_t(0b1010))
          : "memory");
    if (one) {
      const bool signalled = self == 1 || self == 3 ? wait(bar, 0) : test(bar, 0);
      a.out[2 * self] = signalled;
    }
    cluster_sync();
    if (one) a.out[2 * self + 1] = words[256] != 0xdeadbeefu;  // 1024 bytes in, as in the issuer's destination
  }
  if (question == 2) {  // early multicast: into a barrier that is armed afterwards
    if (one && self == 0)
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
          "[%0], [%1, "
          "{%2, %3}], [%4], %5;" ::"r"(tile),
          "l"(&maps.swizzled), "r"(0), "r"(0), "r"(bar), "h"(uint16_t(0b0010))
          : "memory");
    if (one && self == 1) {
      const uint64_t begin = clock_now();
      while (clock_now() - begin < 20000) {}
      a.out[0] = test(bar, 0);
      arrive_expect(bar, 2048);
      a.out[1] = wait(bar, 0);
    }
  }
  if (question >= 3) {  // data by st.shared::cluster, then a remote arrive: 3 release.cluster, 4 default scope
    int64_t wrong = 0, lost = 0;
    for (uint32_t round = 1; round <= 5000 && lost == 0; ++round) {
      if (one && self == 0) {
        const uint32_t to = remote(tile, 1), to_bar = remote(bar, 1);
        for (uint32_t i = 0; i < 64; ++i)
          asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(to + 64 * i), "r"(round) : "memory");
        if (question == 3) {
          asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(to_bar) : "memory");
        } else {
          asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(to_bar) : "memory");
        }
      }
      if (one && self == 1) {
        lost += !wait(bar, (round - 1) & 1);
        bool old = false;
        for (int i = 0; i < 64; ++i) old |= words[16 * i] != round;
        wrong += old;
      }
      cluster_sync();
    }
    if (one && self == 1) a.out[0] = wrong, a.out[1] = lost;
  }
  cluster_sync();
}

// ---- host

#define CHECK_CUDA(call)                                   \
  do {                                                     \
    const cudaError_t code = (call);                       \
    if (code != cudaSuccess) {                             \
      std::printf("trap: %s\n", cudaGetErrorString(code)); \
      std::exit(3);                                        \
    }                                                      \
  } while (0)

TensorMap encode(void* data, int box_rows, CUtensorMapSwizzle swizzle, CUtensorMapFloatOOBfill fill) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  CHECK_CUDA(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &entry, 12000, cudaEnableDefault, &found));
  const cuuint64_t dims[2] = {64, 64}, strides[1] = {128};
  const cuuint32_t box[2] = {64, cuuint32_t(box_rows)}, ones[2] = {1, 1};
  CUtensorMap map;
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(entry)(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, dims,
                                                             strides, box, ones, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                                             swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill);
  TensorMap result;
  std::memcpy(result.bytes, &map, sizeof map);
  return result;
}

struct Question {
  const char* id;
  const char* text;
  int number;
  bool cluster, may_trap;
  int results;
};
constexpr Question kQuestions[] = {
    {"parity", "test_wait(0), test_wait(1) on a fresh barrier, after one phase, after two", 0, false, false, 6},
    {"rearm", "phase 0 done, phase 1 armed: wait(0); phase 1 done too: wait(0), wait(1)", 1, false, false, 3},
    {"try_wait_time", "cycles until try_wait gives up: no hint, 0, 1 us, 20 us, 1 ms; result; test_wait", 2, false,
     false, 7},
    {"empty_group", "cycles of wait_group.read 1 after {8 stores}, after {8 stores}{}", 3, false, false, 2},
    {"read_then_overwrite",
     "words stored wrongly when the source changes right after wait_group.read (of 1,024,000)", 4, false, false, 1},
    {"missing_fence", "rounds of 2000 with stale data when fence.proxy.async is missing before a store", 5, false,
     false, 1},
    {"exit_after_commit", "CTA exits after commit_group: stored?", 6, false, false, 1},
    {"arrive_drop", "init 3, arrive, arrive, drop: done?; then one, two arrivals; token two phases old", 7, false,
     false, 4},
    {"out_of_bounds", "box wholly outside: signalled in full?, fill; NaN fill: signalled?, bits", 8, false, false,
     4},
    {"tensormap_replace", "global_address replaced, published, used: completed?, word loaded (expected 0x400)", 9,
     false, false, 2},
    {"smem_start", "address of dynamic shared memory", 10, false, false, 1},
    {"elect", "lane elected of ffffffff, fffffffe, 80000000, f0, aaaaaaaa", 11, false, false, 5},
    {"mapa", "mapa(own address 0x18400, 2) seen from ranks 0 to 3", 0, true, false, 4},
    {"multicast", "rank 0 to mask 0b1010: (signal, data) of ranks 0 to 3", 1, true, false, 8},
    {"early_multicast", "multicast before the destination arms: done before arming?, after?", 2, true, false, 2},
    {"remote_release_cluster", "5000 rounds st.shared::cluster + arrive.release.cluster: stale, lost", 3, true,
     false, 2},
    {"remote_default_scope", "the same with the default scope: stale, lost", 4, true, false, 2},
    {"over_arrival", "arrive beyond pending (tx outstanding): then wait(0), wait(1) as two digits", 20, false, true,
     1},
    {"init_0", "init with count 0, then arrive: the same", 21, false, true, 1},
    {"init_2_20", "init with count 2^20, then arrive: the same", 22, false, true, 1},
    {"tx_overflow", "three expect_tx of 1,000,000 bytes: the same", 23, false, true, 1},
    {"misaligned_inner", "bf16 load at c0 = 4", 24, false, true, 1},
    {"negative_store", "store at row -8", 25, false, true, 1},
    {"misaligned_smem", "load to a shared address of 64 mod 128", 26, false, true, 1},
};

int ask_one(const Question& q) {
  Arguments arguments{};
  uint32_t* data = nullptr;
  TensorMap* map = nullptr;
  CHECK_CUDA(cudaMalloc(&arguments.out, 64 * 8));
  CHECK_CUDA(cudaMemset(arguments.out, 0xff, 64 * 8));
  CHECK_CUDA(cudaMalloc(&data, 64 * 1024));
  std::vector<uint32_t> words(16384);
  for (size_t i = 0; i < words.size(); ++i) words[i] = uint32_t(i);
  CHECK_CUDA(cudaMemcpy(data, words.data(), 4 * words.size(), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMalloc(&map, sizeof(TensorMap)));
  arguments.data = data, arguments.device_map = map;
  const Maps maps{encode(data, 16, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                  encode(data, 8, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                  encode(data, 16, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA)};
  CHECK_CUDA(cudaFuncSetAttribute(ask, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  CHECK_CUDA(cudaFuncSetAttribute(ask_cluster, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmemBytes));
  if (q.cluster) {
    ask_cluster<<<4, 32, kSmemBytes>>>(arguments, maps, q.number);
  } else {
    ask<<<1, 32, kSmemBytes>>>(arguments, maps, q.number);
  }
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaDeviceSynchronize());
  int64_t out[64];
  CHECK_CUDA(cudaMemcpy(out, arguments.out, sizeof out, cudaMemcpyDeviceToHost));
  if (q.number == 6 && !q.cluster) {
    CHECK_CUDA(cudaMemcpy(words.data(), data, 2048, cudaMemcpyDeviceToHost));
    out[0] = words[0] == 0x5a5a5a5au && words[511] == 0x5a5a5a5au;
  }
  for (int i = 0; i < q.results; ++i)
    std::printf(out[i] > 0xffff ? " 0x%llx" : " %lld", static_cast<long long>(out[i]));
  std::printf("\n");
  return 0;
}

/// The question in a process of its own: a trap ends that one.
void ask_apart(const char* program, const Question& q) {
  std::printf("%-24s %-92s ", q.id, q.text);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    execl(program, program, q.id, nullptr);
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) std::printf("signal %d\n", WTERMSIG(status));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2) {
    for (const Question& q : kQuestions)
      if (std::string(argv[1]) == q.id) return ask_one(q);
    std::fprintf(stderr, "semantics: no question '%s'\n", argv[1]);
    return 2;
  }
  for (const Question& q : kQuestions) ask_apart("/proc/self/exe", q);
  return 0;
}
