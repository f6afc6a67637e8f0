// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_document.h"

#include <algorithm>

namespace sm100::sim::cli {

using namespace host;
namespace {

/// In all but where it happened.
bool same_kind(const Json& a, const Json& b) {
  constexpr const char* kKeys[] = {"id", "barrier", "role", "location", "fault_role", "fault_location"};
  return std::all_of(std::begin(kKeys), std::end(kKeys), [&](const char* key) { return a[key] == b[key]; });
}

/// Findings that differ in nothing but the CTA, or the stage and phase, are one with a count; the first is shown.
Json counted(const Json& findings) {
  Json kinds = Json::array();
  for (const Json& finding : findings) {
    const auto known =
        std::find_if(kinds.begin(), kinds.end(), [&](const Json& kind) { return same_kind(kind, finding); });
    if (known == kinds.end())
      kinds.push_back(finding);
    else
      (*known)["count"] = (*known)["count"].get<uint64_t>() + 1;
  }
  return kinds;
}

}  // namespace

Json run_document(const Scenario& s, const RunResult& result) {
  Json document = json_document("run"), run = result;
  document.update(Json{{"scenario", s.path.string()},
                       {"overrides", s.overrides},
                       {"profile", s.profile},
                       {"data", s.data == DataMode::full ? "full" : "none"},
                       {"seed", s.seed},
                       {"jitter", s.jitter ? Json(*s.jitter) : Json()}});
  const Json host = run["host"];
  run.erase("host"), run.erase("details");
  run["findings"] = counted(run["findings"]);
  run["warnings"] = counted(run["warnings"]);
  document.update(run);
  document["configuration"] = Json::parse(s.configuration_json());
  document["host"] = host;
  return document;
}

}  // namespace sm100::sim::cli
