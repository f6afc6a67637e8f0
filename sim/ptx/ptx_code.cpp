// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/ptx_code.h"

#include <algorithm>
#include <map>

#include "kernels/host/ptx_layout.h"
#include "ptx/row_sharing.h"
#include "ptx/row_uses.h"
#include "ptx/waits.h"
#include "sim/compiled_place.h"
#include "sim/ptx/module_image.h"

namespace sm100::sim {

PtxCode::PtxCode(const ptx::Module& module, const ptx::Entry& entry, const PtxLaunch& launch)
    : launch_(launch), program_(ptx::decode(module, entry)) {
  ptx::share_rows(program_);
  place_symbols();
  place_instructions();
}

/// Static symbols lie where a kernel's shared memory begins, dynamic ones behind them.
void PtxCode::place_symbols() {
  const host::SharedLayout layout = host::shared_layout(program_);
  const std::vector<uint64_t> addresses = place_variables();
  const std::vector<const ptx::Variable*> variables = variables_with_address(*program_.module);
  std::map<const ptx::Symbol*, uint64_t> fixed;  // the same for all ranks
  for (const ptx::Symbol& symbol : program_.symbols) {
    if (symbol.space != ptx::Space::constant && symbol.space != ptx::Space::global) continue;
    if (symbol.variable < 0) {  // of a function: it starts as zeros
      const uint64_t at = (constant_bytes_.size() + 15) / 16 * 16;
      fixed[&symbol] = kPtxConstantWindow + at;
      constant_bytes_.resize(at + symbol.bytes);
      continue;
    }
    const ptx::Variable* variable = &program_.module->variables[size_t(symbol.variable)];
    const auto index = size_t(std::find(variables.begin(), variables.end(), variable) - variables.begin());
    if (index < addresses.size()) fixed[&symbol] = addresses[index];
  }
  const uint32_t ranks = launch_.cluster.x * launch_.cluster.y * launch_.cluster.z;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::byte>& own = constants_.emplace_back(program_.constants);
    for (const ptx::Symbol& symbol : program_.symbols) {
      if (const auto at = fixed.find(&symbol); at != fixed.end()) program_.set_address(own, symbol, at->second);
      if (symbol.space == ptx::Space::shared)
        program_.set_address(own, symbol,
                             (uint64_t{rank} << kClusterRankShift) + layout.first_static + symbol.offset);
    }
  }
}

/// Of the module's variables with an address.
std::vector<uint64_t> PtxCode::place_variables() {
  if (!launch_.variables.empty()) return launch_.variables;
  const ptx::Module& module = *program_.module;
  const VariableLayout layout = lay_out_variables(module, kPtxConstantWindow);
  constant_bytes_.resize(layout.bytes);
  size_t i = 0;
  for (const ptx::Variable* variable : variables_with_address(module)) {
    const std::vector<uint8_t> bytes = initial_bytes(module, *variable, layout.addresses);
    std::copy(bytes.begin(), bytes.end(), constant_bytes_.data() + (layout.addresses[i++] - kPtxConstantWindow));
  }
  return layout.addresses;
}

namespace {

/// The calls that the code of a `.loc` was inlined at, the innermost first.
std::vector<SourceLine> calls_of(const ptx::Module& module, uint32_t loc) {
  std::vector<SourceLine> calls;
  constexpr size_t kDeepest = 64;
  for (uint32_t at = module.locs[loc].inlined_at; at != 0 && calls.size() < kDeepest;
       at = module.locs[at].inlined_at) {
    const ptx::Loc& call = module.locs[at];
    const auto file = module.files.find(call.file);
    if (call.line == 0 || file == module.files.end()) break;
    calls.push_back({std::string(file->second), call.line});
    if (call.inlined_at >= at) break;
  }
  return calls;
}

}  // namespace

void PtxCode::place_instructions() {
  const ptx::Module& module = *program_.module;
  texts_.push_back(module.name);
  const char* const own_file = texts_.back().c_str();
  std::map<uint32_t, const char*> files;
  for (const auto& [number, name] : module.files) files[number] = texts_.emplace_back(name).c_str();
  const char* const own_function = compiled_function(program_.entry->name, module.name);
  std::map<uint32_t, const char*> functions;  // by .loc
  for (const ptx::Instr& i : program_.code) {
    const ptx::Loc& loc = module.locs[i.loc];
    const auto file = files.find(loc.file);
    if (loc.line == 0 || file == files.end()) {
      places_.push_back({own_file, i.line, i.line, own_function});
      continue;
    }
    const char*& function = functions[i.loc];
    if (!function)
      function = loc.inlined_at == 0
                     ? own_function
                     : compiled_function(program_.entry->name, module.name, calls_of(module, i.loc));
    places_.push_back({file->second, loc.line, i.line, function});
    if (i.kind == ptx::Kind::service || i.kind == ptx::Kind::memory) note_compiled(sm100::Loc(places_.back()));
  }
  services_.assign(program_.services.size(), nullptr);
  together_.assign(program_.services.size(), PtxServiceEntry::Together::any);
  refused_.assign(program_.services.size(), false);
  results_.assign(program_.services.size(), false);
  waits_.assign(program_.code.size() + 1, nullptr);
  atomic_polls_.assign(program_.code.size() + 1, false);
  for (const uint32_t at : ptx::find_atomic_polls(program_)) atomic_polls_[at] = true;
  ignored_.assign(program_.code.size() + 1, false);
  for (const uint32_t at : program_.ignored_answers) ignored_[at] = true;
  for (uint32_t at = 0; at < program_.code.size(); ++at) {
    const ptx::Instr& i = program_.code[at];
    if (i.kind == ptx::Kind::service) place_service(i);
    waits_[at] = program_.wait_of_poll(at);
  }
}

void PtxCode::place_service(const ptx::Instr& i) {
  using Together = PtxServiceEntry::Together;
  const PtxServiceEntry* const entry = services_[i.detail] = ptx_service(program_.text(i));
  results_[i.detail] = ptx::has_result(program_.services[i.detail].base);
  refused_[i.detail] = !ptx_missing(program_, i).empty();
  if (!entry) return;
  const bool aligned = program_.services[i.detail].modifiers.has(".aligned");
  together_[i.detail] = aligned && entry->together == Together::any ? Together::all : entry->together;
}

ptx::Windows PtxCode::windows(uint32_t rank) const {
  ptx::Windows w;
  w.shared = {kPtxSharedWindow, uint64_t{1} << 32};
  w.shared_cta = {kPtxSharedWindow + (uint64_t{rank} << kClusterRankShift), kSmemWindowBytes};
  w.param = {kPtxParamWindow, std::max<uint64_t>(1, program_.param_bytes)};
  w.local = {kPtxLocalWindow, std::max<uint64_t>(1, program_.local_bytes)};
  w.constant = {kPtxConstantWindow, std::max<uint64_t>(1, constant_bytes_.size())};
  return w;
}

}  // namespace sm100::sim
