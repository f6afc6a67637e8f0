// SPDX-License-Identifier: Apache-2.0
// Steps along K: each once, and the same in A and in B.
#include <fmt/format.h>

#include <algorithm>

#include "sim/provenance/explainer.h"

namespace sm100::sim::provenance {
namespace {

/// [first, end) of K, by the MMA that has multiplied it.
struct Step {
  int64_t first, end;
  uint32_t mma;
};

/// The first of the steps that are missing, or of those that are there twice, and how many elements in all.
struct Gaps {
  int64_t missing = 0, first_missing = 0, end_missing = 0;
  int64_t doubled = 0, first_doubled = 0, end_doubled = 0;
  uint32_t once = 0, again = 0;  ///< the MMAs of the first that is doubled
};

Gaps gaps_of(std::vector<Step> steps, int64_t k) {
  Gaps gaps;
  std::sort(steps.begin(), steps.end(),
            [](const Step& x, const Step& y) { return std::pair(x.first, x.mma) < std::pair(y.first, y.mma); });
  int64_t covered = 0;
  uint32_t last = 0;
  for (const Step& step : steps) {
    if (step.first > covered) {
      if (gaps.missing == 0) gaps.first_missing = covered, gaps.end_missing = covered;
      if (gaps.end_missing == covered) gaps.end_missing = step.first;
      gaps.missing += step.first - covered;
    }
    if (step.first < covered) {
      const int64_t end = std::min(covered, step.end);
      if (gaps.doubled == 0)
        gaps.first_doubled = gaps.end_doubled = step.first, gaps.once = last, gaps.again = step.mma;
      if (gaps.end_doubled >= step.first) gaps.end_doubled = std::max(gaps.end_doubled, end);
      gaps.doubled += end - step.first;
    }
    if (step.end > covered) last = step.mma;
    covered = std::max(covered, step.end);
  }
  if (covered < k) {
    if (gaps.missing == 0) gaps.first_missing = covered, gaps.end_missing = k;
    gaps.missing += k - covered;
  }
  return gaps;
}

}  // namespace

/// Where along K a box begins; nothing: in no operand, or threads have brought it.
std::optional<int64_t> Explainer::first_k(const Box& box) const {
  if (box.by != Box::By::tensor_copy) return std::nullopt;
  const BoxLine line = box_line(box.map, box.coordinates.data(), 0);
  if (!line.in_bounds) return std::nullopt;
  const auto place = matrices_.at(line.global_address + global_bytes(box.map.data_type, uint64_t(line.first)));
  return place ? std::optional(place->k) : std::nullopt;
}

/// A's K and B's in each MMA.
void Explainer::explain_k_pairs(const Accumulator& acc) {
  for (size_t step = 0; step < acc.mmas.size(); ++step) {
    const Mma& mma = record_.mmas()[acc.mmas[step]];
    const int64_t a = acc.a.k[step], b = acc.b.k[step];
    const int64_t a_count = acc.a.k_count[step], b_count = acc.b.k_count[step];
    const bool rows_differ = acc.a.other_k[step] >= 0 || acc.b.other_k[step] >= 0;
    if (a < 0 || b < 0 || (a == b && !rows_differ)) continue;
    // Wrong is the operand whose steps are not all there.
    const int product = product_of(acc);
    const int64_t k = product < 0 ? 0 : expected_.products[size_t(product)].k;
    const auto complete = [&](const OperandRows& operand) {
      std::vector<Step> steps;
      for (size_t s = 0; s < acc.mmas.size(); ++s)
        if (operand.k[s] >= 0) steps.push_back({operand.k[s], operand.k[s] + operand.k_count[s], acc.mmas[s]});
      const Gaps gaps = gaps_of(steps, k);
      return gaps.missing == 0 && gaps.doubled == 0;
    };
    const bool wrong_a = rows_differ ? acc.a.other_k[step] >= 0 : complete(acc.b) && !complete(acc.a);
    const OperandRows& wrong = wrong_a ? acc.a : acc.b;
    const RowOf row = wrong.rows.front();
    const int64_t wanted = rows_differ ? wrong.other_k[step] : wrong_a ? b : a;
    Cause cause{.id = "PV1", .at = mma.source, .details = {}};
    const Box* used = box_used(mma, wrong_a, 0);
    const Box* needed = row.known() ? load_of(mma, matrices_.address(row.matrix, row.row, wanted), used) : nullptr;
    // Both operands are as far into their boxes, which begin at different k: not the descriptor, the load is wrong.
    const OperandRows& other = wrong_a ? acc.b : acc.a;
    const Box* beside = box_used(mma, !wrong_a, 0);
    const auto begins = used ? first_k(*used) : std::nullopt,
               beside_begins = beside ? first_k(*beside) : std::nullopt;
    const bool load_is_wrong = !rows_differ && used && used == needed && begins && beside_begins &&
                               *begins != *beside_begins &&
                               wrong.k[step] - *begins == other.k[step] - *beside_begins;
    if (rows_differ)
      cause.what = fmt::format(
          "some rows of {} are at k {} and others at k {} in one MMA: swizzle, stride or step of the "
          "descriptor and of the {} disagree",
          wrong_a ? "A" : "B", range_text(wrong.k[step], wrong.k[step] + wrong.k_count[step] - 1),
          wrong.other_k[step], used && used->by != Box::By::tensor_copy ? "threads' stores" : "load");
    else
      cause.what = fmt::format("A's k {} was multiplied by B's k {}", range_text(a, a + a_count - 1),
                               range_text(b, b + b_count - 1));
    if (used && (!needed || load_is_wrong)) cause.at = used->source;
    if (used)
      cause.details.push_back(
          fmt::format("operand {} was loaded by {}, {}", wrong_a ? 'A' : 'B', who_(used->source), place_of(*used)));
    if (load_is_wrong)
      cause.details.push_back(fmt::format("its box begins at k {}, that of operand {} at k {}: loaded by {}, {}",
                                          *begins, wrong_a ? 'B' : 'A', *beside_begins, who_(beside->source),
                                          place_of(*beside)));
    else if (needed && !rows_differ)
      cause.details.push_back(
          fmt::format("k {} of it was loaded by {}, {}: the MMA's descriptor leads to another place", wanted,
                      who_(needed->source), place_of(*needed)));
    cause.details.push_back(fmt::format("multiplied by {}", who_(mma.source)));
    return add(std::move(cause), acc);
  }
}

/// @param of_tile  accumulators that were loaded
/// @param lost     that nobody has loaded
void Explainer::explain_coverage(const std::vector<const Accumulator*>& of_tile,
                                 const std::vector<const Accumulator*>& lost, int64_t k) {
  if (std::none_of(of_tile.begin(), of_tile.end(), [&](const Accumulator* acc) { return is_stored(*acc); })) return;
  std::vector<Step> steps;
  std::set<uint32_t> seen;
  int whole = 0;
  for (const Accumulator* acc : of_tile) {
    std::vector<Step> own;
    for (size_t s = 0; s < acc->mmas.size(); ++s) {
      if (acc->a.k[s] < 0 || acc->a.k[s] >= k) continue;  // zeros
      const Step step{acc->a.k[s],
                      std::min(k, acc->a.k[s] + std::min(acc->a.k_count[s],
                                                         acc->b.k[s] < 0 ? acc->a.k_count[s] : acc->b.k_count[s])),
                      acc->mmas[s]};
      own.push_back(step);
      if (seen.insert(step.mma).second) steps.push_back(step);
    }
    const Gaps gaps = gaps_of(own, k);
    whole += gaps.missing == 0 && gaps.doubled == 0 && was_stored(*acc);
  }
  if (steps.empty()) return;
  const Accumulator& acc = *of_tile.front();
  const Gaps gaps = gaps_of(steps, k);
  if (gaps.missing == 0 && gaps.doubled == 0) return;
  if (gaps.missing == 0 && whole > 1) {
    const Mma& again = record_.mmas()[of_tile.back()->mmas.front()];
    Cause cause{.id = "PV3", .warning = true, .at = again.source, .details = {}};
    cause.what = fmt::format("a tile is computed and stored {} times", whole);
    cause.details = {fmt::format("first by {}", who_(record_.mmas()[acc.mmas.front()].source)),
                     fmt::format("again by {}", who_(again.source))};
    if (const Region region = region_of(acc); work_tiles_.known())
      if (const Tiles::Place tile = work_tiles_.at(region.first_row, region.first_column);
          work_tiles_.repeated(tile))
        cause.details.push_back(work_tiles_.repeated_text(tile, who_));
    return add(std::move(cause), acc);
  }
  Cause cause{.id = "PV1", .at = record_.mmas()[acc.mmas.back()].source, .details = {}};
  const RowOf row = acc.a.rows.front(), column = acc.b.rows.front();
  std::string text;
  if (gaps.doubled > 0) {
    const Mma &once = record_.mmas()[gaps.once], &again = record_.mmas()[gaps.again];
    const Box *first = box_used(once, true, 0), *second = box_used(again, true, 0);
    text = fmt::format("k {} is multiplied more than once", range_text(gaps.first_doubled, gaps.end_doubled - 1));
    cause.at = again.source;
    if (first && second && first != second) {
      cause.at = second->source;
      cause.details.push_back(fmt::format("loaded by {}, {}, and again by {}, {}", who_(first->source),
                                          place_of(*first), who_(second->source), place_of(*second)));
    } else {
      cause.details.push_back(
          fmt::format("multiplied by {}, and again by {}", who_(once.source), who_(again.source)));
    }
  }
  if (gaps.missing > 0) {
    text += fmt::format("{}k {} is never multiplied{}", text.empty() ? "" : ", and ",
                        range_text(gaps.first_missing, gaps.end_missing - 1),
                        gaps.missing == gaps.end_missing - gaps.first_missing
                            ? ""
                            : fmt::format(" ({} of {} elements of K in all)", gaps.missing, k));
    // What lay in shared memory when the tile had come to that place of K.
    const Mma* near = nullptr;
    int64_t near_k = -1;
    for (const Accumulator* part : of_tile)
      for (size_t s = 0; s < part->mmas.size(); ++s)
        if (const int64_t at = part->a.k[s]; at >= 0 && (!near || (at <= gaps.first_missing && at > near_k)))
          near = &record_.mmas()[part->mmas[s]], near_k = at <= gaps.first_missing ? at : -1;
    const Box* a = nullptr;
    const Box* b = nullptr;
    if (near && row.known()) a = load_of(*near, matrices_.address(row.matrix, row.row, gaps.first_missing));
    if (near && column.known())
      b = load_of(*near, matrices_.address(column.matrix, column.row, gaps.first_missing));
    // Or lies in another stage, or came later, before the MMAs of another tile: they have not waited for it.
    if (near && row.known() && column.known() && !(a && b)) {
      models::Cycles until = UINT64_MAX;
      const models::Cycles begun = record_.mmas()[acc.mmas.front()].time,
                           last = record_.mmas()[acc.mmas.back()].time;
      for (const Mma& mma : record_.mmas())
        if (mma.time > last && mma.by.slots[0] == near->by.slots[0]) until = std::min(until, mma.time);
      const auto later = [&](const RowOf& of) -> const Box* {
        const uint64_t address = matrices_.address(of.matrix, of.row, gaps.first_missing);
        for (const Box& box : record_.boxes())
          if (box.time > begun && box.time <= until &&
              (box.slot == near->by.slots[0] || box.slot == near->by.slots[1]) && box.brings(address))
            return &box;
        return nullptr;
      };
      if (const Box* late_a = later(row), *late_b = later(column); late_a && late_b) a = late_a, b = late_b;
    }
    const Mma* overwritten = nullptr;
    for (const Accumulator* other : lost)
      for (size_t s = 0; s < other->mmas.size(); ++s)
        if (other->a.k[s] == gaps.first_missing) overwritten = &record_.mmas()[other->mmas[s]];
    if (overwritten) {
      const Mma& over = record_.mmas()[acc.mmas.front()];
      text += fmt::format(": it was multiplied, and the MMA of k {} overwrites the sum instead of adding to it",
                          acc.a.k.front());
      cause.at = over.source;
      cause.details.push_back(
          fmt::format("multiplied by {}, overwritten by {}", who_(overwritten->source), who_(over.source)));
    } else if (a && b) {
      cause.details.push_back(
          fmt::format("it was loaded by {}, {}, and the MMAs leave it out or overwrite what they had added",
                      who_(a->source), place_of(*a)));
      if (gaps.doubled == 0) cause.at = record_.mmas()[acc.mmas.back()].source;
    } else {
      const Box* used = box_used(record_.mmas()[acc.mmas.back()], a != nullptr, 0);
      cause.details.push_back(fmt::format("{} was never loaded for this tile", a ? "B's" : b ? "A's" : "it"));
      if (used) {
        if (const std::string beyond = beyond_text(*used); !beyond.empty() && gaps.doubled == 0)
          text += fmt::format("; zeros are multiplied in its place: the tile's last box is one{}", beyond);
        if (gaps.doubled == 0 || a || b) cause.at = used->source;
        cause.details.push_back(
            fmt::format("the tile's last load is by {}, {}", who_(used->source), place_of(*used)));
      }
    }
  }
  cause.what = text;
  cause.lacks = gaps.missing > 0;
  cause.details.push_back(
      fmt::format("the tile's last MMA is by {}", who_(record_.mmas()[acc.mmas.back()].source)));
  add(std::move(cause), acc);
}

void Explainer::compare_k() {
  for (const auto& [history, acc] : accumulators_)
    if (!has_cause(acc)) explain_k_pairs(acc);
  // Parts of K may be in several accumulators: split-K, or an accumulator for each k tile.
  std::map<std::tuple<int, int64_t, int, int64_t, size_t, size_t>, std::vector<const Accumulator*>> tiles;
  std::map<std::tuple<int, int64_t, int, int64_t, size_t, size_t>, std::vector<const Accumulator*>> lost;
  std::set<std::tuple<int, int64_t, int, int64_t, size_t, size_t>> wrong;
  for (const auto& [history, acc] : accumulators_) {
    const RowOf &row = acc.a.rows.front(), &column = acc.b.rows.front();
    const auto tile =
        std::tuple(row.matrix, row.row, column.matrix, column.row, acc.a.rows.size(), acc.b.rows.size());
    if (has_cause(acc)) wrong.insert(tile);
    if (row.known() && column.known()) (acc.sets.empty() ? lost : tiles)[tile].push_back(&acc);
  }
  for (const auto& [tile, parts] : tiles) {
    const int product = product_of(*parts.front());
    if (product < 0 || wrong.count(tile)) continue;
    explain_coverage(parts, lost[tile], expected_.products[size_t(product)].k);
  }
}

}  // namespace sm100::sim::provenance
