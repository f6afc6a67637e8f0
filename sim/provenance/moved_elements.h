// SPDX-License-Identifier: Apache-2.0
/// Elements that hold what belongs into others: values that have changed places behind the terms of an epilogue.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "sim/provenance/guesses.h"

namespace sm100::sim::provenance {

/// Calls `told(guess)` until one returns true.
/// @param right  what belongs into an element of the sums
bool tell_moved(const ElementSums& sums, const WrongElements& wrong,
                const std::function<std::optional<Guessed>(const WrongValue&)>& right, const Told& told);

}  // namespace sm100::sim::provenance
