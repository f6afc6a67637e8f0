// SPDX-License-Identifier: Apache-2.0
/// A made-up kernel of two roles, told event by event, so that a test can alter what one of them does.
///
/// Each CTA computes tiles of four k steps through a ring of three stages.  Its load warp waits for an empty stage
/// and issues a copy; its consumer warp waits for the full stage and reads it, and stores after the tile's last
/// step. Times are nanoseconds: the first lap of the ring fills quickly, then a step takes 600 ns.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "traces/format/recorder.h"

namespace sm100::traces {

struct StoryEvent {
  SpanKind kind;
  uint64_t begin, end;
  std::string pipeline;  ///< "" = none
  SpanArgs args;         ///< its pipeline is set when the story is recorded
};

struct StoryRole {
  std::string role;
  int cta, warp;
  std::vector<StoryEvent> events;  ///< in the order in which they end
};

using TileList = std::vector<std::pair<int, int>>;

struct Story {
  std::vector<StoryRole> roles;
  Metadata metadata;

  std::vector<StoryEvent>& load(int cta) { return roles.at(size_t(2 * cta)).events; }
  std::vector<StoryEvent>& consumer(int cta) { return roles.at(size_t(2 * cta + 1)).events; }

  void for_each_event(const std::function<void(StoryRole&, StoryEvent&)>& act) {
    for (StoryRole& role : roles)
      for (StoryEvent& event : role.events) act(role, event);
  }

  Trace record() const {
    Recorder recorder;
    recorder.trace().metadata = metadata;
    for (const StoryRole& role : roles) {
      const TrackId track =
          recorder.add_track(TrackKind::role, role.role, kNoTrack, /*sm=*/role.cta, role.cta, role.warp);
      for (const StoryEvent& event : role.events) {
        SpanArgs args = event.args;
        if (!event.pipeline.empty()) args.pipeline = recorder.intern(event.pipeline);
        recorder.span({.begin = event.begin, .end = event.end, .track = track, .kind = event.kind, .args = args});
      }
    }
    return std::move(recorder.trace());
  }
};

constexpr int kStages = 3, kStepsPerTile = 4;

/// `tiles`: (m, n) by CTA, in the order in which it computes them.  CTA 1 starts 100 ns after CTA 0.
inline Story story(const std::vector<TileList>& tiles = {{{0, 0}, {1, 0}}, {{0, 1}, {1, 1}}}) {
  Story s;
  s.metadata.source = "sim";
  s.metadata.device = "NVIDIA B200";
  s.metadata.scenario = "two_roles";
  s.metadata.configuration = R"({"kernel":"matmul","stages":3,"swizzle":128})";
  s.metadata.ticks_per_second = 1e9;
  for (int cta = 0; cta < int(tiles.size()); ++cta) {
    const uint64_t start = 100 * uint64_t(cta);
    StoryRole load{"load", cta, 4, {{SpanKind::setup, start, start + 200, "", {}}}};
    StoryRole consumer{"consumer", cta, 0, {{SpanKind::setup, start, start + 200, "", {}}}};
    uint64_t load_free = start + 300, consumer_free = start + 300;
    int step = 0;
    for (const auto& [m, n] : tiles[size_t(cta)]) {
      const uint64_t load_tile = load_free, consumer_tile = consumer_free;
      for (int k = 0; k < kStepsPerTile; ++k, ++step) {
        const auto stage = int16_t(step % kStages);
        const int phase = step / kStages;
        // Load: steps 0 to 2 begin to issue at 310, 370 and 430, later ones at 1010, 1610, 2210 ...
        const uint64_t issue =
            start + (step < kStages ? 310 + 60 * uint64_t(step) : 1010 + 600 * uint64_t(step - kStages));
        load.events.push_back(
            {SpanKind::wait, load_free, issue, "input_empty", {.stage = stage, .phase = phase - 1}});
        load.events.push_back({SpanKind::load_issue,
                               issue,
                               issue + 40,
                               "",
                               {.stage = stage, .tile_m = m, .tile_n = n, .k = k, .bytes = 16384}});
        load_free = issue + 40;
        const uint64_t full = start + 900 + 600 * uint64_t(step);
        consumer.events.push_back(
            {SpanKind::wait, consumer_free, full, "input_full", {.stage = stage, .phase = phase}});
        consumer.events.push_back({SpanKind::smem_read, full, full + 80, "", {.stage = stage, .k = k}});
        consumer_free = full + 80;
      }
      consumer.events.push_back({SpanKind::store_issue, consumer_free, consumer_free + 40, "", {}});
      consumer_free += 40;
      load.events.push_back({SpanKind::tile, load_tile, load_free, "", {.tile_m = m, .tile_n = n}});
      consumer.events.push_back({SpanKind::tile, consumer_tile, consumer_free, "", {.tile_m = m, .tile_n = n}});
    }
    s.roles.push_back(std::move(load));
    s.roles.push_back(std::move(consumer));
  }
  return s;
}

/// Events of one CTA's load and consumer tracks, tile spans not counted: setup and eight waits; eight issues, or
/// eight reads and two stores.
constexpr size_t kLoadEvents = 17, kConsumerEvents = 19, kAllEvents = 2 * (kLoadEvents + kConsumerEvents);

/// Place of a load_issue in a load track of `story()`: after setup come (wait, issue) of k 0 to 3, the tile span,
/// and the second tile's.
constexpr size_t issue_of(size_t k) { return 2 + 2 * k; }

}  // namespace sm100::traces
