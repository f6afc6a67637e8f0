// SPDX-License-Identifier: Apache-2.0
// One arrival, or one copy, is dropped on each barrier of the matmul, early and late: the report names the barrier,
// the stage, the role and the CTA that owe it.  Expectations follow from the protocol: a role's n-th delivery to a
// ring of S stages goes to stage n mod S; what the others miss because of it is not the cause.
#include <algorithm>

#include "catch.h"
#include "matmul_of.h"
#include "paths.h"
#include "sim/child_process.h"

namespace sm100::sim {
namespace {

struct Drop {
  const char *barrier, *role, *instruction;
  int cta;             ///< whose warps drop it
  int64_t occurrence;  ///< which of its executions, of each warp
  int stage;           ///< expected
};

constexpr const char *kArrive = "mbarrier_arrive", *kArm = "mbarrier_arrive_expect_tx", *kCommit = "tcgen05_commit",
                     *kCommitMulticast = "tcgen05_commit_multicast", *kCopy = "cp_async_bulk_tensor_shared_global",
                     *kCopyMulticast = "cp_async_bulk_tensor_shared_global_multicast";

Scenario load(const std::string& name) {
  Scenario s = load_scenario(std::string(scenario_dir() + "/") + name + ".toml");
  s.data = DataMode::none;
  return s;
}

void check(Scenario s, const std::vector<Drop>& drops) {
  for (const Drop& d : drops) {
    CAPTURE(d.barrier, d.role, d.cta, d.occurrence);
    FaultSpec fault;
    fault.role = d.role;
    fault.instruction = d.instruction;
    fault.barrier = d.barrier;
    fault.cta = d.cta;
    fault.occurrence = d.occurrence;
    fault.action = host::FaultAction::drop;
    s.faults = {fault};
    const RunResult r = run_in_child(s);
    const std::string text = said(r);
    CAPTURE(text);
    CHECK(r.outcome == Outcome::hang);
    CHECK(finding_of(r).barrier == d.barrier);
    CHECK(finding_of(r).stage == d.stage);
    CHECK(finding_of(r).fault_role == d.role);
    CHECK(finding_of(r).fault_cta == d.cta);
    CHECK(std::count(text.begin(), text.end(), '\n') <= 40);
    // The first five lines say it all.
    size_t end = 0;
    for (int line = 0; line < 5 && end != std::string::npos; ++line) end = text.find('\n', end + 1);
    const std::string head = text.substr(0, end);
    CHECK_THAT(head, Catch::Contains(std::string(d.barrier) + "[" + std::to_string(d.stage) + "]"));
    CHECK_THAT(head, Catch::Contains("likely cause: "));
    CHECK_THAT(head, Catch::Contains("at fault: " + std::string(d.role)));
    CHECK_THAT(head, Catch::Contains("of CTA " + std::to_string(d.cta)));
  }
}

/// Rings of 4 input stages, 2 accumulators, 2 CLC responses.
void check_pairs_of_cluster(const Scenario& s, int leader, int other) {
  check(s, {{"input_full", "load", kArm, leader, 0, 0},
            {"input_full", "load", kArm, leader, 9, 1},
            {"input_full", "load", kCopyMulticast, other, 0, 0},
            {"input_full", "load", kCopyMulticast, other, 9, 0},  // two copies a stage: the fifth fill
            {"input_empty", "mma", kCommitMulticast, leader, 0, 0},
            {"input_empty", "mma", kCommitMulticast, leader, 9, 1},
            {"accum_full", "mma", kCommitMulticast, leader, 0, 0},
            {"accum_full", "mma", kCommitMulticast, leader, 1, 1},
            {"accum_empty", "epilogue", kArrive, other, 0, 0},
            {"accum_empty", "epilogue", kArrive, other, 1, 1},
            {"clc_full", "scheduler", kArm, 0, 0, 0},
            {"clc_full", "scheduler", kArm, 0, 1, 1},
            {"clc_empty", "mma", kArrive, other, 0, 0},
            {"clc_empty", "mma", kArrive, other, 1, 1},
            {"clc_empty", "epilogue", kArrive, other, 0, 0},
            {"clc_empty", "load", kArrive, other, 1, 1},
            {"throttle_full", "load", kArrive, 0, 0, 0},
            {"throttle_full", "load", kArrive, 0, 1, 1},
            {"throttle_empty", "scheduler", kArrive, 0, 0, 0},
            {"throttle_empty", "scheduler", kArrive, 0, 1, 1},
            {"tmem_dealloc", "epilogue", kArrive, other, 0, 0},  // the peer's
            {"tmem_dealloc", "epilogue", kArrive, other, 1, 0}});
}

}  // namespace

TEST_CASE("one dropped delivery in a single CTA is blamed on its barrier, stage and role", "[report][drops]") {
  check(load("bugs/sound/load_initial_parity"), {{"input_full", "load", kArm, 0, 0, 0},
                                                 {"input_full", "load", kArm, 0, 9, 1},
                                                 {"input_full", "load", kCopy, 0, 2, 1},
                                                 {"input_full", "load", kCopy, 0, 9, 0},
                                                 {"input_empty", "mma", kCommit, 0, 0, 0},
                                                 {"input_empty", "mma", kCommit, 0, 9, 1},
                                                 {"accum_full", "mma", kCommit, 0, 0, 0},
                                                 {"accum_full", "mma", kCommit, 0, 2, 0},
                                                 {"accum_empty", "epilogue", kArrive, 0, 0, 0},
                                                 {"accum_empty", "epilogue", kArrive, 0, 3, 1},
                                                 {"clc_full", "scheduler", kArm, 0, 0, 0},
                                                 {"clc_full", "scheduler", kArm, 0, 2, 0},
                                                 {"clc_empty", "scheduler", kArrive, 0, 1, 1},
                                                 {"clc_empty", "mma", kArrive, 0, 0, 0},
                                                 {"clc_empty", "mma", kArrive, 0, 2, 0},
                                                 {"clc_empty", "epilogue", kArrive, 0, 1, 1},
                                                 {"clc_empty", "load", kArrive, 0, 2, 0},
                                                 {"throttle_full", "load", kArrive, 0, 0, 0},
                                                 {"throttle_full", "load", kArrive, 0, 2, 0},
                                                 {"throttle_empty", "scheduler", kArrive, 0, 0, 0},
                                                 {"throttle_empty", "scheduler", kArrive, 0, 1, 1},
                                                 {"tmem_dealloc", "epilogue", kArrive, 0, 0, 0}});
}

TEST_CASE("one dropped delivery in a cluster of two is blamed on its CTA too", "[report][drops]") {
  Scenario s = load("01_dense_small");
  matmul_of(s).m = 1024, matmul_of(s).n = 512, matmul_of(s).k = 512, s.sms = 4;
  matmul_of(s).config.cluster_m = 2;
  matmul_of(s).config.stages = 4;
  check(s, {{"input_full", "load", kArm, 1, 0, 0},
            {"input_full", "load", kArm, 1, 9, 1},
            {"input_full", "load", kCopyMulticast, 1, 0, 0},  // A is not shared: one multicast a stage
            {"input_full", "load", kCopyMulticast, 1, 9, 1},
            {"input_full", "load", kCopy, 1, 7, 3},
            {"input_empty", "mma", kCommitMulticast, 1, 0, 0},
            {"input_empty", "mma", kCommitMulticast, 1, 9, 1},
            {"accum_full", "mma", kCommit, 1, 0, 0},
            {"accum_full", "mma", kCommit, 1, 1, 1},
            {"accum_empty", "epilogue", kArrive, 1, 0, 0},
            {"accum_empty", "epilogue", kArrive, 1, 1, 1},
            {"clc_full", "scheduler", kArm, 0, 0, 0},
            {"clc_full", "scheduler", kArm, 0, 1, 1},
            {"clc_empty", "mma", kArrive, 1, 0, 0},
            {"clc_empty", "epilogue", kArrive, 1, 1, 1},
            {"clc_empty", "load", kArrive, 1, 1, 1},
            {"throttle_full", "load", kArrive, 0, 0, 0},
            {"throttle_full", "load", kArrive, 0, 1, 1},
            {"throttle_empty", "scheduler", kArrive, 0, 0, 0},
            {"throttle_empty", "scheduler", kArrive, 0, 1, 1},
            {"tmem_dealloc", "epilogue", kArrive, 1, 0, 0}});
}

TEST_CASE("one dropped delivery of a pair is blamed on the CTA that owes it", "[report][drops][pair]") {
  check(load("13_pairs"), {{"input_full", "load", kArm, 0, 0, 0},
                           {"input_full", "load", kArm, 0, 9, 1},
                           {"input_full", "load", kCopy, 1, 2, 1},
                           {"input_full", "load", kCopy, 1, 9, 0},
                           {"input_empty", "mma", kCommitMulticast, 0, 0, 0},
                           {"input_empty", "mma", kCommitMulticast, 0, 9, 1},
                           {"accum_full", "mma", kCommitMulticast, 0, 0, 0},
                           {"accum_full", "mma", kCommitMulticast, 0, 1, 1},
                           {"accum_empty", "epilogue", kArrive, 1, 0, 0},
                           {"accum_empty", "epilogue", kArrive, 1, 1, 1},
                           {"clc_full", "scheduler", kArm, 0, 0, 0},
                           {"clc_full", "scheduler", kArm, 0, 1, 1},
                           {"clc_empty", "mma", kArrive, 1, 0, 0},
                           {"clc_empty", "epilogue", kArrive, 1, 0, 0},
                           {"clc_empty", "load", kArrive, 1, 1, 1},
                           {"throttle_full", "load", kArrive, 0, 0, 0},
                           {"throttle_full", "load", kArrive, 0, 1, 1},
                           {"throttle_empty", "scheduler", kArrive, 0, 0, 0},
                           {"tmem_dealloc", "epilogue", kArrive, 1, 0, 0},  // the leader's
                           {"tmem_dealloc", "epilogue", kArrive, 1, 1, 0}});
}

// A cluster of 4 x 4 in a grid of 16 x 8 CTAs: CTA 18 is place (2, 1), a leader, and CTA 19 its peer.
TEST_CASE("one dropped delivery among the 16 CTAs of a cluster of pairs", "[report][drops][pair]") {
  Scenario s = load("smoke/smoke_06");
  matmul_of(s).m = 1024, matmul_of(s).n = 512, matmul_of(s).k = 1024;
  matmul_of(s).config.num_split_k = 1;
  matmul_of(s).config.stages = 4;
  check_pairs_of_cluster(s, 18, 19);
}

TEST_CASE("one dropped delivery among 16 CTAs that split K", "[report][drops][split-k]") {
  Scenario s = load("smoke/smoke_06");
  matmul_of(s).m = 1024, matmul_of(s).n = 512;
  matmul_of(s).config.stages = 4;
  check_pairs_of_cluster(s, 18, 19);
  for (int cta : {3, 18}) {  // a lock per tile, m x n: tile (cta % 16, cta / 16) of 8 columns
    FaultSpec fault;
    fault.instruction = "st_release_gpu_global_u32";
    fault.cta = cta;
    fault.occurrence = 0;
    fault.action = host::FaultAction::drop;
    s.faults = {fault};
    const RunResult r = run_in_child(s);
    const std::string text = said(r);
    CAPTURE(text);
    CHECK(r.outcome == Outcome::hang);
    CHECK(finding_of(r).barrier == "locks");
    CHECK(finding_of(r).fault_role == "epilogue");
    CHECK(finding_of(r).fault_cta == cta);
  }
}

}  // namespace sm100::sim
