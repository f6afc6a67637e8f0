// SPDX-License-Identifier: Apache-2.0
// What roles say by their trace points, compared: labels of stages, tiles in their order, stages that are left
// over, and which role a hang is put down to.  Code that stops early, takes turns or has no trace points is left
// alone.
#include "catch.h"
#include "kernels/isa/trace.h"
#include "kernels/pipeline/producer_consumer_pipeline.h"
#include "sim/role_code.h"

using namespace sm100;
using namespace sm100::sim;

namespace {

constexpr SmemAddr kFull{0x400}, kEmpty{0x420};
constexpr int kStages = 2;

struct Part {
  std::vector<int> tiles{0, 1, 2};
  std::vector<int> steps{3, 3, 3};  ///< of each tile
  int label_from = 0;               ///< of the first step
};

/// Fills the ring, or consumes what is in it; nothing is copied.
void work(RoleIsa& isa, const Part& part, bool fills, bool traced) {
  ProducerConsumerPipeline<RoleIsa> ring{isa, {kFull, kEmpty}, kStages};
  const auto step = [&](const TraceArgs& what) {
    if (fills) {
      const int stage = ring.producer_acquire();
      if (traced) TraceSpan span{isa, TraceEvent::load_issue, what};
      isa.elected([&] { isa.mbarrier_arrive(ring.full(stage), Scope::cta); });
      ring.producer_step();
    } else {
      const int stage = ring.consumer_wait();
      if (traced) TraceSpan span{isa, TraceEvent::mma_issue, what};
      isa.elected([&] { isa.mbarrier_arrive(ring.empty(stage), Scope::cta); });
      ring.consumer_step();
    }
  };
  for (size_t i = 0; i < part.tiles.size(); ++i) {
    const int m = part.tiles[i];
    const auto steps = [&] {
      for (int k = 0; k < part.steps[i]; ++k)
        step({.stage = 0, .tile_m = m, .tile_n = 0, .k = k + part.label_from});
    };
    if (!traced) {
      steps();
      continue;
    }
    TraceSpan tile{isa, TraceEvent::tile, {.tile_m = m, .tile_n = 0}};
    steps();
  }
}

/// Warp 0 fills, warp 1 consumes; the others have tiles and no steps.
RoleCode ring(const Part& fill, const Part& use, std::vector<Part> others = {}, bool traced = true) {
  RoleCode code;
  code.warps = 2 + int(others.size());
  code.explained = true;
  code.barriers = {{"x_full", kFull, kStages, 1, "w0", "mbarrier.arrive", "w1"},
                   {"x_empty", kEmpty, kStages, 1, "w1", "mbarrier.arrive", "w0"}};
  code.program = [=](RoleIsa& isa) {
    if (isa.warpid() == 0)
      isa.elected([&] {
        for (int s = 0; s < kStages; ++s)
          isa.mbarrier_init(kFull + 8u * uint32_t(s), 1), isa.mbarrier_init(kEmpty + 8u * uint32_t(s), 1);
        isa.fence_mbarrier_init();
      });
    isa.bar_sync(0, 32 * (2 + int(others.size())));
    const int warp = int(isa.warpid());
    if (warp < 2) return work(isa, warp == 0 ? fill : use, warp == 0, traced);
    for (int m : others[size_t(warp - 2)].tiles) TraceSpan tile{isa, TraceEvent::tile, {.tile_m = m, .tile_n = 0}};
  };
  return code;
}

constexpr SmemAddr kNextFull{0x440}, kNextEmpty{0x448}, kStartFull{0x450}, kStartEmpty{0x458};

struct Rounds {
  bool mma_skips_a_tile = false, mma_never_consumes = false, scheduler_ignores_start = false;
};

/// A load that says when it starts a tile, a scheduler that then hands out the next one, and an MMA that asks for
/// it before it consumes: the rings of a kernel under CLC.
RoleCode rounds(const Rounds& wrong) {
  RoleCode code;
  code.warps = 3;
  code.explained = true;
  code.barriers = {{"x_full", kFull, kStages, 1, "w0", "mbarrier.arrive", "w1"},
                   {"x_empty", kEmpty, kStages, 1, "w1", "mbarrier.arrive", "w0"},
                   {"next_full", kNextFull, 1, 1, "w2", "mbarrier.arrive", "w0, w1"},
                   {"next_empty", kNextEmpty, 1, 2, "w0, w1", "mbarrier.arrive", "w2"},
                   {"start_full", kStartFull, 1, 1, "w0", "mbarrier.arrive", "w2"},
                   {"start_empty", kStartEmpty, 1, 1, "w2", "mbarrier.arrive", "w0"}};
  code.program = [=](RoleIsa& isa) {
    if (isa.warpid() == 0)
      isa.elected([&] {
        for (SmemAddr b = kFull; b.value < kStartEmpty.value + 8; b = b + 8)
          isa.mbarrier_init(b, b.value == kNextEmpty.value ? 2 : 1);
        isa.fence_mbarrier_init();
      });
    isa.bar_sync(0, 96);
    using Ring = ProducerConsumerPipeline<RoleIsa>;
    Ring steps{isa, {kFull, kEmpty}, kStages}, next{isa, {kNextFull, kNextEmpty}, 1},
        start{isa, {kStartFull, kStartEmpty}, 1};
    const auto produce = [&](Ring& ring) {
      const int stage = ring.producer_acquire();
      isa.elected([&] { isa.mbarrier_arrive(ring.full(stage), Scope::cta); });
      ring.producer_step();
    };
    const auto consume = [&](Ring& ring) {
      const int stage = ring.consumer_wait();
      isa.elected([&] { isa.mbarrier_arrive(ring.empty(stage), Scope::cta); });
      ring.consumer_step();
    };
    for (int m = 0; m < 4; ++m) {
      const TraceArgs tile{.tile_m = m, .tile_n = 0};
      if (isa.warpid() == 0) {
        produce(start);
        {
          TraceSpan span{isa, TraceEvent::tile, tile};
          for (int k = 0; k < 3; ++k) {
            const int stage = steps.producer_acquire();
            TraceSpan step{isa, TraceEvent::load_issue, {.stage = 0, .tile_m = m, .tile_n = 0, .k = k}};
            isa.elected([&] { isa.mbarrier_arrive(steps.full(stage), Scope::cta); });
            steps.producer_step();
          }
        }
        consume(next);
      } else if (isa.warpid() == 1) {
        consume(next);
        if (wrong.mma_never_consumes || (wrong.mma_skips_a_tile && m == 1)) continue;
        TraceSpan span{isa, TraceEvent::tile, tile};
        for (int k = 0; k < 3; ++k) {
          const int stage = steps.consumer_wait();
          TraceSpan step{isa, TraceEvent::mma_issue, {.stage = 0, .tile_m = m, .tile_n = 0, .k = k}};
          isa.elected([&] { isa.mbarrier_arrive(steps.empty(stage), Scope::cta); });
          steps.consumer_step();
        }
      } else {
        if (!wrong.scheduler_ignores_start) consume(start);
        produce(next);
      }
    }
  };
  return code;
}

}  // namespace

TEST_CASE("roles that agree are clean", "[role_work]") {
  CHECK(diagnosis(ring({}, {})) == "");
  CHECK(diagnosis(ring({}, {}, {{}})) == "");
}

TEST_CASE("a stage that is filled with one k step and consumed as another is WK1", "[role_work]") {
  const std::string text = diagnosis(ring({}, {.label_from = 1}));
  CHECK(ids_of(text) == "warning WK1");
  CHECK_THAT(text,
             Catch::Contains("w1 takes x_full[0] phase 0 for tile (0, 0) k step 1; w0 has filled it with tile "
                             "(0, 0) k step 0"));
}

TEST_CASE("a role that goes through the tiles in another order is WK2", "[role_work]") {
  const std::string text = diagnosis(ring({}, {}, {{.tiles = {0, 2, 1}}}));
  CHECK(ids_of(text) == "warning WK2");
  CHECK_THAT(text, Catch::Contains("w2 "));
  CHECK_THAT(text, Catch::Contains("w0 and w1 have"));
}

TEST_CASE("a tile that one role has skipped is named", "[role_work]") {
  CHECK_THAT(diagnosis(ring({}, {}, {{.tiles = {0, 2}}})),
             Catch::Contains("w2 has skipped tile (1, 0), which w0 and w1 have: it went on to tile (2, 0)"));
  CHECK_THAT(diagnosis(ring({}, {}, {{.tiles = {0, 7, 1, 2}}})),
             Catch::Contains("w2 works on tile (7, 0), which w0 and w1 have not: they go on to tile (1, 0)"));
}

TEST_CASE("roles that take turns, or stop early, are no finding", "[role_work]") {
  CHECK(diagnosis(ring({}, {}, {{.tiles = {0, 2}}, {.tiles = {1}}})) == "");
  CHECK(diagnosis(ring({}, {}, {{.tiles = {0, 1}}})) == "");
}

TEST_CASE("what is filled ahead and never consumed is WK3, and only where roles have trace points", "[role_work]") {
  const Part ahead{.tiles = {0, 1, 2}, .steps = {3, 3, 4}};
  CHECK(ids_of(diagnosis(ring(ahead, {}))) == "warning WK3");
  CHECK(diagnosis(ring(ahead, {}, {}, false)) == "");
}

TEST_CASE("a hang names the role that fills too often, or that skips a tile", "[role_work]") {
  const auto cause = [](const RoleCode& code) {
    const std::string text = diagnosis(code);
    const size_t at = text.find("likely cause: ");
    return at == std::string::npos ? text : text.substr(at, text.find("\n", text.find("at fault", at)) - at);
  };
  // The ring is full, and the role that fills waits for a stage.
  const std::string skips = cause(ring({}, {.tiles = {0, 2}, .steps = {3, 3}}, {{}}));
  CHECK_THAT(skips, Catch::Contains("w1 has skipped tile (1, 0), which w0 and w2 have: it went on to tile (2, 0)"));
  CHECK_THAT(skips, Catch::Contains("at fault: w1 (warp 1) of CTA 0"));
  const std::string often = cause(ring({.tiles = {0, 1, 2}, .steps = {3, 6, 3}}, {}));
  CHECK_THAT(often, Catch::Contains(
                        "w0 has filled 6 k steps of tile (1, 0) (the last k 5), 3 too many: other tiles have 3; "
                        "w1 has consumed 3"));
  CHECK_THAT(often, Catch::Contains("at fault: w0 (warp 0) of CTA 0"));
  const std::string seldom = cause(ring({}, {.tiles = {0, 1, 2}, .steps = {3, 4, 3}}));
  CHECK_THAT(
      seldom,
      Catch::Contains("w1 has consumed 4 k steps of tile (1, 0) (the last k 3), 1 too many; w0 has filled 3: other "
                      "tiles have 3"));
}

TEST_CASE("a circle of waits names the role that leaves a full stage behind", "[role_work]") {
  CHECK(diagnosis(rounds({})) == "");
  const std::string skips = diagnosis(rounds({.mma_skips_a_tile = true}));
  CHECK_THAT(skips,
             Catch::Contains("likely cause: w1 has skipped tile (1, 0), or asks for the next too early: it has "
                             "gone on to its next wait for next_full without waiting for x_full["));
  CHECK_THAT(skips, Catch::Contains("at fault: w1 (warp 1)"));
  const std::string never = diagnosis(rounds({.mma_never_consumes = true}));
  CHECK_THAT(never, Catch::Contains("likely cause: w1 has skipped tile (0, 0)"));
  const std::string ignores = diagnosis(rounds({.scheduler_ignores_start = true}));
  CHECK_THAT(ignores,
             Catch::Contains("likely cause: w2 has never waited for start_full, though start_full[0] is full: "
                             "its wait is missing, or comes behind that for next_empty"));
}

TEST_CASE("a step too many, where whoever fills has gone on to the end", "[role_work]") {
  constexpr SmemAddr kDone{0x460};
  const auto code = [&](int fills, int takes) {
    RoleCode code;
    code.warps = 2;
    code.explained = true;
    code.barriers = {{"x_full", kFull, kStages, 1, "w0", "mbarrier.arrive", "w1"},
                     {"x_empty", kEmpty, kStages, 1, "w1", "mbarrier.arrive", "w0"},
                     {"done", kDone, 1, 1, "w1", "mbarrier.arrive", "w0"}};
    code.program = [=](RoleIsa& isa) {
      if (isa.warpid() == 0)
        isa.elected([&] {
          for (const SmemAddr b : {kFull, kFull + 8, kEmpty, kEmpty + 8, kDone}) isa.mbarrier_init(b, 1);
          isa.fence_mbarrier_init();
        });
      isa.bar_sync(0, 64);
      const bool first = isa.warpid() == 0;
      work(isa, {.tiles = {0}, .steps = {first ? fills : takes}}, first, false);
      if (first)
        while (!isa.mbarrier_try_wait_parity(kDone, 0, Scope::cta)) {}
      else
        isa.elected([&] { isa.mbarrier_arrive(kDone, Scope::cta); });
    };
    return code;
  };
  CHECK(diagnosis(code(4, 4)) == "");
  CHECK_THAT(
      diagnosis(code(4, 5)),
      Catch::Contains("likely cause: w1 waits for fill 5 of x_full, and w0 has made 4 and gone on to its wait for "
                      "done: w1 takes one too many, or w0 makes one too few"));
}

TEST_CASE("a count that is too low, or an arrival too many: the first wait comes when its phase is long over",
          "[role_work]") {
  const auto code_of = [](bool at_one_line) {
    RoleCode code;
    code.warps = 2;
    code.explained = true;
    code.barriers = {{"x_full", kFull, 1, 1, "w0", "mbarrier.arrive", "w1"},
                     {"x_empty", kEmpty, 1, 1, "w1", "mbarrier.arrive", "w0"}};
    code.program = [=](RoleIsa& isa) {
      if (isa.warpid() == 0)
        isa.elected([&] {
          isa.mbarrier_init(kFull, 1), isa.mbarrier_init(kEmpty, 1);
          isa.fence_mbarrier_init();
        });
      isa.bar_sync(0, 64);
      if (isa.warpid() == 0)
        isa.elected([&] {
          for (int i = 0; i < (at_one_line ? 2 : 1); ++i) isa.mbarrier_arrive(kFull, Scope::cta);
          if (!at_one_line) isa.mbarrier_arrive(kFull, Scope::cta);
        });
      else
        isa.for_each_lane(1000, [](int) {});
      if (isa.warpid() == 1)
        while (!isa.mbarrier_try_wait_parity(kFull, 0, Scope::cta)) {}
    };
    return code;
  };
  const std::string long_over =
      "2 phases of x_full[0] have completed before the first wait of w1 there, which was for phase 0: ";
  CHECK_THAT(diagnosis(code_of(true)),
             Catch::Contains(long_over + "w0 arrives twice where its kernel's table counts 1"));
  CHECK_THAT(diagnosis(code_of(false)),
             Catch::Contains(long_over + "its count, 1, is too low, or arrivals are doubled"));
}
