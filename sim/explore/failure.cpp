// SPDX-License-Identifier: Apache-2.0
#include "sim/explore/failure.h"

#include "sim/verdict.h"

namespace sm100::sim {
namespace {
constexpr const char* kOtherBits = "other bits";
}

std::optional<Failure> failure_of(const RunResult& result, uint64_t right_output) {
  switch (result.outcome) {
    case Outcome::findings: return Failure{Outcome::findings, first_finding(result)->id};
    case Outcome::hang: return Failure{Outcome::hang, first_finding(result)->barrier};
    case Outcome::mismatch: return Failure{Outcome::mismatch, ""};
    case Outcome::pass: break;
  }
  if (result.output_hash != right_output) return Failure{Outcome::mismatch, kOtherBits};
  return std::nullopt;
}

std::string text_of(const Failure& failure) {
  switch (failure.outcome) {
    case Outcome::mismatch: return failure.name == kOtherBits ? "other bits of right numbers" : "wrong numbers";
    case Outcome::hang: return failure.name.empty() ? "a hang" : "a hang at " + failure.name;
    case Outcome::findings: return "finding " + failure.name;
    case Outcome::pass: break;
  }
  return "?";
}

}  // namespace sm100::sim
