// SPDX-License-Identifier: Apache-2.0
// Where C is nothing but the sums: what was stored against the cells of tensor memory that it was loaded from.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "kernels/isa/number_formats.h"
#include "sim/provenance/explainer.h"
#include "sim/text.h"

namespace sm100::sim::provenance {
namespace {

/// An element of a fragment, in D.
struct Cell {
  int64_t row, column;  ///< of C, where it belongs
  uint32_t bits;        ///< converted
};

/// How far away most of the elements belong that lie in the wrong place.
struct Shift {
  int64_t rows = 0, columns = 0;
  bool operator<(const Shift& other) const {
    return std::pair(rows, columns) < std::pair(other.rows, other.columns);
  }
};

std::string direction(int64_t by, const char* unit) {
  return fmt::format("{} {}{}", std::abs(by), unit, std::abs(by) == 1 ? "" : "s");
}

}  // namespace

/// What was stored of an accumulator against the cells of it that anybody has loaded.
void Explainer::compare_cells(size_t p, const Watched& output) {
  const host::ExpectedProduct& product = expected_.products[p];
  if (product.by_other_warps)
    return void(not_looked_at_.insert("where sums go that other warps finish on the strip"));
  const uint64_t per_row = product.c.pitch / output.grain;
  for (const auto& [history, acc] : accumulators_) {
    if (has_cause(acc) || acc.sets.empty()) continue;
    const std::vector<bool> loaded = loaded_cells(acc);
    std::set<uint32_t> sets;
    for (const uint32_t set : acc.sets) sets.insert(set + 1);
    const bool turned = swapped(acc);
    const int64_t packed = product.c.bits < 8 ? 8 / product.c.bits : 1;
    const int row_matrix = turned ? matrices_.b_of(p) : matrices_.a_of(p),
              column_matrix = turned ? matrices_.a_of(p) : matrices_.b_of(p);
    Region region, cells;
    const Delivery* example = nullptr;
    for (size_t i = 0; i < acc.a.rows.size(); ++i)
      for (size_t j = 0; j < acc.b.rows.size(); ++j) {
        const RowOf &a = acc.a.rows[i], &b = acc.b.rows[j];
        if (loaded[i * acc.b.rows.size() + j] || a.matrix != row_matrix || b.matrix != column_matrix) continue;
        const int64_t row = turned ? b.row : a.row, column = turned ? a.row : b.row;
        const uint64_t e = uint64_t(row) * per_row + uint64_t(column / packed);
        if (row >= product.c.rows || column / packed >= int64_t(per_row) || output.delivered[e] == 0) continue;
        const Delivery& d = record_.deliveries()[output.delivered[e] - 1];
        if (!sets.count(d.write != 0 ? record_.writes()[d.write - 1].fragments
                                     : record_.stores()[d.store - 1].fragments))
          continue;
        if (!example) example = &d;
        region.add(row, column), cells.add(int64_t(i), int64_t(j));
      }
    if (!example) continue;
    const uint32_t set = example->write != 0 ? record_.writes()[example->write - 1].fragments
                                             : record_.stores()[example->store - 1].fragments;
    const Fragment& fragment = record_.fragments()[record_.fragment_sets()[set - 1].front()];
    Cause cause{.id = "PV2", .at = fragment.source, .details = {}};
    cause.what = fmt::format(
        "cells of an accumulator are never loaded from tensor memory, and others are stored in their place: rows "
        "{} and "
        "columns {} of it; the load's lanes or columns are wrong",
        range_text(cells.first_row, cells.last_row), range_text(cells.first_column, cells.last_column));
    cause.details = {fmt::format("loaded from tensor memory by {}, columns {}", who_(fragment.source),
                                 range_text(fragment.column, fragment.column + fragment.columns - 1)),
                     fmt::format("stored by {}", who_(record_.stores()[example->store - 1].source))};
    if (const models::Source* by = record_.rewritten_by(acc.history)) {
      cause.at = *by;
      cause.what = fmt::format(
          "sums that were written back to tensor memory are stored in part as they were before: rows {} and "
          "columns {} "
          "of the accumulator; the lanes or columns of the tcgen05.st are wrong",
          range_text(cells.first_row, cells.last_row), range_text(cells.first_column, cells.last_column));
      cause.details.insert(cause.details.begin(), fmt::format("written back by {}", who_(*by)));
    }
    add(std::move(cause), acc);
  }
}

bool Explainer::has_plain_sums(const Accumulator& acc, const host::ExpectedProduct& product) const {
  return product.plain && (product.scale_block == 0 || record_.mmas()[acc.mmas.back()].sfa);
}

std::map<Explainer::Place, uint32_t> Explainer::loaded_values(const Accumulator& acc,
                                                              const host::ExpectedProduct& product) const {
  const bool turned = swapped(acc);
  const Mma& mma = record_.mmas()[acc.mmas.back()];
  std::map<Place, uint32_t> values;
  for (const uint32_t set : acc.sets)
    for (const uint32_t number : record_.fragment_sets()[set]) {
      const Fragment& f = record_.fragments()[number];
      for (const LoadedCells& part : f.parts)
        for (uint32_t lane = part.lane; part.history == acc.history && lane < part.lane + part.lanes; ++lane)
          for (uint32_t column = part.column; column < part.column + part.columns; ++column) {
            const CellOfD at = cell_of_d(mma, f.sm, lane, column);
            if (at.row < 0 || f.cells.empty()) continue;
            const RowOf &a = acc.a.rows[size_t(at.row)], &b = acc.b.rows[size_t(at.column)];
            if (!a.known() || !b.known()) continue;
            const auto bits = converted(*product.plain, f.cells[(lane - f.lane) * f.columns + (column - f.column)]);
            if (bits) values.emplace(turned ? Place(b.row, a.row) : Place(a.row, b.row), *bits);
          }
    }
  return values;
}

bool Explainer::is_stored_as_summed(const Accumulator& acc, const host::ExpectedProduct& product, uint64_t address,
                                    uint32_t bytes) const {
  const uint64_t per_row = product.c.pitch / bytes, e = (address - product.c.address) / bytes;
  const uint8_t* const at = bytes_(address, bytes);
  int64_t k = 0;
  for (const int64_t count : acc.a.k_count) k += count;
  if (!at || !has_plain_sums(acc, product) || bytes > sizeof(uint32_t) || k != product.k) return false;
  const std::map<Place, uint32_t> values = loaded_values(acc, product);
  const auto value = values.find({int64_t(e / per_row), int64_t(e % per_row)});
  uint32_t stored = 0;
  std::memcpy(&stored, at, bytes);
  return value != values.end() && value->second == stored;
}

void Explainer::compare_values(size_t p, const Watched& output) {
  const host::ExpectedProduct& product = expected_.products[p];
  const uint64_t per_row = product.c.pitch / output.grain;
  const uint8_t* const c = bytes_(output.address, output.bytes);
  if (!c || !converted(*product.plain, 0)) return;
  for (const auto& [history, acc] : accumulators_) {
    if (has_cause(acc) || !has_plain_sums(acc, product)) continue;
    const bool turned = swapped(acc);
    const std::map<Place, uint32_t> cells = loaded_values(acc, product);
    std::map<DataType, std::map<Place, uint32_t>> others;
    for (const DataType other : {DataType::f16, DataType::bf16, DataType::e4m3, DataType::e5m2}) {
      host::ExpectedProduct as = product;
      as.plain = other;
      if (other != *product.plain && element_bits(other) == element_bits(*product.plain))
        others[other] = loaded_values(acc, as);
    }
    std::unordered_map<uint32_t, std::vector<Place>> by_bits;
    for (const auto& [place, bits] : cells) by_bits[bits].push_back(place);
    // A part of K, or other sums that were added to it: not what is stored.
    int64_t k = 0;
    for (const int64_t count : acc.a.k_count) k += count;
    if (k < product.k) continue;
    const int a_matrix = turned ? matrices_.b_of(p) : matrices_.a_of(p);
    if (acc.a.rows.front().matrix != a_matrix) continue;

    uint64_t wrong = 0;
    std::map<DataType, uint64_t> as_other;  ///< wrong elements that are right as another type
    std::map<Shift, uint64_t> shifts;
    Region region;
    std::pair<int64_t, int64_t> example{};
    for (const auto& [place, bits] : cells) {
      const auto [row, column] = place;
      if (row >= product.c.rows || column >= int64_t(per_row)) continue;
      const uint64_t e = uint64_t(row) * per_row + uint64_t(column);
      if (output.delivered[e] == 0) continue;
      uint32_t stored = 0;
      std::memcpy(&stored, c + e * output.grain, output.grain);
      if (stored == bits) continue;
      if (wrong++ == 0) example = place;
      region.add(row, column);
      for (const DataType other : {DataType::f16, DataType::bf16, DataType::e4m3, DataType::e5m2})
        if (other != *product.plain && element_bits(other) == element_bits(*product.plain))
          as_other[other] += others.at(other).at(place) == stored;
      const auto same = by_bits.find(stored);
      if (same == by_bits.end()) continue;
      for (const auto& [r, col] : same->second) ++shifts[{r - row, col - column}];
    }
    if (wrong == 0) continue;
    const Delivery& delivery =
        record_.deliveries()[output.delivered[uint64_t(example.first) * per_row + uint64_t(example.second)] - 1];
    const Store& store = record_.stores()[delivery.store - 1];
    const Write* write = delivery.write != 0 ? &record_.writes()[delivery.write - 1] : nullptr;
    const uint32_t set = write ? write->fragments : store.fragments;
    const Fragment* fragment = set != 0 ? &record_.fragments()[record_.fragment_sets()[set - 1].front()] : nullptr;
    Cause cause{.id = "PV2", .at = write ? write->source : store.source, .details = {}};
    std::vector<std::pair<uint64_t, Shift>> most;
    for (const auto& [shift, votes] : shifts) most.push_back({votes, shift});
    std::sort(most.begin(), most.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
    if (store.beside != 0) {
      const Store& other = record_.stores()[store.beside - 1];
      cause.at = store.source;
      cause.what = fmt::format(
          "two tensor stores read the same bytes of the strip ({} and {}): where one of them begins in shared "
          "memory is "
          "wrong",
          place_of(other), place_of(store));
      cause.details.push_back(fmt::format("the other is by {}, {}", who_(other.source), place_of(other)));
    } else if (const auto as = std::find_if(as_other.begin(), as_other.end(),
                                            [&](const auto& o) { return o.second * 50 >= wrong * 49; });
               as != as_other.end()) {
      cause.what = fmt::format("{} is {}, and what is stored is right as {}: the epilogue converts to another type",
                               product.c.name, name(*product.plain), name(as->first));
    } else if (!most.empty() && most[0].first * 8 > wrong) {
      const Shift by = most[0].second;
      const bool exchanged = most.size() > 1 && most[1].first * 8 > wrong && most[1].second.rows == -by.rows &&
                             most[1].second.columns == -by.columns;
      std::string distance;
      if (by.rows != 0) distance = direction(by.rows, "row");
      if (by.columns != 0) distance += (distance.empty() ? "" : " and ") + direction(by.columns, "column");
      cause.what = fmt::format(
          "rows and columns of the output are in the wrong places: the sums are right, and lie {} away from where "
          "they belong{}, between {} and the store: registers, strip or swizzle",
          distance, exchanged ? ", in pairs that have changed places" : "",
          fragment && fragment->of_wgmma ? "the sums of wgmma" : "tensor memory");
    } else {
      const bool of_wgmma = fragment && fragment->of_wgmma;
      cause.what = fmt::format(
          "rows and columns of the output hold other values than {}: the sums are right, and change between {} and "
          "the "
          "store",
          of_wgmma ? "the sums of wgmma" : "tensor memory", of_wgmma ? "the wgmma" : "the load from tensor memory");
    }
    cause.details.push_back(fmt::format("{} of {} elements of the tile, the first is row {}, column {}",
                                        grouped(int64_t(wrong)), grouped(int64_t(cells.size())), example.first,
                                        example.second));
    if (fragment) cause.details.push_back(loaded_by(*fragment));
    if (write) cause.details.push_back(fmt::format("written to shared memory by {}", who_(write->source)));
    cause.details.push_back(fmt::format("stored by {}", who_(store.source)));
    add(std::move(cause), acc);
  }
}

}  // namespace sm100::sim::provenance
