// SPDX-License-Identifier: Apache-2.0
/// Value change dump (IEEE 1364) of the mbarriers of one SM, for waveform viewers such as GTKWave.
#pragma once

#include <filesystem>
#include <vector>

#include "traces/format/schema.h"

namespace sm100::traces {

/// SMs that ran CTAs with barriers, in the order of their first ones; none: the trace holds no barriers.
std::vector<int> sms_with_barriers(const Trace& trace);

/// Phase, parity, pending arrivals and missing bytes of every barrier of the CTAs that ran on SM `sm`, one after
/// the other; 1 ns is 1 tick.  Same guarantees as write_pftrace; `sm` is one of sms_with_barriers().
void write_vcd(const Trace& trace, int sm, const std::filesystem::path& path);

}  // namespace sm100::traces
