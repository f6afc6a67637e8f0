// SPDX-License-Identifier: Apache-2.0
/// Which sm100sim this is.  The definitions are generated when it is built (cmake/Version.cmake).
#pragma once

#include <string>

namespace sm100::host {

/// "0.1.0"
const char* version();
/// The commit that was built, "-dirty" where files had changed; empty outside a repository.
const char* commit();

/// "0.1.0 (63317c1a2b)"
inline std::string version_text() {
  return *commit() ? std::string(version()) + " (" + commit() + ")" : std::string(version());
}

}  // namespace sm100::host
