// SPDX-License-Identifier: Apache-2.0
/// What a run takes in power, and the SM clock that a chip holds while it does: stated, not cycle-exact.
///
/// The chip takes what it takes at rest, and for each SM that holds a CTA, each cycle of a busy tensor pipe, each
/// byte out of L2, into L2 and to or from HBM an energy of its own; those of the SMs grow with the clock
/// (power.energy_exponent), for the voltage follows it.  A part that grows with the whole is lost on the way.  The
/// clock of a chip whose tensor cores multiply drops at once, by a part that depends on how busy they are, and as
/// soon as the whole would be above the limit, the controller lowers it until it is not.  Structure and constants:
/// bench/hardware/power_costs.cu on an H200, docs/clock.md.  Not modelled: instructions of CUDA cores, what the
/// operands are (zeros take a fifth of what random numbers take), temperature, the milliseconds that the controller
/// takes.
#pragma once

#include "models/profiles/profile.h"

namespace sm100::models {

/// What a run did.
struct Activity {
  double cycles = 0;         ///< SM cycles that it took
  int sms = 0;               ///< of the run
  double tensor_cycles = 0;  ///< for which tensor pipes were busy, of all SMs
  double l2_read_bytes = 0, written_bytes = 0, dram_bytes = 0;
};

/// In watts.
struct PowerParts {
  double idle = 0, sms = 0, tensor = 0, l2 = 0, stores = 0, dram = 0, lost = 0;
  double all() const { return idle + sms + tensor + l2 + stores + dram + lost; }
};

struct ClockEstimate {
  double ghz = 0;                    ///< as clock64 counts
  double nominal_ghz = 0;            ///< as the driver reports it
  double low_ghz = 0, high_ghz = 0;  ///< the model's error
  PowerParts watts;
};

/// Of the run repeated back to back until the controller has settled, within a second.
ClockEstimate sustained_clock(const DeviceProfile& profile, const Activity& activity);
/// Of one launch of less than some 20 ms on a chip that was idle: the limit does not act yet.
ClockEstimate single_clock(const DeviceProfile& profile, const Activity& activity);

}  // namespace sm100::models
