#include "sim/cluster_arrivals.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

namespace sm100::sim {

namespace {

using models::Mbarrier;
using models::MbarrierEventKind;

/// Arrivals in `phase` by CTA; nullopt when the barrier no longer remembers all `total` of them.
std::optional<std::map<int, uint32_t>> arrivals(const Mbarrier::State& state, int64_t phase, uint32_t total) {
  std::map<int, uint32_t> by_cta;
  uint32_t sum = 0;
  const uint64_t kept = std::min<uint64_t>(state.events, Mbarrier::State::kHistory);
  for (uint64_t i = state.events - kept; i < state.events; ++i) {
    const models::MbarrierEvent& e = state.history[i % Mbarrier::State::kHistory];
    if (e.phase != phase || (e.kind != MbarrierEventKind::arrive && e.kind != MbarrierEventKind::expect_tx))
      continue;
    const uint32_t count = e.kind == MbarrierEventKind::arrive ? e.amount : 1;
    by_cta[e.source.cta] += count;
    sum += count;
  }
  return sum == total ? std::optional(by_cta) : std::nullopt;
}

}  // namespace

OwedArrivals owed_arrivals(Cta& cta, const Mbarrier::State& state) {
  const uint32_t ctas = cta.cluster_ctas();
  const MbarrierState word = decode_mbarrier(state.word);
  if (ctas == 1 || word.pending == 0) return {};
  auto open = arrivals(state, state.phase, word.expected - word.pending);
  if (!open) return {};
  auto owed = arrivals(state, state.phase - 1, word.expected);
  OwedArrivals result;
  if (!owed) {
    const auto from_a_peer = [&](const auto& a) { return a.first != cta.linear_id(); };
    if (word.expected % ctas != 0 || std::none_of(open->begin(), open->end(), from_a_peer)) return {};
    owed.emplace();
    for (uint32_t r = 0; r < ctas; ++r) (*owed)[cta.peer_id(r)] = word.expected / ctas;
    result.assumed = true;
  }
  for (const auto& [id, count] : *open)
    if (count > (*owed)[id]) return {};  // the phases differ in who arrives: nothing can be told
  for (uint32_t r = 0; r < ctas; ++r)
    if ((*open)[cta.peer_id(r)] < (*owed)[cta.peer_id(r)]) result.ranks.push_back(r);
  return result;
}

namespace {

using BytesByCta = std::vector<std::pair<int, uint64_t>>;

uint64_t bytes_of(const BytesByCta& list, int cta) {
  for (const auto& [from, bytes] : list)
    if (from == cta) return bytes;
  return 0;
}

/// Bytes that CTA `rank` loads into a stage of this CTA, before any phase of it has shown them: the most that it has loaded
/// into a stage of the ring; 1, some, if it has loaded none but we load into it, since whoever shares a tile with us loads
/// a slice of it too.  A pair's bytes count on its leader's barrier.
uint64_t usual_bytes(Cta& cta, const BarrierArray& ring, uint32_t rank) {
  const int first_sm = cta.sm().id - int(cta.cluster_rank());
  const uint32_t leader = cta.tcgen05_group == 2 ? rank & ~1u : rank;
  const auto bytes = [&](uint32_t at, int stage, int from) -> uint64_t {
    const Mbarrier::State* state =
        cta.gpu().sm(first_sm + int(at)).mbarrier.find(ring.base.offset() + 8u * uint32_t(stage));
    return state ? std::max(bytes_of(state->received_from, from), bytes_of(state->received_before, from)) : 0;
  };
  uint64_t most = 0;
  bool shares = leader == cta.cluster_rank();
  for (int stage = 0; stage < ring.stages; ++stage) {
    most = std::max(most, bytes(cta.cluster_rank(), stage, cta.peer_id(rank)));
    shares |= bytes(leader, stage, cta.linear_id()) > 0;
  }
  return most > 0 ? most : uint64_t(shares);
}

}  // namespace

std::vector<uint32_t> owed_bytes(Cta& cta, const Mbarrier::State& state) {
  std::vector<uint32_t> ranks;
  if (cta.cluster_ctas() == 1) return ranks;
  if (!state.received_before.empty()) {
    for (uint32_t r = 0; r < cta.cluster_ctas(); ++r)
      if (bytes_of(state.received_from, cta.peer_id(r)) < bytes_of(state.received_before, cta.peer_id(r)))
        ranks.push_back(r);
    return ranks;
  }
  const BarrierName name = barrier_name(cta.kernel(), state.offset);
  if (!name.array) return ranks;
  bool shared = false;
  for (uint32_t r = 0; r < cta.cluster_ctas(); ++r) {
    const uint64_t usual = usual_bytes(cta, *name.array, r);
    shared |= usual > 0 && r != cta.cluster_rank();
    if (bytes_of(state.received_from, cta.peer_id(r)) < usual) ranks.push_back(r);
  }
  return shared ? ranks : std::vector<uint32_t>{};
}

std::vector<uint32_t> foreign_arrivers(Cta& cta, const BarrierArray& array) {
  std::vector<uint32_t> ranks;
  for (int s = 0; s < array.stages; ++s) {
    const Mbarrier::State* state = cta.sm().mbarrier.find(array.base.offset() + 8u * uint32_t(s));
    if (!state) continue;
    for (uint32_t r = 0; r < cta.cluster_ctas(); ++r) {
      if (std::find(state->arrivers.begin(), state->arrivers.end(), cta.peer_id(r)) == state->arrivers.end())
        continue;
      if (r == cta.cluster_rank()) return {};
      if (std::find(ranks.begin(), ranks.end(), r) == ranks.end()) ranks.push_back(r);
    }
  }
  return ranks;
}

std::string ctas_text(Cta& cta, const std::vector<uint32_t>& ranks) {
  std::vector<std::string> names;
  for (uint32_t r : ranks)
    names.push_back(
        fmt::format("CTA {}{}", cta.peer_id(r), cta.gpu().clusters().exited(cta.sm().id, r) ? " (exited)" : ""));
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string cluster_barrier_missing(Cta& cta) {
  std::map<uint32_t, std::vector<std::string>> roles;
  for (const auto& [rank, warp] : cta.gpu().clusters().barrier_misses(cta.sm().id)) {
    const std::string role = cta.kernel().role(warp);
    auto& of_cta = roles[rank];
    if (std::find(of_cta.begin(), of_cta.end(), role) == of_cta.end()) of_cta.push_back(role);
  }
  std::vector<std::string> texts;
  for (const auto& [rank, names] : roles)
    texts.push_back(fmt::format("CTA {} ({})", cta.peer_id(rank), fmt::join(names, ", ")));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace sm100::sim
