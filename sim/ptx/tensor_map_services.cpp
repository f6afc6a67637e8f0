// SPDX-License-Identifier: Apache-2.0
// Edits of tensor maps and the fences of their proxy on the models (PTX 9.7.9.27.4, 9.7.13).
#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::LaneMask;
using Together = PtxServiceEntry::Together;

namespace {

/// A number for each lane.
template <TensorMapField kField>
PtxOutcome replace_field(ServiceCall& c) {
  const bool indexed = c.size() == 3;
  const ptx::Operand &where = c.operand(0), &value = c.operand(c.size() - 1);
  return c.for_each_alike(
      [&](int lane) {
        return std::pair{c.address(where, lane), c.value(value, lane)};
      },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        const uint64_t at = c.address(where, lane);
        const bool shared = c.has(".shared::cta") || c.file().windows.shared.has(at);
        c.execute(TensormapReplace<kField>{{uint32_t(at)},
                                           {at},
                                           !shared,
                                           indexed ? uint32_t(c.value(c.operand(1), lane)) : 0,
                                           c.value(value, lane)},
                  by);
        return kDone;
      });
}

PtxOutcome replace(ServiceCall& c) {
  using F = TensorMapField;
  if (c.has(".global_address")) return replace_field<F::global_address>(c);
  if (c.has(".rank")) return replace_field<F::rank>(c);
  if (c.has(".box_dim")) return replace_field<F::box_dim>(c);
  if (c.has(".global_dim")) return replace_field<F::global_dim>(c);
  if (c.has(".global_stride")) return replace_field<F::global_stride>(c);
  if (c.has(".element_stride")) return replace_field<F::element_stride>(c);
  if (c.has(".elemtype")) return replace_field<F::elemtype>(c);
  if (c.has(".interleave_layout")) return replace_field<F::interleave_layout>(c);
  if (c.has(".swizzle_mode")) return replace_field<F::swizzle_mode>(c);
  if (c.has(".swizzle_atomicity")) return replace_field<F::swizzle_atomicity>(c);
  if (c.has(".fill_mode")) return replace_field<F::fill_mode>(c);
  return c.warp.not_implemented("tensormap.replace of this field");
}

PtxOutcome cp_fenceproxy(ServiceCall& c) {
  c.execute(TensormapCpFenceproxy{{c.address(0)}, {c.shared(c.operand(1), c.first())}, memory_scope(c)});
  return kDone;
}

PtxOutcome fence_tensormap(ServiceCall& c) {
  if (c.has(".release"))
    c.execute(FenceProxyTensormapRelease{memory_scope(c)});
  else
    c.execute(FenceProxyTensormapAcquire{{c.address(0)}, memory_scope(c)});
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> tensor_map_services() {
  return {{"tensormap.replace", replace},
          {"tensormap.cp_fenceproxy", cp_fenceproxy, Together::all},
          {"fence.proxy.tensormap::generic", fence_tensormap}};
}

}  // namespace sm100::sim
