// SPDX-License-Identifier: Apache-2.0
// A file appears whole or not at all, and what a killed writer leaves behind goes with the next one.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "catch.h"
#include "scratch_directory.h"
#include "traces/format/atomic_file.h"

using namespace sm100;
using namespace sm100::traces;

namespace {

/// A child that writes half of `path`, tells so, and waits to be ended.
pid_t half_written(const std::filesystem::path& path, bool with_handler) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    if (with_handler) remove_temporaries_on_signals();
    AtomicFile file(path);
    file.stream() << "half" << std::flush;
    [[maybe_unused]] const auto told = ::write(ends[1], "x", 1);
    for (;;) pause();
  }
  char byte;
  REQUIRE(::read(ends[0], &byte, 1) == 1);
  close(ends[0]), close(ends[1]);
  return child;
}

int end(pid_t child, int signal) {
  kill(child, signal);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

void write(const std::filesystem::path& path) {
  AtomicFile file(path);
  file.stream() << "whole";
  file.commit();
}

}  // namespace

TEST_CASE("the temporary file of a killed writer is removed by the next writer of that name", "[traces]") {
  ScratchDirectory scratch;
  const pid_t killed = half_written(scratch / "t.pftrace", false);
  CHECK(end(killed, SIGKILL) == SIGKILL);
  REQUIRE(scratch.files() == 1);
  scratch.write("t.pftrace.12x.tmp", "somebody's own");
  scratch.write("t.pftrace.20261122.tmp", "a date");
  scratch.write("other.pftrace.12.tmp", "of another name");
  write(scratch / "t.pftrace");
  CHECK(scratch.files() == 4);
  CHECK(read_whole(scratch / "t.pftrace") == "whole");
  CHECK_FALSE(std::filesystem::exists(scratch / ("t.pftrace." + std::to_string(killed) + ".tmp")));
}

TEST_CASE("the temporary file of a writer that is at work stays", "[traces]") {
  ScratchDirectory scratch;
  const pid_t writer = half_written(scratch / "t.pftrace", false);
  write(scratch / "t.pftrace");
  CHECK(std::filesystem::exists(scratch / ("t.pftrace." + std::to_string(writer) + ".tmp")));
  end(writer, SIGKILL);
  check_output(scratch / "t.pftrace", {});  // a look is enough
  CHECK(scratch.files() == 1);
}

TEST_CASE("an interrupted writer leaves nothing behind", "[traces]") {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    ScratchDirectory scratch;
    CHECK(end(half_written(scratch / "t.pftrace", true), signal) == signal);
    CHECK(scratch.files() == 0);
  }
}

TEST_CASE("two writers of one name in one process: the second is refused", "[traces]") {
  ScratchDirectory scratch;
  const AtomicFile first(scratch / "t");
  CHECK_THROWS_WITH(AtomicFile(scratch / "t"), Catch::Contains("writes it already"));
}
