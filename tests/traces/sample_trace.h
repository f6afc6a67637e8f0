// SPDX-License-Identifier: Apache-2.0
/// A small trace with everything in it, and a directory to write it to.
#pragma once

#include "scratch_directory.h"
#include "traces/format/recorder.h"

namespace sm100::traces {

/// Two TMA copies in flight at once feed input_full[0]; the MMA warp waits for them and works, inside one
/// tile span.
inline Trace sample_trace() {
  Recorder recorder;
  Metadata& metadata = recorder.trace().metadata;
  metadata.source = "sim";
  metadata.device = "b200";
  metadata.scenario = "scenarios/\"matmul\".toml";
  metadata.configuration = R"({"stages":6})";
  metadata.tool_version = "0.1.0";
  metadata.outcome = "hang";
  metadata.verdict = "findings";
  metadata.ticks_per_second = 1.85e9;
  metadata.seed = UINT64_MAX;
  metadata.dropped_events = 3;

  const TrackId gpu = recorder.add_track(TrackKind::gpu, "B200");
  const TrackId cta = recorder.add_track(TrackKind::cta, "CTA 0", gpu, 7, 0);
  recorder.trace().tracks[cta].cluster = 0;
  recorder.trace().tracks[cta].rank = 1;
  const TrackId load = recorder.add_track(TrackKind::role, "load", cta, 7, 0, 5);
  const TrackId mma = recorder.add_track(TrackKind::role, "mma", cta, 7, 0, 6);
  const TrackId tma = recorder.add_track(TrackKind::unit, "tma", cta, 7, 0);
  const TrackId full = recorder.add_track(TrackKind::barrier, "input_full[0]", cta, 7, 0);
  const TrackId tmem = recorder.add_track(TrackKind::unit, "tmem", cta, 7, 0);
  const int16_t input = recorder.intern("input_full");
  const int16_t load_actor = recorder.intern("load");
  const int16_t tma_actor = recorder.intern("tma");
  const int16_t load_line = recorder.intern("load_warp.h:36"), a_name = recorder.intern("A");
  const uint64_t a_flow = recorder.new_flow(), b_flow = recorder.new_flow();

  recorder.barrier({.time = 0, .track = full, .kind = BarrierEventKind::init, .pending = 1, .amount = 1});
  recorder.span({.begin = 90,
                 .end = 100,
                 .track = load,
                 .kind = SpanKind::load_issue,
                 .args = {.pipeline = input, .stage = 0, .phase = 0, .k = 0, .line = load_line, .bytes = 32768}});
  recorder.barrier({.time = 95,
                    .track = full,
                    .kind = BarrierEventKind::expect_tx,
                    .actor = load_actor,
                    .pending = 1,
                    .tx = 32768,
                    .amount = 32768,
                    .by = load,
                    .delay = 4});
  recorder.barrier({.time = 95,
                    .track = full,
                    .kind = BarrierEventKind::arrive,
                    .actor = load_actor,
                    .pending = 0,
                    .tx = 32768,
                    .amount = 1});
  recorder.span({.begin = 100,
                 .end = 700,
                 .track = tma,
                 .kind = SpanKind::tma_load,
                 .args = {.stage = 0,
                          .line = load_line,
                          .operand = a_name,
                          .multicast = 0x8005,
                          .dimensions = 3,
                          .coordinates = {64, -1, 128},
                          .bytes = 16384},
                 .flow_out = a_flow});
  recorder.span({.begin = 110,
                 .end = 650,
                 .track = tma,
                 .kind = SpanKind::tma_load,
                 .args = {.stage = 0, .bytes = 16384},
                 .flow_out = b_flow});
  recorder.barrier({.time = 650,
                    .track = full,
                    .kind = BarrierEventKind::complete_tx,
                    .actor = tma_actor,
                    .pending = 0,
                    .tx = 16384,
                    .amount = 16384,
                    .flow = b_flow});
  recorder.barrier({.time = 700,
                    .track = full,
                    .kind = BarrierEventKind::complete_tx,
                    .actor = tma_actor,
                    .pending = 0,
                    .tx = 0,
                    .amount = 16384,
                    .by = tma,
                    .flow = a_flow});
  recorder.barrier({.time = 700, .track = full, .kind = BarrierEventKind::phase_complete, .pending = 1});
  // The wait begins before the copy that it waits for, and before its own tile's other spans.
  recorder.span({.begin = 80,
                 .end = 700,
                 .track = mma,
                 .kind = SpanKind::wait,
                 .args = {.pipeline = input, .stage = 0, .phase = 0},
                 .flow_in = a_flow});
  recorder.span(
      {.begin = 700,
       .end = 764,
       .track = mma,
       .kind = SpanKind::mma_issue,
       .args = {.pipeline = input, .stage = 0, .phase = 0, .tile_m = 1, .tile_n = 2, .tile_k = 0, .k = 0}});
  recorder.span({.begin = 764, .end = 764, .track = mma, .kind = SpanKind::mma_commit});
  recorder.span(
      {.begin = 80, .end = 764, .track = mma, .kind = SpanKind::tile, .args = {.tile_m = 1, .tile_n = 2}});
  recorder.span({.begin = 80,
                 .end = 764,
                 .track = tmem,
                 .kind = SpanKind::tmem_alloc,
                 .args = {.column = 0, .columns = 512}});
  recorder.wakeup({.begin = 60,
                   .end = 80,
                   .track = mma,
                   .reason = recorder.intern("named barrier 1"),
                   .by = load,
                   .caused = 70});
  recorder.finding({.time = 700,
                    .track = full,
                    .id = "MB16",
                    .warning = true,
                    .message = "nobody waits",
                    .report = "WARNING MB16\n"});
  recorder.finding({.time = 764,
                    .track = mma,
                    .id = "hang",
                    .message = "can never wake",
                    .report = "HANG at cycle 764:\n  \"mma\"\n",
                    .marks = {{.what = FindingMark::What::root,
                               .track = mma,
                               .time = 80,
                               .barrier = full,
                               .line = "mma_warp.h:57",
                               .text = "waits for input_full[0] parity 0 since cycle 80; time=1 is no key here"},
                              {.what = FindingMark::What::fault, .track = load, .time = 95}}});
  return std::move(recorder.trace());
}

}  // namespace sm100::traces
