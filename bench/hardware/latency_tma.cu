// SPDX-License-Identifier: Apache-2.0
/// Tensor copies: latency against size, streaming rates of loads, stores and both, multicast.  One thread per CTA
/// drives the copies, one CTA per SM (200 KiB of shared memory); times are SM cycles of that SM.
#include <algorithm>

#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;

namespace {

constexpr int kSmem = 200 * 1024;
constexpr int kWidth = 4096;  ///< bf16 elements of a row of the tensor in memory: 8 KiB
constexpr std::size_t kL2Bytes = 16u << 20, kDramBytes = std::size_t{1} << 30, kFlushBytes = 256u << 20;

extern __shared__ char dynamic_smem[];
__device__ u32 tiles() { return (smem(dynamic_smem) + 1023) & ~1023u; }

/// Tile t of a tensor of `kt` tiles along a row: consecutive tiles are neighbours in the row.
__device__ void tile_at(int t, int kt, int box_x, int box_y, int& x, int& y) {
  x = t % kt * box_x;
  y = t / kt * box_y;
}

/// The tensor of `bytes` bytes in rows of 8 KiB, boxes of `box_x` elements by `box_y` rows.
CUtensorMap make_map(const void* p, std::size_t bytes, unsigned box_x, unsigned box_y) {
  hw::MapSpec s;
  s.dims = {kWidth, bytes / (2 * kWidth)};
  s.strides = {2 * kWidth};
  s.box = {box_x, box_y};
  s.swizzle = box_x == 64 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
  return hw::must_encode(s, p);
}

struct Shape {
  int box_x, box_y, bytes, kt, count;  ///< count: tiles of the tensor
};
Shape shape(int box_x, int kib, std::size_t tensor_bytes) {
  const int bytes = kib * 1024;
  return {box_x, bytes / (2 * box_x), bytes, kWidth / box_x,
          static_cast<int>(tensor_bytes / static_cast<std::size_t>(bytes))};
}

// ---- latency ----------------------------------------------------------------------------------------------------

__global__ void load_latency(const __grid_constant__ CUtensorMap map, Shape s, int first, int reps, i64* out,
                             i64* timeout) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage), dst = tiles();
  mbar_init(bar, 1);
  fence_mbarrier_init();
  for (int r = 0; r < reps; ++r) {
    int x, y;
    tile_at((first + r) % s.count, s.kt, s.box_x, s.box_y, x, y);
    spin(300);
    const i64 t0 = now();
    arrive_expect(bar, static_cast<u32>(s.bytes));
    load_2d(dst, &map, x, y, bar);
    if (!wait(bar, r & 1)) {
      *timeout = 1;
      return;
    }
    out[r] = now() - t0;
  }
}

enum class Until { issued, read, complete };
template <Until kUntil>
__global__ void store_latency(const __grid_constant__ CUtensorMap map, Shape s, int reps, i64* out) {
  const u32 src = tiles();
  for (int r = 0; r < reps; ++r) {
    int x, y;
    tile_at(r % s.count, s.kt, s.box_x, s.box_y, x, y);
    spin(300);
    const i64 t0 = now();
    store_2d(&map, x, y, src);
    commit_group();
    if constexpr (kUntil == Until::read) wait_group_read<0>();
    if constexpr (kUntil == Until::complete) wait_group<0>();
    out[r] = now() - t0;
    wait_group<0>();
  }
}

// ---- streaming --------------------------------------------------------------------------------------------------

struct Span {
  i64 cycles;
  u64 begin_ns, end_ns;
};

/// Keeps `depth` boxes in flight; each slot is refilled as soon as it has landed.  `n` boxes per CTA are timed.
__global__ void load_stream(const __grid_constant__ CUtensorMap map, Shape s, int depth, int n, Span* out,
                            i64* timeout) {
  __shared__ alignas(8) u64 storage[64];
  const u32 bars = smem(storage), dst = tiles();
  for (int i = 0; i < depth; ++i) mbar_init(bars + 8 * i, 1);
  fence_mbarrier_init();
  int slot = 0, next = blockIdx.x % s.count;
  auto issue = [&](int at) {
    int x, y;
    tile_at(next, s.kt, s.box_x, s.box_y, x, y);
    next += gridDim.x;
    if (next >= s.count) next -= s.count;
    arrive_expect(bars + 8 * at, static_cast<u32>(s.bytes));
    load_2d(dst + static_cast<u32>(at * s.bytes), &map, x, y, bars + 8 * at);
  };
  for (int i = 0; i < depth; ++i) issue(i);
  u32 parity = 0;
  i64 t0 = 0;
  u64 g0 = 0;
  const int warm = 2 * depth;
  for (int i = 0; i < n + warm; ++i) {
    if (i == warm) {
      t0 = now();
      g0 = globaltimer();
    }
    if (!wait(bars + 8 * slot, parity)) {
      *timeout = 1;
      return;
    }
    issue(slot);
    if (++slot == depth) {
      slot = 0;
      parity ^= 1;
    }
  }
  out[blockIdx.x] = {now() - t0, g0, globaltimer()};
  for (int i = 0; i < depth; ++i) {
    wait(bars + 8 * slot, parity);
    if (++slot == depth) {
      slot = 0;
      parity ^= 1;
    }
  }
}

/// Stores one tile after the other, at most two bulk groups reading shared memory.
__global__ void store_stream(const __grid_constant__ CUtensorMap map, Shape s, int n, Span* out) {
  const u32 src = tiles();
  int next = blockIdx.x % s.count;
  const i64 t0 = now();
  const u64 g0 = globaltimer();
  for (int i = 0; i < n; ++i) {
    int x, y;
    tile_at(next, s.kt, s.box_x, s.box_y, x, y);
    next += gridDim.x;
    if (next >= s.count) next -= s.count;
    store_2d(&map, x, y, src + static_cast<u32>(i % 3 * s.bytes));
    commit_group();
    wait_group_read<2>();
  }
  wait_group<0>();
  out[blockIdx.x] = {now() - t0, g0, globaltimer()};
}

/// Load ring whose slots are stored again: a copy without a consumer.
__global__ void copy_stream(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to,
                            Shape s, int depth, int n, Span* out, i64* timeout) {
  __shared__ alignas(8) u64 storage[64];
  const u32 bars = smem(storage), ring = tiles();
  for (int i = 0; i < depth; ++i) mbar_init(bars + 8 * i, 1);
  fence_mbarrier_init();
  auto tile = [&](int i, int& x, int& y) {
    const long long t = static_cast<long long>(blockIdx.x) + static_cast<long long>(i) * gridDim.x;
    tile_at(static_cast<int>(t % s.count), s.kt, s.box_x, s.box_y, x, y);
  };
  auto issue = [&](int i) {
    int x, y;
    tile(i, x, y);
    const int at = i % depth;
    arrive_expect(bars + 8 * at, static_cast<u32>(s.bytes));
    load_2d(ring + static_cast<u32>(at * s.bytes), &from, x, y, bars + 8 * at);
  };
  const i64 t0 = now();
  const u64 g0 = globaltimer();
  for (int i = 0; i < depth && i < n; ++i) issue(i);
  for (int i = 0; i < n; ++i) {
    if (!wait(bars + 8 * (i % depth), (i / depth) & 1)) {
      *timeout = 1;
      return;
    }
    int x, y;
    tile(i, x, y);
    store_2d(&to, x, y, ring + static_cast<u32>(i % depth * s.bytes));
    commit_group();
    wait_group_read<1>();  // store i-1 has read its slot
    if (i >= 1 && i - 1 + depth < n) issue(i - 1 + depth);
  }
  wait_group<0>();
  out[blockIdx.x] = {now() - t0, g0, globaltimer()};
}

void report_rate(hw::Out& out, const std::string& id, const std::string& what, const std::vector<Span>& spans,
                 double bytes_per_cta) {
  std::vector<double> rate;
  u64 begin = ~u64{0}, end = 0;
  for (const Span& s : spans) {
    if (s.cycles == 0) return out.text(id, what, "timeout");
    rate.push_back(bytes_per_cta / static_cast<double>(s.cycles));
    begin = std::min(begin, s.begin_ns);
    end = std::max(end, s.end_ns);
  }
  const double ns = static_cast<double>(end - begin);
  out.samples(id, what, "B/clk", rate,
              hw::format("all: %.0f GB/s", bytes_per_cta * static_cast<double>(spans.size()) / ns));
}

void flush_l2() {
  static Buffer<char> other(kFlushBytes);
  static int value = 0;
  hw::check(cudaMemset(other.get(), ++value, kFlushBytes), "flush");
  hw::must_finish("flush");
}

void drop_first(hw::Out& out, const std::string& id, const std::string& what, const Buffer<i64>& b,
                const Buffer<i64>& timeout) {
  if (timeout.host()[0] != 0) return out.text(id, what, "timeout");
  auto v = b.host();
  v.erase(v.begin(), v.begin() + 4);
  out.samples(id, what, "cyc", hw::to_double(v));
}

// ---- multicast --------------------------------------------------------------------------------------------------

constexpr int kTile = 16 * 1024;

__global__ void multicast_latency(const __grid_constant__ CUtensorMap map, int c, int reps, i64* out,
                                  i64* timeout) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage), dst = tiles(), rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    fence_mbarrier_init();
  }
  for (int r = 0; r < reps; ++r) {
    cluster_sync();
    if (threadIdx.x == 0) {
      const i64 t0 = now();
      arrive_expect(bar, kTile);
      load_2d_multicast(dst + rank * (kTile / c), &map, r % 64 * 64, static_cast<int>(rank) * 128 / c, bar,
                        static_cast<std::uint16_t>((1 << c) - 1));
      if (!wait(bar, r & 1)) *timeout = 1;
      if (rank == 0) out[r] = now() - t0;
    }
    __syncwarp();
  }
  cluster_sync();
}

/// Warp 0 issues slices to all CTAs, warp 1 waits for whole tiles and frees the slot in all CTAs.
__global__ void multicast_stream(const __grid_constant__ CUtensorMap map, Shape s, int c, int slots, int n,
                                 Span* out, i64* timeout) {
  __shared__ alignas(8) u64 storage[32];
  const u32 full = smem(storage), empty = full + 8 * 16, ring = tiles(), rank = cluster_ctarank();
  if (threadIdx.x == 0) {
    for (int i = 0; i < slots; ++i) {
      mbar_init(full + 8 * i, 1);
      mbar_init(empty + 8 * i, static_cast<u32>(c));
    }
    fence_mbarrier_init();
  }
  __syncthreads();
  cluster_sync();
  const int cluster = blockIdx.x / c, clusters = gridDim.x / c;
  if (threadIdx.x == 0) {
    for (int i = 0; i < n; ++i) {
      const int slot = i % slots;
      if (i >= slots && !wait(empty + 8 * slot, (i / slots - 1) & 1)) {
        *timeout = 1;
        break;
      }
      int x, y;
      tile_at((cluster + i * clusters) % s.count, s.kt, s.box_x, 128, x, y);
      arrive_expect(full + 8 * slot, kTile);
      load_2d_multicast(ring + slot * kTile + rank * (kTile / c), &map, x, y + static_cast<int>(rank) * s.box_y,
                        full + 8 * slot, static_cast<std::uint16_t>((1 << c) - 1));
    }
  } else if (threadIdx.x == 32) {
    i64 t0 = 0;
    u64 g0 = 0;
    bool ok = true;
    for (int i = 0; i < n; ++i) {
      const int slot = i % slots;
      if (i == slots) {
        t0 = now();
        g0 = globaltimer();
      }
      if (!wait(full + 8 * slot, (i / slots) & 1)) {
        *timeout = 1;
        ok = false;
        break;
      }
      if (i + slots < n)  // nobody refills the slot otherwise
        for (int p = 0; p < c; ++p) arrive_remote_relaxed(mapa(empty + 8 * slot, static_cast<u32>(p)));
    }
    out[blockIdx.x] = {ok ? now() - t0 : 0, g0, globaltimer()};
  }
  __syncthreads();
  cluster_sync();
}

}  // namespace

HW_TEST("tma.load_latency") {
  Buffer<char> small(kL2Bytes, 1), large(kDramBytes, 1);
  constexpr int reps = 100;
  for (const int box_x : {64, 32})
    for (const int kib : {1, 2, 4, 8, 16, 32}) {
      if (box_x == 32 && kib == 32) continue;  // 512 rows: no such box
      Buffer<i64> b(reps), timeout(1);
      const Shape s = shape(box_x, kib, 2u << 20), far = shape(box_x, kib, kDramBytes);
      const auto map =
          make_map(small.get(), kL2Bytes, static_cast<unsigned>(box_x), static_cast<unsigned>(s.box_y));
      const std::string tail = hw::format("%d.%dk", box_x * 2, kib),
                        rows = hw::format("%d KiB, rows of %d B", kib, box_x * 2);
      for (int i = 0; i < 2; ++i)
        hw::run("load", load_latency, 1, 1, kSmem, 1, map, s, 0, reps, b.get(), timeout.get());
      drop_first(out, "tma.load.l2." + tail, "load issue -> wait returns, L2 hit, " + rows, b, timeout);
      const auto cold =
          make_map(large.get(), kDramBytes, static_cast<unsigned>(box_x), static_cast<unsigned>(s.box_y));
      flush_l2();
      hw::run("load", load_latency, 1, 1, kSmem, 1, cold, far, 0, reps, b.get(), timeout.get());
      drop_first(out, "tma.load.dram." + tail, "load issue -> wait returns, L2 miss, " + rows, b, timeout);
    }
}

HW_TEST("tma.load_stream") {
  Buffer<char> small(kL2Bytes, 1);
  const int all = hw::sm_count();
  for (const int kib : {4, 8, 16, 32}) {
    const Shape s = shape(64, kib, kL2Bytes);
    const auto map = make_map(small.get(), kL2Bytes, 64, static_cast<unsigned>(s.box_y));
    for (const int sms : {1, 8, 66, all})
      for (int depth = 1; depth <= 8; ++depth) {
        if (depth * kib > 192 || (sms != 1 && sms != all && depth != 4 && depth != 6)) continue;
        if (sms == all && depth == 5) continue;
        const int n = 8192 / kib;  // 8 MiB per SM
        Buffer<Span> spans(static_cast<std::size_t>(sms));
        Buffer<i64> timeout(1);
        for (int i = 0; i < 2; ++i)
          hw::run("stream", load_stream, sms, 1, kSmem, 1, map, s, depth, n, spans.get(), timeout.get());
        report_rate(out, hw::format("tma.stream.l2.%dsm.%dk.%d", sms, kib, depth),
                    hw::format("load stream, L2, %d SMs, %d KiB boxes, %d in flight", sms, kib, depth),
                    spans.host(), static_cast<double>(n) * s.bytes);
      }
  }
}

HW_TEST("tma.load_stream_dram") {
  Buffer<char> large(kDramBytes, 1);
  const int all = hw::sm_count();
  for (const int kib : {4, 8, 16, 32})
    for (const int sms : {1, all})
      for (const int depth : {1, 2, 4, 6, 8}) {
        if (depth * kib > 192) continue;
        const Shape s = shape(64, kib, kDramBytes);
        const auto map = make_map(large.get(), kDramBytes, 64, static_cast<unsigned>(s.box_y));
        const int n = s.count / all / 2;  // half of the tensor: 512 MiB when all SMs read
        Buffer<Span> spans(static_cast<std::size_t>(sms));
        Buffer<i64> timeout(1);
        flush_l2();
        hw::run("stream", load_stream, sms, 1, kSmem, 1, map, s, depth, n, spans.get(), timeout.get());
        report_rate(out, hw::format("tma.stream.dram.%dsm.%dk.%d", sms, kib, depth),
                    hw::format("load stream, DRAM, %d SMs, %d KiB boxes, %d in flight", sms, kib, depth),
                    spans.host(), static_cast<double>(n) * s.bytes);
      }
}

HW_TEST("tma.store_latency") {
  Buffer<char> small(kL2Bytes, 1);
  constexpr int reps = 100;
  Buffer<i64> timeout(1);
  for (const int kib : {2, 4, 8, 16, 32}) {
    const Shape s = shape(64, kib, 2u << 20);
    const auto map = make_map(small.get(), kL2Bytes, 64, static_cast<unsigned>(s.box_y));
    Buffer<i64> b(reps);
    const std::string tail = hw::format("%dk", kib), size = hw::format(", %d KiB", kib);
    hw::run("store", store_latency<Until::issued>, 1, 1, kSmem, 1, map, s, reps, b.get());
    drop_first(out, "tma.store.issue." + tail, "store + commit_group, issue only" + size, b, timeout);
    hw::run("store", store_latency<Until::read>, 1, 1, kSmem, 1, map, s, reps, b.get());
    drop_first(out, "tma.store.read." + tail, "store issue -> wait_group.read 0" + size, b, timeout);
    hw::run("store", store_latency<Until::complete>, 1, 1, kSmem, 1, map, s, reps, b.get());
    drop_first(out, "tma.store.full." + tail, "store issue -> wait_group 0" + size, b, timeout);
  }
}

HW_TEST("tma.store_stream") {
  Buffer<char> large(kDramBytes, 1), copy(kDramBytes, 1);
  const int all = hw::sm_count();
  for (const bool dram : {false, true})
    for (const int kib : {4, 8, 16, 32})
      for (const int sms : {1, all}) {
        const std::size_t bytes = dram ? kDramBytes : kL2Bytes / 2;
        const Shape s = shape(64, kib, bytes);
        const auto to = make_map(copy.get(), bytes, 64, static_cast<unsigned>(s.box_y));
        const auto from = make_map(large.get(), bytes, 64, static_cast<unsigned>(s.box_y));
        const int n = dram ? s.count / all / 2 : 4096 / kib;
        Buffer<Span> spans(static_cast<std::size_t>(sms));
        Buffer<i64> timeout(1);
        const std::string tail = hw::format("%s.%dsm.%dk", dram ? "dram" : "l2", sms, kib);
        const std::string where = hw::format(", %s, %d SMs, %d KiB", dram ? "DRAM" : "L2", sms, kib);
        hw::run("store", store_stream, sms, 1, kSmem, 1, to, s, n, spans.get());
        report_rate(out, "tma.store_stream." + tail, "store stream, 2 groups pending" + where, spans.host(),
                    static_cast<double>(n) * s.bytes);
        hw::run("copy", copy_stream, sms, 1, kSmem, 1, from, to, s, std::min(8, 192 / kib), n, spans.get(),
                timeout.get());
        report_rate(out, "tma.copy_stream." + tail, "load + store stream (bytes one way)" + where, spans.host(),
                    static_cast<double>(n) * s.bytes);
      }
}

HW_TEST("tma.multicast") {
  Buffer<char> small(kL2Bytes, 1);
  const int all = hw::sm_count();
  for (const int c : {2, 4, 1}) {
    const auto map = make_map(small.get(), kL2Bytes, 64, static_cast<unsigned>(128 / c));
    Buffer<i64> b(100), timeout(1);
    hw::run("multicast", multicast_latency, c, 32, kSmem, c, map, c, 100, b.get(), timeout.get());
    drop_first(out, hw::format("tma.multicast.latency.%d", c),
               hw::format("16 KiB in %d slices to %d CTAs: issue -> own barrier complete", c, c), b, timeout);
    for (const bool full_chip : {false, true}) {
      int clusters = 1;
      if (full_chip) {  // as many clusters as fit at once
        cudaLaunchConfig_t config{};
        config.blockDim = dim3(64);
        config.gridDim = dim3(static_cast<unsigned>(c * (all / c)));
        config.dynamicSmemBytes = kSmem;
        cudaLaunchAttribute a{};
        a.id = cudaLaunchAttributeClusterDimension;
        a.val.clusterDim.x = static_cast<unsigned>(c);
        a.val.clusterDim.y = a.val.clusterDim.z = 1;
        config.attrs = &a;
        config.numAttrs = 1;
        hw::check(cudaFuncSetAttribute(multicast_stream, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem),
                  "smem");
        hw::check(cudaOccupancyMaxActiveClusters(&clusters, multicast_stream, &config), "clusters");
      }
      Shape s = shape(64, 16, kL2Bytes);
      s.box_y = 128 / c;
      const int slots = 12, n = 600;
      Buffer<Span> spans(static_cast<std::size_t>(clusters * c));
      for (int i = 0; i < 2; ++i)
        hw::run("multicast", multicast_stream, clusters * c, 64, kSmem, c, map, s, c, slots, n, spans.get(),
                timeout.get());
      report_rate(out, hw::format("tma.multicast.stream.%d.%dsm", c, clusters * c),
                  hw::format("multicast stream, L2, cluster %d, %d SMs, 12 slots of 16 KiB", c, clusters * c),
                  spans.host(), static_cast<double>(n - slots) * kTile);
    }
  }
}
