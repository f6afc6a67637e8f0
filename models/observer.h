// SPDX-License-Identifier: Apache-2.0
/// What the hardware units report.  models/ owns this interface and knows nothing of traces, checks or the
/// CLI; sim/ implements it.  All times are SM cycles since simulation start.  A CTA is named by its slot on the
/// device (models/cta_context.h).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/isa/portability.h"
#include "models/profiles/profile.h"

namespace sm100::models {

enum class ActorKind : uint8_t { warp, tma, umma, clc };

/// Who did something: a warp, or a unit on behalf of the warp that issued the operation.
struct Source {
  ActorKind kind = ActorKind::warp;
  int8_t warp = -1;       ///< executing or issuing warp
  int8_t lane = -1;       ///< its lane, where one thread matters; -1: all active lanes
  Loc loc{};              ///< line in the role code
  uint64_t flow = 0;      ///< id of the trace span that caused it; 0: none
  int cta = -1;           ///< linear id of the CTA of the warp; -1: unknown
  uint32_t op = 0;        ///< given by whoever issued it, for whoever observes it; the units only pass it on
  Cycles issued = 0;      ///< when the warp executed it
  int16_t lands_on = -1;  ///< complete_tx of a tensor load: slot of the CTA whose shared memory it has filled
};

enum class MbarrierEventKind : uint8_t { init, arrive, expect_tx, complete_tx, phase_complete };

struct MbarrierEvent {
  MbarrierEventKind kind;
  Cycles time;
  int slot;          ///< of the CTA that has the barrier
  uint32_t offset;   ///< of the barrier in shared memory
  int64_t phase;     ///< phase the event acted on, counted from 0 at init
  uint32_t amount;   ///< arrivals or bytes
  uint32_t pending;  ///< after the event
  int32_t tx;        ///< after the event
  bool arrives;      ///< false: an expect_tx alone
  Source source;
};

enum class UnitSpanKind : uint8_t { tma_load, tma_store, umma, clc_cancel, tmem_alloc, tmem_read, tmem_write };

/// Something an asynchronous unit was busy with.
struct UnitSpan {
  UnitSpanKind kind;
  Cycles begin, end;
  int slot;              ///< of its CTA
  uint32_t barrier = 0;  ///< offset of the mbarrier it signals; 0: none
  int64_t bytes = -1;
  uint64_t flow_in = 0, flow_out = 0;
  Source source;
  int column = -1, columns = -1;  ///< of tensor memory: the first, and how many
  /// Of a tensor copy: where its tensor begins in global memory, and its box in the tensor.
  uint64_t tensor = 0;
  uint32_t dimensions = 0;
  std::array<int32_t, 5> coordinates{};
  uint16_t multicast = 0;  ///< CTA ranks that the instruction names, a bit each; 0: it names none
};

/// One of the accesses of a hazard: what it was, for a trace to point at.
struct Place {
  Source source;
  Cycles time = 0;
  std::string text;
};

/// An operation that PTX calls undefined or that hardware traps on; a warning is legal but hardly meant; a suspect
/// is legal, and wrong if the result is.
struct Violation {
  std::string id;       ///< id of a check ("MB5", "TM10", "TC5"; docs/checks.md)
  std::string message;  ///< one line with the operands
  Cycles time;
  int slot;              ///< of its CTA
  uint32_t barrier = 0;  ///< offset; 0: none
  Source source;
  bool warning = false;                ///< the run goes on
  std::vector<std::string> details{};  ///< lines below the message
  bool suspect = false;                ///< the run goes on, and what it computes decides
  bool note = false;                   ///< common practice that nothing forbids: said, and counted as nothing
  std::vector<Place> places{};         ///< of a hazard: the earlier access and the later one
  uint64_t global_address = 0;         ///< in global memory, where it is there
  std::vector<Place> related{};        ///< lines below the details: what else was done, by whom and where
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void mbarrier_event(const MbarrierEvent&) {}
  virtual void unit_span(const UnitSpan&) {}
  /// The run is wrong; the observer decides whether it goes on.
  virtual void violation(const Violation&) = 0;
  /// A fresh flow id when something records, else 0.
  virtual uint64_t new_flow() { return 0; }
};

}  // namespace sm100::models
