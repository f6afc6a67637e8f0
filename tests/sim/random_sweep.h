// SPDX-License-Identifier: Apache-2.0
/// What a random configuration must pass: full data against float64, the identical sequence of barrier events
/// without data, identical numbers under jitter.
#pragma once

#include "catch.h"
#include "kernels/host/scenario.h"
#include "sim/child_process.h"

namespace sm100::sim {

/// @tparam Scenarios  made of a seed; next() draws a legal scenario
template <class Scenarios>
void check_random_scenarios(uint64_t seed, int count) {
  Scenarios scenarios(seed);
  for (int i = 0; i < count; ++i) {
    Scenario s = scenarios.next();
    CAPTURE(s.configuration_json(), s.sms, s.seed);
    const RecordedRun full = record_in_child(s);
    CAPTURE(said(full), full.check.relative_error);
    CHECK(full.outcome == Outcome::pass);
    CHECK(full.verified);
    CHECK(full.recorded_events > 0);
    CHECK(full.warnings.empty());
    s.data = DataMode::none;
    const RecordedRun none = record_in_child(s);
    CHECK(none.outcome == Outcome::pass);
    CHECK(none.cycles == full.cycles);
    CHECK(none.barrier_hash == full.barrier_hash);
    s.data = DataMode::full;
    s.jitter = 1 + s.seed % 1000;
    const RunResult jittered = run_in_child(s);
    CAPTURE(*s.jitter, said(jittered));
    CHECK(jittered.outcome == Outcome::pass);
    CHECK(jittered.warnings.empty());
    CHECK(jittered.output_hash == full.output_hash);
  }
}

}  // namespace sm100::sim
