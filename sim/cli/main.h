// SPDX-License-Identifier: Apache-2.0
/// The program sm100sim as a function, for programs that bring kernels of their own (sim/kernel_code.h,
/// add_kernel).
#pragma once

namespace sm100::sim::cli {

/// Parses the command line, runs one command and turns what it throws into lines on stderr.  Returns the exit code.
/// SystemC elaborates once per process, so a process calls this once.
int main(int argc, char** argv);

}  // namespace sm100::sim::cli
