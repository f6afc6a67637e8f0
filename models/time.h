/// Simulated time: one SM clock cycle is one unit of SystemC's time resolution, whatever SystemC calls that
/// unit.
#pragma once

#include <systemc>

#include "models/profiles/profile.h"

namespace sm100::models {

inline Cycles now() { return sc_core::sc_time_stamp().value(); }
inline sc_core::sc_time cycles(Cycles n) { return sc_core::sc_time::from_value(n); }

}  // namespace sm100::models
