// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "sim/text.h"

namespace sm100::sim::cli {

namespace {

constexpr size_t kShown = 5;  // of the best, the worst and the failures

std::string text_of(const Json& value) { return value.is_string() ? value.get<std::string>() : value.dump(); }

std::string value_of(const Json& line, const std::string& key) {
  if (key == "scenario") return line["scenario"].get<std::string>();
  const auto found = line["values"].find(key);
  return found == line["values"].end() ? "" : text_of(*found);
}

bool passed(const Json& line) { return line["outcome"] == "pass"; }
uint64_t cycles_of(const Json& line) { return line["cycles"].get<uint64_t>(); }

/// "config.stages=4 run.seed=1"
std::string values_text(const SweptRuns& swept, const Json& line) {
  std::string text;
  for (const std::string& key : swept.keys)
    if (const std::string value = value_of(line, key); !value.empty())
      text += fmt::format("{}{}={}", text.empty() ? "" : "  ", key, value);
  return text.empty() ? line["scenario"].get<std::string>() : text;
}

std::string field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

constexpr const char* kPage = R"html(<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>sm100sim sweep</title>
<style>
:root { --bg: #fff; --fg: #1c2128; --dim: #6a737d; --line: #d8dee4; --bad: #c4314b; color-scheme: light dark }
@media (prefers-color-scheme: dark) { :root { --bg: #16191d; --fg: #e4e8ec; --dim: #8b949e; --line: #30363d; --bad: #ff7b8a } }
body { background: var(--bg); color: var(--fg); font: 14px/1.45 system-ui, sans-serif; margin: 24px; max-width: 1200px }
h1 { font-size: 20px } h2 { font-size: 16px; margin-top: 28px }
table { border-collapse: collapse } td, th { border: 1px solid var(--line); padding: 4px 9px; text-align: right }
th { font-weight: 600; color: var(--dim) } td.bad { color: var(--bad) } code { font-size: 12px }
select { margin: 0 12px 8px 4px } svg text { fill: var(--dim); font-size: 11px } svg line { stroke: var(--line) }
.left td, .left th { text-align: left }
</style></head><body>
<h1>sm100sim sweep</h1><p id="sum"></p>
<h2>Heat map</h2><p>Fewest cycles of the runs that passed; in red how many of a cell failed, in brackets how many were refused.</p>
<label>down<select id="y"></select></label><label>across<select id="x"></select></label><div id="heat"></div>
<h2>Scatter</h2><p>A point for each run that passed.</p><label>by<select id="s"></select></label><div id="scatter"></div>
<h2>Runs that failed</h2><table class="left" id="bad"></table>
<script type="application/json" id="data">@DATA@</script>
<script>
"use strict";
const D = JSON.parse(document.getElementById("data").textContent), $ = id => document.getElementById(id);
const val = (r, k) => k === "scenario" ? r.scenario : JSON.stringify(r.values[k]);
const num = n => n.toLocaleString("en-US");
const uniq = k => { const s = []; for (const r of D.runs) { const v = val(r, k); if (v !== undefined && !s.includes(v)) s.push(v); }
  return s.every(v => !isNaN(v)) ? s.sort((a, b) => a - b) : s; };
const el = (tag, text, parent, cls) => { const e = document.createElement(tag); if (text !== undefined) e.textContent = text;
  if (cls) e.className = cls; if (parent) parent.append(e); return e; };
const ok = D.runs.filter(r => r.outcome === "pass"), bad = D.runs.filter(r => r.outcome !== "pass" && r.outcome !== "refused");
$("sum").textContent = `${num(D.runs.length)} runs of build ${D.build}: ${num(ok.length)} passed, ${num(bad.length)} failed, ` +
  `${num(D.runs.length - ok.length - bad.length)} refused`;
const keys = D.keys.length ? D.keys : ["scenario"];
for (const [id, at] of [["y", 0], ["x", 1], ["s", 0]]) { for (const k of keys) el("option", k, $(id));
  $(id).selectedIndex = Math.min(at, keys.length - 1); $(id).onchange = draw; }
// Cycles compare runs at one clock, microseconds others.
const clocks = ok.map(r => r.cycles / r.microseconds), oneClock = Math.max(...clocks) < 1.001 * Math.min(...clocks);
const cost = r => oneClock ? r.cycles : r.microseconds;
const all = ok.map(cost), low = Math.min(...all), high = Math.max(...all);
const shade = c => high > low ? (c - low) / (high - low) : 0;
function draw() {
  const kx = $("x").value, ky = $("y").value, xs = uniq(kx), ys = uniq(ky);
  $("heat").replaceChildren(); const t = el("table", undefined, $("heat")), head = el("tr", undefined, t);
  el("th", `${ky} \\ ${kx}`, head); for (const x of xs) el("th", x, head);
  // The colours of the map are of its cells, not of all runs: fewest cycles lie close together.
  const of = (x, y) => D.runs.filter(r => val(r, kx) === x && val(r, ky) === y), least = rs => Math.min(...rs.map(cost));
  const cells = ys.flatMap(y => xs.map(x => least(of(x, y).filter(r => r.outcome === "pass")))).filter(isFinite);
  const first = Math.min(...cells), last = Math.max(...cells), heat = c => last > first ? (c - first) / (last - first) : 0;
  for (const y of ys) { const row = el("tr", undefined, t); el("th", y, row);
    for (const x of xs) { const rs = of(x, y), p = rs.filter(r => r.outcome === "pass");
      const refused = rs.filter(r => r.outcome === "refused").length, failed = rs.length - p.length - refused;
      const td = el("td", p.length ? num(least(p)) : "", row);
      if (p.length) { const s = heat(least(p)); td.style.background = `hsl(${210 - 170 * s} 70% 50% / .45)`; }
      if (failed) { const b = el("span", ` ${failed} failed`, td); b.style.color = "var(--bad)"; }
      if (refused) el("span", ` (${refused})`, td); } }
  const k = $("s").value, vs = uniq(k), W = 900, H = 320, L = 80, B = 40, svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("width", W); svg.setAttribute("height", H);
  const add = (tag, at, text) => { const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const a in at) e.setAttribute(a, at[a]); if (text !== undefined) e.textContent = text; svg.append(e); return e; };
  const X = i => L + (i + .5) * (W - L - 10) / vs.length, Y = c => H - B - shade(c) * (H - B - 20);
  if (all.length) for (const c of [low, (low + high) / 2, high]) { add("line", {x1: L, x2: W, y1: Y(c), y2: Y(c)});
    add("text", {x: 4, y: Y(c) + 4}, num(Math.round(c))); }
  vs.forEach((v, i) => add("text", {x: X(i), y: H - 14, "text-anchor": "middle"}, v));
  ok.forEach((r, n) => { const i = vs.indexOf(val(r, k)); if (i < 0) return;
    const e = add("circle", {cx: X(i) + (n % 9 - 4) * 2, cy: Y(cost(r)), r: 3, fill: `hsl(${210 - 170 * shade(cost(r))} 70% 50%)`, "fill-opacity": .7});
    const t = document.createElementNS("http://www.w3.org/2000/svg", "title"); t.textContent = `${num(r.cycles)} cycles\n${r.replay}`; e.append(t); });
  $("scatter").replaceChildren(svg);
}
draw();
for (const r of bad.slice(0, 200)) { const row = el("tr", undefined, $("bad")); el("td", r.outcome, row, "bad"); el("td", r.reason || "", row);
  el("code", r.replay, el("td", undefined, row)); }
if (!bad.length) el("td", "none", el("tr", undefined, $("bad")));
</script></body></html>
)html";

}  // namespace

SweptRuns swept_runs(const std::vector<Json>& lines) {
  std::map<std::string, size_t> builds;
  for (const Json& line : lines) ++builds[line["build"].get<std::string>()];
  SweptRuns swept;
  swept.build = std::max_element(builds.begin(), builds.end(), [](const auto& a, const auto& b) {
                  return a.second < b.second;
                })->first;
  std::map<std::string, std::set<std::string>> values;
  for (const Json& line : lines) {
    if (line["build"] != swept.build) {
      ++swept.of_other_builds;
      continue;
    }
    swept.lines.push_back(line);
    values["scenario"].insert(line["scenario"].get<std::string>());
    for (const auto& [key, value] : line["values"].items()) values[key].insert(value.dump());
  }
  for (const auto& [key, set] : values)
    if (set.size() > 1) swept.keys.push_back(key);
  return swept;
}

namespace {

double microseconds_of(const Json& line) { return line["microseconds"].get<double>(); }

/// Cycles compare runs at one clock, microseconds others (run.sm_clock_ghz).
bool have_one_clock(const std::vector<const Json*>& lines) {
  const auto ghz = [](const Json* line) { return double(cycles_of(*line)) / microseconds_of(*line); };
  const auto slower = [&](const Json* a, const Json* b) { return ghz(a) < ghz(b); };
  const auto [slowest, fastest] = std::minmax_element(lines.begin(), lines.end(), slower);
  return lines.empty() || ghz(*fastest) < 1.001 * ghz(*slowest);
}

}  // namespace

std::string sweep_text(const SweptRuns& swept) {
  std::map<std::string, size_t> outcomes;
  std::vector<const Json*> good, bad;
  for (const Json& line : swept.lines) {
    ++outcomes[line["outcome"].get<std::string>()];
    if (passed(line))
      good.push_back(&line);
    else if (line["outcome"] != "refused")
      bad.push_back(&line);
  }
  std::string text = fmt::format("{} runs of build {}:", swept.lines.size(), swept.build);
  const char* separator = " ";
  for (const auto& [outcome, count] : outcomes)
    text += fmt::format("{}{} {}", std::exchange(separator, ", "), count, outcome);
  text += "\n";
  if (swept.of_other_builds > 0)
    text += fmt::format("  {} lines of other builds are left out\n", swept.of_other_builds);
  const bool one_clock = have_one_clock(good);
  std::stable_sort(good.begin(), good.end(), [&](const Json* a, const Json* b) {
    return one_clock ? cycles_of(*a) < cycles_of(*b) : microseconds_of(*a) < microseconds_of(*b);
  });
  const auto rows = [&](const char* title, size_t from, size_t to) {
    text += fmt::format("{}\n", title);
    for (size_t i = from; i < to; ++i)
      text += fmt::format("  {:>12} cycles{}  {}\n", grouped(int64_t(cycles_of(*good[i]))),
                          one_clock ? "" : fmt::format(" = {:.2f} us", microseconds_of(*good[i])),
                          values_text(swept, *good[i]));
  };
  if (!good.empty()) rows("best", 0, std::min(kShown, good.size()));
  if (good.size() > kShown)
    rows("worst", std::max(kShown, good.size() - std::min(kShown, good.size())), good.size());
  if (!bad.empty()) text += "first failures\n";
  for (size_t i = 0; i < std::min(kShown, bad.size()); ++i)
    text += fmt::format("  {}  {}\n      {}\n      {}\n", (*bad[i])["outcome"].get<std::string>(),
                        values_text(swept, *bad[i]),
                        (*bad[i])["reason"].is_string() ? (*bad[i])["reason"].get<std::string>() : "",
                        (*bad[i])["replay"].get<std::string>());
  for (const Json& line : swept.lines)
    if (line["outcome"] == "refused") {
      text += fmt::format("first refused\n  {}\n      {}\n", values_text(swept, line),
                          line["reason"].get<std::string>());
      break;
    }
  return text;
}

std::string sweep_csv(const SweptRuns& swept) {
  std::string text = "index,scenario";
  std::vector<std::string> keys;
  for (const std::string& key : swept.keys)
    if (key != "scenario") keys.push_back(key), text += "," + field(key);
  text += ",outcome,finding,cycles,microseconds,tflops,tensor_utilization,reason,replay\r\n";
  const auto plain = [](const Json& line, const char* key) {
    return line.contains(key) && !line[key].is_null() ? field(text_of(line[key])) : std::string();
  };
  for (const Json& line : swept.lines) {
    text += plain(line, "index") + "," + plain(line, "scenario");
    for (const std::string& key : keys) text += "," + field(value_of(line, key));
    for (const char* key :
         {"outcome", "finding", "cycles", "microseconds", "tflops", "tensor_utilization", "reason", "replay"})
      text += "," + plain(line, key);
    text += "\r\n";
  }
  return text;
}

std::string sweep_page(const SweptRuns& swept) {
  Json runs = Json::array();
  for (const Json& line : swept.lines) {
    Json run = Json::object();
    for (const char* key : {"scenario", "values", "outcome", "cycles", "reason", "replay"})
      if (line.contains(key)) run[key] = line[key];
    runs.push_back(std::move(run));
  }
  std::string data = Json{{"build", swept.build}, {"keys", swept.keys}, {"runs", runs}}.dump();
  for (size_t at = 0; (at = data.find('<', at)) != std::string::npos; at += 6) data.replace(at, 1, "\\u003c");
  std::string page = kPage;
  const std::string mark = "@DATA@";
  return page.replace(page.find(mark), mark.size(), data);
}

}  // namespace sm100::sim::cli
