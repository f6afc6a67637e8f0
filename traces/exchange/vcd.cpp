// SPDX-License-Identifier: Apache-2.0
/// write_vcd: a scope per CTA, barrier array and stage; values as they are at the end of each tick, since a viewer
/// shows no order inside one.
#include "traces/exchange/vcd.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <map>
#include <vector>

#include "traces/format/atomic_file.h"

namespace sm100::traces {

namespace {

constexpr std::array<std::string_view, 4> kVariables = {"phase", "parity", "pending", "tx_bytes"};

/// What a barrier shows; nothing before its init.
struct Values {
  int32_t phase = 0, pending = 0, tx = 0;
  std::array<std::string, 4> text() const {
    const auto bits = [](int32_t value) {
      std::string all = std::bitset<32>(static_cast<uint32_t>(value)).to_string();
      return all.substr(std::min(all.find('1'), all.size() - 1));
    };
    return {"b" + bits(phase) + " ", phase % 2 != 0 ? "1" : "0", "b" + bits(pending) + " ", "b" + bits(tx) + " "};
  }
};

/// Identifier codes count in the 94 printable characters.
std::string code(size_t number) {
  std::string text;
  do text += static_cast<char>('!' + number % 94);
  while ((number /= 94) > 0);
  return text;
}

/// VCD names have no spaces, and brackets would be bit selects.
std::string plain(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
  return text;
}

class VcdWriter {
 public:
  VcdWriter(const Trace& trace, int sm, std::ostream& output) : trace_(trace), sm_(sm), output_(output) {
    first_code_.resize(trace.tracks.size(), SIZE_MAX);
  }

  void write() {
    put_header();
    put_variables();
    put_changes();
  }

 private:
  void put_header() {
    const Metadata& m = trace_.metadata;
    put("$version {} $end\n", plain_line(m.tool_version.empty() ? "sm100sim" : m.tool_version));
    put("$comment\n"
        "  mbarriers of SM {} in {} ({}).  1 ns is 1 {}.\n"
        "  A scope per CTA that ran on the SM, per barrier array and stage; x before mbarrier.init.\n"
        "  phase     the phase that is being filled, from 0; it steps when one completes\n"
        "  parity    phase mod 2\n"
        "  pending   arrivals that the phase still misses\n"
        "  tx_bytes  bytes that the phase still misses; signed: bytes may come before their expect_tx\n"
        "  Several events of one barrier in one cycle show as their result.\n"
        "$end\n",
        sm_, plain_line(m.scenario), plain_line(m.device), m.source == "hardware" ? "tick" : "SM cycle");
    put("$timescale 1 ns $end\n");
  }

  void put_variables() {
    put("$scope module SM_{} $end\n", sm_);
    // CTAs in the order of their tracks; arrays by name, in the order of their first barrier.
    TrackId cta = kNoTrack;
    std::string array;
    const auto close = [&](bool whole_cta) {
      if (!array.empty()) put("$upscope $end\n"), array.clear();
      if (whole_cta && cta != kNoTrack) put("$upscope $end\n");
    };
    size_t codes = 0;
    for (const Track& track : trace_.tracks) {
      if (track.kind != TrackKind::barrier || track.sm != sm_) continue;
      if (track.parent != cta) {
        close(true);
        cta = track.parent;
        put("$scope module CTA_{} $end\n", track.cta);
      }
      const size_t bracket = track.name.find('[');
      if (track.name.substr(0, bracket) != array) {
        close(false);
        array = track.name.substr(0, bracket);
        put("$scope module {} $end\n", plain(array));
      }
      put("$scope module stage_{} $end\n",
          bracket == std::string::npos ? "0"
                                       : plain(track.name.substr(bracket + 1, track.name.size() - bracket - 2)));
      first_code_[track.id] = codes;
      for (const std::string_view variable : kVariables)
        put("$var {} {} {} $end\n", variable == "parity" ? "wire 1" : "integer 32", code(codes++), variable);
      put("$upscope $end\n");
    }
    close(true);
    put("$upscope $end\n$enddefinitions $end\n");
  }

  void put_changes() {
    put("#0\n$dumpvars\n");
    for (const Track& track : trace_.tracks)
      for (size_t i = 0; first_code_[track.id] != SIZE_MAX && i < kVariables.size(); ++i)
        put("{}{}\n", kVariables[i] == "parity" ? "x" : "bx ", code(first_code_[track.id] + i));
    put("$end\n");

    std::vector<const BarrierEvent*> events;
    for (const BarrierEvent& event : trace_.barrier_events)
      if (first_code_[event.track] != SIZE_MAX && event.kind != BarrierEventKind::wait_begin &&
          event.kind != BarrierEventKind::wait_end)
        events.push_back(&event);
    std::stable_sort(events.begin(), events.end(), [](auto* a, auto* b) { return a->time < b->time; });
    std::map<TrackId, std::array<std::string, 4>> shown;
    std::map<TrackId, Values> now;  // changed in this tick
    for (size_t i = 0; i < events.size(); ++i) {
      const BarrierEvent& event = *events[i];
      const bool completed = event.kind == BarrierEventKind::phase_complete;
      now[event.track] = {event.phase + (completed ? 1 : 0), event.pending, event.tx};
      if (i + 1 < events.size() && events[i + 1]->time == event.time) continue;
      if (event.time > 0) put("#{}\n", event.time);
      for (const auto& [track, values] : now) {
        const std::array<std::string, 4> text = values.text();
        for (size_t v = 0; v < text.size(); ++v)
          if (shown[track][v] != text[v]) put("{}{}\n", text[v], code(first_code_[track] + v));
        shown[track] = text;
      }
      now.clear();
    }
    // The wave goes on to the end of the run.
    uint64_t end = events.empty() ? 0 : events.back()->time;
    for (const Span& span : trace_.spans) end = std::max(end, span.end);
    if (events.empty() || end > events.back()->time) put("#{}\n", end);
  }

  /// Text for a comment: one line, and no word that would end it.
  static std::string plain_line(std::string text) {
    std::replace_if(
        text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == '$'; }, '_');
    return text;
  }

  template <class... Args>
  void put(fmt::format_string<Args...> text, Args&&... args) {
    output_ << fmt::format(text, std::forward<Args>(args)...);
  }

  const Trace& trace_;
  int sm_;
  std::ostream& output_;
  std::vector<size_t> first_code_;  ///< by track: of its first variable; SIZE_MAX: not a barrier of the SM
};

}  // namespace

std::vector<int> sms_with_barriers(const Trace& trace) {
  std::vector<int> sms;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::barrier && std::find(sms.begin(), sms.end(), track.sm) == sms.end())
      sms.push_back(track.sm);
  return sms;
}

void write_vcd(const Trace& trace, int sm, const std::filesystem::path& path) {
  AtomicFile file(path);
  VcdWriter(trace, sm, file.stream()).write();
  file.commit();
}

}  // namespace sm100::traces
