// SPDX-License-Identifier: Apache-2.0
/// Tensor maps that a kernel edits (PTX 9.7.9.27.4 tensormap.replace, 9.7.13.16 tensormap.cp_fenceproxy, 9.7.13
/// fence.proxy.tensormap).
#pragma once

#include "kernels/isa/instructions/instruction.h"
#include "kernels/isa/tensor_map_edit.h"

namespace sm100::instructions {

/// One field of a map, in shared or global memory.
template <TensorMapField kField>
struct TensormapReplace {
  static constexpr std::string_view function() {
    constexpr std::string_view kNames[] = {
        "tensormap_replace_global_address", "tensormap_replace_rank",
        "tensormap_replace_box_dim",        "tensormap_replace_global_dim",
        "tensormap_replace_global_stride",  "tensormap_replace_element_stride",
        "tensormap_replace_elemtype",       "tensormap_replace_interleave_layout",
        "tensormap_replace_swizzle_mode",   "tensormap_replace_swizzle_atomicity",
        "tensormap_replace_fill_mode"};
    return kNames[size_t(kField)];
  }
  static constexpr std::string_view opcode() {
    constexpr std::string_view kNames[] = {
        "tensormap.replace.tile.global_address", "tensormap.replace.tile.rank",
        "tensormap.replace.tile.box_dim",        "tensormap.replace.tile.global_dim",
        "tensormap.replace.tile.global_stride",  "tensormap.replace.tile.element_stride",
        "tensormap.replace.tile.elemtype",       "tensormap.replace.tile.interleave_layout",
        "tensormap.replace.tile.swizzle_mode",   "tensormap.replace.tile.swizzle_atomicity",
        "tensormap.replace.tile.fill_mode"};
    return kNames[size_t(kField)];
  }
  static constexpr Description kIs{
      .function = function(), .opcode = opcode(), .faults = Alterable::step, .add = {"value"}};
  static constexpr SupportLine kSupport[] = {
      {"tensormap.replace.tile", Support::modelled,
       "every field, shared::cta and global; time taken to be a store's; no .swizzle_mode of 96 bytes"}};
  SmemAddr shared;    ///< where it lies, if `in_global` is false
  GlobalAddr global;  ///< and if it is true
  bool in_global;
  uint32_t ordinal;
  uint64_t value;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("value", i.value);
  }
  void execute(sim::WarpContext&) const;
};

/// The map's 128 bytes from shared to global memory, and a release of what the thread has written of it to the
/// tensormap proxy.
struct TensormapCpFenceproxy {
  static constexpr Description kIs{.function = "tensormap_cp_fenceproxy",
                                   .opcode = "tensormap.cp_fenceproxy",
                                   .aligned = true,
                                   .faults = Alterable::step,
                                   .add = {"address"}};
  static constexpr SupportLine kSupport[] = {
      {"tensormap.cp_fenceproxy", Support::modelled,
       "scopes are not looked at; the warp waits for the write; TP3 without a release"}};
  GlobalAddr address;
  SmemAddr source;
  MemoryScope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address);
  }
  void execute(sim::WarpContext&) const;
};

/// Edits of this thread, and those that it knows of, may be acquired.
struct FenceProxyTensormapRelease {
  static constexpr Description kIs{.function = "fence_proxy_tensormap_release",
                                   .opcode = "fence.proxy.tensormap::generic.release",
                                   .faults = Alterable::step};
  static constexpr SupportLine kSupport[] = {
      {"fence.proxy.tensormap::generic.release, .acquire", Support::modelled,
       "scopes are not looked at; a release waits for the edits of the thread; TP2, TP3"}};
  MemoryScope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self&, Visit&&) {}
  void execute(sim::WarpContext&) const;
};

/// Tensor copies of this CTA that come after it see what was released of the map before it.
struct FenceProxyTensormapAcquire {
  static constexpr Description kIs{.function = "fence_proxy_tensormap_acquire",
                                   .opcode = "fence.proxy.tensormap::generic.acquire",
                                   .faults = Alterable::step,
                                   .add = {"address"}};
  static constexpr auto& kSupport = FenceProxyTensormapRelease::kSupport;
  GlobalAddr address;
  MemoryScope scope;
  template <class Self, class Visit>
  static constexpr void operands(Self& i, Visit&& visit) {
    visit("address", i.address);
  }
  void execute(sim::WarpContext&) const;
};

using TensorMapGroup =
    List<TensormapReplace<TensorMapField::global_address>, TensormapReplace<TensorMapField::rank>,
         TensormapReplace<TensorMapField::box_dim>, TensormapReplace<TensorMapField::global_dim>,
         TensormapReplace<TensorMapField::global_stride>, TensormapReplace<TensorMapField::element_stride>,
         TensormapReplace<TensorMapField::elemtype>, TensormapReplace<TensorMapField::interleave_layout>,
         TensormapReplace<TensorMapField::swizzle_mode>, TensormapReplace<TensorMapField::swizzle_atomicity>,
         TensormapReplace<TensorMapField::fill_mode>, TensormapCpFenceproxy, FenceProxyTensormapRelease,
         FenceProxyTensormapAcquire>;

}  // namespace sm100::instructions
