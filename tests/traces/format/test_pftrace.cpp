// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <random>
#include <set>

#include "catch.h"
#include "pftrace.pb.h"
#include "traces/format/pftrace.h"
#include "traces/sample_trace.h"
#include "traces/well_formed.h"

using namespace sm100;
using namespace sm100::traces;
namespace pb = sm100::perfetto;

namespace {

pb::Trace parse(const std::filesystem::path& path) {
  pb::Trace file;
  REQUIRE(file.ParseFromString(read_whole(path)));
  return file;
}

template <class Function>
std::string error_of_call(Function function) {
  try {
    function();
  } catch (const std::runtime_error& error) { return error.what(); }
  return "";
}

std::string error_of(const std::filesystem::path& path) {
  return error_of_call([&] { read_pftrace(path); });
}

std::string write_error(const Trace& trace, const std::filesystem::path& path) {
  return error_of_call([&] { write_pftrace(trace, path); });
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

Trace sorted(Trace trace) {
  sort_events(trace);
  return trace;
}

/// By uuid, the slices that pairing each END with the innermost open BEGIN gives.
std::map<uint64_t, std::vector<std::pair<uint64_t, uint64_t>>> slices(const pb::Trace& file) {
  std::map<uint64_t, std::vector<std::pair<uint64_t, uint64_t>>> done;
  std::map<uint64_t, std::vector<uint64_t>> open;
  for (const pb::TracePacket& packet : file.packet()) {
    const uint64_t uuid = packet.track_event().track_uuid();
    if (packet.track_event().type() == pb::TrackEvent::TYPE_SLICE_BEGIN) open[uuid].push_back(packet.timestamp());
    if (packet.track_event().type() == pb::TrackEvent::TYPE_SLICE_END) {
      done[uuid].push_back({open[uuid].back(), packet.timestamp()});
      open[uuid].pop_back();
    }
  }
  return done;
}

}  // namespace

TEST_CASE("a trace comes back as it was written", "[traces]") {
  ScratchDirectory scratch;
  const Trace trace = sample_trace();
  write_pftrace(trace, scratch / "a.pftrace");
  const Trace back = read_pftrace(scratch / "a.pftrace");
  CHECK(back.metadata == trace.metadata);
  CHECK(back.names == trace.names);
  CHECK(back.tracks == trace.tracks);
  CHECK(back == sorted(trace));

  write_pftrace(back, scratch / "b.pftrace");
  CHECK(read_whole(scratch / "a.pftrace") == read_whole(scratch / "b.pftrace"));
}

TEST_CASE("a name that ends in .gz is compressed, and told by its content when it is read", "[traces]") {
  ScratchDirectory scratch;
  Trace trace = sample_trace();
  trace.metadata.run_ticks = 900;
  trace.metadata.part = "SMs 7";
  write_pftrace(trace, scratch / "a.pftrace");
  write_pftrace(trace, scratch / "a.pftrace.gz");
  const std::string packed = read_whole(scratch / "a.pftrace.gz");
  CHECK(packed.substr(0, 2) == "\x1f\x8b");
  CHECK(packed.size() < read_whole(scratch / "a.pftrace").size());
  CHECK(read_pftrace(scratch / "a.pftrace.gz") == sorted(trace));
  std::filesystem::rename(scratch / "a.pftrace.gz", scratch / "b.pftrace");
  CHECK(read_pftrace(scratch / "b.pftrace") == sorted(trace));
  write_pftrace(trace, scratch / "again.gz");
  CHECK(read_whole(scratch / "again.gz") == packed);  // no time and no name in it

  for (size_t size = 2; size < packed.size(); size += 7) {
    std::ofstream(scratch / "cut.gz", std::ios::binary) << packed.substr(0, size);
    const std::string error = error_of(scratch / "cut.gz");
    CHECK(error != "");
    CHECK(error.find('\n') == std::string::npos);
  }
}

TEST_CASE("an empty trace comes back too", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(Trace{}, scratch / "empty.pftrace");
  CHECK(read_pftrace(scratch / "empty.pftrace") == Trace{});
}

TEST_CASE("the file is a well-formed Perfetto trace", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(sample_trace(), scratch / "a.pftrace");
  check_well_formed(parse(scratch / "a.pftrace"));
}

TEST_CASE("overlapping copies of one unit take lanes and fold back into it", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(sample_trace(), scratch / "a.pftrace");
  const pb::Trace file = parse(scratch / "a.pftrace");
  uint64_t tma = 0, lane = 0;
  for (const pb::TracePacket& packet : file.packet()) {
    const pb::TrackDescriptor& track = packet.track_descriptor();
    if (track.name() == "tma") tma = track.uuid();
    if (track.name() == "tma lane 1") {
      lane = track.uuid();
      CHECK(track.parent_uuid() == tma);
      CHECK(track.description() == "lane");
    }
  }
  REQUIRE(lane != 0);
  using Slices = std::vector<std::pair<uint64_t, uint64_t>>;
  CHECK(slices(file)[tma] == Slices{{100, 700}});
  CHECK(slices(file)[lane] == Slices{{110, 650}});
  CHECK(read_pftrace(scratch / "a.pftrace").tracks.size() == 7);
}

TEST_CASE("counters follow the barrier", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(sample_trace(), scratch / "a.pftrace");
  std::map<uint64_t, std::string> names;
  std::map<std::string, std::vector<std::pair<uint64_t, int64_t>>> values;
  const pb::Trace file = parse(scratch / "a.pftrace");
  for (const pb::TracePacket& packet : file.packet()) {
    if (packet.track_descriptor().has_counter()) {
      names[packet.track_descriptor().uuid()] = packet.track_descriptor().name();
    }
    if (packet.track_event().type() == pb::TrackEvent::TYPE_COUNTER) {
      values[names.at(packet.track_event().track_uuid())].push_back(
          {packet.timestamp(), packet.track_event().counter_value()});
    }
  }
  using Values = std::vector<std::pair<uint64_t, int64_t>>;
  CHECK(values["pending"] == Values{{0, 1}, {95, 0}, {700, 1}});
  CHECK(values["tx bytes"] == Values{{0, 0}, {95, 32768}, {650, 16384}, {700, 0}});
  CHECK(values["phase"] == Values{{0, 0}, {700, 1}});
}

TEST_CASE("a flow leads from the copy over the barrier to the end of the wait", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(sample_trace(), scratch / "a.pftrace");
  std::vector<std::string> path;
  const pb::Trace file = parse(scratch / "a.pftrace");
  for (const pb::TracePacket& packet : file.packet()) {
    const pb::TrackEvent& event = packet.track_event();
    const std::string at = std::to_string(packet.timestamp());
    for (uint64_t flow : event.flow_ids()) {
      if (flow == 1) path.push_back("passes " + at);
    }
    for (uint64_t flow : event.terminating_flow_ids()) {
      if (flow == 1) path.push_back("ends " + at);
    }
  }
  CHECK(path == std::vector<std::string>{"passes 100", "passes 700", "ends 700"});
}

TEST_CASE("several spans may consume one flow, and a flow without a beginning is kept", "[traces]") {
  Recorder recorder;
  const TrackId tma = recorder.add_track(TrackKind::unit, "tma");
  const TrackId a = recorder.add_track(TrackKind::role, "a"), b = recorder.add_track(TrackKind::role, "b");
  const uint64_t multicast = recorder.new_flow(), orphan = recorder.new_flow();
  recorder.span({.begin = 5, .end = 20, .track = tma, .kind = SpanKind::tma_load, .flow_out = multicast});
  recorder.span({.begin = 0, .end = 20, .track = a, .flow_in = multicast});
  recorder.span({.begin = 0, .end = 21, .track = b, .flow_in = multicast});
  recorder.span({.begin = 30, .end = 40, .track = b, .flow_in = orphan});
  ScratchDirectory scratch;
  write_pftrace(recorder.trace(), scratch / "a.pftrace");
  check_well_formed(parse(scratch / "a.pftrace"));
  CHECK(read_pftrace(scratch / "a.pftrace") == sorted(recorder.trace()));
}

TEST_CASE("spans that touch, nest, coincide or last no time stay well nested", "[traces]") {
  Recorder recorder;
  const TrackId role = recorder.add_track(TrackKind::role, "mma");
  const auto span = [&](uint64_t begin, uint64_t end, SpanKind kind) {
    recorder.span({.begin = begin, .end = end, .track = role, .kind = kind});
  };
  span(0, 10, SpanKind::wait);
  span(10, 10, SpanKind::mma_commit);
  span(10, 20, SpanKind::mma_issue);  // the tile ends with it: the tile, recorded later, is the outer one
  span(20, 20, SpanKind::mma_commit);
  span(20, 20, SpanKind::clc_fetch);
  span(10, 20, SpanKind::tile);
  span(0, 20, SpanKind::drain);
  ScratchDirectory scratch;
  write_pftrace(recorder.trace(), scratch / "a.pftrace");
  const pb::Trace file = parse(scratch / "a.pftrace");
  check_well_formed(file);
  CHECK(slices(file).size() == 1);  // one line, no lanes
  const Trace back = read_pftrace(scratch / "a.pftrace");
  CHECK(back == sorted(recorder.trace()));
  CHECK(back.spans[4].kind == SpanKind::tile);
}

TEST_CASE("any pile of spans is written well nested and comes back", "[traces]") {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    Recorder recorder;
    const TrackId unit = recorder.add_track(TrackKind::unit, "umma");
    const TrackId role = recorder.add_track(TrackKind::role, "mma");
    const TrackId barrier = recorder.add_track(TrackKind::barrier, "full");
    for (int i = 0; i < 100; ++i) {
      const uint64_t begin = random() % 50, length = random() % 8;
      recorder.span({.begin = begin,
                     .end = begin + length,
                     .track = random() % 2 ? unit : role,
                     .kind = static_cast<SpanKind>(random() % kSpanKinds),
                     .flow_in = random() % 20,
                     .flow_out = random() % 20});
      recorder.barrier({.time = random() % 50,
                        .track = barrier,
                        .kind = BarrierEventKind::arrive,
                        .phase = static_cast<int>(random() % 4),
                        .pending = static_cast<int>(random() % 4),
                        .flow = random() % 20});
    }
    ScratchDirectory scratch;
    write_pftrace(recorder.trace(), scratch / "a.pftrace");
    check_well_formed(parse(scratch / "a.pftrace"));
    CHECK(read_pftrace(scratch / "a.pftrace") == sorted(recorder.trace()));
  }
}

TEST_CASE("ticks are exact up to 64 bits", "[traces]") {
  Recorder recorder;
  const TrackId role = recorder.add_track(TrackKind::role, "mma");
  recorder.span({.begin = UINT64_MAX - 1, .end = UINT64_MAX, .track = role, .args = {.bytes = INT64_MAX}});
  ScratchDirectory scratch;
  write_pftrace(recorder.trace(), scratch / "a.pftrace");
  CHECK(read_pftrace(scratch / "a.pftrace") == recorder.trace());
}

TEST_CASE("a path that cannot be written leaves nothing behind", "[traces]") {
  ScratchDirectory scratch;
  CHECK(write_error(sample_trace(), scratch / "missing/a.pftrace") ==
        "cannot write " + (scratch / "missing/a.pftrace").string() + ": No such file or directory");
  std::filesystem::create_directory(scratch / "directory");
  CHECK(contains(write_error(sample_trace(), scratch / "directory"), "is a directory"));
  CHECK(std::filesystem::is_empty(scratch / "directory"));
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("a full disk leaves nothing behind and says so", "[traces]") {
  if (!std::filesystem::exists("/dev/full")) return;
  CHECK(contains(write_error(sample_trace(), "/dev/full"), "cannot write /dev/full"));
  CHECK(std::filesystem::exists("/dev/full"));
}

TEST_CASE("a trace that contradicts itself keeps the old file", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(sample_trace(), scratch / "a.pftrace");
  const std::string before = read_whole(scratch / "a.pftrace");
  Trace trace = sample_trace();
  trace.spans[0].end = trace.spans[0].begin - 1;
  CHECK(contains(write_error(trace, scratch / "a.pftrace"), "begins at 90 and ends at 89"));
  trace = sample_trace();
  trace.barrier_events[0].track = 99;
  CHECK(contains(write_error(trace, scratch / "a.pftrace"), "no barrier"));
  trace = sample_trace();
  trace.wakeups[0].by = 99;
  CHECK(contains(write_error(trace, scratch / "a.pftrace"), "names a track that does not exist"));
  trace = sample_trace();
  trace.findings[0].track = 99;
  CHECK(contains(write_error(trace, scratch / "a.pftrace"), "finding MB16 names track 99, which does not exist"));
  CHECK(read_whole(scratch / "a.pftrace") == before);
  CHECK(std::distance(std::filesystem::directory_iterator(scratch.path()), {}) == 1);
}

TEST_CASE("what is not a trace gets one clear line", "[traces]") {
  ScratchDirectory scratch;
  const std::filesystem::path path = scratch / "a.pftrace";
  const auto contents = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    return error_of(path);
  };
  CHECK(error_of(scratch / "none.pftrace") == (scratch / "none.pftrace").string() + ": no such file");
  CHECK(error_of(scratch.path()) == scratch.path().string() + ": it is a directory");
  CHECK(contents("{\"traceEvents\":[]}") == path.string() + ": not a Perfetto trace");
  CHECK(contents("\n\nnot a trace either\n") == path.string() + ": not a Perfetto trace");
  CHECK(contents("") == path.string() + ": the file is empty");

  pb::Trace foreign;
  foreign.add_packet()->mutable_track_descriptor()->set_uuid(1);
  foreign.mutable_packet(0)->mutable_track_descriptor()->set_description("gpu");
  foreign.add_packet()->mutable_track_event()->set_track_uuid(1);
  CHECK(contents(foreign.SerializeAsString()) ==
        path.string() + ": a Perfetto trace, but not one of sm100sim: its metadata event is missing");
}

TEST_CASE("a finding is an instant named by its id on the track at fault", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(sample_trace(), scratch / "a.pftrace");
  std::map<uint64_t, std::string> names, categories, tracks;
  std::vector<std::string> findings;
  const pb::Trace file = parse(scratch / "a.pftrace");
  for (const pb::TracePacket& packet : file.packet()) {
    for (const auto& entry : packet.interned_data().event_names()) names[entry.iid()] = entry.name();
    for (const auto& entry : packet.interned_data().event_categories()) categories[entry.iid()] = entry.name();
    tracks[packet.track_descriptor().uuid()] = packet.track_descriptor().name();
    const pb::TrackEvent& event = packet.track_event();
    if (event.type() != pb::TrackEvent::TYPE_INSTANT || categories[event.category_iids(0)] != "finding") continue;
    findings.push_back(names[event.name_iid()] + " on " + tracks[event.track_uuid()] + " at " +
                       std::to_string(packet.timestamp()));
  }
  CHECK(findings == std::vector<std::string>{"MB16 on input_full[0] at 700", "hang on mma at 764"});
}

TEST_CASE("a file of version 2 is read, without what it does not hold", "[traces]") {
  ScratchDirectory scratch;
  Trace trace = sample_trace();
  trace.metadata.schema_version = 2;
  write_pftrace(trace, scratch / "a.pftrace");
  pb::Trace file = parse(scratch / "a.pftrace");
  // What version 2 does not have: the counts of wake-ups and findings in the metadata, and those events.
  std::map<uint64_t, std::string> annotations, categories;
  pb::Trace old;
  for (pb::TracePacket& packet : *file.mutable_packet()) {
    for (const auto& entry : packet.interned_data().debug_annotation_names())
      annotations[entry.iid()] = entry.name();
    for (const auto& entry : packet.interned_data().event_categories()) categories[entry.iid()] = entry.name();
    pb::TrackEvent& event = *packet.mutable_track_event();
    const std::string category = event.category_iids_size() ? categories[event.category_iids(0)] : "";
    if (category == "wakeup" || category == "finding") continue;
    auto& list = *event.mutable_debug_annotations();
    for (int i = list.size() - 1; i >= 0; --i)
      for (const char* added : {"wakeups", "findings", "by", "delay", "column", "columns", "line", "operand",
                                "multicast", "coord_0", "coord_1", "coord_2", "outcome", "verdict"})
        if (annotations[list[i].name_iid()] == added) {
          list.DeleteSubrange(i, 1);
          break;
        }
    if (!packet.track_event().has_track_uuid() && packet.has_track_descriptor()) packet.clear_track_event();
    *old.add_packet() = packet;
  }
  std::ofstream(scratch / "old.pftrace", std::ios::binary) << old.SerializeAsString();
  const Trace back = read_pftrace(scratch / "old.pftrace");
  CHECK(back.metadata.schema_version == 2);
  CHECK(back.spans.size() == trace.spans.size());
  CHECK(back.wakeups.empty());
  CHECK(back.findings.empty());
  CHECK(back.metadata.outcome.empty());
  for (const Span& span : back.spans) {
    CHECK(span.args.line == kNoName);
    CHECK(span.args.operand == kNoName);
    CHECK(span.args.dimensions == 0);
    CHECK(span.args.multicast == 0);
  }
  for (const BarrierEvent& event : back.barrier_events) CHECK(event.by == kNoTrack);
}

TEST_CASE("a file of version 3 from before marks, lines and operands is read without them", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(sample_trace(), scratch / "a.pftrace");
  pb::Trace file = parse(scratch / "a.pftrace");
  std::map<uint64_t, std::string> annotations;
  for (pb::TracePacket& packet : *file.mutable_packet()) {
    for (const auto& entry : packet.interned_data().debug_annotation_names())
      annotations[entry.iid()] = entry.name();
    if (packet.has_track_descriptor()) {
      std::string& description = *packet.mutable_track_descriptor()->mutable_description();
      description = description.substr(0, description.find(" cluster="));
    }
    if (!packet.has_track_event()) continue;
    auto& list = *packet.mutable_track_event()->mutable_debug_annotations();
    for (int i = list.size() - 1; i >= 0; --i)
      for (const char* added :
           {"line", "operand", "multicast", "coord_0", "coord_1", "coord_2", "outcome", "verdict", "mark"})
        if (annotations[list[i].name_iid()] == added) {
          list.DeleteSubrange(i, 1);
          break;
        }
  }
  std::ofstream(scratch / "old.pftrace", std::ios::binary) << file.SerializeAsString();
  Trace expected = sample_trace();
  expected.metadata.outcome.clear(), expected.metadata.verdict.clear();
  for (Track& track : expected.tracks) track.cluster = track.rank = -1;
  for (Span& span : expected.spans)
    span.args.line = span.args.operand = kNoName, span.args.multicast = 0, span.args.dimensions = 0,
    span.args.coordinates = {};
  for (Finding& finding : expected.findings) finding.marks.clear();
  sort_events(expected);
  CHECK(read_pftrace(scratch / "old.pftrace") == expected);
}

TEST_CASE("a mark of a finding that makes no sense is refused", "[traces]") {
  ScratchDirectory scratch;
  const auto error_with = [&](const std::string& mark) {
    write_pftrace(sample_trace(), scratch / "a.pftrace");
    pb::Trace file = parse(scratch / "a.pftrace");
    uint64_t name = 0;
    for (pb::TracePacket& packet : *file.mutable_packet()) {
      for (const auto& entry : packet.interned_data().debug_annotation_names())
        if (entry.name() == "mark") name = entry.iid();
      if (!packet.has_track_event()) continue;
      for (auto& annotation : *packet.mutable_track_event()->mutable_debug_annotations())
        if (annotation.name_iid() == name && name != 0) annotation.set_string_value(mark);
    }
    std::ofstream(scratch / "bad.pftrace", std::ios::binary) << file.SerializeAsString();
    return error_of(scratch / "bad.pftrace");
  };
  const std::string file = (scratch / "bad.pftrace").string();
  CHECK(error_with("cause track=3") == file + ": unknown mark of a finding \"cause track=3\"");
  CHECK(error_with("root time=3") == file + ": a mark of a finding names no track: \"root time=3\"");
  CHECK(error_with("root track=three") == file + ": a mark of a finding has track=three");
  CHECK(error_with("root track=77") == file + ": an event is by track 77, which nothing describes");
}

TEST_CASE("a newer schema is refused by number", "[traces]") {
  ScratchDirectory scratch;
  Trace trace = sample_trace();
  trace.metadata.schema_version = 7;
  write_pftrace(trace, scratch / "a.pftrace");
  CHECK(error_of(scratch / "a.pftrace") ==
        (scratch / "a.pftrace").string() +
            ": schema version 7 is newer than 3, the newest that this program reads");
}

TEST_CASE("a file cut anywhere is refused, never read in part", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(sample_trace(), scratch / "a.pftrace");
  const std::string whole = read_whole(scratch / "a.pftrace");
  for (size_t size = 0; size < whole.size(); ++size) {
    std::ofstream(scratch / "cut.pftrace", std::ios::binary) << whole.substr(0, size);
    const std::string error = error_of(scratch / "cut.pftrace");
    CHECK(error != "");
    CHECK(error.find('\n') == std::string::npos);
  }
  std::ofstream(scratch / "cut.pftrace", std::ios::binary) << whole.substr(0, whole.size() - 1);
  CHECK(error_of(scratch / "cut.pftrace").find("truncated") != std::string::npos);
}

TEST_CASE("a damaged file never crashes the reader", "[traces]") {
  ScratchDirectory scratch;
  write_pftrace(sample_trace(), scratch / "a.pftrace");
  const std::string whole = read_whole(scratch / "a.pftrace");
  std::mt19937 random(1);
  for (int round = 0; round < 500; ++round) {
    std::string bytes = whole;
    bytes[random() % bytes.size()] = static_cast<char>(random());
    std::ofstream(scratch / "b.pftrace", std::ios::binary) << bytes;
    CHECK(error_of(scratch / "b.pftrace").find('\n') == std::string::npos);
  }
}
