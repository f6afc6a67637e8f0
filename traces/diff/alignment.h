// SPDX-License-Identifier: Apache-2.0
/// Aligns the role spans of two traces by meaning, not by time or SM.
///
/// A role track is (CTA, warp).  Its leaf spans (everything but `tile` and `drain`, which contain others, and a
/// `tile` that contains nothing) are its events, in program order, each with the tile that contains it.  Spans are
/// numbered as they end and leaves do not nest, so a track's own sequence numbers give that order however coarse
/// the clock was.
///
/// With static scheduling a CTA computes the same tiles in both traces, and tracks are compared event by event.
/// With dynamic scheduling the hardware hands tiles out as CTAs become free: if the tiles of any CTA differ, tile
/// by tile is compared, whoever computed it, and ring stages and phases, which depend on what a CTA did before,
/// count from the tile's first use of each ring.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "traces/format/schema.h"

namespace sm100::traces {

/// What an event is about, as the structural comparison sees it.  -1 or "" = absent.
struct EventMeaning {
  SpanKind kind = SpanKind::wait;
  std::string pipeline;
  int stage = -1, phase = -1;
  int tile_m = -1, tile_n = -1, tile_k = -1;
  int k = -1;
  int64_t bytes = -1;
  bool operator==(const EventMeaning&) const = default;
};

struct RoleEvent {
  const Span* span;
  EventMeaning meaning;
  int tile = -1;  ///< number of its tile on the track, -1 outside
};

struct RoleTrack {
  std::string role;
  int cta = -1, warp = -1, sm = -1;
  std::vector<RoleEvent> events;
  std::vector<const Span*> containers;           ///< `tile` and `drain` spans that are no events
  std::vector<std::tuple<int, int, int>> tiles;  ///< (m, n, k split) in the order of the track
};

/// By (CTA, warp, role).  A CTA that was launched twice in a trace does not occur.
using RoleTracks = std::map<std::tuple<int, int, std::string>, RoleTrack>;
RoleTracks role_tracks(const Trace& trace);

/// "wait input_full stage 2 phase 5, tile (0, 3)"
std::string describe(const EventMeaning& meaning);
/// The first field in which they differ: "stage 2, expected 1"; empty if none.  a is what is, b what is expected.
std::string difference(const EventMeaning& a, const EventMeaning& b);

}  // namespace sm100::traces
