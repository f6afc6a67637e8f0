// SPDX-License-Identifier: Apache-2.0
// Cursor arithmetic against tables for two stages, worked by hand (CUTLASS PipelineState).
#include "kernels/pipeline/pipeline_state.h"

#include "catch.h"

using namespace sm100;

TEST_CASE("a producer waits for parities 1 1 0 0 1 1 over two stages, a consumer for 0 0 1 1", "[pipeline]") {
  PipelineState producer = producer_start_state(), consumer = consumer_start_state();
  const uint32_t producer_parity[] = {1, 1, 0, 0, 1, 1}, consumer_parity[] = {0, 0, 1, 1, 0, 0};
  for (int i = 0; i < 6; ++i) {
    CHECK(producer.index == i % 2);
    CHECK(producer.parity == producer_parity[i]);
    CHECK(producer.lap(2) == i / 2);
    CHECK(consumer.parity == consumer_parity[i]);
    producer.step(2);
    consumer.step(2);
  }
}

TEST_CASE("with one stage the parity flips at every step", "[pipeline]") {
  PipelineState s = consumer_start_state();
  for (uint32_t i = 0; i < 4; ++i) {
    CHECK(s.index == 0);
    CHECK(s.parity == i % 2);
    s.step(1);
  }
}

TEST_CASE("skipping stages is as many steps", "[pipeline]") {
  for (int stages : {1, 2, 5})
    for (int steps = 0; steps < 12; ++steps) {
      PipelineState s = consumer_start_state();
      s.step(stages);
      PipelineState skipped = s;
      for (int i = 0; i < steps; ++i) s.step(stages);
      skipped.skip(steps, stages);
      CHECK(skipped == s);
    }
}
