// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/json_output.h"

#include "kernels/host/version.h"
#include "sim/cli/output_path.h"
#include "traces/format/atomic_file.h"

namespace sm100::sim::cli {

std::string tool_version() { return "sm100sim " + host::version_text(); }

Json json_document(std::string_view command, int schema_version) {
  return {{"schema", "sm100sim." + std::string(command)},
          {"schema_version", schema_version},
          {"tool_version", tool_version()}};
}

void write_json(const std::string& path, const Json& json, std::string_view option) {
  write_output(option, [&] {
    traces::AtomicFile file(path);
    file.stream() << json.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
    file.commit();
  });
}

void check_json_path(const std::string& path, const std::string& input) {
  if (!path.empty()) check_output_path("--json", path, input);
}

}  // namespace sm100::sim::cli
