// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/delay.h"

#include <fmt/format.h>

#include <algorithm>
#include <climits>

#include "kernels/host/kernel_run.h"
#include "kernels/host/read_config.h"

namespace sm100::host {

using models::JitterSite;
using models::kJitterSites;

namespace {

constexpr int64_t kLongest = 1'000'000'000;

int64_t ctas_of(const KernelRun& kernel) {
  const Dim3 grid = kernel.launch().grid;
  return int64_t(grid.x) * grid.y * grid.z;
}

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
                     const KernelRun& kernel) {
  std::vector<std::string_view> names;
  for (const models::JitterSiteRow& row : kJitterSites) names.push_back(row.name);
  const std::string at = table.word("at", names);
  DelaySpec spec;
  models::JitterPoint& point = spec.delay.point;
  point.site = JitterSite(std::find(names.begin(), names.end(), at) - names.begin());
  const models::JitterSiteRow& site = row(point.site);
  const LaunchShape launch = kernel.launch();
  const int64_t ctas = ctas_of(kernel);
  point.cta = read_int(table, "cta", 0, int(std::min<int64_t>(ctas - 1, INT_MAX)));
  if (table.has("launch")) point.cta += int(ctas) * read_int(table, "launch", 0, scenario.launches - 1);
  point.warp = read_part(document, table, "warp", site.of_warp, at, launch.warps - 1);
  const int cluster = int(launch.cluster.x * launch.cluster.y * launch.cluster.z);
  point.to = read_part(document, table, "to", site.to_rank, at, cluster - 1);
  point.occurrence = uint64_t(table.integer("occurrence", 0, INT64_MAX));
  spec.delay.cycles = uint64_t(table.integer("cycles", 1, kLongest));
  spec.if_unmatched =
      document.message(table.path("at"), "this point did not occur in the run; nothing was delayed");
  return spec;
}

std::string delay_toml(const models::Delay& delay, const KernelRun& kernel, const std::string& comment) {
  const models::JitterPoint& point = delay.point;
  const int ctas = int(std::min<int64_t>(ctas_of(kernel), INT_MAX));
  std::string text = "\n";
  for (size_t at = 0; at < comment.size();) {
    const size_t end = std::min(comment.find('\n', at), comment.size());
    text += "# " + comment.substr(at, end - at) + "\n";
    at = end + 1;
  }
  text += fmt::format("[[delay]]\nat = \"{}\"\ncta = {}\n", row(point.site).name, point.cta % ctas);
  if (point.cta >= ctas) text += fmt::format("launch = {}\n", point.cta / ctas);
  if (point.warp >= 0) text += fmt::format("warp = {}\n", point.warp);
  if (point.to >= 0) text += fmt::format("to = {}\n", point.to);
  return text + fmt::format("occurrence = {}\ncycles = {}\n", point.occurrence, delay.cycles);
}

}  // namespace sm100::host
