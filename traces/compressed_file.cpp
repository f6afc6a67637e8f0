#include "traces/compressed_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>

namespace sm100::traces {

namespace fs = std::filesystem;

std::string read_compressed_file(const fs::path& path, size_t largest) {
  const auto fail = [&](std::string_view why) {
    throw std::runtime_error(fmt::format("cannot read {}: {}", path.string(), why));
  };
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) fail("it is a directory");
  errno = 0;
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
  if (!file) fail(errno != 0 ? std::strerror(errno) : "out of memory");
  gzbuffer(file.get(), 1 << 18);

  constexpr size_t kBlock = size_t{1} << 22;
  std::string text;
  while (true) {
    const size_t at = text.size();
    text.resize(at + std::min(kBlock, largest + 1 - at));
    const int got = gzread(file.get(), text.data() + at, static_cast<unsigned>(text.size() - at));
    text.resize(at + static_cast<size_t>(std::max(got, 0)));
    if (text.size() > largest) fail(fmt::format("it holds more than {} MiB", largest >> 20));
    if (got > 0) continue;
    int status = Z_OK;
    const char* what = gzerror(file.get(), &status);  // also for a file that ends too early, which gzread returns
    if (status == Z_ERRNO) fail(std::strerror(errno));
    if (status == Z_BUF_ERROR) fail("the gzip file is cut");
    if (status != Z_OK) fail(fmt::format("the gzip file is damaged ({})", what));
    return text;
  }
}

}  // namespace sm100::traces
