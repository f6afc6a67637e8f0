// SPDX-License-Identifier: Apache-2.0
#include "kernels/host/kernel_definition.h"

#include <stdexcept>

#include "kernels/host/built_in_kernels.h"

namespace sm100::host {
namespace {

std::vector<const KernelDefinition*>& registry() {
  static std::vector<const KernelDefinition*> all = built_in_kernels();
  return all;
}

}  // namespace

const std::vector<const KernelDefinition*>& kernels() { return registry(); }

const KernelDefinition* find_kernel(std::string_view name) {
  for (const KernelDefinition* kernel : registry())
    if (kernel->name == name) return kernel;
  return nullptr;
}

void add_kernel(const KernelDefinition& definition) {
  const std::string name(definition.name);
  if (name.empty() || !definition.read || !definition.run)
    throw std::logic_error("kernel '" + name + "': a definition needs a name, read and run");
  if (find_kernel(definition.name)) throw std::logic_error("there is a kernel '" + name + "' already");
  registry().push_back(&definition);
}

}  // namespace sm100::host
