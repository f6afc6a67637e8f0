// SPDX-License-Identifier: Apache-2.0
// Instructions beyond arithmetic, ld and st without models: lanes among each other, barriers, addresses of other
// CTAs, copies and matrices in shared memory; hints have no effect.
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>

#include "sim/ptx/byte_matrices.h"
#include "sim/ptx/functional_warp.h"
#include "sim/ptx/lane_exchange.h"
#include "sim/ptx/matrix_exchange.h"

namespace sm100::sim {

using ptx::Instr;
using ptx::LaneMask;
using ptx::Operand;
using ptx::Space;
using Together = PtxServiceEntry::Together;
using lanes::Shuffle;
using lanes::Vote;

namespace {

template <void (*kExchange)(const ServiceOperands&)>
bool exchange_lanes(FunctionalWarp&, const ServiceOperands& c, const Instr&) {
  kExchange(c);
  return true;
}

bool hint(FunctionalWarp&, const ServiceOperands&, const Instr&) { return true; }

/// The sums in f32; their last bits are nobody's promise.
bool mma_sync(FunctionalWarp& w, const ServiceOperands& c, const Instr&) {
  const auto form = lanes::mma_sync_of(c.service);
  if (!form) return w.fail(FunctionalEnd::not_implemented, "", c.first(), lanes::kNoSuchMma);
  lanes::mma_sync(c, *form, models::Accumulation::fast, models::MmaSyncCore::blackwell);
  return true;
}

bool createpolicy(FunctionalWarp&, const ServiceOperands& c, const Instr&) {
  return c.set_all(c.operand(0), 0), true;
}

bool fence(FunctionalWarp&, const ServiceOperands&, const Instr&) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return true;
}

// ---- barriers

/// The barrier that operand `at` names and, behind it, how many threads it expects.
bool find_barrier(FunctionalWarp& w, const ServiceOperands& c, size_t at, FunctionalCta::Barrier*& barrier,
                  uint32_t& expected) {
  const uint64_t id = c.value(at);
  expected =
      c.size() > at + 1 && c.operand(at + 1).kind != Operand::Kind::predicate ? uint32_t(c.value(at + 1)) : 0;
  if (id >= FunctionalCta::kBarriers)
    return w.fail(FunctionalEnd::trap, "", c.first(), fmt::format("barrier {}: a CTA has 16", id));
  if (expected % ptx::kLanes != 0)
    return w.fail(FunctionalEnd::trap, "", c.first(), fmt::format("{} threads: a multiple of 32 is due", expected));
  barrier = &w.cta.barriers[id];
  return true;
}

bool bar_sync(FunctionalWarp& w, const ServiceOperands& c, const Instr&) {
  FunctionalCta::Barrier* barrier = nullptr;
  uint32_t expected = 0;
  if (!find_barrier(w, c, 0, barrier, expected)) return false;
  w.block_at(*barrier, barrier->generation + 1);
  w.cta.arrive(*barrier, ptx::kLanes, expected);
  return true;
}

bool bar_arrive(FunctionalWarp& w, const ServiceOperands& c, const Instr&) {
  FunctionalCta::Barrier* barrier = nullptr;
  uint32_t expected = 0;
  if (!find_barrier(w, c, 0, barrier, expected)) return false;
  w.cta.arrive(*barrier, ptx::kLanes, expected);
  return true;
}

/// bar.red.op d, a{, b}, {!}p
bool bar_red(FunctionalWarp& w, const ServiceOperands& c, const Instr&) {
  FunctionalCta::Barrier* barrier = nullptr;
  uint32_t expected = 0;
  if (!find_barrier(w, c, 1, barrier, expected)) return false;
  const LaneMask yes = c.predicate(c.operand(c.size() - 1)) & c.lanes;
  barrier->yes += uint32_t(std::popcount(yes));
  barrier->asked += uint32_t(std::popcount(c.lanes));
  w.block_at(*barrier, barrier->generation + 1, &c);
  w.cta.arrive(*barrier, ptx::kLanes, expected);
  return true;
}

bool cluster_arrive(FunctionalWarp& w, const ServiceOperands&, const Instr&) {
  w.cluster_ticket = w.cta.gang.cluster_generation + 1;
  w.cta.gang.cluster_arrive();
  return true;
}
bool cluster_wait(FunctionalWarp& w, const ServiceOperands&, const Instr&) {
  w.block_at_cluster(w.cluster_ticket);
  return true;
}

// ---- addresses

uint64_t address_of(const ServiceOperands& c, const Operand& o, int lane) {
  return o.kind == Operand::Kind::address ? c.address(o, lane) : c.value(o, lane);
}

bool mapa(FunctionalWarp& w, const ServiceOperands& c, const Instr&) {
  const bool generic = !c.has(".shared::cluster");
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t offset = address_of(c, c.operand(1), lane) & kSmemOffsetMask;
    const uint64_t mapped = c.value(c.operand(2), lane) << kClusterRankShift | offset;
    c.set(c.operand(0), lane, generic ? w.file.windows.shared.base + mapped : uint32_t(mapped));
  }
  return true;
}

bool getctarank(FunctionalWarp& w, const ServiceOperands& c, const Instr&) {
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint64_t address = address_of(c, c.operand(1), lane);
    if (!c.has(".shared::cluster")) address -= w.file.windows.shared.base;
    c.set(c.operand(0), lane, uint32_t(address) >> kClusterRankShift);
  }
  return true;
}

// ---- copies: what a thread has issued is there at once, as it may be

/// [to], [from], bytes{, source bytes}
bool functional_cp_async(FunctionalWarp& w, const ServiceOperands& c, const Instr&) {
  const auto bytes = uint32_t(c.value(2));
  if (bytes != 4 && bytes != 8 && bytes != 16) return w.not_implemented(fmt::format("cp.async of {} bytes", bytes));
  for (LaneMask left = c.lanes; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    uint32_t read = bytes;
    if (c.size() > 3) {
      const Operand& o = c.operand(3);
      if (o.kind == Operand::Kind::predicate)
        read = c.predicate(o) >> lane & 1 ? 0 : bytes;
      else if (!c.has(".L2::cache_hint") || c.size() > 4)
        read = std::min(bytes, uint32_t(c.value(o, lane)));
    }
    uint8_t* to = w.bytes_at(Space::shared, uint32_t(c.address(c.operand(0), lane)), bytes, lane, true);
    if (!to) return false;
    std::memset(to, 0, bytes);
    if (read == 0) continue;
    const uint8_t* from = w.bytes_at(Space::global, c.address(c.operand(1), lane), bytes, lane, false);
    if (!from) return false;
    w.record(from, read, true, false, false);
    std::memcpy(to, from, read);
  }
  return true;
}

/// Matrices of `count` times eight rows of 16 bytes; a register holds two neighbours of a row (a column: .trans).
template <bool kStore>
bool move_rows(FunctionalWarp& w, const ServiceOperands& c, uint32_t* values, int count, bool transposed) {
  const Operand& address = c.operand(kStore ? 0 : 1);
  for (int q = 0; q < count; ++q) {
    uint8_t* rows[8];
    for (int r = 0; r < 8; ++r) {
      rows[r] = w.bytes_at(Space::shared, uint32_t(c.address(address, 8 * q + r)), 16, 8 * q + r, kStore);
      if (!rows[r]) return false;
    }
    for (int lane = 0; lane < ptx::kLanes; ++lane) {
      uint32_t& pair = values[lane * count + q];
      for (int n = 0; n < 2; ++n) {
        const int r = transposed ? 2 * (lane % 4) + n : lane / 4,
                  column = transposed ? lane / 4 : 2 * (lane % 4) + n;
        uint16_t element = uint16_t(pair >> (16 * n));
        if constexpr (kStore) {
          std::memcpy(rows[r] + 2 * column, &element, 2);
        } else {
          std::memcpy(&element, rows[r] + 2 * column, 2);
          pair = n == 0 ? element : (pair & 0xffff) | uint32_t(element) << 16;
        }
      }
    }
  }
  return true;
}

template <bool kStore>
bool move_matrices(FunctionalWarp& w, const ServiceOperands& c, const Instr& i) {
  const bool bytes = c.has(".b8") && c.has(".trans") && c.has(kStore ? ".m16n8" : ".m16n16");
  if (!bytes && (!c.has(".m8n8") || !c.has(".b16")))
    return w.not_implemented(std::string(w.code.code.program().text(i)));
  const std::span<const Operand> registers = registers_of(c.operand(kStore ? 1 : 0));
  const int count = int(std::min<size_t>(registers.size(), 4));
  uint32_t values[ptx::kLanes * 4] = {};
  for (int lane = 0; kStore && lane < ptx::kLanes; ++lane)
    for (int q = 0; q < count; ++q) values[lane * count + q] = uint32_t(c.value(registers[size_t(q)], lane));
  if (kStore && bytes) byte_matrices::transpose_to_store(values, count);
  if (!move_rows<kStore>(w, c, values, count, c.has(".trans") && !bytes)) return false;
  if (kStore) return true;
  if (bytes) byte_matrices::transpose_loaded(values, count);
  for (int lane = 0; lane < ptx::kLanes; ++lane)
    for (int q = 0; q < count; ++q) c.set(registers[size_t(q)], lane, values[lane * count + q]);
  return true;
}

}  // namespace

const std::vector<FunctionalService>& functional_services() {
  static const std::vector<FunctionalService> all = [] {
    const std::vector<std::string_view> odd_matrices = {".m8n16", ".b8x16.b6x16_p32", ".b8x16.b4x16_p64"};
    std::vector<FunctionalService> list = {
        {"elect.sync", exchange_lanes<lanes::elect>, Together::mask},
        {"shfl.sync.up", exchange_lanes<lanes::shfl<Shuffle::up>>, Together::mask},
        {"shfl.sync.down", exchange_lanes<lanes::shfl<Shuffle::down>>, Together::mask},
        {"shfl.sync.bfly", exchange_lanes<lanes::shfl<Shuffle::bfly>>, Together::mask},
        {"shfl.sync.idx", exchange_lanes<lanes::shfl<Shuffle::idx>>, Together::mask},
        {"vote.sync.ballot", exchange_lanes<lanes::vote<Vote::ballot>>, Together::mask},
        {"vote.sync.all", exchange_lanes<lanes::vote<Vote::all>>, Together::mask},
        {"vote.sync.any", exchange_lanes<lanes::vote<Vote::any>>, Together::mask},
        {"vote.sync.uni", exchange_lanes<lanes::vote<Vote::uni>>, Together::mask},
        {"shfl.up.sync", exchange_lanes<lanes::shfl<Shuffle::up>>, Together::mask},
        {"shfl.down.sync", exchange_lanes<lanes::shfl<Shuffle::down>>, Together::mask},
        {"shfl.bfly.sync", exchange_lanes<lanes::shfl<Shuffle::bfly>>, Together::mask},
        {"shfl.idx.sync", exchange_lanes<lanes::shfl<Shuffle::idx>>, Together::mask},
        {"vote.ballot.sync", exchange_lanes<lanes::vote<Vote::ballot>>, Together::mask},
        {"vote.all.sync", exchange_lanes<lanes::vote<Vote::all>>, Together::mask},
        {"vote.any.sync", exchange_lanes<lanes::vote<Vote::any>>, Together::mask},
        {"vote.uni.sync", exchange_lanes<lanes::vote<Vote::uni>>, Together::mask},
        {"match.any.sync", exchange_lanes<lanes::match>, Together::mask},
        {"match.all.sync", exchange_lanes<lanes::match>, Together::mask},
        {"match.sync", exchange_lanes<lanes::match>, Together::mask},
        {"redux.sync", exchange_lanes<lanes::redux>, Together::mask},
        {"activemask", exchange_lanes<lanes::activemask>},
        {"bar.warp.sync", hint, Together::mask},
        {"barrier.cluster.arrive", cluster_arrive, Together::all},
        {"barrier.cluster.wait", cluster_wait, Together::all},
        {"mapa", mapa},
        {"getctarank", getctarank},
        {"cp.async", functional_cp_async},
        {"cp.async.bulk.prefetch", hint},
        {"cp.async.commit_group", hint},
        {"cp.async.wait_group", hint},
        {"cp.async.wait_all", hint},
        {"ldmatrix", move_matrices<false>, Together::all, odd_matrices},
        {"stmatrix", move_matrices<true>, Together::all, odd_matrices},
        {"mma", mma_sync, Together::all},
        {"movmatrix", exchange_lanes<lanes::movmatrix>, Together::all},
        {"createpolicy", createpolicy},
        {"griddepcontrol.wait", hint},
        {"griddepcontrol.launch_dependents", hint},
        {"setmaxnreg", hint, Together::all}};
    for (const char* cta : {"bar", "bar.cta", "barrier", "barrier.cta"}) {
      static std::deque<std::string> names;
      const auto named = [&](const char* what) {
        return std::string_view(names.emplace_back(std::string(cta) + what));
      };
      list.push_back({named(".sync"), bar_sync, Together::all});
      list.push_back({named(".arrive"), bar_arrive, Together::all});
      list.push_back({named(".red"), bar_red, Together::all});
    }
    for (const char* name : {"fence", "fence.acq_rel", "fence.acquire", "fence.release", "fence.sc", "membar"})
      list.push_back({name, fence, Together::any, {".proxy"}});
    for (const char* name : {"nanosleep", "prefetch", "prefetchu", "applypriority", "discard"})
      list.push_back({name, hint, Together::any, {".tensormap"}});
    for (FunctionalService& s : functional_atomics()) list.push_back(std::move(s));
    for (FunctionalService& s : functional_wmma()) list.push_back(std::move(s));
    return list;
  }();
  return all;
}

}  // namespace sm100::sim
