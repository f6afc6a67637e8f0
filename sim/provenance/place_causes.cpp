// SPDX-License-Identifier: Apache-2.0
// Rows of the operands: those that were used against those that belong to the place of the result.
#include <fmt/format.h>

#include <algorithm>

#include "sim/provenance/explainer.h"

namespace sm100::sim::provenance {

std::vector<Explainer::Placed> Explainer::placed(const Accumulator& acc) const {
  std::vector<Placed> all;
  const bool turned = turned_by_stores(acc);
  for (const uint32_t set : acc.sets) {
    const SetPlace& place = places_[set];
    if (!says_where(place)) continue;
    const Cells cells = cells_in(acc, set);
    if (cells.first_row < 0 || !goes_together(acc, set, cells)) continue;
    const Region& r = place.region;
    const auto product = size_t(place.product);
    for (const bool of_a : {true, false}) {
      const bool rows_of_c = of_a != turned;
      const int first = of_a ? cells.first_row : cells.first_column,
                last = of_a ? cells.last_row : cells.last_column;
      const int64_t at = rows_of_c ? r.first_row : r.first_column, end = rows_of_c ? r.last_row : r.last_column;
      all.push_back({set,
                     of_a,
                     first,
                     int(std::min<int64_t>(last, first + end - at)),
                     {rows_of_c ? matrices_.a_of(product) : matrices_.b_of(product), at}});
    }
  }
  return all;
}

std::vector<Explainer::Misfit> Explainer::misfits(const Accumulator& acc) const {
  std::vector<Misfit> all;
  for (const Placed& p : placed(acc)) {
    const std::vector<RowOf>& rows = (p.of_a ? acc.a : acc.b).rows;
    for (int i = p.first; i <= p.last && i < int(rows.size()); ++i) {
      const RowOf wanted = p.wanted(i), used = rows[size_t(i)];
      if (used == wanted || wanted.row >= matrices_[wanted.matrix].rows) continue;
      // Where warps have stored all of an operand, nobody knows which rows they are.
      if (used.matrix == RowOf::kStored && copied_.count(wanted.matrix) == 0) continue;
      Misfit* const before = all.empty() ? nullptr : &all.back();
      if (before && before->set == p.set && before->of_a == p.of_a && before->first + before->count == i &&
          before->used.matrix == used.matrix && (!used.known() || used.row == before->used.row + before->count))
        ++before->count;
      else
        all.push_back({p.set, p.of_a, i, 1, used, wanted});
    }
  }
  return all;
}

void Explainer::compare_places() {
  for (const auto& [history, acc] : accumulators_) {
    if (has_cause(acc)) continue;
    std::vector<Misfit> all = misfits(acc);
    // One for each operand, over all sets: the first rows and how far they go.
    for (const bool of_a : {true, false}) {
      std::vector<Misfit> joined;
      for (const Misfit& m : all)
        if (m.of_a == of_a) joined.push_back(m);
      if (joined.empty()) continue;
      std::sort(joined.begin(), joined.end(), [](const Misfit& x, const Misfit& y) { return x.first < y.first; });
      Misfit first = joined.front();
      for (const Misfit& m : joined)
        if (m.first <= first.first + first.count && m.used.matrix == first.used.matrix &&
            m.used.row - m.first == first.used.row - first.first &&
            m.wanted.row - m.first == first.wanted.row - first.first)
          first.count = std::max(first.count, m.first + m.count - first.first);
      explain_misfit(acc, first);
    }
  }
}

bool Explainer::loaded_out_of_order(const Accumulator& acc, bool a) const {
  std::optional<int64_t> place, row;  // of the first, less its number in D
  for (const Placed& p : placed(acc)) {
    if (p.of_a != a) continue;
    if (place && *place != p.begins.row - p.first) return false;
    place = p.begins.row - p.first;
  }
  const std::vector<RowOf>& rows = (a ? acc.a : acc.b).rows;
  bool jumps = false;
  int matrix = -1;  // rows behind a group's end are others'
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].known() || (matrix >= 0 && rows[i].matrix != matrix)) continue;
    matrix = rows[i].matrix;
    if (row && *row != rows[i].row - int64_t(i)) jumps = true;
    row = rows[i].row - int64_t(i);
  }
  return place && jumps;
}

bool Explainer::is_right_elsewhere(const Box& box) {
  if (!right_boxes_) {
    right_boxes_.emplace();
    for (const auto& [history, acc] : accumulators_) {
      if (placed(acc).empty() || !misfits(acc).empty()) continue;
      for (const uint32_t number : acc.mmas)
        for (const bool a : {true, false})
          for (const RowRun& run : a ? record_.mmas()[number].a : record_.mmas()[number].b)
            if (run.chunk[0].kind == OriginKind::global)
              right_boxes_->insert(&record_.boxes()[run.chunk[0].record]);
    }
  }
  return right_boxes_->contains(&box);
}

std::string Explainer::other_tensor_text(const Box& box) const {
  if (box.by != Box::By::tensor_copy) return {};
  for (const host::ExpectedProduct& p : expected_.products)
    for (const auto* scales : {&p.sfa, &p.sfb})
      if (*scales && (*scales)->address == box.map.global_address)
        return fmt::format(": its tensor map begins at {}{}", (*scales)->name,
                           p.name.empty() ? "" : " of " + p.name);
  for (const host::ExpectedProduct& p : expected_.products)
    if (p.c.address == box.map.global_address)
      return fmt::format(": its tensor map begins at {}{}", p.c.name, p.name.empty() ? "" : " of " + p.name);
  return {};
}

void Explainer::explain_misfit(const Accumulator& acc, const Misfit& misfit) {
  // Was what belongs there computed?  Then it lies in the wrong place, else the operand is wrong.
  const OperandRows& operand = misfit.of_a ? acc.a : acc.b;
  RowOf other;  // that belongs to the same set on the other side
  const SetPlace& place = places_[misfit.set];
  const bool turned = turned_by_stores(acc);
  const auto product = size_t(place.product);
  if (misfit.of_a)
    other = {turned ? matrices_.a_of(product) : matrices_.b_of(product),
             turned ? place.region.first_row : place.region.first_column};
  else
    other = {turned ? matrices_.b_of(product) : matrices_.a_of(product),
             turned ? place.region.first_column : place.region.first_row};
  const Accumulator* right = misfit.of_a ? multiplied(misfit.wanted, other) : multiplied(other, misfit.wanted);
  // Rows of the other operand cannot have come here by a load: C's rows and columns have changed places.
  if (misfit.used.known() && misfit.used.matrix != misfit.wanted.matrix &&
      matrices_.is_a(misfit.used.matrix) != matrices_.is_a(misfit.wanted.matrix) && all_multiplied(product))
    return explain_exchanged(acc, misfit);
  // Halves of a tile that have changed places: the tile is stored in one piece, so it was loaded so.
  if (right && all_multiplied(product) && !loaded_out_of_order(acc, misfit.of_a))
    return explain_misplaced(acc, misfit, *right);

  const Mma& mma = record_.mmas()[acc.mmas.front()];
  Cause cause{.id = "PV1", .at = mma.source, .details = {}};
  const bool one = misfit.count == 1 && misfit.used.known();
  cause.lacks = misfit.used.matrix == -1;
  cause.what =
      fmt::format("{} {} used where {} belong{}", rows_text(misfit.used, misfit.count), one ? "was" : "were",
                  rows_text(misfit.wanted, misfit.count), misfit.count == 1 ? "s" : "");
  if (misfit.used.matrix == RowOf::kElsewhere)
    if (const Box* box = box_used(mma, misfit.of_a, misfit.first)) cause.what += other_tensor_text(*box);
  const int64_t k = operand.k.front();
  // A row that other rows of D have multiplied was not left out: the load has put it there.
  const bool elsewhere = std::find(operand.rows.begin(), operand.rows.end(), misfit.wanted) != operand.rows.end();
  const Box* used = box_used(mma, misfit.of_a, misfit.first);
  const Box* needed = k < 0 || elsewhere
                          ? nullptr
                          : load_of(mma, matrices_.address(misfit.wanted.matrix, misfit.wanted.row, k), used);
  // Of one box the rows before are right, and these are not, though the box has what belongs there: it is not the
  // load.
  const bool within_box =
      elsewhere && used && k >= 0 && misfit.first > 0 &&
      used->brings(matrices_.address(misfit.wanted.matrix, misfit.wanted.row, k)) &&
      operand.rows[size_t(misfit.first - 1)] == RowOf{misfit.wanted.matrix, misfit.wanted.row - 1} &&
      box_used(mma, misfit.of_a, misfit.first - 1) == used;
  const bool shared = used && !within_box && is_right_elsewhere(*used);
  if (used && !needed && !within_box && !shared) cause.at = used->source;
  if (used) cause.details.push_back(fmt::format("loaded by {}, {}", who_(used->source), place_of(*used)));
  if (needed)
    cause.details.push_back(fmt::format("what belongs there was loaded by {}, {}, and not multiplied",
                                        who_(needed->source), place_of(*needed)));
  if (within_box)
    cause.details.push_back("the same box has what belongs there: the descriptor's stride leads to other rows");
  if (shared)
    cause.details.push_back(
        "other MMAs multiply rows of the same box, and theirs are right: the start address of these MMAs' "
        "descriptor "
        "leads to other rows");
  cause.details.push_back(fmt::format("multiplied by {}, operand {}", who_(mma.source), misfit.of_a ? 'A' : 'B'));
  // Right rows of the other operand with others' scale factors: both follow from one thing.
  const std::vector<Misfit> all = misfits(acc);
  const bool others_right =
      std::none_of(all.begin(), all.end(), [&](const Misfit& m) { return m.of_a != misfit.of_a; });
  if (const std::string scales = others_right ? other_scales_text(acc, !misfit.of_a) : ""; !scales.empty()) {
    cause.what += fmt::format(", and {}", scales);
    cause.details.push_back(
        "rows of one operand and scale factors of the other are wrong: look at what both follow from, the tile, "
        "the group or the expert that the warp takes them for");
  }
  add(std::move(cause), acc);
}

/// Rows of the tile were stored along C's columns, and its columns along the rows.
void Explainer::explain_exchanged(const Accumulator& acc, const Misfit& misfit) {
  const Fragment& fragment = record_.fragments()[record_.fragment_sets()[misfit.set].front()];
  const Delivery& delivery = record_.deliveries()[places_[misfit.set].delivery - 1];
  const Store& store = record_.stores()[delivery.store - 1];
  Cause cause{.id = "PV2", .at = store.source, .details = {}};
  cause.what = fmt::format(
      "the sums of {} were stored where those of {} belong: rows and columns have changed places, "
      "in the store's coordinates or its tensor map",
      rows_text(misfit.used, misfit.count), rows_text(misfit.wanted, misfit.count));
  cause.details = {fmt::format("stored by {}{}{}", who_(store.source), store.tensor ? ", " : "", place_of(store)),
                   loaded_by(fragment)};
  add(std::move(cause), acc);
}

/// The sums were right, and went elsewhere.
void Explainer::explain_misplaced(const Accumulator& acc, const Misfit& misfit, const Accumulator& right) {
  // Cells that nobody loads: the loads are wrong.  Else the sums went astray behind them.
  const std::vector<bool> cells = loaded_cells(right);
  const size_t across = right.b.rows.size();
  const auto is_of_c = [&](const RowOf& row) { return row.known() && row.row < matrices_[row.matrix].rows; };
  bool loaded = true;
  for (size_t i = 0; i < right.a.rows.size() && !right.sets.empty(); ++i)
    for (size_t j = 0; j < across; ++j)
      loaded &= cells[i * across + j] || !is_of_c(right.a.rows[i]) || !is_of_c(right.b.rows[j]);
  const Fragment& fragment = record_.fragments()[record_.fragment_sets()[misfit.set].front()];
  const Delivery& delivery = record_.deliveries()[places_[misfit.set].delivery - 1];
  const Store& store = record_.stores()[delivery.store - 1];
  const bool columns_of_c = misfit.of_a == turned_by_stores(acc);
  Cause cause{.id = "PV2", .at = loaded ? store.source : fragment.source, .details = {}};
  const char* const what = columns_of_c ? "columns" : "rows";
  if (loaded)
    cause.what =
        fmt::format("the sums of {} {} were stored in {} {}: the store's coordinates or its source are wrong", what,
                    range_text(misfit.used.row, misfit.used.row + misfit.count - 1), what,
                    range_text(misfit.wanted.row, misfit.wanted.row + misfit.count - 1));
  else
    cause.what = fmt::format(
        "the sums of {} {} were loaded from tensor memory where those of {} {} belong, which nobody loads: "
        "the load's {} are wrong",
        what, range_text(misfit.used.row, misfit.used.row + misfit.count - 1), what,
        range_text(misfit.wanted.row, misfit.wanted.row + misfit.count - 1), misfit.of_a ? "lanes" : "columns");
  cause.details = {fmt::format("loaded from tensor memory by {}, columns {}", who_(fragment.source),
                               range_text(fragment.column, fragment.column + fragment.columns - 1)),
                   fmt::format("stored by {}", who_(store.source))};
  // Rows of a tile in another order: whether the load or the store has changed it, the numbers do not say.
  const Box* used = box_used(record_.mmas()[acc.mmas.front()], misfit.of_a, misfit.first);
  if (loaded && right.history == acc.history && used)
    cause.details.push_back(fmt::format("or {} {} loaded where {} belong{}, by {}, {}",
                                        rows_text(misfit.used, misfit.count), misfit.count == 1 ? "was" : "were",
                                        rows_text(misfit.wanted, misfit.count), misfit.count == 1 ? "s" : "",
                                        who_(used->source), place_of(*used)));
  add(std::move(cause), acc);
}

}  // namespace sm100::sim::provenance
