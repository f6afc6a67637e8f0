// SPDX-License-Identifier: Apache-2.0
/// The life of one CTA as text: a row for each role, ring stage and accumulator, a column for each stretch of time.
/// A picture for terminals and documents; the HTML page has more.
#pragma once

#include <string>
#include <vector>

#include "traces/format/schema.h"

namespace sm100::traces {

/// The CTAs that have spans, in order.
std::vector<int> ctas_with_spans(const Trace& trace);

/// @param columns  of time, at most
std::string format_timeline(const Trace& trace, int cta, int columns);

}  // namespace sm100::traces
