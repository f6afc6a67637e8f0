#include "sim/cli/output_path.h"

#include <fmt/format.h>
#include <unistd.h>

#include "kernels/host/scenario.h"
#include "traces/atomic_file.h"

namespace sm100::sim::cli {

using namespace host;

void check_output_path(std::string_view option, const std::filesystem::path& path,
                       const std::filesystem::path& input) {
  std::error_code ignored;
  if (std::filesystem::equivalent(path, input, ignored))
    throw InputError(fmt::format("{} {}: would overwrite the input file", option, path.string()));
  if (std::filesystem::exists(path, ignored) && access(path.c_str(), W_OK) != 0)
    throw InputError(fmt::format("{} {}: the file exists and is write-protected", option, path.string()));
  write_output(option, [&] { traces::AtomicFile probe(path); });  // its destructor removes the temporary file
}

void write_output(std::string_view option, const std::function<void()>& write) {
  try {
    write();
  } catch (const std::runtime_error& error) { throw InputError(fmt::format("{}: {}", option, error.what())); }
}

}  // namespace sm100::sim::cli
