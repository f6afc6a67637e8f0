// SPDX-License-Identifier: Apache-2.0
/// All instructions of the seam that are values, group by group.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/isa/instructions/atomics.h"
#include "kernels/isa/instructions/barriers.h"
#include "kernels/isa/instructions/bulk_copy.h"
#include "kernels/isa/instructions/bulk_tensor.h"
#include "kernels/isa/instructions/clc.h"
#include "kernels/isa/instructions/cluster_memory.h"
#include "kernels/isa/instructions/cp_async.h"
#include "kernels/isa/instructions/global_memory.h"
#include "kernels/isa/instructions/lane_exchange.h"
#include "kernels/isa/instructions/mbarrier.h"
#include "kernels/isa/instructions/mbarrier_state.h"
#include "kernels/isa/instructions/registers.h"
#include "kernels/isa/instructions/shared_memory.h"
#include "kernels/isa/instructions/tcgen05.h"
#include "kernels/isa/instructions/tensor_map.h"
#include "kernels/isa/instructions/wgmma.h"

namespace sm100::instructions {

/// f(Type<I>) for each instruction, in the order in which they are listed.
template <class F>
constexpr void for_each_instruction(F&& f) {
  for_each(MbarrierGroup{}, f), for_each(MbarrierStateGroup{}, f);
  for_each(BarrierGroup{}, f), for_each(RegisterGroup{}, f);
  for_each(LaneExchangeGroup{}, f);
  for_each(SharedMemoryGroup{}, f), for_each(GlobalMemoryGroup{}, f);
  for_each(ClusterMemoryGroup{}, f), for_each(AtomicsGroup{}, f);
  for_each(BulkTensorGroup{}, f), for_each(BulkCopyGroup{}, f), for_each(TensorMapGroup{}, f);
  for_each(CpAsyncGroup{}, f);
  for_each(Tcgen05Group{}, f), for_each(ClcGroup{}, f);
  for_each(WgmmaGroup{}, f);
}

/// An operand of the instruction has that name; empty: any name.
template <class I>
constexpr bool has_operand(std::string_view name) {
  I instruction{};
  bool found = false;
  I::operands(instruction, [&](std::string_view operand, auto&) { found |= operand == name; });
  return found;
}
/// An operand of the instruction is a T.
template <class T, class I>
constexpr bool has_operand_of() {
  I instruction{};
  bool found = false;
  I::operands(instruction, [&]<class Operand>(std::string_view, Operand&) { found |= std::is_same_v<Operand, T>; });
  return found;
}

/// What `sm100sim list isa` prints: what the instructions say of themselves, and what PTX has besides.
inline std::vector<SupportLine> support_lines() {
  std::vector<SupportLine> lines;
  const auto add = [&](const SupportLine& line) {
    const auto same = [&](const SupportLine& known) { return known.instruction == line.instruction; };
    if (std::none_of(lines.begin(), lines.end(), same)) lines.push_back(line);
  };
  const auto group = [&](auto list, const auto&... rejected) {
    for_each(list, [&](auto type) {
      for (const SupportLine& line : decltype(type)::type::kSupport) add(line);
    });
    (std::for_each(std::begin(rejected), std::end(rejected), add), ...);
  };
  group(MbarrierGroup{}), group(MbarrierStateGroup{});
  group(CpAsyncGroup{}, kCpAsyncRejected);
  group(BulkTensorGroup{}, kBulkTensorRejected);
  group(BulkCopyGroup{}, kBulkCopyRejected);
  group(TensorMapGroup{});
  group(Tcgen05Group{}, kTcgen05Rejected);
  group(ClcGroup{});
  group(WgmmaGroup{}, kWgmmaRejected);
  group(BarrierGroup{});
  group(RegisterGroup{});
  group(LaneExchangeGroup{});
  group(SharedMemoryGroup{});
  group(GlobalMemoryGroup{});
  group(ClusterMemoryGroup{}, kClusterMemoryRejected);
  group(AtomicsGroup{}, kAtomicsRejected);
  return lines;
}

}  // namespace sm100::instructions
