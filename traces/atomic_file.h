/// A file that appears whole or not at all: written under a temporary name in the same directory, renamed by
/// commit(), removed if commit() was never reached.
#pragma once

#include <filesystem>
#include <fstream>

namespace sm100::traces {

class AtomicFile {
 public:
  /// Throws std::runtime_error (one line) when the directory does not take a new file.
  /// A path that names a device or a pipe (/dev/null, /dev/stdout) is written directly.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  std::ostream& stream() { return stream_; }

  /// Closes and renames.  Throws std::runtime_error when anything could not be written.
  void commit();

 private:
  std::filesystem::path path_, temporary_;
  std::ofstream stream_;
};

/// Throws std::runtime_error (one line) unless `path` can be written.  Leaves no file behind.
/// @param input  what is read for it, which must not be overwritten
void check_output(const std::filesystem::path& path, const std::filesystem::path& input);

}  // namespace sm100::traces
