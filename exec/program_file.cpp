// SPDX-License-Identifier: Apache-2.0
#include "exec/program_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>
#include <vector>

#include "kernels/host/scenario.h"

namespace sm100::exec {

namespace fs = std::filesystem;

namespace {

/// The dynamic libraries that an ELF file asks for, and whether it has a section with CUDA code.
struct ElfFile {
  bool elf = false, cuda_code = false, creates_streams = false;
  std::vector<std::string> needed;
};

template <class T>
bool read_at(std::ifstream& file, uint64_t offset, T& value) {
  file.clear();
  file.seekg(std::streamoff(offset));
  return bool(file.read(reinterpret_cast<char*>(&value), sizeof value));
}

std::string bytes_at(std::ifstream& file, uint64_t offset, uint64_t size) {
  std::string bytes(size_t(std::min<uint64_t>(size, 64 << 20)), '\0');
  file.clear();
  file.seekg(std::streamoff(offset));
  file.read(bytes.data(), std::streamsize(bytes.size()));
  bytes.resize(size_t(std::max<std::streamsize>(0, file.gcount())));
  return bytes;
}

std::string text_at(const std::string& strings, uint64_t offset) {
  return offset < strings.size() ? std::string(strings.c_str() + offset) : std::string();
}

ElfFile read_elf(const fs::path& path) {
  ElfFile result;
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  if (!file || !read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
    return result;
  result.elf = true;
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (size_t i = 0; i < sections.size(); ++i)
    if (!read_at(file, header.e_shoff + i * sizeof(Elf64_Shdr), sections[i])) return result;
  if (header.e_shstrndx >= sections.size()) return result;
  const Elf64_Shdr& names = sections[header.e_shstrndx];
  const std::string section_names = bytes_at(file, names.sh_offset, names.sh_size);
  for (const Elf64_Shdr& section : sections) {
    if (text_at(section_names, section.sh_name) == ".nv_fatbin") result.cuda_code = true;
    if (section.sh_type != SHT_DYNAMIC || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const std::string texts = bytes_at(file, strings.sh_offset, strings.sh_size);
    result.creates_streams = texts.find("StreamCreate") != texts.npos;  // of the runtime or the driver
    const std::string entries = bytes_at(file, section.sh_offset, section.sh_size);
    for (size_t at = 0; at + sizeof(Elf64_Dyn) <= entries.size(); at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, entries.data() + at, sizeof entry);
      if (entry.d_tag == DT_NEEDED) result.needed.push_back(text_at(texts, entry.d_un.d_val));
    }
  }
  return result;
}

}  // namespace

fs::path find_program(const std::string& command) {
  const auto runs = [](const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && access(path.c_str(), X_OK) == 0;
  };
  if (command.find('/') != std::string::npos) {
    if (runs(command)) return command;
    throw host::InputError(fmt::format("{}: there is no such program", command));
  }
  const char* const path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (runs(fs::path(folder.empty() ? "." : folder) / command))
      return fs::path(folder.empty() ? "." : folder) / command;
  throw host::InputError(fmt::format("{}: there is no such program (a path has a slash: ./{})", command, command));
}

void check_program(const fs::path& program) {
  const ElfFile file = read_elf(program);
  if (!file.elf) return;
  constexpr std::string_view kRuntime = "libcudart.so.";
  bool runtime = false;
  for (const std::string& name : file.needed) {
    if (name.rfind(kRuntime, 0) != 0) continue;
    runtime = true;
    if (name != "libcudart.so.13")
      throw host::InputError(fmt::format(
          "{}: it asks for {}, and sm100sim has the runtime library of CUDA 13 only: build it with CUDA 13",
          program.string(), name));
  }
  if (file.cuda_code && !runtime)
    throw host::InputError(
        fmt::format("{}: the CUDA runtime is linked into it, which needs NVIDIA's driver: link with nvcc -cudart "
                    "shared (CMake: set "
                    "CUDA_RUNTIME_LIBRARY to Shared)",
                    program.string()));
}

bool names_streams(const fs::path& program) { return read_elf(program).creates_streams; }

}  // namespace sm100::exec
