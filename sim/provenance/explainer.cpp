// SPDX-License-Identifier: Apache-2.0
#include "sim/provenance/explainer.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/text.h"

namespace sm100::sim::provenance {

std::string range_text(int64_t first, int64_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

void Region::add(int64_t row, int64_t column) {
  if (last_row < first_row) {
    *this = {row, row, column, column};
    return;
  }
  first_row = std::min(first_row, row), last_row = std::max(last_row, row);
  first_column = std::min(first_column, column), last_column = std::max(last_column, column);
}

std::string Region::text() const {
  return fmt::format("rows {}, columns {}", range_text(first_row, last_row), range_text(first_column, last_column));
}

std::vector<Tiles::Size> output_sizes(const host::ExpectedResult& expected) {
  std::vector<Tiles::Size> outputs;
  for (const host::ExpectedProduct& p : expected.products)
    outputs.push_back({p.c.rows, int64_t(p.c.pitch) * 8 / p.c.bits});
  for (const host::ExpectedCopy& c : expected.copies)
    if (c.row_bytes > 0 && c.bits > 0)
      outputs.push_back({int64_t(c.bytes / c.row_bytes), int64_t(c.row_bytes) * 8 / c.bits});
  return outputs;
}

Explainer::Explainer(const Record& record, const host::ExpectedResult& expected, std::function<bool(int)> in_launch,
                     std::function<const uint8_t*(uint64_t, uint64_t)> bytes, Tiles tiles, Who who)
    : record_(record),
      expected_(expected),
      in_launch_(std::move(in_launch)),
      bytes_(std::move(bytes)),
      who_(std::move(who)),
      matrices_(expected.products),
      work_tiles_(std::move(tiles)) {
  work_tiles_.set_outputs(output_sizes(expected));
}

std::string Explainer::loaded_by(const Fragment& fragment) const {
  return fmt::format("{} {}", fragment.of_wgmma ? "in registers of" : "loaded from tensor memory by",
                     who_(fragment.source));
}

// ---- what was computed, and where it went

void Explainer::find_accumulators() {
  const auto& fragments = record_.fragments();
  const auto accumulator = [&](uint32_t history) -> Accumulator& {
    const auto [it, fresh] = accumulators_.try_emplace(history);
    if (fresh) it->second.history = history, it->second.mmas = record_.mmas_of(history);
    return it->second;
  };
  for (uint32_t set = 0; set < record_.fragment_sets().size(); ++set)
    for (const uint32_t number : record_.fragment_sets()[set]) {
      if (!in_launch_(fragments[number].source.cta)) continue;
      for (const LoadedCells& part : fragments[number].parts) {
        if (part.history == 0) continue;
        std::vector<uint32_t>& sets = accumulator(part.history).sets;
        if (sets.empty() || sets.back() != set) sets.push_back(set);
      }
    }
  // What nobody has loaded was multiplied all the same.
  std::vector<bool> continued(record_.histories().size(), false);
  for (const History& history : record_.histories()) continued[history.parent] = true;
  for (uint32_t history = 1; history < record_.histories().size(); ++history) {
    const uint32_t mma = record_.histories()[history].mma;
    if (!continued[history] && mma != 0 && in_launch_(record_.mmas()[mma - 1].source.cta)) accumulator(history);
  }
  for (auto it = accumulators_.begin(); it != accumulators_.end();) {
    Accumulator& acc = it->second;
    const bool followed =
        std::all_of(acc.mmas.begin(), acc.mmas.end(), [&](uint32_t mma) { return record_.mmas()[mma].looked_at; });
    if (!followed) unfollowed_ = true, not_looked_at_.insert(kUnfollowed);
    if (!followed || acc.mmas.empty()) {
      it = accumulators_.erase(it);
      continue;
    }
    acc.a = rows_over(record_, matrices_, acc.mmas, true);
    acc.b = rows_over(record_, matrices_, acc.mmas, false);
    if (right_ && by_threads(acc)) {
      not_looked_at_.insert("operands that threads bring, where the results are right");
      it = accumulators_.erase(it);
      continue;
    }
    ++it;
  }
  drop_tiles_without_stores();
  for (const auto& [history, acc] : accumulators_)
    for (const bool a : {true, false}) {
      const std::vector<RowOf>& rows = (a ? acc.a : acc.b).rows;
      for (size_t i = 0; i < rows.size(); ++i) {
        const Box* box = rows[i].known() ? box_used(record_.mmas()[acc.mmas.front()], a, int(i)) : nullptr;
        if (box && box->by == Box::By::tensor_copy) copied_.insert(rows[i].matrix);
      }
      if (stored_operand(acc, a))
        not_looked_at_.insert("operands that warps have computed, or stored in pieces below 16 bytes");
    }
  for (const auto& [history, acc] : accumulators_) {
    const RowOf* last = nullptr;
    for (const RowOf& row : acc.a.rows) {
      if (!row.known() || (last && *last == row)) continue;
      by_row_[{row.matrix, row.row}].push_back(&acc);
      last = &row;
    }
  }
}

/// What a warp loads and does not store (rows beyond a group's end) is in one set with the tile that it stores
/// next.
void Explainer::drop_tiles_without_stores() {
  const auto same_tile = [](const Accumulator& x, const Accumulator& y) {
    return x.a.rows.front() == y.a.rows.front() && x.b.rows.front() == y.b.rows.front();
  };
  std::vector<const Accumulator*> last(record_.fragment_sets().size(), nullptr);
  for (size_t set = 0; set < last.size(); ++set)
    for (const uint32_t number : record_.fragment_sets()[set])
      for (const LoadedCells& part : record_.fragments()[number].parts)
        if (const auto acc = accumulators_.find(part.history); acc != accumulators_.end()) last[set] = &acc->second;
  for (auto& [history, acc] : accumulators_)
    std::erase_if(acc.sets, [&, &mine = acc](uint32_t set) { return last[set] && !same_tile(*last[set], mine); });
}

void Explainer::find_places() {
  places_.resize(record_.fragment_sets().size());
  stored_sets_.resize(places_.size(), false);
  for (const Delivery& delivery : record_.deliveries()) {
    const Store& store = record_.stores()[delivery.store - 1];
    const uint32_t set = delivery.write != 0 ? record_.writes()[delivery.write - 1].fragments : store.fragments;
    if (set != 0 && !store.reduces) stored_sets_[set - 1] = true;
  }
  for (size_t p = 0; p < expected_.products.size(); ++p) {
    const host::ExpectedMatrix& c = expected_.products[p].c;
    const Watched* output = nullptr;
    for (const Watched& w : record_.watched())
      if (w.address == c.address) output = &w;
    if (!output) continue;
    const uint64_t per_row = c.pitch / output->grain;
    const int64_t packed = c.bits < 8 ? 8 / c.bits : 1;  // elements of a byte
    for (uint64_t e = 0; e < output->delivered.size(); ++e) {
      const uint32_t number = output->delivered[e];
      if (number == 0) continue;
      const Delivery& delivery = record_.deliveries()[number - 1];
      const uint32_t set = delivery.write != 0 ? record_.writes()[delivery.write - 1].fragments
                                               : record_.stores()[delivery.store - 1].fragments;
      if (set == 0) continue;
      SetPlace& place = places_[set - 1];
      place.product = int(p), place.delivery = number;
      place.region.add(int64_t(e / per_row), int64_t(e % per_row) * packed);
      place.region.add(int64_t(e / per_row), int64_t(e % per_row) * packed + packed - 1);
    }
  }
}

Explainer::Cells Explainer::cells_in(const Accumulator& acc, uint32_t set) const {
  Cells cells;
  const Mma& mma = record_.mmas()[acc.mmas.back()];
  const auto widen = [](int& first, int& last, int at) {
    if (first < 0 || at < first) first = at;
    last = std::max(last, at);
  };
  for (const uint32_t number : record_.fragment_sets()[set]) {
    const Fragment& fragment = record_.fragments()[number];
    for (const LoadedCells& part : fragment.parts) {
      if (part.history != acc.history) continue;
      for (uint32_t lane = part.lane; lane < part.lane + part.lanes; ++lane)
        for (const uint32_t column : {part.column, part.column + part.columns - 1}) {
          const CellOfD at = cell_of_d(mma, fragment.sm, lane, column);
          if (at.row < 0) continue;
          widen(cells.first_row, cells.last_row, at.row);
          widen(cells.first_column, cells.last_column, at.column);
        }
    }
  }
  return cells;
}

bool Explainer::goes_together(const Accumulator& acc, uint32_t set, const Cells& cells) const {
  for (const uint32_t number : record_.fragment_sets()[set])
    for (const LoadedCells& part : record_.fragments()[number].parts) {
      const auto other = accumulators_.find(part.history);
      if (other == accumulators_.end() || other->second.a.rows.front() != acc.a.rows.front() ||
          other->second.b.rows.front() != acc.b.rows.front())
        return false;
    }
  const SetPlace& place = places_[set];
  const host::ExpectedMatrix& c = expected_.products[size_t(place.product)].c;
  const bool turned = turned_by_stores(acc);
  const int64_t rows = cells.last_row - cells.first_row, columns = cells.last_column - cells.first_column;
  const auto fits = [](int64_t first, int64_t last, int64_t wanted, int64_t end) {
    return last - first == wanted || (last + 1 == end && last - first < wanted);
  };
  return fits(place.region.first_row, place.region.last_row, turned ? columns : rows, c.rows) &&
         fits(place.region.first_column, place.region.last_column, turned ? rows : columns,
              int64_t(c.pitch) * 8 / c.bits);
}

/// D's rows are rows of B.
bool Explainer::swapped(const Accumulator& acc) const {
  for (const RowOf& row : acc.a.rows)
    if (row.known()) return !matrices_.is_a(row.matrix);
  for (const RowOf& row : acc.b.rows)
    if (row.known()) return matrices_.is_a(row.matrix);
  return false;
}

bool Explainer::turned_by_stores(const Accumulator& acc) const {
  std::set<std::pair<int64_t, int64_t>> straight, turned;  // from the cells to their places
  for (const uint32_t set : acc.sets) {
    const Cells cells = cells_in(acc, set);
    const SetPlace& place = places_[set];
    if (!says_where(place) || cells.first_row < 0) continue;
    straight.insert({place.region.first_row - cells.first_row, place.region.first_column - cells.first_column});
    turned.insert({place.region.first_row - cells.first_column, place.region.first_column - cells.first_row});
  }
  if (straight.size() == turned.size()) return swapped(acc);
  return turned.size() < straight.size();
}

std::vector<bool> Explainer::loaded_cells(const Accumulator& acc) const {
  std::vector<bool> loaded(acc.a.rows.size() * acc.b.rows.size(), false);
  const Mma& mma = record_.mmas()[acc.mmas.back()];
  for (const uint32_t set : acc.sets)
    for (const uint32_t number : record_.fragment_sets()[set]) {
      const Fragment& f = record_.fragments()[number];
      for (const LoadedCells& part : f.parts)
        for (uint32_t lane = part.lane; part.history == acc.history && lane < part.lane + part.lanes; ++lane)
          for (uint32_t column = part.column; column < part.column + part.columns; ++column)
            if (const CellOfD at = cell_of_d(mma, f.sm, lane, column); at.row >= 0)
              loaded[size_t(at.row) * acc.b.rows.size() + size_t(at.column)] = true;
    }
  return loaded;
}

/// By where it went, else by the operand that belongs to one product only.
int Explainer::product_of(const Accumulator& acc) const {
  for (const uint32_t set : acc.sets)
    if (places_[set].product >= 0) return places_[set].product;
  for (const auto* operand : {&acc.a, &acc.b})
    for (const RowOf& row : operand->rows)
      for (size_t p = 0; row.known() && p < expected_.products.size(); ++p)
        if (matrices_.a_of(p) == row.matrix) return int(p);
  return expected_.products.size() == 1 ? 0 : -1;
}

/// Some of it has come to the output.
bool Explainer::is_stored(const Accumulator& acc) const {
  if (!with_data_) return !acc.sets.empty();
  return std::any_of(acc.sets.begin(), acc.sets.end(), [&](uint32_t set) { return places_[set].product >= 0; });
}

bool Explainer::was_stored(const Accumulator& acc) const {
  if (is_stored(acc)) return true;
  return std::any_of(acc.sets.begin(), acc.sets.end(), [&](uint32_t set) { return stored_sets_[set]; });
}

/// Where its stores have put it; else where its rows and columns belong.
Region Explainer::region_of(const Accumulator& acc) const {
  Region region;
  for (const uint32_t set : acc.sets) {
    const SetPlace& place = places_[set];
    if (!says_where(place)) continue;
    region.add(place.region.first_row, place.region.first_column);
    region.add(place.region.last_row, place.region.last_column);
  }
  if (region.last_row >= region.first_row) return region;
  const bool turned = swapped(acc);
  for (const RowOf& row : (turned ? acc.b : acc.a).rows)
    for (const RowOf& column : {(turned ? acc.a : acc.b).rows.front(), (turned ? acc.a : acc.b).rows.back()})
      if (row.known() && column.known()) region.add(row.row, column.row);
  return region;
}

// ---- causes

void Explainer::add(Cause cause, const Accumulator& acc) {
  explained_.insert(acc.history);
  const int product = product_of(acc);
  std::string region = region_of(acc).text();
  if (product >= 0 && !expected_.products[size_t(product)].name.empty())
    region = expected_.products[size_t(product)].name + ", " + region;
  add(std::move(cause), region);
}

/// The same mistake at the same line is one cause; the first place is its example.
void Explainer::add(Cause cause, const std::string& region) {
  const auto key = [](const Cause& c) {
    return c.id + c.what.substr(0, c.what.find_first_of("0123456789")) + line_of(c.at.loc);
  };
  const auto same =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& g) { return key(g.cause) == key(cause); });
  if (same != groups_.end()) {
    same->regions.insert(region);
    return;
  }
  cause.example = region;
  groups_.push_back({std::move(cause), {region}});
}

std::string Explainer::place_of(const Store& store) const {
  if (!store.tensor || store.rank == 0) return {};
  return fmt::format("to {{{}}}",
                     fmt::join(store.coordinates.begin(), store.coordinates.begin() + store.rank, ", "));
}

std::string Explainer::beyond_text(const Box& box) const {
  if (box.by != Box::By::tensor_copy || box.map.four_rows || box.map.im2col) return {};
  for (uint32_t d = 0; d < box.map.rank; ++d)
    if (box.coordinates[d] >= int64_t(box.map.global_dim[d]))
      return fmt::format(" that begins beyond the {} elements of its tensor map in dimension {}",
                         box.map.global_dim[d], d);
  return {};
}

std::string Explainer::place_of(const Box& box) const {
  if (box.by == Box::By::cp_async) return "cp.async";
  if (box.by == Box::By::ld_global) return "ld.global, and stored by the thread";
  const uint32_t dimensions = coordinate_count(box.map);
  return fmt::format("box at {{{}}}{}",
                     fmt::join(box.coordinates.begin(), box.coordinates.begin() + dimensions, ", "),
                     beyond_text(box));
}

std::string Explainer::rows_text(const RowOf& first, int64_t count) const {
  switch (first.matrix) {
    case RowOf::kElsewhere: return "bytes that are of no operand";
    case RowOf::kStored: return "bytes that a warp has stored";
    case RowOf::kNobody: return "shared memory that nobody has filled";
    case -1: return "zeros from beyond the tensor's end";
    default:
      return fmt::format("{} {}{} {}", matrices_.name(first.matrix),
                         matrices_[first.matrix].along_k() ? "row" : "column", count == 1 ? "" : "s",
                         range_text(first.row, first.row + count - 1));
  }
}

std::vector<Cause> Explainer::causes(bool with_data, bool right) {
  with_data_ = with_data, right_ = right;
  if (!with_data) not_looked_at_.insert("where results are stored (data = \"none\")");
  if (!expected_.products.empty()) {
    find_accumulators();
    find_places();
    std::set<std::string> regions;
    for (const auto& [history, acc] : accumulators_) regions.insert(region_of(acc).text());
    tiles_ = int(regions.size());
    for (const auto& [history, acc] : accumulators_) compare_steps(acc);
    if (with_data) compare_places();
    compare_k();
    for (const auto& [history, acc] : accumulators_)
      if (!has_cause(acc)) compare_scales(acc);
    if (with_data) compare_output();
    if (with_data && !right) explain_maps();
  }
  if (with_data) compare_copies();
  std::vector<Cause> all;
  for (Group& group : groups_) {
    group.cause.tiles = int(group.regions.size()), group.cause.of_tiles = tiles_;
    all.push_back(std::move(group.cause));
  }
  return all;
}

}  // namespace sm100::sim::provenance
