// SPDX-License-Identifier: Apache-2.0
/// The faults of a scenario as edits of a kernel's PTX: what the simulator does to an instruction as it is executed
/// stands in the text, so that a GPU executes it, too.
///
/// Each statement that a fault may mean counts its executions in a register of the thread and compares warp, CTA,
/// barrier and occurrence; its operands, or whether it is executed, follow from that.  The simulator counts
/// executions of a warp: the same where the same lanes execute the statement each time.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "kernels/host/fault.h"
#include "kernels/host/kernel_run.h"
#include "kernels/host/scenario.h"
#include "ptx/module.h"

namespace sm100::host {

/// The module's text with the faults in `entry`.
/// @param run  whose roles and barriers the faults name
/// Throws InputError: a fault that no statement of the entry agrees with, or one that cannot be written as PTX
/// ("not implemented").
std::string with_faults(const ptx::Module& module, const ptx::Entry& entry, std::span<const FaultSpec> faults,
                        const KernelRun& run);

/// The PTX that a scenario's warps execute, its entry altered as the scenario's faults say; as it is without
/// faults. Throws InputError: warps execute role code, and what with_faults throws.
std::string faulty_ptx(const Scenario& scenario);

}  // namespace sm100::host
