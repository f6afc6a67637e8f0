// SPDX-License-Identifier: Apache-2.0
/// Simulated time: one SM clock cycle is one unit of SystemC's time resolution, whatever SystemC calls that
/// unit.
#pragma once

#include <systemc>

#include "models/profiles/profile.h"

namespace sm100::models {

/// SystemC keeps its clock in one place, which nobody needs to ask for each time.
inline Cycles now() {
  static const sc_core::sc_time& clock = sc_core::sc_time_stamp();
  return clock.value();
}
inline sc_core::sc_time cycles(Cycles n) { return sc_core::sc_time::from_value(n); }

}  // namespace sm100::models
