// SPDX-License-Identifier: Apache-2.0
/// Role code that crashes (a division by zero, a wild pointer) ends the process with one line that names the warp,
/// not with a bare signal.
#pragma once

namespace sm100::sim {

/// From now on SIGFPE, SIGSEGV and SIGBUS print "role code crashed: mma (warp 6) of CTA 3 ..." on standard error
/// and exit with status 5.  Outside of a warp the line says that the simulator itself has crashed.
void report_crashes();

}  // namespace sm100::sim
