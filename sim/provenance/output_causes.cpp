// SPDX-License-Identifier: Apache-2.0
// The output: what nobody has stored, what was stored twice, and what was copied from the wrong place.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sim/provenance/explainer.h"
#include "sim/text.h"

namespace sm100::sim::provenance {

/// An accumulator of that row of A, whatever its columns.
const Accumulator* Explainer::of_row(size_t p, int64_t row) const {
  const auto found = by_row_.find({matrices_.a_of(p), row});
  return found == by_row_.end() || found->second.empty() ? nullptr : found->second.front();
}

void Explainer::compare_output() {
  for (size_t p = 0; p < expected_.products.size(); ++p) {
    const host::ExpectedProduct& product = expected_.products[p];
    for (const Watched& output : record_.watched()) {
      if (output.address != product.c.address) continue;
      explain_unwritten(p, output);
      explain_stored_twice(output, product.c.name + (product.name.empty() ? "" : " of " + product.name),
                           product.c.pitch, product.c.bits < 8 ? 8 / product.c.bits : 1);
      compare_cells(p, output);
      if (product.plain) compare_values(p, output);
    }
  }
}

void Explainer::explain_unwritten(size_t p, const Watched& output) {
  const host::ExpectedProduct& product = expected_.products[p];
  const uint64_t per_row = product.c.pitch / output.grain;
  Region region;
  uint64_t count = 0;
  const int64_t packed = product.c.bits < 8 ? 8 / product.c.bits : 1;
  std::optional<uint64_t> first_element, of_lacking;  // of a tile that too few CTAs have had
  constexpr int kMostTries = 4096;
  int tries = 0;
  for (uint64_t e = 0; e < output.delivered.size(); ++e) {
    if (output.delivered[e] != 0) continue;
    region.add(int64_t(e / per_row), int64_t(e % per_row)), ++count;
    if (!first_element) first_element = e;
    if (of_lacking || !work_tiles_.known() || tries == kMostTries) continue;
    const auto row = int64_t(e / per_row), column = int64_t(e % per_row) * packed;
    const RowOf of_a{matrices_.a_of(p), row}, of_b{matrices_.b_of(p), column};
    // Some role has had it where it was multiplied.
    if (!work_tiles_.lacking(work_tiles_.at(row, column))) continue;
    if (++tries; !multiplied(of_a, of_b) && !multiplied(of_b, of_a)) of_lacking = e;
  }
  if (count == 0) return;
  Cause cause{.id = "PV4", .at = {}, .details = {}};
  cause.what = fmt::format("nobody has stored {} of {} elements of {}", grouped(int64_t(count)),
                           grouped(int64_t(output.delivered.size())), product.c.name);
  if (of_lacking) {
    explain_tile(int64_t(*of_lacking / per_row), int64_t(*of_lacking % per_row) * packed, cause);
    add(std::move(cause), region.text());
    // Whatever else is wrong may follow from it.
    std::rotate(groups_.begin(), groups_.end() - 1, groups_.end());
    return;
  }
  // What belongs into the first of them: multiplied, loaded from tensor memory, or not even that?
  const auto first_row = int64_t(*first_element / per_row), first_column = int64_t(*first_element % per_row);
  const RowOf row{matrices_.a_of(p), first_row}, column{matrices_.b_of(p), first_column};
  const Accumulator* acc = multiplied(row, column);
  if (!acc) acc = multiplied(column, row);
  const std::string first = fmt::format("row {}, column {}", first_row, first_column);
  const Record::StoreMap* const by_map = record_.map_of_stores(product.c.address);
  if (const int64_t columns = int64_t(product.c.pitch) * 8 / product.c.bits;
      by_map && (first_row >= int64_t(by_map->map.global_dim[1]) ||
                 first_column * packed >= int64_t(by_map->map.global_dim[0]))) {
    const Store& store = record_.stores()[by_map->store];
    cause.at = store.source;
    cause.what +=
        fmt::format(": its tensor map has {} rows of {} elements, where {} has {} of {}", by_map->map.global_dim[1],
                    by_map->map.global_dim[0], product.c.name, product.c.rows, columns);
    cause.details = {fmt::format("{} lies outside of the map: TMA stores nothing there", first),
                     fmt::format("the first store by it is by {}", who_(store.source))};
    return add(std::move(cause), region.text());
  }
  if (!acc) {
    if (!unfollowed_)
      cause.details.push_back(fmt::format(
          "no MMA has multiplied what belongs to {}: no warp has had the tile, or its operands are others", first));
    const Store* last = record_.stores().empty() ? nullptr : &record_.stores().back();
    if (last)
      cause.at = last->source, cause.details.push_back(fmt::format("the last store is by {}", who_(last->source)));
  } else {
    const std::vector<RowOf>& rows = acc->a.rows;
    const std::vector<RowOf>& columns = acc->b.rows;
    const bool turned = swapped(*acc);
    const auto i = std::find(rows.begin(), rows.end(), turned ? column : row) - rows.begin();
    const auto j = std::find(columns.begin(), columns.end(), turned ? row : column) - columns.begin();
    const Fragment* loaded = nullptr;
    for (const uint32_t set : acc->sets) {
      const Cells cells = cells_in(*acc, set);
      if (i >= cells.first_row && i <= cells.last_row && j >= cells.first_column && j <= cells.last_column)
        loaded = &record_.fragments()[record_.fragment_sets()[set].front()];
    }
    const Mma& mma = record_.mmas()[acc->mmas.back()];
    cause.at = mma.source;
    cause.details.push_back(fmt::format("{} was multiplied by {}", first, who_(mma.source)));
    if (const std::string parts = parts_of_k(*acc, product.k); !parts.empty()) cause.what += ": " + parts;
    if (const int64_t packed_column = first_column * packed;
        work_tiles_.known() && is_part_of_k(*acc, product.k) &&
        work_tiles_.lacking(work_tiles_.at(first_row, packed_column))) {
      const std::vector<std::string> multiplied_by = std::move(cause.details);
      explain_tile(first_row, packed_column, cause);
      cause.details.insert(cause.details.end(), multiplied_by.begin(), multiplied_by.end());
      add(std::move(cause), region.text());
      std::rotate(groups_.begin(), groups_.end() - 1, groups_.end());
      return;
    }
    if (loaded && output.stored_twice > 0) {
      const Store &under = record_.stores()[output.first_store - 1],
                  &over = record_.stores()[output.second_store - 1];
      cause.id = "PV2", cause.at = under.source;
      cause.details.push_back(fmt::format("stored elsewhere: row {}, column {} was stored by {}, and then by {}",
                                          output.first_twice / per_row, output.first_twice % per_row,
                                          who_(under.source), who_(over.source)));
      cause.what += ", and others twice: a store's coordinates are wrong";
    }
    if (loaded && output.stored_twice == 0)
      cause.at = loaded->source, cause.details.push_back(loaded_by(*loaded) + ", and not stored there");
    if (!loaded) {
      cause.details.push_back(fmt::format(
          "and nobody has loaded it from tensor memory: column {} and lane {} of the accumulator", j, i % 128));
      for (const uint32_t set : acc->sets)
        cause.at = record_.fragments()[record_.fragment_sets()[set].back()].source;
      if (!acc->sets.empty())
        cause.details.push_back(fmt::format("the accumulator's last load is by {}", who_(cause.at)));
    }
  }
  add(std::move(cause), region.text());
}

/// Of K in the accumulators with the same rows: "its k 0-127 was multiplied 3 times, and no other"; or that all
/// was, in parts of which none was stored.
std::string Explainer::parts_of_k(const Accumulator& acc, int64_t k) const {
  std::map<int64_t, int64_t> ends;  // by where the parts begin
  std::map<int64_t, int> times;
  size_t parts = 0;
  for (const auto& [history, other] : accumulators_) {
    if (!(other.a.rows.front() == acc.a.rows.front()) || !(other.b.rows.front() == acc.b.rows.front()) ||
        record_.histories()[history].mma == 0 || other.a.k.front() < 0)
      continue;
    ++parts;
    int64_t begin = INT64_MAX, end = 0;
    for (size_t s = 0; s < other.a.k.size(); ++s)
      if (other.a.k[s] >= 0)
        begin = std::min(begin, other.a.k[s]), end = std::max(end, other.a.k[s] + other.a.k_count[s]);
    ++times[begin], ends[begin] = std::max(ends[begin], end);
  }
  int64_t covered = 0;
  for (const auto& [begin, end] : ends)
    if (begin <= covered) covered = std::max(covered, end);
  if (parts == 1 && covered > 0 && covered < k)
    return fmt::format("of its K only {} was multiplied", range_text(0, covered - 1));
  if (parts < 2) return {};
  if (times.size() == 1 && covered < k)
    return fmt::format("its k {} was multiplied {} times, and no other k",
                       range_text(times.begin()->first, covered - 1), parts);
  if (covered >= k && times.size() == parts)
    return fmt::format("all {} parts of its K were multiplied, and nobody has stored their sum", parts);
  return {};
}

bool Explainer::is_part_of_k(const Accumulator& acc, int64_t k) const {
  std::vector<bool> done(size_t(k), false);
  int64_t left = k;
  for (const auto& [history, other] : accumulators_) {
    if (!(other.a.rows.front() == acc.a.rows.front()) || !(other.b.rows.front() == acc.b.rows.front())) continue;
    for (size_t s = 0; s < other.a.k.size(); ++s)
      for (int64_t at = other.a.k[s]; at >= 0 && at < std::min(k, other.a.k[s] + other.a.k_count[s]); ++at)
        if (!done[size_t(at)]) done[size_t(at)] = true, --left;
  }
  return left > 0;
}

void Explainer::explain_tile(int64_t row, int64_t column, Cause& cause) const {
  const Tiles::Place tile = work_tiles_.at(row, column);
  cause.what += ": " + work_tiles_.lacking_text();
  cause.details = work_tiles_.details(who_, cause.at);
  cause.details.insert(cause.details.begin(),
                       fmt::format("row {}, column {} is of tile ({}, {})", row, column, tile.first, tile.second));
}

std::optional<Cause> Explainer::what_became_of(uint64_t address) {
  for (size_t p = 0; p < expected_.products.size(); ++p)
    for (const Watched& output : record_.watched()) {
      const host::ExpectedProduct& product = expected_.products[p];
      if (output.address != product.c.address || address - output.address >= output.bytes) continue;
      const uint64_t e = (address - output.address) / output.grain, per_row = product.c.pitch / output.grain;
      if (output.delivered[e] == 0) return std::nullopt;
      const auto row = int64_t(e / per_row), column = int64_t(e % per_row);
      const Delivery& delivery = record_.deliveries()[output.delivered[e] - 1];
      const Store& store = record_.stores()[delivery.store - 1];
      const Write* write = delivery.write != 0 ? &record_.writes()[delivery.write - 1] : nullptr;
      const uint32_t set = write ? write->fragments : store.fragments;
      Cause cause{.id = "PV2", .at = write ? write->source : store.source, .details = {}};
      const models::Source by = cause.at;
      std::optional<Cause> of_term = explain_terms(p, output, by);
      if (!of_term) of_term = explain_block_scales(p, output, by);
      if (!of_term) of_term = explain_output_scales(p, output);
      if (!of_term) of_term = explain_partials(p, output, by);
      if (of_term) {
        of_term->details.push_back(
            fmt::format("the worst element is row {}, column {}, stored by {}", row, column, who_(by)));
        if (set != 0)
          of_term->details.push_back(loaded_by(record_.fragments()[record_.fragment_sets()[set - 1].front()]));
        return of_term;
      }
      std::set<uint32_t> parts;
      const Accumulator* acc = multiplied({matrices_.a_of(p), row}, {matrices_.b_of(p), column});
      if (!acc) acc = multiplied({matrices_.b_of(p), column}, {matrices_.a_of(p), row});
      for (const auto& [history, other] : accumulators_)
        if (acc && other.a.rows.front() == acc->a.rows.front() && other.b.rows.front() == acc->b.rows.front() &&
            !record_.rewritten_by(history))
          parts.insert(history);
      const models::Source *a_by = nullptr, *b_by = nullptr;
      for (const auto& [history, other] : accumulators_) {
        if (!a_by) a_by = stored_operand(other, true);
        if (!b_by) b_by = stored_operand(other, false);
      }
      if (unfollowed_) {
        cause.what = fmt::format(
            "not all that is multiplied was looked at ({}): whether an operand, a descriptor or the "
            "epilogue is wrong is not known",
            kUnfollowed);
      } else if (a_by || b_by) {
        cause.what = fmt::format(
            "warps have computed operand {} or stored it in pieces below 16 bytes: whether that, the instruction "
            "descriptor or the epilogue is wrong is not known",
            a_by && b_by ? "A and operand B"
            : a_by       ? "A"
                         : "B");
        if (a_by) cause.details.push_back(fmt::format("operand A was stored to shared memory by {}", who_(*a_by)));
        if (b_by) cause.details.push_back(fmt::format("operand B was stored to shared memory by {}", who_(*b_by)));
      } else if (parts.size() > 1) {
        cause.what = fmt::format(
            "what was multiplied is right, and what is stored is not: the epilogue adds up the partial sums of {} "
            "accumulators, or scales them, wrongly (workspace, scales of blocks, registers)",
            parts.size());
      } else if (acc && is_stored_as_summed(*acc, product, address, output.grain)) {
        const Mma& mma = record_.mmas()[acc->mmas.back()];
        cause.id = "PV1", cause.at = mma.source;
        cause.what =
            "rows and k steps that were multiplied are right, and their sum is stored as it was made: the error is "
            "in the sum (types or negation in the instruction descriptor, scale factors, or terms cut off by the "
            "tensor core)";
        uint32_t first = acc->history;
        while (record_.histories()[first].parent != 0) first = record_.histories()[first].parent;
        if (const uint32_t begins = record_.histories()[first].mma;
            begins != 0 && record_.mmas()[begins - 1].accumulates)
          cause.at = record_.mmas()[begins - 1].source,
          cause.what =
              "the tile's first MMA adds to what lies in tensor memory, where nobody has written: it must not "
              "accumulate (enable-input-d)";
        const bool turned = swapped(*acc);
        for (const bool a : {true, false}) {
          const host::ExpectedMatrix& matrix = a != turned ? product.a : product.b;
          const std::optional<DataType> told = a ? mma.a_type : mma.b_type;
          if (!told || !matrix.type || *told == *matrix.type || *told == DataType::tf32) continue;
          cause.what = fmt::format("{} is {}, and the MMAs take operand {} for {}: the {} type {} is wrong",
                                   matrix.name, name(*matrix.type), a ? "A" : "B", name(*told), a ? "A" : "B",
                                   mma.of_wgmma ? "of the wgmma" : "in the instruction descriptor");
          break;
        }
        if (mma.scale_type && product.scale_type && *mma.scale_type != *product.scale_type)
          cause.what = fmt::format(
              "{} and {} hold scale factors of {}, and the MMAs take them for {}: the scale type in the "
              "instruction "
              "descriptor is wrong",
              product.sfa ? product.sfa->name : "SFA", product.sfb ? product.sfb->name : "SFB",
              name(*product.scale_type), name(*mma.scale_type));
        else if (mma.negate_a != mma.negate_b)
          cause.what = fmt::format(
              "the MMAs negate operand {0}: the bit of the instruction descriptor that negates {0} is set",
              mma.negate_a ? 'A' : 'B');
        else if (mma.d_f16)
          cause.what =
              "the MMAs accumulate in f16: the D type in the instruction descriptor is f16, and what is stored "
              "are those sums";
        cause.details.push_back(fmt::format("multiplied by {}", who_(mma.source)));
      } else if (product.other_scales) {
        cause.what =
            "rows and k steps that were multiplied are right; scale factors that do not lie in atoms of 128 rows x "
            "4 were "
            "not looked at: whether they, the instruction descriptor or the epilogue is wrong is not known";
      } else if (const Accumulator* part = acc || product.other_scales ? nullptr : of_row(p, row)) {
        const Mma& mma = record_.mmas()[part->mmas.back()];
        cause.id = "PV1", cause.at = mma.source;
        cause.what = fmt::format(
            "no MMA has multiplied what belongs here: those of these rows of {} have N = {} in their instruction "
            "descriptor, and begin at column {} of tensor memory",
            product.a.name, mma.n, mma.column);
        cause.details.push_back(fmt::format("multiplied by {}", who_(mma.source)));
      } else if (product.plain) {
        cause.what = fmt::format(
            "what was multiplied is right, and what is stored is not: the error comes between the {} and the store "
            "(registers, strip, scale factors that warps store)",
            set != 0 && record_.fragments()[record_.fragment_sets()[set - 1].front()].of_wgmma
                ? "wgmma"
                : "load from tensor memory");
      } else {
        cause.what =
            "what was multiplied is right, and what is stored is not: the terms of the epilogue are wrong (factor, "
            "bias, residual, functor, scales of the output), or where they are taken from";
      }
      if (const auto& early = record_.stored_while_adding(); early && !unfollowed_ && !a_by && !b_by) {
        cause.id = "PV1", cause.at = early->wgmma;
        cause.what =
            "sums were stored while wgmma still added to them: the wgmma.wait_group ahead of the store leaves a "
            "group "
            "pending";
        cause.details = {fmt::format("multiplied by {}", who_(early->wgmma)),
                         fmt::format("stored to shared memory by {}", who_(early->store))};
      }
      if (set != 0) {
        const Fragment& fragment = record_.fragments()[record_.fragment_sets()[set - 1].front()];
        cause.details.push_back(loaded_by(fragment));
      }
      if (write) cause.details.push_back(fmt::format("written to shared memory by {}", who_(write->source)));
      cause.details.push_back(fmt::format("stored by {}", who_(store.source)));
      cause.example = fmt::format("the worst element, row {}, column {}", row, column), cause.tiles = 1,
      cause.of_tiles = tiles_;
      return cause;
    }
  return std::nullopt;
}

void Explainer::explain_stored_twice(const Watched& output, const std::string& name, uint64_t row_bytes,
                                     int64_t packed) {
  if (output.stored_twice == 0) return;
  const Store &first = record_.stores()[output.first_store - 1],
              &second = record_.stores()[output.second_store - 1];
  Cause cause{.id = "PV3", .warning = true, .at = second.source, .details = {}};
  cause.what = fmt::format("{} elements of {} are stored twice", grouped(int64_t(output.stored_twice)), name);
  cause.details = {fmt::format("first by {}", who_(first.source)),
                   fmt::format("and again by {}", who_(second.source))};
  const uint64_t per_row = row_bytes / output.grain;
  if (work_tiles_.known())
    if (const Tiles::Place tile =
            work_tiles_.at(int64_t(output.first_twice / per_row), int64_t(output.first_twice % per_row) * packed);
        work_tiles_.repeated(tile))
      cause.details.push_back(work_tiles_.repeated_text(tile, who_));
  add(std::move(cause),
      fmt::format("row {}, column {}", output.first_twice / per_row, output.first_twice % per_row));
}

// ---- kernels that copy

namespace {

/// Where an element was copied from; 0: it was not.
uint64_t source_of(const Record& record, const Watched& output, uint64_t element) {
  const Delivery& d = record.deliveries()[output.delivered[element] - 1];
  return d.source == 0 ? 0 : d.source + (output.address + element * output.grain - d.to);
}

}  // namespace

void Explainer::compare_copies() {
  for (const host::ExpectedCopy& copy : expected_.copies)
    for (const Watched& output : record_.watched()) {
      if (output.address != copy.to) continue;
      const uint64_t per_row = copy.row_bytes / output.grain;
      Region wrong, unwritten, foreign;
      uint64_t wrong_count = 0, unwritten_count = 0, foreign_count = 0, example = 0, first_foreign = 0;
      std::vector<uint64_t> examples;                         // some of the wrong ones, spread
      std::optional<std::pair<int64_t, int64_t>> of_lacking;  // of a tile that too few CTAs have had
      for (uint64_t e = 0; e < output.delivered.size(); ++e) {
        const uint32_t number = output.delivered[e];
        const auto row = int64_t(e / per_row), column = int64_t(e % per_row);
        if (number == 0) {
          unwritten.add(row, column), ++unwritten_count;
          if (!of_lacking && work_tiles_.known() && work_tiles_.lacking(work_tiles_.at(row, column)))
            of_lacking = {row, column};
          continue;
        }
        const uint64_t source = source_of(record_, output, e);
        if (source == 0 && !right_) {
          const uint8_t *is = bytes_(output.address + e * output.grain, output.grain),
                        *wanted = bytes_(copy.from + e * output.grain, output.grain);
          if (is && wanted && std::memcmp(is, wanted, output.grain) != 0) {
            if (foreign_count++ == 0) first_foreign = e;
            foreign.add(row, column);
          }
        }
        if (source == 0 || source == copy.from + e * output.grain) continue;
        if (const Delivery& d = record_.deliveries()[number - 1];
            d.box != 0 && record_.boxes()[d.box - 1].by == Box::By::ld_global) {
          // Known by its value, which several places may have.
          const uint8_t *is = bytes_(source, output.grain),
                        *wanted = bytes_(copy.from + e * output.grain, output.grain);
          if (is && wanted && std::memcmp(is, wanted, output.grain) == 0) continue;
        }
        if (wrong_count++ == 0) example = e;
        wrong.add(row, column);
        constexpr uint64_t kApart = 997;
        constexpr size_t kMostExamples = 64;
        if (wrong_count % kApart == 1 && examples.size() < kMostExamples) examples.push_back(e);
      }
      // What was loaded nowhere tells more than what another load has brought by chance.
      const auto loaded_beside = [&](uint64_t e) {
        const Delivery& d = record_.deliveries()[output.delivered[e] - 1];
        const int slot = d.box == 0 ? -1 : record_.boxes()[d.box - 1].slot;
        return std::any_of(record_.boxes().begin(), record_.boxes().end(), [&](const Box& other) {
          return other.slot == slot && other.brings(copy.from + e * output.grain);
        });
      };
      if (const auto lost =
              std::find_if(examples.begin(), examples.end(), [&](uint64_t e) { return !loaded_beside(e); });
          lost != examples.end())
        example = *lost;
      if (wrong_count > 0) {
        const uint64_t source = source_of(record_, output, example) - copy.from;
        const Delivery& delivery = record_.deliveries()[output.delivered[example] - 1];
        const Store& store = record_.stores()[delivery.store - 1];
        const Box& box = record_.boxes()[delivery.box - 1];
        // Did the bytes that belong there come into this CTA at all?
        const Box* needed = nullptr;
        for (const Box& other : record_.boxes())
          if (other.slot == box.slot && other.brings(copy.from + example * output.grain)) needed = &other;
        Cause cause{.id = needed ? "PV2" : "PV1", .at = needed ? store.source : box.source, .details = {}};
        const uint64_t source_row = source / copy.row_bytes, source_column = source % copy.row_bytes / output.grain;
        cause.what = fmt::format(
            "{} elements are copied from another place: row {}, column {} holds the source's row {}, column {}",
            grouped(int64_t(wrong_count)), example / per_row, example % per_row, source_row, source_column);
        cause.details = {fmt::format("loaded by {}, {}", who_(box.source), place_of(box)),
                         fmt::format("stored by {}", who_(store.source))};
        if (needed)
          cause.details.push_back(
              fmt::format("what belongs there was loaded by {}, {}", who_(needed->source), place_of(*needed)));
        add(std::move(cause), (copy.name.empty() ? "" : copy.name + ", ") + wrong.text());
      }
      if (unwritten_count > 0) {
        Cause cause{.id = "PV4",
                    .at = record_.stores().empty() ? models::Source{} : record_.stores().back().source,
                    .details = {}};
        cause.what = fmt::format("nobody has stored {} of {} elements", grouped(int64_t(unwritten_count)),
                                 grouped(int64_t(output.delivered.size())));
        if (!record_.stores().empty()) cause.details = {fmt::format("the last store is by {}", who_(cause.at))};
        if (of_lacking) cause.at = {}, explain_tile(of_lacking->first, of_lacking->second, cause);
        add(std::move(cause), (copy.name.empty() ? "" : copy.name + ", ") + unwritten.text());
      }
      if (foreign_count > 0 && wrong_count == 0) {
        const Delivery& delivery = record_.deliveries()[output.delivered[first_foreign] - 1];
        const Store& store = record_.stores()[delivery.store - 1];
        const Write* write = delivery.write != 0 ? &record_.writes()[delivery.write - 1] : nullptr;
        Cause cause{.id = "PV2", .at = write ? write->source : store.source, .details = {}};
        cause.what = fmt::format(
            "{} elements hold bytes that are no copy of the source: what is written there, or where, is wrong",
            grouped(int64_t(foreign_count)));
        cause.details = {fmt::format("stored by {}", who_(store.source))};
        add(std::move(cause), (copy.name.empty() ? "" : copy.name + ", ") + foreign.text());
      }
      explain_stored_twice(output, copy.name.empty() ? "the destination" : copy.name, copy.row_bytes);
    }
}

}  // namespace sm100::sim::provenance
