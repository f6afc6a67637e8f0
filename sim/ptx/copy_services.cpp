// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies of PTX on the models: tensor, bulk, cp.async (PTX 9.7.9.25 to .27), tensor maps.
#include "sim/ptx/lane_memory.h"
#include "sim/ptx/services.h"

namespace sm100::sim {

using namespace instructions;
using ptx::LaneMask;
using ptx::Operand;
using Together = PtxServiceEntry::Together;

TensorMapAddr tensor_map_at(ServiceCall& c, uint64_t generic) {
  const ptx::Windows& windows = c.file().windows;
  if (windows.param.has(generic))
    return reinterpret_cast<const TensorMap*>(
        c.warp.parameter_bytes(generic - windows.param.base, sizeof(TensorMap)));
  if (windows.constant.has(generic))
    return reinterpret_cast<const TensorMap*>(c.warp.code.constant_bytes().data() +
                                              (generic - windows.constant.base));
  return GlobalAddr{generic};
}

namespace {

/// Lanes execute copies one by one unless all their operands are alike.
template <class F>
PtxOutcome for_each_copy(ServiceCall& c, F&& f) {
  LaneMask alike = 0;
  const auto same = [&](auto& self, const Operand& o, int lane) -> bool {
    switch (o.kind) {
      case Operand::Kind::reg:
      case Operand::Kind::immediate:
      case Operand::Kind::symbol:
        if (c.value(o, lane) != c.value(o, c.first())) return false;
        break;
      case Operand::Kind::address:
        if (c.address(o, lane) != c.address(o, c.first())) return false;
        break;
      default: break;
    }
    for (const Operand& element : o.elements)
      if (!self(self, element, lane)) return false;
    return true;
  };
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    bool all = true;
    for (const Operand& o : c.service.operands) all &= same(same, o, lane);
    if (all) alike |= left & -left;
  }
  if (alike == c.lanes) return f(c.first(), c.lanes);
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    if (const PtxOutcome outcome = f(std::countr_zero(left), left & -left); outcome != kDone) return outcome;
    if (c.warp.over()) return PtxOutcome::stop;
  }
  return kDone;
}

/// A modifier's first letters say what follows the operands that are always there.
L2CachePolicy policy_of(const ServiceCall& c, int lane) {
  if (!c.has(".L2::cache_hint")) return {};
  return {c.value(c.operand(c.size() - 1), lane)};
}
const Operand& mask_of(const ServiceCall& c) { return c.operand(c.size() - 1 - c.has(".L2::cache_hint")); }

std::optional<ReduceOp> reduction_of(const ServiceCall& c) {
  static constexpr std::pair<std::string_view, ReduceOp> kOps[] = {
      {".add", ReduceOp::add}, {".min", ReduceOp::min},     {".max", ReduceOp::max},   {".inc", ReduceOp::inc},
      {".dec", ReduceOp::dec}, {".and", ReduceOp::bit_and}, {".or", ReduceOp::bit_or}, {".xor", ReduceOp::bit_xor}};
  for (const auto& [name, op] : kOps)
    if (c.has(name)) return op;
  return std::nullopt;
}

const std::vector<std::string_view> kRefusedTensor = {".im2col::w", ".im2col::w::128"};

PtxOutcome tensor_load(ServiceCall& c) {
  c.warp.does(TraceEvent::load_issue);
  return for_each_copy(c, [&](int lane, LaneMask by) {
    const SmemAddr smem{c.shared(c.operand(0), lane)}, barrier{c.shared(c.operand(2), lane)};
    const TensorMapAddr map = tensor_map_at(c, c.address(c.operand(1), lane));
    const Coordinates coords = coordinates_of(c, c.operand(1), lane);
    const int group = c.has(".cta_group::2") ? 2 : 1;
    if (c.has(".multicast::cluster"))
      c.execute(
          CpAsyncBulkTensorSharedGlobalMulticast{
              smem, map, coords, barrier, {uint16_t(c.value(mask_of(c), lane))}, group},
          by);
    else
      c.execute(CpAsyncBulkTensorSharedGlobal{smem, map, coords, barrier, group}, by);
    return kDone;
  });
}

PtxOutcome tensor_copy(ServiceCall& c) {
  // A load's first operand is a place in shared memory; a store's is the tensor.
  if (c.operand(0).elements.empty()) return tensor_load(c);
  c.warp.does(TraceEvent::store_issue);
  return for_each_copy(c, [&](int lane, LaneMask by) {
    c.execute(CpAsyncBulkTensorGlobalShared{tensor_map_at(c, c.address(c.operand(0), lane)),
                                            coordinates_of(c, c.operand(0), lane),
                                            {c.shared(c.operand(1), lane)}},
              by);
    return kDone;
  });
}

PtxOutcome tensor_reduction(ServiceCall& c) {
  const auto op = reduction_of(c);
  if (!op) return c.warp.not_implemented(std::string(c.service.base));
  return for_each_copy(c, [&](int lane, LaneMask by) {
    const TensorMapAddr map = tensor_map_at(c, c.address(c.operand(0), lane));
    if (map.in_global)
      return c.warp.not_implemented("cp.reduce.async.bulk.tensor with a tensor map in global memory");
    c.execute(CpReduceAsyncBulkTensor{*op,
                                      map.parameter(),
                                      coordinates_of(c, c.operand(0), lane),
                                      {c.shared(c.operand(1), lane)},
                                      policy_of(c, lane)},
              by);
    return kDone;
  });
}

std::optional<ReduceType> reduced_type_of(const ServiceCall& c) {
  static constexpr std::pair<std::string_view, ReduceType> kTypes[] = {
      {".u32", ReduceType::u32}, {".s32", ReduceType::s32}, {".u64", ReduceType::u64},   {".s64", ReduceType::s64},
      {".b32", ReduceType::b32}, {".b64", ReduceType::b64}, {".bf16", ReduceType::bf16}, {".f16", ReduceType::f16},
      {".f32", ReduceType::f32}, {".f64", ReduceType::f64}};
  for (const auto& [name, type] : kTypes)
    if (c.has(name)) return type;
  return std::nullopt;
}

PtxOutcome bulk_reduction(ServiceCall& c) {
  const auto op = reduction_of(c);
  const auto type = reduced_type_of(c);
  const bool into_shared = c.has(".mbarrier::complete_tx::bytes");
  if (!op || !type) return c.warp.not_implemented(std::string(c.service.base));
  c.warp.does(TraceEvent::store_issue);
  return for_each_copy(c, [&](int lane, LaneMask by) {
    const SmemAddr from{c.shared(c.operand(1), lane)};
    const auto bytes = uint32_t(c.value(c.operand(2), lane));
    if (into_shared)
      c.execute(
          CpReduceAsyncBulkSharedCluster{
              *op, *type, {uint32_t(c.address(c.operand(0), lane))}, from, bytes, {c.shared(c.operand(3), lane)}},
          by);
    else
      c.execute(
          CpReduceAsyncBulkGlobal{*op, *type, {c.address(c.operand(0), lane)}, from, bytes, policy_of(c, lane)},
          by);
    return kDone;
  });
}

PtxOutcome bulk_copy(ServiceCall& c) {
  c.warp.does(c.has(".mbarrier::complete_tx::bytes") ? TraceEvent::load_issue : TraceEvent::store_issue);
  return for_each_copy(c, [&](int lane, LaneMask by) {
    const auto bytes = uint32_t(c.value(c.operand(2), lane));
    const uint64_t to = c.address(c.operand(0), lane), from = c.address(c.operand(1), lane);
    if (c.has(".shared::cluster") && c.has(".shared::cta") && !c.has(".global")) {
      c.execute(CpAsyncBulkSharedCluster{{uint32_t(to)}, {uint32_t(from)}, bytes, {c.shared(c.operand(3), lane)}},
                by);
    } else if (c.has(".mbarrier::complete_tx::bytes")) {
      const SmemAddr barrier{c.shared(c.operand(3), lane)};
      if (c.has(".multicast::cluster"))
        c.execute(
            CpAsyncBulkSharedGlobalMulticast{
                {uint32_t(to)}, {from}, bytes, barrier, {uint16_t(c.value(mask_of(c), lane))}, policy_of(c, lane)},
            by);
      else
        c.execute(CpAsyncBulkSharedGlobal{{uint32_t(to)}, {from}, bytes, barrier, policy_of(c, lane)}, by);
    } else {
      uint16_t mask = 0xffff;
      if (c.has(".cp_mask")) mask = uint16_t(c.value(mask_of(c), lane));
      c.execute(CpAsyncBulkGlobalShared{{to}, {uint32_t(from)}, bytes, mask, policy_of(c, lane)}, by);
    }
    return kDone;
  });
}

PtxOutcome commit_group(ServiceCall& c) { return c.execute(CpAsyncBulkCommitGroup{}), kDone; }

PtxOutcome wait_group(ServiceCall& c) {
  c.warp.does(TraceEvent::store_wait);
  const int pending = int(c.value(0));
  if (c.has(".read"))
    c.execute(CpAsyncBulkWaitGroupRead{pending});
  else
    c.execute(CpAsyncBulkWaitGroup{pending});
  c.warp.has_waited();
  return kDone;
}

PtxOutcome bulk_prefetch(ServiceCall& c) {
  return for_each_copy(c, [&](int lane, LaneMask by) {
    c.execute(
        CpAsyncBulkPrefetchL2{
            {c.address(c.operand(0), lane)}, uint32_t(c.value(c.operand(1), lane)), policy_of(c, lane)},
        by);
    return kDone;
  });
}

PtxOutcome tensor_prefetch(ServiceCall& c) {
  return for_each_copy(c, [&](int lane, LaneMask by) {
    const TensorMapAddr map = tensor_map_at(c, c.address(c.operand(0), lane));
    if (map.in_global)
      return c.warp.not_implemented("cp.async.bulk.prefetch.tensor with a tensor map in global memory");
    c.execute(
        CpAsyncBulkPrefetchTensorL2{map.parameter(), coordinates_of(c, c.operand(0), lane), policy_of(c, lane)},
        by);
    return kDone;
  });
}

PtxOutcome prefetch(ServiceCall& c) {
  if (c.has(".tensormap")) c.execute(PrefetchTensormap{tensor_map_at(c, c.address(0))});
  return kDone;  // of other lines: a hint
}

// ---- cp.async, not bulk

/// [shared], [global], size, then the bytes to read of it or a predicate that says to read none.
PtxOutcome cp_async(ServiceCall& c) {
  const size_t operands = c.size() - c.has(".L2::cache_hint");
  const auto bytes = uint32_t(c.value(2));
  LaneArray<SmemAddr, 1> to{};
  LaneArray<GlobalAddr, 1> from{};
  LaneArray<uint32_t, 1> read{};
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    to(lane) = {c.shared(c.operand(0), lane)}, from(lane) = {c.address(c.operand(1), lane)}, read(lane) = bytes;
    if (operands < 4) continue;
    const Operand& last = c.operand(3);
    if (last.kind == Operand::Kind::predicate)
      read(lane) = c.predicate(last) >> lane & 1 ? 0 : bytes;
    else
      read(lane) = uint32_t(c.value(last, lane));
  }
  c.execute(CpAsyncLanes{bytes, &to, &from, &read});
  return kDone;
}
PtxOutcome cp_async_commit(ServiceCall& c) { return c.execute(CpAsyncCommitGroup{}), kDone; }
PtxOutcome cp_async_wait(ServiceCall& c) { return c.execute(CpAsyncWaitGroup{int(c.value(0))}), kDone; }
PtxOutcome cp_async_wait_all(ServiceCall& c) {
  c.execute(CpAsyncCommitGroup{});
  c.execute(CpAsyncWaitGroup{0});
  return kDone;
}
PtxOutcome cp_async_arrive(ServiceCall& c) {
  return c.for_each_alike(
      [&](int lane) { return c.shared(c.operand(0), lane); },
      [&](LaneMask by) {
        c.execute(CpAsyncMbarrierArrive{{c.shared(c.operand(0), std::countr_zero(by))}, c.has(".noinc")}, by);
        return kDone;
      });
}

}  // namespace

std::vector<PtxServiceEntry> copy_services() {
  return {{"cp.async.bulk.tensor", tensor_copy, Together::any, true, kRefusedTensor},
          {"cp.reduce.async.bulk.tensor", tensor_reduction, Together::any, true, kRefusedTensor},
          {"cp.reduce.async.bulk", bulk_reduction, Together::any, true},
          {"cp.async.bulk", bulk_copy, Together::any, true, {".ignore_oob"}},
          {"cp.async.bulk.commit_group", commit_group},
          {"cp.async.bulk.wait_group", wait_group},
          {"cp.async.bulk.prefetch.L2", bulk_prefetch},
          {"cp.async.bulk.prefetch.tensor", tensor_prefetch, Together::any, true, kRefusedTensor},
          {"prefetch", prefetch},
          {"prefetchu", prefetch},
          {"applypriority", prefetch},
          {"discard", prefetch},
          {"cp.async.ca", cp_async},
          {"cp.async.cg", cp_async},
          {"cp.async.commit_group", cp_async_commit},
          {"cp.async.wait_group", cp_async_wait},
          {"cp.async.wait_all", cp_async_wait_all},
          {"cp.async.mbarrier.arrive", cp_async_arrive}};
}

}  // namespace sm100::sim
