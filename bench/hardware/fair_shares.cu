// SPDX-License-Identifier: Apache-2.0
// What each SM gets of L2 and of HBM when all of them ask for as much as they can, or those of one GPC: boxes of
// 16 KiB for so many cycles, by SM (docs/accuracy-h200.md, section 2).  SMs that have run CTAs of one cluster are of
// one GPC.
//
//   fair_shares [--json FILE]
#include "costs.cuh"

namespace {

constexpr int kRows = 128, kSlot = 16384, kMostDepth = 12, kBoxesOfARow = 32;
constexpr uint64_t kWindow = 400'000, kAfter = 60'000;  // cycles that are counted, and before them

enum class From { l2, hbm, l2_stores };

/// CTA by CTA, the SM that it runs on; long enough for all that find room to be there together.
__global__ void where_kernel(int* sms) {
  unsigned sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (threadIdx.x == 0) sms[blockIdx.x] = int(sm);
  for (const uint64_t begin = clock_now(); clock_now() < begin + 20'000;) {}
}

/// The set of each SM, from launches of clusters of all sizes: SMs of one cluster are of one GPC.
std::vector<int> find_gpcs(int sms) {
  std::vector<int> of(static_cast<size_t>(sms));
  for (int sm = 0; sm < sms; ++sm) of[size_t(sm)] = sm;
  CHECK_CUDA(cudaFuncSetAttribute(where_kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK_CUDA(cudaFuncSetAttribute(where_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 * 1024));
  int* where;
  CHECK_CUDA(cudaMalloc(&where, 4 * size_t(sms)));
  for (const int size : {16, 8, 4, 2}) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = unsigned(size), attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(unsigned(sms / size * size)), config.blockDim = dim3(32);
    config.dynamicSmemBytes = 200 * 1024, config.attrs = &attribute, config.numAttrs = 1;
    int most = 0;
    CHECK_CUDA(cudaOccupancyMaxActiveClusters(&most, where_kernel, &config));
    std::printf("clusters of %d that run at once: %d\n", size, most);
    for (int launch = 0; launch < 100; ++launch) {
      CHECK_CUDA(cudaLaunchKernelEx(&config, where_kernel, where));
      std::vector<int> host(config.gridDim.x);
      CHECK_CUDA(cudaMemcpy(host.data(), where, 4 * host.size(), cudaMemcpyDeviceToHost));
      for (size_t cta = 0; cta < host.size(); ++cta) {
        const int a = of[size_t(host[cta])], b = of[size_t(host[cta / size_t(size) * size_t(size)])];
        if (a != b) std::replace(of.begin(), of.end(), std::max(a, b), std::min(a, b));
      }
    }
  }
  return of;
}

/// Boxes from a start that all CTAs share until the window is over; how many of them end in it.  Only SMs of the
/// GPC `only` take part, or all.
template <int kDepth>
__global__ void share_kernel(int64_t* out, const __grid_constant__ TensorMap map, From from, unsigned* ready,
                             const int* gpcs, int only, unsigned taking_part) {
  unsigned own_sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(own_sm));
  if (only >= 0 && gpcs[own_sm] != only) {
    // It keeps its SM, so that no other CTA comes there.
    while (*static_cast<volatile unsigned*>(ready) < taking_part) {}
    if (threadIdx.x == 0) out[blockIdx.x] = int64_t{own_sm} << 32;
    return;
  }
  Device isa;
  const SmemAddr smem = isa.dynamic_smem(), bar = smem + kMostDepth * kSlot;
  init_barriers(isa, bar, kDepth);
  // All are there, then all begin.
  if (threadIdx.x == 0) {
    atomicAdd(ready, 1);
    while (*static_cast<volatile unsigned*>(ready) < taking_part) {}
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
void shares(const char* what, From from, const TensorMap& map, const std::vector<int>& gpcs, int only = -1) {
  constexpr int kSmem = kMostDepth * kSlot + 1024;
  const int sms = int(gpcs.size());
  CHECK_CUDA(cudaFuncSetAttribute(share_kernel<kDepth>, cudaFuncAttributeMaxDynamicSharedMemorySize, kSmem));
  unsigned* ready;
  int* of;
  CHECK_CUDA(cudaMalloc(&ready, sizeof *ready));
  CHECK_CUDA(cudaMalloc(&of, 4 * gpcs.size()));
  CHECK_CUDA(cudaMemcpy(of, gpcs.data(), 4 * gpcs.size(), cudaMemcpyHostToDevice));
  const unsigned taking_part = only < 0 ? unsigned(sms) : unsigned(std::count(gpcs.begin(), gpcs.end(), only));
  std::vector<std::vector<double>> of_sm(gpcs.size());
  for (int launch = 0; launch < kSamples; ++launch) {
    CHECK_CUDA(cudaMemset(ready, 0, sizeof *ready));
    share_kernel<kDepth><<<sms, 32, kSmem>>>(results, map, from, ready, of, only, taking_part);
    CHECK_CUDA(cudaDeviceSynchronize());
    std::vector<int64_t> host(gpcs.size());
    CHECK_CUDA(cudaMemcpy(host.data(), results, 8 * host.size(), cudaMemcpyDeviceToHost));
    for (const int64_t v : host) of_sm[size_t(v >> 32)].push_back(double(v & 0xffffffff));
  }
  double all = 0;
  std::vector<double> boxes;
  for (const auto& v : of_sm) boxes.push_back(median(v)), all += boxes.back();
  std::printf("%s, %d boxes in flight%s: %.1f bytes a cycle in all; boxes of each SM against the mean, by GPC:\n", what,
              kDepth, only < 0 ? "" : ", one GPC alone", all * kSlot / double(kWindow));
  const std::string name = std::string(what) + ", " + std::to_string(kDepth) + " in flight" +
                           (only < 0 ? "" : ", GPC " + std::to_string(only) + " alone") + ", SM ";
  std::vector<int> sets = gpcs;
  std::sort(sets.begin(), sets.end());
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  for (const int set : sets) {
    if (only >= 0 && set != only) continue;
    double of_set = 0;
    for (int sm = 0; sm < sms; ++sm)
      if (gpcs[size_t(sm)] == set) of_set += boxes[size_t(sm)];
    std::printf("  GPC of SM %3d, %2d SMs, %6.1f bytes a cycle:", set, int(std::count(gpcs.begin(), gpcs.end(), set)),
                of_set * kSlot / double(kWindow));
    for (int sm = 0; sm < sms; ++sm)
      if (gpcs[size_t(sm)] == set) {
        const double share = boxes[size_t(sm)] / all * taking_part;
        lines.push_back({name + std::to_string(sm), share});
        std::printf(" %d:%.2f", sm, share);
      }
    std::printf("\n");
  }
  CHECK_CUDA(cudaFree(ready));
  CHECK_CUDA(cudaFree(of));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<int> gpcs = find_gpcs(open_device());
  const TensorMap map = encode(allocate_matrix(), 64, kRows, CU_TENSOR_MAP_SWIZZLE_128B);
  shares<12>("out of L2", From::l2, map, gpcs);
  shares<8>("out of L2", From::l2, map, gpcs);
  shares<6>("out of L2", From::l2, map, gpcs);
  shares<4>("out of L2", From::l2, map, gpcs);
  shares<3>("out of L2", From::l2, map, gpcs);
  shares<2>("out of L2", From::l2, map, gpcs);
  for (int gpc = 0, shown = 0; gpc < int(gpcs.size()) && shown < 4; ++gpc)
    if (std::count(gpcs.begin(), gpcs.end(), gpc) > 8) {
      ++shown;
      shares<12>("out of L2", From::l2, map, gpcs, gpc);
      shares<6>("out of L2", From::l2, map, gpcs, gpc);
      shares<4>("out of L2", From::l2, map, gpcs, gpc);
      shares<4>("into L2", From::l2_stores, map, gpcs, gpc);
    }
  shares<12>("out of HBM", From::hbm, map, gpcs);
  shares<6>("out of HBM", From::hbm, map, gpcs);
  shares<4>("out of HBM", From::hbm, map, gpcs);
  shares<4>("into L2", From::l2_stores, map, gpcs);
  return write_json(argc, argv);
}
