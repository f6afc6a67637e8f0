// SPDX-License-Identifier: Apache-2.0
/// PTX text that the driver has compiled for the GPU of this machine.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <string>

namespace sm100::cuda {

class PtxLibrary {
 public:
  /// @param name  of the text, for messages.  Throws host::InputError with what the driver's compiler says.
  PtxLibrary(const std::string& text, const std::string& name);
  ~PtxLibrary();
  PtxLibrary(const PtxLibrary&) = delete;
  PtxLibrary& operator=(const PtxLibrary&) = delete;

  /// For Launch::kernel.  Throws host::InputError if there is none of that name.
  const void* kernel(const std::string& entry) const;
  /// Address of a `.global` variable; throws host::InputError if there is none of that name.
  void* global(const std::string& variable) const;

 private:
  std::string name_;
  cudaLibrary_t library_ = nullptr;
};

}  // namespace sm100::cuda
