// SPDX-License-Identifier: Apache-2.0
// Role code that crashes is named in one line.
#include "sim/crash_report.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "catch.h"
#include "scratch_directory.h"
#include "sim/clusters.h"

using namespace sm100;
using namespace sm100::sim;

TEST_CASE("role code that divides by zero ends in one line with its role, warp and CTA", "[simisa]") {
  ScratchDirectory folder;
  const std::string errors = (folder / "err").string();
  const pid_t child = fork();
  if (child == 0) {
    dup2(open(errors.c_str(), O_CREAT | O_WRONLY, 0600), STDERR_FILENO);
    report_crashes();
    Clusters c(2, 2, 2);
    c.program = [](SimIsa& isa) {
      cluster_sync(isa);
      volatile int stages = 0;
      if (isa.cluster_ctarank() == 1 && isa.warpid() == 1) stages = 7 / stages;
    };
    c.run();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
  const std::string text = read_whole(errors);
  CHECK(text.rfind("sm100sim: role code crashed: mma (warp 1) of CTA 1 divides an integer by zero at cycle ", 0) ==
        0);
  CHECK(text.find('\n') == text.size() - 1);
}
