// SPDX-License-Identifier: Apache-2.0
#include "models/wgmma.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "models/provenance.h"
#include "models/time.h"
#include "models/umma_operands.h"

namespace sm100::models {

namespace {
constexpr int kGroupsInFlight = 7;

/// That are read from shared memory; of a sparse one all of B, as an H200's times say.
double operand_bytes(const WgmmaForm& form) {
  const uint32_t a = form.a_in_registers ? 0 : kWgmmaM * wgmma_row_bytes(form, true);
  return a + uint32_t(form.n) * wgmma_row_bytes(form, false);
}
}  // namespace

void Wgmma::start_cta(int warps) {
  warps_.assign(size_t(warps), {});
  inside_.fill({});  // another kernel's shared memory may be smaller
  groups_.clear();
  groups_.resize(size_t(warps + kWarpgroupWarps - 1) / kWarpgroupWarps);
}

void Wgmma::violate(const char* id, std::string message, const Source& source) {
  observer_.violation({id, std::move(message), now(), slot_, 0, source});
}

double Wgmma::initiation_interval(const WgmmaForm& form) const {
  const double reads = operand_bytes(form) / profile_.wgmma.smem_read_bytes_per_cycle;
  const auto& p = profile_.wgmma;
  const double floor = !form.a_in_registers ? 0 : form.sparse ? p.sparse_floor_cycles : p.register_floor_cycles;
  return std::max({double(form.n) / profile_.wgmma.columns_per_cycle, reads, floor});
}

double Wgmma::execution_latency(const WgmmaForm& form) const {
  const auto& p = profile_.wgmma;
  const double dense = double(form.n) / p.columns_per_cycle + p.latency_cycles;
  if (!form.sparse) return dense;
  if (form.a_in_registers) return dense + p.sparse_register_cycles;
  // Of N = 8 two cycles more, from N = 64 on all of them; between the two along a line.
  constexpr double kFew = 2, kNarrow = 8, kWide = 64;
  return dense + kFew + (p.sparse_latency_cycles - kFew) * std::min(1., (form.n - kNarrow) / (kWide - kNarrow));
}

bool Wgmma::check(const WgmmaCommand& command, const WgmmaOperation& op) {
  const int first = command.source.warp / kWarpgroupWarps * kWarpgroupWarps;
  if (size_t(first + kWarpgroupWarps) > warps_.size()) {
    violate("WG2",
            fmt::format("wgmma.mma_async by warp {}, whose warpgroup has {} of 4 warps", command.source.warp,
                        warps_.size() - size_t(first)),
            command.source);
    return false;
  }
  const WgmmaForm& form = op.form;
  const auto look = [&](bool a) {
    const SmemDescriptorFields& f = a ? op.a : op.b;
    const char* const name = a ? "A" : "B";
    const OperandFormat format = operand_format(form, a);
    if (f.base_offset != 0) {
      violate("TC6", fmt::format("descriptor of {}: {}", name, message(SmemDescriptorError::base_offset)),
              command.source);
      return false;
    }
    const uint64_t descriptor = a ? command.a.bits : command.b.bits;
    Inside& known = inside_[size_t((descriptor * 0x9e3779b97f4a7c15u) >> 58)];
    if (known.known && known.descriptor == descriptor && known.a == a && known.form == form) return true;
    const uint32_t end = smem_.end();
    uint32_t outside = 0;
    bool inside = true;
    for_each_chunk(f, format, uint32_t(a ? kWgmmaM : form.n), [&](uint32_t at) {
      if (inside && !smem_.contains(at, 16)) inside = false, outside = at;
    });
    if (!inside)
      violate("TC7",
              fmt::format("wgmma.mma_async reads {} at {:#x}, outside the CTA's shared memory, which ends at {:#x}",
                          name, outside, end),
              command.source);
    else
      known = {.descriptor = descriptor, .form = form, .a = a, .known = true};
    return inside;
  };
  return (form.a_in_registers || look(true)) && look(false);
}

uint32_t Wgmma::mma(const WgmmaCommand& command, Cycles at) {
  const int warp = command.source.warp;
  const size_t part = size_t(warp % kWarpgroupWarps);
  const WgmmaOperation op{
      .form = command.form, .a = decode_wgmma(command.a), .b = decode_wgmma(command.b), .scale_d = command.scale_d};
  if (!check(command, op)) return 0;
  Warpgroup& group = group_of(warp);
  const uint32_t number = ++warps_[size_t(warp)].executed;
  if (number - group.first == group.open.size())
    group.open.push_back({.operation = op, .a = command.a, .b = command.b, .source = command.source});
  Instruction& instruction = group.open[number - group.first];
  const bool same = instruction.operation.form == command.form &&
                    instruction.operation.scale_d == command.scale_d && instruction.b == command.b &&
                    (command.form.a_in_registers || instruction.a == command.a);
  if (!same) {
    violate(
        "WG2",
        fmt::format("wgmma.mma_async, the {}. of warp {}, is another one than that of warp {}: the four warps of a "
                    "warpgroup execute the same form with the same descriptors and scale-d",
                    number, warp, instruction.source.warp),
        command.source);
    return 0;
  }
  instruction.operation.d[part] = command.d;
  if (command.form.a_in_registers && sm_.with_data)
    instruction.operation.a_registers[part].assign(command.a_registers,
                                                   command.a_registers + kWarpLanes * kWgmmaARegisters);
  if (command.form.sparse && sm_.with_data)
    instruction.operation.metadata[part].assign(command.metadata, command.metadata + kWarpLanes);
  instruction.ready = std::max(instruction.ready, double(at));
  instruction.source = command.source;
  if (++instruction.arrived == kWarpgroupWarps) start(instruction, group);
  return number;
}

void Wgmma::start(Instruction& instruction, Warpgroup& group) {
  const WgmmaForm& form = instruction.operation.form;
  const double begin = std::max(instruction.ready, sm_.tensor_pipe.free), interval = initiation_interval(form);
  sm_.tensor_pipe.free = begin + interval;
  sm_.tensor_pipe.busy_cycles += interval;
  const double reads = operand_bytes(form) / profile_.wgmma.smem_read_bytes_per_cycle;
  sm_.shared_memory.operands_read(begin, begin + interval, std::max(1 - reads / interval, profile_.wgmma.least_left));
  // Instructions of a warpgroup are over in order, whatever delays them.
  const Cycles late = jitter_.delay(JitterSite::wgmma, instruction.source);
  group.done = instruction.done =
      std::max(group.done, Cycles(std::llround(begin + execution_latency(form))) + late);
  observer_.unit_span({.kind = UnitSpanKind::umma,
                       .begin = Cycles(begin),
                       .end = instruction.done,
                       .slot = slot_,
                       .flow_in = instruction.source.flow,
                       .source = instruction.source});
  if (sm_.provenance && sm_.with_data)
    sm_.provenance->warpgroup_multiplied(slot_, int(&group - groups_.data()) * kWarpgroupWarps,
                                         instruction.operation, instruction.source);
  for (Waiter* w : std::exchange(group.waiting, {})) {
    w->cause = 0, w->by = instruction.source;
    w->wake.notify(0);
  }
}

Cycles Wgmma::commit(int warp) {
  OfWarp& self = warps_[size_t(warp)];
  self.groups.push_back(self.executed);
  if (self.groups.size() <= kGroupsInFlight) return 0;
  const uint32_t number = self.groups[self.groups.size() - 1 - kGroupsInFlight];
  const Warpgroup& group = group_of(warp);
  if (number < group.first) return 0;
  const Instruction& oldest = group.open[number - group.first];
  return oldest.arrived == kWarpgroupWarps ? oldest.done : 0;
}

uint32_t Wgmma::covered(int warp, int pending) const {
  const std::vector<uint32_t>& groups = warps_[size_t(warp)].groups;
  return size_t(pending) < groups.size() ? groups[groups.size() - 1 - size_t(pending)] : 0;
}

std::optional<Cycles> Wgmma::finished(int warp, uint32_t number, Waiter& waiter) {
  Warpgroup& group = group_of(warp);
  if (number < group.first) return 0;
  const Instruction& last = group.open[number - group.first];
  if (last.arrived == kWarpgroupWarps) return last.done;
  group.waiting.push_back(&waiter);
  return std::nullopt;
}

void Wgmma::retire(int warp, uint32_t number) {
  Warpgroup& group = group_of(warp);
  for (; group.first <= number && !group.open.empty(); ++group.first, group.open.pop_front())
    if (sm_.with_data) {
      numerics_.execute(group.open.front().operation);
      if (sm_.provenance)
        sm_.provenance->warpgroup_finished(slot_, warp / kWarpgroupWarps * kWarpgroupWarps,
                                           group.open.front().operation, group.open.front().source);
    }
}

std::vector<int> Wgmma::missing(int warp, uint32_t number) const {
  const int first = warp / kWarpgroupWarps * kWarpgroupWarps;
  std::vector<int> missing;
  for (int w = first; w < first + kWarpgroupWarps && size_t(w) < warps_.size(); ++w)
    if (executed(w) < number) missing.push_back(w);
  return missing;
}

}  // namespace sm100::models
