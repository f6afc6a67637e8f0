// SPDX-License-Identifier: Apache-2.0
/// One streaming multiprocessor: the hardware that its resident CTAs share.  What belongs to one of them is its
/// CtaContext (models/cta_context.h), whose units reserve time here: first come, first served.
#pragma once

#include <array>
#include <systemc>
#include <vector>

#include "models/completion_queue.h"
#include "models/row_slots.h"
#include "models/shared_memory.h"
#include "models/store_path.h"
#include "models/tensor_memory.h"

namespace sm100::models {

class Provenance;

/// The tensor memory accelerator's paths: to L2, into shared memory and out of it.
struct TmaEngine {
  double asked = 0;                      ///< cycle at which L2 has been asked for all copies so far
  uint64_t in_flight = 0;                ///< bytes of loads that have been asked for
  double fill_free = 0, drain_free = 0;  ///< cycle at which the paths into / out of shared memory are free
  RowSlots rows;                         ///< of both, where one engine serves them (tma.store_cycles_between)
  std::vector<uint8_t> row;              ///< that a copy is moving
  CompletionQueue completions;
};

/// The tensor core: one MMA after the other, whichever CTA issued it.
struct TensorPipe {
  double free = 0;  ///< cycle at which it takes the next MMA
  double busy_cycles = 0;
  CompletionQueue completions;
};

/// A partition's path to its 32 lanes of tensor memory, which the warps of several CTAs share.  Approximated: warps
/// of one CTA in the same partition do not hinder each other.
class TensorMemoryPort {
 public:
  /// When a transfer of the CTA in `slot` that is ready at cycle `at` may begin: after those of other CTAs.
  Cycles begin(int slot, Cycles at) const {
    for (const Taken& other : taken_)
      if (other.slot != slot && other.until > at) at = other.until;
    return at;
  }
  void take(int slot, Cycles until) {
    for (Taken& own : taken_)
      if (own.slot == slot) {
        own.until = until;
        return;
      }
    taken_.push_back({slot, until});
  }

 private:
  struct Taken {
    int slot;
    Cycles until;
  };
  std::vector<Taken> taken_;
};

class Sm : public sc_core::sc_module {
 public:
  Sm(sc_core::sc_module_name name, int id, bool with_data)
      : sc_module(name), id(id), with_data(with_data), tensor_memory(with_data) {}

  const int id;
  const bool with_data;
  SharedMemoryPort shared_memory;
  StorePath global_stores;
  TensorMemoryBank tensor_memory;
  std::array<TensorMemoryPort, 4> tensor_memory_ports;  ///< by partition: warp w is in w % 4
  TmaEngine tma;
  TensorPipe tensor_pipe;
  CompletionQueue cp_async;          ///< arrivals that follow threads' copies
  Provenance* provenance = nullptr;  ///< hears where numbers come from and go to; nullptr: nobody does
};

}  // namespace sm100::models
