// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/check_report.h"

#include <fmt/format.h>

#include <map>

#include "sim/cli/report_lines.h"
#include "sim/xml_text.h"

namespace sm100::sim::cli {

using Status = CheckedScenario::Status;

namespace {

std::string test_case(const CheckedScenario& r) {
  std::string text = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", xml_text(r.folder),
                                 xml_text(r.name), r.seconds);
  switch (r.status) {
    case Status::passed: return text + "/>\n";
    case Status::skipped:
      return text + fmt::format(">\n      <skipped message=\"{}\"/>\n    </testcase>\n", xml_text(r.reason));
    case Status::failed:
    case Status::error: break;
  }
  const char* element = r.status == Status::failed ? "failure" : "error";
  return text + fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n    </testcase>\n", element,
                            r.status == Status::failed ? "not as expected" : "no result", xml_text(r.reason),
                            xml_text(r.report));
}

std::string attributes(const CheckTotals& t, double seconds) {
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                     t.run() + t.skipped, t.failed, t.errors, t.skipped, seconds);
}

}  // namespace

CheckTotals totals_of(const std::vector<CheckedScenario>& results) {
  CheckTotals t;
  for (const CheckedScenario& r : results) switch (r.status) {
      case Status::passed: ++t.passed; break;
      case Status::failed: ++t.failed; break;
      case Status::error: ++t.errors; break;
      case Status::skipped: ++t.skipped; break;
    }
  return t;
}

std::string check_line(const CheckedScenario& r) {
  const char* const words[] = {"ok", "FAILED", "ERROR", "skipped"};
  std::string text = fmt::format("{:<8}{:>7}  {}", words[int(r.status)],
                                 r.status == Status::skipped ? "" : seconds_text(r.seconds), r.file.string());
  return r.reason.empty() ? text : text + ": " + r.reason;
}

std::string check_text(const std::vector<CheckedScenario>& results, int jobs, double seconds) {
  const CheckTotals t = totals_of(results);
  std::string text = t.passed == t.run()
                         ? fmt::format("CHECKED {}: all end as they say", plural(t.run(), "scenario"))
                         : fmt::format("FAILED {} of {}", t.failed + t.errors, plural(t.run(), "scenario"));
  text += t.skipped > 0 ? fmt::format("; {} not run\n", t.skipped) : "\n";
  for (const CheckedScenario& r : results) {
    if (r.status != Status::failed && r.status != Status::error) continue;
    text += line(r.status == Status::failed ? "failed" : "error", r.file.string());
    text += line("", r.reason);
    if (const std::string first = r.report.substr(0, r.report.find('\n'));
        !first.empty() && r.reason.find(first) == std::string::npos)
      text += line("", first);
  }
  bool slow = false;
  for (const CheckedScenario& r : results) {
    if (r.status != Status::skipped) continue;
    slow |= r.reason.starts_with("slow");
    text += line("not run", fmt::format("{}: {}", r.file.string(), r.reason));
  }
  if (slow) text += line("", "(--slow runs the slow ones too)");
  return text + line("time", fmt::format("{} with {}", seconds_text(seconds),
                                         jobs == 1 ? "1 process" : fmt::format("{} processes", jobs)));
}

Json check_json(const std::vector<CheckedScenario>& results, int jobs, double seconds) {
  const CheckTotals t = totals_of(results);
  Json scenarios = Json::array(), times = Json::object();
  for (const CheckedScenario& r : results) {
    const bool ran = !r.outcome.empty();
    scenarios.push_back({{"scenario", r.file.string()},
                         {"status", name(r.status)},
                         {"reason", text_or_null(r.reason)},
                         {"expected", text_or_null(r.expected)},
                         {"outcome", text_or_null(r.outcome)},
                         {"verdict", text_or_null(r.verdict)},
                         {"cycles", ran ? Json(r.cycles) : Json()},
                         {"findings", r.findings},
                         {"warnings", r.warnings},
                         {"not_checked", r.not_checked},
                         {"report", r.status == Status::passed ? Json() : text_or_null(r.report)}});
    if (r.status != Status::skipped) times[r.file.string()] = r.seconds;
  }
  Json json = json_document("check");
  json.update(Json{{"as_expected", t.passed == t.run() && t.run() > 0},
                   {"passed", t.passed},
                   {"failed", t.failed},
                   {"errors", t.errors},
                   {"skipped", t.skipped},
                   {"scenarios", scenarios},
                   {"host", {{"jobs", jobs}, {"seconds", seconds}, {"seconds_of", times}}}});
  return json;
}

std::string check_junit(const std::vector<CheckedScenario>& results, double seconds) {
  std::map<std::string, std::vector<CheckedScenario>> folders;
  for (const CheckedScenario& r : results) folders[r.folder].push_back(r);
  std::string text =
      fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sm100sim check\" {}>\n",
                  attributes(totals_of(results), seconds));
  for (const auto& [folder, of_folder] : folders) {
    double sum = 0;
    for (const CheckedScenario& r : of_folder) sum += r.seconds;
    text += fmt::format("  <testsuite name=\"{}\" {}>\n", xml_text(folder.empty() ? "." : folder),
                        attributes(totals_of(of_folder), sum));
    for (const CheckedScenario& r : of_folder) text += test_case(r);
    text += "  </testsuite>\n";
  }
  return text + "</testsuites>\n";
}

}  // namespace sm100::sim::cli
