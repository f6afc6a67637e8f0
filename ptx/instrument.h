// SPDX-License-Identifier: Apache-2.0
/// A recorder put into PTX text: the kernel writes what it does, and when, into the buffers of
/// kernels/isa/point_trace.h.
///
///   Instrumented traced = instrument(module, {&module.entries[0]});
///   load(traced.text);   // then fill the variable `sm100_trace`
///
/// Points stand where the simulator begins and ends the spans that it derives (docs/ptx.md), so the host can derive
/// the same ones.  Every insertion stands on a line that was there: line numbers of the text stay as they were.
/// Entries keep their parameters and their shared memory.
///
/// A loop that waits stays as it is: its beginning is recorded on the way in, its end behind it.  Waiting costs
/// nothing more for each poll.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/isa/point_trace.h"
#include "ptx/module.h"

namespace sm100::ptx {

enum class PointGroup : uint8_t {
  waits,    ///< loops that wait for an mbarrier's parity, bulk wait_group
  copies,   ///< bulk and tensor copies
  mmas,     ///< wgmma, tcgen05.mma and tcgen05.cp
  commits,  ///< of groups
  arrives,  ///< on mbarriers, and expect_tx
  tiles,    ///< clusterlaunchcontrol
  stores,   ///< tcgen05.ld, ldmatrix, stmatrix, st to shared and global memory
};
inline constexpr int kPointGroups = 7;
std::string_view name(PointGroup group);

struct InstrumentOptions {
  uint32_t groups = (1u << kPointGroups) - 1;  ///< a bit each
  bool has(PointGroup group) const { return groups >> unsigned(group) & 1; }
};

/// A point of the text; its number is its place in Instrumented::points.
struct Point {
  PointGroup group = PointGroup::waits;
  PointKind kind = PointKind::begin;
  TraceEvent event = TraceEvent::wait;  ///< of PointKind::begin
  /// It begins only if the warp is doing one of these: bits of TraceEvents; bit 31: nothing.  What a lane knows of
  /// its warp is not all that the warp does, so who reads the records looks again.
  uint32_t from = ~0u;
  std::string entry, opcode;
  std::string place;  ///< "gemm.cu:143"; empty: the text does not say
  int line = 0;       ///< of the PTX
};

/// What would be a point and is none.
struct Unrecorded {
  std::string function, opcode, why;
  int line = 0;
};

struct Instrumented {
  std::string text;
  std::vector<Point> points;
  std::vector<Unrecorded> unrecorded;
  int registers = 0;     ///< 32-bit registers that live as long as a thread does
  int instructions = 0;  ///< that have been inserted
};

/// @param entries  of the module, with bodies
/// Throws PtxError: the text has a recorder already, or uses its names.
Instrumented instrument(const Module& module, const std::vector<const Entry*>& entries,
                        const InstrumentOptions& options = {});

}  // namespace sm100::ptx
