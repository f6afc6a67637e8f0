/// A text file that may be gzip-compressed.
#pragma once

#include <filesystem>
#include <string>

namespace sm100::traces {

inline constexpr size_t kLargestText = size_t{1} << 30;  ///< bytes, decompressed

/// The whole text.  gzip is told by its first bytes, not by the file's name.  Throws std::runtime_error, one line
/// that names the file, when it cannot be read, is cut or damaged, or is larger than `largest` bytes.
std::string read_compressed_file(const std::filesystem::path& path, size_t largest = kLargestText);

}  // namespace sm100::traces
