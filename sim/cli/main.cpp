// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/main.h"

int main(int argc, char** argv) { return sm100::sim::cli::main(argc, argv); }
