// SPDX-License-Identifier: Apache-2.0
/// read_pftrace: packets one by one, names resolved through the file's own interning tables, lanes folded
/// back into their tracks, counters skipped (the barrier events say the same).
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>

#include "pftrace.pb.h"
#include "traces/format/compressed_file.h"
#include "traces/format/pftrace.h"
#include "traces/format/pftrace_format.h"

namespace sm100::traces {

namespace {

using format::Annotation;
using perfetto::TracePacket;
using perfetto::TrackEvent;

/// What is wrong, without the file's name; read_pftrace adds that.
struct Problem : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void fail(fmt::format_string<Args...> text, Args&&... args) {
  std::string message = fmt::format(text, std::forward<Args>(args)...);
  for (char& c : message)  // names in a damaged file hold anything; a message is one line
    if (static_cast<unsigned char>(c) < 0x20) c = '?';
  throw Problem(message);
}

template <class T>
T narrow(int64_t value, Annotation annotation) {
  if (value < std::numeric_limits<T>::min() || value > std::numeric_limits<T>::max()) {
    fail("{} = {} is out of range", format::name(annotation), value);
  }
  return static_cast<T>(value);
}

/// Cuts a file into packets.
class PacketFile {
 public:
  explicit PacketFile(const std::filesystem::path& path) : input_(checked(path)) { buffer_.resize(1 << 20); }

  bool next(TracePacket& packet) {
    const uint64_t start = position_;
    const int tag = byte();
    if (tag < 0) {
      if (start == 0) fail("the file is empty");
      return false;
    }
    if (tag != format::kPacketTag) bad_packet(start);
    uint64_t size = 0;
    for (int shift = 0;; shift += 7) {
      const int next = byte();
      if (next < 0) truncated(start);
      size |= (static_cast<uint64_t>(next) & 0x7f) << shift;
      if (next < 0x80) break;
      if (shift == 28) bad_packet(start);
    }
    if (size > static_cast<uint64_t>(std::numeric_limits<int>::max())) bad_packet(start);
    read_payload(start, size);
    if (!packet.ParseFromArray(payload_.data(), static_cast<int>(size))) bad_packet(start);
    return true;
  }

 private:
  static const std::filesystem::path& checked(const std::filesystem::path& path) {
    std::error_code error;
    const auto status = std::filesystem::status(path, error);
    if (!is_standard_stream(path) && !std::filesystem::exists(status)) fail("no such file");
    if (std::filesystem::is_directory(status)) fail("it is a directory");
    return path;
  }

  /// Grows with what comes: a damaged file may promise any size.
  void read_payload(uint64_t start, uint64_t size) {
    payload_.clear();
    while (payload_.size() < size) {
      if (at_ == filled_ && !refill()) {
        if (start == 0) bad_packet(start);  // of something else
        truncated(start);
      }
      const size_t piece = std::min<uint64_t>(size - payload_.size(), filled_ - at_);
      payload_.append(buffer_.data() + at_, piece);
      at_ += piece;
      position_ += piece;
    }
  }

  /// -1: the end.
  int byte() {
    if (at_ == filled_ && !refill()) return -1;
    ++position_;
    return static_cast<uint8_t>(buffer_[at_++]);
  }

  bool refill() {
    at_ = 0;
    filled_ = input_.read(buffer_.data(), buffer_.size());
    return filled_ > 0;
  }

  [[noreturn]] void bad_packet(uint64_t start) {
    if (start == 0) fail("not a Perfetto trace");
    fail("damaged: no Perfetto packet at byte {}", start);
  }
  [[noreturn]] void truncated(uint64_t start) { fail("truncated: the packet at byte {} is incomplete", start); }

  CompressedInput input_;
  std::string buffer_, payload_;
  size_t at_ = 0, filled_ = 0;  ///< in buffer_
  uint64_t position_ = 0;       ///< in the decompressed file
};

class Reader {
 public:
  explicit Reader(PacketFile& file) : file_(file) {}

  Trace read() {
    TracePacket packet;
    while (file_.next(packet)) {
      if (packet.has_interned_data()) learn_names(packet.interned_data());
      if (packet.has_track_descriptor()) add_track(packet.track_descriptor());
      if (packet.has_track_event()) add_event(packet.timestamp(), packet.track_event());
    }
    if (!has_metadata_) not_ours();
    if (open_ != 0) fail("truncated: {} spans have no end", open_);
    if (trace_.spans.size() != expected_spans_ || trace_.barrier_events.size() != expected_barrier_events_) {
      fail("truncated: {} of {} spans and {} of {} barrier events", trace_.spans.size(), expected_spans_,
           trace_.barrier_events.size(), expected_barrier_events_);
    }
    if (trace_.wakeups.size() != expected_wakeups_ || trace_.findings.size() != expected_findings_)
      fail("truncated: {} of {} wake-ups and {} of {} findings", trace_.wakeups.size(), expected_wakeups_,
           trace_.findings.size(), expected_findings_);
    check_tracks();
    sort_events(trace_);
    return std::move(trace_);
  }

 private:
  /// One line of slices or one counter.
  struct Line {
    TrackId track;
    bool counter = false;
    std::vector<size_t> open;  ///< spans begun and not ended, outermost first
  };
  using NameTable = std::unordered_map<uint64_t, std::string>;

  [[noreturn]] void not_ours() { fail("a Perfetto trace, but not one of sm100sim: its metadata event is missing"); }

  void learn_names(const perfetto::InternedData& interned) {
    for (const auto& entry : interned.event_names()) event_names_[entry.iid()] = entry.name();
    for (const auto& entry : interned.event_categories()) categories_[entry.iid()] = entry.name();
    for (const auto& entry : interned.debug_annotation_names()) {
      for (size_t i = 0; i < format::kAnnotationNames.size(); ++i) {
        if (format::kAnnotationNames[i] == entry.name()) annotations_[entry.iid()] = static_cast<Annotation>(i);
      }
    }
    for (const auto& entry : interned.debug_annotation_string_values()) {
      // Trace::names in order of appearance
      if (trace_.names.size() > static_cast<size_t>(std::numeric_limits<int16_t>::max())) fail("too many names");
      name_index_[entry.iid()] = static_cast<int16_t>(trace_.names.size());
      trace_.names.push_back(entry.str());
    }
  }

  void add_track(const perfetto::TrackDescriptor& descriptor) {
    Line line{static_cast<TrackId>(trace_.tracks.size())};
    Line* parent = nullptr;
    if (descriptor.has_parent_uuid()) {
      const auto found = lines_.find(descriptor.parent_uuid());
      if (found == lines_.end()) fail("track \"{}\" comes before its parent", descriptor.name());
      parent = &found->second;
    }
    if (parent != nullptr && (descriptor.has_counter() || descriptor.description() == format::kLane)) {
      line.track = parent->track;
      line.counter = descriptor.has_counter();
    } else {
      trace_.tracks.push_back(described_track(descriptor, line.track, parent ? parent->track : kNoTrack));
    }
    lines_[descriptor.uuid()] = std::move(line);
  }

  /// The description is "<kind> sm=<n> cta=<n> warp=<n>", any of the three absent.
  static Track described_track(const perfetto::TrackDescriptor& descriptor, TrackId id, TrackId parent) {
    Track track{.id = id, .name = descriptor.name(), .parent = parent};
    std::string_view text = descriptor.description();
    const auto next_word = [&] {
      const std::string_view word = text.substr(0, text.find(' '));
      text.remove_prefix(std::min(text.size(), word.size() + 1));
      return word;
    };
    const auto kind = track_kind(next_word());
    if (!kind) fail("track \"{}\" has no known kind: \"{}\"", track.name, descriptor.description());
    track.kind = *kind;
    while (!text.empty()) {
      const std::string_view word = next_word();
      const auto value = [&](std::string_view key, int& member) {
        if (word.substr(0, key.size()) == key) member = std::atoi(word.data() + key.size());
      };
      value("sm=", track.sm);
      value("cta=", track.cta);
      value("warp=", track.warp);
      value("cluster=", track.cluster);
      value("rank=", track.rank);
    }
    return track;
  }

  void add_event(uint64_t time, const TrackEvent& event) {
    if (!has_metadata_) return read_metadata(event);  // the first event
    const auto found = lines_.find(event.track_uuid());
    if (found == lines_.end())
      fail("an event at {} is on track {}, which nothing describes", time, event.track_uuid());
    Line& line = found->second;
    if (line.counter) return;
    switch (event.type()) {
      case TrackEvent::TYPE_SLICE_BEGIN: return begin_span(time, event, line);
      case TrackEvent::TYPE_SLICE_END: return end_span(time, event, line);
      case TrackEvent::TYPE_INSTANT: return add_instant(time, event, line);
      default: return;
    }
  }

  const std::string& event_name(const TrackEvent& event) const {
    const auto found = event_names_.find(event.name_iid());
    if (found == event_names_.end()) fail("no event name has the interning id {}", event.name_iid());
    return found->second;
  }

  void begin_span(uint64_t time, const TrackEvent& event, Line& line) {
    Span span{.begin = time, .end = time, .track = line.track};
    const auto kind = span_kind(event_name(event));
    if (!kind) fail("unknown kind of span \"{}\"", event_name(event));
    span.kind = *kind;
    SpanArgs& args = span.args;
    for_each_annotation(event, [&](Annotation annotation, const perfetto::DebugAnnotation& value) {
      const int64_t number = integer(value);
      switch (annotation) {
        case Annotation::sequence: span.sequence = narrow<uint32_t>(number, annotation); break;
        case Annotation::pipeline: args.pipeline = name_index(value); break;
        case Annotation::stage: args.stage = narrow<int16_t>(number, annotation); break;
        case Annotation::phase: args.phase = narrow<int32_t>(number, annotation); break;
        case Annotation::tile_m: args.tile_m = narrow<int32_t>(number, annotation); break;
        case Annotation::tile_n: args.tile_n = narrow<int32_t>(number, annotation); break;
        case Annotation::tile_k: args.tile_k = narrow<int32_t>(number, annotation); break;
        case Annotation::k: args.k = narrow<int32_t>(number, annotation); break;
        case Annotation::bytes: args.bytes = number; break;
        case Annotation::column: args.column = narrow<int16_t>(number, annotation); break;
        case Annotation::columns: args.columns = narrow<int16_t>(number, annotation); break;
        case Annotation::line: args.line = name_index(value); break;
        case Annotation::operand: args.operand = name_index(value); break;
        case Annotation::multicast: args.multicast = narrow<uint16_t>(number, annotation); break;
        case Annotation::coord_0:
        case Annotation::coord_1:
        case Annotation::coord_2:
        case Annotation::coord_3:
        case Annotation::coord_4: {
          const int dimension = int(annotation) - int(Annotation::coord_0);
          args.coordinates[size_t(dimension)] = narrow<int32_t>(number, annotation);
          args.dimensions = std::max(args.dimensions, int8_t(dimension + 1));
          break;
        }
        default: break;
      }
    });
    if (event.flow_ids_size() > 0) span.flow_out = event.flow_ids(0);
    line.open.push_back(trace_.spans.size());
    trace_.spans.push_back(span);
    ++open_;
  }

  void end_span(uint64_t time, const TrackEvent& event, Line& line) {
    if (line.open.empty()) fail("a span ends at {} on {} and never began", time, trace_.tracks[line.track].name);
    Span& span = trace_.spans[line.open.back()];
    line.open.pop_back();
    --open_;
    span.end = time;
    if (event.terminating_flow_ids_size() > 0) span.flow_in = event.terminating_flow_ids(0);
    if (event.flow_ids_size() > 0) span.flow_in = event.flow_ids(0);
    for_each_annotation(event, [&](Annotation annotation, const perfetto::DebugAnnotation& value) {
      if (annotation == Annotation::flow_in) span.flow_in = static_cast<uint64_t>(integer(value));
    });
  }

  void add_instant(uint64_t time, const TrackEvent& event, const Line& line) {
    const auto category =
        event.category_iids_size() == 1 ? categories_.find(event.category_iids(0)) : categories_.end();
    if (category != categories_.end() && category->second == format::kWakeup) return add_wakeup(time, event, line);
    if (category != categories_.end() && category->second == format::kFinding)
      return add_finding(time, event, line);
    add_barrier_event(time, event, line);
  }

  void add_wakeup(uint64_t time, const TrackEvent& event, const Line& line) {
    Wakeup wakeup{.end = time, .track = line.track};
    for_each_annotation(event, [&](Annotation annotation, const perfetto::DebugAnnotation& value) {
      const int64_t number = integer(value);
      switch (annotation) {
        case Annotation::reason: wakeup.reason = name_index(value); break;
        case Annotation::since: wakeup.begin = static_cast<uint64_t>(number); break;
        case Annotation::by: wakeup.by = narrow<TrackId>(number, annotation); break;
        case Annotation::caused: wakeup.caused = static_cast<uint64_t>(number); break;
        default: break;
      }
    });
    if (event.flow_ids_size() > 0) wakeup.flow = event.flow_ids(0);
    trace_.wakeups.push_back(wakeup);
  }

  void add_finding(uint64_t time, const TrackEvent& event, const Line& line) {
    Finding finding{.time = time, .track = line.track, .id = event_name(event)};
    for_each_annotation(event, [&](Annotation annotation, const perfetto::DebugAnnotation& value) {
      if (annotation == Annotation::warning) finding.warning = value.bool_value();
      if (annotation == Annotation::message) finding.message = value.string_value();
      if (annotation == Annotation::report) finding.report = value.string_value();
      if (annotation == Annotation::mark) finding.marks.push_back(mark_of(value.string_value()));
    });
    trace_.findings.push_back(std::move(finding));
  }

  /// "fault track=12 time=4290 barrier=31 line=load_warp.h:36 text=…"
  static FindingMark mark_of(std::string_view words) {
    const std::string all(words);
    const auto next_word = [&] {
      const std::string_view word = words.substr(0, words.find(' '));
      words.remove_prefix(std::min(words.size(), word.size() + 1));
      return word;
    };
    FindingMark mark;
    const auto what = finding_mark(next_word());
    if (!what) fail("unknown mark of a finding \"{}\"", all);
    mark.what = *what;
    while (!words.empty()) {
      constexpr std::string_view kText = "text=";
      if (words.substr(0, kText.size()) == kText) {
        mark.text = words.substr(kText.size());
        break;
      }
      const std::string_view word = next_word();
      const auto number = [&](std::string_view key, auto& member) {
        if (word.substr(0, key.size()) != key) return;
        uint64_t value = 0;
        const auto [end, error] = std::from_chars(word.data() + key.size(), word.data() + word.size(), value);
        using Member = std::remove_reference_t<decltype(member)>;
        if (error != std::errc{} || end != word.data() + word.size() || value > std::numeric_limits<Member>::max())
          fail("a mark of a finding has {}", word);
        member = static_cast<Member>(value);
      };
      number("track=", mark.track);
      number("time=", mark.time);
      number("barrier=", mark.barrier);
      if (word.substr(0, 5) == "line=") mark.line = word.substr(5);
    }
    if (mark.track == kNoTrack) fail("a mark of a finding names no track: \"{}\"", all);
    return mark;
  }

  /// Events name tracks by number; all descriptors come first, but only a whole file shows how many there are.
  void check_tracks() const {
    const auto check = [&](TrackId track) {
      if (track != kNoTrack && track >= trace_.tracks.size())
        fail("an event is by track {}, which nothing describes", track);
    };
    for (const BarrierEvent& event : trace_.barrier_events) check(event.by);
    for (const Wakeup& wakeup : trace_.wakeups) check(wakeup.by);
    for (const Finding& finding : trace_.findings)
      for (const FindingMark& mark : finding.marks) check(mark.track), check(mark.barrier);
  }

  void add_barrier_event(uint64_t time, const TrackEvent& event, const Line& line) {
    BarrierEvent barrier{.time = time, .track = line.track};
    const auto kind = barrier_event_kind(event_name(event));
    if (!kind) fail("unknown barrier event \"{}\"", event_name(event));
    barrier.kind = *kind;
    for_each_annotation(event, [&](Annotation annotation, const perfetto::DebugAnnotation& value) {
      const int64_t number = integer(value);
      switch (annotation) {
        case Annotation::actor: barrier.actor = name_index(value); break;
        case Annotation::phase: barrier.phase = narrow<int32_t>(number, annotation); break;
        case Annotation::pending: barrier.pending = narrow<int32_t>(number, annotation); break;
        case Annotation::tx: barrier.tx = narrow<int32_t>(number, annotation); break;
        case Annotation::amount: barrier.amount = narrow<int32_t>(number, annotation); break;
        case Annotation::by: barrier.by = narrow<TrackId>(number, annotation); break;
        case Annotation::delay: barrier.delay = narrow<uint32_t>(number, annotation); break;
        default: break;
      }
    });
    if (event.flow_ids_size() > 0) barrier.flow = event.flow_ids(0);
    trace_.barrier_events.push_back(barrier);
  }

  void read_metadata(const TrackEvent& event) {
    const auto found = event_names_.find(event.name_iid());
    if (found == event_names_.end() || found->second != format::kMetadataEvent) not_ours();
    Metadata& metadata = trace_.metadata;
    for_each_annotation(event, [&](Annotation annotation, const perfetto::DebugAnnotation& value) {
      const uint64_t number = static_cast<uint64_t>(integer(value));
      switch (annotation) {
        case Annotation::schema_version: metadata.schema_version = static_cast<int>(number); break;
        case Annotation::source: metadata.source = value.string_value(); break;
        case Annotation::device: metadata.device = value.string_value(); break;
        case Annotation::scenario: metadata.scenario = value.string_value(); break;
        case Annotation::configuration: metadata.configuration = value.string_value(); break;
        case Annotation::tool_version: metadata.tool_version = value.string_value(); break;
        case Annotation::ticks_per_second: metadata.ticks_per_second = value.double_value(); break;
        case Annotation::seed: metadata.seed = number; break;
        case Annotation::outcome: metadata.outcome = value.string_value(); break;
        case Annotation::verdict: metadata.verdict = value.string_value(); break;
        case Annotation::dropped_events: metadata.dropped_events = number; break;
        case Annotation::run_ticks: metadata.run_ticks = number; break;
        case Annotation::part: metadata.part = value.string_value(); break;
        case Annotation::spans: expected_spans_ = number; break;
        case Annotation::barrier_events: expected_barrier_events_ = number; break;
        case Annotation::wakeups: expected_wakeups_ = number; break;
        case Annotation::findings: expected_findings_ = number; break;
        default: break;
      }
    });
    if (metadata.schema_version > kSchemaVersion) {
      fail("schema version {} is newer than {}, the newest that this program reads", metadata.schema_version,
           kSchemaVersion);
    }
    if (metadata.schema_version < 1) fail("schema version {} does not exist", metadata.schema_version);
    has_metadata_ = true;
  }

  template <class Function>
  void for_each_annotation(const TrackEvent& event, Function function) const {
    for (const perfetto::DebugAnnotation& value : event.debug_annotations()) {
      const auto found = annotations_.find(value.name_iid());
      if (found != annotations_.end()) function(found->second, value);  // others are not ours
    }
  }

  static int64_t integer(const perfetto::DebugAnnotation& value) {
    return value.has_uint_value() ? static_cast<int64_t>(value.uint_value()) : value.int_value();
  }

  int16_t name_index(const perfetto::DebugAnnotation& value) const {
    const auto found = name_index_.find(value.string_value_iid());
    if (found == name_index_.end()) fail("no string has the interning id {}", value.string_value_iid());
    return found->second;
  }

  PacketFile& file_;
  Trace trace_;
  bool has_metadata_ = false;
  uint64_t expected_spans_ = 0, expected_barrier_events_ = 0, expected_wakeups_ = 0, expected_findings_ = 0;
  size_t open_ = 0;
  std::unordered_map<uint64_t, Line> lines_;  ///< by uuid
  NameTable event_names_, categories_;
  std::unordered_map<uint64_t, Annotation> annotations_;
  std::unordered_map<uint64_t, int16_t> name_index_;
};

}  // namespace

Trace read_pftrace(const std::filesystem::path& path) {
  try {
    PacketFile file(path);
    return Reader(file).read();
  } catch (const Problem& problem) { throw std::runtime_error(input_name(path) + ": " + problem.what()); }
}

}  // namespace sm100::traces
