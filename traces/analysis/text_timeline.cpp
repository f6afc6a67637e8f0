// SPDX-License-Identifier: Apache-2.0
#include "traces/analysis/text_timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "traces/format/numbers.h"

namespace sm100::traces {

namespace {

/// Something that fills a row from `begin` to `end`.
struct Stretch {
  uint64_t begin, end;
  char sign;
};

/// "input" of "input_full" and "input_empty".
std::string ring_of(const std::string& pipeline) { return pipeline.substr(0, pipeline.rfind('_')); }

class Drawing {
 public:
  Drawing(const Trace& trace, int cta, int columns) : trace_(trace), cta_(cta) {
    for (const Span& span : trace.spans)
      if (trace.tracks[span.track].cta == cta)
        begin_ = std::min(begin_, span.begin), end_ = std::max(end_, span.end);
    per_column_ = step(std::max<uint64_t>(1, (end_ - begin_ + uint64_t(columns) - 1) / uint64_t(columns)));
    begin_ -= begin_ % per_column_;
  }

  std::string text() {
    gather();
    std::string rows;
    for (const std::string& role : in_order(roles_)) {
      add(rows, role, roles_[role], false);
      // What a role hands over stands below it.
      if (role == "load") add_rings(rows);
      if (role == "mma") add_accumulators(rows);
    }
    if (!has("load")) add_rings(rows);
    if (!has("mma")) add_accumulators(rows);
    if (!stores_.empty()) add(rows, "tma store", stores_, false);
    return head() + rows + legend();
  }

 private:
  /// 1, 2, 5, 10 ... ticks: the next that is at least `least`.
  static uint64_t step(uint64_t least) {
    for (uint64_t power = 1;; power *= 10)
      for (const uint64_t digit : {1, 2, 5})
        if (digit * power >= least) return digit * power;
  }

  std::string pipeline(const Span& span) const {
    return span.args.pipeline == kNoName ? "" : trace_.names[size_t(span.args.pipeline)];
  }

  void gather() {
    std::set<int> accumulators;
    for (const Span& span : trace_.spans)
      if (trace_.tracks[span.track].cta == cta_ && span.kind == SpanKind::umma && span.args.column >= 0)
        accumulators.insert(span.args.column);
    for (const Span& span : trace_.spans) {
      const Track& track = trace_.tracks[span.track];
      if (track.cta != cta_) continue;
      if (track.kind == TrackKind::role) {
        add_role_span(roles_[track.name], span);
        continue;
      }
      const std::string ring = ring_of(pipeline(span));
      if (span.kind == SpanKind::tma_load && span.args.stage >= 0 && !ring.empty())
        rings_[ring][span.args.stage].push_back({span.begin, span.end, 'f'});
      if (span.kind == SpanKind::umma) {
        if (span.args.stage >= 0 && !ring.empty())
          rings_[ring][span.args.stage].push_back({span.begin, span.end, 'M'});
        if (span.args.column >= 0) accumulators_[span.args.column].push_back({span.begin, span.end, 'M'});
      }
      if (span.kind == SpanKind::tmem_read && span.args.column >= 0) {
        const auto behind = accumulators.upper_bound(span.args.column);
        if (behind != accumulators.begin())
          accumulators_[*std::prev(behind)].push_back({span.begin, span.end, 'r'});
      }
      if (span.kind == SpanKind::tma_store) stores_.push_back({span.begin, span.end, 's'});
    }
    for (const Wakeup& wakeup : trace_.wakeups) {
      const Track& track = trace_.tracks[wakeup.track];
      if (track.cta == cta_ && track.kind == TrackKind::role)
        roles_[track.name].push_back({wakeup.begin, wakeup.end, '.'});
    }
  }

  void add_role_span(std::vector<Stretch>& row, const Span& span) {
    switch (span.kind) {
      case SpanKind::tile:
      case SpanKind::setup:
      case SpanKind::drain: return;  // around others
      case SpanKind::wait: {
        const std::string what = pipeline(span);
        const char sign = what.empty() ? '.' : what.front();
        if (!what.empty()) waits_[sign].insert(what);
        return row.push_back({span.begin, span.end, sign});
      }
      case SpanKind::store_wait:
      case SpanKind::lock_wait: return row.push_back({span.begin, span.end, '.'});
      default: return row.push_back({span.begin, span.end, '#'});
    }
  }

  bool has(const std::string& role) const { return roles_.count(role) > 0; }

  /// Along the data: who asks for work, who loads, who multiplies, who stores, and all others.
  static std::vector<std::string> in_order(const std::map<std::string, std::vector<Stretch>>& roles) {
    std::vector<std::string> names;
    for (const char* name : {"scheduler", "load", "mma", "epilogue"})
      if (roles.count(name)) names.push_back(name);
    for (const auto& [name, row] : roles)
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    return names;
  }

  void add_rings(std::string& rows) {
    for (auto& [ring, stages] : rings_)
      for (auto& [stage, row] : stages) add(rows, fmt::format("  {}[{}]", ring, stage), row, true);
  }
  void add_accumulators(std::string& rows) {
    for (auto& [column, row] : accumulators_) add(rows, fmt::format("  column {}", column), row, true);
  }

  /// Work wins a column that it shares with waits: a few cycles of it are what a wait was for.
  /// @param holds  of memory: between being written and being read it holds something
  void add(std::string& rows, const std::string& label, std::vector<Stretch>& row, bool holds) {
    const size_t columns = size_t((end_ - begin_ + per_column_ - 1) / per_column_);
    std::vector<std::map<char, uint64_t>> ticks(columns);
    std::stable_sort(row.begin(), row.end(), [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
    std::string text(columns, ' ');
    const auto column_of = [&](uint64_t time) {
      return std::min(columns - 1, size_t((time - begin_) / per_column_));
    };
    uint64_t until = 0;
    char last = ' ';
    for (const Stretch& s : row) {
      if (s.end <= s.begin) continue;
      if (holds && s.begin > until && (last == 'M' ? label.find('[') == std::string::npos : last == 'f'))
        for (size_t c = column_of(until); c <= column_of(s.begin); ++c) text[c] = '=';
      if (s.end > until) until = s.end, last = s.sign;
      for (size_t c = column_of(s.begin); c <= column_of(s.end - 1); ++c) {
        const uint64_t from = begin_ + c * per_column_, to = from + per_column_;
        ticks[c][s.sign] += std::min(to, s.end) - std::max(from, s.begin);
      }
    }
    for (size_t c = 0; c < columns; ++c) {
      uint64_t most = 0;
      for (const auto& [sign, sum] : ticks[c]) {
        const bool wait = !holds && sign != '#' && sign != 's';
        const uint64_t weight = wait ? sum : sum + per_column_ * uint64_t(trace_.tracks.size());
        if (weight > most) most = weight, text[c] = sign;
      }
      signs_.insert(text[c]);
    }
    rows += fmt::format("{:<12}|{}|\n", label, text);
  }

  std::string head() const {
    return fmt::format("CTA {}: {} {} to {}, {} to a column\n", cta_, tick_name(trace_.metadata), grouped(begin_),
                       grouped(end_), grouped(per_column_));
  }

  std::string legend() const {
    std::string text;
    const auto say = [&](char sign, const std::string& meaning) {
      if (signs_.count(sign)) text += fmt::format("  {} {}\n", sign, meaning);
    };
    say('#', "the role works");
    for (const auto& [sign, whats] : waits_) say(sign, fmt::format("it waits for {}", fmt::join(whats, ", ")));
    say('.', "it waits for something else");
    if (!rings_.empty()) say('f', "the stage is being filled by copies");
    say('M', "the tensor core reads the stage, or writes the accumulator");
    say('=', "it holds data, and nobody touches them");
    say('r', "the accumulator is being read");
    say('s', "the store is under way");
    return text;
  }

  const Trace& trace_;
  const int cta_;
  uint64_t begin_ = UINT64_MAX, end_ = 0, per_column_ = 1;
  std::map<std::string, std::vector<Stretch>> roles_;
  std::map<std::string, std::map<int, std::vector<Stretch>>> rings_;  ///< by name and stage
  std::map<int, std::vector<Stretch>> accumulators_;                  ///< by first column
  std::vector<Stretch> stores_;
  std::map<char, std::set<std::string>> waits_;
  std::set<char> signs_;
};

}  // namespace

std::vector<int> ctas_with_spans(const Trace& trace) {
  std::set<int> ctas;
  for (const Span& span : trace.spans)
    if (trace.tracks[span.track].cta >= 0) ctas.insert(trace.tracks[span.track].cta);
  return {ctas.begin(), ctas.end()};
}

std::string format_timeline(const Trace& trace, int cta, int columns) {
  return Drawing(trace, cta, columns).text();
}

}  // namespace sm100::traces
