// SPDX-License-Identifier: Apache-2.0
// sm100sim exec, as a user runs it, with a program of ours that needs no nvcc (program.cpp).
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "catch.h"
#include "exec_paths.h"
#include "exec_program.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

Ran exec(const std::string& what, const std::string& options = "") {
  return exec_program(SM100_EXEC_PROGRAM, what, options);
}

}  // namespace

TEST_CASE("exec: a program's kernel computes its sums on the models, and its timers show simulated time") {
  const Ran ran = exec("add");
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out == "cudaSuccess, 0 wrong\ntook simulated time\n");
  CHECK(contains(ran.err, "exec: launch 1: add, grid 4 of 256 threads: "));
  CHECK(contains(ran.err, "\nexec: 1 launch, 1 not on the models; simulated time "));
  CHECK(contains(ran.err, ", the program's events say "));
}

TEST_CASE("exec: memory of the host, and calls of the legacy stream within a capture") {
  const Ran ran = exec("host");
  INFO(ran.err);
  CHECK(ran.out ==
        "pinned: cudaSuccess\ntype 1\ninterior: cudaErrorInvalidValue\nforeign: cudaErrorInvalidValue\n"
        "free: cudaSuccess\nfree null: cudaSuccess\nnot registered: cudaErrorHostMemoryNotRegistered\n"
        "register: cudaSuccess\nregister a part: cudaErrorHostMemoryAlreadyRegistered\n"
        "registered: cudaSuccess\ntype 1\nunregister: cudaSuccess\nplain: cudaSuccess\ntype 0\n"
        "freed: cudaSuccess\ntype 0\nfree null later: cudaSuccess\npitch: cudaErrorInvalidPitchValue\n"
        "legacy copy: cudaErrorStreamCaptureImplicit\nend: cudaErrorStreamCaptureInvalidated\n"
        "legacy copy: cudaSuccess\nend: cudaSuccess\ncudaSuccess, 0 wrong\n");
}

TEST_CASE("exec: work of two streams that nothing orders is found, however it runs") {
  for (const char* how : {"nothing", "nonblocking", "capture", "freed", "device"}) {
    const Ran ran = exec(std::string("streams ") + how);
    INFO(how << "\n" << ran.err);
    CHECK(ran.exit_code == 4);
  }
  const Ran kernels = exec("streams nothing"), copy = exec("streams nonblocking");
  CHECK(contains(
      kernels.err,
      "exec: GD2: launch 2 (copy, stream 2) reads 256 bytes that launch 1 (copy, stream 1) writes (bytes 0 "
      "to 255 of the allocation of 512 at 0x"));
  CHECK(contains(kernels.err, "What is missing is cudaEventRecord behind the one and cudaStreamWaitEvent ahead"));
  CHECK(contains(copy.err,
                 "exec: GD2: a copy to the host (the default stream) reads 256 bytes that launch 1 (copy, "
                 "stream 1) writes"));
  CHECK(contains(copy.err,
                 "A stream that was created with cudaStreamNonBlocking and the default stream do not wait"));
}

TEST_CASE("exec: work of two streams that something orders, or that touches other bytes, is no finding") {
  for (const char* how : {"event", "host", "destroyed", "apart", "blocking", "waited", "legacy"}) {
    const Ran ran = exec(std::string("streams ") + how);
    INFO(how << "\n" << ran.err);
    CHECK(ran.exit_code == 0);
    CHECK_FALSE(contains(ran.err, "GD2"));
  }
}

TEST_CASE("exec: constants and variables of a module are the program's symbols") {
  const Ran ran = exec("symbol");
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out == "cudaSuccess, 0 wrong\ncounter 1000\n");
}

TEST_CASE("exec: a kernel that hangs is reported, and the exit code is 3 whatever the program returns") {
  const Ran ran = exec("hang");
  INFO(ran.err);
  CHECK(ran.exit_code == 3);
  CHECK(contains(ran.err, "HANG"));
  CHECK(contains(ran.err, "never"));
}

TEST_CASE("exec: after a launch that was not carried out nothing passes") {
  const Ran ran = exec("ignore");
  INFO(ran.err);
  CHECK(ran.exit_code == 3);
  CHECK(ran.out == "cudaErrorLaunchFailure, 1000 wrong\n");
}

TEST_CASE("exec: a launch that leaves memory gets the device's own error") {
  const Ran ran = exec("null");
  INFO(ran.err);
  CHECK(ran.out == "cudaErrorIllegalAddress\n");
  CHECK(ran.exit_code == 4);
  CHECK(contains(ran.err, "outside of every allocation; it is a null pointer, or little more"));
}

TEST_CASE("exec: more threads than __launch_bounds__ allow are refused as an H200 does") {
  const Ran ran = exec("bounds");
  INFO(ran.err);
  CHECK(ran.out == "cudaErrorInvalidValue\ncudaSuccess, 0 wrong\n");
  CHECK(contains(ran.err, "hang: a CTA of 96 threads, and it was compiled for 64 at most (__launch_bounds__)"));
}

TEST_CASE("exec: a program that launches nothing does not pass") {
  const Ran ran = exec("nothing");
  CHECK(ran.exit_code == 2);
  CHECK(ran.err == "exec: no kernel was launched, so nothing was checked\n");
}

TEST_CASE("exec: a program that never calls the runtime library does not pass") {
  const Ran ran = run(ScratchDirectory(), "exec true");
  CHECK(ran.exit_code == 2);
  CHECK(ran.err == "exec: true has not called sm100sim's CUDA runtime library, so nothing was checked\n");
}

TEST_CASE("exec: fresh memory holds what no result has") {
  const Ran ran = exec("unwritten");
  CHECK(ran.exit_code == 0);
  CHECK(contains(ran.out, "0 bytes are not 0xff\n"));
}

TEST_CASE("exec: a host that reads device memory dies of it, with a sentence") {
  const Ran ran = exec("read");
  CHECK(ran.exit_code == 128 + SIGSEGV);
  CHECK(contains(
      ran.err,
      "exec: the host program has read or written device memory through its pointer; it needs cudaMemcpy\n"));
}

TEST_CASE("exec: what is not implemented says its name and fails") {
  const Ran function = exec("refused");
  CHECK(contains(function.err, "exec: not implemented: cudaArrayGetInfo\n"));
  CHECK(contains(function.out, "cudaErrorNotSupported\n"));
  const Ran attribute = exec("attribute");
  CHECK(
      contains(attribute.err, "exec: not implemented: launch attribute 1 cudaLaunchAttributeAccessPolicyWindow\n"));
  CHECK(contains(attribute.out, "cudaErrorNotSupported\n"));
  CHECK(attribute.exit_code == 2);
}

TEST_CASE("exec: programs that cannot run are refused in a sentence") {
  struct Refusal {
    std::string program, sentence;
  };
  const std::string own = SM100_EXEC_PROGRAM;
  const std::string folder = std::filesystem::path(own).parent_path().string();
  const std::vector<Refusal> all = {
      {own + " old", own + ": the program has PTX for sm_90a, and this device is sm_100a: build with -gencode "
                           "arch=compute_100a,code=compute_100a"},
      {own + " binary", own +
                            ": the program has machine code only (sm_100) and no PTX: build with -gencode "
                            "arch=compute_100a,code=compute_100a; -rdc=true links machine code and leaves no PTX: "
                            "build without it"},
      {folder + "/exec_static_program", folder + "/exec_static_program: the CUDA runtime is linked into it, which "
                                                 "needs NVIDIA's driver: link with nvcc -cudart "
                                                 "shared (CMake: set CUDA_RUNTIME_LIBRARY to Shared)"},
      {folder + "/exec_cuda12_program", folder + "/exec_cuda12_program: it asks for libcudart.so.12, and sm100sim "
                                                 "has the runtime library of CUDA 13 only: build "
                                                 "it with CUDA 13"},
      {"no_such_program", "no_such_program: there is no such program (a path has a slash: ./no_such_program)"},
      {"", "exec: needs a program: sm100sim exec [OPTIONS] ./program ARGS..."}};
  for (const Refusal& refusal : all) {
    const Ran ran = run(ScratchDirectory(), "exec " + refusal.program);
    INFO(refusal.program << "\n" << ran.err);
    CHECK(ran.exit_code == 2);
    CHECK(contains(ran.err, refusal.sentence + "\n"));
  }
}

TEST_CASE("exec: a launch that was written runs again from its files") {
  const ScratchDirectory folder;
  const std::string saved = (folder / "saved").string();
  const Ran ran = run(folder, "exec --sms 2 --save " + saved + " " + SM100_EXEC_PROGRAM + " symbol");
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Ran again =
      run(folder, "ptx " + saved + "/launch_1.ptx --launch " + saved + "/launch_1.toml --json result.json");
  INFO(again.err);
  CHECK(again.exit_code == 0);
  const Ran hang = run(folder, "exec --sms 2 --save " + saved + " " + SM100_EXEC_PROGRAM + " hang");
  CHECK(hang.exit_code == 3);
  CHECK(run(folder, "ptx " + saved + "/launch_1.ptx --launch " + saved + "/launch_1.toml").exit_code == 3);
}

TEST_CASE("exec: a launch that need not wait for the one ahead was not looked at where it reads before the wait") {
  const Ran early = exec("early");
  INFO(early.err);
  CHECK(early.exit_code == 0);
  CHECK(contains(early.err, "not checked"));
  CHECK(contains(early.err,
                 "what launch 1 writes, which this launch need not have waited for: a bulk copy comes before "
                 "griddepcontrol.wait"));
  for (const char* ordered : {"late", "waited"}) {
    const Ran ran = exec(ordered);
    INFO(ran.err);
    CHECK(ran.exit_code == 0);
    CHECK(!contains(ran.err, "griddepcontrol"));
  }
}

TEST_CASE("exec: the program's exit code is passed on") {
  CHECK(exec("add").exit_code == 0);
  const Ran ran =
      run(ScratchDirectory(), std::string("exec --sms 2 sh -c '") + SM100_EXEC_PROGRAM + " add; exit 7'");
  CHECK(ran.exit_code == 7);
}

namespace {

/// `sm100sim exec PROGRAM WHAT` as a child, and the processes that it has started.
class Running {
 public:
  explicit Running(const char* what) {
    prctl(PR_SET_CHILD_SUBREAPER, 1);  // whoever loses its parent becomes our child
    parent = fork();
    if (parent == 0) {
      const int nowhere = open("/dev/null", O_WRONLY);
      dup2(nowhere, 1), dup2(nowhere, 2);
      const std::string binary = sm100sim_binary();
      execl(binary.c_str(), binary.c_str(), "exec", "--sms", "2", SM100_EXEC_PROGRAM, what, nullptr);
      _exit(127);
    }
  }
  /// Its children, once there are so many.
  std::vector<pid_t> children(size_t count) const {
    for (;;) {
      std::ifstream file("/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children");
      std::vector<pid_t> all;
      for (pid_t child; file >> child;) all.push_back(child);
      if (all.size() == count || waitpid(parent, nullptr, WNOHANG) != 0) return all;
    }
  }
  /// Of the parent; returns when all of its processes have ended.
  int end() const {
    int status = 0, of_parent = -1;
    for (pid_t ended; (ended = waitpid(-1, &status, 0)) > 0 || errno == EINTR;)
      if (ended == parent) of_parent = status;
    return of_parent;
  }
  pid_t parent = -1;
};

}  // namespace

TEST_CASE("exec: a worker that is killed fails its launch, and the program goes on") {
  const Running running("spin");
  const std::vector<pid_t> children = running.children(2);  // the program, then the worker
  REQUIRE(children.size() == 2);
  kill(children[1], SIGKILL);
  const int status = running.end();
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 5);
}

TEST_CASE("exec: a parent that is killed takes program and worker along") {
  const Running running("spin");
  REQUIRE(running.children(2).size() == 2);
  kill(running.parent, SIGKILL);
  CHECK(WIFSIGNALED(running.end()));
}

TEST_CASE("exec: a program that is killed ends the parent and the worker") {
  const Running running("spin");
  const std::vector<pid_t> children = running.children(2);
  REQUIRE(children.size() == 2);
  kill(children[0], SIGKILL);
  const int status = running.end();
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) != 0);
}

TEST_CASE("exec: the library exports every name of its table, and each is what the table says") {
  void* const library = dlopen(SM100_EXEC_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  int names = 0;
#define SM100_NAME(name) \
  ++names;               \
  INFO(#name);           \
  CHECK(dlvsym(library, #name, "libcudart.so.13"));
#define SUPPORTED(name) SM100_NAME(name)
#define PER_THREAD(name, same) SM100_NAME(name)
#define REFUSED(name) SM100_NAME(name)
#include "exec/shim/runtime_names.inc"
  CHECK(names == 422);
}

#undef SUPPORTED
#undef PER_THREAD
#undef REFUSED

namespace {

struct Names {
  std::set<std::string> supported, refused;
};

Names names_of_runtime() {
  Names names;
#define SUPPORTED(name) names.supported.insert(#name);
#define PER_THREAD(name, same) SUPPORTED(name)
#define REFUSED(name) names.refused.insert(#name);
#include "exec/shim/runtime_names.inc"
  return names;
}
Names names_of_driver() {
  Names names;
#include "exec/shim/driver_names.inc"
  return names;
}

/// The first block of code below a line of the page that begins with `head`, and the next.
Names listed(const std::string& page, const std::string& head) {
  size_t at = page.find("\n" + head);
  const auto block = [&] {
    const size_t begin = page.find("```\n", at) + 4;
    const size_t end = page.find("```", begin);
    at = end + 3;
    std::istringstream text(page.substr(begin, end - begin));
    std::set<std::string> names;
    for (std::string name; text >> name;) names.insert(name);
    return names;
  };
  const std::set<std::string> supported = block();
  return {supported, block()};
}

}  // namespace

TEST_CASE("docs/: exec.md lists the functions that the libraries have and refuse") {
  const std::string page = read_whole(source_dir() + "/docs/exec.md");
  const Names runtime = listed(page, "## Functions of the runtime library\n"),
              driver = listed(page, "## Functions of the driver library\n");
  CHECK(runtime.supported == names_of_runtime().supported);
  CHECK(runtime.refused == names_of_runtime().refused);
  CHECK(driver.supported == names_of_driver().supported);
  CHECK(driver.refused == names_of_driver().refused);
}
