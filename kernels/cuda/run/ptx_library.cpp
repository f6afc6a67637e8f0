// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/run/ptx_library.h"

#include <fmt/format.h>

#include <array>

#include "kernels/cuda/run/gpu.h"
#include "kernels/host/toml_reader.h"

namespace sm100::cuda {

PtxLibrary::PtxLibrary(const std::string& text, const std::string& name) : name_(name) {
  std::array<char, 4096> log{};
  std::array<cudaJitOption, 2> options{cudaJitErrorLogBuffer, cudaJitErrorLogBufferSizeBytes};
  std::array<void*, 2> values{log.data(), reinterpret_cast<void*>(log.size())};
  const cudaError_t result = cudaLibraryLoadData(&library_, text.c_str(), options.data(), values.data(),
                                                 unsigned(options.size()), nullptr, nullptr, 0);
  if (result == cudaSuccess) return;
  std::string reason = log.data();
  while (!reason.empty() && (reason.back() == '\n' || reason.back() == ' ')) reason.pop_back();
  throw host::InputError(fmt::format("{}: the driver refuses the PTX: {}{}{}", name_, cudaGetErrorString(result),
                                     reason.empty() ? "" : "\n", reason));
}

PtxLibrary::~PtxLibrary() {
  if (library_ && device_answers()) cudaLibraryUnload(library_);
}

const void* PtxLibrary::kernel(const std::string& entry) const {
  cudaKernel_t kernel = nullptr;
  if (cudaLibraryGetKernel(&kernel, library_, entry.c_str()) != cudaSuccess)
    throw host::InputError(fmt::format("{}: no entry {}", name_, entry));
  return kernel;
}

void* PtxLibrary::global(const std::string& variable) const {
  void* address = nullptr;
  size_t bytes = 0;
  if (cudaLibraryGetGlobal(&address, &bytes, library_, variable.c_str()) != cudaSuccess)
    throw host::InputError(fmt::format("{}: no variable {}", name_, variable));
  return address;
}

}  // namespace sm100::cuda
