// SPDX-License-Identifier: Apache-2.0
// CTAs of a cluster that run interleaved: their barriers, and whose turn it is.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>
#include <map>
#include <utility>

#include "kernels/host/ptx_layout.h"
#include "sim/ptx/functional_warp.h"
#include "sim/ptx/longest_match.h"

namespace sm100::sim {

namespace {

/// Sweeps over the warps of a gang in which every one has polled in vain; then other gangs may go.
constexpr int kVainSweeps = 64;
/// Warp instructions after which another gang may begin: it may be what this one waits for, in a loop that does
/// more than poll (a backoff, a time limit).
constexpr uint64_t kTurn = 2'000'000;

}  // namespace

FunctionalCode::FunctionalCode(const FunctionalLaunch& launch)
    : launch(launch),
      code(*launch.module, *launch.entry,
           {launch.grid,
            launch.block,
            launch.cluster,
            launch.dynamic_smem_bytes,
            {launch.variables.begin(), launch.variables.end()}}),
      specials(code),
      variables(code.constant_bytes()) {
  specials.look_up_lanes();
  const ptx::Program& program = code.program();
  shared_bytes = uint32_t(host::shared_layout(program).first_dynamic) + launch.dynamic_smem_bytes;
  const bool recorded = launch.memory && launch.memory->accesses();
  for (const ptx::Access& a : program.accesses) {
    const auto element = uint32_t(std::max(1, ptx::bytes(a.type)));
    const LaneMove move(a);
    const uint8_t* const parameter = parameter_of(a);
    memory.push_back(
        {move, a.space, move.plain() && !parameter && !recorded, element, element * a.vector, parameter});
  }
  for (const ptx::Instr& i : program.code)
    if (i.kind == ptx::Kind::service) {
      services.resize(std::max<size_t>(services.size(), i.detail + 1));
      services[i.detail] =
          functional_missing(program, i).empty() ? longest_match(functional_services(), program.text(i)) : nullptr;
    }
  spin_.assign(program.code.size(), false);
  for (const ptx::Wait& wait : program.waits)
    for (uint32_t at = wait.first; wait.load && at <= wait.last; ++at) {
      const ptx::Instr& i = program.code[at];
      spin_[at] = i.kind == ptx::Kind::branch && i.target <= wait.poll && i.target >= wait.first;
    }
  find_runs();
  find_repeated_addresses();
}

/// Where the bytes lie that an ld.param whose address is a number loads; nullptr: it is no such thing, or they lie
/// outside of the window.
const uint8_t* FunctionalCode::parameter_of(const ptx::Access& access) const {
  const ptx::Operand& o = access.address;
  const auto element = uint64_t(std::max(1, ptx::bytes(access.type))), bytes = element * access.vector;
  if (access.space != ptx::Space::param || access.store || o.row.area() == 0 || element > 8) return nullptr;
  uint64_t address = 0;
  std::memcpy(&address, code.constants(0).data() + o.row.offset(), o.width);
  address += uint64_t(o.offset);
  const std::span<const uint8_t> window = launch.parameters;
  const bool inside = address < window.size() && bytes <= window.size() - address && address % bytes == 0;
  return inside ? window.data() + address : nullptr;
}

/// Marks accesses whose address register another one has used in front of them, in a piece of straight code that
/// does not write it in between.  Guarded ones may be left out by lanes: none follows them.
void FunctionalCode::find_repeated_addresses() {
  const ptx::Program& program = code.program();
  std::vector<bool> entered(program.code.size() + 1);
  for (const ptx::Instr& i : program.code)
    if (i.kind == ptx::Kind::branch) entered[std::min<size_t>(i.target, program.code.size())] = true;
  for (const ptx::IndexedBranch& table : program.indexed_branches)
    for (const uint32_t target : table.targets) entered[target] = true;
  std::vector<ptx::Row> known;
  const auto written = [&](ptx::Row row) { std::erase(known, row); };
  const std::function<void(const ptx::Operand&)> operand_written = [&](const ptx::Operand& o) {
    written(o.row);
    if (o.width == 16) written(o.row.next_half());
    for (const ptx::Operand& element : o.elements) operand_written(element);
  };
  for (uint32_t at = 0; at < program.code.size(); ++at) {
    const ptx::Instr& i = program.code[at];
    if (entered[at]) known.clear();
    switch (i.kind) {
      case ptx::Kind::alu:
      case ptx::Kind::special:
        for (int row = 0; row < ptx::kMaxRows; ++row)
          if (i.written >> row & 1) written(i.rows[size_t(row)]);
        break;
      case ptx::Kind::memory: {
        LaneMove& move = memory[i.detail].move;
        const ptx::Row row = move.address_row();
        const bool counts = move.plain() && !memory[i.detail].parameter;
        if (counts && std::ranges::find(known, row) != known.end())
          move.follow_same_row();
        else if (counts && i.guard.area() != 0)  // the constant, that is none
          known.push_back(row);
        if (!program.accesses[i.detail].store)
          for (const ptx::Operand& o : program.accesses[i.detail].data) operand_written(o);
        break;
      }
      case ptx::Kind::service:  // which of its operands it writes is its own affair
        for (const ptx::Operand& o : program.services[i.detail].operands) operand_written(o);
        break;
      case ptx::Kind::nop:
      case ptx::Kind::branch:
      case ptx::Kind::exit: break;
      default: known.clear();
    }
  }
}

namespace {

/// How many divisions of 32 bits the instruction takes as long as.
uint32_t divisions_of(const ptx::Instr& i) {
  constexpr uint32_t kWide = 5;  // issue.wide_division by issue.division
  if (i.kind != ptx::Kind::alu) return 0;
  return i.cost == ptx::Cost::division ? 1 : i.cost == ptx::Cost::wide_division ? kWide : 0;
}

}  // namespace

void FunctionalCode::find_runs() {
  const std::vector<ptx::Instr>& all = code.program().code;
  runs_.resize(all.size() + 1);
  uint32_t divisions = 0;
  for (uint32_t at = 0; at < all.size(); ++at) {
    runs_[at].divisions = divisions;
    divisions += divisions_of(all[at]);
  }
  const auto size = uint32_t(all.size());
  runs_[size] = {size, divisions};
  for (uint32_t at = size; at-- > 0;)
    runs_[at].end = all[at].kind == ptx::Kind::alu || all[at].kind == ptx::Kind::memory
                        ? std::max(runs_[at + 1].end, at + 1)
                        : at;
}

// ---------------------------------------------------------------- CTA

FunctionalCta::FunctionalCta(const FunctionalCode& code, FunctionalGang& gang, uint32_t rank)
    : code(code), gang(gang), rank(rank), shared(code.shared_bytes) {
  const Dim3 b = code.launch.block;
  const uint32_t threads = b.x * b.y * b.z;
  for (uint32_t warp = 0; warp * ptx::kLanes < threads; ++warp)
    warps.push_back(std::make_unique<FunctionalWarp>(*this, warp));
}

void FunctionalCta::start(uint64_t index_in_grid, Dim3 ctaid) {
  index = index_in_grid, id = ctaid;
  std::ranges::fill(shared, uint8_t{0});
  for (; used != 0; used &= used - 1) barriers[std::countr_zero(used)] = {};
  printed.clear();
  for (auto& warp : warps) warp->start();
  live_warps = uint32_t(warps.size());
}

void FunctionalCta::arrive(Barrier& barrier, uint32_t threads, uint32_t expected) {
  barrier.arrived += threads;
  barrier.expected = expected;
  used |= 1u << (&barrier - barriers);
  complete_if_all(barrier);
}

/// Threads that have exited are not waited for.
void FunctionalCta::complete_if_all(Barrier& barrier) {
  const uint32_t expected = barrier.expected ? barrier.expected : live_warps * ptx::kLanes;
  if (barrier.arrived == 0 || barrier.arrived < expected) return;
  ++barrier.generation;
  barrier.result_yes = std::exchange(barrier.yes, 0);
  barrier.result_asked = std::exchange(barrier.asked, 0);
  barrier.arrived = 0;
}

void FunctionalCta::warp_exited() {
  --live_warps;
  for (uint32_t left = used; left != 0; left &= left - 1) complete_if_all(barriers[std::countr_zero(left)]);
  --gang.live_warps;
  gang.cluster_complete_if_all();
}

// ---------------------------------------------------------------- cluster

FunctionalGang::FunctionalGang(const FunctionalCode& code) : code(code) {
  const Dim3 c = code.launch.cluster;
  for (uint32_t rank = 0; rank < c.x * c.y * c.z; ++rank)
    ctas.push_back(std::make_unique<FunctionalCta>(code, *this, rank));
}

void FunctionalGang::start(uint64_t index_in_grid) {
  index = index_in_grid;
  failed = false;
  warp_instructions = issue_cycles = uncounted = 0;
  live_warps = cluster_arrived = 0;
  cluster_generation = 0;
  const Dim3 g = code.launch.grid, c = code.launch.cluster;
  const uint64_t across = g.x / c.x, down = g.y / c.y;
  const Dim3 first{uint32_t(index % across) * c.x, uint32_t(index / across % down) * c.y,
                   uint32_t(index / across / down) * c.z};
  for (auto& cta : ctas) {
    const uint32_t rank = cta->rank;
    const Dim3 id{first.x + rank % c.x, first.y + rank / c.x % c.y, first.z + rank / c.x / c.y};
    cta->start((uint64_t{id.z} * g.y + id.y) * g.x + id.x, id);
    live_warps += cta->live_warps;
  }
}

void FunctionalGang::cluster_arrive() {
  ++cluster_arrived;
  cluster_complete_if_all();
}

void FunctionalGang::cluster_complete_if_all() {
  if (cluster_arrived == 0 || cluster_arrived < live_warps) return;
  cluster_arrived = 0;
  ++cluster_generation;
}

FunctionalGang::State FunctionalGang::run() {
  using Stop = FunctionalWarp::Stop;
  progressed = turn_is_over = false;
  const uint64_t begin = warp_instructions;
  for (int vain = 0; vain < kVainSweeps;) {
    if (index > code.last_gang) return State::failed;  // an earlier one has ended the launch
    bool any_ran = false, all_in_vain = true;
    const uint64_t before = warp_instructions;
    for (auto& cta : ctas)
      for (auto& warp : cta->warps) {
        if (warp->exited() || !warp->may_run()) continue;
        any_ran = true;
        const Stop stop = warp->run();
        if (failed) return State::failed;
        all_in_vain &= warp->in_vain();
        if (stop == Stop::exited) cta->warp_exited();
      }
    uncounted += warp_instructions - before;
    progressed |= !all_in_vain;
    if (live_warps == 0) return State::done;
    if (!any_ran) return failure = stuck(), State::failed;
    if (const uint64_t most = code.launch.max_warp_instructions;
        most != 0 && (code.warp_instructions += std::exchange(uncounted, 0)) >= most)
      return over_limit(), State::failed;
    vain = all_in_vain ? vain + 1 : 0;
    if (warp_instructions - begin >= kTurn) return turn_is_over = true, State::suspended;
  }
  return State::suspended;
}

/// Who waits where: "3 warps at bar.sync at x.ptx:12".
std::string FunctionalGang::waiting() const {
  std::map<std::string, int> places;
  for (const auto& cta : ctas)
    for (const auto& warp : cta->warps)
      if (!warp->exited()) ++places[warp->where()];
  std::string text;
  for (const auto& [place, warps] : places)
    text += fmt::format("{}{} warp{} at {}", text.empty() ? "" : ", ", warps, warps == 1 ? "" : "s", place);
  return text;
}

FunctionalResult FunctionalGang::stuck() const {
  const FunctionalCta& cta = *ctas.front();
  return {.end = FunctionalEnd::deadlock,
          .text = fmt::format("CTA ({}, {}, {}) of entry {} waits for ever: {}", cta.id.x, cta.id.y, cta.id.z,
                              code.launch.entry->name, waiting()),
          .ctaid = cta.id};
}

void FunctionalGang::over_limit() {
  failure = stuck();
  failure.end = FunctionalEnd::limit;
  failure.text = fmt::format("more than {} warp instructions, entry {}: {}", code.launch.max_warp_instructions,
                             code.launch.entry->name, waiting());
}

bool FunctionalGang::has_printed() const {
  return std::ranges::any_of(ctas, [](const auto& cta) { return !cta->printed.empty(); });
}

std::string FunctionalGang::printed() const {
  std::string text;
  for (const auto& cta : ctas) text += cta->printed;
  return text;
}

}  // namespace sm100::sim
