// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace sm100::sim::cli {

void say(std::string_view line) noexcept {
  std::fwrite(line.data(), 1, line.size(), stderr);
  std::fputc('\n', stderr);
  std::fflush(stderr);
}

void keep_standard_streams() {
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream)
    if (::fcntl(stream, F_GETFD) < 0) {
      // For reading only: what is written there fails, as it does on a closed stream.
      const int opened = ::open("/dev/null", O_RDONLY);
      if (opened >= 0 && opened != stream) ::dup2(opened, stream), ::close(opened);
    }
}

}  // namespace sm100::sim::cli
