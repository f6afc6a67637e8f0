// SPDX-License-Identifier: Apache-2.0
/// The device profiles of models/profiles as they were when the program was built: what a copied program uses that
/// finds no files.  The definition is generated (embed_profiles.cmake).
#pragma once

#include <span>
#include <string_view>

namespace sm100::host {

struct BuiltInProfile {
  std::string_view name;  ///< "b200"
  std::string_view text;  ///< the TOML file
};

std::span<const BuiltInProfile> built_in_profiles();

}  // namespace sm100::host
