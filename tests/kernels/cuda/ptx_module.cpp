#include "ptx_module.h"

#include <fstream>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "kernels/cuda/configurations.h"
#include "kernels/cuda/copy_configurations.h"
#include "kernels/cuda/fallback_configurations.h"

namespace sm100 {
namespace {

std::string trimmed(std::string_view line) {
  line = line.substr(0, line.find("//"));
  const size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(line.substr(first, line.find_last_not_of(" \t\r") - first + 1));
}

/// In the mangled names of matmul_entry<CompiledConfig<index>, recorder>, copy_entry<CompiledCopyConfig<index>, ...>.
constexpr std::pair<std::string_view, PtxEntry::Kernel> kMarks[] = {
    {"CompiledConfigILm", PtxEntry::Kernel::matmul},
    {"CompiledCopyConfigILm", PtxEntry::Kernel::copy},
    {"CompiledFallbackConfigILm", PtxEntry::Kernel::fallback}};
constexpr std::string_view kRecorderMark = "DeviceRecorder";

}  // namespace

PtxEntry::PtxEntry(std::string symbol, std::string text) : symbol_(std::move(symbol)), text_(std::move(text)) {
  bool found = false;
  for (const auto& [mark, kernel] : kMarks) {
    const size_t at = symbol_.find(mark);
    if (at == std::string::npos) continue;
    found = true;
    kernel_ = kernel;
    index_ = std::stoul(symbol_.substr(at + mark.size()));
  }
  if (!found) throw std::runtime_error("not an entry of a compiled configuration: " + symbol_);
  traced_ = symbol_.find(kRecorderMark) != std::string::npos;
  std::istringstream in(text_);
  for (std::string line; std::getline(in, line);)
    if (PtxLine kept = trimmed(line); !kept.empty()) lines_.push_back(std::move(kept));
}

const MatmulConfig& PtxEntry::config() const { return kMatmulConfigurations[index_].config; }

const CopyConfig& PtxEntry::copy_config() const { return kCopyConfigurations[index_].config; }

const FallbackConfig& PtxEntry::fallback_config() const { return kFallbackConfigurations[index_].config; }

std::string PtxEntry::name() const {
  const char* configuration = kernel_ == Kernel::copy       ? kCopyConfigurations[index_].name
                              : kernel_ == Kernel::fallback ? kFallbackConfigurations[index_].name
                                                            : kMatmulConfigurations[index_].name;
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

std::string read_text(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<PtxEntry> read_ptx(const char* path) {
  const std::string text = read_text(path);
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
  if (entries.empty()) throw std::runtime_error(std::string("no entry point in ") + path);
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
