// SPDX-License-Identifier: Apache-2.0
#include "traces/exchange/other_recorders.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <stdexcept>

namespace sm100::traces {

namespace {

using nlohmann::json;

constexpr int kThreadsPerWarp = 32, kBarrierBytes = 8;

// ---------------------------------------------------------------- synclog

const std::set<std::string_view> kBlocking = {"syncthreads",          "named_barrier_arrive_and_wait",
                                              "cluster_barrier_wait", "cp_async_wait",
                                              "cp_async_wait_all",    "tma_store_wait",
                                              "warpgroup_wait"};

class Synclog {
 public:
  Synclog(const std::vector<LoggedBarrier>& barriers, std::string_view file) : barriers_(barriers), file_(file) {}

  json read(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const size_t end = text.find('\n');
      std::string_view line = text.substr(0, end);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
      if (line.ends_with('\r')) line.remove_suffix(1);
      read_line(line);
    }
    if (logs_ == 0) throw std::runtime_error(fmt::format("{}: no synclog: no line is \"synclog start\"", file_));
    if (is_open_)
      throw std::runtime_error(fmt::format("{}: the log is cut off: no line is \"synclog end\"", file_));
    return finish();
  }

 private:
  [[noreturn]] void fail(std::string_view what) const {
    throw std::runtime_error(fmt::format("{}:{}: {}", file_, line_, what));
  }

  void read_line(std::string_view line) {
    if (line == "synclog start") {
      if (++logs_ > 1) fail("a second log begins; each launch prints one: keep one of them in the file");
      is_open_ = true;
    } else if (line == "synclog end") {
      is_open_ = false;
    } else if (line.starts_with("synclog was truncated")) {
      fail("CUTLASS has truncated the log; a smaller problem has a shorter one");
    } else if (line.starts_with("synclog at ")) {
      if (!is_open_) fail("a record outside of \"synclog start\" and \"synclog end\"");
      read_record(line);
    }
  }

  /// "synclog at 1: cluster_barrier_wait line=413 time=5 thread=32,0,0 block=0,0,0 smem_addr=1024 phase=0"
  void read_record(std::string_view line) {
    const size_t colon = line.find(": ");
    if (colon == std::string_view::npos) fail("the record has no name: \"synclog at N: NAME ...\" is needed");
    line.remove_prefix(colon + 2);
    const std::string name(line.substr(0, line.find(' ')));
    json event = {{"ph", "X"}, {"name", name}, {"dur", 0}, {"args", json::object()}};
    std::optional<uint64_t> time, thread, block;
    for (size_t at = line.find(' '); at != std::string_view::npos;) {
      line.remove_prefix(at + 1);
      at = line.find(' ');
      const std::string_view word = line.substr(0, at);
      if (word.empty()) continue;
      const size_t equals = word.find('=');
      if (equals == std::string_view::npos) fail(fmt::format("'{}' is no KEY=VALUE", word));
      const std::string_view key = word.substr(0, equals), value = word.substr(equals + 1);
      if (key == "thread" || key == "block")
        (key == "thread" ? thread : block) = first_of_three(key, value);
      else if (key == "time")
        time = number(key, value);
      else
        event["args"][std::string(key)] = number(key, value);
    }
    if (!time || !thread || !block) fail("the record must have 'time', 'thread' and 'block'");
    event["ts"] = *time, event["pid"] = *block, event["tid"] = *thread / kThreadsPerWarp;
    events_.push_back(std::move(event));
  }

  uint64_t number(std::string_view key, std::string_view text) const {
    uint64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size() || value > uint64_t(INT64_MAX))
      fail(fmt::format("'{}' is '{}'; an integer is needed", key, text));
    return value;
  }

  /// The x of "32,0,0".  CUTLASS logs threads and blocks whose y and z are 0.
  uint64_t first_of_three(std::string_view key, std::string_view text) const {
    const size_t comma = text.find(',');
    if (comma == std::string_view::npos || text.substr(comma) != ",0,0")
      fail(fmt::format("'{}' is '{}'; X,0,0 is needed", key, text));
    return number(key, text.substr(0, comma));
  }

  /// Times from the first record on, ends of waits, names of barriers.
  json finish() {
    uint64_t first = UINT64_MAX;
    std::map<uint64_t, std::vector<json*>> warps;
    for (json& event : events_) {
      first = std::min(first, event["ts"].get<uint64_t>());
      warps[event["tid"].get<uint64_t>()].push_back(&event);
    }
    for (json& event : events_) event["ts"] = event["ts"].get<uint64_t>() - first;
    for (auto& [warp, events] : warps) {
      // Records of one warp are appended in its order, and its clock does not run backwards.
      std::map<int64_t, Waits> waits;
      for (size_t i = 0; i < events.size(); ++i) {
        json& event = *events[i];
        if (i + 1 < events.size() && kBlocking.contains(event["name"].get_ref<const std::string&>())) {
          const uint64_t begin = event["ts"].get<uint64_t>(), end = (*events[i + 1])["ts"].get<uint64_t>();
          event["dur"] = end < begin ? 0 : end - begin;
        }
        describe(event["args"], waits);
      }
    }
    return std::move(events_);
  }

  /// Of one warp for one barrier.
  struct Waits {
    int64_t parity = 0, index = 0;
  };

  void describe(json& args, std::map<int64_t, Waits>& waits) const {
    const char* key = args.contains("smem_addr") ? "smem_addr" : "smem_int_mbar";
    if (!args.contains(key)) return;
    const int64_t address = args[key].get<int64_t>();
    for (const LoggedBarrier& barrier : barriers_) {
      const int64_t stage = (address - barrier.smem_addr) / kBarrierBytes;
      if (address < barrier.smem_addr || stage >= barrier.stages) continue;
      args["barrier"] = barrier.name, args["stage"] = stage;
      break;
    }
    if (!args.contains("phase")) return;
    const int64_t parity = args["phase"].get<int64_t>();
    const auto [known, added] = waits.try_emplace(address, Waits{parity, parity == 0 ? 0 : -1});
    if (!added && known->second.parity != parity) known->second = {parity, known->second.index + 1};
    args["index"] = known->second.index;
  }

  const std::vector<LoggedBarrier>& barriers_;
  std::string_view file_;
  size_t line_ = 0;
  int logs_ = 0;
  bool is_open_ = false;
  json events_ = json::array();
};

// ---------------------------------------------------------------- IKET

class Iket {
 public:
  explicit Iket(std::string_view file) : file_(file) {}

  json read(const json& root, std::optional<int64_t> wanted) {
    const json& launches = array(root, "launches", "the file");
    if (!wanted && launches.size() != 1)
      throw std::runtime_error(fmt::format("{}: 'launches' has {} launches; the map's 'launch' picks one{}", file_,
                                           launches.size(), names_of(launches)));
    const size_t index = size_t(wanted.value_or(0));
    if (index >= launches.size())
      throw std::runtime_error(fmt::format("{}: the map's 'launch' is {}; the file has {} launches{}", file_, index,
                                           launches.size(), names_of(launches)));
    const std::string where = fmt::format("launches[{}]", index);
    const json& launch = launches[index];
    const json& ranges = array(launch, "ranges", where);
    for (size_t i = 0; i < ranges.size(); ++i) {
      const std::string range = fmt::format("{}.ranges[{}]", where, i);
      const uint64_t begin = integer(ranges[i], "startTs", range), end = integer(ranges[i], "endTs", range);
      if (end < begin) fail(range, fmt::format("'endTs' {} is before 'startTs' {}", end, begin));
      for (const json& warp : array(ranges[i], "warpLocs", range))
        add(text(ranges[i], "rangeName", range), begin, end, json::object(), warp, range + ".warpLocs");
    }
    if (launch.contains("markers")) {
      const json& markers = array(launch, "markers", where);
      for (size_t i = 0; i < markers.size(); ++i) {
        const std::string marker = fmt::format("{}.markers[{}]", where, i);
        const uint64_t time = integer(markers[i], "timestamp", marker);
        json args = json::object();
        if (markers[i].contains("payloadVal")) args["payloadVal"] = markers[i]["payloadVal"];
        add(text(markers[i], "markerName", marker), time, time, std::move(args),
            member(markers[i], "location", marker), marker + ".location");
      }
    }
    return finish();
  }

 private:
  struct Place {
    std::array<uint64_t, 3> cta;
    uint64_t sm, warp;
  };

  [[noreturn]] void fail(const std::string& where, std::string_view what) const {
    throw std::runtime_error(fmt::format("{}: {}: {}", file_, where, what));
  }
  const json& member(const json& object, const char* key, const std::string& where) const {
    if (!object.is_object() || !object.contains(key)) fail(where, fmt::format("has no '{}'", key));
    return object[key];
  }
  const json& array(const json& object, const char* key, const std::string& where) const {
    const json& value = member(object, key, where);
    if (!value.is_array()) fail(where, fmt::format("'{}' is no array", key));
    return value;
  }
  std::string text(const json& object, const char* key, const std::string& where) const {
    const json& value = member(object, key, where);
    if (!value.is_string()) fail(where, fmt::format("'{}' is no string", key));
    return value.get<std::string>();
  }
  uint64_t natural(const json& value, const char* key, const std::string& where) const {
    if (!value.is_number_unsigned() || value.get<uint64_t>() > uint64_t(INT64_MAX))
      fail(where, fmt::format("'{}' is {}; an integer from 0 is needed", key,
                              value.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 40)));
    return value.get<uint64_t>();
  }
  uint64_t integer(const json& object, const char* key, const std::string& where) const {
    return natural(member(object, key, where), key, where);
  }

  /// " (0 "gemm", 1 "reduce")"
  static std::string names_of(const json& launches) {
    constexpr size_t kMost = 8;
    std::string text;
    for (size_t i = 0; i < std::min(launches.size(), kMost); ++i)
      if (launches[i].is_object() && launches[i].contains("kernelName"))
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", i,
                            launches[i]["kernelName"].dump(-1, ' ', false, json::error_handler_t::replace));
    return text.empty() ? "" : fmt::format(" ({}{})", text, launches.size() > kMost ? ", ..." : "");
  }

  void add(std::string name, uint64_t begin, uint64_t end, json args, const json& warp, const std::string& where) {
    const json& cta = array(warp, "ctaId", where);
    if (cta.size() != 3) fail(where, "'ctaId' must have three numbers");
    Place place{{}, integer(warp, "smId", where), integer(warp, "warpId", where)};
    for (size_t i = 0; i < 3; ++i) {
      place.cta[i] = natural(cta[i], "ctaId", where);
      grid_[i] = std::max(grid_[i], place.cta[i] + 1);
    }
    events_.push_back(
        {{"ph", "X"}, {"name", std::move(name)}, {"ts", begin}, {"dur", end - begin}, {"args", std::move(args)}});
    places_.push_back(place);
  }

  json finish() {
    json names = json::array();
    std::set<std::pair<uint64_t, uint64_t>> named;
    const auto call = [&](const char* what, uint64_t pid, uint64_t tid, std::string name) {
      names.push_back(
          {{"ph", "M"}, {"name", what}, {"pid", pid}, {"tid", tid}, {"args", {{"name", std::move(name)}}}});
    };
    for (size_t i = 0; i < places_.size(); ++i) {
      const auto& [cta, sm, warp] = places_[i];
      const uint64_t pid = cta[0] + grid_[0] * (cta[1] + grid_[1] * cta[2]);
      events_[i]["pid"] = pid, events_[i]["tid"] = warp;
      if (!named.emplace(pid, warp).second) continue;
      call("process_name", pid, warp, fmt::format("CTA {} on SM {}", pid, sm));
      call("thread_name", pid, warp, fmt::format("warp {}", warp));
    }
    events_.insert(events_.end(), names.begin(), names.end());
    return std::move(events_);
  }

  std::string_view file_;
  std::array<uint64_t, 3> grid_{};
  std::vector<Place> places_;
  json events_ = json::array();
};

}  // namespace

json synclog_events(std::string_view text, const std::vector<LoggedBarrier>& barriers, std::string_view file) {
  return Synclog(barriers, file).read(text);
}

json iket_events(const json& root, std::optional<int64_t> launch, std::string_view file) {
  return Iket(file).read(root, launch);
}

}  // namespace sm100::traces
