// SPDX-License-Identifier: Apache-2.0
#include "sim/ptx/ptx_uses.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "sim/ptx/ptx_kernel.h"

namespace sm100::sim {

using Does = ptx::BarrierUse::Does;

namespace {

bool same(const ptx::BarrierUse& a, const ptx::BarrierUse& b) {
  return a.instruction == b.instruction && a.barrier.has_value() == b.barrier.has_value() &&
         (!a.barrier || (a.barrier->offset == b.barrier->offset && a.barrier->exact == b.barrier->exact)) &&
         a.amount == b.amount && a.parity == b.parity;
}

bool nameless(const BarrierArray& array) { return std::string_view(array.name).starts_with("mbarrier 0x"); }
bool unused(const BarrierArray& array) { return std::string_view(array.arrives).empty(); }
bool unawaited(const BarrierArray& array) { return std::string_view(array.waits).empty(); }
bool used_alike(const BarrierArray& a, const BarrierArray& b) {
  return std::string_view(a.arrives) == b.arrives && std::string_view(a.arrives_with) == b.arrives_with &&
         std::string_view(a.waits) == b.waits;
}

/// Nameless rows as rows of one barrier each.
std::vector<BarrierArray> single(const std::vector<BarrierArray>& table) {
  std::vector<BarrierArray> rows;
  for (const BarrierArray& row : table) {
    if (!nameless(row)) {
      rows.push_back(row);
      continue;
    }
    for (int s = 0; s < row.stages; ++s) {
      BarrierArray& one = rows.emplace_back(row);
      one.base = SmemAddr{row.base.value + 8u * uint32_t(s)}, one.stages = 1;
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.base.value < b.base.value; });
  return rows;
}

/// Who signals and awaits the barrier at an offset, by the text: what is done and by which warps.  An address to
/// which something unknown is added means all barriers from there to where the next such address begins.
std::set<std::pair<int, uint64_t>> text_uses(const PtxUses& uses, const std::set<uint32_t>& bases,
                                             uint32_t offset) {
  std::set<std::pair<int, uint64_t>> found;
  const auto next = bases.upper_bound(offset);
  const uint32_t base = next == bases.begin() ? UINT32_MAX : *std::prev(next);
  for (const PtxUse& use : uses.all) {
    if (!use.use.barrier || use.use.does == Does::init) continue;
    if (use.use.barrier->offset == (use.use.barrier->exact ? offset : base))
      found.insert({int(use.use.does), use.warps});
  }
  return found;
}

/// Offsets that something unknown is added to, by other than inits, which may go through several arrays.
std::set<uint32_t> bases_of(const PtxUses& uses) {
  std::set<uint32_t> bases;
  for (const PtxUse& use : uses.all)
    if (use.use.barrier && !use.use.barrier->exact && use.use.does != Does::init)
      bases.insert(use.use.barrier->offset);
  return bases;
}

/// Of a row that another has joined: who has come to either.
void join(BarrierArray& row, const BarrierArray& other) {
  ++row.stages;
  if (unused(row)) row.arrives = other.arrives, row.arrives_with = other.arrives_with;
  if (std::string_view(row.waits).empty()) row.waits = other.waits;
}

std::vector<BarrierArray> arrays_of(BarrierTable& table, const std::vector<BarrierArray>& rows,
                                    const PtxUses& uses) {
  const std::set<uint32_t> bases = bases_of(uses);
  std::vector<BarrierArray> arrays;
  std::set<std::pair<int, uint64_t>> of_last;
  for (const BarrierArray& row : rows) {
    const auto of_row = text_uses(uses, bases, row.base.offset());
    BarrierArray* last = arrays.empty() || !nameless(row) || !nameless(arrays.back()) ? nullptr : &arrays.back();
    const bool next =
        last && last->base.offset() + 8u * uint32_t(last->stages) == row.base.offset() && last->count == row.count;
    // What a run has shown of both decides, else what the text says of them.
    const bool shown = last && !unused(*last) && !unused(row) && !unawaited(*last) && !unawaited(row);
    const bool alike =
        next && (shown || (of_row.empty() && of_last.empty()) ? used_alike(*last, row) : of_row == of_last);
    of_last = of_row;
    if (alike) {
      join(*last, row);
      continue;
    }
    arrays.push_back(row);
    if (nameless(row)) arrays.back().name = table.keep(fmt::format("mbarrier {:#x}", row.base.offset()));
  }
  return arrays;
}

std::string joined(const std::set<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

/// Who may arrive or wait, where the run has shown nobody.
void fill(BarrierTable& table, BarrierArray& row, const Kernel& kernel, const PtxUses& uses) {
  std::set<std::string> arrives, with, waits;
  for (const PtxUse* use : uses.of(row))
    for (int warp = 0; warp < kernel.warps; ++warp) {
      if (!(use->warps >> warp & 1)) continue;
      if (use->use.arrives()) arrives.insert(kernel.role(warp)), with.insert(use->instruction);
      if (use->use.waits()) waits.insert(kernel.role(warp));
    }
  if (with.contains("mbarrier.arrive.expect_tx")) with.erase("mbarrier.arrive");
  if (std::string_view(row.arrives).empty()) row.arrives = table.keep(joined(arrives));
  if (std::string_view(row.arrives_with).empty()) row.arrives_with = table.keep(joined(with));
  if (std::string_view(row.waits).empty()) row.waits = table.keep(joined(waits));
}

}  // namespace

bool names_barrier(const ptx::BarrierUse& use, const BarrierArray& array) {
  return use.barrier && use.barrier->offset >= array.base.offset() &&
         use.barrier->offset < array.base.offset() + 8u * uint32_t(array.stages);
}

std::vector<const PtxUse*> PtxUses::of(const BarrierArray& array) const {
  std::vector<const PtxUse*> found;
  for (const PtxUse& use : all)
    if (names_barrier(use.use, array)) found.push_back(&use);
  return found;
}

bool PtxUses::may_arrive(const BarrierArray& array, int warp) const {
  return std::any_of(all.begin(), all.end(), [&](const PtxUse& use) {
    return use.use.arrives() && (use.warps >> warp & 1) && names_barrier(use.use, array);
  });
}

bool PtxUses::signals_unknown() const {
  return calls ||
         std::any_of(all.begin(), all.end(), [](const PtxUse& u) { return u.use.signals() && !u.use.barrier; });
}

PtxUses uses_of(const PtxCode& code, int warps) {
  const ptx::Program program = code.as_written();
  const Dim3 b = code.launch().block;
  std::map<uint32_t, std::vector<PtxUse>> uses;  // by instruction
  bool calls = false;
  for (int warp = 0; warp < warps; ++warp) {
    const ptx::Reach reach(program, code.constants(0), code.windows(0), {b.x, b.y, b.z}, warp);
    const ptx::WarpView view = ptx::view_of(program, reach);
    calls |= view.calls;
    for (const ptx::BarrierUse& use : view.uses) {
      std::vector<PtxUse>& of = uses[use.instruction];
      const auto known = std::find_if(of.begin(), of.end(), [&](const PtxUse& u) { return same(u.use, use); });
      PtxUse& row = known != of.end() ? *known : of.emplace_back();
      row.use = use, row.warps |= uint64_t{1} << warp, row.loc = code.loc(use.instruction);
      row.instruction = ptx::instruction_name(program, use);
      row.line = int(program.code[use.instruction].line), row.opcode = program.text(program.code[use.instruction]);
    }
  }
  PtxUses all;
  all.calls = calls;
  for (auto& [instruction, of] : uses)
    for (PtxUse& use : of) all.all.push_back(std::move(use));
  return all;
}

void complete_table(BarrierTable& table, const Kernel& kernel, const PtxUses& uses) {
  table.rows = arrays_of(table, single(table.rows), uses);
  for (BarrierArray& row : table.rows) fill(table, row, kernel, uses);
}

std::string completed_by(const BarrierArray& array) {
  const std::string_view with = array.arrives_with;
  if (with.empty()) return "";
  if (lists(with, "mbarrier.arrive.expect_tx")) return fmt::format("filled by TMA for {}", array.arrives);
  if (lists(with, "clusterlaunchcontrol.try_cancel")) return fmt::format("filled by CLC for {}", array.arrives);
  if (lists(with, "tcgen05.commit")) return fmt::format("completed by {} of {}", with, array.arrives);
  return fmt::format("completed by arrivals of {}", array.arrives);
}

std::shared_ptr<const PtxCode> ptx_code_of(const Kernel& kernel) {
  const PtxRunner* runner = kernel.run_warp.target<PtxRunner>();
  return runner ? runner->code() : nullptr;
}

const PtxUses* ptx_uses_of(const Kernel& kernel) {
  const std::shared_ptr<const PtxCode> code = ptx_code_of(kernel);
  if (!code) return nullptr;
  // SystemC elaborates once per process: these are the programs of one run.
  static std::map<const PtxCode*, std::pair<std::shared_ptr<const PtxCode>, PtxUses>> known;
  auto& [kept_code, uses] = known[code.get()];
  if (!kept_code) kept_code = code, uses = uses_of(*code, kernel.warps);
  return &uses;
}

}  // namespace sm100::sim
