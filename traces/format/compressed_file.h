// SPDX-License-Identifier: Apache-2.0
/// Files that may be gzip-compressed, and the standard streams in their place.
#pragma once

#include <filesystem>
#include <memory>
#include <ostream>
#include <streambuf>
#include <string>
#include <vector>

struct gzFile_s;  // zlib's

namespace sm100::traces {

inline constexpr size_t kLargestText = size_t{1} << 30;  ///< bytes, decompressed

/// "-": standard input where something is read, standard output where something is written.
bool is_standard_stream(const std::filesystem::path& path);
/// "standard input", or the path.
std::string input_name(const std::filesystem::path& path);

/// A file, a pipe or standard input ("-"), decompressed.  gzip is told by its first bytes, not by the file's name.
class CompressedInput {
 public:
  /// Throws std::runtime_error, one line that names the file, when it cannot be opened.
  explicit CompressedInput(const std::filesystem::path& path);

  /// Fills `bytes` as far as there are any; returns how many.  0 for a `size` above 0: the end.
  /// Throws std::runtime_error, one line that names the file, when it cannot be read, is cut or damaged.
  size_t read(char* bytes, size_t size);

 private:
  [[noreturn]] void fail(std::string_view why) const;
  [[noreturn]] void fail_as_zlib_says();

  std::string name_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
};

/// The whole text.  Throws as CompressedInput does, and when it is larger than `largest` bytes.
std::string read_compressed_file(const std::filesystem::path& path, size_t largest = kLargestText);

/// Compresses what is written to it, as gzip, into another buffer.  The bytes depend on the text alone: no time, no
/// name.
class GzipBuffer : public std::streambuf {
 public:
  explicit GzipBuffer(std::streambuf& target);
  ~GzipBuffer() override;
  GzipBuffer(const GzipBuffer&) = delete;
  GzipBuffer& operator=(const GzipBuffer&) = delete;

  /// Writes what is left and the trailer.  False when the target does not take it.  Nothing may follow.
  bool finish();

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
  int sync() override;

 private:
  bool put(const char* bytes, size_t size, int flush);

  struct Stream;
  std::streambuf& target_;
  std::unique_ptr<Stream> stream_;
  std::vector<char> pending_, packed_;
};

}  // namespace sm100::traces
