// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/chrome_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <stdexcept>
#include <unordered_set>

#include "traces/format/compressed_file.h"

namespace sm100::traces {

namespace {

using nlohmann::json;

const json* member(const json& object, const char* key) {
  const auto found = object.find(key);
  return found == object.end() ? nullptr : &*found;
}

/// A JSON value on one line and not too long; with U+FFFD for what is no UTF-8.
std::string display(const json* value) {
  if (!value) return "missing";
  const std::string text = value->dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= 60 ? text : text.substr(0, 57) + "...";
}

/// The parser's message without its own prefix: "line 3, column 7: unexpected ..."
std::string parse_error_text(const json::exception& error) {
  const std::string_view text = error.what();
  const size_t at = text.find("] ");
  return std::string(at == std::string_view::npos ? text : text.substr(at + 2));
}

/// Times of the file in ticks.  Integers stay exact when a unit is a whole number of ticks.
class Clock {
 public:
  explicit Clock(double ticks_per_unit) : scale_(ticks_per_unit) {
    if (scale_ >= 1 && scale_ <= 1e9 && scale_ == std::floor(scale_)) whole_scale_ = static_cast<int64_t>(scale_);
  }

  /// Ticks at ts + dur; nothing if negative or beyond 2^62.
  std::optional<uint64_t> ticks(const json& ts, const json* dur = nullptr) const {
    int64_t exact = 0;
    if (whole_scale_ != 0 && is_int64(ts) && (!dur || is_int64(*dur))) {
      if (__builtin_add_overflow(ts.get<int64_t>(), dur ? dur->get<int64_t>() : 0, &exact)) return std::nullopt;
      if (__builtin_mul_overflow(exact, whole_scale_, &exact)) return std::nullopt;
      if (exact < 0 || exact > kLast) return std::nullopt;
      return static_cast<uint64_t>(exact);
    }
    const double ticks = std::round((ts.get<double>() + (dur ? dur->get<double>() : 0.0)) * scale_);
    if (!(ticks >= 0 && ticks <= static_cast<double>(kLast))) return std::nullopt;
    return static_cast<uint64_t>(ticks);
  }

 private:
  static constexpr int64_t kLast = int64_t{1} << 62;
  static bool is_int64(const json& value) {
    return value.is_number_integer() &&
           (!value.is_number_unsigned() || value.get<uint64_t>() <= uint64_t(INT64_MAX));
  }
  double scale_;
  int64_t whole_scale_ = 0;
};

/// One X, B or E event before pairing.
struct Edge {
  ChromeSpan span;  ///< end is meant for X only
  char phase = 'X';
  bool ignored = false;
};

class Reader {
 public:
  Reader(const ChromeDocument& document, double ticks_per_unit, const std::vector<std::string>& known,
         const std::vector<std::string>& ignored)
      : document_(document),
        clock_(ticks_per_unit),
        known_list_(known),
        known_(known.begin(), known.end()),
        ignored_(ignored.begin(), ignored.end()) {}

  void read(const json& events) {
    for (index_ = 0; index_ < events.size(); ++index_) read_event(events[index_]);
  }

  std::vector<ChromeThread> finish() {
    std::vector<ChromeThread> threads;
    for (auto& [key, edges] : edges_) {
      ChromeThread thread{.pid = key.first, .tid = key.second};
      if (!threads.empty() && threads.back().pid == thread.pid) thread.rank = threads.back().rank + 1;
      thread.process_name = process_names_[thread.pid];
      thread.thread_name = thread_names_[key];
      pair(edges, thread);
      threads.push_back(std::move(thread));
    }
    return threads;
  }

 private:
  [[noreturn]] void fail(size_t event, std::string_view what) const {
    throw std::runtime_error(document_.message(event, what));
  }
  [[noreturn]] void fail(std::string_view what) const { fail(index_, what); }

  void read_event(const json& event) {
    if (!event.is_object()) fail(fmt::format("is {}; an object is needed", display(&event)));
    const json* phase = member(event, "ph");
    if (!phase || !phase->is_string())
      fail(fmt::format("'ph' is {}; allowed are \"X\", \"B\", \"E\" and \"M\"", display(phase)));
    const std::string& ph = phase->get_ref<const std::string&>();
    if (ph == "M") return read_metadata(event);

    const json* name = member(event, "name");
    const bool nameless_end = ph == "E" && !name;
    if (!nameless_end && (!name || !name->is_string()))
      fail(fmt::format("'name' is {}; a string is needed", display(name)));
    const std::string_view text = nameless_end ? std::string_view() : name->get_ref<const std::string&>();
    const bool ignored = !nameless_end && ignored_.contains(text);
    if (ph != "X" && ph != "B" && ph != "E") {
      if (ignored) return;
      fail(fmt::format("'ph' is {}; allowed are \"X\", \"B\", \"E\" and \"M\", or its name in the map's 'ignore'",
                       display(phase)));
    }
    if (!nameless_end && !ignored && !known_.contains(text))
      fail(fmt::format("the map does not name this event; it has {}, or put it into 'ignore'",
                       quoted_list(known_list_)));

    Edge edge{.phase = ph[0], .ignored = ignored};
    edge.span.event = index_;
    edge.span.name = text;
    edge.span.args = args_of(event);
    read_times(event, edge);
    const int64_t pid = identity(event, "pid", process_names_);
    const int64_t tid = identity(event, "tid", tid_names_);
    if (const auto named = tid_names_.find(tid); named != tid_names_.end())
      thread_names_.try_emplace({pid, tid}, named->second);
    edges_[{pid, tid}].push_back(edge);
  }

  void read_times(const json& event, Edge& edge) {
    const json* ts = number(event, "ts");
    edge.span.begin = ticks("ts", *ts);
    last_ = std::max(last_, edge.span.begin);
    if (edge.phase != 'X') return;
    const json* dur = number(event, "dur");
    if (dur->get<double>() < 0) fail(fmt::format("'dur' is {}; a number from 0 is needed", display(dur)));
    edge.span.end = ticks("ts + dur", *ts, dur);
    last_ = std::max(last_, edge.span.end);
  }

  uint64_t ticks(std::string_view what, const json& ts, const json* dur = nullptr) const {
    const std::optional<uint64_t> ticks = clock_.ticks(ts, dur);
    if (!ticks)
      fail(fmt::format("'{}' is {}{}; allowed are 0 to 2^62 ticks", what, display(&ts),
                       dur ? " + " + display(dur) : ""));
    return *ticks;
  }

  const json* args_of(const json& event) const {
    const json* args = member(event, "args");
    if (args && !args->is_object()) fail(fmt::format("'args' is {}; an object is needed", display(args)));
    return args;
  }

  const json* number(const json& event, const char* key) const {
    const json* value = member(event, key);
    if (!value || !value->is_number()) fail(fmt::format("'{}' is {}; a number is needed", key, display(value)));
    return value;
  }

  int64_t integer(const json& event, const char* key) const {
    const json* value = member(event, key);
    if (!value || !value->is_number_integer() ||
        (value->is_number_unsigned() && value->get<uint64_t>() > uint64_t(INT64_MAX)))
      fail(fmt::format("'{}' is {}; an integer is needed", key, display(value)));
    return value->get<int64_t>();
  }

  /// A pid or tid.  Some tools write its name there; it gets a number, and the name is the process's or thread's.
  int64_t identity(const json& event, const char* key, std::map<int64_t, std::string>& names) {
    const json* value = member(event, key);
    if (!value || !value->is_string()) return integer(event, key);
    const auto [known, added] = numbers_.try_emplace(value->get<std::string>(), kNamed + int64_t(numbers_.size()));
    if (added) names.try_emplace(known->second, known->first);
    return known->second;
  }

  /// Names of processes and threads; other metadata says nothing that we keep.
  void read_metadata(const json& event) {
    const json* what = member(event, "name");
    if (!what || !(*what == "process_name" || *what == "thread_name")) return;
    const json* args = args_of(event);
    const json* name = args ? member(*args, "name") : nullptr;
    if (!name || !name->is_string()) fail(fmt::format("'args.name' is {}; a string is needed", display(name)));
    const int64_t pid = identity(event, "pid", process_names_);
    if (*what == "process_name") {
      process_names_[pid] = name->get<std::string>();
    } else {
      const std::pair key(pid, identity(event, "tid", tid_names_));
      thread_names_[key] = name->get<std::string>();
      edges_.try_emplace(key);
    }
  }

  /// An E ends the last B that is open, as viewers have it.  What is open at the end of the file lasts until then:
  /// of a kernel that hangs, whatever a warp was in.
  void pair(std::vector<Edge>& edges, ChromeThread& thread) const {
    std::stable_sort(edges.begin(), edges.end(),
                     [](const Edge& a, const Edge& b) { return a.span.begin < b.span.begin; });
    constexpr size_t kNone = SIZE_MAX;
    struct Open {
      const Edge* edge;
      size_t span;  ///< index into thread.spans, kNone if ignored
    };
    std::vector<Open> open;
    for (const Edge& edge : edges) {
      if (edge.phase == 'E') {
        if (open.empty()) fail(edge.span.event, "'ph' is \"E\", but no \"B\" is open on its thread");
        const Open begun = open.back();
        open.pop_back();
        if (!edge.span.name.empty() && edge.span.name != begun.edge->span.name)
          fail(edge.span.event, fmt::format("ends event {} \"{}\"; a B and its E have one name",
                                            begun.edge->span.event, begun.edge->span.name));
        if (begun.span != kNone) thread.spans[begun.span].end = edge.span.begin;
        continue;
      }
      if (edge.phase == 'B') open.push_back({&edge, edge.ignored ? kNone : thread.spans.size()});
      if (!edge.ignored) thread.spans.push_back(edge.span);
    }
    for (const Open& begun : open)
      if (begun.span != kNone) thread.spans[begun.span].end = last_, thread.spans[begun.span].open = true;
  }

  const ChromeDocument& document_;
  Clock clock_;
  const std::vector<std::string>& known_list_;
  std::unordered_set<std::string_view> known_, ignored_;
  size_t index_ = 0;
  uint64_t last_ = 0;                                               ///< ticks: the latest begin or end of any event
  std::map<std::pair<int64_t, int64_t>, std::vector<Edge>> edges_;  ///< by (pid, tid)
  std::map<int64_t, std::string> process_names_, tid_names_;
  std::map<std::string, int64_t> numbers_;             ///< of pids and tids that are strings
  static constexpr int64_t kNamed = int64_t{1} << 61;  ///< the first of these numbers
  std::map<std::pair<int64_t, int64_t>, std::string> thread_names_;
};

}  // namespace

std::string quoted_list(const std::vector<std::string>& names) {
  constexpr size_t kMost = 16;
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMost); ++i)
    text += fmt::format("{}\"{}\"", text.empty() ? "" : ", ", names[i]);
  return names.size() <= kMost ? text : fmt::format("{} and {} more", text, names.size() - kMost);
}

json parse_json(const std::string& text, const std::string& name) {
  try {
    return json::parse(text);
  } catch (const json::exception& error) {  // also a number out of range
    if (text.find("synclog start\n") != std::string::npos)
      throw std::runtime_error(fmt::format(
          "{}: a synclog of CUTLASS; the map needs 'format = \"synclog\"' (traces/maps/cutlass_synclog.toml)",
          name));
    throw std::runtime_error(fmt::format("{}: not valid JSON: {}", name, parse_error_text(error)));
  }
}

ChromeDocument::ChromeDocument(std::string name, json events)
    : name_(std::move(name)), root_(std::move(events)), events_(&root_) {}

ChromeDocument::ChromeDocument(const std::filesystem::path& path) : name_(input_name(path)) {
  root_ = parse_json(read_compressed_file(path), name_);
  if (root_.is_object() && root_.contains("launches") && !root_.contains("traceEvents"))
    throw std::runtime_error(fmt::format(
        "{}: the JSON of CuTe DSL's IKET; the map needs 'format = \"iket\"' (traces/maps/cute_iket.toml)", name_));
  events_ = root_.is_object() ? member(root_, "traceEvents") : &root_;
  if (!events_ || !events_->is_array())
    throw std::runtime_error(
        fmt::format("{}: no Chrome trace: an array of events or an object with 'traceEvents' is needed", name_));
}

const json* ChromeDocument::other_data() const {
  const json* other = root_.is_object() ? member(root_, "otherData") : nullptr;
  return other && other->is_object() ? other : nullptr;
}

std::vector<ChromeThread> ChromeDocument::threads(double ticks_per_unit, const std::vector<std::string>& known,
                                                  const std::vector<std::string>& ignored) const {
  Reader reader(*this, ticks_per_unit, known, ignored);
  reader.read(*events_);
  return reader.finish();
}

std::string ChromeDocument::message(size_t event, std::string_view what) const {
  const json& at = (*events_)[event];
  const json* name = at.is_object() ? member(at, "name") : nullptr;
  return fmt::format("{}: event {}{}: {}", name_, event, name && name->is_string() ? " " + display(name) : "",
                     what);
}

}  // namespace sm100::traces
