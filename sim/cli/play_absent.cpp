// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/scenario.h"
#include "sim/cli/play.h"

namespace sm100::sim::cli {

int play(const PlayOptions&) {
  throw host::InputError(
      "play: this program was built without cpp-httplib; install it (Debian: libcpp-httplib-dev) and build again");
}

}  // namespace sm100::sim::cli
