// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/module_image.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace sm100::sim {

std::vector<const ptx::Variable*> variables_with_address(const ptx::Module& module) {
  std::vector<const ptx::Variable*> all;
  for (const ptx::Variable& v : module.variables)
    if (v.space == ptx::Space::global || v.space == ptx::Space::constant) all.push_back(&v);
  return all;
}

VariableLayout lay_out_variables(const ptx::Module& module, uint64_t base) {
  VariableLayout layout;
  uint64_t end = base;
  for (const ptx::Variable* v : variables_with_address(module)) {
    const uint64_t align = std::max<uint64_t>(16, v->align);
    end = (end + align - 1) / align * align;
    layout.addresses.push_back(end);
    end += v->bytes;
  }
  layout.bytes = end - base;
  return layout;
}

std::vector<uint8_t> initial_bytes(const ptx::Module& module, const ptx::Variable& variable,
                                   std::span<const uint64_t> addresses) {
  std::vector<uint8_t> bytes(variable.bytes);
  std::memcpy(bytes.data(), variable.data.data(), std::min<size_t>(variable.data.size(), bytes.size()));
  const std::vector<const ptx::Variable*> all = variables_with_address(module);
  for (const ptx::SymbolInData& symbol : variable.addresses) {
    const auto named =
        std::find_if(all.begin(), all.end(), [&](const ptx::Variable* v) { return v->name == symbol.symbol; });
    if (named == all.end() || size_t(named - all.begin()) >= addresses.size()) continue;
    uint64_t value = addresses[size_t(named - all.begin())] + uint64_t(symbol.addend);
    if (symbol.mask != 0) value = (value & symbol.mask) >> std::countr_zero(symbol.mask);
    if (symbol.offset + symbol.bytes <= bytes.size())
      std::memcpy(bytes.data() + symbol.offset, &value, std::min(symbol.bytes, 8u));
  }
  return bytes;
}

}  // namespace sm100::sim
