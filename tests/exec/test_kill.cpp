// SPDX-License-Identifier: Apache-2.0
// sm100sim exec whose parent, program or worker is killed at some moment: nothing of it is left, and every file is
// whole.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "exec_paths.h"
#include "sim/program.h"

using namespace sm100;
using namespace sm100::sim;
namespace fs = std::filesystem;

namespace {

/// How many times: SM100_KILLS of the environment, else a few.
int kills() {
  const char* const given = std::getenv("SM100_KILLS");
  return given ? std::atoi(given) : 10;
}

/// Processes that have this one as their parent, or as one of their ancestors.
std::vector<pid_t> descendants(pid_t of) {
  std::vector<pid_t> all;
  std::ifstream file("/proc/" + std::to_string(of) + "/task/" + std::to_string(of) + "/children");
  for (pid_t child; file >> child;) {
    all.push_back(child);
    const std::vector<pid_t> more = descendants(child);
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

pid_t start(const fs::path& folder) {
  const pid_t process = fork();
  if (process != 0) return process;
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, 1), dup2(nowhere, 2);
  if (chdir(folder.c_str()) != 0) _exit(126);
  const std::string binary = sm100sim_binary();
  execl(binary.c_str(), binary.c_str(), "exec", "--sms", "2", "--save", "saved", "--json", "all.json", "--sarif",
        "all.sarif", "--trace", "all.pftrace", "--html", "all.html", SM100_EXEC_PROGRAM, "copies", nullptr);
  _exit(127);
}

std::set<std::string> shared_memory() {
  std::set<std::string> names;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/dev/shm", none)) names.insert(entry.path().filename().string());
  return names;
}

/// A file under its final name is there as a whole.  What a launch has written has always the same bytes.
void check_files(const fs::path& folder, const fs::path& undisturbed) {
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const fs::path name = entry.path().lexically_relative(folder);
    INFO(name);
    const std::string bytes = read_whole(entry.path());
    if (!fs::exists(undisturbed / name)) continue;  // a temporary name
    if (name.parent_path() == "saved") {
      CHECK(bytes == read_whole(undisturbed / name));
    } else if (name.extension() == ".pftrace") {
      CHECK(run(ScratchDirectory(), "stats " + entry.path().string()).exit_code == 0);
    } else if (name.extension() == ".html") {
      CHECK(bytes.find("</html>") != std::string::npos);
    } else {
      CHECK(nlohmann::json::accept(bytes));
    }
  }
}

}  // namespace

TEST_CASE("exec: whoever is killed at whatever moment, no process, no memory and no part of a file is left") {
  prctl(PR_SET_CHILD_SUBREAPER, 1);  // whoever loses its parent becomes our child
  const ScratchDirectory undisturbed;
  int status = 0;
  REQUIRE(waitpid(start(undisturbed / "."), &status, 0) > 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  const std::set<std::string> before = shared_memory();
  std::mt19937 random(1);
  int hit[3] = {};
  for (int i = 0; i < kills(); ++i) {
    const ScratchDirectory folder;
    const pid_t parent = start(folder / ".");
    const unsigned victim = random() % 3, moment = random() % 20'000;
    bool ended = false;
    for (unsigned turn = 0; turn < moment && !ended; ++turn) {
      sched_yield();
      ended = waitpid(parent, &status, WNOHANG) == parent;
    }
    // The parent, its first child (the program), or what comes behind it (a worker), once it is there.
    for (bool killed = false; !killed && !ended;) {
      const std::vector<pid_t> below = descendants(parent);
      const pid_t process = victim == 0 ? parent : victim <= below.size() ? below[victim - 1] : 0;
      killed = process > 0 && kill(process, SIGKILL) == 0;
      hit[victim] += killed;
      ended = !killed && waitpid(parent, &status, WNOHANG) == parent;
    }
    while (waitpid(-1, &status, 0) > 0 || errno == EINTR) {}  // returns when the last of them has ended
    INFO("kill " << i << " of " << (victim == 0 ? "the parent" : victim == 1 ? "the program" : "a worker"));
    CHECK(descendants(getpid()).empty());
    CHECK(shared_memory() == before);
    check_files(folder / ".", undisturbed / ".");
  }
  INFO("parent " << hit[0] << ", program " << hit[1] << ", worker " << hit[2]);
  CHECK(hit[0] + hit[1] + hit[2] > 0);
}
