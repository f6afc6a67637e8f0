// SPDX-License-Identifier: Apache-2.0
/// A cluster without warps: the units of a few CTAs, each on an SM of its own, behind a ClusterNet, and a matrix in
/// global memory.
#pragma once

#include <memory>

#include "models/cluster_net.h"
#include "models/fixture.h"

namespace sm100::models {

struct ClusterBench {
  static constexpr uint32_t kBar = 0x400, kTile = 0x800;

  /// @param ctas  clusters of so many CTAs start on SMs 0, 1, ... until the SMs are used up
  explicit ClusterBench(int sms, uint32_t ctas, int warps = 1, std::optional<uint64_t> seed = {})
      : jitter(seed, profile) {
    for (int i = 0; i < sms; ++i) {
      nodes.push_back(std::make_unique<Node>(i, *this));
      net.connect(nodes.back()->barrier, nodes.back()->tma);
      nodes.back()->smem.start_cta(64 * 1024, true);
      nodes.back()->barrier.init(kBar, 1, {});
    }
    for (int first = 0; first + int(ctas) <= sms; first += int(ctas)) {
      std::vector<int> slots;
      for (int slot = first; slot < first + int(ctas); ++slot) slots.push_back(slot);
      net.start_cluster(slots, warps);
    }
    matrix = memory.allocate("matrix", 64 * 64 * 2, true);
    auto* words = reinterpret_cast<uint16_t*>(memory.data(matrix, 64 * 64 * 2));
    for (int i = 0; i < 64 * 64; ++i) words[i] = uint16_t(i);
  }

  static ClusterSmemAddr bar(uint32_t rank) { return {rank << kClusterRankShift | kBar}; }
  /// A box of `rows` rows of 128 bytes whose first word is 64 * row.
  TensorCopy box(int row, uint32_t rows) const {
    TensorCopy c;
    c.map.data_type = TensorMapDataType::uint16;
    c.map.rank = 2;
    c.map.global_address = matrix.value;
    c.map.global_dim[0] = c.map.global_dim[1] = 64;
    c.map.global_stride[0] = 128;
    c.map.box_dim[0] = 64;
    c.map.box_dim[1] = rows;
    c.map.element_stride[0] = c.map.element_stride[1] = 1;
    c.coords = {0, row};
    c.smem = kTile;
    c.barrier = kBar;
    c.source.warp = 0;
    return c;
  }

  struct Node {
    Node(int id, ClusterBench& b)
        : sm(sc_core::sc_gen_unique_name("sm"), id, true),
          barrier(id, smem, b.profile, b.jitter, b.observer),
          tma(id, sm, smem, barrier, b.memory, b.profile, b.jitter, b.observer) {}
    uint16_t word(uint32_t offset = 0) const { return smem.load<uint16_t>(kTile + offset); }
    const Mbarrier::State& state() const { return *barrier.find(kBar); }
    Sm sm;
    SharedMemory smem;
    Mbarrier barrier;
    Tma tma;
  };

  DeviceProfile profile = b200();
  Jitter jitter;
  RecordingObserver observer;
  MemorySystem memory{profile};
  ClusterNet net{"cluster_net", profile, jitter, observer};
  std::vector<std::unique_ptr<Node>> nodes;
  GlobalAddr matrix;
};

}  // namespace sm100::models
