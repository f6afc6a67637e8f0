// SPDX-License-Identifier: Apache-2.0
// Tensor memory, tensor core and cluster launch control of PTX on the models (PTX 9.7.16, 9.7.13.17).
#include <charconv>
#include <cstring>

#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::LaneMask;
using ptx::Operand;
using Together = PtxServiceEntry::Together;

namespace {

// ---- allocation

PtxOutcome no_unit(ServiceCall& c, const char* what) {
  return c.warp.not_implemented(std::string(what) + " on " + c.context().profile.name +
                                ", which has none: it is of sm_100a (--profile b200)");
}

PtxOutcome alloc(ServiceCall& c) {
  if (!c.context().profile.has_tensor_core) return no_unit(c, "tcgen05");
  c.execute(Tcgen05Alloc{c.smem(0), uint32_t(c.value(1)), cta_group_of(c)});
  return kDone;
}
PtxOutcome dealloc(ServiceCall& c) {
  c.execute(Tcgen05Dealloc{{uint32_t(c.value(0))}, uint32_t(c.value(1)), cta_group_of(c)});
  return kDone;
}
PtxOutcome relinquish(ServiceCall& c) { return c.execute(Tcgen05RelinquishAllocPermit{cta_group_of(c)}), kDone; }

// ---- MMAs

std::optional<MmaKind> kind_of(const ServiceCall& c) {
  for (const MmaKind kind : {MmaKind::f16, MmaKind::tf32, MmaKind::f8f6f4, MmaKind::i8, MmaKind::mxf8f6f4,
                             MmaKind::mxf4, MmaKind::mxf4nvf4})
    if (c.has(std::string(".kind::") + name(kind))) return kind;
  return std::nullopt;
}

ScaleVec scale_vec_of(const ServiceCall& c, MmaKind kind) {
  if (c.has(".scale_vec::1X")) return ScaleVec::x1;
  if (c.has(".scale_vec::2X") || c.has(".block32")) return kind == MmaKind::mxf8f6f4 ? ScaleVec::x1 : ScaleVec::x2;
  if (c.has(".scale_vec::4X") || c.has(".block16")) return ScaleVec::x4;
  return kind == MmaKind::mxf8f6f4 ? ScaleVec::x1 : kind == MmaKind::mxf4 ? ScaleVec::x2 : ScaleVec::x4;
}

/// [d], a, b, {[metadata],} idesc, {[sfa], [sfb],} {disable-output-lane,} enable-input-d {, scale-input-d or, of
/// .ws, zero-column-mask} (PTX 9.7.16.10.9)
PtxOutcome mma(ServiceCall& c) {
  const auto kind = kind_of(c);
  if (!kind) return c.warp.not_implemented("tcgen05.mma of this kind");
  const bool scaled = c.has(".block_scale"), sparse = c.has(".sp"), ws = c.has(".ws");
  const size_t idesc = sparse ? 4 : 3;
  if (sparse && (c.size() <= idesc || c.operand(3).kind != Operand::Kind::address))
    return c.warp.not_implemented("tcgen05.mma.sp without [metadata] between B and the instruction descriptor");
  size_t at = idesc + 1;
  size_t disabled = 0, zeroed = 0;  // operands; 0: there is none
  const auto read = [&](int lane) {
    Tcgen05Mma m;
    m.kind = *kind, m.cta_group = cta_group_of(c);
    m.modifiers = {.sp = sparse, .ws = ws};
    if (sparse) m.metadata = {uint32_t(c.address(c.operand(3), lane))};
    if (disabled != 0)
      for (size_t i = 0; i < std::min(m.disabled_lanes.size(), c.operand(disabled).elements.size()); ++i)
        m.disabled_lanes[i] = uint32_t(c.value(c.operand(disabled).elements[i], lane));
    if (zeroed != 0) m.zero_columns = {c.value(c.operand(zeroed), lane)};
    m.d = {uint32_t(c.address(c.operand(0), lane))};
    if (c.operand(1).kind == Operand::Kind::address)
      m.a = OperandA(TmemAddr{uint32_t(c.address(c.operand(1), lane))});
    else
      m.a = OperandA(SmemDescriptor{c.value(c.operand(1), lane)});
    m.b = {c.value(c.operand(2), lane)};
    m.idesc = {uint32_t(c.value(c.operand(idesc), lane))};
    return m;
  };
  TmemAddr sfa{}, sfb{};
  if (scaled) sfa = {uint32_t(c.address(at))}, sfb = {uint32_t(c.address(at + 1))}, at += 2;
  if (at < c.size() && c.operand(at).kind == Operand::Kind::vector) disabled = at++;
  if (disabled != 0 && (ws || scaled || c.operand(disabled).elements.size() != size_t(4 * cta_group_of(c))))
    return c.warp.not_implemented(
        "tcgen05.mma with such a disable-output-lane vector: 4 registers, 8 with cta_group::2, not with .ws or "
        ".block_scale");
  if (at >= c.size() || c.operand(at).kind != Operand::Kind::predicate)
    return c.warp.not_implemented("tcgen05.mma without enable-input-d as a predicate");
  int64_t scale_input_d = 0;
  if (at + 1 < c.size() && ws) zeroed = at + 1;
  if (at + 1 < c.size() && !ws) {  // ptxas takes no other
    const Operand& scale = c.operand(at + 1);
    scale_input_d = scale.value;
    if (!scale.is_immediate() || scale.value < 0 || scale.value > 15 ||
        (*kind != MmaKind::f16 && *kind != MmaKind::tf32))
      return c.warp.not_implemented(
          "tcgen05.mma with scale-input-d other than an immediate of 0 to 15, of kinds f16 and tf32");
  }
  const LaneMask enabled = c.predicate(c.operand(at));
  for (LaneMask left = c.lanes; left != 0;) {
    // Each lane issues the whole MMA; operands that differ make different ones.
    const int lane = std::countr_zero(left);
    Tcgen05Mma m = read(lane);
    m.enable_input_d = enabled >> lane & 1;
    m.scale_input_d = int(scale_input_d);
    LaneMask by = 0;
    for (LaneMask rest = left; rest != 0; rest &= rest - 1) {
      const int other = std::countr_zero(rest);
      const Tcgen05Mma o = read(other);
      if (o.d == m.d && o.a.tile == m.a.tile && o.a.tmem == m.a.tmem && o.b == m.b && o.idesc == m.idesc &&
          bool(enabled >> other & 1) == m.enable_input_d && o.metadata == m.metadata &&
          o.disabled_lanes == m.disabled_lanes && o.zero_columns == m.zero_columns)
        by |= rest & -rest;
    }
    left &= ~by;
    if (scaled)
      c.execute(Tcgen05MmaBlockScale{m, scale_vec_of(c, *kind), sfa, sfb}, by);
    else
      c.execute(m, by);
  }
  return kDone;
}

PtxOutcome cp(ServiceCall& c) {
  static constexpr std::pair<std::string_view, TmemCopyShape> kShapes[] = {
      {".128x256b", TmemCopyShape::s128x256b},
      {".128x128b", TmemCopyShape::s128x128b},
      {".4x256b", TmemCopyShape::s4x256b},
      {".32x128b", TmemCopyShape::s32x128b_warpx4}};
  std::optional<TmemCopyShape> shape;
  for (const auto& [name, value] : kShapes)
    if (c.has(name)) shape = value;
  if (c.has(".64x128b"))
    shape = c.has(".warpx2::01_23") ? TmemCopyShape::s64x128b_warpx2_01_23 : TmemCopyShape::s64x128b_warpx2_02_13;
  if (!shape) return c.warp.not_implemented("tcgen05.cp of this shape");
  const TmemDecompression packed = c.has(".b6x16_p32")   ? TmemDecompression::b6x16_p32
                                   : c.has(".b4x16_p64") ? TmemDecompression::b4x16_p64
                                                         : TmemDecompression::none;
  return c.for_each_alike(
      [&](int lane) {
        return std::pair{c.address(c.operand(0), lane), c.value(c.operand(1), lane)};
      },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        c.execute(Tcgen05Cp{*shape,
                            cta_group_of(c),
                            {uint32_t(c.address(c.operand(0), lane))},
                            {c.value(c.operand(1), lane)},
                            packed},
                  by);
        return kDone;
      });
}

PtxOutcome commit(ServiceCall& c) {
  return c.for_each_alike(
      [&](int lane) { return c.shared(c.operand(0), lane); },
      [&](LaneMask by) {
        const int lane = std::countr_zero(by);
        const SmemAddr barrier{c.shared(c.operand(0), lane)};
        if (c.has(".multicast::cluster"))
          c.execute(Tcgen05CommitMulticast{cta_group_of(c), barrier, {uint16_t(c.value(c.operand(1), lane))}}, by);
        else
          c.execute(Tcgen05Commit{cta_group_of(c), barrier}, by);
        return kDone;
      });
}

// ---- registers and tensor memory

constexpr int kMostRegisters = PtxWarp::kTmemRegisters;

std::optional<std::pair<TmemShape, int>> shape_of(const ServiceCall& c) {
  static constexpr std::pair<std::string_view, TmemShape> kShapes[] = {{".32x32b", TmemShape::s32x32b},
                                                                       {".16x64b", TmemShape::s16x64b},
                                                                       {".16x128b", TmemShape::s16x128b},
                                                                       {".16x256b", TmemShape::s16x256b},
                                                                       {".16x32bx2", TmemShape::s16x32bx2}};
  std::optional<TmemShape> found;
  int repeat = 0;
  for (const std::string_view modifier : c.service.modifiers.list) {
    for (const auto& [name, shape] : kShapes)
      if (modifier == name) found = shape;
    if (modifier.starts_with(".x")) std::from_chars(modifier.data() + 2, modifier.data() + modifier.size(), repeat);
  }
  const bool known = found && repeat >= 1 && repeat <= kMostRegisters && (repeat & (repeat - 1)) == 0;
  return known ? std::optional(std::pair{*found, repeat}) : std::nullopt;
}

template <TmemShape kShape>
void load_shape(ServiceCall& c, int repeat, TmemAddr address, uint32_t* values, int split = 0) {
  c.execute(Tcgen05Ld<kShape>{repeat, address, values, split});
}
template <TmemShape kShape>
void store_shape(ServiceCall& c, int repeat, TmemAddr address, const uint32_t* values, int split = 0) {
  c.execute(Tcgen05St<kShape>{repeat, address, values, split});
}

PtxOutcome ld(ServiceCall& c) {
  const auto shape = shape_of(c);
  if (!shape) return c.warp.not_implemented("tcgen05.ld of this shape");
  const std::span<const Operand> to = registers_of(c.operand(0));
  const auto [kind, repeat] = *shape;
  const size_t n = size_t(registers_per_thread(kind, repeat));
  if (to.size() != n)
    return c.warp.not_implemented("tcgen05.ld with another number of registers than its shape has");
  // A register takes the low halves of two cells side by side: twice as many columns are read.
  const bool packs = c.has(".pack::16b");
  if (packs && kind != TmemShape::s32x32b)
    return c.warp.not_implemented("tcgen05.ld.pack::16b of another shape than 32x32b");
  const size_t cells = packs ? 2 * n : n;
  uint32_t* const values = c.warp.tmem_values(cells);  // other warps run while this one waits: each has its own
  const TmemAddr address{uint32_t(c.address(1))};
  switch (kind) {
    case TmemShape::s32x32b: load_shape<TmemShape::s32x32b>(c, int(cells), address, values); break;
    case TmemShape::s16x64b: load_shape<TmemShape::s16x64b>(c, repeat, address, values); break;
    case TmemShape::s16x128b: load_shape<TmemShape::s16x128b>(c, repeat, address, values); break;
    case TmemShape::s16x32bx2:
      load_shape<TmemShape::s16x32bx2>(c, repeat, address, values, int(c.value(c.operand(2), 0)));
      break;
    default: load_shape<TmemShape::s16x256b>(c, repeat, address, values); break;
  }
  const bool with_data = c.context().sm.with_data;
  for (size_t r = 0; r < n; ++r) {
    for (int lane = 0; with_data && lane < ptx::kLanes; ++lane) {
      const uint32_t* const of_lane = values + size_t(lane) * cells;
      c.set(to[r], lane, packs ? (of_lane[2 * r] & 0xffff) | of_lane[2 * r + 1] << 16 : of_lane[r]);
    }
    if (to[r].kind == Operand::Kind::reg) c.warp.loaded_from_tmem(to[r].row, c.context().tmem_loads);
    if (!with_data) c.warp.unknown(to[r]);
  }
  return kDone;
}

PtxOutcome st(ServiceCall& c) {
  const auto shape = shape_of(c);
  if (!shape) return c.warp.not_implemented("tcgen05.st of this shape");
  const auto [kind, repeat] = *shape;
  const bool halves = kind == TmemShape::s16x32bx2;
  const std::span<const Operand> from = registers_of(c.operand(halves ? 2 : 1));
  const size_t n = size_t(registers_per_thread(kind, repeat));
  if (from.size() != n)
    return c.warp.not_implemented("tcgen05.st with another number of registers than its shape has");
  // The halves of a register go to two cells side by side; what is above them there is taken to become zero.
  const bool unpacks = c.has(".unpack::16b");
  if (unpacks && kind != TmemShape::s32x32b)
    return c.warp.not_implemented("tcgen05.st.unpack::16b of another shape than 32x32b");
  const size_t cells = unpacks ? 2 * n : n;
  uint32_t* const values = c.warp.tmem_values(cells);
  for (size_t r = 0; r < n; ++r)
    for (int lane = 0; lane < ptx::kLanes; ++lane) {
      const auto held = uint32_t(c.value(from[r], lane));
      uint32_t* const of_lane = values + size_t(lane) * cells;
      if (unpacks)
        of_lane[2 * r] = held & 0xffff, of_lane[2 * r + 1] = held >> 16;
      else
        of_lane[r] = held;
    }
  const TmemAddr address{uint32_t(c.address(0))};
  switch (kind) {
    case TmemShape::s32x32b: store_shape<TmemShape::s32x32b>(c, int(cells), address, values); break;
    case TmemShape::s16x64b: store_shape<TmemShape::s16x64b>(c, repeat, address, values); break;
    case TmemShape::s16x128b: store_shape<TmemShape::s16x128b>(c, repeat, address, values); break;
    case TmemShape::s16x32bx2:
      store_shape<TmemShape::s16x32bx2>(c, repeat, address, values, int(c.value(c.operand(1), 0)));
      break;
    default: store_shape<TmemShape::s16x256b>(c, repeat, address, values); break;
  }
  return kDone;
}

PtxOutcome wait_ld(ServiceCall& c) {
  c.execute(Tcgen05WaitLd{});
  c.warp.tmem_loads_waited();
  return kDone;
}
PtxOutcome wait_st(ServiceCall& c) { return c.execute(Tcgen05WaitSt{}), kDone; }
PtxOutcome fence_before(ServiceCall& c) { return c.execute(Tcgen05FenceBeforeThreadSync{}), kDone; }
PtxOutcome fence_after(ServiceCall& c) { return c.execute(Tcgen05FenceAfterThreadSync{}), kDone; }

// ---- cluster launch control

PtxOutcome try_cancel(ServiceCall& c) {
  if (!c.context().profile.has_tensor_core) return no_unit(c, "clusterlaunchcontrol");
  if (c.has(".multicast::cluster::all"))
    c.execute(ClusterlaunchcontrolTryCancelMulticast{c.smem(0), c.smem(1)});
  else
    c.execute(ClusterlaunchcontrolTryCancel{c.smem(0), c.smem(1)});
  return kDone;
}

ClcResponse response_of(const ServiceCall& c, const Operand& o, int lane) {
  ClcResponse response;
  static_assert(sizeof response == 16);
  const uint64_t halves[2] = {c.file().read<uint64_t>(o.row)[lane],
                              c.file().read<uint64_t>(o.row.next_half())[lane]};
  std::memcpy(&response, halves, sizeof halves);
  return response;
}

PtxOutcome is_canceled(ServiceCall& c) {
  const bool canceled =
      c.execute(ClusterlaunchcontrolQueryCancelIsCanceled{response_of(c, c.operand(1), c.first())});
  c.set_predicate(c.operand(0), canceled ? ptx::kAllLanes : 0);
  return kDone;
}

PtxOutcome first_ctaid(ServiceCall& c) {
  const Dim3 id = c.execute(ClusterlaunchcontrolQueryCancelGetFirstCtaid{response_of(c, c.operand(1), c.first())});
  const Operand& to = c.operand(0);
  const uint32_t parts[] = {id.x, id.y, id.z, 0};
  if (to.kind == Operand::Kind::vector)
    for (size_t i = 0; i < to.elements.size(); ++i) c.set_all(to.elements[i], parts[i]);
  else
    c.set_all(to, c.has("::x") || c.has(".get_first_ctaid::x") ? id.x : c.has(".get_first_ctaid::y") ? id.y : id.z);
  return kDone;
}

}  // namespace

std::vector<PtxServiceEntry> tcgen05_services() {
  return {{"tcgen05.alloc", alloc, Together::all},
          {"tcgen05.dealloc", dealloc, Together::all},
          {"tcgen05.relinquish_alloc_permit", relinquish, Together::all},
          {"tcgen05.mma", mma, Together::any, true, {".ashift"}, TraceEvent::mma_issue},
          {"tcgen05.cp", cp, Together::any, true, {}, TraceEvent::mma_issue},
          {"tcgen05.commit", commit},
          {"tcgen05.ld", ld, Together::all, false, {".red"}, TraceEvent::tmem_load},
          {"tcgen05.st", st, Together::all, false},
          {"tcgen05.wait::ld", wait_ld, Together::all},
          {"tcgen05.wait::st", wait_st, Together::all},
          {"tcgen05.fence::before_thread_sync", fence_before},
          {"tcgen05.fence::after_thread_sync", fence_after},
          {"clusterlaunchcontrol.try_cancel", try_cancel, Together::any, true, {}, TraceEvent::clc_request},
          {"clusterlaunchcontrol.query_cancel.is_canceled",
           is_canceled,
           Together::any,
           true,
           {},
           TraceEvent::clc_fetch},
          {"clusterlaunchcontrol.query_cancel.get_first_ctaid", first_ctaid}};
}

}  // namespace sm100::sim
