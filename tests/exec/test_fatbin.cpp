// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <lz4.h>
#include <zstd.h>

#include <cstring>
#include <stdexcept>

#include "catch.h"
#include "exec/shim/fatbin.h"

using namespace sm100::exec;

namespace {

constexpr size_t kContainer = 16, kEntry = 0x50;
enum Kind : uint16_t { ptx = 1, elf = 2 };
constexpr uint64_t kPlain = 0, kLz4 = 0x2000, kZstd = 0x8000;

template <class T>
void put(std::string& bytes, size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

std::string packed(const std::string& text, uint64_t flags) {
  std::string bytes(text.size() + 200, '\0');
  if (flags == kPlain) return text + std::string(1, '\0');
  const size_t n =
      flags == kZstd ? ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3)
                     : size_t(LZ4_compress_default(text.data(), bytes.data(), int(text.size()), int(bytes.size())));
  bytes.resize(n);
  return bytes;
}

std::string entry(Kind kind, uint32_t architecture, const std::string& text, uint64_t flags) {
  const std::string payload = packed(text, flags);
  const size_t padded = (payload.size() + 7) / 8 * 8;
  std::string bytes(kEntry + padded, '\0');
  put(bytes, 0, uint16_t(kind)), put(bytes, 2, uint16_t{0x0101}), put(bytes, 4, uint32_t(kEntry));
  put(bytes, 8, uint64_t(padded)), put(bytes, 16, uint32_t(flags == kPlain ? 0 : payload.size()));
  put(bytes, 28, architecture), put(bytes, 40, flags), put(bytes, 56, uint64_t(flags == kPlain ? 0 : text.size()));
  std::memcpy(bytes.data() + kEntry, payload.data(), payload.size());
  return bytes;
}

std::string container(const std::string& entries) {
  std::string bytes(kContainer, '\0');
  put(bytes, 0, uint32_t{0xba55ed50}), put(bytes, 4, uint16_t{1}), put(bytes, 6, uint16_t(kContainer));
  put(bytes, 8, uint64_t(entries.size()));
  return bytes + entries;
}

std::span<const uint8_t> view(const std::string& bytes) {
  return {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
}

std::string text_for(const std::string& target) {
  std::string text = ".version 9.0\n.target " + target + "\n";
  for (int i = 0; i < 50; ++i) text += "// a line that packs well\n";
  return text;
}

std::string chosen(const std::string& entries) { return ptx_for_device(read_fatbin(view(container(entries)))); }

template <class T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// Machine code as far as registers_of looks at it: the attribute 0x2f of two entries, and one of another format.
std::string machine_code() {
  const std::string names = std::string("\0.shstrtab\0.strtab\0.symtab\0.nv.info\0", 36),
                    strings = std::string("\0first\0second\0", 14);
  const std::string symbols =
      bytes_of(Elf64_Sym{}) +
      bytes_of(Elf64_Sym{.st_name = 1, .st_info = 0, .st_other = 0, .st_shndx = 0, .st_value = 0, .st_size = 0}) +
      bytes_of(Elf64_Sym{.st_name = 7, .st_info = 0, .st_other = 0, .st_shndx = 0, .st_value = 0, .st_size = 0});
  const auto attribute = [](uint8_t kind, uint32_t symbol, uint32_t value) {
    return bytes_of(uint8_t{4}) + bytes_of(kind) + bytes_of(uint16_t{8}) + bytes_of(symbol) + bytes_of(value);
  };
  const std::string info =
      attribute(0x11, 1, 5) + attribute(0x2f, 1, 168) + std::string("\x03\x1b\x7f\x00", 4) + attribute(0x2f, 2, 40);
  const std::string parts[] = {names, strings, symbols, info};
  std::string file(sizeof(Elf64_Ehdr), '\0');
  std::string headers = bytes_of(Elf64_Shdr{});
  const uint32_t name_of[] = {1, 11, 19, 27};
  for (uint32_t i = 0; i < 4; ++i) {
    Elf64_Shdr header{};
    header.sh_name = name_of[i], header.sh_offset = file.size(), header.sh_size = parts[i].size();
    header.sh_link = i == 2 ? 2 : 0;
    headers += bytes_of(header);
    file += parts[i];
  }
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_shentsize = sizeof(Elf64_Shdr), header.e_shnum = 5, header.e_shstrndx = 1, header.e_shoff = file.size();
  std::memcpy(file.data(), &header, sizeof header);
  return file + headers;
}

std::string registers_in(const std::string& entries) {
  std::string all;
  for (const EntryRegisters& entry : registers_for_device(read_fatbin(view(container(entries)))))
    all += entry.name + "=" + std::to_string(entry.registers) + " ";
  return all;
}

}  // namespace

TEST_CASE("fatbin: machine code beside the PTX says with how many registers entries are launched") {
  const std::string text = entry(ptx, 100, text_for("sm_100a"), kZstd);
  for (const uint64_t flags : {kPlain, kLz4, kZstd})
    CHECK(registers_in(text + entry(elf, 100, machine_code(), flags)) == "first=168 second=40 ");
  CHECK(registers_in(text) == "");
  CHECK(registers_in(text + entry(elf, 90, machine_code(), kPlain)) == "");
}

TEST_CASE("fatbin: machine code that is cut short says nothing, and the PTX is read") {
  const std::string whole = machine_code();
  for (size_t size = 0; size < whole.size(); size += 5) {
    INFO(size);
    const std::string entries =
        entry(ptx, 100, text_for("sm_100a"), kZstd) + entry(elf, 100, whole.substr(0, size), kPlain);
    CHECK(registers_in(entries).size() <= 20);
    CHECK(chosen(entries) == text_for("sm_100a"));
  }
}

TEST_CASE("fatbin: PTX is read plain, from LZ4 and from zstd") {
  const std::string text = text_for("sm_100a");
  for (const uint64_t flags : {kPlain, kLz4, kZstd}) {
    INFO(flags);
    CHECK(chosen(entry(ptx, 100, text, flags)) == text);
  }
}

TEST_CASE("fatbin: an empty container has no code") { CHECK(chosen("") == ""); }

TEST_CASE("fatbin: the PTX closest to the device is taken") {
  const std::string own = text_for("sm_100a"), family = text_for("sm_100f"), old = text_for("sm_80"),
                    next = text_for("sm_120");
  CHECK(chosen(entry(ptx, 80, old, kZstd) + entry(ptx, 100, own, kZstd) + entry(ptx, 100, family, kZstd)) == own);
  CHECK(chosen(entry(ptx, 100, family, kZstd) + entry(ptx, 80, old, kPlain)) == family);
  CHECK(chosen(entry(ptx, 120, next, kZstd) + entry(ptx, 80, old, kZstd)) == old);
}

TEST_CASE("fatbin: code that does not run here is refused by name") {
  const auto refusal = [](const std::string& entries) {
    try {
      chosen(entries);
    } catch (const std::runtime_error& error) { return std::string(error.what()); }
    return std::string();
  };
  CHECK(refusal(entry(ptx, 90, text_for("sm_90a"), kZstd)) ==
        "the program has PTX for sm_90a, and this device is sm_100a: build with -gencode "
        "arch=compute_100a,code=compute_100a");
  CHECK(refusal(entry(elf, 100, "machine code", kPlain)) ==
        "the program has machine code only (sm_100) and no PTX: build with -gencode "
        "arch=compute_100a,code=compute_100a; -rdc=true links machine code and leaves no PTX: build without it");
}

TEST_CASE("fatbin: broken containers are errors, not reads beyond their end") {
  const std::string whole = container(entry(ptx, 100, text_for("sm_100a"), kZstd));
  for (size_t size = 0; size + 8 < whole.size(); size += 7) {
    INFO(size);
    bool none = false;
    try {
      none = read_fatbin(view(whole.substr(0, size))).empty();
    } catch (const std::runtime_error&) { none = true; }
    CHECK(none);
  }
  std::string wrong = whole;
  put(wrong, kContainer + 8, ~uint64_t{0});
  CHECK_THROWS_AS(read_fatbin(view(wrong)), std::runtime_error);
  wrong = whole, put(wrong, kContainer + 56, ~uint64_t{0});
  CHECK_THROWS_AS(read_fatbin(view(wrong)), std::runtime_error);
  wrong = whole, wrong[kContainer + kEntry + 9] ^= 0x55;
  wrong[0] ^= 1;
  CHECK_THROWS_AS(read_fatbin(view(wrong)), std::runtime_error);
}
