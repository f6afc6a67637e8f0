// SPDX-License-Identifier: Apache-2.0
/// Matrices that a warp's lanes hold together in their registers: mma.sync, mma.sp, movmatrix (PTX 9.7.14.5, 6).
#pragma once

#include <optional>

#include "models/mma_sync.h"
#include "sim/ptx/service_operands.h"

namespace sm100::sim::lanes {

/// The form of an "mma"; nullopt: it is not modelled, or the operands have other registers than it asks for.
std::optional<models::MmaSyncForm> mma_sync_of(const ptx::Service& service);
inline constexpr const char* kNoSuchMma = "mma of this shape, of these types, or with this sparsity selector";
/// d, a, b, c; of mma.sp also metadata and sparsity selector.
void mma_sync(const ServiceOperands& c, const models::MmaSyncForm& form, models::Accumulation accumulation,
              models::MmaSyncCore core);
/// movmatrix.sync.aligned.m8n8.trans.b16 d, a: lane 4 r + c / 2 holds elements c and c + 1 of row r.
void movmatrix(const ServiceOperands& c);

}  // namespace sm100::sim::lanes
