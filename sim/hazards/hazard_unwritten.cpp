// SPDX-License-Identifier: Apache-2.0
// Reads of shared memory that nobody has written (SM4), by threads and by units.  Whether it matters is seen in the
// result: a zero times what lies there is NaN only where that is NaN or infinity, as it is here.
#include <fmt/format.h>

#include "models/time.h"
#include "sim/hazards/hazard_checker.h"

namespace sm100::sim {

bool HazardChecker::unwritten_looks_left(const Thread& t) {
  constexpr int kLooks = 64;  // ids of -1 and the like are loaded again and again
  return ++cluster(t.slot).unwritten_looks[{t.by.loc.file_name(), t.by.loc.line()}] <= kLooks;
}

void HazardChecker::unwritten_looking_read(const Thread& t, uint32_t offset, uint32_t bytes) {
  at_once(t.slot);
  if (!unwritten_looks_left(t)) return;
  if (cta(t.slot).smem.written(smem_sets_, smem_sets_.intern_range(offset, bytes))) return;
  if (cta(t.slot).strongly_written.contains(offset / 4)) return;
  report_.violation({.id = "SM4",
                     .message = fmt::format(
                         "{} loads shared memory that nobody has written since the CTA's start: {} bytes at {:#x}",
                         kernel(t.slot).role(t.by.warp), bytes, offset),
                     .time = time(),
                     .slot = t.slot,
                     .source = t.by,
                     .suspect = true});
}

void HazardChecker::check_unit_reads_written(const Thread& t, uint32_t at_rank, Footprints::Id set,
                                             const Access& read) {
  const uint32_t left = cluster(t.slot).ctas[at_rank].smem.bytes_unwritten(smem_sets_, set);
  if (left == 0 || !unwritten_looks_left(t)) return;
  // Atomics are not compared with copies, so their bytes are not among those that are written.
  const std::set<uint32_t>& strong = cluster(t.slot).ctas[at_rank].strongly_written;
  const Footprints::Interval bounds = smem_sets_.bounds(set);
  if (const auto first = strong.lower_bound(bounds.begin / 4); first != strong.end() && *first * 4 < bounds.end)
    return;
  const uint32_t all = smem_sets_.bytes(set);
  const std::string where = at_rank == rank(t.slot) ? "" : fmt::format(" of CTA {} of the cluster", at_rank);
  report_.violation(
      {.id = "SM4",
       .message = fmt::format(
           "{} of {} reads shared memory{} that nobody has written since the CTA's start: {} at "
           "{:#x}",
           unit_text(read), kernel(t.slot).role(t.by.warp), where,
           left == all ? fmt::format("all {} bytes", all) : fmt::format("{} of the {} bytes", left, all),
           smem_sets_.bounds(set).begin),
       .time = time(),
       .slot = t.slot,
       .source = t.by,
       .suspect = true});
}

}  // namespace sm100::sim
