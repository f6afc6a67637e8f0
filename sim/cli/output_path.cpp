// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/output_path.h"

#include <fmt/format.h>

#include "kernels/host/scenario.h"
#include "traces/format/atomic_file.h"

namespace sm100::sim::cli {

using namespace host;

void check_output_path(std::string_view option, const std::filesystem::path& path,
                       const std::filesystem::path& input) {
  write_output(option, [&] { traces::check_output(path, input); });
}

void write_output(std::string_view option, const std::function<void()>& write) {
  try {
    write();
  } catch (const std::runtime_error& error) { throw InputError(fmt::format("{}: {}", option, error.what())); }
}

}  // namespace sm100::sim::cli
