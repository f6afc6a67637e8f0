// SPDX-License-Identifier: Apache-2.0
#include "sim/accuracy/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "sim/text.h"

namespace sm100::sim {
namespace {

constexpr size_t kWorst = 5;

/// Inside double quotes.
std::string gnuplot_text(const std::string& text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '"' || c == '\\' || c == '`') quoted += '\\';
    quoted += c;
  }
  return quoted;
}

std::string error_text(const DataSet& set, double error, bool with_sign = false) {
  const double value = set.absolute ? error : 100 * error;
  const int digits = std::abs(value) < 10 ? 2 : 1;
  return fmt::format("{}{} {}",
                     with_sign ? fmt::format("{:+.{}f}", value, digits) : fmt::format("{:.{}f}", value, digits), "",
                     set.absolute ? set.unit : "%");
}

std::vector<std::string> groups_of(const DataSet& set) {
  std::vector<std::string> groups;
  for (const Point& p : set.points)
    if (!p.group.empty() && std::find(groups.begin(), groups.end(), p.group) == groups.end())
      groups.push_back(p.group);
  return groups;
}

std::string table_row(const DataSet& set, const std::string& label, const ErrorSummary& s) {
  const auto text = [&](double error) { return s.points == 0 ? std::string("–") : error_text(set, error); };
  return fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", label, s.points, s.failed, text(s.mean),
                     text(s.median), text(s.p90), text(s.max));
}

}  // namespace

ErrorSummary summary_of(const DataSet& set, const std::string& group) {
  ErrorSummary s;
  std::vector<double> errors;
  for (const Point& p : set.points) {
    if (!group.empty() && p.group != group) continue;
    if (p.error.empty())
      errors.push_back(std::abs(error_of(set, p)));
    else
      ++s.failed;
  }
  s.points = errors.size();
  if (errors.empty()) return s;
  std::sort(errors.begin(), errors.end());
  for (const double e : errors) s.mean += e / double(errors.size());
  s.median = errors[errors.size() / 2];
  s.p90 = errors[std::min(errors.size() - 1, errors.size() * 9 / 10)];
  s.max = errors.back();
  return s;
}

std::string summary_text(const DataSet& set) {
  const ErrorSummary s = summary_of(set);
  if (s.points == 0) return fmt::format("no row could be simulated, of {}", s.failed);
  return fmt::format("mean {}, median {}, p90 {}, max {} of {} rows{}", error_text(set, s.mean),
                     error_text(set, s.median), error_text(set, s.p90), error_text(set, s.max),
                     grouped(int64_t(s.points)),
                     s.failed > 0 ? fmt::format("; {} rows could not be simulated", s.failed) : "");
}

std::string section_of(const DataSet& set, const std::string& plot) {
  std::string text = fmt::format("### {}\n\n", set.title);
  text += fmt::format("{} ({}). Simulated: {}. ", set.source, set.unit, set.replays);
  text += set.fitted.empty() ? "Nothing is fitted to these rows.\n\n" : fmt::format("Fitted: {}.\n\n", set.fitted);
  text += "| rows | n | failed | mean | median | p90 | max |\n|---|---|---|---|---|---|---|\n";
  text += table_row(set, "**all**", summary_of(set));
  for (const std::string& group : groups_of(set)) text += table_row(set, group, summary_of(set, group));
  std::vector<const Point*> worst;
  for (const Point& p : set.points)
    if (p.error.empty()) worst.push_back(&p);
  std::sort(worst.begin(), worst.end(), [&](const Point* a, const Point* b) {
    return std::abs(error_of(set, *a)) > std::abs(error_of(set, *b));
  });
  worst.resize(std::min(worst.size(), kWorst));
  text += "\nWorst rows:\n\n| | measured | simulated | error |\n|---|---|---|---|\n";
  for (const Point* p : worst)
    text += fmt::format("| {} | {:.4g} | {:.4g} | {} |\n", p->name, p->measured, p->predicted,
                        error_text(set, error_of(set, *p), true));
  for (const Point& p : set.points)
    if (!p.error.empty()) {
      text += fmt::format("\nNot simulated: {} ({}), and {} more.\n", p.name, p.error, summary_of(set).failed - 1);
      break;
    }
  if (!plot.empty()) text += fmt::format("\n![{}: measured and simulated]({})\n", set.title, plot);
  return text + "\n";
}

bool draw_plots(const std::vector<DataSet>& sets, const std::filesystem::path& folder) {
  if (std::system("command -v gnuplot > /dev/null 2>&1") != 0) return false;
  for (const DataSet& set : sets) {
    if (summary_of(set).points == 0) continue;
    FILE* const pipe = popen("gnuplot", "w");
    if (!pipe) return false;
    std::string program = fmt::format(
        "set terminal svg size 720,420 background rgb 'white' font 'sans-serif,12' dynamic\nset output \"{}\"\n"
        "set xlabel '{}'\nset ylabel '{}'\nset key left top\nset grid lc rgb '#dddddd'\n",
        gnuplot_text((folder / (set.id + ".svg")).string()), set.x_label,
        set.plot_ratio ? "simulated / measured" : set.unit);
    if (set.log_axes) program += set.plot_ratio ? "set logscale x\n" : "set logscale xy\n";
    std::string points;
    for (const Point& p : set.points)
      if (p.error.empty()) points += fmt::format("{} {} {}\n", p.x, p.measured, p.predicted);
    if (set.plot_ratio)
      program += fmt::format(
          "set yrange [0.6:1.4]\n$points << EOD\n{}EOD\nplot 1 lc rgb '#555555' notitle, $points using 1:($3/$2) "
          "with points pt 2 "
          "ps 0.6 lc rgb '#d1495b' notitle\n",
          points);
    else
      program += fmt::format(
          "$points << EOD\n{}EOD\nplot $points using 1:2 with points pt 6 ps 0.7 lc rgb '#555555' title "
          "'measured', "
          "$points using 1:3 with points pt 2 ps 0.6 lc rgb '#d1495b' title 'simulated'\n",
          points);
    std::fwrite(program.data(), 1, program.size(), pipe);
    if (pclose(pipe) != 0) return false;
  }
  return true;
}

}  // namespace sm100::sim
