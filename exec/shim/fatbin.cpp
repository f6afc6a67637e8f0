// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/fatbin.h"

#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace sm100::exec {
namespace {

constexpr uint32_t kContainer = 0xba55ed50, kWrapper = 0x466243b1, kElf = 0x464c457f;
constexpr size_t kContainerHeader = 16, kSmallestEntryHeader = 64;
constexpr uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000;
constexpr uint64_t kMostText = uint64_t{1} << 30;  ///< of a module; a file that asks for more is broken

uint32_t architecture = 100;  ///< of the process's device
std::string own_target() { return "sm_" + std::to_string(architecture) + "a"; }
/// For nvcc, behind "arch=".
std::string own_virtual() { return "compute_" + std::to_string(architecture) + "a"; }

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

std::string contents_of(std::span<const uint8_t> entry, uint64_t header, uint64_t payload) {
  const uint64_t flags = at<uint64_t>(entry, 40), packed = at<uint32_t>(entry, 16);
  const bool is_packed = (flags & (kFlagLz4 | kFlagZstd)) != 0;
  if (is_packed && packed > payload) throw std::runtime_error("an entry of the program's code is cut short");
  return unpacked(entry.subspan(header, is_packed ? packed : payload), flags, at<uint64_t>(entry, 56));
}

/// Nobody needs machine code here: what cannot be read says nothing.
std::vector<EntryRegisters> registers_of_code(std::span<const uint8_t> entry, uint64_t header, uint64_t payload) {
  try {
    const std::string elf = contents_of(entry, header, payload);
    return registers_of({reinterpret_cast<const uint8_t*>(elf.data()), elf.size()});
  } catch (const std::runtime_error&) { return {}; }
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
  if (target == own_target()) return 1000;
  if (architecture == 100 && target == "sm_100f") return 999;
  if (target.substr(0, 3) != "sm_") return 0;
  int number = 0;
  for (const char c : target.substr(3)) {
    if (c < '0' || c > '9' || number > int(architecture)) return 0;  // a suffix binds it to its own architecture
    number = number * 10 + (c - '0');
  }
  return number <= int(architecture) ? number : 0;
}

}  // namespace

void set_device_architecture(uint32_t capability) { architecture = capability; }

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
      added.text = contents_of(entry, header, payload);
      added.text.resize(std::strlen(added.text.c_str()));  // the payload is padded with zeros
    } else if (added.architecture == architecture) {
      added.registers = registers_of_code(entry, header, payload);
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
  const std::string flag = "build with -gencode arch=" + own_virtual() + ",code=" + own_virtual();
  for (const FatbinEntry& entry : entries)
    if (entry.ptx)
      throw std::runtime_error("the program has PTX for " + std::string(target_of(entry.text)) +
                               ", and this device is " + own_target() + ": " + flag);
  throw std::runtime_error("the program has machine code only (sm_" + std::to_string(entries.front().architecture) +
                           ") and no PTX: " + flag +
                           "; -rdc=true links machine code and leaves no PTX: build without it");
}

namespace {

/// The first four bytes; of a shorter text those that there are.
uint32_t magic_of(const char* bytes, size_t most) {
  uint32_t magic = 0;
  const size_t size = std::min<size_t>(strnlen(bytes, std::min<size_t>(most, 4)), 4);
  std::memcpy(&magic, bytes, size);
  return magic;
}

std::string checked(const std::string& text) {
  const std::string_view target = target_of(text);
  if (target.empty())
    throw std::runtime_error("the program loads a module that is neither PTX nor a container of nvcc");
  if (fitness(target) == 0)
    throw std::runtime_error("the program loads PTX for " + std::string(target) + ", and this device is " +
                             own_target() + ": compile it with --gpu-architecture=" + own_virtual());
  return text;
}

[[noreturn]] void refuse_cubin() {
  throw std::runtime_error(
      "the program loads a module of machine code (a cubin), and only PTX can be simulated: give it the PTX (nvcc "
      "-ptx, or -gencode arch=" +
      own_virtual() + ",code=" + own_virtual() + ")");
}

}  // namespace

std::string ptx_of_image(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  const uint32_t magic = magic_of(bytes, SIZE_MAX);
  if (magic == kElf) refuse_cubin();
  if (magic == kContainer) return ptx_for_device(read_fatbin(fatbin_at(image)));
  if (magic != kWrapper) return checked(bytes);
  const void* container = nullptr;
  std::memcpy(&container, bytes + 8, sizeof container);
  return ptx_for_device(read_fatbin(fatbin_at(container)));
}

std::string ptx_of_file(const std::string& bytes) {
  const uint32_t magic = magic_of(bytes.data(), bytes.size());
  if (magic == kElf) refuse_cubin();
  if (magic == kContainer)
    return ptx_for_device(read_fatbin({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}));
  return checked(bytes);
}

std::vector<EntryRegisters> registers_for_device(const std::vector<FatbinEntry>& entries) {
  std::vector<EntryRegisters> all;
  for (const FatbinEntry& entry : entries) all.insert(all.end(), entry.registers.begin(), entry.registers.end());
  return all;
}

}  // namespace sm100::exec
