// SPDX-License-Identifier: Apache-2.0
#include "exec/shim/libraries.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "exec/shim/fatbin.h"

namespace sm100::exec {

using namespace abi;

namespace {

/// @param ptx  finds the text, or throws a sentence
template <class F>
Error load(Device& device, void** library, const F& ptx) {
  *library = nullptr;
  std::string text;
  try {
    text = ptx();
  } catch (const std::runtime_error& error) {
    if (!device.facts().has_ptx) {
      device.note(error.what());
      return no_kernel_image_for_device;
    }
  }
  Module* module = nullptr;
  const Error error = device.load_text(text, module);
  *library = module;
  return error;
}

}  // namespace

Error load_library(Device& device, void** library, const void* image) {
  if (!library || !image) return invalid_value;
  return load(device, library, [&] { return ptx_of_image(image); });
}

Error load_file(Device& device, void** library, const char* path) {
  if (!library || !path) return invalid_value;
  std::ifstream file(path, std::ios::binary);
  if (!file) return file_not_found;
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return load(device, library, [&] { return ptx_of_file(bytes); });
}

Error find_function(Device& device, void** function, void* library, const char* name) {
  Module* const module = device.module(library);
  if (!function || !name) return invalid_value;
  if (!module) return invalid_resource_handle;
  if (const Error error = device.load(*module)) return error;
  *function = device.function(*module, name);
  return *function ? success : symbol_not_found;
}

Error find_variable(Device& device, void** pointer, size_t* bytes, void* library, const char* name) {
  Module* const module = device.module(library);
  if (!name) return invalid_value;
  if (!module) return invalid_resource_handle;
  if (const Error error = device.load(*module)) return error;
  for (const Module::Variable& variable : module->variables) {
    if (variable.name != name) continue;
    if (pointer) *pointer = reinterpret_cast<void*>(variable.address);
    if (bytes) *bytes = variable.bytes;
    return success;
  }
  return symbol_not_found;
}

Error count_functions(Device& device, unsigned* count, void* library) {
  Module* const module = device.module(library);
  if (!count) return invalid_value;
  if (!module) return invalid_resource_handle;
  std::vector<std::string> names;
  const Error error = device.entries(*module, names);
  *count = unsigned(names.size());
  return error;
}

Error list_functions(Device& device, void** functions, unsigned count, void* library) {
  Module* const module = device.module(library);
  if (!functions) return invalid_value;
  if (!module) return invalid_resource_handle;
  std::vector<std::string> names;
  if (const Error error = device.entries(*module, names)) return error;
  for (unsigned i = 0; i < std::min<size_t>(count, names.size()); ++i)
    functions[i] = device.function(*module, names[i]);
  return success;
}

}  // namespace sm100::exec
