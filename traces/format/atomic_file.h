// SPDX-License-Identifier: Apache-2.0
/// A file that appears whole or not at all: written under a temporary name in the same directory, renamed by
/// commit(), removed if commit() was never reached.
///
/// The path "-" is standard output.  A name that ends in ".gz" is written as gzip.
#pragma once

#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>

#include "traces/format/compressed_file.h"

namespace sm100::traces {

class AtomicFile {
 public:
  /// Throws std::runtime_error (one line) when the directory does not take a new file.
  /// A path that names a device or a pipe (/dev/null, /dev/stdout) is written directly.
  /// Removes what earlier writers of this path have left behind when they were killed.
  explicit AtomicFile(const std::filesystem::path& path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  std::ostream& stream() { return stream_; }

  /// Closes and renames.  Throws std::runtime_error when anything could not be written.
  void commit();

 private:
  void open_temporary(const std::filesystem::path& shown);
  void release();

  std::filesystem::path path_, temporary_;
  int lock_ = -1;  ///< of the temporary file, held as long as this process lives and writes it
  std::filebuf file_;
  std::unique_ptr<GzipBuffer> gzip_;
  std::ostream stream_{nullptr};
};

/// Throws std::runtime_error (one line) unless `path` can be written.  Leaves no file behind.
/// @param input  what is read for it, which must not be overwritten
void check_output(const std::filesystem::path& path, const std::filesystem::path& input);

/// From now on SIGINT, SIGTERM and SIGHUP remove this process's temporary files before they end it.
void remove_temporaries_on_signals();

}  // namespace sm100::traces
