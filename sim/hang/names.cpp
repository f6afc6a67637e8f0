// SPDX-License-Identifier: Apache-2.0
#include "sim/hang/names.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "sim/hang/registers.h"
#include "sim/text.h"

namespace sm100::sim {

namespace {

/// "0-3, 8"; beyond six runs the rest is counted.
std::string ranges(std::vector<int> all) {
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::vector<std::string> runs;
  for (size_t i = 0; i < all.size();) {
    size_t end = i;
    while (end + 1 < all.size() && all[end + 1] == all[end] + 1) ++end;
    if (runs.size() == 6) return fmt::format("{} and {} more", fmt::join(runs, ", "), all.size() - i);
    runs.push_back(i == end ? std::to_string(all[i]) : fmt::format("{}-{}", all[i], all[end]));
    i = end + 1;
  }
  return fmt::format("{}", fmt::join(runs, ", "));
}

/// The debtors by role, and within a role by warps: "epilogue (warps 0-3) of CTAs 0-1, mma (warp 6) of CTA 2
/// (exited)".
std::string debtors_text(const Wait& w) {
  std::map<std::pair<std::string, bool>, std::pair<std::vector<int>, std::vector<int>>> by_role;  // warps, CTAs
  for (const Debt& d : w.debts.all) {
    auto& [warps, ctas] = by_role[{d.role(), d.exited()}];
    warps.push_back(d.warp), ctas.push_back(d.cta);
  }
  std::vector<std::string> texts;
  for (auto& [key, value] : by_role) {
    auto& [warps, ctas] = value;
    std::sort(warps.begin(), warps.end());
    warps.erase(std::unique(warps.begin(), warps.end()), warps.end());
    texts.push_back(warps_text(key.first, warps) + " of " + ctas_text(ctas) + (key.second ? " (exited)" : ""));
  }
  return fmt::format("{}{}", w.debts.certain ? "" : "one of ", fmt::join(texts, ", "));
}

}  // namespace

std::string ctas_text(std::vector<int> ctas) {
  std::sort(ctas.begin(), ctas.end());
  ctas.erase(std::unique(ctas.begin(), ctas.end()), ctas.end());
  return (ctas.size() == 1 ? "CTA " : "CTAs ") + ranges(ctas);
}

std::string warps_text(const std::string& role, const std::vector<int>& warps) {
  return fmt::format("{} ({} {})", role, warps.size() == 1 ? "warp" : "warps", ranges(warps));
}

std::string waited_for(const Wait& w) {
  std::string what = w.cta->describe(w.blocked, true);
  if (w.blocked.on == Blocked::On::registers) what += fmt::format(" {}", w.blocked.offset);
  if (w.blocked.on == Blocked::On::mbarrier) what += fmt::format(" parity {}", w.blocked.parity);
  return what;
}

/// "launch 0 (2 CTAs run, 0 wait for an SM)", and those after it, ahead of the CTA's own launch in its stream.
static std::string unfinished_launches(Cta& cta) {
  std::string text;
  const LaunchList& launches = cta.launches();
  for (int launch = 0; launch < cta.launch(); ++launch) {
    if (launches[launch].stream != launches[cta.launch()].stream) continue;
    const Dim3 cluster = launches[launch].kernel->cluster;
    const uint64_t running = cta.gpu().ctas_running(launch);
    const uint64_t waiting = cta.gpu().clc().waiting(launch) * cluster.x * cluster.y * cluster.z;
    if (running + waiting == 0) continue;
    text += fmt::format("{}{} ({} CTA{} run{}", text.empty() ? "" : ", ", launches.name(launch), running,
                        running == 1 ? "" : "s", running == 1 ? "s" : "");
    text += waiting > 0 ? fmt::format(", {} wait for an SM)", waiting) : ")";
  }
  return text.empty() ? "writes of the launch ahead that are not visible yet" : text;
}

/// The instruction of those who owe arrivals, where all have one.
static std::string_view missing_instruction(const Wait& w) {
  const BarrierArray& array = *w.barrier.array;
  std::string_view one;
  for (const Debt& d : w.debts.all) {
    const std::string_view arrival = arrival_of(array, d.role());
    if (!one.empty() && one != arrival) return array.arrives_with;
    one = arrival;
  }
  return one.empty() ? std::string_view(array.arrives_with) : one;
}

std::string missing_text(const Wait& w) {
  const std::string debtors = w.debts.all.empty() ? "" : debtors_text(w);
  if (w.blocked.on == Blocked::On::named_barrier) {
    const auto& named = w.cta->context().barriers.named(int(w.blocked.offset));
    if (named.expected == 0) return "it has just opened; its warps wake";
    return fmt::format("misses {} of {} threads{}{}", named.expected - named.arrived, named.expected,
                       debtors.empty() ? "" : ": ", debtors);
  }
  if (w.blocked.on == Blocked::On::global_word) {
    const auto* last = w.cta->gpu().words().last_store(w.blocked.address);
    std::string text = fmt::format("polled, it holds {}", w.blocked.value);
    if (w.warp().in_tile() && w.warp().awaited_k > 0) text += fmt::format(", wanted is {}", w.warp().awaited_k);
    text += last ? fmt::format("; the last {} to it, of {}, was by {} of CTA {} at cycle {} ({})",
                               last->value == w.blocked.value ? "store" : "release or atomic", last->value,
                               w.cta->kernel().role(last->by.warp), last->by.cta, grouped(int64_t(last->visible)),
                               line_of(last->by.loc))
                 : std::string("; nobody has stored to it");
    return debtors.empty() ? text : text + "; to store: " + debtors;
  }
  if (w.blocked.on == Blocked::On::prerequisite_grids) return "waits for " + unfinished_launches(*w.cta);
  if (w.blocked.on == Blocked::On::registers) return missing_registers(w);
  if (w.blocked.on == Blocked::On::wgmma)
    return fmt::format("misses wgmma.mma_async, the {}. of the warpgroup's, of {}", w.blocked.offset, debtors);
  if (!w.on_mbarrier()) return debtors.empty() ? "misses what nobody is known to deliver" : "misses " + debtors;
  const MbarrierState word = decode_mbarrier(w.state->word);
  const BarrierArray& array = *w.barrier.array;
  std::vector<std::string> parts;
  if (w.debts.overcounted > 0) {
    parts.push_back(fmt::format("{} of {} arrivals; all that may arrive have come", grouped(word.pending),
                                grouped(word.expected)));
  } else if (word.pending > 0) {
    // A table that was learned from this run has nobody where nobody came.
    const std::string who = !debtors.empty() ? debtors : std::string(array.arrives);
    parts.push_back(fmt::format(
        "{} of {} arrivals: {}", grouped(word.pending), grouped(word.expected),
        who.empty() ? "nobody has arrived on it in this run" : std::string(missing_instruction(w)) + " of " + who));
  }
  if (word.tx > 0)
    parts.push_back(fmt::format("{} of {} bytes{}{}", grouped(word.tx), grouped(int64_t(w.state->expected_bytes)),
                                word.pending == 0 ? "; all arrivals are in" : "",
                                word.pending == 0 && !debtors.empty() ? "; copies of " + debtors : ""));
  const std::string unasked =
      word.tx < 0 ? fmt::format("{} bytes have come unasked for", grouped(-word.tx)) : std::string();
  if (parts.empty()) return fmt::format("phase {}: all arrivals are in; {}", w.state->phase, unasked);
  return fmt::format("phase {} misses {}{}{}", w.state->phase, fmt::join(parts, " and "),
                     unasked.empty() ? "" : "; ", unasked);
}

}  // namespace sm100::sim
