// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/delay.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "kernels/host/read_config.h"
#include "kernels/host/run_plan.h"

namespace sm100::host {

using models::JitterSite;
using models::kJitterSites;

namespace {

constexpr int64_t kLongest = 1'000'000'000;

/// A key that some sites need and the others must not have.
int read_part(const TomlDocument& document, const TomlTable& table, const char* key, bool needed,
              std::string_view site, int most) {
  if (needed) return read_int(table, key, 0, most);
  if (table.has(key)) throw document.error(table.path(key), fmt::format("a point \"{}\" has none", site));
  return -1;
}

}  // namespace

std::vector<std::string> delay_keys() { return {"at", "cta", "launch", "warp", "to", "occurrence", "cycles"}; }

DelaySpec read_delay(const TomlDocument& document, const TomlTable& table, const Scenario& scenario,
                     const RunPlan& plan) {
  std::vector<std::string_view> names;
  for (const models::JitterSiteRow& row : kJitterSites) names.push_back(row.name);
  const std::string at = table.word("at", names);
  DelaySpec spec;
  models::JitterPoint& point = spec.delay.point;
  point.site = JitterSite(std::find(names.begin(), names.end(), at) - names.begin());
  const models::JitterSiteRow& site = row(point.site);
  const int in_launch = read_launch(table, scenario).value_or(0);
  const LaunchShape launch = plan.run_of(in_launch).launch();
  const int64_t ctas = int64_t(launch.grid.x) * launch.grid.y * launch.grid.z;
  point.cta = int(plan.first_cta(in_launch)) + read_int(table, "cta", 0, int(std::min<int64_t>(ctas - 1, INT_MAX)));
  point.warp = read_part(document, table, "warp", site.of_warp, at, launch.warps - 1);
  const int cluster = int(launch.cluster.x * launch.cluster.y * launch.cluster.z);
  point.to = read_part(document, table, "to", site.to_rank, at, cluster - 1);
  point.occurrence = uint64_t(table.integer("occurrence", 0, INT64_MAX));
  spec.delay.cycles = uint64_t(table.integer("cycles", 1, kLongest));
  spec.if_unmatched =
      document.message(table.path("at"), "this point did not occur in the run; nothing was delayed");
  return spec;
}

std::string delay_toml(const models::Delay& delay, const RunPlan& plan, const std::string& comment) {
  const models::JitterPoint& point = delay.point;
  const int launch = plan.of_cta(point.cta);
  std::string text = "\n";
  for (size_t at = 0; at < comment.size();) {
    const size_t end = std::min(comment.find('\n', at), comment.size());
    text += "# " + comment.substr(at, end - at) + "\n";
    at = end + 1;
  }
  text +=
      fmt::format("[[delay]]\nat = \"{}\"\ncta = {}\n", row(point.site).name, point.cta - plan.first_cta(launch));
  if (plan.named())
    text += fmt::format("launch = \"{}\"\n", plan.kernel_of(launch).name);
  else if (launch > 0)
    text += fmt::format("launch = {}\n", launch);
  if (point.warp >= 0) text += fmt::format("warp = {}\n", point.warp);
  if (point.to >= 0) text += fmt::format("to = {}\n", point.to);
  return text + fmt::format("occurrence = {}\ncycles = {}\n", point.occurrence, delay.cycles);
}

}  // namespace sm100::host
