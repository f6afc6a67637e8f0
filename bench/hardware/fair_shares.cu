// SPDX-License-Identifier: Apache-2.0
// What each SM gets of L2 and of HBM when all of them ask for as much as they can: boxes of 16 KiB for so many
// cycles, by SM (docs/accuracy-h200.md, section 2).
//
//   fair_shares [--json FILE]
#include "costs.cuh"

namespace {

constexpr int kRows = 128, kSlot = 16384, kMostDepth = 12, kBoxesOfARow = 32;
constexpr uint64_t kWindow = 400'000, kAfter = 60'000;  // cycles that are counted, and before them

enum class From { l2, hbm, l2_stores };

/// Boxes from a start that all CTAs share until the window is over; how many of them end in it.
template <int kDepth>
__global__ void share_kernel(int64_t* out, const __grid_constant__ TensorMap map, From from, unsigned* ready) {
  Device isa;
  const SmemAddr smem = isa.dynamic_smem(), bar = smem + kMostDepth * kSlot;
  init_barriers(isa, bar, kDepth);
  // All are there, then all begin.
  if (threadIdx.x == 0) {
    atomicAdd(ready, 1);
    while (*static_cast<volatile unsigned*>(ready) < gridDim.x) {}
  }
  __syncwarp();
  const uint64_t begin = clock_now() + kAfter, end = begin + kWindow;
  int boxes = 0, counted = 0;
  const int own = 16;
  const auto coords = [&](int i) {
    const int box =
        from == From::hbm ? (i * int(gridDim.x) + int(blockIdx.x)) % 65536 : int(blockIdx.x) * own + i % own;
    return TensorCoords{box % kBoxesOfARow * 64, box / kBoxesOfARow * kRows};
  };
  if (from == From::l2_stores) {
    for (;; ++boxes) {
      isa.elected([&] {
        isa.cp_async_bulk_tensor_global_shared(&map, coords(boxes), smem + uint32_t(boxes % kDepth) * kSlot);
        isa.cp_async_bulk_commit_group();
      });
      isa.cp_async_bulk_wait_group_read<kDepth - 1>();
      const uint64_t now = clock_now();
      if (__any_sync(~0u, now > end)) break;
      counted += __any_sync(~0u, now > begin);
    }
    isa.cp_async_bulk_wait_group<0>();
  } else {
    const auto issue = [&](int box) {
      isa.elected([&] {
        const SmemAddr full = bar + 8 * uint32_t(box % kDepth);
        isa.mbarrier_arrive_expect_tx(full, kSlot, Scope::cta);
        isa.cp_async_bulk_tensor_shared_global(smem + uint32_t(box % kDepth) * kSlot, &map, coords(box), full);
      });
    };
    for (int box = 0; box < kDepth; ++box) issue(box);
    for (;; ++boxes) {
      while (!isa.mbarrier_try_wait_parity(bar + 8 * uint32_t(boxes % kDepth), uint32_t(boxes / kDepth) & 1,
                                           Scope::cta)) {}
      const uint64_t now = clock_now();
      counted += __any_sync(~0u, now > begin) && !__any_sync(~0u, now > end);
      if (__any_sync(~0u, now > end)) break;
      issue(boxes + kDepth);
    }
    for (int left = boxes + 1; left < boxes + kDepth; ++left)
      while (!isa.mbarrier_try_wait_parity(bar + 8 * uint32_t(left % kDepth), uint32_t(left / kDepth) & 1,
                                           Scope::cta)) {}
  }
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) out[blockIdx.x] = int64_t{sm} << 32 | counted;
}

template <int kDepth>
void shares(const char* what, From from, const TensorMap& map, int sms) {
  constexpr int kSmem = kMostDepth * kSlot + 1024;
  CHECK_CUDA(cudaFuncSetAttribute(share_kernel<kDepth>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  unsigned* ready;
  CHECK_CUDA(cudaMalloc(&ready, sizeof *ready));
  std::vector<std::vector<double>> of_sm(static_cast<size_t>(sms));
  for (int launch = 0; launch < kSamples; ++launch) {
    CHECK_CUDA(cudaMemset(ready, 0, sizeof *ready));
    share_kernel<kDepth><<<sms, 32, kSmem>>>(results, map, from, ready);
    CHECK_CUDA(cudaDeviceSynchronize());
    std::vector<int64_t> host(static_cast<size_t>(sms));
    CHECK_CUDA(cudaMemcpy(host.data(), results, 8 * host.size(), cudaMemcpyDeviceToHost));
    for (const int64_t v : host) of_sm[size_t(v >> 32)].push_back(double(v & 0xffffffff));
  }
  double all = 0;
  std::vector<double> boxes;
  for (const auto& v : of_sm) boxes.push_back(median(v)), all += boxes.back();
  std::printf("%s, %d boxes in flight: %.1f bytes a cycle in all; boxes of each SM against the mean:\n", what,
              kDepth, all * kSlot / double(kWindow));
  const std::string name = std::string(what) + ", " + std::to_string(kDepth) + " in flight, SM ";
  for (int sm = 0; sm < sms; ++sm) report(name + std::to_string(sm), boxes[size_t(sm)] / all * sms);
}

}  // namespace

int main(int argc, char** argv) {
  const int sms = open_device();
  const TensorMap map = encode(allocate_matrix(), 64, kRows, CU_TENSOR_MAP_SWIZZLE_128B);
  shares<12>("out of L2", From::l2, map, sms);
  shares<4>("out of L2", From::l2, map, sms);
  shares<2>("out of L2", From::l2, map, sms);
  shares<12>("out of HBM", From::hbm, map, sms);
  shares<4>("out of HBM", From::hbm, map, sms);
  shares<4>("into L2", From::l2_stores, map, sms);
  return write_json(argc, argv);
}
