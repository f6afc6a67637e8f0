#include "traces/atomic_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace sm100::traces {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void fail(const fs::path& path, std::string_view why) {
  throw std::runtime_error(fmt::format("cannot write {}: {}", path.string(), why));
}

}  // namespace

AtomicFile::AtomicFile(const fs::path& path) : path_(path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) fail(path, "it is a directory");
  if (fs::is_symlink(fs::symlink_status(path, error))) {
    path_ = fs::weakly_canonical(path, error);  // replace the file that the link means, not the link
    if (error) fail(path, error.message());
  }
  const bool direct = fs::exists(status) && !fs::is_regular_file(status);
  if (!direct) temporary_ = fs::path(path_).concat(fmt::format(".{}.tmp", ::getpid()));
  errno = 0;
  stream_.open(direct ? path_ : temporary_, std::ios::binary | std::ios::trunc);
  if (!stream_) {
    const int reason = errno;
    temporary_.clear();
    fail(path, reason != 0 ? std::strerror(reason) : "cannot open it");
  }
}

AtomicFile::~AtomicFile() {
  if (temporary_.empty()) return;
  stream_.close();
  std::error_code ignored;
  fs::remove(temporary_, ignored);
}

void AtomicFile::commit() {
  errno = 0;
  stream_.close();
  if (!stream_) fail(path_, errno != 0 ? std::strerror(errno) : "not everything could be written");
  if (temporary_.empty()) return;
  std::error_code error;
  fs::rename(temporary_, path_, error);
  if (error) fail(path_, error.message());
  temporary_.clear();
}

void check_output(const std::filesystem::path& path, const std::filesystem::path& input) {
  std::error_code ignored;
  if (std::filesystem::equivalent(path, input, ignored)) fail(path, "it is the input file");
  if (std::filesystem::exists(path, ignored) && access(path.c_str(), W_OK) != 0)
    fail(path, "the file exists and is write-protected");
  AtomicFile probe(path);  // its destructor removes the temporary file
}

}  // namespace sm100::traces
