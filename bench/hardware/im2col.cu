// SPDX-License-Identifier: Apache-2.0
// Im2col copies on this GPU: which maps the driver takes, what copies move, what becomes of those that PTX leaves
// open, and what they cost beside tiled ones.
//
//   im2col            a hash of what the copies of im2col_cases.h move, which the model's test has; and where the
//                     rules of kernels/isa/tensor_map.h differ
//   im2col --odd      copies that PTX does not define, each in a process of its own
//   im2col --time     cycles of loads
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "im2col_cases.h"

using namespace sm100;
using namespace sm100::hardware;

namespace {

[[noreturn]] void fail(const char* what, const char* why) {
  std::printf("%s: %s\n", what, why);
  std::exit(1);
}
void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) fail(what, cudaGetErrorName(e));
}

template <class F>
F driver(const char* name) {
  void* f = nullptr;
  cudaDriverEntryPointQueryResult found{};
  check(cudaGetDriverEntryPointByVersion(name, &f, 12000, cudaEnableDefault, &found), name);
  return reinterpret_cast<F>(f);
}

bool encode_on_gpu(const TensorMapFields& f, void* address, CUtensorMap& map) {
  static const auto im2col = driver<decltype(&cuTensorMapEncodeIm2col)>("cuTensorMapEncodeIm2col");
  static const auto tiled = driver<decltype(&cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
  const auto type = CUtensorMapDataType(f.data_type);
  const auto interleave = CUtensorMapInterleave(f.interleave);
  const auto swizzle = CUtensorMapSwizzle(f.swizzle);
  const auto fill = CUtensorMapFloatOOBfill(f.oob_fill);
  cuuint64_t dims[5], strides[5];
  cuuint32_t box[5], steps[5];
  for (int i = 0; i < 5; ++i)
    dims[i] = f.global_dim[i], strides[i] = f.global_stride[i], box[i] = f.box_dim[i],
    steps[i] = f.element_stride[i];
  if (!f.im2col)
    return tiled(&map, type, f.rank, address, dims, strides, box, steps, interleave, swizzle,
                 CU_TENSOR_MAP_L2_PROMOTION_NONE, fill) == CUDA_SUCCESS;
  return im2col(&map, type, f.rank, address, dims, strides, f.pixel_box_lower, f.pixel_box_upper, box[0], box[1],
                steps, interleave, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill) == CUDA_SUCCESS;
}

enum Op { kIm2col, kTile, kStore, kStoreTile };
struct Order {
  int op, rank, x[5], offset[3], bytes;
};

__device__ uint32_t shared(const void* p) { return uint32_t(__cvta_generic_to_shared(p)); }

#define LOAD_IM2COL(dims, coords, offsets)                                                           \
  asm volatile("cp.async.bulk.tensor." dims                                                          \
               ".shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, " coords      \
               "], [%2], " offsets ";" ::"r"(to),                                                    \
               "l"(&map), "r"(bar), "r"(o.x[0]), "r"(o.x[1]), "r"(o.x[2]), "r"(o.x[3]), "r"(o.x[4]), \
               "h"(uint16_t(o.offset[0])), "h"(uint16_t(o.offset[1])), "h"(uint16_t(o.offset[2]))    \
               : "memory")
#define LOAD_TILE(dims, coords)                                                                     \
  asm volatile("cp.async.bulk.tensor." dims                                                         \
               ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " coords       \
               "], [%2];" ::"r"(to),                                                                \
               "l"(&map), "r"(bar), "r"(o.x[0]), "r"(o.x[1]), "r"(o.x[2]), "r"(o.x[3]), "r"(o.x[4]) \
               : "memory")
#define STORE(dims, mode, coords)                                                                   \
  asm volatile("cp.async.bulk.tensor." dims ".global.shared::cta." mode ".bulk_group [%1, " coords  \
               "], [%0];" ::"r"(to),                                                                \
               "l"(&map), "r"(bar), "r"(o.x[0]), "r"(o.x[1]), "r"(o.x[2]), "r"(o.x[3]), "r"(o.x[4]) \
               : "memory")

__device__ void load(const CUtensorMap& map, const Order& o, uint32_t to, uint32_t bar) {
  if (o.op == kIm2col) {
    if (o.rank == 3) LOAD_IM2COL("3d", "{%3,%4,%5}", "{%8}");
    if (o.rank == 4) LOAD_IM2COL("4d", "{%3,%4,%5,%6}", "{%8,%9}");
    if (o.rank == 5) LOAD_IM2COL("5d", "{%3,%4,%5,%6,%7}", "{%8,%9,%10}");
  } else {
    if (o.rank == 3) LOAD_TILE("3d", "{%3,%4,%5}");
    if (o.rank == 4) LOAD_TILE("4d", "{%3,%4,%5,%6}");
    if (o.rank == 5) LOAD_TILE("5d", "{%3,%4,%5,%6,%7}");
  }
}

__device__ void store(const CUtensorMap& map, const Order& o, uint32_t to, uint32_t bar) {
  if (o.op == kStore) {
    if (o.rank == 3) STORE("3d", "im2col_no_offs", "{%3,%4,%5}");
    if (o.rank == 4) STORE("4d", "im2col_no_offs", "{%3,%4,%5,%6}");
    if (o.rank == 5) STORE("5d", "im2col_no_offs", "{%3,%4,%5,%6,%7}");
  } else {
    if (o.rank == 3) STORE("3d", "tile", "{%3,%4,%5}");
    if (o.rank == 4) STORE("4d", "tile", "{%3,%4,%5,%6}");
    if (o.rank == 5) STORE("5d", "tile", "{%3,%4,%5,%6,%7}");
  }
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ bool wait(uint32_t bar, uint32_t parity) {
  uint32_t done = 0;
  for (int i = 0; i < 1000000 && !done; ++i)
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(done)
                 : "r"(bar), "r"(parity)
                 : "memory");
  return done;
}

/// A copy by one thread.  Shared memory is 0xeeeeeeee before a load; afterwards it is in `image`.
__global__ void copy(const __grid_constant__ CUtensorMap map, Order o, uint32_t* image, int* over) {
  extern __shared__ __align__(1024) uint32_t smem[];
  __shared__ uint64_t barrier;
  const bool stores = o.op == kStore || o.op == kStoreTile;
  for (uint32_t i = threadIdx.x; i < kIm2colSharedBytes / 4; i += blockDim.x)
    smem[i] = stores ? 0x10000 + i : 0xeeeeeeee;
  const uint32_t bar = shared(&barrier);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncthreads();
  if (threadIdx.x == 0) {
    if (stores) {
      store(map, o, shared(smem), bar);
      *over = 1;
    } else {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(o.bytes) : "memory");
      load(map, o, shared(smem), bar);
      *over = wait(bar, 0);
    }
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < kIm2colSharedBytes / 4; i += blockDim.x) image[i] = smem[i];
}

struct Memory {
  uint32_t *global, *image;
  int* over;
  std::vector<uint32_t> host = std::vector<uint32_t>(kIm2colGlobalBytes / 4);
  Memory() {
    check(cudaMalloc(&global, kIm2colGlobalBytes), "memory");
    check(cudaMalloc(&image, kIm2colSharedBytes), "memory");
    check(cudaMalloc(&over, 4), "memory");
    check(cudaFuncSetAttribute(copy, cudaFuncAttributeMaxDynamicSharedMemorySize, kIm2colSharedBytes), "attribute");
    for (size_t i = 0; i < host.size(); ++i) host[i] = uint32_t(i + 1);
  }
  /// What shared memory, or after a store global memory, holds; empty: the copy failed, and `why` says how.
  std::vector<uint32_t> run(const TensorMapFields& f, const Order& o, std::string& why) {
    CUtensorMap map;
    if (!encode_on_gpu(f, global, map)) return why = "the driver refuses the map", std::vector<uint32_t>();
    check(cudaMemcpy(global, host.data(), kIm2colGlobalBytes, cudaMemcpyHostToDevice), "fill");
    copy<<<1, 128, kIm2colSharedBytes>>>(map, o, image, over);
    if (const cudaError_t e = cudaDeviceSynchronize(); e != cudaSuccess)
      return why = cudaGetErrorName(e), std::vector<uint32_t>();
    int done = 0;
    check(cudaMemcpy(&done, over, 4, cudaMemcpyDeviceToHost), "read");
    if (!done) why = "the barrier's phase does not complete";
    const bool stores = o.op == kStore || o.op == kStoreTile;
    std::vector<uint32_t> words((stores ? kIm2colGlobalBytes : kIm2colSharedBytes) / 4);
    check(cudaMemcpy(words.data(), stores ? global : image, words.size() * 4, cudaMemcpyDeviceToHost), "read");
    return words;
  }
};

Order order_of(const Im2colCase& c) {
  Order o{c.store ? kStore : kIm2col, int(c.map.rank), {}, {}, int(transfer_bytes(c.map))};
  std::copy_n(c.first, 5, o.x);
  std::copy_n(c.map.im2col_offset, 3, o.offset);
  return o;
}

/// What the rules of tensor_map.h make of the copy.
std::vector<uint32_t> expected(const Im2colCase& c, const std::vector<uint32_t>& global) {
  std::vector<uint32_t> words = c.store ? global : std::vector<uint32_t>(kIm2colSharedBytes / 4, 0xeeeeeeee);
  for (uint32_t l = 0; l < box_lines(c.map); ++l) {
    const BoxLine line = box_line(c.map, c.first, l);
    for (uint32_t i = 0; i < c.map.box_dim[0]; ++i) {
      // A store goes on to the end of 16 bytes (docs/instructions.md).
      const int64_t end = c.store ? (line.first + line.count + 3) / 4 * 4 : line.first + line.count;
      const bool inside = line.in_bounds && line.count > 0 && int64_t(i) >= line.first && int64_t(i) < end;
      const uint32_t at = swizzle_address(smem_swizzle(c.map.swizzle), line.smem_offset + 4 * i) / 4;
      const uint64_t element = line.global_address / 4 + i;
      if (!c.store)
        words[at] = inside ? global[element] : oob_fill_pattern(c.map);
      else if (inside)
        words[element] = 0x10000 + at;
    }
  }
  return words;
}

void defined_copies() {
  Memory memory;
  int differ = 0;
  uint64_t all[2] = {0xcbf29ce484222325u, 0xcbf29ce484222325u};
  for (int n = 0; n < kIm2colCases; ++n) {
    const Im2colCase c = im2col_case(n);
    std::string why;
    const std::vector<uint32_t> words = memory.run(c.map, order_of(c), why);
    if (words.empty() || !why.empty()) {
      std::printf("case %d: %s\n", n, why.c_str());
      if (words.empty() && why[0] == 'c') return;
      continue;
    }
    uint64_t& h = all[c.store];
    h = (h ^ im2col_hash(words.data(), words.size())) * 0x100000001b3u;
    const std::vector<uint32_t> model = expected(c, memory.host);
    if (words == model) continue;
    size_t at = 0;
    while (words[at] == model[at]) ++at;
    if (++differ <= 12)
      std::printf("case %d%s differs at word %zu: %x, expected %x\n", n, c.store ? " (store)" : "", at, words[at],
                  model[at]);
  }
  std::printf("%d copies, %d differ from the rules; hash of loads %016llx, of stores %016llx\n", kIm2colCases,
              differ, (unsigned long long)all[0], (unsigned long long)all[1]);
  int accepted = 0, disagree = 0, n = 0;
  std::vector<uint32_t> taken;
  for (const TensorMapFields& f : im2col_maps()) {
    CUtensorMap map;
    const bool ok = encode_on_gpu(f, memory.global, map);
    accepted += ok, taken.push_back(ok);
    if (ok != (validate(f) == TensorMapError::none) && ++disagree <= 40)
      std::printf(
          "map %d (rank %u, box %u x %u, lower %d %d %d, upper %d, steps %u %u %u %u %u, swizzle %d, type %d): "
          "driver %s, rules: %s\n",
          n, f.rank, f.box_dim[0], f.box_dim[1], f.pixel_box_lower[0], f.pixel_box_lower[1], f.pixel_box_lower[2],
          f.pixel_box_upper[0], f.element_stride[0], f.element_stride[1], f.element_stride[2], f.element_stride[3],
          f.element_stride[4], int(f.swizzle), int(f.data_type), ok ? "takes it" : "refuses it",
          message(validate(f)));
    ++n;
  }
  std::printf("%d maps, %d taken, %d differ from the rules; hash of which %016llx\n", n, accepted, disagree,
              (unsigned long long)im2col_hash(taken.data(), taken.size()));
}

// ---- what PTX leaves open

struct Odd {
  const char* what;
  Im2colCase c;
  int op = kIm2col;
};

/// 8 channels, W 6, H 5, N 3; box 4 channels, 10 pixels; corners -1 and -1.
Im2colCase plain() {
  Im2colCase c;
  TensorMapFields& f = c.map;
  f.im2col = true, f.rank = 4, f.data_type = TensorMapDataType::uint32;
  const uint64_t dims[] = {8, 6, 5, 3};
  uint64_t stride = 32;
  for (int i = 0; i < 4; ++i) {
    f.global_dim[i] = dims[i], f.box_dim[i] = 1, f.element_stride[i] = 1;
    if (i < 3) f.global_stride[i] = stride, stride *= dims[i + 1];
  }
  f.box_dim[0] = 4, f.box_dim[1] = 10;
  for (int i = 0; i < 2; ++i) f.pixel_box_lower[i] = f.pixel_box_upper[i] = -1;
  return c;
}

std::vector<Odd> odd_copies() {
  std::vector<Odd> all;
  const auto add = [&](const char* what, auto&& change, int op = kIm2col) {
    all.push_back({what, plain(), op});
    change(all.back().c);
  };
  add("first (0,0), offsets (1,1)", [](Im2colCase& c) { c.map.im2col_offset[0] = c.map.im2col_offset[1] = 1; });
  add("first w left of the box (-3)", [](Im2colCase& c) { c.first[1] = -3; });
  add("first w left of the box (-2), step 2", [](Im2colCase& c) { c.first[1] = -2, c.map.element_stride[1] = 2; });
  add("first w right of the box (5)", [](Im2colCase& c) { c.first[1] = 5; });
  add("first w right of the box (6)", [](Im2colCase& c) { c.first[1] = 6; });
  add("first h above the box (-2)", [](Im2colCase& c) { c.first[2] = -2; });
  add("first h below the box (4)", [](Im2colCase& c) { c.first[2] = 4; });
  add("step 2 of N", [](Im2colCase& c) { c.map.element_stride[3] = 2, c.first[1] = 3, c.first[2] = 3; });
  add("step 2 of C", [](Im2colCase& c) { c.map.element_stride[0] = 2; });
  add("n = -1, near the image's end", [](Im2colCase& c) { c.first[3] = -1, c.first[1] = 2, c.first[2] = 3; });
  add("offset 255 of W", [](Im2colCase& c) { c.map.im2col_offset[0] = 255; });
  add("offset 256 of W", [](Im2colCase& c) { c.map.im2col_offset[0] = 256; });
  add("offset 257 of H", [](Im2colCase& c) { c.map.im2col_offset[1] = 257; });
  add("an empty bounding box: lower 3, upper -5",
      [](Im2colCase& c) { c.map.pixel_box_lower[0] = 3, c.map.pixel_box_upper[0] = -5, c.first[1] = 3; });
  add(
      "a tiled copy with an im2col map", [](Im2colCase&) {}, kTile);
  add(
      "a tiled store with an im2col map", [](Im2colCase&) {}, kStoreTile);
  add("an im2col copy with a tiled map", [](Im2colCase& c) { c.map.im2col = false, c.map.box_dim[1] = 10; });
  add(
      "an im2col store with a tiled map", [](Im2colCase& c) { c.map.im2col = false, c.map.box_dim[1] = 10; },
      kStore);
  const auto corners = [](Im2colCase& c, int lower, int upper) {
    for (int i = 0; i < 2; ++i) c.map.pixel_box_lower[i] = lower, c.map.pixel_box_upper[i] = upper;
  };
  add(
      "a store, corners 0 and 0", [&](Im2colCase& c) { corners(c, 0, 0); }, kStore);
  add(
      "a store, corners -1 and -1", [](Im2colCase&) {}, kStore);
  add(
      "a store, corners 0 and -1", [&](Im2colCase& c) { corners(c, 0, -1); }, kStore);
  add(
      "a store, corners 1 and 0, from (1,1)", [&](Im2colCase& c) { corners(c, 1, 0), c.first[1] = c.first[2] = 1; },
      kStore);
  add(
      "a store, corners 0 and 1", [&](Im2colCase& c) { corners(c, 0, 1); }, kStore);
  add(
      "a store, corners -1 and 0", [&](Im2colCase& c) { corners(c, -1, 0); }, kStore);
  add(
      "a store, corners 0 and 0, step 2 of W",
      [&](Im2colCase& c) { corners(c, 0, 0), c.map.element_stride[1] = 2; }, kStore);
  add(
      "a store, corners 0 and 0, through the end of N",
      [&](Im2colCase& c) { corners(c, 0, 0), c.first[2] = 4, c.first[3] = 2; }, kStore);
  add(
      "a store, corners 0 and 0, through the end of C",
      [&](Im2colCase& c) { corners(c, 0, 0), c.map.box_dim[0] = 8, c.first[0] = 4; }, kStore);
  add(
      "a store, corners 0 and 0, rank 3", [&](Im2colCase& c) { corners(c, 0, 0), c.map.rank = 3; }, kStore);
  add(
      "a store, corners 0 and 0, from n = -1", [&](Im2colCase& c) { corners(c, 0, 0), c.first[3] = -1; }, kStore);
  add(
      "a store, corners 0 and 0, from c = -4", [&](Im2colCase& c) { corners(c, 0, 0), c.first[0] = -4; }, kStore);
  add(
      "a store, corners -1 and 0, from (-1,0)", [&](Im2colCase& c) { corners(c, -1, 0), c.first[1] = -1; }, kStore);
  add("c = 2: not 16 bytes", [](Im2colCase& c) { c.first[0] = 2; });
  return all;
}

void odd_copy(const Odd& odd) {
  Memory memory;
  Order o = order_of(odd.c);
  o.op = odd.op;
  std::string why;
  const std::vector<uint32_t> words = memory.run(odd.c.map, o, why);
  std::printf("%-45s %s", odd.what, why.c_str());
  if (words.empty()) {
    std::printf("\n");
    return;
  }
  Im2colCase model = odd.c;
  model.store = odd.op == kStore || odd.op == kStoreTile;
  std::printf(" %s:", words == expected(model, memory.host) ? "as the rules" : "differs");
  if (model.store) {
    for (size_t i = 0; i < words.size(); ++i)
      if (words[i] != memory.host[i] && i % 4 == 0) {
        const int e = int(i), w = e / 8 % 6, h = e / 48 % 5, n = e / 240;
        std::printf(" (%d,%d,%d,%d)=%d", e % 8, w, h, n, int(words[i]) - 0x10000);
      }
  } else {
    for (int p = 0; p < 10; ++p) {
      const uint32_t v = words[size_t(p) * 4];
      if (v == 0 || v == 0xeeeeeeee) {
        std::printf(v == 0 ? " fill" : " none");
        continue;
      }
      const int e = int(v) - 1, w = e / 8 % 6, h = e / 48 % 5, n = e / 240;
      std::printf(" (%d,%d,%d,%d)", e % 8, w, h, n);
    }
  }
  std::printf("\n");
}

// ---- cost

__global__ void time_loads(const __grid_constant__ CUtensorMap map, Order o, int count, long long* cycles) {
  extern __shared__ __align__(1024) uint32_t smem[];
  __shared__ uint64_t barrier;
  const uint32_t bar = shared(&barrier);
  if (threadIdx.x != 0) return;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.proxy.async;" ::"r"(bar) : "memory");
  for (int round = 0; round < 3; ++round) {
    const long long begin = clock64();
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(o.bytes * count)
                 : "memory");
    for (int i = 0; i < count; ++i) load(map, o, shared(smem), bar);
    wait(bar, uint32_t(round & 1));
    cycles[round] = clock64() - begin;
  }
}

void times() {
  Memory memory;
  long long* cycles = nullptr;
  check(cudaMalloc(&cycles, 64), "memory");
  check(cudaFuncSetAttribute(time_loads, cudaFuncAttributeMaxDynamicSharedMemorySize, kIm2colSharedBytes),
        "attribute");
  struct Shape {
    uint32_t channels, w, pixels;
  };
  for (const Shape s : {Shape{32, 16, 128}, Shape{32, 128, 128}, Shape{16, 16, 128}, Shape{8, 16, 128},
                        Shape{4, 16, 128}, Shape{32, 4, 128}})
    for (const int count : {1, 16, 48})
      for (const int kind : {0, 1, 2}) {  // tiled, im2col without padding, im2col with
        TensorMapFields f;
        f.rank = 4, f.data_type = TensorMapDataType::uint32, f.im2col = kind > 0;
        const uint64_t dims[] = {s.channels, s.w, 256 / s.w, 2};
        uint64_t stride = s.channels * 4;
        for (int i = 0; i < 4; ++i) {
          f.global_dim[i] = dims[i], f.box_dim[i] = 1, f.element_stride[i] = 1;
          if (i < 3) f.global_stride[i] = stride, stride *= dims[i + 1];
        }
        f.box_dim[0] = s.channels, f.box_dim[1] = s.pixels;
        if (kind == 0) f.box_dim[1] = s.w, f.box_dim[2] = s.pixels / s.w;
        if (kind == 2)
          f.pixel_box_lower[0] = f.pixel_box_lower[1] = f.pixel_box_upper[0] = f.pixel_box_upper[1] = -1;
        if (s.channels == 32) f.swizzle = TensorMapSwizzle::b128;
        CUtensorMap map;
        if (!encode_on_gpu(f, memory.global, map)) fail("time", "map refused");
        Im2colCase c{f, {}, false};
        if (kind == 2) c.first[1] = c.first[2] = -1;
        Order o = order_of(c);
        if (kind == 0) o.op = kTile;
        time_loads<<<1, 32, kIm2colSharedBytes>>>(map, o, count, cycles);
        check(cudaDeviceSynchronize(), "time");
        long long each[3];
        check(cudaMemcpy(each, cycles, sizeof each, cudaMemcpyDeviceToHost), "read");
        std::printf("%u bytes x %u pixels, rows of %u, %2d loads, %s: %lld cycles\n", s.channels * 4, s.pixels, s.w,
                    count,
                    kind == 0   ? "tiled"
                    : kind == 1 ? "im2col"
                                : "im2col with padding",
                    std::min(each[1], each[2]));
      }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "--time") return times(), 0;
  if (mode == "--odd") {
    for (const Odd& odd : odd_copies()) {
      std::fflush(stdout);
      if (const pid_t child = fork(); child == 0) {
        odd_copy(odd);
        std::fflush(stdout);
        _exit(0);
      } else {
        int status = 0;
        waitpid(child, &status, 0);
      }
    }
    return 0;
  }
  defined_copies();
}
