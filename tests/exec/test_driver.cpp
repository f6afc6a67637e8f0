// SPDX-License-Identifier: Apache-2.0
// sm100sim exec with a program of the driver API (driver_program.cpp).
#include <dlfcn.h>

#include <csignal>
#include <fstream>

#include "catch.h"
#include "exec_paths.h"
#include "exec_program.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

Ran exec(const std::string& what) { return exec_program(SM100_EXEC_DRIVER_PROGRAM, what); }

void check(const char* what, int exit_code, const std::string& out) {
  const Ran ran = exec(what);
  INFO(what << "\n" << ran.err);
  CHECK(ran.exit_code == exit_code);
  CHECK(ran.out == out);
}

}  // namespace

TEST_CASE("exec: a module of PTX text has entries and variables, and is launched with addresses or a buffer") {
  check("module", 0,
        "4 entries, another is CUDA_ERROR_NOT_FOUND\nCUDA_SUCCESS\n0 wrong\nCUDA_SUCCESS\n0 wrong\nunloaded: "
        "CUDA_ERROR_INVALID_HANDLE\n");
}

TEST_CASE("exec: a module is loaded from a file") {
  const ScratchDirectory folder;
  const Ran ran = exec("file " + (folder / "module.ptx").string());
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(contains(ran.out, "none: CUDA_ERROR_FILE_NOT_FOUND\n4 entries"));
}

TEST_CASE("exec: a library's kernel says what it is, and is launched as clusters") {
  check("library", 0, "increase: 1024 threads, parameter 1 at 8 of 4 bytes\nCUDA_SUCCESS\n0 wrong\n");
}

TEST_CASE("exec: a tensor map that the driver has encoded is what the copy goes by") {
  check("map", 0, "CUDA_SUCCESS\n0 wrong\n");
  const Ran bad = exec("bad_map");
  CHECK(bad.out == "CUDA_ERROR_INVALID_VALUE\n");
  CHECK(contains(bad.err,
                 "exec: cuTensorMapEncodeTiled refuses this map: box dimension 0 must span a multiple of 16"));
}

TEST_CASE("exec: what is captured on two streams runs when its graph is launched") {
  check(
      "graph", 0,
      "CUDA_SUCCESS\nCUDA_SUCCESS\n0 wrong\nCUDA_SUCCESS\n0 wrong\ncopied 12, took simulated time\nCUDA_SUCCESS\n0 "
      "wrong\nCUDA_SUCCESS\n0 wrong\n");
}

TEST_CASE("exec: a capture that CUDA refuses is refused, and its work is not done") {
  check("unjoined", 0, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED\nCUDA_SUCCESS\n0 wrong\n");
  check("sync", 0,
        "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED\nCUDA_ERROR_STREAM_CAPTURE_INVALIDATED\nCUDA_SUCCESS\n0 wrong\n");
}

TEST_CASE("exec: fills, ranges and pools of the driver") {
  check("memory", 0,
        "01020304 0102aaaa 0102bbcc 01020304 0102bbcc\nbase 64\npast the end: CUDA_ERROR_INVALID_VALUE\npool kept, "
        "freed twice: CUDA_ERROR_INVALID_VALUE\n");
}

TEST_CASE("exec: managed memory is the host's once it has waited for the device") {
  check("managed", 0, "0 wrong\n");
  const Ran early = exec("early");
  CHECK(early.exit_code == 128 + SIGSEGV);
  CHECK(contains(early.err,
                 "exec: the host program has read or written managed memory while a launch may still use it; it "
                 "needs cudaDeviceSynchronize\n"));
}

TEST_CASE("exec: a cooperative launch has as many CTAs as fit at once") {
  const Ran ran = exec("cooperative");
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out ==
        "2 SMs: CUDA_SUCCESS\none more: CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE\nCUDA_SUCCESS\n0 wrong\n");
  CHECK(contains(ran.err, "exec: increase: a cooperative launch of 65 CTAs, and 64 fit on 2 SMs at once\n"));
}

TEST_CASE("exec: the CTAs of a cooperative launch meet at the grid's barrier, launch after launch") {
  check("grid_sync", 0, "0 wrong\n");
}

TEST_CASE("exec: a fence makes a relaxed atomic a release, without it there is a race") {
  check("fenced", 0, "0 wrong\n");
  const Ran ran = exec("unfenced");
  CHECK(ran.exit_code == 4);
  CHECK(contains(ran.err, "FINDING GM3"));
}

TEST_CASE("exec: an allocation that finds no room says how much there is, and the program goes on") {
  const Ran ran = exec("no_memory");
  CHECK(ran.exit_code == 0);
  CHECK(ran.out == "CUDA_ERROR_OUT_OF_MEMORY\nCUDA_SUCCESS\n0 wrong\n");
  CHECK(contains(ran.err, "exec: an allocation of 1125899906842624 bytes finds no room: device memory has "));
}

TEST_CASE("exec: functions by name are the newest forms, what is not implemented says so when it is called") {
  const Ran ran = exec("names");
  CHECK(ran.exit_code == 0);
  CHECK(ran.out == "cuMemAlloc is _v2\nCUDA_ERROR_NOT_SUPPORTED\nCUDA_ERROR_NOT_FOUND\nnothing 1\n");
  CHECK(contains(ran.err, "exec: not implemented: cuMulticastCreate\n"));
}

TEST_CASE("exec: the driver needs cuInit and a context") {
  CHECK(exec("not_initialized").out == "CUDA_ERROR_NOT_INITIALIZED\n");
  CHECK(exec("no_context").out == "CUDA_ERROR_INVALID_CONTEXT\n");
}

TEST_CASE("exec: a module that is no PTX for this device is refused in a sentence") {
  const Ran cubin = exec("cubin");
  CHECK(cubin.out == "CUDA_ERROR_NO_BINARY_FOR_GPU\n");
  CHECK(contains(cubin.err,
                 "exec: the program loads a module of machine code (a cubin), and only PTX can be simulated: give "
                 "it the PTX (nvcc -ptx, or -gencode arch=compute_100a,code=compute_100a)\n"));
  const Ran old = exec("old");
  CHECK(old.out == "CUDA_ERROR_NO_BINARY_FOR_GPU\n");
  CHECK(contains(old.err,
                 "exec: the program loads PTX for sm_90a, and this device is sm_100a: compile it with "
                 "--gpu-architecture=compute_100a\n"));
  const Ran broken = exec("broken");
  CHECK(broken.out == "CUDA_ERROR_INVALID_PTX\n");
  CHECK(broken.exit_code == 2);  // nobody knows what it would have done
  CHECK(contains(broken.err, " cannot be read: "));
  const Ran refused = exec("refused");
  CHECK(refused.out == "CUDA_ERROR_NOT_SUPPORTED\n");
  CHECK(contains(refused.err, "exec: not implemented: cuArrayCreate_v2\n"));
}

TEST_CASE("exec: --ptx stands in for a module of machine code") {
  const ScratchDirectory folder;
  REQUIRE(exec("file " + (folder / "own.ptx").string()).exit_code == 0);
  const Ran ran = run(folder, std::string("exec --sms 2 --ptx own.ptx ") + SM100_EXEC_DRIVER_PROGRAM + " cubin");
  INFO(ran.err);
  CHECK(ran.exit_code == 0);
  CHECK(ran.out == "CUDA_SUCCESS\n");
}

TEST_CASE("exec: --ptx stands in for a module with the same entry, and is said to be of no use otherwise") {
  const ScratchDirectory folder;
  REQUIRE(exec("file " + (folder / "own.ptx").string()).exit_code == 0);
  std::string text = read_whole(folder / "own.ptx");
  const std::string by = "ld.param.u32 %r1, [by];";
  text.insert(text.find(by) + by.size(), " add.u32 %r1, %r1, 1;");
  std::ofstream(folder / "changed.ptx") << text;
  const Ran changed =
      run(folder, std::string("exec --sms 2 --ptx changed.ptx ") + SM100_EXEC_DRIVER_PROGRAM + " library");
  CHECK(contains(changed.out, "256 wrong\n"));
  const Ran runtime = run(folder, std::string("exec --sms 2 --ptx own.ptx ") + SM100_EXEC_PROGRAM + " add");
  CHECK(runtime.exit_code == 2);
  CHECK(contains(runtime.err, "exec: --ptx own.ptx: the program has loaded no module with an entry of it\n"));
  const Ran none = run(folder, std::string("exec --ptx none.ptx ") + SM100_EXEC_PROGRAM + " add");
  CHECK(none.exit_code == 2);
  CHECK(none.err == "--ptx none.ptx: cannot be read\n");
}

TEST_CASE("exec: the driver library exports every name of its table, and nothing else") {
  void* const library = dlopen(SM100_EXEC_DRIVER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library);
  int names = 0;
#define SM100_NAME(name) \
  ++names;               \
  INFO(#name);           \
  CHECK(dlsym(library, #name));
#define SUPPORTED(name) SM100_NAME(name)
#define PER_THREAD(name, same) SM100_NAME(name)
#define REFUSED(name) SM100_NAME(name)
#include "exec/shim/driver_names.inc"
  CHECK(names == 637);
}
