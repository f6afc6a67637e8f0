// SPDX-License-Identifier: Apache-2.0
/// Traces that commands read.
#pragma once

#include <string>

#include "kernels/host/scenario.h"
#include "traces/format/pftrace.h"

namespace sm100::sim::cli {

/// A .pftrace, plain or compressed; "-" is standard input.  Throws InputError, one line that names the file.
inline traces::Trace read_trace(const std::string& path) {
  try {
    return traces::read_pftrace(path);
  } catch (const std::runtime_error& error) { throw host::InputError(error.what()); }
}

}  // namespace sm100::sim::cli
