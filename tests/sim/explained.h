// SPDX-License-Identifier: Apache-2.0
/// No false finding: sound configurations at random, with provenance on, and with the strict scopes beside.
#pragma once

#include <cstdlib>

#include "catch.h"
#include "kernels/host/scenario.h"
#include "sim/child_process.h"

namespace sm100::sim {

/// SM100_EXPLAINED=N draws N of each kernel in place of a few; SM100_EXPLAINED_SEED=S draws others.
inline int explained_count() {
  const char* count = std::getenv("SM100_EXPLAINED");
  return count ? std::atoi(count) : 4;
}
inline uint64_t explained_seed() {
  const char* seed = std::getenv("SM100_EXPLAINED_SEED");
  return seed ? std::strtoull(seed, nullptr, 10) : 1;
}

/// Published kernels, and these, leave the scope of an arrival elsewhere out: by the letter of PTX that is .cta,
/// and strict scopes are there to say so.
inline bool is_scope_left_out(const RunResult& r) {
  const Finding first = finding_of(r);
  return first.id == "SC1" && first.message.find("without a scope") != std::string::npos;
}

/// @tparam Scenarios  made of a seed; next() draws a legal scenario
template <class Scenarios>
void check_explained() {
  Scenarios scenarios(5000 + explained_seed());
  for (int i = 0; i < explained_count(); ++i) {
    Scenario s = scenarios.next();
    CAPTURE(i, s.configuration_json(), s.sms, s.seed, s.numerics == host::Numerics::b200);
    s.provenance = ProvenanceMode::on;
    if (i % 2 == 1) s.jitter = 1 + s.seed % 1000;
    const RunResult stated = run_in_child(s);
    CAPTURE(said(stated), stated.check.text());
    CHECK(stated.outcome == Outcome::pass);
    CHECK(stated.verified);
    CHECK(stated.findings.empty());
    CHECK(stated.warnings.empty());
    s.scopes = Scopes::strict;
    const RunResult strict = run_in_child(s);
    if (is_scope_left_out(strict)) continue;
    CAPTURE(said(strict), strict.check.text());
    CHECK(strict.outcome == Outcome::pass);
    CHECK(strict.warnings.empty());
  }
}

}  // namespace sm100::sim
