// SPDX-License-Identifier: Apache-2.0
/// Tensor copies that more than one lane of a warp executes: how often is the copy performed?  Loads are counted by
/// the bytes that their mbarrier completes, stores by a reduction that adds one; then the time of plain stores.
#include <algorithm>

#include "harness.h"
#include "ptx.cuh"

using namespace ptx;
using hw::Buffer;
using hw::MapSpec;

namespace {

constexpr int kRows = 64, kColumns = 64;  ///< of a box of bf16 or f32
extern __shared__ char dynamic_smem[];
__device__ u32 base_address() { return (smem(dynamic_smem) + 1023) & ~1023u; }

enum Operands { kEqual, kCoordinates, kAddresses };

/// Lanes 0 ... lanes - 1 load a box; *completed = whether a phase armed with `expect` bytes completes.
__global__ void loads(const __grid_constant__ CUtensorMap map, int lanes, int operands, u32 expect,
                      int* completed) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage), base = base_address();
  const int lane = static_cast<int>(threadIdx.x);
  if (lane == 0) {
    mbar_init(bar, 1);
    fence_mbarrier_init();
    arrive_expect(bar, expect);
  }
  __syncwarp();
  if (operands == kEqual) {
    if (lane < lanes) load_2d(base, &map, 0, 0, bar);
  } else if (operands == kCoordinates) {
    if (lane < lanes) load_2d(base, &map, lane * kColumns, 0, bar);
  } else {
    if (lane < lanes) load_2d(base + static_cast<u32>(lane % 4) * kRows * kColumns * 2, &map, 0, 0, bar);
  }
  __syncwarp();
  if (lane == 0) *completed = wait(bar, 0, 500'000);
  spin(200'000);  // what is still on its way must not meet an exit
}

/// The same without any branch: the whole warp executes one instruction.
__global__ void loads_of_a_warp(const __grid_constant__ CUtensorMap map, u32 expect, int* completed) {
  __shared__ alignas(8) u64 storage;
  const u32 bar = smem(&storage), base = base_address();
  if (threadIdx.x == 0) {
    mbar_init(bar, 1);
    fence_mbarrier_init();
    arrive_expect(bar, expect);
  }
  __syncwarp();
  load_2d(base, &map, 0, 0, bar);
  if (threadIdx.x == 0) *completed = wait(bar, 0, 500'000);
  spin(200'000);
}

/// Adds a box of ones in each of the first `lanes` lanes.
__global__ void reductions(const __grid_constant__ CUtensorMap map, int lanes, int operands) {
  const u32 base = base_address();
  const int lane = static_cast<int>(threadIdx.x);
  for (u32 i = threadIdx.x; i < kRows * kColumns / 2; i += 32) st_shared(base + 4 * i, 0x3f800000);
  fence_proxy_async_smem();
  __syncwarp();
  if (operands == kEqual) {
    if (lane < lanes) reduce_add_2d(&map, 0, 0, base);
  } else {
    if (lane < lanes) reduce_add_2d(&map, lane * (kColumns / 2), 0, base);
  }
  commit_group();
  wait_group<0>();
}

__global__ void reductions_of_a_warp(const __grid_constant__ CUtensorMap map) {
  const u32 base = base_address();
  for (u32 i = threadIdx.x; i < kRows * kColumns / 2; i += 32) st_shared(base + 4 * i, 0x3f800000);
  fence_proxy_async_smem();
  __syncwarp();
  reduce_add_2d(&map, 0, 0, base);
  commit_group();
  wait_group<0>();
}

/// Cycles of 16 stores of a box of 8 KiB, until they have completed.
template <bool kBranch>
__global__ void stores(const __grid_constant__ CUtensorMap map, int lanes, i64* cycles) {
  const u32 base = base_address();
  const int lane = static_cast<int>(threadIdx.x);
  for (int round = 0; round < 4; ++round) {
    __syncwarp();
    const i64 t0 = now();
#pragma unroll 1
    for (int i = 0; i < 16; ++i) {
      if (!kBranch || lane < lanes) store_2d(&map, 0, i * kRows, base);
    }
    commit_group();
    wait_group<0>();
    __syncwarp();
    if (lane == 0) cycles[round] = now() - t0;
  }
}

MapSpec spec(bool f32, int columns, int rows, int box_columns) {
  MapSpec s;
  s.type = f32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
  s.dims = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
  s.strides = {static_cast<cuuint64_t>(columns * (f32 ? 4 : 2))};
  s.box = {static_cast<cuuint32_t>(box_columns), kRows};
  return s;
}

constexpr int kSmem = 4 * kRows * kColumns * 2 + 1024;

const char* completes(int lanes, int operands, int times) {
  Buffer<char> data(32 * kColumns * kRows * 2);
  Buffer<int> completed(1);
  const CUtensorMap map = hw::must_encode(spec(false, 32 * kColumns, kRows, kColumns), data.get());
  const u32 expect = static_cast<u32>(times) * kRows * kColumns * 2;
  if (lanes < 0)
    hw::run("loads", loads_of_a_warp, 1, 32, kSmem, 1, map, expect, completed.get());
  else
    hw::run("loads", loads, 1, 32, kSmem, 1, map, lanes, operands, expect, completed.get());
  return completed.host()[0] ? "yes" : "no";
}

/// What the first element, and with other coordinates that of lane 1's box, has become.
std::string added(int lanes, int operands) {
  constexpr int columns = 32 * kColumns / 2;
  Buffer<float> data(static_cast<std::size_t>(columns) * kRows);
  const CUtensorMap map = hw::must_encode(spec(true, columns, kRows, kColumns / 2), data.get());
  if (lanes < 0)
    hw::run("reductions", reductions_of_a_warp, 1, 32, kSmem, 1, map);
  else
    hw::run("reductions", reductions, 1, 32, kSmem, 1, map, lanes, operands);
  const auto seen = data.host();
  return hw::format("%g in box 0, %g in box 1, %g in box 31", double(seen[0]), double(seen[kColumns / 2]),
                    double(seen[31 * kColumns / 2]));
}

}  // namespace

HW_TEST("warp_wide.loads") {
  const struct {
    const char* name;
    int operands;
  } kinds[] = {{"equal operands", kEqual}, {"other coordinates", kCoordinates}, {"other addresses", kAddresses}};
  for (const auto& kind : kinds)
    for (int lanes : {1, 2, 32})
      for (int times : {1, lanes})
        out.open(hw::format("warp_wide.load.%d.%d.x%d", kind.operands, lanes, times),
                 hw::format("load by %d lanes, %s: bytes of %d boxes complete", lanes, kind.name, times),
                 completes(lanes, kind.operands, times));
  for (int times : {1, 32})
    out.open(hw::format("warp_wide.load.warp.x%d", times),
             hw::format("load by a whole warp without a branch: bytes of %d boxes complete", times),
             completes(-1, kEqual, times));
}

HW_TEST("warp_wide.reductions") {
  for (int operands : {kEqual, kCoordinates})
    for (int lanes : {1, 2, 32})
      out.open(hw::format("warp_wide.reduce.%d.%d", operands, lanes),
               hw::format("box of ones added by %d lanes, %s", lanes,
                          operands == kEqual ? "equal operands" : "other coordinates"),
               added(lanes, operands));
  out.open("warp_wide.reduce.warp", "box of ones added by a whole warp without a branch", added(-1, kEqual));
}

HW_TEST("warp_wide.stores") {
  Buffer<char> data(16 * kColumns * kRows * 2);
  Buffer<i64> cycles(4);
  const CUtensorMap map = hw::must_encode(spec(false, kColumns, 16 * kRows, kColumns), data.get());
  for (int lanes : {1, 2, 32}) {
    hw::run("stores", stores<true>, 1, 32, kSmem, 1, map, lanes, cycles.get());
    const auto seen = cycles.host();
    out.samples(hw::format("warp_wide.store.%d", lanes), hw::format("16 stores of 8 KiB by %d lanes", lanes),
                "cycles", hw::to_double({seen.begin() + 1, seen.end()}));
  }
  hw::run("stores", stores<false>, 1, 32, kSmem, 1, map, 32, cycles.get());
  const auto seen = cycles.host();
  out.samples("warp_wide.store.warp", "16 stores of 8 KiB by a whole warp without a branch", "cycles",
              hw::to_double({seen.begin() + 1, seen.end()}));
}
