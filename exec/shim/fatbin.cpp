// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/fatbin.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace sm100::exec {
namespace {

constexpr uint32_t kContainer = 0xba55ed50;
constexpr size_t kContainerHeader = 16, kSmallestEntryHeader = 64;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr uint64_t kMostText = uint64_t{1} << 30;  ///< of a module; a file that asks for more is broken

template <class T>
T at(std::span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string unpacked(std::span<const uint8_t> packed, uint64_t flags, uint64_t bytes) {
  if ((flags & (kFlagLz4 | kFlagZstd)) == 0) return {reinterpret_cast<const char*>(packed.data()), packed.size()};
  if (bytes > kMostText) throw std::runtime_error("the program's PTX says that it has more than 1 GiB");
  std::string text(bytes, '\0');
  if (flags & kFlagZstd) {
    const size_t n = ZSTD_decompress(text.data(), text.size(), packed.data(), packed.size());
    if (ZSTD_isError(n) || n != bytes) throw std::runtime_error("the program's PTX cannot be unpacked (zstd)");
    return text;
  }
  const int n = LZ4_decompress_safe(reinterpret_cast<const char*>(packed.data()), text.data(), int(packed.size()),
                                    int(text.size()));
  if (n < 0 || uint64_t(n) != bytes) throw std::runtime_error("the program's PTX cannot be unpacked (LZ4)");
  return text;
}

/// What `.target` names: "sm_100a".
std::string_view target_of(std::string_view text) {
  const size_t directive = text.find(".target");
  if (directive == std::string_view::npos) return {};
  const size_t begin = text.find_first_not_of(" \t", directive + 7);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_first_of(", \t\r\n", begin) - begin);
}

/// 0: code for it does not run here; else the higher the better.
int fitness(std::string_view target) {
  if (target == "sm_100a") return 1000;
  if (target == "sm_100f") return 999;
  if (target.substr(0, 3) != "sm_") return 0;
  int number = 0;
  for (const char c : target.substr(3)) {
    if (c < '0' || c > '9' || number > 100) return 0;  // a suffix binds it to its own architecture
    number = number * 10 + (c - '0');
  }
  return number <= 100 ? number : 0;
}

}  // namespace

std::span<const uint8_t> fatbin_at(const void* container) {
  const auto* bytes = static_cast<const uint8_t*>(container);
  const std::span<const uint8_t> header(bytes, kContainerHeader);
  if (at<uint32_t>(header, 0) != kContainer)
    throw std::runtime_error("the program's code is in no known container");
  return {bytes, at<uint16_t>(header, 6) + at<uint64_t>(header, 8)};
}

std::vector<FatbinEntry> read_fatbin(std::span<const uint8_t> container) {
  if (container.size() < kContainerHeader || at<uint32_t>(container, 0) != kContainer)
    throw std::runtime_error("the program's code is in no known container");
  std::vector<FatbinEntry> entries;
  const uint64_t end =
      std::min<uint64_t>(container.size(), at<uint16_t>(container, 6) + at<uint64_t>(container, 8));
  for (uint64_t begin = at<uint16_t>(container, 6); begin + kSmallestEntryHeader <= end;) {
    const std::span<const uint8_t> entry = container.subspan(begin, end - begin);
    const uint64_t header = at<uint32_t>(entry, 4), payload = at<uint64_t>(entry, 8);
    if (header < kSmallestEntryHeader || header > entry.size() || payload > entry.size() - header)
      throw std::runtime_error("an entry of the program's code is longer than its container");
    FatbinEntry& added = entries.emplace_back();
    added.ptx = at<uint16_t>(entry, 0) == 1, added.architecture = at<uint32_t>(entry, 28);
    if (added.ptx) {
      const uint64_t flags = at<uint64_t>(entry, 40), packed = at<uint32_t>(entry, 16);
      const bool is_packed = (flags & (kFlagLz4 | kFlagZstd)) != 0;
      if (is_packed && packed > payload) throw std::runtime_error("an entry of the program's code is cut short");
      added.text = unpacked(entry.subspan(header, is_packed ? packed : payload), flags, at<uint64_t>(entry, 56));
      added.text.resize(std::strlen(added.text.c_str()));  // the payload is padded with zeros
    }
    begin += header + payload;
  }
  return entries;
}

std::string ptx_for_device(const std::vector<FatbinEntry>& entries) {
  const FatbinEntry* best = nullptr;
  for (const FatbinEntry& entry : entries)
    if (entry.ptx && fitness(target_of(entry.text)) > (best ? fitness(target_of(best->text)) : 0)) best = &entry;
  if (best) return best->text;
  if (entries.empty()) return "";
  const std::string flag = "build with -gencode arch=compute_100a,code=compute_100a";
  for (const FatbinEntry& entry : entries)
    if (entry.ptx)
      throw std::runtime_error("the program has PTX for " + std::string(target_of(entry.text)) +
                               ", and this device is sm_100a: " + flag);
  throw std::runtime_error("the program has machine code only (sm_" + std::to_string(entries.front().architecture) +
                           ") and no PTX: " + flag);
}

}  // namespace sm100::exec
