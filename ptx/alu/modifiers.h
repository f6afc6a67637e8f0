// SPDX-License-Identifier: Apache-2.0
/// Loops over the modifiers of a form, as constants.
#pragma once

#include <string>
#include <type_traits>

#include "ptx/alu/rounding.h"

namespace sm100::ptx {

template <Rounding kMode>
using Mode = std::integral_constant<Rounding, kMode>;

/// f(".rz", mode) for each rounding mode; `bare`: also f("", nearest).
template <class F>
void for_each_mode(bool bare, F&& f) {
  if (bare) f(std::string(), Mode<Rounding::nearest>{});
  f(std::string(".rn"), Mode<Rounding::nearest>{});
  f(std::string(".rz"), Mode<Rounding::zero>{});
  f(std::string(".rm"), Mode<Rounding::down>{});
  f(std::string(".rp"), Mode<Rounding::up>{});
}

/// f(flag...) for each combination of kCount flags.
template <int kCount, class F, class... Flags>
void for_each_flag(F&& f, Flags... flags) {
  if constexpr (kCount == 0) {
    f(flags...);
  } else {
    for_each_flag<kCount - 1>(f, flags..., std::false_type{});
    for_each_flag<kCount - 1>(f, flags..., std::true_type{});
  }
}

}  // namespace sm100::ptx
