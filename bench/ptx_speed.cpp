// SPDX-License-Identifier: Apache-2.0
// How fast PTX is executed, in warp instructions per second of processor time, and against role code:
//   - a loop of integer and f32 arithmetic, one warp inside the models, and 1,024 warps without clock and models;
//   - without clock and models also loops of memory, of addresses and predicates, and of what kernels do with them
//     (ptx_loops.h);
//   - the compiled direct kernel against its role code, timing only, where the CUDA kernels have been built.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "bench/ptx_loops.h"
#include "sim/ptx/functional_grid.h"

namespace {

using namespace sm100;

constexpr int kRounds = 50000;

double processor_seconds(int who) {
  rusage usage{};
  getrusage(who, &usage);
  return double(usage.ru_utime.tv_sec) + 1e-6 * double(usage.ru_utime.tv_usec);
}

/// Seconds of `sm100sim ...` that passes; ends this program if it does not.
double run(const std::string& arguments) {
  const double start = processor_seconds(RUSAGE_CHILDREN);
  const std::string command = fmt::format("'{}' {} > /dev/null", SM100SIM_BINARY, arguments);
  if (std::system(command.c_str()) != 0) {
    fmt::print(stderr, "the run did not pass: {}\n", command);
    std::exit(1);
  }
  return processor_seconds(RUSAGE_CHILDREN) - start;
}

void print(const std::string& what, double instructions, double seconds) {
  fmt::print("{:<36} {:7.2f} s {:7.1f} M warp instructions/s\n", what, seconds, instructions / seconds * 1e-6);
}

void inside_models(const std::filesystem::path& folder) {
  std::ofstream(folder / "loop.ptx") << bench::arithmetic_loop().ptx;
  std::ofstream(folder / "loop.toml") << fmt::format(
      "kernel = \"ptx\"\nprofile = \"b200\"\n[problem]\nptx = \"loop.ptx\"\nentry = \"loop\"\ngrid = [1, 1, 1]\n"
      "block = [32, 1, 1]\n[[problem.tensor]]\nname = \"out\"\ntype = \"u32\"\nshape = [32]\ncontents = "
      "\"unwritten\"\n"
      "[[problem.argument]]\naddress = \"out\"\n[[problem.argument]]\nvalue = {}\n[run]\nsms = 1\n",
      kRounds);
  print("loop, one warp in the models", 103.0 * kRounds,
        run(fmt::format("run '{}'", (folder / "loop.toml").string())));
}

class OneAllocation : public sim::DeviceMemory {
 public:
  Range range_of(uint64_t) const override { return {kFirst, bytes.size(), bytes.data()}; }
  static constexpr uint64_t kFirst = 0x10000000;
  mutable std::vector<uint8_t> bytes = std::vector<uint8_t>(bench::kLoopBytes);
};

/// 1,024 warps, or of short ones more; on every core of the host, but seconds are those of processors.
void without_models(const bench::Loop& loop) {
  const ptx::Module module = ptx::parse(loop.ptx, "loop.ptx");
  const OneAllocation memory;
  constexpr int kFunctionalRounds = kRounds / 256;
  struct {
    uint64_t out = OneAllocation::kFirst;
    uint32_t rounds = kFunctionalRounds;
  } window;
  const double start = processor_seconds(RUSAGE_SELF);
  const sim::FunctionalResult result =
      sim::run_functional({.module = &module,
                           .entry = &module.entries[0],
                           .grid = {uint32_t(loop.ctas), 1, 1},
                           .block = {32 * uint32_t(loop.warps), 1, 1},
                           .parameters = {reinterpret_cast<const uint8_t*>(&window), 12},
                           .memory = &memory});
  if (result.end != sim::FunctionalEnd::finished) {
    fmt::print(stderr, "the loop did not finish: {}\n", result.text);
    std::exit(1);
  }
  print(loop.name + ", no models", double(result.warp_instructions), processor_seconds(RUSAGE_SELF) - start);
}

void against_roles() {
  if (!std::filesystem::exists(SM100_DIRECT_PTX)) {
    fmt::print("direct from PTX: skipped, {} has not been built\n", SM100_DIRECT_PTX);
    return;
  }
  const std::string scenario = fmt::format("run '{}/scenarios/direct/v5_4096.toml'", SM100_SOURCE_DIR);
  const double roles = run(scenario);
  const double ptx = run(fmt::format("{} --set 'run.ptx={}' --set run.ptx_entry=DirectConfigILm6EEENS_10NoRecorder",
                                     scenario, SM100_DIRECT_PTX));
  fmt::print("direct v5, 4096^3, timing only   {:.2f} s from PTX, {:.2f} s as roles, ratio {:.2f}\n", ptx, roles,
             ptx / roles);
}

}  // namespace

/// `ptx_speed [part of a name]`: only the loops without models that have it in their names.
int main(int argc, char** argv) {
  const std::string_view only = argc > 1 ? argv[1] : "";
  if (only.empty()) {
    char name[] = "/tmp/sm100sim_bench_XXXXXX";
    if (!mkdtemp(name)) return std::perror("a temporary folder"), 1;
    inside_models(name);
    std::filesystem::remove_all(name);
  }
  for (const bench::Loop& loop : bench::loops())
    if (loop.name.find(only) != std::string::npos) without_models(loop);
  if (only.empty()) against_roles();
  return 0;
}
