// SPDX-License-Identifier: Apache-2.0
// Happens-before: each missing edge is found on a schedule whose numbers are right, named by its id and both lines;
// and footprints overlap exactly.
#include "catch.h"
#include "paths.h"
#include "sim/hazards/footprints.h"
#include "sim/program.h"

namespace sm100::sim {
namespace {

/// What `sm100sim run` says of a scenario with one fault.
Ran with_fault(const std::string& scenario, const std::string& fault) {
  ScratchDirectory scratch;
  return run(scratch, "run " + scenario_dir() + "/" + scenario + ".toml --set 'fault=[{" + fault + "}]'");
}

constexpr const char* kSmall = "bugs/sound/load_initial_parity";

}  // namespace

TEST_CASE("hazards: what each missing edge is called", "[hazards]") {
  struct Missing {
    const char *scenario, *fault, *id, *text;
  };
  const Missing all[] = {
      {kSmall,
       R"(role="mma", instruction="mbarrier_try_wait_parity", barrier="input_full", occurrence=2, action="drop")",
       "TC7", "missing: a wait of mma for input_full[2] until these bytes are there"},
      {kSmall, R"(instruction="tcgen05_commit", barrier="input_empty", action="other_lane")", "TM7",
       "missing: a wait of load for input_empty[0], completed by a tcgen05.commit"},
      {kSmall, R"(instruction="tcgen05_commit", barrier="accum_full", action="other_lane")", "TC3",
       "missing: a tcgen05.commit to accum_full after these MMAs, and a wait of epilogue"},
      {"bugs/sound/one_accumulator", R"(instruction="tcgen05_wait_ld", action="drop")", "TC15",
       "missing: tcgen05.wait::ld of epilogue"},
      {kSmall, R"(instruction="fence_proxy_async_shared_cta", barrier="accum_full", action="drop")", "TM6",
       "missing: fence.proxy.async.shared::cta by epilogue (warp "},
      {kSmall, R"(instruction="cp_async_bulk_wait_group_read", action="drop")", "TM8",
       "missing: cp.async.bulk.wait_group(.read)"},
      {kSmall, R"(role="epilogue", instruction="mbarrier_arrive", barrier="clc_empty", action="early")", "CL6",
       "a CLC response is requested into a slot that epilogue may still read"},
      {kSmall, R"(role="load", instruction="mbarrier_try_wait_parity", barrier="clc_full", action="drop")", "CL6",
       "load reads bytes without having waited for the response"},
      {kSmall,
       R"(role="load", instruction="mbarrier_arrive_expect_tx", barrier="input_full", action="add", value=-16384)",
       "MB11", "missing: an expect_tx of the bytes of all copies"},
      {kSmall, R"(role="epilogue", warp=0, instruction="bar_sync", id=1, action="drop")", "SM3",
       "epilogue and mma access the same shared memory"},
  };
  for (const Missing& m : all) {
    CAPTURE(m.scenario, m.fault);
    const Ran ran = with_fault(m.scenario, m.fault);
    CAPTURE(ran.out);
    CHECK(ran.exit_code == 4);
    CHECK(ran.out.find(std::string("FINDING ") + m.id) == 0);
    CHECK(ran.out.find(m.text) != std::string::npos);
  }
}

TEST_CASE("hazards: what production kernels leave out is a warning", "[hazards]") {
  struct Missing {
    const char *fault, *id, *scenario = kSmall;
  };
  const Missing all[] = {
      {R"(instruction="tcgen05_fence_before_thread_sync", action="drop")", "TC16"},
      {R"(instruction="tcgen05_fence_after_thread_sync", action="drop")", "TC16"},
      {R"(instruction="fence_proxy_async_shared_cta", barrier="clc_full", action="drop")", "CL8"},
      {R"(instruction="tcgen05_wait_st", action="drop")", "TC4", "smoke/smoke_06"},
      {R"(instruction="tcgen05_wait_ld", action="drop")",
       "TC18"},  // a later tile's chain orders the registers' reads
      {R"(instruction="fence_mbarrier_init", action="drop")", "MB14", "13_pairs"}};
  for (const Missing& m : all) {
    CAPTURE(m.fault);
    const Ran ran = with_fault(m.scenario, m.fault);
    CAPTURE(ran.out);
    CHECK(ran.exit_code == 0);
    CHECK(ran.out.find(std::string("warning      ") + m.id) != std::string::npos);
  }
}

TEST_CASE("hazards: splits that meet without a barrier race in the workspace", "[hazards]") {
  ScratchDirectory scratch;
  const Ran ran = run(scratch, "run " + scenario_dir() +
                                   "/smoke/smoke_06.toml --set run.sms=36 --set "
                                   "'fault=[{instruction=\"bar_sync\", id=4, action=\"drop\"}]'");
  CHECK(ran.exit_code == 4);
  CHECK(ran.out.find("FINDING GM3") == 0);
}

TEST_CASE("hazards: copies on their way into the same bytes, on barriers of their own", "[hazards]") {
  const Ran ran = with_fault(
      kSmall,
      R"(role="load", instruction="cp_async_bulk_tensor_shared_global", occurrence=0, action="add", operand="smem", value=16384)");
  CHECK(ran.exit_code == 4);
  CHECK(ran.out.find("FINDING TM5") == 0);
}

TEST_CASE("hazards: a multicast that names its own CTA alone is what the others miss", "[hazards]") {
  const Ran ran =
      with_fault("smoke/smoke_02",
                 R"(role="load", instruction="cp_async_bulk_tensor_shared_global_multicast", action="own_cta")");
  CAPTURE(ran.out);
  CHECK(ran.exit_code == 3);
  CHECK(ran.out.find("names its own CTA alone, in each CTA of the cluster: its mask is wrong") !=
        std::string::npos);
}

TEST_CASE("hazards: launches in a stream share a workspace in order", "[hazards]") {
  ScratchDirectory scratch;
  const Ran ran =
      run(scratch, "run " + scenario_dir() + "/smoke/smoke_06.toml --set run.launches=2 --set run.sms=36");
  CHECK(ran.exit_code == 0);
  CHECK(ran.out.find("PASS, clean") == 0);
}

TEST_CASE("hazards: without them the run says so, and takes the same time", "[hazards]") {
  ScratchDirectory scratch;
  const Ran off = run(scratch, "run " + scenario_dir() + "/13_pairs.toml --set run.hazards=false");
  const Ran on = run(scratch, "run " + scenario_dir() + "/13_pairs.toml");
  CHECK(off.out.find("not checked  hazards") != std::string::npos);
  const auto cycles = [](const std::string& text) { return text.substr(text.find("  time "), 40); };
  CHECK(cycles(off.out) == cycles(on.out));
}

TEST_CASE("hazards: footprints overlap by bytes, not by bounds", "[hazards]") {
  Footprints sets;
  const auto columns = [&](uint64_t key, uint32_t first) {  // 32 of every 128 bytes
    return sets.intern(key, [&] {
      std::vector<Footprints::Interval> rows;
      for (uint32_t r = 0; r < 4; ++r) rows.push_back({r * 128 + first, r * 128 + first + 32});
      return rows;
    });
  };
  const Footprints::Id left = columns(uint64_t{1} << 63, 0), next = columns(uint64_t{1} << 63 | 1, 32),
                       tile = sets.intern_range(0, 512), beyond = sets.intern_range(512, 16);
  CHECK(columns(uint64_t{1} << 63, 0) == left);
  const auto overlap = [&](Footprints::Id a, Footprints::Id b) {
    for (const auto& o : sets.overlaps(a))
      if (o.other == b) return o.covers ? "covers" : "overlaps";
    return "apart";
  };
  CHECK(overlap(left, next) == std::string("apart"));
  CHECK(overlap(left, left) == std::string("covers"));
  CHECK(overlap(tile, left) == std::string("covers"));
  CHECK(overlap(left, tile) == std::string("overlaps"));
  CHECK(overlap(tile, beyond) == std::string("apart"));
}

}  // namespace sm100::sim
