// SPDX-License-Identifier: Apache-2.0
/// --trace-sms and --trace-window: what of a run goes into the trace.
#pragma once

#include <string>

#include "traces/format/recorder.h"

namespace sm100::sim::cli {

/// @param sms     "0-3,7"; empty: all
/// @param window  "1000:2000", "1000:" or ":2000", in cycles; empty: all
/// @param count   SMs that the run has
/// Throws InputError, one line.
traces::Selection trace_selection(const std::string& sms, const std::string& window, int count);

}  // namespace sm100::sim::cli
