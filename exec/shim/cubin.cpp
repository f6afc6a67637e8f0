// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/cubin.h"

#include <elf.h>

#include <cstring>
#include <optional>
#include <string_view>

namespace sm100::exec {
namespace {

using Bytes = std::span<const uint8_t>;

constexpr uint8_t kSizedValue = 4, kRegisterCount = 0x2f;

template <class T>
std::optional<T> at(Bytes bytes, uint64_t offset) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view text_at(Bytes bytes, uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const char* const text = reinterpret_cast<const char*>(bytes.data()) + offset;
  return {text, strnlen(text, bytes.size() - offset)};
}

class Elf {
 public:
  explicit Elf(Bytes bytes) : bytes_(bytes), header_(at<Elf64_Ehdr>(bytes, 0)) {
    if (header_ && (std::memcmp(header_->e_ident, ELFMAG, SELFMAG) != 0 ||
                    header_->e_ident[EI_CLASS] != ELFCLASS64 || header_->e_shentsize != sizeof(Elf64_Shdr)))
      header_.reset();
  }

  std::optional<Elf64_Shdr> section(uint32_t index) const {
    if (!header_ || index >= header_->e_shnum) return std::nullopt;
    return at<Elf64_Shdr>(bytes_, header_->e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::optional<Elf64_Shdr> section(std::string_view name) const {
    const auto names = header_ ? section(header_->e_shstrndx) : std::nullopt;
    for (uint32_t i = 0; names && i < header_->e_shnum; ++i)
      if (const auto s = section(i); s && text_at(contents(*names), s->sh_name) == name) return s;
    return std::nullopt;
  }
  Bytes contents(const Elf64_Shdr& section) const {
    if (section.sh_offset > bytes_.size() || section.sh_size > bytes_.size() - section.sh_offset) return {};
    return bytes_.subspan(section.sh_offset, section.sh_size);
  }

 private:
  Bytes bytes_;
  std::optional<Elf64_Ehdr> header_;
};

}  // namespace

std::vector<EntryRegisters> registers_of(Bytes bytes) {
  const Elf elf(bytes);
  const auto info = elf.section(".nv.info"), symbols = elf.section(".symtab");
  const auto names = symbols ? elf.section(symbols->sh_link) : std::nullopt;
  if (!info || !names) return {};
  std::vector<EntryRegisters> all;
  const Bytes attributes = elf.contents(*info);
  for (uint64_t offset = 0; const auto size = at<uint16_t>(attributes, offset + 2);) {
    const uint8_t format = attributes[offset], attribute = attributes[offset + 1];
    if (format == kSizedValue && attribute == kRegisterCount) {
      const auto index = at<uint32_t>(attributes, offset + 4), registers = at<uint32_t>(attributes, offset + 8);
      const auto symbol = at<Elf64_Sym>(elf.contents(*symbols), uint64_t{index.value_or(0)} * sizeof(Elf64_Sym));
      const std::string_view name = symbol ? text_at(elf.contents(*names), symbol->st_name) : std::string_view();
      if (registers && !name.empty()) all.push_back({std::string(name), *registers});
    }
    offset += 4 + (format == kSizedValue ? *size : 0);
  }
  return all;
}

}  // namespace sm100::exec
