// SPDX-License-Identifier: Apache-2.0
/// What lanes of a warp ask each other, in their registers alone: shfl, vote, match, redux, activemask, elect (PTX
/// 9.7.9.6, 9.7.13, 9.7.14).  The lanes of the operands are those that take part.
#pragma once

#include "sim/ptx/service_operands.h"

namespace sm100::sim::lanes {

enum class Shuffle : uint8_t { up, down, bfly, idx };
enum class Vote : uint8_t { ballot, all, any, uni };
/// Of an instruction whose mode is known.
template <Shuffle kMode>
void shfl(const ServiceOperands& c);
template <Vote kMode>
void vote(const ServiceOperands& c);
/// Of the mode that its text names.
void shfl(const ServiceOperands& c);
void vote(const ServiceOperands& c);
void match(const ServiceOperands& c);
void redux(const ServiceOperands& c);
void activemask(const ServiceOperands& c);
/// The lowest of the mask, as hardware elects; PTX does not say which.
void elect(const ServiceOperands& c);
/// Writes what elect.sync says where that lane (one bit) is elected.
void set_elected(const ServiceOperands& c, ptx::LaneMask elected);

}  // namespace sm100::sim::lanes
