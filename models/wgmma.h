// SPDX-License-Identifier: Apache-2.0
/// wgmma of one CTA, on the tensor pipe of its SM (PTX, Asynchronous warpgroup level matrix instructions).
///
/// The four warps of a warpgroup each execute an instruction; it starts when the last of them has, and the n-th of
/// each belong together.  The pipe of the SM serves instructions in that order, whatever warpgroup they are of.  A
/// group is what a warp has executed since its last commit.
///
/// Time, measured on an H200 (docs/measurements.md): an instruction takes the pipe for max(N / 2, reads) cycles,
/// where operands in shared memory are read at 128 bytes a cycle; its D is there N / 2 + latency cycles after it
/// has started.  At most 7 groups of a warp are in flight: the commit of an eighth waits.  Of a sparse
/// one twice as many bytes of B are read, and D is there later (wgmma_sparse.cu).
///
/// Values: operands in shared memory are read, and D is written, when the first of the four warps waits for the
/// instruction, as late as PTX allows; A in registers and metadata are read when it is issued.
/// Operands are read first; the warps' loads and stores get what they leave of the port of shared memory.
/// Approximated: no other user of shared memory delays the operand reads (an H200: by 4.4 % at most).
/// Detected: WG2 (warps of a warpgroup execute different instructions, or fewer than four there are), TC7 (an
/// operand leaves shared memory), TC6 (base offset).
#pragma once

#include <array>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "kernels/isa/wgmma.h"
#include "models/jitter.h"
#include "models/mbarrier.h"
#include "models/sm.h"
#include "models/wgmma_numerics.h"

namespace sm100::models {

/// wgmma.mma_async as one warp executes it.
struct WgmmaCommand {
  WgmmaForm form;
  SmemDescriptor a;
  const uint32_t* a_registers = nullptr;  ///< [lane * 4 + r]
  SmemDescriptor b;
  bool scale_d = false;
  uint32_t* d = nullptr;               ///< [lane * wgmma_d_registers() + r]
  const uint32_t* metadata = nullptr;  ///< of .sp: [lane]
  Source source;
};

class Wgmma {
 public:
  Wgmma(int slot, Sm& sm, Accumulation accumulation, SharedMemory& smem, const DeviceProfile& profile,
        Jitter& jitter, Observer& observer)
      : slot_(slot),
        sm_(sm),
        numerics_(accumulation, smem),
        smem_(smem),
        profile_(profile),
        jitter_(jitter),
        observer_(observer) {}

  void start_cta(int warps);

  /// One warp executes an instruction at cycle `at`; returns its number among the warp's, from 1, or 0 after a
  /// violation.
  uint32_t mma(const WgmmaCommand& command, Cycles at);
  /// wgmma.commit_group; returns the cycle until which issue waits, because 7 groups are in flight.
  Cycles commit(int warp);
  /// The number of the warp's last instruction that wgmma.wait_group `pending` waits for; 0: none.
  uint32_t covered(int warp, int pending) const;
  /// Cycle at which the instructions up to that number of the warp's have finished; nullopt: other warps of the
  /// warpgroup have not executed one of them yet.  Then `waiter` is woken when they have.
  std::optional<Cycles> finished(int warp, uint32_t number, Waiter& waiter);
  /// D of these is written.
  void retire(int warp, uint32_t number);
  /// Warps of the warpgroup that have not executed its instruction of that number.
  std::vector<int> missing(int warp, uint32_t number) const;
  /// Instructions of the warp so far.
  uint32_t executed(int warp) const { return warps_[size_t(warp)].executed; }

  /// Cycles between two back-to-back instructions, and from start until D is there.
  double initiation_interval(const WgmmaForm& form) const;
  double execution_latency(const WgmmaForm& form) const;

 private:
  struct Instruction {
    WgmmaOperation operation;
    SmemDescriptor a, b;
    Source source{};   ///< of the last warp that has executed it
    int arrived = 0;   ///< warps
    double ready = 0;  ///< the last one has issued it
    Cycles done = 0;
  };
  struct OfWarp {
    uint32_t executed = 0;
    std::vector<uint32_t> groups;  ///< executed at each commit
  };
  struct Warpgroup {
    std::deque<Instruction> open;  ///< that have not retired
    uint32_t first = 1;            ///< number of open.front()
    Cycles done = 0;               ///< of the last one that has started
    std::vector<Waiter*> waiting;
  };
  Warpgroup& group_of(int warp) { return groups_[size_t(warp / kWarpgroupWarps)]; }
  const Warpgroup& group_of(int warp) const { return groups_[size_t(warp / kWarpgroupWarps)]; }
  bool check(const WgmmaCommand& command, const WgmmaOperation& operation);
  void start(Instruction& instruction, Warpgroup& group);
  void violate(const char* id, std::string message, const Source& source);

  int slot_;
  Sm& sm_;
  WgmmaNumerics numerics_;
  SharedMemory& smem_;
  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;
  std::vector<OfWarp> warps_;
  std::vector<Warpgroup> groups_;
  /// Descriptors of which all bytes lie in shared memory, by a hash; a ring has few, and its warps read them again
  /// and again.
  struct Inside {
    uint64_t descriptor = 0;
    WgmmaForm form{};
    bool a = false, known = false;
  };
  std::array<Inside, 64> inside_{};
};

}  // namespace sm100::models
