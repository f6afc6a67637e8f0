// SPDX-License-Identifier: Apache-2.0
/// Changes of single instructions: what a mend tries.  Each is a fault (kernels/host/fault.h) that undoes what may
/// be wrong with one line: another value of an operand, the other parity, once more, not at all, other lanes.
#pragma once

#include <string>
#include <vector>

#include "kernels/host/fault.h"
#include "sim/mend/survey.h"
#include "sim/run_result.h"

namespace sm100::sim {

struct Change {
  host::FaultSpec fault;
  std::string words;  ///< "bytes: 32,768 instead of 32,752"
  size_t site = 0;    ///< of the list
};

/// All that are tried, the likely ones first: those at the lines that the run's findings name, then those of the
/// same roles; small changes ahead of large ones.
std::vector<Change> changes_of(const std::vector<InstructionSite>& sites, const RunResult& failing);

/// The change as `[[fault]]` of a scenario.
std::string fault_toml(const host::FaultSpec& fault);

}  // namespace sm100::sim
