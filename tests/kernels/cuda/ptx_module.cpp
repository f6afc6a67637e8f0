// SPDX-License-Identifier: Apache-2.0
#include "ptx_module.h"

#include <fmt/format.h>

#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace sm100 {
namespace {

std::string trimmed(std::string_view line) {
  line = line.substr(0, line.find("//"));
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
}

/// The number behind the last character of `mark`, if `symbol` has it.
std::optional<size_t> number_after(const std::string& symbol, const std::string& mark) {
  const size_t at = symbol.find(mark);
  if (at == std::string::npos) return {};
  return std::stoul(symbol.substr(at + mark.size()));
}

constexpr std::string_view kRecorderMark = "DeviceRecorder";

}  // namespace

/// The mangled names are those of matmul_entry<CompiledConfig<list, index>, recorder>,
/// copy_entry<CompiledCopyConfig<index>, ...>, ...
PtxEntry::PtxEntry(std::string symbol, std::string text) : symbol_(std::move(symbol)), text_(std::move(text)) {
  if (const auto copy = number_after(symbol_, "CompiledCopyConfigILm")) copy_ = &kCopyConfigurations[*copy];
  if (const auto index = number_after(symbol_, "CompiledFallbackConfigILm"))
    fallback_ = &kFallbackConfigurations[*index];
  if (const auto index = number_after(symbol_, "CompiledDirectConfigILm")) direct_ = &kDirectConfigurations[*index];
  if (const auto index = number_after(symbol_, "CompiledHopperMatmulConfigILm"))
    hopper_ = &kHopperMatmulConfigurations[*index];
  if (const auto index = number_after(symbol_, "CompiledBlockScaledConfigILm"))
    block_scaled_ = &BlockScaledConfigurations::entries[*index];
  if (const auto index = number_after(symbol_, "CompiledGroupedConfigILm"))
    grouped_ = &GroupedBlockScaledConfigurations::entries[*index];
  if (const auto index = number_after(symbol_, "CompiledCutlassConfigILm"))
    cutlass_ = &CutlassConfigurations::entries[*index];
  if (const auto index = number_after(symbol_, "CompiledBlockwiseConfigILm"))
    blockwise_ = &BlockwiseConfigurations::entries[*index];
  if (const auto index = number_after(symbol_, "CompiledGrouped1d1dConfigILm"))
    grouped_1d1d_ = &Grouped1d1dConfigurations::entries[*index];
  if (const auto index = number_after(symbol_, "CompiledGrouped1d2dConfigILm"))
    grouped_1d2d_ = &Grouped1d2dConfigurations::entries[*index];
  for (const MatmulList& list : kMatmulLists)
    if (const auto index = number_after(symbol_, fmt::format("{}{}ELm", list.type.size(), list.type)))
      matmul_ = &list.entries[*index];
  if (!block_scaled_ && !blockwise_ && !grouped_ && !cutlass_ && !grouped_1d1d_ && !grouped_1d2d_ && !copy_ &&
      !fallback_ && !direct_ && !hopper_ && !matmul_)
    throw std::runtime_error("not an entry of a compiled configuration: " + symbol_);
  traced_ = symbol_.find(kRecorderMark) != std::string::npos;
  std::istringstream in(text_);
  for (std::string line; std::getline(in, line);)
    if (PtxLine kept = trimmed(line); !kept.empty()) lines_.push_back(std::move(kept));
}

const MatmulConfig& PtxEntry::config() const { return matmul_->config; }

const BlockScaledConfig& PtxEntry::block_scaled_config() const { return block_scaled_->config; }

const Grouped1d1dConfig& PtxEntry::grouped_1d1d_config() const { return grouped_1d1d_->config; }
const Grouped1d2dConfig& PtxEntry::grouped_1d2d_config() const { return grouped_1d2d_->config; }
const BlockwiseConfig& PtxEntry::blockwise_config() const { return blockwise_->config; }
const GroupedBlockScaledConfig& PtxEntry::grouped_config() const { return grouped_->config; }
const CutlassBlockScaledConfig& PtxEntry::cutlass_config() const { return cutlass_->config; }

const CopyConfig& PtxEntry::copy_config() const { return copy_->config; }

const FallbackConfig& PtxEntry::fallback_config() const { return fallback_->config; }

const DirectConfig& PtxEntry::direct_config() const { return direct_->config; }

const HopperMatmulConfig& PtxEntry::hopper_config() const { return hopper_->config; }

std::string PtxEntry::name() const {
  const char* configuration = block_scaled_   ? block_scaled_->name
                              : blockwise_    ? blockwise_->name
                              : grouped_1d1d_ ? grouped_1d1d_->name
                              : grouped_1d2d_ ? grouped_1d2d_->name
                              : grouped_      ? grouped_->name
                              : cutlass_      ? cutlass_->name
                              : copy_         ? copy_->name
                              : fallback_     ? fallback_->name
                              : direct_       ? direct_->name
                              : hopper_       ? hopper_->name
                                              : matmul_->name;
  return std::string(configuration) + (traced_ ? ", traced" : "");
}

std::vector<size_t> PtxEntry::find(std::string_view opcode) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < lines_.size(); ++i) {
    std::string_view line = lines_[i];
    if (line.starts_with("@")) {
      const size_t blank = line.find_first_of(" \t");
      line.remove_prefix(std::min(line.size(), line.find_first_not_of(" \t", blank)));
    }
    if (line.starts_with(opcode)) found.push_back(i);
  }
  return found;
}

std::vector<size_t> PtxEntry::find_anywhere(std::string_view part) const {
  std::vector<size_t> found;
  for (size_t i = 0; i < lines_.size(); ++i)
    if (lines_[i].find(part) != std::string::npos) found.push_back(i);
  return found;
}

std::string read_text(const char* paths) {
  std::string text;
  std::istringstream list(paths);
  for (std::string path; std::getline(list, path, ':');) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw std::runtime_error("cannot read " + path);
    text.append(std::istreambuf_iterator<char>(in), {});
  }
  return text;
}

std::vector<PtxEntry> read_ptx(const char* paths) {
  const std::string text = read_text(paths);
  constexpr std::string_view kEntry = ".visible .entry ";
  std::vector<PtxEntry> entries;
  for (size_t at = text.find(kEntry); at != std::string::npos;) {
    const size_t next = text.find(kEntry, at + 1);
    const size_t name = at + kEntry.size();
    // An entry ends with the brace in column 0; what follows belongs to the next one.
    const size_t end = text.find("\n}", at);
    entries.emplace_back(text.substr(name, text.find('(', name) - name), text.substr(at, end + 3 - at));
    at = next;
  }
  if (entries.empty()) throw std::runtime_error(std::string("no entry point in ") + paths);
  return entries;
}

std::vector<std::string> ptx_registers(std::string_view text) {
  static const std::regex pattern("%[a-z]+[0-9]+");
  std::vector<std::string> found;
  using Iterator = std::regex_iterator<std::string_view::const_iterator>;
  for (Iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) found.push_back(it->str());
  return found;
}

}  // namespace sm100
