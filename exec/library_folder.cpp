// SPDX-License-Identifier: Apache-2.0
#include "exec/library_folder.h"

#include "kernels/host/data_directory.h"
#include "kernels/host/scenario.h"

namespace sm100::exec {

namespace fs = std::filesystem;

fs::path library_folder() {
  std::error_code error;
  const fs::path program = host::program_file();
  for (fs::path folder = program.parent_path(); !folder.empty(); folder = folder.parent_path()) {
    for (const char* const below : {SM100_LIBRARY_FOLDER, "exec/lib"})  // of an installation, of a build folder
      if (fs::exists(folder / below / "libcudart.so.13", error)) return folder / below;
    if (folder == folder.root_path()) break;
  }
  throw host::InputError(
      "exec: this build has no CUDA runtime library: it needs zstd and LZ4 (Debian: libzstd-dev, liblz4-dev)");
}

}  // namespace sm100::exec
