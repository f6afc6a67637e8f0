// SPDX-License-Identifier: Apache-2.0
/// sm100sim with a kernel of our own: all its commands, run, explore, check, diff, export and the rest.
#include "sim/cli/main.h"
#include "shift_run.h"

int main(int argc, char** argv) {
  sm100::sim::add_kernel(own::shift_code());
  return sm100::sim::cli::main(argc, argv);
}
