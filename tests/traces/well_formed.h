// SPDX-License-Identifier: Apache-2.0
/// What Perfetto's importer relies on, checked on the parsed protobuf: every begin has an end, packets and
/// slices are in order, interned ids and tracks resolve, and a flow that ends has begun.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "catch.h"
#include "pftrace.pb.h"

namespace sm100::traces {

/// Everything that Perfetto's importer relies on.
inline void check_well_formed(const perfetto::Trace& file) {
  REQUIRE(file.packet_size() > 0);
  CHECK(file.packet(0).first_packet_on_sequence());
  CHECK(file.packet(0).sequence_flags() == perfetto::TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);

  std::set<uint64_t> tracks{0}, counters, event_names, categories, annotations, strings, flows;
  std::map<uint64_t, std::vector<uint64_t>> open;  // by track: begin times
  std::map<uint64_t, uint64_t> last_end;
  uint64_t last_time = 0;
  for (const perfetto::TracePacket& packet : file.packet()) {
    CHECK(packet.trusted_packet_sequence_id() == 1);
    CHECK(packet.sequence_flags() != 0);
    for (const auto& entry : packet.interned_data().event_names()) CHECK(event_names.insert(entry.iid()).second);
    for (const auto& entry : packet.interned_data().event_categories())
      CHECK(categories.insert(entry.iid()).second);
    for (const auto& entry : packet.interned_data().debug_annotation_names()) {
      CHECK(annotations.insert(entry.iid()).second);
    }
    for (const auto& entry : packet.interned_data().debug_annotation_string_values()) {
      CHECK(strings.insert(entry.iid()).second);
    }
    if (packet.has_track_descriptor()) {
      const perfetto::TrackDescriptor& descriptor = packet.track_descriptor();
      CHECK(tracks.insert(descriptor.uuid()).second);
      CHECK(tracks.count(descriptor.parent_uuid()));
      if (descriptor.has_counter()) counters.insert(descriptor.uuid());
    }
    if (!packet.has_track_event()) continue;

    const perfetto::TrackEvent& event = packet.track_event();
    CHECK(packet.timestamp() >= last_time);
    last_time = packet.timestamp();
    const uint64_t uuid = event.track_uuid();
    if (&packet != &file.packet(0)) CHECK(tracks.count(uuid));
    for (const auto& annotation : event.debug_annotations()) {
      CHECK(annotations.count(annotation.name_iid()));
      if (annotation.has_string_value_iid()) CHECK(strings.count(annotation.string_value_iid()));
    }
    CHECK((event.type() == perfetto::TrackEvent::TYPE_COUNTER) == (counters.count(uuid) == 1));
    switch (event.type()) {
      case perfetto::TrackEvent::TYPE_SLICE_BEGIN:
        CHECK(packet.timestamp() >= last_end[uuid]);  // END comes before BEGIN
        open[uuid].push_back(packet.timestamp());
        [[fallthrough]];
      case perfetto::TrackEvent::TYPE_INSTANT:
        CHECK(event_names.count(event.name_iid()));
        REQUIRE(event.category_iids_size() == 1);
        CHECK(categories.count(event.category_iids(0)));
        break;
      case perfetto::TrackEvent::TYPE_SLICE_END:
        REQUIRE_FALSE(open[uuid].empty());
        open[uuid].pop_back();
        last_end[uuid] = packet.timestamp();
        break;
      default: CHECK(event.has_counter_value());
    }
    for (uint64_t flow : event.flow_ids()) flows.insert(flow);
    for (uint64_t flow : event.terminating_flow_ids()) CHECK(flows.erase(flow) == 1);  // it had begun
  }
  for (const auto& [uuid, begins] : open) CHECK(begins.empty());
}

}  // namespace sm100::traces
