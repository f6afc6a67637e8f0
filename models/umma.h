// SPDX-License-Identifier: Apache-2.0
/// MMAs, copies and commits of one CTA, on the tensor pipe of its SM (PTX 9.7.16.10 tcgen05.mma, 9.7.16.9
/// tcgen05.cp, 9.7.16.12 tcgen05.commit). For cta_group 2 the pipe of the issuing CTA leads that of its peer: an
/// MMA takes both.  CTAs of one SM share its pipe: an MMA waits for those that any of them has issued before.
///
/// Batches: published throughput loops cost 12 to 15.5 cycles per batch on top of latency + (D - 1)
/// intervals, for D = 1 too; that is the loop's own issue and wait, which role code pays by itself. Modelled:
/// in-order issue; A from shared or tensor memory, B from shared memory, K-major and MN-major; all
/// kinds and types (umma_operands.h), scale factors in tensor memory (umma_scales.h); initiation interval and
/// latency laws measured on B200; a commit arrives once all earlier MMAs have finished.  Operands and scale factors
/// are read and D is written when a commit that covers the MMA arrives; what is never committed never shows, and
/// reading it would be undefined anyway.  Sparse A (.sp, umma_sparsity.h), .ws with D in layouts E and G and its
/// zero-column mask, and disabled output lanes (of 16 lanes of which some are disabled, all count as written).
/// Approximated: power throttling (none); accumulation order (see
/// umma_numerics.h).  Assumed: mxf4 and mxf4nvf4, which nobody has published measurements of, take the time of
/// mxf8f6f4 for the same 32 bytes of each row; .sp takes that of the dense instruction, whose half of K it has in
/// A, and reads twice as much of B; .ws takes that of the same M and N without it, 32 rows that of 64.  Rejected as
/// not implemented: .ws with a column shift, .sp with M = 128 over a pair.
#pragma once

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <systemc>

#include "kernels/isa/instr_descriptor.h"
#include "kernels/isa/smem_descriptor.h"
#include "kernels/isa/zero_columns.h"
#include "models/inline_function.h"
#include "models/mbarrier.h"
#include "models/sm.h"
#include "models/tensor_memory.h"
#include "models/tensor_memory_copy.h"
#include "models/umma_numerics.h"
#include "models/umma_scales.h"

namespace sm100::models {

/// tcgen05.mma as the hardware receives it.
struct MmaCommand {
  MmaKind kind = MmaKind::f16;
  int cta_group = 1;
  ScaleVec scale_vec = ScaleVec::none;  ///< none: without .block_scale
  TmemAddr d;
  bool a_in_tmem = false;
  SmemDescriptor a;
  TmemAddr a_tmem;
  SmemDescriptor b;
  InstrDescriptor idesc;
  TmemAddr sfa, sfb;  ///< scale factors, of the block-scaled kinds
  bool enable_input_d = false;
  int scale_input_d = 0;
  MmaModifiers modifiers{};
  TmemAddr metadata;
  std::array<uint32_t, 8> disabled_lanes{};
  ZeroColumnMask zero_columns{};
  Source source;
};

class Umma {
 public:
  Umma(int slot, Sm& sm, Accumulation accumulation, SharedMemory& smem, TensorMemory& tmem, Mbarrier& mbarrier,
       const DeviceProfile& profile, Jitter& jitter, Observer& observer);

  /// A new CTA: MMAs that an earlier one never committed are forgotten.
  void start_cta();
  /// The two CTAs of a pair start: even and odd rank.
  static void start_pair(Umma& even, Umma& odd);

  /// Accepts one instruction issued at cycle `at` by one thread.
  void mma(const MmaCommand& command, Cycles at);
  /// Accepts one tcgen05.cp: in the queue of the MMAs, one after the other as issued, whatever PTX promises.
  void copy(const TensorMemoryCopyCommand& command, Cycles at);
  /// One arrive on the mbarrier at shared offset `barrier` once everything that the same thread (source.warp
  /// and lane) has issued has finished.  A thread that issued nothing arrives at once, which is warned about
  /// (TC12).
  /// @param arrive  what arrives then; absent: one arrival on this CTA's barrier
  using Arrive = InlineFunction<void(const Source& by), 176>;
  /// @param multicast  CTA ranks that the instruction names, for a trace; 0: it names none
  void commit(uint32_t barrier, Cycles at, const Source& source, Arrive arrive = {}, uint16_t multicast = 0);

  /// Cycle at which everything accepted so far has finished.
  Cycles finished() const { return Cycles(last_done_ + 0.5); }
  /// Commits whose arrival has not happened yet.
  int commits_in_flight() const { return commits_in_flight_; }

  /// Cycles between two back-to-back MMAs of this shape.  Source: docs/measurements.md, law 4.1, 4.3.
  /// @param filling  TMA writes into shared memory meanwhile
  /// @param sparse  64 bytes of K of each row of B
  double initiation_interval(int m, int n, bool a_in_tmem, int cta_group = 1, bool filling = false,
                             bool sparse = false) const;
  /// Cycles from issue on an idle pipe until D is written, so that the MMA's own issue before and commit and
  /// wake-up after it complete the measured latency.
  double execution_latency(int m, int n, bool a_in_tmem, int cta_group = 1, MmaKind kind = MmaKind::f16) const;
  /// Cycles for which a copy takes the pipe: the bytes that a CTA reads.
  double copy_interval(TmemCopyShape shape) const;

 private:
  /// The pipe, of a pair both, takes nothing else for `interval` cycles from `start` on; what took it is over at
  /// `done`.
  void take_pipe(double start, double interval, double done, int cta_group);
  /// A thread has issued something: its commits cover it, and so does the span of the open group.
  void join_group(double start, double done, const Source& source);
  bool check(const MmaCommand& command, MmaOperation& operation);
  bool check_descriptors(const MmaCommand& command, MmaOperation& operation);
  bool decode_descriptors(const MmaCommand& command, MmaOperation& operation);
  bool check_scales(const MmaCommand& command, const MmaOperation& operation);
  bool check_scales_in(const MmaCommand& command, const char* name, const ScaleFactors& where);
  bool check_metadata(const MmaCommand& command, const MmaOperation& operation);
  bool check_tensor_memory(const MmaCommand& command, const MmaOperation& operation);
  void retire_until(uint64_t sequence);
  void retire_copies(uint64_t sequence);
  CopyParticipant participant() { return {smem_, tmem_}; }
  /// TC13: D, A or scale factors of which nobody has written what the MMA reads.  D counts as written from then on.
  void check_written(const MmaCommand& command, const MmaOperation& operation);

  int slot_;
  Sm& sm_;
  UmmaNumerics numerics_;
  TensorMemory& tmem_;
  SharedMemory& smem_;
  Mbarrier& mbarrier_;
  const DeviceProfile& profile_;
  Jitter& jitter_;
  Observer& observer_;
  Umma* peer_ = nullptr;  ///< of the CTA pair

  double last_done_ = 0;  ///< cycle at which everything accepted so far has finished
  /// MMAs that have not retired, in order.  Those between two commits are a group and retire as one, so that
  /// sums do not depend on time.
  struct Accepted {
    MmaOperation operation;
    uint64_t sequence, group;
    Source source;
  };
  std::deque<Accepted> accepted_;
  struct AcceptedCopy {
    TensorMemoryCopy operation;
    uint64_t sequence;
  };
  std::deque<AcceptedCopy> copies_;  ///< the same for copies
  uint64_t sequence_ = 0, group_ = 0;
  /// The accumulator that was written last, which the next MMA usually adds to.
  struct WrittenD {
    uint32_t d = ~0u;
    int m = 0, n = 0;
    DataPathLayout layout{};
    uint32_t epoch = 0, peer_epoch = 0;
    bool operator==(const WrittenD&) const = default;
  };
  WrittenD last_d_;
  /// What a commit of a thread covers, of all threads of the CTA that have issued or committed; nearly always one.
  struct Issued {
    int thread = 0;                          ///< 32 times the warp, and the lane
    double done = 0;                         ///< cycle at which the thread's last MMA has finished
    uint64_t flow = 0;                       ///< of the span that this MMA is in, once committed
    uint64_t sequence = 0;                   ///< of that MMA; 0: the thread has issued nothing
    std::map<uint32_t, Cycles> committed{};  ///< by mbarrier: when its last commit arrives there
  };
  std::vector<Issued> issued_;  ///< in the order of the threads
  Issued& issued(const Source& source) {
    const int thread = std::max<int>(source.warp, 0) * 32 + std::max<int>(source.lane, 0);
    auto at = issued_.begin();
    while (at != issued_.end() && at->thread < thread) ++at;
    if (at == issued_.end() || at->thread != thread) at = issued_.insert(at, Issued{.thread = thread});
    return *at;
  }
  int commits_in_flight_ = 0;
  Cycles group_begin_ = 0;  ///< start of the first MMA since the last commit, for the trace
  bool group_open_ = false;
  uint64_t group_flow_ = 0;
  uint32_t group_column_ = 0, group_end_column_ = 0;  ///< of its accumulators
};

}  // namespace sm100::models
