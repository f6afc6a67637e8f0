// SPDX-License-Identifier: Apache-2.0
/// write_pftrace: one packet for names and metadata, one per track, then one per begin, end, instant and changed
/// counter, in order of time.  One TracePacket message is reused for all of them.
#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "pftrace.pb.h"
#include "traces/format/atomic_file.h"
#include "traces/format/pftrace.h"
#include "traces/format/pftrace_format.h"
#include "traces/format/timeline.h"

namespace sm100::traces {

namespace {

using format::Annotation;
using perfetto::TracePacket;
using perfetto::TrackDescriptor;
using perfetto::TrackEvent;

uint64_t iid(SpanKind kind) { return 1 + static_cast<uint64_t>(kind); }
uint64_t iid(BarrierEventKind kind) { return 1 + kSpanKinds + static_cast<uint64_t>(kind); }
uint64_t iid(TrackKind category) { return 1 + static_cast<uint64_t>(category); }
uint64_t iid(Annotation annotation) { return 1 + static_cast<uint64_t>(annotation); }
constexpr uint64_t kMetadataEventIid = 1 + kSpanKinds + kBarrierEventKinds;
constexpr uint64_t kWakeupEventIid = kMetadataEventIid + 1;
constexpr uint64_t kFirstFindingEventIid = kWakeupEventIid + 1;  ///< one for each id
constexpr uint64_t kMetadataCategoryIid = 1 + kTrackKinds;
constexpr uint64_t kWakeupCategoryIid = kMetadataCategoryIid + 1, kFindingCategoryIid = kWakeupCategoryIid + 1;

perfetto::DebugAnnotation& annotate(TrackEvent& event, Annotation annotation) {
  perfetto::DebugAnnotation* added = event.add_debug_annotations();
  added->set_name_iid(iid(annotation));
  return *added;
}

/// -1 is absent.
void annotate_if_present(TrackEvent& event, Annotation annotation, int64_t value) {
  if (value != -1) annotate(event, annotation).set_int_value(value);
}

void annotate_name(TrackEvent& event, Annotation annotation, int16_t name) {
  if (name != kNoName) annotate(event, annotation).set_string_value_iid(static_cast<uint64_t>(name) + 1);
}

void annotate_track(TrackEvent& event, Annotation annotation, TrackId track) {
  if (track != kNoTrack) annotate(event, annotation).set_uint_value(track);
}

/// uuid 0 is Perfetto's implicit global track; ours begin at 1: all tracks, then lanes and counters track by
/// track.
class Uuids {
 public:
  Uuids(const Trace& trace, const Timeline& timeline) {
    uint64_t next = trace.tracks.size() + 1;
    for (const Track& track : trace.tracks) {
      first_extra_.push_back(next);
      next += timeline.lanes[track.id] - 1;
      if (track.kind == TrackKind::barrier) next += format::kCounters.size();
      lanes_.push_back(timeline.lanes[track.id]);
    }
  }
  uint64_t track(TrackId id) const { return uint64_t{id} + 1; }
  uint64_t lane(TrackId id, uint32_t lane) const { return lane == 0 ? track(id) : first_extra_[id] + lane - 1; }
  uint64_t counter(TrackId id, size_t counter) const { return first_extra_[id] + lanes_[id] - 1 + counter; }

 private:
  std::vector<uint64_t> first_extra_;
  std::vector<uint32_t> lanes_;
};

/// What a barrier's counters show; a counter packet is written when a value changes.
using CounterValues = std::array<std::optional<int64_t>, format::kCounters.size()>;

class Writer {
 public:
  Writer(const Trace& trace, google::protobuf::io::CodedOutputStream& output)
      : trace_(trace), timeline_(make_timeline(trace)), uuids_(trace, timeline_), output_(output) {
    find_flows();
  }

  void write() {
    write_metadata();
    for (const Track& track : trace_.tracks) write_track(track);
    counters_.resize(trace_.tracks.size());
    for (position_ = 0; position_ < timeline_.events.size(); ++position_) {
      const TimelineEvent& event = timeline_.events[position_];
      switch (event.edge) {
        case TimelineEvent::begin: write_begin(event.index); break;
        case TimelineEvent::end: write_end(event.index); break;
        case TimelineEvent::barrier: write_barrier_event(trace_.barrier_events[event.index]); break;
        case TimelineEvent::wakeup: write_wakeup(trace_.wakeups[event.index]); break;
        case TimelineEvent::finding: write_finding(trace_.findings[event.index]); break;
      }
    }
  }

 private:
  struct Flow {
    size_t last;         ///< position of the last event that carries it
    bool begun = false;  ///< by an event already written
  };

  void find_flows() {
    for (size_t i = 0; i < timeline_.events.size(); ++i) {
      const TimelineEvent& event = timeline_.events[i];
      if (const uint64_t flow = flow_of(event); flow != 0) flows_[flow].last = i;
    }
  }

  uint64_t flow_of(const TimelineEvent& event) const {
    switch (event.edge) {
      case TimelineEvent::barrier: return trace_.barrier_events[event.index].flow;
      case TimelineEvent::wakeup: return trace_.wakeups[event.index].flow;
      case TimelineEvent::finding: return 0;
      case TimelineEvent::begin: return trace_.spans[event.index].flow_out;
      case TimelineEvent::end: break;
    }
    return trace_.spans[event.index].flow_in;
  }

  uint64_t first_time() const {
    if (timeline_.events.empty()) return 0;
    const TimelineEvent& event = timeline_.events.front();
    switch (event.edge) {
      case TimelineEvent::barrier: return trace_.barrier_events[event.index].time;
      case TimelineEvent::wakeup: return trace_.wakeups[event.index].end;
      case TimelineEvent::finding: return trace_.findings[event.index].time;
      default: return trace_.spans[event.index].begin;
    }
  }

  void intern_names(perfetto::InternedData& interned) {
    const auto add = [](auto* field, uint64_t iid, std::string_view name) {
      auto* entry = field->Add();
      entry->set_iid(iid);
      entry->set_name(std::string(name));
    };
    for (int i = 0; i < kTrackKinds; ++i) {
      const auto kind = static_cast<TrackKind>(i);
      add(interned.mutable_event_categories(), iid(kind), name(kind));
    }
    add(interned.mutable_event_categories(), kMetadataCategoryIid, format::kMetadataCategory);
    add(interned.mutable_event_categories(), kWakeupCategoryIid, format::kWakeup);
    add(interned.mutable_event_categories(), kFindingCategoryIid, format::kFinding);
    for (int i = 0; i < kSpanKinds; ++i) {
      const auto kind = static_cast<SpanKind>(i);
      add(interned.mutable_event_names(), iid(kind), name(kind));
    }
    for (int i = 0; i < kBarrierEventKinds; ++i) {
      const auto kind = static_cast<BarrierEventKind>(i);
      add(interned.mutable_event_names(), iid(kind), name(kind));
    }
    add(interned.mutable_event_names(), kMetadataEventIid, format::kMetadataEvent);
    add(interned.mutable_event_names(), kWakeupEventIid, format::kWakeup);
    for (const Finding& finding : trace_.findings) {
      const auto [iid, added] = finding_iids_.try_emplace(finding.id, kFirstFindingEventIid + finding_iids_.size());
      if (added) add(interned.mutable_event_names(), iid->second, finding.id);
    }
    for (size_t i = 0; i < format::kAnnotationNames.size(); ++i) {
      add(interned.mutable_debug_annotation_names(), iid(static_cast<Annotation>(i)), format::kAnnotationNames[i]);
    }
    for (size_t i = 0; i < trace_.names.size(); ++i) {
      auto* entry = interned.add_debug_annotation_string_values();
      entry->set_iid(i + 1);
      entry->set_str(trace_.names[i]);
    }
  }

  void write_metadata() {
    packet_.set_first_packet_on_sequence(true);
    packet_.set_sequence_flags(TracePacket::SEQ_INCREMENTAL_STATE_CLEARED);
    intern_names(*packet_.mutable_interned_data());

    TrackEvent& event = start_event(first_time(), TrackEvent::TYPE_INSTANT, 0);
    const auto gpu = std::find_if(trace_.tracks.begin(), trace_.tracks.end(),
                                  [](const Track& track) { return track.kind == TrackKind::gpu; });
    if (gpu != trace_.tracks.end()) event.set_track_uuid(uuids_.track(gpu->id));
    event.set_name_iid(kMetadataEventIid);
    event.add_category_iids(kMetadataCategoryIid);
    const Metadata& metadata = trace_.metadata;
    annotate(event, Annotation::schema_version).set_int_value(metadata.schema_version);
    annotate(event, Annotation::source).set_string_value(metadata.source);
    annotate(event, Annotation::device).set_string_value(metadata.device);
    annotate(event, Annotation::scenario).set_string_value(metadata.scenario);
    annotate(event, Annotation::configuration).set_string_value(metadata.configuration);
    annotate(event, Annotation::tool_version).set_string_value(metadata.tool_version);
    annotate(event, Annotation::ticks_per_second).set_double_value(metadata.ticks_per_second);
    annotate(event, Annotation::seed).set_uint_value(metadata.seed);
    annotate(event, Annotation::outcome).set_string_value(metadata.outcome);
    annotate(event, Annotation::verdict).set_string_value(metadata.verdict);
    annotate(event, Annotation::dropped_events).set_uint_value(metadata.dropped_events);
    if (metadata.run_ticks != 0) annotate(event, Annotation::run_ticks).set_uint_value(metadata.run_ticks);
    if (!metadata.part.empty()) annotate(event, Annotation::part).set_string_value(metadata.part);
    annotate(event, Annotation::spans).set_uint_value(trace_.spans.size());
    annotate(event, Annotation::barrier_events).set_uint_value(trace_.barrier_events.size());
    annotate(event, Annotation::wakeups).set_uint_value(trace_.wakeups.size());
    annotate(event, Annotation::findings).set_uint_value(trace_.findings.size());
    finish_packet();
  }

  TrackDescriptor& start_descriptor(uint64_t uuid, const std::string& name, uint64_t parent, size_t rank) {
    TrackDescriptor& descriptor = *packet_.mutable_track_descriptor();
    descriptor.set_uuid(uuid);
    descriptor.set_name(name);
    if (parent != 0) descriptor.set_parent_uuid(parent);
    descriptor.set_child_ordering(TrackDescriptor::EXPLICIT);  // in the order of Trace::tracks
    descriptor.set_sibling_order_rank(static_cast<int32_t>(rank));
    descriptor.set_sibling_merge_behavior(TrackDescriptor::MERGE_NONE);
    return descriptor;
  }

  void write_track(const Track& track) {
    const uint64_t uuid = uuids_.track(track.id);
    const uint64_t parent = track.parent == kNoTrack ? 0 : uuids_.track(track.parent);
    std::string description{name(track.kind)};
    const auto describe = [&](const char* key, int value) {
      if (value != -1) description += key + std::to_string(value);
    };
    describe(" sm=", track.sm);
    describe(" cta=", track.cta);
    describe(" warp=", track.warp);
    describe(" cluster=", track.cluster);
    describe(" rank=", track.rank);
    start_descriptor(uuid, track.name, parent, track.id).set_description(description);
    finish_packet();

    for (uint32_t lane = 1; lane < timeline_.lanes[track.id]; ++lane) {
      const std::string name = track.name + " lane " + std::to_string(lane);
      start_descriptor(uuids_.lane(track.id, lane), name, uuid, lane).set_description(std::string(format::kLane));
      finish_packet();
    }
    if (track.kind != TrackKind::barrier) return;
    for (size_t i = 0; i < format::kCounters.size(); ++i) {
      const std::string name{format::kCounters[i]};
      start_descriptor(uuids_.counter(track.id, i), name, uuid, i).mutable_counter();
      finish_packet();
    }
  }

  void write_begin(uint32_t index) {
    const Span& span = trace_.spans[index];
    const SpanArgs& args = span.args;
    TrackEvent& event =
        start_event(span.begin, TrackEvent::TYPE_SLICE_BEGIN, uuids_.lane(span.track, timeline_.lane[index]));
    event.set_name_iid(iid(span.kind));
    event.add_category_iids(iid(trace_.tracks[span.track].kind));
    annotate(event, Annotation::sequence).set_uint_value(span.sequence);
    annotate_name(event, Annotation::pipeline, args.pipeline);
    annotate_if_present(event, Annotation::stage, args.stage);
    annotate_if_present(event, Annotation::phase, args.phase);
    annotate_if_present(event, Annotation::tile_m, args.tile_m);
    annotate_if_present(event, Annotation::tile_n, args.tile_n);
    annotate_if_present(event, Annotation::tile_k, args.tile_k);
    annotate_if_present(event, Annotation::k, args.k);
    annotate_if_present(event, Annotation::bytes, args.bytes);
    annotate_if_present(event, Annotation::column, args.column);
    annotate_if_present(event, Annotation::columns, args.columns);
    annotate_name(event, Annotation::line, args.line);
    annotate_name(event, Annotation::operand, args.operand);
    if (args.multicast != 0) annotate(event, Annotation::multicast).set_uint_value(args.multicast);
    for (int d = 0; d < args.dimensions; ++d)
      annotate(event, Annotation(int(Annotation::coord_0) + d)).set_int_value(args.coordinates[size_t(d)]);
    if (span.flow_out != 0) pass_flow(event, span.flow_out);
    finish_packet();
  }

  /// A flow ends at the END of the span that consumes it: a wait begins before the copy that it waits for.
  void write_end(uint32_t index) {
    const Span& span = trace_.spans[index];
    TrackEvent& event =
        start_event(span.end, TrackEvent::TYPE_SLICE_END, uuids_.lane(span.track, timeline_.lane[index]));
    if (span.flow_in != 0) {
      const Flow& flow = flows_.at(span.flow_in);
      if (!flow.begun) {
        annotate(event, Annotation::flow_in).set_uint_value(span.flow_in);
      } else if (flow.last == position_) {
        event.add_terminating_flow_ids(span.flow_in);
      } else {
        event.add_flow_ids(span.flow_in);
      }
    }
    finish_packet();
  }

  void write_barrier_event(const BarrierEvent& barrier) {
    TrackEvent& event = start_event(barrier.time, TrackEvent::TYPE_INSTANT, uuids_.track(barrier.track));
    event.set_name_iid(iid(barrier.kind));
    event.add_category_iids(iid(TrackKind::barrier));
    annotate_name(event, Annotation::actor, barrier.actor);
    annotate_track(event, Annotation::by, barrier.by);
    if (barrier.delay != 0) annotate(event, Annotation::delay).set_uint_value(barrier.delay);
    annotate(event, Annotation::phase).set_int_value(barrier.phase);
    annotate(event, Annotation::pending).set_int_value(barrier.pending);
    annotate(event, Annotation::tx).set_int_value(barrier.tx);
    annotate(event, Annotation::amount).set_int_value(barrier.amount);
    if (barrier.flow != 0) pass_flow(event, barrier.flow);
    finish_packet();

    if (barrier.kind == BarrierEventKind::wait_begin || barrier.kind == BarrierEventKind::wait_end) return;
    const int64_t phase = barrier.phase + (barrier.kind == BarrierEventKind::phase_complete ? 1 : 0);
    write_counter(barrier, 0, barrier.pending);
    write_counter(barrier, 1, barrier.tx);
    write_counter(barrier, 2, phase);
  }

  void write_wakeup(const Wakeup& wakeup) {
    TrackEvent& event = start_event(wakeup.end, TrackEvent::TYPE_INSTANT, uuids_.track(wakeup.track));
    event.set_name_iid(kWakeupEventIid);
    event.add_category_iids(kWakeupCategoryIid);
    annotate_name(event, Annotation::reason, wakeup.reason);
    annotate(event, Annotation::since).set_uint_value(wakeup.begin);
    annotate_track(event, Annotation::by, wakeup.by);
    annotate(event, Annotation::caused).set_uint_value(wakeup.caused);
    if (wakeup.flow != 0) pass_flow(event, wakeup.flow);
    finish_packet();
  }

  void write_finding(const Finding& finding) {
    TrackEvent& event = start_event(finding.time, TrackEvent::TYPE_INSTANT, uuids_.track(finding.track));
    event.set_name_iid(finding_iids_.at(finding.id));
    event.add_category_iids(kFindingCategoryIid);
    annotate(event, Annotation::warning).set_bool_value(finding.warning);
    annotate(event, Annotation::message).set_string_value(finding.message);
    annotate(event, Annotation::report).set_string_value(finding.report);
    for (const FindingMark& mark : finding.marks) annotate(event, Annotation::mark).set_string_value(text_of(mark));
    finish_packet();
  }

  /// "fault track=12 time=4290 barrier=31 line=load_warp.h:36 text=…": the text, which may hold anything, comes
  /// last.
  static std::string text_of(const FindingMark& mark) {
    std::string text = std::string(name(mark.what)) + " track=" + std::to_string(mark.track) +
                       " time=" + std::to_string(mark.time);
    if (mark.barrier != kNoTrack) text += " barrier=" + std::to_string(mark.barrier);
    if (!mark.line.empty()) text += " line=" + mark.line;
    return mark.text.empty() ? text : text + " text=" + mark.text;
  }

  void write_counter(const BarrierEvent& barrier, size_t counter, int64_t value) {
    std::optional<int64_t>& shown = counters_[barrier.track][counter];
    if (shown == value) return;
    shown = value;
    start_event(barrier.time, TrackEvent::TYPE_COUNTER, uuids_.counter(barrier.track, counter))
        .set_counter_value(value);
    finish_packet();
  }

  void pass_flow(TrackEvent& event, uint64_t flow) {
    event.add_flow_ids(flow);
    flows_.at(flow).begun = true;
  }

  TrackEvent& start_event(uint64_t time, TrackEvent::Type type, uint64_t uuid) {
    packet_.set_timestamp(time);
    TrackEvent& event = *packet_.mutable_track_event();
    event.set_type(type);
    event.set_track_uuid(uuid);
    return event;
  }

  void finish_packet() {
    packet_.set_trusted_packet_sequence_id(format::kPacketSequence);
    if (!packet_.has_sequence_flags()) packet_.set_sequence_flags(TracePacket::SEQ_NEEDS_INCREMENTAL_STATE);
    output_.WriteTag(format::kPacketTag);
    output_.WriteVarint32(static_cast<uint32_t>(packet_.ByteSizeLong()));
    packet_.SerializeWithCachedSizes(&output_);
    packet_.Clear();
  }

  const Trace& trace_;
  const Timeline timeline_;
  const Uuids uuids_;
  google::protobuf::io::CodedOutputStream& output_;
  TracePacket packet_;
  std::unordered_map<uint64_t, Flow> flows_;
  std::unordered_map<std::string, uint64_t> finding_iids_;  ///< event name, by finding id
  std::vector<CounterValues> counters_;                     ///< by track
  size_t position_ = 0;                                     ///< in timeline_.events
};

}  // namespace

void write_pftrace(const Trace& trace, std::ostream& to) {
  google::protobuf::io::OstreamOutputStream stream(&to, 1 << 20);
  google::protobuf::io::CodedOutputStream output(&stream);
  Writer(trace, output).write();
}

void write_pftrace(const Trace& trace, const std::filesystem::path& path) {
  AtomicFile file(path);
  write_pftrace(trace, file.stream());
  file.commit();
}

}  // namespace sm100::traces
