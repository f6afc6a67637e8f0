// SPDX-License-Identifier: Apache-2.0
#include "models/mbarrier.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "models/time.h"

namespace sm100::models {

namespace {
/// index_ of a word that never held an mbarrier; kEnded - i: states_[i] was the last one there, and is none any
/// more.
constexpr int32_t kNone = -1, kEnded = -2;
}  // namespace

Mbarrier::Mbarrier(int slot, SharedMemory& smem, const DeviceProfile& profile, Jitter& jitter, Observer& observer)
    : slot_(slot),
      smem_(smem),
      profile_(profile),
      jitter_(jitter),
      observer_(observer),
      index_(kSmemWindowBytes / 8 / kBlockWords) {}

int32_t Mbarrier::index_of(uint32_t offset) const {
  const std::vector<int32_t>& block = index_[offset / 8 / kBlockWords];
  return block.empty() ? kNone : block[offset / 8 % kBlockWords];
}

void Mbarrier::set_index(uint32_t offset, int32_t index) {
  std::vector<int32_t>& block = index_[offset / 8 / kBlockWords];
  if (block.empty()) block.resize(kBlockWords, kNone);
  block[offset / 8 % kBlockWords] = index;
}

void Mbarrier::start_cta() {
  for (const State& state : states_) set_index(state.offset, kNone);
  states_.clear();
}

const Mbarrier::State* Mbarrier::find(uint32_t offset) const {
  if (offset % 8 != 0 || offset >= kSmemWindowBytes) return nullptr;
  const int32_t index = index_of(offset);
  return index < 0 ? nullptr : &states_[size_t(index)];
}

void Mbarrier::violate(const char* id, std::string message, uint32_t offset, const Source& source) {
  observer_.violation({id, std::move(message), now(), slot_, offset, source});
}

Mbarrier::State* Mbarrier::valid_object(uint32_t offset, const char* operation, const Source& source) {
  if (offset % 8 != 0 || !smem_.contains(offset, 8)) {
    violate(
        "MB3",
        fmt::format("{} at shared address {:#x}: an mbarrier is 8-byte aligned and inside the CTA's shared memory",
                    operation, offset),
        offset, source);
    return nullptr;
  }
  const int32_t at = index_of(offset);
  if (at <= kEnded) {
    violate("MB1",
            fmt::format("{} at {:#x}: the mbarrier there has been ended by mbarrier.inval at cycle {}", operation,
                        offset, states_[size_t(kEnded - at)].ended),
            offset, source);
    return nullptr;
  }
  if (at < 0) {
    violate("MB1", fmt::format("{} at {:#x}: no mbarrier has been initialised there", operation, offset), offset,
            source);
    return nullptr;
  }
  State& state = states_[size_t(at)];
  if (smem_.load<uint64_t>(offset) != state.word) {
    violate(
        "MB2",
        fmt::format("{} at {:#x}: the mbarrier's word was overwritten by something that is no mbarrier operation",
                    operation, offset),
        offset, source);
    return nullptr;
  }
  return &state;
}

void Mbarrier::record(State& state, MbarrierEventKind kind, uint32_t amount, bool completed, const Source& source,
                      bool arrives) {
  const MbarrierState word = decode_mbarrier(state.word);
  // An event that completed its phase left nothing pending in it, while the word already shows the next
  // phase.
  const MbarrierEvent event{kind,
                            now(),
                            slot_,
                            state.offset,
                            state.phase,
                            amount,
                            completed ? 0 : word.pending,
                            completed ? 0 : word.tx,
                            arrives,
                            source};
  state.history[state.events++ % State::kHistory] = event;
  observer_.mbarrier_event(event);
}

void Mbarrier::init(uint32_t offset, uint32_t count, const Source& source) {
  if (offset % 8 != 0 || !smem_.contains(offset, 8))
    return violate(
        "MB3",
        fmt::format("mbarrier.init at shared address {:#x}: an mbarrier is 8-byte aligned and inside the "
                    "CTA's shared memory",
                    offset),
        offset, source);
  if (index_of(offset) >= 0)
    return violate(
        "MB2",
        fmt::format("mbarrier.init at {:#x}: a valid mbarrier is already there (re-init without inval)", offset),
        offset, source);
  const MbarrierResult result = mbarrier_init(count);
  if (result.error != MbarrierError::none)
    return violate("MB4", fmt::format("mbarrier.init with count {}: allowed are 1 to {}", count, (1 << 20) - 1),
                   offset, source);
  const int32_t before = index_of(offset);
  set_index(offset, int32_t(states_.size()));
  State& state = states_.emplace_back();
  state.offset = offset;
  state.init = source;
  if (before <= kEnded) state.life = states_[size_t(kEnded - before)].life + 1;
  state.word = result.word;
  smem_.store(offset, state.word);
  record(state, MbarrierEventKind::init, count, false, source);
}

void Mbarrier::inval(uint32_t offset, const Source& source) {
  State* state = valid_object(offset, "mbarrier.inval", source);
  if (!state) return;
  if (const size_t waiting = state->waits.size(); waiting > 0)
    return violate("MB1",
                   fmt::format("mbarrier.inval at {:#x} while {} warp{} wait{} for its phase {}", offset, waiting,
                               waiting == 1 ? "" : "s", waiting == 1 ? "s" : "", state->phase),
                   offset, source);
  state->ended = now();
  set_index(offset, kEnded - index_of(offset));
}

bool Mbarrier::apply(State& state, const MbarrierResult& result, MbarrierEventKind kind, uint32_t amount,
                     const Source& source) {
  const MbarrierState before = decode_mbarrier(state.word);
  switch (result.error) {
    case MbarrierError::none: break;
    case MbarrierError::expected_zero:
      observer_.violation({"MB13",
                           "arrive_drop takes the last arrival out of later phases: nothing but bytes can complete "
                           "one from now on",
                           now(), slot_, state.offset, source, /*warning=*/true});
      break;
    case MbarrierError::completes_phase:
      violate(
          "MB7",
          fmt::format("a .noComplete arrival of {} completes the phase: it has {} pending", amount, before.pending),
          state.offset, source);
      return false;
    case MbarrierError::pending_underflow:
      violate("MB5",
              fmt::format("arrival on a phase that has no pending arrivals left ({}); hardware traps",
                          before.tx != 0 ? fmt::format("the phase is still open for {} bytes", before.tx)
                                         : "all have arrived"),
              state.offset, source);
      return false;
    case MbarrierError::tx_overflow:
      violate("MB6",
              fmt::format("tx-count {} {} {} bytes leaves the range of +-{}; hardware traps", before.tx,
                          kind == MbarrierEventKind::complete_tx ? "minus" : "plus", amount, (1 << 20) - 1),
              state.offset, source);
      return false;
    default:
      violate("MB4", fmt::format("count {} is outside 1 to {}", amount, (1 << 20) - 1), state.offset, source);
      return false;
  }
  state.word = result.word;
  smem_.store(state.offset, state.word);
  return true;
}

void Mbarrier::complete_phase(State& state, const Source& source) {
  record(state, MbarrierEventKind::phase_complete, 0, false, source);
  const uint32_t parity = uint32_t(state.phase & 1);
  ++state.phase;
  state.expected_before = state.expected_bytes;
  state.expected_bytes = state.received_bytes = 0;
  state.received_before.swap(state.received);
  state.received.clear();
  state.arrived_before.swap(state.arrived);
  state.arrived.clear();
  for (const State::Share& gone : state.dropped)
    for (State::Share& share : state.arrived_before)
      if (share.cta == gone.cta && share.warp == gone.warp) share.amount -= std::min(share.amount, gone.amount);
  if (!state.dropped.empty())
    std::erase_if(state.arrived_before, [](const State::Share& share) { return share.amount == 0; });
  state.dropped.clear();
  state.last_cause = source.flow;
  const auto ends = [=](const State::Wait& w) { return w.parity == parity; };
  for (const State::Wait& w : state.waits) {
    if (!ends(w) || !w.asleep) continue;
    w.waiter->limited = 0;
    // Its time limit ends in this very cycle, and it has not run yet: the phase comes first, and so must its
    // wake-up.
    if (std::exchange(w.waiter->gave_up, false)) w.waiter->wake.cancel();
    w.waiter->cause = source.flow;
    w.waiter->wake.notify(Cycles(profile_.mbarrier.wakeup_cycles) + jitter_.wakeup(*w.waiter, state.offset));
  }
  std::erase_if(state.waits, ends);
}

namespace {
void add_share(std::vector<Mbarrier::State::Share>& shares, const Source& source, uint64_t amount, Loc loc = {}) {
  const unsigned line = loc.line();
  for (Mbarrier::State::Share& s : shares)
    if (s.cta == source.cta && s.warp == source.warp && s.loc.line() == line) {
      s.amount += amount;
      return;
    }
  shares.push_back({source.cta, source.warp, amount, loc});
}
}  // namespace

void Mbarrier::arrive(uint32_t offset, uint32_t count, const Source& source) {
  // Of a unit behind the inval of a barrier that nobody waits on any longer: Triton's kernels end so.
  const int32_t at = offset % 8 == 0 && smem_.contains(offset, 8) ? index_of(offset) : kNone;
  if (source.kind != ActorKind::warp && at <= kEnded &&
      smem_.load<uint64_t>(offset) == states_[size_t(kEnded - at)].word)
    return observer_.violation(
        {"MB1",
         fmt::format(
             "tcgen05.commit arrives at {:#x}, where mbarrier.inval has ended the mbarrier; works on hardware "
             "as far as known, because the memory has not been used for anything else",
             offset),
         now(), slot_, offset, source, /*warning=*/true});
  State* state = valid_object(offset, "mbarrier.arrive", source);
  if (!state) return;
  const uint32_t lanes = count;
  for (bool completed = false; count > 0;) {
    // The lanes arrive one after the other; what the open phase still takes, it takes in one step.
    const uint32_t pending = decode_mbarrier(state->word).pending;
    const uint32_t step = std::max(1u, std::min(count, pending));
    const MbarrierResult result = mbarrier_arrive(state->word, step);
    if (!apply(*state, result, MbarrierEventKind::arrive, step, source)) return;
    add_share(state->arrived, source, step);
    record(*state, MbarrierEventKind::arrive, step, result.completed_phase, source);
    if (result.completed_phase) complete_phase(*state, source);
    if (result.completed_phase && std::exchange(completed, true))
      return violate(
          "MB5",
          fmt::format("{} lanes arrive at once, and the mbarrier counts {} arrival{}: they complete phase "
                      "after phase, where one of them was meant to arrive",
                      lanes, decode_mbarrier(state->word).expected,
                      decode_mbarrier(state->word).expected == 1 ? "" : "s"),
          offset, source);
    count -= step;
  }
}

void Mbarrier::raise_pending(uint32_t offset, uint32_t count, const Source& source) {
  State* state = valid_object(offset, "cp.async.mbarrier.arrive", source);
  if (!state) return;
  const MbarrierResult result = mbarrier_raise_pending(state->word, count);
  if (result.error == MbarrierError::count_out_of_range) {
    const uint32_t pending = decode_mbarrier(state->word).pending;
    return violate(
        "MB4",
        fmt::format("cp.async.mbarrier.arrive by {} lanes raises the pending count from {} to {}: at most {} "
                    "arrivals can be pending (.noinc raises nothing, its arrivals are part of the init's count)",
                    count, pending, pending + count, kMbarrierMaxCount),
        offset, source);
  }
  apply(*state, result, MbarrierEventKind::arrive, count, source);
}

void Mbarrier::arrive_expect_tx(uint32_t offset, uint32_t bytes, const Source& source) {
  State* state = valid_object(offset, "mbarrier.arrive.expect_tx", source);
  if (!state) return;
  arrive_in(*state, {.bytes = bytes}, /*expects=*/true, source);
}

namespace {
const char* operation_of(const MbarrierArrival& a) {
  if (a.drop) return a.no_complete ? "mbarrier.arrive_drop.noComplete" : "mbarrier.arrive_drop";
  return a.no_complete ? "mbarrier.arrive.noComplete" : "mbarrier.arrive";
}
}  // namespace

MbarrierToken Mbarrier::arrive_once(uint32_t offset, const MbarrierArrival& arrival, const Source& source) {
  State* state = valid_object(offset, operation_of(arrival), source);
  if (!state) return {};
  const MbarrierToken token =
      make_mbarrier_token(state->phase, decode_mbarrier(state->word).pending, arrival.no_complete);
  if (arrival.count > 0) arrive_in(*state, arrival, arrival.bytes > 0, source);
  return token;
}

void Mbarrier::arrive_in(State& state, const MbarrierArrival& arrival, bool expects, const Source& source) {
  const MbarrierResult result = mbarrier_arrive(state.word, arrival);
  const MbarrierEventKind kind = expects ? MbarrierEventKind::expect_tx : MbarrierEventKind::arrive;
  const uint32_t amount = expects ? arrival.bytes : arrival.count;
  if (!apply(state, result, kind, amount, source)) return;
  state.expected_bytes += arrival.bytes;
  add_share(state.arrived, source, arrival.count);
  if (arrival.drop) add_share(state.dropped, source, arrival.count);
  record(state, kind, amount, result.completed_phase, source);
  if (result.completed_phase) complete_phase(state, source);
}

void Mbarrier::expect_tx(uint32_t offset, uint32_t bytes, const Source& source) {
  State* state = valid_object(offset, "mbarrier.expect_tx", source);
  if (!state) return;
  const MbarrierResult result = mbarrier_expect_tx(state->word, bytes);
  if (!apply(*state, result, MbarrierEventKind::expect_tx, bytes, source)) return;
  state->expected_bytes += bytes;
  record(*state, MbarrierEventKind::expect_tx, bytes, result.completed_phase, source, false);
  if (result.completed_phase) complete_phase(*state, source);
}

void Mbarrier::complete_tx(uint32_t offset, uint32_t bytes, const Source& source) {
  State* state = valid_object(offset, "complete_tx", source);
  if (!state) return;
  const MbarrierResult result = mbarrier_complete_tx(state->word, bytes);
  if (!apply(*state, result, MbarrierEventKind::complete_tx, bytes, source)) return;
  state->received_bytes += bytes;
  add_share(state->received, source, bytes, source.loc);
  record(*state, MbarrierEventKind::complete_tx, bytes, result.completed_phase, source);
  if (result.completed_phase) complete_phase(*state, source);
}

bool Mbarrier::test_parity(uint32_t offset, uint32_t parity, const Source& source, const char* operation) {
  State* state = valid_object(offset, operation, source);
  if (parity > 1) {
    violate("MB8", fmt::format("{} with parity {}: allowed are 0 and 1", operation, parity), offset, source);
    return false;
  }
  return state != nullptr && mbarrier_test_parity(state->word, parity);
}

std::optional<int64_t> Mbarrier::phase_of_token(uint32_t offset, MbarrierToken token, const Source& source,
                                                const char* operation) {
  const State* state = valid_object(offset, operation, source);
  if (!state) return std::nullopt;
  const int64_t phase = phase_of(token);
  if (is_mbarrier_token(token) && (phase == state->phase || phase == state->phase - 1)) return phase;
  violate(
      "MB8",
      is_mbarrier_token(token)
          ? fmt::format("{} by the state of an arrival in phase {} when phase {} is open: a state names the open "
                        "phase or the one before",
                        operation, phase, state->phase)
          : fmt::format("{} by a state that no arrival has returned", operation),
      offset, source);
  return std::nullopt;
}

void Mbarrier::wait_parity(uint32_t offset, uint32_t parity, Waiter& waiter) {
  if (!find(offset)) return;  // test_parity has reported it
  states_[size_t(index_of(offset))].waits.push_back({&waiter, parity});
}

Mbarrier::State::Wait& Mbarrier::wait_of(uint32_t offset, Waiter& waiter) {
  auto& waits = states_[size_t(index_of(offset))].waits;
  return *std::find_if(waits.begin(), waits.end(), [&](const State::Wait& w) { return w.waiter == &waiter; });
}

void Mbarrier::leave(uint32_t offset, Waiter& waiter) {
  std::erase_if(states_[size_t(index_of(offset))].waits, [&](const State::Wait& w) { return w.waiter == &waiter; });
}

}  // namespace sm100::models
