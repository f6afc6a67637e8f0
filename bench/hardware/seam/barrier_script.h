// SPDX-License-Identifier: Apache-2.0
/// Sequences of mbarrier operations by one thread as text, "init 3; arrive 1; parity 0; drop 1; test 0": hardware,
/// the word of kernels/isa/mbarrier_word.h and the simulator's unit carry out the same ones and say what they see.
///
///   init N, inval, arrive N, arrive_tx BYTES, drop N, drop_tx BYTES, no_complete N, drop_no_complete N, expect
///   BYTES, complete BYTES                 operations; arrivals return states, numbered from 0 parity P, test K,
///   pending K    what is seen: 0 or 1 of a wait by parity or by state K, the pending count of state K
#pragma once

#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/isa/mbarrier_token.h"
#include "kernels/isa/mbarrier_word.h"

namespace sm100::hardware {

enum class BarrierStep : uint32_t {
  init,
  inval,
  arrive,
  arrive_tx,
  drop,
  drop_tx,
  no_complete,
  drop_no_complete,
  expect,
  complete,
  parity,
  test,
  pending,
};
inline constexpr const char* kBarrierSteps[] = {
    "init",   "inval",    "arrive", "arrive_tx", "drop",   "drop_tx", "no_complete", "drop_no_complete",
    "expect", "complete", "parity", "test",      "pending"};
struct BarrierOperation {
  BarrierStep step;
  uint32_t operand;
};

inline bool observes(BarrierStep step) { return step >= BarrierStep::parity; }
inline bool arrives(BarrierStep step) {
  return step >= BarrierStep::arrive && step <= BarrierStep::drop_no_complete;
}
inline MbarrierArrival arrival_of(BarrierOperation o) {
  using S = BarrierStep;
  const bool bytes = o.step == S::arrive_tx || o.step == S::drop_tx;
  return {.count = bytes ? 1 : o.operand,
          .bytes = bytes ? o.operand : 0,
          .drop = o.step == S::drop || o.step == S::drop_tx || o.step == S::drop_no_complete,
          .no_complete = o.step == S::no_complete || o.step == S::drop_no_complete};
}

inline std::string text_of(const std::vector<BarrierOperation>& script) {
  std::string text;
  for (const BarrierOperation& o : script) {
    text += (text.empty() ? "" : "; ") + std::string(kBarrierSteps[uint32_t(o.step)]);
    if (o.step != BarrierStep::inval) text += " " + std::to_string(o.operand);
  }
  return text;
}
inline std::vector<BarrierOperation> parse_barrier_script(const std::string& text) {
  std::vector<BarrierOperation> script;
  std::stringstream operations(text);
  for (std::string one; std::getline(operations, one, ';');) {
    std::stringstream words(one);
    std::string name;
    BarrierOperation o{BarrierStep::init, 0};
    words >> name >> o.operand;
    for (uint32_t s = 0; s < std::size(kBarrierSteps); ++s)
      if (name == kBarrierSteps[s]) o.step = BarrierStep(s);
    script.push_back(o);
  }
  return script;
}

/// The word alone, as the ISA describes it.
struct BarrierReference {
  uint64_t word = 0;
  int64_t phase = 0;
  std::vector<MbarrierToken> states;
  MbarrierError error = MbarrierError::none;
  std::string seen;

  void apply(const MbarrierResult& result) {
    if (result.error != MbarrierError::expected_zero) error = result.error;
    word = result.word, phase += result.completed_phase;
  }
  void say(uint32_t value) { seen += (seen.empty() ? "" : " ") + std::to_string(value); }
  /// A state names the open phase or the one before.
  bool testable(uint32_t state) const { return state < states.size() && phase_of(states[state]) >= phase - 1; }
  void step(BarrierOperation o) {
    using S = BarrierStep;
    if (arrives(o.step)) {
      states.push_back(make_mbarrier_token(phase, decode_mbarrier(word).pending, arrival_of(o).no_complete));
      return apply(mbarrier_arrive(word, arrival_of(o)));
    }
    switch (o.step) {
      case S::init: phase = 0; return apply(mbarrier_init(o.operand));
      case S::inval: word = 0; return states.clear();
      case S::expect: return apply(mbarrier_expect_tx(word, o.operand));
      case S::complete: return apply(mbarrier_complete_tx(word, o.operand));
      case S::parity: return say(mbarrier_test_parity(word, o.operand));
      case S::test: return say(phase > phase_of(states[o.operand]));
      case S::pending: return say(pending_count(states[o.operand]));
      default: return;
    }
  }
};

inline std::string seen_by_reference(const std::vector<BarrierOperation>& script) {
  BarrierReference reference;
  for (const BarrierOperation& o : script) reference.step(o);
  return reference.seen;
}

/// A script of operations that PTX allows, the same for a seed everywhere.
inline std::vector<BarrierOperation> random_barrier_script(uint32_t seed, int steps) {
  std::mt19937 draw(seed);
  const auto below = [&](uint32_t n) { return uint32_t(draw() % n); };
  std::vector<BarrierOperation> script;
  BarrierReference reference;
  const auto add = [&](BarrierOperation o) { script.push_back(o), reference.step(o); };
  add({BarrierStep::init, 1 + below(6)});
  while (int(script.size()) < steps) {
    const BarrierStep step = BarrierStep(1 + below(11));  // no pending: of it PTX says too little
    BarrierOperation o{step, 0};
    if (step == BarrierStep::inval) {
      if (below(8) != 0) continue;
      add(o), add({BarrierStep::init, 1 + below(6)});
      continue;
    }
    if (step == BarrierStep::test) {
      if (reference.states.empty()) continue;
      o.operand = uint32_t(reference.states.size()) - 1 - below(2) % uint32_t(reference.states.size());
      if (!reference.testable(o.operand)) continue;
    } else if (step == BarrierStep::parity) {
      o.operand = below(2);
    } else if (step == BarrierStep::arrive_tx || step == BarrierStep::drop_tx || step == BarrierStep::expect ||
               step == BarrierStep::complete) {
      o.operand = 16 * (1 + below(4));
    } else {
      o.operand = 1 + below(3);
    }
    BarrierReference next = reference;
    next.step(o);
    // The last arrival stays: what a barrier without any does is a script of its own.
    if (next.error != MbarrierError::none || decode_mbarrier(next.word).expected == 0) continue;
    const bool observed = observes(step);
    add(o);
    if (!observed) add({BarrierStep::parity, 0});
  }
  return script;
}

/// What the scripts of one run are: some by hand, then random ones.
inline std::vector<std::string> barrier_scripts() {
  std::vector<std::string> all = {
      "init 3; arrive 1; parity 0; arrive 1; parity 0; drop 1; parity 0; arrive 1; parity 0; arrive 1; parity 0",
      "init 2; arrive 1; test 0; arrive 1; test 0; test 1; arrive 1; test 1; test 2; arrive 1; test 2; test 3",
      "init 2; drop_tx 64; parity 0; arrive 1; parity 0; complete 64; parity 0; arrive 1; parity 0",
      "init 4; no_complete 1; no_complete 2; parity 0; arrive 1; parity 0; drop_no_complete 2; arrive 2; parity 0; "
      "arrive 2; parity 0",
      "init 1; complete 64; parity 0; arrive_tx 64; parity 0; test 0",
      "init 1; arrive 1; inval; init 2; parity 0; arrive 1; parity 0; arrive 1; parity 0",
      "init 1; drop 1; parity 0; parity 1; expect 64; parity 0; complete 64; parity 0",
      "init 5; no_complete 1; pending 0; no_complete 2; pending 1; drop_no_complete 1; pending 2",
  };
  for (uint32_t seed = 1; seed <= 48; ++seed) all.push_back(text_of(random_barrier_script(seed, 40)));
  return all;
}

}  // namespace sm100::hardware
