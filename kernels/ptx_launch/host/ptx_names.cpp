// SPDX-License-Identifier: Apache-2.0
#include "kernels/ptx_launch/host/ptx_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kernels/host/toml_reader.h"
#include "ptx/cpp_names.h"
#include "ptx/warp_view.h"

namespace sm100::host {
namespace {

constexpr int kMostStages = 4096;

std::string shared_symbols(const ptx::Program& program) {
  std::string names;
  for (const ptx::Symbol& symbol : program.symbols)
    if (symbol.space == ptx::Space::shared && symbol.used)
      names += fmt::format("{}{}", names.empty() ? "" : ", ", ptx::variable_name(std::string(symbol.name)));
  return names.empty() ? "the entry uses no shared symbol: give an offset" : "allowed are " + names;
}

/// Where the row begins: at a symbol, at an offset of the CTA's shared memory, or behind the one by the other.
uint32_t first_barrier(const TomlTable& t, const ptx::Program& program, const SharedLayout& layout) {
  const bool named = t.has("symbol");
  if (!named && !t.has("offset"))
    throw t.wrong("symbol", "a barrier has a symbol, an offset in the CTA's shared memory, or both");
  const auto offset = t.has("offset") ? uint32_t(t.integer("offset", 0, 1 << 20)) : 0;
  if (offset % 8 != 0) throw t.wrong("offset", "must be a multiple of 8");
  if (!named) return offset;
  const std::string symbol = t.string("symbol");
  for (const ptx::Symbol& s : program.symbols)
    if (s.space == ptx::Space::shared && s.used &&
        (s.name == symbol || ptx::variable_name(std::string(s.name)) == symbol))
      return uint32_t(layout.first_static + s.offset) + offset;
  throw t.wrong("symbol", shared_symbols(program));
}

/// As the source has it, if no other shared symbol of the program is called so.
std::string shared_name(const ptx::Program& program, const ptx::Symbol& symbol) {
  const std::string name = ptx::variable_name(std::string(symbol.name));
  for (const ptx::Symbol& other : program.symbols)
    if (other.space == ptx::Space::shared && other.name != symbol.name &&
        ptx::variable_name(std::string(other.name)) == name)
      return std::string(symbol.name);
  return name;
}

/// The symbol's elements are of 64 bits.
bool has_words(const PtxProblem& problem, const ptx::Symbol& symbol) {
  const auto of_symbol = [&](const ptx::Variable& v) { return v.name == symbol.name && ptx::bits(v.type) == 64; };
  const auto& own = problem.file.entry().body.variables;
  const auto& all = problem.file.module->variables;
  return std::any_of(own.begin(), own.end(), of_symbol) || std::any_of(all.begin(), all.end(), of_symbol);
}

/// These bytes are one array of mbarriers: the text has an mbarrier.init for each eight of them, or one in a loop
/// that begins at the first, and what comes to them comes to all alike.
bool is_barrier_array(const std::vector<ptx::WarpView>& views, uint32_t first, uint32_t bytes) {
  constexpr uint32_t kLongest = 64 * 8;  // more is a struct
  if (bytes > kLongest) return false;
  std::set<uint32_t> initialised;
  bool loop = false, through_all = false;
  std::map<uint32_t, std::set<std::pair<int, size_t>>> uses;  // by barrier: what which warps do
  for (size_t warp = 0; warp < views.size(); ++warp)
    for (const ptx::BarrierUse& use : views[warp].uses) {
      if (!use.barrier || use.barrier->offset < first || use.barrier->offset >= first + bytes) continue;
      const auto [offset, exact] = *use.barrier;
      if (!exact && offset != first) return false;  // another array begins there
      if (use.does != ptx::BarrierUse::Does::init) {
        if (exact)
          uses[offset].insert({int(use.does), warp});
        else
          through_all = true;
      } else if (exact) {
        initialised.insert(offset);
      } else {
        loop = true;
      }
    }
  if (!loop && initialised.size() != bytes / 8) return false;
  if (through_all) return true;
  return uses.size() == bytes / 8 &&
         std::all_of(uses.begin(), uses.end(), [&](const auto& u) { return u.second == uses.begin()->second; });
}

std::string roles_text(const TomlTable& t, std::string_view key, const PtxProblem& problem) {
  if (!t.has(key)) return "";
  std::string text;
  for (const std::string& role : t.strings(key)) {
    if (std::find(problem.roles.begin(), problem.roles.end(), role) == problem.roles.end())
      throw t.wrong(key, fmt::format("no warp has the role '{}'", role));
    text += (text.empty() ? "" : ", ") + role;
  }
  return text;
}

}  // namespace

std::vector<ptx::WarpView> ptx_views(const ptx::Program& program, const SharedLayout& layout, Dim3 block) {
  const std::vector<std::byte> constants = placed_constants(program, layout);
  const uint32_t warps = (block.x * block.y * block.z + kWarpLanes - 1) / kWarpLanes;
  std::vector<ptx::WarpView> views;
  for (uint32_t warp = 0; warp < warps; ++warp)
    views.push_back(ptx::view_of(
        program, ptx::Reach(program, constants, ptx::Windows{}, {block.x, block.y, block.z}, int(warp))));
  return views;
}

std::vector<PtxBarriers> barrier_symbols(const PtxProblem& problem, const ptx::Program& program,
                                         const SharedLayout& layout, const std::vector<ptx::WarpView>& views) {
  std::vector<PtxBarriers> rows;
  for (const ptx::Symbol& symbol : program.symbols) {
    if (symbol.space != ptx::Space::shared || !symbol.used || symbol.dynamic || symbol.bytes == 0 ||
        symbol.bytes % 8 != 0)
      continue;
    const auto first = uint32_t(layout.first_static + symbol.offset);
    if (!has_words(problem, symbol) && !is_barrier_array(views, first, uint32_t(symbol.bytes))) continue;
    rows.push_back({.name = shared_name(program, symbol), .offset = first, .stages = int(symbol.bytes / 8)});
  }
  return rows;
}

void read_ptx_names(const std::filesystem::path& file, PtxProblem& problem) {
  const ptx::Program program = ptx::decode(*problem.file.module, problem.file.entry());
  const SharedLayout layout = shared_layout(program);
  const TomlDocument document(file);
  const TomlTable root = document.root({"barrier", "role"});
  if (root.has("role"))
    for (const TomlTable& t : root.tables("role", {"warp", "name"})) {
      const auto warp = size_t(t.integer("warp", 0, problem.warps() - 1));
      problem.roles[warp] = t.string("name");
    }
  if (!root.has("barrier")) return;
  std::vector<PtxBarriers> named;
  for (const TomlTable& t : root.tables("barrier", {"symbol", "offset", "stages", "name", "arrives", "waits"})) {
    PtxBarriers row{.name = t.string("name"), .offset = first_barrier(t, program, layout)};
    if (t.has("stages")) row.stages = int(t.integer("stages", 1, kMostStages));
    row.arrives = roles_text(t, "arrives", problem), row.waits = roles_text(t, "waits", problem);
    const auto overlaps = [&](const PtxBarriers& other) {
      return row.offset < other.offset + 8u * uint32_t(other.stages) &&
             other.offset < row.offset + 8u * uint32_t(row.stages);
    };
    for (const PtxBarriers& other : named)
      if (overlaps(other)) throw t.wrong("name", fmt::format("'{}' has barriers of '{}'", row.name, other.name));
    named.push_back(row);
    std::erase_if(problem.barriers, overlaps);
  }
  problem.barriers.insert(problem.barriers.end(), named.begin(), named.end());
}

}  // namespace sm100::host
