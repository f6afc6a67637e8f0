// SPDX-License-Identifier: Apache-2.0
#include "models/sm_clock.h"

#include <algorithm>
#include <cmath>

namespace sm100::models {
namespace {

constexpr double kLowest = 0.1;  // of the full clock: no chip goes lower by itself

/// How busy the tensor pipes of the SMs in use are, 0 to 1.
double duty(const Activity& a) {
  return a.cycles > 0 && a.sms > 0 ? std::min(1.0, a.tensor_cycles / (a.cycles * a.sms)) : 0;
}

/// The part of the nominal clock that is left.
double dropped(const DeviceProfile& profile, const Activity& a) {
  const double busy = duty(a);
  return busy > 0 ? 1 - profile.power.tensor_drop * std::pow(busy, profile.power.tensor_exponent) : 1;
}

PowerParts power_at(const DeviceProfile& profile, const Activity& a, double nominal_ghz) {
  const auto& power = profile.power;
  const double seconds = a.cycles / (nominal_ghz * dropped(profile, a) * 1e9);
  const double energy = std::pow(nominal_ghz / power.full_ghz, power.energy_exponent);
  PowerParts parts{.idle = power.idle_watts,
                   .sms = power.sm_watts * a.sms * energy,
                   .tensor = power.tensor_nj_per_cycle * 1e-9 * a.tensor_cycles / seconds * energy,
                   .l2 = power.l2_pj_per_byte * 1e-12 * a.l2_read_bytes / seconds,
                   .stores = power.store_pj_per_byte * 1e-12 * a.written_bytes / seconds,
                   .dram = power.dram_pj_per_byte * 1e-12 * a.dram_bytes / seconds};
  const double used = parts.all();
  parts.lost = power.loss_per_kilowatt * 1e-3 * used * used;
  return parts;
}

ClockEstimate estimate(const DeviceProfile& profile, double ghz, double nominal_ghz, const PowerParts& watts) {
  return {.ghz = ghz,
          .nominal_ghz = nominal_ghz,
          .low_ghz = ghz * (1 - profile.power.error),
          .high_ghz = std::min(profile.power.full_ghz, ghz * (1 + profile.power.error)),
          .watts = watts};
}

}  // namespace

ClockEstimate sustained_clock(const DeviceProfile& profile, const Activity& a) {
  double high = profile.power.full_ghz, low = high * kLowest;
  if (a.cycles <= 0 || power_at(profile, a, high).all() <= profile.power.limit_watts) low = high;
  for (int i = 0; i < 40 && low < high; ++i) {  // power grows with the clock
    const double middle = (low + high) / 2;
    (power_at(profile, a, middle).all() > profile.power.limit_watts ? high : low) = middle;
  }
  const PowerParts watts = a.cycles > 0 ? power_at(profile, a, low) : PowerParts{.idle = profile.power.idle_watts};
  return estimate(profile, low * dropped(profile, a), low, watts);
}

ClockEstimate single_clock(const DeviceProfile& profile, const Activity& a) {
  const double full = profile.power.full_ghz;
  if (a.cycles <= 0) return estimate(profile, full, full, {.idle = profile.power.idle_watts});
  const PowerParts watts = power_at(profile, a, full);
  const double beyond = std::max(0.0, watts.all() / profile.power.limit_watts - 1);
  const double ghz = full * std::max(kLowest, dropped(profile, a) - profile.power.first_drop * beyond);
  return estimate(profile, ghz, full, watts);
}

}  // namespace sm100::models
