// SPDX-License-Identifier: Apache-2.0
#include "kernels/ptx_launch/host/ptx_names.h"

#include <fmt/format.h>

#include <algorithm>

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

std::vector<std::string> ptx_roles(const ptx::Program& program, const SharedLayout& layout, Dim3 block) {
  const std::vector<std::byte> constants = placed_constants(program, layout);
  const uint32_t warps = (block.x * block.y * block.z + kWarpLanes - 1) / kWarpLanes;
  std::vector<ptx::WarpView> views;
  for (uint32_t warp = 0; warp < warps; ++warp)
    views.push_back(ptx::view_of(
        program, ptx::Reach(program, constants, ptx::Windows{}, {block.x, block.y, block.z}, int(warp))));
  return ptx::roles_of(views);
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
