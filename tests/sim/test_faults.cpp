// SPDX-License-Identifier: Apache-2.0
// Faults: what each action of [[fault]] does to a run, and that every instruction of the table can be altered. Runs
// the program, without hazards: they would end most runs before the effect shows.

#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch.h"
#include "kernels/host/fault.h"
#include "kernels/host/kernel_definition.h"
#include "paths.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

const char* const kOneSm = R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 256
n = 256
k = 512
[config]
mma    = [128, 128, 16]
stages = 4
[run]
hazards    = false
sms        = 1
max_cycles = 200000
)";

const char* const kMulticast = R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 512
n = 512
k = 512
[config]
mma     = [128, 128, 16]
cluster = [2, 2, 1]
stages  = 3
pdl     = true
[run]
hazards    = false
launches   = 2
sms        = 8
max_cycles = 200000
)";

const char* const kPairs = R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 512
n = 256
k = 512
[config]
mma       = [256, 128, 16]
cta_group = 2
cluster   = [2, 1, 1]
stages    = 4
[run]
hazards    = false
sms        = 2
max_cycles = 200000
)";

const char* const kSplit = R"(kernel  = "matmul"
profile = "b200"
[problem]
m = 128
n = 128
k = 512
[config]
mma         = [128, 128, 16]
num_split_k = 2
[run]
hazards    = false
sms        = 2
max_cycles = 200000
)";

const char* const kCopy = R"(kernel  = "pipeline_copy"
profile = "h200"
[problem]
m = 256
n = 1024
[config]
cluster   = 2
multicast = true
pdl       = true
[run]
hazards    = false
sms        = 2
max_cycles = 200000
)";

const char* const kFallbackRun = R"(kernel  = "fallback"
profile = "b200"
[problem]
m = 128
n = 64
k = 128
[config]
block_m = 128
block_n = 64
[run]
hazards    = false
sms        = 1
max_cycles = 200000
)";

const char* const kScaledRun = R"(kernel  = "block_scaled"
profile = "b200"
[problem]
m = 128
n = 128
k = 512
dtype = "nvfp4"
[config]
stages = 2
mma = [128, 128, 64]
[run]
sms = 1
)";
/// Scales of the output along columns: lanes exchange, bytes are stored.
const char* const kHopperRun = R"(kernel  = "hopper_matmul"
profile = "h200"
[problem]
m = 256
n = 128
k = 256
[config]
schedule = "pingpong"
cluster = 2
stages = 2
[run]
sms = 2
)";
const char* const kScaledOutputRun = R"(kernel  = "block_scaled"
profile = "b200"
[problem]
m = 128
n = 128
k = 512
dtype = "nvfp4"
[config]
stages = 2
mma = [128, 128, 64]
output = "e2m1"
output_scales = "columns"
output_block = 16
[run]
sms = 1
)";
/// Scales that warps store.
const char* const kNarrowRun = R"(kernel  = "block_scaled"
profile = "b200"
[problem]
m = 128
n = 64
k = 512
dtype = "nvfp4"
[config]
stages = 2
mma = [128, 32, 64]
[run]
sms = 1
)";
const char* const kBlockwiseRun = R"(kernel  = "blockwise"
profile = "b200"
[problem]
m = 128
n = 128
k = 512
[config]
stages = 2
mma = [128, 128, 32]
[run]
sms = 1
)";
const char* const kBf16ScalesRun = R"(kernel  = "blockwise"
profile = "b200"
[problem]
scale_dtype = "bf16"
m = 128
n = 128
k = 512
[config]
stages = 2
mma = [128, 128, 32]
[run]
sms = 1
)";
const char* const kTokensRun = R"(kernel  = "grouped_1d1d"
profile = "b200"
[problem]
tokens = [100, 128]
n = 128
k = 256
dtype = "nvfp4"
[config]
mma = [128, 128, 64]
scheduling = "ring"
[run]
sms = 1
)";
const char* const kGroupedRun = R"(kernel  = "grouped_block_scaled"
profile = "b200"
[problem]
groups = [[128, 128, 256], [64, 128, 512]]
dtype = "nvfp4"
[config]
stages = 2
mma = [128, 128, 64]
[run]
sms = 1
)";
/// Maps are released by a fence of its own.
const char* const kGroupedInPlaceRun = R"(kernel  = "grouped_block_scaled"
profile = "b200"
[problem]
groups = [[128, 128, 256], [64, 128, 512]]
dtype = "nvfp4"
[config]
stages = 2
mma = [128, 128, 64]
map_edits = "global"
[run]
sms = 1
)";
const char* const kDirectRun = R"(kernel  = "direct"
profile = "b200"
[problem]
m = 256
n = 256
k = 128
[run]
hazards    = false
sms        = 2
max_cycles = 200000
)";

/// A run of `scenario` with `fault`, a table without its braces (or several, with "}, {" between them).
Ran run_with(const char* scenario, const std::string& fault, const std::string& more = "") {
  ScratchDirectory scratch;
  scratch.write("s.toml", scenario);
  return run(scratch, fmt::format("run s.toml {} --set 'fault=[{{{}}}]'", more, fault));
}

/// "... = 12,345 cycles = ..." of a run that passed.
int64_t cycles_of(const Ran& ran) {
  const size_t at = ran.out.find("  time ");
  REQUIRE(at != std::string::npos);
  std::string digits;
  for (const char c : ran.out.substr(at + 6, ran.out.find("cycles", at) - at - 6))
    if (c >= '0' && c <= '9') digits += c;
  return std::stoll(digits);
}

constexpr int kPass = 0, kMismatch = 1, kHang = 3, kFinding = 4;

}  // namespace

TEST_CASE("fault: drop leaves an instruction out", "[fault]") {
  // A wait that is not made is over at once: the accumulator is read and released before it is complete.
  const Ran wait = run_with(kOneSm,
                            "role=\"epilogue\", instruction=\"mbarrier_try_wait_parity\", "
                            "barrier=\"accum_full\", action=\"drop\"");
  CHECK(wait.exit_code == kHang);
  CHECK_THAT(wait.out,
             Catch::Contains("drop mbarrier_try_wait_parity of epilogue on accum_full: altered 12 instr"));
  CHECK(run_with(kOneSm, "instruction=\"tcgen05_dealloc\", action=\"drop\"").exit_code == kFinding);
  const Ran response = run_with(kPairs, "cta=1, instruction=\"ld_shared_b128\", action=\"drop\"");
  CHECK(response.exit_code == kFinding);  // zeros: no more work, in one CTA of the pair only
  CHECK_THAT(response.out, Catch::Contains("FINDING CL9"));
}

TEST_CASE("fault: duplicate executes an instruction several times", "[fault]") {
  const Ran twice = run_with(kOneSm,
                             "role=\"epilogue\", warp=2, instruction=\"bar_sync\", id=0, occurrence=0, "
                             "action=\"duplicate\"");
  CHECK(twice.exit_code == kHang);
  CHECK_THAT(
      twice.out,
      Catch::Contains("execute 2 times bar_sync of epilogue (warp 2) on named barrier 0: altered 1 instruction"));
  CHECK(run_with(kOneSm, "instruction=\"tcgen05_fence_after_thread_sync\", action=\"duplicate\", value=5")
            .exit_code == kPass);
}

TEST_CASE("fault: delay lets cycles pass before an instruction", "[fault]") {
  const std::string alloc = "instruction=\"tcgen05_alloc\", action=\"delay\", value=";
  const Ran one = run_with(kOneSm, alloc + "1"), late = run_with(kOneSm, alloc + "10000");
  REQUIRE(one.exit_code == kPass);
  REQUIRE(late.exit_code == kPass);
  CHECK(cycles_of(late) - cycles_of(one) > 8000);
}

TEST_CASE("fault: early releases before what was waited for is read", "[fault]") {
  // One accumulator: the MMA warp overwrites what the delayed epilogue warp has not read.
  const std::string early =
      "role=\"epilogue\", instruction=\"mbarrier_arrive\", barrier=\"accum_empty\", action=\"early\"";
  const std::string late =
      "role=\"epilogue\", warp=1, instruction=\"tcgen05_ld_16x256b\", barrier=\"accum_full\", action=\"delay\", "
      "value=3000";
  const std::string one_accumulator = "--set config.accum_stages=1";
  CHECK(run_with(kOneSm, late, one_accumulator).exit_code == kPass);
  CHECK(run_with(kOneSm, early + "}, {" + late, one_accumulator).exit_code != kPass);
  const Ran released = run_with(kPairs, "instruction=\"mbarrier_arrive\", barrier=\"clc_empty\", action=\"early\"");
  CHECK(released.exit_code != kHang);  // the arrival that stood there is not made again
}

TEST_CASE("fault: flip_parity waits for the other parity", "[fault]") {
  const Ran ran = run_with(kOneSm,
                           "role=\"load\", instruction=\"mbarrier_try_wait_parity\", "
                           "barrier=\"throttle_empty\", occurrence=0, action=\"flip_parity\"");
  CHECK(ran.exit_code == kHang);
}

TEST_CASE("fault: add changes the operand that it names", "[fault]") {
  const auto add = [](const char* scenario, const std::string& rest) {
    return run_with(scenario, "action=\"add\", " + rest).exit_code;
  };
  CHECK(add(kOneSm, "instruction=\"mbarrier_arrive_expect_tx\", barrier=\"input_full\", value=16384") == kHang);
  CHECK(add(kOneSm, "instruction=\"mbarrier_init\", barrier=\"accum_empty\", value=1") == kHang);
  CHECK(add(kOneSm, "role=\"epilogue\", instruction=\"bar_sync\", id=1, value=32") == kFinding);
  CHECK(add(kOneSm, "role=\"epilogue\", instruction=\"cp_async_bulk_tensor_global_shared\", value=32") == kFinding);
  CHECK(add(kOneSm, "instruction=\"cp_async_bulk_tensor_shared_global\", operand=\"y\", value=64") == kMismatch);
  CHECK(add(kOneSm, "instruction=\"tcgen05_mma\", operand=\"enable_input_d\", value=1") != kPass);
  CHECK(add(kOneSm, "instruction=\"tcgen05_mma\", operand=\"a\", value=32") != kPass);
  CHECK(add(kOneSm, "instruction=\"tcgen05_ld_16x256b\", value=8") != kPass);
  CHECK(add(kOneSm, "instruction=\"tcgen05_commit\", operand=\"cta_group\", value=1") == kFinding);
  CHECK(add(kOneSm, "instruction=\"tcgen05_alloc\", operand=\"columns\", value=-1") == kFinding);
  CHECK(add(kSplit, "instruction=\"st_release_gpu_global_u32\", value=1") == kHang);
}

TEST_CASE("fault: clear_mask takes CTAs out of a multicast", "[fault]") {
  CHECK(run_with(kMulticast,
                 "cta=0, instruction=\"tcgen05_commit_multicast\", barrier=\"input_empty\", "
                 "action=\"clear_mask\", value=0x2")
            .exit_code == kHang);
  CHECK(run_with(kMulticast,
                 "cta=0, instruction=\"cp_async_bulk_tensor_shared_global_multicast\", "
                 "action=\"clear_mask\", value=0x2")
            .exit_code == kHang);
}

TEST_CASE("fault: own_cta signals the wrong CTA", "[fault]") {
  CHECK(run_with(kPairs,
                 "role=\"epilogue\", instruction=\"mbarrier_arrive\", barrier=\"accum_empty\", action=\"own_cta\"")
            .exit_code == kHang);
  CHECK(
      run_with(kPairs, "cta=1, instruction=\"cp_async_bulk_tensor_shared_global\", action=\"own_cta\"").exit_code !=
      kPass);
  CHECK(
      run_with(kPairs, "instruction=\"clusterlaunchcontrol_try_cancel_multicast\", action=\"own_cta\"").exit_code ==
      kHang);
  CHECK(run_with(kPairs, "role=\"load\", instruction=\"mapa\", barrier=\"clc_empty\", action=\"drop\"").exit_code !=
        kPass);
}

TEST_CASE("fault: cta_scope is a warning where the arrive is for another CTA, and nothing else", "[fault]") {
  const auto warns = [](const Ran& ran) { return (ran.out + ran.err).find("SC1") != std::string::npos; };
  const std::string fault =
      "role=\"epilogue\", instruction=\"mbarrier_arrive\", barrier=\"accum_empty\", action=\"cta_scope\"";
  const Ran pair = run_with(kPairs, fault);
  CHECK(pair.exit_code == kPass);
  CHECK(warns(pair));
  const Ran own = run_with(kOneSm, fault);
  CHECK(own.exit_code == kPass);
  CHECK_FALSE(warns(own));
  // By the letter of PTX an arrive without a scope is .cta, too.
  ScratchDirectory scratch;
  scratch.write("s.toml", kPairs);
  const Ran strict = run(scratch, "run s.toml --set run.scopes=strict");
  CHECK(strict.exit_code == kFinding);
  CHECK(strict.out.find("FINDING SC1") == 0);
  CHECK(run(scratch, "run s.toml").exit_code == kPass);
}

TEST_CASE("fault: other lanes than the elected one", "[fault]") {
  CHECK(run_with(kOneSm, "role=\"load\", instruction=\"mbarrier_arrive_expect_tx\", action=\"all_lanes\"")
            .exit_code != kPass);
  CHECK(run_with(kOneSm, "role=\"load\", instruction=\"mbarrier_arrive\", action=\"one_lane\"").exit_code == kHang);
  const Ran commit =
      run_with(kOneSm, "instruction=\"tcgen05_commit\", barrier=\"accum_full\", action=\"other_lane\"");
  CHECK(commit.exit_code != kPass);  // covers no MMA: the accumulator is read too early
  CHECK_THAT(
      run_with(kPairs, "role=\"scheduler\", instruction=\"mbarrier_arrive_expect_tx\", action=\"all_lanes\"").out,
      !Catch::Contains("PASS"));  // lanes without an address of their own take the first lane's
}

TEST_CASE("a tensor store of all lanes is one store, as on an H200", "[fault]") {
  const auto cycles = [](const Ran& ran) {
    REQUIRE(ran.exit_code == kPass);
    return ran.out.substr(ran.out.find("  time "), 40);
  };
  const std::string nothing = "role=\"load\", instruction=\"tcgen05_mma\", action=\"drop\", optional=true";
  CHECK(cycles(run_with(kOneSm, "instruction=\"cp_async_bulk_tensor_global_shared\", action=\"all_lanes\"")) ==
        cycles(run_with(kOneSm, nothing)));
}

TEST_CASE("fault: executions are selected by warp and occurrence, and by the barrier that was waited for",
          "[fault]") {
  const auto altered = [](const std::string& rest) {
    const Ran ran = run_with(kOneSm, "action=\"delay\", value=1, " + rest);
    REQUIRE(ran.exit_code == kPass);
    const size_t at = ran.out.find("altered ");
    REQUIRE(at != std::string::npos);
    return std::stoi(ran.out.substr(at + 8));
  };
  const std::string wait = "role=\"epilogue\", instruction=\"mbarrier_try_wait_parity\", barrier=\"accum_full\"";
  CHECK(altered(wait) == 16);  // 4 warps, 4 tiles
  CHECK(altered(wait + ", warp=3") == 4);
  CHECK(altered(wait + ", occurrence=1") == 4);
  CHECK(altered(wait + ", from=1") == 12);
  CHECK(altered(wait + ", stage=1") == 8);
  const std::string mma = "instruction=\"tcgen05_mma\"";
  CHECK(altered(mma) == 4 * 8 * 4);  // tiles, k tiles, MMAs of a k tile
  CHECK(altered(mma + ", barrier=\"input_full\", stage=2") == 4 * 2 * 4);
  CHECK(altered("instruction=\"bar_sync\", id=1") == 4);
}

namespace {

bool called_by_some_kernel(std::string_view instruction) {
  for (const host::KernelDefinition* kernel : host::kernels())
    for (const std::string_view call : kernel->fault_instructions)
      if (call == instruction) return true;
  return false;
}

}  // namespace

TEST_CASE("a kernel's list of what faults may alter names nothing that they cannot", "[fault]") {
  for (const host::KernelDefinition* kernel : host::kernels())
    for (const std::string_view call : kernel->fault_instructions) {
      CAPTURE(kernel->name, call);
      CHECK(host::fault_instruction(call) != nullptr);
    }
}

TEST_CASE("fault: every instruction of the table can be altered in some run", "[fault]") {
  const char* const scenarios[] = {kOneSm,           kMulticast, kSplit,        kCopy,
                                   kFallbackRun,     kDirectRun, kScaledRun,    kNarrowRun,
                                   kBlockwiseRun,    kTokensRun, kGroupedRun,   kGroupedInPlaceRun,
                                   kScaledOutputRun, kHopperRun, kBf16ScalesRun};
  for (const host::FaultInstruction& row : host::faultable_instructions()) {
    if (!called_by_some_kernel(row.name)) continue;
    CAPTURE(row.name);
    bool altered = false;
    for (const char* scenario : scenarios) {
      if (altered) break;
      const Ran ran =
          run_with(scenario, fmt::format("instruction=\"{}\", action=\"delay\", value=1", row.name), "--data none");
      altered = ran.exit_code == kPass;
    }
    CHECK(altered);
  }
}

TEST_CASE("fault: one that matched nothing is bad input, unless it may", "[fault]") {
  const std::string never = "role=\"load\", instruction=\"tcgen05_mma\", action=\"drop\"";
  const Ran ran = run_with(kOneSm, never);
  CHECK(ran.exit_code == 2);
  CHECK_THAT(ran.out, Catch::Contains("drop tcgen05_mma of load: matched no instruction"));
  CHECK_THAT(ran.err,
             Catch::Contains("key 'fault.0.instruction' = \"tcgen05_mma\": the fault matched no instruction"));
  CHECK(run_with(kOneSm, never + ", optional=true").exit_code == kPass);
}

TEST_CASE("docs/faults.txt is what sm100sim list faults prints", "[docs]") {
  ScratchDirectory scratch;
  CHECK(run(scratch, "list faults").out == read_whole(std::filesystem::path(source_dir()) / "docs/faults.txt"));
}

}  // namespace sm100::sim
