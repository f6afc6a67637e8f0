// SPDX-License-Identifier: Apache-2.0
// Launches of PTX: what a launch file says of memory and parameters as bytes, and launches as values.
#include "catch.h"
#include "kernels/host/scenario.h"
#include "kernels/ptx_launch/host/ptx_launch.h"
#include "kernels/ptx_launch/host/ptx_run.h"
#include "scratch_directory.h"

using namespace sm100;
using namespace sm100::host;

namespace {

constexpr const char* kKernel = R"(.version 9.0
.target sm_100a
.address_size 64
.visible .entry k(.param .u64 a, .param .align 4 .b8 s[8])
.maxntid 128
{
.reg .b32 %r<2>; .shared .align 8 .b64 bars[2];
mov.u32 %r1, bars;
ret;
}
)";

constexpr const char* kLaunch = R"(kernel = "ptx"
profile = "b200"
[problem]
ptx = "k.ptx"
entry = "k"
grid = [1, 1, 1]
block = [32, 1, 1]
[[problem.tensor]]
name = "a"
type = "u8"
shape = [4]
address = 0x200000001000
file = "a.bin"
[[problem.tensor]]
name = "b"
type = "u8"
shape = [256]
address = 0x200000002000
[[problem.argument]]
value = 0x200000001000
[[problem.argument]]
hex = "00 01 02 03\n fe FF 10 11"
)";

struct Files {
  Files() { folder.write("k.ptx", kKernel), folder.write("a.bin", "abcd"); }
  /// Of the launch file, with `from` replaced by `to`.
  Scenario load(const std::string& from = "", const std::string& to = "") const {
    std::string text = kLaunch;
    if (!from.empty()) text.replace(text.find(from), from.size(), to);
    return load_scenario(folder.write("launch.toml", text));
  }
  std::string error(const std::string& from, const std::string& to) const {
    try {
      load(from, to);
    } catch (const InputError& wrong) { return wrong.what(); }
    return "";
  }
  ScratchDirectory folder;
};

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

PtxLaunchValues values() {
  PtxLaunchValues launch;
  launch.module = std::make_shared<const ptx::Module>(ptx::parse(kKernel, "k.ptx"));
  launch.block = {64, 1, 1};
  launch.parameters.assign(16, 7);
  return launch;
}

std::string refusal(const PtxLaunchValues& launch) {
  try {
    problem_of(launch, "launch 1");
  } catch (const InputError& wrong) { return wrong.what(); }
  return "";
}

}  // namespace

TEST_CASE("ptx launch file: tensors have addresses and bytes of files, parameters are bytes") {
  const Files files;
  const Scenario scenario = files.load();
  const PtxRun run(scenario);
  const std::vector<Tensor> tensors = run.tensors();
  REQUIRE(tensors.size() == 2);
  CHECK(tensors[0].address == 0x200000001000u);
  uint8_t bytes[4];
  run.fill(0, bytes);
  CHECK(std::string(bytes, bytes + 4) == "abcd");
  const std::vector<uint8_t> window =
      run.parameters({{0x200000001000}, {0x200000002000}}, [](const TensorMapFields&) { return TensorMap(); });
  CHECK(window == std::vector<uint8_t>{0, 0x10, 0, 0, 0, 0x20, 0, 0, 0, 1, 2, 3, 0xfe, 0xff, 0x10, 0x11});
}

TEST_CASE("ptx launch file: what is wrong with them is one line") {
  const Files files;
  CHECK(contains(files.error("shape = [4]", "shape = [5]"), "has 4 bytes, the tensor 5"));
  CHECK(contains(files.error("a.bin", "other.bin"), "cannot be read"));
  CHECK(contains(files.error("file = \"a.bin\"", "file = \"a.bin\"\ncontents = \"zeros\""), "contents or a file"));
  CHECK(contains(files.error("address = 0x200000002000", "address = 0x200000001002"), "a lies there, too"));
  CHECK(contains(files.error("10 11", "10 1"), "odd number of digits"));
  CHECK(contains(files.error("10 11", "10 1g"), "two hexadecimal digits"));
  CHECK(contains(files.error("10 11", "10 11 12"), "9 bytes at offset 0 of parameter 1"));
}

TEST_CASE("ptx launch as values: memory that is there, and the window as it is") {
  PtxLaunchValues launch = values();
  uint8_t memory[512];
  launch.memory = {{0x200000001000, sizeof memory, memory}};
  Scenario scenario;
  scenario.problem = problem_of(launch, "launch 1");
  const PtxRun run(scenario);
  const Tensor tensor = run.tensors().back();
  CHECK(tensor.bytes_there == memory);
  CHECK(tensor.address == 0x200000001000u);
  CHECK(run.launch().warps == 2);
  CHECK(run.launch().smem_bytes == 16);
  CHECK(run.barriers().front().stages == 2);
  CHECK(run.parameters({{0x200000001000}}, [](const TensorMapFields&) { return TensorMap(); }) ==
        launch.parameters);
}

TEST_CASE("ptx launch as values: what CUDA refuses") {
  PtxLaunchValues launch = values();
  CHECK(refusal(launch) == "");
  launch.block = {256, 1, 1};
  CHECK(refusal(launch) == "launch 1: 256 threads; the entry's .maxntid allows 128");
  launch = values(), launch.cluster = {2, 1, 1};
  CHECK(refusal(launch) == "launch 1: a grid of 1 x 1 x 1 CTAs is no multiple of clusters of 2 x 1 x 1");
  launch = values(), launch.grid.x = 0;
  CHECK(contains(refusal(launch), "at least one CTA"));
  launch = values(), launch.parameters.pop_back();
  CHECK(refusal(launch) == "launch 1: 15 bytes of parameters, the entry takes 16");
}
