// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/chrome_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <stdexcept>
#include <unordered_map>

#include "traces/exchange/chrome_events.h"
#include "traces/format/compressed_file.h"
#include "traces/format/numbers.h"
#include "traces/format/recorder.h"

namespace sm100::traces {

namespace {

using nlohmann::json;

/// Where a thread's events happened.
struct Place {
  std::optional<int64_t> cta, sm, warp;
  std::string role;  ///< of a pattern
};

/// Matches `text` with a pattern and fills in what it captures.
bool match(std::string_view pattern, std::string_view text, Place& place) {
  while (!pattern.empty()) {
    const size_t brace = pattern.find('{');
    const std::string_view literal = pattern.substr(0, brace);
    if (!text.starts_with(literal)) return false;
    text.remove_prefix(literal.size());
    if (brace == std::string_view::npos) return text.empty();
    const size_t end = pattern.find('}', brace);
    if (end == std::string_view::npos) return false;
    const std::string_view name = pattern.substr(brace + 1, end - brace - 1);
    pattern.remove_prefix(end + 1);
    if (name == "role" || name.empty()) {  // up to what follows in the pattern
      const size_t length = pattern.empty() ? text.size() : text.find(pattern.substr(0, pattern.find('{')));
      if (length == std::string_view::npos || length == 0) return false;
      if (name == "role") place.role = text.substr(0, length);
      text.remove_prefix(length);
      continue;
    }
    int64_t value = 0;
    const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc()) return false;
    text.remove_prefix(static_cast<size_t>(rest - text.data()));
    (name == "cta" ? place.cta : name == "sm" ? place.sm : place.warp) = value;
  }
  return text.empty();
}

class Importer {
 public:
  Importer(const ChromeDocument& document, const ChromeImportMap& map, std::string file)
      : document_(document), map_(map), file_(std::move(file)) {
    for (const ChromeImportMap::Event& event : map.events) {
      if (event_by_name_.try_emplace(event.name, &event).second) names_.push_back(event.name);
      pipelines_.push_back(event.pipeline.empty() ? kNoName : recorder_.intern(event.pipeline));
    }
  }

  Trace run() {
    read_metadata();
    const double ticks_per_unit = recorder_.trace().metadata.ticks_per_second / map_.units_per_second;
    const std::vector<ChromeThread> threads = document_.threads(ticks_per_unit, names_, map_.ignore);
    for (const ChromeThread& thread : threads)
      if (!thread.spans.empty()) read_thread(thread);
    if (tracks_.empty()) throw std::runtime_error(fmt::format("{}: no event in it is one of the map's", file_));
    record();
    return std::move(recorder_.trace());
  }

 private:
  /// One role of one thread.
  struct RoleTrack {
    const ChromeThread* thread;
    std::string role;
    Place place;
    struct Entry {
      Span span;
      size_t event;      ///< index in the file
      int64_t sequence;  ///< -1 = none
      bool open;         ///< nobody has ended it
    };
    std::vector<Entry> spans;
  };

  [[noreturn]] void fail(const ChromeSpan& span, std::string_view what) const {
    throw std::runtime_error(document_.message(span.event, what));
  }

  void read_metadata() {
    Metadata& m = recorder_.trace().metadata;
    const json none = json::object();
    const json& other = document_.other_data() ? *document_.other_data() : none;
    const auto text = [&](const char* key, const std::optional<std::string>& given) {
      const auto found = other.find(key);
      if (given) return *given;
      if (found == other.end()) return std::string();
      return found->is_string() ? found->get<std::string>()
                                : found->dump(-1, ' ', false, json::error_handler_t::replace);
    };
    const auto count = [&](const char* key) {
      const auto found = other.find(key);
      return found != other.end() && found->is_number_unsigned() ? found->get<uint64_t>() : uint64_t{0};
    };
    m.source = text("source", map_.source);
    m.device = text("device", map_.device);
    m.scenario = text("scenario", map_.scenario);
    m.configuration = text("configuration", map_.configuration);
    m.tool_version = text("tool_version", std::nullopt);
    m.seed = count("seed");
    m.dropped_events = count("dropped_events");
    m.run_ticks = count("run_ticks");
    m.part = text("part", std::nullopt);
    const auto ticks = other.find("ticks_per_second");
    if (map_.ticks_per_second) {
      m.ticks_per_second = *map_.ticks_per_second;
    } else if (ticks != other.end() && ticks->is_number()) {
      m.ticks_per_second = ticks->get<double>();
    }
    if (m.source != "sim" && m.source != "hardware") need("source", "\"sim\" or \"hardware\"");
    if (!(m.ticks_per_second > 0)) need("ticks_per_second", "a number above 0");
  }

  [[noreturn]] void need(std::string_view key, std::string_view allowed) const {
    throw std::runtime_error(
        fmt::format("{}: neither the map nor the file's otherData has '{}', {}", file_, key, allowed));
  }

  void read_thread(const ChromeThread& thread) {
    const Place place = place_of(thread);
    std::map<std::string, size_t> track_by_role;
    std::unordered_map<std::string_view, int64_t> next_index;
    for (const ChromeSpan& span : thread.spans) {
      const ChromeImportMap::Event& event = *event_by_name_.at(span.name);
      const std::string role = role_of(thread, place, span);
      const auto [found, added] = track_by_role.try_emplace(role, tracks_.size());
      if (added) tracks_.push_back({&thread, role, place, {}});
      tracks_[found->second].spans.push_back(convert(thread, place, span, event, next_index[span.name]++));
    }
  }

  Place place_of(const ChromeThread& thread) const {
    const ChromeSpan& first = thread.spans.front();
    Place place;
    const auto check = [&](std::string_view what, const std::string& pattern, const std::string& text) {
      if (!pattern.empty() && !match(pattern, text, place))
        fail(first, fmt::format("its {} name is \"{}\"; the map allows \"{}\"", what, text, pattern));
    };
    check("process", map_.process_name, thread.process_name);
    check("thread", map_.thread_name, thread.thread_name);
    const auto set = [&](const char* key, const std::optional<Expression>& expression,
                         std::optional<int64_t>& value, int64_t low) {
      if (expression) value = evaluate(*expression, key, thread, place, first, 0);
      if (value && (*value < low || *value > std::numeric_limits<int>::max()))
        fail(first, fmt::format("its '{}' is {}; allowed are integers from {}", key, *value, low));
    };
    Place where = place;
    set("cta", map_.cta, where.cta, 0);
    set("sm", map_.sm, where.sm, 0);
    set("warp", map_.warp, where.warp, 0);
    if (!where.cta) fail(first, "the map does not say its 'cta'");
    return where;
  }

  std::string role_of(const ChromeThread& thread, const Place& place, const ChromeSpan& span) const {
    if (!place.role.empty()) return place.role;
    for (const ChromeImportMap::Role& role : map_.roles) {
      if (!role.events.empty() && std::find(role.events.begin(), role.events.end(), span.name) == role.events.end())
        continue;
      if (!role.when || evaluate(*role.when, "when", thread, place, span, 0).value_or(0) != 0) return role.name;
    }
    fail(span, fmt::format("no [[role]] of the map fits it (pid {}, tid {}, cta {}{})", thread.pid, thread.tid,
                           *place.cta, place.warp ? fmt::format(", warp {}", *place.warp) : ""));
  }

  RoleTrack::Entry convert(const ChromeThread& thread, const Place& place, const ChromeSpan& span,
                           const ChromeImportMap::Event& event, int64_t i) {
    std::array<int64_t, kImportedArgs.size()> values;
    values.fill(-1);
    for (size_t a = 0; a < kImportedArgs.size(); ++a) {
      const std::optional<Expression>& expression = event.args[a] ? event.args[a] : map_.args[a];
      if (!expression) continue;
      values[a] = evaluate(*expression, kImportedArgs[a], thread, place, span, i).value_or(-1);
      const int64_t largest = kImportedArgs[a] == "stage"   ? std::numeric_limits<int16_t>::max()
                              : kImportedArgs[a] == "bytes" ? std::numeric_limits<int64_t>::max()
                                                            : std::numeric_limits<int32_t>::max();
      if (values[a] < -1 || values[a] > largest)
        fail(span, fmt::format("'{}' = {} is {}; allowed are -1 (absent) to {}", kImportedArgs[a],
                               expression->text(), values[a], largest));
    }
    const auto narrow = [&](size_t a) { return static_cast<int32_t>(values[a]); };
    RoleTrack::Entry entry;
    entry.span.begin = span.begin;
    entry.span.end = span.end;
    entry.span.kind = event.kind;
    entry.span.args = {.pipeline = pipeline_of(span, event),
                       .stage = static_cast<int16_t>(values[0]),
                       .phase = narrow(1),
                       .tile_m = narrow(2),
                       .tile_n = narrow(3),
                       .tile_k = narrow(4),
                       .k = narrow(5),
                       .bytes = values[6]};
    entry.event = span.event;
    entry.sequence = values[7];
    entry.open = span.open;
    return entry;
  }

  int16_t pipeline_of(const ChromeSpan& span, const ChromeImportMap::Event& event) {
    if (!event.pipeline_arg.empty() && span.args) {
      const auto found = span.args->find(event.pipeline_arg);
      if (found != span.args->end()) {
        if (!found->is_string())
          fail(span, fmt::format("'args.{}' is {}; a string is needed", event.pipeline_arg, found->dump()));
        try {
          return recorder_.intern(found->get_ref<const std::string&>());
        } catch (const std::length_error&) { fail(span, "more than 32,768 pipelines; is 'pipeline_arg' right?"); }
      }
    }
    return pipelines_[static_cast<size_t>(&event - map_.events.data())];
  }

  std::optional<int64_t> evaluate(const Expression& expression, std::string_view key, const ChromeThread& thread,
                                  const Place& place, const ChromeSpan& span, int64_t i) const {
    try {
      return expression.evaluate([&](std::string_view name) -> std::optional<int64_t> {
        if (name == "i") return i;
        if (name == "cta") return place.cta;
        if (name == "sm") return place.sm;
        if (name == "warp") return place.warp;
        if (name == "pid") return thread.pid;
        if (name == "tid") return thread.tid;
        if (name == "thread") return thread.rank;
        return argument(span, name.substr(std::string_view("args.").size()));
      });
    } catch (const std::runtime_error& error) {
      fail(span, fmt::format("'{}' = {}: {}", key, expression.text(), error.what()));
    }
  }

  std::optional<int64_t> argument(const ChromeSpan& span, std::string_view name) const {
    if (!span.args) return std::nullopt;
    const auto found = span.args->find(std::string(name));
    if (found == span.args->end()) return std::nullopt;
    if (!found->is_number_integer() ||
        (found->is_number_unsigned() && found->get<uint64_t>() > uint64_t(INT64_MAX)))
      throw std::runtime_error(fmt::format("args.{} is {}; an integer is needed", name,
                                           found->dump(-1, ' ', false, json::error_handler_t::replace)));
    return found->get<int64_t>();
  }

  /// In the order of `sequence` where all have one.  Else as our own kernels record: an inner span ends, and is
  /// recorded, before the outer one; an empty span at the end of another came after it.
  static void sort_as_recorded(std::vector<RoleTrack::Entry>& spans) {
    const bool numbered = std::all_of(spans.begin(), spans.end(), [](const auto& e) { return e.sequence >= 0; });
    std::stable_sort(spans.begin(), spans.end(), [&](const RoleTrack::Entry& a, const RoleTrack::Entry& b) {
      if (numbered) return a.sequence < b.sequence;
      if (a.span.end != b.span.end) return a.span.end < b.span.end;
      const bool a_empty = a.span.begin == a.span.end, b_empty = b.span.begin == b.span.end;
      if (a_empty != b_empty) return b_empty;
      if (a.span.begin != b.span.begin) return a.span.begin > b.span.begin;
      return a_empty ? a.event < b.event : a.event > b.event;
    });
  }

  void record() {
    std::vector<RoleTrack*> order;
    for (RoleTrack& track : tracks_) order.push_back(&track);
    std::stable_sort(order.begin(), order.end(), [](const RoleTrack* a, const RoleTrack* b) {
      return std::tie(*a->place.cta, a->place.warp) < std::tie(*b->place.cta, b->place.warp);
    });
    const Metadata& metadata = recorder_.trace().metadata;
    const TrackId gpu = recorder_.add_track(TrackKind::gpu, metadata.device.empty() ? "GPU" : metadata.device);
    TrackId cta = kNoTrack;
    const RoleTrack* before = nullptr;
    for (RoleTrack* track : order) {
      const int id = static_cast<int>(*track->place.cta), sm = static_cast<int>(track->place.sm.value_or(-1));
      if (!before || before->place.cta != track->place.cta) {
        cta = recorder_.add_track(TrackKind::cta,
                                  sm == -1 ? fmt::format("CTA {}", id) : fmt::format("CTA {} on SM {}", id, sm),
                                  gpu, sm, id);
      } else if (before->place.sm != track->place.sm) {
        fail(track->thread->spans.front(), fmt::format("CTA {} is on SM {} here and on SM {} in another thread", id,
                                                       sm, before->place.sm.value_or(-1)));
      }
      before = track;
      const TrackId role = recorder_.add_track(TrackKind::role, track->role, cta, sm, id,
                                               static_cast<int>(track->place.warp.value_or(-1)));
      sort_as_recorded(track->spans);
      for (RoleTrack::Entry& entry : track->spans) {
        entry.span.track = role;
        recorder_.span(entry.span);
        if (entry.open && entry.span.kind == SpanKind::wait) open_waits_.push_back(entry.span);
      }
    }
    record_hang();
    sort_events(recorder_.trace());
  }

  /// Waits that the file leaves open: a kernel that hangs, and the earliest of them is where to look first.
  void record_hang() {
    if (open_waits_.empty()) return;
    std::stable_sort(open_waits_.begin(), open_waits_.end(),
                     [](const Span& a, const Span& b) { return a.begin < b.begin; });
    const Trace& trace = recorder_.trace();
    const auto text = [&](const Span& wait) {
      const Track& track = trace.tracks[wait.track];
      std::string what = wait.args.pipeline == kNoName ? "something" : trace.names[size_t(wait.args.pipeline)];
      if (wait.args.stage >= 0) what += fmt::format("[{}]", wait.args.stage);
      return fmt::format("{}{} of CTA {} waits for {}{} since {}", track.name,
                         track.warp < 0 ? "" : fmt::format(" (warp {})", track.warp), track.cta, what,
                         wait.args.phase < 0 ? "" : fmt::format(" phase {}", wait.args.phase), grouped(wait.begin));
    };
    const Span& first = open_waits_.front();
    constexpr size_t kMost = 20;
    std::string report = fmt::format("HANG: {} wait{} open when the timeline ends, at {}\n", open_waits_.size(),
                                     open_waits_.size() == 1 ? " is" : "s are", grouped(first.end));
    for (size_t i = 0; i < std::min(open_waits_.size(), kMost); ++i) report += "  " + text(open_waits_[i]) + "\n";
    if (open_waits_.size() > kMost) report += fmt::format("  and {} more\n", open_waits_.size() - kMost);
    recorder_.finding({.time = first.end,
                       .track = first.track,
                       .id = "hang",
                       .message = text(first) + "; the timeline ends without an end of this wait",
                       .report = report});
  }

  const ChromeDocument& document_;
  const ChromeImportMap& map_;
  const std::string file_;
  Recorder recorder_;
  std::unordered_map<std::string_view, const ChromeImportMap::Event*> event_by_name_;
  std::vector<std::string> names_;  ///< of the map's events
  std::vector<int16_t> pipelines_;  ///< by event of the map
  std::vector<RoleTrack> tracks_;
  std::vector<Span> open_waits_;
};

}  // namespace

void check_pattern(std::string_view pattern) {
  for (size_t at = pattern.find_first_of("{}"); at != std::string_view::npos;
       at = pattern.find_first_of("{}", at)) {
    const size_t end = pattern.find_first_of("{}", at + 1);
    const std::string_view name = pattern.substr(at, end == std::string_view::npos ? end : end + 1 - at);
    if (name != "{cta}" && name != "{sm}" && name != "{warp}" && name != "{role}" && name != "{}")
      throw std::runtime_error(fmt::format("'{}' is none of {{cta}}, {{sm}}, {{warp}}, {{role}} and {{}}", name));
    at = end + 1;
  }
}

Trace import_chrome_json(const std::filesystem::path& path, const ChromeImportMap& map) {
  const std::string name = input_name(path);
  if (map.format == ChromeImportMap::Format::chrome) return Importer(ChromeDocument(path), map, name).run();
  const std::string text = read_compressed_file(path);
  const ChromeDocument document(name, map.format == ChromeImportMap::Format::synclog
                                          ? synclog_events(text, map.barriers, name)
                                          : iket_events(parse_json(text, name), map.launch, name));
  return Importer(document, map, name).run();
}

}  // namespace sm100::traces
