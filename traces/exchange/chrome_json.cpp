// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/chrome_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <unordered_map>

#include "traces/format/atomic_file.h"
#include "traces/format/timeline.h"

namespace sm100::traces {

namespace {

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class EventWriter {
 public:
  EventWriter(const Trace& trace, std::ostream& output)
      : trace_(trace), timeline_(make_timeline(trace)), output_(output) {
    microseconds_per_tick_ = 1e6 / trace.metadata.ticks_per_second;
    for (const std::string& name : trace.names) names_.push_back(quoted(name));
    number_threads();
  }

  void write() {
    put("{{\"displayTimeUnit\":\"ns\",\"otherData\":{},\"traceEvents\":[", metadata());
    for (const Track& track : trace_.tracks) write_track(track);
    for (const TimelineEvent& event : timeline_.events) {
      if (event.edge == TimelineEvent::begin) write_span(event.index);
      if (event.edge == TimelineEvent::barrier) write_barrier_event(trace_.barrier_events[event.index]);
      if (event.edge == TimelineEvent::finding) write_finding(trace_.findings[event.index]);
      flush(1 << 20);
    }
    put("\n]}}\n");
    flush(0);
  }

 private:
  /// Process: the CTA, or the outermost track where there is none.  Thread: the track, then its lanes.
  void number_threads() {
    uint64_t next = 1;
    for (const Track& track : trace_.tracks) {
      const bool own = track.kind == TrackKind::cta || track.parent == kNoTrack;
      process_.push_back(own ? track.id + 1 : process_[track.parent]);
      thread_.push_back(next);
      next += timeline_.lanes[track.id];
    }
    for (const Span& span : trace_.spans) {
      if (span.flow_out == 0) continue;
      const auto [entry, added] = flow_begin_.try_emplace(span.flow_out, span.begin);
      if (!added) entry->second = std::min(entry->second, span.begin);
    }
  }

  std::string metadata() const {
    const Metadata& m = trace_.metadata;
    nlohmann::json configuration = nlohmann::json::parse(m.configuration, nullptr, /*allow_exceptions=*/false);
    if (configuration.is_discarded()) configuration = m.configuration;
    nlohmann::json json{{"schema_version", m.schema_version},
                        {"source", m.source},
                        {"device", m.device},
                        {"scenario", m.scenario},
                        {"configuration", configuration},
                        {"tool_version", m.tool_version},
                        {"ticks_per_second", m.ticks_per_second},
                        {"seed", m.seed},
                        {"dropped_events", m.dropped_events}};
    if (m.run_ticks != 0) json["run_ticks"] = m.run_ticks;
    if (!m.part.empty()) json["part"] = m.part;
    return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  void write_track(const Track& track) {
    const uint64_t pid = process_[track.id];
    if (pid == track.id + 1) {
      next_event();
      put(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":{}}}}})", pid, quoted(track.name));
      next_event();
      put(R"({{"ph":"M","name":"process_sort_index","pid":{},"args":{{"sort_index":{}}}}})", pid, pid);
    }
    for (uint32_t lane = 0; lane < timeline_.lanes[track.id]; ++lane) {
      const uint64_t tid = thread_[track.id] + lane;
      const std::string name = lane == 0 ? track.name : fmt::format("{} lane {}", track.name, lane);
      next_event();
      put(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":{}}}}})", pid, tid, quoted(name));
      next_event();
      put(R"({{"ph":"M","name":"thread_sort_index","pid":{},"tid":{},"args":{{"sort_index":{}}}}})", pid, tid, tid);
    }
  }

  void write_span(uint32_t index) {
    const Span& span = trace_.spans[index];
    const SpanArgs& args = span.args;
    const uint64_t pid = process_[span.track];
    const uint64_t tid = thread_[span.track] + timeline_.lane[index];
    next_event();
    put(R"({{"ph":"X","cat":"{}","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{"sequence":{})",
        name(trace_.tracks[span.track].kind), name(span.kind), pid, tid, microseconds(span.begin),
        microseconds(span.end - span.begin), span.sequence);
    if (args.pipeline != kNoName) put(R"(,"pipeline":{})", names_[args.pipeline]);
    put_if_present("stage", args.stage);
    put_if_present("phase", args.phase);
    put_if_present("tile_m", args.tile_m);
    put_if_present("tile_n", args.tile_n);
    put_if_present("tile_k", args.tile_k);
    put_if_present("k", args.k);
    put_if_present("bytes", args.bytes);
    put_if_present("column", args.column);
    put_if_present("columns", args.columns);
    put("}}}}");
    if (span.flow_out != 0) write_flow("s", span.flow_out, pid, tid, span.begin);
    if (span.flow_in != 0) {
      // An arrow may not point back in time: a wait's arrow ends where the copy that it waits for begins.
      const auto source = flow_begin_.find(span.flow_in);
      if (source != flow_begin_.end() && source->second <= span.end) {
        write_flow("f", span.flow_in, pid, tid, std::max(span.begin, source->second));
      }
    }
  }

  void write_flow(std::string_view phase, uint64_t flow, uint64_t pid, uint64_t tid, uint64_t time) {
    next_event();
    put(R"({{"ph":"{}","cat":"flow","name":"flow","id":{},"bp":"e","pid":{},"tid":{},"ts":{}}})", phase, flow, pid,
        tid, microseconds(time));
  }

  void write_barrier_event(const BarrierEvent& event) {
    next_event();
    put(R"({{"ph":"i","s":"t","cat":"barrier","name":"{}","pid":{},"tid":{},"ts":{},"args":{{"phase":{},"pending":{},)"
        R"("tx":{},"amount":{})",
        name(event.kind), process_[event.track], thread_[event.track], microseconds(event.time), event.phase,
        event.pending, event.tx, event.amount);
    if (event.actor != kNoName) put(R"(,"actor":{})", names_[event.actor]);
    put("}}}}");
  }

  void write_finding(const Finding& finding) {
    next_event();
    put(R"({{"ph":"i","s":"t","cat":"finding","name":"finding","pid":{},"tid":{},"ts":{},"args":{{"id":{},"warning":{},)"
        R"("message":{},"report":{}}}}})",
        process_[finding.track], thread_[finding.track], microseconds(finding.time), quoted(finding.id),
        finding.warning, quoted(finding.message), quoted(finding.report));
  }

  double microseconds(uint64_t ticks) const { return static_cast<double>(ticks) * microseconds_per_tick_; }

  template <class... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), text, std::forward<Args>(args)...);
  }

  void put_if_present(std::string_view key, int64_t value) {
    if (value != -1) put(R"(,"{}":{})", key, value);
  }

  void next_event() {
    put("{}", first_ ? "\n" : ",\n");
    first_ = false;
  }

  void flush(size_t above) {
    if (buffer_.size() < above) return;
    output_.write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
    buffer_.clear();
  }

  const Trace& trace_;
  const Timeline timeline_;
  std::ostream& output_;
  fmt::memory_buffer buffer_;
  bool first_ = true;
  double microseconds_per_tick_;
  std::vector<std::string> names_;          ///< Trace::names as JSON
  std::vector<uint64_t> process_, thread_;  ///< by track
  std::unordered_map<uint64_t, uint64_t> flow_begin_;
};

}  // namespace

void write_chrome_json(const Trace& trace, const std::filesystem::path& path) {
  if (!(trace.metadata.ticks_per_second > 0)) {
    throw std::runtime_error(
        "the trace does not say how many ticks a second has, so it has no times in microseconds");
  }
  AtomicFile file(path);
  EventWriter(trace, file.stream()).write();
  file.commit();
}

}  // namespace sm100::traces
