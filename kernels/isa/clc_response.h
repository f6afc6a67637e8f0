// SPDX-License-Identifier: Apache-2.0
/// The 16-byte response of clusterlaunchcontrol.try_cancel, as query_cancel reads it.
/// Source: PTX 9.7.13.17/18, where it is opaque; the bits are those that ptxas 13.0's code reads:
///   31:0 x   47:32 y   63:48 z   64 canceled   (other bits are not looked at)
/// Kernels use the query functions only; the layout may change with the hardware.
#pragma once

#include "kernels/isa/address.h"

namespace sm100 {

struct alignas(16) ClcResponse {
  uint64_t lo = 0, hi = 0;
};

/// `first_ctaid` is the CTA (0,0,0) of the cancelled cluster.  y and z have 16 bits, as grids do.
SM100_HD constexpr ClcResponse make_clc_response(bool canceled, Dim3 first_ctaid) {
  if (!canceled) return {};  // a failed response carries no id; reading one is undefined
  return {uint64_t{first_ctaid.x} | uint64_t{first_ctaid.y & 0xffff} << 32 | uint64_t{first_ctaid.z & 0xffff} << 48,
          1};
}

/// query_cancel.is_canceled: true when a cluster was cancelled and its work is ours.
SM100_HD constexpr bool is_canceled(const ClcResponse& response) { return (response.hi & 1) != 0; }

/// query_cancel.get_first_ctaid: only after is_canceled said true.
SM100_HD constexpr Dim3 first_ctaid(const ClcResponse& response) {
  return {static_cast<uint32_t>(response.lo), static_cast<uint32_t>(response.lo >> 32) & 0xffff,
          static_cast<uint32_t>(response.lo >> 48)};
}

}  // namespace sm100
